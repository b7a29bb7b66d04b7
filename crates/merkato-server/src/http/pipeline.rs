//! What a request goes through before its handler, in this order: rate, access to a turn, body, principal, access, answers
//! that are kept, conditions.

use std::{sync::OnceLock, time::Duration};

use axum::{
    body::Body,
    extract::{MatchedPath, Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use futures::FutureExt as _;
use http::{HeaderValue, Method, Version, header};

use super::{
    access::{self, Access, Rule},
    app::App,
    body::Gathered,
    client::{self, Peer},
    conditional, headers, idempotency,
    problem::Problem,
    who,
};

/// What is learnt of a request on its way in, for its log line.
#[derive(Debug, Default)]
pub struct Trail {
    pub tenant: OnceLock<String>,
}

/// Sees a request through to its handler, and its answer back.
pub async fn pass(State(app): State<App>, request: Request, next: Next) -> Response {
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let rule = path.and_then(|path| access::find(request.method(), path));
    let peer = request.extensions().get::<Peer>().copied();
    let address = client::address(peer, request.headers(), &app.settings().trusted_proxies);
    let network = client::network(address);
    let now_millis = app.ctx().now().millis();
    let counted = rule.is_none_or(|rule| rule.counted);
    let mut allowance = if counted { app.limiter(false).take(network, now_millis) } else { None };
    if rule.is_some_and(|rule| rule.login) && allowance.is_none_or(|allowance| allowance.wait_seconds.is_none()) {
        allowance = app.limiter(true).take(network, now_millis).or(allowance);
    }
    let mut response = match allowance.and_then(|allowance| allowance.wait_seconds) {
        Some(seconds) => Problem::new("too_many_requests", "").retry_after(seconds).into_response(),
        None => {
            let answered = match rule {
                Some(rule) => go_in(&app, rule, address, request, next).await,
                // No such route, or no such method: the router says so.
                None => Ok(next.run(request).await),
            };
            answered.unwrap_or_else(Problem::into_response)
        }
    };
    if let Some(allowance) = allowance {
        allowance.note(response.headers_mut());
    }
    response
}

async fn go_in(
    app: &App,
    rule: &'static Rule,
    address: std::net::IpAddr,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let within = Duration::from_secs(app.settings().request_seconds_max);
    let (parts, body) = request.into_parts();
    // ORDER: the body before the turn. A client that sends slowly has a connection, and no turn.
    let held = match rule.takes_body {
        true => match app.room().gather(&parts.headers, body, within).await {
            Ok(held) => Some(held),
            Err(problem) => return Ok(last_answer(problem, parts.version)),
        },
        false => None,
    };
    let turn = app.turns().clone().try_acquire_owned();
    let turn = turn.map_err(|_| Problem::new("busy", "").retry_after(1))?;
    let mut request = Request::from_parts(parts, Body::empty());
    if let Some(held) = &held {
        request.extensions_mut().insert(Gathered(held.bytes.clone()));
    }
    let app = app.clone();
    let work = async move {
        let _until_done = (turn, held);
        let answer = enter(&app, rule, address, request, next);
        match tokio::time::timeout(within, answer).await {
            Ok(answer) => answer,
            Err(_) => Err(Problem { cause: Some("it took too long".into()), ..Problem::new("timeout", "") }),
        }
    };
    // A request that changes something is finished although its client has gone away: its answer is kept for when it asks
    // again. A panic of either is an answer.
    if rule.is_unsafe() {
        let done = tokio::spawn(widerow::meter::inherit(work)).await;
        done.unwrap_or_else(|error| Err(Problem::internal(error)))
    } else {
        let done = std::panic::AssertUnwindSafe(work).catch_unwind().await;
        done.unwrap_or_else(|_| Err(Problem::internal("a handler panicked")))
    }
}

/// The rest of a body that is not wanted is not read, so that the connection ends with the answer. It says so: a client that is
/// not told would send its next request there, and lose it.
fn last_answer(problem: Problem, version: Version) -> Response {
    let mut response = problem.into_response();
    // Connections of HTTP/2 carry other requests, and go on.
    if version <= Version::HTTP_11 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

async fn enter(
    app: &App,
    rule: &'static Rule,
    address: std::net::IpAddr,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    if rule.access == Access::System {
        return Ok(next.run(request).await);
    }
    let visit = who::recognise(app, rule, request.headers(), request.uri(), address).await?;
    if let Some(trail) = request.extensions().get::<std::sync::Arc<Trail>>() {
        let _ = trail.tenant.set(visit.ctx.store.tenant().as_str().to_owned());
    }
    access::check(rule, &visit)?;
    request.extensions_mut().insert(visit.clone());
    let safe = request.method() == Method::GET || request.method() == Method::HEAD;
    let mut response = if safe {
        conditional::read(request, next).await
    } else {
        idempotency::once(&visit, rule, request, |request| conditional::edit(request, next)).await?
    };
    headers::note_privacy(&mut response, &visit);
    if let who::Who::Program(key) = &visit.who {
        note_use(visit.ctx.clone(), key.clone());
    }
    Ok(response)
}

/// Writes down, after the answer, when a key was last used. It asks for nothing where that was not long ago.
fn note_use(ctx: merkato::Context, key: merkato::keys::ApiKey) {
    tokio::spawn(async move {
        if let Err(error) = merkato::keys::note_use(&ctx, &key).await {
            tracing::warn!(%error, "it could not be noted when a key was last used");
        }
    });
}
