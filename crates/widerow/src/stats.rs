//! What a database has done since it was opened: for whoever watches it. Counting takes no lock, and a moment's figures need
//! not agree with each other to the last one.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicI64, AtomicU64, Ordering},
    time::Instant,
};

use crate::{
    engine::{Applied, CommitterStats},
    error::{Error, Result},
    schema::{Schema, Table},
};

/// Upper ends of the buckets of reading times, in microseconds; what took longer is in none.
pub const BUCKETS_MICROS: [u64; 12] =
    [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 500_000, 2_000_000];

/// How rows are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadKind {
    /// By whole keys.
    Rows,
    /// A piece of a partition.
    Page,
}

/// The reads of one kind on one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadStats {
    pub table: &'static str,
    pub kind: ReadKind,
    pub count: u64,
    pub failed: u64,
    pub rows: u64,
    pub partitions: u64,
    pub micros: u64,
    /// For each of `BUCKETS_MICROS`, those that took longer than the one before and no longer than this.
    pub buckets: [u64; BUCKETS_MICROS.len()],
}

/// What became of conditional writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConditionalStats {
    pub tried: u64,
    /// Another was quicker: decided again.
    pub moved: u64,
    /// A guard did not hold.
    pub refused: u64,
    /// No answer came, and it had to be found out what became of it.
    pub unknown: u64,
}

/// Commits whose later writes went through the outbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutboxStats {
    pub opened: u64,
    pub finished: u64,
    /// Of the oldest commit that the last sweep left waiting, in seconds; nought where there was none.
    pub lag_seconds: i64,
}

/// All of it at one moment.
#[derive(Clone, Debug)]
pub struct DatabaseStats {
    /// Only tables and kinds that were read.
    pub reads: Vec<ReadStats>,
    pub conditional: ConditionalStats,
    pub outbox: OutboxStats,
    /// Where the engine has a committer of its own.
    pub committer: Option<CommitterStats>,
}

#[derive(Debug)]
pub(crate) struct Stats {
    /// By the address of the table, which lives as long as the process.
    tables: HashMap<usize, (&'static Table, [Tally; 2])>,
    tried: AtomicU64,
    moved: AtomicU64,
    refused: AtomicU64,
    unknown: AtomicU64,
    opened: AtomicU64,
    finished: AtomicU64,
    lag_seconds: AtomicI64,
}

#[derive(Debug, Default)]
struct Tally {
    count: AtomicU64,
    failed: AtomicU64,
    rows: AtomicU64,
    partitions: AtomicU64,
    micros: AtomicU64,
    buckets: [AtomicU64; BUCKETS_MICROS.len()],
}

fn add(cell: &AtomicU64, amount: u64) {
    cell.fetch_add(amount, Ordering::Relaxed);
}

fn load(cell: &AtomicU64) -> u64 {
    cell.load(Ordering::Relaxed)
}

impl Stats {
    pub fn new(schema: &Schema) -> Self {
        let tables = schema.tables().map(|table| (std::ptr::from_ref(table).addr(), (table, Default::default())));
        Stats {
            tables: tables.collect(),
            tried: AtomicU64::new(0),
            moved: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            unknown: AtomicU64::new(0),
            opened: AtomicU64::new(0),
            finished: AtomicU64::new(0),
            lag_seconds: AtomicI64::new(0),
        }
    }

    /// Counts a read that began at the instant; `read` says how many rows and partitions it was.
    pub fn count_read<T>(
        &self,
        table: &'static Table,
        kind: ReadKind,
        began: Instant,
        result: &Result<T>,
        read: impl FnOnce(&T) -> (usize, usize),
    ) {
        let Some((_, tallies)) = self.tables.get(&std::ptr::from_ref(table).addr()) else { return };
        let tally = &tallies[kind as usize];
        add(&tally.count, 1);
        let Ok(found) = result else { return add(&tally.failed, 1) };
        let (rows, partitions) = read(found);
        add(&tally.rows, rows as u64);
        add(&tally.partitions, partitions as u64);
        let micros = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        add(&tally.micros, micros);
        if let Some(bucket) = BUCKETS_MICROS.iter().position(|end| micros <= *end) {
            add(&tally.buckets[bucket], 1);
        }
    }

    pub fn count_conditional(&self, result: &Result<Applied>) {
        add(&self.tried, 1);
        match result {
            Ok(Applied::Done(_)) => {}
            Ok(Applied::Moved) => add(&self.moved, 1),
            Ok(Applied::Refused(_)) => add(&self.refused, 1),
            Err(Error::Indeterminate { .. }) => add(&self.unknown, 1),
            Err(_) => {}
        }
    }

    pub fn count_opened(&self) {
        add(&self.opened, 1);
    }

    pub fn count_finished(&self) {
        add(&self.finished, 1);
    }

    pub fn set_lag(&self, seconds: i64) {
        self.lag_seconds.store(seconds.max(0), Ordering::Relaxed);
    }

    pub fn show(&self, committer: Option<CommitterStats>) -> DatabaseStats {
        let mut reads = Vec::new();
        for (table, tallies) in self.tables.values() {
            for (kind, tally) in [ReadKind::Rows, ReadKind::Page].into_iter().zip(tallies) {
                let stats = ReadStats {
                    table: &table.name,
                    kind,
                    count: load(&tally.count),
                    failed: load(&tally.failed),
                    rows: load(&tally.rows),
                    partitions: load(&tally.partitions),
                    micros: load(&tally.micros),
                    buckets: std::array::from_fn(|bucket| load(&tally.buckets[bucket])),
                };
                reads.extend(Some(stats).filter(|stats| stats.count > 0));
            }
        }
        reads.sort_by_key(|stats| (stats.table, stats.kind as usize));
        DatabaseStats {
            reads,
            conditional: ConditionalStats {
                tried: load(&self.tried),
                moved: load(&self.moved),
                refused: load(&self.refused),
                unknown: load(&self.unknown),
            },
            outbox: OutboxStats {
                opened: load(&self.opened),
                finished: load(&self.finished),
                lag_seconds: self.lag_seconds.load(Ordering::Relaxed),
            },
            committer,
        }
    }
}
