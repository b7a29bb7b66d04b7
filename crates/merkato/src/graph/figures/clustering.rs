//! Whether those whom somebody knows know each other.

use super::{Figure, Network, Result, Shape, Watch, network::Adjacency, watch::tell};

/// How often the watcher is told, in nodes.
const TOLD_EVERY: usize = 1024;

/// For each node the share of pairs of its neighbours that are neighbours, too; 0 with fewer than two. Where edges lead one way, as
/// Fagiolo has it: the share of the triangles that there could be, each of eight kinds. Weights are not looked at.
pub fn clustering<K: Copy + Ord>(network: &Network<K>, watch: Watch<'_>) -> Result<Vec<f64>> {
    let pairs = network.both_ways_counted();
    let triangles = triangles(&pairs, watch)?;
    let share = |(node, triangles): (usize, u64)| {
        let degree: u64 = pairs.edges_of(node).map(|(_, edges)| edges as u64).sum();
        let possible = match network.shape() {
            Shape::Undirected => degree * degree.saturating_sub(1) / 2,
            Shape::Directed => {
                let mutual = degree - pairs.of(node).len() as u64;
                degree * degree.saturating_sub(1) - 2 * mutual
            }
        };
        if triangles == 0 { 0.0 } else { triangles as f64 / possible as f64 }
    };
    Ok(triangles.into_iter().enumerate().map(share).collect())
}

/// For each node the triangles that it is a corner of. An edge that is there both ways makes two of each triangle.
///
/// Each triangle is found once: edges are looked at from the end with fewer of them, so that nobody's many neighbours are compared
/// with each other.
fn triangles(adjacency: &Adjacency, watch: Watch<'_>) -> Result<Vec<u64>> {
    let nodes = adjacency.nodes();
    let rank = |node: u32| (adjacency.of(node as usize).len(), node);
    let onward: Vec<Vec<(u32, u64)>> = (0..nodes as u32)
        .map(|node| {
            let edges = adjacency.edges_of(node as usize).filter(|(end, _)| rank(*end) > rank(node));
            edges.map(|(end, count)| (end, count as u64)).collect()
        })
        .collect();
    let mut triangles = vec![0; nodes];
    // How many edges there are from the node at hand.
    let mut from_here = vec![0_u64; nodes];
    for (node, edges) in onward.iter().enumerate() {
        edges.iter().for_each(|(end, count)| from_here[*end as usize] = *count);
        for (second, first_count) in edges {
            for (third, second_count) in &onward[*second as usize] {
                let found = first_count * second_count * from_here[*third as usize];
                if found > 0 {
                    triangles[node] += found;
                    triangles[*second as usize] += found;
                    triangles[*third as usize] += found;
                }
            }
        }
        edges.iter().for_each(|(end, _)| from_here[*end as usize] = 0);
        if (node + 1) % TOLD_EVERY == 0 || node + 1 == nodes {
            tell(watch, Figure::Clustering, (node + 1) as u64, Some(nodes as u64))?;
        }
    }
    Ok(triangles)
}
