//! Deliveries, counts, transfers; what is low; what has drifted.

use std::collections::BTreeMap;

use merkato::{
    Context, PageRequest,
    id::{HoldId, ProductId},
    inventory::{self, Error, Inventory, Level, MovementKind, Note, StockDifference},
};
use uuid::Uuid;
use widerow::{
    Commit,
    meter::{self, measure},
    store::VerifyOptions,
};
use widerow_testing::{Target, cases};

use super::{MAIN, assert_sound, figures, new_hold, new_movement, reserve, stocked};
use crate::world::World;

cases![
    reserved_units_are_neither_adjusted_nor_transferred_away,
    one_movement_id_stands_for_one_movement,
    a_count_is_what_is_there,
    of_two_counts_that_rest_on_the_same_stock_one_is_refused,
    every_movement_is_a_fact,
    a_delivery_that_is_sent_many_times_at_once_comes_in_once,
    low_stock_is_listed_scarcest_first_and_follows,
    warehouses_are_listed_from_their_first_delivery_on,
    a_sweep_settles_what_has_ended,
    stock_that_drifted_is_found,
    stock_that_drifted_is_mended_by_its_holds,
    what_only_a_count_can_tell_is_left,
    stock_is_mended_while_it_is_sold,
    a_product_is_in_so_many_warehouses_and_no_more,
];

fn counted() -> Note {
    Note { actor: Some("ada".into()), reason: Some("counted".into()) }
}

async fn reserved_units_are_neither_adjusted_nor_transferred_away(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product = stocked(ctx, &[("a", 10)]).await;
    let hold = new_hold(ctx);
    reserve(ctx, product, hold, 7).await.unwrap();
    let not_free = |error: Error, wanted| {
        let Error::NotFree { warehouse, quantity, reserved, wanted: w } = error else { panic!("{error}") };
        assert_eq!((warehouse.as_str(), quantity, reserved, w), ("a", 10, 7, wanted));
    };
    not_free(inventory::adjust(ctx, new_movement(ctx), product, "a", -4, counted()).await.unwrap_err(), 4);
    let moved = inventory::transfer(ctx, new_movement(ctx), product, ("a", "b"), 5, counted()).await;
    not_free(moved.unwrap_err(), 5);
    let nothing = inventory::adjust(ctx, new_movement(ctx), product, "z", -1, counted()).await;
    assert!(matches!(nothing, Err(Error::NotFree { quantity: 0, .. })), "{nothing:?}");
    assert_eq!(figures(ctx, product).await, (10, 7));
    inventory::transfer(ctx, new_movement(ctx), product, ("a", "b"), 3, counted()).await.unwrap();
    assert_eq!(figures(ctx, product).await, (10, 7));
    // What has ended can be moved.
    world.clock.advance_millis(1_000_000);
    inventory::adjust(ctx, new_movement(ctx), product, "a", -7, counted()).await.unwrap();
    assert_eq!(figures(ctx, product).await, (3, 0));
    assert_sound(ctx, product).await;
}

fn level(quantity: i64) -> Level {
    Level { quantity, low_stock_threshold: None }
}

