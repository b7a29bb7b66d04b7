//! The embedded engine: a folder, one committer, snapshots for readers. The default.
//!
//! Invariants: an acknowledged commit is synced; a commit is there whole or not at all; guards are exact, because one thread
//! decides them all; one process owns the folder. Counters are exact, but the last moments before a crash may be lost.

mod ahead;
mod committer;
mod expiry;
mod group;
mod head;
mod key;
mod pages;
mod read;
mod row;
mod schema;
mod series;
#[cfg(test)]
mod tests;
mod writing;

use std::{
    path::Path,
    sync::{
        Arc, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions};
use futures::{StreamExt as _, stream};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use self::{
    ahead::Ahead,
    committer::{
        Change, Committer, CounterAdd, Ended, EndedRow, GuardedPart, NewPartition, Replace, Request, SharedBase,
        Target, Written,
    },
    key::{KeyReader, PACKED},
    pages::{Pages, Stripe, Stripes},
    read::View,
    row::Layout,
    schema::Tables,
    series::{Journal, Stage, StagedRows},
};
use crate::{
    engine::{
        Abilities, Add, Anchor, Applied, Atomicity, CommitterStats, Each, Engine, Entry, Fence, Get, Guarded, Late,
        RawPage, RawRow, ReadAnchor, Reclaimed, Scan, ScanPage, SchemaReport, Slice, Step, Version, Write,
    },
    error::{Error, Result, SchemaError},
    key::Tenant,
    meter::{self, Cost},
    outbox::PENDING,
    schema::{Kind, Schema, Table},
    time::Timestamp,
    value::Value,
};

/// What may stay in memory of what was not yet sorted to disk when the folder was last closed. Less than this is not worth a
/// file of its own at every start.
const RECOVERED_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Closing waits no longer for that.
const CLOSING_MAX: Duration = Duration::from_secs(2);

/// Rows that stand for themselves and are committed together.
const EACH_ROWS: usize = 250;

/// Settings of the embedded engine.
#[derive(Clone, Debug)]
pub struct EmbeddedConfig {
    /// Memory for blocks that were read.
    pub cache_bytes: u64,
    /// Memory for rows that were written and not yet sorted to disk. The more there is, the less often what is on disk is sorted
    /// anew, and the longer a start after a crash takes.
    pub memtable_bytes: u64,
    /// Memory for rows of series that are not packed yet, and as much again while they are; they are read back at a start.
    pub staged_bytes: u64,
    /// Memory for pages of slices that are read again and again; 0 for none.
    pub page_cache_bytes: u64,
}

impl Default for EmbeddedConfig {
    fn default() -> Self {
        EmbeddedConfig {
            cache_bytes: 128 * 1024 * 1024,
            memtable_bytes: 32 * 1024 * 1024,
            staged_bytes: 16 * 1024 * 1024,
            page_cache_bytes: 32 * 1024 * 1024,
        }
    }
}

/// What is kept of journals: as much as fills memory several times, so that they do not have it sorted to disk before it is full. The
/// engine takes no less than its one journal may have.
fn journals_bytes(memtable_bytes: u64) -> u64 {
    const MEMTABLES: u64 = 4;
    const LEAST: u64 = 64 * 1024 * 1024;
    memtable_bytes.saturating_mul(MEMTABLES).max(LEAST)
}

/// A folder with tables in it.
pub struct Embedded {
    /// ORDER: gone before the database is.
    ahead: Ahead,
    db: Database,
    catalog: Keyspace,
    rows: Keyspace,
    expiry: Keyspace,
    staged: Keyspace,
    tables: RwLock<Arc<Tables>>,
    pages: Pages,
    stage: Arc<Stage>,
    requests: Option<mpsc::Sender<Request>>,
    committer: Option<JoinHandle<()>>,
    written: Arc<Written>,
}

impl std::fmt::Debug for Embedded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Embedded").finish_non_exhaustive()
    }
}

impl Embedded {
    /// Opens the folder, made if it is not there. A folder that another process has open is an error.
    pub fn open(folder: impl AsRef<Path>, schema: &Schema) -> Result<Self> {
        Self::open_with(folder, schema, &EmbeddedConfig::default())
    }

