//! The catalog on the embedded engine beside PostgreSQL with the obvious table, index and prepared statements: the same
//! products, the same answers, sixteen clients on both sides.
//!
//! Each side works as one would use it: the shop calls its store in the same process, PostgreSQL is a server, asked over
//! its socket by the driver. What it costs to be apart is a part of the answer.

mod ours;
pub mod sample;
mod theirs;

use std::{
    future::Future,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use merkato::{catalog::CategoryEntry, id::CategoryId};
use rand::{Rng, SeedableRng, rngs::SmallRng};

pub use self::theirs::connect;
use self::{ours::Shop, sample::Sample, theirs::Client};
use crate::measure::{Verdicts, duel, peak_memory_mib};

const PRODUCTS: usize = 100_000;
const CLIENTS: usize = 16;
const PAGE: usize = 24;
/// What the comparison is to show.
const FLOOR: f64 = 5.0;
const BY_ID: &str = "postgres: product by id, 16 clients";
const FIRST_PAGE: &str = "postgres: category page of 24, 16 clients";
const NEXT_PAGE: &str = "postgres: next page of 24, 16 clients";

pub async fn run(address: &str, quick: bool, verdicts: &mut Verdicts) {
    if ![BY_ID, FIRST_PAGE, NEXT_PAGE].iter().any(|name| verdicts.wants(name)) {
        return;
    }
    println!();
    let sample = Arc::new(Sample::new(PRODUCTS));
    let folder = tempfile::tempdir().expect("a folder");
    let start = Instant::now();
    let shop = Shop::load(folder.path(), sample.clone()).await;
    let loaded = start.elapsed();
    settle(folder.path()).await;
    println!(
        "a shop of {PRODUCTS} products, loaded in {:.1} s: {} MiB in its folder, peak memory {}",
        loaded.as_secs_f64(),
        size_bytes(folder.path()) >> 20,
        peak_memory_mib().map_or("unknown".into(), |mib| format!("{mib} MiB")),
    );
    let start = Instant::now();
    let table = theirs::Table::load(address, &sample).await;
    println!(
        "PostgreSQL {}: the same products, copied in {:.1} s: {} MiB with its indexes",
        table.version().await,
        start.elapsed().as_secs_f64(),
        table.size_bytes().await >> 20,
    );
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(Arc::new(table.client().await));
    }
    same_answers(&shop, &clients[0], &sample).await;
    // Every product once on both sides, so that neither is asked for what it has not read yet.
    many(|client| {
        let (shop, connection, sample) = (shop.clone(), clients[client].clone(), sample.clone());
        async move {
            for i in (client..PRODUCTS).step_by(CLIENTS) {
                shop.product(sample.id(i)).await;
                connection.product(sample.id(i)).await;
            }
            0
        }
    })
    .await;

    let rounds = if quick { 10 } else { 40 };
    let each = 1_000;
    let ours = || {
        many(|client| {
            let (shop, sample) = (shop.clone(), sample.clone());
            async move {
                let mut chance = SmallRng::seed_from_u64(client as u64);
                for _ in 0..each {
                    let i = chance.random_range(0..PRODUCTS);
                    assert_eq!(shop.product(sample.id(i)).await.price, sample.price(i));
                }
                each
            }
        })
    };
    let theirs = || {
        many(|client| {
            let (connection, sample) = (clients[client].clone(), sample.clone());
            async move {
                let mut chance = SmallRng::seed_from_u64(client as u64);
                for _ in 0..each {
                    let i = chance.random_range(0..PRODUCTS);
                    assert_eq!(connection.product(sample.id(i)).await.price, sample.price(i));
                }
                each
            }
        })
    };
    duel(BY_ID, FLOOR, rounds, ours, theirs, verdicts).await;

    let each = 400;
    let ours = || {
        many(|client| {
            let (shop, sample) = (shop.clone(), sample.clone());
            async move {
                for category in categories(client, each, &sample) {
                    assert_eq!(shop.page(category, None).await.0.len(), PAGE);
                }
                each
            }
        })
    };
    let theirs = || {
        many(|client| {
            let (connection, sample) = (clients[client].clone(), sample.clone());
            async move {
                for category in categories(client, each, &sample) {
                    assert_eq!(connection.page(category, None).await.len(), PAGE);
                }
                each
            }
        })
    };
    duel(FIRST_PAGE, FLOOR, rounds, ours, theirs, verdicts).await;

    // The second page of each category, from where the first one ended.
    let mut cursors = Vec::new();
    for category in sample.leaves() {
        let (entries, cursor) = shop.page(*category, None).await;
        let last = entries.last().expect("a full page").clone();
        cursors.push((*category, cursor.expect("another page"), last));
    }
    let cursors = Arc::new(cursors);
    let ours = || {
        many(|client| {
            let (shop, cursors) = (shop.clone(), cursors.clone());
            async move {
                let mut chance = SmallRng::seed_from_u64(client as u64);
                for _ in 0..each {
                    let (category, cursor, _) = &cursors[chance.random_range(0..cursors.len())];
                    assert_eq!(shop.page(*category, Some(cursor.clone())).await.0.len(), PAGE);
                }
                each
            }
        })
    };
    let theirs = || {
        many(|client| {
            let (connection, cursors) = (clients[client].clone(), cursors.clone());
            async move {
                let mut chance = SmallRng::seed_from_u64(client as u64);
                for _ in 0..each {
                    let (category, _, last) = &cursors[chance.random_range(0..cursors.len())];
                    assert_eq!(connection.page(*category, Some(last)).await.len(), PAGE);
                }
                each
            }
        })
    };
    duel(NEXT_PAGE, FLOOR, rounds, ours, theirs, verdicts).await;
    table.drop().await;
}

