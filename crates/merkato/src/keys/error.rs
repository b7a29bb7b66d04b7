//! What keys refuse. No text of a token is in it.

use crate::{check::Invalid, error::Kind, id::KeyId};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error("there is no key {key}")]
    KeyNotFound { key: KeyId },
    #[error("{limit} keys in force are the most")]
    TooManyKeys { limit: usize },
    #[error(transparent)]
    Data(#[from] widerow::Error),
}

impl Error {
    pub fn code(&self) -> &'static str {
        match self {
            Error::Invalid(_) => "invalid",
            Error::KeyNotFound { .. } => "key_not_found",
            Error::TooManyKeys { .. } => "too_many_keys",
            Error::Data(_) => "data",
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Error::Invalid(_) => Kind::Invalid,
            Error::KeyNotFound { .. } => Kind::NotFound,
            Error::TooManyKeys { .. } => Kind::Limit,
            Error::Data(error) => Kind::of(error),
        }
    }
}
