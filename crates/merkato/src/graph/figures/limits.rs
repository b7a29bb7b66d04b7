//! Every limit of the figures, in one place.

/// Nodes of a network.
pub const NODES_MAX: usize = 2_000_000;
/// Edges of a network. With as many, and [`NODES_MAX`] nodes, figures take about a gigabyte.
pub const EDGES_MAX: usize = 10_000_000;
/// The largest weight of an edge, so that sums of them stay exact enough.
pub const WEIGHT_MAX: f64 = 1e9;
/// Edges that betweenness may look at, over all sources: some hours of two cores. Beyond it, sources are sampled.
pub const BETWEENNESS_STEPS_MAX: u64 = 10_000_000_000_000;
/// Rounds of PageRank. Each brings it nearer by its damping, so that with .85 these are plenty.
pub const PAGERANK_ROUNDS_MAX: u32 = 2_000;
/// Passes over all nodes that look for better communities, and levels of communities of communities.
pub const COMMUNITY_PASSES_MAX: u32 = 1_000;
pub const COMMUNITY_LEVELS_MAX: u32 = 64;
