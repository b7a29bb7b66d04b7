//! The store: typed reads and commits for one tenant, over any engine.

mod erase;
mod expand;
mod joint;
mod plan;
mod read;
mod remember;
mod scan;
mod settle;
mod shared;
mod verify;
mod write;

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use tokio::sync::{Mutex, MutexGuard, RwLock};
use uuid::Uuid;

pub use self::{
    joint::{Joined, Joint, Opened},
    read::{Cursor, Page, SliceRequest, Statics},
    remember::{Memory, Remembered},
    scan::{Extent, Histogram, ScanCursor, ScanRows},
    verify::{Difference, DifferenceKind, VerifyOptions, VerifyReport},
    write::Partition,
};
use crate::{
    codec,
    engine::{Atomicity, Engine, Reclaimed, SchemaReport},
    error::{Error, Result},
    key::Tenant,
    limits,
    schema::{Schema, Table},
    stats::{DatabaseStats, Stats},
    time::{Clock, SystemClock, Timestamp},
    value::Value,
};

/// Locks for keys; two keys may share one, which only costs time.
const LOCKS: usize = 1024;

/// Expired rows that are reclaimed at once.
const RECLAIM_ROWS: usize = 1000;

/// The background work of a database; dropping it ends the work.
#[derive(Debug)]
#[must_use = "dropping it ends the work"]
pub struct Maintenance(tokio::task::JoinHandle<()>);

impl Drop for Maintenance {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// All tenants of one engine.
#[derive(Clone)]
pub struct Database {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) schema: Arc<Schema>,
    pub(crate) clock: Arc<dyn Clock>,
    ids: Arc<dyn Fn() -> Uuid + Send + Sync>,
    pub(crate) always_outbox: bool,
    last_timestamp: AtomicI64,
    /// The oldest bucket of the pending table that may hold something; the least number until the table was scanned.
    pub(crate) swept_to: AtomicI64,
    locks: Vec<Mutex<()>>,
    /// Who writes shared rows holds it with others, who mends what is derived from them holds it alone.
    pub(crate) shared: RwLock<()>,
    pub(crate) stats: Stats,
}

/// Where time and ids come from, and how commits are made.
#[derive(Clone)]
pub struct Options {
    pub clock: Arc<dyn Clock>,
    /// Ids of commits; seed it, and a run replays.
    pub ids: Arc<dyn Fn() -> Uuid + Send + Sync>,
    /// Use the outbox for every commit that writes outside its guarded partition, also where the engine needs none.
    pub always_outbox: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { clock: Arc::new(SystemClock), ids: Arc::new(Uuid::now_v7), always_outbox: false }
    }
}

impl Database {
    pub fn new(engine: impl Engine, schema: Schema) -> Self {
        Self::with_options(engine, schema, Options::default())
    }

    pub fn with_options(engine: impl Engine, schema: Schema, options: Options) -> Self {
        Database {
            inner: Arc::new(Inner {
                stats: Stats::new(&schema),
                engine: Arc::new(engine),
                schema: Arc::new(schema),
                clock: options.clock,
                ids: options.ids,
                always_outbox: options.always_outbox,
                last_timestamp: AtomicI64::new(i64::MIN),
                swept_to: AtomicI64::new(i64::MIN),
                locks: (0..LOCKS).map(|_| Mutex::new(())).collect(),
                shared: RwLock::new(()),
            }),
        }
    }

    /// The rows of one tenant.
    pub fn tenant(&self, name: &str) -> Result<Store> {
        Ok(Store { inner: self.inner.clone(), tenant: Tenant::new(name)? })
    }

    /// Creates what is missing; refuses, naming table and column, what would lose data.
    pub async fn migrate(&self) -> Result<SchemaReport> {
        let report = self.inner.engine.migrate(&self.inner.schema, true).await?;
        match report.problems.first() {
            Some(problem) => Err(problem.clone().into()),
            None => Ok(report),
        }
    }

    /// What differs between the engine's tables and the declarations.
    pub async fn compare(&self) -> Result<SchemaReport> {
        self.inner.engine.migrate(&self.inner.schema, false).await
    }

