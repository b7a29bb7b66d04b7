//! Why a whole import is refused. A record that is bad by itself is no reason: it is listed in the report.

use crate::{
    analytics, catalog, check::Invalid, error::Kind, events, graph, hierarchy, orders, sales, telemetry, wallets,
};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The options, or columns that are missing.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The source cannot be read to its end. Nothing was written.
    #[error("the source cannot be read: {reason}")]
    Unreadable { reason: String },
    /// The shop cannot be written to. What was written stays; the same import again goes on.
    #[error(transparent)]
    Catalog(#[from] catalog::Error),
    #[error(transparent)]
    Orders(#[from] orders::Error),
    #[error(transparent)]
    Analytics(#[from] analytics::Error),
    #[error(transparent)]
    Sales(#[from] sales::Error),
    #[error(transparent)]
    Telemetry(#[from] telemetry::Error),
    #[error(transparent)]
    Hierarchy(#[from] hierarchy::Error),
    #[error(transparent)]
    Events(#[from] events::Error),
    #[error(transparent)]
    Graph(#[from] graph::Error),
    #[error(transparent)]
    Wallets(#[from] wallets::Error),
}

impl Error {
    pub(super) fn unreadable(reason: impl std::fmt::Display) -> Self {
        Error::Unreadable { reason: reason.to_string() }
    }

    pub fn code(&self) -> &'static str {
        match self {
            Error::Invalid(_) => "invalid",
            Error::Unreadable { .. } => "source_unreadable",
            Error::Catalog(error) => error.code(),
            Error::Orders(error) => error.code(),
            Error::Analytics(error) => error.code(),
            Error::Sales(error) => error.code(),
            Error::Telemetry(error) => error.code(),
            Error::Hierarchy(error) => error.code(),
            Error::Events(error) => error.code(),
            Error::Graph(error) => error.code(),
            Error::Wallets(error) => error.code(),
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Error::Invalid(_) | Error::Unreadable { .. } => Kind::Invalid,
            Error::Catalog(error) => error.kind(),
            Error::Orders(error) => error.kind(),
            Error::Analytics(error) => error.kind(),
            Error::Sales(error) => error.kind(),
            Error::Telemetry(error) => error.kind(),
            Error::Hierarchy(error) => error.kind(),
            Error::Events(error) => error.kind(),
            Error::Graph(error) => error.kind(),
            Error::Wallets(error) => error.kind(),
        }
    }
}