    pub fn open_with(folder: impl AsRef<Path>, schema: &Schema, config: &EmbeddedConfig) -> Result<Self> {
        let folder = folder.as_ref();
        let open = || -> fjall::Result<(Database, Keyspace, [Keyspace; 3])> {
            let db = Database::builder(folder)
                .cache_size(config.cache_bytes)
                .max_journaling_size(journals_bytes(config.memtable_bytes))
                // What is large enough to be worth it are rows of series, which are compressed once they are sorted to disk.
                .journal_compression(CompressionType::None)
                // With two, the first hands compactions on to the second as fast as it can for as long as that one is
                // busy, and takes a whole core from the readers.
                .worker_threads(1)
                .open()?;
            let small = || KeyspaceCreateOptions::default().max_memtable_size(1024 * 1024);
            let catalog = db.keyspace("catalog", small)?;
            // The committer says when. Left to itself, the engine asks its worker again with every batch that comes while the worker
            // is busy; once its queue is full of that, the worker, who alone empties it, waits for room in it for ever.
            let large = || KeyspaceCreateOptions::default().max_memtable_size(u64::MAX);
            let rows = db.keyspace("rows", large)?;
            let expiry = db.keyspace("expiry", large)?;
            let staged = db.keyspace("staged", large)?;
            Ok((db, catalog, [rows, expiry, staged]))
        };
        let (db, catalog, [rows, expiry, staged]) = open().map_err(|e| match e {
            fjall::Error::Locked => Error::InUse { folder: folder.display().to_string() },
            e => engine_error(e),
        })?;
        schema::check_format(&db, &catalog)?;
        // ORDER: all that was written until here is on disk, and nothing is written from here on without being said.
        let ahead = Ahead::start(folder)?;
        let (_, tables) = schema::migrate(&db, &catalog, schema, false, &ahead.handle())?;
        // What the journal gave back would stay in memory until as much again was written.
        sort_to_disk(&db, [&rows, &expiry, &staged])?;
        let journal = Journal::open(rows.clone(), staged.clone(), config.staged_bytes)?;
        let stage = journal.stage();
        let (requests, queue) = mpsc::channel(committer::QUEUE_COMMITS_MAX);
        let stripes = Arc::new(Stripes::new());
        let written = Arc::new(Written::default());
        let into = Target {
            db: db.clone(),
            rows: rows.clone(),
            expiry: expiry.clone(),
            memtable_bytes: config.memtable_bytes,
        };
        let writer = Committer::new(into, stripes.clone(), written.clone(), journal, ahead.handle());
        let committer = std::thread::Builder::new()
            .name("widerow-committer".into())
            .spawn(move || writer.run(queue))
            .map_err(|e| Error::Engine { detail: format!("no thread for the committer: {e}") })?;
        Ok(Embedded {
            ahead,
            db,
            catalog,
            rows,
            expiry,
            staged,
            tables: RwLock::new(Arc::new(tables)),
            pages: Pages::new(config.page_cache_bytes, stripes),
            stage,
            requests: Some(requests),
            committer: Some(committer),
            written,
        })
    }

    fn layout(&self, table: &Table) -> Result<Arc<Layout>> {
        let tables = self.tables.read().unwrap_or_else(|e| e.into_inner());
        let found = tables.layouts.get(&table.name).cloned();
        Ok(found.ok_or_else(|| SchemaError::Missing { table: table.name.clone() })?)
    }

    fn view<'v>(&'v self, layout: &'v Layout) -> View<'v> {
        View::new(&self.db, &self.rows, &self.stage, layout)
    }

    /// Sends a request to the committer and waits for its answer.
    async fn ask(
        &self,
        id: Uuid,
        request: impl FnOnce(oneshot::Sender<Result<Applied>>) -> Request,
    ) -> Result<Applied> {
        let gone = || Error::unavailable("the committer has stopped; open the folder again");
        let (reply, answer) = oneshot::channel();
        let requests = self.requests.as_ref().ok_or_else(gone)?;
        requests.send(request(reply)).await.map_err(|_| gone())?;
        answer.await.map_err(|_| Error::Indeterminate { id, detail: "the committer has stopped".into() })?
    }

