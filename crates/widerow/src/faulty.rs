//! An engine that fails on purpose, from a printed seed: it refuses, times out before or after applying, delays, or stops
//! between any two steps. For tests, here and in what is built on top.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use rand::{Rng, SeedableRng, rngs::SmallRng};
use tokio::sync::watch;

use crate::{
    engine::{
        Abilities, Add, Anchor, Applied, Each, Engine, Entry, Get, Late, RawPage, RawRow, ReadAnchor, Reclaimed, Scan,
        ScanPage, SchemaReport, Slice, Step,
    },
    error::{Error, Result},
    key::Tenant,
    schema::{Schema, Table},
    time::Timestamp,
    value::Value,
};

/// How often what goes wrong, from 0 to 1.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    pub seed: u64,
    /// Refused, nothing applied.
    pub refuse: f64,
    /// No answer, nothing applied.
    pub time_out_before: f64,
    /// No answer, but applied.
    pub time_out_after: f64,
    /// No answer, and applied a few milliseconds later, as from a coordinator that was asleep. Guarded steps with an
    /// expected version only: an engine applies those whenever they come, or never.
    pub apply_late: f64,
    /// Late by up to a few milliseconds.
    pub delay: f64,
    /// After so many steps the engine answers nothing any more, as if its process had died.
    pub stop_after_steps: Option<u64>,
}

/// An engine with faults.
#[derive(Debug)]
pub struct Faulty<E> {
    inner: Arc<E>,
    faults: Faults,
    chance: Mutex<SmallRng>,
    steps: AtomicU64,
    stopped: AtomicBool,
    /// Steps that were answered by silence and are still to be applied.
    late: watch::Sender<u64>,
}

enum Fault {
    None,
    TimeOutBefore,
    TimeOutAfter,
    ApplyLate,
}

impl<E: Engine> Faulty<E> {
    /// Prints the seed, so that a failure can be replayed.
    pub fn new(inner: E, faults: Faults) -> Self {
        if faults.refuse + faults.time_out_before + faults.time_out_after + faults.apply_late + faults.delay > 0.0 {
            eprintln!("faulty engine: seed {}", faults.seed);
        }
        Faulty {
            inner: Arc::new(inner),
            faults,
            chance: Mutex::new(SmallRng::seed_from_u64(faults.seed)),
            steps: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            late: watch::Sender::new(0),
        }
    }

    /// Waits until every step that was to be applied late has been, or was refused.
    pub async fn all_applied(&self) {
        // It ends only with this engine, which is borrowed.
        let _ = self.late.subscribe().wait_for(|late| *late == 0).await;
    }

    /// Steps that were taken so far.
    pub fn steps(&self) -> u64 {
        self.steps.load(Ordering::SeqCst)
    }

    pub fn has_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Before each step: whether it may be taken, and how it will end.
    async fn step(&self) -> Result<Fault> {
        let stopped = || Error::unavailable("the engine was stopped on purpose");
        if self.has_stopped() {
            return Err(stopped());
        }
        let taken = self.steps.fetch_add(1, Ordering::SeqCst);
        if self.faults.stop_after_steps.is_some_and(|most| taken >= most) {
            self.stopped.store(true, Ordering::SeqCst);
            return Err(stopped());
        }
        let (delay, late, what) = {
            let mut chance = self.chance.lock().unwrap_or_else(|e| e.into_inner());
            (chance.random_bool(self.faults.delay), chance.random_range(0..5), chance.random::<f64>())
        };
        if delay {
            tokio::time::sleep(Duration::from_millis(late)).await;
        }
        let f = &self.faults;
        if what < f.refuse {
            Err(Error::unavailable("refused on purpose"))
        } else if what < f.refuse + f.time_out_before {
            Ok(Fault::TimeOutBefore)
        } else if what < f.refuse + f.time_out_before + f.time_out_after {
            Ok(Fault::TimeOutAfter)
        } else if what < f.refuse + f.time_out_before + f.time_out_after + f.apply_late {
            Ok(Fault::ApplyLate)
        } else {
            Ok(Fault::None)
        }
    }

    fn no_answer() -> Error {
        Error::TimedOut { after: Duration::ZERO, detail: "no answer, on purpose".into() }
    }

    /// A call that may be made, not made, or made without telling.
    async fn call<T>(&self, made: impl Future<Output = Result<T>>, silence: impl Fn() -> Error) -> Result<T> {
        match self.step().await? {
            Fault::None => made.await,
            Fault::TimeOutBefore | Fault::ApplyLate => Err(silence()),
            Fault::TimeOutAfter => {
                made.await?;
                Err(silence())
            }
        }
    }
}

