//! Decisions on a few rows of a partition: what they see, what they cost, and that none is lost.

use uuid::Uuid;
use widerow::{Cell as _, Commit, Date, Error, Partition, limits, meter, row::KeyParts as _, value::Value};

use crate::{
    cases,
    slices::line,
    tables::{Article, Line, Member, MemberByCity, Ticket, TicketByNote},
    world::{Target, Worlds},
};

cases!(
    rows_under_any_prefix_come_once_and_in_order,
    a_decision_on_no_row_sees_statics_and_version,
    rows_outside_the_prefixes_are_not_read,
    what_is_derived_follows_without_a_second_read,
    rows_beside_the_prefixes_may_be_written,
    concurrent_decisions_on_a_few_rows_all_count,
    what_is_seen_is_one_state,
    bad_prefixes_are_refused,
    rows_with_ids_of_several_versions_are_replaced_whole,
);

fn key(line: &Line) -> (i64, String) {
    (line.added, line.line.clone())
}

fn seen(partition: &Partition<Line>) -> Result<(Commit, Vec<(i64, String)>), Error> {
    Ok((Commit::new(), partition.rows.iter().map(key).collect()))
}

/// A prefix of one column, or a whole key.
fn prefix(added: i64, line: Option<&str>) -> Vec<Value> {
    [Some(added.to_value()), line.map(|l| Value::Text(l.into()))].into_iter().flatten().collect()
}

async fn rows_under_any_prefix_come_once_and_in_order(target: &Target) {
    let store = target.world().store;
    let names = ["a", "b", "c"];
    let rows: Vec<Line> = (1..=9).flat_map(|added| names.map(|name| line("b", added, name))).collect();
    store.commit(rows.iter().fold(Commit::new(), Commit::put)).await.unwrap();
    // Expected: by `added` downwards, then by `line` upwards.
    for (prefixes, expected) in [
        (vec![], vec![]),
        (vec![prefix(4, None)], vec![(4, "abc")]),
        (vec![prefix(2, None), prefix(7, None)], vec![(7, "abc"), (2, "abc")]),
        // Nested, twice the same, and those that are not there.
        (vec![prefix(3, Some("b")), prefix(3, None), prefix(3, None), prefix(3, Some("b"))], vec![(3, "abc")]),
        (vec![prefix(1, Some("c")), prefix(1, Some("a")), prefix(8, Some("b"))], vec![(8, "b"), (1, "ac")]),
        (vec![prefix(5, Some("b")), prefix(9, None), prefix(2, Some("a"))], vec![(9, "abc"), (5, "b"), (2, "a")]),
        (vec![prefix(99, None), prefix(6, Some("c")), prefix(6, Some("x"))], vec![(6, "c")]),
        (vec![prefix(99, None), prefix(98, Some("c"))], vec![]),
        (vec![prefix(99, Some("a")), prefix(98, Some("c"))], vec![]),
        (vec![prefix(4, None), vec![], prefix(5, Some("a"))], (1..=9).rev().map(|n| (n, "abc")).collect()),
    ] {
        let named = format!("{prefixes:?}");
        let found = store.guarded_prefixes::<Line, _, Error>("b".into(), prefixes, seen).await.unwrap();
        let of = |(added, lines): (i64, &str)| lines.chars().map(move |l| (added, l.to_string())).collect::<Vec<_>>();
        assert_eq!(found, expected.into_iter().flat_map(of).collect::<Vec<_>>(), "{named}");
    }
    // A row alone in its partition.
    store.commit(Commit::new().put(&crate::commits::article(1))).await.unwrap();
    let count = |partition: &Partition<Article>| Ok::<_, Error>((Commit::new(), partition.rows.len()));
    assert_eq!(store.guarded_prefixes::<Article, _, Error>(1, [()], count).await.unwrap(), 1);
    assert_eq!(store.guarded_prefixes::<Article, _, Error>(2, [()], count).await.unwrap(), 0);
}

