//! Decisions on what a writer remembers: they need no read, and whatever others did meanwhile is seen all the same.

use std::sync::{Arc, Mutex};

use futures::future::join_all;
use widerow::{
    Cell as _, Commit, Database, Engine, Error, Memory, Options, Partition, Remembered, Store,
    faulty::{Faults, Faulty},
    meter,
    time::Clock,
    value::Value,
};

use crate::{
    cases,
    slices::line,
    tables::{Article, Line, Member, MemberByCity, Status},
    world::{Target, Worlds},
};

cases!(
    what_was_left_is_not_read_again,
    what_others_wrote_is_seen,
    a_row_that_was_taken_to_be_new_is_seen,
    without_a_commit_everything_is_read,
    deletions_and_statics_are_followed,
    derived_rows_follow_from_what_is_remembered,
    another_partition_is_not_mistaken_for_the_remembered_one,
    concurrent_writers_with_memories_all_count,
    writers_that_share_a_memory_all_count,
    nothing_rests_on_a_commit_that_was_not_made,
    nothing_of_an_ended_row_comes_back,
);

fn stock() -> Vec<Value> {
    vec![1_i64.to_value()]
}

fn hold(name: &str) -> Vec<Value> {
    vec![2_i64.to_value(), Value::Text(name.into())]
}

/// Takes a hold, unless it is there, and counts it in the stock's price; answers with the names of all that it saw.
fn take(partition: &Partition<Line>, name: &str) -> Result<(Commit, Vec<String>), Error> {
    let names = partition.rows.iter().map(|row| row.line.clone()).collect();
    if partition.rows.iter().any(|row| row.line == name) {
        return Ok((Commit::new(), names));
    }
    let price = partition.rows.iter().find(|row| row.line == "stock").map_or(0, |stock| stock.price);
    let stock = Line { price: price + 1, ..line("b", 1, "stock") };
    Ok((Commit::new().put(&stock).put(&line("b", 2, name)), names))
}

async fn take_one(store: &Store, memory: &mut Option<Remembered>, name: &str) -> Vec<String> {
    let prefixes = vec![stock(), hold(name)];
    let decide = |partition: &Partition<Line>| take(partition, name);
    store.guarded_from::<Line, _, Error>(memory, "b".into(), prefixes, decide).await.unwrap()
}

async fn held(store: &Store) -> i64 {
    store.get::<Line>(("b".into(), 1, "stock".into())).await.unwrap().map_or(0, |stock| stock.price)
}

async fn what_was_left_is_not_read_again(target: &Target) {
    let store = target.world().store;
    let mut memory = None;
    assert!(take_one(&store, &mut memory, "a").await.is_empty());
    for name in ["b", "c", "d"] {
        let (seen, cost) = meter::measure(take_one(&store, &mut memory, name)).await;
        assert_eq!(seen, ["stock"]);
        assert_eq!((cost.partitions_read, cost.rows_read, cost.conditional_writes), (0, 0, 1), "{cost}");
    }
    assert_eq!(held(&store).await, 4);
    // A row that this writer wrote is remembered as well, and what was decided before is not decided again.
    assert_eq!(take_one(&store, &mut memory, "c").await, ["c", "stock"]);
    assert_eq!(held(&store).await, 4);
}

async fn what_others_wrote_is_seen(target: &Target) {
    let world = target.world();
    let store = &world.store;
    let mut memory = None;
    take_one(store, &mut memory, "a").await;
    store.commit(Commit::new().put(&Line { price: 10, ..line("b", 1, "stock") })).await.unwrap();
    take_one(store, &mut memory, "b").await;
    assert_eq!(held(store).await, 11);
    assert!(memory.is_some(), "and is remembered from then on");
    // Another has taken the very hold.
    take_one(store, &mut None, "c").await;
    assert_eq!(take_one(store, &mut memory, "c").await, ["c", "stock"]);
    assert_eq!(held(store).await, 12);
}

async fn a_row_that_was_taken_to_be_new_is_seen(target: &Target) {
    let store = target.world().store;
    store.commit(Commit::new().put(&line("b", 2, "old"))).await.unwrap();
    let mut memory = None;
    take_one(&store, &mut memory, "a").await;
    // The partition is at the version that is remembered, but the row was never read.
    assert_eq!(take_one(&store, &mut memory, "old").await, ["old", "stock"]);
    assert_eq!(held(&store).await, 1);
}

