//! The committer's side of the stage: what is staged stands in a journal, block by block, until it is packed.

use std::{
    collections::BTreeMap,
    sync::{Arc, RwLockWriteGuard},
};

use fjall::{Keyspace, OwnedWriteBatch};

use super::{
    super::engine_error,
    pack::{Packed, pack},
    packer::Packer,
    rows::{StagedRow, StagedRows},
    stage::{SHARDS, Shard, Stage, shard_of},
    tail::Tails,
};
use crate::{
    codec::Malformed,
    error::{Error, Result},
};

pub(in crate::embedded) struct Journal {
    stage: Arc<Stage>,
    rows: Keyspace,
    blocks: Keyspace,
    packer: Packer,
    /// The shard that the packer has.
    under_way: Option<usize>,
    /// The oldest block that is there, and the next to be written.
    first: u64,
    next: u64,
    bytes: usize,
    /// What may be staged, about. Twice as much while it is being packed.
    bytes_max: usize,
    /// Shards that cannot be packed, and why.
    broken: BTreeMap<usize, Error>,
}

/// What a batch does to the stage, to be done in memory once it is visible.
#[derive(Default)]
pub(in crate::embedded) struct Staging {
    /// Of each block that is new.
    blocks: Vec<Vec<StagedRow>>,
    packed: Vec<usize>,
    /// All of a shard was packed, not only what the packer had.
    whole: bool,
    /// The blocks before it are gone.
    first: u64,
    /// Why not everything was packed that was to be.
    pub unpacked: Option<Error>,
}

impl Journal {
    /// Reads back what was staged.
    pub fn open(rows: Keyspace, blocks: Keyspace, bytes_max: u64) -> Result<Self> {
        let corrupt = |e| Error::corrupt("the staged rows", e);
        let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
        let (stage, packer) = (Arc::new(Stage::new()), Packer::start(rows.clone())?);
        let (under_way, broken) = (None, BTreeMap::new());
        let mut journal =
            Journal { stage, rows, blocks, packer, under_way, first: 0, next: 0, bytes: 0, bytes_max, broken };
        for entry in journal.blocks.iter() {
            let (key, block) = entry.into_inner().map_err(engine_error)?;
            let number = u64::from_be_bytes(key[..].try_into().map_err(|_| corrupt(Malformed))?);
            if journal.next == 0 {
                journal.first = number;
            }
            journal.next = number + 1;
            for row in StagedRows::decode(&block).map_err(corrupt)?.into_block().1 {
                journal.stage.lock(shard_of(row.stripe())).fresh.add(row, number);
            }
        }
        journal.bytes = (0..SHARDS).map(|shard| journal.stage.shard(shard).bytes()).sum();
        Ok(journal)
    }

    pub fn stage(&self) -> Arc<Stage> {
        self.stage.clone()
    }

    pub fn blocks(&self) -> &Keyspace {
        &self.blocks
    }

    /// Adds to a batch what a group stages, and what was packed since, or everything packed. What is packed is told.
    pub fn write(
        &mut self,
        batch: &mut OwnedWriteBatch,
        staged: Vec<StagedRows>,
        everything: bool,
        mut tell: impl FnMut(Packed),
    ) -> Result<Staging> {
        if staged.is_empty() && !everything {
            return Ok(Staging { first: self.first, ..Staging::default() });
        }
        let (packed, unpacked) = match everything {
            true => self.pack_everything(&mut tell),
            false => (self.take_packed(&mut tell)?, None),
        };
        let left = (0..SHARDS).filter_map(|number| {
            let shard = self.stage.shard(number);
            match packed.contains(&number) {
                true if everything => None,
                true => shard.fresh.first_block,
                false => shard.first_block(),
            }
        });
        let first = left.min().unwrap_or(self.next);
        for gone in self.first..first {
            batch.remove(&self.blocks, gone.to_be_bytes());
        }
        let mut blocks = Vec::with_capacity(staged.len());
        for (number, staged) in (self.next..).zip(staged) {
            let (block, rows) = staged.into_block();
            blocks.push(rows.collect());
            batch.insert(&self.blocks, number.to_be_bytes(), block);
        }
        Ok(Staging { blocks, packed, whole: everything, first, unpacked })
    }

