//! The configuration: defaults, under a file, under variables of the environment, under flags.
//!
//! 1. Every setting is declared once, in `keys`, with what it expects and what it is for. The example file, the documentation and
//!    the check of what someone wrote are made from that list; a test compares it with the types below.
//! 2. What is not declared is refused, with its place and the nearest setting that there is.
//! 3. It is known of every value where it comes from.
//! 4. A secret may stand in a file of its own: for each secret `x` there is a setting `x_file`. No secret is ever shown.

mod engine;
mod error;
mod example;

mod keys;
mod layers;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use crate::http::settings::{HttpSettings, LogFormat, LogSettings};
pub use engine::{CassandraSection, DynamoSection, EmbeddedSection, EngineKind, Secret};
pub use error::ConfigError;
pub use example::{document, example};
pub use keys::{Expects, KEYS, Key};
pub use layers::{Loaded, Origin, Sources};

/// Everything that can be set.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub engine: EngineKind,
    pub embedded: EmbeddedSection,
    pub cassandra: CassandraSection,
    pub dynamodb: DynamoSection,
    pub http: HttpSettings,
    pub jobs: JobsConfig,
    pub shop: merkato::Settings,
}

/// How often the work in the background is done while serving.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JobsConfig {
    pub flows_seconds: u64,
    pub stock_seconds: u64,
    pub carts_seconds: u64,
    pub trees_seconds: u64,
    pub graph_seconds: u64,
    pub analysis_seconds: u64,
    pub ranking_seconds: u64,
    pub sales_seconds: u64,
    pub rollup_seconds: u64,
    pub sequence_seconds: u64,
    pub projections_seconds: u64,
    pub snapshots_seconds: u64,
    pub maintain_seconds: u64,
}

impl Default for JobsConfig {
    fn default() -> Self {
        JobsConfig {
            flows_seconds: 60,
            stock_seconds: 300,
            carts_seconds: 86_400,
            trees_seconds: 60,
            graph_seconds: 60,
            analysis_seconds: 86_400,
            ranking_seconds: 3_600,
            sales_seconds: 300,
            rollup_seconds: 60,
            sequence_seconds: 5,
            projections_seconds: 5,
            snapshots_seconds: 60,
            maintain_seconds: 60,
        }
    }
}
