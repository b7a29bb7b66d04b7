//! What carts refuse.

use crate::{
    check::Invalid,
    error::Kind,
    id::{CartId, LineId},
    money::Currency,
};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// It does not exist, or it is another's.
    #[error("there is no cart {cart}")]
    CartNotFound { cart: CartId },
    #[error("the cart {cart} was changed meanwhile")]
    Changed { cart: CartId },
    #[error("the cart has no line {line}")]
    LineNotFound { line: LineId },
    #[error("a user has at most {limit} carts")]
    TooManyCarts { limit: usize },
    #[error("a cart has at most {limit} lines")]
    TooManyLines { limit: usize },
    #[error("quantity: the line {line} would come to {wanted}, the limit is {limit}")]
    TooManyPieces { line: LineId, wanted: u64, limit: u32 },
    #[error("currency: the cart is in {cart}, the line in {found}")]
    OtherCurrency { cart: Currency, found: Currency },
    /// The token's cart went into a user's; a new guest takes a new token.
    #[error("the guest's cart was merged into a user's")]
    GuestCartMerged,
    #[error(transparent)]
    Data(#[from] widerow::Error),
}

impl Error {
    pub fn code(&self) -> &'static str {
        match self {
            Error::Invalid(_) => "invalid",
            Error::CartNotFound { .. } => "cart_not_found",
            Error::Changed { .. } => "changed_meanwhile",
            Error::LineNotFound { .. } => "line_not_found",
            Error::TooManyCarts { .. } => "too_many_carts",
            Error::TooManyLines { .. } => "too_many_lines",
            Error::TooManyPieces { .. } => "too_many_pieces",
            Error::OtherCurrency { .. } => "other_currency",
            Error::GuestCartMerged => "guest_cart_merged",
            Error::Data(_) => "data",
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Error::Invalid(_) => Kind::Invalid,
            Error::CartNotFound { .. } | Error::LineNotFound { .. } => Kind::NotFound,
            Error::Changed { .. } => Kind::Conflict,
            Error::TooManyCarts { .. } | Error::TooManyLines { .. } | Error::TooManyPieces { .. } => Kind::Limit,
            Error::OtherCurrency { .. } | Error::GuestCartMerged => Kind::Refused,
            Error::Data(error) => Kind::of(error),
        }
    }

    /// The field of the input that the cart as it is does not take.
    pub fn field(&self) -> Option<&str> {
        match self {
            Error::Invalid(invalid) => invalid.fields.first().map(|bad| bad.field.as_str()),
            Error::TooManyPieces { .. } => Some("quantity"),
            Error::OtherCurrency { .. } => Some("currency"),
            _ => None,
        }
    }
}
