//! Figures of a network, beside networkx and igraph in a Python of their own, which is made for it: PageRank and betweenness of
//! friends on Facebook, in the folder that `MERKATO_TEST_DATA` names.

use std::{fs, path::Path, process::Command, time::Instant};

use merkato::graph::figures::{
    Builder, Network, PageRankSettings, Shape, Sources, betweenness, clustering, communities, pagerank, unwatched,
};
use serde_json::Value;

use crate::measure::{Verdict, Verdicts, median};

const NAME: &str = "graph figures";
const PACKAGES: [&str; 4] = ["networkx==3.6.1", "igraph==1.0.0", "numpy==2.4.6", "scipy==1.17.1"];
/// At least so many times as fast as networkx, and half as fast as igraph, which is written in C.
const NETWORKX: f64 = 20.0;
const IGRAPH: f64 = 0.5;
/// Sources of betweenness on both sides where networkx would take minutes.
const QUICK_SOURCES: u32 = 200;
const ROUNDS: usize = 9;
const APART_MAX: f64 = 1e-6;

pub fn run(quick: bool, verdicts: &mut Verdicts) {
    if !verdicts.wants(NAME) {
        return;
    }
    println!();
    let Some(data) = std::env::var_os("MERKATO_TEST_DATA").filter(|data| !data.is_empty()) else {
        println!("skipped: {NAME}, as MERKATO_TEST_DATA does not say where the network is");
        return;
    };
    let file = Path::new(&data).join("graph-facebook/facebook_combined.txt");
    let folder = tempfile::tempdir().expect("a folder");
    let Some(python) = python(folder.path()) else {
        println!("skipped: {NAME}, as a Python with {} could not be made", PACKAGES.join(", "));
        return;
    };
    let start = Instant::now();
    let network = read(&file);
    println!(
        "{} nodes, {} edges, read in {:.0} ms",
        network.len(),
        network.edges(),
        start.elapsed().as_secs_f64() * 1e3
    );
    let sample = if quick { QUICK_SOURCES } else { 0 };
    // Once before and once after theirs: of a moment in which the machine was busy, both have something.
    let before = Ours::measure(&network, sample);
    let theirs = theirs(&python, &file, sample);
    let after = Ours::measure(&network, sample);
    let ours = |of: fn(&Ours) -> f64| (of(&before) + of(&after)) / 2.0;
    let told = |name: &str| theirs[name].as_f64().expect("seconds");
    println!("networkx {}, igraph {}; seconds:", theirs["networkx"], theirs["igraph"]);
    println!(
        "  PageRank: {:.5}, networkx {:.3} (to the end {:.3}), igraph {:.3}",
        ours(|ours| ours.pagerank),
        told("nx_pagerank_s"),
        told("nx_pagerank_exact_s"),
        told("ig_pagerank_s")
    );
    println!(
        "  betweenness: {:.3}, igraph {:.3}; {}: {:.3}, networkx {:.1}",
        ours(|ours| ours.betweenness),
        told("ig_betweenness_s"),
        if quick { "from a sample" } else { "again" },
        ours(|ours| ours.betweenness_sampled),
        told("nx_betweenness_s")
    );
    println!("  clustering: {:.4}, communities: {:.4}", ours(|ours| ours.clustering), ours(|ours| ours.communities));
    let mut verdict = |figure: &str, rival: &str, floor, theirs: f64, ours: f64| {
        verdicts.all.push(Verdict { name: format!("{NAME}: {figure} beside {rival}"), ratio: theirs / ours, floor });
    };
    verdict("PageRank", "networkx", NETWORKX, told("nx_pagerank_s"), ours(|ours| ours.pagerank));
    verdict("PageRank", "igraph", IGRAPH, told("ig_pagerank_s"), ours(|ours| ours.pagerank));
    verdict("betweenness", "networkx", NETWORKX, told("nx_betweenness_s"), ours(|ours| ours.betweenness_sampled));
    verdict("betweenness", "igraph", IGRAPH, told("ig_betweenness_s"), ours(|ours| ours.betweenness));
    same(&theirs["pagerank"], &ranks(&network));
    same(&theirs["betweenness"], &betweenness(&network, Sources::All, &unwatched).expect("betweenness"));
}

fn python(folder: &Path) -> Option<std::path::PathBuf> {
    let done = |command: &mut Command| command.status().is_ok_and(|status| status.success());
    let bin = folder.join("venv/bin");
    let made = done(Command::new("python3").args(["-m", "venv"]).arg(folder.join("venv")))
        && done(Command::new(bin.join("pip")).args(["install", "--quiet"]).args(PACKAGES));
    made.then(|| bin.join("python"))
}

fn read(file: &Path) -> Network<u32> {
    let text = fs::read_to_string(file).expect("the network");
    let mut builder = Builder::new(Shape::Undirected);
    for line in text.lines() {
        let (a, b) = line.split_once(' ').expect("two nodes");
        builder.edge(a.parse().expect("a node"), b.parse().expect("a node")).expect("room");
    }
    builder.build().expect("a network")
}

fn theirs(python: &Path, file: &Path, sample: u32) -> Value {
    let script = include_str!("graph_figures.py");
    let output = Command::new(python)
        .args(["-c", script])
        .arg(file)
        .args([ROUNDS.to_string(), sample.to_string()])
        .output()
        .expect("a Python");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("figures")
}

/// Nothing is compared that is not the same.
fn same(theirs: &Value, ours: &[f64]) {
    let theirs: Vec<f64> =
        theirs.as_array().expect("figures").iter().map(|one| one.as_f64().expect("a figure")).collect();
    assert_eq!(theirs.len(), ours.len());
    let apart = theirs.iter().zip(ours).map(|(theirs, ours)| (theirs - ours).abs()).fold(0.0, f64::max);
    assert!(apart < APART_MAX, "{apart} apart");
}

fn ranks(network: &Network<u32>) -> Vec<f64> {
    pagerank(network, &PageRankSettings::default(), &unwatched).expect("ranks")
}

/// Seconds.
struct Ours {
    pagerank: f64,
    betweenness: f64,
    betweenness_sampled: f64,
    clustering: f64,
    communities: f64,
}

impl Ours {
    fn measure(network: &Network<u32>, sample: u32) -> Self {
        let exact = || drop(betweenness(network, Sources::All, &unwatched).expect("betweenness"));
        let sampled = || {
            let sources = if sample == 0 { Sources::All } else { Sources::Sample { count: sample, seed: 1 } };
            drop(betweenness(network, sources, &unwatched).expect("betweenness"));
        };
        Self {
            pagerank: timed(ROUNDS, || drop(ranks(network))),
            betweenness: timed(3, exact),
            betweenness_sampled: timed(3, sampled),
            clustering: timed(ROUNDS, || drop(clustering(network, &unwatched).expect("clustering"))),
            communities: timed(ROUNDS, || drop(communities(network, 1, &unwatched).expect("communities"))),
        }
    }
}

fn timed(rounds: usize, work: impl Fn()) -> f64 {
    let mut seconds: Vec<f64> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .collect();
    median(&mut seconds)
}
