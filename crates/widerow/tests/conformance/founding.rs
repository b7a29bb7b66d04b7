//! Commits that found partitions beside their own: an order out of a basket.

use std::sync::{Arc, Mutex};

use uuid::Uuid;
use widerow::{
    Commit, Database, Derive, Engine, Error, Options, Store, Version,
    faulty::{Faults, Faulty},
    limits, meter,
    store::VerifyOptions,
    time::Clock,
};

use crate::{
    cases,
    commits::article,
    outbox::dying,
    slices::line,
    tables::{Article, ArticleByShelf, ArticleByStatus, ByInt, Line, Order, OrderByBuyer, Status},
    world::{Target, World, Worlds},
};

cases!(
    founded_partitions_come_with_their_commit,
    a_founded_partition_goes_on_as_any_other,
    rows_and_statics_of_several_partitions,
    of_many_who_empty_a_basket_one_founds_an_order,
    stopped_between_any_two_steps_then_swept,
    stopped_between_any_two_steps_then_the_next_writer_on_the_founded_partition,
    made_again_and_again_later_writes_change_nothing,
    lost_answers_found_no_second_order,
    what_makes_no_sense_is_refused,
    a_partition_that_is_not_new_stays_as_it_is,
);

fn order(id: Uuid, line: i32) -> Order {
    let words = vec!["brass".into(), "lamp".into(), "brass".into()];
    Order { id, line, state: None, buyer: "ann".into(), price: 10 + i64::from(line), words }
}

fn first_line() -> Line {
    Line { subtotal: Some(100), ..line("basket", 1, "one") }
}

async fn fill(store: &Store) {
    store.commit(Commit::new().put(&first_line())).await.unwrap();
}

/// A table without clustering columns, and with an index on DynamoDB.
fn lamp(id: Uuid) -> Article {
    Article { id: (id.as_u128() as i64) & i64::MAX, name: "lamp".into(), shelf: Some(id.to_string()), ..article(0) }
}

/// Empties the basket and founds an order of two lines, and an article, if the basket is as it was filled.
fn place(id: Uuid) -> Commit {
    let rows = [Order { state: Some("placed".into()), ..order(id, 1) }, order(id, 2)];
    let told = ByInt { owner: format!("told {id}"), value: 1, note: 1 };
    let commit = Commit::with_id(Uuid::from_u128(!id.as_u128())).present::<Line>(("basket".into(), 1, "one".into()));
    let commit = commit.delete_partition::<Line>("basket".into()).put(&told);
    rows.iter().fold(commit, |commit, row| commit.found(row)).found(&lamp(id))
}

async fn lines_of(store: &Store, id: Uuid) -> (Vec<Order>, Option<String>) {
    let page = store.slice::<Order>(id).page().await.unwrap();
    let state = page.statics.get(Order::STATE).unwrap().flatten();
    (page.rows.into_iter().map(|row| Order { state: None, ..row }).collect(), state)
}

async fn of_buyer(store: &Store) -> Vec<OrderByBuyer> {
    store.slice::<OrderByBuyer>("ann".into()).page().await.unwrap().rows
}

async fn nothing_drifted(world: &World) {
    let report = world.database.verify(VerifyOptions::default()).await.unwrap();
    assert_eq!(report.differences, 0, "{:?}", report.listed);
}

/// Nothing was done, or all of it. Whether it was.
async fn whole(world: &World, id: Uuid, expected: &[Order]) -> bool {
    let store = &world.store;
    let made = store.slice::<Line>("basket".into()).page().await.unwrap().rows.is_empty();
    let (lines, state) = lines_of(store, id).await;
    let derived: Vec<OrderByBuyer> = expected.iter().flat_map(Derive::<OrderByBuyer>::derive).collect();
    let told = store.get::<ByInt>((format!("told {id}"), 1)).await.unwrap();
    if made {
        assert_eq!((&lines[..], state.as_deref()), (expected, Some("placed")));
        assert_eq!(of_buyer(store).await, derived);
    } else {
        assert_eq!((lines.len(), state, of_buyer(store).await.len()), (0, None, 0));
    }
    assert_eq!(told.is_some(), made);
    assert_eq!(store.get::<Article>(lamp(id).id).await.unwrap(), made.then(|| lamp(id)));
    let shelf = store.slice::<ArticleByShelf>(id.to_string()).page().await.unwrap().rows;
    assert_eq!(shelf.len(), usize::from(made));
    made
}

