//! One stream, replayed: what it was after so many events, with what the last of them changed.

use std::time::Duration;

use askama::Template;
use merkato::{
    Context,
    events::{self, Direction, Event, ReadStream},
    id::AggregateId,
};
use serde::Deserialize;
use serde_json::Value;

use super::{PATH, json::Lines, second, stream_path};
use crate::{
    http::{Path, Problem, Query, Visit},
    web::{Frame, Html, next, words},
};

/// Versions that are listed beside the one that is shown.
const LISTED: i64 = 20;
/// Bytes of the state and of the event's data on the page.
const STATE_BYTES_MAX: usize = 40 * 1024;
const DATA_BYTES_MAX: usize = 12 * 1024;
/// How long the page waits for a stream to be folded.
const FOLD_WITHIN: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
pub struct VersionQuery {
    /// The newest if it is not said.
    version: Option<i64>,
}

struct VersionRow {
    version: i64,
    href: String,
    event_type: String,
    when: String,
    here: bool,
}

/// What the stream was after the event.
struct Replayed {
    state: Lines,
    /// Of the lines, in words.
    changes: String,
    from_snapshot: i64,
}

#[derive(Template)]
#[template(path = "admin/events_stream.html")]
pub struct Shown {
    frame: Frame,
    id: String,
    path: String,
    kind: String,
    version: i64,
    last: i64,
    last_words: String,
    first_href: Option<String>,
    previous: Option<String>,
    next: Option<String>,
    last_href: Option<String>,
    event_type: String,
    event_id: String,
    when: String,
    schema_version: i32,
    metadata: Vec<(String, String)>,
    causation: Option<String>,
    correlation: String,
    together: String,
    data: Lines,
    replayed: Option<Replayed>,
    /// Why it is not replayed.
    trouble: String,
    versions: Vec<VersionRow>,
    earlier: Option<String>,
    later: Option<String>,
}

pub async fn show(
    visit: Visit,
    frame: Frame,
    Path(aggregate): Path<AggregateId>,
    Query(query): Query<VersionQuery>,
) -> Result<Html<Shown>, Problem> {
    let ctx = &visit.ctx;
    let newest = ReadStream { direction: Direction::Backward, limit: 1, ..ReadStream::default() };
    let newest = events::list_events(ctx, aggregate, newest).await?.events.pop();
    let last = newest.ok_or(events::Error::StreamNotFound { aggregate })?.event_version;
    let version = query.version.unwrap_or(last);
    if !(1..=last).contains(&version) {
        return Err(events::Error::VersionNotFound { aggregate, wanted: version, found: last }.into());
    }
    let from = (version - 1) / LISTED * LISTED + 1;
    let read = ReadStream { from, to: Some(from + LISTED - 1), limit: LISTED as usize, ..ReadStream::default() };
    let listed = events::list_events(ctx, aggregate, read).await?.events;
    let event = listed.iter().find(|event| event.event_version == version).cloned();
    let event = event.ok_or(events::Error::VersionNotFound { aggregate, wanted: version, found: last })?;
    let (replayed, trouble) = match tokio::time::timeout(FOLD_WITHIN, replay(ctx, aggregate, version)).await {
        Ok(Ok(replayed)) => (Some(replayed), String::new()),
        Ok(Err(events::Error::Unreadable { version, problem, .. })) => {
            (None, format!("Version {version} makes no sense to whoever folds it: {problem}."))
        }
        Ok(Err(error)) => return Err(error.into()),
        Err(_) => (
            None,
            "There are too many events before this version to fold them now. Once a snapshot is taken it is shown."
                .to_owned(),
        ),
    };
    let at = |version: i64| stream_path(aggregate, version);
    let row = |event: &Event| VersionRow {
        version: event.event_version,
        href: at(event.event_version),
        event_type: event.event_type.clone(),
        when: second(event.event_timestamp),
        here: event.event_version == version,
    };
    let data = event.data().map_err(Problem::internal)?;
    Ok(Html(Shown {
        frame,
        id: aggregate.to_string(),
        path: format!("{PATH}/streams/{aggregate}"),
        version,
        last,
        last_words: words::thousands(&last.to_string()),
        first_href: (version > 1).then(|| at(1)),
        previous: (version > 1).then(|| at(version - 1)),
        next: (version < last).then(|| at(version + 1)),
        last_href: (version < last).then(|| at(last)),
        when: second(event.event_timestamp),
        event_id: event.event_id.to_string(),
        schema_version: event.schema_version,
        metadata: event.event_metadata.into_iter().collect(),
        causation: event.causation_id.map(|id| id.to_string()),
        together: format!("{PATH}?correlation={}", next::encode(&event.correlation_id.to_string())),
        correlation: event.correlation_id.to_string(),
        data: Lines::of(&data, DATA_BYTES_MAX),
        kind: event.aggregate_kind,
        event_type: event.event_type,
        versions: listed.iter().map(row).collect(),
        earlier: (from > 1).then(|| at(from - 1)),
        later: (from + LISTED <= last).then(|| at(from + LISTED)),
        replayed,
        trouble,
    }))
}

async fn replay(ctx: &Context, aggregate: AggregateId, version: i64) -> events::Result<Replayed> {
    let before = async {
        if version == 1 { Ok(Value::Null) } else { Ok(events::state_at(ctx, aggregate, version - 1).await?.state) }
    };
    let (old, new) = futures::try_join!(before, events::state_at(ctx, aggregate, version))?;
    let state = Lines::between(&old, &new.state, STATE_BYTES_MAX);
    let count = |class: &str| state.lines.iter().filter(|line| line.mark.class() == class).count() as u64;
    let told =
        [("added", "added"), ("changed", "changed"), ("removed", "removed")].into_iter().filter_map(|(class, word)| {
            let lines = count(class);
            (lines > 0).then(|| format!("{} {word}", words::count(lines, "line", "lines")))
        });
    let told: Vec<String> = told.collect();
    let changes = if told.is_empty() { "Nothing changed.".to_owned() } else { format!("{}.", told.join(", ")) };
    Ok(Replayed { state, changes, from_snapshot: new.from_snapshot })
}
