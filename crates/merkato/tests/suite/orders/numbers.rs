//! Order numbers: never one twice, whoever asks.

use std::{collections::BTreeSet, sync::Arc};

use futures::future::join_all;
use merkato::{
    Context, Settings,
    context::SystemChance,
    orders::{self, Error, OrderDraft, OrderStatus},
    settings::OrderSettings,
};
use widerow::Date;
use widerow_testing::{Target, cases};

use super::{DAY_MILLIS, draft, imported, second_process};
use crate::world::World;

cases![
    many_who_ask_in_two_processes_never_get_one_number,
    a_process_that_starts_anew_leaves_a_gap,
    every_shop_and_every_year_begins_anew,
    the_count_goes_around_imported_numbers,
    the_count_goes_around_numbers_that_came_in_under_another_prefix,
];

fn blocks_of(size: u32) -> Settings {
    Settings { orders: OrderSettings { number_block: size, ..OrderSettings::default() }, ..Settings::default() }
}

async fn take(ctx: &Context) -> String {
    orders::take_number(ctx).await.expect("a number")
}

/// The number without the year, which is the clock's.
fn count(number: &str) -> i64 {
    let (_, digits) = number.rsplit_once('-').expect("three parts");
    assert!(digits.len() >= 6, "{number}");
    digits.parse().expect("digits")
}

fn year(ctx: &Context) -> i16 {
    ctx.now().date().civil().expect("a day").year()
}

async fn many_who_ask_in_two_processes_never_get_one_number(target: &Target) {
    let world = World::with(target, blocks_of(7));
    let processes = [world.ctx.clone(), second_process(target, &world)];
    let asked = (0..160).map(|n| {
        let ctx = processes[n % 2].clone();
        tokio::spawn(async move { take(&ctx).await })
    });
    let mut numbers = BTreeSet::new();
    for number in join_all(asked.collect::<Vec<_>>()).await {
        let number = number.expect("no panic");
        assert!(number.starts_with(&format!("ORD-{}-", year(&world.ctx))), "{number}");
        assert!(numbers.insert(count(&number)), "{number} twice");
    }
    // Each process has at most a part of a block left.
    assert!(numbers.last().is_some_and(|last| *last < 160 + 2 * 7), "{numbers:?}");
}

async fn a_process_that_starts_anew_leaves_a_gap(target: &Target) {
    let world = World::new(target);
    assert_eq!((count(&take(&world.ctx).await), count(&take(&world.ctx).await)), (1, 2));
    // A clone is the same process.
    assert_eq!(count(&take(&world.ctx.clone()).await), 3);
    assert_eq!(count(&take(&second_process(target, &world)).await), 101);
    assert_eq!(count(&take(&world.ctx).await), 4);
}

async fn every_shop_and_every_year_begins_anew(target: &Target) {
    let world = World::new(target);
    let other = world.ctx.with_store(World::new(target).ctx.store);
    for ctx in [&world.ctx, &other, &world.ctx, &other] {
        take(ctx).await;
    }
    assert_eq!((count(&take(&world.ctx).await), count(&take(&other).await)), (3, 3));
    let next_year = Date::new(year(&world.ctx) + 1, 1, 1).expect("a day").start();
    world.clock.advance_millis(next_year.millis() - world.ctx.now().millis());
    assert_eq!(take(&world.ctx).await, format!("ORD-{}-000001", year(&world.ctx)));
    world.clock.advance_millis(DAY_MILLIS);
    assert_eq!(count(&take(&world.ctx).await), 2);
}

async fn the_count_goes_around_imported_numbers(target: &Target) {
    let world = World::with(target, blocks_of(5));
    let ctx = &world.ctx;
    let year = year(ctx);
    let import = async |n: i64| {
        let order_number = format!("ORD-{year}-{n:06}");
        let old = OrderDraft { order_number, ..draft(ctx, None, 1) };
        orders::insert(ctx, &imported(old, ctx.now(), &[(OrderStatus::Pending, 0)])).await
    };
    import(3).await.expect("no block has it");
    assert_eq!(count(&take(ctx).await), 4, "behind what was imported");
    import(1).await.expect("it lies before the first block");
    for n in [4, 6, 8] {
        let refused = import(n).await;
        assert!(matches!(refused, Err(Error::NumberTaken { .. })), "{n}: {refused:?}");
    }
    import(20).await.expect("no block has it");
    import(12).await.expect("it lies between the block and what was imported");
    let mut taken: Vec<_> = Vec::new();
    for _ in 0..6 {
        taken.push(count(&take(ctx).await));
    }
    assert_eq!(taken, [5, 6, 7, 8, 21, 22]);
    // A number that is longer than any count is a text as any other.
    import(i64::MAX).await.expect("it is none of the count");
    assert_eq!(count(&take(ctx).await), 23);
}

/// The old shop's orders are imported first, and then its prefix is taken over.
async fn the_count_goes_around_numbers_that_came_in_under_another_prefix(target: &Target) {
    let world = World::with(target, blocks_of(2));
    let (ctx, year) = (&world.ctx, year(&world.ctx));
    for n in [1, 2, 3, 5] {
        let old = OrderDraft { order_number: format!("SHOP-{year}-{n:06}"), ..draft(ctx, None, 1) };
        orders::insert(ctx, &imported(old, ctx.now(), &[(OrderStatus::Pending, 0)])).await.expect("imported");
    }
    let mut settings = blocks_of(2);
    settings.orders.number_prefix = "SHOP".into();
    let later = Context::new(ctx.store.clone(), settings, world.clock.clone(), Arc::new(SystemChance));
    assert_eq!(take(&later).await, format!("SHOP-{year}-000004"));
    assert_eq!(count(&take(&later).await), 6);
}