async fn without_a_commit_everything_is_read(target: &Target) {
    let store = target.world().store;
    let mut memory = None;
    take_one(&store, &mut memory, "a").await;
    store.commit(Commit::new().put(&Line { price: 7, ..line("b", 1, "stock") })).await.unwrap();
    let look = |partition: &Partition<Line>| Ok((Commit::new(), partition.rows[0].price));
    let mut copy = memory.clone();
    assert_eq!(store.guarded_from::<Line, _, Error>(&mut copy, "b".into(), [stock()], look).await.unwrap(), 7);
    let mut prices = Vec::new();
    let refuse = |partition: &Partition<Line>| -> Result<(Commit, ()), Error> {
        prices.push(partition.rows[0].price);
        Err(Error::invalid("price", "not this one"))
    };
    let refused = store.guarded_from::<Line, _, Error>(&mut memory, "b".into(), [stock()], refuse).await;
    assert!(matches!(refused, Err(Error::Invalid { .. })));
    assert_eq!(prices, [1, 7], "refused on what is there, not on what was");
}

async fn deletions_and_statics_are_followed(target: &Target) {
    let store = target.world().store;
    let mut memory = None;
    take_one(&store, &mut memory, "a").await;
    for round in 0..2 {
        let put = |partition: &Partition<Line>| {
            assert_eq!(partition.rows.iter().filter(|row| row.line == "extra").count(), 0);
            Ok((Commit::new().put(&line("b", 1, "extra")), ()))
        };
        store.guarded_from::<Line, _, Error>(&mut memory, "b".into(), [stock()], put).await.unwrap();
        let delete = |partition: &Partition<Line>| {
            assert_eq!(partition.rows.iter().filter(|row| row.line == "extra").count(), 1);
            Ok((Commit::new().delete::<Line>(("b".into(), 1, "extra".into())), ()))
        };
        store.guarded_from::<Line, _, Error>(&mut memory, "b".into(), [stock()], delete).await.unwrap();
        let sum = |partition: &Partition<Line>| {
            let known = partition.statics.get(Line::SUBTOTAL)?.flatten();
            assert_eq!(known, (round > 0).then_some(round - 1));
            assert!(partition.rows.iter().all(|row| row.subtotal == known), "{:?}", partition.rows);
            let commit = Commit::new().set_static("b".into(), Line::SUBTOTAL, &Some(round));
            Ok((commit.put(&line("b", 1, "stock")), ()))
        };
        store.guarded_from::<Line, _, Error>(&mut memory, "b".into(), [stock()], sum).await.unwrap();
    }
}

async fn derived_rows_follow_from_what_is_remembered(target: &Target) {
    let store = target.world().store;
    let day = widerow::Date::from_days(20_000);
    let member = |person: &str, city: &str| Member {
        club: "chess".into(),
        joined: day,
        person: person.into(),
        city: city.into(),
    };
    let mut memory = None;
    for city in ["Rome", "Oslo", "Bern"] {
        let move_all = |partition: &Partition<Member>| {
            let new = partition.rows.is_empty().then(|| member("ann", city));
            let moved = partition.rows.iter().map(|row| Member { city: city.into(), ..row.clone() });
            let commit = moved.chain(new).fold(Commit::new(), |commit, row| commit.put(&row));
            Ok::<_, Error>((commit, ()))
        };
        store.guarded_from::<Member, _, Error>(&mut memory, "chess".into(), [day], move_all).await.unwrap();
        for other in ["Rome", "Oslo", "Bern"] {
            let rows = store.slice::<MemberByCity>(other.into()).page().await.unwrap().rows;
            assert_eq!(rows.len(), usize::from(other == city), "{other} while in {city}");
        }
    }
}

async fn another_partition_is_not_mistaken_for_the_remembered_one(target: &Target) {
    let store = target.world().store;
    let mut memory = None;
    take_one(&store, &mut memory, "a").await;
    let look = |partition: &Partition<Line>| {
        assert!(partition.rows.is_empty());
        Ok((Commit::new().put(&line("other", 1, "stock")), ()))
    };
    store.guarded_from::<Line, _, Error>(&mut memory, "other".into(), [stock()], look).await.unwrap();
    assert_eq!(held(&store).await, 1);
}

