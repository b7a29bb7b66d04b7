//! A commit, checked: what it writes, each row once; which partition is guarded; what is too large or makes no sense.
//! Nothing is sent before this.

use std::{cmp::Ordering, collections::HashSet, hash::BuildHasher as _, sync::Arc};

use foldhash::fast::RandomState;
use uuid::Uuid;

use super::Inner;
use crate::{
    codec,
    commit::{Commit, Planned},
    engine::{RawGuard, Version, Write},
    error::{Error, Result},
    key, limits,
    schema::{Kind, Table},
    store::read::check_bounds,
    time::Timestamp,
    value::Value,
};

/// A commit that makes sense.
#[derive(Debug)]
pub(super) struct Plan {
    pub id: Uuid,
    /// The caller gave the id and may have sent the commit before.
    pub again: bool,
    pub guarded: Option<(&'static Table, Vec<Value>)>,
    /// The version that the caller read.
    pub expect: Option<Option<Version>>,
    pub guards: Vec<RawGuard>,
    pub writes: Vec<Write>,
    /// The data layer itself writes a shared table, on an engine where that has versions.
    shared: bool,
    rows: Rows,
    /// The table of the last write, which commits may write.
    table: Option<&'static Table>,
}

impl Plan {
    pub(super) fn new(inner: &Inner, commit: Commit, now: Timestamp) -> Result<Self> {
        let mut plan = Plan {
            id: commit.id.unwrap_or_else(|| inner.new_id()),
            again: commit.id.is_some(),
            guarded: None,
            expect: None,
            guards: Vec::new(),
            writes: Vec::with_capacity(commit.writes.len()),
            shared: commit.shared,
            rows: Rows::for_writes(commit.writes.len()),
            table: None,
        };
        if let Some((table, partition, version)) = commit.expect {
            plan.guard_partition(inner, table, &partition)?;
            plan.expect = Some(version);
        }
        if commit.guards.len() > limits::GUARDS_MAX {
            let size = commit.guards.len();
            return Err(Error::TooLarge { what: "guards of one commit".into(), size, limit: limits::GUARDS_MAX });
        }
        for guard in commit.guards {
            plan.guard_partition(inner, guard.table, &guard.partition)?;
            check_guard(guard.table, &guard.guard)?;
            plan.guards.push(guard.guard);
        }
        if commit.writes.len() > limits::COMMIT_WRITES_MAX {
            let size = commit.writes.len();
            return Err(Error::TooLarge {
                what: "writes of one commit".into(),
                size,
                limit: limits::COMMIT_WRITES_MAX,
            });
        }
        for planned in commit.writes {
            plan.add(inner, planned, now)?;
        }
        plan.check_founded()?;
        if plan.again && plan.guarded.is_none() {
            return Err(Error::invalid("commit id", "only a commit on a guarded table can be sent again by its id"));
        }
        Ok(plan)
    }

    /// Whether this is the partition that the commit is guarded on.
    pub(super) fn is_of(&self, table: &Table, partition: &[Value]) -> bool {
        self.guarded.as_ref().is_some_and(|(t, p)| t.name == table.name && p == partition)
    }

    /// All guards and all writes to guarded tables must be on one partition.
    fn guard_partition(&mut self, inner: &Inner, table: &'static Table, partition: &[Value]) -> Result<()> {
        inner.known(table)?;
        if !self.guards(table) {
            return Err(Error::invalid(&table.name, "the table is not declared guarded, so it takes no guards"));
        }
        key::check_partition(table, partition)?;
        match &self.guarded {
            None => self.guarded = Some((table, partition.to_vec())),
            Some((other, known)) if other.name == table.name && known == partition => {}
            Some((other, _)) => {
                return Err(Error::invalid(
                    &table.name,
                    format!("a commit has one guarded partition, and this one has another, of {}", other.name),
                ));
            }
        }
        Ok(())
    }

