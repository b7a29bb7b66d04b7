//! The small trait that the three engines implement. Everything else (derivations, guards where an engine has none, the
//! outbox, expiry, cursors, limits, verification) is written once above it.
//!
//! What an engine may rely on: every value was checked against its column; every key is within the limits; decimals in
//! keys are normalized; all requests of one commit are of one tenant; no row stands twice in one step.
//! What it must keep: a call that fails with anything but `Indeterminate` or `TimedOut` has changed nothing; no call waits
//! without a time limit; every call charges the meter.

use std::{ops::Bound, sync::Arc};

use async_trait::async_trait;
use futures::{StreamExt as _, stream};
use uuid::Uuid;

use crate::{
    derived::Derivation,
    error::{Error, Result, SchemaError},
    key::{Tenant, clustering_order},
    meter::Cost,
    schema::{Consistency, Schema, Table},
    time::Timestamp,
    value::Value,
};

/// A row as engines see it: all cells in the table's canonical order, statics included, and the instant it ends.
#[derive(Clone, Debug, PartialEq)]
pub struct RawRow {
    pub values: Vec<Value>,
    pub expires_at: Option<Timestamp>,
}

impl RawRow {
    pub fn is_live(&self, now: Timestamp) -> bool {
        is_live(self.expires_at, now)
    }

    pub fn bytes(&self) -> usize {
        self.values.iter().map(Value::bytes).sum()
    }
}

fn is_live(end: Option<Timestamp>, now: Timestamp) -> bool {
    end.is_none_or(|end| end > now)
}

/// Rows of one table, cell behind cell: a page is one allocation, not one a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Of every row all cells in the table's canonical order, statics included.
    pub cells: Vec<Value>,
    /// Of every row the instant it ends.
    pub ends: Vec<Option<Timestamp>>,
}

impl Rows {
    pub fn with_capacity(table: &Table, rows: usize) -> Self {
        Rows { cells: Vec::with_capacity(rows * table.columns.len()), ends: Vec::with_capacity(rows) }
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn columns(&self) -> usize {
        self.cells.len() / self.len().max(1)
    }

    pub fn push(&mut self, row: RawRow) {
        self.cells.extend(row.values);
        self.ends.push(row.expires_at);
    }

    /// The cells of each row.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &[Value]> {
        self.cells.chunks_exact(self.columns().max(1))
    }

    pub fn truncate(&mut self, rows: usize) {
        let columns = self.columns();
        self.cells.truncate(rows * columns);
        self.ends.truncate(rows);
    }

    /// How many have not ended.
    pub(crate) fn live(&self, now: Timestamp) -> usize {
        self.ends.iter().filter(|end| is_live(**end, now)).count()
    }

    /// Adds those rows of the others that have not ended.
    pub(crate) fn extend_live(&mut self, others: Rows, now: Timestamp) {
        if self.is_empty() && others.live(now) == others.len() {
            *self = others;
        } else {
            Vec::from(others).into_iter().filter(|row| row.is_live(now)).for_each(|row| self.push(row));
        }
    }

    pub fn bytes(&self) -> usize {
        self.cells.iter().map(Value::bytes).sum()
    }
}

impl From<Rows> for Vec<RawRow> {
    fn from(rows: Rows) -> Self {
        let columns = rows.columns();
        let mut cells = rows.cells.into_iter();
        let row = |expires_at| RawRow { values: cells.by_ref().take(columns).collect(), expires_at };
        rows.ends.into_iter().map(row).collect()
    }
}

impl From<Vec<RawRow>> for Rows {
    fn from(rows: Vec<RawRow>) -> Self {
        let mut all = Rows::default();
        rows.into_iter().for_each(|row| all.push(row));
        all
    }
}

/// The state of a guarded partition. It changes with every commit on the partition; never to an earlier value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub i64);

/// How a committer that writes for all callers fares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommitterStats {
    /// Commits that wait at this moment.
    pub queued: u64,
    /// Groups that were written, and commits in them.
    pub groups: u64,
    pub commits: u64,
    pub largest_group: u64,
    /// What they came to in the engine: entries that were put or removed, and the bytes of their keys and values.
    pub entries: u64,
    pub bytes: u64,
}

/// How much an engine can apply in one atomic step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomicity {
    /// Any commit within the limits.
    Everything,
    /// Up to so many rows (written or guarded) and bytes, in any partitions.
    Rows { rows: usize, bytes: usize },
    /// One guarded partition; or, without a guard, so many rows and bytes in any partitions.
    Partition { unguarded_rows: usize, unguarded_bytes: usize },
}

