//! The tables of analytics. Reading this file is reading their data model.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::{Cell, Date, Derive, Row, Schema, Timestamp};

use crate::{
    id::{CategoryId, OrderId, ProductId},
    money::Currency,
};

/// Q18: what was sold on a day, by category and currency; and, behind these totals, what each order has added to them.
/// Expected 100 rows of totals, at most 5,000; one row more for each order of the day.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "daily_sales",
    partition(date),
    clustering(order_id, category_id, currency, part),
    guarded,
    read = LocalQuorum,
    write = Quorum
)]
pub struct DailySales {
    pub date: Date,
    /// `TOTALS` in a row of totals: these sort before all orders, so that reading them never walks over orders.
    pub order_id: OrderId,
    /// Nil in the row of an order.
    pub category_id: CategoryId,
    pub currency: Currency,
    /// Nought, unless an order has so many categories that it is counted in several steps.
    pub part: i32,
    pub order_count: i64,
    pub item_count: i64,
    /// In minor units of the currency, whatever they are called.
    pub revenue_cents: i64,
    /// Of the order when it was counted; none in a row of totals.
    pub revision: Option<i64>,
    /// What the order has added to which category; empty in a row of totals.
    pub contributed: BTreeMap<CategoryId, Contributed>,
}

/// The order id of the rows of totals.
pub const TOTALS: OrderId = OrderId(Uuid::nil());

/// What an order has added to one category, apart from being one order.
#[derive(Cell, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contributed {
    pub item_count: i64,
    pub revenue_cents: i64,
}

impl DailySales {
    pub(super) fn key(&self) -> (Date, OrderId, CategoryId, Currency, i32) {
        (self.date, self.order_id, self.category_id, self.currency.clone(), self.part)
    }

    /// The revenue as an amount of its currency.
    pub fn revenue(&self) -> Decimal {
        self.currency.amount(self.revenue_cents)
    }
}

/// Q19: how often a product was looked at, and by how many, day by day, the newest first. At most 90 rows: a day is
/// forgotten ninety days after its last view.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "product_views",
    partition(product_id),
    clustering(date desc),
    guarded,
    ttl = "90d",
    read = LocalOne,
    write = Quorum
)]
pub struct ProductViews {
    pub product_id: ProductId,
    pub date: Date,
    pub view_count: i64,
    /// What the sketch tells: exact up to 128.
    pub unique_visitor_count: i64,
    /// The sketch of who they were.
    pub visitors: Vec<u8>,
    /// The last flush of each process that is counted in here.
    pub flushed: BTreeMap<Uuid, Uuid>,
}

/// Everything that was looked at on a day, for rankings. Expected 1,000 rows, at most 100,000; they end with their base.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "product_views_by_day", partition(date, shard), clustering(product_id), read = LocalOne)]
pub struct ViewedProduct {
    pub date: Date,
    pub shard: i32,
    pub product_id: ProductId,
    pub view_count: i64,
}

/// Partitions over which the products of a day are spread.
pub const SHARDS: i32 = 8;

/// Ids are random at their end.
pub(super) fn shard(product: ProductId) -> i32 {
    i32::from(product.0.as_bytes()[15]) % SHARDS
}

impl Derive<ViewedProduct> for ProductViews {
    fn derive(&self) -> Vec<ViewedProduct> {
        vec![ViewedProduct {
            date: self.date,
            shard: shard(self.product_id),
            product_id: self.product_id,
            view_count: self.view_count,
        }]
    }

    fn source(row: &ViewedProduct) -> (ProductId, Date) {
        (row.product_id, row.date)
    }
}

/// What was sold of each product on a day, as it follows from the day's orders, for rankings. Expected 500 rows, at most
/// 10,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "product_sales_by_day",
    partition(date, shard),
    clustering(product_id, currency),
    guarded,
    ttl = "62d",
    read = LocalOne,
    write = Quorum
)]
pub struct SoldProduct {
    pub date: Date,
    pub shard: i32,
    pub product_id: ProductId,
    pub currency: Currency,
    /// When the reading of the orders began. It does not end with the rows: eight small cells a day stay.
    #[row(static)]
    pub as_of: Option<Timestamp>,
    pub units: i64,
    /// In minor units of the currency.
    pub revenue_cents: i64,
}

/// Q19: the best products by views, by units or by revenue, over one, seven or thirty days. At most 50 rows; a ranking
/// that is not made anew for three days is none.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "top_products",
    partition(metric, days),
    clustering(rank),
    guarded,
    ttl = "3d",
    read = LocalOne,
    write = Quorum
)]
pub struct TopProduct {
    /// `views`, `units`, or `revenue:EUR`.
    pub metric: String,
    pub days: i32,
    /// From one.
    pub rank: i32,
    pub product_id: ProductId,
    /// Views, units, or minor units of the currency.
    pub value: i64,
    pub ranked_at: Timestamp,
}

pub(crate) fn tables(schema: Schema) -> Schema {
    schema.table::<DailySales>().derived::<ProductViews, ViewedProduct>().table::<SoldProduct>().table::<TopProduct>()
}
