//! The outbox: stopped between every two steps, then finished by the sweeper, by the next writer, or dropped.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use uuid::Uuid;
use widerow::{
    Commit, Database, Engine, Error, Operator, Options, Store,
    faulty::{Faults, Faulty},
    store::VerifyOptions,
    time::Clock,
};

use crate::{
    cases,
    commits::article,
    tables::{Article, ArticleByStatus, ArticleByWord, ByInt, Status},
    world::{Target, World, Worlds},
};

cases!(
    stopped_between_any_two_steps_then_swept,
    stopped_between_any_two_steps_then_the_next_writer,
    stopped_without_a_guard_then_swept,
    a_sleeping_writer_cannot_wake_to_a_dropped_commit,
    later_writes_of_many_pieces,
    a_bad_pending_row_stops_nobody,
    maintenance_sweeps_by_itself,
);

/// A process that stops after so many steps.
pub fn dying(world: &World, steps: u64) -> (Store, Arc<Faulty<Arc<dyn Engine>>>) {
    let faults = Faults { stop_after_steps: Some(steps), ..Faults::default() };
    let faulty = Arc::new(Faulty::new(world.engine.clone(), faults));
    let options = Options { clock: world.clock.clone() as Arc<dyn Clock>, always_outbox: true, ..Options::default() };
    let database = Database::with_options(faulty.clone(), crate::tables::schema(), options);
    (database.tenant(world.store.tenant().as_str()).unwrap(), faulty)
}

/// A change that moves derived rows, and one plain row elsewhere that tells whether the commit was made.
fn change(from: &Article, to: &Article) -> Commit {
    let told = ByInt { owner: format!("told {}", to.id), value: to.count as i32, note: 1 };
    Commit::new().when(from.id, Article::COUNT, Operator::Equal, &from.count).put(to).put(&told)
}

/// The base row is as before or as after, and everything else agrees with it.
async fn whole(world: &World, store: &Store, before: &Article, after: &Article) -> bool {
    let now = store.get::<Article>(before.id).await.unwrap().expect("it was there");
    let made = now == *after;
    assert!(made || now == *before, "{now:?}");
    let found: Vec<ArticleByStatus> = all_by_status(store).await;
    let expected: Vec<ArticleByStatus> = widerow::Derive::derive(&now);
    assert_eq!(found, expected);
    for word in ["brass", "lamp", "bowl"] {
        let rows = store.slice::<ArticleByWord>((word.into(), (now.id % 4) as i32)).page().await.unwrap().rows;
        assert_eq!(rows.len(), usize::from(now.name.contains(word)), "{word}");
    }
    let told = store.get::<ByInt>((format!("told {}", now.id), after.count as i32)).await.unwrap();
    assert_eq!(told.is_some(), made);
    let report = world.database.verify(VerifyOptions::default()).await.unwrap();
    assert_eq!(report.differences, 0, "{:?}", report.listed);
    made
}

async fn all_by_status(store: &Store) -> Vec<ArticleByStatus> {
    let mut rows = Vec::new();
    for status in [Status::Draft, Status::OnSale, Status::Archived] {
        rows.extend(store.slice::<ArticleByStatus>(status).page().await.unwrap().rows);
    }
    rows
}

async fn stopped_between_any_two_steps_then_swept(target: &Target) {
    let world = target.empty_world();
    let (mut made, mut lost) = (0, 0);
    for steps in 0.. {
        let store = world.database.tenant(&format!("sweep{steps}")).unwrap();
        let world = World { store: store.clone(), ..target.world_like(&world) };
        let (before, after) = prepare(&store, steps as i64).await;
        let (doomed, faulty) = dying(&world, steps);
        let result = doomed.commit(change(&before, &after)).await;
        world.clock.advance_millis(120_000);
        let swept = world.database.sweep().await.unwrap();
        let was_made = whole(&world, &store, &before, &after).await;
        if was_made {
            made += 1
        } else {
            lost += 1
        }
        // An acknowledged commit is there; a commit that failed for certain is not.
        match &result {
            Ok(_) => assert!(was_made),
            Err(Error::Unavailable { .. }) if swept.finished == 0 && swept.dropped == 0 => assert!(!was_made),
            Err(_) => {}
        }
        assert_eq!(world.database.sweep().await.unwrap(), Default::default(), "nothing is left");
        if !faulty.has_stopped() {
            assert!(result.is_ok());
            break;
        }
    }
    assert!(made > 3 && lost > 2, "{made} made, {lost} lost: the commit has fewer steps than it should");
}

async fn prepare(store: &Store, id: i64) -> (Article, Article) {
    let before = article(id);
    let after = Article { count: 1, price: 77, status: Status::Archived, name: "brass bowl".into(), ..before.clone() };
    store.commit(Commit::new().put(&before)).await.unwrap();
    (before, after)
}

