//! A commit: writes that become visible together, under guards on one partition.

use std::{ops::Bound, sync::Arc};

use uuid::Uuid;

use crate::{
    engine::{Bounds, Condition, Operator, RawGuard, RawRow, Version, Write},
    key,
    row::{ColumnOf, KeyParts, Row},
    schema::Table,
    value::{Cell, Value},
};

/// What to write and what must be true for it to be written.
///
/// ```ignore
/// store.commit(Commit::new().absent::<User>(email).put(&user)).await?;
/// ```
#[derive(Clone, Debug, Default)]
pub struct Commit {
    pub(crate) id: Option<Uuid>,
    pub(crate) writes: Vec<Planned>,
    pub(crate) guards: Vec<PlannedGuard>,
    pub(crate) expect: Option<(&'static Table, Vec<Value>, Option<Version>)>,
    /// It writes a shared table, which only the data layer itself may.
    pub(crate) shared: bool,
}

/// A write as the caller asked for it.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub write: Write,
    /// The row's own time to live, in place of the table's.
    pub ttl_seconds: Option<u32>,
    /// The row is of a partition that begins with this commit.
    pub founds: bool,
}

/// A guard and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct PlannedGuard {
    pub table: &'static Table,
    pub partition: Vec<Value>,
    pub guard: RawGuard,
}

/// What became of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    pub id: Uuid,
    /// Of the guarded partition; None where the commit had none.
    pub version: Option<Version>,
}

/// The guards that did not hold, with the rows as they are now.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    pub table: String,
    /// Whole keys and rows, one for each guard that did not hold.
    pub rows: Vec<(Vec<Value>, Option<RawRow>)>,
}

impl Conflict {
    /// The rows that are there, typed.
    pub fn rows_of<R: Row>(&self) -> Vec<R> {
        let rows = self.rows.iter().filter_map(|(_, row)| row.as_ref());
        rows.filter_map(|row| R::from_values(row.values.clone()).ok()).collect()
    }
}

impl Commit {
    pub fn new() -> Self {
        Commit::default()
    }

    /// For so many writes.
    pub fn with_room(writes: usize) -> Self {
        Commit { writes: Vec::with_capacity(writes), ..Commit::default() }
    }

    /// A commit that can be sent again: under the same id it changes nothing the second time, as long as it is among the
    /// last 64 of its guarded partition.
    pub fn with_id(id: Uuid) -> Self {
        Commit { id: Some(id), ..Commit::default() }
    }

    /// Writes the whole row. A static column that is `None` is left as it is.
    pub fn put<R: Row>(self, row: &R) -> Self {
        self.put_values(R::table(), row.to_values(), None)
    }

    /// Writes the whole row with a time to live of its own.
    pub fn put_for<R: Row>(self, row: &R, ttl_seconds: u32) -> Self {
        self.put_values(R::table(), row.to_values(), Some(ttl_seconds))
    }

