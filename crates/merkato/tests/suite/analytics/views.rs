//! Views of products: exact after a flush, visitors within the error bound.

use std::time::Duration;

use futures::future::join_all;
use merkato::{
    Context, Settings,
    analytics::{self, Error, Flushed, ProductViews},
    id::ProductId,
    limits,
};
use widerow::{Date, faulty::Faults, store::VerifyOptions};
use widerow_testing::{Target, cases, unique};

use super::{failing, product};
use crate::world::{World, seed};

cases![
    views_are_counted_when_they_are_flushed_and_visitors_told_apart,
    several_processes_add_up,
    a_flush_of_which_it_is_not_known_whether_it_was_written_is_counted_once,
    a_full_buffer_is_flushed_at_once_and_refuses_only_if_that_fails,
    what_is_left_is_flushed_at_the_stop,
    tenants_share_the_buffer_and_not_the_views,
    days_are_apart_and_end_after_ninety,
    bad_input_is_refused,
];

async fn views(ctx: &Context, product: ProductId) -> Vec<ProductViews> {
    let today = ctx.now().date();
    analytics::list_product_views(ctx, product, Date::from_days(today.days() - 90), today).await.expect("read")
}

async fn view(ctx: &Context, product: ProductId, visitor: usize) {
    analytics::view_product(ctx, product, format!("visitor {visitor}").as_bytes()).await.expect("counted");
}

async fn views_are_counted_when_they_are_flushed_and_visitors_told_apart(target: &Target) {
    let world = World::alone(target);
    let ctx = &world.ctx;
    // Everyone looks twice, in two flushes.
    for _ in 0..2 {
        let seen = (0..8).map(|part| {
            let ctx = ctx.clone();
            tokio::spawn(async move {
                for visitor in (part * 500)..(part + 1) * 500 {
                    view(&ctx, product(1), visitor).await;
                    if visitor % 40 == 0 {
                        view(&ctx, product(2), visitor).await;
                    }
                }
            })
        });
        join_all(seen.collect::<Vec<_>>()).await.into_iter().for_each(|seen| seen.expect("no panic"));
        let flushed = analytics::flush_views(ctx).await.expect("written");
        assert_eq!(flushed, Flushed { rows: 2, views: 4_100 });
        assert_eq!(analytics::flush_views(ctx).await.expect("nothing to do"), Flushed::default());
    }
    let many = views(ctx, product(1)).await.remove(0);
    assert_eq!(many.view_count, 8_000);
    // Four times the standard error.
    assert!((3_480..=4_520).contains(&many.unique_visitor_count), "{}", many.unique_visitor_count);
    assert!(many.visitors.len() <= 641);
    let few = views(ctx, product(2)).await.remove(0);
    assert_eq!((few.view_count, few.unique_visitor_count), (200, 100), "few are told apart exactly");
    let drifted = world.ctx.store.verify(VerifyOptions::default()).await.expect("verified");
    assert_eq!(drifted.differences, 0);
}

async fn several_processes_add_up(target: &Target) {
    let world = World::new(target);
    let processes: Vec<Context> = (0..4).map(|_| failing(target, &world, Faults::default()).0).collect();
    let seen = processes.into_iter().enumerate().map(|(process, ctx)| {
        tokio::spawn(async move {
            for turn in 0..5 {
                // Half of the visitors come to every process.
                view(&ctx, product(1), turn).await;
                view(&ctx, product(1), 1_000 + 10 * process + turn).await;
                analytics::flush_views(&ctx).await.expect("written");
            }
        })
    });
    join_all(seen.collect::<Vec<_>>()).await.into_iter().for_each(|seen| seen.expect("no panic"));
    let row = views(&world.ctx, product(1)).await.remove(0);
    assert_eq!((row.view_count, row.unique_visitor_count), (40, 25));
    assert_eq!(row.flushed.len(), 4);
}

async fn a_flush_of_which_it_is_not_known_whether_it_was_written_is_counted_once(target: &Target) {
    let world = World::new(target);
    for turn in 0..3 {
        let faults = Faults {
            seed: seed() + turn,
            refuse: 0.1,
            time_out_before: 0.15,
            time_out_after: 0.3,
            apply_late: 0.1,
            ..Faults::default()
        };
        let (ctx, _) = failing(target, &world, faults);
        let mut failures = 0;
        for visitor in 0..20 {
            for n in 0..3 {
                view(&ctx, product(n), visitor).await;
            }
            failures += usize::from(analytics::flush_views(&ctx).await.is_err());
        }
        assert!(failures > 0, "nothing went wrong");
        while analytics::flush_views(&ctx).await.is_err() {}
        for n in 0..3 {
            let row = views(&world.ctx, product(n)).await.remove(0);
            assert_eq!((row.view_count, row.unique_visitor_count), (20 * (turn as i64 + 1), 20));
        }
    }
}

