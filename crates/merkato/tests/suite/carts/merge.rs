//! A guest's cart merged at login.

use futures::future::join_all;
use merkato::{
    Currency, Kind,
    carts::{self, DropReason, Error, ItemSnapshot, MergePolicy, MergeReport, Which},
    limits,
};
use rust_decimal::Decimal;
use widerow_testing::Target;

use super::{DAY_MILLIS, add, add_many, gist, item, line, new_guest, new_user, show, stored};
use crate::world::World;

widerow_testing::cases!(
    each_policy_decides_what_both_have,
    the_newer_snapshot_is_kept,
    lines_that_cannot_be_taken_are_dropped_with_the_reason,
    a_merged_cart_is_closed_and_merging_again_has_nothing_to_do,
    the_lines_go_into_the_cart_that_was_active_then,
    a_token_that_ended_can_be_merged_again,
    merging_the_same_cart_many_times_at_once_merges_it_once,
    two_guests_merged_at_once_into_one_cart,
    another_user_cannot_take_a_merged_cart,
);

async fn each_policy_decides_what_both_have(target: &Target) {
    let ctx = &World::new(target).ctx;
    for (policy, quantities, changed, kept) in [
        (MergePolicy::Sum, [5, 5, 5, 1], vec![2, 3], vec![]),
        (MergePolicy::Max, [4, 3, 5, 1], vec![3], vec![2]),
        (MergePolicy::KeepMine, [4, 2, 5, 1], vec![], vec![3, 2]),
        (MergePolicy::KeepGuests, [1, 3, 5, 1], vec![2, 3], vec![]),
    ] {
        // Product 1 is the user's alone, 4 the guest's alone; of 2 the user has more, of 3 the guest.
        let ((user, shopper), (token, guest)) = (new_user(ctx), new_guest(ctx));
        for (n, mine, guests) in [(2, 4, 1), (3, 2, 3)] {
            add(ctx, &guest, n, guests).await;
            add(ctx, &shopper, n, mine).await;
        }
        add(ctx, &shopper, 1, 5).await;
        add(ctx, &guest, 4, 1).await;
        let report = carts::merge_guest_cart(ctx, user, &token, policy).await.unwrap();
        let cart = show(ctx, &shopper, Which::Active).await;
        let found = [2, 3, 1, 4].map(|n| cart.lines.iter().find(|l| l.line_id == line(n)).unwrap().quantity);
        assert_eq!(found, quantities, "{policy:?}");
        assert_eq!((report.cart_id, report.earlier), (cart.cart_id, 0));
        assert_eq!((&report.added, report.dropped.len()), (&vec![line(4)], 0));
        let sorted = |mut lines: Vec<_>| {
            lines.sort();
            lines
        };
        let lines = |numbers: Vec<u32>| sorted(numbers.into_iter().map(line).collect());
        assert_eq!(sorted(report.changed), lines(changed), "{policy:?}");
        assert_eq!(sorted(report.kept), lines(kept), "{policy:?}");
    }
}

async fn the_newer_snapshot_is_kept(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let priced = |euros: i64| ItemSnapshot { unit_price: Decimal::from(euros), ..item(1) };
    for (guest_is_newer, policy, price) in [
        (true, MergePolicy::Sum, 20),
        (false, MergePolicy::Sum, 10),
        (true, MergePolicy::KeepMine, 10),
        (false, MergePolicy::KeepGuests, 20),
    ] {
        let ((user, shopper), (token, guest)) = (new_user(ctx), new_guest(ctx));
        let mut adds = [(&shopper, priced(10)), (&guest, priced(20))];
        if !guest_is_newer {
            adds.reverse();
        }
        for (shopper, item) in adds {
            carts::add_line(ctx, shopper, Which::Active, item, 1).await.unwrap();
            world.clock.advance_millis(1_000);
        }
        carts::merge_guest_cart(ctx, user, &token, policy).await.unwrap();
        let cart = show(ctx, &shopper, Which::Active).await;
        assert_eq!(cart.lines[0].unit_price, Decimal::from(price), "{policy:?}");
    }
}

