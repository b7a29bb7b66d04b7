//! Cached pages: the same as uncached ones after any commits, never older than what was acknowledged, within their bytes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::Duration,
};

use rand::{Rng, SeedableRng, rngs::SmallRng};

use super::Stripes;
use crate::{
    Commit, Counter, Database, Error, Options, Page, Row, Schema, Store,
    embedded::{Embedded, EmbeddedConfig},
    engine::Engine,
    store::SliceRequest,
    time::{Clock, ManualClock, Timestamp},
    value::Value,
};

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "plain", partition(owner), clustering(kind, number desc), ttl = "1h")]
struct Plain {
    owner: String,
    kind: String,
    number: i64,
    count: i64,
    note: Option<String>,
}

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "lines", partition(basket), clustering(line), guarded)]
struct Line {
    basket: String,
    line: i64,
    #[row(static)]
    total: Option<i64>,
    count: i64,
}

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "views", partition(page), clustering(day), counters)]
struct Views {
    page: String,
    day: i64,
    views: Counter,
}

/// The plain table after a column was added in the middle.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "plain", partition(owner), clustering(kind, number desc), ttl = "1h")]
struct Wider {
    owner: String,
    kind: String,
    number: i64,
    added: Option<String>,
    count: i64,
    note: Option<String>,
}

fn schema() -> Schema {
    Schema::new().table::<Plain>().table::<Line>().table::<Views>().build().expect("a schema")
}

struct World {
    engine: Arc<Embedded>,
    clock: Arc<ManualClock>,
    database: Database,
    store: Store,
    _folder: tempfile::TempDir,
}

async fn world(page_cache_bytes: u64) -> World {
    let folder = tempfile::tempdir().unwrap();
    let config = EmbeddedConfig { page_cache_bytes, ..EmbeddedConfig::default() };
    let engine = Arc::new(Embedded::open_with(folder.path(), &schema(), &config).unwrap());
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_700_000_000_000)));
    let options = Options { clock: clock.clone() as Arc<dyn Clock>, ..Options::default() };
    let database = Database::with_options(engine.clone() as Arc<dyn Engine>, schema(), options);
    database.migrate().await.unwrap();
    let store = database.tenant("t").unwrap();
    World { engine, clock, database, store, _folder: folder }
}

fn plain(owner: &str, kind: &str, number: i64, count: i64) -> Plain {
    Plain { owner: owner.into(), kind: kind.into(), number, count, note: None }
}

impl World {
    fn hits(&self) -> u64 {
        self.engine.pages.hits.load(Ordering::Relaxed)
    }
}

#[test]
fn stripes_are_closed_while_they_are_written_and_never_as_before() {
    let stripes = Stripes::new();
    let (one, other) = (Stripes::of(b"one"), Stripes::of(b"other"));
    assert_ne!(one, other);
    let before = stripes.number(one);
    assert!(before.is_some());
    let mut written = vec![one, other, one, one];
    stripes.open(&mut written);
    assert_eq!((stripes.number(one), stripes.number(other)), (None, None));
    stripes.close(&written);
    assert!(stripes.number(one) > before && stripes.number(other).is_some());
    // Keys that differ a little are spread.
    let spread: std::collections::HashSet<_> = (0..4096u32).map(|n| Stripes::of(&n.to_be_bytes())).collect();
    assert!(spread.len() > 2000, "{}", spread.len());
}

