//! One stream: events appended to it, read forward and backward, and what they come to.

use std::collections::BTreeMap;

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use merkato::{
    Cursor,
    events::{self, AppendRequest, Direction, Expected, NewEvent, ReadStream},
    id::{AggregateId, EventId},
};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{super::created, EventView};
use crate::http::{
    Json, Path, Problem, Query, Visit,
    operation::Operation,
    wire::{Listing, Paging, Time, mirror},
};

/// The kind of a stream of which nobody says what it is.
const KIND: &str = "json";

/// Words for an expected version.
#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExpectedWord {
    /// Whatever is there.
    Any,
    /// Nothing may be there yet.
    Absent,
}

/// The version that the stream must have: a number, `any` or `absent`.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum ExpectedVersion {
    /// So many events must be there.
    Version(i64),
    Word(ExpectedWord),
}

fn expected<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Expected, D::Error> {
    struct Said;

    impl de::Visitor<'_> for Said {
        type Value = Expected;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a version of 0 or more, \"any\" or \"absent\"")
        }

        fn visit_i64<E: de::Error>(self, version: i64) -> Result<Expected, E> {
            let refused = || E::invalid_value(de::Unexpected::Signed(version), &self);
            if version < 0 { Err(refused()) } else { Ok(Expected::Exact(version)) }
        }

        fn visit_u64<E: de::Error>(self, version: u64) -> Result<Expected, E> {
            let refused = |_| E::invalid_value(de::Unexpected::Unsigned(version), &self);
            i64::try_from(version).map(Expected::Exact).map_err(refused)
        }

        fn visit_str<E: de::Error>(self, word: &str) -> Result<Expected, E> {
            match word {
                "any" => Ok(Expected::Any),
                "absent" => Ok(Expected::Absent),
                other => Err(E::invalid_value(de::Unexpected::Str(other), &self)),
            }
        }
    }

    deserializer.deserialize_any(Said)
}

fn any() -> Expected {
    Expected::Any
}

fn one() -> i32 {
    1
}

/// An event to be.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EventBody {
    /// Under its own id an event is appended once: who sends it again is given the first answer. Of one append all have theirs,
    /// or none.
    event_id: Option<Uuid>,
    /// In the past tense.
    #[schema(example = "MoneyDeposited", min_length = 1, max_length = 100)]
    event_type: String,
    /// An object, at most 64 KiB.
    #[schema(value_type = Object, example = json!({"amount": "19.99"}))]
    data: Value,
    /// Of the data, 1 if it is not said.
    #[serde(default = "one")]
    #[schema(minimum = 1)]
    schema_version: i32,
    /// At most 20 entries of at most 1,000 bytes.
    #[serde(default)]
    metadata: BTreeMap<String, String>,
    /// The event or the command that it follows from.
    causation_id: Option<Uuid>,
    /// What it belongs to; its own id where nothing is said.
    correlation_id: Option<Uuid>,
    /// When it happened, where that is not now.
    #[schema(value_type = Option<Time>)]
    at: Option<Time>,
}

impl EventBody {
    fn event(self) -> NewEvent {
        NewEvent {
            event_id: self.event_id.map(EventId),
            event_type: self.event_type,
            data: self.data,
            schema_version: self.schema_version,
            metadata: self.metadata,
            causation_id: self.causation_id,
            correlation_id: self.correlation_id,
            at: self.at.map(|Time(at)| at),
        }
    }
}

/// Events for one stream: all of them or none.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AppendBody {
    /// What the aggregate is. The first append says it for good; later ones need not.
    #[schema(example = "wallet", min_length = 1, max_length = 100)]
    kind: Option<String>,
    /// `any` if it is not said.
    #[serde(default = "any", deserialize_with = "expected")]
    #[schema(value_type = ExpectedVersion)]
    expected_version: Expected,
    #[schema(min_items = 1, max_items = 500)]
    events: Vec<EventBody>,
}

/// Where events came to stand.
#[derive(Serialize, ToSchema)]
pub struct AppendedView {
    pub aggregate_id: Uuid,
    /// Of the first of them.
    #[schema(example = 7)]
    pub first_version: i64,
    /// Of the last of them: the stream's own, unless others have appended since.
    #[schema(example = 8)]
    pub version: i64,
    /// They were there already, under their ids.
    pub repeated: bool,
}

