//! Keys: injective, ordered, and read back as they were. Memory after a start.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use fjall::AbstractTree;
use proptest::prelude::*;
use rust_decimal::Decimal;
use uuid::Uuid;

use super::{
    Embedded, EmbeddedConfig, RECOVERED_BYTES_MAX,
    key::{self, KeyReader},
    schema,
};
use crate::{
    Commit, Database, Error, Options, Row, Schema,
    engine::{Engine as _, Scan},
    key::Tenant,
    time::{Clock, Date, ManualClock, Timestamp},
    value::Value,
};

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "keys", partition(text, number), clustering(exact desc, blob, day desc, at, id desc, words))]
struct Keys {
    text: String,
    number: i32,
    exact: Decimal,
    blob: Vec<u8>,
    day: Date,
    at: Timestamp,
    id: Uuid,
    words: String,
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop_oneof![Just('\0'), Just('\u{ff}'), Just('a'), any::<char>()], 0..5)
        .prop_map(|chars| chars.into_iter().collect())
}

fn keys() -> impl Strategy<Value = Vec<Value>> {
    let exact = (-2000..2000i64, 0..6u32).prop_map(|(n, scale)| Decimal::new(n, scale).normalize());
    let blob = prop::collection::vec(prop_oneof![Just(0u8), Just(255), any::<u8>()], 0..4);
    let day = (-5..5i32).prop_map(Date::from_days);
    let at = (-5..5i64).prop_map(Timestamp::from_millis);
    (text(), -3..3i32, exact, blob, day, at, any::<u128>(), text()).prop_map(
        |(text, number, exact, blob, day, at, id, words)| {
            Keys { text, number, exact, blob, day, at, id: Uuid::from_u128(id), words }.to_values()
        },
    )
}

fn encode(values: &[Value]) -> Vec<u8> {
    key::row_key(Keys::table(), 7, &Tenant::new("t").expect("a good name"), values)
}

proptest! {
    #[test]
    fn keys_are_read_back(values in keys()) {
        let bytes = encode(&values);
        let mut reader = KeyReader::new(&bytes);
        let mut found = Vec::new();
        prop_assert_eq!(reader.tenant().unwrap(), Tenant::new("t").unwrap());
        reader.columns(Keys::table().partition(), &mut found).unwrap();
        prop_assert_eq!(reader.section().unwrap(), key::ROWS);
        reader.columns(Keys::table().clustering(), &mut found).unwrap();
        prop_assert_eq!(reader.position(), bytes.len());
        prop_assert_eq!(found, values);
    }

    #[test]
    fn keys_order_as_values_do(a in keys(), b in keys(), shared in 2..8usize) {
        let mut b = b;
        b[..shared].clone_from_slice(&a[..shared]);
        let mut order = std::cmp::Ordering::Equal;
        for (i, (x, y)) in a.iter().zip(&b).enumerate().skip(2) {
            let by_value = x.key_order(y);
            order = order.then(if Keys::table().direction(i - 2) == crate::schema::Direction::Descending { by_value.reverse() } else { by_value });
        }
        prop_assert_eq!(encode(&a).cmp(&encode(&b)), order);
    }

    #[test]
    fn disjoint_prefixes_cover_what_any_of_them_did(
        prefixes in prop::collection::vec((keys(), 0..7usize), 0..12), key in keys(), like in any::<prop::sample::Index>(), shared in 0..7usize,
    ) {
        let mut key = key[2..].to_vec();
        let prefixes: Vec<Vec<Value>> = prefixes.into_iter().map(|(values, long)| values[2..2 + long].to_vec()).collect();
        // A key that begins as one of them does.
        if let Some(one) = prefixes.get(like.index(prefixes.len().max(1))) {
            let shared = shared.min(one.len());
            key[..shared].clone_from_slice(&one[..shared]);
        }
        let any = prefixes.iter().any(|prefix| key.starts_with(prefix));
        let disjoint = crate::key::disjoint(Keys::table(), prefixes);
        prop_assert_eq!(crate::key::covered(Keys::table(), &disjoint, &key), any);
    }

    #[test]
    fn damaged_keys_are_refused_or_read_never_a_panic(values in keys(), at in 0..200usize, byte in any::<u8>()) {
        let mut bytes = encode(&values);
        let at = at % bytes.len();
        bytes[at] = byte;
        bytes.truncate(bytes.len() - at % 3);
        if bytes.len() > 2 {
            let mut reader = KeyReader::new(&bytes);
            let mut found = Vec::new();
            let _ = reader.tenant().and_then(|_| reader.columns(Keys::table().partition(), &mut found));
            let _ = reader.section().and_then(|_| reader.columns(Keys::table().clustering(), &mut found));
        }
    }
}

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "notes", partition(number))]
struct Note {
    number: i32,
    text: String,
}

