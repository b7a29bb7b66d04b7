//! From one status to the next, by one or by many.

use futures::future::join_all;
use merkato::{
    id::{OrderId, UserId},
    orders::{self, Change, Error, OrderStatus, PaymentStatus},
};
use uuid::Uuid;
use widerow::store::VerifyOptions;
use widerow_testing::{Target, cases};

use super::{change, go, place, second_process};
use crate::world::World;

cases![
    an_order_goes_its_way_and_every_list_follows,
    of_two_clerks_one_wins_and_the_other_is_told,
    the_same_change_is_made_once,
    a_change_that_rests_on_an_older_order_is_refused,
    history_rises_also_when_the_clock_stands_still,
    what_the_provider_says_is_noted_beside_the_status,
    what_the_staff_says_is_noted_on_what_was_read,
    lists_agree_with_their_orders_after_a_busy_day,
];

async fn an_order_goes_its_way_and_every_list_follows(target: &Target) {
    use OrderStatus::*;
    let world = World::new(target);
    let ctx = &world.ctx;
    let user = UserId(ctx.new_id());
    let order = place(ctx, Some(user)).await;
    let today = ctx.now().date();
    let mut before = Pending;
    for to in [Paid, Processing, Shipped, Delivered, Refunded] {
        world.clock.advance_millis(1_000);
        let sent = Change { tracking_number: Some("1Z".into()), carrier: Some("DHL".into()), ..change(ctx) };
        let changed = orders::change_status(ctx, order.order_id, to, sent).await.expect("legal");
        assert_eq!((changed.status, changed.status_time), (to, ctx.now()));
        assert_eq!(orders::get_order(ctx, order.order_id).await.expect("found"), changed);
        let page = Default::default();
        let listed = orders::list_orders_of_user(ctx, user, None, None, page).await.expect("a page");
        assert_eq!(listed.rows.iter().map(|row| row.status).collect::<Vec<_>>(), [to]);
        for (status, expected) in [(before, 0), (to, 1)] {
            let found = orders::list_by_status(ctx, status, today, Default::default()).await.expect("a page");
            assert_eq!(found.rows.len(), expected, "{status:?}");
        }
        let day = orders::list_by_day(ctx, today, Default::default()).await.expect("a page");
        assert_eq!(day.rows.iter().map(|row| row.status).collect::<Vec<_>>(), [to]);
        before = to;
    }
    let last = orders::get_order(ctx, order.order_id).await.expect("found");
    let times = [last.paid_at, last.shipped_at, last.delivered_at, last.refunded_at];
    assert!(times.is_sorted() && times.iter().all(Option::is_some), "{times:?}");
    let history = orders::list_history(ctx, order.order_id).await.expect("read");
    let statuses: Vec<_> = history.iter().map(|row| row.status).collect();
    assert_eq!(statuses, [Refunded, Delivered, Shipped, Processing, Paid, Pending]);
    let illegal = orders::change_status(ctx, order.order_id, Paid, change(ctx)).await;
    assert!(matches!(illegal, Err(Error::IllegalTransition { from: Refunded, to: Paid })), "{illegal:?}");
    let nobody = OrderId(Uuid::now_v7());
    let absent = orders::change_status(ctx, nobody, Paid, change(ctx)).await;
    assert!(matches!(absent, Err(Error::OrderNotFound { .. })), "{absent:?}");
}

async fn of_two_clerks_one_wins_and_the_other_is_told(target: &Target) {
    let world = World::new(target);
    let processes = [world.ctx.clone(), second_process(target, &world)];
    for _ in 0..3 {
        let order = place(&world.ctx, None).await;
        go(&world.ctx, order.order_id, &[OrderStatus::Paid, OrderStatus::Processing]).await;
        let clerks = (0..10).map(|n| {
            let ctx = processes[n % 2].clone();
            let to = if n % 3 == 0 { OrderStatus::Cancelled } else { OrderStatus::Shipped };
            tokio::spawn(async move { (to, orders::change_status(&ctx, order.order_id, to, change(&ctx)).await) })
        });
        let mut winners = Vec::new();
        for done in join_all(clerks.collect::<Vec<_>>()).await {
            match done.expect("no panic") {
                (to, Ok(order)) => {
                    assert_eq!(order.status, to);
                    winners.push(to);
                }
                (to, Err(Error::IllegalTransition { to: refused, .. })) => assert_eq!(to, refused),
                (_, Err(other)) => panic!("{other}"),
            }
        }
        let [winner] = winners[..] else { panic!("{winners:?}") };
        let found = orders::get_order(&world.ctx, order.order_id).await.expect("found");
        assert_eq!((found.status, found.revision), (winner, 4));
        assert_eq!(orders::list_history(&world.ctx, order.order_id).await.expect("read").len(), 4);
    }
}