/// What an engine can do, for the code above it.
#[derive(Clone, Copy, Debug)]
pub struct Abilities {
    pub atomicity: Atomicity,
    /// `apply` evaluates guards itself, so that a commit with guards needs no read before it.
    pub native_guards: bool,
    /// Derivations that are declared as an index are kept by the engine (`Write::Put::indexes`).
    pub native_indexes: bool,
    /// `write_each` keeps what is derived from a shared row in the same step as the row itself, whatever row it replaces.
    pub keeps_shared: bool,
    /// `Write::DeleteRange` is understood, on tables that are not guarded.
    pub native_range_delete: bool,
    /// Steps are applied in the order in which they were first polled, so that a step may be sent on what the one before it
    /// will leave. No promise: `Expect` tells where it was otherwise.
    pub in_order: bool,
}

/// Rows by key. The answer has one entry for each key, in order; expired rows are included (the caller hides them).
#[derive(Clone, Debug)]
pub struct Get<'a> {
    pub tenant: &'a Tenant,
    pub table: &'static Table,
    /// Whole keys: partition columns, then clustering columns.
    pub keys: &'a [Vec<Value>],
    pub consistency: Consistency,
}

/// A piece of one partition, in clustering order or in reverse.
#[derive(Clone, Debug)]
pub struct Slice<'a> {
    pub tenant: &'a Tenant,
    pub table: &'static Table,
    pub partition: &'a [Value],
    /// Leading clustering columns that are equal to these.
    pub prefix: &'a [Value],
    /// Bounds by value (not by direction) on the clustering column after the prefix.
    pub lower: Bound<&'a Value>,
    pub upper: Bound<&'a Value>,
    /// Against the table's clustering order.
    pub reverse: bool,
    /// A whole clustering key inside the range; the page begins strictly behind it, in the direction of travel.
    pub after: Option<&'a [Value]>,
    /// At most so many rows.
    pub limit: usize,
    pub consistency: Consistency,
}

impl<'a> Slice<'a> {
    /// The first rows of a partition, at the table's own consistency.
    pub fn first(limit: usize, tenant: &'a Tenant, table: &'static Table, partition: &'a [Value]) -> Self {
        Slice {
            tenant,
            table,
            partition,
            prefix: &[],
            lower: Bound::Unbounded,
            upper: Bound::Unbounded,
            reverse: false,
            after: None,
            limit,
            consistency: table.read,
        }
    }
}

/// Fewer rows than the limit means that the slice is at its end. Expired rows are included.
#[derive(Clone, Debug, Default)]
pub struct RawPage {
    pub rows: Rows,
    /// The static columns' values, in the table's canonical order, keys and regular columns null; None where the table
    /// has no static columns or none was ever set.
    pub statics: Option<Vec<Value>>,
}

/// Which rows of a guarded partition to read with its bookkeeping.
#[derive(Clone, Debug)]
pub enum AnchorRows<'a> {
    /// By clustering key, in order.
    Keys(&'a [Vec<Value>]),
    /// All rows that begin with one of the prefixes, at most `limit` of them (one more is a mistake of the caller). There
    /// is at least one prefix; they are in clustering order, and none begins with another.
    Prefixes { prefixes: &'a [Vec<Value>], limit: usize },
}

/// A linearizable read of a guarded partition.
#[derive(Clone, Debug)]
pub struct ReadAnchor<'a> {
    pub tenant: &'a Tenant,
    pub table: &'static Table,
    pub partition: &'a [Value],
    pub rows: AnchorRows<'a>,
    /// Whether the ids of the last commits are wanted.
    pub ring: bool,
}

/// A guarded partition as it is. RACE: the version must never be newer than the rows: an engine that reads them in two
/// steps reads the version first, so that a commit in between makes the guard on the version fail.
#[derive(Clone, Debug, Default)]
pub struct Anchor {
    pub version: Option<Version>,
    /// The number of the last commit on this partition; the next takes slot `(sequence + 1) % RING_SLOTS` of the ring.
    pub sequence: i64,
    /// Entries whose later writes may not all have been made: id and bucket in the pending table.
    pub outbox: Vec<(Uuid, i64)>,
    /// The ids of the last commits, if they were asked for.
    pub ring: Vec<Uuid>,
    /// For `Keys`: one entry a key. For `Prefixes`: the rows in clustering order, all `Some`.
    pub rows: Vec<Option<RawRow>>,
    pub statics: Option<Vec<Value>>,
}

