//! Secrets that all processes of a shop share, made on first use: what cursors and forms are signed with.
//!
//! 1. A name has one secret, for good, under any race: of two processes that make it one is first, and both get its.
//! 2. A secret is one tenant's. Whoever wants one for several tenants asks for it as one of them; with one for each, what was
//!    signed for one tenant is nothing to another.

use widerow::{Cell, Commit, Row, Schema, Timestamp};

use crate::{
    check::{Check, Invalid},
    context::Context,
    error::Kind,
    limits,
    pattern::{AccessPattern, ReadCost},
};

const SECRET_BYTES: usize = 32;

/// A log is no place for it.
#[derive(Cell, Clone, PartialEq, Eq)]
struct Bytes(Vec<u8>);

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bytes(…)")
    }
}

/// A secret by its name. One row a partition, never changed.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "secrets", partition(name), guarded, read = Quorum, write = Quorum)]
struct SecretRow {
    name: String,
    bytes: Bytes,
    created_at: Timestamp,
}

pub(crate) fn tables(schema: Schema) -> Schema {
    schema.table::<SecretRow>()
}

pub const PATTERNS: &[AccessPattern] = &[AccessPattern {
    name: "secret",
    question: "What the processes of a shop sign with",
    table: "secrets",
    key: "name = ?",
    cost: ReadCost::ROW,
}];

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error(transparent)]
    Data(#[from] widerow::Error),
}

impl Error {
    pub fn code(&self) -> &'static str {
        match self {
            Error::Invalid(_) => "invalid",
            Error::Data(_) => "data",
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Error::Invalid(_) => Kind::Invalid,
            Error::Data(error) => Kind::of(error),
        }
    }
}

/// The secret of this name; made now, if there is none. To be asked for once by a process, and kept in its memory.
pub async fn get_or_make(ctx: &Context, name: &str) -> Result<[u8; SECRET_BYTES]> {
    let mut check = Check::new();
    check.line("name", name, 1..=limits::LINE_BYTES_MAX);
    check.end()?;
    if let Some(found) = ctx.store.get::<SecretRow>(name.to_owned()).await? {
        return bytes_of(&found);
    }
    let new =
        SecretRow { name: name.to_owned(), bytes: Bytes(ctx.random::<SECRET_BYTES>().to_vec()), created_at: ctx.now() };
    ctx.store
        .guarded::<SecretRow, _, Error>(name.to_owned(), |found| match found.rows.first() {
            Some(found) => Ok((Commit::new(), bytes_of(found)?)),
            None => Ok((Commit::new().put(&new), bytes_of(&new)?)),
        })
        .await
}

fn bytes_of(row: &SecretRow) -> Result<[u8; SECRET_BYTES]> {
    let corrupt = |_| widerow::Error::corrupt("secrets", format!("{} has not {SECRET_BYTES} bytes", row.name));
    Ok(row.bytes.0.as_slice().try_into().map_err(corrupt)?)
}