#[async_trait]
impl<E: Engine> Engine for Faulty<E> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn abilities(&self) -> Abilities {
        self.inner.abilities()
    }

    fn committer(&self) -> Option<crate::engine::CommitterStats> {
        self.inner.committer()
    }

    async fn get(&self, get: Get<'_>) -> Result<Vec<Option<RawRow>>> {
        self.call(self.inner.get(get), Self::no_answer).await
    }

    async fn slice(&self, slice: Slice<'_>) -> Result<RawPage> {
        self.call(self.inner.slice(slice), Self::no_answer).await
    }

    async fn read_anchor(&self, read: ReadAnchor<'_>) -> Result<Anchor> {
        self.call(self.inner.read_anchor(read), Self::no_answer).await
    }

    async fn apply(&self, step: &Step<'_>) -> Result<Applied> {
        let id = step.id;
        if self.faults.apply_late > 0.0 && step.expects() {
            let silence = || Err(Error::Indeterminate { id, detail: "no answer, on purpose".into() });
            return match self.step().await? {
                Fault::None => self.inner.apply(step).await,
                Fault::TimeOutBefore => silence(),
                Fault::TimeOutAfter => {
                    self.inner.apply(step).await?;
                    silence()
                }
                Fault::ApplyLate => {
                    let late = {
                        let mut chance = self.chance.lock().unwrap_or_else(|e| e.into_inner());
                        Duration::from_millis(chance.random_range(0..20))
                    };
                    let (inner, tenant) = (self.inner.clone(), step.tenant.clone());
                    let (guarded, writes) = (step.guarded.clone(), step.writes.clone());
                    let (now, timestamp) = (step.now, step.timestamp);
                    let waiting = self.late.clone();
                    waiting.send_modify(|late| *late += 1);
                    tokio::spawn(async move {
                        tokio::time::sleep(late).await;
                        let late = Step { id, tenant: &tenant, guarded, writes, now, timestamp };
                        let _ = inner.apply(&late).await;
                        waiting.send_modify(|late| *late -= 1);
                    });
                    silence()
                }
            };
        }
        self.call(self.inner.apply(step), || Error::Indeterminate { id, detail: "no answer, on purpose".into() }).await
    }

    /// One step for all of them: what goes wrong is the same for each.
    async fn write_each(&self, each: Each<'_>) -> Vec<Result<()>> {
        let writes = each.writes.len();
        let made = async { Ok(self.inner.write_each(each).await) };
        self.call(made, Self::no_answer).await.unwrap_or_else(|error| vec![Err(error); writes])
    }

    async fn replace_each(&self, each: Each<'_>, old: Vec<Vec<Value>>) -> Vec<Result<bool>> {
        let writes = each.writes.len();
        let made = async { Ok(self.inner.replace_each(each, old).await) };
        self.call(made, Self::no_answer).await.unwrap_or_else(|error| vec![Err(error); writes])
    }

    /// Each write is a step of its own: on some engines they are.
    async fn apply_late(&self, late: Late<'_>) -> Result<()> {
        for write in late.writes {
            let one = Late { writes: std::slice::from_ref(write), ..late.clone() };
            let made = self.inner.apply_late(one);
            self.call(made, Self::no_answer).await?;
        }
        Ok(())
    }

    async fn close_outbox(&self, entry: Entry<'_>) -> Result<()> {
        self.call(self.inner.close_outbox(entry), Self::no_answer).await
    }

    async fn add(&self, tenant: &Tenant, adds: &[Add]) -> Result<()> {
        self.call(self.inner.add(tenant, adds), Self::no_answer).await
    }

    async fn split(&self, table: &'static Table, tenant: Option<&Tenant>, ranges: usize) -> Result<Vec<u8>> {
        self.call(self.inner.split(table, tenant, ranges), Self::no_answer).await
    }

    async fn scan(&self, scan: Scan<'_>) -> Result<ScanPage> {
        self.call(self.inner.scan(scan), Self::no_answer).await
    }

    async fn migrate(&self, schema: &Schema, create: bool) -> Result<SchemaReport> {
        self.inner.migrate(schema, create).await
    }

    async fn server_time(&self) -> Result<Option<Timestamp>> {
        self.call(self.inner.server_time(), Self::no_answer).await
    }

    async fn reclaim(&self, now: Timestamp, limit: usize) -> Result<Reclaimed> {
        self.call(self.inner.reclaim(now, limit), Self::no_answer).await
    }
}