impl Anchor {
    /// Whether an entry stands in the outbox.
    pub fn is_open(&self, id: Uuid) -> bool {
        self.outbox.iter().any(|(entry, _)| *entry == id)
    }
}

/// Puts the rows of one partition, which were read apart, into clustering order.
pub(crate) fn sort_rows(table: &Table, rows: &mut [Option<RawRow>]) {
    fn clustering<'r>(table: &Table, row: &'r Option<RawRow>) -> &'r [Value] {
        row.as_ref().map_or(&[], |row| &row.values[table.partition_columns..table.key_columns()])
    }
    rows.sort_by(|a, b| clustering_order(table, clustering(table, a), clustering(table, b)));
}

/// From where and up to where, by the value of a column.
pub type Bounds = (Bound<Value>, Bound<Value>);

/// One write. Partition values are without the tenant, which the step has.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Replaces the whole row. A static column whose value is null is left as it is. The values are shared: what a commit says goes
    /// through several hands, which copy the list of its writes, and none of them changes a row.
    Put {
        table: &'static Table,
        values: Arc<Vec<Value>>,
        expires_at: Option<Timestamp>,
        /// Rows of derived tables that the engine itself keeps as indexes; empty without `native_indexes`.
        indexes: Vec<IndexRow>,
    },
    /// Sets static columns (position in the table, value) and nothing else.
    SetStatics { table: &'static Table, partition: Vec<Value>, cells: Vec<(usize, Value)> },
    /// Removes one row by its whole key. Statics stay.
    Delete { table: &'static Table, key: Vec<Value> },
    /// Removes the rows of a range of one partition, as `Slice` names it.
    DeleteRange {
        table: &'static Table,
        partition: Vec<Value>,
        prefix: Vec<Value>,
        /// Apart, as ranges are few and rows are many: each write is as large as the largest of them.
        bounds: Box<Bounds>,
    },
    /// Begins a new partition of a guarded table: its rows and static columns (`Put` and `SetStatics` of this partition,
    /// nothing else) together with its bookkeeping, which has the commit's version, sequence 1 and an empty ring. All of it
    /// in one atomic step, and only if the partition has no bookkeeping yet.
    Found { table: &'static Table, partition: Vec<Value>, writes: Vec<Write> },
}

/// Many are made, moved and given back for every call that brings many rows.
const _: () = assert!(size_of::<Write>() <= 80);

/// A founded partition that is not new. Nothing was written.
pub(crate) fn not_new(table: &Table) -> Error {
    Error::invalid(&table.name, "the partition to be founded is there already: its key must be new")
}

/// A row of a derived table that is kept as an index of its base.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexRow {
    pub table: &'static Table,
    pub values: Vec<Value>,
}

impl Write {
    pub fn table(&self) -> &'static Table {
        match self {
            Write::Put { table, .. }
            | Write::SetStatics { table, .. }
            | Write::Delete { table, .. }
            | Write::DeleteRange { table, .. }
            | Write::Found { table, .. } => table,
        }
    }

    pub fn partition(&self) -> &[Value] {
        let n = self.table().partition_columns;
        match self {
            Write::Put { values, .. } => &values[..n],
            Write::Delete { key, .. } => &key[..n],
            Write::SetStatics { partition, .. }
            | Write::DeleteRange { partition, .. }
            | Write::Found { partition, .. } => partition,
        }
    }

    /// Rows that it writes; the bookkeeping of a partition that it founds is one.
    pub fn rows(&self) -> usize {
        match self {
            Write::Found { writes, .. } => writes.len() + 1,
            _ => 1,
        }
    }

    pub fn bytes(&self) -> usize {
        match self {
            Write::Put { values, .. } => values.iter().map(Value::bytes).sum(),
            Write::SetStatics { partition, cells, .. } => {
                partition.iter().chain(cells.iter().map(|(_, v)| v)).map(Value::bytes).sum()
            }
            Write::Delete { key, .. } => key.iter().map(Value::bytes).sum(),
            Write::DeleteRange { partition, prefix, .. } => partition.iter().chain(prefix).map(Value::bytes).sum(),
            Write::Found { writes, .. } => writes.iter().map(Write::bytes).sum(),
        }
    }
}

