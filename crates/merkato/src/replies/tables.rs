//! The table of replies. Reading this file is reading its data model.

use uuid::Uuid;
use widerow::{Cell, Row, Schema, Timestamp};

/// How far a request under a key has come.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyState {
    Running,
    Done,
    /// Done, with an answer too large to be kept.
    TooLarge,
}

#[derive(Cell, Clone, Debug, PartialEq, Eq)]
pub struct ReplyHeader {
    pub name: String,
    pub value: String,
}

/// What became of a request under an idempotency key. One row a partition, about 2 KiB, at most 260, for a day.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "replies", partition(key_hash), guarded, ttl = "1d", read = Quorum, write = Quorum)]
pub struct ReplyRow {
    /// Of the scope and the key: either may have any characters, and neither is a secret that should stand here.
    pub key_hash: String,
    /// Of the request.
    pub fingerprint: String,
    /// Of whoever runs it, or ran it.
    pub ticket_id: Uuid,
    pub state: ReplyState,
    /// While it runs: from then on whoever comes takes it over.
    pub running_until: Timestamp,
    /// Of an answer that is kept, as are the next two.
    pub status: Option<i32>,
    pub headers: Vec<ReplyHeader>,
    pub body: Option<Vec<u8>>,
}

pub(crate) fn tables(schema: Schema) -> Schema {
    schema.table::<ReplyRow>()
}
