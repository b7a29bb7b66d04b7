//! What takes several commits, stopped after every step and taken up again.

use merkato::{
    Context,
    carts::{self, CartEntry, Error, MergePolicy, Which},
    id::{CartId, UserId},
};
use widerow_testing::Target;

use super::{
    DAY_MILLIS, add, add_many, dying, ends_on, finish_commits, gist, item, line, new_guest, new_user, show, stored,
};
use crate::world::World;

widerow_testing::cases!(
    a_merge_stopped_anywhere_ends_as_one_that_was_not,
    a_deletion_stopped_anywhere_is_ended_by_whoever_comes_next,
    a_copy_stopped_anywhere_is_whole_or_swept,
    clearing_stopped_anywhere_leaves_a_true_subtotal,
);

/// Every step on the embedded engine; elsewhere, where each takes its time, a part of them.
fn stride(target: &Target, elsewhere: usize) -> usize {
    if target.name == "embedded" { 1 } else { elsewhere }
}

/// The user has ten lines, the guest fifty, which are taken in two commits; five are in both.
async fn merge_of(ctx: &Context) -> (UserId, carts::Shopper, carts::GuestToken) {
    let ((user, shopper), (token, guest)) = (new_user(ctx), new_guest(ctx));
    add_many(ctx, &shopper, 45..55, 2).await;
    add_many(ctx, &guest, 0..50, 3).await;
    (user, shopper, token)
}

async fn a_merge_stopped_anywhere_ends_as_one_that_was_not(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for (turn, policy) in MergePolicy::ALL.into_iter().enumerate() {
        let (user, shopper, token) = merge_of(ctx).await;
        let whole = carts::merge_guest_cart(ctx, user, &token, policy).await.unwrap();
        let expected = gist(&show(ctx, &shopper, Which::Active).await.lines);
        assert_eq!(expected.len(), 55);
        let mut resumed = 0;
        for steps in (turn..).step_by(stride(target, 4)) {
            let (user, shopper, token) = merge_of(ctx).await;
            let (doomed, faulty) = dying(target, &world, steps as u64);
            let stopped = carts::merge_guest_cart(&doomed, user, &token, policy).await;
            assert_eq!(stopped.is_err(), faulty.has_stopped(), "{stopped:?}");
            show(ctx, &shopper, Which::Active).await;
            // It ends by the policy that it began with, if it had begun.
            let begun = show(ctx, &carts::Shopper::Guest(token.clone()), Which::Active).await.lines.is_empty();
            let second = if begun { MergePolicy::ALL[(turn + 1) % 4] } else { policy };
            let report = carts::merge_guest_cart(ctx, user, &token, second).await.unwrap();
            let cart = show(ctx, &shopper, Which::Active).await;
            assert_eq!(gist(&cart.lines), expected, "{policy:?} stopped after {steps}");
            assert_eq!(stored(ctx, token.cart_id()).await, (0, true));
            let told = report.added.len() + report.changed.len() + report.kept.len();
            match stopped {
                Err(_) => {
                    let all = told + report.earlier as usize;
                    assert!(all == 50 || report == Default::default(), "{all} after {steps}: {report:?}");
                    resumed += usize::from(report.earlier > 0);
                }
                Ok(first) => {
                    assert_eq!(first, carts::MergeReport { cart_id: cart.cart_id, ..whole.clone() });
                    break;
                }
            }
        }
        assert!(resumed > 0, "none was stopped between its commits");
    }
}

async fn listed(ctx: &Context, user: UserId, cart: CartId) -> Option<CartEntry> {
    let entries = carts::list_carts(ctx, user).await.unwrap();
    assert_eq!(entries.iter().filter(|e| e.cart_is_active).count(), 1, "{entries:?}");
    entries.into_iter().find(|e| e.cart_id == cart)
}

async fn a_deletion_stopped_anywhere_is_ended_by_whoever_comes_next(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let mut half_way = [false; 4];
    for steps in (0..).step_by(stride(target, 1)) {
        let mut any_left = false;
        for (healer, half_way) in half_way.iter_mut().enumerate() {
            if target.name != "embedded" && healer != steps as usize % 4 {
                continue;
            }
            let (user, shopper) = new_user(ctx);
            add_many(ctx, &shopper, 0..100, 1).await;
            let cart = carts::find_active_cart(ctx, user).await.unwrap().unwrap().cart_id;
            let other = carts::create_cart(ctx, user, "Other").await.unwrap().cart_id;
            let (doomed, faulty) = dying(target, &world, steps);
            let stopped = carts::delete_cart(&doomed, user, cart, None).await;
            any_left |= faulty.has_stopped();
            let found = carts::show_cart(ctx, &shopper, cart).await;
            let closed = matches!(found, Err(Error::CartNotFound { .. }));
            if !closed {
                assert_eq!(found.unwrap().lines.len(), 100, "all of it, or nothing");
                carts::delete_cart(ctx, user, cart, None).await.unwrap();
            } else if listed(ctx, user, cart).await.is_some() {
                assert!(stopped.is_err());
                *half_way = true;
                match healer {
                    0 => assert_eq!(show(ctx, &shopper, Which::Active).await.cart_id, Some(other)),
                    1 => assert_eq!(add(ctx, &shopper, 1, 1).await.cart_id, Some(other)),
                    2 => drop(carts::delete_cart(ctx, user, cart, None).await.unwrap()),
                    _ => {
                        world.clock.advance_millis(2 * DAY_MILLIS);
                        finish_commits(target, &world).await;
                        let refused = carts::add_line(ctx, &shopper, cart, item(1), 1).await;
                        assert!(matches!(refused, Err(Error::CartNotFound { .. })), "{refused:?}");
                        assert!(carts::sweep(ctx).await.unwrap().finished >= 1);
                    }
                }
            }
            assert_eq!(listed(ctx, user, cart).await, None);
            assert_eq!(listed(ctx, user, other).await.map(|e| e.cart_is_active), Some(true));
            world.clock.advance_millis(2 * DAY_MILLIS);
            finish_commits(target, &world).await;
            carts::sweep(ctx).await.unwrap();
            assert_eq!(stored(ctx, cart).await, (0, false), "stopped after {steps}");
        }
        if !any_left {
            break;
        }
    }
    if target.name == "embedded" {
        assert_eq!(half_way, [true; 4], "each of them found a deletion half-way");
    }
}

