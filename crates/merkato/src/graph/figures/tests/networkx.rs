//! Every figure of every node of real networks, beside networkx: a Python that has it is named by `MERKATO_TEST_NETWORKX`, the
//! folder with the networks by `MERKATO_TEST_DATA`; without one of them the run says that it skipped them.
//!
//! The networks are not of this project: `graph-facebook` (friends, both ways, compared in full) and `graph-bitcoin-otc` (who trusts
//! whom, one way and with weights; betweenness from a sample, as networkx takes minutes).

use std::{
    collections::HashMap,
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use serde::Deserialize;
use serde_json::json;

use crate::graph::figures::{Builder, Figures, Network, Settings, Shape, Sources, figures, seeded::Seeded, unwatched};

const APART_MAX: f64 = 1e-6;

#[derive(Deserialize)]
struct Told {
    degree: HashMap<u32, u32>,
    betweenness: HashMap<u32, f64>,
    pagerank: HashMap<u32, f64>,
    clustering: HashMap<u32, f64>,
    component_sizes: Vec<u32>,
    modularity: Option<f64>,
    modularity_best: Option<f64>,
}

fn set(name: &str, says: &str) -> Option<String> {
    let value = std::env::var(name).ok().filter(|value| !value.is_empty());
    if value.is_none() {
        eprintln!("skipped: figures beside networkx, as {name} does not say {says}");
    }
    value
}

fn ask(python: &str, network: &Network<u32>, sources: &[u32], groups: &[u32]) -> Told {
    let edges: Vec<_> = (0..network.len())
        .flat_map(|node| network.out().edges_of(node).map(move |(end, weight)| (network.ids()[node], end, weight)))
        .map(|(from, end, weight)| (from, network.ids()[end as usize], weight))
        .collect();
    let communities: Vec<_> = network.ids().iter().zip(groups).collect();
    let directed = network.shape() == Shape::Directed;
    let given = json!({ "directed": directed, "edges": edges, "sources": sources, "communities": communities });
    let mut child = Command::new(python)
        .args(["-c", include_str!("networkx.py")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the Python that MERKATO_TEST_NETWORKX names");
    child.stdin.take().expect("a pipe").write_all(given.to_string().as_bytes()).expect("read by networkx");
    let output = child.wait_with_output().expect("an answer");
    assert!(output.status.success(), "networkx failed, see above");
    serde_json::from_slice(&output.stdout).expect("figures")
}

fn compare(network: &Network<u32>, ours: &Figures, told: &Told) {
    let mut furthest: HashMap<&str, f64> = HashMap::new();
    for (node, id) in network.ids().iter().enumerate() {
        assert_eq!(ours.degree[node], told.degree[id], "degree of {id}");
        for (figure, ours, told) in [
            ("betweenness", ours.betweenness[node], told.betweenness[id]),
            ("pagerank", ours.pagerank[node], told.pagerank[id]),
            ("clustering", ours.clustering[node], told.clustering[id]),
        ] {
            let apart = (ours - told).abs();
            assert!(apart <= APART_MAX, "{figure} of {id}: {ours}, networkx has {told}");
            let furthest = furthest.entry(figure).or_default();
            *furthest = furthest.max(apart);
        }
    }
    assert_eq!(told.degree.len(), network.len());
    let mut sizes = vec![0; told.component_sizes.len()];
    ours.component.iter().for_each(|component| sizes[*component as usize] += 1);
    assert_eq!(sizes, told.component_sizes);
    println!("{} nodes, {} edges; furthest apart: {furthest:?}", network.len(), network.edges());
}

#[test]
fn friends_have_the_figures_of_networkx() {
    let (Some(python), Some(data)) =
        (set("MERKATO_TEST_NETWORKX", "which Python has it"), set("MERKATO_TEST_DATA", "where data is"))
    else {
        return;
    };
    let text = fs::read_to_string(Path::new(&data).join("graph-facebook/facebook_combined.txt")).expect("the network");
    let mut builder = Builder::new(Shape::Undirected);
    for line in text.lines() {
        let (a, b) = line.split_once(' ').expect("two nodes");
        builder.edge(a.parse().expect("a node"), b.parse().expect("a node")).expect("room");
    }
    let network = builder.build().expect("a network");
    assert_eq!((network.len(), network.edges()), (4_039, 88_234));
    let ours = figures(&network, &Settings::default(), &unwatched).expect("figures");
    let told = ask(&python, &network, &[], &ours.communities.of);
    compare(&network, &ours, &told);
    let (found, best) = (ours.communities.modularity, told.modularity_best.expect("told"));
    assert!(
        (found - told.modularity.expect("told")).abs() < 1e-9,
        "modularity: {found}, networkx has {:?}",
        told.modularity
    );
    // Communities have no right answer. Those of networkx differ by as much from seed to seed.
    assert!(found > best - 0.005, "communities of modularity {found}, networkx finds {best}");
    println!("{} communities of modularity {found}, the best of networkx {best}", ours.communities.sizes.len());
}

#[test]
fn who_trusts_whom_has_the_figures_of_networkx() {
    let (Some(python), Some(data)) =
        (set("MERKATO_TEST_NETWORKX", "which Python has it"), set("MERKATO_TEST_DATA", "where data is"))
    else {
        return;
    };
    let folder = Path::new(&data).join("graph-bitcoin-otc");
    let file = fs::read_dir(folder).expect("the folder").map(|file| file.expect("a file").path());
    let mut files = file.filter(|path| path.extension().is_some_and(|ending| ending == "csv"));
    let file = files.next().expect("the network");
    let mut builder = Builder::new(Shape::Directed);
    for line in fs::read_to_string(file).expect("the network").lines() {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().expect("a number")).collect();
        builder.weighted(cells[0] as u32, cells[1] as u32, (cells[2] + 10.0) / 20.0).expect("room");
    }
    let network = builder.build().expect("a network");
    let (count, seed) = (200, 7);
    let settings = Settings { sources: Sources::Sample { count, seed }, ..Settings::default() };
    let ours = figures(&network, &settings, &unwatched).expect("figures");
    let mut sources = network.ids().to_vec();
    Seeded::new(seed).choose(&mut sources, count as usize);
    let told = ask(&python, &network, &sources[..count as usize], &ours.communities.of);
    compare(&network, &ours, &told);
}
