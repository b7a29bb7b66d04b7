//! The proof that ships with the product, and the proof that it can fail.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use merkato::{
    chaos::{self, Options, Report},
    context::SystemChance,
};
use tokio::sync::oneshot;
use widerow::{
    Database, Engine, Store,
    engine::{
        Abilities, Add, Anchor, Applied, Entry, Get, Late, RawPage, RawRow, ReadAnchor, Reclaimed, Scan, ScanPage,
        SchemaReport, Slice, Step,
    },
    faulty::{Faults, Faulty},
    key::Tenant,
    schema::{Schema, Table},
    time::{SystemClock, Timestamp},
};
use widerow_testing::{Target, cases};

use crate::world::{schema, seed};

cases![
    hundreds_of_shoppers_and_few_units_leave_the_books_right,
    stopped_processes_and_lost_answers_leave_the_books_right,
    without_the_guard_the_proof_fails,
];

/// Two processes on one engine.
fn processes(engine: Arc<dyn Engine>) -> Vec<Store> {
    let tenant = widerow_testing::unique();
    let process = |_| Database::new(engine.clone(), schema()).tenant(&tenant).expect("a good name");
    (0..2).map(process).collect()
}

async fn run(stores: &[Store], options: &Options) -> Report {
    chaos::inventory(stores, Arc::new(SystemClock), Arc::new(SystemChance), options, |_| {}).await.expect("a report")
}

async fn hundreds_of_shoppers_and_few_units_leave_the_books_right(target: &Target) {
    let options = Options { shoppers: 200, units: 50, faults: None, at_once: 64 };
    let report = run(&processes(target.engine()), &options).await;
    assert!(report.passed(), "{report:#?}");
    assert_eq!(report.sold, 50, "{report:#?}");
    assert!(report.refused >= 100, "{report:#?}");
}

async fn stopped_processes_and_lost_answers_leave_the_books_right(target: &Target) {
    let seed = seed();
    let faults = Faults { seed, time_out_before: 0.003, time_out_after: 0.003, ..Faults::default() };
    let engine = Arc::new(Faulty::new(target.engine(), faults));
    let options = Options { shoppers: 120, units: 60, faults: Some(seed), at_once: 32 };
    let report = run(&processes(engine), &options).await;
    assert!(report.passed(), "{report:#?}");
    assert!(report.stopped > 0 && report.retried > 0, "{report:#?}");
}

/// An engine that writes whatever it is told, whoever wrote before.
struct Unguarded {
    engine: Arc<dyn Engine>,
    /// Who has read a partition of stock, and waits for another who reads the same before either decides.
    waiting: Mutex<HashMap<String, oneshot::Sender<()>>>,
}

impl Unguarded {
    fn new(engine: Arc<dyn Engine>) -> Self {
        Self { engine, waiting: Mutex::default() }
    }

    /// Two processes seldom decide on the same stock at the same instant by themselves: here they wait for each other a while.
    async fn meet(&self, partition: String) {
        let meeting = {
            let mut waiting = self.waiting.lock().expect("nobody panics here");
            if waiting.remove(&partition).is_some_and(|other| other.send(()).is_ok()) {
                return;
            }
            let (sender, meeting) = oneshot::channel();
            waiting.insert(partition, sender);
            meeting
        };
        let _ = tokio::time::timeout(Duration::from_millis(300), meeting).await;
    }
}

#[async_trait]
impl Engine for Unguarded {
    fn name(&self) -> &'static str {
        self.engine.name()
    }
    fn abilities(&self) -> Abilities {
        self.engine.abilities()
    }
    async fn get(&self, get: Get<'_>) -> widerow::Result<Vec<Option<RawRow>>> {
        self.engine.get(get).await
    }
    async fn slice(&self, slice: Slice<'_>) -> widerow::Result<RawPage> {
        self.engine.slice(slice).await
    }
    async fn read_anchor(&self, read: ReadAnchor<'_>) -> widerow::Result<Anchor> {
        let stock = (read.table.name == "inventory").then(|| format!("{:?}", read.partition));
        let anchor = self.engine.read_anchor(read).await?;
        if let Some(partition) = stock {
            self.meet(partition).await;
        }
        Ok(anchor)
    }
    /// The version is not the one that was read, but the one that is there.
    async fn apply(&self, step: &Step<'_>) -> widerow::Result<Applied> {
        let mut blind = Step { tenant: step.tenant, ..step.clone() };
        // Bounded, as it may be another partition that has moved.
        for _ in 0..100 {
            let Some(first) = &mut blind.guarded else { return self.engine.apply(step).await };
            // Those that are committed beside the first one, too.
            let mut beside = std::mem::take(&mut first.beside);
            let mut blinded = false;
            for guarded in std::iter::once(&mut *first).chain(&mut beside) {
                let Some(expect) = guarded.expect.as_mut().filter(|_| guarded.table.name == "inventory") else {
                    continue;
                };
                let rows = widerow::engine::AnchorRows::Keys(&[]);
                let (table, partition) = (guarded.table, &guarded.partition);
                let read = ReadAnchor { tenant: step.tenant, table, partition, rows, ring: false };
                let anchor = self.engine.read_anchor(read).await?;
                expect.version = anchor.version;
                expect.sequence = anchor.sequence;
                expect.after = None;
                expect.next = expect.next.max(widerow::Version(anchor.version.map_or(0, |v| v.0 + 1)));
                guarded.guards.clear();
                blinded = true;
            }
            first.beside = beside;
            if !blinded {
                return self.engine.apply(step).await;
            }
            match self.engine.apply(&blind).await? {
                Applied::Moved => {}
                done => return Ok(done),
            }
        }
        Ok(Applied::Moved)
    }
    async fn apply_late(&self, late: Late<'_>) -> widerow::Result<()> {
        self.engine.apply_late(late).await
    }
    async fn close_outbox(&self, entry: Entry<'_>) -> widerow::Result<()> {
        self.engine.close_outbox(entry).await
    }
    async fn add(&self, tenant: &Tenant, adds: &[Add]) -> widerow::Result<()> {
        self.engine.add(tenant, adds).await
    }
    async fn split(&self, table: &'static Table, tenant: Option<&Tenant>, ranges: usize) -> widerow::Result<Vec<u8>> {
        self.engine.split(table, tenant, ranges).await
    }
    async fn scan(&self, scan: Scan<'_>) -> widerow::Result<ScanPage> {
        self.engine.scan(scan).await
    }
    async fn migrate(&self, schema: &Schema, create: bool) -> widerow::Result<SchemaReport> {
        self.engine.migrate(schema, create).await
    }
    async fn reclaim(&self, now: Timestamp, limit: usize) -> widerow::Result<Reclaimed> {
        self.engine.reclaim(now, limit).await
    }
}

async fn without_the_guard_the_proof_fails(target: &Target) {
    // Chance still decides who meets whom: it is tried a few times.
    for attempt in 1..=5 {
        let options = Options { shoppers: 200, units: 50, faults: None, at_once: 64 };
        let report = run(&processes(Arc::new(Unguarded::new(target.engine()))), &options).await;
        if !report.passed() {
            let failed: Vec<_> = report.verdicts.iter().filter(|verdict| !verdict.holds).collect();
            println!("without the guard, attempt {attempt}: {failed:?}");
            return;
        }
    }
    panic!("nothing was sold twice without the guard: the proof proves nothing");
}
