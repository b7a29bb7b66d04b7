//! Answers that are lost at the worst instants: what was told about a commit stays true. On the embedded engine, behind a
//! wrapper that does on purpose what a cluster does by chance.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use tokio::sync::Semaphore;
use widerow::{
    Commit, Database, Derive, Engine, Error, Options, Result, Row, Schema, Store, embedded::Embedded, engine::*,
    key::Tenant, limits::RING_SLOTS, store::VerifyOptions,
};

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "tallies", partition(id), guarded)]
struct Tally {
    id: i32,
    value: i64,
}

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "tallies_by_value", partition(value), clustering(id))]
struct TallyByValue {
    value: i64,
    id: i32,
}

impl Derive<TallyByValue> for Tally {
    fn derive(&self) -> Vec<TallyByValue> {
        vec![TallyByValue { value: self.value, id: self.id }]
    }
    fn source(derived: &TallyByValue) -> i32 {
        derived.id
    }
}

fn schema() -> Schema {
    Schema::new().table::<Tally>().table::<TallyByValue>().derived::<Tally, TallyByValue>()
}

/// What becomes of one guarded step.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// Applied, but its answer is lost after the test has done something.
    LostAfter,
    /// Its answer is lost, and it arrives only when the next one is sent.
    Delayed,
    /// Sent after the test has done something.
    Paused,
    /// Applied, and then the process dies.
    LastWords,
}

/// An engine with a fate for each of the first guarded steps.
struct Fated {
    inner: Arc<dyn Engine>,
    fates: Mutex<Vec<Fate>>,
    /// Set while a step is under way that nobody waits for.
    under_way: AtomicBool,
    dead: AtomicBool,
    /// Stop before the next linearizable read.
    pause_read: AtomicBool,
    /// The engine has come to where the test does something.
    reached: Semaphore,
    go: Semaphore,
}

impl Fated {
    fn new(inner: &Arc<dyn Engine>, fates: &[Fate]) -> Arc<Self> {
        Arc::new(Fated {
            inner: inner.clone(),
            fates: Mutex::new(fates.iter().rev().copied().collect()),
            under_way: AtomicBool::new(false),
            dead: AtomicBool::new(false),
            pause_read: AtomicBool::new(false),
            reached: Semaphore::new(0),
            go: Semaphore::new(0),
        })
    }

    async fn pause(&self) {
        self.reached.add_permits(1);
        self.go.acquire().await.expect("open").forget();
    }

    async fn wait(&self) {
        self.reached.acquire().await.expect("open").forget();
    }
}

#[async_trait]
impl Engine for Fated {
    fn name(&self) -> &'static str {
        self.inner.name()
    }
    fn abilities(&self) -> Abilities {
        self.inner.abilities()
    }
    async fn get(&self, get: Get<'_>) -> Result<Vec<Option<RawRow>>> {
        self.inner.get(get).await
    }
    async fn slice(&self, slice: Slice<'_>) -> Result<RawPage> {
        self.inner.slice(slice).await
    }
    async fn read_anchor(&self, read: ReadAnchor<'_>) -> Result<Anchor> {
        if self.pause_read.swap(false, Ordering::SeqCst) {
            self.pause().await;
        }
        self.inner.read_anchor(read).await
    }
    async fn apply(&self, step: &Step<'_>) -> Result<Applied> {
        if self.dead.load(Ordering::SeqCst) {
            return Err(Error::unavailable("dead"));
        }
        if step.guarded.is_none() {
            return self.inner.apply(step).await;
        }
        if self.under_way.swap(false, Ordering::SeqCst) {
            // The same step, sent twice: the first makes the second come too late.
            self.inner.apply(step).await?;
            return Ok(Applied::Moved);
        }
        let lost = Error::Indeterminate { id: step.id, detail: "lost".into() };
        let fate = self.fates.lock().expect("no panic").pop();
        match fate {
            None => self.inner.apply(step).await,
            Some(Fate::LostAfter) => {
                self.inner.apply(step).await?;
                self.pause().await;
                Err(lost)
            }
            Some(Fate::Delayed) => {
                self.under_way.store(true, Ordering::SeqCst);
                Err(lost)
            }
            Some(Fate::Paused) => {
                self.pause().await;
                self.inner.apply(step).await
            }
            Some(Fate::LastWords) => {
                let applied = self.inner.apply(step).await;
                self.dead.store(true, Ordering::SeqCst);
                applied
            }
        }
    }
    async fn apply_late(&self, late: Late<'_>) -> Result<()> {
        if self.dead.load(Ordering::SeqCst) {
            return Err(Error::unavailable("dead"));
        }
        self.inner.apply_late(late).await
    }
    async fn close_outbox(&self, entry: Entry<'_>) -> Result<()> {
        self.inner.close_outbox(entry).await
    }
    async fn add(&self, tenant: &Tenant, adds: &[Add]) -> Result<()> {
        self.inner.add(tenant, adds).await
    }
    async fn scan(&self, scan: Scan<'_>) -> Result<ScanPage> {
        self.inner.scan(scan).await
    }
    async fn migrate(&self, schema: &Schema, create: bool) -> Result<SchemaReport> {
        self.inner.migrate(schema, create).await
    }
}

