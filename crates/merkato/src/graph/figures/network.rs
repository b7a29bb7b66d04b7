//! A network in memory: nodes as numbers, and for each the numbers of its neighbours, one after the other.

use std::{borrow::Cow, collections::HashMap, hash::Hash};

use super::{Error, Result, limits};

/// Whether an edge leads both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    Undirected,
    Directed,
}

/// Collects edges as they are read, sixteen bytes each, and says where there are too many.
#[derive(Clone, Debug)]
pub struct Builder<K> {
    shape: Shape,
    numbers: HashMap<K, u32>,
    edges: Vec<(u32, u32, f64)>,
    nodes_max: usize,
    edges_max: usize,
}

impl<K: Copy + Ord + Hash> Builder<K> {
    pub fn new(shape: Shape) -> Self {
        let (nodes_max, edges_max) = (limits::NODES_MAX, limits::EDGES_MAX);
        Self { shape, numbers: HashMap::new(), edges: Vec::new(), nodes_max, edges_max }
    }

    /// Fewer than the limits let in.
    pub fn at_most(mut self, nodes: usize, edges: usize) -> Self {
        (self.nodes_max, self.edges_max) = (nodes.min(limits::NODES_MAX), edges.min(limits::EDGES_MAX));
        self
    }

    /// A node, also if no edge has it.
    pub fn node(&mut self, id: K) -> Result<u32> {
        let next = self.numbers.len();
        if let Some(number) = self.numbers.get(&id) {
            return Ok(*number);
        }
        if next >= self.nodes_max {
            return Err(Error::TooMany { field: "nodes", limit: self.nodes_max as u64 });
        }
        self.numbers.insert(id, next as u32);
        Ok(next as u32)
    }

    /// An edge of weight 1.
    pub fn edge(&mut self, from: K, to: K) -> Result<()> {
        self.weighted(from, to, 1.0)
    }

    /// Told twice it is one edge, of the larger weight; where edges lead both ways, also if it is told the other way round.
    pub fn weighted(&mut self, from: K, to: K, weight: f64) -> Result<()> {
        if !(0.0..=limits::WEIGHT_MAX).contains(&weight) {
            return Err(Error::Weight { value: weight });
        }
        if from == to {
            return Err(Error::Loop);
        }
        let (from, to) = (self.node(from)?, self.node(to)?);
        let pair = if self.shape == Shape::Undirected { (from.min(to), from.max(to)) } else { (from, to) };
        // Each may be told from both its ends: how many they are is counted when there is no room for that any more.
        if self.edges.len() >= 2 * self.edges_max {
            self.once()?;
        }
        self.edges.push((pair.0, pair.1, weight));
        Ok(())
    }

    fn once(&mut self) -> Result<()> {
        self.edges.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(b.2.total_cmp(&a.2)));
        self.edges.dedup_by_key(|edge| (edge.0, edge.1));
        if self.edges.len() > self.edges_max {
            return Err(Error::TooMany { field: "edges", limit: self.edges_max as u64 });
        }
        Ok(())
    }

    pub fn build(mut self) -> Result<Network<K>> {
        // Numbered in the order of their ids: it does not matter then which edge came first.
        let mut nodes: Vec<(K, u32)> = std::mem::take(&mut self.numbers).into_iter().collect();
        nodes.sort_unstable();
        let mut renumbered = vec![0_u32; nodes.len()];
        for (number, (_, before)) in nodes.iter().enumerate() {
            renumbered[*before as usize] = number as u32;
        }
        for edge in &mut self.edges {
            (edge.0, edge.1) = (renumbered[edge.0 as usize], renumbered[edge.1 as usize]);
            if self.shape == Shape::Undirected && edge.0 > edge.1 {
                (edge.0, edge.1) = (edge.1, edge.0);
            }
        }
        self.once()?;
        let edges = self.edges.len();
        let (out, back) = match self.shape {
            Shape::Undirected => (Adjacency::new(nodes.len(), &self.edges, Way::Both), None),
            Shape::Directed => (
                Adjacency::new(nodes.len(), &self.edges, Way::Out),
                Some(Adjacency::new(nodes.len(), &self.edges, Way::Back)),
            ),
        };
        Ok(Network { ids: nodes.into_iter().map(|(id, _)| id).collect(), edges, out, back })
    }
}

/// Nodes are `0..len`, in the order of their ids.
#[derive(Clone, Debug, PartialEq)]
pub struct Network<K> {
    ids: Vec<K>,
    edges: usize,
    out: Adjacency,
    /// Where edges lead one way only: the way back.
    back: Option<Adjacency>,
}

impl<K: Copy + Ord> Network<K> {
    pub fn shape(&self) -> Shape {
        if self.back.is_some() { Shape::Directed } else { Shape::Undirected }
    }

    /// The nodes, ascending.
    pub fn ids(&self) -> &[K] {
        &self.ids
    }

    pub fn index(&self, id: K) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// How many edges there are; one that leads both ways is one.
    pub fn edges(&self) -> usize {
        self.edges
    }

    /// Where edges of the node lead, ascending.
    pub fn neighbours(&self, node: usize) -> &[u32] {
        self.out.of(node)
    }

    /// Edges at the node: out of it, and those into it where these are others.
    pub fn degree(&self, node: usize) -> u32 {
        (self.out.of(node).len() + self.back.as_ref().map_or(0, |back| back.of(node).len())) as u32
    }

