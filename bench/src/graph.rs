//! The graph: how long friendships take to import, and how long a path of three steps takes that nobody has asked for before.
//! On the graph of `MERKATO_TEST_DATA/graph-facebook` (SNAP ego-Facebook: 4,039 people, 88,234 friendships); without it, skipped.

use std::{
    fs::File,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use merkato::{
    Context, Settings,
    context::SystemChance,
    flows::import::{GraphOptions, import_graph, person_of},
    graph,
};
use rand::{Rng as _, SeedableRng as _, rngs::SmallRng};
use widerow::{Database, embedded::Embedded, time::SystemClock};

use crate::measure::{Verdict, Verdicts};

const NAME: &str = "graph";
const SOURCE: &str = "facebook";
const PEOPLE: u32 = 4_039;
const IMPORT_SECONDS_MAX: f64 = 30.0;
const HOPS: usize = 3;
const PATH_MILLIS_MAX: f64 = 10.0;

pub async fn run(quick: bool, verdicts: &mut Verdicts) {
    if !verdicts.wants(NAME) {
        return;
    }
    let Some(data) = std::env::var_os("MERKATO_TEST_DATA") else {
        println!("\nskipped: the graph, as MERKATO_TEST_DATA does not say where real data is");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let schema = || merkato::schema().expect("a schema");
    let database = Database::new(Embedded::open(folder.path(), &schema()).expect("the folder opens"), schema());
    database.migrate().await.expect("tables");
    let store = database.tenant("bench").expect("a good name");
    let ctx = Context::new(store, Settings::default(), Arc::new(SystemClock), Arc::new(SystemChance));
    let file = File::open(Path::new(&data).join("graph-facebook/facebook_combined.txt")).expect("a file");
    let start = Instant::now();
    let report = import_graph(&ctx, file, GraphOptions::new(SOURCE), |_| {}).await.expect("an import");
    let seconds = start.elapsed().as_secs_f64();
    println!("\n{} friendships imported in {seconds:.2} s", report.created);
    let name = "graph: 88,234 friendships imported in 30 s".to_owned();
    verdicts.all.push(Verdict { name, ratio: IMPORT_SECONDS_MAX / seconds, floor: 1.0 });
    paths(&ctx, if quick { 500 } else { 5_000 }, verdicts).await;
}

/// Any two of all: most are three or four steps apart, so that many a search goes to its end in vain.
async fn paths(ctx: &Context, count: usize, verdicts: &mut Verdicts) {
    let mut random = SmallRng::seed_from_u64(7);
    let mut person = || person_of(SOURCE, &random.random_range(0..PEOPLE).to_string());
    let (mut times, mut found): (Vec<Duration>, usize) = (Vec::new(), 0);
    while times.len() < count {
        let (one, other) = (person(), person());
        if one == other {
            continue;
        }
        let start = Instant::now();
        let path = graph::find_path(ctx, one, other, HOPS).await.expect("an answer");
        times.push(start.elapsed());
        found += usize::from(path.is_some());
    }
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1_000.0;
    println!(
        "{count} paths of up to {HOPS} steps, {found} found: {:.2} ms at p50, {:.2} ms at p99, {:.2} ms at most",
        at(0.5),
        at(0.99),
        at(1.0)
    );
    let name = "graph: a path of 3 steps in 10 ms at p99".to_owned();
    verdicts.all.push(Verdict { name, ratio: PATH_MILLIS_MAX / at(0.99), floor: 1.0 });
}
