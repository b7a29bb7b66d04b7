//! The operations: load, decide, commit, answer.

mod decide;
mod money;
mod read;
mod restore;
mod verify;

pub(crate) use self::{
    decide::WalletWriter,
    money::{receive, send},
    read::has_paid,
};
pub use self::{
    money::{Fenced, Posted, Posting, deposit, fence, give_back, post, withdraw},
    read::{Statement, StatementLine, find_balance, find_operation, get_wallet, statement},
    restore::restore,
    verify::{WalletFault, WalletsVerified, verify_wallets},
};