async fn stopped_between_any_two_steps_then_the_next_writer(target: &Target) {
    let world = target.empty_world();
    for steps in 0.. {
        let store = world.database.tenant(&format!("next{steps}")).unwrap();
        let world = World { store: store.clone(), ..target.world_like(&world) };
        let (before, after) = prepare(&store, steps as i64).await;
        let (doomed, faulty) = dying(&world, steps);
        let _ = doomed.commit(change(&before, &after)).await;
        // The next writer, at once, before any sweep: it finishes what it finds, and its own commit comes on top.
        let next = |old: Option<Article>| Ok::<_, Error>(old.map(|a| Article { price: 5, ..a }));
        let now = store.update(before.id, None, next).await.unwrap().expect("it is there");
        let (then, later) = (Article { price: 5, ..before.clone() }, Article { price: 5, ..after.clone() });
        assert!(now == then || now == later);
        whole(&world, &store, &then, &later).await;
        // The sweep afterwards finds old pending rows at most, and must not bring anything back.
        world.clock.advance_millis(120_000);
        world.database.sweep().await.unwrap();
        whole(&world, &store, &then, &later).await;
        if !faulty.has_stopped() {
            break;
        }
    }
}

async fn stopped_without_a_guard_then_swept(target: &Target) {
    let world = target.empty_world();
    let rows = |n: i32| (0..n).map(|i| ByInt { owner: format!("o{i}"), value: i, note: i });
    for steps in 0.. {
        let store = world.database.tenant(&format!("plain{steps}")).unwrap();
        let world = World { store: store.clone(), ..target.world_like(&world) };
        let (doomed, faulty) = dying(&world, steps);
        let result = doomed.commit(rows(4).fold(Commit::new(), |c, row| c.put(&row))).await;
        world.clock.advance_millis(120_000);
        world.database.sweep().await.unwrap();
        let found = store.get_many::<ByInt>((0..4).map(|i| (format!("o{i}"), i))).await.unwrap();
        let there = found.iter().flatten().count();
        assert!(there == 0 || there == 4, "{there} of 4 rows after {steps} steps");
        assert!(there == 4 || result.is_err());
        if !faulty.has_stopped() {
            break;
        }
    }
}

/// A writer that stored its later writes and fell asleep: the sweeper gives up on it, and when it wakes it must not be able
/// to commit, for its later writes are gone.
async fn a_sleeping_writer_cannot_wake_to_a_dropped_commit(target: &Target) {
    for dies in [false, true] {
        let world = target.empty_world();
        let store = &world.store;
        let (before, after) = prepare(store, 1).await;
        let engine = Arc::new(Sleepy {
            inner: world.engine.clone(),
            asleep: tokio::sync::Semaphore::new(0),
            stored: tokio::sync::Notify::new(),
            dies,
            dead: AtomicBool::new(false),
        });
        let options =
            Options { clock: world.clock.clone() as Arc<dyn Clock>, always_outbox: true, ..Options::default() };
        let database = Database::with_options(engine.clone(), crate::tables::schema(), options);
        let sleeper = database.tenant(store.tenant().as_str()).unwrap();
        let commit = change(&before, &after);
        let task = tokio::spawn(async move { sleeper.commit(commit).await });
        engine.stored.notified().await;
        world.clock.advance_millis(120_000);
        let swept = world.database.sweep().await.unwrap();
        assert_eq!(swept.dropped, 1);
        engine.asleep.add_permits(1000);
        let result = task.await.unwrap();
        // It sees that the partition has moved, and does it all again; or dies right after the step, which was in vain.
        assert_eq!(result.is_ok(), !dies, "{result:?}");
        world.clock.advance_millis(120_000);
        world.database.sweep().await.unwrap();
        assert_eq!(whole(&world, store, &before, &after).await, !dies);
    }
}

/// More than one row of the pending table can hold.
async fn later_writes_of_many_pieces(target: &Target) {
    let world = target.empty_world();
    let store = target.world_on(world.engine.clone(), true).store;
    let filler = |i: i32| crate::rows::empty(Uuid::from_u128(i as u128), i);
    let rows = || (0..12).map(|i| widerow_words(filler(i), 60_000));
    let commit = rows().fold(Commit::new().put(&article(1)), |c, row| c.put(&row));
    store.commit(commit).await.unwrap();
    store.commit(rows().fold(Commit::new(), |c, row| c.put(&row))).await.unwrap();
    for row in rows() {
        let key = (row.id, row.position);
        assert_eq!(store.get::<crate::tables::Everything>(key).await.unwrap(), Some(row));
    }
    world.clock.advance_millis(120_000);
    assert_eq!(world.database.sweep().await.unwrap(), Default::default());
}

fn widerow_words(row: crate::tables::Everything, bytes: usize) -> crate::tables::Everything {
    crate::tables::Everything { words: Some("w".repeat(bytes)), ..row }
}

