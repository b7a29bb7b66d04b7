//! Writes: one atomic step, later writes, counters.
//!
//! Invariants: a guarded partition is written only by lightweight transactions, all others only under the commit's
//! timestamp, and the two never meet on a cell (the removal of an outbox entry aside, see `clear_outbox`); deleting rows
//! never deletes static columns or bookkeeping; every write states its time to live, so that the table's default, which
//! would take static columns and bookkeeping along, never applies.

use std::{ops::Bound, sync::LazyLock};

use futures::{StreamExt, TryStreamExt, stream};
use rust_decimal::Decimal;
use scylla::{
    statement::{Consistency as Level, batch::BatchType},
    value::{Counter, CqlTimestamp, CqlValue},
};
use uuid::Uuid;

use super::{
    Cassandra,
    cql::{self, Builder, Cell, Cql, Shape},
    failure,
    link::{self, gather},
};
use crate::{
    engine::{Add, Applied, Entry, Expect, Fence, Guarded, Late, Step, Version, Write},
    error::{Error, Result},
    key::Tenant,
    limits::{RING_SLOTS, TTL_SECONDS_MAX},
    meter::{self, Cost},
    schema::{Consistency, Kind, Table},
    time::{Clock, Date, SystemClock, Timestamp},
    value::{Type, Value},
};

/// The end of rows that have none. A null would be a tombstone in every row, and the server counts those when it reads.
pub(super) const NEVER: Timestamp = Timestamp::MAX;
/// The server refuses batches of several partitions over 50 KiB (`batch_size_fail_threshold`).
pub(super) const BATCH_BYTES_MAX: usize = 48 * 1024;
/// What the server counts for a cell besides its value: timestamp, time to live, deletion time.
const CELL_BYTES: usize = 20;
const WRITES_AT_ONCE: usize = 32;
/// A transaction's own timestamp runs ahead of the clock under contention; what removes its cells must be further ahead.
const AHEAD_MICROS: i64 = 60_000_000;
/// A day before the last second (in 2038) at which the server lets a cell expire, as it is configured by default.
const EXPIRY_SECONDS_MAX: i64 = 2_147_483_646 - 86_400;

impl Cassandra {
    pub(super) async fn apply_step(&self, step: &Step<'_>) -> Result<Applied> {
        match &step.guarded {
            Some(guarded) => self.apply_guarded(step, guarded).await,
            None => self.apply_plain(step).await,
        }
    }

    async fn apply_guarded(&self, step: &Step<'_>, guarded: &Guarded) -> Result<Applied> {
        let table = guarded.table;
        let Some(expect) = guarded.expect else {
            return Err(Error::invalid(table.name.clone(), "a guarded step needs the version that was read"));
        };
        let mut cqls = vec![self.update_bookkeeping(step, guarded, expect)?];
        for (position, write) in step.writes.iter().enumerate() {
            if write.table().name != table.name || write.partition() != guarded.partition.as_slice() {
                return Err(Error::invalid(table.name.clone(), "a guarded step writes to its own partition only"));
            }
            let over = match guarded.new_rows.get(position) {
                Some(true) if is_assumed(guarded, write) => Over::NothingIf,
                Some(true) => Over::Nothing,
                _ => Over::Anything,
            };
            self.write_statements(step.tenant, write, over, step.now, &mut cqls)?;
        }
        meter::charge(Cost { conditional_writes: 1, ..Cost::default() });
        let sent = self.link.transact(&cqls, link::plain_level(table.write)).await;
        if !matches!(sent, Ok(false)) {
            meter::charge(Write::cost(&step.writes));
        }
        match sent {
            Ok(true) => Ok(Applied::Done(expect.next)),
            Ok(false) => Ok(Applied::Moved),
            Err(failure) => Err(failure.into_write_error(step.id, table, self.link.request_timeout)),
        }
    }

