//! Daily sales: each order once, whatever comes twice, late or half.

use std::collections::BTreeMap;

use futures::{future::join_all, stream};
use merkato::{
    Currency, Kind, PageRequest,
    analytics::{self, CategorySum, Contribution, DailySales, Error, Recorded, TOTALS},
    id::OrderId,
    limits,
};
use rand::{SeedableRng, rngs::SmallRng, seq::SliceRandom};
use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::{Commit, Date, faulty::Faults};
use widerow_testing::{Target, cases};

use super::{category, eur, failing, figures, figures_of, order, record, stored};
use crate::world::{World, patiently, seed};

cases![
    orders_that_come_at_once_several_times_and_in_any_order_are_counted_once,
    two_processes_count_each_order_once,
    an_order_of_many_categories_is_counted_in_parts,
    an_order_that_is_stopped_anywhere_is_counted_once,
    currencies_are_kept_apart,
    days_are_listed_together,
    a_wrong_total_is_found_and_mended,
    a_day_is_rebuilt_from_its_orders,
    bad_input_is_refused_by_name,
];

/// Two hundred orders, a third of which are cancelled, each revision three times, all at once and in any order.
async fn orders_that_come_at_once_several_times_and_in_any_order_are_counted_once(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let mut latest = BTreeMap::new();
    let mut all = Vec::new();
    for n in 0..200 {
        let mut revisions = vec![order(ctx, n, 1, i64::from(n % 7) + 1, [n % 10, n % 3])];
        if n % 4 == 0 {
            revisions.push(order(ctx, n, 2, 2, [n % 10]));
        }
        if n % 3 == 0 {
            revisions.push(order(ctx, n, 3, 1, []));
        }
        latest.insert(n, revisions.last().expect("one").clone());
        all.extend(revisions.iter().cycle().take(3 * revisions.len()).cloned());
    }
    all.shuffle(&mut SmallRng::seed_from_u64(seed()));
    let recorded = all.into_iter().map(|order| {
        let ctx = ctx.clone();
        tokio::spawn(async move { record(&ctx, &order).await })
    });
    let recorded = join_all(recorded.collect::<Vec<_>>()).await;
    let counted = recorded.into_iter().filter(|r| *r.as_ref().expect("no panic") == Recorded::Counted).count();
    assert!(counted >= 200, "{counted}");
    let date = ctx.now().date();
    assert_eq!(stored(ctx, date).await, figures(latest.values()));
    let report = analytics::verify_day(ctx, date, false).await.expect("read");
    assert!(report.is_sound() && report.orders == 200, "{report:?}");
}

async fn two_processes_count_each_order_once(target: &Target) {
    let world = World::new(target);
    let other = failing(target, &world, Faults::default()).0;
    let orders: Vec<_> = (0..30).map(|n| order(&world.ctx, n, 1, 1, [n % 5])).collect();
    let recorded = [&world.ctx, &other].into_iter().flat_map(|ctx| {
        orders.iter().map(|order| {
            let (ctx, order) = (ctx.clone(), order.clone());
            tokio::spawn(async move { record(&ctx, &order).await })
        })
    });
    let recorded = join_all(recorded.collect::<Vec<_>>()).await;
    let counted = recorded.into_iter().filter(|r| *r.as_ref().expect("no panic") == Recorded::Counted).count();
    assert_eq!(counted, 30, "each by one of them");
    assert_eq!(stored(&world.ctx, world.ctx.now().date()).await, figures(&orders));
}

async fn an_order_of_many_categories_is_counted_in_parts(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let date = ctx.now().date();
    let small = order(ctx, 1, 1, 1, [1, 2]);
    record(ctx, &small).await;
    for (revision, categories) in [(1, 0..230), (2, 100..150), (3, 50..300), (4, 0..0)] {
        let large = order(ctx, 2, revision, 2, categories);
        assert_eq!(record(ctx, &large).await, Recorded::Counted);
        assert_eq!(record(ctx, &large).await, Recorded::Known);
        assert_eq!(stored(ctx, date).await, figures([&small, &large]));
        assert!(analytics::verify_day(ctx, date, false).await.expect("read").is_sound());
    }
}