#[tokio::test]
async fn pages_that_are_read_again_are_kept() {
    let world = world(1 << 20).await;
    let rows = (0..30).fold(Commit::new(), |c, n| c.put(&plain("me", "a", n, n)));
    world.store.commit(rows).await.unwrap();
    let read = || world.store.slice::<Plain>("me".into()).prefix("a").limit(24).page();
    let (first, cost) = crate::meter::measure(read()).await;
    read().await.unwrap();
    assert_eq!(world.hits(), 0);
    let (third, cost_of_hit) = crate::meter::measure(read()).await;
    assert_eq!((world.hits(), cost_of_hit), (1, cost), "a hit costs the same by the meter");
    assert_eq!(first.unwrap().rows, third.unwrap().rows);
    // Another tenant, limit, direction or position is another page.
    let stranger = world.database.tenant("u").unwrap();
    for _ in 0..4 {
        assert!(stranger.slice::<Plain>("me".into()).prefix("a").limit(24).page().await.unwrap().rows.is_empty());
        assert_eq!(world.store.slice::<Plain>("me".into()).limit(23).page().await.unwrap().rows.len(), 23);
        let back = world.store.slice::<Plain>("me".into()).prefix("a").limit(24).reverse().page().await.unwrap();
        assert_eq!(back.rows[0].number, 0);
        let after = world.store.slice::<Plain>("me".into()).prefix("a").limit(24).after_key(("a".to_owned(), 9i64));
        assert_eq!(after.page().await.unwrap().rows[0].number, 8);
    }
    // What ends is hidden from a kept page too.
    let hits = world.hits();
    world.clock.advance_millis(3_600_001);
    assert!(read().await.unwrap().rows.is_empty());
    assert_eq!(world.hits(), hits + 1);
    assert_eq!(world.database.reclaim(100).await.unwrap().rows, 30);
    assert!(read().await.unwrap().rows.is_empty());
}

#[tokio::test]
async fn the_cache_stays_within_its_bytes_and_keeps_no_large_page() {
    let bytes = 256 * 1024;
    let world = world(bytes).await;
    for owner in 0..300 {
        let rows = (0..10).fold(Commit::new(), |c, n| {
            c.put(&Plain { note: Some("x".repeat(100)), ..plain(&format!("{owner}"), "a", n, n) })
        });
        world.store.commit(rows).await.unwrap();
    }
    for round in 0..4 {
        for owner in 0..300 {
            let owner = (owner * (round + 1)) % 300;
            let page = world.store.slice::<Plain>(format!("{owner}")).limit(10).page().await.unwrap();
            assert_eq!(page.rows.len(), 10);
            let (pages, weight) = world.engine.pages.weight();
            assert!(weight <= bytes, "{pages} pages of {weight} bytes");
        }
    }
    let (pages, weight) = world.engine.pages.weight();
    assert!(pages > 20 && weight > bytes / 4, "{pages} pages of {weight} bytes");
    let large = Plain { note: Some("x".repeat(bytes as usize / 64)), ..plain("large", "a", 1, 1) };
    world.store.commit(Commit::new().put(&large)).await.unwrap();
    let hits = world.hits();
    for _ in 0..4 {
        assert_eq!(world.store.slice::<Plain>("large".into()).page().await.unwrap().rows.len(), 1);
    }
    assert_eq!(world.hits(), hits);
}

#[tokio::test]
async fn a_column_that_is_added_is_in_every_page_behind_it() {
    let world = world(1 << 20).await;
    world.store.commit(Commit::new().put(&plain("me", "a", 1, 7))).await.unwrap();
    for _ in 0..3 {
        world.store.slice::<Plain>("me".into()).page().await.unwrap();
    }
    assert_eq!(world.hits(), 1);
    let schema = Schema::new().table::<Wider>().table::<Line>().table::<Views>().build().unwrap();
    let options = Options { clock: world.clock.clone() as Arc<dyn Clock>, ..Options::default() };
    let wider = Database::with_options(world.engine.clone() as Arc<dyn Engine>, schema, options);
    wider.migrate().await.unwrap();
    let store = wider.tenant("t").unwrap();
    let row = |number, added: Option<&str>, count| Wider {
        owner: "me".into(),
        kind: "a".into(),
        number,
        added: added.map(str::to_owned),
        count,
        note: None,
    };
    for _ in 0..3 {
        assert_eq!(store.slice::<Wider>("me".into()).page().await.unwrap().rows, [row(1, None, 7)]);
    }
    let new = row(2, Some("new"), 8);
    store.commit(Commit::new().put(&new)).await.unwrap();
    for _ in 0..4 {
        assert_eq!(store.slice::<Wider>("me".into()).page().await.unwrap().rows, [new.clone(), row(1, None, 7)]);
    }
}