async fn a_decision_on_no_row_sees_statics_and_version(target: &Target) {
    let store = target.world().store;
    let mixed = || vec![prefix(1, None), prefix(2, Some("x")), prefix(3, Some("y"))];
    let look = |p: &Partition<Line>| Ok((Commit::new(), (p.rows.len(), p.statics.get(Line::OWNER)?, p.version)));
    for prefixes in [vec![], mixed(), vec![prefix(1, Some("x"))]] {
        let found = store.guarded_prefixes::<Line, _, Error>("b".into(), prefixes, look).await.unwrap();
        assert_eq!(found, (0, None, None));
    }
    let commit = Commit::new().set_static("b".into(), Line::OWNER, &Some("me".to_owned()));
    let committed = store.commit(commit.put(&line("b", 7, "other"))).await.unwrap();
    let (_, version) = store.get_versioned::<Line>(("b".into(), 1, "x".into())).await.unwrap();
    assert!(version.is_some() && (committed.version.is_none() || committed.version == version));
    for prefixes in [vec![], mixed(), vec![prefix(1, Some("x"))], vec![prefix(1, None), prefix(2, None)]] {
        let found = store.guarded_prefixes::<Line, _, Error>("b".into(), prefixes, look).await.unwrap();
        assert_eq!(found, (0, Some(Some("me".to_owned())), version));
    }
}

async fn rows_outside_the_prefixes_are_not_read(target: &Target) {
    let store = target.world().store;
    for chunk in (0..400).collect::<Vec<i64>>().chunks(90) {
        let put = |commit: Commit, n: &i64| commit.put(&line("b", 2, &format!("{n:04}")));
        store.commit(chunk.iter().fold(Commit::new(), put)).await.unwrap();
    }
    store.commit(Commit::new().put(&line("b", 1, "stock"))).await.unwrap();
    // As many prefixes as there may be; a third of them is not there.
    let holds = (0..limits::DECISION_PREFIXES_MAX - 1).map(|n| prefix(2, Some(&format!("{:04}", 3 * n))));
    let prefixes: Vec<_> = holds.chain([prefix(1, None)]).collect();
    let decide = |partition: &Partition<Line>| {
        let stock = partition.rows.last().expect("the stock");
        let held = partition.rows.len() as i64 - 1;
        let commit = partition.rows.iter().take(90).fold(Commit::new(), |commit, row| {
            commit.delete::<Line>((row.basket.clone(), row.added, row.line.clone()))
        });
        Ok::<_, Error>((commit.put(&Line { price: held, ..stock.clone() }), held))
    };
    let decision = store.guarded_prefixes::<Line, _, Error>("b".into(), prefixes, decide);
    let (held, cost) = meter::measure(decision).await;
    let held = held.unwrap();
    assert_eq!(held, 134, "0, 3, … 399");
    // Some engines count the bookkeeping as a row.
    assert!((135..=137).contains(&cost.rows_read), "{cost}");
    assert!((1..=2).contains(&cost.partitions_read), "{cost}");
    assert_eq!((cost.conditional_writes, cost.partitions_written), (1, 1), "{cost}");
    let left = store.slice::<Line>("b".into()).limit(1000).page().await.unwrap().rows;
    assert_eq!((left.len(), left.last().unwrap().price), (401 - 90, 134));
}

fn day(day: i8) -> Date {
    Date::new(2024, 1, day).expect("a day")
}

fn member(club: &str, joined: i8, person: &str, city: &str) -> Member {
    Member { club: club.into(), joined: day(joined), person: person.into(), city: city.into() }
}

async fn what_is_derived_follows_without_a_second_read(target: &Target) {
    let store = target.world().store;
    let people = ["ann", "bob", "cyd", "dee"];
    let all = people.iter().fold(Commit::new(), |c, person| c.put(&member("chess", 1, person, "Rome")));
    store.commit(all.put(&member("chess", 2, "eve", "Rome"))).await.unwrap();
    let prefixes =
        vec![(day(1), "bob".to_owned()).into_values(), day(2).into_values(), (day(1), "new".to_owned()).into_values()];
    let decide = |partition: &Partition<Member>| {
        let moved =
            partition.rows.iter().fold(Commit::new(), |c, row| c.put(&Member { city: "Oslo".into(), ..row.clone() }));
        Ok::<_, Error>((moved.put(&member("chess", 1, "new", "Oslo")), partition.rows.len()))
    };
    let (found, cost) =
        meter::measure(store.guarded_prefixes::<Member, _, Error>("chess".into(), prefixes, decide)).await;
    assert_eq!(found.unwrap(), 2);
    assert!(cost.rows_read <= 2 + 3, "{cost}");
    let of = async |city: &str| {
        let rows = store.slice::<MemberByCity>(city.into()).page().await.unwrap().rows;
        rows.into_iter().map(|row| row.person).collect::<Vec<_>>()
    };
    assert_eq!(of("Oslo").await, ["bob", "eve", "new"]);
    assert_eq!(of("Rome").await, ["ann", "cyd", "dee"]);
}

