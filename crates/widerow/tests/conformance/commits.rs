//! The commit contract: atomic, guarded, ordered, known, bounded.

use uuid::Uuid;
use widerow::{Commit, Error, Operator, meter};

use crate::{
    cases,
    slices::line,
    tables::{Article, ByInt, Line, Mixed, Status},
    world::{Target, Worlds},
};

cases!(
    guards_hold_or_nothing_is_written,
    static_guards,
    a_conflict_brings_the_rows,
    the_same_id_again_changes_nothing,
    one_id_on_several_partitions_and_tenants,
    the_same_id_again_through_a_decision,
    concurrent_increments_are_exact,
    concurrent_claims_have_one_winner,
    versions_move_with_every_commit,
    decisions_are_made_again_on_what_has_changed,
    a_guarded_commit_is_one_conditional_write,
    ranges_and_partitions_are_deleted,
    rows_of_several_tables_together,
);

pub fn article(id: i64) -> Article {
    Article { id, name: "brass lamp".into(), status: Status::OnSale, shelf: None, price: 10, count: 0 }
}

async fn guards_hold_or_nothing_is_written(target: &Target) {
    let store = target.world().store;
    let key = || ("b".to_owned(), 1, "one".to_owned());
    let row = line("b", 1, "one");
    let refused = |r: Result<_, Error>| assert!(matches!(r, Err(Error::Conflict(_))), "{r:?}");
    refused(store.commit(Commit::new().present::<Line>(key()).put(&row)).await);
    refused(store.commit(Commit::new().when(key(), Line::PRICE, Operator::NotEqual, &5).put(&row)).await);
    assert_eq!(store.get::<Line>(key()).await.unwrap(), None);
    store.commit(Commit::new().absent::<Line>(key()).put(&row)).await.unwrap();
    refused(store.commit(Commit::new().absent::<Line>(key()).put(&row)).await);
    for (operator, value, holds) in [
        (Operator::Equal, 100, true),
        (Operator::Equal, 99, false),
        (Operator::NotEqual, 100, false),
        (Operator::Less, 101, true),
        (Operator::Less, 100, false),
        (Operator::LessOrEqual, 100, true),
        (Operator::Greater, 99, true),
        (Operator::Greater, 100, false),
        (Operator::GreaterOrEqual, 100, true),
        (Operator::GreaterOrEqual, 101, false),
    ] {
        let other = line("b", 2, "other");
        let commit = Commit::new().when(key(), Line::PRICE, operator, &value).put(&other);
        let result = store.commit(commit).await;
        assert_eq!(result.is_ok(), holds, "{operator:?} {value}: {result:?}");
    }
    // A guard that fails stops the writes to other rows and other tables too.
    let elsewhere = ByInt { owner: "me".into(), value: 1, note: 1 };
    let commit = Commit::new().absent::<Line>(key()).put(&line("b", 9, "nine")).put(&elsewhere);
    refused(store.commit(commit).await);
    assert!(store.get::<ByInt>(("me".into(), 1)).await.unwrap().is_none());
    assert!(store.get::<Line>(("b".into(), 9, "nine".into())).await.unwrap().is_none());
}

async fn static_guards(target: &Target) {
    let store = target.world().store;
    let set = |from: Option<i64>, to: i64| {
        Commit::new().when_static("b".into(), Line::SUBTOTAL, Operator::Equal, &from).set_static(
            "b".into(),
            Line::SUBTOTAL,
            &Some(to),
        )
    };
    store.commit(set(None, 1)).await.unwrap();
    assert!(store.commit(set(None, 2)).await.is_err());
    store.commit(set(Some(1), 2)).await.unwrap();
    let below = Commit::new().when_static("b".into(), Line::SUBTOTAL, Operator::Less, &Some(2)).put(&line("b", 1, "x"));
    assert!(store.commit(below).await.is_err());
    let page = store.slice::<Line>("b".into()).page().await.unwrap();
    assert!(page.rows.is_empty());
    assert_eq!(page.statics.get(Line::SUBTOTAL).unwrap(), Some(Some(2)));
}