/// As many notes as are worth a file, and the number of the last.
async fn fill(folder: &Path) -> (Database, i32) {
    let database = Database::new(Embedded::open(folder, &notes()).unwrap(), notes());
    database.migrate().await.unwrap();
    let store = database.tenant("t").unwrap();
    let last = i32::try_from(RECOVERED_BYTES_MAX / 1_000 + 100).unwrap();
    for first in (0..=last).step_by(50) {
        let commit = (first..first + 50).fold(Commit::new(), |commit, number| commit.put(&note(number)));
        store.commit(commit).await.unwrap();
    }
    (database, last)
}

fn notes() -> Schema {
    Schema::new().table::<Note>().build().unwrap()
}

fn note(number: i32) -> Note {
    Note { number, text: "x".repeat(1_000) }
}

async fn find(engine: Embedded, number: i32) -> Option<Note> {
    Database::new(engine, notes()).tenant("t").unwrap().get::<Note>(number).await.unwrap()
}

/// A folder that was closed in order has nothing to give back.
#[tokio::test]
async fn a_folder_that_was_closed_is_opened_with_nothing_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (database, last) = fill(folder.path()).await;
    drop(database);
    let engine = Embedded::open(folder.path(), &notes()).unwrap();
    assert!(engine.db.write_buffer_size() < RECOVERED_BYTES_MAX / 4, "{}", engine.db.write_buffer_size());
    assert_eq!(find(engine, last).await, Some(note(last)));
}

/// What the journal gives back after a crash does not stay in memory.
#[tokio::test]
async fn what_the_journal_gives_back_is_written_out() {
    let (folder, crashed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (database, last) = fill(folder.path()).await;
    copy(folder.path(), crashed.path());
    drop(database);
    let engine = Embedded::open(crashed.path(), &notes()).unwrap();
    let mut waits = 0;
    while engine.db.write_buffer_size() >= RECOVERED_BYTES_MAX / 4 {
        waits += 1;
        assert!(waits < 400, "{} bytes are still in memory", engine.db.write_buffer_size());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(find(engine, last).await, Some(note(last)));
}

/// Whoever has an answer finds it counted.
#[tokio::test]
async fn what_is_written_is_counted_before_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::new(Embedded::open(folder.path(), &notes()).unwrap(), notes());
    database.migrate().await.unwrap();
    let store = database.tenant("t").unwrap();
    for number in 1..=200 {
        store.commit(Commit::new().put(&note(2 * number)).put(&note(2 * number + 1))).await.unwrap();
        let stats = database.stats().committer.unwrap();
        assert_eq!((stats.commits, stats.entries), (number as u64, 2 * number as u64));
        assert!((2_000..2_200).contains(&(stats.bytes / number as u64)), "{stats:?}");
    }
}

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "circles", partition(number))]
struct Circle {
    number: i32,
    members: BTreeSet<Uuid>,
}

/// DynamoDB keeps an id as 36 letters: what fits one engine fits all.
#[tokio::test]
async fn a_row_that_is_too_large_for_one_engine_is_refused_by_all() {
    let folder = tempfile::tempdir().unwrap();
    let schema = || Schema::new().table::<Circle>().build().unwrap();
    let database = Database::new(Embedded::open(folder.path(), &schema()).unwrap(), schema());
    database.migrate().await.unwrap();
    let store = database.tenant("t").unwrap();
    let circle = |members: u128| Circle { number: 1, members: (0..members).map(Uuid::from_u128).collect() };
    store.commit(Commit::new().put(&circle(9_000))).await.unwrap();
    let refused = store.commit(Commit::new().put(&circle(15_000))).await;
    assert!(matches!(&refused, Err(Error::TooLarge { limit: 390_000, .. })), "{refused:?}");
}

