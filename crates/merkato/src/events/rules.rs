//! Decides what an append is, without reading or writing.

use std::{
    collections::{BTreeMap, HashSet},
    fmt::Display,
};

use serde_json::Value;
use sha2::{Digest, Sha256};
use uuid::Uuid;
use widerow::Timestamp;

use super::{
    error::{Error, Result},
    tables::{Event, EventById, EventStream, block_of},
};
use crate::{
    check::Check,
    id::{self, AggregateId, EventId},
    limits,
};

/// An event that is to be.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    /// Under its own id an event is appended once. Without one it gets one. Of one append all have theirs, or none.
    pub event_id: Option<EventId>,
    pub event_type: String,
    /// An object.
    pub data: Value,
    pub schema_version: i32,
    pub metadata: BTreeMap<String, String>,
    pub causation_id: Option<Uuid>,
    pub correlation_id: Option<Uuid>,
    /// When it happened, where that is not now. It is never before the event that the stream has already.
    pub at: Option<Timestamp>,
}

impl NewEvent {
    pub fn new(event_type: impl Into<String>, data: Value) -> Self {
        NewEvent {
            event_id: None,
            event_type: event_type.into(),
            data,
            schema_version: 1,
            metadata: BTreeMap::new(),
            causation_id: None,
            correlation_id: None,
            at: None,
        }
    }

    pub fn with_id(mut self, event_id: EventId) -> Self {
        self.event_id = Some(event_id);
        self
    }

    /// Of all that the caller said.
    pub(super) fn fingerprint(&self) -> Uuid {
        let mut digest = Sha256::new();
        let mut part = |bytes: &[u8]| {
            digest.update((bytes.len() as u64).to_be_bytes());
            digest.update(bytes);
        };
        part(self.event_type.as_bytes());
        part(self.data.to_string().as_bytes());
        part(&self.schema_version.to_be_bytes());
        for (name, value) in &self.metadata {
            part(name.as_bytes());
            part(value.as_bytes());
        }
        for id in [self.causation_id, self.correlation_id] {
            part(id.map(Uuid::into_bytes).as_ref().map_or(&[][..], |bytes| &bytes[..]));
        }
        part(self.at.map(|at| at.millis().to_be_bytes()).as_ref().map_or(&[][..], |bytes| &bytes[..]));
        id::of_digest(&digest.finalize().into())
    }
}

/// At which version an append is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    Any,
    /// There are no events yet.
    Absent,
    Exact(i64),
}

impl Expected {
    /// The version that it must be, if it must.
    fn version(self) -> Option<i64> {
        match self {
            Expected::Any => None,
            Expected::Absent => Some(0),
            Expected::Exact(version) => Some(version),
        }
    }
}

/// Something that happened in the shop, numbered by the row that it happened to.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// `order`, `product`, `stock`, `cart`.
    pub kind: &'static str,
    /// Of the order, the product.
    pub of: Uuid,
    /// Counted from 1 without a gap by the guarded partition whose commit tells it.
    pub version: i64,
    /// Never before that of the version before.
    pub at: Timestamp,
    pub event: NewEvent,
}

/// The stream of the facts of an order, a product. Nobody else can append to it: ids of this version are the shop's.
pub fn fact_stream(kind: &str, of: Uuid) -> AggregateId {
    let digest = Sha256::new().chain_update(kind.as_bytes()).chain_update([0]).chain_update(of.as_bytes());
    AggregateId(id::of_digest(&digest.finalize().into()))
}

pub(super) fn is_fact_stream(aggregate: AggregateId) -> bool {
    is_own(aggregate.0)
}

/// Whether an id is one that only the shop gives.
pub(super) fn is_own(id: Uuid) -> bool {
    id.get_version() == Some(uuid::Version::Custom)
}

/// A stream as an append finds it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stream {
    pub head: Option<EventStream>,
    /// Of the ids that were asked for, those that the stream has.
    pub known: BTreeMap<EventId, EventById>,
}

impl Stream {
    pub fn version(&self) -> i64 {
        self.head.as_ref().map_or(0, |head| head.version)
    }

