//! The one place where DynamoDB's and the SDK's failures are sorted, and where requests are repeated.
//!
//! Invariants: the SDK itself repeats nothing, so that every request is counted and every repetition is deliberate; a
//! request that may have been executed is only sent again if that changes nothing; no call outlives its time limit.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use uuid::Uuid;

use crate::{
    error::{Error, Result, SchemaError},
    meter,
};

/// When a request may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Also when it may have been executed: reads, and transactions under a token.
    Always,
    /// Only when it certainly was not executed.
    IfNotExecuted,
    Never,
}

/// Why a request failed, sorted by whether it was executed.
#[derive(Debug)]
pub enum Trouble<E> {
    /// Not executed: too many requests.
    Throttled(String),
    /// Not executed: nobody is there.
    Unreachable(String),
    /// Nobody knows: no answer in time.
    Lost { after: Duration, detail: String },
    /// Nobody knows: the engine failed or hung up.
    Failed { after: Duration, detail: String },
    /// Not executed: the engine said why.
    Refused(E),
    /// Not sent, or answered with what cannot be understood.
    Odd(String),
}

const TRIES_MAX: u32 = 8;
/// An address where nobody listens is not asked for long: the answer comes at once each time.
const UNREACHABLE_TRIES_MAX: u32 = 3;

/// Sends a request until it succeeds, cannot be sent again, or the time is over. Charges one round trip for each sending.
pub async fn call<T, E, F>(limit: Duration, repeat: Repeat, send: impl Fn() -> F) -> Result<T, Trouble<E>>
where
    F: Future<Output = Result<T, SdkError<E>>>,
    E: ProvideErrorMetadata + std::error::Error + 'static,
{
    let start = Instant::now();
    let mut tries = 0;
    let mut lost: Option<(Duration, String)> = None;
    loop {
        tries += 1;
        meter::charge_sending(tries);
        let left = limit.saturating_sub(start.elapsed());
        let trouble = match tokio::time::timeout(left, send()).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => sort(error, start),
            Err(_) => return Err(Trouble::Lost { after: start.elapsed(), detail: "no answer".into() }),
        };
        let again = match (&trouble, repeat) {
            (_, Repeat::Never) | (Trouble::Refused(_) | Trouble::Odd(_), _) => false,
            (Trouble::Throttled(_), _) => tries < TRIES_MAX,
            (Trouble::Unreachable(_), _) => tries < UNREACHABLE_TRIES_MAX,
            (Trouble::Lost { .. } | Trouble::Failed { .. }, repeat) => repeat == Repeat::Always && tries < TRIES_MAX,
        };
        if let Trouble::Lost { after, detail } | Trouble::Failed { after, detail } = &trouble {
            lost = Some((*after, detail.clone()));
        }
        let pause = backoff(tries);
        let in_time = match lost {
            Some(_) => start.elapsed() + pause < limit,
            None => time_for_another(start, pause, limit),
        };
        if !again || !in_time {
            // Once an answer was lost, that a later sending was not executed says nothing about the first.
            return Err(match (trouble, lost) {
                (Trouble::Throttled(_) | Trouble::Unreachable(_), Some((after, detail))) => {
                    Trouble::Lost { after, detail }
                }
                (trouble, _) => trouble,
            });
        }
        tracing::debug!(?trouble, tries, "a request to DynamoDB is sent again");
        tokio::time::sleep(pause).await;
    }
}

/// Whether a request that certainly was not executed may be sent once more after this pause: while it would have half of
/// the time for its answer. One that begins with less would turn what is certain into what nobody knows.
pub fn time_for_another(start: Instant, pause: Duration, limit: Duration) -> bool {
    start.elapsed() + pause < limit / 2
}

/// Full jitter: anything up to a bound that doubles, so that writers that collided do not collide again.
pub fn backoff(tries: u32) -> Duration {
    let bound = 25u64 << tries.min(6);
    Duration::from_millis(rand::random_range(bound / 4..=bound))
}

