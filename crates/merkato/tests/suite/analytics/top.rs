//! Rankings of products.

use std::sync::Arc;

use futures::future::join_all;
use merkato::{
    Context, Currency, PageRequest, Settings,
    analytics::{self, DaySales, DaySet, Error, Metric, ProductSales, SHARDS, SoldProduct},
    context::SystemChance,
    id::ProductId,
    limits,
};
use rust_decimal::Decimal;
use widerow::{Date, faulty::Faults, time::ManualClock};
use widerow_testing::{Target, cases};

use super::{eur, failing, product};
use crate::world::{World, patiently};

cases![
    products_are_ranked_by_views_units_and_revenue_over_days,
    a_ranking_is_replaced_whole,
    the_sales_of_a_day_are_replaced_and_never_by_an_earlier_reading,
    setting_a_day_stopped_anywhere_is_finished_by_the_same_call,
    bad_input_is_refused_by_name,
];

fn sold(n: u32, units: i64, cents: i64) -> ProductSales {
    ProductSales { product_id: product(n), currency: eur(), units, revenue: Decimal::new(cents, 2) }
}

/// What was sold so many days ago, read now.
fn day(ctx: &Context, back: i32, products: Vec<ProductSales>) -> DaySales {
    DaySales { date: Date::from_days(ctx.now().date().days() - back), as_of: ctx.now(), products }
}

async fn set(ctx: &Context, sales: &DaySales) -> DaySet {
    patiently(|| analytics::set_day_sales(ctx, sales), Error::kind).await.expect("set")
}

async fn top(ctx: &Context, metric: &Metric, days: i32) -> Vec<(ProductId, i64)> {
    let page = analytics::list_top_products(ctx, metric, days, PageRequest::first(100)).await.expect("a page");
    assert!(page.rows.iter().zip(1..).all(|(row, rank)| row.rank == rank));
    page.rows.into_iter().map(|row| (row.product_id, row.value)).collect()
}

/// The rows of a day, by product and currency.
async fn stored(ctx: &Context, date: Date) -> Vec<(ProductId, Currency, i64, i64)> {
    let mut all = Vec::new();
    for shard in 0..SHARDS {
        let rows = ctx.store.slice::<SoldProduct>((date, shard)).all(10_000).await.expect("read");
        all.extend(rows.into_iter().map(|row| (row.product_id, row.currency, row.units, row.revenue_cents)));
    }
    all.sort();
    all
}

fn expected(sales: &DaySales) -> Vec<(ProductId, Currency, i64, i64)> {
    let cents = |p: &ProductSales| p.currency.minor_units(p.revenue).expect("cents");
    let mut all: Vec<_> =
        sales.products.iter().map(|p| (p.product_id, p.currency.clone(), p.units, cents(p))).collect();
    all.sort();
    all
}

async fn products_are_ranked_by_views_units_and_revenue_over_days(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let yen = ProductSales { currency: Currency::new("JPY"), revenue: Decimal::from(900), ..sold(1, 5, 0) };
    set(ctx, &day(ctx, 0, vec![sold(1, 1, 10_000), sold(2, 3, 300)])).await;
    set(ctx, &day(ctx, 6, vec![sold(2, 1, 100), sold(3, 50, 50)])).await;
    set(ctx, &day(ctx, 29, vec![sold(4, 1, 99_999), yen])).await;
    set(ctx, &day(ctx, 30, vec![sold(5, 1_000, 9_999_999)])).await;
    for (n, views) in [(1, 2), (2, 5), (7, 1)] {
        for visitor in 0..views {
            analytics::view_product(ctx, product(n), &[visitor]).await.expect("counted");
        }
    }
    analytics::flush_views(ctx).await.expect("written");
    let ranked = analytics::rank_products(ctx).await.expect("ranked");
    assert_eq!((ranked.rows, ranked.lists), (9, 12));
    let p = product;
    assert_eq!(top(ctx, &Metric::Views, 1).await, [(p(2), 5), (p(1), 2), (p(7), 1)]);
    assert_eq!(top(ctx, &Metric::Views, 30).await, [(p(2), 5), (p(1), 2), (p(7), 1)]);
    assert_eq!(top(ctx, &Metric::Units, 1).await, [(p(2), 3), (p(1), 1)]);
    assert_eq!(top(ctx, &Metric::Units, 7).await, [(p(3), 50), (p(2), 4), (p(1), 1)]);
    assert_eq!(top(ctx, &Metric::Units, 30).await, [(p(3), 50), (p(1), 6), (p(2), 4), (p(4), 1)]);
    let revenue = Metric::Revenue(eur());
    assert_eq!(top(ctx, &revenue, 7).await, [(p(1), 10_000), (p(2), 400), (p(3), 50)]);
    assert_eq!(top(ctx, &revenue, 30).await[0], (p(4), 99_999));
    let in_yen = Metric::Revenue(Currency::new("JPY"));
    assert_eq!((top(ctx, &in_yen, 7).await, top(ctx, &in_yen, 30).await), (vec![], vec![(p(1), 900)]));
    // A day later.
    world.clock.advance_millis(24 * 60 * 60 * 1_000);
    analytics::rank_products(ctx).await.expect("ranked");
    assert_eq!(top(ctx, &Metric::Views, 1).await, []);
    assert_eq!(top(ctx, &revenue, 1).await, []);
    assert_eq!(top(ctx, &Metric::Units, 7).await, [(p(2), 3), (p(1), 1)]);
    // Nobody ranks for days.
    world.clock.advance_millis(3 * 24 * 60 * 60 * 1_000);
    assert_eq!(top(ctx, &Metric::Units, 7).await, []);
}

