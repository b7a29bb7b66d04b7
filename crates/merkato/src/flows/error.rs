//! What a flow refuses: what its modules refuse, and what none of them can know alone.

use crate::{Kind, accounts, carts, catalog, id::ProductId, orders};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Catalog(#[from] catalog::Error),
    #[error(transparent)]
    Accounts(#[from] accounts::Error),
    #[error(transparent)]
    Carts(#[from] carts::Error),
    #[error(transparent)]
    Orders(#[from] orders::Error),
    #[error("the product {product} is not on sale")]
    NotOnSale { product: ProductId },
}

impl Error {
    pub fn code(&self) -> &'static str {
        match self {
            Error::Catalog(error) => error.code(),
            Error::Accounts(error) => error.code(),
            Error::Carts(error) => error.code(),
            Error::Orders(error) => error.code(),
            Error::NotOnSale { .. } => "not_on_sale",
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Error::Catalog(error) => error.kind(),
            Error::Accounts(error) => error.kind(),
            Error::Carts(error) => error.kind(),
            Error::Orders(error) => error.kind(),
            Error::NotOnSale { .. } => Kind::Refused,
        }
    }
}
