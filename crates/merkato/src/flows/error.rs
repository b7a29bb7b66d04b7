//! What a flow refuses: what its modules refuse, and what none of them can know alone.

use rust_decimal::Decimal;
use uuid::Uuid;

use super::{
    checkout::{Failure, PriceChange},
    transfer::Refusal,
};
use crate::{
    Kind, accounts, analytics, carts, catalog,
    check::Invalid,
    graph,
    id::{CheckoutId, FlowId, ProductId},
    inventory, orders, payments, sales, wallets,
};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error(transparent)]
    Catalog(#[from] catalog::Error),
    #[error(transparent)]
    Accounts(#[from] accounts::Error),
    #[error(transparent)]
    Carts(#[from] carts::Error),
    #[error(transparent)]
    Inventory(#[from] inventory::Error),
    #[error(transparent)]
    Orders(#[from] orders::Error),
    #[error(transparent)]
    Payments(#[from] payments::Error),
    #[error(transparent)]
    Analytics(#[from] analytics::Error),
    #[error(transparent)]
    Sales(#[from] sales::Error),
    #[error(transparent)]
    Graph(#[from] graph::Error),
    #[error(transparent)]
    Wallets(#[from] wallets::Error),
    #[error(transparent)]
    Data(#[from] widerow::Error),
    #[error("the product {product} is not on sale")]
    NotOnSale { product: ProductId },
    #[error("the cart is empty")]
    EmptyCart,
    /// Nothing was held or charged. To agree, ask with the total as it is now.
    #[error("{} prices have changed since they were put into the cart", .changed.len())]
    PricesChanged { changed: Vec<PriceChange> },
    #[error("expected_total: {expected} was expected, it comes to {total}")]
    TotalChanged { expected: Decimal, total: Decimal, changed: Vec<PriceChange> },
    #[error("there is no checkout {checkout}")]
    CheckoutNotFound { checkout: CheckoutId },
    #[error("{failure}")]
    CheckoutFailed { checkout: CheckoutId, failure: Failure },
    #[error("{refusal}")]
    TransferRefused { transfer: Uuid, refusal: Refusal },
    /// Somebody has it at the moment; ask again for how it ended.
    #[error("it is being done, under {flow}")]
    FlowRunning { flow: FlowId },
    #[error("the key was used for another request")]
    OtherRequest { flow: FlowId },
    #[error("there is something else under {flow}")]
    FlowTaken { flow: FlowId },
    /// As if the process had ended there.
    #[error("it was stopped at {step}")]
    Stopped { step: &'static str },
}

impl Error {
    pub fn code(&self) -> &'static str {
        match self {
            Error::Invalid(_) => "invalid",
            Error::Catalog(error) => error.code(),
            Error::Accounts(error) => error.code(),
            Error::Carts(error) => error.code(),
            Error::Inventory(error) => error.code(),
            Error::Orders(error) => error.code(),
            Error::Payments(error) => error.code(),
            Error::Analytics(error) => error.code(),
            Error::Sales(error) => error.code(),
            Error::Graph(error) => error.code(),
            Error::Wallets(error) => error.code(),
            Error::Data(_) => "data",
            Error::NotOnSale { .. } => "not_on_sale",
            Error::EmptyCart => "cart_empty",
            Error::PricesChanged { .. } => "prices_changed",
            Error::TotalChanged { .. } => "total_changed",
            Error::CheckoutNotFound { .. } => "checkout_not_found",
            Error::CheckoutFailed { failure, .. } => failure.code(),
            Error::TransferRefused { .. } => "transfer_refused",
            Error::FlowRunning { .. } => "in_progress",
            Error::OtherRequest { .. } => "idempotency_key_reused",
            Error::FlowTaken { .. } => "flow_taken",
            Error::Stopped { .. } => "stopped",
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Error::Invalid(_) => Kind::Invalid,
            Error::Catalog(error) => error.kind(),
            Error::Accounts(error) => error.kind(),
            Error::Carts(error) => error.kind(),
            Error::Inventory(error) => error.kind(),
            Error::Orders(error) => error.kind(),
            Error::Payments(error) => error.kind(),
            Error::Analytics(error) => error.kind(),
            Error::Sales(error) => error.kind(),
            Error::Graph(error) => error.kind(),
            Error::Wallets(error) => error.kind(),
            Error::Data(error) => Kind::of(error),
            Error::CheckoutNotFound { .. } => Kind::NotFound,
            Error::FlowRunning { .. } => Kind::Conflict,
            Error::OtherRequest { .. } => Kind::Invalid,
            Error::NotOnSale { .. }
            | Error::EmptyCart
            | Error::PricesChanged { .. }
            | Error::TotalChanged { .. }
            | Error::CheckoutFailed { .. }
            | Error::TransferRefused { .. } => Kind::Refused,
            Error::FlowTaken { .. } => Kind::Internal,
            Error::Stopped { .. } => Kind::Unavailable,
        }
    }
}
