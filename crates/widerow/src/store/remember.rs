//! What a writer left in a guarded partition, so that it need not read it again to decide the next time.
//!
//! RACE: others may write the partition meanwhile. What is remembered is never an answer by itself: it is decided on, and the
//! commit is made only if the partition still has the version that is remembered. Where nothing would be committed, or the
//! decision is an error, nothing has shown that the memory is right, and everything is read and decided again.

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
    /// All rows that begin with one of these are among the rows; none is a whole key. They are disjoint.
    prefixes: Vec<Vec<Value>>,
    /// In clustering order, each with the version that it was written or read at.
    rows: Vec<(Version, RawRow)>,
}

impl Remembered {
    /// What was read, if it is worth to be remembered: a partition that is known by prefixes.
    pub(super) fn new(
        table: &'static Table,
        partition: &[Value],
        anchor: &Anchor,
        prefixes: &[Vec<Value>],
    ) -> Option<Self> {
        let shorter = |prefix: &&Vec<Value>| prefix.len() < table.clustering_columns;
        let prefixes: Vec<_> = prefixes.iter().filter(shorter).cloned().collect();
        // One that nothing was committed to yet has a version as soon as this commit is made.
        let version = anchor.version.unwrap_or(Version(i64::MIN));
        (!prefixes.is_empty()).then(|| Remembered {
            table,
            partition: partition.to_vec(),
            version,
            sequence: anchor.sequence,
            statics: anchor.statics.clone(),
            prefixes,
            rows: anchor.rows.iter().flatten().map(|row| (version, row.clone())).collect(),
        })
    }

    /// How many rows it holds, as a measure of the memory that it takes.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn is_of(&self, table: &Table, partition: &[Value]) -> bool {
        self.table.name == table.name && self.partition == partition
    }

    /// Whether all rows under the prefix are known.
    fn knows(&self, prefix: &[Value]) -> bool {
        let whole = prefix.len() == self.table.clustering_columns;
        self.covers(prefix) || (whole && self.position(prefix).is_ok())
    }

    /// Whether a prefix that was read is one of this key.
    fn covers(&self, key: &[Value]) -> bool {
        key::covered(self.table, &self.prefixes, key)
    }

    /// Where the row of a clustering key stands, or would.
    fn position(&self, clustering: &[Value]) -> Result<usize, usize> {
        self.rows.binary_search_by(|(_, row)| key::clustering_order(self.table, self.clustering(row), clustering))
    }

    fn clustering<'r>(&self, row: &'r RawRow) -> &'r [Value] {
        &row.values[self.table.partition_columns..self.table.key_columns()]
    }

    /// Takes over what the commit has left, and says whether that is known.
    pub(super) fn follow(&mut self, plan: &Plan, committed: Committed) -> bool {
        let Some(version) = committed.version else { return false };
        self.version = version;
        self.sequence = self.sequence.saturating_add(1);
        for write in &plan.writes {
            if write.table().name != self.table.name || matches!(write, Write::Found { .. }) {
                continue;
            }
            let Some(key) = plan::row_key(write) else { return false };
            let clustering = &key[self.table.partition_columns..];
            let position = self.position(clustering);
            match write {
                Write::Put { values, expires_at, .. } => {
                    let mut values = values.clone();
                    let statics = self.statics.iter().flatten().enumerate().filter(|(_, value)| !value.is_null());
                    statics.for_each(|(column, value)| values[column] = value.clone());
                    let row = (version, RawRow { values, expires_at: *expires_at });
                    match position {
                        Ok(there) => self.rows[there] = row,
                        Err(place) => self.rows.insert(place, row),
                    }
                }
                Write::Delete { .. } if self.covers(clustering) => {
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
        let mut rows = std::mem::take(&mut self.rows);
        let others = rows.iter().filter(|(_, row)| !self.covers(self.clustering(row)));
        let mut ages: Vec<Version> = others.map(|(written, _)| *written).collect();
        let mut spare = ages.len().saturating_sub(OTHER_ROWS_MAX);
        // All that are older than the last one that goes, go; of those as old as it, as many as are spare.
        let last = (spare > 0).then(|| *ages.select_nth_unstable(spare - 1).1);
        spare -= ages.iter().filter(|age| last.is_some_and(|last| **age < last)).count();
        rows.retain(|(written, row)| {
            if self.covers(self.clustering(row)) {
                return true;
            }
            let equal = spare > 0 && last == Some(*written);
            spare -= usize::from(equal);
            !(equal || *written < fresh || last.is_some_and(|last| *written < last))
        });
        self.rows = rows;
    }
}

impl Store {
    /// The answer that rests on what is remembered, and what is to be remembered now; None where it must be read after all.
    pub(super) async fn decide_on_memory<R: Row, T, E: From<Error>>(
        &self,
        mut last: Remembered,
        prefixes: &[Vec<Value>],
        decide: &mut impl FnMut(&Partition<R>) -> Result<(Commit, T), E>,
    ) -> Result<Option<(T, Option<Remembered>)>, E> {
        let table = last.table;
        let assumed: Vec<Vec<Value>> = prefixes.iter().filter(|prefix| !last.knows(prefix)).cloned().collect();
        if assumed.iter().any(|key| key.len() < table.clustering_columns) {
            return Ok(None);
        }
        let wanted = |row: &&RawRow| key::covered(table, prefixes, last.clustering(row));
        let rows: Vec<_> = last.rows.iter().map(|(_, row)| row).filter(wanted).cloned().map(Some).collect();
        let anchor = Anchor {
            version: Some(last.version),
            sequence: last.sequence,
            statics: last.statics.clone(),
            rows,
            ..Anchor::default()
        };
        let now = self.inner.now();
        let Ok((commit, answer)) = decide(&view(&anchor, now)?) else { return Ok(None) };
        if commit.writes.is_empty() || commit.id.is_some() || commit.expect.is_some() || !commit.guards.is_empty() {
            return Ok(None);
        }
        let plan = Plan::new(&self.inner, commit, now)?;
        let Some(written) = Self::keys_of(&plan).filter(|_| plan.is_of(table, &last.partition)) else {
            return Ok(None);
        };
        let known = |key: &Vec<Value>| key::covered(table, prefixes, key);
        let puts = plan.writes.iter().filter_map(|write| match write {
            Write::Put { table: t, values, .. } if t.name == table.name => {
                Some(&values[table.partition_columns..table.key_columns()])
            }
            _ => None,
        });
        let mut puts: Vec<&[Value]> = puts.collect();
        puts.sort_unstable_by(|one, other| key::clustering_order(table, one, other));
        let is_put = |key: &Vec<Value>| puts.binary_search_by(|put| key::clustering_order(table, put, key)).is_ok();
        if !written.iter().all(known) || !assumed.iter().all(is_put) {
            return Ok(None);
        }
        let known = Known { anchor, scope: Scope::Prefixes(prefixes.to_vec()) };
        match self.in_time(plan.id, self.attempt(&plan, Some(known), &assumed)).await {
            Ok(Outcome::Done(committed, at_once)) => {
                let now = (at_once && last.follow(&plan, committed)).then_some(last);
                Ok(Some((answer, now)))
            }
            // Another has written, or a row was there.
            Ok(Outcome::Moved) | Err(Error::Conflict(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