fn sort<E>(error: SdkError<E>, start: Instant) -> Trouble<E>
where
    E: ProvideErrorMetadata + std::error::Error + 'static,
{
    let after = start.elapsed();
    match error {
        SdkError::ServiceError(service) => {
            let status = service.raw().status();
            let error = service.into_err();
            let detail = described(&error);
            match error.code().unwrap_or_default() {
                "ProvisionedThroughputExceededException"
                | "RequestLimitExceeded"
                | "ThrottlingException"
                | "LimitExceededException"
                // Single requests that meet a transaction on the same item are turned away.
                | "TransactionConflictException"
                | "ReplicatedWriteConflictException" => Trouble::Throttled(detail),
                // The token's first request is still running: ask again, as after a lost answer.
                "TransactionInProgressException" => Trouble::Lost { after, detail },
                _ if status.is_server_error() => Trouble::Failed { after, detail },
                "" => Trouble::Odd(format!("status {status} from what does not speak DynamoDB's protocol")),
                _ => Trouble::Refused(error),
            }
        }
        SdkError::DispatchFailure(failure) => {
            let connector = failure.as_connector_error();
            let detail = connector.map_or_else(|| "the request was not sent".into(), |c| chain(c));
            // Only the text tells whether a connection was made and whether there was anything to sign with; a
            // connection that closed while the answer was awaited is of no kind of its own.
            let unsent = detail.contains("(Connect)") || detail.contains("credential");
            if unsent || connector.is_some_and(|c| c.is_user()) {
                Trouble::Unreachable(detail)
            } else if connector.is_some_and(|c| c.is_timeout()) {
                Trouble::Lost { after, detail }
            } else {
                Trouble::Failed { after, detail }
            }
        }
        SdkError::TimeoutError(_) => Trouble::Lost { after, detail: chain(&error) },
        SdkError::ResponseError(_) => Trouble::Failed { after, detail: chain(&error) },
        other => Trouble::Odd(chain(&other)),
    }
}

fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        source = inner.source();
    }
    text
}

fn described<E: ProvideErrorMetadata + std::error::Error + 'static>(error: &E) -> String {
    match (error.code(), error.message()) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        (Some(code), None) => code.to_owned(),
        _ => error.source().map_or_else(|| error.to_string(), chain),
    }
}

impl<E: ProvideErrorMetadata + std::error::Error + 'static> Trouble<E> {
    pub fn of_read(self, table: &str) -> Error {
        match self {
            Trouble::Lost { after, detail } => Error::TimedOut { after, detail },
            Trouble::Failed { detail, .. } => Error::Unavailable { detail },
            other => other.certain(table),
        }
    }

    /// For a write that no commit stands behind: it may have happened, and nothing can tell later.
    pub fn of_add(self, table: &str) -> Error {
        match self {
            Trouble::Lost { after, detail } | Trouble::Failed { after, detail } => Error::TimedOut { after, detail },
            other => other.certain(table),
        }
    }

    /// For a write that knows its commit.
    pub fn of_commit(self, table: &str, id: Uuid) -> Error {
        match self {
            Trouble::Lost { detail, .. } | Trouble::Failed { detail, .. } => Error::Indeterminate { id, detail },
            other => other.certain(table),
        }
    }

    fn certain(self, table: &str) -> Error {
        match self {
            Trouble::Throttled(detail) => Error::Throttled { detail },
            Trouble::Unreachable(detail) => Error::Unavailable { detail },
            Trouble::Lost { after, detail } | Trouble::Failed { after, detail } => Error::TimedOut { after, detail },
            Trouble::Refused(error) if error.code() == Some("ResourceNotFoundException") => {
                SchemaError::Missing { table: table.to_owned() }.into()
            }
            Trouble::Refused(error) => Error::Engine { detail: described(&error) },
            Trouble::Odd(detail) => Error::Engine { detail },
        }
    }
}