/// Stopped after every step; then another revision comes, then the one that was stopped goes on.
async fn an_order_that_is_stopped_anywhere_is_counted_once(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let date = ctx.now().date();
    let mut orders = Vec::new();
    for steps in 0.. {
        let n = 10 * steps as u32;
        let (first, second) = (order(ctx, n, 1, 3, 0..120), order(ctx, n, 2, 1, 60..70));
        let faults = Faults { stop_after_steps: Some(steps), ..Faults::default() };
        let stopped = analytics::record_order(&failing(target, &world, faults).0, first.clone()).await;
        let overtaken = steps % 2 == 1;
        if overtaken {
            record(ctx, &second).await;
        }
        record(ctx, &first).await;
        orders.push(if overtaken { second } else { first });
        assert_eq!(stored(ctx, date).await, figures(&orders), "stopped after {steps}");
        if stopped.is_ok() {
            assert!(steps > 3, "it takes several commits");
            break;
        }
    }
    assert!(analytics::verify_day(ctx, date, false).await.expect("read").is_sound());
}

async fn currencies_are_kept_apart(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let euros = order(ctx, 1, 1, 1, [1]);
    let sum = CategorySum { item_count: 2, revenue: Decimal::from(500) };
    let yen = Contribution {
        currency: Currency::new("JPY"),
        categories: [(category(1), sum)].into(),
        ..order(ctx, 2, 1, 1, [])
    };
    record(ctx, &euros).await;
    record(ctx, &yen).await;
    let page = analytics::list_daily_sales(ctx, euros.date, PageRequest::default()).await.expect("a page");
    assert_eq!(figures_of(&page.rows), figures([&euros, &yen]));
    let revenues: Vec<_> = page.rows.iter().map(|row| (row.currency.code(), row.revenue())).collect();
    assert_eq!(revenues, [("EUR", Decimal::new(101, 2)), ("JPY", Decimal::from(500))]);
    let changed = Contribution { currency: eur(), revision: 2, categories: BTreeMap::new(), ..yen };
    let refused = analytics::record_order(ctx, changed).await;
    assert!(matches!(refused, Err(Error::OtherCurrency { .. })), "{refused:?}");
}

async fn days_are_listed_together(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let today = ctx.now().date();
    let day = |back: i32| Date::from_days(today.days() - back);
    let mut orders = Vec::new();
    for back in [0, 1, 5] {
        let order = Contribution { date: day(back), ..order(ctx, back as u32, 1, 1, [1, 2]) };
        record(ctx, &order).await;
        orders.push(order);
    }
    let rows = analytics::list_daily_sales_between(ctx, day(4), today).await.expect("read");
    let dates: Vec<_> = rows.iter().map(|row| row.date).collect();
    assert_eq!(dates, [day(1), day(1), today, today]);
    let rows = analytics::list_daily_sales_between(ctx, day(91), today).await.expect("read");
    assert_eq!(rows.len(), 6);
}

fn at(order: OrderId, row: &DailySales) -> bool {
    row.order_id == order
}

async fn rows_of(world: &World, date: Date, order: OrderId) -> Vec<DailySales> {
    let rows = world.ctx.store.slice::<DailySales>(date).all(1_000).await.expect("read");
    rows.into_iter().filter(|row| at(order, row)).collect()
}

async fn a_wrong_total_is_found_and_mended(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let date = ctx.now().date();
    let orders: Vec<_> = (0..5).map(|n| order(ctx, n, 1, 1, [1, 2, 3])).collect();
    for order in &orders {
        record(ctx, order).await;
    }
    let totals = rows_of(&world, date, TOTALS).await;
    let drifted = DailySales { revenue_cents: totals[0].revenue_cents + 1, ..totals[0].clone() };
    let invented = DailySales { category_id: category(9), ..totals[1].clone() };
    let gone = &totals[2];
    let gone = (date, TOTALS, gone.category_id, gone.currency.clone(), 0);
    let planted = Commit::new().put(&drifted).put(&invented).delete::<DailySales>(gone);
    ctx.store.commit(planted).await.expect("planted");
    for (repair, found) in [(false, 3), (true, 3), (false, 0)] {
        let report = analytics::verify_day(ctx, date, repair).await.expect("read");
        assert_eq!((report.differences.len(), report.repaired), (found, repair), "{report:?}");
    }
    assert_eq!(stored(ctx, date).await, figures(&orders));
}

