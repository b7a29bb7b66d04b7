//! How the committer writes what it has decided: one batch, one sync, and all are answered.
//!
//! Invariants: one key stands once in a batch (fjall gives a batch one sequence number); an answer is sent after the sync.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use fjall::{AbstractTree, PersistMode, Slice};
use tokio::sync::oneshot;

use super::{
    ahead,
    committer::Committer,
    expiry,
    group::{Decided, Failure, Group},
    series::StagedRows,
};
use crate::{
    engine::{Applied, Version},
    error::{Error, Result},
};

/// With so many sealed memtables the engine lets a batch wait.
const SEALED_MAX: usize = 4;
/// The longest that the committer waits for one of them to be sorted to disk.
const ROOM_WAIT_MAX: Duration = Duration::from_secs(30);

impl Committer {
    pub(super) fn write(&mut self, mut group: Group, durable: bool, answers: Vec<Decided>) {
        if let Err(error) = self.wait_for_room() {
            return self.refuse(group.pack, answers, error);
        }
        let changes = group.rows.len() + group.ended.len() + 2;
        let mut batch = fjall::OwnedWriteBatch::with_capacity(self.db.clone(), changes).durability(Some(if durable {
            PersistMode::SyncData
        } else {
            PersistMode::Buffer
        }));
        let (staged, pack) = (std::mem::take(&mut group.staged), std::mem::take(&mut group.pack));
        let mut bytes: usize = staged.iter().map(StagedRows::bytes).sum();
        let staging = self.journal.write(&mut batch, staged, !pack.is_empty(), |packed| {
            if let Some(end) = packed.end {
                group.ending.push((end, packed.key.clone()));
            }
            group.rows.insert(packed.key, packed.value);
        });
        let mut staging = match staging {
            Ok(staging) => staging,
            Err(error) => return self.refuse(pack, answers, error),
        };
        let unpacked = staging.unpacked.take();
        let heads = std::mem::take(&mut group.heads);
        let ending = expiry::entries(std::mem::take(&mut group.ending));
        for (key, value) in group.rows {
            bytes += key.len() + value.as_ref().map_or(0, |value| value.len());
            match value {
                Some(value) => batch.insert(&self.rows, key, value),
                None => batch.remove(&self.rows, key),
            }
        }
        // One key stands once in a batch: what is packed anew with the end that it had goes on under the entry that it had.
        let again: BTreeSet<Slice> = ending.iter().map(|(key, _)| key.clone()).collect();
        for (key, rows) in ending {
            bytes += key.len() + rows.len();
            batch.insert(&self.expiry, key, rows);
        }
        group.ended.retain(|key| !again.contains(key));
        group.ended.into_iter().for_each(|key| batch.remove(&self.expiry, key));
        let entries = batch.len();
        // ORDER: odd, visible, even, and only then the answers. See `pages`.
        self.stripes.open(&mut group.stripes);
        let written = self.journal.commit(staging, || {
            let begun = self.ahead.begin(ahead::batch_bytes(entries, bytes));
            let written = batch.commit();
            drop(begun);
            self.stripes.close(&group.stripes);
            if written.is_ok() {
                self.written.count_entries(entries, bytes);
            }
            // What was staged is still to be added, and locked until then: who was told goes on meanwhile, and finds it.
            let error = written.as_ref().err().map(super::engine_error_of);
            for reply in pack {
                let answer = error.clone().or_else(|| unpacked.clone());
                let _ = reply.send(answer.map_or(Ok(Applied::Done(Version(0))), Err));
            }
            self.recent.answer(answers, error.map(Failure::Unknown));
            written
        });
        if written.is_ok() {
            heads.into_iter().for_each(|(key, head)| self.heads.insert(key, head));
            self.seal();
        } else {
            // Nobody knows what was written.
            self.heads.clear();
        }
    }

    /// Nothing of the group is written.
    fn refuse(&mut self, pack: Vec<oneshot::Sender<Result<Applied>>>, answers: Vec<Decided>, error: Error) {
        pack.into_iter().for_each(|reply| drop(reply.send(Err(error.clone()))));
        self.recent.answer(answers, Some(Failure::NotWritten(error)));
    }

    /// While the engine's worker has as much to sort as it may have, a batch would wait inside of it, seen already and with the
    /// stage locked. So it is waited for before; and where nothing comes of that, nothing is written.
    fn wait_for_room(&mut self) -> Result<()> {
        let full = || {
            let keyspaces = [&self.rows, &self.expiry, self.journal.blocks()];
            keyspaces.into_iter().any(|keyspace| keyspace.tree.sealed_memtable_count() >= SEALED_MAX)
        };
        let start = Instant::now();
        while full() {
            // Who has waited once in vain is told at once that it is so still.
            if self.is_stuck || start.elapsed() > ROOM_WAIT_MAX {
                self.is_stuck = true;
                return Err(Error::unavailable("the folder takes too long to sort what was written to disk"));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.is_stuck = false;
        Ok(())
    }

    /// Gives what is in memory to the engine's worker to sort to disk, once it is enough. While the worker has four of them, the
    /// next batch waits.
    fn seal(&self) {
        // Most blocks of the journal are soon gone: the longer they wait, the fewer are sorted at all.
        for (keyspace, times) in [(&self.rows, 1), (&self.expiry, 1), (self.journal.blocks(), 2)] {
            if keyspace.tree.active_memtable().size() > self.memtable_bytes.saturating_mul(times)
                && let Err(error) = keyspace.rotate_memtable()
            {
                // What was written is in the journal. Where the folder has failed, the next batch is told.
                tracing::warn!(%error, "what is in memory is not sorted to disk yet");
            }
        }
    }
}