    /// What the packer has done, and gives it more while too much is staged. Waits for it where it is far behind.
    fn take_packed(&mut self, tell: &mut impl FnMut(Packed)) -> Result<Vec<usize>> {
        let mut packed = Vec::new();
        let mut left = self.bytes;
        loop {
            if let Some(shard) = self.under_way {
                let done = match left > self.bytes_max.saturating_mul(2) {
                    true => self.packer.wait(),
                    false => match self.packer.poll() {
                        Some(done) => done,
                        None => return Ok(packed),
                    },
                };
                self.under_way = None;
                let done = match done {
                    Ok(done) => done,
                    // The others still can. Its rows stay where they are, and are seen there.
                    Err(error) => {
                        tracing::error!(shard, %error, "staged rows cannot be packed");
                        self.broken.insert(shard, error);
                        continue;
                    }
                };
                done.into_iter().for_each(&mut *tell);
                left -= self.stage.shard(shard).packing.as_ref().map_or(0, |rows| rows.bytes);
                packed.push(shard);
            }
            if left <= self.bytes_max {
                return Ok(packed);
            }
            // RACE: not one that this batch has packs of, as the packer would not see them yet.
            let others = (0..SHARDS).filter(|shard| !packed.contains(shard) && !self.broken.contains_key(shard));
            // The oldest first, so that its blocks can go.
            let oldest = others.filter_map(|shard| Some((self.stage.shard(shard).first_block()?, shard))).min();
            let Some((_, shard)) = oldest else {
                // Memory is bounded, whatever is broken.
                let full = left > self.bytes_max.saturating_mul(2);
                return match self.broken.values().next().filter(|_| full && packed.is_empty()) {
                    Some(error) => Err(error.clone()),
                    None => Ok(packed),
                };
            };
            self.packer.begin(self.stage.lock(shard).begin_packing())?;
            self.under_way = Some(shard);
        }
    }

    /// The shards that are packed, and what keeps the others from it.
    fn pack_everything(&mut self, tell: &mut impl FnMut(Packed)) -> (Vec<usize>, Option<Error>) {
        self.packer.forget();
        // It is packed once more, with what came since.
        if self.under_way.take().is_some() {
            let _ = self.packer.wait();
        }
        let (mut packed, mut failed) = (Vec::new(), None);
        for number in 0..SHARDS {
            if self.stage.shard(number).first_block().is_none() {
                continue;
            }
            match self.pack_shard(number) {
                Ok(packs) => {
                    packs.into_iter().for_each(&mut *tell);
                    self.broken.remove(&number);
                    packed.push(number);
                }
                Err(error) => failed = Some(error),
            }
        }
        (packed, failed)
    }

    fn pack_shard(&self, number: usize) -> Result<Vec<Packed>> {
        let shard = self.stage.shard(number);
        let partitions = shard.fresh.partitions().map(|(partition, _)| partition);
        let others = shard.packing.iter().flat_map(|rows| rows.partitions()).map(|(partition, _)| partition);
        let others = others.filter(|partition| shard.fresh.of(partition).is_empty());
        let mut packs = Vec::new();
        for partition in partitions.chain(others) {
            let staged: Vec<StagedRow> = shard.parts().flat_map(|rows| rows.of(partition)).cloned().collect();
            packs.extend(pack(&self.rows, partition, &staged, &mut Tails::default())?);
        }
        Ok(packs)
    }

    /// Commits the batch, and does in memory what it does. Readers of what changes wait.
    pub fn commit(&mut self, staging: Staging, commit: impl FnOnce() -> fjall::Result<()>) -> fjall::Result<()> {
        let Staging { blocks, packed, whole, first, .. } = staging;
        let mut locks: [Option<RwLockWriteGuard<'_, Shard>>; SHARDS] = [const { None }; SHARDS];
        let changed = blocks.iter().flatten().map(|row| shard_of(row.stripe()));
        for shard in changed.chain(packed.iter().copied()) {
            if locks[shard].is_none() {
                locks[shard] = Some(self.stage.lock(shard));
            }
        }
        commit().inspect_err(|_| self.packer.forget())?;
        // Given back once the locks are.
        let mut gone = Vec::with_capacity(packed.len());
        for shard in packed {
            let Some(shard) = &mut locks[shard] else { continue };
            let before = shard.bytes();
            gone.push((shard.packing.take(), whole.then(|| std::mem::take(&mut shard.fresh))));
            self.bytes -= before - shard.bytes();
        }
        self.first = first;
        for rows in blocks {
            for row in rows {
                let Some(shard) = &mut locks[shard_of(row.stripe())] else { continue };
                let before = shard.fresh.bytes;
                shard.fresh.add(row, self.next);
                self.bytes += shard.fresh.bytes - before;
            }
            self.next += 1;
        }
        drop(locks);
        drop(gone);
        Ok(())
    }
}