    fn guards(&self, table: &Table) -> bool {
        table.guarded || (table.shared && self.shared)
    }

    /// Whether commits may write the table.
    fn check_table(&mut self, inner: &Inner, table: &'static Table) -> Result<()> {
        // Writes of one table mostly stand together.
        if self.table.is_some_and(|last| std::ptr::eq(last, table)) {
            return Ok(());
        }
        inner.known(table)?;
        if table.counters {
            return Err(Error::invalid(&table.name, "counters are added to, not committed"));
        }
        if table.shared && !self.shared {
            let problem = "other tools write the table too: its rows are put by put_many, not committed";
            return Err(Error::invalid(&table.name, problem));
        }
        if let Some(derivation) = inner.schema.derivation_into(table) {
            let problem = format!("the table is derived from {}: write that one", derivation.base.name);
            return Err(Error::invalid(&table.name, problem));
        }
        self.table = Some(table);
        Ok(())
    }

    fn add(&mut self, inner: &Inner, planned: Planned, now: Timestamp) -> Result<()> {
        let table = planned.write.table();
        self.check_table(inner, table)?;
        if let Write::Put { values, .. } = &planned.write
            && values.len() != table.columns.len()
        {
            return Err(Error::invalid(&table.name, "the row has not as many values as the table has columns"));
        }
        key::check_partition(table, planned.write.partition())?;
        if planned.founds && !table.guarded {
            return Err(Error::invalid(
                &table.name,
                "the table is not declared guarded, so it has no partitions to found",
            ));
        }
        if self.guards(table) && !planned.founds {
            let partition = planned.write.partition().to_vec();
            self.guard_partition(inner, table, &partition)?;
        }
        match planned.write {
            Write::Put { table, mut values, .. } => {
                check_row(table, &values)?;
                let expires_at = expiry(table, &values, planned.ttl_seconds, now)?;
                // Statics go into one write a partition, so that engines see each static cell once.
                let cells = take_statics(table, &mut values);
                if !planned.founds && cells.is_empty() {
                    self.replace(Write::Put { table, values, expires_at, indexes: Vec::new() });
                    return Ok(());
                }
                let partition = values[..table.partition_columns].to_vec();
                let put = Write::Put { table, values, expires_at, indexes: Vec::new() };
                if planned.founds {
                    self.found(table, partition, cells, put);
                    return Ok(());
                }
                set_statics(&mut self.writes, table, partition, cells);
                self.replace(put);
            }
            Write::SetStatics { table, partition, cells } => {
                for (position, value) in &cells {
                    let column = table.columns.get(*position).filter(|c| c.kind == Kind::Static);
                    let column = column.ok_or_else(|| Error::invalid(&table.name, "the column is not static"))?;
                    if !value.is_null() {
                        key::check_cell(table, column, value, false)?;
                    }
                }
                set_statics(&mut self.writes, table, partition, cells);
            }
            Write::Delete { table, key } => {
                key::check_clustering(table, &key[table.partition_columns..], true)?;
                self.replace(Write::Delete { table, key });
            }
            Write::DeleteRange { table, partition, prefix, bounds } => {
                key::check_clustering(table, &prefix, false)?;
                check_bounds(table, &prefix, &bounds.0, &bounds.1)?;
                self.writes.push(Write::DeleteRange { table, partition, prefix, bounds });
            }
            Write::Found { table, .. } => {
                return Err(Error::invalid(&table.name, "a partition is founded row by row"));
            }
        }
        Ok(())
    }

    /// Adds a row to a partition that the commit founds.
    fn found(&mut self, table: &'static Table, partition: Vec<Value>, cells: Vec<(usize, Value)>, row: Write) {
        let add = |writes: &mut Vec<Write>, partition: Vec<Value>| {
            if !cells.is_empty() {
                set_statics(writes, table, partition, cells);
            }
            replace_row(writes, row);
        };
        for write in &mut self.writes {
            if let Write::Found { table: t, partition: p, writes } = write
                && t.name == table.name
                && *p == partition
            {
                return add(writes, partition);
            }
        }
        let mut writes = Vec::new();
        add(&mut writes, partition.clone());
        self.writes.push(Write::Found { table, partition, writes });
    }

