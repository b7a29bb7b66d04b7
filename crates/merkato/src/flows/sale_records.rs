//! From orders to records of sales: every line of an order that is a sale, once, and none of an order that is none any more.
//!
//! It is no step of a checkout: a sweep looks at the orders of the last days and records what has changed since. A sale has the
//! id of its order and line, and its times are the order's, so that whoever records it again records the same.

use rust_decimal::Decimal;
use widerow::Date;

use super::{
    error::Result,
    sales::{is_sale, page_of_day},
};
use crate::{
    catalog::{self, Product},
    context::Context,
    id::OrderId,
    limits,
    orders::{self, Order, OrderItem},
    sales::{self, NewSale},
    text,
};

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Orders that were looked at, and those that had changed since.
    pub orders: u64,
    pub changed: u64,
    /// Lines that were recorded, and those that were taken back.
    pub recorded: u64,
    pub removed: u64,
    /// Lines that no record can be made of.
    pub refused: u64,
}

/// Times that an order is recorded anew because it changed meanwhile.
const TRIES_MAX: usize = 4;
const NO_CATEGORY: &str = "uncategorised";

/// Records what has changed in the orders of the last days: since the day before the last sweep.
pub async fn follow_orders(ctx: &Context) -> Result<Swept> {
    let mut swept = Swept::default();
    if !ctx.settings.sales.follow_orders {
        return Ok(swept);
    }
    let today = ctx.now().date();
    let last = sales::find_followed(ctx).await?.unwrap_or(today).days();
    // Orders of yesterday are still paid today.
    let from = last.min(today.days()).max(today.days() - limits::FOLLOWED_DAYS_MAX) - 1;
    for day in from..=today.days() {
        swept.add(follow_day(ctx, Date::from_days(day)).await?);
    }
    sales::set_followed(ctx, today).await?;
    Ok(swept)
}

/// Records what has changed in the orders of one day: for days that were never followed, as those of imported orders.
pub async fn follow_day(ctx: &Context, date: Date) -> Result<Swept> {
    let mut swept = Swept::default();
    let known = sales::list_recorded(ctx, date).await?;
    let mut cursor = None;
    loop {
        let (orders, next) = page_of_day(ctx, date, cursor).await?;
        for order in orders {
            swept.orders += 1;
            if known.get(&order.order_id) != Some(&order.revision) {
                swept.add(follow(ctx, order).await?);
            }
        }
        cursor = next;
        if cursor.is_none() {
            return Ok(swept);
        }
    }
}

/// Records an order as it is now.
pub async fn follow_order(ctx: &Context, order: OrderId) -> Result<Swept> {
    if !ctx.settings.sales.follow_orders {
        return Ok(Swept::default());
    }
    let order = orders::get_order(ctx, order).await?;
    follow(ctx, order).await
}

/// RACE: another sweep may record a later state of the order between the read and the write. The order is looked at again
/// behind the write: whoever wrote last has seen the latest state, or goes on to it.
async fn follow(ctx: &Context, mut order: Order) -> Result<Swept> {
    let mut swept = Swept { changed: 1, ..Swept::default() };
    for _ in 0..TRIES_MAX {
        let whole = write(ctx, &order, &mut swept).await?;
        let now = orders::get_order(ctx, order.order_id).await?;
        if now.revision == order.revision {
            if whole {
                sales::record_orders(ctx, order.order_date(), [(order.order_id, order.revision)]).await?;
            }
            return Ok(swept);
        }
        order = now;
    }
    // It is not remembered as recorded: the next sweep looks at it again.
    Ok(swept)
}

/// Writes the records of an order, or takes them back; whether nothing is left to try again.
async fn write(ctx: &Context, order: &Order, swept: &mut Swept) -> Result<bool> {
    let items = orders::list_items(ctx, order.order_id).await?;
    if !is_sale(order.status) || order.currency != ctx.settings.orders.currency {
        for item in &items {
            let id = sale_id(item);
            sales::delete_sale(ctx, &item.product_id.to_string(), order.order_date(), &id).await?;
            swept.removed += 1;
        }
        return Ok(true);
    }
    let ids: Vec<_> = items.iter().map(|item| item.product_id).collect();
    let mut whole = true;
    for (items, ids) in items.chunks(limits::PAGE_ROWS_MAX).zip(ids.chunks(limits::PAGE_ROWS_MAX)) {
        let products = catalog::list_products(ctx, ids).await?;
        let new = items.iter().zip(&products).map(|(item, product)| sale(order, item, product.as_ref()));
        for answer in sales::put_sales(ctx, new.collect()).await? {
            match answer {
                Ok(_) => swept.recorded += 1,
                Err(sales::Error::Data(error)) if error.is_transient() => whole = false,
                Err(error) => {
                    swept.refused += 1;
                    tracing::warn!(order = %order.order_id, %error, "a line of an order is no sale to be recorded");
                }
            }
        }
    }
    Ok(whole)
}

/// The line first: the last character of an id tells its shard, and most orders have one line.
fn sale_id(item: &OrderItem) -> String {
    format!("{}-{}", item.line_number, item.order_id)
}

fn sale(order: &Order, item: &OrderItem, product: Option<&Product>) -> NewSale {
    let category = product.map_or(NO_CATEGORY, |product| &product.category_name);
    let brand = product.and_then(|product| product.brand.as_deref()).map(key_text);
    let list_price: Option<Decimal> = product.and_then(|product| product.compare_at_price);
    NewSale {
        product_id: item.product_id.to_string(),
        sale_id: sale_id(item),
        sale_date: order.order_date().to_string(),
        sale_price: item.unit_price,
        original_price: list_price.filter(|price| *price > item.unit_price),
        category: Some(key_text(category)).filter(|text| !text.is_empty()).unwrap_or_else(|| NO_CATEGORY.into()),
        brand: brand.filter(|text| !text.is_empty()),
        created_at: Some(order.created_at),
        updated_at: Some(order.updated_at),
        ..NewSale::default()
    }
}

/// A name as it can stand in a key.
fn key_text(name: &str) -> String {
    text::cut(&name.replace('#', "-"), limits::SALE_NAME_BYTES_MAX).trim().to_owned()
}

impl Swept {
    fn add(&mut self, other: Swept) {
        self.orders += other.orders;
        self.changed += other.changed;
        self.recorded += other.recorded;
        self.removed += other.removed;
        self.refused += other.refused;
    }
}
