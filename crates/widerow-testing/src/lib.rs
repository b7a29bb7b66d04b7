//! Runs test cases, each written once, on every engine: embedded always; Cassandra and DynamoDB when
//! `MERKATO_TEST_CASSANDRA` and `MERKATO_TEST_DYNAMODB` say where they are. Cases of an engine that is not there are listed
//! by name as ignored, and the reason is said aloud.

#[cfg(feature = "dynamodb")]
pub mod dynamo;
mod watch;

#[cfg(feature = "dynamodb")]
pub use aws_sdk_dynamodb;

use std::{
    path::PathBuf,
    sync::{
        Arc, LazyLock, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use libtest_mimic::{Arguments, Trial};
use scylla::{
    client::{session::Session, session_builder::SessionBuilder},
    errors::NewSessionError,
};
use tokio::runtime::Runtime;
use widerow::{
    Engine, Schema,
    cassandra::{Cassandra, CassandraConfig},
    embedded::Embedded,
    engine::Abilities,
};

pub static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime"));

const CASSANDRA: &str = "cassandra";

type Opener = Box<dyn FnOnce() -> Arc<dyn Engine> + Send>;

pub type Case = (&'static str, fn(&Target));

/// Names a list of async cases, each `async fn(&Target)`.
#[macro_export]
macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        pub const CASES: &[$crate::Case] =
            &[$((concat!(module_path!(), "::", stringify!($name)), |target| $crate::RUNTIME.block_on($name(target)))),*];
    };
}

/// Runs the cases on every engine that is there, as a test binary's `main`.
pub fn run(schema: fn() -> Schema, cases: &[&[Case]]) -> ! {
    let arguments = Arguments::from_args();
    let _ = &*RUNTIME;
    let mut trials = Vec::new();
    let targets = Target::all(schema);
    // Engines take turns: while one makes a case wait, another is asked.
    for (name, case) in cases.iter().copied().flatten().copied() {
        for (target, skipped) in &targets {
            let target = target.clone();
            // The binary's own name is said once, by the run.
            let full_name = format!("{}::{}", target.name, name.split_once("::").map_or(name, |(_, name)| name));
            trials.push(
                Trial::test(full_name.clone(), move || {
                    let _watched = watch::begin(full_name);
                    case(&target);
                    Ok(())
                })
                .with_ignored_flag(skipped.is_some()),
            );
        }
    }
    for (target, skipped) in targets {
        if let Some(reason) = skipped {
            eprintln!("skipped: every case on {}, as {reason}", target.name);
        }
    }
    watch::start();
    let conclusion = libtest_mimic::run(&arguments, trials);
    clean_up();
    conclusion.exit()
}

/// One engine to run a suite on.
#[derive(Clone)]
pub struct Target {
    pub name: &'static str,
    schema: fn() -> Schema,
    open: fn(Schema, bool) -> Arc<dyn Engine>,
    shared: Arc<LazyLock<Arc<dyn Engine>, Opener>>,
    used: Arc<Mutex<Vec<Used>>>,
}

/// An engine that a case had to itself; who else holds it, is still at it.
struct Used {
    keyspace: String,
    engine: Arc<dyn Engine>,
}

/// The environment variable that gives an engine's address.
pub fn address(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|value| !value.is_empty())
}

/// A name that no other case and no other run has.
pub fn unique() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("t{}x{}", std::process::id(), NEXT.fetch_add(1, Ordering::SeqCst))
}

impl Target {
    fn new(name: &'static str, schema: fn() -> Schema, open: fn(Schema, bool) -> Arc<dyn Engine>) -> Self {
        let shared: Opener = Box::new(move || open(schema(), true));
        Target { name, schema, open, shared: Arc::new(LazyLock::new(shared)), used: Arc::default() }
    }

