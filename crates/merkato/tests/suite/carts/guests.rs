//! Guests' carts: found by a token, gone at the instant, swept.

use merkato::carts::{self, GuestToken, Shopper, Which};
use widerow_testing::Target;

use super::{DAY_MILLIS, add, add_many, ends_in, line, new_guest, show, stored};
use crate::world::World;

widerow_testing::cases!(
    a_guest_has_one_cart_by_token,
    a_guests_cart_is_gone_at_the_instant_and_swept_later,
    activity_prolongs_a_guests_cart,
    an_ended_cart_begins_anew,
    a_sweep_of_many_carts_takes_those_that_ended,
);

async fn a_guest_has_one_cart_by_token(target: &Target) {
    let ctx = &World::new(target).ctx;
    let (token, guest) = new_guest(ctx);
    assert_eq!(show(ctx, &guest, Which::Active).await.lines, []);
    assert_eq!(stored(ctx, token.cart_id()).await, (0, false), "to look writes nothing");
    let cart = add(ctx, &guest, 1, 2).await;
    assert_eq!(cart.cart_id, Some(token.cart_id()));
    assert_eq!(show(ctx, &guest, token.cart_id()).await, cart);
    let again = Shopper::Guest(GuestToken::parse(token.as_str()).unwrap());
    assert_eq!(show(ctx, &again, Which::Active).await, cart);
    assert!(!format!("{guest:?}").contains(token.as_str()), "a log would have the secret");
}

async fn a_guests_cart_is_gone_at_the_instant_and_swept_later(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (token, guest) = new_guest(ctx);
    add_many(ctx, &guest, 0..100, 1).await;
    assert_eq!(ends_in(ctx, 30).await, [token.cart_id()]);
    world.clock.advance_millis(30 * DAY_MILLIS - 1);
    assert_eq!(show(ctx, &guest, Which::Active).await.lines.len(), 100);
    world.clock.advance_millis(1);
    let gone = show(ctx, &guest, Which::Active).await;
    assert_eq!((gone.lines.len(), gone.expires_at), (0, None));
    assert_eq!(carts::find_line(ctx, &guest, Which::Active, line(1)).await.unwrap(), None);
    assert_eq!(stored(ctx, token.cart_id()).await, (100, true));
    world.clock.advance_millis(DAY_MILLIS);
    assert_eq!(carts::sweep(ctx).await.unwrap(), carts::Swept { deleted: 1, finished: 0 });
    assert_eq!(stored(ctx, token.cart_id()).await, (0, false));
    assert_eq!(carts::sweep(ctx).await.unwrap(), Default::default());
    assert_eq!(ends_in(ctx, -1).await, []);
}

async fn activity_prolongs_a_guests_cart(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (token, guest) = new_guest(ctx);
    add(ctx, &guest, 1, 1).await;
    world.clock.advance_millis(20 * DAY_MILLIS);
    carts::set_quantity(ctx, &guest, Which::Active, line(1), 2).await.unwrap();
    assert_eq!(ends_in(ctx, 30).await, [token.cart_id()]);
    world.clock.advance_millis(25 * DAY_MILLIS);
    assert_eq!(carts::sweep(ctx).await.unwrap(), Default::default(), "the first end is not its end any more");
    assert_eq!(show(ctx, &guest, Which::Active).await.item_count, 2);
    world.clock.advance_millis(5 * DAY_MILLIS);
    assert_eq!(show(ctx, &guest, Which::Active).await.lines, []);
    world.clock.advance_millis(DAY_MILLIS);
    assert_eq!(carts::sweep(ctx).await.unwrap().deleted, 1);
    assert_eq!(stored(ctx, token.cart_id()).await, (0, false));
}

async fn an_ended_cart_begins_anew(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (token, guest) = new_guest(ctx);
    add_many(ctx, &guest, 0..100, 1).await;
    world.clock.advance_millis(31 * DAY_MILLIS);
    let removed = carts::remove_line(ctx, &guest, Which::Active, line(1)).await;
    assert!(matches!(removed, Err(carts::Error::LineNotFound { .. })));
    let cart = add(ctx, &guest, 7, 1).await;
    assert_eq!(cart.lines.len(), 1);
    assert_eq!(show(ctx, &guest, Which::Active).await, cart);
    assert_eq!(stored(ctx, token.cart_id()).await, (1, true));
    assert_eq!(carts::sweep(ctx).await.unwrap(), Default::default());
    assert_eq!(show(ctx, &guest, Which::Active).await, cart);
}

async fn a_sweep_of_many_carts_takes_those_that_ended(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let many = if target.name == "embedded" { 450 } else { 12 };
    let mut guests = Vec::new();
    for n in 0..many {
        let (token, guest) = new_guest(ctx);
        add(ctx, &guest, n, 1).await;
        guests.push((token, guest));
    }
    world.clock.advance_millis(15 * DAY_MILLIS);
    for (_, guest) in guests.iter().step_by(2) {
        add(ctx, guest, 1_000, 1).await;
    }
    world.clock.advance_millis(17 * DAY_MILLIS);
    let swept = carts::sweep(ctx).await.unwrap();
    assert_eq!(swept, carts::Swept { deleted: many as usize / 2, finished: 0 });
    for (n, (token, _)) in guests.iter().enumerate() {
        assert_eq!(stored(ctx, token.cart_id()).await.0, if n % 2 == 0 { 2 } else { 0 });
    }
}