async fn a_count_is_what_is_there(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product = stocked(ctx, &[("a", 10)]).await;
    reserve(ctx, product, new_hold(ctx), 4).await.unwrap();
    let (id, set) = (new_movement(ctx), inventory::set_level);
    let low = Level { quantity: 7, low_stock_threshold: Some(3) };
    set(ctx, id, product, "a", low, None, counted()).await.unwrap();
    assert_eq!(figures(ctx, product).await, (7, 4));
    let listed = inventory::list_low_stock(ctx, "a", PageRequest::default()).await.unwrap().rows;
    assert!(listed.iter().any(|row| row.product_id == product && row.available == 3), "{listed:?}");
    // It is made once, whatever was sold since; one that finds what was there is remembered as well.
    inventory::adjust(ctx, new_movement(ctx), product, "a", -1, counted()).await.unwrap();
    let same = new_movement(ctx);
    set(ctx, same, product, "a", level(6), None, counted()).await.unwrap();
    inventory::adjust(ctx, new_movement(ctx), product, "a", -1, counted()).await.unwrap();
    set(ctx, id, product, "a", low, Some(0), counted()).await.unwrap();
    set(ctx, same, product, "a", level(6), None, counted()).await.unwrap();
    assert_eq!(figures(ctx, product).await, (5, 4));
    let elsewhere = set(ctx, id, product, "b", low, None, counted()).await;
    assert!(matches!(elsewhere, Err(Error::MovementMismatch { .. })), "{elsewhere:?}");
    let less = set(ctx, new_movement(ctx), product, "a", level(3), None, counted()).await;
    assert!(matches!(less, Err(Error::NotFree { reserved: 4, .. })), "{less:?}");
    for wrong in [level(-1), level(i64::MAX), Level { quantity: 5, low_stock_threshold: Some(-1) }] {
        let refused = set(ctx, new_movement(ctx), product, "a", wrong, None, counted()).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    }
    let moved = inventory::list_movements(ctx, product, PageRequest::default()).await.unwrap().rows;
    assert_eq!(moved.iter().filter(|row| row.movement_id == same).count(), 0);
    assert_eq!(moved.iter().find(|row| row.movement_id == id).map(|row| row.delta), Some(-3));
    assert_sound(ctx, product).await;
}

/// RACE: eight count at once, and each says what its count rests upon.
async fn of_two_counts_that_rest_on_the_same_stock_one_is_refused(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product = stocked(ctx, &[("a", 10)]).await;
    let mark = inventory::get_stock(ctx, product).await.unwrap().mark();
    let count = |units| inventory::set_level(ctx, new_movement(ctx), product, "a", level(units), Some(mark), counted());
    let answers = futures::future::join_all((20..28).map(count)).await;
    let made: Vec<i64> = answers.iter().flatten().map(|moved| moved.stock.quantity()).collect();
    assert_eq!(made.len(), 1, "{answers:?}");
    assert_eq!(i64::from(figures(ctx, product).await.0), made[0]);
    for refused in answers.iter().filter_map(|answer| answer.as_ref().err()) {
        assert!(matches!(refused, Error::Changed { .. }), "{refused}");
    }
    // Held units are a change, too.
    let mark = inventory::get_stock(ctx, product).await.unwrap().mark();
    reserve(ctx, product, new_hold(ctx), 1).await.unwrap();
    let late = inventory::set_level(ctx, new_movement(ctx), product, "a", level(9), Some(mark), counted()).await;
    assert!(matches!(late, Err(Error::Changed { .. })), "{late:?}");
}

async fn one_movement_id_stands_for_one_movement(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product = stocked(ctx, &[("a", 10)]).await;
    let id = new_movement(ctx);
    inventory::restock(ctx, id, product, "a", 5, Note::default()).await.unwrap();
    for other in [
        inventory::restock(ctx, id, product, "a", 6, Note::default()).await,
        inventory::restock(ctx, id, product, "b", 5, Note::default()).await,
        inventory::adjust(ctx, id, product, "a", 5, counted()).await,
    ] {
        assert!(matches!(other, Err(Error::MovementMismatch { .. })), "{other:?}");
    }
    assert_eq!(figures(ctx, product).await, (15, 0));
}

