//! What a payment provider refuses.

use rust_decimal::Decimal;

use crate::error::Kind;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The payer's bank said no, for good under this key.
    #[error("the payment was declined: {reason}")]
    Declined { reason: String },
    /// No answer in time, or none yet. It may have happened: ask again with the same key.
    #[error("it is not known what became of the payment: {detail}")]
    Unknown { detail: String },
    /// Nothing happened; try later.
    #[error("the payment provider is unavailable")]
    Unavailable,
    /// The same key was used for another request.
    #[error("the key was used for another payment or amount")]
    Mismatch,
    #[error("there is no payment {payment_id}")]
    PaymentNotFound { payment_id: String },
    /// What was authorised was given up.
    #[error("the payment was voided")]
    Voided,
    /// The money was taken; it can be refunded.
    #[error("{amount} was captured already, as payment {payment_id}")]
    AlreadyCaptured { payment_id: String, amount: Decimal },
    /// More than there is to capture, or to give back.
    #[error("{wanted} was asked for, {available} is there")]
    OverAmount { wanted: Decimal, available: Decimal },
    /// Nothing, or less.
    #[error("the amount {amount} is not more than zero")]
    NoAmount { amount: Decimal },
}

impl Error {
    pub fn code(&self) -> &'static str {
        match self {
            Error::Declined { .. } => "payment_declined",
            Error::Unknown { .. } => "payment_unknown",
            Error::Unavailable => "payment_unavailable",
            Error::Mismatch => "payment_mismatch",
            Error::PaymentNotFound { .. } => "payment_not_found",
            Error::Voided => "payment_voided",
            Error::AlreadyCaptured { .. } => "payment_captured",
            Error::OverAmount { .. } => "payment_over_amount",
            Error::NoAmount { .. } => "payment_no_amount",
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Error::Unknown { .. } | Error::Unavailable => Kind::Unavailable,
            Error::Mismatch => Kind::Conflict,
            Error::PaymentNotFound { .. } => Kind::NotFound,
            Error::NoAmount { .. } => Kind::Invalid,
            Error::Declined { .. } | Error::Voided | Error::AlreadyCaptured { .. } | Error::OverAmount { .. } => {
                Kind::Refused
            }
        }
    }

    /// Whether asking again with the same key may give another answer.
    pub fn is_transient(&self) -> bool {
        self.kind() == Kind::Unavailable
    }
}
