//! Errors, sorted by what the caller can do about them.

use std::time::Duration;

use uuid::Uuid;

use crate::{commit::Conflict, value::Mismatch};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request makes no sense. Nothing was sent.
    #[error("{field}: {problem}")]
    Invalid { field: String, problem: String },
    /// The request is over a limit. Nothing was sent.
    #[error("{what} is {size}, the limit is {limit}")]
    TooLarge { what: String, size: usize, limit: usize },
    /// A guard did not hold. Nothing was written; the rows are as they are now.
    #[error("the guard on {} did not hold", .0.table)]
    Conflict(Box<Conflict>),
    /// Too many writers on one partition. Nothing was written; try later.
    #[error("{table}: the partition is too busy, after {tries} tries")]
    Contended { table: String, tries: u32 },
    /// The engine asks for fewer requests. Nothing was written; try later.
    #[error("the engine is throttling: {detail}")]
    Throttled { detail: String },
    /// The engine cannot be reached or has too few replicas. Nothing was written; try later.
    #[error("the engine is unavailable: {detail}")]
    Unavailable { detail: String },
    /// The engine did not say whether it happened. Ask again with the same commit id.
    #[error("it is not known whether commit {id} was applied: {detail}")]
    Indeterminate { id: Uuid, detail: String },
    /// The engine did not answer in time; for reads, and for adds to counters, which may have been counted.
    #[error("no answer within {after:?}: {detail}")]
    TimedOut { after: Duration, detail: String },
    /// What is stored cannot be what was written.
    #[error("{table} holds what cannot be read: {detail}")]
    Corrupt { table: String, detail: String },
    /// The folder belongs to another process.
    #[error("{folder} is in use by another process")]
    InUse { folder: String },
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The engine said something that no caller can act upon.
    #[error("the engine failed: {detail}")]
    Engine { detail: String },
}

impl Error {
    pub fn invalid(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Error::Invalid { field: field.into(), problem: problem.into() }
    }

    pub fn corrupt(table: impl Into<String>, detail: impl ToString) -> Self {
        Error::Corrupt { table: table.into(), detail: detail.to_string() }
    }

    pub fn unavailable(detail: impl ToString) -> Self {
        Error::Unavailable { detail: detail.to_string() }
    }

    pub fn mismatch(table: &str, mismatch: Mismatch) -> Self {
        Error::corrupt(table, mismatch)
    }

    /// Whether the same request may succeed if it is made again later.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Error::Contended { .. }
                | Error::Throttled { .. }
                | Error::Unavailable { .. }
                | Error::Indeterminate { .. }
                | Error::TimedOut { .. }
        )
    }

    /// Whether the request may have been applied although it failed.
    pub fn may_have_happened(&self) -> bool {
        matches!(self, Error::Indeterminate { .. } | Error::TimedOut { .. })
    }
}

/// A declaration that makes no sense, or one that the engine's tables contradict.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    #[error("table {table}: {problem}")]
    Declaration { table: String, problem: String },
    #[error(
        "table {base} has the derived table {derived} and must be declared guarded: add `guarded` to its #[row(…)]"
    )]
    BaseNotGuarded { base: String, derived: String },
    #[error(
        "table {derived} is derived: it cannot be guarded, hold counters, have static columns or a time to live of its own (its rows end with their base)"
    )]
    DerivedNotPlain { derived: String },
    #[error("table {derived} is derived from two tables, whose commits nothing would order")]
    TwoBases { derived: String },
    #[error("table {table} is declared as an index but derived from nothing")]
    IndexOfNothing { table: String },
    #[error(
        "index {table}: column {column} is neither in the index's keys, nor in the base table's keys, nor projected"
    )]
    IndexColumn { table: String, column: String },
    #[error("the nested type {name} is declared twice, differently")]
    TwoTypes { name: String },
    #[error("table {table} is not there; migrate first")]
    Missing { table: String },
    #[error("table {table}, column {column}: {problem}; data would be lost")]
    Lossy { table: String, column: String, problem: String },
}