    /// Writes whole rows with a time to live of their own: as `put_for` of each, for many.
    pub fn put_each_for<'r, R: Row>(mut self, rows: impl IntoIterator<Item = &'r R>, ttl_seconds: u32) -> Self {
        rows.into_iter().for_each(|row| self.add_values(R::table(), row.to_values(), Some(ttl_seconds)));
        self
    }

    pub(crate) fn put_values(
        mut self,
        table: &'static Table,
        values: impl Into<Arc<Vec<Value>>>,
        ttl_seconds: Option<u32>,
    ) -> Self {
        self.add_values(table, values, ttl_seconds);
        self
    }

    fn add_values(&mut self, table: &'static Table, values: impl Into<Arc<Vec<Value>>>, ttl_seconds: Option<u32>) {
        let mut values = values.into();
        let keys = table.key_columns().min(values.len());
        key::normalize(&mut Arc::make_mut(&mut values)[..keys]);
        let write = Write::Put { table, values, expires_at: None, indexes: Vec::new() };
        self.writes.push(Planned { write, ttl_seconds, founds: false });
    }

    /// Writes the whole row into a new partition of a guarded table, beside the commit's own guarded partition and
    /// together with it. Called again, it adds a row to the new partition, or begins another.
    ///
    /// The new partition's version is the commit's, as `Committed` tells it unless the commit had been made before. Its
    /// ring is empty: an id is that of a commit on its own partition, and may serve once more on the new one.
    ///
    /// RACE: nobody else may ever write the partition before this commit, as nothing guards it: its key must be new, such
    /// as a fresh UUID. On Cassandra, and for what does not fit one transaction of DynamoDB, the partition is there a
    /// moment after the commit. Who learns its key by other ways than its derived rows and then finds nothing there must
    /// write nothing: what is written first is what stays, and the founded rows would be lost. Where the engine can tell
    /// at no cost that the partition is not new, the commit is refused; elsewhere the partition stays as it is.
    pub fn found<R: Row>(self, row: &R) -> Self {
        let mut commit = self.put(row);
        if let Some(planned) = commit.writes.last_mut() {
            planned.founds = true;
        }
        commit
    }

    /// Sets one static column of a partition.
    pub fn set_static<R: Row, T: Cell>(self, partition: R::Partition, column: ColumnOf<R, T>, value: &T) -> Self {
        let position = R::table().position(column.name).unwrap_or(usize::MAX);
        let partition = normal(partition);
        self.plan(Write::SetStatics { table: R::table(), partition, cells: vec![(position, value.to_value())] })
    }

    pub fn delete<R: Row>(self, key: R::Key) -> Self {
        self.delete_values(R::table(), normal(key))
    }

    pub(crate) fn delete_values(self, table: &'static Table, key: Vec<Value>) -> Self {
        self.plan(Write::Delete { table, key })
    }

    /// Nothing where the table has none.
    pub(crate) fn clear_statics(self, table: &'static Table, partition: Vec<Value>) -> Self {
        let statics = table.columns.iter().enumerate().filter(|(_, c)| c.kind == crate::schema::Kind::Static);
        let cells: Vec<_> = statics.map(|(i, _)| (i, Value::Null)).collect();
        if cells.is_empty() { self } else { self.plan(Write::SetStatics { table, partition, cells }) }
    }

    /// Deletes the rows whose clustering columns begin with the prefix.
    pub fn delete_prefix<R: Row>(self, partition: R::Partition, prefix: impl KeyParts) -> Self {
        self.delete_range::<R>(partition, prefix, (Bound::Unbounded, Bound::Unbounded))
    }

    /// Deletes the rows of one prefix whose next clustering column lies within the bounds, by value.
    pub fn delete_range<R: Row>(self, partition: R::Partition, prefix: impl KeyParts, bounds: Bounds) -> Self {
        let (partition, prefix, bounds) = (normal(partition), normal(prefix), Box::new(bounds));
        self.plan(Write::DeleteRange { table: R::table(), partition, prefix, bounds })
    }

    /// Deletes all rows of a partition. Static columns go too.
    pub fn delete_partition<R: Row>(self, partition: R::Partition) -> Self {
        let (table, partition) = (R::table(), normal(partition));
        let commit = self.clear_statics(table, partition.clone());
        let bounds = Box::new((Bound::Unbounded, Bound::Unbounded));
        commit.plan(Write::DeleteRange { table, partition, prefix: Vec::new(), bounds })
    }

    fn plan(mut self, write: Write) -> Self {
        self.writes.push(Planned { write, ttl_seconds: None, founds: false });
        self
    }

    /// Only if the row is not there.
    pub fn absent<R: Row>(self, key: R::Key) -> Self {
        self.guard::<R>(key, Condition::Absent)
    }

    /// Only if the row is there.
    pub fn present<R: Row>(self, key: R::Key) -> Self {
        self.guard::<R>(key, Condition::Present)
    }

    /// Only if the row is there and its column compares so to the value.
    pub fn when<R: Row, T: Cell>(self, key: R::Key, column: ColumnOf<R, T>, operator: Operator, value: &T) -> Self {
        let column = R::table().position(column.name).unwrap_or(usize::MAX);
        self.guard::<R>(key, Condition::Compare { column, operator, value: value.to_value() })
    }

    /// Only if the static column of the partition compares so to the value.
    pub fn when_static<R: Row, T: Cell>(
        self,
        partition: R::Partition,
        column: ColumnOf<R, T>,
        operator: Operator,
        value: &T,
    ) -> Self {
        let column = R::table().position(column.name).unwrap_or(usize::MAX);
        let condition = Condition::CompareStatic { column, operator, value: value.to_value() };
        self.add_guard(R::table(), normal(partition), Vec::new(), condition)
    }

    /// Only if no commit changed the partition since this version was read. None: only if there was none at all.
    pub fn unchanged<R: Row>(mut self, partition: R::Partition, version: Option<Version>) -> Self {
        self.expect = Some((R::table(), normal(partition), version));
        self
    }

    fn guard<R: Row>(self, key: R::Key, condition: Condition) -> Self {
        let mut partition = normal(key);
        let clustering = partition.split_off(R::table().partition_columns.min(partition.len()));
        self.add_guard(R::table(), partition, clustering, condition)
    }

    fn add_guard(
        mut self,
        table: &'static Table,
        partition: Vec<Value>,
        clustering: Vec<Value>,
        condition: Condition,
    ) -> Self {
        self.guards.push(PlannedGuard { table, partition, guard: RawGuard { clustering, condition } });
        self
    }
}

fn normal(parts: impl KeyParts) -> Vec<Value> {
    let mut values = parts.into_values();
    key::normalize(&mut values);
    values
}

impl Condition {
    /// Whether the condition holds for a row as it is now (None where there is none, or it has expired).
    pub fn holds(&self, row: Option<&RawRow>, statics: Option<&[Value]>) -> bool {
        match self {
            Condition::Absent => row.is_none(),
            Condition::Present => row.is_some(),
            Condition::Compare { column, operator, value } => {
                row.is_some_and(|row| operator.holds(&row.values[*column], value))
            }
            Condition::CompareStatic { column, operator, value } => {
                operator.holds(statics.map_or(&Value::Null, |s| &s[*column]), value)
            }
        }
    }
}

impl Operator {
    pub fn holds(self, cell: &Value, value: &Value) -> bool {
        let order = cell.compare(value);
        match self {
            Operator::Equal => cell == value || order.is_some_and(|o| o.is_eq()),
            Operator::NotEqual => !Operator::Equal.holds(cell, value),
            Operator::Less => order.is_some_and(|o| o.is_lt()),
            Operator::LessOrEqual => order.is_some_and(|o| o.is_le()),
            Operator::Greater => order.is_some_and(|o| o.is_gt()),
            Operator::GreaterOrEqual => order.is_some_and(|o| o.is_ge()),
        }
    }
}