async fn lines_that_cannot_be_taken_are_dropped_with_the_reason(target: &Target) {
    let ctx = &World::new(target).ctx;
    // Another currency.
    let ((user, shopper), (token, guest)) = (new_user(ctx), new_guest(ctx));
    let mine = add(ctx, &shopper, 1, 1).await;
    let dollars = ItemSnapshot { currency: Currency::new("USD"), ..item(1) };
    carts::add_line(ctx, &guest, Which::Active, dollars, 1).await.unwrap();
    let report = carts::merge_guest_cart(ctx, user, &token, MergePolicy::Sum).await.unwrap();
    let reasons = |report: &MergeReport| report.dropped.iter().map(|d| (d.line.line_id, d.reason)).collect::<Vec<_>>();
    assert_eq!(reasons(&report), [(line(1), DropReason::OtherCurrency)]);
    assert_eq!(report.dropped[0].line.product_name, "Product 1");
    assert_eq!(show(ctx, &shopper, Which::Active).await.lines, mine.lines);
    // Too many pieces.
    let (token, guest) = new_guest(ctx);
    add(ctx, &guest, 1, limits::QUANTITY_MAX.into()).await;
    add(ctx, &guest, 2, 1).await;
    let report = carts::merge_guest_cart(ctx, user, &token, MergePolicy::Sum).await.unwrap();
    assert_eq!(reasons(&report), [(line(1), DropReason::TooManyPieces)]);
    assert_eq!(report.added, [line(2)]);
    // Too many lines: the guest's newest are taken while there is room.
    let (_, shopper) = new_user(ctx);
    let carts::Shopper::User(user) = shopper else { unreachable!() };
    add_many(ctx, &shopper, 0..970, 1).await;
    let (token, guest) = new_guest(ctx);
    add_many(ctx, &guest, 960..1_010, 1).await;
    let report = carts::merge_guest_cart(ctx, user, &token, MergePolicy::Sum).await.unwrap();
    assert_eq!(report.added, (980..1_010).rev().map(line).collect::<Vec<_>>());
    assert_eq!(report.changed.len(), 10);
    let dropped: Vec<_> = (970..980).rev().map(|n| (line(n), DropReason::TooManyLines)).collect();
    assert_eq!(reasons(&report), dropped);
    assert_eq!(show(ctx, &shopper, Which::Active).await.lines.len(), 1_000);
}

async fn a_merged_cart_is_closed_and_merging_again_has_nothing_to_do(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let ((user, shopper), (token, guest)) = (new_user(ctx), new_guest(ctx));
    // A guest without a cart.
    let nothing = carts::merge_guest_cart(ctx, user, &token, MergePolicy::Sum).await.unwrap();
    assert_eq!(nothing, MergeReport::default());
    assert_eq!(carts::list_carts(ctx, user).await.unwrap(), [], "nothing was needed");
    add_many(ctx, &guest, 0..100, 1).await;
    let report = carts::merge_guest_cart(ctx, user, &token, MergePolicy::Sum).await.unwrap();
    assert_eq!(report.added.len(), 100);
    let cart = show(ctx, &shopper, Which::Active).await;
    assert_eq!((cart.lines.len(), cart.expires_at), (100, None));
    assert_eq!(stored(ctx, token.cart_id()).await, (0, true));
    let again = carts::merge_guest_cart(ctx, user, &token, MergePolicy::Sum).await.unwrap();
    assert_eq!(again, MergeReport::default());
    assert_eq!(show(ctx, &guest, Which::Active).await.lines, []);
    let refused = carts::add_line(ctx, &guest, Which::Active, item(1), 1).await.unwrap_err();
    assert!(matches!(refused, Error::GuestCartMerged), "{refused:?}");
    assert_eq!((refused.code(), refused.kind()), ("guest_cart_merged", Kind::Refused));
    assert!(matches!(carts::show_cart(ctx, &shopper, token.cart_id()).await, Err(Error::CartNotFound { .. })));
    assert_eq!(show(ctx, &shopper, Which::Active).await, cart);
    world.clock.advance_millis(32 * DAY_MILLIS);
    assert_eq!(carts::sweep(ctx).await.unwrap().deleted, 1);
    assert_eq!(stored(ctx, token.cart_id()).await, (0, false));
}

async fn the_lines_go_into_the_cart_that_was_active_then(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for delete in [false, true] {
        let ((user, shopper), (token, guest)) = (new_user(ctx), new_guest(ctx));
        let first = carts::create_cart(ctx, user, "First").await.unwrap().cart_id;
        let second = carts::create_cart(ctx, user, "Second").await.unwrap().cart_id;
        add_many(ctx, &guest, 0..50, 1).await;
        // Stopped as soon as the guest's cart is closed, or some of its lines were taken in.
        let mut closed = false;
        for steps in 0.. {
            let (doomed, _) = super::dying(target, &world, steps);
            let result = carts::merge_guest_cart(&doomed, user, &token, MergePolicy::Sum).await;
            assert!(result.is_err(), "it never stopped");
            closed = show(ctx, &guest, Which::Active).await.lines.is_empty();
            if closed {
                break;
            }
        }
        assert!(closed);
        let expected = if delete {
            carts::delete_cart(ctx, user, first, None).await.unwrap();
            second
        } else {
            carts::activate_cart(ctx, user, second).await.unwrap();
            first
        };
        let report = carts::merge_guest_cart(ctx, user, &token, MergePolicy::Sum).await.unwrap();
        assert_eq!(report.cart_id, Some(expected));
        let cart = show(ctx, &shopper, expected).await;
        assert_eq!((cart.lines.len(), cart.item_count), (50, 50));
        if !delete {
            assert_eq!(show(ctx, &shopper, second).await.lines, []);
        }
    }
}