impl Write {
    /// Partitions, rows and bytes that the writes touch; requests are the engine's to count.
    pub fn cost(writes: &[Write]) -> Cost {
        // Writes of one partition mostly stand together; looking back a little keeps this linear.
        let first = |(i, write): &(usize, &Write)| {
            let before = writes[..*i].iter().rev().take(16);
            !before.into_iter().any(|w| w.table().name == write.table().name && w.partition() == write.partition())
        };
        Cost {
            partitions_written: writes.iter().enumerate().filter(first).count() as u64,
            rows_written: writes.iter().map(|w| w.rows() as u64).sum(),
            bytes_written: writes.iter().map(|w| w.bytes() as u64).sum(),
            ..Cost::default()
        }
    }
}

/// A condition on one row of the guarded partition. An expired row counts as absent.
#[derive(Clone, Debug, PartialEq)]
pub struct RawGuard {
    /// The clustering key of the row; empty, together with a static column, for the partition as a whole.
    pub clustering: Vec<Value>,
    pub condition: Condition,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    Absent,
    Present,
    /// The column of a row that is there compares so to the value. A null cell is equal to null and to nothing else,
    /// unequal to all else, and neither less nor greater than anything.
    Compare {
        column: usize,
        operator: Operator,
        value: Value,
    },
    /// As `Compare`, on a static column: the row need not be there.
    CompareStatic {
        column: usize,
        operator: Operator,
        value: Value,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// The guarded partition of a step and what must be true of it.
#[derive(Clone, Debug)]
pub struct Guarded {
    pub table: &'static Table,
    pub partition: Vec<Value>,
    /// The version and sequence that were read, or None to go by the guards alone (only with `native_guards`).
    pub expect: Option<Expect>,
    /// Checked in the same step (only with `native_guards`; otherwise they were checked on what `expect` names). Beside an
    /// expected version every engine takes `Absent` of rows that the step puts, and may answer `Moved` for a refusal.
    pub guards: Vec<RawGuard>,
    /// For each write of the partition, in order: whether its row was not there, not even expired, at the expected version.
    /// Only told where the engine has no `native_guards`.
    pub new_rows: Vec<bool>,
    /// Open this entry in the partition's outbox: its id (that of the try, not of the commit) and its bucket. The other
    /// writes are in the pending table under it.
    pub outbox: Option<(Uuid, i64)>,
    /// More partitions that are guarded in the same step, each at the version that was read and with its own writes among the
    /// step's: all of them or none. Only where the engine's atomicity is `Everything`.
    pub beside: Vec<Guarded>,
}

/// What a guarded partition was when it was read, and what its version will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expect {
    /// None where the partition had no commit yet.
    pub version: Option<Version>,
    pub sequence: i64,
    /// `max(now, version + 1)`, in microseconds.
    pub next: Version,
    /// The commit that the version is of, where it was sent but not answered yet (`Abilities::in_order`). It may have been
    /// refused, and another writer's commit may by chance have the same version.
    pub after: Option<Uuid>,
}

/// One atomic step: all of its writes or none.
#[derive(Clone, Debug)]
pub struct Step<'a> {
    pub id: Uuid,
    pub tenant: &'a Tenant,
    pub guarded: Option<Guarded>,
    pub writes: Vec<Write>,
    /// For expiry, by the store's clock.
    pub now: Timestamp,
    /// For the order of writes outside the guarded partition, in microseconds.
    pub timestamp: i64,
}

impl Step<'_> {
    /// Whether it rests on a version that was read.
    pub fn expects(&self) -> bool {
        self.guarded.as_ref().is_some_and(|g| g.expect.is_some())
    }
}

/// What became of a step.
#[derive(Clone, Debug)]
pub enum Applied {
    /// It was applied, now or before under the same id. The version is that of the guarded partition (0 without).
    Done(Version),
    /// `expect` named another version. Nothing was written.
    Moved,
    /// These guards did not hold, by position, with the row as it is now. Nothing was written.
    Refused(Vec<(usize, Option<RawRow>)>),
}

/// Puts and deletes of single rows of one table without guards, each for itself: no two of one row.
#[derive(Clone, Debug)]
pub struct Each<'a> {
    /// For writes without an answer.
    pub id: Uuid,
    pub tenant: &'a Tenant,
    pub table: &'static Table,
    pub writes: Vec<Write>,
    /// What follows from the rows of a shared table; the new rows of each stand in `Write::Put::indexes`.
    pub derivations: &'a [Derivation],
    pub now: Timestamp,
    pub timestamp: i64,
}

/// Writes of `Each` that are under way at the same time, on engines without a request for many.
const EACH_AT_ONCE: usize = 32;