    /// The changes of keys that the writes come down to.
    fn changes(&self, tenant: &Tenant, writes: &[Write]) -> Result<Vec<Change>> {
        let mut changes = Vec::with_capacity(writes.len());
        let mut known: Option<Arc<Layout>> = None;
        // Rows of series go together, up to where some are deleted.
        let mut staged = StagedRows::default();
        staged.reserve(writes.iter().filter(|write| write.table().series).count());
        for write in writes {
            // Writes of one table mostly stand together.
            let layout = match known.take().filter(|layout| std::ptr::eq(layout.table, write.table())) {
                Some(layout) => layout,
                None => self.layout(write.table())?,
            };
            let partition = || key::partition_key(layout.id, tenant, write.partition());
            let set_statics = |cells: Vec<(usize, &Value)>| {
                let partition = partition();
                let (head, stripe) = (head::key_of(&partition).into(), Stripes::of(&partition));
                let cell = |value: &Value| (!value.is_null()).then(|| row::encode_cell(value));
                let cells = cells.into_iter().map(|(position, value)| (layout.column_ids[position], cell(value)));
                Change::SetStatics { head, cells: cells.collect(), stripe }
            };
            let set_row = |row: Option<(&[Value], Option<Timestamp>)>| {
                let partition = partition();
                let (head, stripe) = (head::key_of(&partition).into(), Stripes::of(&partition));
                let expires_at = row.and_then(|(_, end)| end);
                let row = row.map(|(values, end)| row::encode(&layout, values, end).into());
                Change::SetRow { head, row, expires_at, stripe }
            };
            match write {
                Write::Put { values, expires_at, .. } if layout.alone => {
                    changes.push(set_row(Some((&values[..], *expires_at))));
                }
                Write::Delete { .. } | Write::DeleteRange { .. } if layout.alone => changes.push(set_row(None)),
                Write::Put { table, values, expires_at, .. } if table.series => {
                    let (key, row) = (&values[..table.key_columns()], Some((&values[..], *expires_at)));
                    stage(&mut staged, &layout, tenant, key, row);
                }
                Write::Delete { table, key } if table.series => {
                    stage(&mut staged, &layout, tenant, key, None);
                }
                Write::Put { table, values, expires_at, .. } => {
                    let columns = table.columns.iter().zip(&**values).enumerate();
                    let statics =
                        columns.filter(|(_, (column, value))| column.kind == Kind::Static && !value.is_null());
                    let statics: Vec<_> = statics.map(|(position, (_, value))| (position, value)).collect();
                    if !statics.is_empty() {
                        changes.push(set_statics(statics));
                    }
                    let value = row::encode(&layout, values, *expires_at).into();
                    let (key, stripe) = row_key(&layout, tenant, &values[..table.key_columns()]);
                    changes.push(Change::Put { key: key.into(), value, expires_at: *expires_at, stripe });
                }
                Write::SetStatics { cells, .. } => {
                    changes.push(set_statics(cells.iter().map(|(position, value)| (*position, value)).collect()));
                }
                Write::Delete { key, .. } => {
                    let (key, stripe) = row_key(&layout, tenant, key);
                    changes.push(Change::Remove { key: key.into(), stripe });
                }
                Write::DeleteRange { prefix, bounds, .. } => {
                    let (partition, (lower, upper)) = (partition(), &**bounds);
                    let (from, to) = read::range(&layout, &partition, prefix, lower.as_ref(), upper.as_ref());
                    if from < to {
                        let (from, to, stripe) = (from.into(), to.into(), Stripes::of(&partition));
                        if layout.table.series {
                            if !staged.is_empty() {
                                changes.push(Change::Stage(std::mem::take(&mut staged)));
                            }
                            changes.push(Change::StageRange { partition: partition.into(), from, to });
                        } else {
                            changes.push(Change::RemoveRange { from, to, stripe });
                        }
                    }
                }
                // Apart, as they begin only where nothing is.
                Write::Found { .. } => {}
            }
            known = Some(layout);
        }
        if !staged.is_empty() {
            changes.push(Change::Stage(staged));
        }
        Ok(changes)
    }

