//! What orders refuse.

use rust_decimal::Decimal;
use widerow::{Date, Timestamp};

use super::tables::OrderStatus;
use crate::{check::Invalid, error::Kind, events, id::OrderId, money::Currency};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error("there is no order {order}")]
    OrderNotFound { order: OrderId },
    #[error("there is another order {order} already, with the number {number}")]
    OrderExists { order: OrderId, number: String },
    #[error("another order has the number {number}, or is about to get it")]
    NumberTaken { number: String },
    #[error("an order that is {} does not become {}", .from.as_str(), .to.as_str())]
    IllegalTransition { from: OrderStatus, to: OrderStatus },
    #[error("the order {order} was changed meanwhile")]
    Changed { order: OrderId },
    #[error("orders are listed by status for {days} days; {date} is longer ago")]
    TooLongAgo { date: Date, days: i32 },
    #[error("amounts are at most {limit}")]
    AmountTooLarge { limit: Decimal },
    #[error("there is no shipping method {name}")]
    ShippingMethodNotFound { name: String },
    #[error("it is in {wanted}, the order in {found}")]
    OtherCurrency { wanted: Currency, found: Currency },
    #[error("there is no discount code {code}")]
    DiscountNotFound { code: String },
    #[error("there is a discount code {code} already")]
    DiscountExists { code: String },
    #[error("the discount code {code} is not taken any more")]
    DiscountDisabled { code: String },
    #[error("the discount code {code} is good from {from} on")]
    DiscountNotYet { code: String, from: Timestamp },
    #[error("the discount code {code} was good until {until}")]
    DiscountOver { code: String, until: Timestamp },
    #[error("the discount code {code} was used {limit} times, as often as it can be")]
    DiscountUsedUp { code: String, limit: i64 },
    #[error("the discount code {code} is for orders of {minimum} or more")]
    DiscountMinimum { code: String, minimum: Decimal },
    /// This checkout has given it up; a new one can redeem it.
    #[error("the discount code {code} was given back by this checkout")]
    DiscountGivenBack { code: String },
    #[error(transparent)]
    Events(#[from] events::Error),
    #[error(transparent)]
    Data(#[from] widerow::Error),
}

impl Error {
    pub fn code(&self) -> &'static str {
        match self {
            Error::Invalid(_) => "invalid",
            Error::OrderNotFound { .. } => "order_not_found",
            Error::OrderExists { .. } => "order_exists",
            Error::NumberTaken { .. } => "order_number_taken",
            Error::IllegalTransition { .. } => "illegal_transition",
            Error::Changed { .. } => "changed_meanwhile",
            Error::TooLongAgo { .. } => "too_long_ago",
            Error::AmountTooLarge { .. } => "amount_too_large",
            Error::ShippingMethodNotFound { .. } => "shipping_method_not_found",
            Error::OtherCurrency { .. } => "other_currency",
            Error::DiscountNotFound { .. } => "discount_not_found",
            Error::DiscountExists { .. } => "discount_exists",
            Error::DiscountDisabled { .. } => "discount_disabled",
            Error::DiscountNotYet { .. } => "discount_not_yet",
            Error::DiscountOver { .. } => "discount_over",
            Error::DiscountUsedUp { .. } => "discount_used_up",
            Error::DiscountMinimum { .. } => "discount_minimum",
            Error::DiscountGivenBack { .. } => "discount_given_back",
            Error::Events(error) => error.code(),
            Error::Data(_) => "data",
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Error::Invalid(_) => Kind::Invalid,
            Error::OrderNotFound { .. } | Error::ShippingMethodNotFound { .. } | Error::DiscountNotFound { .. } => {
                Kind::NotFound
            }
            Error::OrderExists { .. } | Error::NumberTaken { .. } | Error::DiscountExists { .. } => Kind::Exists,
            Error::Changed { .. } => Kind::Conflict,
            Error::AmountTooLarge { .. } => Kind::Limit,
            Error::IllegalTransition { .. }
            | Error::TooLongAgo { .. }
            | Error::OtherCurrency { .. }
            | Error::DiscountDisabled { .. }
            | Error::DiscountNotYet { .. }
            | Error::DiscountOver { .. }
            | Error::DiscountUsedUp { .. }
            | Error::DiscountMinimum { .. }
            | Error::DiscountGivenBack { .. } => Kind::Refused,
            Error::Events(error) => error.kind(),
            Error::Data(error) => Kind::of(error),
        }
    }
}
