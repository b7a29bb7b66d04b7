//! Events: how fast they are appended beside PostgreSQL with the obvious table, which has a unique (aggregate, version), each
//! append durable and at the version that its client expects on both sides; and how long a stream of a million events takes
//! to be what it is, from its snapshot.
//!
//! On our side somebody gives the events their places in the feed meanwhile, as a server does; how far behind that is, is told.

use std::{
    future::Future,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use merkato::{
    Context, Settings,
    context::SystemChance,
    events::{self, AppendRequest, Expected, NewEvent},
    id::AggregateId,
};
use serde_json::{Value, json};
use tokio_postgres::{Config, Statement};
use uuid::Uuid;
use widerow::{Database, embedded::Embedded, time::SystemClock};

use crate::{
    measure::{Verdict, Verdicts, duel},
    postgres::connect,
};

const APPEND: &str = "events: append beside PostgreSQL";
const REBUILD: &str = "events: a million rebuilt from a snapshot in 10 ms";
const FLOOR: f64 = 5.0;
const CLIENTS: usize = 64;
/// Streams of each client.
const STREAMS: usize = 16;
const REBUILD_MILLIS_MAX: f64 = 10.0;
const LONG_STREAM: i64 = 1_000_000;

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

fn streams() -> Arc<Vec<Vec<Stream>>> {
    let stream = |_| Stream { id: Uuid::now_v7(), version: AtomicI64::new(0) };
    Arc::new((0..CLIENTS).map(|_| (0..STREAMS).map(stream).collect()).collect())
}

/// All clients side by side: how many events they appended.
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
    println!();
    let (rounds, each) = if quick { (6, 20) } else { (20, 40) };
    let folder = tempfile::tempdir().expect("a folder");
    let ctx = shop(folder.path()).await;
    let table = Table::create(address).await;
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(Arc::new(table.client().await));
    }
    let (our_streams, their_streams) = (streams(), streams());
    let stop = Arc::new(AtomicBool::new(false));
    let sequencing = tokio::spawn(sequence(ctx.clone(), stop.clone()));
    let ours = || {
        many(|client| {
            let (ctx, streams) = (ctx.clone(), our_streams.clone());
            async move {
                for n in 0..each {
                    let stream = &streams[client][n % STREAMS];
                    let version = stream.version.load(Ordering::Relaxed);
                    let request = AppendRequest {
                        aggregate_id: AggregateId(stream.id),
                        kind: "wallet of the bench".into(),
                        expected: Expected::Exact(version),
                        events: (1..=batch).map(|n| NewEvent::new("MoneyDeposited", data(version + n))).collect(),
                    };
                    let appended = events::append(&ctx, request).await.expect("appended");
                    stream.version.store(appended.version, Ordering::Relaxed);
                }
                each * batch as usize
            }
        })
    };
    let theirs = || {
        many(|client| {
            let (connection, streams) = (clients[client].clone(), their_streams.clone());
            async move {
                for n in 0..each {
                    let stream = &streams[client][n % STREAMS];
                    let version = stream.version.load(Ordering::Relaxed);
                    connection.append(stream.id, version, batch).await;
                    stream.version.store(version + batch, Ordering::Relaxed);
                }
                each * batch as usize
            }
        })
    };
    duel(name, FLOOR, rounds, ours, theirs, verdicts).await;
    stop.store(true, Ordering::SeqCst);
    let appended: i64 = our_streams.iter().flatten().map(|stream| stream.version.load(Ordering::Relaxed)).sum();
    let (behind, rate) = sequencing.await.expect("no panic");
    let start = Instant::now();
    let rest = events::sequence_all(&ctx, |_| {}).await.expect("places").events;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "  {appended} events; places {rate:.0} a second meanwhile, {behind} behind at most; the last {rest} in {seconds:.2} s"
    );
    assert_eq!(events::feed_position(&ctx).await.expect("a place"), appended, "each event has its place");
    table.drop().await;
}

