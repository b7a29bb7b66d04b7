//! Tables that are series, in a folder: staged, packed, read back after a start, and always the same rows.

use std::{collections::BTreeMap, ops::Bound, path::Path, sync::Arc};

use rand::{Rng, SeedableRng, rngs::SmallRng};
use widerow::{
    Commit, Database, Row, Schema, Store, Timestamp,
    embedded::{Embedded, EmbeddedConfig},
    store::Options,
    time::{Clock as _, ManualClock},
    value::Value,
};

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "samples", partition(sensor, hour), clustering(at desc, name), series, ttl = "1d")]
struct Sample {
    sensor: String,
    hour: i32,
    at: i64,
    name: String,
    value: Option<i64>,
}

/// Committed with a sample.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "marks", partition(sensor), clustering(at))]
struct Mark {
    sensor: String,
    at: i64,
}

fn schema() -> Schema {
    Schema::new().table::<Sample>().table::<Mark>().build().expect("a schema")
}

async fn open(folder: &Path, staged_bytes: u64, clock: &Arc<ManualClock>) -> (Database, Store) {
    let config = EmbeddedConfig { staged_bytes, ..EmbeddedConfig::default() };
    let engine = Embedded::open_with(folder, &schema(), &config).expect("the folder opens");
    let options = Options { clock: clock.clone(), ..Options::default() };
    let database = Database::with_options(engine, schema(), options);
    database.migrate().await.expect("tables");
    let store = database.tenant("ann").expect("a good name");
    (database, store)
}

/// Sensor and hour, then the time backwards, then the name; with the value and the end.
type Model = BTreeMap<(String, i32, std::cmp::Reverse<i64>, String), (Option<i64>, Timestamp)>;

/// With a name so much longer than it need be: of long ones a partition has more than one pack.
fn key(chance: &mut SmallRng, longer: usize) -> (String, i32, i64, String) {
    let sensor = ["a", "b", "a\0"][chance.random_range(0..3)].to_owned();
    let name = ["", "x", "\u{ff}"][chance.random_range(0..3)].to_owned() + &"y".repeat(longer);
    (sensor, chance.random_range(0..2), chance.random_range(-5..6), name)
}

async fn scanned(store: &Store, ranges: usize) -> Vec<Sample> {
    let mut rows = Vec::new();
    for mut range in store.scan(Sample::table(), ranges).await.expect("a scan") {
        while let Some(page) = range.next().await.expect("a page") {
            rows.extend(page.into_iter().map(|(_, row)| Sample::from_values(row.values).expect("a sample")));
        }
    }
    rows
}

fn expected<'m>(model: &'m Model, now: Timestamp) -> impl Iterator<Item = Sample> + 'm {
    let live = model.iter().filter(move |(_, (_, end))| *end > now);
    live.map(|((sensor, hour, at, name), (value, _))| Sample {
        sensor: sensor.clone(),
        hour: *hour,
        at: at.0,
        name: name.clone(),
        value: *value,
    })
}