struct World {
    engine: Arc<dyn Engine>,
    database: Database,
    store: Store,
    _folder: tempfile::TempDir,
}

/// Every handle uses the outbox, as all must on an engine that needs it.
fn open(engine: Arc<dyn Engine>) -> Database {
    Database::with_options(engine, schema(), Options { always_outbox: true, ..Options::default() })
}

async fn world() -> World {
    let folder = tempfile::tempdir().expect("a folder");
    let engine: Arc<dyn Engine> = Arc::new(Embedded::open(folder.path(), &schema()).expect("an engine"));
    let database = open(engine.clone());
    database.migrate().await.expect("tables");
    let store = database.tenant("default").expect("a good name");
    store.commit(Commit::new().put(&Tally { id: 1, value: 0 })).await.expect("a row");
    World { engine, database, store, _folder: folder }
}

async fn increment(store: &Store) -> Result<()> {
    let more = |old: Option<Tally>| Ok::<_, Error>(old.map(|t| Tally { value: t.value + 1, ..t }));
    store.update::<Tally, Error>(1, None, more).await.map(|_| ())
}

async fn value(world: &World) -> i64 {
    world.store.get::<Tally>(1).await.expect("a read").expect("it is there").value
}

/// The ring remembers so many commits. Where more have followed, that an id is not in it says nothing.
#[tokio::test]
async fn an_answer_is_lost_and_the_ring_has_gone_round() {
    for others in [RING_SLOTS - 1, RING_SLOTS, RING_SLOTS + 5] {
        let world = world().await;
        let fated = Fated::new(&world.engine, &[Fate::LostAfter]);
        let slow = open(fated.clone()).tenant("default").expect("a good name");
        let task = tokio::spawn(async move { increment(&slow).await });
        fated.wait().await;
        for _ in 0..others {
            increment(&world.store).await.expect("nobody is in the way");
        }
        fated.go.add_permits(1);
        let result = task.await.expect("no panic");
        assert_eq!(value(&world).await, others + 1, "it was made once; {result:?}");
        // While it is remembered, it is known.
        let remembered = others < RING_SLOTS;
        assert!(if remembered { result.is_ok() } else { matches!(result, Err(Error::Indeterminate { .. })) });
    }
}

/// A read of the partition settles what has begun, but not what has not even arrived.
#[tokio::test]
async fn an_answer_is_lost_and_the_step_arrives_with_its_second_try() {
    let world = world().await;
    let fated = Fated::new(&world.engine, &[Fate::Delayed]);
    let slow = open(fated.clone()).tenant("default").expect("a good name");
    increment(&slow).await.expect("the ring has it");
    assert_eq!(value(&world).await, 1, "it was made once");
}