/// Gives places until it is stopped: how far behind it was at most, and how many a second it gave.
async fn sequence(ctx: Context, stop: Arc<AtomicBool>) -> (i64, f64) {
    let (mut behind, mut given, start) = (0, 0, Instant::now());
    while !stop.load(Ordering::SeqCst) {
        let done = events::sequence(&ctx).await.expect("places");
        given += done.events;
        behind = behind.max(done.events as i64);
        if !done.more {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    (behind, given as f64 / start.elapsed().as_secs_f64())
}

/// A stream of a million events, rebuilt from its snapshot.
pub async fn run_rebuild(quick: bool, verdicts: &mut Verdicts) {
    if !verdicts.wants(REBUILD) {
        return;
    }
    println!();
    let count = if quick { LONG_STREAM / 10 } else { LONG_STREAM };
    let folder = tempfile::tempdir().expect("a folder");
    let ctx = shop(folder.path()).await;
    let stream = AggregateId(Uuid::now_v7());
    let start = Instant::now();
    for first in (0..count).step_by(500) {
        let request = AppendRequest {
            aggregate_id: stream,
            kind: "wallet of the bench".into(),
            expected: Expected::Exact(first),
            events: (first..first + 500).map(|n| NewEvent::new("MoneyDeposited", data(n))).collect(),
        };
        events::append(&ctx, request).await.expect("appended");
    }
    println!("a stream of {count} events, appended in {:.1} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let scratch = events::state_from_scratch(&ctx, stream, None).await.expect("a state");
    println!("  from scratch in {:.2} s", start.elapsed().as_secs_f64());
    assert!(events::take_snapshot(&ctx, stream).await.expect("a snapshot"));
    // A tail as long as one can be before the next snapshot is due.
    let request = AppendRequest {
        aggregate_id: stream,
        kind: "wallet of the bench".into(),
        expected: Expected::Exact(count),
        events: (count..count + 99).map(|n| NewEvent::new("MoneyDeposited", data(n))).collect(),
    };
    events::append(&ctx, request).await.expect("appended");
    assert_eq!(scratch.version, count);
    let mut times = Vec::new();
    for _ in 0..200 {
        let start = Instant::now();
        let state = events::state_now(&ctx, stream).await.expect("a state");
        times.push(start.elapsed());
        assert_eq!((state.version, state.from_snapshot), (count + 99, count));
    }
    times.sort_unstable();
    let millis = |percent: usize| times[times.len() * percent / 100].as_secs_f64() * 1_000.0;
    println!("  from its snapshot and 99 events: p50 {:.2} ms, p99 {:.2} ms", millis(50), millis(99));
    verdicts.all.push(Verdict { name: REBUILD.into(), ratio: REBUILD_MILLIS_MAX / millis(99), floor: 1.0 });
}

/// The same events in PostgreSQL: one table with the document's columns; an append is one prepared statement.
struct Table {
    config: Config,
    owner: tokio_postgres::Client,
    name: String,
}

struct Client {
    connection: tokio_postgres::Client,
    insert: Statement,
}

impl Table {
    async fn create(address: &str) -> Self {
        let config: Config = address.parse().expect("an address of PostgreSQL");
        let owner = connect(&config).await;
        let name = format!("event_log_{}", std::process::id());
        let create = format!(
            "CREATE TABLE {name} (
               aggregate_id uuid NOT NULL, event_version bigint NOT NULL, event_timestamp timestamptz NOT NULL,
               event_id uuid NOT NULL, event_type text NOT NULL, event_data text NOT NULL, event_metadata jsonb,
               causation_id uuid, correlation_id uuid NOT NULL, PRIMARY KEY (aggregate_id, event_version)
             )"
        );
        owner.batch_execute(&create).await.expect("a table");
        Table { config, owner, name }
    }

    async fn client(&self) -> Client {
        let connection = connect(&self.config).await;
        let insert = format!(
            "INSERT INTO {} (aggregate_id, event_version, event_timestamp, event_id, event_type, event_data, correlation_id)
             SELECT $1::uuid, version, $2::timestamptz, id, 'MoneyDeposited', data, id
             FROM unnest($3::bigint[], $4::uuid[], $5::text[]) AS event (version, id, data)",
            self.name
        );
        let insert = connection.prepare(&insert).await.expect("a statement");
        Client { connection, insert }
    }

    async fn drop(self) {
        self.owner.batch_execute(&format!("DROP TABLE {}", self.name)).await.expect("gone");
    }
}

impl Client {
    async fn append(&self, aggregate: Uuid, version: i64, batch: i64) {
        let now: SystemTime = UNIX_EPOCH + SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
        let versions: Vec<i64> = (version + 1..=version + batch).collect();
        let ids: Vec<Uuid> = versions.iter().map(|_| Uuid::now_v7()).collect();
        let data: Vec<String> = versions.iter().map(|n| data(*n).to_string()).collect();
        let inserted = self.connection.execute(&self.insert, &[&aggregate, &now, &versions, &ids, &data]).await;
        assert_eq!(inserted.expect("inserted"), batch as u64);
    }
}
