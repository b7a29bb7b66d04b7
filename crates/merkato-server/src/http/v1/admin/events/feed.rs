//! All events in one order: a page of them, or followed as they come, as server-sent events.
//!
//! 1. The id of what is sent is its place: a browser that was cut off asks again with the last one it saw, and misses nothing.
//! 2. How many follow at once is bounded. One that follows has a connection and a place, and no turn among the requests.
//! 3. It ends when the server stops, and after an hour: whoever comes again is asked again who it is.

use std::{convert::Infallible, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::State,
    response::{IntoResponse as _, Response},
};
use futures::{FutureExt as _, StreamExt as _, future, stream};
use http::{HeaderMap, HeaderValue, header};
use merkato::{
    events::{self, FeedEvent},
    limits,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::PlacedEventView;
use crate::http::{App, Json, Problem, Query, Visit};

/// How long nothing is said before a line without meaning is, so that nobody on the way takes the connection for dead.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long one follows at a time.
const FOLLOWED_FOR: Duration = Duration::from_secs(3_600);
/// What a browser waits before it comes again.
const RETRY_MILLIS: u32 = 2_000;
/// What one who finds no place waits.
const NO_PLACE_SECONDS: u64 = 5;

/// From where.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct FeedQuery {
    /// Behind this place; from the first event on if it is not said. The header `Last-Event-ID` counts for more.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// How many, of a page of JSON; 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
}

/// Some events of the feed.
#[derive(Serialize, ToSchema)]
pub struct FeedView {
    pub data: Vec<PlacedEventView>,
    /// What to ask for next, as `after`.
    #[schema(example = 1042)]
    pub position: i64,
}

/// Whether the client would rather have a page of JSON.
fn wants_json(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let kinds = accepted.flat_map(|value| value.split(','));
    let kinds: Vec<&str> = kinds.map(|kind| kind.split(';').next().unwrap_or_default().trim()).collect();
    let has = |wanted: &str| kinds.iter().any(|kind| kind.eq_ignore_ascii_case(wanted));
    has("application/json") && !has("text/event-stream")
}

fn last_seen(headers: &HeaderMap) -> Result<Option<i64>, Problem> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let place = value.to_str().ok().map(str::trim).filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
    let bad = || Problem::new("bad_header", "Last-Event-ID: not a place in the feed");
    // A browser that has seen nothing yet says nothing.
    match place {
        Some("") => Ok(None),
        Some(text) => text.parse().map(Some).map_err(|_| bad()),
        None => Err(bad()),
    }
}

/// All events in one order that never changes, from a place on
///
/// As server-sent events that go on as events come: `id` is the place, `data` the event. With `Accept: application/json`, one
/// page of what is there; who asks again with its `position` misses nothing.
#[utoipa::path(get, path = "/v1/admin/events/feed", tag = "admin: events",
    params(FeedQuery, ("Last-Event-ID" = Option<String>, Header, description = "The last place that was seen")),
    responses((status = 200, description = "The events behind the place", content(
        (FeedView = "application/json"), (String = "text/event-stream"))),
        (status = 304, description = "As the client has it")))]
pub async fn read_feed(
    State(app): State<App>,
    visit: Visit,
    headers: HeaderMap,
    Query(query): Query<FeedQuery>,
) -> Result<Response, Problem> {
    let after = last_seen(&headers)?.or(query.after).unwrap_or(0);
    let limit = query.limit.unwrap_or(limits::PAGE_ROWS_DEFAULT);
    if wants_json(&headers) {
        let page = events::feed(&visit.ctx, after, limit).await?;
        let data = page.events.into_iter().map(PlacedEventView::of).collect::<Result<_, _>>()?;
        return Ok(Json(FeedView { data, position: page.position }).into_response());
    }
    if query.limit.is_some() {
        return Err(Problem::field("invalid", "/limit", "it is for a page of JSON; the feed goes on"));
    }
    if after < 0 {
        return Err(Problem::field("invalid", "/after", format!("{after} is not 0 or more")));
    }
    let refused = || Problem::new("too_many_followers", "").retry_after(NO_PLACE_SECONDS);
    let place = app.follow().ok_or_else(refused)?;
    let feed = events::follow(&visit.ctx, after).boxed();
    let begun = stream::once(future::ready(Bytes::from(format!("retry: {RETRY_MILLIS}\n\n"))));
    let told = stream::unfold((feed, place), |(mut feed, place)| async move {
        let line = match tokio::time::timeout(HEARTBEAT, feed.next()).await {
            Err(_) => Bytes::from_static(b": still here\n\n"),
            Ok(Some(Ok(event))) => match message(event) {
                Ok(line) => line,
                Err(problem) => return end(problem.cause.unwrap_or(problem.detail)),
            },
            Ok(Some(Err(error))) => return end(error.to_string()),
            Ok(None) => return None,
        };
        Some((line, (feed, place)))
    });
    let over = future::select(app.stopped().boxed(), tokio::time::sleep(FOLLOWED_FOR).boxed());
    let body = begun.chain(told).take_until(over).map(Ok::<_, Infallible>);
    let mut response = Body::from_stream(body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies that gather an answer before they pass it on are asked not to.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// Whoever follows comes again, with the last place it saw.
fn end<T>(why: String) -> Option<T> {
    tracing::warn!(why, "one who follows the feed was let go of");
    None
}

fn message(event: FeedEvent) -> Result<Bytes, Problem> {
    let view = PlacedEventView::of(event)?;
    // This JSON has no line breaks. Its type stands in it and not in a line `event`: browsers give what has one only to those
    // who know the type by name.
    let data = serde_json::to_string(&view).map_err(Problem::internal)?;
    Ok(Bytes::from(format!("id: {}\ndata: {data}\n\n", view.position)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::HeaderName::from_static(name), HeaderValue::from_static(value))])
    }

    #[test]
    fn json_is_for_those_who_ask_for_it() {
        for (accept, json) in [
            ("application/json", true),
            ("Application/JSON;q=0.9, text/html", true),
            ("text/event-stream", false),
            ("application/json, text/event-stream", false),
            ("*/*", false),
        ] {
            assert_eq!(wants_json(&headers("accept", accept)), json, "{accept}");
        }
        assert!(!wants_json(&HeaderMap::new()));
    }

    #[test]
    fn the_last_place_is_a_number() {
        for (text, place) in [("12", Some(12)), ("", None), ("0", Some(0))] {
            assert_eq!(last_seen(&headers("last-event-id", text)).unwrap(), place);
        }
        for bad in ["-1", "x", "99999999999999999999"] {
            assert_eq!(last_seen(&headers("last-event-id", bad)).unwrap_err().code, "bad_header", "{bad}");
        }
    }
}
