//! What the figures refuse.

use super::limits;
use crate::error::Kind;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("{field}: more than {limit}")]
    TooMany { field: &'static str, limit: u64 },
    #[error("weight: {value} is not within 0 to {}", limits::WEIGHT_MAX)]
    Weight { value: f64 },
    #[error("an edge has one node at both ends")]
    Loop,
    #[error("{field}: {value} is not within {from} to {to}")]
    OutOfRange { field: &'static str, value: f64, from: f64, to: f64 },
    /// Exact betweenness goes over all edges for each node.
    #[error(
        "betweenness: {steps} steps from {sources} sources, the limit is {}; a sample of {sources_max} can be taken",
        limits::BETWEENNESS_STEPS_MAX
    )]
    TooMuchWork { sources: u64, steps: u64, sources_max: u64 },
    #[error("communities: {found} for a network of {nodes} nodes")]
    NotAPartition { found: usize, nodes: usize },
    #[error("PageRank: not settled after {rounds} rounds")]
    NotSettled { rounds: u32 },
    #[error("ended by who asked")]
    Stopped,
}

impl Error {
    pub fn code(&self) -> &'static str {
        match self {
            Error::TooMany { .. } => "too_many",
            Error::Weight { .. } => "weight_invalid",
            Error::Loop => "connected_to_itself",
            Error::OutOfRange { .. } => "out_of_range",
            Error::TooMuchWork { .. } => "too_much_work",
            Error::NotAPartition { .. } => "not_a_partition",
            Error::NotSettled { .. } => "not_settled",
            Error::Stopped => "stopped",
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Error::TooMany { .. } | Error::TooMuchWork { .. } | Error::NotSettled { .. } => Kind::Limit,
            Error::Weight { .. } | Error::Loop | Error::OutOfRange { .. } | Error::NotAPartition { .. } => {
                Kind::Invalid
            }
            Error::Stopped => Kind::Refused,
        }
    }
}
