//! Random networks, and the same figures reckoned as one would explain them.

use proptest::prelude::*;

use super::assert_near;
use crate::graph::figures::{
    Builder, Network, PageRankSettings, Shape, Sources, betweenness, clustering, communities, components, modularity,
    pagerank, unwatched,
};

const NODES: u32 = 9;

#[derive(Clone, Debug)]
struct Case {
    shape: Shape,
    edges: Vec<(u32, u32, f64)>,
}

impl Case {
    /// The weight of each edge; nothing where there is none.
    fn matrix(&self) -> Vec<Vec<Option<f64>>> {
        let mut matrix = vec![vec![None::<f64>; NODES as usize]; NODES as usize];
        for (from, to, weight) in &self.edges {
            let mut put = |from: u32, to: u32| {
                let cell = &mut matrix[from as usize][to as usize];
                *cell = Some(cell.unwrap_or(0.0).max(*weight));
            };
            put(*from, *to);
            if self.shape == Shape::Undirected {
                put(*to, *from);
            }
        }
        matrix
    }

    /// Without edges, nodes are there too.
    fn network<'a>(&self, edges: impl Iterator<Item = &'a (u32, u32, f64)>) -> Network<u32> {
        let mut builder = Builder::new(self.shape);
        for (from, to, weight) in edges {
            builder.weighted(*from, *to, *weight).expect("a good edge");
        }
        for node in 0..NODES {
            builder.node(node).expect("room");
        }
        builder.build().expect("a network")
    }
}

fn case() -> impl Strategy<Value = Case> {
    let edge = (0..NODES, 0..NODES, prop_oneof![Just(1.0), 0.0..2.0_f64]);
    let shape = prop_oneof![Just(Shape::Undirected), Just(Shape::Directed)];
    (shape, prop::collection::vec(edge, 0..30)).prop_map(|(shape, edges)| Case {
        shape,
        edges: edges.into_iter().filter(|(from, to, _)| from != to).collect(),
    })
}

type Matrix = Vec<Vec<Option<f64>>>;

/// All shortest ways from one to the other.
fn shortest(matrix: &Matrix, from: usize, to: usize) -> Vec<Vec<usize>> {
    let mut ways = vec![vec![from]];
    for _ in 0..NODES {
        let arrived: Vec<_> = ways.iter().filter(|way| way.last() == Some(&to)).cloned().collect();
        if !arrived.is_empty() {
            return arrived;
        }
        let longer = |way: &Vec<usize>| {
            let last = *way.last().expect("a way has a beginning");
            let next = (0..NODES as usize).filter(move |next| matrix[last][*next].is_some());
            let way = way.clone();
            next.filter(|next| !way.contains(next)).map(|next| [&way[..], &[next]].concat()).collect::<Vec<_>>()
        };
        ways = ways.iter().flat_map(longer).collect();
    }
    Vec::new()
}

fn naive_betweenness(matrix: &Matrix) -> Vec<f64> {
    let nodes = NODES as usize;
    let mut sums = vec![0.0; nodes];
    for from in 0..nodes {
        for to in (0..nodes).filter(|to| *to != from) {
            let ways = shortest(matrix, from, to);
            for way in &ways {
                way[1..way.len() - 1].iter().for_each(|node| sums[*node] += 1.0 / ways.len() as f64);
            }
        }
    }
    sums.into_iter().map(|sum| sum / ((nodes - 1) * (nodes - 2)) as f64).collect()
}

/// Fagiolo's share, which for edges both ways is that of pairs of neighbours.
fn naive_clustering(matrix: &Matrix) -> Vec<f64> {
    let nodes = NODES as usize;
    let edges = |a: usize, b: usize| u32::from(matrix[a][b].is_some()) + u32::from(matrix[b][a].is_some());
    let share = |node: usize| {
        let mut triangles = 0;
        for a in 0..nodes {
            for b in (0..nodes).filter(|b| *b != a) {
                triangles += edges(node, a) * edges(a, b) * edges(b, node);
            }
        }
        let degree: u32 = (0..nodes).map(|other| edges(node, other)).sum();
        let mutual = (0..nodes).filter(|other| edges(node, *other) == 2).count() as u32;
        if triangles == 0 { 0.0 } else { f64::from(triangles) / f64::from(2 * (degree * (degree - 1) - 2 * mutual)) }
    };
    (0..nodes).map(share).collect()
}

