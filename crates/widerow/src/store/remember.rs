//! What a writer left in a guarded partition, so that it need not read it again to decide the next time.
//!
//! RACE: others may write the partition meanwhile. What is remembered is never an answer by itself: it is decided on, and the
//! commit is made only if the partition still has the version that is remembered. Where nothing would be committed, or the
//! decision is an error, nothing has shown that the memory is right, and everything is read and decided again.

use std::{ops::Range, pin::pin, task::Poll};

use futures::poll;
use tokio::sync::MutexGuard;
use uuid::Uuid;

use super::{
    Store,
    plan::{self, Plan},
    write::{Known, Outcome, Partition, Scope, view},
};
use crate::{
    commit::{Commit, Committed},
    engine::{Anchor, RawRow, Version, Write},
    error::{Error, Result},
    key,
    row::Row,
    schema::Table,
    value::Value,
};

/// Rows that are remembered besides those under the prefixes that were read; the oldest go first.
const OTHER_ROWS_MAX: usize = 128;
/// For how long such a row is, at least as long as nothing is written: what was not asked for soon is not asked for often.
const OTHER_ROWS_MICROS: i64 = 30_000_000;

/// A guarded partition as this process left it, as far as it knows it.
#[derive(Clone, Debug)]
pub struct Remembered {
    table: &'static Table,
    partition: Vec<Value>,
    version: Version,
    sequence: i64,
    statics: Option<Vec<Value>>,
    /// All rows that begin with one of these are among the rows; none is the whole key of one row among many. They are disjoint.
    prefixes: Vec<Vec<Value>>,
    /// In clustering order.
    rows: Vec<KnownRow>,
    /// The commit that left it so, once there was one.
    after: Option<Uuid>,
}

#[derive(Clone, Debug)]
struct KnownRow {
    row: RawRow,
    /// The version that it was written or read at.
    version: Version,
    /// It is under one of the prefixes.
    covered: bool,
}

/// Where a writer keeps what it left in a partition. Both are called while it has its turn in the partition's queue.
pub trait Memory: Send {
    fn take(&mut self) -> Option<Remembered>;
    fn keep(&mut self, last: Remembered);
}

impl Memory for Option<Remembered> {
    fn take(&mut self) -> Option<Remembered> {
        self.take()
    }

    fn keep(&mut self, last: Remembered) {
        *self = Some(last);
    }
}

impl Remembered {
    /// What was read, if it is worth to be remembered: a partition that is known by prefixes.
    pub(super) fn new(
        table: &'static Table,
        partition: &[Value],
        anchor: &Anchor,
        prefixes: &[Vec<Value>],
    ) -> Option<Self> {
        // Without clustering columns the one key there is has all of the partition under it.
        let is_prefix = |prefix: &&Vec<Value>| prefix.is_empty() || prefix.len() < table.clustering_columns;
        let prefixes: Vec<_> = prefixes.iter().filter(is_prefix).cloned().collect();
        // One that nothing was committed to yet has a version as soon as this commit is made.
        let version = anchor.version.unwrap_or(Version(i64::MIN));
        let known = |row: &RawRow| {
            let covered = key::covered(table, &prefixes, clustering_of(table, row));
            KnownRow { row: row.clone(), version, covered }
        };
        let rows = anchor.rows.iter().flatten().map(known).collect();
        (!prefixes.is_empty()).then(|| Remembered {
            table,
            partition: partition.to_vec(),
            version,
            sequence: anchor.sequence,
            statics: anchor.statics.clone(),
            prefixes,
            rows,
            after: None,
        })
    }