    /// What its domain keeps beside the version.
    pub fn state(&self) -> Option<&str> {
        self.head.as_ref()?.state.as_deref()
    }

    pub(super) fn must_be_at(&self, aggregate: AggregateId, expected: Expected) -> Result<()> {
        match expected.version() {
            Some(expected) if expected != self.version() => {
                Err(Error::VersionConflict { aggregate, expected, found: self.version() })
            }
            _ => Ok(()),
        }
    }

    /// The versions of these events, where they are there already, as they were asked for.
    pub(super) fn find_repeated(&self, events: &[NewEvent]) -> Result<Option<(i64, i64)>> {
        let mut versions = Vec::new();
        for (event, event_id) in events.iter().filter_map(|event| Some((event, event.event_id?))) {
            let Some(known) = self.known.get(&event_id) else { continue };
            if known.fingerprint != event.fingerprint() {
                return Err(Error::OtherEvent { event: event_id });
            }
            versions.push(known.event_version);
        }
        let (Some(first), Some(last)) = (versions.first().copied(), versions.last().copied()) else { return Ok(None) };
        // One behind the other, and all of them, or they were not sent together.
        if versions.len() != events.len() || !versions.iter().copied().eq(first..=last) {
            return Err(Error::SomeKnown);
        }
        Ok(Some((first, last)))
    }
}

pub(super) fn check_kind(check: &mut Check, kind: &str) {
    check.line("kind", kind, 1..=limits::EVENT_NAME_BYTES_MAX);
}

pub(super) fn check_type(check: &mut Check, field: impl Display, event_type: &str) {
    check.line(field, event_type, 1..=limits::EVENT_NAME_BYTES_MAX);
}

/// Checks the events of one append, before anything is read.
pub(crate) fn check_events(events: &[NewEvent], now: Timestamp) -> Result<()> {
    if events.len() > limits::EVENTS_TOGETHER_MAX {
        let (size, limit) = (events.len(), limits::EVENTS_TOGETHER_MAX);
        return Err(Error::TooLarge { what: "events of one append", size, limit });
    }
    let mut check = Check::new();
    check.that(!events.is_empty(), "events", "at least one event");
    // Few bytes need not be counted exactly.
    let exactly = events.iter().map(bytes_at_most).sum::<usize>() > limits::EVENT_DATA_BYTES_MAX;
    let (mut bytes, mut ids) = (0, HashSet::new());
    for (i, event) in events.iter().enumerate() {
        check_event(&mut check, i, event, now);
        if exactly {
            bytes += check_bytes(&mut check, i, event);
        }
        if let Some(event_id) = event.event_id {
            check.that(ids.insert(event_id), format_args!("events/{i}/event_id"), "another event has it");
        }
        // Of one without an id nobody could say, when they are sent again, whether it is there.
        let alike = event.event_id.is_some() == events[0].event_id.is_some();
        check.that(alike, format_args!("events/{i}/event_id"), "either all events have an id or none");
    }
    check.end()?;
    if bytes > limits::EVENTS_DATA_BYTES_MAX {
        let limit = limits::EVENTS_DATA_BYTES_MAX;
        return Err(Error::TooLarge { what: "the events' data in bytes", size: bytes, limit });
    }
    Ok(())
}

fn check_event(check: &mut Check, i: usize, event: &NewEvent, now: Timestamp) {
    check_type(check, format_args!("events/{i}/event_type"), &event.event_type);
    check.that(event.data.is_object(), format_args!("events/{i}/data"), "not an object of JSON");
    let version = event.schema_version;
    let problem = format_args!("{version} is not 1 or more");
    check.that(version >= 1, format_args!("events/{i}/schema_version"), problem);
    check.count(format_args!("events/{i}/metadata"), event.metadata.len(), limits::EVENT_METADATA_MAX);
    for (name, value) in &event.metadata {
        check.line(format_args!("events/{i}/metadata"), name, 1..=limits::EVENT_METADATA_BYTES_MAX);
        check.lines(format_args!("events/{i}/metadata/{name}"), value, limits::EVENT_METADATA_BYTES_MAX);
    }
    if let Some(happened) = event.at {
        let field = format_args!("events/{i}/at");
        check.that(happened.in_range(), field, "not a time of the years 0 to 9999");
        let latest = now.plus_seconds(limits::EVENT_AHEAD_SECONDS);
        check.that(happened <= latest, field, "it has not happened yet");
    }
}

