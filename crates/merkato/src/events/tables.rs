//! The tables of events. Reading this file is reading their data model.
//!
//! A stream has one owner, its row in `event_streams`: an append is one commit that is guarded there, with the events and a
//! mark in `event_inbox` beside it. The feed has one owner, the row in `event_feed_head`: whoever gives events their places
//! does so in commits that are guarded there, with the feed, the lists by type, day and correlation, and how far each stream
//! has its places (`event_sequenced`). No table is written by both, but for the marks, which only say where to look: one that
//! comes back from the dead, or is removed twice, changes nothing.

use std::collections::BTreeMap;

use uuid::Uuid;
use widerow::{Cell, Date, Row, Schema, Timestamp};

use crate::{
    id::{AggregateId, EventId},
    limits, shards,
};

/// How far a stream is. One row a partition, about 200 bytes, at most 20 KiB.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "event_streams", partition(aggregate_id), guarded, read = Quorum, write = Quorum)]
pub struct EventStream {
    pub aggregate_id: AggregateId,
    /// What the aggregate is: `wallet`, `order`. It says who folds its events, and never changes.
    pub aggregate_kind: String,
    /// Of its newest event; events are numbered from 1 without a gap, so that it is their count too.
    pub version: i64,
    pub last_event_id: EventId,
    /// Of its newest event: no later one is before it.
    pub last_event_at: Timestamp,
    pub created_at: Timestamp,
    /// What its domain keeps exact beside the version, as JSON.
    pub state: Option<String>,
}

/// E1: the events of an aggregate by version, as the document has them, in blocks. Never changed once they are there.
/// Expected 20 rows a partition, at most 1,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "event_log", partition(aggregate_id, block), clustering(event_version), series, read = Quorum, write = Quorum)]
pub struct Event {
    pub aggregate_id: AggregateId,
    pub block: i64,
    pub event_version: i64,
    pub event_timestamp: Timestamp,
    pub event_id: EventId,
    pub aggregate_kind: String,
    /// In the past tense: `MoneyDeposited`.
    pub event_type: String,
    /// JSON, an object.
    pub event_data: String,
    /// Of the data: what an older program wrote is brought up to date when it is folded.
    pub schema_version: i32,
    pub event_metadata: BTreeMap<String, String>,
    /// The event or command that this one follows from.
    pub causation_id: Option<Uuid>,
    /// What belongs together; its own id where nothing was said.
    pub correlation_id: Uuid,
}

/// The block of a version, or of a place in the feed.
pub const fn block_of(number: i64) -> i64 {
    (number - 1).div_euclid(limits::EVENTS_A_BLOCK)
}

impl Event {
    pub(super) fn key(aggregate: AggregateId, version: i64) -> (AggregateId, i64, i64) {
        (aggregate, block_of(version), version)
    }
}

/// Which version an id that a caller gave has become, so that the same append again changes nothing. One row a partition.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "events_by_id", partition(event_id), read = Quorum, write = Quorum)]
pub struct EventById {
    pub event_id: EventId,
    pub aggregate_id: AggregateId,
    pub event_version: i64,
    /// Of what was asked for: the same id with another content is refused.
    pub fingerprint: Uuid,
}

/// Partitions of ten minutes of marks. It is a part of stored keys and never changes.
pub const INBOX_SHARDS: u32 = 8;
/// Seconds of one bucket of marks.
pub const INBOX_BUCKET_SECONDS: i64 = 600;

/// Streams that may have events without a place in the feed, by the time of their append. A mark is written with its events and
/// removed with their getting places. Expected 100 rows a partition, at most some 100,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "event_inbox",
    partition(bucket, shard),
    clustering(marked_at, aggregate_id, event_version),
    series,
    read = Quorum,
    write = Quorum,
    gc_grace = "1h"
)]
pub struct EventMark {
    /// Ten minutes since 1970.
    pub bucket: i64,
    pub shard: u32,
    pub marked_at: Timestamp,
    pub aggregate_id: AggregateId,
    /// The newest event of the append.
    pub event_version: i64,
}

pub(super) fn bucket_of(time: Timestamp) -> i64 {
    time.millis().div_euclid(1_000 * INBOX_BUCKET_SECONDS)
}

impl EventMark {
    pub(super) fn new(aggregate_id: AggregateId, event_version: i64, marked_at: Timestamp) -> Self {
        let shard = shards::of(aggregate_id.0.as_bytes(), INBOX_SHARDS);
        EventMark { bucket: bucket_of(marked_at), shard, marked_at, aggregate_id, event_version }
    }

    pub(super) fn key(&self) -> (i64, u32, Timestamp, AggregateId, i64) {
        (self.bucket, self.shard, self.marked_at, self.aggregate_id, self.event_version)
    }
}

/// The one feed of a shop.
pub(super) const FEED: i32 = 0;

/// How far the feed is. One row.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "event_feed_head", partition(feed), guarded, read = Quorum, write = Quorum)]
pub struct FeedHead {
    pub feed: i32,
    /// The last place that is taken; places are numbered from 1 without a gap.
    pub position: i64,
    /// Marks before this were seen, but for those that come late.
    pub read_to: Timestamp,
    /// The oldest bucket of marks that may still get one.
    pub open_bucket: i64,
    pub moved_at: Timestamp,
}