    /// The changes of some rows that stand for themselves, those of a shared table with what is derived from them.
    fn each(&self, each: &Each<'_>, base: Option<&Arc<SharedBase>>, writes: &[Write]) -> Result<Vec<Change>> {
        let Some(base) = base else { return self.changes(each.tenant, writes) };
        let keys = each.table.key_columns();
        let change = |write: &Write| {
            let (key_values, puts) = match write {
                Write::Put { values, expires_at, indexes, .. } => {
                    // What is derived ends with its base.
                    let derived = indexes.iter().map(|row| Write::Put {
                        table: row.table,
                        values: row.values.clone().into(),
                        expires_at: *expires_at,
                        indexes: Vec::new(),
                    });
                    let mut puts = self.changes(each.tenant, std::slice::from_ref(write))?;
                    puts.extend(self.changes(each.tenant, &derived.collect::<Vec<_>>())?);
                    (values[..keys].to_vec(), puts)
                }
                Write::Delete { key, .. } => (key.clone(), Vec::new()),
                other => return Err(Error::invalid(&other.table().name, "rows are put or deleted one by one")),
            };
            let (key, stripe) = row_key(&base.layout, each.tenant, &key_values);
            let (base, tenant) = (base.clone(), each.tenant.clone());
            Ok(Change::Replace(Box::new(Replace {
                base,
                tenant,
                key_values,
                key: key.into(),
                stripe,
                expect: None,
                puts,
            })))
        };
        writes.iter().map(change).collect()
    }

    /// A shared table with the layouts of what is derived from it.
    fn shared_base(&self, each: &Each<'_>) -> Result<Option<Arc<SharedBase>>> {
        if !each.table.shared {
            return Ok(None);
        }
        let derived = each.derivations.iter().map(|d| Ok((*d, self.layout(d.derived)?)));
        let (layout, derived) = (self.layout(each.table)?, derived.collect::<Result<_>>()?);
        Ok(Some(Arc::new(SharedBase { layout, derived })))
    }

    /// A guarded partition of a step, encoded; what the step founds aside.
    fn guarded_part(&self, tenant: &Tenant, guarded: &Guarded) -> Result<GuardedPart> {
        let layout = self.layout(guarded.table)?;
        let partition = key::partition_key(layout.id, tenant, &guarded.partition);
        let with_keys = guarded.guards.iter().map(|guard| {
            let whole = [&guarded.partition[..], &guard.clustering[..]].concat();
            (guard.clone(), key::row_key(guarded.table, layout.id, tenant, &whole))
        });
        Ok(GuardedPart {
            guards: with_keys.collect(),
            partition,
            key_values: guarded.partition.clone(),
            expect: guarded.expect,
            outbox: guarded.outbox,
            founded: Vec::new(),
            layout,
        })
    }

    /// The partitions that begin with the writes.
    fn founded(&self, tenant: &Tenant, writes: &[Write]) -> Result<Vec<NewPartition>> {
        let mut founded = Vec::new();
        for write in writes {
            if let Write::Found { table, partition, writes } = write {
                let key = key::partition_key(self.layout(table)?.id, tenant, partition);
                let head = head::key_of(&key).into();
                founded.push(NewPartition { table, head, changes: self.changes(tenant, writes)? });
            }
        }
        Ok(founded)
    }

    /// An entry whose time is over, by its key. There is no page of it where its table is not declared.
    fn ended_row(tables: &Tables, key: fjall::Slice) -> EndedRow {
        let table = key.first_chunk().map(|id| u16::from_be_bytes(*id));
        let partition = table.and_then(|id| partition_of(tables, id, &key));
        let packed = partition.filter(|length| key.get(*length) == Some(&PACKED));
        // Whatever ends in such a table is the row of a head.
        let in_head = table.is_some_and(|id| tables.alone.contains(&id));
        EndedRow { stripe: partition.map(|length| Stripes::of(&key[..length])), packed, in_head, key }
    }

    /// What is to be walked over stands in the order of its keys only once it is packed.
    async fn pack(&self, table: &Table) -> Result<()> {
        if table.series {
            self.ask(Uuid::nil(), |reply| Request::Pack { reply }).await?;
        }
        Ok(())
    }
}