async fn a_copy_stopped_anywhere_is_whole_or_swept(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (user, shopper) = new_user(ctx);
    add_many(ctx, &shopper, 0..100, 1).await;
    let original = show(ctx, &shopper, Which::Active).await;
    let source = original.cart_id.unwrap();
    let (mut unlisted, mut unsettled) = (0, 0);
    for steps in (0..).step_by(stride(target, 1)) {
        let (doomed, faulty) = dying(target, &world, steps);
        let day = ctx.now().plus_seconds(24 * 60 * 60).date();
        let stopped = carts::copy_cart(&doomed, user, source, "Copy").await;
        if faulty.has_stopped() {
            world.clock.advance_millis(120_000);
            finish_commits(target, &world).await;
        }
        let begun = ends_on(ctx, day).await;
        let entries = carts::list_carts(ctx, user).await.unwrap();
        let copy = entries.iter().find(|e| e.cart_id != source).map(|e| e.cart_id);
        match (copy, begun.as_slice()) {
            (Some(copy), _) => {
                let shown = show(ctx, &shopper, copy).await;
                assert_eq!(shown.lines, original.lines);
                unsettled += u32::from(shown.expires_at.is_some());
                // It stays, swept or edited or neither.
                world.clock.advance_millis(2 * DAY_MILLIS);
                assert_eq!(show(ctx, &shopper, copy).await.lines, original.lines);
                if steps % 2 == 0 {
                    carts::sweep(ctx).await.unwrap();
                }
                carts::remove_line(ctx, &shopper, copy, line(3)).await.unwrap();
                let after = show(ctx, &shopper, copy).await;
                assert_eq!((after.lines.len(), after.expires_at), (99, None));
                carts::sweep(ctx).await.unwrap();
                assert_eq!(show(ctx, &shopper, copy).await, after);
                carts::delete_cart(ctx, user, copy, None).await.unwrap();
            }
            (None, [half]) => {
                unlisted += 1;
                assert!(stopped.is_err());
                // Closed after a day, and gone after another.
                world.clock.advance_millis(2 * DAY_MILLIS);
                assert_eq!(carts::sweep(ctx).await.unwrap().finished, 1);
                let hidden = carts::show_cart(ctx, &shopper, *half).await;
                assert!(matches!(hidden, Err(Error::CartNotFound { .. })), "{hidden:?}");
                world.clock.advance_millis(2 * DAY_MILLIS);
                carts::sweep(ctx).await.unwrap();
                assert_eq!(stored(ctx, *half).await, (0, false));
            }
            (None, []) => assert!(stopped.is_err()),
            other => panic!("{other:?}"),
        }
        world.clock.advance_millis(3 * DAY_MILLIS);
        carts::sweep(ctx).await.unwrap();
        assert_eq!(show(ctx, &shopper, source).await.lines, original.lines);
        if !faulty.has_stopped() {
            stopped.unwrap();
            break;
        }
    }
    assert!(unlisted > 0 && unsettled > 0, "{unlisted} were never listed, {unsettled} listed and not told");
}

async fn clearing_stopped_anywhere_leaves_a_true_subtotal(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for steps in (0..).step_by(stride(target, 2)) {
        let (_, guest) = new_guest(ctx);
        add_many(ctx, &guest, 0..100, 1).await;
        let (doomed, faulty) = dying(target, &world, steps);
        let stopped = carts::clear_cart(&doomed, &guest, Which::Active).await;
        let left = show(ctx, &guest, Which::Active).await.lines.len();
        assert!([0, 10, 100].contains(&left), "{left} lines are left");
        assert!(left == 0 || stopped.is_err());
        carts::clear_cart(ctx, &guest, Which::Active).await.unwrap();
        assert_eq!(show(ctx, &guest, Which::Active).await.lines, []);
        if !faulty.has_stopped() {
            break;
        }
    }
}