    async fn apply_plain(&self, step: &Step<'_>) -> Result<Applied> {
        let plain = || step.writes.iter().filter(|w| !w.table().counters);
        if let Some(write) = step.writes.iter().find(|w| w.table().versioned()) {
            return Err(Error::invalid(write.table().name.clone(), "a guarded table is written by guarded steps only"));
        }
        let mut cqls = Vec::new();
        for write in plain() {
            self.write_statements(step.tenant, write, Over::Anything, step.now, &mut cqls)?;
        }
        let kind = if one_partition(plain()) { BatchType::Unlogged } else { BatchType::Logged };
        if kind == BatchType::Logged {
            let size = plain().map(stored_bytes).sum();
            if size > BATCH_BYTES_MAX {
                return Err(failure::batch_too_large(size));
            }
        }
        meter::charge(Write::cost(&step.writes));
        if let [first, ..] = cqls.as_slice() {
            let level = strongest(plain().map(|w| w.table().write));
            let sent = self.link.write(&cqls, kind, level, step.timestamp).await;
            sent.map_err(|f| f.into_write_error(step.id, first.table, self.link.request_timeout))?;
        }
        // Counters take neither timestamps nor part in other batches. Their rows are only ever deleted here, which can
        // be repeated.
        cqls.clear();
        for write in step.writes.iter().filter(|w| w.table().counters) {
            self.write_statements(step.tenant, write, Over::Anything, step.now, &mut cqls)?;
        }
        for cql in cqls {
            let sent = Box::pin(self.link.write_once(&cql, link::plain_level(cql.table.write))).await;
            sent.map_err(|f| f.with_certainty(false).into_write_error(step.id, cql.table, self.link.request_timeout))?;
        }
        Ok(Applied::Done(Version(0)))
    }

    /// The fence needs no look: timestamps keep the order whoever else has made the same writes, or newer ones.
    pub(super) async fn write_late(&self, late: Late<'_>) -> Result<()> {
        let Late { tenant, writes, now, timestamp, .. } = late;
        let id = match late.fence {
            Fence::Outbox { id, .. } => id,
            Fence::Pending { key } => key.iter().find_map(uuid_of).unwrap_or_default(),
        };
        // ORDER: who finds a row that is derived from a founded partition must find the partition.
        let founded = writes.iter().filter(|w| matches!(w, Write::Found { .. }));
        let founded = gather(founded, |write| self.begin_partition(&late, id, write));
        stream::iter(founded).buffer_unordered(WRITES_AT_ONCE).try_collect::<()>().await?;
        let mut cqls = Vec::new();
        for write in writes.iter().filter(|w| !matches!(w, Write::Found { .. })) {
            if write.table().versioned() || write.table().counters {
                return Err(Error::invalid(write.table().name.clone(), "later writes go to plain tables only"));
            }
            self.write_statements(tenant, write, Over::Anything, now, &mut cqls)?;
        }
        meter::charge(Write::cost(writes));
        let sent = gather(cqls, |cql| async move {
            let level = lasting(cql.table.write);
            let sent = self.link.write(std::slice::from_ref(&cql), BatchType::Unlogged, level, timestamp).await;
            // The other writes of this call may have been made.
            sent.map_err(|f| f.with_certainty(false).into_write_error(id, cql.table, self.link.request_timeout))
        });
        stream::iter(sent).buffer_unordered(WRITES_AT_ONCE).try_collect().await
    }

    /// A founded partition begins by a transaction as every other does: on condition that it has no version. One that has
    /// was begun before, by this or by another who finishes the same commit.
    async fn begin_partition(&self, late: &Late<'_>, id: Uuid, write: &Write) -> Result<()> {
        let Write::Found { table, partition, writes } = write else { return Ok(()) };
        let mut cql = self.statement(table);
        cql.text("UPDATE ").table().text(" USING TTL 0 SET ").name(cql::VERSION).text(" = ?, ");
        cql.name(cql::SEQUENCE).text(" = ?").bind(CqlValue::BigInt(late.timestamp)).bind(CqlValue::BigInt(1));
        if let Fence::Outbox { id, bucket, .. } = late.fence {
            cql.text(", ").name(cql::OUTBOX).text("[?] = ?").bind(CqlValue::Uuid(id)).bind(CqlValue::BigInt(bucket));
        }
        cql.of_partition(late.tenant, partition)?;
        cql.text(" IF ").name(cql::VERSION).text(" = ?").bind_cell(Cell::Null);
        let mut cqls = vec![cql.finish()];
        for write in writes {
            self.write_statements(late.tenant, write, Over::Nothing, late.now, &mut cqls)?;
        }
        meter::charge(Cost { conditional_writes: 1, ..Cost::default() });
        let sent = self.link.transact(&cqls, lasting(table.write)).await;
        // Where the answer is lost, the same is sent again, and the condition tells.
        sent.map(drop).map_err(|f| f.with_certainty(false).into_write_error(id, table, self.link.request_timeout))
    }