async fn every_movement_is_a_fact(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product = stocked(ctx, &[("a", 10)]).await;
    world.clock.advance_millis(1_000);
    inventory::adjust(ctx, new_movement(ctx), product, "a", -2, counted()).await.unwrap();
    world.clock.advance_millis(1_000);
    let id = new_movement(ctx);
    for _ in 0..2 {
        inventory::transfer(ctx, id, product, ("a", "b"), 3, Note::default()).await.unwrap();
        world.clock.advance_millis(1_000);
    }
    let facts = inventory::list_movements(ctx, product, PageRequest::default()).await.unwrap().rows;
    let gist: Vec<_> = facts.iter().map(|f| (f.kind, f.delta, f.to_warehouse_id.as_deref())).collect();
    let (restock, adjust, transfer) = (MovementKind::Restock, MovementKind::Adjust, MovementKind::Transfer);
    assert_eq!(gist, [(transfer, -3, Some("b")), (adjust, -2, None), (restock, 10, None)]);
    assert_eq!((facts[1].actor.as_deref(), facts[1].reason.as_deref()), (Some("ada"), Some("counted")));
}

async fn a_delivery_that_is_sent_many_times_at_once_comes_in_once(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (product, id) = (ProductId(ctx.new_id()), new_movement(ctx));
    let other = super::other_process(&world, target.engine());
    let sent = (0..8).map(|n| {
        let ctx = if n % 2 == 0 { ctx } else { &other };
        inventory::restock(ctx, id, product, MAIN, 5, Note::default())
    });
    for moved in futures::future::join_all(sent).await {
        moved.unwrap();
    }
    assert_eq!(figures(ctx, product).await, (5, 0));
    assert_eq!(inventory::list_movements(ctx, product, PageRequest::default()).await.unwrap().rows.len(), 1);
}

async fn low(ctx: &Context) -> Vec<(ProductId, i32)> {
    let page = inventory::list_low_stock(ctx, MAIN, PageRequest::default()).await.unwrap();
    page.rows.iter().map(|row| (row.product_id, row.available)).collect()
}

async fn low_stock_is_listed_scarcest_first_and_follows(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (few, many) = (stocked(ctx, &[(MAIN, 5)]).await, stocked(ctx, &[(MAIN, 500)]).await);
    for product in [few, many] {
        inventory::set_low_stock_threshold(ctx, product, MAIN, 8).await.unwrap();
    }
    assert_eq!(low(ctx).await, [(few, 5)]);
    // Far from the threshold, nothing is written but the stock itself.
    let (held, cost) = meter::measure(reserve(ctx, many, new_hold(ctx), 400)).await;
    held.unwrap();
    assert_eq!(cost.partitions_written, 1, "{cost}");
    let hold = new_hold(ctx);
    reserve(ctx, many, hold, 97).await.unwrap();
    assert_eq!(low(ctx).await, [(many, 3), (few, 5)]);
    inventory::release(ctx, many, hold).await.unwrap();
    reserve(ctx, few, new_hold(ctx), 5).await.unwrap();
    assert_eq!(low(ctx).await, [(few, 0)]);
    inventory::set_low_stock_threshold(ctx, few, MAIN, 0).await.unwrap();
    assert_eq!(low(ctx).await, []);
    let nowhere = inventory::set_low_stock_threshold(ctx, few, "nowhere", 5).await;
    assert!(matches!(nowhere, Err(Error::WarehouseNotFound { .. })), "{nowhere:?}");
}

async fn a_sweep_settles_what_has_ended(target: &Target) {
    let world = World::alone(target);
    let ctx = &world.ctx;
    let (product, other) = (stocked(ctx, &[(MAIN, 5)]).await, stocked(ctx, &[(MAIN, 5)]).await);
    inventory::set_low_stock_threshold(ctx, product, MAIN, 3).await.unwrap();
    reserve(ctx, product, new_hold(ctx), 4).await.unwrap();
    reserve(ctx, other, new_hold(ctx), 4).await.unwrap();
    assert_eq!(low(ctx).await, [(product, 1)]);
    assert_eq!(inventory::sweep(ctx).await.unwrap(), 0);
    world.clock.advance_millis(1_000_000);
    assert_eq!(inventory::sweep(ctx).await.unwrap(), 2);
    assert_eq!(inventory::sweep(ctx).await.unwrap(), 0);
    assert_eq!(low(ctx).await, []);
    let verified = inventory::verify_stock(ctx, None).await.unwrap();
    assert_eq!((verified.products, verified.differences.len()), (2, 0));
    assert_eq!(world.ctx.store.verify(VerifyOptions::default()).await.unwrap().differences, 0);
}

