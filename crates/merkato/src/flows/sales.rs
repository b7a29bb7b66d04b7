//! From orders to the figures: each order counted once, a day counted anew, the best products ranked.

use std::collections::BTreeMap;

use futures::{Stream, stream};
use widerow::Date;

use super::error::{Error, Result};
use crate::{
    analytics::{self, CategorySum, Contribution, DayReport, DaySales, ProductSales, Ranked},
    context::Context,
    id::OrderId,
    limits,
    orders::{self, Order, OrderStatus},
    pattern::PageRequest,
};

/// Days back from today whose sales by product are computed anew when products are ranked: an order that changes later
/// than that is in the daily sales all the same, and in the ranking when its day is rebuilt.
const FRESH_DAYS: i32 = 2;

/// Whether the money of an order that stands so is the shop's: such orders, and no others, are in the figures.
pub fn is_sale(status: OrderStatus) -> bool {
    use OrderStatus::*;
    matches!(status, Paid | Processing | Shipped | Delivered)
}

/// What the order adds to the sales of its day, as it is now.
fn contribution(order: &Order) -> Contribution {
    let sum = |sum: &orders::CategorySum| CategorySum { item_count: sum.item_count, revenue: sum.revenue };
    let categories = order.categories.iter().map(|(category, of)| (*category, sum(of)));
    Contribution {
        order_id: order.order_id,
        date: order.order_date(),
        revision: order.revision,
        currency: order.currency.clone(),
        categories: categories.filter(|_| is_sale(order.status)).collect(),
    }
}

/// Counts an order as it is now. Again, or later than a newer state of it, it changes nothing.
pub async fn count_order(ctx: &Context, order: OrderId) -> Result<()> {
    Ok(count(ctx, &orders::get_order(ctx, order).await?).await?)
}

/// Counts an order as it was read.
///
/// RACE: the order may change between the read and the count. Whoever changes it counts it again, at a later revision.
pub(super) async fn count(ctx: &Context, order: &Order) -> analytics::Result<()> {
    analytics::record_order(ctx, contribution(order)).await?;
    Ok(())
}

/// Compares the sales of a day with its orders; counts them anew where they differ, if that is asked for.
pub async fn rebuild_sales(ctx: &Context, date: Date, repair: bool) -> Result<DayReport> {
    let report = analytics::rebuild_day(ctx, date, contributions(ctx, date), repair).await?;
    if repair {
        set_day(ctx, date).await?;
    }
    Ok(report)
}

/// Ranks the products by what was sold and seen in the last days. Once an hour is enough.
pub async fn rank_products(ctx: &Context) -> Result<Ranked> {
    let today = ctx.now().date().days();
    for day in today - FRESH_DAYS..=today {
        set_day(ctx, Date::from_days(day)).await?;
    }
    Ok(analytics::rank_products(ctx).await?)
}

/// The sales of a day by product, from its orders. Takes memory for every product that was sold on the day.
async fn set_day(ctx: &Context, date: Date) -> Result<()> {
    // ORDER: before the first order is read, so that of two computations the later reading stands.
    let as_of = ctx.now();
    let mut sums: BTreeMap<_, (i64, rust_decimal::Decimal)> = BTreeMap::new();
    let mut cursor = None;
    loop {
        let (orders, next) = page_of_day(ctx, date, cursor).await?;
        for order in orders.iter().filter(|order| is_sale(order.status)) {
            for item in orders::list_items(ctx, order.order_id).await? {
                let sum = sums.entry((item.product_id, order.currency.clone())).or_default();
                sum.0 += i64::from(item.quantity);
                sum.1 += item.line_total;
            }
        }
        match next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    let products = sums.into_iter().map(|((product_id, currency), (units, revenue))| ProductSales {
        product_id,
        currency,
        units,
        revenue,
    });
    analytics::set_day_sales(ctx, &DaySales { date, as_of, products: products.collect() }).await?;
    Ok(())
}

/// What every order of a day adds to its sales, read page by page.
fn contributions(ctx: &Context, date: Date) -> impl Stream<Item = Result<Contribution>> {
    let pages = stream::try_unfold(Some(None), move |at| async move {
        let Some(cursor) = at else { return Ok::<_, Error>(None) };
        let (orders, next) = page_of_day(ctx, date, cursor).await?;
        let all: Vec<Result<Contribution>> = orders.iter().map(|order| Ok(contribution(order))).collect();
        Ok(Some((stream::iter(all), next.map(Some))))
    });
    futures::TryStreamExt::try_flatten(pages)
}

/// Some orders of a day, as they are now, and where it goes on.
pub(super) async fn page_of_day(
    ctx: &Context,
    date: Date,
    cursor: Option<crate::Cursor>,
) -> Result<(Vec<Order>, Option<crate::Cursor>)> {
    let page = orders::list_by_day(ctx, date, PageRequest { limit: limits::PAGE_ROWS_MAX, cursor }).await?;
    let ids: Vec<OrderId> = page.rows.iter().map(|row| row.order_id).collect();
    let found = orders::list_orders(ctx, &ids).await?;
    Ok((found.into_iter().flatten().collect(), page.next))
}