    pub(super) async fn clear_outbox(&self, entry: Entry<'_>) -> Result<()> {
        let Entry { tenant, table, partition, id, version } = entry;
        let mut cql = self.statement(table);
        cql.text("DELETE ").name(cql::OUTBOX).text("[?] FROM ").table().bind(CqlValue::Uuid(id));
        cql.of_partition(tenant, partition)?;
        let cql = [cql.finish()];
        meter::charge(Cost { partitions_written: 1, ..Cost::default() });
        // RACE: the cell was written under the transaction's own timestamp, by the server's clock, which the store's may
        // be far behind. The cell is never written again, so that a deletion from the future harms nothing.
        let timestamp = version.0.max(SystemClock.now_micros()).saturating_add(AHEAD_MICROS);
        let sent = self.link.write(&cql, BatchType::Unlogged, link::plain_level(table.write), timestamp).await;
        sent.map_err(|f| f.into_write_error(id, table, self.link.request_timeout))
    }

    pub(super) async fn add_counters(&self, tenant: &Tenant, adds: &[Add]) -> Result<()> {
        let cqls = adds.iter().map(|add| self.update_counters(tenant, add)).collect::<Result<Vec<_>>>()?;
        let bytes: usize = adds.iter().flat_map(|a| &a.key).map(Value::bytes).sum();
        let rows = adds.len() as u64;
        meter::charge(Cost {
            partitions_written: rows,
            rows_written: rows,
            bytes_written: bytes as u64 + 8 * rows,
            ..Cost::default()
        });
        let sent = gather(cqls, |cql| async move {
            let level = link::plain_level(cql.table.write);
            self.link.write_once(&cql, level).await.map_err(|f| (f, cql.table))
        });
        let mut sent = stream::iter(sent).buffer_unordered(WRITES_AT_ONCE);
        while let Some(result) = sent.next().await {
            if let Err((failure, table)) = result {
                return Err(failure.into_add_error(adds.len() > 1, table, self.link.request_timeout));
            }
        }
        Ok(())
    }

