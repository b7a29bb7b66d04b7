//! What is wrong with a configuration: all of it at once, each with its place.

/// Nothing was started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .problems.join("\n"))]
pub struct ConfigError {
    pub problems: Vec<String>,
}

impl ConfigError {
    pub(super) fn one(problem: impl Into<String>) -> Self {
        ConfigError { problems: vec![problem.into()] }
    }
}
