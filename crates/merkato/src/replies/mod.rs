//! Answers that are kept under an idempotency key, so that a request which is made again is answered and not done again.
//!
//! It knows no request: it has a scope (whose key it is and for what), a key, and a fingerprint that says what was asked. Which
//! answers are worth keeping is the caller's business; answers with secrets in them are not.
//!
//! 1. Under one scope and key there is one request: another fingerprint is told so, as long as the key is remembered.
//! 2. One runs at a time. Who begins has the key for the time of a lease; whoever comes after it takes it over.
//! 3. A ticket that was taken over can neither keep nor forget anything.
//! 4. So the operation behind a key must itself be safe to repeat: one whose lease is over may still be running beside the one
//!    who took over, and one whose process died may have had its effect. Those of the domain are, by ids and guards of their
//!    own; this module saves them the work and gives the same answer twice.
//! 5. Everything goes by itself after a day (a setting). Until then an answer may hold what is personal, under a hash that
//!    leads back to nobody.

mod error;
mod ops;
mod rules;
mod tables;
#[cfg(test)]
mod tests;

pub use error::Error;
pub use ops::{Begun, Ticket, begin, forget, keep};
pub use rules::Reply;
pub(crate) use tables::tables;
pub use tables::{ReplyHeader, ReplyRow, ReplyState};

use crate::pattern::{AccessPattern, Amount, ReadCost};

pub const PATTERNS: &[AccessPattern] = &[AccessPattern {
    name: "reply",
    question: "What was answered under an idempotency key",
    table: "replies",
    key: "key_hash = ?",
    // On DynamoDB with the partition's bookkeeping.
    cost: ReadCost { partitions: Amount::of(2), rows: Amount::of(2), requests: Amount::of(2) },
}];
