//! The outermost of a request's way: its id, what it cost, how long it took; written to the log, the metrics and the headers.

use std::{sync::Arc, time::Instant};

use axum::{
    extract::{MatchedPath, Request, State},
    middleware::Next,
    response::Response,
};
use http::{HeaderValue, StatusCode};

use super::{
    app::App,
    headers,
    pipeline::Trail,
    problem::{self, Problem},
};
use crate::web::{
    failure::{self, Onlooker},
    pages,
};

/// The request's id, as an extension of it.
#[derive(Clone, Debug)]
pub struct RequestId(pub Arc<str>);

const REQUEST_ID: &str = "x-request-id";
const REQUEST_ID_CHARS_MAX: usize = 64;

/// The client's own id if it is a plain word, so that it can be found in both logs; else a new one.
fn request_id(app: &App, request: &Request) -> Arc<str> {
    let given = request.headers().get(REQUEST_ID).and_then(|value| value.to_str().ok());
    let plain = |text: &&str| {
        (1..=REQUEST_ID_CHARS_MAX).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
    };
    match given.filter(plain) {
        Some(id) => id.into(),
        None => app.ctx().new_id().to_string().into(),
    }
}

pub async fn observe(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = request_id(&app, &request);
    let trail = Arc::new(Trail::default());
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("", |route| route.as_str());
    request.extensions_mut().insert(RequestId(id.clone()));
    request.extensions_mut().insert(trail.clone());
    let is_page = pages::rules().any(|rule| rule.path == route);
    let onlooker = Onlooker::of(&app, is_page, !route.is_empty(), &method, request.uri(), request.headers());
    let running = app.metrics().begin();
    let (mut response, cost) = widerow::meter::measure(next.run(request)).await;
    drop(running);
    let cause = response.extensions().get::<Problem>().map(|problem| (problem.code, problem.cause.clone()));
    response = match onlooker {
        Some(onlooker) => failure::render(response, &app, &onlooker, &id),
        None => problem::render(response, &id),
    };
    let took = began.elapsed();
    let status = response.status();
    app.metrics().count(route, &method, status, took, &cost);
    headers::allow_pictures(response.headers_mut(), &app.settings().pages.picture_origins);
    headers::secure(response.headers_mut(), app.settings().is_secure());
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    if let Ok(value) = HeaderValue::from_str(&cost.to_string()) {
        response.headers_mut().insert("merkato-cost", value);
    }
    write_log(&id, &trail, method.as_str(), route, status, took.as_secs_f64() * 1_000.0, cause);
    response
}

/// No query, no address, no name: what is personal is not in the log.
fn write_log(
    request_id: &str,
    trail: &Trail,
    method: &str,
    route: &str,
    status: StatusCode,
    millis: f64,
    problem: Option<(&'static str, Option<String>)>,
) {
    let tenant = trail.tenant.get().map_or("", String::as_str);
    let (code, cause) = problem.unwrap_or(("", None));
    let status = status.as_u16();
    match cause {
        Some(cause) if status >= 500 => {
            tracing::error!(request_id, tenant, method, route, status, millis, code, cause, "request failed");
        }
        _ => tracing::info!(request_id, tenant, method, route, status, millis, code, "request"),
    }
}