    /// A founding goes with a guarded commit: the entry in that partition's outbox is what orders it, and what tells a
    /// pending row that is still to be made from one that came back from the dead.
    fn check_founded(&self) -> Result<()> {
        for write in &self.writes {
            let Write::Found { table, partition, writes } = write else { continue };
            match &self.guarded {
                None => {
                    let problem = "a commit that founds a partition needs a guarded partition of its own";
                    return Err(Error::invalid(&table.name, problem));
                }
                Some((own, known)) if own.name == table.name && known == partition => {
                    return Err(Error::invalid(
                        &table.name,
                        "a commit cannot found the partition that it is guarded on",
                    ));
                }
                Some(_) => {}
            }
            let rows = writes.iter().filter(|w| matches!(w, Write::Put { .. })).count();
            for (what, size, limit) in [
                ("rows of a founded partition", rows, limits::FOUNDED_ROWS_MAX),
                ("bytes of a founded partition", write.bytes(), limits::GUARDED_BYTES_MAX),
            ] {
                if size > limit {
                    return Err(Error::TooLarge { what: format!("{}: {what}", table.name), size, limit });
                }
            }
        }
        Ok(())
    }

    fn replace(&mut self, write: Write) {
        self.rows.replace(&mut self.writes, write);
    }
}

fn set_statics(writes: &mut Vec<Write>, table: &'static Table, partition: Vec<Value>, cells: Vec<(usize, Value)>) {
    for write in writes.iter_mut() {
        if let Write::SetStatics { table: t, partition: p, cells: known } = write
            && t.name == table.name
            && *p == partition
        {
            for (position, value) in cells {
                known.retain(|(other, _)| *other != position);
                known.push((position, value));
            }
            return;
        }
    }
    writes.push(Write::SetStatics { table, partition, cells });
}

/// Adds a write of a row in place of an earlier one of the same row: the last one counts.
pub(super) fn replace_row(writes: &mut Vec<Write>, write: Write) {
    if let Some(position) = writes.iter().position(|other| same_row(other, &write)) {
        writes.remove(position);
    }
    writes.push(write);
}

fn same_row(a: &Write, b: &Write) -> bool {
    row_key(a).is_some() && std::ptr::eq(a.table(), b.table()) && row_key(a) == row_key(b)
}

/// Writes of one plan up to which each is compared with all before it.
const FEW_WRITES: usize = 16;

/// Which rows a plan has, so that a plan of many rows is not compared with itself.
#[derive(Debug, Default)]
struct Rows {
    many: bool,
    /// They are of one table and came in the order of their keys: none can stand there twice.
    ordered: bool,
    /// Fingerprints, once they do not.
    prints: HashSet<u64, RandomState>,
    scratch: Vec<u8>,
}

impl Rows {
    fn for_writes(writes: usize) -> Self {
        Rows { many: writes > FEW_WRITES, ordered: true, ..Rows::default() }
    }

    /// Adds the write, in place of an earlier one of the same row.
    fn replace(&mut self, writes: &mut Vec<Write>, write: Write) {
        if !self.many {
            return replace_row(writes, write);
        }
        if self.ordered {
            if writes.last().is_none_or(|last| is_behind(last, &write)) {
                return writes.push(write);
            }
            self.ordered = false;
            self.prints.reserve(writes.capacity());
            for earlier in writes.iter() {
                self.is_new(earlier);
            }
        }
        if self.is_new(&write) { writes.push(write) } else { replace_row(writes, write) }
    }

