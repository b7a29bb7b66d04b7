//! The embedded engine beside fjall called directly on a copy of the same folder: the same keys, the same bytes.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use fjall::{Database as Fjall, Keyspace};
use rand::{Rng, SeedableRng, rngs::SmallRng};
use widerow::{Commit, Database, Row, Schema, Store, embedded::Embedded};

use crate::{
    alone::{self, Loop},
    measure::{Verdict, Verdicts, duel, peak_memory_mib},
};

/// A hundred rows a partition, 300 bytes and more each.
#[derive(Row, Clone, Debug)]
#[row(table = "items", partition(shelf), clustering(position))]
struct Item {
    shelf: i64,
    position: i64,
    name: String,
    description: String,
    price: i64,
    in_stock: bool,
}

const ROWS_A_SHELF: i64 = 100;
const PAGE: usize = 24;
const FILLER: &str = "A lamp of hammered brass, made by hand, with a shade of coloured glass that throws stars on the wall; \
                      it takes one bulb of forty watts at most, and comes with a cable of two metres and a switch. \
                      Wipe it with a dry cloth only, and keep it out of rain.";

fn item(i: i64) -> Item {
    Item {
        shelf: i / ROWS_A_SHELF,
        position: i % ROWS_A_SHELF,
        name: format!("Brass lamp number {i}"),
        description: FILLER.into(),
        price: i * 7 % 10_000,
        in_stock: i % 3 == 0,
    }
}

fn schema() -> Schema {
    Schema::new().table::<Item>().build().expect("a schema")
}

async fn open(folder: &Path) -> Store {
    let database = Database::new(Embedded::open(folder, &schema()).expect("the folder opens"), schema());
    database.migrate().await.expect("tables");
    database.tenant("bench").expect("a good name")
}

pub async fn run(quick: bool, verdicts: &mut Verdicts) {
    let rows: i64 = if quick { 100_000 } else { 1_000_000 };
    let folder = tempfile::tempdir().expect("a folder");
    let (ours, theirs) = (folder.path().join("ours"), folder.path().join("theirs"));
    load(&ours, rows).await;
    copy(&ours, &theirs);
    let start = Instant::now();
    let store = open(&ours).await;
    let opened = start.elapsed();
    println!("opening a folder of {rows} rows: {} ms", opened.as_millis());
    // Seconds below two are as good as two.
    verdicts.all.push(Verdict {
        name: "opening within 2 s".into(),
        ratio: 2.0 / opened.as_secs_f64().max(2.0),
        floor: if opened < Duration::from_secs(2) { 1.0 } else { 1.01 },
    });
    let (direct, keyspace) = alone::open(&theirs);
    let keys = Arc::new(keys_of(&keyspace, rows));
    reads(quick, rows, &store, &keyspace, &keys, verdicts).await;
    commits(quick, rows, &store, &direct, &keyspace, verdicts).await;
}