/// However long what was written before takes to be sorted to disk: what comes meanwhile is given on in heaps of its own, so that
/// memory is bounded, and the folder can be closed.
#[tokio::test]
async fn a_worker_that_is_busy_bounds_memory_and_lets_the_folder_be_closed() {
    const HEAP: u64 = 16 * 1024;
    let folder = tempfile::tempdir().unwrap();
    let config = EmbeddedConfig { memtable_bytes: HEAP, ..EmbeddedConfig::default() };
    let engine = Arc::new(Embedded::open_with(folder.path(), &notes(), &config).unwrap());
    let database = Database::new(engine.clone(), notes());
    database.migrate().await.unwrap();
    let store = database.tenant("t").unwrap();
    let (rows, (held, is_held), (release, released)) = (engine.rows.clone(), mpsc::channel(), mpsc::channel::<()>());
    let busy = thread::spawn(move || {
        let _sorting = rows.tree.get_flush_lock();
        held.send(()).unwrap();
        let _ = released.recv();
    });
    is_held.recv().unwrap();
    for number in 0..45 {
        store.commit(Commit::new().put(&note(number))).await.unwrap();
        let size = engine.rows.tree.active_memtable().size();
        assert!(size < 2 * HEAP, "{size} bytes in one heap after {number}");
    }
    drop(release);
    busy.join().unwrap();
    for number in 45..500 {
        store.commit(Commit::new().put(&note(number))).await.unwrap();
    }
    let (closed, is_closed) = mpsc::channel();
    thread::spawn(move || {
        drop((store, database, engine));
        closed.send(()).unwrap();
    });
    is_closed.recv_timeout(Duration::from_secs(60)).expect("the folder is closed");
}

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "leaves", partition(number), ends = "until")]
struct Leaf {
    number: i32,
    until: Option<Timestamp>,
}

mod guarded {
    use crate::{Row, Timestamp};

    #[derive(Row, Clone, Debug, PartialEq)]
    #[row(table = "accounts", partition(number), guarded, ends = "until")]
    pub(super) struct Account {
        pub number: i32,
        pub balance: i64,
        pub until: Option<Timestamp>,
    }
}

mod plain {
    use crate::{Row, Timestamp};

    #[derive(Row, Clone, Debug, PartialEq)]
    #[row(table = "accounts", partition(number), ends = "until")]
    pub(super) struct Account {
        pub number: i32,
        pub balance: i64,
        pub until: Option<Timestamp>,
    }
}

/// A partition that has one row is one entry, however often it is written, besides the pages of older commits' ids.
#[tokio::test]
async fn the_one_row_of_a_partition_stands_in_its_head() {
    use guarded::Account;
    let folder = tempfile::tempdir().unwrap();
    let schema = || Schema::new().table::<Account>().build().unwrap();
    let engine = Arc::new(Embedded::open(folder.path(), &schema()).unwrap());
    let database = Database::new(engine.clone(), schema());
    database.migrate().await.unwrap();
    let store = database.tenant("t").unwrap();
    let account = |number, balance| Account { number, balance, until: None };
    for number in 0..5 {
        store.commit(Commit::new().put(&account(number, 0))).await.unwrap();
    }
    assert_eq!(engine.rows.iter().count(), 5);
    // Pages stand between the heads then, and are no rows.
    for balance in 1..=20 {
        store.commit(Commit::new().put(&account(2, balance))).await.unwrap();
    }
    assert_eq!(engine.rows.iter().count(), 6);
    let expected: Vec<Account> = (0..5).map(|number| account(number, if number == 2 { 20 } else { 0 })).collect();
    let table = Account::table();
    let split = engine.split(table, None, 1).await.unwrap();
    for limit in 1..=6 {
        let (mut found, mut after) = (Vec::new(), None::<Vec<u8>>);
        loop {
            let (tenant, after_key) = (None, after.as_deref());
            let scan = Scan { table, tenant, split: &split, range: 0, ranges: 1, after: after_key, limit };
            let page = engine.scan(scan).await.unwrap();
            found.extend(page.rows.into_iter().map(|(_, row)| Account::from_values(row.values).unwrap()));
            let Some(next) = page.next else { break };
            after = Some(next);
        }
        assert_eq!(found, expected, "{limit} a page");
    }
    // It goes without its partition's version.
    let (_, before) = store.get_versioned::<Account>(2).await.unwrap();
    store.commit(Commit::new().delete::<Account>(2)).await.unwrap();
    let (gone, after) = store.get_versioned::<Account>(2).await.unwrap();
    assert!(gone.is_none() && after > before, "{before:?}, {after:?}");
    assert_eq!(engine.rows.iter().count(), 6);
}

