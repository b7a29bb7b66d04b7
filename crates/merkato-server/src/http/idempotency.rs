//! `Idempotency-Key`: a request that is made again is answered as before and not done again.
//!
//! A key belongs to the shop, the principal, the method and the path. What is kept is kept for a day. Not kept are answers
//! that say "try again" (5xx, 401, 429). Routes whose answer has a secret in it, or whose body a password, take no part at all,
//! and their operations are safe to repeat. A route whose operation is known by its key (a checkout) takes the key itself.

use axum::{
    body::Body,
    extract::{FromRequestParts, Request},
    response::{IntoResponse as _, Response},
};
use http::{HeaderName, HeaderValue, StatusCode, header, request::Parts};
use http_body_util::BodyExt as _;
use merkato::{
    replies::{self, Begun, Reply},
    text,
};

use super::{
    access::Rule,
    body::Gathered,
    observe::RequestId,
    problem::{self, Problem},
    who::{Visit, Who},
};

pub const KEY: &str = "idempotency-key";
pub const REPLAYED: &str = "idempotent-replayed";

/// Headers of an answer that are part of it, and not of the moment in which it was given.
const KEPT: &[HeaderName] = &[header::CONTENT_TYPE, header::LOCATION, header::ETAG, header::CONTENT_LOCATION];

pub async fn once<F: Future<Output = Response>>(
    visit: &Visit,
    rule: &Rule,
    request: Request,
    run: impl FnOnce(Request) -> F,
) -> Result<Response, Problem> {
    let mut keys = request.headers().get_all(KEY).iter();
    let key = match (keys.next(), keys.next()) {
        (None, _) if rule.key_required => {
            return Err(Problem::new("idempotency_key_required", "the header Idempotency-Key is missing"));
        }
        (None, _) => return Ok(run(request).await),
        (Some(_), None) if !rule.takes_key() || rule.own_key => return Ok(run(request).await),
        // All who are nobody are one principal: a token that is kept would be another's.
        (Some(_), None) if rule.gives_token && matches!(visit.who, Who::Nobody) => return Ok(run(request).await),
        (Some(key), None) => {
            key.to_str().map_err(|_| Problem::new("bad_header", "Idempotency-Key: not plain ASCII"))?
        }
        _ => return Err(Problem::new("bad_header", "Idempotency-Key is there twice")),
    };
    let scope = format!("{} {} {}", visit.principal(), request.method(), request.uri().path());
    let fingerprint = fingerprint(&request);
    let ticket = match replies::begin(&visit.ctx, &scope, key, &fingerprint).await? {
        Begun::New(ticket) => ticket,
        Begun::Running { until } => {
            let millis = until.millis() - visit.ctx.now().millis();
            let seconds = u64::try_from(millis / 1_000).unwrap_or(0).clamp(1, 5);
            return Err(Problem::new("idempotency_key_in_use", "").retry_after(seconds));
        }
        Begun::Other => return Err(Problem::new("idempotency_key_reused", "")),
        Begun::TooLarge => return Err(Problem::new("reply_not_kept", "")),
        Begun::Done(reply) => return replay(reply),
    };
    let id = request.extensions().get::<RequestId>().cloned();
    let response = run(request).await;
    // A problem is kept as it is told, with the id of the request that it was told to.
    let response = problem::render(response, id.as_ref().map_or("", |RequestId(id)| id));
    if !is_kept(&response) {
        replies::forget(&visit.ctx, ticket).await?;
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.map_err(Problem::internal)?.to_bytes();
    let kept = KEPT.iter().filter_map(|name| {
        let value = parts.headers.get(name)?.to_str().ok()?;
        Some((name.as_str().to_owned(), value.to_owned()))
    });
    let reply = Reply { status: parts.status.as_u16(), headers: kept.collect(), body: bytes.to_vec() };
    // It was done. If its answer cannot be kept, whoever asks again does it again, which changes nothing.
    if let Err(error) = replies::keep(&visit.ctx, ticket, &reply).await {
        tracing::warn!(%error, "an answer could not be kept under its key");
    }
    Ok(Response::from_parts(parts, Body::from(bytes)))
}

/// The key, for a route whose operation knows it.
pub struct Key(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Key {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let key = parts.headers.get(KEY).and_then(|key| key.to_str().ok());
        let missing = || Problem::new("bad_header", "Idempotency-Key: not plain ASCII");
        key.map(|key| Key(key.to_owned())).ok_or_else(missing)
    }
}

/// Marks an answer that was given before.
pub fn mark_replayed(response: &mut Response) {
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
}

/// Whoever is told to ask again later must get another answer then: a flow that is under way has not ended yet.
fn is_kept(response: &Response) -> bool {
    let status = response.status();
    let is_last = !response.headers().contains_key(header::RETRY_AFTER);
    is_last && !status.is_server_error() && status != StatusCode::UNAUTHORIZED
}

/// What was asked: the same request has the same.
fn fingerprint(request: &Request) -> String {
    let body = request.extensions().get::<Gathered>().map_or(&[] as &[u8], |Gathered(bytes)| bytes);
    let uri = request.uri();
    let query = uri.query().unwrap_or_default();
    text::digest(&[request.method().as_str().as_bytes(), uri.path().as_bytes(), query.as_bytes(), body])
}

fn replay(reply: Reply) -> Result<Response, Problem> {
    let status = StatusCode::from_u16(reply.status).map_err(Problem::internal)?;
    let mut response = (status, reply.body).into_response();
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_TYPE);
    for (name, value) in reply.headers {
        let (name, value) = (HeaderName::try_from(name), HeaderValue::try_from(value));
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.insert(name, value);
        }
    }
    mark_replayed(&mut response);
    Ok(response)
}