/// The bytes that count towards what an append may have.
fn check_bytes(check: &mut Check, i: usize, event: &NewEvent) -> usize {
    let (data, limit) = (event.data.to_string().len(), limits::EVENT_DATA_BYTES_MAX);
    let problem = format_args!("it has {data} bytes, the limit is {limit}");
    check.that(data <= limit, format_args!("events/{i}/data"), problem);
    data + metadata_bytes(event)
}

fn metadata_bytes(event: &NewEvent) -> usize {
    event.metadata.iter().map(|(name, value)| name.len() + value.len()).sum()
}

/// What an event has in bytes, or more, told without writing it out.
pub(super) fn bytes_at_most(event: &NewEvent) -> usize {
    /// `-1.2345678901234567e-308`, and a comma behind it.
    const NUMBER_BYTES: usize = 32;
    // Quotes, and what is behind them; a control character becomes six.
    let text = |text: &str| 6 * text.len() + 4;
    fn of(value: &Value, text: &impl Fn(&str) -> usize) -> usize {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => NUMBER_BYTES,
            Value::String(string) => text(string),
            Value::Array(values) => 3 + values.iter().map(|value| of(value, text)).sum::<usize>(),
            Value::Object(fields) => 3 + fields.iter().map(|(name, value)| text(name) + of(value, text)).sum::<usize>(),
        }
    }
    of(&event.data, &text) + metadata_bytes(event)
}

/// The events as they are kept, and the stream after them.
pub(super) fn append(
    aggregate_id: AggregateId,
    kind: &str,
    head: Option<&EventStream>,
    events: &[(EventId, &NewEvent)],
    state: Option<String>,
    now: Timestamp,
) -> Option<(EventStream, Vec<Event>)> {
    let mut version = head.map_or(0, |head| head.version);
    let mut last = head.map_or(Timestamp::MIN, |head| head.last_event_at);
    let mut rows = Vec::with_capacity(events.len());
    for (event_id, event) in events {
        version += 1;
        // A clock that goes back takes no stream with it.
        last = last.max(event.at.unwrap_or(now));
        rows.push(row(aggregate_id, kind, version, last, *event_id, event));
    }
    let head = EventStream {
        aggregate_id,
        aggregate_kind: kind.to_owned(),
        version,
        last_event_id: rows.last()?.event_id,
        last_event_at: last,
        created_at: head.map_or(now, |head| head.created_at),
        state: state.or_else(|| head.and_then(|head| head.state.clone())),
    };
    Some((head, rows))
}

pub(super) fn row(
    aggregate_id: AggregateId,
    kind: &str,
    event_version: i64,
    event_timestamp: Timestamp,
    event_id: EventId,
    event: &NewEvent,
) -> Event {
    Event {
        aggregate_id,
        block: block_of(event_version),
        event_version,
        event_timestamp,
        event_id,
        aggregate_kind: kind.to_owned(),
        event_type: event.event_type.clone(),
        event_data: text_of(&event.data),
        schema_version: event.schema_version,
        event_metadata: event.metadata.clone(),
        causation_id: event.causation_id,
        correlation_id: event.correlation_id.unwrap_or(event_id.0),
    }
}

/// As `Display` writes it, without the detour through the formatter.
fn text_of(data: &Value) -> String {
    serde_json::to_string(data).unwrap_or_else(|_| data.to_string())
}

impl Event {
    /// What it says; in words where that is no JSON.
    pub fn data(&self) -> Result<Value, String> {
        serde_json::from_str(&self.event_data).map_err(|error| format!("its data is no JSON: {error}"))
    }
}

impl EventById {
    /// Whether it was appended as this.
    pub fn is(&self, event: &NewEvent, aggregate: AggregateId) -> bool {
        self.aggregate_id == aggregate && self.fingerprint == event.fingerprint()
    }
}
