//! A template as an answer.

use askama::Template;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};

use crate::http::{Problem, headers::CSP_PAGE};

/// A page.
#[derive(Clone, Debug)]
pub struct Html<T>(pub T);

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
