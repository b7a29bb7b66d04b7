//! Products and categories, and every way in which they are found.
//!
//! It is not the stock (whether a product is in stock is told to it), and no search engine: names are found by their words and
//! the beginnings of these, without ranks and other forms of a word.
//!
//! 1. A slug belongs to one product, under any race (`claims`).
//! 2. A product is shown, in its category and all above it, in five orders, while it is active, and nowhere when it is not.
//! 3. Every list that shows a product's name or price shows the present one: lists are derived in the commit of the change.
//! 4. A category is a node of the tree `categories` (`hierarchy`), and of nothing else: its place, its name and its address are
//!    changed in commits of that tree. A subtree is moved at one instant; the lists of products follow it (`ops::follow`).
//!    It goes when nothing is in it, and a product that comes at the same moment brings it back (`ops::delete`).
//! 5. Of two editors who began at the same revision, the second is told (`Error::Edited`).

mod category;
mod choices;
mod error;
mod ops;
mod order;
mod prefix;
mod rules;
mod tables;
#[cfg(test)]
mod tests;
mod words;

pub use category::{Category, Subcategories, Subcategory};
pub use choices::Choice;
pub use error::Error;
pub use ops::*;
pub use order::SortOrder;
pub use rules::{NewProduct, PRICE, PriceChange, ProductChange, prices_of};
pub(crate) use tables::tables;
pub use tables::{
    CategoryEntry, CategoryMember, FeatureMember, FeaturedProduct, NamedItem, Placement, PrefixEntry, Product,
    ProductEntry, ProductStatus,
};

use crate::{
    limits,
    pattern::{AccessPattern, Amount, ReadCost},
    shards,
};

const RELATED: ReadCost = ReadCost {
    partitions: Amount::of(3).and_per_row(1),
    rows: Amount::of(3).and_per_row(4),
    requests: Amount::of(3).and_per_row(1),
};

/// A node of the tree. On DynamoDB the state of the tree is an item beside it, which comes along in the same request.
const CATEGORY: ReadCost = ReadCost { partitions: Amount::of(1), rows: Amount::of(2), requests: Amount::of(1) };

pub const PATTERNS: &[AccessPattern] = &[
    AccessPattern {
        name: "Q1",
        question: "Everything about one product; also named-carts Q2",
        table: "products",
        key: "product_id = ?",
        cost: ReadCost::ROW,
    },
    AccessPattern {
        name: "price history",
        question: "The prices that a product came to have, the newest first",
        table: "products, event_log",
        key: "product_id = ?; aggregate_id = ? AND block = ? AND event_version <= ?",
        cost: ReadCost { partitions: Amount::of(3), rows: Amount::of(3).and_per_row(1), requests: Amount::of(3) },
    },
    AccessPattern {
        name: "Q1 by slug",
        question: "Everything about the product at an address",
        table: "claims, products",
        key: "kind = 'product_slug' AND name = ?, then product_id = ?",
        cost: ReadCost::ROW.then(ReadCost::ROW),
    },
    AccessPattern {
        name: "Q2",
        question: "A page of a category's products in one of five orders",
        table: "products_by_category",
        key: "category_id = ? AND sort_key >= 'price_asc:' AND sort_key < 'price_asc;'",
        cost: ReadCost::PAGE,
    },
    AccessPattern {
        name: "Q3",
        question: "Products of whose names a word begins with what was typed",
        table: "products_by_name_prefix",
        key: "name_prefix = ? AND name_lower >= ?",
        cost: ReadCost { partitions: Amount::of(1), rows: Amount::of(1).and_per_row(3), requests: Amount::of(1) },
    },
    AccessPattern {
        name: "Q3 by words",
        question: "Products whose names have all of several words, in any order",
        table: "products_by_name_prefix",
        key: "name_prefix = ? AND name_lower >= ?, by one of the words",
        cost: ops::SEARCH_TEXT,
    },
    AccessPattern {
        name: "Q4",
        question: "A list for the front page",
        table: "featured_products",
        key: "feature_type = ?",
        cost: ReadCost::PAGE,
    },
    AccessPattern {
        name: "Q5",
        question: "Products that go with one, the best first",
        table: "products, related_products, products_by_category",
        key: "product_id = ?, then the related ones, then category_id = ? AND sort_key >= 'popular:'",
        cost: RELATED,
    },
    AccessPattern {
        name: "named-carts Q3",
        question: "Products with exactly this name",
        table: "items_by_name",
        key: "name = ?",
        cost: ReadCost::PAGE,
    },
    AccessPattern {
        name: "category",
        question: "One category",
        table: "org_hierarchy",
        key: "org_id = ? AND node_id = ?",
        cost: CATEGORY,
    },
    AccessPattern {
        name: "category by slug",
        question: "The category at an address",
        table: "org_hierarchy",
        key: "org_id = ? AND node_id = ? by the slug, then node_id = ?",
        cost: CATEGORY.then(CATEGORY),
    },
    AccessPattern {
        name: "subcategories",
        question: "The categories right below one, by name",
        table: "org_relationships",
        key: "org_id = ? AND ancestor_id = ? AND relationship_depth = 1",
        cost: ReadCost::PAGE,
    },
    AccessPattern {
        name: "breadcrumbs",
        question: "The categories above one",
        table: "org_hierarchy",
        key: "org_id = ? AND node_id = ?, for each",
        cost: ReadCost {
            partitions: Amount::of(0).and_per_row(1),
            rows: Amount::of(0).and_per_row(2),
            requests: Amount::of(0).and_per_row(1),
        },
    },
    AccessPattern {
        name: "products of category",
        question: "The products whose own category this is, shown or not",
        table: "products_of_category",
        key: "category_id = ?",
        cost: ReadCost::PAGE,
    },
    AccessPattern {
        name: "products by age",
        question: "The products of a shop, newest first, shown or not",
        table: "products_by_age",
        key: "shard = ?, for each of 4",
        cost: shards::page_cost(limits::PRODUCT_SHARDS),
    },
];
