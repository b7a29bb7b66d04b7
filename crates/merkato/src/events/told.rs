//! How far a stream of the shop's facts is. It stands in the row that they happen to, so that no second partition is guarded.

use uuid::Uuid;
use widerow::{Cell, Timestamp};

use super::rules::{Fact, NewEvent};

/// The newest fact that was told of a thing.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Counted from 1 without a gap.
    pub version: i64,
    pub at: Timestamp,
}

impl Told {
    /// What is told next, now. The time never goes back, whichever machine's clock says so.
    pub fn after(before: Option<Told>, now: Timestamp) -> Self {
        match before {
            Some(before) => Told { version: before.version + 1, at: now.max(before.at) },
            None => Told { version: 1, at: now },
        }
    }

    pub fn fact(self, kind: &'static str, of: Uuid, event: NewEvent) -> Fact {
        Fact { kind, of, version: self.version, at: self.at, event }
    }
}