    fn statement(&self, table: &'static Table) -> Builder<'_> {
        Builder::new(&self.link.keyspace, table)
    }

    fn update_bookkeeping<'v>(&'v self, step: &'v Step<'_>, guarded: &'v Guarded, expect: Expect) -> Result<Cql<'v>> {
        let sequence = expect.sequence.saturating_add(1);
        let mut cql = self.statement(guarded.table);
        cql.text("UPDATE ").table().text(" USING TTL 0 SET ").name(cql::VERSION).text(" = ?, ");
        cql.bind(CqlValue::BigInt(expect.next.0));
        cql.name(cql::SEQUENCE).text(" = ?, ").bind(CqlValue::BigInt(sequence));
        cql.name(cql::RING).text("[?] = ?").bind(CqlValue::Int(sequence.rem_euclid(RING_SLOTS) as i32));
        cql.bind(CqlValue::Uuid(step.id));
        if let Some((entry, bucket)) = guarded.outbox {
            cql.text(", ").name(cql::OUTBOX).text("[?] = ?");
            cql.bind(CqlValue::Uuid(entry)).bind(CqlValue::BigInt(bucket));
        }
        cql.of_partition(step.tenant, &guarded.partition)?;
        cql.text(" IF ").name(cql::VERSION).text(" = ?");
        cql.bind_cell(expect.version.map_or(Cell::Null, |v| Cell::Converted(CqlValue::BigInt(v.0))));
        Ok(cql.finish())
    }

    fn update_counters<'v>(&'v self, tenant: &'v Tenant, add: &'v Add) -> Result<Cql<'v>> {
        let table = add.table;
        let mut cql = self.statement(table);
        cql.text("UPDATE ").table().text(" SET ");
        for (i, (column, amount)) in add.amounts.iter().enumerate() {
            let name = &table.columns[*column].name;
            cql.text(if i > 0 { ", " } else { "" }).name(name).text(" = ").name(name).text(" + ?");
            cql.bind(CqlValue::Counter(Counter(*amount)));
        }
        self.of_key(&mut cql, tenant, &add.key)?;
        Ok(cql.finish())
    }

    fn of_key<'v>(&self, cql: &mut Builder<'v>, tenant: &'v Tenant, key: &'v [Value]) -> Result<()> {
        let (partition, clustering) = key.split_at(cql.of().partition_columns.min(key.len()));
        cql.of_partition(tenant, partition)?.of_prefix(clustering)?;
        Ok(())
    }

    /// Adds the statements of one write, all of one partition.
    pub(super) fn write_statements<'v>(
        &'v self,
        tenant: &'v Tenant,
        write: &'v Write,
        over: Over,
        now: Timestamp,
        cqls: &mut Vec<Cql<'v>>,
    ) -> Result<()> {
        match write {
            Write::Put { table, .. } if table.counters => {
                return Err(Error::invalid(table.name.clone(), "counters are added to, not put"));
            }
            Write::Put { table, values, expires_at, .. } => {
                cqls.push(self.put_row(tenant, table, values, *expires_at, over, now)?);
                if cql::statics(table).any(|column| !values[column].is_null()) {
                    let cells = cql::statics(table).map(|column| (column, &values[column]));
                    let cells = cells.filter(|(_, value)| !value.is_null());
                    cqls.push(self.set_statics(tenant, table, &values[..table.partition_columns], cells)?);
                }
            }
            Write::SetStatics { table, partition, cells } => {
                let cells = cells.iter().map(|(column, value)| (*column, value));
                cqls.push(self.set_statics(tenant, table, partition, cells)?);
            }
            Write::Delete { table, key } => cqls.push(self.delete_row(tenant, table, key)?),
            Write::DeleteRange { table, .. } if table.versioned() => {
                return Err(Error::invalid(table.name.clone(), "rows of a guarded table are deleted one by one"));
            }
            Write::Found { table, .. } => {
                return Err(Error::invalid(table.name.clone(), "a partition is founded by later writes only"));
            }
            Write::DeleteRange { table, partition, prefix, bounds } => {
                let (lower, upper) = &**bounds;
                cqls.extend(self.delete_range(tenant, table, partition, prefix, (lower.as_ref(), upper.as_ref()))?);
            }
        }
        Ok(())
    }

    /// Static columns are written apart from the row: they do not end with it, and those that are null stay.
    fn put_row<'v>(
        &'v self,
        tenant: &'v Tenant,
        table: &'static Table,
        values: &'v [Value],
        expires_at: Option<Timestamp>,
        over: Over,
        now: Timestamp,
    ) -> Result<Cql<'v>> {
        let end = CqlValue::Timestamp(CqlTimestamp(expires_at.unwrap_or(NEVER).millis()));
        let ttl = ttl_seconds(expires_at, now);
        let own = |column: &usize| table.columns[*column].kind != Kind::Static;
        let shape = Shape::Put { ends: ttl > 0, if_new: over == Over::NothingIf };
        let mut cql = Builder::shaped(&self.link.keyspace, table, &self.link.texts, shape);
        cql.leave_nulls(over != Over::Anything);
        // Few rows end: the others say so in the text.
        let using_ttl = if ttl > 0 { " USING TTL ?" } else { " USING TTL 0" };
        if cql::has_live_mark(table) {
            cql.text("UPDATE ").table().text(using_ttl).text(" SET ");
            if ttl > 0 {
                cql.bind(CqlValue::Int(ttl));
            }
            for column in (table.key_columns()..table.columns.len()).filter(own) {
                cql.equal(column, &values[column])?.text(", ");
            }
            cql.name(cql::EXPIRES_AT).text(" = ?, ").bind(end);
            cql.name(cql::LIVE).text(" = ?").bind(CqlValue::Boolean(true));
            cql.of_partition(tenant, &values[..table.partition_columns])?;
        } else {
            cql.text("INSERT INTO ").table().text(" (").name(cql::TENANT);
            cql.bind_cell(Cell::Text(tenant.as_str()));
            for column in (0..table.columns.len()).filter(own) {
                cql.text(", ").name(&table.columns[column].name).bind_column(column, &values[column])?;
            }
            cql.text(", ").name(cql::EXPIRES_AT).bind(end).text(") VALUES (?");
            (0..table.columns.len()).filter(own).for_each(|_| _ = cql.text(", ?"));
            cql.text(", ?)").text(if over == Over::NothingIf { " IF NOT EXISTS" } else { "" }).text(using_ttl);
            if ttl > 0 {
                cql.bind(CqlValue::Int(ttl));
            }
        }
        Ok(cql.finish())
    }

    /// All static columns are named, those that are not set are left as they are: one statement for each table.
    fn set_statics<'v>(
        &'v self,
        tenant: &'v Tenant,
        table: &'static Table,
        partition: &'v [Value],
        cells: impl Iterator<Item = (usize, &'v Value)>,
    ) -> Result<Cql<'v>> {
        let cells: Vec<_> = cells.collect();
        let mut cql = self.statement(table);
        cql.text("UPDATE ").table().text(" USING TTL 0 SET ");
        for (i, column) in cql::statics(table).enumerate() {
            cql.text(if i > 0 { ", " } else { "" }).name(&table.columns[column].name).text(" = ?");
            match cells.iter().find(|(c, _)| *c == column) {
                Some((_, value)) => cql.bind_column(column, value)?,
                None => cql.bind_cell(Cell::Unset),
            };
        }
        cql.of_partition(tenant, partition)?;
        Ok(cql.finish())
    }

    fn delete_row<'v>(&'v self, tenant: &'v Tenant, table: &'static Table, key: &'v [Value]) -> Result<Cql<'v>> {
        let mut cql = self.statement(table);
        cql.text("DELETE ");
        if cql::has_live_mark(table) {
            for column in table.others() {
                cql.name(&column.name).text(", ");
            }
            cql.name(cql::EXPIRES_AT).text(", ").name(cql::LIVE).text(" ");
        }
        cql.text("FROM ").table();
        self.of_key(&mut cql, tenant, key)?;
        Ok(cql.finish())
    }

    fn delete_range<'v>(
        &'v self,
        tenant: &'v Tenant,
        table: &'static Table,
        partition: &'v [Value],
        prefix: &'v [Value],
        (lower, upper): (Bound<&'v Value>, Bound<&'v Value>),
    ) -> Result<Vec<Cql<'v>>> {
        let delete = |lower: Bound<&'v Value>, upper: Bound<&'v Value>| -> Result<Cql<'v>> {
            let mut cql = self.statement(table);
            cql.text("DELETE FROM ").table().of_partition(tenant, partition)?.of_prefix(prefix)?;
            if prefix.len() < table.clustering_columns {
                cql.within(prefix.len(), lower, upper)?;
            }
            Ok(cql.finish())
        };
        let whole = prefix.is_empty() && matches!((lower, upper), (Bound::Unbounded, Bound::Unbounded));
        if !whole || !table.has_statics() {
            return Ok(vec![delete(lower, upper)?]);
        }
        // To delete the partition would delete its static columns: two ranges that meet cover all rows and nothing else.
        let pivot = any_value(&table.clustering()[0].column_type);
        Ok(vec![delete(Bound::Unbounded, Bound::Excluded(pivot))?, delete(Bound::Included(pivot), Bound::Unbounded)?])
    }
}