/// A row that nothing can be made of, such as a later version's, is told and left; the others are dealt with.
async fn a_bad_pending_row_stops_nobody(target: &Target) {
    use widerow::{
        engine::{Step, Write},
        outbox::PENDING,
        value::Value,
    };
    let world = target.empty_world();
    let (before, after) = prepare(&world.store, 1).await;
    let (doomed, _) = dying(&world, 3);
    let _ = doomed.commit(change(&before, &after)).await;
    let bucket = world.clock_now().millis() / 60_000;
    let values = vec![Value::BigInt(bucket), Value::Uuid(Uuid::nil()), Value::Int(0), Value::Blob(vec![250, 1, 2])];
    let step = Step {
        id: Uuid::now_v7(),
        tenant: &widerow::key::Tenant::system(),
        guarded: None,
        writes: vec![Write::Put { table: &PENDING, values: values.into(), expires_at: None, indexes: vec![] }],
        now: world.clock_now(),
        timestamp: world.clock_now().millis() * 1000,
    };
    world.engine.apply(&step).await.unwrap();
    world.clock.advance_millis(120_000);
    for _ in 0..2 {
        let swept = world.database.sweep().await.unwrap();
        assert_eq!(swept.failed, 1, "{swept:?}");
    }
    whole(&world, &world.store, &before, &after).await;
}

async fn maintenance_sweeps_by_itself(target: &Target) {
    let world = target.empty_world();
    let (before, after) = prepare(&world.store, 1).await;
    let (doomed, _) = dying(&world, 4);
    let _ = doomed.commit(change(&before, &after)).await;
    world.clock.advance_millis(120_000);
    let maintenance = world.database.maintain(std::time::Duration::from_millis(50));
    let mut seen = false;
    for _ in 0..1_200 {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        seen = world.store.get::<ByInt>(("told 1".into(), 1)).await.unwrap().is_some();
        if seen {
            break;
        }
    }
    assert!(seen, "nobody has swept");
    // Ended in the middle of its work, it leaves the rest to the next.
    drop(maintenance);
    world.database.sweep().await.unwrap();
    assert!(whole(&world, &world.store, &before, &after).await);
}

/// Falls asleep before each guarded step, and may die after the first.
struct Sleepy {
    inner: Arc<dyn Engine>,
    asleep: tokio::sync::Semaphore,
    stored: tokio::sync::Notify,
    dies: bool,
    dead: AtomicBool,
}

impl Sleepy {
    fn alive(&self) -> widerow::Result<&Arc<dyn Engine>> {
        if self.dead.load(Ordering::SeqCst) { Err(Error::unavailable("dead")) } else { Ok(&self.inner) }
    }
}

mod sleepy {
    use async_trait::async_trait;
    use widerow::{Result, Schema, engine::*, key::Tenant, schema::Table};

    #[async_trait]
    impl Engine for super::Sleepy {
        fn name(&self) -> &'static str {
            self.inner.name()
        }
        fn abilities(&self) -> Abilities {
            self.inner.abilities()
        }
        async fn get(&self, get: Get<'_>) -> Result<Vec<Option<RawRow>>> {
            self.alive()?.get(get).await
        }
        async fn slice(&self, slice: Slice<'_>) -> Result<RawPage> {
            self.alive()?.slice(slice).await
        }
        async fn read_anchor(&self, read: ReadAnchor<'_>) -> Result<Anchor> {
            self.alive()?.read_anchor(read).await
        }
        async fn apply(&self, step: &Step<'_>) -> Result<Applied> {
            if step.guarded.is_some() {
                self.stored.notify_one();
                self.asleep.acquire().await.expect("open").forget();
            }
            let applied = self.alive()?.apply(step).await;
            self.dead.store(self.dies && step.guarded.is_some(), std::sync::atomic::Ordering::SeqCst);
            applied
        }
        async fn apply_late(&self, late: Late<'_>) -> Result<()> {
            self.alive()?.apply_late(late).await
        }
        async fn close_outbox(&self, entry: Entry<'_>) -> Result<()> {
            self.alive()?.close_outbox(entry).await
        }
        async fn add(&self, tenant: &Tenant, adds: &[Add]) -> Result<()> {
            self.inner.add(tenant, adds).await
        }
        async fn split(&self, table: &'static Table, tenant: Option<&Tenant>, ranges: usize) -> Result<Vec<u8>> {
            self.inner.split(table, tenant, ranges).await
        }
        async fn scan(&self, scan: Scan<'_>) -> Result<ScanPage> {
            self.alive()?.scan(scan).await
        }
        async fn migrate(&self, schema: &Schema, create: bool) -> Result<SchemaReport> {
            self.inner.migrate(schema, create).await
        }
    }
}
