//! The ways in which orders are found.

use std::{collections::BTreeMap, ops::Bound};

use widerow::{Date, Error as DataError, Page, Timestamp, Version};

use crate::{
    check::{Check, Invalid},
    context::Context,
    events::{self, ReadStream},
    id::{OrderId, UserId},
    limits,
    orders::{
        error::{Error, Result},
        rules,
        tables::{DayOrder, HistoryRow, NumberedOrder, Order, OrderItem, OrderStatus, StatusOrder, UserOrder},
    },
    pattern::PageRequest,
    shards::{self, Merged},
};

/// Q12.
pub async fn find_order(ctx: &Context, order: OrderId) -> Result<Option<Order>> {
    Ok(ctx.store.get::<Order>(order).await?)
}

pub async fn get_order(ctx: &Context, order: OrderId) -> Result<Order> {
    find_order(ctx, order).await?.ok_or(Error::OrderNotFound { order })
}

/// The order and the version that a change may rest upon.
pub async fn get_order_versioned(ctx: &Context, order: OrderId) -> Result<(Order, Option<Version>)> {
    let (found, version) = ctx.store.get_versioned::<Order>(order).await?;
    Ok((found.ok_or(Error::OrderNotFound { order })?, version))
}

/// The orders with these ids, in their order.
pub async fn list_orders(ctx: &Context, ids: &[OrderId]) -> Result<Vec<Option<Order>>> {
    Ok(ctx.store.get_many::<Order>(ids.iter().copied()).await?)
}

/// Q13: all lines of an order.
pub async fn list_items(ctx: &Context, order: OrderId) -> Result<Vec<OrderItem>> {
    let limit = limits::LINES_AN_ORDER_MAX;
    Ok(ctx.store.slice::<OrderItem>(order).limit(limit).all(limit).await?)
}

/// Q14, newest first.
pub async fn list_history(ctx: &Context, order: OrderId) -> Result<Vec<HistoryRow>> {
    let limit = limits::PAGE_ROWS_MAX;
    Ok(ctx.store.slice::<HistoryRow>(order).limit(limit).all(limit).await?)
}

/// A step of an order's timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineStep {
    pub status_time: Timestamp,
    pub status: OrderStatus,
    pub actor: String,
    pub notes: Option<String>,
    /// Of its event; None for what happened before the order came here.
    pub event_version: Option<i64>,
}

/// How an order came to where it stands, newest first, as its events tell it. Notes stand in the history, where they can be
/// erased; what an order from elsewhere has behind it stands there alone.
pub async fn timeline(ctx: &Context, order: OrderId) -> Result<Vec<TimelineStep>> {
    let read = ReadStream { limit: limits::PAGE_ROWS_MAX, ..ReadStream::default() };
    let stream = rules::stream_of(order);
    let (told, history) = futures::join!(events::list_events(ctx, stream, read), list_history(ctx, order));
    let mut rows: BTreeMap<Timestamp, HistoryRow> = history?.into_iter().map(|row| (row.status_time, row)).collect();
    let mut steps = Vec::new();
    for event in told?.events {
        let Some(status) = OrderStatus::ALL.into_iter().find(|status| rules::told_as(*status) == event.event_type)
        else {
            continue;
        };
        let data = event.data().map_err(|problem| DataError::corrupt("event_log", problem))?;
        let actor = data.get("actor").and_then(|actor| actor.as_str()).unwrap_or_default().to_owned();
        let notes = rows.remove(&event.event_timestamp).and_then(|row| row.notes);
        let (status_time, event_version) = (event.event_timestamp, Some(event.event_version));
        steps.push(TimelineStep { status_time, status, actor, notes, event_version });
    }
    steps.extend(rows.into_values().map(|row| TimelineStep {
        status_time: row.status_time,
        status: row.status,
        actor: row.actor,
        notes: row.notes,
        event_version: None,
    }));
    steps.sort_by_key(|step| std::cmp::Reverse(step.status_time));
    Ok(steps)
}

/// Q11, newest first; with dates, from the one to the other, both included.
pub async fn list_orders_of_user(
    ctx: &Context,
    user: UserId,
    from: Option<Date>,
    to: Option<Date>,
    page: PageRequest,
) -> Result<Page<UserOrder>> {
    page.check()?;
    let mut check = Check::new();
    for (field, date) in [("from", from), ("to", to)] {
        check.that(date.is_none_or(Date::in_range), field, "no such day");
    }
    if let (Some(from), Some(to)) = (from, to) {
        check.that(from <= to, "to", "it is before `from`");
    }
    check.end()?;
    let bound = |date: Option<Date>| date.map_or(Bound::Unbounded, Bound::Included);
    let slice = ctx.store.slice::<UserOrder>(user).from(bound(from)).to(bound(to));
    Ok(slice.limit(page.limit).after(page.cursor).page().await?)
}

/// The order with this number.
pub async fn find_by_number(ctx: &Context, number: &str) -> Result<Option<Order>> {
    let mut check = Check::new();
    check.line("order_number", number, 1..=limits::ORDER_NUMBER_BYTES_MAX);
    check.end()?;
    match ctx.store.get::<NumberedOrder>(number.to_owned()).await? {
        Some(row) => find_order(ctx, row.order_id).await,
        None => Ok(None),
    }
}

/// Q15: the orders of a day that stand so, newest first. Those that have moved on while the list was read are left out, and
/// the page is filled up with what follows them, as far as a few more reads do that.
pub async fn list_by_status(
    ctx: &Context,
    status: OrderStatus,
    date: Date,
    page: PageRequest,
) -> Result<Merged<Order>> {
    page.check()?;
    check_date(date)?;
    let days = limits::STATUS_LIST_DAYS;
    if date.days() < ctx.now().date().days() - days {
        return Err(Error::TooLongAgo { date, days });
    }
    let mut orders = Vec::new();
    let mut cursor = page.cursor;
    for _ in 0..limits::STATUS_LIST_PASSES_MAX {
        let wanted = PageRequest { limit: page.limit - orders.len(), cursor };
        let partition = |shard| (status, date, shard);
        let listed = shards::page::<StatusOrder>(&ctx.store, limits::ORDER_SHARDS, partition, &wanted).await?;
        cursor = listed.next;
        // RACE: rows of a list come and go a moment after their order; the order itself says where it stands.
        let ids: Vec<_> = listed.rows.iter().map(|row| row.order_id).collect();
        let found = list_orders(ctx, &ids).await?;
        orders.extend(found.into_iter().flatten().filter(|order| order.status == status));
        if cursor.is_none() || orders.len() >= page.limit {
            break;
        }
    }
    Ok(Merged { rows: orders, next: cursor })
}

/// All orders of a day, oldest first.
pub async fn list_by_day(ctx: &Context, date: Date, page: PageRequest) -> Result<Merged<DayOrder>> {
    page.check()?;
    check_date(date)?;
    Ok(shards::page::<DayOrder>(&ctx.store, limits::ORDER_SHARDS, |shard| (date, shard), &page).await?)
}

/// All orders of a day, newest first: for whoever looks at the day while it goes on.
pub async fn list_newest_of_day(ctx: &Context, date: Date, page: PageRequest) -> Result<Merged<DayOrder>> {
    page.check()?;
    check_date(date)?;
    Ok(shards::page_back::<DayOrder>(&ctx.store, limits::ORDER_SHARDS, |shard| (date, shard), &page).await?)
}

fn check_date(date: Date) -> Result<(), Invalid> {
    if date.in_range() { Ok(()) } else { Err(Invalid::new("date", "no such day")) }
}