#[tokio::test]
async fn series_follow_the_model() {
    let seed = std::env::var("MERKATO_TEST_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let worlds = [(0, 0), (300, 0), (2_000, 0), (u64::MAX, 0), (2_000, 250), (20_000, 250)];
    for ((staged_bytes, longer), seed) in worlds.into_iter().zip(seed..) {
        println!("seed {seed}, {staged_bytes} bytes staged, names longer by {longer}");
        follow_the_model(seed, staged_bytes, longer).await;
    }
}

async fn follow_the_model(seed: u64, staged_bytes: u64, longer: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_700_000_000_000)));
    let (mut database, mut store) = open(folder.path(), staged_bytes, &clock).await;
    let chance = &mut SmallRng::seed_from_u64(seed);
    let mut model = Model::new();
    for round in 0..1_200 {
        let now = clock.now();
        match chance.random_range(0..20) {
            0..=8 => {
                let mut commit = Commit::new();
                let mut written = std::collections::BTreeSet::new();
                for _ in 0..chance.random_range(1..6) {
                    let (sensor, hour, at, name) = key(chance, longer);
                    if !written.insert((sensor.clone(), hour, at, name.clone())) {
                        continue;
                    }
                    let place = (sensor.clone(), hour, std::cmp::Reverse(at), name.clone());
                    if chance.random_bool(0.15) {
                        commit = commit.delete::<Sample>((sensor, hour, at, name));
                        model.remove(&place);
                    } else {
                        let value = chance.random_bool(0.8).then(|| chance.random_range(0..1_000_000));
                        let seconds = chance.random_range(1..5) * 1_000;
                        commit = commit.put_for(&Sample { sensor, hour, at, name, value }, seconds);
                        model.insert(place, (value, now.plus_seconds(seconds.into())));
                    }
                }
                store.commit(commit).await.expect("a commit");
            }
            9 => {
                let (sensor, hour, at, _) = key(chance, longer);
                let bounds = (Bound::Included(Value::BigInt(at)), Bound::Excluded(Value::BigInt(at + 3)));
                let commit = Commit::new().delete_range::<Sample>((sensor.clone(), hour), (), bounds);
                store.commit(commit).await.expect("a commit");
                model.retain(|(s, h, t, _), _| !(*s == sensor && *h == hour && (at..at + 3).contains(&t.0)));
            }
            10 if chance.random_bool(0.2) => {
                let (sensor, hour, ..) = key(chance, longer);
                let commit = Commit::new().delete_partition::<Sample>((sensor.clone(), hour));
                store.commit(commit).await.expect("a commit");
                model.retain(|(s, h, ..), _| !(*s == sensor && *h == hour));
            }
            11 => clock.advance_millis(chance.random_range(0..900_000)),
            12 => while database.reclaim(7).await.expect("reclaimed").more {},
            13 if chance.random_bool(0.5) => {
                drop((database, store));
                (database, store) = open(folder.path(), staged_bytes, &clock).await;
            }
            14 => {
                let found = scanned(&store, chance.random_range(1..4)).await;
                assert_eq!(found, expected(&model, now).collect::<Vec<_>>(), "round {round}");
            }
            15 => {
                let keys: Vec<_> = (0..5).map(|_| key(chance, longer)).collect();
                let found = store.get_many::<Sample>(keys.clone()).await.expect("rows");
                for ((sensor, hour, at, name), found) in keys.into_iter().zip(found) {
                    let wanted = model.get(&(sensor, hour, std::cmp::Reverse(at), name)).filter(|(_, end)| *end > now);
                    assert_eq!(found.map(|row| row.value), wanted.map(|(value, _)| *value), "round {round}");
                }
            }
            _ => {
                let (sensor, hour, at, _) = key(chance, longer);
                let bounded = chance.random_bool(0.5);
                let of_it = |row: &Sample| {
                    row.sensor == sensor && row.hour == hour && (!bounded || (at..at + 4).contains(&row.at))
                };
                let mut wanted: Vec<_> = expected(&model, now).filter(of_it).collect();
                let (reverse, limit) = (chance.random_bool(0.5), chance.random_range(1..9));
                if reverse {
                    wanted.reverse();
                }
                let (mut found, mut cursor) = (Vec::new(), None);
                loop {
                    let mut slice = store.slice::<Sample>((sensor.clone(), hour)).limit(limit).after(cursor);
                    if bounded {
                        slice = slice.from(Bound::Included(at)).to(Bound::Excluded(at + 4));
                    }
                    let page = if reverse { slice.reverse() } else { slice }.page().await.expect("a page");
                    found.extend(page.rows);
                    match page.next {
                        Some(next) => cursor = Some(next),
                        None => break,
                    }
                }
                assert_eq!(found, wanted, "round {round}");
            }
        }
    }
    // All ends: nothing is left, also not of what was written again with an earlier end.
    clock.advance_millis(100_000_000);
    scanned(&store, 1).await;
    while database.reclaim(1_000).await.expect("reclaimed").more {}
    assert_eq!(scanned(&store, 1).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_seen_a_commit_sees_its_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_700_000_000_000)));
    let (_database, store) = open(folder.path(), 4_000, &clock).await;
    let writers = (0..4).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            for at in 0..400 {
                let sensor = format!("s{writer}");
                let sample = Sample { sensor: sensor.clone(), hour: 0, at, name: String::new(), value: Some(at) };
                store.commit(Commit::new().put(&sample).put(&Mark { sensor, at })).await.expect("a commit");
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let mut seen = 0;
    while seen < 4 * 399 {
        seen = 0;
        for writer in 0..4 {
            let sensor = format!("s{writer}");
            let marks = store.slice::<Mark>(sensor.clone()).reverse().limit(1).page().await.expect("a mark").rows;
            let Some(mark) = marks.first() else { continue };
            seen += mark.at;
            let rows = store.slice::<Sample>((sensor.clone(), 0)).limit(1).page().await.expect("a sample").rows;
            assert!(rows.first().is_some_and(|row| row.at >= mark.at), "a mark without its sample: {rows:?} {mark:?}");
            let by_key = store.get::<Sample>((sensor, 0, mark.at, String::new())).await.expect("a read");
            assert!(by_key.is_some(), "a mark without its sample: {mark:?}");
        }
    }
    for writer in writers {
        writer.await.expect("no panic");
    }
}