/// Some commit, by chance; the same for every store that is given the same chance.
async fn change(chance: &mut SmallRng, world: &World, step: i64) {
    let store = &world.store;
    let owner = ["a", "b", "c"][chance.random_range(0..3)];
    let kind = ["k", "l", ""][chance.random_range(0..3)];
    let (number, other) = (chance.random_range(0..6), chance.random_range(0..6));
    let commit = match chance.random_range(0..10) {
        0..3 => Commit::new().put(&plain(owner, kind, number, step)).put(&plain(owner, "k", other, step)),
        3 => Commit::new().delete::<Plain>((owner.into(), kind.into(), number)),
        4 => Commit::new().delete_prefix::<Plain>(owner.into(), kind),
        5 => Commit::new().delete_partition::<Plain>(owner.into()).put(&plain(owner, "k", number, step)),
        6 => {
            let line = Line { basket: owner.into(), line: number, total: Some(step), count: step };
            Commit::new().put(&line).put(&Line { line: other, total: None, ..line.clone() })
        }
        7 => {
            let commit = Commit::new().delete::<Line>((owner.into(), number));
            commit.set_static(owner.into(), Line::TOTAL, &(step % 2 == 0).then_some(step))
        }
        8 => {
            store.add::<Views>((owner.into(), number), Views::VIEWS, step).await.unwrap();
            Commit::new().put_for(&plain(owner, kind, number, step), 60)
        }
        _ => {
            world.clock.advance_millis(20_000);
            world.database.reclaim(5).await.unwrap();
            Commit::new().delete_partition::<Line>(owner.into())
        }
    };
    // Together with a row elsewhere: several partitions in one group.
    store.commit(commit.put(&plain("all", "", step % 4, step))).await.unwrap();
}

async fn slices(store: &Store) -> Vec<String> {
    async fn told<R: Row + std::fmt::Debug>(slice: SliceRequest<R>) -> String {
        let Page { rows, next, .. } = slice.page().await.unwrap();
        format!("{rows:?} {next:?}")
    }
    let mut found = Vec::new();
    for owner in ["a", "b", "c", "all"] {
        let plain = || store.slice::<Plain>(owner.into());
        found.push(told(plain().limit(50)).await);
        found.push(told(plain().prefix("k").limit(3)).await);
        found.push(told(plain().prefix("k").limit(3).reverse()).await);
        found.push(told(plain().prefix("l").from(std::ops::Bound::Excluded(2i64)).limit(4)).await);
        found.push(told(plain().after_key(("k".to_owned(), 3i64)).limit(2)).await);
        found.push(told(store.slice::<Views>(owner.into()).limit(9)).await);
        let lines = store.slice::<Line>(owner.into()).limit(4).page().await.unwrap();
        found.push(format!("{:?} {:?}", lines.rows, lines.statics.get(Line::TOTAL).unwrap()));
    }
    found
}

#[tokio::test]
async fn random_commits_read_the_same_with_and_without_a_cache() {
    let (with, without) = (world(1 << 20).await, world(0).await);
    let (mut one, mut other) = (SmallRng::seed_from_u64(7), SmallRng::seed_from_u64(7));
    for step in 1..=200 {
        change(&mut one, &with, step).await;
        change(&mut other, &without, step).await;
        let expected = slices(&without.store).await;
        for _ in 0..2 {
            assert_eq!(slices(&with.store).await, expected, "step {step}");
        }
    }
    assert!(with.hits() > 2_500, "{} hits", with.hits());
    assert_eq!(without.hits(), 0);
}

