//! One hold over several products.

use merkato::{
    id::ProductId,
    inventory::{self, Error, HoldState, Line, Shortage},
};
use widerow_testing::{Target, cases};

use super::{MAIN, assert_sound, figures, new_hold, reserve, stocked};
use crate::world::World;

cases![
    all_lines_are_held_or_none,
    lines_on_one_product_are_summed,
    a_refused_confirmation_gives_back_what_was_confirmed,
    lines_are_released_extended_and_given_back_together,
    hundreds_of_lines_are_held_and_confirmed,
];

/// Products in the order of their ids, each with so many units.
async fn products(world: &World, units: &[i64]) -> Vec<ProductId> {
    let mut products = Vec::new();
    for _ in units {
        products.push(ProductId(world.ctx.new_id()));
    }
    products.sort();
    for (product, units) in products.iter().zip(units).filter(|(_, units)| **units > 0) {
        let ctx = &world.ctx;
        let note = inventory::Note::default();
        inventory::restock(ctx, super::new_movement(ctx), *product, MAIN, *units, note).await.unwrap();
    }
    products
}

fn lines(products: &[ProductId], quantity: i64) -> Vec<Line> {
    // Backwards: the order is not the caller's.
    products.iter().rev().map(|product| Line { product_id: *product, quantity }).collect()
}

async fn all_lines_are_held_or_none(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let some = products(&world, &[5, 1, 5, 0, 5]).await;
    let hold = new_hold(ctx);
    let refused = inventory::reserve_lines(ctx, hold, &lines(&some, 2), None).await;
    let Err(Error::InsufficientStock { short }) = refused else { panic!("{refused:?}") };
    let shortage = |n: usize, available| Shortage { product: some[n], wanted: 2, available };
    assert_eq!(short, [shortage(1, 1), shortage(3, 0)]);
    for product in &some {
        assert_eq!(figures(ctx, *product).await.1, 0);
    }
    // The last line is the one that is refused.
    let refused = inventory::reserve_lines(ctx, new_hold(ctx), &lines(&some[..2], 2), None).await;
    assert!(matches!(refused, Err(Error::InsufficientStock { .. })), "{refused:?}");
    assert_eq!(figures(ctx, some[0]).await, (5, 0));
    let hold = new_hold(ctx);
    let good = [some[0], some[2], some[4]];
    for _ in 0..2 {
        let held = inventory::reserve_lines(ctx, hold, &lines(&good, 2), None).await.unwrap();
        assert_eq!(held.iter().map(|hold| hold.product_id).collect::<Vec<_>>(), good);
    }
    // A refusal for another reason than stock leaves nothing either.
    let mismatched = inventory::reserve_lines(ctx, hold, &lines(&good[2..], 3), None).await;
    assert!(matches!(mismatched, Err(Error::HoldMismatch { .. })), "{mismatched:?}");
    inventory::confirm_lines(ctx, hold, &good).await.unwrap();
    for product in good {
        assert_eq!(figures(ctx, product).await, (3, 0));
        assert_sound(ctx, product).await;
    }
}

async fn lines_on_one_product_are_summed(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product_id = stocked(ctx, &[(MAIN, 5)]).await;
    let twice = |quantity| [Line { product_id, quantity: 2 }, Line { product_id, quantity }];
    let refused = inventory::reserve_lines(ctx, new_hold(ctx), &twice(4), None).await;
    let Err(Error::InsufficientStock { short }) = refused else { panic!("{refused:?}") };
    assert_eq!(short, [Shortage { product: product_id, wanted: 6, available: 5 }]);
    let held = inventory::reserve_lines(ctx, new_hold(ctx), &twice(3), None).await.unwrap();
    assert_eq!((held.len(), held[0].quantity), (1, 5));
    assert_eq!(figures(ctx, product_id).await, (5, 5));
}

async fn a_refused_confirmation_gives_back_what_was_confirmed(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let some = products(&world, &[2, 2, 1]).await;
    let (hold, rival) = (new_hold(ctx), new_hold(ctx));
    inventory::reserve_lines(ctx, hold, &lines(&some, 1), None).await.unwrap();
    world.clock.advance_millis(1_000_000);
    reserve(ctx, some[2], rival, 1).await.unwrap();
    for _ in 0..2 {
        let refused = inventory::confirm_lines(ctx, hold, &some).await;
        assert!(refused.as_ref().is_err_and(Error::is_refusal), "{refused:?}");
        for product in &some[..2] {
            assert_eq!(figures(ctx, *product).await, (2, 0));
        }
        assert_eq!(figures(ctx, some[2]).await, (1, 1));
        // The unit is free again, too late.
        inventory::release(ctx, some[2], rival).await.unwrap();
        reserve(ctx, some[2], new_hold(ctx), 1).await.ok();
    }
    for product in some {
        assert_sound(ctx, product).await;
    }
}

async fn lines_are_released_extended_and_given_back_together(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let some = products(&world, &[3, 3, 3]).await;
    let (hold, other) = (new_hold(ctx), new_hold(ctx));
    let held = inventory::reserve_lines(ctx, hold, &lines(&some, 3), None).await.unwrap();
    let longer = inventory::extend_lines(ctx, hold, &some, ctx.now().plus_seconds(1_800)).await.unwrap();
    assert!(held.iter().zip(&longer).all(|(old, new)| new.ends_at > old.ends_at));
    inventory::release_lines(ctx, hold, &some).await.unwrap();
    inventory::reserve_lines(ctx, other, &lines(&some, 3), None).await.unwrap();
    let refused = inventory::give_back_lines(ctx, other, &some).await;
    assert!(matches!(refused, Err(Error::HoldNotConfirmed { .. })), "{refused:?}");
    inventory::confirm_lines(ctx, other, &some).await.unwrap();
    for _ in 0..2 {
        let back = inventory::give_back_lines(ctx, other, &some).await.unwrap();
        assert!(back.iter().all(|hold| hold.state == HoldState::Returned));
        for product in &some {
            assert_eq!(figures(ctx, *product).await, (3, 0));
        }
    }
}

/// More than one commit takes on any engine, as each of the products runs low: where it is not one, it is one after the other.
async fn hundreds_of_lines_are_held_and_confirmed(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    // Elsewhere it is a commit a product anyhow.
    let count = if ctx.store.commits_jointly() { 700 } else { 20 };
    let some = products(&world, &vec![6; count]).await;
    for product in &some {
        inventory::set_low_stock_threshold(ctx, *product, MAIN, 3).await.unwrap();
    }
    let hold = new_hold(ctx);
    for _ in 0..2 {
        assert_eq!(inventory::reserve_lines(ctx, hold, &lines(&some, 4), None).await.unwrap().len(), count);
    }
    assert_eq!(inventory::confirm_lines(ctx, hold, &some).await.unwrap().len(), count);
    for product in [some[0], some[count - 1]] {
        assert_eq!(figures(ctx, product).await, (2, 0));
        assert_sound(ctx, product).await;
    }
}
