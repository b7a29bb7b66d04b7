//! What a caller can do about a refusal, whatever module it comes from. Mapped to a transport's status in one place only.

/// The kind of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The input is wrong, whatever the state.
    Invalid,
    NotFound,
    /// Another one has the name.
    Exists,
    /// Someone else was quicker: read again, decide again.
    Conflict,
    /// The state does not allow it.
    Refused,
    Unauthenticated,
    Forbidden,
    /// Too many, too often.
    Limit,
    /// Try again later.
    Unavailable,
    /// Nothing that the caller can do.
    Internal,
}

impl Kind {
    /// Whether it says something of the shop's state of health and nothing of what was asked for.
    pub fn is_failure(self) -> bool {
        matches!(self, Kind::Unavailable | Kind::Internal)
    }

    /// What a failure of the data layer means to a caller.
    pub fn of(error: &widerow::Error) -> Self {
        match error {
            widerow::Error::Invalid { .. } | widerow::Error::TooLarge { .. } => Kind::Invalid,
            widerow::Error::Conflict(_) => Kind::Conflict,
            error if error.is_transient() => Kind::Unavailable,
            _ => Kind::Internal,
        }
    }
}