async fn stock_that_drifted_is_found(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product = stocked(ctx, &[(MAIN, 5)]).await;
    reserve(ctx, product, new_hold(ctx), 2).await.unwrap();
    assert_sound(ctx, product).await;
    let key = (product, HoldId(Uuid::nil()), MAIN.to_owned());
    let row = ctx.store.get::<Inventory>(key).await.unwrap().unwrap();
    let forged = Inventory { reserved: Some(1), ending: Default::default(), ..row };
    ctx.store.commit(Commit::new().put(&forged)).await.unwrap();
    let found = inventory::verify_stock(ctx, Some(product)).await.unwrap().differences;
    let warehouse = MAIN.to_owned();
    let difference = StockDifference { product, warehouse, quantity: 5, reserved: 1, ending: 0, in_force: 0, held: 2 };
    assert_eq!(found, [difference]);
}

/// The row of a warehouse's stock, changed by a hand that nothing guards.
async fn forge(ctx: &Context, product: ProductId, warehouse: &str, change: impl FnOnce(Inventory) -> Inventory) {
    let key = (product, HoldId(Uuid::nil()), warehouse.to_owned());
    let row = ctx.store.get::<Inventory>(key).await.unwrap().unwrap();
    ctx.store.commit(Commit::new().put(&change(row))).await.unwrap();
}

async fn stock_that_drifted_is_mended_by_its_holds(target: &Target) {
    let world = World::alone(target);
    let ctx = &world.ctx;
    let (product, sound) = (stocked(ctx, &[(MAIN, 9), ("other", 1)]).await, stocked(ctx, &[(MAIN, 5)]).await);
    let hold = new_hold(ctx);
    reserve(ctx, product, hold, 2).await.unwrap();
    world.clock.advance_millis(60_000);
    let later = new_hold(ctx);
    reserve(ctx, product, later, 3).await.unwrap();
    reserve(ctx, sound, new_hold(ctx), 1).await.unwrap();
    // Units that nobody holds, units that are forgotten, a sum that is none.
    for forged in 0..3 {
        forge(ctx, product, MAIN, |row| match forged {
            0 => Inventory { ending: BTreeMap::from([(ctx.now().plus_seconds(500), 8)]), reserved: Some(8), ..row },
            1 => Inventory { ending: BTreeMap::new(), reserved: Some(0), ..row },
            _ => Inventory { reserved: Some(7), ..row },
        })
        .await;
        let found = inventory::verify_stock(ctx, None).await.unwrap().differences;
        assert_eq!(found.len(), 1);
        let repaired = inventory::repair_stock(ctx, None).await.unwrap();
        assert_eq!((repaired.products, repaired.mended, repaired.left), (2, found, vec![]));
        assert_eq!(figures(ctx, product).await, (10, 5));
        assert_sound(ctx, product).await;
        let (again, cost) = measure(inventory::repair_stock(ctx, None)).await;
        assert_eq!(again.unwrap(), inventory::Repaired { products: 2, ..Default::default() });
        assert_eq!(cost.conditional_writes, 0);
    }
    // Each hold ends at its own instant, and what it has is sold.
    inventory::confirm(ctx, product, hold).await.unwrap();
    assert_eq!(figures(ctx, product).await, (8, 3));
    world.clock.advance_millis(1_000_000);
    assert_eq!(figures(ctx, product).await, (8, 0));
    assert_eq!(world.ctx.store.verify(VerifyOptions::default()).await.unwrap().differences, 0);
}