async fn a_ranking_is_replaced_whole(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let many = (0..200).map(|n| sold(n, i64::from(n) + 1, 100)).collect();
    set(ctx, &day(ctx, 0, many)).await;
    analytics::rank_products(ctx).await.expect("ranked");
    let best = top(ctx, &Metric::Units, 1).await;
    assert_eq!(best.len(), limits::RANKED_MAX);
    assert_eq!(best[0], (product(199), 200));
    world.clock.advance_millis(1_000);
    set(ctx, &day(ctx, 0, vec![sold(3, 1, 1)])).await;
    let both = join_all([analytics::rank_products(ctx), analytics::rank_products(ctx)]).await;
    assert!(both.iter().all(Result::is_ok), "{both:?}");
    assert_eq!(top(ctx, &Metric::Units, 1).await, [(product(3), 1)]);
    // One that began a second ago changes nothing any more.
    set(ctx, &DaySales { as_of: ctx.now().plus_seconds(1), ..day(ctx, 0, vec![sold(4, 1, 1)]) }).await;
    let earlier = Arc::new(ManualClock::at(ctx.now().plus_seconds(-1)));
    let late = Context::new(ctx.store.clone(), Settings::default(), earlier, Arc::new(SystemChance));
    analytics::rank_products(&late).await.expect("ranked");
    assert_eq!(top(ctx, &Metric::Units, 1).await, [(product(3), 1)]);
    let first = analytics::list_top_products(ctx, &Metric::Units, 30, PageRequest::first(1)).await.expect("a page");
    assert_eq!((first.rows.len(), first.next), (1, None));
}

async fn the_sales_of_a_day_are_replaced_and_never_by_an_earlier_reading(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let early = day(ctx, 0, (0..900).map(|n| sold(n, 1, 100)).collect());
    world.clock.advance_millis(10);
    let late = day(ctx, 0, (400..1_000).map(|n| sold(n, i64::from(n % 2) + 1, 100)).collect());
    assert_eq!(set(ctx, &early).await, DaySet::Replaced);
    assert_eq!(stored(ctx, early.date).await, expected(&early));
    assert_eq!(set(ctx, &late).await, DaySet::Replaced);
    assert_eq!(set(ctx, &late).await, DaySet::Replaced, "again");
    assert_eq!(set(ctx, &early).await, DaySet::Superseded);
    assert_eq!(stored(ctx, early.date).await, expected(&late));
    // Both at once.
    let (early, late) =
        (DaySales { as_of: ctx.now().plus_seconds(1), ..early }, DaySales { as_of: ctx.now().plus_seconds(2), ..late });
    let (_, set) = tokio::join!(set(ctx, &early), set(ctx, &late));
    assert_eq!(set, DaySet::Replaced);
    assert_eq!(stored(ctx, late.date).await, expected(&late));
}

async fn setting_a_day_stopped_anywhere_is_finished_by_the_same_call(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for steps in [0, 1, 5, 12, 20, 25, 28, 30] {
        world.clock.advance_millis(10);
        let sales = day(ctx, 0, (0..100).map(|n| sold(n, steps + 1, 100)).collect());
        let faults = Faults { stop_after_steps: Some(steps as u64), ..Faults::default() };
        let _ = analytics::set_day_sales(&failing(target, &world, faults).0, &sales).await;
        assert_eq!(set(ctx, &sales).await, DaySet::Replaced);
        assert_eq!(stored(ctx, sales.date).await, expected(&sales), "stopped after {steps}");
    }
}

async fn bad_input_is_refused_by_name(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let bad = day(ctx, 0, vec![sold(1, 0, 100), sold(2, 1, -1), sold(2, 1, 1)]);
    let fields = |error: Error| match error {
        Error::Invalid(invalid) => invalid.fields.into_iter().map(|bad| bad.field).collect::<Vec<_>>(),
        other => panic!("{other}"),
    };
    let refused = analytics::set_day_sales(ctx, &bad).await.expect_err("bad");
    assert_eq!(fields(refused), ["products/0/units", "products/1/revenue", "products/2/product_id"]);
    let nowhere = Metric::Revenue(Currency::new("nothing"));
    let refused = analytics::list_top_products(ctx, &nowhere, 2, PageRequest::default()).await.expect_err("bad");
    assert_eq!(fields(refused), ["days", "currency"]);
}