/// Many pages, with a partition that goes while the scan stands in it.
#[tokio::test]
async fn a_scan_passes_over_no_row_where_others_go() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_700_000_000_000)));
    let (database, store) = open(folder.path(), u64::MAX, &clock).await;
    let commit = |hour: i32, from: i64, seconds: u32| {
        let sample = move |at| Sample { sensor: "s".into(), hour, at, name: String::new(), value: Some(at) };
        (from..from + 700).fold(Commit::new(), |commit, at| commit.put_for(&sample(at), seconds))
    };
    // Later times stand before earlier ones.
    store.commit(commit(1, 0, 10)).await.expect("a commit");
    store.commit(commit(2, 1_000, 1_000)).await.expect("a commit");
    let mut ranges = store.scan(Sample::table(), 1).await.expect("a scan");
    let mut rows = Vec::new();
    while let Some(page) = ranges[0].next().await.expect("a page") {
        rows.extend(page.into_iter().map(|(_, row)| Sample::from_values(row.values).expect("a sample")));
        clock.advance_millis(11_000);
        while database.reclaim(1_000).await.expect("reclaimed").more {}
    }
    assert!(rows.iter().filter(|row| row.hour == 1).count() < 700, "the scan has stood in what has gone");
    assert_eq!(rows.iter().filter(|row| row.hour == 2).count(), 700);
}

/// Two rows are always written together, and packed all the time.
#[tokio::test(flavor = "multi_thread")]
async fn who_reads_several_rows_sees_commits_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_700_000_000_000)));
    let (_database, store) = open(folder.path(), u64::MAX, &clock).await;
    let sample = |at, value| Sample { sensor: "s".into(), hour: 0, at, name: String::new(), value: Some(value) };
    let writer = tokio::spawn({
        let store = store.clone();
        async move {
            for value in 0..300 {
                store.commit(Commit::new().put(&sample(1, value)).put(&sample(2, value))).await.expect("a commit");
                scanned(&store, 1).await;
            }
        }
    });
    while !writer.is_finished() {
        let rows = store.slice::<Sample>(("s".into(), 0)).page().await.expect("a page").rows;
        let values: Vec<_> = rows.iter().map(|row| row.value).collect();
        assert!(values.is_empty() || (values.len() == 2 && values[0] == values[1]), "half a commit: {values:?}");
    }
    writer.await.expect("no panic");
}

#[test]
fn a_series_is_plain() {
    #[derive(Row, Clone, Debug, PartialEq)]
    #[row(table = "alone", partition(id), series)]
    struct Alone {
        id: i64,
    }
    let problem = Schema::new().table::<Alone>().build().expect_err("no clustering columns").to_string();
    assert!(problem.contains("a series has clustering columns"), "{problem}");
}