async fn a_token_that_ended_can_be_merged_again(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let ((user, shopper), (token, guest)) = (new_user(ctx), new_guest(ctx));
    for round in 1..=2 {
        add(ctx, &guest, 1, 1).await;
        let report = carts::merge_guest_cart(ctx, user, &token, MergePolicy::Sum).await.unwrap();
        assert_eq!(report.added.len() + report.changed.len(), 1, "round {round}");
        assert_eq!(show(ctx, &shopper, Which::Active).await.item_count, round);
        world.clock.advance_millis(31 * DAY_MILLIS);
    }
}

async fn merging_the_same_cart_many_times_at_once_merges_it_once(target: &Target) {
    let ctx = World::new(target).ctx;
    let ((user, shopper), (token, guest)) = (new_user(&ctx), new_guest(&ctx));
    add_many(&ctx, &shopper, 0..30, 1).await;
    add_many(&ctx, &guest, 0..60, 1).await;
    let merges = (0..6).map(|_| {
        let (ctx, token) = (ctx.clone(), token.clone());
        tokio::spawn(async move { carts::merge_guest_cart(&ctx, user, &token, MergePolicy::Sum).await.unwrap() })
    });
    let reports: Vec<MergeReport> = join_all(merges).await.into_iter().map(|r| r.unwrap()).collect();
    let told: usize = reports.iter().map(|r| r.added.len() + r.changed.len()).sum();
    assert_eq!(told, 60, "each line is reported once");
    let cart = show(&ctx, &shopper, Which::Active).await;
    assert_eq!((cart.lines.len(), cart.item_count), (60, 90));
}

async fn two_guests_merged_at_once_into_one_cart(target: &Target) {
    let ctx = World::new(target).ctx;
    let (user, shopper) = new_user(&ctx);
    let mut tokens = Vec::new();
    for first in [0, 30, 60] {
        let (token, guest) = new_guest(&ctx);
        add_many(&ctx, &guest, first..first + 60, 1).await;
        tokens.push(token);
    }
    // Each twice, and edits in between.
    let merges = tokens.iter().chain(&tokens).map(|token| {
        let (ctx, token) = (ctx.clone(), token.clone());
        tokio::spawn(async move { drop(carts::merge_guest_cart(&ctx, user, &token, MergePolicy::Sum).await.unwrap()) })
    });
    let edits = (0..5).map(|_| {
        let (ctx, shopper) = (ctx.clone(), shopper.clone());
        tokio::spawn(async move { drop(add(&ctx, &shopper, 500, 1).await) })
    });
    join_all(merges.chain(edits).collect::<Vec<_>>()).await.into_iter().for_each(|done| done.unwrap());
    let cart = show(&ctx, &shopper, Which::Active).await;
    assert_eq!((cart.lines.len(), cart.item_count), (121, 185));
    let mut once = gist(&cart.lines);
    once.retain(|(l, quantity, _)| *quantity == 1 && *l != line(500));
    assert_eq!(once.len(), 60, "30 of the first guest alone, 30 of the last alone");
}

async fn another_user_cannot_take_a_merged_cart(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let ((user, shopper), (token, guest)) = (new_user(ctx), new_guest(ctx));
    let (other, others) = new_user(ctx);
    add_many(ctx, &guest, 0..10, 1).await;
    // Closed for the first user, not taken in yet.
    for steps in 0.. {
        let (doomed, _) = super::dying(target, &world, steps);
        let _ = carts::merge_guest_cart(&doomed, user, &token, MergePolicy::Sum).await;
        if show(ctx, &guest, Which::Active).await.lines.is_empty() {
            break;
        }
    }
    let nothing = carts::merge_guest_cart(ctx, other, &token, MergePolicy::Sum).await.unwrap();
    assert_eq!(nothing, MergeReport::default());
    assert_eq!(show(ctx, &others, Which::Active).await.lines, []);
    carts::merge_guest_cart(ctx, user, &token, MergePolicy::Sum).await.unwrap();
    assert_eq!(show(ctx, &shopper, Which::Active).await.item_count, 10);
}
