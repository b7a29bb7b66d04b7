//! A bank's transactions as entries of wallets: each record is one deposit or one withdrawal.
//!
//! 1. A transaction is booked once: the source's own id is the operation's, so that the same source again changes nothing.
//! 2. The records of a day are booked together, what comes in before what goes out, as a bank does at the end of the day:
//!    few sources keep the order within one.
//! 3. A wallet is never below nought. A withdrawal that is not covered waits until the first day on which it is, and is told in
//!    a note; one that never is, is rejected.
//! 4. Where the source says what the balance was, the end of each day is compared with it (`Report::balances`).

mod fields;
mod ops;
mod read;

pub use fields::TransactionField;
pub use ops::{TransactionOptions, import_transactions};
