//! A child process commits and prints what was acknowledged; it is killed with SIGKILL at a random moment; the folder is
//! opened again: every acknowledged commit is there, no commit is there in part, derived rows agree.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use rand::{Rng, SeedableRng, rngs::SmallRng};
use widerow::{
    Commit, Database, Derive, Error, Row, Schema,
    embedded::{Embedded, EmbeddedConfig},
    store::VerifyOptions,
};

const CHILD: &str = "MERKATO_CRASH_CHILD";

/// How far a writer got: one guarded row each.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "writers", partition(writer), guarded)]
struct Writer {
    writer: i64,
    commits: i64,
}

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "writers_by_commits", partition(commits), clustering(writer))]
struct WriterByCommits {
    commits: i64,
    writer: i64,
}

impl Derive<WriterByCommits> for Writer {
    fn derive(&self) -> Vec<WriterByCommits> {
        vec![WriterByCommits { commits: self.commits, writer: self.writer }]
    }
    fn source(derived: &WriterByCommits) -> i64 {
        derived.writer
    }
}

/// Five rows of every commit, in partitions of their own.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "pieces", partition(writer, piece), clustering(commits))]
struct Piece {
    writer: i64,
    piece: i32,
    commits: i64,
    filler: String,
}

/// A row of every commit in a series, which is packed again and again.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "readings", partition(writer), clustering(commits), series)]
struct Reading {
    writer: i64,
    commits: i64,
}

const STAGED_BYTES: u64 = 16 * 1024;

const PIECES: i32 = 5;

const VERIFIED_EVERY: i64 = 10;

/// Long enough to open a folder and to make a commit, on any machine.
const BEGUN_WITHIN: Duration = Duration::from_secs(120);

/// A partition that each commit founds, with a derived table of its own.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "receipts", partition(writer, commits), guarded)]
struct Receipt {
    writer: i64,
    commits: i64,
}

#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "receipts_by_writer", partition(writer), clustering(commits))]
struct ReceiptByWriter {
    writer: i64,
    commits: i64,
}

impl Derive<ReceiptByWriter> for Receipt {
    fn derive(&self) -> Vec<ReceiptByWriter> {
        vec![ReceiptByWriter { writer: self.writer, commits: self.commits }]
    }
    fn source(derived: &ReceiptByWriter) -> (i64, i64) {
        (derived.writer, derived.commits)
    }
}

fn schema() -> Schema {
    let schema = Schema::new().derived::<Writer, WriterByCommits>().derived::<Receipt, ReceiptByWriter>();
    schema.table::<Piece>().table::<Reading>().build().expect("a schema")
}

async fn open(folder: &Path) -> Database {
    let config = EmbeddedConfig { staged_bytes: STAGED_BYTES, ..EmbeddedConfig::default() };
    let engine = Embedded::open_with(folder, &schema(), &config).expect("the folder opens");
    let database = Database::new(engine, schema());
    database.migrate().await.expect("tables");
    database
}

