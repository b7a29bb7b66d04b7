//! What can only be seen from inside: what is staged, which packs there are, and what becomes of one that cannot be read.

use std::{ops::Bound, path::Path, sync::Arc};

use super::{
    super::{Embedded, EmbeddedConfig, key::PACKED},
    stage::SHARDS,
};
use crate::{
    Commit, Database, Error, Row, Schema, Store,
    store::Options,
    time::{ManualClock, Timestamp},
    value::Value,
};

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "samples", partition(sensor), clustering(at), series)]
struct Sample {
    sensor: i32,
    at: i64,
    text: String,
}

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "samples", partition(sensor), clustering(at))]
struct Plain {
    sensor: i32,
    at: i64,
    text: String,
}

fn schema() -> Schema {
    Schema::new().table::<Sample>().build().expect("a schema")
}

struct World {
    engine: Arc<Embedded>,
    database: Database,
    store: Store,
    clock: Arc<ManualClock>,
}

async fn open(folder: &Path, staged_bytes: u64) -> World {
    let config = EmbeddedConfig { staged_bytes, ..EmbeddedConfig::default() };
    let engine = Arc::new(Embedded::open_with(folder, &schema(), &config).expect("the folder opens"));
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_700_000_000_000)));
    let options = Options { clock: clock.clone(), ..Options::default() };
    let database = Database::with_options(engine.clone(), schema(), options);
    database.migrate().await.expect("tables");
    let store = database.tenant("ann").expect("a good name");
    World { engine, database, store, clock }
}

fn sample(sensor: i32, at: i64) -> Sample {
    Sample { sensor, at, text: "x".repeat(50) }
}

impl World {
    fn staged_bytes(&self) -> usize {
        (0..SHARDS).map(|shard| self.engine.stage.shard(shard).bytes()).sum()
    }

    /// The keys of all packs.
    fn packs(&self) -> Vec<fjall::Slice> {
        let keys = self.engine.rows.iter().map(|entry| entry.key().expect("a key"));
        keys.filter(|key| key.len() > 5 && key[key.len() - 5] == PACKED).collect()
    }

    async fn put(&self, rows: impl IntoIterator<Item = Sample>, seconds: u32) {
        let commit = rows.into_iter().fold(Commit::new(), |commit, row| commit.put_for(&row, seconds));
        self.store.commit(commit).await.expect("a commit");
    }

    /// Packs what is staged, as every scan does.
    async fn scan(&self) -> Result<usize, Error> {
        let mut count = 0;
        for mut range in self.store.scan(Sample::table(), 1).await? {
            while let Some(page) = range.next().await? {
                count += page.len();
            }
        }
        Ok(count)
    }
}

#[tokio::test]
async fn what_is_deleted_again_is_not_staged_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let world = open(folder.path(), u64::MAX).await;
    world.put((0..20).map(|at| sample(1, at)), 60).await;
    world.scan().await.expect("packed");
    world.put((10..30).map(|at| sample(1, at)), 60).await;
    let delete = || Commit::new().delete_partition::<Sample>(1);
    world.store.commit(delete()).await.expect("a commit");
    let once = world.staged_bytes();
    // As often as doubles what is staged a thousand times, where each deletion counts those before.
    for _ in 0..10 {
        world.store.commit(delete()).await.expect("a commit");
    }
    let ranges =
        |commit: Commit, n| commit.delete_range::<Sample>(1, (), (Bound::Included(Value::BigInt(n)), Bound::Unbounded));
    world.put([sample(1, 5)], 60).await;
    world.store.commit((0..10).fold(Commit::new(), ranges)).await.expect("a commit");
    assert!(world.staged_bytes() < once + 1_000, "{} bytes, once {once}", world.staged_bytes());
    assert_eq!(world.store.slice::<Sample>(1).page().await.expect("a page").rows, []);
    assert_eq!(world.scan().await.expect("a scan"), 0);
}

#[tokio::test]
async fn what_has_ended_goes_while_newer_rows_come() {
    let folder = tempfile::tempdir().expect("a folder");
    let world = open(folder.path(), u64::MAX).await;
    // So large that no pack takes up the one before.
    let hundred = |from: i64| (from..from + 100).map(|at| sample(1, at));
    for round in 0..6 {
        world.put(hundred(round * 100), 10).await;
        world.scan().await.expect("packed");
        world.clock.advance_millis(6_000);
        while world.database.reclaim(1_000).await.expect("reclaimed").more {}
        let packs = world.packs().len();
        assert!(packs <= 2, "{packs} packs in round {round}");
    }
    // One that an older row would be seen behind stays.
    world.put(hundred(1_000), 1_000).await;
    world.scan().await.expect("packed");
    world.put(hundred(1_000), 10).await;
    world.scan().await.expect("packed");
    world.clock.advance_millis(60_000);
    while world.database.reclaim(1_000).await.expect("reclaimed").more {}
    assert_eq!(world.store.slice::<Sample>(1).page().await.expect("a page").rows, []);
    assert_eq!(world.packs().len(), 2);
    world.clock.advance_millis(1_000_000);
    while world.database.reclaim(1_000).await.expect("reclaimed").more {}
    assert_eq!(world.packs().len(), 0);
}

#[tokio::test]
async fn a_pack_that_cannot_be_read_keeps_no_other_from_being_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let world = open(folder.path(), 20_000).await;
    world.put([sample(1, 0)], 60).await;
    world.scan().await.expect("packed");
    let packs = world.packs();
    world.engine.rows.insert(packs[0].clone(), [7, 7, 7]).expect("broken");
    world.store.commit(Commit::new().delete::<Sample>((1, 0))).await.expect("a commit");
    // Far more than may be staged.
    for at in 0..60 {
        world.put((2..50).map(|sensor| sample(sensor, at)), 60).await;
    }
    assert!(matches!(world.scan().await, Err(Error::Corrupt { .. })));
    world.put([sample(2, 60)], 60).await;
    assert!(world.staged_bytes() < 60_000, "{} bytes are staged", world.staged_bytes());
    assert_eq!(world.store.slice::<Sample>(2).page().await.expect("a page").rows.len(), 61);
    assert!(matches!(world.store.slice::<Sample>(1).page().await, Err(Error::Corrupt { .. })));
}

/// Who takes the table for a plain one would not find what is packed.
#[tokio::test]
async fn a_series_stays_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let plain = || Schema::new().table::<Plain>().build().expect("a schema");
    let as_plain = |engine: Embedded| Database::new(engine, plain());
    let database = as_plain(Embedded::open(folder.path(), &plain()).expect("the folder opens"));
    database.migrate().await.expect("tables");
    let old = Plain { sensor: 1, at: 1, text: "as any row".into() };
    database.tenant("ann").expect("a good name").commit(Commit::new().put(&old)).await.expect("a commit");
    drop(database);
    // A plain table can become one.
    let world = open(folder.path(), u64::MAX).await;
    world.put([sample(1, 2)], 60).await;
    assert_eq!(world.store.slice::<Sample>(1).page().await.expect("a page").rows.len(), 2);
    drop(world);
    let database = as_plain(Embedded::open(folder.path(), &plain()).expect("the folder opens"));
    let refused = database.migrate().await.expect_err("packed rows").to_string();
    assert!(refused.contains("declare it `series`"), "{refused}");
}
