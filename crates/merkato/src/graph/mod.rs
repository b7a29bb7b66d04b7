//! Who knows whom: friends, followers, colleagues and those who want nothing of each other; what their whole says about each.
//!
//! It knows no account: an id is somebody, whether the shop has a customer of that id or not.
//!
//! 1. What two people are to each other is decided on one row (`tables::Pair`): a friendship is that of both or of neither, and of
//!    a block and a connection that are made at once one comes first.
//! 2. A block hides the two from each other, in every list, path and suggestion, from the commit that makes it. What was
//!    between them is there again when it is taken back.
//! 3. Lists follow from the pairs, in the same commit, in partitions that stay bounded for a person of any fame.
//! 4. How many connections somebody has is stored, and exact: every change is counted once by each of the two (`ops::count`).
//!    It is counted when the change returns, or by `settle_counts` where its process died.
//! 5. A path is served only if all of its steps are there when it is served, cached or not (`ops::path`).
//! 6. Suggestions are replaced whole, and leave out whoever was blocked or connected since.
//! 7. A purchase is counted once between any two of its products (`copurchase`).

pub mod copurchase;
mod error;
pub mod figures;
mod ops;
mod rules;
mod tables;
#[cfg(test)]
mod tests;

pub(crate) use copurchase::join_purchase;
pub use copurchase::{BoughtTogether, RelatedProduct, list_bought_together, record_purchase};
pub use error::{Error, Result};
pub use ops::*;
pub use rules::NewConnection;
pub(crate) use tables::tables;
pub use tables::{
    Community, Connection, ConnectionPath, ConnectionType, Counted, Degree, Link, MARK_SHARDS, Metrics, Pair, PairMark,
    Person, ReverseConnection, Says, Suggestion, Summary, Tie, Uncounted,
};

use crate::{
    limits,
    pattern::{AccessPattern, Amount, ReadCost},
};

/// A page of a bucket, and the person, who says whether there is another; with the next buckets, where a page goes over its end.
const LISTED: ReadCost = ReadCost {
    partitions: Amount::of(1 + limits::BUCKETS_A_PAGE_MAX),
    rows: Amount::of(3).and_per_row(1),
    requests: Amount::of(1 + limits::BUCKETS_A_PAGE_MAX),
};

pub const PATTERNS: &[AccessPattern] = &[
    AccessPattern {
        name: "G1",
        question: "Whom somebody is connected to, by type",
        table: "user_connections, graph_people",
        key: "user_id = ? AND bucket = ? AND connection_type = ?",
        cost: LISTED,
    },
    AccessPattern {
        name: "G2",
        question: "Who is connected to somebody, by type",
        table: "user_reverse_connections, graph_people",
        key: "user_id = ? AND bucket = ? AND connection_type = ?",
        cost: LISTED,
    },
    AccessPattern {
        name: "G3",
        question: "What one is to another",
        table: "connection_pairs",
        key: "low_user_id = ? AND high_user_id = ?",
        cost: ReadCost::ROW,
    },
    AccessPattern {
        name: "G4",
        question: "The shortest path from one to another that was found today, and whether it still holds",
        table: "connection_paths, connection_pairs",
        key: "start_user_id = ? AND path_length = 1 to 6 AND end_user_id = ?; each of its pairs",
        cost: ReadCost { partitions: Amount::of(22), rows: Amount::of(22), requests: Amount::of(22) },
    },
    AccessPattern {
        name: "G5",
        question: "How many connections somebody has, and what they like",
        table: "graph_people",
        key: "user_id = ?",
        cost: ReadCost::ROW,
    },
    AccessPattern {
        name: "G6",
        question: "Whom somebody may know, less those who were connected, blocked or forgotten since",
        table: "connection_suggestions, connection_pairs, graph_people",
        key: "user_id = ?; low_user_id = ? AND high_user_id = ? of each; user_id = ? of each",
        cost: ReadCost { partitions: Amount::of(99), rows: Amount::of(147), requests: Amount::of(99) },
    },
    AccessPattern {
        name: "G7",
        question: "What the last analysis says of somebody",
        table: "graph_metrics",
        key: "user_id = ?",
        cost: ReadCost::ROW,
    },
    AccessPattern {
        name: "G8",
        question: "The communities of the last analysis, the largest first",
        table: "graph_communities",
        key: "shelf = 0",
        cost: ReadCost { partitions: Amount::of(1), rows: Amount::of(50), requests: Amount::of(2) },
    },
    AccessPattern {
        name: "G9",
        question: "Whom two have in common: n of those whom the one with fewer has are looked up",
        table: "connection_pairs, graph_people, user_connections",
        key: "user_id = ? AND bucket = ? AND connection_type = ?; low_user_id = ? AND high_user_id = ? of each",
        cost: ReadCost {
            partitions: Amount::of(8).and_per_row(1),
            rows: Amount::of(6).and_per_row(2),
            requests: Amount::of(8).and_per_row(1),
        },
    },
];
