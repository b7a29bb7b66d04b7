//! What goes wrong, as a page.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderValue, Method, Uri, header};

use super::{Frame, Html, next, see_other};
use crate::http::{App, Problem, codes};

#[derive(Template)]
#[template(path = "shop/failure.html")]
struct InShop<'p> {
    frame: Frame,
    heading: &'p str,
    advice: &'p str,
    detail: &'p str,
    request_id: &'p str,
}

#[derive(Template)]
#[template(path = "admin/failure.html")]
struct InOffice<'p> {
    frame: Frame,
    heading: &'p str,
    advice: &'p str,
    detail: &'p str,
    request_id: &'p str,
}

/// Whether whoever asks wants to look at the answer.
#[derive(Clone, Debug)]
pub struct Onlooker {
    path: String,
    reads: bool,
    /// At a page of the office; whether they may be there is for the answer to say.
    office: bool,
}

impl Onlooker {
    /// A visitor of a page; or one who came to no route at all, by a browser.
    pub fn of(
        app: &App,
        is_page: bool,
        has_route: bool,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Option<Self> {
        let accepts = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
        let browser = accepts.is_some_and(|accept| accept.contains("text/html"));
        let lost = app.settings().pages.enabled && !has_route && browser && !uri.path().starts_with("/v1");
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        let office = is_page && (uri.path() == "/admin" || uri.path().starts_with("/admin/"));
        (is_page || lost).then_some(Onlooker { path, reads: matches!(*method, Method::GET | Method::HEAD), office })
    }
}

/// The page of an answer that is a problem. One who is not logged in is asked to.
pub fn render(mut response: Response, app: &App, onlooker: &Onlooker, request_id: &str) -> Response {
    let Some(problem) = response.extensions_mut().remove::<Problem>() else { return response };
    if problem.status == http::StatusCode::UNAUTHORIZED {
        let back = if onlooker.reads { onlooker.path.as_str() } else { "/" };
        return see_other(&format!("/login?next={}", next::encode(back)));
    }
    // Who may not enter the office is not shown its doors.
    let office = onlooker.office && problem.status != http::StatusCode::FORBIDDEN;
    let title = codes::find(problem.code).map_or("This could not be done.", |known| known.title);
    let (heading, advice) = match problem.status.as_u16() {
        404 if office => ("There is nothing here", "It may have been removed, or the address is not whole."),
        404 => (
            "There is nothing here",
            "What was at this address may have moved or been sold. Search for it, or begin at the front.",
        ),
        403 => ("This is not for you", "You are logged in as somebody who may not see this page."),
        429 => ("That was a little fast", "Wait a moment, then try again."),
        503 => ("We cannot answer right now", "Nothing is lost. Please try again in a moment."),
        500.. => (
            "Something went wrong on our side",
            "Nothing was done by halves. Please try again; if it happens again, tell us the number below.",
        ),
        _ => (title, "Go back, look at what you entered, and try again."),
    };
    // What went wrong inside is not for visitors; that somebody else is at it is.
    let is_inside = problem.status.is_server_error() && problem.code != "busy";
    let detail = if is_inside { "" } else { problem.detail.as_str() };
    let frame = Frame::bare(app, &onlooker.path);
    let mut page = if office {
        Html(InOffice { frame, heading, advice, detail, request_id }).into_response()
    } else {
        Html(InShop { frame, heading, advice, detail, request_id }).into_response()
    };
    *page.status_mut() = problem.status;
    page.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(seconds) = problem.retry_after_seconds {
        page.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    page
}