    /// How many rows it holds, as a measure of the memory that it takes.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The bytes of what its rows say, about.
    pub fn bytes(&self) -> usize {
        self.rows.iter().map(|known| known.row.bytes()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn is_of(&self, table: &Table, partition: &[Value]) -> bool {
        self.table.name == table.name && self.partition == partition
    }

    /// The partition as it is remembered, with the rows under the prefixes, and those whole keys that are taken to be new; None
    /// where it must be read.
    pub(super) fn anchor(&self, prefixes: &[Vec<Value>]) -> Option<(Anchor, Vec<Vec<Value>>)> {
        let (mut rows, mut assumed) = (Vec::new(), Vec::new());
        for prefix in prefixes {
            match self.under(prefix) {
                Some(range) => rows.extend(self.rows[range].iter().map(|known| Some(known.row.clone()))),
                None if prefix.len() == self.table.clustering_columns => assumed.push(prefix.clone()),
                None => return None,
            }
        }
        let (version, sequence, statics) = (Some(self.version), self.sequence, self.statics.clone());
        Some((Anchor { version, sequence, statics, rows, ..Anchor::default() }, assumed))
    }

    pub(super) fn after(&self) -> Option<Uuid> {
        self.after
    }

    /// Where the rows under the prefix stand, if all of them are known.
    fn under(&self, prefix: &[Value]) -> Option<Range<usize>> {
        if prefix.len() == self.table.clustering_columns {
            return match self.position(prefix) {
                Ok(there) => Some(there..there + 1),
                Err(place) => self.covers(prefix).then_some(place..place),
            };
        }
        self.covers(prefix).then(|| {
            let from = self.position(prefix).unwrap_or_else(|place| place);
            let under = |known: &&KnownRow| clustering_of(self.table, &known.row).starts_with(prefix);
            from..from + self.rows[from..].iter().take_while(under).count()
        })
    }

    /// Whether a prefix that was read is one of this key.
    fn covers(&self, key: &[Value]) -> bool {
        key::covered(self.table, &self.prefixes, key)
    }

    /// Where the row of a clustering key stands, or would; of a prefix, where its first row would.
    fn position(&self, clustering: &[Value]) -> Result<usize, usize> {
        let order =
            |known: &KnownRow| key::clustering_order(self.table, clustering_of(self.table, &known.row), clustering);
        self.rows.binary_search_by(order)
    }

    /// Takes over what the commit has left, and says whether that is known.
    pub(super) fn follow(&mut self, plan: &Plan, committed: Committed) -> bool {
        let Some(version) = committed.version else { return false };
        self.version = version;
        self.sequence = self.sequence.saturating_add(1);
        self.after = Some(committed.id);
        for write in &plan.writes {
            if write.table().name != self.table.name || matches!(write, Write::Found { .. }) {
                continue;
            }
            let Some(key) = plan::row_key(write) else { return false };
            let clustering = &key[self.table.partition_columns..];
            let (position, covered) = (self.position(clustering), self.covers(clustering));
            match write {
                Write::Put { values, expires_at, .. } => {
                    let mut values = values.to_vec();
                    let statics = self.statics.iter().flatten().enumerate().filter(|(_, value)| !value.is_null());
                    statics.for_each(|(column, value)| values[column] = value.clone());
                    let row = KnownRow { row: RawRow { values, expires_at: *expires_at }, version, covered };
                    match position {
                        Ok(there) => self.rows[there] = row,
                        Err(place) => self.rows.insert(place, row),
                    }
                }
                Write::Delete { .. } if covered => {
                    if let Ok(there) = position {
                        self.rows.remove(there);
                    }
                }
                // That a row is not there is only known under a prefix.
                _ => return false,
            }
        }
        self.forget_oldest();
        true
    }

    fn forget_oldest(&mut self) {
        let fresh = Version(self.version.0.saturating_sub(OTHER_ROWS_MICROS));
        let others = self.rows.iter().filter(|known| !known.covered);
        let mut ages: Vec<Version> = others.map(|known| known.version).collect();
        let mut spare = ages.len().saturating_sub(OTHER_ROWS_MAX);
        // All that are older than the last one that goes, go; of those as old as it, as many as are spare.
        let last = (spare > 0).then(|| *ages.select_nth_unstable(spare - 1).1);
        spare -= ages.iter().filter(|age| last.is_some_and(|last| **age < last)).count();
        self.rows.retain(|known| {
            let equal = !known.covered && spare > 0 && last == Some(known.version);
            spare -= usize::from(equal);
            known.covered || !(equal || known.version < fresh || last.is_some_and(|last| known.version < last))
        });
    }
}

fn clustering_of<'r>(table: &Table, row: &'r RawRow) -> &'r [Value] {
    &row.values[table.partition_columns..table.key_columns()]
}