    /// What is no row is always new.
    fn is_new(&mut self, write: &Write) -> bool {
        let Some(key) = row_key(write) else { return true };
        self.scratch.clear();
        codec::put_values(&mut self.scratch, key);
        let print = self.prints.hasher().hash_one((std::ptr::from_ref(write.table()), &self.scratch));
        self.prints.insert(print)
    }
}

/// Whether both are rows of one table, the later one with the greater key.
fn is_behind(earlier: &Write, later: &Write) -> bool {
    let (Some(one), Some(other)) = (row_key(earlier), row_key(later)) else { return false };
    let mut columns = one.iter().zip(other).map(|(a, b)| a.key_order(b));
    std::ptr::eq(earlier.table(), later.table()) && columns.find(|order| order.is_ne()).is_some_and(Ordering::is_lt)
}

/// The whole key of the row that is written, if it is one row.
pub(super) fn row_key(write: &Write) -> Option<&[Value]> {
    match write {
        Write::Put { table, values, .. } => Some(&values[..table.key_columns()]),
        Write::Delete { key, .. } => Some(key),
        Write::SetStatics { .. } | Write::DeleteRange { .. } | Write::Found { .. } => None,
    }
}

/// A row whose partition is checked.
pub(super) fn check_row(table: &Table, values: &[Value]) -> Result<()> {
    key::check_clustering(table, &values[table.partition_columns..table.key_columns()], true)?;
    for (column, value) in table.columns.iter().zip(values).skip(table.key_columns()) {
        // A static column without a value is left as it is.
        if !(column.kind == Kind::Static && value.is_null()) {
            key::check_cell(table, column, value, false)?;
        }
    }
    let size = values.iter().map(Value::bytes).sum();
    if size > limits::ROW_BYTES_MAX {
        return Err(Error::TooLarge {
            what: format!("{} row in bytes", table.name),
            size,
            limit: limits::ROW_BYTES_MAX,
        });
    }
    // Nearly all rows are far too small to be too large for any engine.
    if size > limits::ROW_STORED_BYTES_MAX / WIDEST_SHARE {
        let size = table.stored_bytes(values);
        if size > limits::ROW_STORED_BYTES_MAX {
            let what = format!("{} row in bytes, with all its names", table.name);
            return Err(Error::TooLarge { what, size, limit: limits::ROW_STORED_BYTES_MAX });
        }
    }
    Ok(())
}

/// How many times its bytes a row may come to where every name of every field is kept with it.
const WIDEST_SHARE: usize = 32;

/// A derived row obeys the same limits.
pub(super) fn check_derived(table: &Table, values: &[Value]) -> Result<()> {
    key::check_partition(table, &values[..table.partition_columns])?;
    check_row(table, values)
}

fn take_statics(table: &Table, values: &mut Arc<Vec<Value>>) -> Vec<(usize, Value)> {
    let mut cells = Vec::new();
    for (position, column) in table.columns.iter().enumerate().skip(table.key_columns()) {
        if column.kind == Kind::Static && !values[position].is_null() {
            cells.push((position, std::mem::replace(&mut Arc::make_mut(values)[position], Value::Null)));
        }
    }
    cells
}

pub(super) fn expiry(
    table: &Table,
    values: &[Value],
    ttl_seconds: Option<u32>,
    now: Timestamp,
) -> Result<Option<Timestamp>> {
    if let Some(position) = table.ends {
        return match ttl_seconds {
            None => Ok(table.end_of(values)),
            Some(_) => {
                let problem = format!("a row ends by its column {}, not after a time", table.columns[position].name);
                Err(Error::invalid(format!("{} ttl", table.name), problem))
            }
        };
    }
    let Some(ttl) = ttl_seconds.or(table.ttl_seconds) else { return Ok(None) };
    if !(1..=limits::TTL_SECONDS_MAX).contains(&ttl) {
        let problem = format!("a time to live of {ttl} s is not 1 to {}", limits::TTL_SECONDS_MAX);
        return Err(Error::invalid(format!("{} ttl", table.name), problem));
    }
    Ok(Some(now.plus_seconds(ttl.into())))
}

fn check_guard(table: &'static Table, guard: &RawGuard) -> Result<()> {
    use crate::engine::Condition;
    let (position, value, is_static) = match &guard.condition {
        Condition::Absent | Condition::Present => {
            return key::check_clustering(table, &guard.clustering, true);
        }
        Condition::Compare { column, value, .. } => {
            key::check_clustering(table, &guard.clustering, true)?;
            (*column, value, false)
        }
        Condition::CompareStatic { column, value, .. } => (*column, value, true),
    };
    let found = table.columns.get(position).filter(|c| (c.kind == Kind::Static) == is_static);
    let column = found.ok_or_else(|| Error::invalid(&table.name, "the guard's column is not there"))?;
    if value.is_null() { Ok(()) } else { key::check_cell(table, column, value, false) }
}

pub(super) fn rows(writes: &[Write]) -> usize {
    writes.iter().map(Write::rows).sum()
}

/// Bounds of a commit with everything that is derived from it.
pub(super) fn check_size(writes: &[Write]) -> Result<()> {
    let bytes: usize = writes.iter().map(Write::bytes).sum();
    for (what, size, limit) in [
        ("writes of one commit, derived rows included", rows(writes), limits::COMMIT_WRITES_MAX),
        ("bytes of one commit, derived rows included", bytes, limits::COMMIT_BYTES_MAX),
    ] {
        if size > limit {
            return Err(Error::TooLarge { what: what.into(), size, limit });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::row::Row;

    #[derive(crate::Row, Clone, Debug, PartialEq)]
    #[row(table = "some", partition(a), clustering(b desc))]
    struct One {
        a: i32,
        b: i64,
    }

    #[derive(crate::Row, Clone, Debug, PartialEq)]
    #[row(table = "others", partition(a), clustering(b))]
    struct Other {
        a: i32,
        b: i64,
    }

    fn write(kind: u8, a: i32, b: i64) -> Write {
        let put = |table, values: Vec<Value>| {
            let values = values.into();
            Write::Put { table, values, expires_at: None, indexes: Vec::new() }
        };
        match kind {
            0 => put(One::table(), One { a, b }.to_values()),
            1 => put(Other::table(), Other { a, b }.to_values()),
            _ => Write::Delete { table: One::table(), key: One { a, b }.to_values() },
        }
    }

    fn planned(writes: &[Write]) -> Vec<Write> {
        let (mut rows, mut all) = (Rows::for_writes(writes.len()), Vec::new());
        writes.iter().for_each(|write| rows.replace(&mut all, write.clone()));
        all
    }

    proptest! {
        #[test]
        fn of_many_writes_the_last_of_each_row_is_left(
            writes in prop::collection::vec((0..3u8, 0..4i32, 0..4i64), 0..60),
            ordered in 0..40usize,
        ) {
            let mut writes: Vec<Write> = writes.into_iter().map(|(kind, a, b)| write(kind, a, b)).collect();
            // As they mostly come: in order, up to some place.
            let ordered = ordered.min(writes.len());
            writes[..ordered].sort_by(|a, b| format!("{a:?}").cmp(&format!("{b:?}")));
            let mut left = Vec::new();
            writes.iter().for_each(|write| replace_row(&mut left, write.clone()));
            prop_assert_eq!(planned(&writes), left);
        }
    }

    #[test]
    fn rows_that_come_in_order_leave_no_fingerprints() {
        let mut rows = Rows::for_writes(100);
        let mut all = Vec::new();
        (0..100).for_each(|n| rows.replace(&mut all, write(0, n / 10, i64::from(n))));
        assert!(rows.ordered && rows.prints.is_empty() && all.len() == 100);
        rows.replace(&mut all, write(0, 3, 33));
        assert!(!rows.ordered && all.len() == 100 && all.last() == Some(&write(0, 3, 33)));
    }
}