/// Writers put all rows of a partition, and its static column, to the next count in one commit. Readers check that every
/// page is one commit, whole; that it is no older than what was acknowledged before; and that nobody, by pages or by single
/// rows, goes back in time.
async fn readers_among_writers(page_cache_bytes: u64) -> u64 {
    const PARTITIONS: usize = 3;
    const ROWS: i64 = 8;
    let world = Arc::new(world(page_cache_bytes).await);
    let acknowledged: Arc<[AtomicI64; PARTITIONS]> = Arc::default();
    let over = Arc::new(AtomicBool::new(false));
    let writers = (0..PARTITIONS).map(|p| {
        let (world, acknowledged) = (world.clone(), acknowledged.clone());
        tokio::spawn(async move {
            let mut chance = SmallRng::seed_from_u64(p as u64);
            for count in 1..=150 {
                let owner = format!("{p}");
                let lines = (0..ROWS).fold(Commit::new(), |c, line| {
                    c.put(&Line { basket: owner.clone(), line, total: Some(count), count })
                });
                let commit = (0..ROWS).fold(lines, |c, n| c.put(&plain(&owner, "k", n, count)));
                world.store.commit(commit).await.unwrap();
                acknowledged[p].store(count, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_micros(chance.random_range(0..4000))).await;
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let readers = (0..4u64).map(|seed| {
        let (world, acknowledged, over) = (world.clone(), acknowledged.clone(), over.clone());
        tokio::spawn(async move {
            let mut chance = SmallRng::seed_from_u64(100 + seed);
            let mut seen = [0; PARTITIONS];
            while !over.load(Ordering::SeqCst) {
                let p = chance.random_range(0..PARTITIONS);
                let owner = format!("{p}");
                let before = acknowledged[p].load(Ordering::SeqCst);
                let counts: Vec<i64> = match chance.random_range(0..5) {
                    0 | 1 => {
                        let page = world.store.slice::<Plain>(owner).limit(ROWS as usize).page().await.unwrap();
                        page.rows.into_iter().map(|row| row.count).collect()
                    }
                    2 | 3 => {
                        let page = world.store.slice::<Line>(owner).limit(ROWS as usize).page().await.unwrap();
                        let total = page.statics.get(Line::TOTAL).unwrap().flatten();
                        page.rows.into_iter().map(|row| row.count).chain(total).collect()
                    }
                    _ => {
                        let row = world.store.get::<Plain>((owner, "k".into(), 3)).await.unwrap();
                        row.into_iter().map(|row| row.count).collect()
                    }
                };
                let count = counts.first().copied().unwrap_or(0);
                assert!(counts.iter().all(|c| *c == count), "half of a commit: {counts:?}");
                assert!(count >= before, "{count} was read where {before} was acknowledged");
                assert!(count >= seen[p], "{count} was read behind {}", seen[p]);
                seen[p] = count;
                tokio::task::yield_now().await;
            }
            Ok::<_, Error>(())
        })
    });
    let readers: Vec<_> = readers.collect();
    for writer in writers {
        writer.await.unwrap();
    }
    over.store(true, Ordering::SeqCst);
    for reader in readers {
        reader.await.unwrap().unwrap();
    }
    world.hits()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_page_is_older_than_what_was_acknowledged_or_seen() {
    let hits = readers_among_writers(1 << 20).await;
    assert!(hits > 500, "{hits} hits");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn without_a_cache_a_page_is_one_commit_too() {
    assert_eq!(readers_among_writers(0).await, 0);
}

#[test]
fn requests_that_differ_have_different_keys() {
    use std::ops::Bound;

    use super::{super::row::Layout, request};
    use crate::{engine::Slice, key::Tenant};

    let layout = Layout::new(Plain::table(), 3, (0..5).collect(), false);
    let tenant = Tenant::new("t").unwrap();
    let text = |t: &str| Value::Text(t.into());
    let (a, k, n) = ([text("a")], [text("k")], [text("k"), Value::BigInt(1)]);
    let first = Slice::first(10, &tenant, Plain::table(), &a);
    let value = Value::BigInt(1);
    let requests = [
        first.clone(),
        Slice { prefix: &k, ..first.clone() },
        Slice { prefix: &n, ..first.clone() },
        Slice { after: Some(&n), ..first.clone() },
        Slice { after: Some(&n), prefix: &k, ..first.clone() },
        Slice { reverse: true, ..first.clone() },
        Slice { limit: 11, ..first.clone() },
        Slice { prefix: &k, lower: Bound::Included(&value), ..first.clone() },
        Slice { prefix: &k, lower: Bound::Excluded(&value), ..first.clone() },
        Slice { prefix: &k, upper: Bound::Included(&value), ..first.clone() },
        Slice { lower: Bound::Included(&k[0]), ..first.clone() },
    ];
    let keys: std::collections::HashSet<_> = requests.iter().map(|slice| request(&layout, slice).0).collect();
    assert_eq!(keys.len(), requests.len());
}