/// Nothing is compared that is not the same.
async fn same_answers(shop: &Shop, client: &Client, sample: &Sample) {
    for i in (0..PRODUCTS).step_by(PRODUCTS / 100) {
        assert_eq!(shop.product(sample.id(i)).await, client.product(sample.id(i)).await, "product {i}");
    }
    for category in sample.leaves() {
        let (first, cursor) = shop.page(*category, None).await;
        let (second, _) = shop.page(*category, cursor).await;
        assert_eq!(without_keys(&first), client.page(*category, None).await, "the first page of {category}");
        let after = first.last().expect("a full page");
        assert_eq!(without_keys(&second), client.page(*category, Some(after)).await, "the second page of {category}");
    }
}

/// The key by which the shop sorts stands in for columns that PostgreSQL has anyway.
fn without_keys(entries: &[CategoryEntry]) -> Vec<CategoryEntry> {
    entries.iter().map(|entry| CategoryEntry { sort_key: String::new(), ..entry.clone() }).collect()
}

fn categories(client: usize, count: usize, sample: &Sample) -> impl Iterator<Item = CategoryId> {
    let mut chance = SmallRng::seed_from_u64(client as u64);
    let leaves = sample.leaves();
    (0..count).map(move |_| leaves[chance.random_range(0..leaves.len())])
}

/// Runs every client's work side by side, and sums up.
async fn many<F>(work: impl Fn(usize) -> F) -> usize
where
    F: Future<Output = usize> + Send + 'static,
{
    let tasks: Vec<_> = (0..CLIENTS).map(|client| tokio::spawn(work(client))).collect();
    let mut sum = 0;
    for task in tasks {
        sum += task.await.expect("no panic");
    }
    sum
}

/// Waits until the store has sorted what was loaded, as PostgreSQL is vacuumed and analysed after its load: until the folder
/// has been of one size for a while.
async fn settle(folder: &Path) {
    let (mut size, mut quiet) = (0, 0);
    for _ in 0..240 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let now = size_bytes(folder);
        quiet = if now == size { quiet + 1 } else { 0 };
        size = now;
        if quiet == 6 {
            return;
        }
    }
}

fn size_bytes(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size_bytes(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}