    pub fn schema(&self) -> &Schema {
        &self.inner.schema
    }

    /// What it has done since it was opened.
    pub fn stats(&self) -> DatabaseStats {
        self.inner.stats.show(self.inner.engine.committer())
    }

    pub fn engine(&self) -> &dyn Engine {
        &*self.inner.engine
    }

    /// Sweeps and reclaims in the background, until the answer is dropped. One in each process is enough.
    pub fn maintain(&self, every: Duration) -> Maintenance {
        let database = self.clone();
        Maintenance(tokio::spawn(async move {
            let mut clock = tokio::time::interval(every);
            clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            loop {
                clock.tick().await;
                if let Err(error) = database.sweep().await {
                    tracing::warn!(%error, "the sweep failed and will be tried again");
                }
                // Bounded pieces, so that writers get their turns.
                loop {
                    match database.reclaim(RECLAIM_ROWS).await {
                        Ok(reclaimed) if reclaimed.more => tokio::task::yield_now().await,
                        Ok(_) => break,
                        Err(error) => {
                            tracing::warn!(%error, "the space of expired rows is not reclaimed, and will be tried again");
                            break;
                        }
                    }
                }
            }
        }))
    }

    /// Reclaims the space of expired rows.
    pub async fn reclaim(&self, limit: usize) -> Result<Reclaimed> {
        self.inner.engine.reclaim(self.inner.clock.now(), limit).await
    }
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Database({})", self.inner.engine.name())
    }
}

impl Inner {
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn new_id(&self) -> Uuid {
        (self.ids)()
    }

    /// Microseconds for the order of writes: the clock's, but never the same twice and never backwards.
    pub(crate) fn timestamp(&self) -> i64 {
        let now = self.clock.now_micros();
        let last = self.last_timestamp.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |last| Some(now.max(last + 1)));
        now.max(last.unwrap_or_else(|last| last) + 1)
    }

    /// What is written from now on is later than this.
    pub(crate) fn not_before(&self, timestamp: i64) {
        self.last_timestamp.fetch_max(timestamp, Ordering::SeqCst);
    }

    /// Writers of one partition queue here, so that they do not fight on the engine.
    pub(crate) async fn lock(&self, tenant: &Tenant, table: &Table, partition: &[Value]) -> Result<MutexGuard<'_, ()>> {
        let mut bytes = tenant.as_str().as_bytes().to_vec();
        bytes.push(0);
        bytes.extend_from_slice(table.name.as_bytes());
        codec::put_values(&mut bytes, partition);
        let lock = self.locks[codec::fingerprint(&bytes) as usize % LOCKS].lock();
        let waited = tokio::time::timeout(limits::LOCK_TIME_MAX, lock).await;
        waited.map_err(|_| Error::Contended { table: table.name.clone(), tries: 0 })
    }

    /// A pause that grows with the tries, and differs between writers.
    pub(crate) async fn back_off(&self, tries: u32) {
        let chance = self.new_id().as_u128() as u64 % 1000;
        let millis = (1u64 << tries.min(7)) * (500 + chance) / 1000;
        tokio::time::sleep(std::time::Duration::from_millis(millis)).await;
    }

    pub(crate) fn known(&self, table: &Table) -> Result<()> {
        match self.schema.find(&table.name) {
            Some(_) => Ok(()),
            None => {
                Err(Error::invalid(&table.name, "the table is not in the schema that the database was opened with"))
            }
        }
    }
}

/// The rows of one tenant: what domain code works with.
#[derive(Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
    pub(crate) tenant: Tenant,
}

impl Store {
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    pub fn database(&self) -> Database {
        Database { inner: self.inner.clone() }
    }

    /// Whether readers see all of a commit from one instant on, whatever tables it writes. Elsewhere only its guarded partition
    /// is, and the rest comes row by row.
    pub fn shows_commits_whole(&self) -> bool {
        self.inner.engine.abilities().atomicity == Atomicity::Everything && !self.inner.always_outbox
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Store({}, {})", self.inner.engine.name(), self.tenant)
    }
}