async fn the_same_change_is_made_once(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let order = place(ctx, None).await;
    let (_, version) = orders::get_order_versioned(ctx, order.order_id).await.expect("found");
    let paid = Change { expected: version, notes: Some("Paid".into()), ..change(ctx) };
    let tries = (0..8).map(|_| {
        let (ctx, paid) = (ctx.clone(), paid.clone());
        tokio::spawn(async move { orders::change_status(&ctx, order.order_id, OrderStatus::Paid, paid).await })
    });
    for done in join_all(tries.collect::<Vec<_>>()).await {
        assert_eq!(done.expect("no panic").expect("done, or done before").status, OrderStatus::Paid);
    }
    // Also when the order has gone on since.
    go(ctx, order.order_id, &[OrderStatus::Processing]).await;
    let again = orders::change_status(ctx, order.order_id, OrderStatus::Paid, paid).await.expect("done before");
    assert_eq!((again.status, again.revision), (OrderStatus::Processing, 3));
    assert_eq!(orders::list_history(ctx, order.order_id).await.expect("read").len(), 3);
    // Another one who wants the same is told.
    let other = orders::change_status(ctx, order.order_id, OrderStatus::Processing, change(ctx)).await;
    assert!(matches!(other, Err(Error::IllegalTransition { .. })), "{other:?}");
}

async fn a_change_that_rests_on_an_older_order_is_refused(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let order = place(ctx, None).await;
    let (_, version) = orders::get_order_versioned(ctx, order.order_id).await.expect("found");
    orders::note_payment(ctx, order.order_id, PaymentStatus::Authorised, None).await.expect("noted");
    let late = Change { expected: version, ..change(ctx) };
    let refused = orders::change_status(ctx, order.order_id, OrderStatus::Paid, late.clone()).await;
    assert!(matches!(refused, Err(Error::Changed { .. })), "{refused:?}");
    let (_, version) = orders::get_order_versioned(ctx, order.order_id).await.expect("found");
    let current = Change { expected: version, ..late };
    orders::change_status(ctx, order.order_id, OrderStatus::Paid, current).await.expect("it is current");
}

async fn history_rises_also_when_the_clock_stands_still(target: &Target) {
    use OrderStatus::*;
    let world = World::new(target);
    let ctx = &world.ctx;
    let order = place(ctx, None).await;
    world.clock.advance_millis(-5_000);
    go(ctx, order.order_id, &[Paid, Processing, Shipped, Delivered]).await;
    let history = orders::list_history(ctx, order.order_id).await.expect("read");
    assert_eq!(
        history.iter().map(|row| row.status).collect::<Vec<_>>(),
        [Delivered, Shipped, Processing, Paid, Pending]
    );
    assert!(history.is_sorted_by(|a, b| a.status_time > b.status_time), "{history:?}");
}

async fn what_the_provider_says_is_noted_beside_the_status(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let order = place(ctx, None).await;
    for _ in 0..2 {
        let noted = orders::note_payment(ctx, order.order_id, PaymentStatus::Authorised, Some("pay_1")).await;
        let noted = noted.expect("noted");
        assert_eq!(
            (noted.status, noted.payment_status, noted.revision),
            (OrderStatus::Pending, PaymentStatus::Authorised, 2)
        );
    }
    assert_eq!(orders::list_history(ctx, order.order_id).await.expect("read").len(), 1);
}

async fn lists_agree_with_their_orders_after_a_busy_day(target: &Target) {
    use OrderStatus::*;
    let world = World::alone(target);
    let days = (0..8).map(|n: usize| {
        let ctx = world.ctx.clone();
        tokio::spawn(async move {
            let user = n.is_multiple_of(2).then(|| UserId(ctx.new_id()));
            let order = place(&ctx, user).await;
            let ways: [&[OrderStatus]; 4] = [&[Cancelled], &[Paid], &[Paid, Processing, Shipped], &[Paid, Refunded]];
            go(&ctx, order.order_id, ways[n % 4]).await;
            if let Some(user) = user {
                orders::erase_person(&ctx, user).await.expect("erased");
            }
        })
    });
    for day in join_all(days.collect::<Vec<_>>()).await {
        day.expect("no panic");
    }
    let report = world.ctx.store.verify(VerifyOptions::default()).await.expect("verified");
    assert_eq!((report.differences, report.listed), (0, Vec::new()));
    // Four lists are made of each.
    assert_eq!(report.base_rows, 4 * 8);
}

async fn what_the_staff_says_is_noted_on_what_was_read(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let order = place(ctx, Some(UserId(ctx.new_id()))).await;
    let noted = |notes, revision| orders::note_internally(ctx, order.order_id, notes, revision);
    let first = noted(Some("Call before"), Some(order.revision)).await.expect("noted");
    assert_eq!((first.internal_notes.as_deref(), first.revision), (Some("Call before"), order.revision + 1));
    // The same again changes nothing; something else, on the order as it was, is refused.
    assert_eq!(noted(Some("Call before"), Some(order.revision)).await.expect("noted"), first);
    let refused = noted(Some("Do not call"), Some(order.revision)).await;
    assert!(matches!(refused, Err(Error::Changed { .. })), "{refused:?}");
    assert_eq!(noted(None, None).await.expect("noted").internal_notes, None);
}