fn naive_pagerank(matrix: &Matrix) -> Vec<f64> {
    let nodes = NODES as usize;
    let mut ranks = vec![1.0 / nodes as f64; nodes];
    let strength: Vec<f64> = matrix.iter().map(|row| row.iter().flatten().sum()).collect();
    for _ in 0..300 {
        let mut next = vec![0.15 / nodes as f64; nodes];
        for from in 0..nodes {
            for (to, next) in next.iter_mut().enumerate() {
                let part = if strength[from] > 0.0 {
                    matrix[from][to].unwrap_or(0.0) / strength[from]
                } else {
                    1.0 / nodes as f64
                };
                *next += 0.85 * ranks[from] * part;
            }
        }
        ranks = next;
    }
    ranks
}

/// As the definition has it, over all pairs.
fn naive_modularity(case: &Case, matrix: &Matrix, communities: &[u32]) -> f64 {
    let nodes = NODES as usize;
    let both = |a: usize, b: usize| match case.shape {
        Shape::Undirected => matrix[a][b].unwrap_or(0.0),
        Shape::Directed => matrix[a][b].unwrap_or(0.0) + matrix[b][a].unwrap_or(0.0),
    };
    let strength = |a: usize| (0..nodes).map(|b| both(a, b)).sum::<f64>();
    let total: f64 = (0..nodes).map(strength).sum();
    if total == 0.0 {
        return 0.0;
    }
    let mut sum = 0.0;
    for a in 0..nodes {
        for b in (0..nodes).filter(|b| communities[a] == communities[*b]) {
            sum += both(a, b) - strength(a) * strength(b) / total;
        }
    }
    sum / total
}

fn naive_components(matrix: &Matrix) -> Vec<u32> {
    let nodes = NODES as usize;
    let mut of: Vec<u32> = (0..NODES).collect();
    for _ in 0..nodes {
        for a in 0..nodes {
            for b in (0..nodes).filter(|b| matrix[a][*b].is_some() || matrix[*b][a].is_some()) {
                of[a] = of[a].min(of[b]);
            }
        }
    }
    of
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn figures_are_those_of_who_does_it_by_hand(case in case(), seed: u64) {
        let (network, matrix) = (case.network(case.edges.iter()), case.matrix());
        assert_near(&betweenness(&network, Sources::All, &unwatched).expect("betweenness"), &naive_betweenness(&matrix), 1e-12);
        assert_near(&clustering(&network, &unwatched).expect("clustering"), &naive_clustering(&matrix), 1e-12);
        let ranks = pagerank(&network, &PageRankSettings::default(), &unwatched).expect("ranks");
        assert_near(&ranks, &naive_pagerank(&matrix), 1e-9);

        // Numbers may differ, not who is together.
        let (found, wanted) = (components(&network), naive_components(&matrix));
        for a in 0..NODES as usize {
            for b in 0..NODES as usize {
                prop_assert_eq!(found[a] == found[b], wanted[a] == wanted[b]);
            }
        }

        let groups = communities(&network, seed, &unwatched).expect("communities");
        let wanted = naive_modularity(&case, &matrix, &groups.of);
        prop_assert!((groups.modularity - wanted).abs() < 1e-12, "{} is not {}", groups.modularity, wanted);
        prop_assert_eq!(groups.sizes.iter().sum::<u32>(), NODES);
        prop_assert!(groups.sizes.is_sorted_by(|a, b| a >= b));
        let alone: Vec<u32> = (0..NODES).collect();
        prop_assert!(groups.modularity >= modularity(&network, &alone).expect("communities") - 1e-12);
        for a in 0..NODES as usize {
            for b in 0..NODES as usize {
                prop_assert!(groups.of[a] != groups.of[b] || found[a] == found[b], "together without a way");
            }
        }

        // In another order they are the same to the last bit.
        let again = case.network(case.edges.iter().rev());
        prop_assert_eq!(&again, &network);
        prop_assert_eq!(communities(&again, seed, &unwatched).expect("communities"), groups);
        prop_assert_eq!(
            betweenness(&again, Sources::All, &unwatched).expect("betweenness"),
            betweenness(&network, Sources::All, &unwatched).expect("betweenness")
        );
    }
}
