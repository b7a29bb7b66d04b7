//! Events: what happened, in streams of one aggregate each, for good; and all of them in one feed.
//!
//! It knows no wallet and no order: an aggregate has an id and a kind, an event a type and an object of JSON.
//!
//! 1. The events of a stream are numbered from 1 without a gap; an append is whole or not at all, rests on the version that
//!    was expected, and is made once under the ids that its caller gave (`ops::append`).
//! 2. An event that is there has one place in the feed, for good, and a reader that goes on behind the last place it saw
//!    sees every event once, however slow its writer was, each stream in the order of its versions (`ops::sequence`).
//!    [Decision 14](../../../../docs/decisions/0014-the-feed-is-sequenced.md) has the reasons.
//! 3. The lists by type, day and correlation have an event when the feed has it.
//! 4. What an aggregate is follows from its events alone; a snapshot that is missing or broken costs time and nothing else
//!    (`ops::state`).
//! 5. A projection has the effect of each event once, wherever it was stopped (`ops::project`).

mod error;
mod memory;
mod ops;
mod registry;
mod rules;
mod stats;
mod tables;
#[cfg(test)]
mod tests;
mod told;

pub use error::{Error, Result};
pub(crate) use memory::Memory;
pub use ops::*;
pub use registry::{Aggregate, MergedJson, Projection, Registry};
pub(crate) use rules::check_events;
pub use rules::{Expected, Fact, NewEvent, Stream, fact_stream};
pub use stats::{EventStats, look_at_projections, stats};
pub(crate) use tables::tables;
pub use tables::{
    Checkpoint, DAY_SHARDS, Event, EventByCorrelation, EventByDay, EventById, EventByType, EventMark, EventStream,
    EventTypeCount, FeedEntry, FeedHead, INBOX_SHARDS, Rebuild, Sequenced, Snapshot, SnapshotDue, block_of,
};
pub use told::Told;

use crate::pattern::{AccessPattern, Amount, ReadCost};

/// A page of one partition, or of two at a border, and for each of its rows an event.
const LISTED: ReadCost = ReadCost {
    partitions: Amount::of(2).and_per_row(1),
    rows: Amount::of(2).and_per_row(2),
    requests: Amount::of(2).and_per_row(1),
};

pub const PATTERNS: &[AccessPattern] = &[
    AccessPattern {
        name: "E0",
        question: "How far a stream is",
        table: "event_streams",
        key: "aggregate_id = ?",
        cost: ReadCost::ROW,
    },
    AccessPattern {
        name: "E1",
        question: "The events of an aggregate, forward or backward, from and to a version",
        table: "event_log",
        key: "aggregate_id = ? AND block = ? AND event_version >= ? AND event_version <= ?",
        cost: ReadCost { partitions: Amount::of(2), rows: Amount::of(2).and_per_row(1), requests: Amount::of(2) },
    },
    AccessPattern {
        name: "E2",
        question: "What an aggregate is: the newest snapshot and the events behind it",
        table: "aggregate_snapshots, event_log",
        key: "aggregate_id = ? AND snapshot_version <= ?; aggregate_id = ? AND block = ? AND event_version > ?",
        cost: ReadCost { partitions: Amount::of(4), rows: Amount::of(4).and_per_row(1), requests: Amount::of(4) },
    },
    AccessPattern {
        name: "E3",
        question: "The events of a type, the newest first, day by day",
        table: "events_by_type, event_log",
        key: "event_type = ? AND event_day = ? AND event_timestamp >= ? AND event_timestamp < ?",
        cost: LISTED,
    },
    AccessPattern {
        name: "E4",
        question: "All events of a time, day by day",
        table: "events_by_day, event_log",
        key: "event_day = ? AND shard = each AND event_timestamp >= ? AND event_timestamp < ?",
        cost: ReadCost {
            partitions: Amount::of(2 * DAY_SHARDS as u64).and_per_row(1),
            rows: Amount::of(2 * DAY_SHARDS as u64).and_per_row(1 + DAY_SHARDS as u64),
            requests: Amount::of(2 * DAY_SHARDS as u64).and_per_row(1),
        },
    },
    AccessPattern {
        name: "E5",
        question: "The events behind a place in the feed",
        table: "event_feed, event_log",
        key: "block = ? AND position > ?",
        cost: LISTED,
    },
    AccessPattern {
        name: "E6",
        question: "The events that belong together",
        table: "events_by_correlation, event_log",
        key: "correlation_id = ?",
        cost: LISTED,
    },
    AccessPattern {
        name: "E7",
        question: "Whether an event of this id is there",
        table: "events_by_id",
        key: "event_id = ?",
        cost: ReadCost::ROW,
    },
    AccessPattern {
        name: "E8",
        question: "The types of events that there are",
        table: "projection_checkpoints, event_types",
        key: "name = 'event_types'; generation = ?",
        cost: ReadCost { partitions: Amount::of(2), rows: Amount::of(2).and_per_row(1), requests: Amount::of(2) },
    },
    AccessPattern {
        name: "E9",
        question: "Which streams may have events without a place",
        table: "event_inbox",
        key: "bucket = ? AND shard = ? AND marked_at >= ?",
        cost: ReadCost::PAGE,
    },
];
