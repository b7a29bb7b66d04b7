//! What is remembered of the orders that were recorded.

use std::collections::BTreeMap;

use widerow::Date;

use crate::{
    context::Context,
    id::OrderId,
    sales::{
        error::Result,
        tables::{Followed, RecordedOrder},
    },
};

const ORDERS: &str = "orders";
/// Orders of one day that are read at once.
const ROWS: usize = 1_000;

/// The revisions at which orders of a day were recorded.
pub type RecordedBefore = BTreeMap<OrderId, i64>;

/// Which orders of a day are recorded.
pub async fn list_recorded(ctx: &Context, date: Date) -> Result<RecordedBefore> {
    let (mut recorded, mut cursor) = (RecordedBefore::new(), None);
    loop {
        let page = ctx.store.slice::<RecordedOrder>(date).limit(ROWS).after(cursor).page().await?;
        recorded.extend(page.rows.into_iter().map(|row| (row.order_id, row.revision)));
        cursor = page.next;
        if cursor.is_none() {
            return Ok(recorded);
        }
    }
}

/// Remembers that these orders are recorded, each at its revision.
pub async fn record_orders(ctx: &Context, date: Date, orders: impl IntoIterator<Item = (OrderId, i64)>) -> Result<()> {
    let row = |(order_id, revision)| RecordedOrder { date, order_id, revision };
    let rows: Vec<RecordedOrder> = orders.into_iter().map(row).collect();
    Ok(ctx.store.put_many(&rows).await.into_iter().collect::<widerow::Result<()>>()?)
}

/// Lets the next run look at the order again.
pub async fn forget_order(ctx: &Context, date: Date, order: OrderId) -> Result<()> {
    let gone = ctx.store.delete_many::<RecordedOrder>([(date, order)]).await;
    Ok(gone.into_iter().collect::<widerow::Result<()>>()?)
}

/// The last day up to which orders were followed.
pub async fn find_followed(ctx: &Context) -> Result<Option<Date>> {
    Ok(ctx.store.get::<Followed>(ORDERS.to_owned()).await?.map(|row| row.date))
}

pub async fn set_followed(ctx: &Context, date: Date) -> Result<()> {
    let row = Followed { what: ORDERS.to_owned(), date };
    Ok(ctx.store.put_many(&[row]).await.into_iter().collect::<widerow::Result<()>>()?)
}