/// Append events to a stream, all or none
///
/// At the version that is expected, or not at all: a conflict tells the one that there is. 200 where they were there already,
/// under the ids that they were given.
#[utoipa::path(post, path = "/v1/admin/streams/{aggregate_id}/events", tag = "admin: events", request_body = AppendBody,
    params(("aggregate_id" = Uuid, Path, description = "What the events are about")),
    responses((status = 201, description = "They are appended", body = AppendedView,
            headers(("Location" = String, description = "Where they are"))),
        (status = 200, description = "They were there already", body = AppendedView)))]
pub async fn append(
    visit: Visit,
    Path(aggregate_id): Path<AggregateId>,
    operation: Operation,
    Json(body): Json<AppendBody>,
) -> Result<Response, Problem> {
    let AppendBody { kind, expected_version: expected, events } = body;
    let mut events: Vec<NewEvent> = events.into_iter().map(EventBody::event).collect();
    // Sent again with its key, it is known although its answer was lost.
    if operation.may_be_known && events.iter().all(|event| event.event_id.is_none()) {
        for (i, event) in events.iter_mut().enumerate() {
            event.event_id = Some(own_id(operation.id, i));
        }
    }
    let kind = match kind {
        Some(kind) => kind,
        None => {
            let stream = events::find_stream(&visit.ctx, aggregate_id).await?;
            stream.map_or_else(|| KIND.to_owned(), |stream| stream.aggregate_kind)
        }
    };
    let appended = events::append(&visit.ctx, AppendRequest { aggregate_id, kind, expected, events }).await?;
    let view = Json(AppendedView {
        aggregate_id: appended.aggregate_id.0,
        first_version: appended.first_version,
        version: appended.version,
        repeated: appended.repeated,
    });
    if appended.repeated {
        return Ok((StatusCode::OK, view).into_response());
    }
    let (first, last) = (appended.first_version, appended.version);
    let place = format!("/v1/admin/streams/{aggregate_id}/events?from_version={first}&to_version={last}");
    Ok(created(&place, view))
}

/// The id of one of several events of a request.
fn own_id(operation: Uuid, i: usize) -> EventId {
    EventId(Uuid::new_v5(&operation, &(i as u64).to_be_bytes()))
}

mirror! {
    /// Which way a stream is read.
    DirectionView = Direction { Forward, Backward }
}

/// Which events of a stream, and which page of them.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct StreamQuery {
    /// The lowest version, 1 if it is not said.
    #[param(minimum = 1)]
    from_version: Option<i64>,
    /// The highest version; the last one if it is not said.
    #[param(minimum = 1)]
    to_version: Option<i64>,
    /// The oldest first, or the newest.
    #[param(inline, value_type = Option<DirectionView>)]
    direction: Option<DirectionView>,
    /// Only what had happened by then.
    #[param(value_type = Option<Time>)]
    as_of: Option<Time>,
    /// How many, 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// `next_cursor` of the page before, of the same list.
    cursor: Option<String>,
}

fn at_least_one(name: &str, version: Option<i64>) -> Result<(), Problem> {
    match version {
        Some(version) if version < 1 => {
            Err(Problem::field("invalid", format!("/{name}"), format!("{version} is not 1 or more")))
        }
        _ => Ok(()),
    }
}

/// The events of a stream by version, forward or backward
#[utoipa::path(get, path = "/v1/admin/streams/{aggregate_id}/events", tag = "admin: events",
    params(("aggregate_id" = Uuid, Path, description = "What the events are about"), StreamQuery),
    responses((status = 200, description = "A page of them", body = Listing<EventView>), (status = 304, description = "As the client has it")))]
