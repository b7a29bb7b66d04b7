//! A template as an answer.

use askama::Template;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};

use crate::http::{Problem, headers::CSP_PAGE};

/// A page.
#[derive(Clone, Debug)]
pub struct Html<T>(pub T);

impl<T: Template> Html<T> {
    /// The page of a form that was refused.
    pub fn refused(self) -> Response {
        self.with(StatusCode::UNPROCESSABLE_ENTITY)
    }

    pub fn with(self, status: StatusCode) -> Response {
        let mut response = self.into_response();
        // A page that could not be made is another failure.
        if response.status() == StatusCode::OK {
            *response.status_mut() = status;
        }
        response
    }
}

impl<T: Template> IntoResponse for Html<T> {
    fn into_response(self) -> Response {
        let html = match self.0.render() {
            Ok(html) => html,
            Err(error) => return Problem::internal(error).into_response(),
        };
        let mut response = html.into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CSP_PAGE));
        response
    }
}
