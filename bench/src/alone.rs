//! The engine alone: as many entries of as many bytes as ours writes for a request, made durable at once. Nothing is read, decided,
//! derived or told to others: what the shop's own engine makes of the same writing where there is no shop.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use fjall::{AbstractTree, CompressionType, Database as Fjall, Keyspace, KeyspaceCreateOptions, PersistMode};
use rand::{Rng, RngCore, SeedableRng, rngs::SmallRng};
use tempfile::TempDir;
use tokio::sync::{mpsc, oneshot};
use widerow::{Database, engine::CommitterStats};

use crate::measure::{self, Contender};

/// Bytes of a key, about as many as ours have.
const KEY_BYTES: usize = 40;
/// Entries beside each other in the order of keys, as the rows of a partition are.
const NEIGHBOURS: u64 = 4;
const NAMES: &str = "a request of a name, an address and a price, and what else there is to be said of it; ";

pub type Pairs = Vec<(Vec<u8>, Vec<u8>)>;
type Batch = (Pairs, oneshot::Sender<()>);

/// Memory for what is not sorted to disk yet.
const MEMTABLE_BYTES: u64 = 32 * 1024 * 1024;

/// With the settings that ours has.
pub fn open(folder: &Path) -> (Fjall, Keyspace) {
    let db = Fjall::builder(folder)
        .cache_size(128 * 1024 * 1024)
        .max_journaling_size(4 * MEMTABLE_BYTES)
        .journal_compression(CompressionType::None)
        .worker_threads(1)
        .open()
        .expect("the folder opens");
    // Who writes says when, as ours does.
    let options = || KeyspaceCreateOptions::default().max_memtable_size(u64::MAX);
    let keyspace = db.keyspace("rows", options).expect("its rows");
    (db, keyspace)
}

/// The bare loop: take what is queued, one batch, one sync, answer all.
pub struct Loop {
    queue: Option<mpsc::Sender<Batch>>,
    thread: Option<JoinHandle<()>>,
}

impl Loop {
    pub fn new(db: Fjall, keyspace: Keyspace) -> Arc<Self> {
        let (sender, mut queue) = mpsc::channel::<Batch>(4096);
        let thread = std::thread::spawn(move || {
            while let Some(first) = queue.blocking_recv() {
                let mut batch = db.batch().durability(Some(PersistMode::SyncData));
                let mut replies = Vec::new();
                let mut next = Some(first);
                while let Some((pairs, reply)) = next {
                    pairs.into_iter().for_each(|(key, value)| batch.insert(&keyspace, key, value));
                    replies.push(reply);
                    next = queue.try_recv().ok();
                }
                batch.commit().expect("a commit");
                for reply in replies {
                    let _ = reply.send(());
                }
                if keyspace.tree.active_memtable().size() > MEMTABLE_BYTES {
                    keyspace.rotate_memtable().expect("it is sorted to disk");
                }
            }
        });
        Arc::new(Loop { queue: Some(sender), thread: Some(thread) })
    }

    pub async fn write(&self, pairs: Pairs) {
        let (reply, done) = oneshot::channel();
        let queue = self.queue.as_ref().expect("it runs until it is dropped");
        queue.send((pairs, reply)).await.expect("a loop");
        done.await.expect("an answer");
    }
}

impl Drop for Loop {
    /// Nobody writes any more once it is gone.
    fn drop(&mut self) {
        self.queue = None;
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// What requests of ours have come to in the engine.
#[derive(Debug, Default)]
pub struct Bill {
    requests: AtomicU64,
    commits: AtomicU64,
    groups: AtomicU64,
    entries: AtomicU64,
    bytes: AtomicU64,
}

impl Bill {
    /// Adds the requests that are made meanwhile.
    pub async fn add(&self, database: &Database, requests: impl Future<Output = Vec<Duration>>) -> Vec<Duration> {
        let written = || database.stats().committer.expect("the embedded engine");
        let before = written();
        let times = requests.await;
        let after = written();
        let grown = |cell: &AtomicU64, of: fn(&CommitterStats) -> u64| {
            cell.fetch_add(of(&after) - of(&before), Ordering::Relaxed);
        };
        self.requests.fetch_add(times.len() as u64, Ordering::Relaxed);
        grown(&self.commits, |stats| stats.commits);
        grown(&self.groups, |stats| stats.groups);
        grown(&self.entries, |stats| stats.entries);
        grown(&self.bytes, |stats| stats.bytes);
        times
    }

    /// Entries of a request, and bytes of an entry.
    fn shape(&self) -> (u64, usize) {
        let load = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        let (requests, entries) = (load(&self.requests).max(1), load(&self.entries));
        (((entries + requests / 2) / requests).max(1), (load(&self.bytes) / entries.max(1)) as usize)
    }
}

impl std::fmt::Display for Bill {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let load = |cell: &AtomicU64| cell.load(Ordering::Relaxed) as f64;
        let [requests, commits, groups] = [&self.requests, &self.commits, &self.groups].map(load);
        let (entries, bytes) = self.shape();
        write!(
            f,
            "{:.1} commits, {entries} entries of {bytes} bytes; {:.1} commits a sync",
            commits / requests.max(1.0),
            commits / groups.max(1.0)
        )
    }
}

/// As a contender: `clients` at once, each of whose requests waits until it is durable.
pub struct Alone {
    queue: Arc<Loop>,
    bill: Arc<Bill>,
    clients: usize,
    each: usize,
    chance: SmallRng,
    requests: Vec<Vec<Pairs>>,
    _folder: TempDir,
}

impl Alone {
    pub fn new(bill: Arc<Bill>, clients: usize, each: usize) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (db, keyspace) = open(folder.path());
        let (queue, chance) = (Loop::new(db, keyspace), SmallRng::seed_from_u64(1));
        Alone { queue, bill, clients, each, chance, requests: Vec::new(), _folder: folder }
    }

    fn request(&mut self, entries: u64, bytes: usize) -> Pairs {
        let mut partition = [0; 16];
        let pair = |entry: u64| {
            if entry.is_multiple_of(NEIGHBOURS) {
                self.chance.fill_bytes(&mut partition);
            }
            let mut key = partition.to_vec();
            key.extend_from_slice(&entry.to_be_bytes());
            key.resize(KEY_BYTES, 0);
            // Half of it is like others', half is not, as rows of ids and of words are.
            let mut value = vec![0; bytes.saturating_sub(KEY_BYTES)];
            let half = value.len() / 2;
            self.chance.fill(&mut value[..half]);
            value[half..].iter_mut().zip(NAMES.bytes().cycle()).for_each(|(byte, letter)| *byte = letter);
            (key, value)
        };
        (0..entries).map(pair).collect()
    }
}

impl Contender for Alone {
    fn name(&self) -> String {
        "the engine alone, writing as much".into()
    }

    async fn prepare(&mut self) {
        let (entries, bytes) = self.bill.shape();
        for _ in 0..self.clients {
            let mine = (0..self.each).map(|_| self.request(entries, bytes)).collect();
            self.requests.push(mine);
        }
    }

    async fn round(&mut self) -> Vec<Duration> {
        let mut requests = std::mem::take(&mut self.requests);
        measure::clients(self.clients, |client| {
            let (queue, mine) = (self.queue.clone(), std::mem::take(&mut requests[client]));
            async move {
                let mut times = Vec::with_capacity(mine.len());
                for pairs in mine {
                    let start = Instant::now();
                    queue.write(pairs).await;
                    times.push(start.elapsed());
                }
                times
            }
        })
        .await
    }
}