pub async fn list_events(
    visit: Visit,
    Path(aggregate): Path<AggregateId>,
    Query(query): Query<StreamQuery>,
) -> Result<Json<Listing<EventView>>, Problem> {
    at_least_one("from_version", query.from_version)?;
    at_least_one("to_version", query.to_version)?;
    let (from, to) = (query.from_version.unwrap_or(1), query.to_version);
    if to.is_some_and(|to| to < from) {
        return Err(Problem::field("invalid", "/to_version", "it is below from_version"));
    }
    let page = visit.page(&Paging { limit: query.limit, cursor: query.cursor })?;
    let direction = query.direction.map_or(Direction::Forward, Direction::from);
    let mut read = ReadStream { from, to, direction, limit: page.limit };
    if let Some(cursor) = &page.cursor {
        (read.from, read.to) = versions_of(cursor)?;
    } else if let Some(Time(time)) = query.as_of {
        let then = events::version_at(&visit.ctx, aggregate, time).await?;
        if then < from {
            return Ok(Json(Listing { data: Vec::new(), next_cursor: None }));
        }
        read.to = Some(to.map_or(then, |to| to.min(then)));
    }
    let found = events::list_events(&visit.ctx, aggregate, read).await?;
    if found.events.is_empty() && page.cursor.is_none() {
        must_be(&visit, aggregate).await?;
    }
    let next = found.next.map(|next| {
        let to = next.to.map(|to| to.to_string()).unwrap_or_default();
        visit.seal(&Cursor::from(format!("{}.{to}", next.from)))
    });
    let data = found.events.into_iter().map(EventView::of).collect::<Result<_, _>>()?;
    Ok(Json(Listing { data, next_cursor: next }))
}

/// Nothing in these versions, or nothing at all?
async fn must_be(visit: &Visit, aggregate: AggregateId) -> Result<(), Problem> {
    let first = ReadStream { limit: 1, ..ReadStream::default() };
    if events::list_events(&visit.ctx, aggregate, first).await?.events.is_empty() {
        return Err(events::Error::StreamNotFound { aggregate }.into());
    }
    Ok(())
}

/// What a cursor carries: where to go on, and where it ends.
fn versions_of(cursor: &Cursor) -> Result<(i64, Option<i64>), Problem> {
    // A cursor that was signed here was written here.
    let unsound = || Problem::internal("a cursor carries no versions");
    let (from, to) = cursor.as_str().split_once('.').ok_or_else(unsound)?;
    let to = if to.is_empty() { None } else { Some(to.parse().map_err(|_| unsound())?) };
    Ok((from.parse().map_err(|_| unsound())?, to))
}

/// Which state.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct StateQuery {
    /// After so many events; after all of them if it is not said.
    #[param(minimum = 1)]
    version: Option<i64>,
    /// As it was then, instead of `version`.
    #[param(value_type = Option<Time>)]
    as_of: Option<Time>,
}

/// What an aggregate is after some of its events.
#[derive(Serialize, ToSchema)]
pub struct StateView {
    pub aggregate_id: Uuid,
    #[schema(example = "wallet")]
    pub kind: String,
    #[schema(example = 7)]
    pub version: i64,
    /// What its kind makes of its events; of a kind that nobody knows, their data merged, one over the other.
    #[schema(value_type = Object, example = json!({"balance": "19.99"}))]
    pub state: Value,
    /// The version of the snapshot that it was made from; 0 without one.
    #[schema(example = 0)]
    pub from_snapshot: i64,
}

/// What an aggregate is after its events, or was after some of them
#[utoipa::path(get, path = "/v1/admin/streams/{aggregate_id}/state", tag = "admin: events",
    params(("aggregate_id" = Uuid, Path, description = "What the events are about"), StateQuery),
    responses((status = 200, description = "The state", body = StateView), (status = 304, description = "As the client has it")))]
pub async fn get_state(
    visit: Visit,
    Path(aggregate): Path<AggregateId>,
    Query(query): Query<StateQuery>,
) -> Result<Json<StateView>, Problem> {
    at_least_one("version", query.version)?;
    let version = match (query.version, query.as_of) {
        (Some(_), Some(_)) => return Err(Problem::field("invalid", "/as_of", "it comes without version")),
        (Some(version), None) => Some(version),
        (None, Some(Time(time))) => Some(events::version_at(&visit.ctx, aggregate, time).await?),
        (None, None) => None,
    };
    let found = match version {
        Some(version) => events::state_at(&visit.ctx, aggregate, version).await?,
        None => events::state_now(&visit.ctx, aggregate).await?,
    };
    Ok(Json(StateView {
        aggregate_id: found.aggregate_id.0,
        kind: found.kind,
        version: found.version,
        state: found.state,
        from_snapshot: found.from_snapshot,
    }))
}
