//! What the figures refuse.

use widerow::Timestamp;

use super::limits;
use crate::{check::Invalid, error::Kind};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error("{field}: {value} is not a number that can be reckoned with")]
    NotFinite { field: &'static str, value: f64 },
    #[error("{field}: {value} is too large, the limit is {}", limits::VALUE_MAX)]
    TooLarge { field: &'static str, value: f64 },
    /// A decimal has 28 digits.
    #[error("{field}: {value} has no room in a decimal")]
    NotDecimal { field: &'static str, value: f64 },
    #[error("readings: {at} comes after a later one; they must be in the order of time")]
    OutOfOrder { at: Timestamp },
    #[error("{field}: {found}, the limit is {limit}")]
    TooMany { field: &'static str, found: u64, limit: u64 },
}

impl Error {
    pub(super) fn invalid(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Error::Invalid(Invalid::new(field, problem))
    }

    pub fn code(&self) -> &'static str {
        match self {
            Error::Invalid(_) => "invalid",
            Error::NotFinite { .. } => "not_finite",
            Error::TooLarge { .. } => "too_large",
            Error::NotDecimal { .. } => "not_decimal",
            Error::OutOfOrder { .. } => "out_of_order",
            Error::TooMany { .. } => "too_many",
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Error::Invalid(_) | Error::NotFinite { .. } | Error::OutOfOrder { .. } => Kind::Invalid,
            Error::TooLarge { .. } | Error::NotDecimal { .. } | Error::TooMany { .. } => Kind::Limit,
        }
    }
}