async fn a_conflict_brings_the_rows(target: &Target) {
    let store = target.world().store;
    store.commit(Commit::new().put(&article(1))).await.unwrap();
    let commit = Commit::new().when(1, Article::PRICE, Operator::Equal, &11).put(&Article { price: 12, ..article(1) });
    let (result, cost) = meter::measure(store.commit(commit)).await;
    let Err(Error::Conflict(conflict)) = result else { panic!("{result:?}") };
    assert_eq!(conflict.rows_of::<Article>(), [article(1)]);
    assert!(cost.round_trips <= 2, "no second read: {cost}");
    let commit = Commit::new().absent::<Line>(("b".into(), 1, "x".into())).put(&line("b", 1, "x"));
    store.commit(commit.clone()).await.unwrap();
    let Err(Error::Conflict(conflict)) = store.commit(commit).await else { panic!("it held twice") };
    assert_eq!(conflict.rows_of::<Line>(), [line("b", 1, "x")]);
}

async fn the_same_id_again_changes_nothing(target: &Target) {
    let store = target.world().store;
    let id = Uuid::now_v7();
    let commit = Commit::with_id(id).put(&line("b", 1, "x")).put(&ByInt { owner: "me".into(), value: 1, note: 1 });
    let first = store.commit(commit.clone()).await.unwrap();
    store.commit(Commit::new().put(&Line { price: 7, ..line("b", 1, "x") })).await.unwrap();
    store.commit(Commit::new().put(&ByInt { owner: "me".into(), value: 1, note: 2 })).await.unwrap();
    for _ in 0..3 {
        assert_eq!(store.commit(commit.clone()).await.unwrap().id, first.id);
    }
    assert_eq!(store.get::<Line>(("b".into(), 1, "x".into())).await.unwrap().unwrap().price, 7);
    assert_eq!(store.get::<ByInt>(("me".into(), 1)).await.unwrap().unwrap().note, 2);
    // Also under a guard that the first time made false, and after many others.
    let id = Uuid::now_v7();
    let claim = Commit::with_id(id).absent::<Line>(("c".into(), 1, "x".into())).put(&line("c", 1, "x"));
    store.commit(claim.clone()).await.unwrap();
    for i in 0..20 {
        store.commit(Commit::new().put(&line("c", 2, &format!("{i}")))).await.unwrap();
    }
    store.commit(claim).await.unwrap();
}

async fn one_id_on_several_partitions_and_tenants(target: &Target) {
    let world = target.world();
    let (other, id) = (world.database.tenant("another").unwrap(), Uuid::now_v7());
    for basket in ["one", "two"] {
        world.store.commit(Commit::with_id(id).put(&line(basket, 1, "x"))).await.unwrap();
        other.commit(Commit::with_id(id).put(&line(basket, 1, "x"))).await.unwrap();
    }
    for store in [&world.store, &other] {
        for basket in ["one", "two"] {
            assert_eq!(store.slice::<Line>(basket.into()).page().await.unwrap().rows.len(), 1);
        }
    }
}

async fn the_same_id_again_through_a_decision(target: &Target) {
    let store = target.world().store;
    let id = Uuid::now_v7();
    for _ in 0..3 {
        let append = |lines: &widerow::Partition<Line>| {
            let number = lines.rows.len() as i64;
            Ok::<_, Error>((Commit::with_id(id).put(&line("b", number, "x")), ()))
        };
        store.guarded::<Line, _, Error>("b".into(), append).await.unwrap();
    }
    assert_eq!(store.slice::<Line>("b".into()).page().await.unwrap().rows.len(), 1);
}