async fn a_full_buffer_is_flushed_at_once_and_refuses_only_if_that_fails(target: &Target) {
    let mut settings = Settings::default();
    settings.analytics.views_products_max = 10;
    let world = World::with(target, settings);
    let ctx = &world.ctx;
    for n in 0..25 {
        view(ctx, product(n), 1).await;
    }
    assert_eq!(analytics::flush_views(ctx).await.expect("written"), Flushed { rows: 5, views: 5 });
    for n in 0..25 {
        assert_eq!(views(ctx, product(n)).await[0].view_count, 1);
    }
    let (stopped, _) = failing(target, &world, Faults { stop_after_steps: Some(0), ..Faults::default() });
    for n in 0..10 {
        view(&stopped, product(n), 2).await;
    }
    let refused = analytics::view_product(&stopped, product(10), b"ann").await;
    assert!(matches!(refused, Err(Error::Data(_))), "{refused:?}");
}

async fn what_is_left_is_flushed_at_the_stop(target: &Target) {
    let world = World::new(target);
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let stopped = async move { drop(stopped.await) };
    let kept = tokio::spawn(analytics::keep_flushing(world.ctx.clone(), Duration::from_millis(20), stopped));
    view(&world.ctx, product(1), 1).await;
    while views(&world.ctx, product(1)).await.is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    view(&world.ctx, product(1), 2).await;
    stop.send(()).expect("it listens");
    kept.await.expect("no panic");
    assert_eq!(views(&world.ctx, product(1)).await[0].view_count, 2);
}

async fn tenants_share_the_buffer_and_not_the_views(target: &Target) {
    let world = World::new(target);
    let other = world.ctx.with_store(world.database.tenant(&unique()).expect("a tenant"));
    view(&world.ctx, product(1), 1).await;
    view(&other, product(1), 1).await;
    view(&other, product(1), 2).await;
    assert_eq!(analytics::flush_views(&world.ctx).await.expect("written"), Flushed { rows: 2, views: 3 });
    assert_eq!(views(&world.ctx, product(1)).await[0].view_count, 1);
    assert_eq!(views(&other, product(1)).await[0].view_count, 2);
}

async fn days_are_apart_and_end_after_ninety(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let day_millis = 24 * 60 * 60 * 1_000;
    for visitor in 0..3 {
        view(ctx, product(1), visitor).await;
        view(ctx, product(1), 100).await;
        if visitor < 2 {
            world.clock.advance_millis(day_millis);
        }
    }
    // Views are counted on the day on which they were seen, whenever they are flushed.
    assert_eq!(analytics::flush_views(ctx).await.expect("written"), Flushed { rows: 3, views: 6 });
    let days = views(ctx, product(1)).await;
    let today = ctx.now().date().days();
    let dates: Vec<_> = days.iter().map(|day| day.date.days()).collect();
    assert_eq!(dates, [today, today - 1, today - 2], "the newest first");
    assert_eq!(analytics::unique_visitors(&days).expect("sound"), 4, "one came every day");
    let yesterday = Date::from_days(today - 1);
    let one = analytics::list_product_views(ctx, product(1), yesterday, yesterday).await.expect("read");
    assert_eq!(one, days[1..2]);
    world.clock.advance_millis(90 * day_millis);
    assert_eq!(views(ctx, product(1)).await, []);
}

async fn bad_input_is_refused(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for visitor in [&[][..], &[1; limits::VISITOR_BYTES_MAX + 1]] {
        let refused = analytics::view_product(ctx, product(1), visitor).await;
        assert!(matches!(refused, Err(Error::Invalid(ref bad)) if bad.fields[0].field == "visitor"), "{refused:?}");
    }
    let today = ctx.now().date();
    let long_ago = Date::from_days(today.days() - limits::VIEW_DAYS_MAX);
    for (from, to) in [(long_ago, today), (today, long_ago)] {
        let refused = analytics::list_product_views(ctx, product(1), from, to).await;
        assert!(matches!(refused, Err(Error::Invalid(ref bad)) if bad.fields[0].field == "to"), "{refused:?}");
    }
}
