//! What the figures refuse.

use super::period::By;
use crate::{check::Invalid, error::Kind};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error("periods: {periods} by {by}, the limit is {limit}; ask for a shorter time or for longer periods")]
    TooManyPeriods { by: By, periods: u64, limit: u32 },
    #[error("sales: more than {limit}, which is the limit; ask for a shorter time")]
    TooManySales { limit: usize },
    #[error("groups: more than {limit}, which is the limit")]
    TooManyGroups { limit: usize },
    /// `row` is the vector's place among those that were searched.
    #[error("vectors/{row}: it has {found} numbers, the query has {expected}")]
    OtherDimension { row: usize, found: usize, expected: usize },
    #[error("shard: the function gave {found}, of {shards} shards")]
    NoSuchShard { found: u32, shards: u32 },
    #[error("{field}: the sum is over what can be counted")]
    TooMuch { field: &'static str },
}

impl Error {
    pub(super) fn invalid(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Error::Invalid(Invalid::new(field, problem))
    }

    pub fn code(&self) -> &'static str {
        match self {
            Error::Invalid(_) => "invalid",
            Error::TooManyPeriods { .. } => "too_many_periods",
            Error::TooManySales { .. } => "too_many_sales",
            Error::TooManyGroups { .. } => "too_many_groups",
            Error::OtherDimension { .. } => "other_dimension",
            Error::NoSuchShard { .. } => "no_such_shard",
            Error::TooMuch { .. } => "too_much",
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Error::Invalid(_) | Error::OtherDimension { .. } => Kind::Invalid,
            Error::TooManyPeriods { .. } | Error::TooManySales { .. } | Error::TooManyGroups { .. } => Kind::Limit,
            Error::TooMuch { .. } => Kind::Limit,
            Error::NoSuchShard { .. } => Kind::Internal,
        }
    }
}
