//! What every access pattern of the inventory costs: as its declaration says, and the same with few holds and with many.

use futures::future::join_all;
use merkato::{
    AccessPattern, Context, PageRequest,
    id::{HoldId, ProductId},
    inventory::{self, Error},
};
use widerow::meter::{self, Cost};
use widerow_testing::{Target, cases};

use super::{MAIN, assert_sound, new_hold, reserve, stocked};
use crate::world::{World, patiently};

cases![every_pattern_costs_what_it_says_with_few_holds_and_with_many];

const WAREHOUSES: u64 = 3;
const PAGE: usize = 10;

async fn every_pattern_costs_what_it_says_with_few_holds_and_with_many(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product = stocked(ctx, &[("a", 9_000), ("b", 9_000), (MAIN, 9_000)]).await;
    inventory::set_low_stock_threshold(ctx, product, MAIN, 1).await.unwrap();
    for n in 0..12 {
        let low = stocked(ctx, &[(MAIN, n + 1)]).await;
        inventory::set_low_stock_threshold(ctx, low, MAIN, 100).await.unwrap();
        let note = inventory::Note::default();
        inventory::restock(ctx, super::new_movement(ctx), product, "a", 1, note).await.unwrap();
    }
    hold(ctx, product, 12).await;
    let few = measure(ctx, product).await;
    hold(ctx, product, if target.name == "embedded" { 5_000 } else { 1_000 }).await;
    let many = measure(ctx, product).await;
    for ((pattern, rows, few), (_, _, many)) in few.iter().zip(&many) {
        assert!(pattern.cost.admits(few, *rows), "{}: {few}", pattern.name);
        let counts = |cost: &Cost| {
            (cost.partitions_read, cost.rows_read, cost.round_trips, cost.rows_written, cost.conditional_writes)
        };
        assert_eq!(counts(few), counts(many), "{}", pattern.name);
        // One conditional write for a change of stock, and none for a question.
        assert_eq!(few.conditional_writes, u64::from(pattern.name == "Q17"), "{}: {few}", pattern.name);
    }
    let mut measured: Vec<_> = few.iter().map(|(pattern, ..)| pattern.name).collect();
    measured.dedup();
    assert_eq!(measured, inventory::PATTERNS.iter().map(|pattern| pattern.name).collect::<Vec<_>>());
    assert_sound(ctx, product).await;
}

async fn hold(ctx: &Context, product: ProductId, holds: usize) {
    let ids: Vec<HoldId> = (0..holds).map(|_| new_hold(ctx)).collect();
    let held = ids.iter().map(|id| patiently(|| reserve(ctx, product, *id, 1), Error::kind));
    assert!(join_all(held).await.iter().all(Result::is_ok));
}

type Measured = (&'static AccessPattern, u64, Cost);

async fn measure(ctx: &Context, product: ProductId) -> Vec<Measured> {
    let mut all = Vec::new();
    let mut note = |name: &str, rows: u64, cost: Cost| {
        let pattern = inventory::PATTERNS.iter().find(|pattern| pattern.name == name).expect(name);
        all.push((pattern, rows, cost));
    };
    let (stock, cost) = meter::measure(inventory::get_stock(ctx, product)).await;
    assert_eq!(stock.unwrap().warehouses.len() as u64, WAREHOUSES);
    note("Q16", WAREHOUSES, cost);
    let (id, other) = (new_hold(ctx), new_hold(ctx));
    let (held, cost) = meter::measure(reserve(ctx, product, id, 1)).await;
    held.unwrap();
    note("Q17", WAREHOUSES, cost);
    let until = ctx.now().plus_seconds(1_800);
    let (extended, cost) = meter::measure(inventory::extend(ctx, product, id, until)).await;
    extended.unwrap();
    note("Q17", WAREHOUSES, cost);
    let (sold, cost) = meter::measure(inventory::confirm(ctx, product, id)).await;
    sold.unwrap();
    note("Q17", WAREHOUSES, cost);
    let (back, cost) = meter::measure(inventory::give_back(ctx, product, id)).await;
    back.unwrap();
    note("Q17", WAREHOUSES, cost);
    reserve(ctx, product, other, 1).await.unwrap();
    let (released, cost) = meter::measure(inventory::release(ctx, product, other)).await;
    released.unwrap();
    note("Q17", WAREHOUSES, cost);
    let (found, cost) = meter::measure(inventory::find_hold(ctx, product, id)).await;
    assert!(found.unwrap().is_some());
    note("hold", 1, cost);
    let page = || PageRequest::first(PAGE);
    let (holds, cost) = meter::measure(inventory::list_holds(ctx, product, page())).await;
    assert_eq!(holds.unwrap().holds.len(), PAGE);
    note("holds of product", PAGE as u64, cost);
    let (moved, cost) = meter::measure(inventory::list_movements(ctx, product, page())).await;
    assert_eq!(moved.unwrap().rows.len(), PAGE);
    note("movements of product", PAGE as u64, cost);
    let (warehouses, cost) = meter::measure(inventory::list_warehouses(ctx, page())).await;
    assert!(warehouses.unwrap().rows.iter().any(|row| row.warehouse_id == MAIN));
    note("warehouses", PAGE as u64, cost);
    let (low, cost) = meter::measure(inventory::list_low_stock(ctx, MAIN, page())).await;
    assert_eq!(low.unwrap().rows.len(), PAGE);
    note("low stock", PAGE as u64, cost);
    all
}
