//! Where somebody who follows edges for ever, and now and then begins anew anywhere, is most often.
//!
//! A rank is what comes along edges, and a part that is the same for all. However large that part is, the ranks have the same
//! proportions: so it is taken as 1, and the ranks are divided by their sum at the end. Those from where no edge leads on, and who
//! begin anew everywhere, need not be looked at for the same reason.

use super::{Error, Figure, Network, Result, Watch, limits, network::Adjacency, watch::tell};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageRankSettings {
    /// How likely it is to follow an edge instead of beginning anew.
    pub damping: f64,
    /// By how much all ranks together, which are 1, may be off. networkx stops when a round changes less than a millionth for each
    /// node, which with thousands of nodes leaves some off by 1e-4; told to go on, it comes to what this comes to.
    pub error_max: f64,
}

impl Default for PageRankSettings {
    fn default() -> Self {
        Self { damping: 0.85, error_max: 1e-9 }
    }
}

impl PageRankSettings {
    fn check(&self) -> Result<()> {
        let within = |field, value: f64, from: f64, to: f64| {
            if (from..=to).contains(&value) { Ok(()) } else { Err(Error::OutOfRange { field, value, from, to }) }
        };
        within("damping", self.damping, 0.0, 0.99)?;
        within("error_max", self.error_max, 1e-12, 0.1)
    }
}

/// The rank of each node; together they are 1. Edges are followed in the measure of their weights; from where none leads on,
/// anywhere.
pub fn pagerank<K: Copy + Ord>(
    network: &Network<K>,
    settings: &PageRankSettings,
    watch: Watch<'_>,
) -> Result<Vec<f64>> {
    settings.check()?;
    let search = Search { into: network.into(), strengths: strengths(network.out()), settings, watch };
    let mut ranks = if network.leads_both_ways() { search.by_gradients()? } else { search.by_rounds()? };
    let total: f64 = ranks.iter().sum();
    ranks.iter_mut().for_each(|rank| *rank /= total);
    Ok(ranks)
}

fn strengths(out: &Adjacency) -> Vec<f64> {
    (0..out.nodes()).map(|node| out.strength(node)).collect()
}

struct Search<'a> {
    into: &'a Adjacency,
    /// What leads out of each node.
    strengths: Vec<f64>,
    settings: &'a PageRankSettings,
    watch: Watch<'a>,
}

impl Search<'_> {
    /// Gauss and Seidel's way, for any network: nodes see what those before them have just come to.
    fn by_rounds(&self) -> Result<Vec<f64>> {
        let damping = self.settings.damping;
        // A reciprocal each, as a division takes as long as many edges. Where nothing leads on, nothing is handed on.
        let inverse: Vec<f64> = self.strengths.iter().map(|strength| reciprocal(*strength)).collect();
        let mut ranks = vec![1.0; inverse.len()];
        // What a node hands along an edge of weight 1.
        let mut shares = inverse.clone();
        for round in 1..=limits::PAGERANK_ROUNDS_MAX {
            let (mut change, mut total) = (0.0, 0.0);
            for node in 0..ranks.len() {
                let rank = 1.0 + damping * self.incoming(&shares, node);
                change += (rank - ranks[node]).abs();
                total += rank;
                ranks[node] = rank;
                shares[node] = rank * inverse[node];
            }
            // What a round leaves over is at most what it changed, damped.
            if self.is_good(round, damping * change, total)? {
                return Ok(ranks);
            }
        }
        Err(Error::NotSettled { rounds: limits::PAGERANK_ROUNDS_MAX })
    }

    /// Conjugate gradients, where each edge leads both ways: the shares are the solution of a symmetric system, and are found in
    /// less than half as many rounds.
    fn by_gradients(&self) -> Result<Vec<f64>> {
        let nodes = self.strengths.len();
        // A node without edges has a rank of 1, and as a row of the system nothing but that.
        let diagonal: Vec<f64> = self.strengths.iter().map(|s| if *s > 0.0 { *s } else { 1.0 }).collect();
        let inverse: Vec<f64> = diagonal.iter().map(|d| 1.0 / d).collect();
        let mut shares = vec![0.0; nodes];
        let mut left = vec![1.0; nodes];
        let mut direction = inverse.clone();
        let mut weight: f64 = inverse.iter().sum();
        let mut image = vec![0.0; nodes];
        for round in 1..=limits::PAGERANK_ROUNDS_MAX {
            let mut along = 0.0;
            for node in 0..nodes {
                let incoming = self.incoming(&direction, node);
                image[node] = diagonal[node] * direction[node] - self.settings.damping * incoming;
                along += direction[node] * image[node];
            }
            let step = if along > 0.0 { weight / along } else { 0.0 };
            let (mut next_weight, mut residual, mut total) = (0.0, 0.0, 0.0);
            for node in 0..nodes {
                shares[node] += step * direction[node];
                left[node] -= step * image[node];
                next_weight += left[node] * left[node] * inverse[node];
                residual += left[node].abs();
                total += shares[node] * diagonal[node];
            }
            if self.is_good(round, residual, total)? {
                shares.iter_mut().zip(&diagonal).for_each(|(share, diagonal)| *share *= diagonal);
                return Ok(shares);
            }
            let turn = next_weight / weight;
            direction.iter_mut().zip(left.iter().zip(&inverse)).for_each(|(d, (l, i))| *d = l * i + turn * *d);
            weight = next_weight;
        }
        Err(Error::NotSettled { rounds: limits::PAGERANK_ROUNDS_MAX })
    }

    /// What is left over comes, followed for ever, to 1/(1 - damping) of itself at the most; twice, as the total is off by it, too.
    fn is_good(&self, round: u32, left: f64, total: f64) -> Result<bool> {
        tell(self.watch, Figure::PageRank, u64::from(round), None)?;
        Ok(2.0 * left <= self.settings.error_max * (1.0 - self.settings.damping) * total)
    }

    fn incoming(&self, shares: &[f64], node: usize) -> f64 {
        if self.into.is_weighted() {
            self.into.edges_of(node).map(|(from, weight)| shares[from as usize] * weight).sum()
        } else {
            sum_at(shares, self.into.of(node))
        }
    }
}

fn reciprocal(strength: f64) -> f64 {
    if strength > 0.0 { 1.0 / strength } else { 0.0 }
}

/// The sum of the values at these places. In four sums, as an addition takes longer than the next one has to wait for memory.
pub(super) fn sum_at(values: &[f64], places: &[u32]) -> f64 {
    let mut sums = [0.0; 4];
    let (fours, rest) = places.as_chunks::<4>();
    for four in fours {
        for (sum, place) in sums.iter_mut().zip(four) {
            *sum += values[*place as usize];
        }
    }
    let rest: f64 = rest.iter().map(|place| values[*place as usize]).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}
