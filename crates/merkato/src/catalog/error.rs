//! What the catalog refuses.

use super::tables::ProductStatus;
use crate::{
    check::Invalid,
    error::Kind,
    events, hierarchy,
    id::{CategoryId, NodeId, ProductId},
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
    #[error("another category there has the name {name}")]
    CategoryNameTaken { name: String, holder: CategoryId },
    #[error("{category} cannot stand below {parent}, which is itself or stands below it")]
    CategoryCycle { category: CategoryId, parent: CategoryId },
    #[error("{subcategories} categories stand below {category}")]
    CategoryHasSubcategories { category: CategoryId, subcategories: i64 },
    /// Shown or not: what is archived is in a category, too.
    #[error("there are products in {category}; one of them is {name} ({product}, {status})", status = status.as_str())]
    CategoryHasProducts { category: CategoryId, product: ProductId, name: String, status: ProductStatus },
    #[error("{product} was edited meanwhile: it is at revision {found}, not {expected}")]
    Edited { product: ProductId, expected: i64, found: i64 },
    #[error("the category was edited meanwhile: it is at revision {found}, not {expected}")]
    CategoryEdited { category: CategoryId, expected: i64, found: i64 },
    #[error("{limit} products have the name already")]
    TooManyOfName { limit: usize },
    #[error("categories are at most {limit} deep")]
    TooDeep { limit: usize },
    /// Of the tree of categories.
    #[error(transparent)]
    Tree(hierarchy::Error),
    #[error(transparent)]
    Events(#[from] events::Error),
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
            Error::CategoryNameTaken { .. } => "category_name_taken",
            Error::CategoryCycle { .. } => "category_cycle",
            Error::CategoryHasSubcategories { .. } => "category_has_subcategories",
            Error::CategoryHasProducts { .. } => "category_has_products",
            Error::Edited { .. } | Error::CategoryEdited { .. } => "edited_meanwhile",
            Error::TooManyOfName { .. } => "too_many_of_name",
            Error::TooDeep { .. } => "category_too_deep",
            Error::Tree(error) => error.code(),
            Error::Events(error) => error.code(),
            Error::Data(_) => "data",
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Error::Invalid(_) => Kind::Invalid,
            Error::ProductNotFound { .. } | Error::SlugNotFound { .. } | Error::CategoryNotFound { .. } => {
                Kind::NotFound
            }
            Error::SlugTaken { .. }
            | Error::ProductExists { .. }
            | Error::CategoryExists { .. }
            | Error::CategoryNameTaken { .. } => Kind::Exists,
            Error::CategoryCycle { .. }
            | Error::CategoryHasSubcategories { .. }
            | Error::CategoryHasProducts { .. } => Kind::Refused,
            Error::Edited { .. } | Error::CategoryEdited { .. } => Kind::Conflict,
            Error::TooManyOfName { .. } | Error::TooDeep { .. } => Kind::Limit,
            Error::Tree(error) => error.kind(),
            Error::Events(error) => error.kind(),
            Error::Data(error) => Kind::of(error),
        }
    }
}

/// What the tree of categories refuses, in the words of the catalog.
impl From<hierarchy::Error> for Error {
    fn from(error: hierarchy::Error) -> Self {
        use hierarchy::Error as Tree;
        let category = |node: NodeId| CategoryId(node.0);
        match error {
            Tree::Invalid(invalid) => Error::Invalid(invalid),
            Tree::NodeNotFound { node } | Tree::ParentNotFound { parent: node } => {
                Error::CategoryNotFound { category: category(node) }
            }
            Tree::NodeExists { node } => Error::CategoryExists { category: category(node) },
            Tree::NameTaken { name, holder } => Error::CategoryNameTaken { name, holder: category(holder) },
            Tree::CodeTaken { code, .. } => Error::SlugTaken { slug: code },
            Tree::Cycle { node, parent } => Error::CategoryCycle { category: category(node), parent: category(parent) },
            Tree::Edited { node, expected, found } => {
                Error::CategoryEdited { category: category(node), expected, found }
            }
            Tree::NotALeaf { node, children } => {
                Error::CategoryHasSubcategories { category: category(node), subcategories: children }
            }
            Tree::TooDeep { limit } => Error::TooDeep { limit },
            Tree::Data(error) => Error::Data(error),
            other => Error::Tree(other),
        }
    }
}