/// What must still be there for later writes to be made: otherwise someone else has finished them, and newer commits may
/// have followed.
#[derive(Clone, Debug)]
pub enum Fence<'a> {
    /// The outbox entry `id` of a guarded partition, and the bucket that stands in it.
    Outbox { tenant: &'a Tenant, table: &'static Table, partition: &'a [Value], id: Uuid, bucket: i64 },
    /// A row of the pending table.
    Pending { key: &'a [Value] },
}

/// Writes that a commit left for later.
#[derive(Clone, Debug)]
pub struct Late<'a> {
    pub tenant: &'a Tenant,
    pub fence: Fence<'a>,
    pub writes: &'a [Write],
    pub now: Timestamp,
    /// The commit's.
    pub timestamp: i64,
}

/// An entry of a guarded partition's outbox, and the version of the commit that made it.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    pub tenant: &'a Tenant,
    pub table: &'static Table,
    pub partition: &'a [Value],
    pub id: Uuid,
    pub version: Version,
}

/// Adds to the counters of one row: column position and amount.
#[derive(Clone, Debug)]
pub struct Add {
    pub table: &'static Table,
    pub key: Vec<Value>,
    pub amounts: Vec<(usize, i64)>,
}

/// One range out of `ranges`, of a whole table.
#[derive(Clone, Debug)]
pub struct Scan<'a> {
    pub table: &'static Table,
    /// The rows of one tenant are wanted: an engine that has them together gives no others, any other one gives all.
    pub tenant: Option<&'a Tenant>,
    /// What `split` said of this number of ranges, the same for all of them.
    pub split: &'a [u8],
    pub range: usize,
    pub ranges: usize,
    /// Where the page before ended, as the engine said.
    pub after: Option<&'a [u8]>,
    pub limit: usize,
}

/// Rows of a partition stand together, in clustering order. Expired rows are included.
#[derive(Clone, Debug, Default)]
pub struct ScanPage {
    pub rows: Vec<(Tenant, RawRow)>,
    /// The keys of partitions that have static columns and, as far as this page has come, no row.
    pub bare: Vec<(Tenant, Vec<Value>)>,
    /// None at the end of the range.
    pub next: Option<Vec<u8>>,
}

impl ScanPage {
    pub fn len(&self) -> usize {
        self.rows.len() + self.bare.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What was reclaimed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reclaimed {
    pub rows: usize,
    /// It stopped at its limit: there may be more. What it looked at may have been written again since, all of it.
    pub more: bool,
}

/// What `migrate` did or found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaReport {
    pub created_tables: Vec<String>,
    /// Table and column.
    pub added_columns: Vec<(String, String)>,
    /// What cannot be done without losing data, or, in a comparison, what is not as declared.
    pub problems: Vec<SchemaError>,
}

#[async_trait]
pub trait Engine: Send + Sync + 'static {
    fn name(&self) -> &'static str;

    fn abilities(&self) -> Abilities;

    /// How its committer fares, where it has one of its own.
    fn committer(&self) -> Option<CommitterStats> {
        None
    }

