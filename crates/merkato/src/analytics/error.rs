//! What analytics refuses.

use widerow::Date;

use crate::{
    check::Invalid,
    combine,
    error::Kind,
    id::{CategoryId, OrderId},
    money::Currency,
};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// An order has one currency for good.
    #[error("currency: the order {order} was counted in {counted}, not in {found}")]
    OtherCurrency { order: OrderId, counted: Currency, found: Currency },
    #[error("the sales of the category {category} are over what can be counted")]
    TooMuch { category: CategoryId },
    /// Orders are counted so quickly that no look at the day finds it at rest.
    #[error("the sales of {date} change while they are looked at, try again later")]
    DayIsBusy { date: Date },
    /// Too many come at once.
    #[error(transparent)]
    Together(#[from] combine::Error),
    #[error(transparent)]
    Data(#[from] widerow::Error),
}

impl Error {
    pub fn code(&self) -> &'static str {
        match self {
            Error::Invalid(_) => "invalid",
            Error::OtherCurrency { .. } => "other_currency",
            Error::TooMuch { .. } => "too_much",
            Error::DayIsBusy { .. } => "day_is_busy",
            Error::Together(combine::Error::Data(_)) | Error::Data(_) => "data",
            Error::Together(_) => "busy",
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Error::Invalid(_) => Kind::Invalid,
            Error::OtherCurrency { .. } => Kind::Refused,
            Error::TooMuch { .. } => Kind::Limit,
            Error::DayIsBusy { .. } => Kind::Unavailable,
            Error::Together(error) => error.kind(),
            Error::Data(error) => Kind::of(error),
        }
    }
}
