//! What events refuse.

use crate::{
    check::Invalid,
    error::Kind,
    id::{AggregateId, EventId},
};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error("there are no events of {aggregate}")]
    StreamNotFound { aggregate: AggregateId },
    #[error("{aggregate} has {found} events, not {wanted}")]
    VersionNotFound { aggregate: AggregateId, wanted: i64, found: i64 },
    /// Someone else has appended meanwhile. Nothing was written.
    #[error("{aggregate} is at version {found}, not {expected}")]
    VersionConflict { aggregate: AggregateId, expected: i64, found: i64 },
    #[error("{aggregate} is a {found}, not a {wanted}")]
    OtherKind { aggregate: AggregateId, wanted: String, found: String },
    /// The shop itself writes them.
    #[error("events of a {kind} come from the shop alone")]
    Reserved { kind: String },
    #[error("the shop itself writes the events of {aggregate}")]
    ReservedStream { aggregate: AggregateId },
    #[error("the event {event} is there already, and it is another one")]
    OtherEvent { event: EventId },
    #[error("the event {event} is there already, in the stream of {holder}")]
    OtherStream { event: EventId, holder: AggregateId },
    /// Of several events that were sent again, some are new: they were not sent together before.
    #[error("some of these events are there already, and not all")]
    SomeKnown,
    #[error("there is no projection {name}")]
    ProjectionNotFound { name: String },
    /// An event that whoever folds its aggregate, or a projection, makes no sense of.
    #[error("version {version} of {aggregate}: {problem}")]
    Unreadable { aggregate: AggregateId, version: i64, problem: String },
    #[error("{what} is {size}, the limit is {limit}")]
    TooLarge { what: &'static str, size: usize, limit: usize },
    /// Others write the same again and again. Nothing was written; try later.
    #[error("{what} is too busy")]
    Busy { what: &'static str },
    #[error(transparent)]
    Data(#[from] widerow::Error),
}

impl Error {
    pub fn code(&self) -> &'static str {
        match self {
            Error::Invalid(_) => "invalid",
            Error::StreamNotFound { .. } => "stream_not_found",
            Error::VersionNotFound { .. } => "version_not_found",
            Error::VersionConflict { .. } => "version_conflict",
            Error::OtherKind { .. } => "other_kind",
            Error::Reserved { .. } | Error::ReservedStream { .. } => "stream_reserved",
            Error::OtherEvent { .. } => "event_differs",
            Error::OtherStream { .. } => "event_elsewhere",
            Error::SomeKnown => "events_partly_known",
            Error::ProjectionNotFound { .. } => "projection_not_found",
            Error::Unreadable { .. } => "event_unreadable",
            Error::TooLarge { .. } => "too_large",
            Error::Busy { .. } => "events_busy",
            Error::Data(_) => "data",
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Error::Invalid(_) => Kind::Invalid,
            Error::StreamNotFound { .. } | Error::VersionNotFound { .. } | Error::ProjectionNotFound { .. } => {
                Kind::NotFound
            }
            Error::VersionConflict { .. } => Kind::Conflict,
            Error::OtherEvent { .. } | Error::OtherStream { .. } | Error::SomeKnown => Kind::Exists,
            Error::OtherKind { .. } | Error::Reserved { .. } | Error::ReservedStream { .. } => Kind::Refused,
            Error::Unreadable { .. } => Kind::Internal,
            Error::TooLarge { .. } => Kind::Limit,
            Error::Busy { .. } => Kind::Unavailable,
            Error::Data(error) => Kind::of(error),
        }
    }
}
