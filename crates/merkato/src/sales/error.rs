//! What the analysis of sales refuses.

use super::figures;
use crate::{check::Invalid, error::Kind};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// Over a limit. Nothing of it was written.
    #[error("{what} is {size}, the limit is {limit}")]
    TooLarge { what: &'static str, size: usize, limit: usize },
    #[error("there is no sale {sale_id} of {product_id} on that day")]
    SaleNotFound { product_id: String, sale_id: String },
    /// It would never be seen.
    #[error("a sale of {day} is older than sales are kept")]
    Ended { day: widerow::Date },
    #[error(transparent)]
    Figures(figures::Error),
    #[error(transparent)]
    Data(#[from] widerow::Error),
}

/// Bad input is bad input, whoever notices it.
impl From<figures::Error> for Error {
    fn from(error: figures::Error) -> Self {
        match error {
            figures::Error::Invalid(invalid) => Error::Invalid(invalid),
            error => Error::Figures(error),
        }
    }
}

impl Error {
    pub fn code(&self) -> &'static str {
        match self {
            Error::Invalid(_) => "invalid",
            Error::TooLarge { .. } => "too_large",
            Error::SaleNotFound { .. } => "sale_not_found",
            Error::Ended { .. } => "sale_ended",
            Error::Figures(error) => error.code(),
            Error::Data(_) => "data",
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Error::Invalid(_) => Kind::Invalid,
            Error::TooLarge { .. } => Kind::Limit,
            Error::SaleNotFound { .. } => Kind::NotFound,
            Error::Ended { .. } => Kind::Refused,
            Error::Figures(error) => error.kind(),
            Error::Data(error) => Kind::of(error),
        }
    }
}
