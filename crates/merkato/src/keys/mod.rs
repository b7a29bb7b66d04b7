//! Keys by which programs prove who they are and what they may do.
//!
//! It does not decide which request needs which [`Scope`]; that is the server's business. A key belongs to one tenant, and its
//! token says which, so that a request needs nothing else to be known.
//!
//! 1. A token is shown once, when its key is made. Only the hash of its secret is kept, and compared in constant time.
//! 2. A key that is unknown, wrong, revoked, at its end, or another tenant's is no key: `find` tells none from the other.
//! 3. `api_keys` decides; `api_keys_by_age` is derived and never written.
//! 4. What is revoked stays so, under any race: a use that is noted late does not bring the key back.
//! 5. Asking whose a token is costs one read. When it was last used is written by `note_use`, which is called after the
//!    answer, and asks for nothing unless an hour (a setting) has passed.

mod error;
mod ops;
mod rules;
mod tables;
#[cfg(test)]
mod tests;
mod token;

pub use error::Error;
pub use ops::{Created, create, find, get_key, list, note_use, revoke};
pub use rules::NewKey;
pub(crate) use tables::tables;
pub use tables::{ApiKey, KeyEntry, Scope, SecretHash};
pub use token::Token;

use crate::pattern::{AccessPattern, Amount, ReadCost};

pub const PATTERNS: &[AccessPattern] = &[
    AccessPattern {
        name: "key",
        question: "Whose a program's token is, and what it may do",
        table: "api_keys",
        key: "key_id = ?",
        cost: ReadCost::ROW,
    },
    AccessPattern {
        name: "keys",
        question: "The keys of a shop, newest first",
        table: "api_keys_by_age",
        key: "shard = 0",
        // DynamoDB reads again the row behind which a page goes on.
        cost: ReadCost { rows: Amount::of(2).and_per_row(1), ..ReadCost::PAGE },
    },
];