    /// The engines of a suite; one that cannot be tested is there by name, with the reason why it is skipped.
    pub fn all(schema: fn() -> Schema) -> Vec<(Target, Option<&'static str>)> {
        let unless = |present: bool, reason| (!present).then_some(reason);
        #[cfg(feature = "dynamodb")]
        let dynamodb = (
            Target::new("dynamodb", schema, dynamo::open),
            unless(address("MERKATO_TEST_DYNAMODB").is_some(), "MERKATO_TEST_DYNAMODB does not say where it is"),
        );
        #[cfg(not(feature = "dynamodb"))]
        let dynamodb = {
            assert_eq!(address("MERKATO_TEST_DYNAMODB"), None, "DynamoDB is to be tested, without --features dynamodb");
            let absent = |_, _| unreachable!("its cases are skipped");
            (Target::new("dynamodb", schema, absent), Some("it is built with --features dynamodb only"))
        };
        let is_cassandra = address("MERKATO_TEST_CASSANDRA").is_some();
        vec![
            (Target::new("embedded", schema, embedded), None),
            (
                Target::new(CASSANDRA, schema, cassandra),
                unless(is_cassandra, "MERKATO_TEST_CASSANDRA does not say where it is"),
            ),
            dynamodb,
        ]
    }

    /// The engine whose tables all cases share: each has a tenant of its own.
    pub fn engine(&self) -> Arc<dyn Engine> {
        (**self.shared).clone()
    }

    /// An engine with empty tables, for cases that look at all tenants.
    pub fn empty_engine(&self) -> Arc<dyn Engine> {
        if self.name != CASSANDRA {
            return (self.open)((self.schema)(), true);
        }
        // A hundred tables take Cassandra longer to make than most cases take; those of a case that has ended are emptied.
        let idle = {
            let mut used = self.used.lock().expect("no panic");
            let at = used.iter().position(|used| Arc::strong_count(&used.engine) == 1);
            at.map(|at| used.swap_remove(at))
        };
        let ready = match idle {
            Some(used) => {
                wait(empty_keyspace(&used.keyspace));
                used
            }
            None => {
                let keyspace = unique();
                Used { engine: cassandra_in(keyspace.clone(), (self.schema)(), true), keyspace }
            }
        };
        let engine = ready.engine.clone();
        self.used.lock().expect("no panic").push(ready);
        engine
    }

    /// An engine for another schema, without tables unless they are asked for.
    pub fn engine_for(&self, schema: Schema, create: bool) -> Arc<dyn Engine> {
        (self.open)(schema, create)
    }

    pub fn abilities(&self) -> Abilities {
        self.shared.abilities()
    }
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

enum Leftover {
    Folder(PathBuf),
    Keyspace(String),
    #[cfg(feature = "dynamodb")]
    Tables(String),
}

fn leave(leftover: Leftover) {
    LEFTOVERS.lock().expect("no panic").push(leftover);
}

fn clean_up() {
    for leftover in LEFTOVERS.lock().expect("no panic").drain(..) {
        match leftover {
            Leftover::Folder(folder) => drop(std::fs::remove_dir_all(folder)),
            Leftover::Keyspace(keyspace) => RUNTIME.block_on(drop_keyspace(&keyspace)),
            #[cfg(feature = "dynamodb")]
            Leftover::Tables(prefix) => RUNTIME.block_on(dynamo::drop_tables(&prefix)),
        }
    }
}

async fn bare_session() -> Result<Session, NewSessionError> {
    let node = address("MERKATO_TEST_CASSANDRA").unwrap_or_default();
    SessionBuilder::new().known_node(node).build().await
}

async fn drop_keyspace(keyspace: &str) {
    if let Ok(session) = bare_session().await {
        let _ = session.query_unpaged(format!("DROP KEYSPACE IF EXISTS {keyspace}"), ()).await;
    }
}

/// Takes every row out of every table; those that have none are left alone, as that is quicker to see than to do.
async fn empty_keyspace(keyspace: &str) {
    let session = bare_session().await.expect("a session");
    let tables = "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?";
    let tables = session.query_unpaged(tables, (keyspace,)).await.expect("an answer").into_rows_result().expect("rows");
    for table in tables.rows::<(String,)>().expect("names") {
        let name = format!("{keyspace}.{}", table.expect("a name").0);
        let found = session.query_unpaged(format!("SELECT * FROM {name} LIMIT 1"), ()).await.expect("an answer");
        if found.into_rows_result().expect("rows").rows_num() > 0 {
            session.query_unpaged(format!("TRUNCATE {name}"), ()).await.expect("an empty table");
        }
    }
}

fn cassandra(schema: Schema, create: bool) -> Arc<dyn Engine> {
    cassandra_in(unique(), schema, create)
}

fn cassandra_in(keyspace: String, schema: Schema, create: bool) -> Arc<dyn Engine> {
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