/// What has ended goes out of the head, and leaves the version.
#[tokio::test]
async fn the_one_row_of_a_partition_is_reclaimed() {
    use guarded::Account;
    let folder = tempfile::tempdir().unwrap();
    let schema = || Schema::new().table::<Account>().build().unwrap();
    let database = Database::new(Embedded::open(folder.path(), &schema()).unwrap(), schema());
    database.migrate().await.unwrap();
    let store = database.tenant("t").unwrap();
    let account = |number, until| Account { number, balance: 1, until: Some(Timestamp::from_millis(until)) };
    let far = Timestamp::MAX.millis();
    for (number, until) in [(1, 1_000), (2, far), (3, 1_000)] {
        store.commit(Commit::new().put(&account(number, until))).await.unwrap();
    }
    // One that was written again ends later.
    store.commit(Commit::new().put(&account(3, far))).await.unwrap();
    let (_, version) = store.get_versioned::<Account>(1).await.unwrap();
    assert!(version.is_some());
    assert_eq!(database.reclaim(100).await.unwrap().rows, 1);
    assert_eq!(database.reclaim(100).await.unwrap().rows, 0);
    assert_eq!(store.get_versioned::<Account>(1).await.unwrap(), (None, version));
    assert_eq!(store.get::<Account>(3).await.unwrap(), Some(account(3, far)));
}

/// Where nothing is left of a partition but that there was one, its version and the ids of its commits go a day after the last of
/// them. What begins there again is later than all that was.
#[tokio::test]
async fn what_is_left_of_a_partition_goes_a_day_later() {
    use guarded::Account;
    let folder = tempfile::tempdir().unwrap();
    let schema = || Schema::new().table::<Account>().build().unwrap();
    let start = Timestamp::from_millis(1_800_000_000_000);
    let clock = Arc::new(ManualClock::at(start));
    let engine = Arc::new(Embedded::open(folder.path(), &schema()).unwrap());
    let options = Options { clock: clock.clone() as Arc<dyn Clock>, ..Options::default() };
    let database = Database::with_options(engine.clone(), schema(), options);
    database.migrate().await.unwrap();
    let store = database.tenant("t").unwrap();
    let put = async |number, seconds: i64| {
        let until = Some(start.plus_seconds(seconds));
        store.commit(Commit::new().put(&Account { number, balance: 1, until })).await.unwrap()
    };
    let reclaimed = async |seconds| {
        clock.advance_millis(start.plus_seconds(seconds).millis() - clock.now().millis());
        (database.reclaim(100).await.unwrap().rows, engine.rows.iter().count(), engine.expiry.iter().count())
    };
    // So many that pages stand behind the first; the second is deleted before its end; the third is a day old at its end.
    for _ in 0..40 {
        put(1, 60).await;
    }
    put(2, 60).await;
    store.commit(Commit::new().delete::<Account>(2)).await.unwrap();
    put(3, 90_000).await;
    let before = engine.rows.iter().count();
    assert!(before > 4, "{before}");
    let (_, version) = store.get_versioned::<Account>(1).await.unwrap();
    assert_eq!(reclaimed(61).await, (1, before, 2), "the row has ended, and what was written is remembered");
    assert_eq!(store.get_versioned::<Account>(1).await.unwrap(), (None, version));
    assert_eq!(reclaimed(86_399).await, (0, before, 2));
    assert_eq!(reclaimed(86_500).await, (0, 1, 1));
    assert_eq!(store.get_versioned::<Account>(1).await.unwrap(), (None, None));
    // Whoever still rests on what was is told, and what is new is newer.
    let late = Commit::new().unchanged::<Account>(1, version).put(&Account { number: 1, balance: 2, until: None });
    assert!(store.commit(late).await.is_err());
    put(1, 200_000).await;
    assert!(store.get_versioned::<Account>(1).await.unwrap().1 > version);
    assert_eq!(reclaimed(90_001).await, (1, 1, 1), "the last commit was a day ago");
    // Written again, it is kept.
    put(1, 300_000).await;
    assert_eq!(reclaimed(200_001).await, (0, 1, 1));
    assert_eq!(reclaimed(400_000).await, (1, 0, 0));
}