impl Store {
    /// The answer that rests on what is remembered; None where it must be read after all. What is to be remembered now is
    /// kept.
    ///
    /// RACE: where the engine applies in order, the next writer is let in as soon as the commit is sent, on what this commit
    /// will leave. If it is refused, or comes after another's, the next one finds another commit than it is sent after, and
    /// is decided again: so nothing is ever answered that rests on a commit which was not made.
    pub(super) async fn decide_on_memory<R: Row, T, E: From<Error>>(
        &self,
        last: Remembered,
        memory: &mut impl Memory,
        prefixes: &[Vec<Value>],
        decide: &mut impl FnMut(&Partition<R>) -> Result<(Commit, T), E>,
        queue: &mut Option<MutexGuard<'_, ()>>,
    ) -> Result<Option<T>, E> {
        let table = last.table;
        let Some((anchor, assumed)) = last.anchor(prefixes) else { return Ok(None) };
        let now = self.inner.now();
        let Ok((commit, answer)) = decide(&view(&anchor, now)?) else { return Ok(None) };
        if commit.writes.is_empty() || commit.id.is_some() || commit.expect.is_some() || !commit.guards.is_empty() {
            return Ok(None);
        }
        let plan = Plan::new(&self.inner, commit, now)?;
        if !plan.is_of(table, &last.partition) || !rests_on(&plan, table, prefixes, &assumed) {
            return Ok(None);
        }
        let known = Known { anchor, scope: Scope::Prefixes(prefixes.to_vec()), after: last.after };
        let ready = self.prepare(&plan, Some(known), &assumed).await?;
        let version = ready.guarded.expect.map(|expect| expect.next);
        let ahead = ready.at_once && self.inner.engine.abilities().in_order;
        let mut sent = pin!(self.in_time(plan.id, self.send(&plan, ready)));
        let mut last = Some(last);
        let mut keep = |committed| {
            if let Some(last) = last.take_if(|last| last.follow(&plan, committed)) {
                memory.keep(last);
            }
        };
        let outcome = poll!(sent.as_mut());
        if ahead && outcome.is_pending() {
            keep(Committed { id: plan.id, version });
            drop(queue.take());
        }
        let outcome = match outcome {
            Poll::Ready(outcome) => outcome,
            Poll::Pending => sent.await,
        };
        match outcome {
            Ok(Outcome::Done(committed, at_once)) => {
                if at_once && queue.is_some() {
                    keep(committed);
                }
                Ok(Some(answer))
            }
            // Another has written, or a row was there.
            Ok(Outcome::Moved) | Err(Error::Conflict(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether the plan writes only rows that were read or assumed to be new, and puts all of the latter.
pub(super) fn rests_on(plan: &Plan, table: &Table, prefixes: &[Vec<Value>], assumed: &[Vec<Value>]) -> bool {
    let mut put = 0;
    for write in &plan.writes {
        if matches!(write, Write::DeleteRange { .. }) {
            return false;
        }
        let Some(key) = plan::row_key(write).filter(|_| write.table().name == table.name) else { continue };
        let clustering = &key[table.partition_columns..];
        if !key::covered(table, prefixes, clustering) {
            return false;
        }
        let is_assumed = || assumed.binary_search_by(|key| key::clustering_order(table, key, clustering)).is_ok();
        put += usize::from(matches!(write, Write::Put { .. }) && is_assumed());
    }
    // The plan has each row once.
    put == assumed.len()
}
