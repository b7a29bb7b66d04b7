//! Products and categories, and every way in which they are found.
//!
//! It is not the stock (whether a product is in stock is told to it), and no full-text search: names are found by the
//! beginnings of their words.
//!
//! 1. A slug belongs to one product, under any race (`claims`).
//! 2. A product is shown, in its category and all above it, in five orders, while it is active, and nowhere when it is not.
//! 3. Every list that shows a product's name or price shows the present one: lists are derived in the commit of the change.
//! 4. Of two editors who began at the same revision, the second is told (`Error::Edited`).

mod error;
mod order;
mod prefix;
mod tables;

pub use error::Error;
pub use order::SortOrder;
pub(crate) use tables::tables;
pub use tables::{
    BoughtTogether, Category, CategoryEntry, CategoryMember, FeatureMember, FeaturedProduct, NamedItem, Placement,
    PrefixEntry, Product, ProductStatus, RelatedProduct, Subcategory,
};

use crate::pattern::AccessPattern;

pub const PATTERNS: &[AccessPattern] = &[];
