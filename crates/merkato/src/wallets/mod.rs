//! Wallets: money that the shop keeps for its customers, as store credit. What a wallet holds follows from its events.
//!
//! It knows no order and no provider of payments: `flows::checkout` takes store credit, `flows::reversal` gives it back,
//! `flows::transfer` moves it from one wallet to another.
//!
//! 1. A wallet is never below nought, whoever wants it at once (`rules::decide`, on one version of its stream).
//! 2. An operation is made once by its id, however often it is asked for; under one id there is one operation.
//! 3. One that is given up before it was made is never made (`fence`, `give_back`).
//! 4. Amounts are exact, in the decimals of the wallet's one currency, which the first deposit says.
//! 5. The balance that stands beside the stream is the sum of its entries (`verify_wallets`).

mod aggregate;
mod error;
mod ops;
mod projection;
mod rules;
mod tables;
#[cfg(test)]
mod tests;

pub use aggregate::WalletFold;
pub use error::{Error, Result};
pub use ops::*;
pub use projection::{BALANCES, Balances};
pub use rules::{Entry, EntryKind, KIND, Operation, Told, Wallet, event_of, return_of, stream_of};
pub use tables::UserBalance;
pub(crate) use tables::tables;

use crate::pattern::{AccessPattern, Amount, ReadCost};

pub const PATTERNS: &[AccessPattern] = &[
    AccessPattern {
        name: "E0 wallet",
        question: "What a user's wallet holds",
        table: "event_streams",
        key: "aggregate_id = ?",
        cost: ReadCost::ROW,
    },
    AccessPattern {
        name: "E1 wallet",
        question: "A wallet's statement, the newest entry first",
        table: "event_streams, event_log",
        key: "aggregate_id = ?; aggregate_id = ? AND block = ? AND event_version <= ?",
        cost: ReadCost { partitions: Amount::of(3), rows: Amount::of(3).and_per_row(1), requests: Amount::of(3) },
    },
    AccessPattern {
        name: "E10",
        question: "A user's balance as the feed has told it",
        table: "projection_checkpoints, user_balance_projection",
        key: "name = 'user_balance_projection'; user_id = ? AND generation = ?",
        cost: ReadCost::ROW.then(ReadCost::ROW),
    },
];