async fn what_only_a_count_can_tell_is_left(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product = stocked(ctx, &[(MAIN, 5)]).await;
    reserve(ctx, product, new_hold(ctx), 4).await.unwrap();
    forge(ctx, product, MAIN, |row| Inventory { quantity: Some(3), reserved: Some(0), ending: BTreeMap::new(), ..row })
        .await;
    for _ in 0..2 {
        let repaired = inventory::repair_stock(ctx, Some(product)).await.unwrap();
        let warehouse = MAIN.to_owned();
        let left = StockDifference { product, warehouse, quantity: 3, reserved: 4, ending: 4, in_force: 4, held: 4 };
        assert_eq!((repaired.mended, repaired.left), (vec![], vec![left]));
    }
    // Nothing more is sold until there is something.
    assert_eq!(reserve(ctx, product, new_hold(ctx), 1).await.unwrap_err().code(), "insufficient_stock");
    inventory::restock(ctx, new_movement(ctx), product, MAIN, 2, Note::default()).await.unwrap();
    assert_sound(ctx, product).await;
    reserve(ctx, product, new_hold(ctx), 1).await.unwrap();
}

async fn stock_is_mended_while_it_is_sold(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product = stocked(ctx, &[(MAIN, 100)]).await;
    for _ in 0..5 {
        reserve(ctx, product, new_hold(ctx), 1).await.unwrap();
        forge(ctx, product, MAIN, |mut row| {
            row.ending.insert(ctx.now().plus_seconds(777), 9);
            Inventory { reserved: row.reserved.map(|units| units + 9), ..row }
        })
        .await;
        let sold = futures::future::join_all((0..5).map(|_| reserve(ctx, product, new_hold(ctx), 1)));
        let (repaired, sold) = tokio::join!(inventory::repair_stock(ctx, Some(product)), sold);
        assert!(repaired.unwrap().left.is_empty());
        assert!(sold.iter().all(Result::is_ok), "{sold:?}");
    }
    inventory::repair_stock(ctx, Some(product)).await.unwrap();
    assert_eq!(figures(ctx, product).await, (100, 30));
    assert_sound(ctx, product).await;
}

async fn a_product_is_in_so_many_warehouses_and_no_more(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let names: Vec<String> = (0..50).map(|n| format!("w{n:02}")).collect();
    let all: Vec<(&str, i64)> = names.iter().map(|name| (name.as_str(), 2)).collect();
    let product = stocked(ctx, &all).await;
    let more = inventory::restock(ctx, new_movement(ctx), product, "more", 1, Note::default()).await;
    assert!(matches!(more, Err(Error::TooManyWarehouses { limit: 50 })), "{more:?}");
    // Requests that together write more rows than one commit takes are all decided.
    let asked = (0..70).map(|_| reserve(ctx, product, new_hold(ctx), 1));
    let held = futures::future::join_all(asked).await;
    assert!(held.iter().all(Result::is_ok), "{held:?}");
    let whole = reserve(ctx, product, new_hold(ctx), 30).await.unwrap();
    assert_eq!(whole.allocations.len(), 30);
    assert_eq!(figures(ctx, product).await, (100, 100));
    assert_sound(ctx, product).await;
}

async fn warehouses_are_listed_from_their_first_delivery_on(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let list = || async {
        let page = inventory::list_warehouses(ctx, PageRequest::default()).await.unwrap();
        page.rows.into_iter().map(|row| row.warehouse_id).collect::<Vec<_>>()
    };
    assert!(list().await.is_empty());
    let product = stocked(ctx, &[("linz", 5)]).await;
    stocked(ctx, &[("linz", 5)]).await;
    inventory::transfer(ctx, new_movement(ctx), product, ("linz", "graz"), 2, Note::default()).await.unwrap();
    let level = Level { quantity: 3, low_stock_threshold: None };
    inventory::set_level(ctx, new_movement(ctx), product, "wels", level, None, counted()).await.unwrap();
    assert_eq!(list().await, ["graz", "linz", "wels"]);
}
