//! Tables that other tools share: rows that are written each for itself, with what is derived from them.

use std::collections::BTreeSet;

use widerow::{
    Commit, Database, Date, Error, Options, Row, Schema, Store, Timestamp,
    engine::{Step, Write},
    limits,
    store::VerifyOptions,
};

use crate::{
    cases,
    commits::article,
    tables::{Article, ArticleByStatus, ByInt, Line, Reading, ReadingByKind, ReadingByOwner, Status},
    world::{Target, Worlds},
};

cases!(
    a_replaced_row_leaves_nothing_behind,
    a_row_that_is_refused_takes_no_other_along,
    the_last_write_of_a_row_counts,
    writers_that_race_leave_one_row_in_each_index,
    a_row_is_replaced_only_while_it_stands_as_it_was_read,
    rows_end_at_their_ttl,
    other_tables_take_many_rows_too,
    commits_and_guards_are_refused,
    a_separator_in_a_key_is_refused,
    erasing_takes_shared_rows,
    verify_knows_shared_rows,
    declarations_that_cannot_be_shared_are_refused,
);

fn day(n: i32) -> Date {
    Date::from_days(20_000 + n)
}

pub fn reading(station: &str, n: i32) -> Reading {
    Reading {
        station: station.into(),
        day: day(n % 30),
        id: format!("r{n}"),
        kind: "rain".into(),
        owner: Some("ann".into()),
        level: n,
        note: Some(format!("note {n}")),
        shard: Some(n % 3),
        ttl: None,
    }
}

fn key(row: &Reading) -> (String, Date, String) {
    (row.station.clone(), row.day, row.id.clone())
}

async fn put(store: &Store, rows: &[Reading]) {
    done(store.put_many(rows).await);
}

fn done(answers: Vec<Result<(), Error>>) {
    answers.into_iter().collect::<Result<(), Error>>().unwrap();
}

async fn by_kind(store: &Store, kind: &str) -> BTreeSet<(i32, i32, String)> {
    let mut found = BTreeSet::new();
    for shard in 0..3 {
        let rows = store.slice::<ReadingByKind>((kind.into(), shard)).all(10_000).await.unwrap();
        for row in rows {
            assert!(found.insert((row.shard, row.level, row.id)), "twice in the index");
        }
    }
    found
}

async fn by_owner(store: &Store, owner: &str) -> Vec<(i32, Option<String>)> {
    let rows = store.slice::<ReadingByOwner>(owner.into()).all(10_000).await.unwrap();
    rows.into_iter().map(|row| (row.level, row.note)).collect()
}

async fn a_replaced_row_leaves_nothing_behind(target: &Target) {
    let store = target.world().store;
    let first = reading("north", 1);
    put(&store, std::slice::from_ref(&first)).await;
    assert_eq!(store.get::<Reading>(key(&first)).await.unwrap(), Some(first.clone()));
    assert_eq!(by_kind(&store, "rain").await, BTreeSet::from([(1, 1, "r1".to_owned())]));
    assert_eq!(by_owner(&store, "ann").await, [(1, Some("note 1".to_owned()))]);
    // Every part of every index key changes, and a column that an index shows.
    let second = Reading { kind: "wind".into(), level: 7, owner: Some("bob".into()), note: None, ..first.clone() };
    put(&store, std::slice::from_ref(&second)).await;
    assert_eq!(store.get::<Reading>(key(&first)).await.unwrap(), Some(second.clone()));
    assert_eq!(by_kind(&store, "rain").await, BTreeSet::new());
    assert_eq!(by_kind(&store, "wind").await, BTreeSet::from([(1, 7, "r1".to_owned())]));
    assert_eq!(by_owner(&store, "ann").await, []);
    assert_eq!(by_owner(&store, "bob").await, [(7, None)]);
    // The same keys, another shown column: it is in place.
    put(&store, &[Reading { note: Some("again".into()), ..second.clone() }]).await;
    assert_eq!(by_owner(&store, "bob").await, [(7, Some("again".to_owned()))]);
    // Out of the sparse index, then gone.
    put(&store, &[Reading { owner: None, ..second.clone() }]).await;
    assert_eq!(by_owner(&store, "bob").await, []);
    assert_eq!(by_kind(&store, "wind").await.len(), 1);
    let gone = store.delete_many::<Reading>([key(&first), ("north".into(), day(0), "never".into())]).await;
    assert!(gone.iter().all(Result::is_ok), "{gone:?}");
    assert_eq!(store.get::<Reading>(key(&first)).await.unwrap(), None);
    assert_eq!(by_kind(&store, "wind").await, BTreeSet::new());
    assert_eq!(store.slice::<Reading>("north".into()).page().await.unwrap().rows, []);
}