async fn version(store: &Store, id: Uuid) -> Option<Version> {
    store.get_versioned::<Order>((id, 1)).await.unwrap().1
}

async fn founded_partitions_come_with_their_commit(target: &Target) {
    let engine = target.empty_engine();
    for always_outbox in [false, true] {
        let world = target.world_on(engine.clone(), always_outbox);
        let store = &world.store;
        let id = Uuid::now_v7();
        // The basket is not there: the guard does not hold, and nothing is founded.
        assert!(matches!(store.commit(place(id)).await, Err(Error::Conflict(_))));
        assert!(!store.slice::<Line>("basket".into()).page().await.unwrap().rows.iter().any(|_| true));
        assert_eq!((lines_of(store, id).await, of_buyer(store).await.len()), ((vec![], None), 0));
        fill(store).await;
        let committed = store.commit(place(id)).await.unwrap();
        assert!(committed.version.is_some());
        assert_eq!(version(store, id).await, committed.version, "its version is the commit's");
        assert!(whole(&world, id, &[order(id, 1), order(id, 2)]).await);
        // Sent again under its id, the commit changes nothing.
        fill(store).await;
        store.commit(place(id)).await.unwrap();
        assert_eq!(store.slice::<Line>("basket".into()).page().await.unwrap().rows.len(), 1);
        assert_eq!(version(store, id).await, committed.version);
        nothing_drifted(&world).await;
        world.clock.advance_millis(120_000);
        assert_eq!(world.database.sweep().await.unwrap(), Default::default(), "nothing is left");
    }
}

async fn a_founded_partition_goes_on_as_any_other(target: &Target) {
    let engine = target.empty_engine();
    for always_outbox in [false, true] {
        let world = target.world_on(engine.clone(), always_outbox);
        let store = &world.store;
        fill(store).await;
        let id = Uuid::now_v7();
        let committed = store.commit(place(id)).await.unwrap();
        let first = version(store, id).await;
        // At the version of the commit that founded it; the derived row moves.
        let dearer = Order { price: 99, ..order(id, 1) };
        let at = |v: Option<Version>| Commit::new().unchanged::<Order>(id, v).put(&dearer);
        store.commit(at(committed.version)).await.unwrap();
        assert!(matches!(store.commit(at(first)).await, Err(Error::Conflict(_))));
        assert!(version(store, id).await > first);
        assert_eq!(of_buyer(store).await.iter().map(|r| (r.price, r.line)).collect::<Vec<_>>(), [(12, 2), (99, 1)]);
        // The id of the commit that founded it is free for a commit on the new partition: its ring is its own.
        let paid = Commit::with_id(committed.id).set_static(id, Order::STATE, &Some("paid".into()));
        store.commit(paid.clone()).await.unwrap();
        assert_eq!(lines_of(store, id).await.1, Some("paid".into()));
        let decided = store.guarded::<Order, _, Error>(id, |view| {
            let sum: i64 = view.rows.iter().map(|row| row.price).sum();
            Ok((Commit::new().delete::<Order>((id, 2)).put(&Order { price: sum, ..order(id, 3) }), view.rows.len()))
        });
        assert_eq!(decided.await.unwrap(), 2);
        let prices: Vec<_> = of_buyer(store).await.iter().map(|r| (r.price, r.line)).collect();
        assert_eq!(prices, [(99, 1), (111, 3)]);
        store.commit(Commit::new().delete_partition::<Order>(id)).await.unwrap();
        assert_eq!((lines_of(store, id).await, of_buyer(store).await.len()), ((vec![], None), 0));
        nothing_drifted(&world).await;
    }
}

