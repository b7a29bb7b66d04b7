//! What a whole network says about each of its nodes: how many it knows, whether these know each other, who stands between the
//! others, who matters, who belongs together.
//!
//! Pure functions over a [`Network`] in memory: nothing is read, written or waited for, and neither the clock nor chance is asked;
//! what chooses has a seed. The same edges give the same figures, in whichever order they come and on however many cores.
//!
//! 1. Figures are those of networkx (`tests/networkx.rs` holds them beside it), and stand in the order of [`Network::ids`].
//! 2. Every input has a limit (`limits`), and what is over it is refused by name.
//! 3. They compute on the caller's thread, betweenness on all cores besides. A network of thousands takes seconds, so an async
//!    caller hands them to a thread that may block, sees how far they are ([`Watch`]), and can end them.

mod betweenness;
mod clustering;
mod communities;
mod components;
mod error;
pub mod limits;
mod network;
mod pagerank;
mod seeded;
#[cfg(test)]
mod tests;
mod watch;

pub use betweenness::{Sources, betweenness};
pub use clustering::clustering;
pub use communities::{Communities, communities, modularity};
pub use components::components;
pub use error::{Error, Result};
pub use network::{Builder, Network, Shape};
pub use pagerank::{PageRankSettings, pagerank};
pub use watch::{Figure, Step, Watch, unwatched};

/// Which figures, and how exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settings {
    pub sources: Sources,
    pub pagerank: PageRankSettings,
    /// Decides in which order nodes choose their community.
    pub seed: u64,
}

/// All figures of a network, each in the order of [`Network::ids`].
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Edges of a node; of a directed network those out of it and those into it.
    pub degree: Vec<u32>,
    pub clustering: Vec<f64>,
    pub betweenness: Vec<f64>,
    pub pagerank: Vec<f64>,
    /// The number of its component; 0 is the largest.
    pub component: Vec<u32>,
    pub communities: Communities,
}

/// All of them, the quick ones first.
pub fn figures<K: Copy + Ord>(network: &Network<K>, settings: &Settings, watch: Watch<'_>) -> Result<Figures> {
    Ok(Figures {
        degree: (0..network.len()).map(|node| network.degree(node)).collect(),
        component: components(network),
        pagerank: pagerank(network, &settings.pagerank, watch)?,
        clustering: clustering(network, watch)?,
        communities: communities(network, settings.seed, watch)?,
        betweenness: betweenness(network, settings.sources, watch)?,
    })
}
