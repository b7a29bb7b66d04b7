//! Small networks whose figures anybody can reckon.

use super::{assert_near, network, undirected};
use crate::graph::figures::{
    Builder, Communities, PageRankSettings, Settings, Shape, Sources, betweenness, clustering, communities, components,
    figures, modularity, pagerank, unwatched,
};

/// Two triangles, and one edge between them.
const BRIDGE: [(u32, u32); 7] = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)];

fn all(edges: &[(u32, u32)], shape: Shape) -> Vec<f64> {
    betweenness(&network(shape, edges), Sources::All, &unwatched).expect("betweenness")
}

fn ranks(edges: &[(u32, u32)], shape: Shape) -> Vec<f64> {
    pagerank(&network(shape, edges), &PageRankSettings::default(), &unwatched).expect("ranks")
}

#[test]
fn who_stands_in_the_middle_of_a_path_is_between_most() {
    // The middle one is between 2 × 2 of the 6 pairs of others, its neighbours between 1 × 3.
    let path = [(0, 1), (1, 2), (2, 3), (3, 4)];
    assert_near(&all(&path, Shape::Undirected), &[0.0, 0.5, 4.0 / 6.0, 0.5, 0.0], 1e-15);
    // One way, half of the pairs have no path.
    assert_near(&all(&path, Shape::Directed), &[0.0, 0.25, 2.0 / 6.0, 0.25, 0.0], 1e-15);
}

#[test]
fn the_middle_of_a_star_is_between_all_and_nobody_in_a_whole_is_between_any() {
    let star = [(0, 1), (0, 2), (0, 3), (0, 4)];
    assert_near(&all(&star, Shape::Undirected), &[1.0, 0.0, 0.0, 0.0, 0.0], 1e-15);
    let whole = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    assert_near(&all(&whole, Shape::Undirected), &[0.0; 4], 0.0);
}

#[test]
fn two_ways_that_are_as_short_count_half_each() {
    // In a square, both others are half between two opposite corners: a half of the three pairs of others.
    let square = [(0, 1), (1, 2), (2, 3), (3, 0)];
    assert_near(&all(&square, Shape::Undirected), &[1.0 / 6.0; 4], 1e-15);
}

#[test]
fn without_three_nodes_nobody_is_between() {
    assert_eq!(all(&[], Shape::Undirected), Vec::<f64>::new());
    assert_eq!(all(&[(0, 1)], Shape::Undirected), [0.0, 0.0]);
}

#[test]
fn a_sample_of_all_is_exact_and_has_the_same_nodes_for_a_seed() {
    let network = undirected(&BRIDGE);
    let exact = betweenness(&network, Sources::All, &unwatched).expect("exact");
    let sampled = |count, seed| betweenness(&network, Sources::Sample { count, seed }, &unwatched).expect("a sample");
    assert_near(&sampled(6, 1), &exact, 1e-15);
    assert_near(&sampled(100, 1), &exact, 1e-15);
    assert_eq!(sampled(3, 7), sampled(3, 7));
    let seeds: Vec<_> = (0..20).map(|seed| sampled(3, seed)).collect();
    assert!(seeds.iter().any(|other| *other != seeds[0]), "another seed takes others");
}

#[test]
fn in_a_ring_all_matter_alike_and_at_a_sink_most_ends() {
    assert_near(&ranks(&[(0, 1), (1, 2), (2, 0)], Shape::Directed), &[1.0 / 3.0; 3], 1e-9);
    // From 1 nothing leads on, so that it begins anew: r0 = r, r1 = r + .85 r0, where r is what all have.
    let r = 1.0 / 2.85;
    assert_near(&ranks(&[(0, 1)], Shape::Directed), &[r, 1.85 * r], 1e-9);
}

#[test]
fn ranks_do_not_depend_on_how_edges_that_lead_both_ways_are_told() {
    let both: Vec<_> = BRIDGE.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]).collect();
    assert_eq!(ranks(&both, Shape::Directed), ranks(&BRIDGE, Shape::Undirected));
}

