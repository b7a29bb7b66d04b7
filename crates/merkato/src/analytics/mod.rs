//! What was sold, what was looked at, and what does best.
//!
//! It knows no orders and no catalog: what an order adds to a day is told to it, again with every change of the order, and of
//! products it knows the ids. It is not a log of events: what happened is summed up, day by day (in UTC).
//!
//! 1. An order is counted in the sales of its day exactly once, as it is at the latest revision that was recorded, however
//!    often and in whichever order its revisions come. The day's totals and what each order has added to them are one guarded
//!    partition, written in the same commit.
//! 2. The totals of a day are the sums of what its orders have added (`verify_day`), and those are the day's orders
//!    (`rebuild_day`).
//! 3. A view that was written is counted once, also where it was not known whether it had been written. Views are held in
//!    memory for some seconds: a process that dies loses those since its last flush, at most as many products as the buffer
//!    holds, and nothing that was written.
//! 4. Visitors of a day are told apart exactly up to 128, and beyond with a standard error of 3.25 %. Who they were cannot be
//!    read from what is stored, nor followed from one product to another.
//! 5. The sales of products on a day never go back to an earlier reading of its orders.
//! 6. A ranking is replaced as a whole, and never by an older one.

mod buffers;
mod error;
mod ops;
mod rules;
mod sketch;
mod tables;
#[cfg(test)]
mod tests;
mod views;

pub(crate) use buffers::Buffers;
pub use error::{Error, Result};
pub use ops::*;
pub use rules::{
    CategorySum, Contribution, DaySales, Metric, ProductSales, RANKED_DAYS, Recorded, Sales, unique_visitors,
};
pub(crate) use tables::tables;
pub use tables::{Contributed, DailySales, ProductViews, SHARDS, SoldProduct, TOTALS, TopProduct, ViewedProduct};

use crate::{
    limits,
    pattern::{AccessPattern, Amount, ReadCost},
};

/// So many days, each a page or more.
const DAYS: u64 = limits::SALES_DAYS_MAX as u64;
const BETWEEN: ReadCost = ReadCost {
    partitions: Amount::of(DAYS),
    rows: Amount::of(DAYS).and_per_row(1),
    requests: Amount::of(DAYS).and_per_row(1),
};

/// So many days in eight shards, a page of each.
const DAY_SHARDS: u64 = (limits::DAY_VIEWS_DAYS_MAX * SHARDS) as u64;
const DAY_VIEWS: ReadCost = ReadCost {
    partitions: Amount::of(DAY_SHARDS),
    rows: Amount::of(DAY_SHARDS).and_per_row(1),
    requests: Amount::of(DAY_SHARDS),
};

/// Thirty days in eight shards of two tables, one of which has a static column that DynamoDB reads by itself; and each list,
/// for one currency, before it is replaced.
const RANKING: ReadCost = ReadCost {
    partitions: Amount::of(480 + 18),
    rows: Amount::of(480 + 9 * 50).and_per_row(1),
    requests: Amount::of(720 + 36).and_per_row(1),
};

pub const PATTERNS: &[AccessPattern] = &[
    AccessPattern {
        name: "Q18",
        question: "What was sold on a day, by category and currency",
        table: "daily_sales",
        key: "date = ? AND order_id = 00000000-0000-0000-0000-000000000000",
        cost: ReadCost::PAGE,
    },
    AccessPattern {
        name: "Q18 over days",
        question: "What was sold on up to 92 days, by category and currency",
        table: "daily_sales",
        key: "date = ? AND order_id = 00000000-0000-0000-0000-000000000000, for each",
        cost: BETWEEN,
    },
    AccessPattern {
        name: "Q19",
        question: "The best products by views, units or revenue, over 1, 7 or 30 days",
        table: "top_products",
        key: "metric = ? AND days = ?",
        cost: ReadCost::PAGE,
    },
    AccessPattern {
        name: "Q19 of a product",
        question: "Views and visitors of a product, day by day",
        table: "product_views",
        key: "product_id = ? AND date >= ? AND date <= ?",
        cost: ReadCost::PAGE,
    },
    AccessPattern {
        name: "views of days",
        question: "What was looked at on up to 31 days, over all products",
        table: "product_views_by_day",
        key: "date = ? AND shard = 0 … 7, for each",
        cost: DAY_VIEWS,
    },
    AccessPattern {
        name: "ranking",
        question: "What was viewed and sold in thirty days, to rank it",
        table: "product_views_by_day, product_sales_by_day, top_products",
        key: "date = ? AND shard = ?, for each of 30 days and 8 shards",
        cost: RANKING,
    },
];