/// The sweeper has read a commit's first try when the second is made: what it finishes must be the second.
#[tokio::test]
async fn a_commit_is_tried_again_while_it_is_swept() {
    let world = world().await;
    let writer = Fated::new(&world.engine, &[Fate::Paused, Fate::LastWords]);
    let slow = open(writer.clone()).tenant("default").expect("a good name");
    let task = tokio::spawn(async move { increment_by_commit(&slow).await });
    writer.wait().await;
    // Another is quicker, so that the first try will fail.
    increment(&world.store).await.expect("nobody is in the way");
    let reader = Fated::new(&world.engine, &[]);
    reader.pause_read.store(true, Ordering::SeqCst);
    let sweeper = open(reader.clone());
    let sweep = tokio::spawn(async move { sweeper.sweep_older_than(0).await });
    reader.wait().await;
    writer.go.add_permits(1);
    task.await.expect("no panic").expect("acknowledged: what is left is left to others");
    reader.go.add_permits(1);
    sweep.await.expect("no panic").expect("a sweep");
    world.database.sweep_older_than(0).await.expect("a sweep");
    assert_eq!(value(&world).await, 100);
    let report = world.database.verify(VerifyOptions::default()).await.expect("a verification");
    assert_eq!(report.differences, 0, "{:?}", report.listed);
    assert_eq!(world.database.sweep_older_than(0).await.expect("a sweep"), Default::default());
}

/// `commit` keeps its id from try to try, and so do the rows that it leaves in the outbox.
async fn increment_by_commit(store: &Store) -> Result<()> {
    store.commit(Commit::new().put(&Tally { id: 1, value: 100 })).await.map(|_| ())
}

/// Whatever becomes of the answer: what the commit founds is there once, and in the end for certain.
#[tokio::test]
async fn an_answer_is_lost_and_the_commit_founded_a_partition() {
    for fates in [&[Fate::LostAfter][..], &[Fate::Delayed], &[Fate::LastWords]] {
        for others in [0, RING_SLOTS + 5] {
            let world = world().await;
            let fated = Fated::new(&world.engine, fates);
            let slow = open(fated.clone()).tenant("default").expect("a good name");
            let commit = Commit::new().put(&Tally { id: 1, value: 1000 }).found(&Tally { id: 2, value: 7 });
            let task = tokio::spawn(async move { slow.commit(commit).await });
            if matches!(fates[0], Fate::LostAfter) {
                fated.wait().await;
                for _ in 0..others {
                    increment(&world.store).await.expect("nobody is in the way");
                }
                fated.go.add_permits(1);
            }
            let result = task.await.expect("no panic");
            let forgotten = matches!(fates[0], Fate::LostAfter) && others > 0;
            assert_eq!(forgotten, matches!(result, Err(Error::Indeterminate { .. })), "{result:?}");
            // Somebody goes on with it before and after the sweep; who finds nothing writes nothing.
            let more = |old: Option<Tally>| Ok::<_, Error>(old.map(|t| Tally { value: t.value + 1, ..t }));
            let before = world.store.update::<Tally, Error>(2, None, more).await.expect("an update");
            world.database.sweep_older_than(0).await.expect("a sweep");
            let after = world.store.update::<Tally, Error>(2, None, more).await.expect("an update");
            let value = 8 + i64::from(before.is_some());
            assert_eq!(after, Some(Tally { id: 2, value }));
            let listed = world.store.slice::<TallyByValue>(value).page().await.expect("a read").rows;
            assert_eq!(listed, [TallyByValue { value, id: 2 }]);
            let report = world.database.verify(VerifyOptions::default()).await.expect("a verification");
            assert_eq!(report.differences, 0, "{:?}", report.listed);
            assert_eq!(world.database.sweep_older_than(0).await.expect("a sweep"), Default::default());
        }
    }
}
