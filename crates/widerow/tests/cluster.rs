//! Three real nodes, one of which dies: writers of several processes, some of which die too, and every commit is
//! accounted for.
//!
//! Runs when `MERKATO_TEST_CLUSTER` gives the addresses of three Cassandra nodes and `MERKATO_TEST_CLUSTER_SCRIPT` the
//! script that stops and starts one of them (`stop-node N`, `start-node N HEAP`).
//!
//! How it knows: every increment carries a token of its own, and leaves, in the same commit, a receipt under the value
//! that it made. So the receipts are the history of the row: each value once, each token once, all that was acknowledged,
//! nothing that was refused.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    future::Future,
    process::{Command, Stdio},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use rand::{Rng, SeedableRng, rngs::SmallRng};
use tokio::time::{sleep, timeout};
use uuid::Uuid;
use widerow::{
    Commit, Database, Derive, Engine, Error, Operator, Row, Schema, Store,
    cassandra::{Cassandra, CassandraConfig},
    faulty::{Faults, Faulty},
    outbox::{PENDING, Swept},
    store::VerifyOptions,
};

const TENANT: &str = "default";
const ROWS: i32 = 5;
/// Connections of their own, so that nothing in the memory of one helps another.
const PROCESSES: usize = 4;
/// A round of claims lasts so long; in each, all claimants fight for a few new names.
const CLAIM_ROUND: Duration = Duration::from_millis(700);
const NAMES_A_ROUND: i32 = 4;
const HEAP: &str = "768M";
const BEFORE_THE_KILL: Duration = Duration::from_secs(5);
const NODE_DOWN: Duration = Duration::from_secs(10);
const AFTER_THE_RESTART: Duration = Duration::from_secs(10);
const SWEEP_EVERY: Duration = Duration::from_secs(2);
/// No single call may take longer, whatever the cluster does.
const CALL_MAX: Duration = Duration::from_secs(90);
/// Until a cluster is itself again after a node came back.
const RECOVERY_MAX: Duration = Duration::from_secs(120);
const SCRIPT_MAX: Duration = Duration::from_secs(240);

/// A number that writers increment.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "tallies", partition(id), guarded, read = Quorum, write = Quorum)]
struct Tally {
    id: i32,
    value: i64,
    token: Uuid,
}

/// Moved by each increment: exactly one for each tally.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "tallies_by_value", partition(value), clustering(id), read = Quorum, write = Quorum)]
struct TallyByValue {
    value: i64,
    id: i32,
    token: Uuid,
}

impl Derive<TallyByValue> for Tally {
    fn derive(&self) -> Vec<TallyByValue> {
        vec![TallyByValue { value: self.value, id: self.id, token: self.token }]
    }
    fn source(derived: &TallyByValue) -> i32 {
        derived.id
    }
}

/// Who made a tally what it was: a second table in the same commit, of which nothing is ever deleted.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "receipts", partition(id), clustering(value), read = Quorum, write = Quorum)]
struct Receipt {
    id: i32,
    value: i64,
    token: Uuid,
}

/// A name and who has it. The partition has a clustering column, so that its bookkeeping is in static columns; that of a
/// tally is in ordinary ones.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "claims", partition(round), clustering(name), guarded, read = Quorum, write = Quorum)]
struct Claim {
    round: i64,
    name: i32,
    token: Uuid,
}

