//! Where a case runs: an engine, a clock that stands still, a tenant of its own.

use std::{
    path::PathBuf,
    sync::{
        Arc, LazyLock, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::runtime::Runtime;
use widerow::{
    Database, Engine, Options, Schema, Store, Timestamp,
    cassandra::{Cassandra, CassandraConfig},
    embedded::Embedded,
    engine::Abilities,
    time::{Clock, ManualClock},
};

pub static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime"));

type Opener = Box<dyn FnOnce() -> Arc<dyn Engine> + Send>;

/// One engine to run the suite on.
#[derive(Clone)]
pub struct Target {
    pub name: &'static str,
    /// Makes an engine with empty tables.
    open: fn(Schema, bool) -> Arc<dyn Engine>,
    shared: Arc<LazyLock<Arc<dyn Engine>, Opener>>,
}

pub struct World {
    pub engine: Arc<dyn Engine>,
    pub clock: Arc<ManualClock>,
    pub store: Store,
    pub database: Database,
    pub target: Target,
}

/// The environment variable that gives an engine's address.
pub fn address(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|value| !value.is_empty())
}

pub fn unique() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("t{}x{}", std::process::id(), NEXT.fetch_add(1, Ordering::SeqCst))
}

impl Target {
    fn new(name: &'static str, open: fn(Schema, bool) -> Arc<dyn Engine>) -> Self {
        let shared: Opener = Box::new(move || open(crate::tables::schema(), true));
        Target { name, open, shared: Arc::new(LazyLock::new(shared)) }
    }

    /// The engines of the suite; one that cannot be tested is there by name, with the reason why it is skipped.
    pub fn all() -> Vec<(Target, Option<&'static str>)> {
        let unless = |present: bool, reason| (!present).then_some(reason);
        #[cfg(feature = "dynamodb")]
        let dynamodb = (
            Target::new("dynamodb", crate::dynamo::open),
            unless(address("MERKATO_TEST_DYNAMODB").is_some(), "MERKATO_TEST_DYNAMODB does not say where it is"),
        );
        #[cfg(not(feature = "dynamodb"))]
        let dynamodb = {
            assert_eq!(address("MERKATO_TEST_DYNAMODB"), None, "DynamoDB is to be tested, without --features dynamodb");
            let absent = |_, _| unreachable!("its cases are skipped");
            (Target::new("dynamodb", absent), Some("it is built with --features dynamodb only"))
        };
        let cassandra = address("MERKATO_TEST_CASSANDRA").is_some();
        vec![
            (Target::new("embedded", embedded), None),
            (
                Target::new("cassandra", self::cassandra),
                unless(cassandra, "MERKATO_TEST_CASSANDRA does not say where it is"),
            ),
            dynamodb,
        ]
    }

    /// A world on the tables that all cases share, with a tenant of its own.
    pub fn world(&self) -> World {
        self.world_on((**self.shared).clone(), false)
    }

    /// A world on empty tables, for cases that look at all tenants.
    pub fn empty_world(&self) -> World {
        self.world_on((self.open)(crate::tables::schema(), true), false)
    }

    pub fn world_on(&self, engine: Arc<dyn Engine>, always_outbox: bool) -> World {
        let clock = Arc::new(ManualClock::at(now()));
        let database = Database::with_options(
            engine.clone(),
            crate::tables::schema(),
            Options { clock: clock.clone() as Arc<dyn Clock>, always_outbox, ..Options::default() },
        );
        let store = database.tenant(&unique()).expect("a good name");
        World { engine, clock, store, database, target: self.clone() }
    }

    /// Another world on the same tables and the same clock.
    pub fn world_like(&self, world: &World) -> World {
        World {
            engine: world.engine.clone(),
            clock: world.clock.clone(),
            store: world.store.clone(),
            database: world.database.clone(),
            target: self.clone(),
        }
    }

    /// An engine for another schema, without tables unless they are asked for.
    pub fn world_with(&self, schema: Schema, create: bool) -> Arc<dyn Engine> {
        (self.open)(schema, create)
    }

    pub fn abilities(&self) -> Abilities {
        self.shared.abilities()
    }
}

/// The machine's time at the beginning, so that engines with a clock of their own agree about what is over.
fn now() -> Timestamp {
    widerow::time::SystemClock.now()
}

fn embedded(schema: Schema, create: bool) -> Arc<dyn Engine> {
    let folder = tempfile::tempdir().expect("a folder").keep();
    let engine = Embedded::open(&folder, &schema).expect("an engine");
    if create {
        wait(engine.migrate(&schema, true)).expect("tables");
    }
    leave(Leftover::Folder(folder));
    Arc::new(engine)
}

/// Waits within the runtime's own threads, where a case is running already.
pub fn wait<T: Send>(future: impl Future<Output = T> + Send) -> T {
    std::thread::scope(|scope| scope.spawn(|| RUNTIME.block_on(future)).join().expect("no panic"))
}

/// What to remove at the end.
static LEFTOVERS: Mutex<Vec<Leftover>> = Mutex::new(Vec::new());

pub enum Leftover {
    Folder(PathBuf),
    Keyspace(String),
    #[cfg(feature = "dynamodb")]
    Tables(String),
}

pub fn leave(leftover: Leftover) {
    LEFTOVERS.lock().expect("no panic").push(leftover);
}

pub fn clean_up() {
    for leftover in LEFTOVERS.lock().expect("no panic").drain(..) {
        match leftover {
            Leftover::Folder(folder) => drop(std::fs::remove_dir_all(folder)),
            Leftover::Keyspace(keyspace) => RUNTIME.block_on(drop_keyspace(&keyspace)),
            #[cfg(feature = "dynamodb")]
            Leftover::Tables(prefix) => RUNTIME.block_on(crate::dynamo::drop_tables(&prefix)),
        }
    }
}

async fn drop_keyspace(keyspace: &str) {
    let node = address("MERKATO_TEST_CASSANDRA").unwrap_or_default();
    let session = scylla::client::session_builder::SessionBuilder::new().known_node(node).build().await;
    if let Ok(session) = session {
        let _ = session.query_unpaged(format!("DROP KEYSPACE IF EXISTS {keyspace}"), ()).await;
    }
}

fn cassandra(schema: Schema, create: bool) -> Arc<dyn Engine> {
    let keyspace = unique();
    leave(Leftover::Keyspace(keyspace.clone()));
    let nodes = address("MERKATO_TEST_CASSANDRA").unwrap_or_default();
    let nodes = nodes.split(',').map(String::from).collect();
    let config = CassandraConfig { nodes, keyspace, ..CassandraConfig::default() };
    wait(async {
        let engine = Cassandra::connect(config, &schema).await.expect("a connection");
        if create {
            assert_eq!(engine.migrate(&schema, true).await.expect("tables").problems, []);
        }
        Arc::new(engine) as Arc<dyn Engine>
    })
}

impl World {
    pub fn clock_now(&self) -> Timestamp {
        self.clock.now()
    }
}