    pub(super) fn out(&self) -> &Adjacency {
        &self.out
    }

    /// The edges, seen from where they lead to.
    pub(super) fn into(&self) -> &Adjacency {
        self.back.as_ref().unwrap_or(&self.out)
    }

    /// Whether all edges do, with the same weights; also where they are told one by one.
    pub(super) fn leads_both_ways(&self) -> bool {
        self.back.as_ref().is_none_or(|back| *back == self.out)
    }

    /// As if edges led both ways: of two that are one then, the weights are summed.
    pub(super) fn both_ways(&self) -> Cow<'_, Adjacency> {
        match &self.back {
            None => Cow::Borrowed(&self.out),
            Some(back) => Cow::Owned(self.out.merged(back)),
        }
    }

    /// As if edges led both ways and had no weights, but how many they are: two, where they led both ways.
    pub(super) fn both_ways_counted(&self) -> Adjacency {
        match &self.back {
            None => self.out.unweighted(),
            Some(back) => self.out.unweighted().merged(&back.unweighted()),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Both,
    Out,
    Back,
}

/// For each node its neighbours, ascending, and the weights of the edges to them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Adjacency {
    starts: Vec<u32>,
    ends: Vec<u32>,
    /// Empty where all are 1.
    weights: Vec<f64>,
}

impl Adjacency {
    /// Of edges in the order of their nodes.
    fn new(nodes: usize, edges: &[(u32, u32, f64)], way: Way) -> Self {
        let ends_of = |edge: &(u32, u32, f64)| {
            let there = (way != Way::Back).then_some((edge.0, edge.1));
            let back = (way != Way::Out).then_some((edge.1, edge.0));
            [there, back].into_iter().flatten()
        };
        let mut starts = vec![0_u32; nodes + 1];
        for (from, _) in edges.iter().flat_map(ends_of) {
            starts[from as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let total = starts[nodes] as usize;
        let weighted = edges.iter().any(|edge| edge.2 != 1.0);
        let mut next = starts.clone();
        let mut ends = vec![0_u32; total];
        let mut weights = vec![0.0; if weighted { total } else { 0 }];
        let mut put = |from: u32, to: u32, weight: f64| {
            let at = next[from as usize] as usize;
            next[from as usize] += 1;
            ends[at] = to;
            if weighted {
                weights[at] = weight;
            }
        };
        // ORDER: neighbours with smaller numbers come as the second end of edges that begin at these, so they are put first.
        if way != Way::Out {
            edges.iter().for_each(|edge| put(edge.1, edge.0, edge.2));
        }
        if way != Way::Back {
            edges.iter().for_each(|edge| put(edge.0, edge.1, edge.2));
        }
        Self { starts, ends, weights }
    }

    pub(super) fn from_parts(starts: Vec<u32>, ends: Vec<u32>, weights: Vec<f64>) -> Self {
        Self { starts, ends, weights }
    }

    pub(super) fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many ends of edges there are.
    pub(super) fn entries(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn of(&self, node: usize) -> &[u32] {
        &self.ends[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    pub(super) fn is_weighted(&self) -> bool {
        !self.weights.is_empty()
    }

    /// Beside [`Adjacency::of`]; empty where all are 1.
    pub(super) fn weights_of(&self, node: usize) -> &[f64] {
        if self.is_weighted() { &self.weights[self.starts[node] as usize..self.starts[node + 1] as usize] } else { &[] }
    }

    /// Neighbours with their weights.
    pub(super) fn edges_of(&self, node: usize) -> impl Iterator<Item = (u32, f64)> {
        let weights = self.weights_of(node).iter().copied().chain(std::iter::repeat(1.0));
        self.of(node).iter().copied().zip(weights)
    }

    /// The weights of all edges of a node, summed up.
    pub(super) fn strength(&self, node: usize) -> f64 {
        if self.is_weighted() { self.weights_of(node).iter().sum() } else { self.of(node).len() as f64 }
    }

    fn unweighted(&self) -> Self {
        Self { starts: self.starts.clone(), ends: self.ends.clone(), weights: Vec::new() }
    }

    fn merged(&self, other: &Adjacency) -> Self {
        let mut merged = Self { starts: vec![0], ends: Vec::new(), weights: Vec::new() };
        for node in 0..self.nodes() {
            let (mut a, mut b) = (self.edges_of(node).peekable(), other.edges_of(node).peekable());
            loop {
                let (end, weight) = match (a.peek().copied(), b.peek().copied()) {
                    (None, None) => break,
                    (Some(x), None) => {
                        a.next();
                        x
                    }
                    (None, Some(y)) => {
                        b.next();
                        y
                    }
                    (Some(x), Some(y)) => {
                        if x.0 <= y.0 {
                            a.next();
                        }
                        if y.0 <= x.0 {
                            b.next();
                        }
                        (
                            x.0.min(y.0),
                            if x.0 == y.0 {
                                x.1 + y.1
                            } else if x.0 < y.0 {
                                x.1
                            } else {
                                y.1
                            },
                        )
                    }
                };
                merged.ends.push(end);
                merged.weights.push(weight);
            }
            merged.starts.push(merged.ends.len() as u32);
        }
        merged
    }
}