#[test]
fn a_heavy_edge_is_followed_more_often() {
    let mut builder = Builder::new(Shape::Directed);
    for (from, to, weight) in [(0, 1, 3.0), (0, 2, 1.0), (1, 0, 1.0), (2, 0, 1.0)] {
        builder.weighted(from, to, weight).expect("a good edge");
    }
    let ranks =
        pagerank(&builder.build().expect("a network"), &PageRankSettings::default(), &unwatched).expect("ranks");
    // r0 = .05 + .85 (1 - r0), of which three quarters go on to 1.
    let first = (0.05 + 0.85) / 1.85;
    assert_near(&ranks, &[first, 0.05 + 0.85 * 0.75 * first, 0.05 + 0.85 * 0.25 * first], 1e-9);
}

#[test]
fn neighbours_who_know_each_other_are_counted() {
    let third = 1.0 / 3.0;
    let found = clustering(&undirected(&BRIDGE), &unwatched).expect("clustering");
    assert_near(&found, &[1.0, 1.0, third, third, 1.0, 1.0], 1e-15);
    // One way round: of the eight triangles that three nodes can have, a node with two edges can have two.
    let ring = network(Shape::Directed, &[(0, 1), (1, 2), (2, 0)]);
    assert_near(&clustering(&ring, &unwatched).expect("clustering"), &[0.5; 3], 1e-15);
}

#[test]
fn what_hangs_together_is_numbered_from_the_largest() {
    let mut builder = Builder::new(Shape::Directed);
    builder.node(0).expect("a node");
    for (from, to) in [(2, 1), (5, 3), (4, 3), (7, 6)] {
        builder.edge(from, to).expect("an edge");
    }
    assert_eq!(components(&builder.build().expect("a network")), [3, 1, 1, 0, 0, 0, 2, 2]);
}

#[test]
fn a_bridge_parts_two_communities() {
    let network = undirected(&BRIDGE);
    let found = communities(&network, 1, &unwatched).expect("communities");
    // Six of seven edges are within; half of the ends of edges are in each.
    let wanted = 6.0 / 7.0 - 0.5;
    assert_eq!((&found.of[..], &found.sizes[..]), (&[0, 0, 0, 1, 1, 1][..], &[3, 3][..]));
    assert!((found.modularity - wanted).abs() < 1e-15);
    assert!((modularity(&network, &[1, 1, 1, 5, 5, 5]).expect("communities") - wanted).abs() < 1e-15);
}

#[test]
fn where_no_edge_has_weight_everybody_is_alone() {
    let mut builder = Builder::new(Shape::Undirected);
    builder.weighted(1, 2, 0.0).expect("an edge");
    builder.weighted(3, 2, 0.0).expect("an edge");
    let found = communities(&builder.build().expect("a network"), 1, &unwatched).expect("communities");
    assert_eq!(found, Communities { of: vec![0, 1, 2], sizes: vec![1, 1, 1], modularity: 0.0 });
}

#[test]
fn nothing_has_no_figures() {
    let found = figures(&undirected(&[]), &Settings::default(), &unwatched).expect("figures");
    assert!(found.degree.is_empty() && found.pagerank.is_empty() && found.communities.of.is_empty());
}

#[test]
fn an_edge_that_is_told_twice_is_one_of_the_larger_weight() {
    let mut builder = Builder::new(Shape::Undirected);
    for (from, to, weight) in [(8, 9, 0.5), (9, 8, 0.75), (8, 9, 0.25)] {
        builder.weighted(from, to, weight).expect("a good edge");
    }
    let network = builder.build().expect("a network");
    assert_eq!((network.len(), network.edges(), network.ids()), (2, 1, &[8, 9][..]));
    assert_eq!(network.out().edges_of(0).collect::<Vec<_>>(), [(1, 0.75)]);
    assert_eq!((network.index(9), network.index(10), network.degree(0)), (Some(1), None, 1));
}
