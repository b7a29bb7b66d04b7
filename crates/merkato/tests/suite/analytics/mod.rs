//! Sales, views and rankings, on every engine.

use std::{collections::BTreeMap, sync::Arc};

use merkato::{
    Context, Currency, PageRequest, Settings,
    analytics::{self, CategorySum, Contribution, DailySales, Error, Recorded},
    context::SystemChance,
    id::{CategoryId, OrderId, ProductId},
};
use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::{
    Database, Date, Engine, Options,
    faulty::{Faults, Faulty},
    time::Clock,
};
use widerow_testing::Target;

use crate::world::{World, patiently, schema};

pub mod costs;
pub mod sales;
pub mod top;
pub mod views;

pub fn category(n: u32) -> CategoryId {
    CategoryId(Uuid::from_u128(n.into()))
}

pub fn product(n: u32) -> ProductId {
    ProductId(Uuid::from_u128(n.into()))
}

pub fn eur() -> Currency {
    Currency::new("EUR")
}

/// An order of so many pieces of each category, for as many euros and one cent a piece.
pub fn order(
    ctx: &Context,
    n: u32,
    revision: i64,
    pieces: i64,
    categories: impl IntoIterator<Item = u32>,
) -> Contribution {
    let sum = CategorySum { item_count: pieces, revenue: Decimal::new(101 * pieces, 2) };
    Contribution {
        order_id: OrderId(Uuid::from_u128(u128::from(n) + 1)),
        date: ctx.now().date(),
        revision,
        currency: eur(),
        categories: categories.into_iter().map(|c| (category(c), sum)).collect(),
    }
}

/// Counts it, and asks again as long as the answer is to ask later.
pub async fn record(ctx: &Context, order: &Contribution) -> Recorded {
    patiently(|| analytics::record_order(ctx, order.clone()), Error::kind).await.expect("counted")
}

pub type Figures = BTreeMap<(CategoryId, String), (i64, i64, i64)>;

/// What the orders come to.
pub fn figures<'o>(orders: impl IntoIterator<Item = &'o Contribution>) -> Figures {
    let mut figures = Figures::new();
    for order in orders {
        for (category, sum) in &order.categories {
            let cents = order.currency.minor_units(sum.revenue).expect("cents");
            let figure = figures.entry((*category, order.currency.to_string())).or_default();
            *figure = (figure.0 + 1, figure.1 + sum.item_count, figure.2 + cents);
        }
    }
    figures
}

pub fn figures_of(rows: &[DailySales]) -> Figures {
    let figure = |row: &DailySales| (row.order_count, row.item_count, row.revenue_cents);
    rows.iter().map(|row| ((row.category_id, row.currency.to_string()), figure(row))).collect()
}

/// What is stored of a day, page by page.
pub async fn stored(ctx: &Context, date: Date) -> Figures {
    let (mut rows, mut cursor) = (Vec::new(), None);
    loop {
        let page = analytics::list_daily_sales(ctx, date, PageRequest { limit: 100, cursor }).await.expect("a page");
        assert!(page.rows.iter().all(|row| row.order_id == analytics::TOTALS));
        rows.extend(page.rows);
        cursor = page.next;
        if cursor.is_none() {
            return figures_of(&rows);
        }
    }
}

/// The same shop in a process whose engine fails so.
pub fn failing(target: &Target, world: &World, faults: Faults) -> (Context, Arc<Faulty<Arc<dyn Engine>>>) {
    let faulty = Arc::new(Faulty::new(target.engine(), faults));
    let options = Options { clock: world.clock.clone() as Arc<dyn Clock>, ..Options::default() };
    let database = Database::with_options(faulty.clone(), schema(), options);
    let store = database.tenant(world.ctx.store.tenant().as_str()).expect("a tenant");
    let settings = Settings::clone(&world.ctx.settings);
    (Context::new(store, settings, world.clock.clone(), Arc::new(SystemChance)), faulty)
}
