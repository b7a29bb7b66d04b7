//! What columns are to transactions.

use crate::flows::import::mapping::{Fields, Named};

/// What a column is to a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TransactionField {
    Id,
    /// Whose: a user's id, or the source's own name for the account.
    Account,
    Date,
    /// Whether money came in or went out.
    Type,
    Amount,
    /// What the account held afterwards.
    Balance,
    /// What it was for.
    Reason,
    /// It has no home, which is told once.
    Homeless,
    /// It is not wanted.
    LeftOut,
}

impl Fields for TransactionField {
    const NAMED: &'static [Named<Self>] = &[
        (TransactionField::Id, "id", &["transid", "transactionid", "operationid", "id"]),
        (TransactionField::Account, "account", &["accountid", "userid", "walletid", "account", "user"]),
        (TransactionField::Date, "date", &["bookedat", "date", "time", "timestamp"]),
        (TransactionField::Type, "type", &["type", "direction"]),
        (TransactionField::Amount, "amount", &["amount"]),
        (TransactionField::Balance, "balance", &["balance"]),
        (TransactionField::Reason, "reason", &["ksymbol", "reason", "purpose", "description"]),
    ];
    const ID: Self = TransactionField::Id;
    const NEEDED: &'static [Self] = &[
        TransactionField::Id,
        TransactionField::Account,
        TransactionField::Date,
        TransactionField::Type,
        TransactionField::Amount,
    ];
    const HOMELESS: Self = TransactionField::Homeless;
    const LEFT_OUT: Self = TransactionField::LeftOut;
}
