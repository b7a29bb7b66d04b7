//! What the catalog refuses.

use crate::{
    check::Invalid,
    error::Kind,
    id::{CategoryId, ProductId},
};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error("there is no product {product}")]
    ProductNotFound { product: ProductId },
    #[error("there is no product with the slug {slug}")]
    SlugNotFound { slug: String },
    #[error("there is no category {category}")]
    CategoryNotFound { category: CategoryId },
    #[error("another one has the slug {slug}")]
    SlugTaken { slug: String },
    #[error("there is a product {product} already")]
    ProductExists { product: ProductId },
    #[error("there is a category {category} already")]
    CategoryExists { category: CategoryId },
    #[error("{product} was edited meanwhile: it is at revision {found}, not {expected}")]
    Edited { product: ProductId, expected: i64, found: i64 },
    #[error("the category was edited meanwhile: it is at revision {found}, not {expected}")]
    CategoryEdited { category: CategoryId, expected: i64, found: i64 },
    #[error("{limit} products have the name already")]
    TooManyOfName { limit: usize },
    #[error("categories are at most {limit} deep")]
    TooDeep { limit: usize },
    #[error(transparent)]
    Data(#[from] widerow::Error),
}

impl Error {
    pub fn code(&self) -> &'static str {
        match self {
            Error::Invalid(_) => "invalid",
            Error::ProductNotFound { .. } | Error::SlugNotFound { .. } => "product_not_found",
            Error::CategoryNotFound { .. } => "category_not_found",
            Error::SlugTaken { .. } => "slug_taken",
            Error::ProductExists { .. } => "product_exists",
            Error::CategoryExists { .. } => "category_exists",
            Error::Edited { .. } | Error::CategoryEdited { .. } => "edited_meanwhile",
            Error::TooManyOfName { .. } => "too_many_of_name",
            Error::TooDeep { .. } => "category_too_deep",
            Error::Data(_) => "data",
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Error::Invalid(_) => Kind::Invalid,
            Error::ProductNotFound { .. } | Error::SlugNotFound { .. } | Error::CategoryNotFound { .. } => {
                Kind::NotFound
            }
            Error::SlugTaken { .. } | Error::ProductExists { .. } | Error::CategoryExists { .. } => Kind::Exists,
            Error::Edited { .. } | Error::CategoryEdited { .. } => Kind::Conflict,
            Error::TooManyOfName { .. } | Error::TooDeep { .. } => Kind::Limit,
            Error::Data(error) => Kind::of(error),
        }
    }
}