async fn load(folder: &Path, rows: i64) {
    let store = open(folder).await;
    let start = Instant::now();
    let mut next = 0;
    while next < rows {
        let end = (next + 1000).min(rows);
        let commit = (next..end).fold(Commit::new(), |c, i| c.put(&item(i)));
        store.commit(commit).await.expect("a commit");
        next = end;
        if next % (rows / 10) == 0 {
            eprint!("\rloading {}%", next * 100 / rows);
        }
    }
    eprintln!();
    let seconds = start.elapsed().as_secs_f64();
    let peak = peak_memory_mib().map_or("unknown".into(), |mib| format!("{mib} MiB"));
    println!("loaded {rows} rows, 1000 a commit: {:.0} rows/s, peak memory {peak}", rows as f64 / seconds);
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

fn keys_of(keyspace: &Keyspace, rows: i64) -> Vec<Vec<u8>> {
    let keys: Vec<Vec<u8>> = keyspace.iter().map(|e| e.key().expect("a key").to_vec()).collect();
    assert_eq!(keys.len() as i64, rows, "the copy has the rows and nothing else");
    keys
}

/// Two tasks read at random.
async fn reads(
    quick: bool,
    rows: i64,
    store: &Store,
    keyspace: &Keyspace,
    keys: &Arc<Vec<Vec<u8>>>,
    verdicts: &mut Verdicts,
) {
    let each = 20_000;
    let rounds = if quick { 10 } else { 50 };
    let ours = || {
        let store = store.clone();
        both(move |seed| {
            let store = store.clone();
            async move {
                let mut chance = SmallRng::seed_from_u64(seed);
                for _ in 0..each {
                    let i = chance.random_range(0..rows);
                    let row = store.get::<Item>((i / ROWS_A_SHELF, i % ROWS_A_SHELF)).await.expect("a read");
                    assert_eq!(row.expect("a row").price, i * 7 % 10_000);
                }
                each
            }
        })
    };
    let theirs = || {
        let (keyspace, keys) = (keyspace.clone(), keys.clone());
        both(move |seed| {
            let (keyspace, keys) = (keyspace.clone(), keys.clone());
            async move {
                let mut chance = SmallRng::seed_from_u64(seed);
                for _ in 0..each {
                    let key = &keys[chance.random_range(0..keys.len())];
                    let value = keyspace.get(key).expect("a read").expect("a row");
                    assert!(value.len() > 200);
                }
                each
            }
        })
    };
    duel("embedded: get", 0.6, rounds, ours, theirs, verdicts).await;
    let each = each / 10;
    let ours = || {
        let store = store.clone();
        both(move |seed| {
            let store = store.clone();
            async move {
                let mut chance = SmallRng::seed_from_u64(seed);
                for _ in 0..each {
                    let shelf = chance.random_range(0..rows / ROWS_A_SHELF);
                    let page = store.slice::<Item>(shelf).limit(PAGE).page().await.expect("a read");
                    assert_eq!(page.rows.len(), PAGE);
                }
                each
            }
        })
    };
    let theirs = || {
        let (keyspace, keys) = (keyspace.clone(), keys.clone());
        both(move |seed| {
            let (keyspace, keys) = (keyspace.clone(), keys.clone());
            async move {
                let mut chance = SmallRng::seed_from_u64(seed);
                for _ in 0..each {
                    let shelf = chance.random_range(0..keys.len() / ROWS_A_SHELF as usize) * ROWS_A_SHELF as usize;
                    let (from, to) = (&keys[shelf], &keys[shelf + ROWS_A_SHELF as usize - 1]);
                    let page = keyspace.range(from.as_slice()..=to.as_slice()).take(PAGE);
                    let pairs: Vec<_> = page.map(|e| e.into_inner().expect("a row")).collect();
                    assert_eq!(pairs.len(), PAGE);
                }
                each
            }
        })
    };
    duel("embedded: slice of 24", 0.6, rounds, ours, theirs, verdicts).await;
}

/// Runs two of them side by side, and sums up.
async fn both<F>(work: impl Fn(u64) -> F) -> usize
where
    F: Future<Output = usize> + Send + 'static,
{
    let tasks = [tokio::spawn(work(1)), tokio::spawn(work(2))];
    let mut sum = 0;
    for task in tasks {
        sum += task.await.expect("no panic");
    }
    sum
}

/// Sixteen writers, ten rows a commit, each durable before the next.
async fn commits(quick: bool, rows: i64, store: &Store, direct: &Fjall, keyspace: &Keyspace, verdicts: &mut Verdicts) {
    const WRITERS: i64 = 16;
    let each: i64 = 100;
    let rounds = if quick { 10 } else { 50 };
    let mut base = rows;
    // Neither side is charged for thinking its rows up.
    let template = item(base);
    let ours = || {
        base += WRITERS * each * 10;
        let (store, base, template) = (store.clone(), base, template.clone());
        async move {
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| {
                    let (store, mut row) = (store.clone(), template.clone());
                    tokio::spawn(async move {
                        for i in 0..each {
                            let first = base + (writer * each + i) * 10;
                            let mut commit = Commit::new();
                            for n in first..first + 10 {
                                (row.shelf, row.position) = (n / ROWS_A_SHELF, n % ROWS_A_SHELF);
                                commit = commit.put(&row);
                            }
                            store.commit(commit).await.expect("a commit");
                        }
                    })
                })
                .collect();
            for writer in writers {
                writer.await.expect("no panic");
            }
            (WRITERS * each) as usize
        }
    };
    let sample = keyspace.iter().next().expect("a row").into_inner().expect("a row");
    let (key_length, value_length) = (sample.0.len(), sample.1.len());
    let queue = Loop::new(direct.clone(), keyspace.clone());
    let mut base = 0i64;
    let theirs = || {
        base += WRITERS * each * 10;
        let (queue, base) = (queue.clone(), base);
        async move {
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| {
                    let queue = queue.clone();
                    tokio::spawn(async move {
                        for i in 0..each {
                            let first = base + (writer * each + i) * 10;
                            let pair = |n: i64| {
                                let mut key = vec![0xee; key_length];
                                key[key_length - 8..].copy_from_slice(&n.to_be_bytes());
                                let mut value = vec![b'0'; value_length];
                                value[..8].copy_from_slice(&n.to_be_bytes());
                                (key, value)
                            };
                            queue.write((first..first + 10).map(pair).collect()).await;
                        }
                    })
                })
                .collect();
            for writer in writers {
                writer.await.expect("no panic");
            }
            (WRITERS * each) as usize
        }
    };
    duel("embedded: durable commit of 10 rows, 16 writers", 0.8, rounds, ours, theirs, verdicts).await;
}