/// Tables with and without clustering columns, one of them with an index; more than one transaction of DynamoDB holds.
async fn rows_and_statics_of_several_partitions(target: &Target) {
    let world = target.empty_world();
    let store = &world.store;
    for many in [1, 60] {
        fill(store).await;
        let ids: Vec<Uuid> = (0..3).map(|_| Uuid::now_v7()).collect();
        let lamp = Article { shelf: Some(format!("shelf {many}")), ..article(i64::from(many)) };
        let other = Line { owner: Some("ann".into()), ..line(&format!("other {many}"), 1, "one") };
        let answer = store.guarded::<Line, _, Error>("basket".into(), |view| {
            let mut commit = Commit::new().delete_partition::<Line>("basket".into()).found(&lamp).found(&other);
            for id in &ids {
                commit = (0..many).fold(commit, |c, n| c.found(&order(*id, n)));
            }
            Ok((commit, view.rows.len()))
        });
        assert_eq!(answer.await.unwrap(), 1);
        for id in &ids {
            let (lines, state) = lines_of(store, *id).await;
            assert_eq!((lines, state), ((0..many).map(|n| order(*id, n)).collect(), None));
        }
        assert_eq!(store.get::<Article>(lamp.id).await.unwrap(), Some(lamp.clone()));
        let by_status = store.slice::<ArticleByStatus>(Status::OnSale).page().await.unwrap().rows;
        assert!(by_status.iter().any(|row| row.id == lamp.id));
        let page = store.slice::<Line>(other.basket.clone()).page().await.unwrap();
        assert_eq!((page.rows.len(), page.statics.get(Line::OWNER).unwrap().flatten()), (1, Some("ann".into())));
        let move_on = |old: Option<Article>| Ok::<_, Error>(old.map(|a| Article { price: 77, ..a }));
        store.update(lamp.id, None, move_on).await.unwrap().expect("it was founded");
        // An index of DynamoDB's own follows a moment later.
        let mut prices = Vec::new();
        for _ in 0..100 {
            let rows = store.slice::<ArticleByShelf>(format!("shelf {many}")).page().await.unwrap().rows;
            prices = rows.iter().map(|row| row.price).collect();
            if prices == [77] {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        assert_eq!(prices, [77]);
    }
    nothing_drifted(&world).await;
}

async fn of_many_who_empty_a_basket_one_founds_an_order(target: &Target) {
    let world = target.empty_world();
    fill(&world.store).await;
    let ids: Vec<Uuid> = (0..12).map(|_| Uuid::now_v7()).collect();
    let tasks: Vec<_> = ids
        .iter()
        .map(|id| {
            let (store, id) = (world.store.clone(), *id);
            tokio::spawn(async move { store.commit(place(id)).await })
        })
        .collect();
    let mut made = Vec::new();
    for (task, id) in tasks.into_iter().zip(&ids) {
        match task.await.unwrap() {
            Ok(_) => made.push(*id),
            Err(error) => assert!(matches!(error, Error::Conflict(_)), "{error}"),
        }
    }
    assert_eq!(made.len(), 1);
    for id in &ids {
        assert_eq!(lines_of(&world.store, *id).await.0.len(), if made.contains(id) { 2 } else { 0 });
    }
    assert_eq!(of_buyer(&world.store).await.len(), 2);
    nothing_drifted(&world).await;
}

async fn stopped_between_any_two_steps_then_swept(target: &Target) {
    let world = target.empty_world();
    let (mut made, mut lost) = (0, 0);
    for steps in 0.. {
        let store = world.database.tenant(&format!("sweep{steps}")).unwrap();
        let world = World { store: store.clone(), ..target.world_like(&world) };
        fill(&store).await;
        let id = Uuid::now_v7();
        let (doomed, faulty) = dying(&world, steps);
        let result = doomed.commit(place(id)).await;
        world.clock.advance_millis(120_000);
        let swept = world.database.sweep().await.unwrap();
        assert_eq!(swept.failed, 0);
        let was_made = whole(&world, id, &[order(id, 1), order(id, 2)]).await;
        if was_made {
            made += 1
        } else {
            lost += 1
        }
        assert!(was_made || result.is_err());
        assert_eq!(world.database.sweep().await.unwrap(), Default::default(), "nothing is left");
        // The commit sent again is the same commit.
        store.commit(place(id)).await.unwrap();
        assert!(whole(&world, id, &[order(id, 1), order(id, 2)]).await);
        if !faulty.has_stopped() {
            assert!(result.is_ok());
            break;
        }
    }
    nothing_drifted(&world).await;
    assert!(made > 5 && lost > 2, "{made} made, {lost} lost: the commit has fewer steps than it should");
}

/// The order is there and its derived rows are not: who changes it must not be overtaken by them.
async fn stopped_between_any_two_steps_then_the_next_writer_on_the_founded_partition(target: &Target) {
    let world = target.empty_world();
    let mut changed = 0;
    for steps in 0.. {
        let store = world.database.tenant(&format!("next{steps}")).unwrap();
        let world = World { store: store.clone(), ..target.world_like(&world) };
        fill(&store).await;
        let id = Uuid::now_v7();
        let (doomed, faulty) = dying(&world, steps);
        let _ = doomed.commit(place(id)).await;
        // Who finds nothing writes nothing.
        let next = |old: Option<Order>| Ok::<_, Error>(old.map(|o| Order { state: None, price: 5, ..o }));
        let found = store.update((id, 1), None, next).await.unwrap().is_some();
        changed += usize::from(found);
        let first = Order { price: if found { 5 } else { 11 }, ..order(id, 1) };
        let expected = [first, order(id, 2)];
        if found {
            // Before any sweep: the writer has finished what it found.
            assert!(whole(&world, id, &expected).await);
        }
        world.clock.advance_millis(120_000);
        assert_eq!(world.database.sweep().await.unwrap().failed, 0);
        let made = whole(&world, id, &expected).await;
        assert!(made || !found);
        assert_eq!(world.database.sweep().await.unwrap(), Default::default(), "nothing is left");
        if !faulty.has_stopped() {
            break;
        }
    }
    nothing_drifted(&world).await;
    assert!(changed > 3, "{changed}");
}

async fn made_again_and_again_later_writes_change_nothing(target: &Target) {
    let world = target.empty_world();
    let recorder = Arc::new(Recorder { inner: world.engine.clone(), made: Mutex::default() });
    let options = Options { clock: world.clock.clone() as Arc<dyn Clock>, always_outbox: true, ..Options::default() };
    let database = Database::with_options(recorder.clone(), crate::tables::schema(), options);
    let store = database.tenant(world.store.tenant().as_str()).unwrap();
    fill(&store).await;
    let id = Uuid::now_v7();
    // Twice at once: no list is doubled, no version moved.
    let committed = store.commit(place(id)).await.unwrap();
    let made = recorder.made.lock().unwrap().clone();
    assert!(!made.is_empty());
    assert!(whole(&world, id, &[order(id, 1), order(id, 2)]).await);
    recorder.replay(&made).await;
    assert!(whole(&world, id, &[order(id, 1), order(id, 2)]).await);
    assert_eq!(version(&store, id).await, committed.version);
    // After a change, and after a removal.
    let changed = Order { price: 5, words: vec!["bowl".into()], ..order(id, 1) };
    world.store.commit(Commit::new().put(&changed).delete::<Order>((id, 2))).await.unwrap();
    let then = version(&store, id).await;
    for _ in 0..2 {
        recorder.replay(&made).await;
        assert!(whole(&world, id, std::slice::from_ref(&changed)).await);
        assert_eq!(version(&store, id).await, then);
    }
    // While others change it.
    let last = Order { price: 20, ..changed.clone() };
    let changes = async {
        for price in 6..=20 {
            world.store.commit(Commit::new().put(&Order { price, ..changed.clone() })).await.unwrap();
        }
    };
    let replays = async {
        for _ in 0..15 {
            recorder.replay(&made).await;
        }
    };
    tokio::join!(changes, replays);
    assert!(whole(&world, id, &[last]).await);
    nothing_drifted(&world).await;
    let (rows, ring) = (widerow::engine::AnchorRows::Keys(&[]), true);
    let (tenant, partition) = (world.store.tenant(), [widerow::value::Value::Uuid(id)]);
    let table = <Order as widerow::Row>::table();
    let read = widerow::engine::ReadAnchor { tenant, table, partition: &partition, rows, ring };
    let anchor = world.engine.read_anchor(read).await.unwrap();
    assert_eq!((anchor.sequence, anchor.outbox.len(), anchor.ring.len()), (17, 0, 16));
}

/// Each order under an id of its own, asked for until there is a certain answer.
async fn lost_answers_found_no_second_order(target: &Target) {
    let world = target.empty_world();
    let tenant = world.store.tenant().to_string();
    let tasks = (0..4u64).map(|writer| {
        let (refuse, time_out_before, time_out_after) = (0.04, 0.05, 0.08);
        let faults =
            Faults { seed: 77 + writer, refuse, time_out_before, time_out_after, delay: 0.1, ..Faults::default() };
        let faulty: Arc<dyn Engine> = Arc::new(Faulty::new(world.engine.clone(), faults));
        let clock = world.clock.clone() as Arc<dyn Clock>;
        let options = Options { clock, always_outbox: writer % 2 == 0, ..Options::default() };
        let store = Database::with_options(faulty, crate::tables::schema(), options).tenant(&tenant).unwrap();
        tokio::spawn(async move {
            let mut ids = Vec::new();
            for n in 0..5 {
                let id = Uuid::now_v7();
                let count = line("basket", 1, "one");
                let row = Line { quantity: n, ..count };
                let commit = Commit::with_id(Uuid::now_v7()).put(&row).found(&order(id, 1)).found(&order(id, 2));
                while let Err(error) = store.commit(commit.clone()).await {
                    assert!(error.is_transient(), "{error}");
                }
                ids.push(id);
            }
            ids
        })
    });
    let mut ids = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        ids.extend(task.await.unwrap());
    }
    world.clock.advance_millis(120_000);
    assert_eq!(world.database.sweep().await.unwrap().failed, 0);
    for id in &ids {
        assert_eq!(lines_of(&world.store, *id).await.0, [order(*id, 1), order(*id, 2)]);
    }
    assert_eq!(of_buyer(&world.store).await.len(), 2 * ids.len());
    nothing_drifted(&world).await;
}

async fn what_makes_no_sense_is_refused(target: &Target) {
    let store = target.world().store;
    let id = Uuid::now_v7();
    let own = || Commit::new().put(&first_line());
    let mut nested = 0;
    for (commit, told) in [
        (own().found(&ByInt { owner: "o".into(), value: 1, note: 1 }), "by_int: the table is not declared guarded"),
        (own().found(&line("basket", 2, "two")), "lines: a commit cannot found the partition that it is guarded on"),
        (Commit::new().found(&order(id, 1)), "orders: a commit that founds a partition needs a guarded partition"),
        (own().found(&order(id, 1)).put(&order(id, 2)), "orders: a commit has one guarded partition"),
        (
            (0..=limits::FOUNDED_ROWS_MAX as i32).fold(own(), |c, n| c.found(&order(id, n))),
            "orders: rows of a founded partition is 99, the limit is 98",
        ),
        (
            (0..4).fold(own(), |c, n| c.found(&Order { buyer: "b".repeat(300_000), ..order(id, n) })),
            "orders: bytes of a founded partition",
        ),
    ] {
        let (result, cost) = meter::measure(store.commit(commit)).await;
        let error = result.unwrap_err();
        assert!(error.to_string().starts_with(told), "{error}");
        assert_eq!(cost.round_trips, 0, "{error}: something was sent");
        nested += 1;
    }
    assert_eq!(nested, 6);
    // The most that is taken.
    let most = (0..limits::FOUNDED_ROWS_MAX as i32).fold(own(), |c, n| c.found(&order(id, n)));
    store.commit(most).await.unwrap();
    assert_eq!(lines_of(&store, id).await.0.len(), limits::FOUNDED_ROWS_MAX);
    // The last row of one key counts.
    let id = Uuid::now_v7();
    store.commit(own().found(&order(id, 1)).found(&Order { price: 3, ..order(id, 1) })).await.unwrap();
    assert_eq!(lines_of(&store, id).await.0, [Order { price: 3, ..order(id, 1) }]);
}

/// It is a mistake; what is there is not touched by it.
async fn a_partition_that_is_not_new_stays_as_it_is(target: &Target) {
    for always_outbox in [false, true] {
        let world = target.world_on(target.engine(), always_outbox);
        let store = &world.store;
        let id = Uuid::now_v7();
        fill(store).await;
        store.commit(Commit::new().put(&order(id, 7))).await.unwrap();
        let told = store.commit(Commit::new().put(&first_line()).found(&order(id, 1))).await;
        if !always_outbox && target.name != "cassandra" {
            assert!(told.unwrap_err().to_string().starts_with("orders: the partition to be founded is there already"));
        }
        assert_eq!(lines_of(store, id).await.0, [order(id, 7)]);
        // As well where the row and its bookkeeping are one.
        store.commit(Commit::new().put(&article(7))).await.unwrap();
        let told = store.commit(Commit::new().put(&first_line()).found(&Article { price: 99, ..article(7) })).await;
        if !always_outbox && target.name != "cassandra" {
            assert!(matches!(told, Err(Error::Invalid { .. })), "{told:?}");
        }
        assert_eq!(store.get::<Article>(7).await.unwrap(), Some(article(7)));
    }
}

/// Makes later writes twice, and remembers them.
struct Recorder {
    inner: Arc<dyn Engine>,
    made: Mutex<Vec<recorder::Made>>,
}

mod recorder {
    use async_trait::async_trait;
    use uuid::Uuid;
    use widerow::{Result, Schema, Timestamp, engine::*, key::Tenant, schema::Table, value::Value};

    #[derive(Clone)]
    pub struct Made {
        tenant: Tenant,
        guarded: (&'static Table, Vec<Value>),
        entry: (Uuid, i64),
        writes: Vec<Write>,
        now: Timestamp,
        timestamp: i64,
    }

    impl super::Recorder {
        pub async fn replay(&self, made: &[Made]) {
            for Made { tenant, guarded: (table, partition), entry: (id, bucket), writes, now, timestamp } in made {
                let fence = Fence::Outbox { tenant, table, partition, id: *id, bucket: *bucket };
                let late = Late { tenant, fence, writes, now: *now, timestamp: *timestamp };
                self.inner.apply_late(late).await.unwrap();
            }
        }
    }

    #[async_trait]
    impl Engine for super::Recorder {
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
            self.inner.read_anchor(read).await
        }
        async fn apply(&self, step: &Step<'_>) -> Result<Applied> {
            self.inner.apply(step).await
        }
        async fn apply_late(&self, late: Late<'_>) -> Result<()> {
            if let Fence::Outbox { table, partition, id, bucket, .. } = late.fence {
                self.made.lock().unwrap().push(Made {
                    tenant: late.tenant.clone(),
                    guarded: (table, partition.to_vec()),
                    entry: (id, bucket),
                    writes: late.writes.to_vec(),
                    now: late.now,
                    timestamp: late.timestamp,
                });
            }
            self.inner.apply_late(late.clone()).await?;
            self.inner.apply_late(late).await
        }
        async fn close_outbox(&self, entry: Entry<'_>) -> Result<()> {
            self.inner.close_outbox(entry).await
        }
        async fn add(&self, tenant: &Tenant, adds: &[Add]) -> Result<()> {
            self.inner.add(tenant, adds).await
        }
        async fn split(&self, table: &'static Table, tenant: Option<&Tenant>, ranges: usize) -> Result<Vec<u8>> {
            self.inner.split(table, tenant, ranges).await
        }
        async fn scan(&self, scan: Scan<'_>) -> Result<ScanPage> {
            self.inner.scan(scan).await
        }
        async fn migrate(&self, schema: &Schema, create: bool) -> Result<SchemaReport> {
            self.inner.migrate(schema, create).await
        }
    }
}
