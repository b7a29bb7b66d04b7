//! `ETag`, `If-None-Match`, `If-Match`: an answer that the client has is not sent again, and an edit that rests on what is no
//! more is refused.

use axum::{
    body::{Body, HttpBody as _},
    extract::{FromRequestParts, Request},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, Method, StatusCode, header, request::Parts};
use http_body_util::BodyExt as _;
use merkato::text::hex;
use sha2::{Digest as _, Sha256};

use super::problem::Problem;

/// A view with the revision that `If-Match` goes by.
#[derive(Clone, Debug)]
pub struct Tagged<T> {
    pub revision: i64,
    pub view: T,
}

impl<T: IntoResponse> IntoResponse for Tagged<T> {
    fn into_response(self) -> Response {
        let mut response = self.view.into_response();
        if let Ok(tag) = HeaderValue::try_from(format!("\"r{}\"", self.revision)) {
            response.headers_mut().insert(header::ETAG, tag);
        }
        response
    }
}

/// The revision that an edit rests upon, if its client said so.
#[derive(Clone, Copy, Debug)]
pub struct IfMatch(pub Option<i64>);

impl<S: Send + Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let Some(value) = parts.headers.get(header::IF_MATCH) else { return Ok(IfMatch(None)) };
        let text = value.to_str().unwrap_or_default().trim();
        if text == "*" {
            return Ok(IfMatch(None));
        }
        let revision = text.strip_prefix("\"r").and_then(|rest| rest.strip_suffix('"'));
        let revision = revision.and_then(|rest| rest.split('.').next()?.parse().ok());
        match revision {
            Some(revision) => Ok(IfMatch(Some(revision))),
            // A tag that this server never gave stands for nothing that is there now.
            None => Err(Problem::new("precondition_failed", "If-Match: not an ETag of this resource")),
        }
    }
}

/// Runs an edit. Whoever said which revision it rests upon is told that the condition failed, not that there was a conflict.
pub async fn edit(request: Request, next: Next) -> Response {
    let conditional = request.headers().contains_key(header::IF_MATCH);
    let mut response = next.run(request).await;
    if conditional && let Some(problem) = response.extensions_mut().remove::<Problem>() {
        let edited = matches!(problem.code, "edited_meanwhile" | "changed_meanwhile" | "sensor_changed");
        return if edited { problem.recoded("precondition_failed") } else { problem }.into_response();
    }
    response
}

/// On a request that is answered without its content.
#[derive(Clone, Copy, Debug)]
pub struct HeadOnly;

/// Runs a read. The tag of an answer is its revision, if it has one, and its content: what is shown beside a revision, as
/// today's price or whether it is in stock, changes without it. An answer that the client has is not sent.
pub async fn read(mut request: Request, next: Next) -> Response {
    // The answer to HEAD has the tag of the one to GET, which needs its content. The server sends none of it.
    if request.method() == Method::HEAD {
        *request.method_mut() = Method::GET;
        request.extensions_mut().insert(HeadOnly);
    }
    let known = request.headers().get(header::IF_NONE_MATCH).cloned();
    let response = next.run(request).await;
    if response.status() != StatusCode::OK {
        return response;
    }
    let response = match tag(response).await {
        Ok(response) => response,
        Err(problem) => return problem.into_response(),
    };
    let Some(tag) = response.headers().get(header::ETAG) else { return response };
    if !known.is_some_and(|known| has(&known, tag)) {
        return response;
    }
    let (parts, _) = response.into_parts();
    let mut headers = parts.headers;
    headers.remove(header::CONTENT_TYPE);
    headers.remove(header::CONTENT_LENGTH);
    let mut response = StatusCode::NOT_MODIFIED.into_response();
    *response.headers_mut() = headers;
    response
}

/// An answer whose length is known is in memory; a stream is left as it is.
async fn tag(response: Response) -> Result<Response, Problem> {
    if response.body().size_hint().exact().is_none() {
        return Ok(response);
    }
    let (mut parts, body) = response.into_parts();
    let bytes = body.collect().await.map_err(Problem::internal)?.to_bytes();
    let revision = parts.headers.get(header::ETAG).and_then(|tag| tag.to_str().ok());
    let revision = revision.map_or(String::new(), |tag| format!("{}.", tag.trim_matches('"')));
    let tag = format!("\"{revision}c{}\"", hex(&Sha256::digest(&bytes)[..12]));
    if let Ok(tag) = HeaderValue::try_from(tag) {
        parts.headers.insert(header::ETAG, tag);
    }
    Ok(Response::from_parts(parts, Body::from(bytes)))
}

fn has(known: &HeaderValue, tag: &HeaderValue) -> bool {
    let (Ok(known), Ok(tag)) = (known.to_str(), tag.to_str()) else { return false };
    known.trim() == "*" || known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag)
}
