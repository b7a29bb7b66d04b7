//! Tables that are series: rows that come in by time, many at once, of many partitions, and are hardly ever changed.
//!
//! A row that is kept by itself costs its key, a place in a sorted tree, and its part in every sorting to disk. Rows of a series
//! are staged instead: the rows of a group of commits are one block of a journal, and stand in memory by their partitions. Once
//! there are enough of them, those of each partition are packed into one entry beside its rows (section `PACKED`).
//!
//! Invariants:
//! - An acknowledged row is in a block of the journal that was synced, or packed. A block goes in the batch that has packed the
//!   last of its rows.
//! - What counts is the newest of a row: staged before packed, a later pack before an earlier one, packed before one by itself.
//!   Blocks go from the oldest on, and are read back in order, so that nothing old comes before something newer.
//! - A deletion is staged, too. Packing it writes the whole partition anew, without what was deleted.
//! - RACE: rows of a partition are being packed once at a time, and what came since stands apart from them: nobody else changes its
//!   packs until that is visible, but the committer, who reclaims what has ended.
//! - RACE: who reads several rows takes its snapshot while the stage is locked: what is staged is then as new as what is packed, and
//!   a commit is in both or in neither. Rows leave the stage after the batch that has them packed is visible, so that a row is in one
//!   of the two places or in both.
//! - RACE: what a group stages is added while its shards are locked from before its batch is visible. Whoever has seen anything of
//!   a commit finds its rows, waiting for the sync if need be, and nobody sees a row that a crash could take back.

mod journal;
mod pack;
mod packer;
mod rows;
mod stage;
mod tail;
#[cfg(test)]
mod tests;

pub(super) use self::{
    journal::Journal,
    pack::{PackedRows, later_end, live_in, newest},
    rows::{StagedRow, StagedRows, live},
    stage::Stage,
};

use fjall::Slice;

use super::key::{self, PACKED, ROWS};

/// Its clustering columns as bytes, and its value; None where it is deleted.
pub(super) type Cell<'c> = (&'c [u8], Option<&'c [u8]>);
/// The same of a row that is there.
pub(super) type LiveCell<'c> = (&'c [u8], &'c [u8]);

/// The clustering columns that a range of keys comes down to.
pub(super) struct ClusteringRange<'r> {
    from: &'r [u8],
    /// None where all behind the beginning are in it.
    to: Option<&'r [u8]>,
    is_empty: bool,
}

/// Of a range that lies among the rows of a partition.
pub(super) fn clustering_range<'r>(partition: &[u8], from: &'r [u8], to: &'r [u8]) -> ClusteringRange<'r> {
    let behind = |key: &'r [u8]| match key.get(partition.len()) {
        Some(&ROWS) => Some(&key[partition.len() + 1..]),
        _ => None,
    };
    ClusteringRange {
        from: behind(from).unwrap_or_default(),
        to: behind(to),
        is_empty: behind(from).is_none() || from >= to,
    }
}

impl ClusteringRange<'_> {
    pub fn contains(&self, clustering: &[u8]) -> bool {
        !self.is_empty && clustering >= self.from && self.to.is_none_or(|to| clustering < to)
    }
}

/// The keys of what is packed of a partition.
pub(super) fn packed_range(partition: &[u8]) -> std::ops::Range<Vec<u8>> {
    key::section(partition, PACKED)..key::section(partition, PACKED + 1)
}

fn packed_key(partition: &[u8], number: u32) -> Slice {
    let mut key = key::section(partition, PACKED);
    key.extend_from_slice(&number.to_be_bytes());
    key.into()
}