async fn concurrent_increments_are_exact(target: &Target) {
    let world = target.world();
    world.store.commit(Commit::new().put(&article(1))).await.unwrap();
    // Three handles with locks of their own, as three processes have.
    let stores: Vec<_> = (0..3)
        .map(|_| {
            let database = target.world_on(world.engine.clone(), false).database;
            database.tenant(world.store.tenant().as_str()).unwrap()
        })
        .collect();
    let writers = stores.iter().flat_map(|store| {
        (0..2).map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                for _ in 0..5 {
                    let more = |old: Option<Article>| {
                        let old = old.expect("it is there");
                        Ok::<_, Error>(Some(Article { count: old.count + 1, price: old.price + 1, ..old }))
                    };
                    store.update::<Article, Error>(1, None, more).await.unwrap();
                }
            })
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let row = world.store.get::<Article>(1).await.unwrap().unwrap();
    assert_eq!((row.count, row.price), (30, 40));
}

async fn concurrent_claims_have_one_winner(target: &Target) {
    let world = target.world();
    for round in 0..3 {
        let claims = (0..6).map(|i| {
            let store = target.world_on(world.engine.clone(), false).database;
            let store = store.tenant(world.store.tenant().as_str()).unwrap();
            tokio::spawn(async move {
                let row = Article { count: i, ..article(round) };
                match store.commit(Commit::new().absent::<Article>(round).put(&row)).await {
                    Ok(_) => Some(i),
                    Err(Error::Conflict(_)) => None,
                    Err(e) => panic!("{e}"),
                }
            })
        });
        let mut winners = Vec::new();
        for claim in claims.collect::<Vec<_>>() {
            winners.extend(claim.await.unwrap());
        }
        assert_eq!(winners.len(), 1);
        assert_eq!(world.store.get::<Article>(round).await.unwrap().unwrap().count, winners[0]);
    }
}

async fn versions_move_with_every_commit(target: &Target) {
    let store = target.world().store;
    assert_eq!(store.get_versioned::<Article>(1).await.unwrap(), (None, None));
    let first = store.commit(Commit::new().unchanged::<Article>(1, None).put(&article(1))).await.unwrap();
    let (row, version) = store.get_versioned::<Article>(1).await.unwrap();
    assert_eq!((row, version), (Some(article(1)), first.version));
    let second = store.commit(Commit::new().unchanged::<Article>(1, version).put(&article(1))).await.unwrap();
    assert!(second.version > first.version);
    let stale = store.commit(Commit::new().unchanged::<Article>(1, version).put(&article(1))).await;
    assert!(matches!(stale, Err(Error::Conflict(_))), "{stale:?}");
    let stale = store.update::<Article, Error>(1, version, Ok).await;
    assert!(matches!(stale, Err(Error::Conflict(_))), "{stale:?}");
    // Gone and back again, the version has still moved on.
    store.commit(Commit::new().delete::<Article>(1)).await.unwrap();
    let (row, gone) = store.get_versioned::<Article>(1).await.unwrap();
    assert!(row.is_none() && gone > second.version);
    assert_eq!(store.get::<Article>(1).await.unwrap(), None);
}

async fn decisions_are_made_again_on_what_has_changed(target: &Target) {
    let world = target.world();
    let store = &world.store;
    store.commit(Commit::new().put(&line("b", 1, "a")).put(&line("b", 2, "b"))).await.unwrap();
    let other = target.world_on(world.engine.clone(), false).database.tenant(store.tenant().as_str()).unwrap();
    let mut seen = Vec::new();
    let (mut first, handle) = (true, tokio::runtime::Handle::current());
    let answer = store
        .guarded::<Line, i64, Error>("b".into(), |partition| {
            seen.push(partition.rows.len());
            if std::mem::take(&mut first) {
                // Another process commits between the read and the commit.
                let other = other.clone();
                let task = async move { other.commit(Commit::new().put(&line("b", 3, "c"))).await };
                tokio::task::block_in_place(|| handle.block_on(task)).expect("the other's commit");
            }
            let sum = partition.rows.iter().map(|l| l.price).sum();
            Ok((Commit::new().set_static("b".into(), Line::SUBTOTAL, &Some(sum)), sum))
        })
        .await
        .unwrap();
    assert_eq!((answer, seen), (300, vec![2, 3]));
    let statics = store.slice::<Line>("b".into()).page().await.unwrap().statics;
    assert_eq!(statics.get(Line::SUBTOTAL).unwrap(), Some(Some(300)));
}

