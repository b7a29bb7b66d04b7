//! What wallets refuse.

use rust_decimal::Decimal;
use uuid::Uuid;

use crate::{check::Invalid, combine, error::Kind, events, money::Currency};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error("the wallet holds {balance}, {wanted} cannot be taken out")]
    InsufficientFunds { balance: Decimal, wanted: Decimal },
    #[error("the wallet is in {wallet}, the amount in {given}")]
    OtherCurrency { wallet: Currency, given: Currency },
    #[error("a wallet holds at most {limit}")]
    BalanceTooLarge { limit: Decimal },
    #[error("the operation {operation} was made already, and was another")]
    OperationReused { operation: Uuid },
    /// Somebody has given it up before it was made.
    #[error("the operation {operation} was given up")]
    OperationVoided { operation: Uuid },
    #[error("too many want the wallet at once, try again later")]
    Busy,
    #[error(transparent)]
    Events(events::Error),
    #[error(transparent)]
    Data(#[from] widerow::Error),
}

impl From<events::Error> for Error {
    fn from(error: events::Error) -> Self {
        match error {
            events::Error::Data(error) => Error::Data(error),
            events::Error::Busy { .. } => Error::Busy,
            error => Error::Events(error),
        }
    }
}

impl From<combine::Error> for Error {
    fn from(error: combine::Error) -> Self {
        match error {
            combine::Error::Busy { .. } => Error::Busy,
            combine::Error::Data(error) => Error::Data(error),
            stopped => Error::Data(widerow::Error::Indeterminate { id: Uuid::nil(), detail: stopped.to_string() }),
        }
    }
}

impl Error {
    pub fn code(&self) -> &'static str {
        match self {
            Error::Invalid(_) => "invalid",
            Error::InsufficientFunds { .. } => "insufficient_funds",
            Error::OtherCurrency { .. } => "wallet_other_currency",
            Error::BalanceTooLarge { .. } => "balance_too_large",
            Error::OperationReused { .. } => "operation_reused",
            Error::OperationVoided { .. } => "operation_voided",
            Error::Busy => "wallet_busy",
            Error::Events(error) => error.code(),
            Error::Data(_) => "data",
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Error::Invalid(_) => Kind::Invalid,
            Error::OperationReused { .. } => Kind::Invalid,
            Error::InsufficientFunds { .. } | Error::OtherCurrency { .. } | Error::OperationVoided { .. } => {
                Kind::Refused
            }
            Error::BalanceTooLarge { .. } => Kind::Limit,
            Error::Busy => Kind::Unavailable,
            Error::Events(error) => error.kind(),
            Error::Data(error) => Kind::of(error),
        }
    }

    /// Whether the wallet itself says no, whatever the circumstances.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Error::InsufficientFunds { .. }
                | Error::OtherCurrency { .. }
                | Error::BalanceTooLarge { .. }
                | Error::OperationVoided { .. }
        )
    }
}