async fn a_day_is_rebuilt_from_its_orders(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let date = ctx.now().date();
    let mut orders: Vec<_> = (0..10).map(|n| order(ctx, n, 1, 1, [n % 3])).collect();
    for order in &orders[..8] {
        record(ctx, order).await;
    }
    // Two were never recorded; one has changed since, one was cancelled; one was counted wrongly; one does not exist.
    orders[0] = order(ctx, 0, 2, 5, [0, 1]);
    orders[1] = order(ctx, 1, 2, 1, []);
    let wrong = rows_of(&world, date, orders[2].order_id).await.remove(0);
    let mut contributed = wrong.contributed.clone();
    contributed.values_mut().for_each(|sum| sum.item_count += 7);
    ctx.store.commit(Commit::new().put(&DailySales { contributed, ..wrong })).await.expect("planted");
    record(ctx, &order(ctx, 77, 1, 1, [4])).await;
    // One is recorded after the orders were read, at a revision that they do not have yet.
    let later = order(ctx, 3, 5, 9, [2]);
    record(ctx, &later).await;
    let given = || stream::iter(orders.clone().into_iter().map(Ok::<_, Error>));
    let expected = || figures(orders.iter().map(|order| if order.order_id == later.order_id { &later } else { order }));
    let before = stored(ctx, date).await;
    let report = analytics::rebuild_day(ctx, date, given(), false).await.expect("read");
    assert_eq!((report.orders, report.wrong_orders, report.repaired), (10, 6, false), "{report:?}");
    assert_eq!(stored(ctx, date).await, before, "it was not asked to repair");
    let report = analytics::rebuild_day(ctx, date, given(), true).await.expect("mended");
    assert_eq!((report.wrong_orders, report.repaired), (6, true), "{report:?}");
    for difference in &report.differences {
        let key = (difference.category_id, difference.currency.to_string());
        let figure = |sales: analytics::Sales| (sales.order_count, sales.item_count, sales.revenue_cents);
        assert_eq!(figure(difference.stored), before.get(&key).copied().unwrap_or_default());
        assert_eq!(figure(difference.expected), expected().get(&key).copied().unwrap_or_default());
    }
    assert_eq!(stored(ctx, date).await, expected());
    let report = analytics::rebuild_day(ctx, date, given(), true).await.expect("read");
    assert!(report.is_sound() && !report.repaired, "{report:?}");
    let other = Contribution { date: Date::from_days(1), ..orders[0].clone() };
    let refused = analytics::rebuild_day(ctx, date, stream::iter([Ok::<_, Error>(other)]), true).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
}

async fn bad_input_is_refused_by_name(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let today = ctx.now().date();
    let good = order(ctx, 1, 1, 1, [1]);
    let bad = Contribution {
        order_id: OrderId(Uuid::nil()),
        currency: Currency::new("nothing"),
        categories: [(category(1), CategorySum { item_count: 0, revenue: Decimal::ONE })].into(),
        ..good.clone()
    };
    let fields = |error: Error| match error {
        Error::Invalid(invalid) => invalid.fields.into_iter().map(|bad| bad.field).collect::<Vec<_>>(),
        other => panic!("{other}"),
    };
    let refused = analytics::record_order(ctx, bad).await.expect_err("bad");
    assert_eq!((refused.kind(), refused.code()), (Kind::Invalid, "invalid"));
    let item_count = format!("categories/{}/item_count", category(1));
    assert_eq!(fields(refused), ["order_id", "currency", &item_count]);
    let day = |back: i32| Date::from_days(today.days() - back);
    for (from, to, wrong) in [(today, day(1), "to"), (day(limits::SALES_DAYS_MAX), today, "to")] {
        let refused = analytics::list_daily_sales_between(ctx, from, to).await.expect_err("bad");
        assert_eq!(fields(refused), [wrong]);
    }
    let refused = analytics::list_daily_sales(ctx, today, PageRequest::first(0)).await.expect_err("bad");
    assert_eq!(fields(refused), ["limit"]);
    let never = Date::from_days(i32::MAX);
    assert_eq!(fields(analytics::verify_day(ctx, never, true).await.expect_err("bad")), ["date"]);
    assert!(
        patiently(|| analytics::list_daily_sales(ctx, today, PageRequest::default()), Error::kind)
            .await
            .expect("a page")
            .rows
            .is_empty()
    );
}