fn schema() -> Schema {
    Schema::new()
        .table::<Tally>()
        .table::<TallyByValue>()
        .table::<Receipt>()
        .table::<Claim>()
        .derived::<Tally, TallyByValue>()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_dies() {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let (Some(nodes), Some(script)) = (set("MERKATO_TEST_CLUSTER"), set("MERKATO_TEST_CLUSTER_SCRIPT")) else {
        println!("skipped: the test of three nodes, one of which dies");
        println!("set MERKATO_TEST_CLUSTER (three addresses) and MERKATO_TEST_CLUSTER_SCRIPT (engines/cassandra.sh)");
        return;
    };
    let seed = set("MERKATO_TEST_SEED").and_then(|s| s.parse().ok()).unwrap_or(20_261);
    println!("seed {seed} (MERKATO_TEST_SEED)");
    let nodes: Vec<String> = nodes.split(',').map(|node| format!("{}:9042", node.trim())).collect();
    assert_eq!(nodes.len(), 3, "MERKATO_TEST_CLUSTER: three addresses with commas between");
    let mut cluster = Cluster {
        keyspace: format!("cluster{}s{seed}", std::process::id()),
        nodes,
        script,
        down: BTreeSet::new(),
        started: Instant::now(),
    };
    let processes = cluster.open().await;
    a_node_dies_under_load(&mut cluster, &processes, seed).await;
    one_node_down_then_two(&mut cluster, &processes).await;
    cluster.drop_keyspace().await;
}

// ---------------------------------------------------------------------------------------------------------------------
// The cluster
// ---------------------------------------------------------------------------------------------------------------------

struct Cluster {
    nodes: Vec<String>,
    keyspace: String,
    script: String,
    down: BTreeSet<u32>,
    started: Instant,
}

impl Cluster {
    fn say(&self, text: impl std::fmt::Display) {
        println!("{:6.1} s  {text}", self.started.elapsed().as_secs_f64());
    }

    fn config(&self) -> CassandraConfig {
        CassandraConfig {
            nodes: self.nodes.clone(),
            keyspace: self.keyspace.clone(),
            replication: "{'class': 'SimpleStrategy', 'replication_factor': 3}".into(),
            connect_timeout: Duration::from_secs(20),
            ..CassandraConfig::default()
        }
    }

    /// Connections, tables, and rows at zero.
    async fn open(&self) -> Vec<Arc<dyn Engine>> {
        let mut processes: Vec<Arc<dyn Engine>> = Vec::new();
        for _ in 0..PROCESSES {
            let engine = patiently(|| async { Cassandra::connect(self.config(), &schema()).await }).await;
            processes.push(Arc::new(engine));
        }
        let database = Database::new(processes[0].clone(), schema());
        patiently(|| database.migrate()).await;
        let store = database.tenant(TENANT).expect("a good name");
        for id in 0..ROWS {
            patiently(|| store.commit(Commit::new().put(&Tally { id, value: 0, token: Uuid::nil() }))).await;
        }
        self.say(format_args!("{PROCESSES} connections, {ROWS} rows at zero, replication factor 3"));
        processes
    }

    async fn stop(&mut self, node: u32) {
        self.down.insert(node);
        self.run(&["stop-node", &node.to_string()]).await;
    }

    async fn start(&mut self, node: u32) {
        self.run(&["start-node", &node.to_string(), HEAP]).await;
        self.down.remove(&node);
    }

    /// The script's output goes to a file: a node that it leaves behind must not hold a pipe that is waited for.
    async fn run(&self, arguments: &[&str]) {
        self.say(format_args!("script: {}", arguments.join(" ")));
        let output = tempfile::NamedTempFile::new().expect("a file");
        let file = output.reopen().expect("the file");
        let mut command = Command::new(&self.script);
        command.args(arguments).stdin(Stdio::null());
        command.stdout(file.try_clone().expect("the file")).stderr(file);
        let mut child = command.spawn().expect("MERKATO_TEST_CLUSTER_SCRIPT can be run");
        let deadline = Instant::now() + SCRIPT_MAX;
        let status = loop {
            if let Some(status) = child.try_wait().expect("a child") {
                break status;
            }
            if Instant::now() > deadline {
                let _ = child.kill();
                panic!("the script did not end within {SCRIPT_MAX:?}: {arguments:?}");
            }
            sleep(Duration::from_millis(50)).await;
        };
        for line in std::fs::read_to_string(output.path()).expect("text").lines() {
            self.say(format_args!("  | {line}"));
        }
        assert!(status.success(), "{arguments:?}: {status}");
    }

    async fn drop_keyspace(&self) {
        let session = scylla::client::session_builder::SessionBuilder::new().known_nodes(&self.nodes).build().await;
        if let Ok(session) = session {
            let _ = session.query_unpaged(format!("DROP KEYSPACE IF EXISTS {}", self.keyspace), ()).await;
        }
    }
}

/// Nodes that have just started do not all know each other yet.
async fn patiently<T, F: Future<Output = Result<T, Error>>>(mut call: impl FnMut() -> F) -> T {
    let deadline = Instant::now() + RECOVERY_MAX;
    loop {
        match call().await {
            Ok(answer) => return answer,
            Err(e) => assert!(e.is_transient() && Instant::now() < deadline, "the cluster is not ready: {e}"),
        }
        sleep(Duration::from_secs(1)).await;
    }
}

/// A test that failed leaves the cluster as it found it.
impl Drop for Cluster {
    fn drop(&mut self) {
        for node in &self.down {
            let _ = Command::new(&self.script).args(["start-node", &node.to_string(), HEAP]).status();
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// What writers were told
// ---------------------------------------------------------------------------------------------------------------------

/// The times of a run.
const BEFORE: usize = 0;
const DOWN: usize = 1;
const STARTING: usize = 2;
const AFTER: usize = 3;
const TIMES: [&str; 4] = ["before the kill", "while the node was down", "while it started", "after the restart"];

/// One increment or one claim that someone has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Target {
    Row(i32),
    Name(i64, i32),
}

#[derive(Default)]
struct Ledger {
    /// Begun and not answered: whose writer lives, or died in the middle.
    open: HashMap<Uuid, Target>,
    /// Value that was made (zero for a claim) by token.
    acknowledged: HashMap<Uuid, (Target, i64)>,
    /// Certainly not made.
    refused: HashMap<Uuid, Target>,
    unknown: HashMap<Uuid, Target>,
    /// Acknowledged increments and claims by the time in which they began and ended.
    by_time: [(usize, usize); 4],
    errors: BTreeMap<String, usize>,
    /// Lost answers that the same commit, sent again under its id, turned into certainty.
    asked_again: usize,
    stopped: usize,
    aborted: usize,
    slowest: Duration,
}

/// What all writers of a run share.
struct Run {
    ledger: Mutex<Ledger>,
    time: AtomicUsize,
    over: AtomicBool,
    started: Instant,
}

impl Run {
    fn new() -> Arc<Self> {
        Arc::new(Run {
            ledger: Mutex::default(),
            time: AtomicUsize::new(BEFORE),
            over: AtomicBool::new(false),
            started: Instant::now(),
        })
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().expect("no writer panics with the ledger in its hands")
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Makes one commit and writes down what was said about it. Ok with the value that it made.
    async fn account(&self, target: Target, token: Uuid, made: impl Future<Output = Result<i64, Error>>) -> bool {
        let (time, began) = (self.time.load(Ordering::SeqCst), Instant::now());
        self.ledger().open.insert(token, target);
        let result = made.await;
        let mut ledger = self.ledger();
        ledger.open.remove(&token);
        ledger.slowest = ledger.slowest.max(began.elapsed());
        match &result {
            Ok(value) => {
                ledger.acknowledged.insert(token, (target, *value));
                if time == self.time.load(Ordering::SeqCst) {
                    match target {
                        Target::Row(_) => ledger.by_time[time].0 += 1,
                        Target::Name(..) => ledger.by_time[time].1 += 1,
                    }
                }
            }
            Err(error) => {
                let known = if error.may_have_happened() { &mut ledger.unknown } else { &mut ledger.refused };
                known.insert(token, target);
                *ledger.errors.entry(kind(error)).or_default() += 1;
            }
        }
        result.is_ok()
    }
}

/// The names of errors, with what the server said where no caller could act upon it.
fn kind(error: &Error) -> String {
    match error {
        Error::Conflict(_) => "Conflict".into(),
        Error::Contended { .. } => "Contended".into(),
        Error::Throttled { .. } => "Throttled".into(),
        Error::Unavailable { detail } if detail.contains("on purpose") => "Unavailable (stopped on purpose)".into(),
        Error::Unavailable { .. } => "Unavailable".into(),
        Error::Indeterminate { .. } => "Indeterminate".into(),
        Error::TimedOut { .. } => "TimedOut".into(),
        other => format!("{other:?}"),
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Writers
// ---------------------------------------------------------------------------------------------------------------------

/// One increment, in one of the two ways that there are.
async fn increment(run: &Run, store: &Store, chance: &mut SmallRng) -> bool {
    let (id, token) = (chance.random_range(0..ROWS), Uuid::from_u128(chance.random()));
    if chance.random_bool(0.5) {
        run.account(Target::Row(id), token, decide(store, id, token)).await
    } else {
        run.account(Target::Row(id), token, compare(run, store, id, token)).await
    }
}

/// Decided on the partition as it is, again if another was quicker.
async fn decide(store: &Store, id: i32, token: Uuid) -> Result<i64, Error> {
    store
        .guarded::<Tally, i64, Error>(id, |partition| {
            let value = partition.rows.first().map_or(0, |row| row.value) + 1;
            Ok((Commit::new().put(&Tally { id, value, token }).put(&Receipt { id, value, token }), value))
        })
        .await
}

/// Guarded by the value that was read; a lost answer is asked for again under the same id.
async fn compare(run: &Run, store: &Store, id: i32, token: Uuid) -> Result<i64, Error> {
    // Nothing has been sent: whatever goes wrong here, the increment was not made.
    let read = store.get::<Tally>(id).await.map_err(Error::unavailable)?;
    let old = read.expect("rows are never deleted").value;
    let value = old + 1;
    let commit = Commit::with_id(token)
        .when(id, Tally::VALUE, Operator::Equal, &old)
        .put(&Tally { id, value, token })
        .put(&Receipt { id, value, token });
    let mut result = store.commit(commit.clone()).await;
    for _ in 0..2 {
        if !matches!(result, Err(Error::Indeterminate { .. })) {
            break;
        }
        // A refusal of the second says nothing about the first: the guard may have failed on its own success.
        if let Ok(committed) = store.commit(commit.clone()).await {
            run.ledger().asked_again += 1;
            result = Ok(committed);
        }
    }
    result.map(|_| value)
}

/// One claim of a name that several want.
async fn claim(run: &Run, store: &Store, chance: &mut SmallRng) -> bool {
    let round = (run.started.elapsed().as_millis() / CLAIM_ROUND.as_millis()) as i64;
    let (name, token) = (chance.random_range(0..NAMES_A_ROUND), Uuid::from_u128(chance.random()));
    let row = Claim { round, name, token };
    let commit = Commit::new().absent::<Claim>((round, name)).put(&row);
    run.account(Target::Name(round, name), token, async {
        match store.commit(commit).await {
            Err(Error::Conflict(conflict)) => {
                let winners = conflict.rows_of::<Claim>();
                assert!(winners.len() == 1 && winners[0].token != token, "refused by {winners:?}, asked by {token}");
                Err(Error::Conflict(conflict))
            }
            other => other.map(|_| 0),
        }
    })
    .await
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Increments,
    Claims,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    /// To the end.
    Long,
    /// Its engine stops after a few steps, as if the process had died between them; another takes its place.
    Stopped,
    /// It is dropped at a random instant, in the middle of whatever it waits for; another takes its place.
    Aborted,
}

async fn work(run: &Run, store: &Store, work: Work, chance: &mut SmallRng, ended: impl Fn() -> bool) {
    while !run.is_over() && !ended() {
        match work {
            Work::Increments => increment(run, store, chance).await,
            Work::Claims => claim(run, store, chance).await,
        };
        sleep(Duration::from_millis(chance.random_range(0..20))).await;
    }
}

/// One writer after another, each with a handle (and so with locks) of its own, over the connection of its process.
async fn writers(run: Arc<Run>, engine: Arc<dyn Engine>, what: Work, life: Life, seed: u64) {
    let mut chance = SmallRng::seed_from_u64(seed);
    while !run.is_over() {
        let open = |engine: Arc<dyn Engine>| Database::new(engine, schema()).tenant(TENANT).expect("a good name");
        match life {
            Life::Long => {
                let store = open(engine.clone());
                work(&run, &store, what, &mut chance, || false).await;
            }
            Life::Stopped => {
                let faults = Faults { seed, stop_after_steps: Some(chance.random_range(1..40)), ..Faults::default() };
                let faulty = Arc::new(Faulty::new(engine.clone(), faults));
                let store = open(faulty.clone());
                work(&run, &store, what, &mut chance, || faulty.has_stopped()).await;
                run.ledger().stopped += usize::from(faulty.has_stopped());
            }
            Life::Aborted => {
                let store = open(engine.clone());
                let span = Duration::from_millis(chance.random_range(100..6000));
                let lived = timeout(span, work(&run, &store, what, &mut chance, || false)).await;
                run.ledger().aborted += usize::from(lived.is_err());
            }
        }
    }
}

/// Sweeps while the writers are at work, without a time of grace: what it finds belongs to the dead and to the living.
async fn sweeper(run: Arc<Run>, engine: Arc<dyn Engine>) -> (Swept, usize) {
    let database = Database::new(engine, schema());
    let (mut sum, mut errors) = (Swept::default(), 0);
    while !run.is_over() {
        match database.sweep_older_than(0).await {
            Ok(swept) => {
                sum.finished += swept.finished;
                sum.dropped += swept.dropped;
                sum.waiting += swept.waiting;
            }
            Err(e) => {
                assert!(e.is_transient(), "{e}");
                errors += 1;
            }
        }
        sleep(SWEEP_EVERY).await;
    }
    (sum, errors)
}

// ---------------------------------------------------------------------------------------------------------------------
// A node dies under load
// ---------------------------------------------------------------------------------------------------------------------

async fn a_node_dies_under_load(cluster: &mut Cluster, processes: &[Arc<dyn Engine>], seed: u64) {
    use {Life::*, Work::*};
    let run = Run::new();
    let cast = [
        (0, Increments, Long),
        (0, Increments, Long),
        (1, Increments, Long),
        (1, Increments, Long),
        (2, Increments, Stopped),
        (2, Increments, Stopped),
        (3, Increments, Aborted),
        (3, Increments, Aborted),
        (0, Claims, Long),
        (1, Claims, Long),
        (2, Claims, Stopped),
        (3, Claims, Aborted),
    ];
    let tasks: Vec<_> = (seed..)
        .zip(cast)
        .map(|(seed, (process, what, life))| {
            tokio::spawn(writers(run.clone(), processes[process].clone(), what, life, seed))
        })
        .collect();
    let sweeper = tokio::spawn(sweeper(run.clone(), processes[0].clone()));
    cluster.say(format_args!("{} writers and a sweeper began", tasks.len()));
    sleep(BEFORE_THE_KILL).await;
    cluster.stop(3).await;
    run.time.store(DOWN, Ordering::SeqCst);
    sleep(NODE_DOWN).await;
    run.time.store(STARTING, Ordering::SeqCst);
    cluster.start(3).await;
    run.time.store(AFTER, Ordering::SeqCst);
    sleep(AFTER_THE_RESTART).await;
    run.over.store(true, Ordering::SeqCst);
    for task in tasks {
        timeout(CALL_MAX, task).await.expect("a writer hangs").expect("a writer panicked");
    }
    let swept = timeout(CALL_MAX, sweeper).await.expect("the sweeper hangs").expect("the sweeper panicked");
    cluster.say(format_args!("all have ended; the sweeper: {:?}, {} errors", swept.0, swept.1));
    report(cluster, &run.ledger());

    let database = Database::new(processes[1].clone(), schema());
    sweep(cluster, &database).await;
    let down = run.ledger().by_time[DOWN];
    assert!(down.0 > 0 && down.1 > 0, "increments and claims go on while a node is down: {down:?}");
    let ledger = std::mem::take(&mut *run.ledger());
    check_rows(cluster, &database, &ledger).await;
    check_claims(cluster, &database, &ledger).await;
}

fn report(cluster: &Cluster, ledger: &Ledger) {
    let count = |of: &mut dyn Iterator<Item = &Target>| {
        let (rows, names): (Vec<_>, Vec<_>) = of.copied().partition(|t| matches!(t, Target::Row(_)));
        format!("{:5} increments, {:5} claims", rows.len(), names.len())
    };
    cluster.say(format_args!("acknowledged            {}", count(&mut ledger.acknowledged.values().map(|(t, _)| t))));
    cluster.say(format_args!("certainly not made      {}", count(&mut ledger.refused.values())));
    cluster.say(format_args!("not known               {}", count(&mut ledger.unknown.values())));
    cluster.say(format_args!("died in the middle      {}", count(&mut ledger.open.values())));
    for (time, (increments, claims)) in TIMES.iter().zip(ledger.by_time) {
        cluster.say(format_args!("{time:24}{increments:5} increments, {claims:5} claims acknowledged"));
    }
    cluster.say(format_args!("writers that died: {} stopped, {} dropped", ledger.stopped, ledger.aborted));
    cluster.say(format_args!("lost answers found by asking again: {}", ledger.asked_again));
    cluster.say(format_args!("errors: {:?}", ledger.errors));
    cluster.say(format_args!("slowest call: {:.1} s", ledger.slowest.as_secs_f64()));
    for kind in ledger.errors.keys() {
        let typed = ["Conflict", "Contended", "Throttled", "Unavailable", "Indeterminate", "TimedOut"];
        assert!(typed.iter().any(|name| kind.starts_with(name)), "an error that no caller can act upon: {kind}");
    }
    assert!(ledger.slowest < CALL_MAX, "a call took {:?}", ledger.slowest);
}

/// Until nothing is left, and nothing comes back: what a dead writer had sent may arrive late.
async fn sweep(cluster: &Cluster, database: &Database) {
    let deadline = Instant::now() + RECOVERY_MAX;
    loop {
        let swept = database.sweep_older_than(0).await;
        let left = all_rows(database, &PENDING).await.map(|rows| rows.len());
        cluster.say(format_args!("sweep: {swept:?}, then pending: {left:?}"));
        match (&swept, &left) {
            (Ok(swept), Ok(0)) if *swept == Swept::default() => return,
            (Err(e), _) | (_, Err(e)) => assert!(e.is_transient(), "{e}"),
            _ => {}
        }
        assert!(Instant::now() < deadline, "the outbox is not empty after {RECOVERY_MAX:?}");
        sleep(Duration::from_millis(500)).await;
    }
}

async fn all_rows(
    database: &Database,
    table: &'static widerow::schema::Table,
) -> Result<Vec<Vec<widerow::value::Value>>, Error> {
    let mut all = Vec::new();
    for mut scan in database.scan(table, 4).await.expect("a scan") {
        while let Some(rows) = scan.next().await? {
            all.extend(rows.into_iter().map(|(_, row)| row.values));
        }
    }
    Ok(all)
}

/// Every row is what its receipts say, and the receipts are what the writers were told.
async fn check_rows(cluster: &Cluster, database: &Database, ledger: &Ledger) {
    let store = database.tenant(TENANT).expect("a good name");
    let derived = all_rows(database, TallyByValue::table()).await.expect("a scan");
    let derived: Vec<_> = derived.into_iter().map(|row| TallyByValue::from_values(row).expect("a row")).collect();
    let (mut expected, mut problems) = (Vec::new(), Vec::new());
    for id in 0..ROWS {
        let (row, _) = store.get_versioned::<Tally>(id).await.expect("a read");
        let row = row.expect("rows are never deleted");
        let receipts = store.slice::<Receipt>(id).all(1_000_000).await.expect("a read");
        let of = |t: &Target| *t == Target::Row(id);
        let acknowledged = ledger.acknowledged.values().filter(|(t, _)| of(t)).count() as i64;
        let unknown = ledger.unknown.values().filter(|t| of(t)).count() as i64;
        let died = ledger.open.values().filter(|t| of(t)).count() as i64;
        cluster.say(format_args!(
            "row {id}: value {}, {acknowledged} acknowledged, {unknown} not known, {died} died in the middle",
            row.value
        ));
        if !(acknowledged..=acknowledged + unknown + died).contains(&row.value) {
            problems.push(format!("row {id}: {} is not within what was told", row.value));
        }
        // Each value once: no guard was passed twice, nothing was lost on the way.
        let values: Vec<i64> = receipts.iter().map(|r| r.value).collect();
        if values != (1..=row.value).collect::<Vec<_>>() {
            problems.push(format!("row {id}: receipts for {values:?}, its value is {}", row.value));
        }
        if receipts.last().is_some_and(|last| last.token != row.token) {
            problems.push(format!("row {id}: the last receipt is not of the commit that made it"));
        }
        // Each token once, and none that was refused: no commit was made twice, none that was said to have failed.
        let mut seen = HashMap::new();
        for receipt in &receipts {
            if let Some(other) = seen.insert(receipt.token, receipt.value) {
                problems.push(format!("row {id}: {} was made at {other} and at {}", receipt.token, receipt.value));
            }
            if ledger.refused.contains_key(&receipt.token) {
                problems.push(format!("row {id}: {} was refused and is there at {}", receipt.token, receipt.value));
            }
        }
        for (token, (_, value)) in ledger.acknowledged.iter().filter(|(_, (t, _))| of(t)) {
            if seen.get(token) != Some(value) {
                problems.push(format!(
                    "row {id}: {token} was acknowledged at {value}, its receipt is at {:?}",
                    seen.get(token)
                ));
            }
        }
        expected.extend(row.derive());
    }
    let by_id = |a: &TallyByValue, b: &TallyByValue| (a.id, a.value).cmp(&(b.id, b.value));
    let mut found = derived;
    found.sort_by(by_id);
    if found != expected {
        problems.push(format!("derived rows {found:?}, expected {expected:?}"));
    }
    let verified = database.verify(VerifyOptions::default()).await.expect("a verification");
    if verified.differences > 0 {
        problems.push(format!("verify: {:?}", verified.listed));
    }
    assert!(problems.is_empty(), "{problems:#?}");
    cluster.say(format_args!(
        "exact: {} base rows, {} derived rows, {} differences; each value has one receipt, each commit at most one",
        verified.base_rows, verified.derived_rows, verified.differences
    ));
}

/// Each name has at most one winner that was told so, and if there is one, it has the name.
async fn check_claims(cluster: &Cluster, database: &Database, ledger: &Ledger) {
    let mut problems = Vec::new();
    let mut winners: BTreeMap<Target, Uuid> = BTreeMap::new();
    for (token, (target, _)) in ledger.acknowledged.iter().filter(|(_, (t, _))| matches!(t, Target::Name(..))) {
        if let Some(other) = winners.insert(*target, *token) {
            problems.push(format!("{target:?} was promised to {other} and to {token}"));
        }
    }
    let stored = all_rows(database, Claim::table()).await.expect("a scan");
    let stored: Vec<_> = stored.into_iter().map(|row| Claim::from_values(row).expect("a row")).collect();
    let owners: BTreeMap<Target, Uuid> = stored.iter().map(|c| (Target::Name(c.round, c.name), c.token)).collect();
    assert_eq!(owners.len(), stored.len());
    let mut silent = 0;
    for (target, token) in &owners {
        match winners.get(target) {
            Some(winner) if winner == token => {}
            Some(winner) => problems.push(format!("{target:?} was promised to {winner}, {token} has it")),
            None if ledger.unknown.contains_key(token) || ledger.open.contains_key(token) => silent += 1,
            None => problems.push(format!("{target:?}: {token} was refused and has it")),
        }
    }
    for target in winners.keys().filter(|target| !owners.contains_key(target)) {
        problems.push(format!("{target:?} was promised and is not there"));
    }
    let refused: HashSet<_> = ledger.refused.values().filter(|t| matches!(t, Target::Name(..))).collect();
    assert!(problems.is_empty(), "{problems:#?}");
    cluster.say(format_args!(
        "claims: {} names, {} won by one that was told so, {silent} by one whose answer was lost or who died; {} fought for",
        owners.len(),
        winners.len(),
        refused.len()
    ));
}

// ---------------------------------------------------------------------------------------------------------------------
// One node down, then two
// ---------------------------------------------------------------------------------------------------------------------

async fn one_node_down_then_two(cluster: &mut Cluster, processes: &[Arc<dyn Engine>]) {
    let database = &Database::new(processes[0].clone(), schema());
    // Rows of their own, so that the history begins with this part.
    let store = database.tenant("second").expect("a good name");
    patiently(|| store.commit(Commit::new().put(&Tally { id: 0, value: 0, token: Uuid::nil() }))).await;
    let run = Run::new();

    cluster.stop(3).await;
    let errors = until_in_a_row(cluster, &run, &store, 20).await;
    cluster.say(format_args!("node 3 down: twenty increments in a row, after {errors} errors"));
    let read = bounded(store.get::<Tally>(0)).await.0.expect("a read at quorum with two of three nodes");
    assert!(read.expect("it is there").value >= 20);

    // Some are in the middle of a commit when the second node dies, and go on trying.
    let busy: Vec<_> = processes
        .iter()
        .map(|engine| {
            let store = Database::new(engine.clone(), schema()).tenant("second").expect("a good name");
            let run = run.clone();
            tokio::spawn(async move {
                while !run.is_over() {
                    let token = Uuid::now_v7();
                    bounded(run.account(Target::Row(0), token, decide(&store, 0, token))).await;
                }
            })
        })
        .collect();
    sleep(Duration::from_secs(2)).await;
    cluster.stop(2).await;
    let (mut kinds, mut slowest) = (BTreeMap::<String, usize>::new(), Duration::ZERO);
    let alone = Instant::now();
    while alone.elapsed() < Duration::from_secs(30) || kinds.values().sum::<usize>() < 5 {
        let token = Uuid::now_v7();
        let (made, took) = bounded(run.account(Target::Row(0), token, decide(&store, 0, token))).await;
        assert!(!made, "an increment was acknowledged by one node of three");
        let (read, read_took) = bounded(store.get::<Tally>(0)).await;
        let error = read.expect_err("one node of three is no quorum");
        *kinds.entry(format!("read {}", kind(&error))).or_default() += 1;
        assert!(error.is_transient(), "{error}");
        slowest = slowest.max(took).max(read_took);
        sleep(Duration::from_millis(200)).await;
    }
    run.over.store(true, Ordering::SeqCst);
    for task in busy {
        task.await.expect("a writer panicked");
    }
    let told = run.ledger().errors.clone();
    slowest = slowest.max(run.ledger().slowest);
    cluster.say(format_args!(
        "nodes 2 and 3 down: increments {told:?}, {kinds:?}; slowest {:.1} s",
        slowest.as_secs_f64()
    ));
    let typed = ["Contended", "Unavailable", "Indeterminate", "TimedOut"];
    assert!(told.keys().all(|kind| typed.contains(&kind.as_str())), "{told:?}");
    // A process that starts now is refused or served, but it does not wait for ever.
    let (connected, took) = bounded(Cassandra::connect(cluster.config(), &schema())).await;
    let connected = connected.map(|_| "a connection").map_err(|e| kind(&e));
    cluster.say(format_args!("a new process gets {connected:?} after {:.1} s", took.as_secs_f64()));

    cluster.start(2).await;
    let errors = until_in_a_row(cluster, &run, &store, 20).await;
    cluster.say(format_args!("node 2 is back: twenty increments in a row, after {errors} errors"));
    cluster.start(3).await;
    let errors = until_in_a_row(cluster, &run, &store, 20).await;
    cluster.say(format_args!("node 3 is back: twenty increments in a row, after {errors} errors"));

    sweep(cluster, database).await;
    let row = store.get_versioned::<Tally>(0).await.expect("a read").0.expect("it is there");
    let receipts = store.slice::<Receipt>(0).all(1_000_000).await.expect("a read");
    let ledger = std::mem::take(&mut *run.ledger());
    cluster.say(format_args!(
        "value {}, {} acknowledged, {} not known, {} certainly not made",
        row.value,
        ledger.acknowledged.len(),
        ledger.unknown.len(),
        ledger.refused.len()
    ));
    let tokens: HashSet<Uuid> = receipts.iter().map(|r| r.token).collect();
    assert_eq!(receipts.iter().map(|r| r.value).collect::<Vec<_>>(), (1..=row.value).collect::<Vec<_>>());
    assert_eq!(tokens.len(), receipts.len(), "no commit was made twice");
    assert!(ledger.acknowledged.keys().all(|token| tokens.contains(token)), "an acknowledged increment is gone");
    assert!(!ledger.refused.keys().any(|token| tokens.contains(token)), "a refused increment is there");
    let verified = database.verify(VerifyOptions::default()).await.expect("a verification");
    assert_eq!(verified.differences, 0, "{:?}", verified.listed);
    cluster.say("exact, and nothing differs");
}

/// Increments until so many in a row have succeeded: how many failed before, each with an error that says to try again.
async fn until_in_a_row(cluster: &Cluster, run: &Run, store: &Store, wanted: usize) -> usize {
    let (deadline, mut row, mut errors) = (Instant::now() + RECOVERY_MAX, 0, 0);
    while row < wanted {
        assert!(Instant::now() < deadline, "no {wanted} increments in a row within {RECOVERY_MAX:?}");
        let token = Uuid::now_v7();
        let (made, took) = bounded(run.account(Target::Row(0), token, decide(store, 0, token))).await;
        if made {
            row += 1;
        } else {
            cluster.say(format_args!("  an increment failed after {:.1} s", took.as_secs_f64()));
            (row, errors) = (0, errors + 1);
        }
    }
    let kinds = run.ledger().errors.clone();
    let typed = ["Contended", "Throttled", "Unavailable", "Indeterminate", "TimedOut"];
    assert!(kinds.keys().all(|kind| typed.contains(&kind.as_str())), "{kinds:?}");
    errors
}

async fn bounded<T>(future: impl Future<Output = T>) -> (T, Duration) {
    let began = Instant::now();
    let answer = timeout(CALL_MAX, future).await.unwrap_or_else(|_| panic!("no answer within {CALL_MAX:?}"));
    (answer, began.elapsed())
}
