//! What was sold at which price, for whoever decides about prices: by product, by category, by brand, with the embeddings of
//! what was sold.
//!
//! It knows no orders and no catalog: sales are told to it, by the shop's own flow and by others. On DynamoDB its table is that
//! of the document, to the byte, and other tools write it too: nothing here rests on being the only writer.
//!
//! 1. What a tenant asks for is answered from its own rows: the tenant is in every key, no value can hold the character that
//!    parts keys, and a cursor is good for the tenant that it was made for.
//! 2. A record that has ended is in no answer, whether or not the engine has swept it.
//! 3. A hit of an index is shown as its record is now, and only while the record says what the index says: none comes twice.
//! 4. Of a batch, every sale has an answer of its own, and a bad one takes no other along.
//! 5. A sale of the shop's own has the id of its order and line: recorded again, it is the same record.

mod error;
pub mod figures;
mod merge;
mod ops;
mod record;
pub mod retention;
mod season;
pub mod shards;
mod stats;
mod tables;
#[cfg(test)]
mod tests;

pub use error::{Error, Result};
pub use ops::*;
pub use record::{NewSale, Prepared, parse_date, prepare};
pub use season::{Hemisphere, NotASeason, Season};
pub(crate) use stats::Tally;
pub use stats::{Asked, SaleStats, stats};
pub(crate) use tables::tables;
pub use tables::{
    BrandSale, CategorySale, EmbeddingSale, Followed, NameKind, PaddedPrice, RecordedOrder, SaleName, SaleRecord,
    SaleVector, VECTOR_SHARDS,
};

use crate::pattern::{AccessPattern, Amount, ReadCost};

/// Ten shards, a piece of each, perhaps a second; and the records of the hits, a hundred a request on DynamoDB.
const TRENDS: ReadCost = ReadCost {
    partitions: Amount::of(10).and_per_row(12),
    rows: Amount::of(40).and_per_row(4),
    requests: Amount::of(11).and_per_row(11),
};

/// One partition of hits, and their records.
const COMPLETED: ReadCost = ReadCost {
    partitions: Amount::of(1).and_per_row(1),
    rows: Amount::of(2).and_per_row(2),
    requests: Amount::of(2).and_per_row(1),
};

pub const PATTERNS: &[AccessPattern] = &[
    AccessPattern {
        name: "S1",
        question: "One sale",
        table: "sales_intelligence",
        key: "productId = ? AND saleDate = ? AND saleId = ?",
        cost: ReadCost::ROW,
    },
    AccessPattern {
        name: "S2",
        question: "The sales of a product between two days",
        table: "sales_intelligence",
        key: "productId = ? AND saleDate >= ? AND saleDate <= ?",
        cost: ReadCost::PAGE,
    },
    AccessPattern {
        name: "S3",
        question: "The sales of a category between two days, by day and price; of one season",
        table: "sales_by_category, sales_intelligence",
        key: "category = ? AND categoryShard = 0 … 9 AND saleDate >= ? AND saleDate <= ?",
        cost: TRENDS,
    },
    AccessPattern {
        name: "S4",
        question: "The embeddings of a product between two days",
        table: "sales_by_embedding",
        key: "embeddingShard = ? AND saleDate >= ? AND saleDate <= ?, others' left out",
        cost: ReadCost { rows: Amount::of(5_001).and_per_row(1), requests: Amount::of(6), ..ReadCost::PAGE },
    },
    AccessPattern {
        name: "S5",
        question: "The sales of a brand between two days, by day and price",
        table: "sales_by_brand, sales_intelligence",
        key: "brand = ? AND saleDate >= ? AND saleDate <= ?",
        cost: COMPLETED,
    },
    AccessPattern {
        name: "S6",
        question: "The categories, or the brands, that sales name, by name",
        table: "sale_names",
        key: "kind = ?",
        cost: ReadCost::PAGE,
    },
];
