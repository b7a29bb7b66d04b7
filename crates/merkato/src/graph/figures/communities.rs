//! Who belongs together: Louvain's method. Each node moves to the community of neighbours that gains most, until none wants to
//! move; then communities are the nodes of a smaller network, and it begins again.

use super::{
    Error, Figure, Network, Result, Watch, components::by_size, limits, network::Adjacency, seeded::Seeded, watch::tell,
};

/// Who belongs where.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Communities {
    /// The number of each node's community; 0 is the largest.
    pub of: Vec<u32>,
    /// How many nodes each has.
    pub sizes: Vec<u32>,
    pub modularity: f64,
}

/// A gain of modularity that is not worth another pass.
const GAIN_MIN: f64 = 1e-7;

/// Weights count; it does not matter which way edges lead. The seed decides in which order nodes are asked.
pub fn communities<K: Copy + Ord>(network: &Network<K>, seed: u64, watch: Watch<'_>) -> Result<Communities> {
    let adjacency = network.both_ways();
    let mut seeded = Seeded::new(seed);
    let mut of: Vec<u32> = (0..network.len() as u32).collect();
    let mut level = Level { loops: vec![0.0; network.len()], adjacency: adjacency.as_ref().clone() };
    let mut passes = 0;
    for _ in 0..limits::COMMUNITY_LEVELS_MAX {
        let (groups, gained) = level.move_nodes(&mut seeded, &mut passes, watch)?;
        if !gained {
            break;
        }
        let (groups, sizes) = by_size(&groups);
        of.iter_mut().for_each(|group| *group = groups[*group as usize]);
        level = level.folded(&groups, sizes.len());
    }
    let modularity = modularity_of(&adjacency, &of);
    let (of, sizes) = by_size(&of);
    Ok(Communities { of, sizes, modularity })
}

/// How much more edges stay within communities than chance would have it.
pub fn modularity<K: Copy + Ord>(network: &Network<K>, communities: &[u32]) -> Result<f64> {
    let good = communities.len() == network.len() && communities.iter().all(|group| (*group as usize) < network.len());
    if !good {
        return Err(Error::NotAPartition { found: communities.len(), nodes: network.len() });
    }
    Ok(modularity_of(&network.both_ways(), communities))
}

fn modularity_of(adjacency: &Adjacency, communities: &[u32]) -> f64 {
    let (mut within, mut total) = (0.0, 0.0);
    let mut strengths = vec![0.0; adjacency.nodes()];
    for (node, group) in communities.iter().enumerate() {
        for (neighbour, weight) in adjacency.edges_of(node) {
            if communities[neighbour as usize] == *group {
                within += weight;
            }
            strengths[*group as usize] += weight;
            total += weight;
        }
    }
    // Without weight there is nothing to belong by.
    if total <= 0.0 {
        return 0.0;
    }
    within / total - strengths.iter().map(|strength| (strength / total).powi(2)).sum::<f64>()
}

/// A network whose nodes are communities of the one before.
struct Level {
    adjacency: Adjacency,
    /// The weight of the edges within each node, both ends counted.
    loops: Vec<f64>,
}

impl Level {
    /// The community of each node, and whether any has moved.
    fn move_nodes(&self, seeded: &mut Seeded, passes: &mut u32, watch: Watch<'_>) -> Result<(Vec<u32>, bool)> {
        let nodes = self.loops.len();
        let strengths: Vec<f64> = (0..nodes).map(|node| self.adjacency.strength(node) + self.loops[node]).collect();
        let total: f64 = strengths.iter().sum();
        let mut groups: Vec<u32> = (0..nodes as u32).collect();
        if total <= 0.0 {
            return Ok((groups, false));
        }
        let mut order = groups.clone();
        seeded.choose(&mut order, nodes);
        let mut group_strengths = strengths.clone();
        // The weight of the edges from the node at hand to each group; zero for those that it does not touch.
        let mut towards = vec![0.0; nodes];
        let mut touched: Vec<u32> = Vec::new();
        let mut gained = false;
        while *passes < limits::COMMUNITY_PASSES_MAX {
            let mut gain = 0.0;
            for node in &order {
                let node = *node as usize;
                let (own, strength) = (groups[node], strengths[node]);
                for (neighbour, weight) in self.adjacency.edges_of(node) {
                    let group = groups[neighbour as usize];
                    if towards[group as usize] == 0.0 {
                        touched.push(group);
                    }
                    towards[group as usize] += weight;
                }
                group_strengths[own as usize] -= strength;
                let worth = |group: u32| towards[group as usize] - group_strengths[group as usize] * strength / total;
                let stays = worth(own);
                let (mut best, mut best_worth) = (own, stays);
                for group in &touched {
                    let worth = worth(*group);
                    if worth > best_worth {
                        (best, best_worth) = (*group, worth);
                    }
                }
                group_strengths[best as usize] += strength;
                groups[node] = best;
                gain += 2.0 * (best_worth - stays) / total;
                touched.drain(..).for_each(|group| towards[group as usize] = 0.0);
            }
            *passes += 1;
            tell(watch, Figure::Communities, u64::from(*passes), None)?;
            gained |= gain > 0.0;
            if gain <= GAIN_MIN {
                break;
            }
        }
        Ok((groups, gained))
    }

    /// The network of the groups, which are numbered without gaps.
    fn folded(&self, groups: &[u32], count: usize) -> Self {
        let mut members: Vec<u32> = (0..groups.len() as u32).collect();
        members.sort_by_key(|node| groups[*node as usize]);
        let mut loops = vec![0.0; count];
        let (mut starts, mut ends, mut weights) = (vec![0_u32], Vec::new(), Vec::new());
        let mut towards = vec![0.0; count];
        let mut touched: Vec<u32> = Vec::new();
        for of_group in members.chunk_by(|a, b| groups[*a as usize] == groups[*b as usize]) {
            let group = groups[of_group[0] as usize];
            for node in of_group {
                loops[group as usize] += self.loops[*node as usize];
                for (neighbour, weight) in self.adjacency.edges_of(*node as usize) {
                    let other = groups[neighbour as usize];
                    if other == group {
                        loops[group as usize] += weight;
                    } else {
                        if towards[other as usize] == 0.0 {
                            touched.push(other);
                        }
                        towards[other as usize] += weight;
                    }
                }
            }
            touched.sort_unstable();
            // Edges without weight may have been met more than once.
            touched.dedup();
            for other in touched.drain(..) {
                ends.push(other);
                weights.push(std::mem::take(&mut towards[other as usize]));
            }
            starts.push(ends.len() as u32);
        }
        Self { adjacency: Adjacency::from_parts(starts, ends, weights), loops }
    }
}
