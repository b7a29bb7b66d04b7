//! The orders of some days, counted: how many there were, and how they stand.

use std::collections::BTreeMap;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use merkato::{
    Context, PageRequest, flows,
    limits::PAGE_ROWS_MAX,
    orders::{self, DayOrder, OrderStatus},
};
use widerow::Date;

use crate::http::Problem;

/// Pages of a day's orders that are read, and days at once. A day with more orders is told as "or more".
const PAGES_MAX: usize = 10;
const DAYS_AT_ONCE: usize = 4;

/// One day's orders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DayOrders {
    /// Those whose money is the shop's.
    pub sales: u64,
    /// Of these, those in the shop's own currency, by which an average can be told.
    pub sales_at_home: u64,
    pub by_status: BTreeMap<OrderStatus, u64>,
    /// Whether all orders of the day were read.
    pub is_whole: bool,
}

impl DayOrders {
    fn count(&mut self, ctx: &Context, order: &DayOrder) {
        *self.by_status.entry(order.status).or_default() += 1;
        if flows::sales::is_sale(order.status) {
            self.sales += 1;
            self.sales_at_home += u64::from(order.currency == ctx.settings.orders.currency);
        }
    }
}

/// The days, from the first to the last.
pub async fn load(ctx: &Context, from: Date, to: Date) -> Result<Vec<DayOrders>, Problem> {
    let days = (from.days()..=to.days()).map(Date::from_days).map(|date| day(ctx, date));
    stream::iter(days).buffered(DAYS_AT_ONCE).try_collect().await
}

async fn day(ctx: &Context, date: Date) -> Result<DayOrders, Problem> {
    let mut found = DayOrders::default();
    let mut cursor = None;
    for _ in 0..PAGES_MAX {
        let page = orders::list_by_day(ctx, date, PageRequest { limit: PAGE_ROWS_MAX, cursor }).await?;
        page.rows.iter().for_each(|order| found.count(ctx, order));
        cursor = page.next;
        if cursor.is_none() {
            found.is_whole = true;
            break;
        }
    }
    Ok(found)
}

/// The statuses in the order of an order's life, as people call them.
pub const STATUSES: [(OrderStatus, &str); 7] = [
    (OrderStatus::Pending, "Pending"),
    (OrderStatus::Paid, "Paid"),
    (OrderStatus::Processing, "Processing"),
    (OrderStatus::Shipped, "Shipped"),
    (OrderStatus::Delivered, "Delivered"),
    (OrderStatus::Cancelled, "Cancelled"),
    (OrderStatus::Refunded, "Refunded"),
];
