//! What the inventory refuses.

use widerow::Timestamp;

use crate::{
    check::Invalid,
    combine,
    error::Kind,
    id::{HoldId, MovementId, ProductId},
};

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A product of which there is less than was wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage {
    pub product: ProductId,
    pub wanted: i64,
    pub available: i64,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error("{}", describe(.short))]
    InsufficientStock { short: Vec<Shortage> },
    #[error("there is no hold {hold} on the product {product}")]
    HoldNotFound { product: ProductId, hold: HoldId },
    #[error("the hold {hold} is for {held} units, not for {wanted}")]
    HoldMismatch { hold: HoldId, held: i32, wanted: i32 },
    /// Its time is over, and where it was asked for, its units are no longer free.
    #[error("the hold {hold} ended at {ended_at}")]
    HoldEnded { hold: HoldId, ended_at: Timestamp },
    #[error("the hold {hold} was released")]
    HoldReleased { hold: HoldId },
    #[error("the hold {hold} was confirmed")]
    HoldConfirmed { hold: HoldId },
    #[error("the units of the hold {hold} were given back")]
    HoldReturned { hold: HoldId },
    #[error("the hold {hold} was not confirmed")]
    HoldNotConfirmed { hold: HoldId },
    #[error("{warehouse} has {quantity} units, {reserved} of them reserved: {wanted} cannot be taken away")]
    NotFree { warehouse: String, quantity: i32, reserved: i32, wanted: i32 },
    #[error("the movement {movement} was made already, and was another")]
    MovementMismatch { movement: MovementId },
    #[error("the product {product} has no stock in {warehouse}")]
    WarehouseNotFound { product: ProductId, warehouse: String },
    #[error("a product is in at most {limit} warehouses")]
    TooManyWarehouses { limit: usize },
    #[error("{warehouse} would come to {wanted} units, the limit is {limit}")]
    TooManyUnits { warehouse: String, wanted: i64, limit: i32 },
    /// Someone's edit rests on stock that is no more.
    #[error("the stock of {product} was changed meanwhile")]
    Changed { product: ProductId },
    #[error("too many want the product at once, try again later")]
    Busy,
    #[error(transparent)]
    Data(#[from] widerow::Error),
}

fn describe(short: &[Shortage]) -> String {
    let each = short.iter().map(|s| format!("{} of {} are available, not {}", s.available, s.product, s.wanted));
    each.collect::<Vec<_>>().join("; ")
}

impl From<combine::Error> for Error {
    fn from(error: combine::Error) -> Self {
        match error {
            combine::Error::Busy { .. } => Error::Busy,
            combine::Error::Data(error) => Error::Data(error),
            stopped => {
                Error::Data(widerow::Error::Indeterminate { id: uuid::Uuid::nil(), detail: stopped.to_string() })
            }
        }
    }
}

impl Error {
    pub fn code(&self) -> &'static str {
        match self {
            Error::Invalid(_) => "invalid",
            Error::InsufficientStock { .. } => "insufficient_stock",
            Error::HoldNotFound { .. } => "hold_not_found",
            Error::HoldMismatch { .. } => "hold_mismatch",
            Error::HoldEnded { .. } => "hold_ended",
            Error::HoldReleased { .. } => "hold_released",
            Error::HoldConfirmed { .. } => "hold_confirmed",
            Error::HoldReturned { .. } => "hold_returned",
            Error::HoldNotConfirmed { .. } => "hold_not_confirmed",
            Error::NotFree { .. } => "stock_not_free",
            Error::MovementMismatch { .. } => "movement_mismatch",
            Error::WarehouseNotFound { .. } => "warehouse_not_found",
            Error::TooManyWarehouses { .. } => "too_many_warehouses",
            Error::TooManyUnits { .. } => "too_many_units",
            Error::Changed { .. } => "changed_meanwhile",
            Error::Busy => "stock_busy",
            Error::Data(_) => "data",
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Error::Invalid(_) => Kind::Invalid,
            Error::HoldNotFound { .. } | Error::WarehouseNotFound { .. } => Kind::NotFound,
            Error::HoldMismatch { .. } | Error::MovementMismatch { .. } | Error::Changed { .. } => Kind::Conflict,
            Error::InsufficientStock { .. }
            | Error::HoldEnded { .. }
            | Error::HoldReleased { .. }
            | Error::HoldConfirmed { .. }
            | Error::HoldReturned { .. }
            | Error::HoldNotConfirmed { .. }
            | Error::NotFree { .. } => Kind::Refused,
            Error::TooManyWarehouses { .. } | Error::TooManyUnits { .. } => Kind::Limit,
            Error::Busy => Kind::Unavailable,
            Error::Data(error) => Kind::of(error),
        }
    }

    /// Whether the stock itself said no: nothing was changed, and asking again the same gets the same answer until something
    /// else changes.
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Error::Invalid(_) | Error::Busy | Error::Data(_))
    }
}