/// Up to which version the events of an aggregate have their places. One row a partition.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "event_sequenced", partition(aggregate_id), read = Quorum, write = Quorum)]
pub struct Sequenced {
    pub aggregate_id: AggregateId,
    pub event_version: i64,
    /// The place of that version.
    pub position: i64,
}

/// E5: all events, each at its place for good. At most 1,000 rows a partition.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "event_feed", partition(block), clustering(position), series, read = Quorum, write = Quorum)]
pub struct FeedEntry {
    pub block: i64,
    pub position: i64,
    pub aggregate_id: AggregateId,
    pub event_version: i64,
    pub event_id: EventId,
    pub event_type: String,
    pub event_timestamp: Timestamp,
}

/// E3: the events of one type on one day, the newest first. Expected 1,000 rows, at most some 1,000,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "events_by_type",
    partition(event_type, event_day),
    clustering(event_timestamp desc, event_id desc, aggregate_id),
    read = Quorum,
    write = Quorum
)]
pub struct EventByType {
    pub event_type: String,
    pub event_day: Date,
    pub event_timestamp: Timestamp,
    pub event_id: EventId,
    pub aggregate_id: AggregateId,
    pub event_version: i64,
    pub position: i64,
}

/// Partitions of one day of all events. It is a part of stored keys and never changes.
pub const DAY_SHARDS: u32 = 4;

/// E4: all events of one day, the oldest first, in shards by aggregate. Expected 10,000 rows, at most some 1,000,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "events_by_day",
    partition(event_day, shard),
    clustering(event_timestamp, event_id, aggregate_id),
    read = Quorum,
    write = Quorum
)]
pub struct EventByDay {
    pub event_day: Date,
    pub shard: u32,
    pub event_timestamp: Timestamp,
    pub event_id: EventId,
    pub aggregate_id: AggregateId,
    pub event_version: i64,
    pub event_type: String,
    pub position: i64,
}

pub(super) fn day_shard(aggregate: AggregateId) -> u32 {
    shards::of(aggregate.0.as_bytes(), DAY_SHARDS)
}

/// E6: the events that belong together, the oldest first. Expected 10 rows, at most some 100,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "events_by_correlation",
    partition(correlation_id),
    clustering(event_timestamp, event_id, aggregate_id),
    read = Quorum,
    write = Quorum
)]
pub struct EventByCorrelation {
    pub correlation_id: Uuid,
    pub event_timestamp: Timestamp,
    pub event_id: EventId,
    pub aggregate_id: AggregateId,
    pub event_version: i64,
    pub position: i64,
}

/// E2: what an aggregate was after so many events, the newest first, as the document has it. They only make things faster.
/// The newest few are kept: expected 3 rows a partition.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "aggregate_snapshots", partition(aggregate_id), clustering(snapshot_version desc))]
pub struct Snapshot {
    pub aggregate_id: AggregateId,
    pub snapshot_version: i64,
    pub snapshot_timestamp: Timestamp,
    /// JSON.
    pub aggregate_data: String,
    pub events_count: i64,
    /// Of whoever folded it: what another one left is not used.
    pub aggregate_kind: String,
    pub fold_version: i32,
}

/// Partitions of the streams that want a snapshot. It is a part of stored keys and never changes.
pub const DUE_SHARDS: u32 = 4;

/// Streams that want a snapshot. Written with their events' getting places. Expected 10 rows, at most one an aggregate.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "snapshots_due", partition(shard), clustering(aggregate_id), gc_grace = "1h")]
pub struct SnapshotDue {
    pub shard: u32,
    pub aggregate_id: AggregateId,
    pub event_version: i64,
}

pub(super) fn due_shard(aggregate: AggregateId) -> u32 {
    shards::of(aggregate.0.as_bytes(), DUE_SHARDS)
}

/// A read model being made anew, beside the one that serves.
#[derive(Cell, Clone, Debug, PartialEq, Eq)]
pub struct Rebuild {
    pub generation: i64,
    pub position: i64,
    pub begun_at: Timestamp,
}

/// How far a projection has followed the feed. What it writes is written in commits that are guarded here. One row a partition.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "projection_checkpoints", partition(name), guarded, read = Quorum, write = Quorum)]
pub struct Checkpoint {
    pub name: String,
    /// Whose rows are served.
    pub generation: i64,
    /// The last place in the feed that these rows know.
    pub position: i64,
    pub rebuild: Option<Rebuild>,
    /// Whose rows are still to be removed.
    pub leftovers: Vec<i64>,
    pub updated_at: Timestamp,
}

/// E8: the types of events that there are, with their number. One partition; expected 100 rows. It is a projection.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "event_types", partition(generation), clustering(event_type), read = Quorum, write = Quorum)]
pub struct EventTypeCount {
    pub generation: i64,
    pub event_type: String,
    pub events_count: i64,
    pub first_event_at: Timestamp,
    pub last_event_at: Timestamp,
}

pub(crate) fn tables(schema: Schema) -> Schema {
    schema
        .table::<EventStream>()
        .table::<Event>()
        .table::<EventById>()
        .table::<EventMark>()
        .table::<FeedHead>()
        .table::<Sequenced>()
        .table::<FeedEntry>()
        .table::<EventByType>()
        .table::<EventByDay>()
        .table::<EventByCorrelation>()
        .table::<Snapshot>()
        .table::<SnapshotDue>()
        .table::<Checkpoint>()
        .table::<EventTypeCount>()
}