async fn concurrent_writers_with_memories_all_count(target: &Target) {
    let world = target.world();
    // Handles with locks of their own, as processes have.
    let writers = (0..4).map(|writer| {
        let database = target.world_on(world.engine.clone(), false).database;
        let store = database.tenant(world.store.tenant().as_str()).unwrap();
        tokio::spawn(async move {
            let mut memory = None;
            for round in 0..6 {
                take_one(&store, &mut memory, &format!("{writer}-{round}")).await;
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    assert_eq!(held(&world.store).await, 24);
    let holds = world.store.slice::<Line>("b".into()).prefix(2_i64).page().await.unwrap().rows;
    assert_eq!(holds.len(), 24);
}

/// A memory that several writers of one process share: one decides on what the one before has sent.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Option<Remembered>>>);

impl Memory for Shared {
    fn take(&mut self) -> Option<Remembered> {
        self.0.lock().unwrap().take()
    }

    fn keep(&mut self, last: Remembered) {
        *self.0.lock().unwrap() = Some(last);
    }
}

/// Takes a hold; the unit that it was given, counted from one. None where it is not known, or known to have failed.
async fn take_unit(store: &Store, memory: &Shared, name: &str) -> Option<i64> {
    let decide = |partition: &Partition<Line>| {
        let (commit, _) = take(partition, name)?;
        let before = partition.rows.iter().find(|row| row.line == "stock").map_or(0, |stock| stock.price);
        Ok((commit, before + 1))
    };
    let prefixes = vec![stock(), hold(name)];
    store.guarded_from::<Line, _, Error>(&mut memory.clone(), "b".into(), prefixes, decide).await.ok()
}

async fn writers_that_share_a_memory_all_count(target: &Target) {
    let world = target.world();
    let memory = Shared::default();
    let names: Vec<String> = (0..24).map(|n| n.to_string()).collect();
    let mut units = join_all(names.iter().map(|name| take_unit(&world.store, &memory, name))).await;
    units.sort_unstable();
    assert_eq!(units, (1..=24).map(Some).collect::<Vec<_>>(), "each has a unit of its own");
    assert_eq!(held(&world.store).await, 24);
    assert!(memory.0.lock().unwrap().is_some());
}

/// The clocks of both handles stand still, so that their commits have the same versions again and again.
async fn nothing_rests_on_a_commit_that_was_not_made(target: &Target) {
    let world = target.world();
    take_unit(&world.store, &Shared::default(), "first").await.unwrap();
    let engines: Vec<_> = (0..2)
        .map(|seed| {
            let faults = Faults {
                seed,
                refuse: 0.1,
                time_out_before: 0.1,
                time_out_after: 0.1,
                apply_late: 0.1,
                delay: 0.2,
                stop_after_steps: None,
            };
            Arc::new(Faulty::new(world.engine.clone(), faults))
        })
        .collect();
    let handles = engines.iter().map(|engine| async {
        let clock = world.clock.clone() as Arc<dyn Clock>;
        let options = Options { clock, ..Options::default() };
        let database = Database::with_options(engine.clone() as Arc<dyn Engine>, crate::tables::schema(), options);
        let store = database.tenant(world.store.tenant().as_str()).unwrap();
        let (memory, mut units) = (Shared::default(), Vec::new());
        for round in 0..16 {
            let names: Vec<String> = (0..4).map(|n| format!("{:p}-{round}-{n}", *engine)).collect();
            let takes = names.iter().map(|name| take_unit(&store, &memory, name));
            units.extend(join_all(takes).await.into_iter().flatten());
        }
        units
    });
    let mut units: Vec<i64> = join_all(handles).await.into_iter().flatten().collect();
    for engine in &engines {
        engine.all_applied().await;
    }
    units.sort_unstable();
    let given = units.len();
    units.dedup();
    assert_eq!(units.len(), given, "no unit was given to two");
    assert!(given > 5, "{given}");
    let holds = world.store.slice::<Line>("b".into()).prefix(2_i64).limit(1_000).page().await.unwrap().rows;
    assert_eq!(held(&world.store).await, holds.len() as i64, "each hold was counted once");
    assert!(holds.len() > given, "the first and all that were answered are there");
}

async fn nothing_of_an_ended_row_comes_back(target: &Target) {
    let world = target.world();
    let store = &world.store;
    let article = |shelf: Option<&str>| Article {
        id: 1,
        name: "a chair".into(),
        status: Status::OnSale,
        shelf: shelf.map(Into::into),
        price: 1,
        count: 1,
    };
    store.commit(Commit::new().put_for(&article(Some("left")), 60)).await.unwrap();
    world.clock.advance_millis(61_000);
    let put = |partition: &Partition<Article>| {
        assert!(partition.rows.is_empty());
        Ok::<_, Error>((Commit::new().put(&article(None)), ()))
    };
    store.guarded::<Article, _, Error>(1, put).await.unwrap();
    assert_eq!(store.get::<Article>(1).await.unwrap(), Some(article(None)));
    // Nor of one that was deleted.
    store.commit(Commit::new().put(&article(Some("right")))).await.unwrap();
    store.commit(Commit::new().delete::<Article>(1)).await.unwrap();
    store.guarded::<Article, _, Error>(1, put).await.unwrap();
    assert_eq!(store.get::<Article>(1).await.unwrap(), Some(article(None)));
}