/// Eight writers commit until they are killed, and say so after each.
async fn child(folder: &Path) {
    let database = open(folder).await;
    let writers = (0..8).map(|writer| {
        let store = database.tenant("crash").expect("a good name");
        tokio::spawn(async move {
            let found = store.get::<Writer>(writer).await.expect("a read");
            let mut commits = found.map_or(0, |w| w.commits);
            loop {
                commits += 1;
                let filler = "x".repeat(200);
                let piece = |piece| Piece { writer, piece, commits, filler: filler.clone() };
                let commit = Commit::new().put(&Writer { writer, commits }).found(&Receipt { writer, commits });
                let commit = commit.put(&Reading { writer, commits });
                let commit = (0..PIECES).fold(commit, |c, p| c.put(&piece(p)));
                store.commit(commit).await.expect("a commit");
                let mut out = std::io::stdout().lock();
                writeln!(out, "{writer} {commits}").and_then(|()| out.flush()).expect("a listener");
            }
        })
    });
    let _writers: Vec<_> = writers.collect();
    std::future::pending::<()>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_moment_nothing_acknowledged_is_lost() {
    if let Ok(folder) = std::env::var(CHILD) {
        return child(Path::new(&folder)).await;
    }
    let rounds = std::env::var("MERKATO_CRASH_ROUNDS").ok().and_then(|r| r.parse().ok()).unwrap_or(10);
    let seed = std::env::var("MERKATO_TEST_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    println!("{rounds} rounds, seed {seed}");
    let mut chance = SmallRng::seed_from_u64(seed);
    let folder = tempfile::tempdir().expect("a folder");
    let mut acknowledged = [0i64; 8];
    // The engine below makes its first files one after the other, and opens no folder that has only some of them.
    drop(open(folder.path()).await);
    for round in 0..rounds {
        let mut process = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "killed_at_any_moment_nothing_acknowledged_is_lost", "--nocapture"])
            .env(CHILD, folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("a child");
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        let (first, begun) = tokio::sync::oneshot::channel();
        let listener = std::thread::spawn(move || {
            let (mut heard, mut first) = (Vec::new(), Some(first));
            for line in output.lines().map_while(Result::ok) {
                let mut numbers = line.split(' ').map_while(|n| n.parse::<i64>().ok());
                if let (Some(writer), Some(commits)) = (numbers.next(), numbers.next()) {
                    heard.push((writer as usize, commits));
                    first.take().map(|first| first.send(()));
                }
            }
            heard
        });
        // Every fourth round may be killed while the folder is being opened, which is there by then; the others when commits are being made, however
        // long it takes on a busy machine to come to the first.
        if round % 4 != 0 {
            let begun = tokio::time::timeout(BEGUN_WITHIN, begun).await.expect("it commits in time");
            begun.expect("it commits before it ends");
        }
        tokio::time::sleep(Duration::from_millis(chance.random_range(5..250))).await;
        process.kill().expect("it runs");
        process.wait().expect("it ended");
        for (writer, commits) in listener.join().expect("no panic") {
            acknowledged[writer] = acknowledged[writer].max(commits);
        }
        let database = open(folder.path()).await;
        check(&database, &acknowledged, round).await;
        // What does not agree stays so, and is found a few rounds later as well: all rows of all rounds are looked at each time.
        if round % VERIFIED_EVERY == VERIFIED_EVERY - 1 || round == rounds - 1 {
            let report = database.verify(VerifyOptions::default()).await.expect("a verification");
            assert_eq!(report.differences, 0, "by round {round}: {:?}", report.listed);
            check_readings(&database).await;
        }
    }
    let total: i64 = acknowledged.iter().sum();
    println!("{total} acknowledged commits, none lost, none in part");
    assert!(total > rounds, "the children did next to nothing");
}

async fn check(database: &Database, acknowledged: &[i64; 8], round: i64) {
    let store = database.tenant("crash").expect("a good name");
    for writer in 0..8 {
        let commits = store.get::<Writer>(writer).await.expect("a read").map_or(0, |w| w.commits);
        assert!(commits >= acknowledged[writer as usize], "round {round}: an acknowledged commit is lost");
        for piece in 0..PIECES {
            let last = store.slice::<Piece>((writer, piece)).reverse().limit(1).page().await.expect("a read").rows;
            assert_eq!(last.first().map_or(0, |p| p.commits), commits, "round {round}: a commit is there in part");
        }
        let last = store.slice::<Reading>(writer).reverse().limit(1).page().await.expect("a read").rows;
        assert_eq!(last.first().map_or(0, |r| r.commits), commits, "round {round}: a row of a series is lost");
        let last = store.slice::<ReceiptByWriter>(writer).reverse().limit(1).page().await.expect("a read").rows;
        assert_eq!(last.first().map_or(0, |r| r.commits), commits, "round {round}: a founding is there in part");
        let receipt = store.get::<Receipt>((writer, commits)).await.expect("a read");
        assert_eq!(receipt.is_some(), commits > 0, "round {round}: a founding is there in part");
    }
}

/// None is missing between the first and the last.
async fn check_readings(database: &Database) {
    let store = database.tenant("crash").expect("a good name");
    for mut range in store.scan(Reading::table(), 1).await.expect("a scan") {
        let mut counts = [0i64; 8];
        while let Some(rows) = range.next().await.expect("rows") {
            for (_, row) in rows {
                let reading = Reading::from_values(row.values).expect("a reading");
                counts[reading.writer as usize] += 1;
                assert_eq!(reading.commits, counts[reading.writer as usize], "a row of a series is lost");
            }
        }
    }
}

#[tokio::test]
async fn a_second_process_gets_a_clear_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = Embedded::open(folder.path(), &schema()).expect("it opens");
    let second = Embedded::open(folder.path(), &schema());
    assert!(matches!(second, Err(Error::InUse { .. })), "{second:?}");
    drop(first);
    Embedded::open(folder.path(), &schema()).expect("it opens again");
}