async fn rows_beside_the_prefixes_may_be_written(target: &Target) {
    let store = target.world().store;
    let people = ["ann", "bob", "cyd"];
    let all = people.iter().fold(Commit::new(), |c, person| c.put(&member("go", 1, person, "Rome")));
    store.commit(all).await.unwrap();
    // A row that was not read, and then a range that holds rows that were not read.
    let move_cyd = |partition: &Partition<Member>| {
        assert_eq!(partition.rows.len(), 1);
        Ok::<_, Error>((Commit::new().put(&member("go", 1, "cyd", "Oslo")), ()))
    };
    store.guarded_prefixes::<Member, _, Error>("go".into(), [(day(1), "ann".to_owned())], move_cyd).await.unwrap();
    let id = Uuid::now_v7();
    for _ in 0..2 {
        let end = |partition: &Partition<Member>| {
            let rest = Commit::with_id(id).delete_prefix::<Member>("go".into(), day(1));
            Ok::<_, Error>((rest.put(&member("go", 2, "fay", "Bern")), partition.rows.len()))
        };
        store.guarded_prefixes::<Member, _, Error>("go".into(), [(day(1), "ann".to_owned())], end).await.unwrap();
    }
    let left = store.slice::<Member>("go".into()).page().await.unwrap().rows;
    assert_eq!(left, [member("go", 2, "fay", "Bern")]);
    for city in ["Rome", "Oslo"] {
        assert!(store.slice::<MemberByCity>(city.into()).page().await.unwrap().rows.is_empty(), "{city}");
    }
}

