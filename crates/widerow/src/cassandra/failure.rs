//! What went wrong with a request, sorted by whether it may have been applied and by what the caller can do.
//!
//! Invariant: a failure is certain only if the server, or the driver before it sent anything, says so; all that is
//! unknown counts as "may have happened".

use std::time::Duration;

use scylla::{
    errors::{
        ConnectionError, ConnectionPoolError, ConnectionSetupRequestErrorKind as Setup, DbError, ExecutionError,
        MetadataError, NewSessionError, PrepareError, RequestAttemptError,
    },
    statement::Consistency,
};
use uuid::Uuid;

use crate::{
    error::{Error, SchemaError},
    schema::Table,
};

/// What the caller can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Unavailable,
    Throttled,
    TimedOut,
    /// The table is not there.
    Missing,
    TooLarge,
    /// The server has forgotten a prepared statement, as it may when its memory for them is full.
    Unprepared,
    /// Nothing: a mistake of ours, or of the server.
    Engine,
}

#[derive(Clone, Debug)]
pub(super) struct Failure {
    kind: Kind,
    /// Nothing can have been applied.
    certain: bool,
    detail: String,
}

const DETAIL_CHARS_MAX: usize = 300;

impl Failure {
    fn new(kind: Kind, certain: bool, detail: impl ToString) -> Self {
        let mut detail = detail.to_string();
        if let Some((cut, _)) = detail.char_indices().nth(DETAIL_CHARS_MAX) {
            detail.truncate(cut);
        }
        Failure { kind, certain, detail }
    }

    /// The driver did not come back in time, before anything was sent.
    pub fn not_prepared(after: Duration) -> Self {
        Failure::new(Kind::Unavailable, true, format!("no statement could be prepared within {after:?}"))
    }

    /// An answer that cannot be read.
    pub fn unreadable(detail: impl ToString) -> Self {
        Failure::new(Kind::Engine, false, detail)
    }

    pub fn of_prepare(error: &PrepareError) -> Self {
        match error {
            PrepareError::AllAttemptsFailed { first_attempt } => {
                // A statement that was only prepared has written nothing, whatever became of it.
                Failure { certain: true, ..Failure::of_attempt(first_attempt) }
            }
            error @ PrepareError::PreparedStatementIdsMismatch => Failure::new(Kind::Engine, true, error),
            error => Failure::new(Kind::Unavailable, true, error),
        }
    }

    pub fn of(error: &ExecutionError) -> Self {
        match error {
            ExecutionError::BadQuery(e) => Failure::new(Kind::Engine, true, e),
            ExecutionError::PrepareError(e) => Failure::of_prepare(e),
            ExecutionError::EmptyPlan | ExecutionError::ConnectionPoolError(_) => {
                Failure::new(Kind::Unavailable, true, error)
            }
            ExecutionError::LastAttemptError(e) => Failure::of_attempt(e),
            ExecutionError::RequestTimeout(_) => Failure::new(Kind::TimedOut, false, error),
            other => Failure::new(Kind::Engine, false, other),
        }
    }

    /// RACE: a lightweight transaction looks for live replicas twice. Before it proposes, the server speaks of the serial
    /// level; afterwards, when the transaction may well be decided, of the level of the commit.
    pub fn of_transaction(error: &ExecutionError) -> Self {
        let early = match error {
            ExecutionError::LastAttemptError(RequestAttemptError::DbError(
                DbError::Unavailable { consistency, .. },
                _,
            )) => {
                matches!(consistency, Consistency::Serial | Consistency::LocalSerial)
            }
            _ => true,
        };
        let failure = Failure::of(error);
        let certain = failure.certain && early;
        failure.with_certainty(certain)
    }

    fn of_attempt(error: &RequestAttemptError) -> Self {
        let (kind, certain) = match error {
            RequestAttemptError::SerializationError(_) | RequestAttemptError::CqlRequestSerialization(_) => {
                (Kind::Engine, true)
            }
            RequestAttemptError::UnableToAllocStreamId => (Kind::Throttled, true),
            RequestAttemptError::BrokenConnectionError(_) => (Kind::Unavailable, false),
            RequestAttemptError::DbError(error, message) => of_server(error, message),
            _ => (Kind::Engine, false),
        };
        Failure::new(kind, certain, error)
    }

    /// Whether the same request may succeed when it is sent again.
    pub fn is_transient(&self) -> bool {
        matches!(self.kind, Kind::Unavailable | Kind::Throttled | Kind::TimedOut | Kind::Unprepared)
    }

