//! How often a node stands on the shortest ways between others, by Brandes' algorithm: from each source one search in breadth, and
//! one pass back.
//!
//! Neither pass remembers who came before whom. The way back goes level by level and sums up, for each node, what its neighbours
//! on the next level hold: all others hold zero meanwhile, so that no comparison is needed and memory is read, hardly written.

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread,
};

use super::{
    Error, Figure, Network, Result, Watch, limits, network::Adjacency, pagerank::sum_at, seeded::Seeded, watch::tell,
};

/// From where shortest ways are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sources {
    /// Exact.
    #[default]
    All,
    /// An estimate from so many nodes; of a smaller network all are taken.
    Sample { count: u32, seed: u64 },
}

/// Sums that are made apart, and put together in their order: floats come out the same on any number of cores.
const LANES: usize = 64;

/// For each node the share of pairs of others between which it stands; counted by parts where there are several shortest ways.
/// Weights are not looked at.
pub fn betweenness<K: Copy + Ord>(network: &Network<K>, sources: Sources, watch: Watch<'_>) -> Result<Vec<f64>> {
    let nodes = network.len();
    let mut chosen: Vec<u32> = (0..nodes as u32).collect();
    if let Sources::Sample { count, seed } = sources {
        // A source says nothing about itself, so that of one alone there would be no figure.
        if count < 2 {
            return Err(Error::OutOfRange { field: "sources", value: f64::from(count), from: 2.0, to: nodes as f64 });
        }
        Seeded::new(seed).choose(&mut chosen, count as usize);
        chosen.truncate(count as usize);
        chosen.sort_unstable();
    }
    if nodes < 3 {
        return Ok(vec![0.0; nodes]);
    }
    check_work(network, chosen.len())?;
    let mut sums = dependencies(network.out(), network.into(), &chosen, watch)?;
    let targets = (nodes - 2) as f64;
    let (all, others) = (chosen.len() as f64, (chosen.len() - 1) as f64);
    let mut is_source = vec![false; nodes];
    chosen.iter().for_each(|source| is_source[*source as usize] = true);
    for (sum, is_source) in sums.iter_mut().zip(is_source) {
        *sum /= targets * if is_source { others } else { all };
    }
    Ok(sums)
}

fn check_work<K: Copy + Ord>(network: &Network<K>, sources: usize) -> Result<()> {
    let each = (network.out().entries() + network.len()) as u64;
    let steps = each.saturating_mul(sources as u64);
    if steps <= limits::BETWEENNESS_STEPS_MAX {
        return Ok(());
    }
    Err(Error::TooMuchWork { sources: sources as u64, steps, sources_max: limits::BETWEENNESS_STEPS_MAX / each })
}

struct Sums {
    next_lane: usize,
    /// Those that were quicker than the ones before them.
    waiting: BTreeMap<usize, Vec<f64>>,
    total: Vec<f64>,
}

impl Sums {
    fn add(&mut self, lane: usize, sums: Vec<f64>) {
        self.waiting.insert(lane, sums);
        while let Some(sums) = self.waiting.remove(&self.next_lane) {
            self.next_lane += 1;
            self.total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
        }
    }
}

fn dependencies(out: &Adjacency, into: &Adjacency, sources: &[u32], watch: Watch<'_>) -> Result<Vec<f64>> {
    let nodes = out.nodes();
    let sums = Mutex::new(Sums { next_lane: 0, waiting: BTreeMap::new(), total: vec![0.0; nodes] });
    let (next_lane, done, stopped) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let work = || {
        let mut search = Search::new(nodes);
        loop {
            let lane = next_lane.fetch_add(1, Ordering::Relaxed);
            if lane >= LANES {
                return;
            }
            let mut lane_sums = vec![0.0; nodes];
            for source in sources.iter().skip(lane).step_by(LANES) {
                search.from(out, into, *source as usize, &mut lane_sums);
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                if tell(watch, Figure::Betweenness, done, Some(sources.len() as u64)).is_err() {
                    stopped.store(true, Ordering::Relaxed);
                }
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
            }
            sums.lock().unwrap_or_else(PoisonError::into_inner).add(lane, lane_sums);
        }
    };
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(LANES);
    thread::scope(|scope| {
        for _ in 1..cores {
            scope.spawn(work);
        }
        work();
    });
    if stopped.into_inner() {
        return Err(Error::Stopped);
    }
    Ok(sums.into_inner().unwrap_or_else(PoisonError::into_inner).total)
}

/// What one search needs, used again by the next.
struct Search {
    seen: Vec<bool>,
    /// Shortest ways from the source.
    ways: Vec<f64>,
    /// What a node of the level that was last looked at hands to those before it; zero for all others.
    hands: Vec<f64>,
    /// What depends on a node.
    depends: Vec<f64>,
    /// Nodes as they were found, level by level.
    order: Vec<u32>,
    /// Where levels begin in `order`.
    begins: Vec<usize>,
}

impl Search {
    fn new(nodes: usize) -> Self {
        Self {
            seen: vec![false; nodes],
            ways: vec![0.0; nodes],
            hands: vec![0.0; nodes],
            depends: vec![0.0; nodes],
            order: Vec::with_capacity(nodes),
            begins: Vec::new(),
        }
    }

    /// Adds to the sums what depends on each node for the ways from this source.
    fn from(&mut self, out: &Adjacency, into: &Adjacency, source: usize, sums: &mut [f64]) {
        self.search(out, into, source);
        self.back(out);
        // The source is no node between others; what depends on it was never asked.
        for node in &self.order[1..] {
            let node = *node as usize;
            sums[node] += self.depends[node];
        }
        for node in &self.order {
            let node = *node as usize;
            (self.seen[node], self.depends[node]) = (false, 0.0);
        }
    }

    fn search(&mut self, out: &Adjacency, into: &Adjacency, source: usize) {
        let Self { seen, ways, hands, order, begins, .. } = self;
        order.clear();
        begins.clear();
        (seen[source], ways[source]) = (true, 1.0);
        order.push(source as u32);
        let mut begin = 0;
        while begin < order.len() {
            begins.push(begin);
            let end = order.len();
            for at in begin..end {
                let node = order[at] as usize;
                hands[node] = ways[node];
                // Nobody is left to be found.
                if order.len() == seen.len() {
                    continue;
                }
                for neighbour in out.of(node) {
                    if !seen[*neighbour as usize] {
                        seen[*neighbour as usize] = true;
                        order.push(*neighbour);
                    }
                }
            }
            for node in &order[end..] {
                ways[*node as usize] = sum_at(hands, into.of(*node as usize));
            }
            for node in &order[begin..end] {
                hands[*node as usize] = 0.0;
            }
            begin = end;
        }
        begins.push(order.len());
    }

    fn back(&mut self, adjacency: &Adjacency) {
        let Self { ways, hands, depends, order, begins, .. } = self;
        // The level of the source is left out.
        for at in (1..begins.len().saturating_sub(2)).rev() {
            let (before, here) = (&order[begins[at]..begins[at + 1]], &order[begins[at + 1]..begins[at + 2]]);
            for node in here {
                let node = *node as usize;
                hands[node] = (1.0 + depends[node]) / ways[node];
            }
            for node in before {
                let node = *node as usize;
                depends[node] = ways[node] * sum_at(hands, adjacency.of(node));
            }
            for node in here {
                hands[*node as usize] = 0.0;
            }
        }
    }
}
