//! Events: how fast they are appended beside PostgreSQL with the obvious table, which has a unique (aggregate, version), each
//! append durable and at the version that its client expects on both sides.
//!
//! Ours gets its places in the feed of all events afterwards, from a job. That has no part in a turn, ours or the rival's: it is
//! done between them, and what the rate comes to with it is told beside.

mod ours;
mod rebuild;
mod theirs;

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use merkato::{Context, Settings, context::SystemChance};
use serde_json::{Value, json};
use uuid::Uuid;
use widerow::{Database, embedded::Embedded, time::SystemClock};

pub use self::rebuild::run_rebuild;
use self::{ours::Ours, theirs::Rival};
use crate::{
    alone::Alone,
    measure::{Verdicts, contest},
};

const APPEND: &str = "events: append beside PostgreSQL";
const FLOOR: f64 = 5.0;
const CLIENTS: usize = 64;
/// Streams of each client.
const STREAMS: usize = 16;
const KIND: &str = "wallet of the bench";
const TYPE: &str = "MoneyDeposited";

async fn shop(folder: &Path) -> Context {
    let schema = || merkato::schema().expect("a schema");
    let database = Database::new(Embedded::open(folder, &schema()).expect("the folder opens"), schema());
    database.migrate().await.expect("tables");
    let store = database.tenant("bench").expect("a good name");
    Context::new(store, Settings::default(), Arc::new(SystemClock), Arc::new(SystemChance))
}

/// What a wallet's deposit says.
fn data(n: i64) -> Value {
    json!({ "amount": format!("{}.{:02}", n % 1_000, n % 100), "currency": "EUR", "note": "a deposit of the bench" })
}

/// A stream, and the version that its one writer knows.
struct Stream {
    id: Uuid,
    version: AtomicI64,
}

/// Those of all clients.
#[derive(Clone)]
struct Streams(Arc<Vec<Vec<Stream>>>);

impl Streams {
    fn new() -> Self {
        let stream = |_| Stream { id: Uuid::now_v7(), version: AtomicI64::new(0) };
        Streams(Arc::new((0..CLIENTS).map(|_| (0..STREAMS).map(stream).collect()).collect()))
    }

    /// Whose turn it is at the client's append of that number.
    fn turn(&self, client: usize, append: usize) -> &Stream {
        &self.0[client][append % STREAMS]
    }

    fn events(&self) -> i64 {
        self.0.iter().flatten().map(Stream::version).sum()
    }
}

impl Stream {
    fn version(&self) -> i64 {
        self.version.load(Ordering::Relaxed)
    }

    fn moved_to(&self, version: i64) {
        self.version.store(version, Ordering::Relaxed);
    }
}

/// Beside PostgreSQL, one event an append and ten.
pub async fn run(address: &str, quick: bool, verdicts: &mut Verdicts) {
    for batch in [1, 10] {
        let name = format!("{APPEND}, {batch} at once");
        if verdicts.wants(&name) {
            append(&name, address, batch, quick, verdicts).await;
        }
    }
}

async fn append(name: &str, address: &str, batch: i64, quick: bool, verdicts: &mut Verdicts) {
    println!("\nappends of {batch} to streams of their own by {CLIENTS} clients");
    let (rounds, each) = if quick { (6, 100) } else { (20, 200) };
    let folder = tempfile::tempdir().expect("a folder");
    let mut ours = Ours::new(shop(folder.path()).await, batch, each);
    let mut rivals = [Rival::create(address, batch, each).await];
    let mut alone = Alone::new(ours.bill.clone(), CLIENTS, each);
    contest(name, FLOOR, rounds, &mut ours, &mut rivals, Some(&mut alone), verdicts).await;
    ours.check().await;
    let [rival] = rivals;
    rival.drop().await;
}