    /// Nothing was applied, and the statements must be prepared anew.
    pub fn is_unprepared(&self) -> bool {
        self.kind == Kind::Unprepared
    }

    pub fn is_certain(&self) -> bool {
        self.certain
    }

    pub fn with_certainty(self, certain: bool) -> Self {
        Failure { certain, ..self }
    }

    /// For requests that change nothing, and for those that certainly did not.
    pub fn into_error(self, table: &Table, after: Duration) -> Error {
        match self.kind {
            Kind::Unavailable | Kind::Unprepared => Error::Unavailable { detail: self.detail },
            Kind::Throttled => Error::Throttled { detail: self.detail },
            Kind::TimedOut => Error::TimedOut { after, detail: self.detail },
            Kind::Missing => Error::Schema(SchemaError::Missing { table: table.name.clone() }),
            // The server's limit is lower than ours; by how much it does not say.
            Kind::TooLarge => batch_too_large(super::write::BATCH_BYTES_MAX + 1),
            Kind::Engine => Error::Engine { detail: self.detail },
        }
    }

    /// For reads and changes of the schema, where nothing is missing that could be named.
    pub fn into_schema_error(self, after: Duration) -> Error {
        match self.kind {
            Kind::Unavailable | Kind::Unprepared => Error::Unavailable { detail: self.detail },
            Kind::Throttled => Error::Throttled { detail: self.detail },
            Kind::TimedOut => Error::TimedOut { after, detail: self.detail },
            Kind::Missing | Kind::TooLarge | Kind::Engine => Error::Engine { detail: self.detail },
        }
    }

    /// For a commit's writes.
    pub fn into_write_error(self, id: Uuid, table: &Table, after: Duration) -> Error {
        if self.certain { self.into_error(table, after) } else { Error::Indeterminate { id, detail: self.detail } }
    }

    /// For adds to counters, which must not be repeated if they may have been counted.
    pub fn into_add_error(self, others_added: bool, table: &Table, after: Duration) -> Error {
        if self.certain && !others_added {
            self.into_error(table, after)
        } else {
            Error::TimedOut { after, detail: self.detail }
        }
    }
}

pub(super) fn batch_too_large(size: usize) -> Error {
    Error::TooLarge {
        what: "a batch of several partitions, in bytes".into(),
        size,
        limit: super::write::BATCH_BYTES_MAX,
    }
}

/// What the server's own errors mean, and whether they rule out that something was applied.
fn of_server(error: &DbError, message: &str) -> (Kind, bool) {
    match error {
        DbError::Unavailable { .. } | DbError::IsBootstrapping => (Kind::Unavailable, true),
        // Too many hints in flight is found out replica by replica, when others have the write already.
        DbError::Overloaded => (Kind::Throttled, false),
        DbError::RateLimitReached { rejected_by_coordinator, .. } => (Kind::Throttled, *rejected_by_coordinator),
        DbError::ReadTimeout { .. } | DbError::WriteTimeout { .. } => (Kind::TimedOut, false),
        DbError::Invalid if message.contains("does not exist") || message.contains("unconfigured table") => {
            (Kind::Missing, true)
        }
        DbError::Invalid if message.contains("Batch too large") => (Kind::TooLarge, true),
        DbError::SyntaxError
        | DbError::Invalid
        | DbError::AlreadyExists { .. }
        | DbError::AuthenticationError
        | DbError::Unauthorized
        | DbError::ConfigError
        | DbError::ProtocolError => (Kind::Engine, true),
        DbError::Unprepared { .. } => (Kind::Unprepared, true),
        _ => (Kind::Engine, false),
    }
}

/// No session, no engine. Credentials are in none of the driver's texts.
pub(super) fn of_connect(error: &NewSessionError) -> Error {
    match error {
        NewSessionError::EmptyKnownNodesList | NewSessionError::IllegalConfig(_) => {
            Error::invalid("cassandra", error.to_string())
        }
        NewSessionError::MetadataError(MetadataError::ConnectionPoolError(ConnectionPoolError::Broken {
            last_connection_error: ConnectionError::ConnectionSetupRequestError(refused),
        })) if matches!(
            refused.get_error(),
            Setup::DbError(DbError::AuthenticationError, _) | Setup::MissingAuthentication
        ) =>
        {
            // To try later would not help.
            Error::invalid("cassandra", "the server does not accept the user and password")
        }
        error => Error::unavailable(Failure::new(Kind::Unavailable, true, error).detail),
    }
}