/// A table that is declared no more has its ended rows reclaimed as the others, and stands in nobody's way.
#[tokio::test]
async fn rows_of_heads_are_reclaimed_whatever_is_declared() {
    use guarded::Account;
    let folder = tempfile::tempdir().unwrap();
    let both = || Schema::new().table::<Account>().table::<Leaf>().build().unwrap();
    let leaves = || Schema::new().table::<Leaf>().build().unwrap();
    let open = |schema: &dyn Fn() -> Schema| Database::new(Embedded::open(folder.path(), &schema()).unwrap(), schema());
    let (account, leaf) = (
        |number, until| Account { number, balance: 1, until: Some(Timestamp::from_millis(until)) },
        |number, until| Leaf { number, until: Some(Timestamp::from_millis(until)) },
    );
    {
        let database = open(&both);
        database.migrate().await.unwrap();
        let store = database.tenant("t").unwrap();
        let commit = Commit::new().put(&account(1, 1_000));
        store.commit(commit).await.unwrap();
        store.commit(Commit::new().put(&leaf(1, 2_000))).await.unwrap();
    }
    {
        let database = open(&leaves);
        let reclaimed = async || database.reclaim(100).await.unwrap().rows;
        assert_eq!((reclaimed().await, reclaimed().await), (2, 0));
    }
    let store = open(&both).tenant("t").unwrap();
    let (row, version) = store.get_versioned::<Account>(1).await.unwrap();
    assert!(row.is_none() && version.is_some(), "{row:?} {version:?}");
}

/// Where a table's rows stand is decided when it is made: declared guarded, or no longer, it has them still.
#[tokio::test]
async fn rows_stay_where_they_were_when_a_table_was_made() {
    let of_guarded = || Schema::new().table::<guarded::Account>().build().unwrap();
    let of_plain = || Schema::new().table::<plain::Account>().build().unwrap();
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let open = async |folder: &Path, schema: &dyn Fn() -> Schema| {
        let engine = Arc::new(Embedded::open(folder, &schema()).unwrap());
        let database = Database::new(engine.clone(), schema());
        database.migrate().await.unwrap();
        (database.tenant("t").unwrap(), engine)
    };
    let with_version = |balance| guarded::Account { number: 1, balance, until: None };
    let without = |balance| plain::Account { number: 1, balance, until: None };
    {
        let (store, _) = open(one.path(), &of_guarded).await;
        store.commit(Commit::new().put(&with_version(1))).await.unwrap();
    }
    {
        let (store, engine) = open(one.path(), &of_plain).await;
        assert_eq!(store.get::<plain::Account>(1).await.unwrap(), Some(without(1)));
        store.commit(Commit::new().put(&without(2))).await.unwrap();
        assert_eq!(store.slice::<plain::Account>(1).page().await.unwrap().rows, [without(2)]);
        assert_eq!(engine.rows.iter().count(), 1);
        store.commit(Commit::new().delete_partition::<plain::Account>(1)).await.unwrap();
        assert_eq!(store.get::<plain::Account>(1).await.unwrap(), None);
    }
    {
        let (store, _) = open(other.path(), &of_plain).await;
        store.commit(Commit::new().put(&without(1))).await.unwrap();
    }
    let (store, engine) = open(other.path(), &of_guarded).await;
    assert_eq!(store.get::<guarded::Account>(1).await.unwrap(), Some(with_version(1)));
    store.commit(Commit::new().put(&with_version(2))).await.unwrap();
    assert_eq!(store.get::<guarded::Account>(1).await.unwrap(), Some(with_version(2)));
    assert_eq!(engine.rows.iter().count(), 2);
}

/// What another version wrote is not misread.
#[tokio::test]
async fn a_folder_in_another_form_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Embedded::open(folder.path(), &notes());
    let database = Database::new(open().unwrap(), notes());
    database.migrate().await.unwrap();
    drop(database);
    for format in [None, Some([1])] {
        let engine = open().unwrap();
        match format {
            Some(format) => engine.catalog.insert(schema::FORMAT_KEY, format).unwrap(),
            None => engine.catalog.remove(schema::FORMAT_KEY).unwrap(),
        }
        drop(engine);
        let refused = open().map(drop).unwrap_err();
        assert!(matches!(&refused, Error::Engine { detail } if detail.contains("another version")), "{refused:?}");
        // As it was.
        let db = fjall::Database::builder(folder.path()).open().unwrap();
        let catalog = db.keyspace("catalog", fjall::KeyspaceCreateOptions::default).unwrap();
        catalog.insert(schema::FORMAT_KEY, [schema::FORMAT]).unwrap();
        db.persist(fjall::PersistMode::SyncAll).unwrap();
    }
    assert!(open().is_ok());
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