async fn a_row_that_is_refused_takes_no_other_along(target: &Target) {
    let store = target.world().store;
    // More than two of DynamoDB's batches, in partitions of one and of many rows.
    let mut rows: Vec<Reading> = (0..120).map(|n| reading(&format!("s{}", n % 7 * (n % 2)), n)).collect();
    rows[3].note = Some("x".repeat(limits::ROW_BYTES_MAX));
    rows[30].station = "a#b".into();
    rows[31].station = String::new();
    rows[57].id = "x".repeat(limits::CLUSTERING_KEY_BYTES_MAX + 1);
    // Only its row in an index cannot be.
    rows[58].kind = "a#SHARD#1".into();
    rows[59].owner = Some(String::new());
    let answers = store.put_many(&rows).await;
    assert_eq!(answers.len(), rows.len());
    for (n, (row, answer)) in rows.iter().zip(&answers).enumerate() {
        match n {
            3 => match answer {
                Err(Error::TooLarge { what, limit, .. }) => {
                    assert_eq!((what.as_str(), *limit), ("readings row in bytes", limits::ROW_BYTES_MAX));
                }
                other => panic!("{other:?}"),
            },
            57 => assert!(matches!(answer, Err(Error::TooLarge { .. })), "{answer:?}"),
            30 | 31 | 58 | 59 => assert!(matches!(answer, Err(Error::Invalid { .. })), "{n}: {answer:?}"),
            _ => {
                assert!(answer.is_ok(), "{n}: {answer:?}");
                assert_eq!(store.get::<Reading>(key(row)).await.unwrap().as_ref(), Some(row));
            }
        }
    }
    assert_eq!(by_kind(&store, "rain").await.len(), 114);
    assert_eq!(by_owner(&store, "ann").await.len(), 114);
    assert!(store.put_many::<Reading>(&[]).await.is_empty());
}

async fn the_last_write_of_a_row_counts(target: &Target) {
    let store = target.world().store;
    let rows: Vec<Reading> = (0..60).map(|n| Reading { level: n, ..reading("same", 1) }).collect();
    done(store.put_many(&rows).await);
    assert_eq!(store.get::<Reading>(key(&rows[0])).await.unwrap().as_ref(), rows.last());
    assert_eq!(by_kind(&store, "rain").await, BTreeSet::from([(1, 59, "r1".to_owned())]));
}