/// What a row is put over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    Anything,
    /// There is no row: what is null in the new one need not be deleted. A null is a tombstone, and many rows are half of
    /// them.
    Nothing,
    /// As `Nothing`, if that is so: the transaction finds out.
    NothingIf,
}

/// Whether it is to be found out that the row is not there. Only for rows beside the bookkeeping: their tables are inserted
/// into.
fn is_assumed(guarded: &Guarded, write: &Write) -> bool {
    let Write::Put { table, values, .. } = write else { return false };
    let clustering = &values[table.partition_columns..table.key_columns()];
    guarded.guards.iter().any(|guard| guard.clustering == clustering)
}

/// The native time to live only reclaims space: zero, which is none, where the server could not keep it.
pub(super) fn ttl_seconds(expires_at: Option<Timestamp>, now: Timestamp) -> i32 {
    let Some(end) = expires_at else { return 0 };
    let millis = end.millis().saturating_sub(now.millis());
    // One more: the server counts from the beginning of its second.
    let seconds = (millis.saturating_add(999) / 1000).max(1) + 1;
    // The server counts from its own clock, whatever the store's says.
    let today = SystemClock.now().millis() / 1000;
    if seconds > i64::from(TTL_SECONDS_MAX) || today + seconds > EXPIRY_SECONDS_MAX { 0 } else { seconds as i32 }
}