async fn concurrent_decisions_on_a_few_rows_all_count(target: &Target) {
    let world = target.world();
    world.store.commit(Commit::new().put(&Line { price: 0, ..line("b", 1, "stock") })).await.unwrap();
    // Handles with locks of their own, as processes have. Each decision takes a hold and, if there is one, gives back the
    // writer's last; the stock's price counts the holds.
    let writers = (0..4).map(|writer| {
        let database = target.world_on(world.engine.clone(), false).database;
        let store = database.tenant(world.store.tenant().as_str()).unwrap();
        tokio::spawn(async move {
            for round in 0..6 {
                let (old, new) = (format!("{writer}-{}", round - 1), format!("{writer}-{round}"));
                let prefixes = vec![prefix(1, None), prefix(2, Some(&old)), prefix(2, Some(&new))];
                let take = |partition: &Partition<Line>| {
                    let stock = partition.rows.iter().find(|row| row.line == "stock").expect("the stock");
                    let held = partition.rows.iter().any(|row| row.line == old);
                    assert_eq!((partition.rows.len(), held), (1 + usize::from(round > 0), round > 0));
                    let price = stock.price + 1 - i64::from(held && round % 2 == 0);
                    let mut commit = Commit::new().put(&line("b", 2, &new)).put(&Line { price, ..stock.clone() });
                    if held && round % 2 == 0 {
                        commit = commit.delete::<Line>(("b".into(), 2, old.clone()));
                    }
                    Ok::<_, Error>((commit, ()))
                };
                store.guarded_prefixes::<Line, _, Error>("b".into(), prefixes, take).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let rows = world.store.slice::<Line>("b".into()).page().await.unwrap().rows;
    let (stock, holds) = rows.split_last().unwrap();
    assert_eq!((stock.line.as_str(), stock.price), ("stock", holds.len() as i64));
    assert_eq!(holds.len(), 4 * 4, "six taken and two given back, by each");
}

async fn what_is_seen_is_one_state(target: &Target) {
    let world = target.world();
    let put = |n: i64| {
        // A row that comes and goes, so that a part of what is read is empty now and then.
        let commit = Commit::new().put(&Line { price: n, ..line("b", 1, "stock") });
        let commit = commit.set_static("b".into(), Line::SUBTOTAL, &Some(n));
        if n % 2 == 0 {
            commit.put(&Line { price: n, ..line("b", 2, "hold") })
        } else {
            commit.delete::<Line>(("b".into(), 2, "hold".into()))
        }
    };
    world.store.commit(put(0)).await.unwrap();
    let writer = {
        let store = world.store.clone();
        tokio::spawn(async move {
            for n in 1..40 {
                store.commit(put(n)).await.unwrap();
            }
        })
    };
    let database = target.world_on(world.engine.clone(), false).database;
    let reader = database.tenant(world.store.tenant().as_str()).unwrap();
    while !writer.is_finished() {
        let prefixes = vec![prefix(1, None), prefix(2, Some("hold")), prefix(2, Some("none"))];
        let look = |p: &Partition<Line>| Ok((Commit::new(), (p.rows.clone(), p.statics.get(Line::SUBTOTAL)?)));
        let (rows, subtotal) = match reader.guarded_prefixes::<Line, _, Error>("b".into(), prefixes, look).await {
            Err(Error::Contended { .. }) => continue,
            found => found.unwrap(),
        };
        let stock = rows.last().unwrap().price;
        let expected = if stock % 2 == 0 { vec![stock, stock] } else { vec![stock] };
        assert_eq!(rows.iter().map(|row| row.price).collect::<Vec<_>>(), expected);
        assert_eq!(subtotal, Some(Some(stock)));
    }
    writer.await.unwrap();
}

async fn bad_prefixes_are_refused(target: &Target) {
    let store = target.world().store;
    let long = vec![Value::BigInt(1), Value::Text("x".into()), Value::Text("y".into())];
    let (typed, large) = (vec![Value::Text("x".into())], prefix(1, Some(&"x".repeat(400))));
    for bad in [long, typed, large] {
        let found = store.guarded_prefixes::<Line, _, Error>("b".into(), vec![prefix(1, None), bad], seen).await;
        assert!(matches!(found, Err(Error::Invalid { .. } | Error::TooLarge { .. })), "{found:?}");
    }
    let many = (0..=limits::DECISION_PREFIXES_MAX as i64).map(|n| prefix(n, None));
    let found = store.guarded_prefixes::<Line, _, Error>("b".into(), many, seen).await;
    assert!(matches!(found, Err(Error::TooLarge { .. })), "{found:?}");
}

/// Cassandra sorts UUIDs by version before it sorts them by bytes.
async fn rows_with_ids_of_several_versions_are_replaced_whole(target: &Target) {
    let store = target.world().store;
    let id = |version: u128, n: u128| Uuid::from_u128((n << 120) | (version << 76) | (0x8 << 60));
    let ids: Vec<Uuid> = (0..24).map(|n| id([7, 4, 5, 1][n as usize % 4], n)).collect();
    let desk = || "desk".to_owned();
    let ticket = |id: &Uuid, note: Option<&str>| Ticket { desk: desk(), id: *id, note: note.map(str::to_owned) };
    let noted = ids.iter().map(|id| ticket(id, Some("seen")));
    store.commit(noted.fold(Commit::new(), |commit, row| commit.put(&row))).await.unwrap();
    let decide = |partition: &Partition<Ticket>| {
        let plain = partition.rows.iter().map(|row| ticket(&row.id, None));
        Ok((plain.fold(Commit::new(), |commit, row| commit.put(&row)), partition.rows.len()))
    };
    let read = store.guarded_prefixes::<Ticket, _, Error>(desk(), ids.clone(), decide).await.unwrap();
    assert_eq!(read, ids.len());
    for row in store.get_many::<Ticket>(ids.iter().map(|id| (desk(), *id))).await.unwrap() {
        assert_eq!(row.unwrap().note, None);
    }
    let left = store.slice::<TicketByNote>((desk(), "seen".into())).page().await.unwrap();
    assert_eq!(left.rows, []);
}