async fn writers_that_race_leave_one_row_in_each_index(target: &Target) {
    let world = target.empty_world();
    // Two databases, as two processes would be: nothing within one of them keeps them apart.
    let schema = crate::tables::schema;
    let others = Database::with_options(world.engine.clone(), schema(), Options::default());
    let others = others.tenant(world.store.tenant().as_str()).unwrap();
    let (writers, rounds) = if target.name == "cassandra" { (4, 4) } else { (8, 20) };
    let mut tasks = Vec::new();
    for writer in 0..writers {
        let store = if writer % 2 == 0 { world.store.clone() } else { others.clone() };
        tasks.push(tokio::spawn(async move {
            for round in 0..rounds {
                let kind = ["rain", "wind", "snow"][(writer + round) as usize % 3];
                let row = |n: i32| Reading {
                    kind: kind.into(),
                    level: writer * 1000 + round,
                    owner: (round % 2 == 0).then(|| format!("w{writer}")),
                    ..reading("hot", n)
                };
                if (writer + round) % 5 == 4 {
                    store.delete_many::<Reading>([key(&row(1))]).await.into_iter().for_each(|done| done.unwrap());
                }
                put(&store, &[row(0), row(1)]).await;
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let store = &world.store;
    let rows = store.slice::<Reading>("hot".into()).page().await.unwrap().rows;
    assert_eq!(rows.len(), 2);
    let expected: BTreeSet<_> = rows.iter().map(|r| (r.kind.clone(), r.level, r.id.clone())).collect();
    let mut found = BTreeSet::new();
    for kind in ["rain", "wind", "snow"] {
        found.extend(by_kind(store, kind).await.into_iter().map(|(_, level, id)| (kind.to_owned(), level, id)));
    }
    assert_eq!(found, expected);
    let report = world.database.verify(VerifyOptions::default()).await.unwrap();
    assert_eq!(report.differences, 0, "{:?}", report.listed);
}

async fn a_row_is_replaced_only_while_it_stands_as_it_was_read(target: &Target) {
    let world = target.world();
    let store = &world.store;
    let rows: Vec<Reading> = (0..30).map(|n| reading("calm", n)).collect();
    put(store, &rows).await;
    let end = Some(Timestamp::from_millis(world.clock_now().millis() / 1000 * 1000 + 3_600_000));
    let louder = |row: &Reading| Reading { level: row.level + 100, owner: None, ttl: end, ..row.clone() };
    // Two of them are changed, one is gone meanwhile, one would have another key, and one was never there.
    put(store, &[Reading { note: None, ..rows[3].clone() }, Reading { kind: "wind".into(), ..rows[4].clone() }]).await;
    assert!(store.delete_many::<Reading>([key(&rows[5])]).await[0].is_ok());
    let mut pairs: Vec<(Reading, Reading)> = rows.iter().map(|row| (row.clone(), louder(row))).collect();
    pairs[6].1.id = "other".into();
    pairs.push((reading("calm", 99), reading("calm", 99)));
    for (n, answer) in store.replace_many(&pairs).await.into_iter().enumerate() {
        match n {
            3 | 4 | 5 | 30 => assert!(matches!(answer, Ok(false)), "{n}: {answer:?}"),
            6 => assert!(matches!(answer, Err(Error::Invalid { .. })), "{answer:?}"),
            _ => assert!(matches!(answer, Ok(true)), "{n}: {answer:?}"),
        }
    }
    assert_eq!(store.get::<Reading>(key(&rows[7])).await.unwrap(), Some(louder(&rows[7])));
    assert_eq!(store.get::<Reading>(key(&rows[3])).await.unwrap().map(|row| row.level), Some(3));
    assert_eq!(store.get::<Reading>(key(&rows[5])).await.unwrap(), None);
    assert_eq!(store.get::<Reading>(key(&reading("calm", 99))).await.unwrap(), None);
    let mut levels: Vec<i32> = by_kind(store, "rain").await.into_iter().map(|(_, level, _)| level).collect();
    levels.sort();
    let mut expected: Vec<i32> = (0..30).filter(|n| ![3, 4, 5, 6].contains(n)).map(|n| n + 100).collect();
    expected.extend([3, 6]);
    expected.sort();
    assert_eq!(levels, expected);
    assert_eq!(by_owner(store, "ann").await.len(), 3);
}

async fn rows_end_at_their_ttl(target: &Target) {
    let world = target.world();
    let store = &world.store;
    let soon = Timestamp::from_millis(world.clock_now().millis() / 1000 * 1000 + 60_000);
    let row = Reading { ttl: Some(soon), ..reading("dry", 1) };
    let stays = reading("dry", 2);
    put(store, &[row.clone(), stays.clone()]).await;
    assert_eq!(store.get::<Reading>(key(&row)).await.unwrap(), Some(row.clone()));
    world.clock.advance_millis(61_000);
    assert_eq!(store.get::<Reading>(key(&row)).await.unwrap(), None);
    assert_eq!(store.slice::<Reading>("dry".into()).page().await.unwrap().rows, [stays]);
    // DynamoDB's index shows what it projects, as its other users know it, and the end is not among it.
    let indexed = if target.abilities().native_indexes { 2 } else { 1 };
    assert_eq!(by_kind(store, "rain").await.len(), indexed);
    // Written again with another end, it is there.
    put(store, &[Reading { ttl: Some(soon.plus_seconds(3600)), ..row.clone() }]).await;
    assert!(store.get::<Reading>(key(&row)).await.unwrap().is_some());
    assert_eq!(by_kind(store, "rain").await.len(), 2);
}

async fn other_tables_take_many_rows_too(target: &Target) {
    let store = target.world().store;
    let plain: Vec<ByInt> = (0..90).map(|value| ByInt { owner: format!("o{}", value % 4), value, note: 1 }).collect();
    done(store.put_many(&plain).await);
    assert_eq!(store.slice::<ByInt>("o3".into()).limit(100).page().await.unwrap().rows.len(), 22);
    done(store.delete_many::<ByInt>(plain.iter().map(|r| (r.owner.clone(), r.value))).await);
    assert_eq!(store.slice::<ByInt>("o3".into()).page().await.unwrap().rows, []);
    // A guarded table, with what is derived from it, through its versions.
    let articles: Vec<Article> = (1..=12).map(article).collect();
    done(store.put_many(&articles).await);
    let derived = store.slice::<ArticleByStatus>(Status::OnSale).page().await.unwrap().rows;
    assert_eq!(derived.len(), 12);
    let (_, version) = store.get_versioned::<Article>(3).await.unwrap();
    assert!(version.is_some());
    // Static columns belong to no row, and derived rows to their base.
    let line = crate::slices::line("b", 1, "x");
    assert!(matches!(&store.put_many::<Line>(&[line]).await[..], [Err(Error::Invalid { .. })]));
    assert!(matches!(&store.put_many(&derived[..1]).await[..], [Err(Error::Invalid { .. })]));
}

async fn commits_and_guards_are_refused(target: &Target) {
    let store = target.world().store;
    let row = reading("north", 1);
    let put = store.commit(Commit::new().put(&row)).await;
    assert!(matches!(put, Err(Error::Invalid { ref field, .. }) if field == "readings"), "{put:?}");
    let guarded = store.commit(Commit::new().absent::<Reading>(key(&row))).await;
    assert!(matches!(guarded, Err(Error::Invalid { .. })), "{guarded:?}");
    assert!(store.get_versioned::<Reading>(key(&row)).await.is_err());
    let update = store.update::<Reading, Error>(key(&row), None, |_| Ok(None)).await;
    assert!(matches!(update, Err(Error::Invalid { .. })), "{update:?}");
    assert_eq!(store.get::<Reading>(key(&row)).await.unwrap(), None);
}

async fn a_separator_in_a_key_is_refused(target: &Target) {
    let store = target.world().store;
    for station in ["a#b", "#", "TENANT#other"] {
        assert!(store.get::<Reading>((station.into(), day(0), "r".into())).await.is_err());
        assert!(store.slice::<Reading>(station.into()).page().await.is_err());
        assert!(store.slice::<ReadingByOwner>(station.into()).page().await.is_err());
        let gone = store.delete_many::<Reading>([(station.into(), day(0), "r".into())]).await;
        assert!(matches!(&gone[..], [Err(Error::Invalid { .. })]));
    }
    // Whatever else stands in a key stays what it is.
    let odd = ["$23", "a$b", "\0", "a\0b", "ТENANT", "~", " ", "é"];
    let rows: Vec<Reading> = odd.iter().map(|odd| Reading { id: (*odd).into(), ..reading(odd, 1) }).collect();
    put(&store, &rows).await;
    for row in &rows {
        assert_eq!(store.slice::<Reading>(row.station.clone()).page().await.unwrap().rows, std::slice::from_ref(row));
    }
    let found = by_kind(&store, "rain").await;
    assert_eq!(found.into_iter().map(|(_, _, id)| id).collect::<BTreeSet<_>>(), odd.map(String::from).into());
}

async fn erasing_takes_shared_rows(target: &Target) {
    let world = target.empty_world();
    let other = world.database.tenant("other").unwrap();
    let rows: Vec<Reading> = (0..50).map(|n| reading(&format!("s{}", n % 3), n)).collect();
    put(&world.store, &rows).await;
    put(&other, &rows[..5]).await;
    assert_eq!(world.store.erase(|_| {}).await.unwrap(), 50);
    assert_eq!(by_kind(&world.store, "rain").await.len(), 0);
    assert_eq!(by_kind(&other, "rain").await.len(), 5);
}

async fn verify_knows_shared_rows(target: &Target) {
    let world = target.empty_world();
    let rows: Vec<Reading> = (0..40).map(|n| reading(&format!("s{}", n % 5), n)).collect();
    put(&world.store, &rows).await;
    let options = VerifyOptions::default();
    let report = world.database.verify(options).await.unwrap();
    assert_eq!((report.differences, report.base_rows, report.derived_rows), (0, 80, 80), "{:?}", report.listed);
    // An index of the engine's own cannot be tampered with.
    if target.abilities().native_indexes {
        return;
    }
    let derived =
        ReadingByKind { kind: "ghost".into(), shard: 1, day: day(1), level: 1, station: "s1".into(), id: "r1".into() };
    let missing =
        ReadingByKind { kind: "rain".into(), shard: 2, day: day(2), level: 2, station: "s2".into(), id: "r2".into() };
    let table = ReadingByKind::table();
    let writes = vec![
        Write::Put { table, values: derived.to_values().into(), expires_at: None, indexes: Vec::new() },
        Write::Delete { table, key: missing.to_values() },
    ];
    let tenant = world.store.tenant();
    let (now, timestamp) = (world.clock_now(), world.clock_now().millis() * 1000 + 500_000);
    let step = Step { id: uuid::Uuid::now_v7(), tenant, guarded: None, writes, now, timestamp };
    world.engine.apply(&step).await.unwrap();
    assert_eq!(world.database.verify(options).await.unwrap().differences, 2);
    world.clock.advance_millis(2000);
    let report = world.database.verify(VerifyOptions { repair: true, ..options }).await.unwrap();
    assert_eq!((report.differences, report.repaired), (2, 2));
    assert_eq!(world.database.verify(options).await.unwrap().differences, 0);
    assert_eq!(by_kind(&world.store, "rain").await.len(), 40);
}

mod wrong {
    use super::*;

    /// Derived from a shared table, and not shared itself.
    #[derive(Row, Clone)]
    #[row(table = "readings_by_note", partition(note), clustering(station, day, id), index(name = "GSI9"))]
    pub struct ByNote {
        pub note: String,
        pub station: String,
        pub day: Date,
        pub id: String,
    }

    impl widerow::Derive<ByNote> for Reading {
        fn derive(&self) -> Vec<ByNote> {
            Vec::new()
        }
        fn source(derived: &ByNote) -> (String, Date, String) {
            (derived.station.clone(), derived.day, derived.id.clone())
        }
    }
}

async fn declarations_that_cannot_be_shared_are_refused(_: &Target) {
    let problem = Schema::new().derived::<Reading, wrong::ByNote>().build().unwrap_err().to_string();
    assert!(problem.contains("readings_by_note") && problem.contains("shared"), "{problem}");
}
