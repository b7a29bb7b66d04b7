//! The stage: rows that are not packed yet, in memory, by partition. For readers; only the committer changes it.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use super::{
    super::pages::{Stripe, Stripes},
    rows::StagedRow,
};

/// Parts of the stage, each of which is packed at once.
pub(super) const SHARDS: usize = 32;
/// What a row takes in memory beside its bytes, about.
const ROW_BYTES: usize = 64;

pub(super) fn shard_of(stripe: Stripe) -> usize {
    usize::from(stripe) % SHARDS
}

/// Rows that came one after the other.
#[derive(Default)]
pub(super) struct Rows {
    /// From old to new.
    partitions: HashMap<Box<[u8]>, Vec<StagedRow>, foldhash::fast::RandomState>,
    /// The memory that they take, about.
    pub bytes: usize,
    /// The first block of the journal that has one of them.
    pub first_block: Option<u64>,
}

impl Rows {
    pub fn add(&mut self, row: StagedRow, block: u64) {
        self.bytes += row.bytes() + ROW_BYTES;
        self.first_block.get_or_insert(block);
        match self.partitions.get_mut(row.partition()) {
            Some(rows) => rows.push(row),
            None => drop(self.partitions.insert(row.partition().into(), vec![row])),
        }
    }

    pub fn of(&self, partition: &[u8]) -> &[StagedRow] {
        self.partitions.get(partition).map_or(&[], Vec::as_slice)
    }

    pub fn partitions(&self) -> impl Iterator<Item = (&[u8], &[StagedRow])> {
        self.partitions.iter().map(|(partition, rows)| (&**partition, &**rows))
    }
}

#[derive(Default)]
pub(super) struct Shard {
    /// Those that are being packed. They stand here until that is visible.
    pub packing: Option<Arc<Rows>>,
    /// Those that came since.
    pub fresh: Rows,
}

impl Shard {
    /// From old to new.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &Rows> {
        self.packing.as_deref().into_iter().chain([&self.fresh])
    }

    pub fn first_block(&self) -> Option<u64> {
        self.parts().find_map(|rows| rows.first_block)
    }

    pub fn bytes(&self) -> usize {
        self.parts().map(|rows| rows.bytes).sum()
    }

    /// What is to be packed next, from now on apart from what comes.
    pub fn begin_packing(&mut self) -> Arc<Rows> {
        self.packing.get_or_insert_with(|| Arc::new(std::mem::take(&mut self.fresh))).clone()
    }
}

pub(in crate::embedded) struct Stage(Box<[RwLock<Shard>]>);

impl Stage {
    pub(super) fn new() -> Self {
        Stage((0..SHARDS).map(|_| RwLock::default()).collect())
    }

    pub(super) fn shard(&self, shard: usize) -> RwLockReadGuard<'_, Shard> {
        self.0[shard].read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn lock(&self, shard: usize) -> RwLockWriteGuard<'_, Shard> {
        self.0[shard].write().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is staged of a partition, of the rows that are wanted, from old to new.
    pub fn rows(&self, partition: &[u8], wanted: impl Fn(&[u8]) -> bool) -> Vec<StagedRow> {
        self.rows_with(partition, wanted, || ()).0
    }

    /// And what is seen of the folder at the same moment.
    pub fn rows_with<S>(
        &self,
        partition: &[u8],
        wanted: impl Fn(&[u8]) -> bool,
        snapshot: impl FnOnce() -> S,
    ) -> (Vec<StagedRow>, S) {
        let shard = self.shard(shard_of(Stripes::of(partition)));
        let rows = shard.parts().flat_map(|rows| rows.of(partition));
        (rows.filter(|row| wanted(row.clustering())).cloned().collect(), snapshot())
    }

    /// The newest of a row, where it is staged.
    pub fn find(&self, partition: &[u8], clustering: &[u8]) -> Option<StagedRow> {
        let shard = self.shard(shard_of(Stripes::of(partition)));
        let mut rows = shard.parts().rev().flat_map(|rows| rows.of(partition).iter().rev());
        rows.find(|row| row.clustering() == clustering).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_snapshot_is_taken_while_nothing_can_be_added() {
        let stage = Stage::new();
        let shard = shard_of(Stripes::of(b"partition"));
        let is_locked = || stage.0[shard].try_write().is_err();
        assert!(stage.rows_with(b"partition", |_| true, is_locked).1);
        assert!(!is_locked());
    }
}