async fn a_guarded_commit_is_one_conditional_write(target: &Target) {
    let store = target.world().store;
    let commit = Commit::new().absent::<Line>(("b".into(), 1, "x".into())).put(&line("b", 1, "x"));
    let (result, cost) = meter::measure(store.commit(commit)).await;
    result.unwrap();
    assert_eq!(cost.conditional_writes, 1);
    if target.abilities().native_guards {
        assert_eq!((cost.round_trips, cost.rows_read), (1, 0), "{cost}");
    } else {
        assert!(cost.round_trips <= 3, "{cost}");
    }
}

async fn ranges_and_partitions_are_deleted(target: &Target) {
    let store = target.world().store;
    let row = |kind: &str, price: i64| Mixed {
        owner: "me".into(),
        year: 1,
        kind: kind.into(),
        price: price.into(),
        name: "n".into(),
        note: None,
    };
    let kinds = async || {
        let rows = store.slice::<Mixed>(("me".into(), 1)).page().await.unwrap().rows;
        rows.into_iter().map(|r| format!("{}{}", r.kind, r.price)).collect::<Vec<_>>()
    };
    for kind in ["a", "b", "c"] {
        store.commit((1..=3).fold(Commit::new(), |c, price| c.put(&row(kind, price)))).await.unwrap();
    }
    store.commit(Commit::new().delete_prefix::<Mixed>(("me".into(), 1), "b")).await.unwrap();
    assert_eq!(kinds().await, ["a3", "a2", "a1", "c3", "c2", "c1"]);
    let from_two = (std::ops::Bound::Included(2.into()), std::ops::Bound::Unbounded);
    let bounds = (from_two.0.map(decimal), from_two.1);
    store.commit(Commit::new().delete_range::<Mixed>(("me".into(), 1), "a", bounds)).await.unwrap();
    assert_eq!(kinds().await, ["a1", "c3", "c2", "c1"]);
    // In one commit, what is put after a deletion stays.
    let commit = Commit::new().delete_partition::<Mixed>(("me".into(), 1)).put(&row("c", 2)).put(&row("d", 9));
    store.commit(commit).await.unwrap();
    assert_eq!(kinds().await, ["c2", "d9"]);
    store.commit(Commit::new().put(&row("e", 1)).delete_partition::<Mixed>(("me".into(), 1))).await.unwrap();
    assert!(kinds().await.is_empty());
}

fn decimal(n: rust_decimal::Decimal) -> widerow::value::Value {
    widerow::value::Value::Decimal(n)
}

async fn rows_of_several_tables_together(target: &Target) {
    let store = target.world().store;
    let plain = |owner: &str, value| ByInt { owner: owner.into(), value, note: value };
    // More than any engine takes in one step: 150 rows in 150 partitions, beside a guarded one.
    let many = (0..150).fold(Commit::new().put(&article(5)), |c, i| c.put(&plain(&format!("p{i}"), i)));
    store.commit(many).await.unwrap();
    let unguarded = (150..300).fold(Commit::new(), |c, i| c.put(&plain(&format!("p{i}"), i)));
    store.commit(unguarded).await.unwrap();
    let keys = (0..300).map(|i| (format!("p{i}"), i));
    assert!(store.get_many::<ByInt>(keys).await.unwrap().iter().all(Option::is_some));
    assert!(store.get::<Article>(5).await.unwrap().is_some());
}
