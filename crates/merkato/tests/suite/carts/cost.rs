//! What every access pattern costs, with few rows and with many beside them.

use merkato::carts::{self, MergePolicy, PATTERNS, Which};
use widerow::meter::{Cost, measure};
use widerow_testing::Target;

use super::{DAY_MILLIS, add, add_many, line, new_guest, new_user, product};
use crate::world::World;

widerow_testing::cases!(reads_cost_one_partition_each, edits_cost_one_conditional_write,);

fn admits(name: &str, cost: &Cost, rows: usize) {
    let pattern = PATTERNS.iter().find(|p| p.name == name).expect("it is listed");
    assert!(pattern.cost.admits(cost, rows as u64), "{name}, {rows} rows: {cost}");
}

/// One request; on DynamoDB, whose static columns are an item of their own, two side by side.
fn requests(target: &Target) -> u64 {
    if target.name == "dynamodb" { 2 } else { 1 }
}

async fn reads_cost_one_partition_each(target: &Target) {
    let ctx = &World::new(target).ctx;
    for (carts_beside, lines) in [(0, 1), (9, 45)] {
        let ((user, shopper), (_, guest)) = (new_user(ctx), new_guest(ctx));
        for n in 0..carts_beside {
            let other = carts::create_cart(ctx, user, &format!("{n}")).await.unwrap();
            carts::add_line(ctx, &shopper, other.cart_id, super::item(n), 1).await.unwrap();
        }
        let own = carts::create_cart(ctx, user, "Own").await.unwrap();
        carts::activate_cart(ctx, user, own.cart_id).await.unwrap();
        add_many(ctx, &shopper, 0..lines, 1).await;
        add_many(ctx, &guest, 0..lines, 1).await;
        let lines = lines as usize;
        let (entries, cost) = measure(carts::list_carts(ctx, user)).await;
        admits("named-carts Q4", &cost, entries.unwrap().len());
        assert_eq!((cost.partitions_read, cost.round_trips), (1, requests(target)), "{cost}");
        let (active, cost) = measure(carts::find_active_cart(ctx, user)).await;
        assert_eq!(active.unwrap().unwrap().cart_id, own.cart_id);
        admits("named-carts Q1", &cost, carts_beside as usize + 1);
        for (shopper, which) in [(&shopper, Which::Cart(own.cart_id)), (&guest, Which::Active)] {
            let (cart, cost) = measure(carts::show_cart(ctx, shopper, which)).await;
            assert_eq!(cart.unwrap().lines.len(), lines);
            admits("named-carts Q5, Q9", &cost, lines);
            assert_eq!((cost.partitions_read, cost.round_trips), (1, requests(target)), "{cost}");
            let (found, cost) = measure(carts::find_product(ctx, shopper, which, product(0))).await;
            assert_eq!(found.unwrap().len(), 1);
            admits("Q10", &cost, lines);
            let (found, cost) = measure(carts::find_line(ctx, shopper, which, line(0))).await;
            assert!(found.unwrap().is_some());
            admits("Q10", &cost, lines);
        }
        let (_, cost) = measure(carts::show_cart(ctx, &shopper, Which::Active)).await;
        assert_eq!((cost.partitions_read, cost.round_trips), (2, 2 * requests(target)), "{cost}");
    }
}

async fn edits_cost_one_conditional_write(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    // DynamoDB reads the bookkeeping of a partition that it decides upon by itself.
    let decision = if target.name == "dynamodb" { 2 } else { 1 };
    let ((user, shopper), (token, guest)) = (new_user(ctx), new_guest(ctx));
    let (_, other) = (carts::create_cart(ctx, user, "A").await, carts::create_cart(ctx, user, "B").await);
    let other = other.unwrap().cart_id;
    add(ctx, &shopper, 1, 1).await;
    add(ctx, &guest, 1, 1).await;
    // U1 by a guest: the cart is read and written, once each. Its end is noted elsewhere once a day.
    let (_, cost) = measure(add(ctx, &guest, 2, 1)).await;
    assert_eq!((cost.partitions_read, cost.conditional_writes, cost.partitions_written), (decision, 1, 1), "{cost}");
    world.clock.advance_millis(DAY_MILLIS);
    let (_, cost) = measure(add(ctx, &guest, 2, 1)).await;
    assert_eq!(cost.conditional_writes, 1, "{cost}");
    assert!(cost.partitions_written > 1, "{cost}");
    // U1 by a user: the list is read before.
    let (_, cost) = measure(add(ctx, &shopper, 2, 1)).await;
    assert_eq!(
        (cost.partitions_read, cost.conditional_writes, cost.partitions_written),
        (1 + decision, 1, 1),
        "{cost}"
    );
    let (_, cost) = measure(carts::set_quantity(ctx, &guest, Which::Active, line(1), 5)).await;
    assert_eq!((cost.partitions_read, cost.conditional_writes), (decision, 1), "{cost}");
    let (_, cost) = measure(carts::set_quantity(ctx, &guest, Which::Active, line(1), 5)).await;
    assert_eq!((cost.partitions_read, cost.conditional_writes), (decision, 0), "nothing changed: {cost}");
    // U2: two rows of one partition, and beside them the event and its mark.
    let (_, cost) = measure(carts::activate_cart(ctx, user, other)).await;
    assert_eq!((cost.partitions_read, cost.conditional_writes), (decision, 1), "{cost}");
    assert!(cost.partitions_written >= 3, "{cost}");
    let (_, cost) = measure(carts::rename_cart(ctx, user, other, "C")).await;
    assert_eq!((cost.partitions_read, cost.conditional_writes), (decision, 1), "{cost}");
    // A login without a guest's cart: one read. With one: it is closed, taken in, emptied.
    let (nothing, _) = new_guest(ctx);
    let (_, cost) = measure(carts::merge_guest_cart(ctx, user, &nothing, MergePolicy::Sum)).await;
    assert_eq!((cost.partitions_read, cost.conditional_writes), (1, 0), "{cost}");
    let (_, cost) = measure(carts::merge_guest_cart(ctx, user, &token, MergePolicy::Sum)).await;
    assert_eq!(cost.conditional_writes, 3, "{cost}");
}