/// How many bytes of a key are its partition's; None if its table is not declared.
fn partition_of(tables: &Tables, table_id: u16, key: &[u8]) -> Option<usize> {
    let table = tables.layouts.values().find(|layout| layout.id == table_id)?.table;
    let mut reader = KeyReader::new(key);
    reader.tenant().and_then(|_| reader.columns(table.partition(), &mut Vec::new())).ok()?;
    Some(reader.position())
}

impl Drop for Embedded {
    /// Waits until what was queued is written, so that the folder can be opened again at once. What is sorted to disk now
    /// is neither replayed nor held in memory at the next start; if it takes too long, the journal has it anyway.
    fn drop(&mut self) {
        self.requests = None;
        if let Some(committer) = self.committer.take() {
            let _ = committer.join();
        }
        if sort_to_disk(&self.db, [&self.rows, &self.expiry, &self.staged]).is_ok() {
            let start = Instant::now();
            while self.db.write_buffer_size() >= RECOVERED_BYTES_MAX && start.elapsed() < CLOSING_MAX {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

/// Begins to sort to disk what is in memory only, if it is much.
fn sort_to_disk<const N: usize>(db: &Database, keyspaces: [&Keyspace; N]) -> Result<()> {
    if db.write_buffer_size() >= RECOVERED_BYTES_MAX {
        for keyspace in keyspaces {
            keyspace.rotate_memtable().map_err(engine_error)?;
        }
    }
    Ok(())
}

fn engine_error(e: fjall::Error) -> Error {
    engine_error_of(&e)
}

fn engine_error_of(e: &fjall::Error) -> Error {
    match e {
        fjall::Error::Poisoned => Error::unavailable("an earlier write failed; open the folder again"),
        e => Error::Engine { detail: e.to_string() },
    }
}

/// The key of a row and the stripe of its partition.
fn row_key(layout: &Layout, tenant: &Tenant, key: &[Value]) -> (Vec<u8>, Stripe) {
    let (key, partition) = key::split_row_key(layout.table, layout.id, tenant, key);
    let stripe = Stripes::of(&key[..partition]);
    (key, stripe)
}

/// Adds a row of a series with its values and its end, or the deletion of one.
fn stage(
    rows: &mut StagedRows,
    layout: &Layout,
    tenant: &Tenant,
    key: &[Value],
    row: Option<(&[Value], Option<Timestamp>)>,
) {
    let (partition, clustering) = key.split_at(layout.table.partition_columns);
    rows.push(
        |out| key::put_partition(out, layout.id, tenant, partition),
        |out| key::put_clustering(out, layout.table, clustering),
        row.map(|(values, expires_at)| move |out: &mut Vec<u8>| row::put_row(out, layout, values, expires_at)),
    );
}

fn charge_read(partitions: usize, rows: usize, bytes: usize) {
    meter::charge(Cost {
        partitions_read: partitions as u64,
        rows_read: rows as u64,
        bytes_read: bytes as u64,
        round_trips: 1,
        ..Cost::default()
    });
}

/// What follows from shared rows is written beside them.
fn charge_derived(writes: &[Write]) {
    let rows = writes.iter().filter_map(|write| match write {
        Write::Put { indexes, .. } => Some(indexes),
        _ => None,
    });
    let rows: Vec<_> = rows.flatten().collect();
    let (partitions_written, rows_written) = (rows.len() as u64, rows.len() as u64);
    let bytes_written = rows.iter().flat_map(|row| &row.values).map(|value| value.bytes() as u64).sum();
    meter::charge(Cost { partitions_written, rows_written, bytes_written, ..Cost::default() });
}

/// With so many partitions that are guarded.
fn charge_write(writes: &[Write], guarded: usize) {
    meter::charge_with(|| Cost { conditional_writes: guarded as u64, round_trips: 1, ..Write::cost(writes) });
}

#[async_trait]
impl Engine for Embedded {
    fn name(&self) -> &'static str {
        "embedded"
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            atomicity: Atomicity::Everything,
            native_guards: true,
            native_indexes: false,
            keeps_shared: true,
            native_range_delete: true,
            in_order: true,
        }
    }

    fn committer(&self) -> Option<CommitterStats> {
        let queued = self.requests.as_ref().map_or(0, |requests| requests.max_capacity() - requests.capacity());
        let load = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        Some(CommitterStats {
            queued: queued as u64,
            groups: load(&self.written.groups),
            commits: load(&self.written.commits),
            largest_group: load(&self.written.largest_group),
            entries: load(&self.written.entries),
            bytes: load(&self.written.bytes),
        })
    }

    async fn get(&self, get: Get<'_>) -> Result<Vec<Option<RawRow>>> {
        let layout = self.layout(get.table)?;
        let view = self.view(&layout);
        let rows: Vec<_> = get.keys.iter().map(|key| view.get(get.tenant, key)).collect::<Result<_>>()?;
        let found = rows.iter().flatten();
        charge_read(get.keys.len(), found.clone().count(), found.map(RawRow::bytes).sum());
        Ok(rows)
    }

    async fn slice(&self, slice: Slice<'_>) -> Result<RawPage> {
        let layout = self.layout(slice.table)?;
        let view = self.view(&layout);
        let (page, bytes) = self.pages.page(&layout, &slice, || view.slice(&slice))?;
        charge_read(1, page.rows.len(), bytes);
        Ok(page)
    }

    async fn read_anchor(&self, read: ReadAnchor<'_>) -> Result<Anchor> {
        let layout = self.layout(read.table)?;
        let anchor = self.view(&layout).anchor(&read)?;
        let found = anchor.rows.iter().flatten();
        charge_read(1, found.clone().count(), found.map(RawRow::bytes).sum());
        Ok(anchor)
    }

    async fn apply(&self, step: &Step<'_>) -> Result<Applied> {
        let changes = self.changes(step.tenant, &step.writes)?;
        let guarded = step.guarded.iter().flat_map(|g| std::iter::once(g).chain(&g.beside));
        let mut parts = guarded.map(|g| self.guarded_part(step.tenant, g)).collect::<Result<Vec<_>>>()?;
        if let Some(first) = parts.first_mut() {
            first.founded = self.founded(step.tenant, &step.writes)?;
        }
        charge_write(&step.writes, parts.len());
        let (id, now, now_micros) = (step.id, step.now, step.timestamp);
        self.ask(id, |reply| Request::Commit { id, parts, changes, now, now_micros, reply }).await
    }

    /// In a few commits of many rows: a sync is dearer than all that goes into it.
    async fn write_each(&self, each: Each<'_>) -> Vec<Result<()>> {
        let base = match self.shared_base(&each) {
            Ok(base) => base,
            Err(error) => return vec![Err(error); each.writes.len()],
        };
        let mut done = Vec::with_capacity(each.writes.len());
        for some in each.writes.chunks(EACH_ROWS) {
            let written = match self.each(&each, base.as_ref(), some) {
                Ok(changes) => {
                    charge_write(some, 0);
                    charge_derived(some);
                    let (now, now_micros) = (each.now, each.timestamp);
                    // The committer knows pieces of one id apart by their first keys, and no row is in two.
                    let id = each.id;
                    let request = |reply| Request::Commit { id, parts: Vec::new(), changes, now, now_micros, reply };
                    self.ask(id, request).await.map(drop)
                }
                Err(error) => Err(error),
            };
            done.extend(some.iter().map(|_| written.clone()));
        }
        done
    }

    async fn replace_each(&self, each: Each<'_>, old: Vec<Vec<Value>>) -> Vec<Result<bool>> {
        let base = match self.shared_base(&each) {
            Ok(base) => base,
            Err(error) => return vec![Err(error); each.writes.len()],
        };
        let (each, base) = (&each, base.as_ref());
        let one = |(write, old): (&Write, Vec<Value>)| {
            let changes = self.each(each, base, std::slice::from_ref(write));
            charge_write(std::slice::from_ref(write), 1);
            charge_derived(std::slice::from_ref(write));
            async move {
                let mut changes = changes?;
                if let Some(Change::Replace(replace)) = changes.first_mut() {
                    replace.expect = Some(old);
                }
                let (id, now, now_micros) = (each.id, each.now, each.timestamp);
                let request = |reply| Request::Commit { id, parts: Vec::new(), changes, now, now_micros, reply };
                Ok(matches!(self.ask(id, request).await?, Applied::Done(_)))
            }
        };
        let writes: Vec<_> = each.writes.iter().zip(old).map(one).collect();
        stream::iter(writes).buffered(EACH_ROWS).collect().await
    }

    async fn apply_late(&self, late: Late<'_>) -> Result<()> {
        let changes = self.changes(late.tenant, late.writes)?;
        let founded = self.founded(late.tenant, late.writes)?;
        let (fence, entry) = match late.fence {
            Fence::Outbox { tenant, table, partition, id, bucket } => {
                let partition = key::partition_key(self.layout(table)?.id, tenant, partition);
                (head::key_of(&partition), Some((id, bucket)))
            }
            Fence::Pending { key } => {
                let id = self.layout(&PENDING)?.id;
                (key::row_key(&PENDING, id, &Tenant::system(), key), None)
            }
        };
        charge_write(late.writes, 0);
        let (id, version) = (entry.map_or_else(Uuid::nil, |(id, _)| id), late.timestamp);
        self.ask(id, |reply| Request::Late { fence, entry, changes, founded, version, reply }).await?;
        Ok(())
    }

    async fn close_outbox(&self, entry: Entry<'_>) -> Result<()> {
        let Entry { tenant, table, partition, id, .. } = entry;
        let partition = key::partition_key(self.layout(table)?.id, tenant, partition);
        let head = head::key_of(&partition).into();
        self.ask(id, |reply| Request::CloseOutbox { head, id, reply }).await?;
        Ok(())
    }

    async fn add(&self, tenant: &Tenant, adds: &[Add]) -> Result<()> {
        let encoded = adds.iter().map(|add| {
            let layout = self.layout(add.table)?;
            let (key, stripe) = row_key(&layout, tenant, &add.key);
            Ok(CounterAdd { layout, key, amounts: add.amounts.clone(), stripe })
        });
        let encoded = encoded.collect::<Result<_>>()?;
        meter::charge(Cost { rows_written: adds.len() as u64, round_trips: 1, ..Cost::default() });
        self.ask(Uuid::nil(), |reply| Request::Add { adds: encoded, reply }).await?;
        Ok(())
    }

    async fn split(&self, table: &'static Table, tenant: Option<&Tenant>, ranges: usize) -> Result<Vec<u8>> {
        let layout = self.layout(table)?;
        self.pack(table).await?;
        self.view(&layout).split(tenant, ranges)
    }

    async fn scan(&self, scan: Scan<'_>) -> Result<ScanPage> {
        let layout = self.layout(scan.table)?;
        if scan.after.is_none() {
            self.pack(scan.table).await?;
        }
        let page = self.view(&layout).scan(&scan)?;
        charge_read(1, page.rows.len(), page.rows.iter().map(|(_, row)| row.bytes()).sum());
        Ok(page)
    }

    async fn migrate(&self, schema: &Schema, create: bool) -> Result<SchemaReport> {
        let (report, tables) = schema::migrate(&self.db, &self.catalog, schema, create, &self.ahead.handle())?;
        if report.problems.is_empty() {
            *self.tables.write().unwrap_or_else(|e| e.into_inner()) = Arc::new(tables);
            // RACE: a page that is kept from now on by a read with an old layout matches nobody, having that layout.
            self.pages.clear();
        }
        Ok(report)
    }

    async fn reclaim(&self, now: Timestamp, limit: usize) -> Result<Reclaimed> {
        let tables = self.tables.read().unwrap_or_else(|e| e.into_inner()).clone();
        let mut entries = Vec::new();
        let mut rows = 0;
        for entry in self.expiry.range(..expiry::after(now)) {
            let (entry, packed) = entry.into_inner().map_err(engine_error)?;
            let found = expiry::rows(&entry, &packed).map_err(|e| Error::corrupt("the expiry index", e))?;
            rows += found.len();
            entries.push(Ended { entry, rows: found.into_iter().map(|key| Self::ended_row(&tables, key)).collect() });
            if rows >= limit {
                break;
            }
        }
        if entries.is_empty() {
            return Ok(Reclaimed::default());
        }
        let more = rows >= limit;
        match self.ask(Uuid::nil(), |reply| Request::Reclaim { entries, now, reply }).await? {
            Applied::Done(Version(rows)) => Ok(Reclaimed { rows: rows as usize, more }),
            _ => Ok(Reclaimed { rows: 0, more }),
        }
    }
}