/// Some value of a type that a key can have.
fn any_value(t: &Type) -> &'static Value {
    static TEXT: LazyLock<Value> = LazyLock::new(|| Value::Text("0".into()));
    static BLOB: LazyLock<Value> = LazyLock::new(|| Value::Blob(vec![0]));
    match t {
        Type::Int => const { &Value::Int(0) },
        Type::BigInt => const { &Value::BigInt(0) },
        Type::Decimal => const { &Value::Decimal(Decimal::ZERO) },
        Type::Boolean => const { &Value::Boolean(true) },
        Type::Uuid => const { &Value::Uuid(Uuid::nil()) },
        Type::Timestamp => const { &Value::Timestamp(Timestamp::from_millis(0)) },
        Type::Date => const { &Value::Date(Date::from_days(0)) },
        Type::Blob => &BLOB,
        _ => &TEXT,
    }
}

fn uuid_of(value: &Value) -> Option<Uuid> {
    match value {
        Value::Uuid(id) => Some(*id),
        _ => None,
    }
}

fn one_partition<'w>(mut writes: impl Iterator<Item = &'w Write>) -> bool {
    let Some(first) = writes.next() else { return true };
    writes.all(|w| w.table().name == first.table().name && w.partition() == first.partition())
}

/// At a quorum at least: nobody remembers afterwards that the row was to be written.
fn lasting(level: Consistency) -> Level {
    link::plain_level(match level {
        Consistency::One | Consistency::LocalOne => Consistency::LocalQuorum,
        enough => enough,
    })
}

fn strongest(levels: impl Iterator<Item = Consistency>) -> Level {
    let rank = |level: &Consistency| match level {
        Consistency::LocalOne => 0,
        Consistency::One => 1,
        Consistency::LocalQuorum => 2,
        Consistency::Quorum | Consistency::Serial => 3,
    };
    levels.max_by_key(rank).map_or(Level::Quorum, link::plain_level)
}

/// About what the server counts for a write in a batch: every element of a collection is a cell of its own.
fn stored_bytes(write: &Write) -> usize {
    let cell = |value: &Value| match value {
        Value::List(items) | Value::Set(items) => items.iter().map(|v| v.bytes() + CELL_BYTES + 16).sum(),
        Value::Map(entries) => entries.iter().map(|(k, v)| k.bytes() + v.bytes() + CELL_BYTES).sum(),
        value => value.bytes() + CELL_BYTES,
    };
    let cells: usize = match write {
        Write::Put { values, .. } => values.iter().map(cell).sum(),
        Write::SetStatics { cells, .. } => cells.iter().map(|(_, v)| cell(v)).sum(),
        Write::Delete { .. } | Write::DeleteRange { .. } | Write::Found { .. } => write.bytes(),
    };
    cells + 3 * CELL_BYTES
}
