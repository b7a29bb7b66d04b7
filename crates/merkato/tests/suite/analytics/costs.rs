//! What every access pattern of analytics costs: as its declaration says, and the same whatever else there is.

use merkato::{
    AccessPattern, PageRequest,
    analytics::{self, Contribution, DaySales, Metric, PATTERNS, ProductSales},
};
use rust_decimal::Decimal;
use widerow::{
    Date,
    meter::{Cost, measure},
};
use widerow_testing::{Target, cases};

use super::{eur, order, product, record};
use crate::world::World;

cases![
    every_pattern_costs_what_it_says_whatever_the_number_of_orders,
    an_order_costs_one_conditional_write_whatever_the_number_of_orders,
    orders_that_come_together_are_counted_together,
];

const PAGE: usize = 5;

async fn every_pattern_costs_what_it_says_whatever_the_number_of_orders(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let today = ctx.now().date();
    let yesterday = Date::from_days(today.days() - 1);
    let mut measured = Vec::new();
    for orders in [0..3, 3..60] {
        let made = orders.clone().flat_map(|n| {
            let order = order(ctx, n, 1, 1, 0..12);
            [Contribution { date: yesterday, ..order.clone() }, order]
        });
        let made: Vec<_> = made.collect();
        futures::future::join_all(made.iter().map(|order| record(ctx, order))).await;
        for n in orders.clone() {
            analytics::view_product(ctx, product(n), b"ann").await.expect("counted");
        }
        analytics::view_product(ctx, product(1), b"bob").await.expect("counted");
        analytics::flush_views(ctx).await.expect("written");
        let sold = |n| ProductSales { product_id: product(n), currency: eur(), units: 1, revenue: Decimal::ONE };
        world.clock.advance_millis(1);
        let sales = DaySales { date: today, as_of: ctx.now(), products: (0..10).map(sold).collect() };
        analytics::set_day_sales(ctx, &sales).await.expect("set");
        measured.push(measure_all(&world).await);
    }
    let counts = |cost: &Cost| (cost.partitions_read, cost.rows_read, cost.round_trips);
    for ((pattern, rows, few), (_, more_rows, many)) in measured[0].iter().zip(&measured[1]) {
        assert!(pattern.cost.admits(few, *rows), "{}, {rows} rows: {few}", pattern.name);
        assert!(pattern.cost.admits(many, *more_rows), "{}, {more_rows} rows: {many}", pattern.name);
        if rows == more_rows {
            assert_eq!(counts(few), counts(many), "{}", pattern.name);
            assert_eq!((few.rows_written, few.conditional_writes), (0, 0), "{}", pattern.name);
        }
    }
    let names: Vec<_> = measured[0].iter().map(|(pattern, ..)| pattern.name).collect();
    assert_eq!(names, PATTERNS.iter().map(|pattern| pattern.name).collect::<Vec<_>>(), "every pattern is measured");
}

async fn measure_all(world: &World) -> Vec<(&'static AccessPattern, u64, Cost)> {
    let ctx = &world.ctx;
    let today = ctx.now().date();
    let mut all = Vec::new();
    let mut note = |name: &str, rows: u64, cost: Cost| {
        all.push((PATTERNS.iter().find(|pattern| pattern.name == name).expect(name), rows, cost));
    };
    let (ranked, ranking) = measure(analytics::rank_products(ctx)).await;
    let ranked = ranked.expect("ranked");
    let (page, cost) = measure(analytics::list_daily_sales(ctx, today, PageRequest::first(PAGE))).await;
    let page = page.expect("a page");
    assert_eq!(page.rows.len(), PAGE);
    let next = PageRequest { limit: PAGE, cursor: page.next };
    let (second, deeper) = measure(analytics::list_daily_sales(ctx, today, next)).await;
    assert_eq!(second.expect("a page").rows.len(), PAGE);
    assert_eq!((cost.rows_read, cost.round_trips), (deeper.rows_read, deeper.round_trips));
    note("Q18", PAGE as u64, cost);
    let from = Date::from_days(today.days() - 9);
    let (rows, cost) = measure(analytics::list_daily_sales_between(ctx, from, today)).await;
    let rows = rows.expect("read").len();
    assert_eq!((rows, cost.partitions_read), (24, 10), "{cost}");
    note("Q18 over days", rows as u64, cost);
    let list = analytics::list_top_products(ctx, &Metric::Units, 7, PageRequest::first(PAGE));
    let (page, cost) = measure(list).await;
    assert_eq!(page.expect("a page").rows.len(), PAGE);
    note("Q19", PAGE as u64, cost);
    let (rows, cost) = measure(analytics::list_product_views(ctx, product(1), from, today)).await;
    assert_eq!(rows.expect("read").len(), 1);
    note("Q19 of a product", 1, cost);
    let (days, cost) = measure(analytics::list_day_views(ctx, from, today)).await;
    let days = days.expect("read");
    let products = days.iter().map(|day| day.product_count).sum();
    assert_eq!((days.len(), cost.partitions_read), (10, 80), "{cost}");
    assert!(days.iter().all(|day| day.is_whole) && days[9].view_count > products as i64, "{days:?}");
    note("views of days", products, cost);
    note("ranking", ranked.rows, ranking);
    all
}

async fn an_order_costs_one_conditional_write_whatever_the_number_of_orders(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let mut costs = Vec::new();
    for orders in [0..5, 5..100] {
        let made: Vec<_> = orders.clone().map(|n| order(ctx, n, 1, 1, 0..4)).collect();
        futures::future::join_all(made.iter().map(|order| record(ctx, order))).await;
        let (_, cost) = measure(record(ctx, &order(ctx, 1_000 + orders.start, 1, 1, 0..4))).await;
        assert_eq!((cost.conditional_writes, cost.partitions_written), (1, 1), "{cost}");
        costs.push((cost.partitions_read, cost.rows_read, cost.rows_written));
        let (_, again) = measure(record(ctx, &order(ctx, 1_000 + orders.start, 1, 1, 0..4))).await;
        assert_eq!(again.conditional_writes, 0, "{again}");
    }
    assert_eq!(costs[0], costs[1]);
}

async fn orders_that_come_together_are_counted_together(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let orders: Vec<_> = (0..64).map(|n| order(ctx, n, 1, 1, [n % 4])).collect();
    let (_, cost) = measure(futures::future::join_all(orders.iter().map(|order| record(ctx, order)))).await;
    assert!(cost.conditional_writes <= 8, "{cost}");
}