    async fn get(&self, get: Get<'_>) -> Result<Vec<Option<RawRow>>>;

    async fn slice(&self, slice: Slice<'_>) -> Result<RawPage>;

    async fn read_anchor(&self, read: ReadAnchor<'_>) -> Result<Anchor>;

    /// One atomic step. The same step with the same id may be sent again: the second changes nothing.
    /// With `expect`, an engine may answer `Moved` to a step that it had applied: the caller looks into the ring.
    async fn apply(&self, step: &Step<'_>) -> Result<Applied>;

    /// Writes single rows, each for itself, and says of each what became of it: one that is refused takes no other along.
    async fn write_each(&self, each: Each<'_>) -> Vec<Result<()>> {
        let Each { id, tenant, now, timestamp, writes, .. } = each;
        let one = |write: Write| async move {
            let step = Step { id, tenant, guarded: None, writes: vec![write], now, timestamp };
            self.apply(&step).await.map(drop)
        };
        // In a vector, as the compiler cannot tell that a stream's closure over borrowed items may go between threads.
        let writes: Vec<_> = writes.into_iter().map(one).collect();
        stream::iter(writes).buffered(EACH_AT_ONCE).collect().await
    }

    /// Puts rows of a shared table in place of those that were read, where they still stand so; whether they did. What other
    /// tools keep beside the declared columns stays. Only with `keeps_shared`.
    async fn replace_each(&self, each: Each<'_>, _old: Vec<Vec<Value>>) -> Vec<Result<bool>> {
        let problem = format!("{} does not keep shared rows by itself", self.name());
        vec![Err(Error::Engine { detail: problem }); each.writes.len()]
    }

    /// Writes that a commit left for later: idempotent, in any order, under the commit's timestamp, while the fence
    /// stands. None of the tables is guarded. When the fence is gone, nothing is written and the answer is Ok.
    ///
    /// ORDER: partitions that the commit founds come first, so that who finds a derived row finds its base. The fence's
    /// entry is opened in their outboxes too: who commits on them must first make the other writes. A partition that has
    /// bookkeeping already was founded before and is left as it is.
    async fn apply_late(&self, late: Late<'_>) -> Result<()>;

    /// Removes an entry from a partition's outbox. Harmless if it is gone.
    async fn close_outbox(&self, entry: Entry<'_>) -> Result<()>;

    /// Adds to counters. Never repeated by the engine: an error that may have happened is the caller's to know.
    async fn add(&self, tenant: &Tenant, adds: &[Add]) -> Result<()>;

    /// Where the ranges of a scan meet, for engines that look at the data to know: asked once, so that a table that grows
    /// during the scan moves no boundary.
    async fn split(&self, _table: &'static Table, _tenant: Option<&Tenant>, _ranges: usize) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }

    async fn scan(&self, scan: Scan<'_>) -> Result<ScanPage>;

    /// Compares the engine's tables with the schema; with `create`, makes what is missing if nothing would be lost.
    async fn migrate(&self, schema: &Schema, create: bool) -> Result<SchemaReport>;

    /// What the engine's own clock says; None where it has none that could be asked.
    async fn server_time(&self) -> Result<Option<Timestamp>> {
        Ok(None)
    }

    /// Reclaims the space of rows that have expired, at most about `limit` of them; how many it reclaimed. Engines that
    /// expire rows themselves do nothing.
    async fn reclaim(&self, _now: Timestamp, _limit: usize) -> Result<Reclaimed> {
        Ok(Reclaimed::default())
    }
}

/// So that a shared engine is an engine, and engines can be chosen at run time.
#[async_trait]
impl<E: Engine + ?Sized> Engine for std::sync::Arc<E> {
    fn name(&self) -> &'static str {
        (**self).name()
    }
    fn abilities(&self) -> Abilities {
        (**self).abilities()
    }
    fn committer(&self) -> Option<CommitterStats> {
        (**self).committer()
    }
    async fn get(&self, get: Get<'_>) -> Result<Vec<Option<RawRow>>> {
        (**self).get(get).await
    }
    async fn slice(&self, slice: Slice<'_>) -> Result<RawPage> {
        (**self).slice(slice).await
    }
    async fn read_anchor(&self, read: ReadAnchor<'_>) -> Result<Anchor> {
        (**self).read_anchor(read).await
    }
    async fn apply(&self, step: &Step<'_>) -> Result<Applied> {
        (**self).apply(step).await
    }
    async fn write_each(&self, each: Each<'_>) -> Vec<Result<()>> {
        (**self).write_each(each).await
    }
    async fn replace_each(&self, each: Each<'_>, old: Vec<Vec<Value>>) -> Vec<Result<bool>> {
        (**self).replace_each(each, old).await
    }
    async fn apply_late(&self, late: Late<'_>) -> Result<()> {
        (**self).apply_late(late).await
    }
    async fn close_outbox(&self, entry: Entry<'_>) -> Result<()> {
        (**self).close_outbox(entry).await
    }
    async fn add(&self, tenant: &Tenant, adds: &[Add]) -> Result<()> {
        (**self).add(tenant, adds).await
    }
    async fn split(&self, table: &'static Table, tenant: Option<&Tenant>, ranges: usize) -> Result<Vec<u8>> {
        (**self).split(table, tenant, ranges).await
    }
    async fn scan(&self, scan: Scan<'_>) -> Result<ScanPage> {
        (**self).scan(scan).await
    }
    async fn migrate(&self, schema: &Schema, create: bool) -> Result<SchemaReport> {
        (**self).migrate(schema, create).await
    }
    async fn server_time(&self) -> Result<Option<Timestamp>> {
        (**self).server_time().await
    }
    async fn reclaim(&self, now: Timestamp, limit: usize) -> Result<Reclaimed> {
        (**self).reclaim(now, limit).await
    }
}
