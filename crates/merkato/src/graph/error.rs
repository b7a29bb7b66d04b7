//! What the graph refuses.

use super::{figures, tables::ConnectionType};
use crate::{check::Invalid, combine, error::Kind, id::UserId};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error("nobody is connected with themselves")]
    OneSelf { user: UserId },
    #[error("{user} has no connection {} to {other}", .connection_type.as_str())]
    NotConnected { user: UserId, connection_type: ConnectionType, other: UserId },
    #[error("one of {user} and {other} has blocked the other")]
    Blocked { user: UserId, other: UserId },
    /// A search read as many rows as it may and had not ended: whether there is an answer is not known.
    #[error("the search was given up after {limit} rows")]
    SearchTooWide { limit: usize },
    #[error(transparent)]
    Figures(figures::Error),
    /// Others change the same again and again. Try later.
    #[error("too many change the connections of {user} at once")]
    Busy { user: UserId },
    #[error("the analysis was stopped")]
    Stopped,
    #[error(transparent)]
    Together(#[from] combine::Error),
    #[error(transparent)]
    Data(#[from] widerow::Error),
}

impl From<figures::Error> for Error {
    fn from(error: figures::Error) -> Self {
        match error {
            figures::Error::Stopped => Error::Stopped,
            error => Error::Figures(error),
        }
    }
}

impl Error {
    pub fn code(&self) -> &'static str {
        match self {
            Error::Invalid(_) => "invalid",
            Error::OneSelf { .. } => "connected_with_oneself",
            Error::NotConnected { .. } => "not_connected",
            Error::Blocked { .. } => "blocked",
            Error::SearchTooWide { .. } => "search_too_wide",
            Error::Figures(error) => error.code(),
            Error::Busy { .. } | Error::Together(combine::Error::Busy { .. }) => "person_busy",
            Error::Stopped => "analysis_stopped",
            Error::Together(combine::Error::Stopped) => "stopped",
            Error::Together(combine::Error::Data(_)) | Error::Data(_) => "data",
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Error::Invalid(_) | Error::OneSelf { .. } => Kind::Invalid,
            Error::NotConnected { .. } => Kind::NotFound,
            Error::Blocked { .. } => Kind::Refused,
            Error::SearchTooWide { .. } => Kind::Limit,
            Error::Figures(error) => error.kind(),
            Error::Busy { .. } | Error::Stopped => Kind::Unavailable,
            Error::Together(error) => error.kind(),
            Error::Data(error) => Kind::of(error),
        }
    }
}
