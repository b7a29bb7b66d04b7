//! The inventory, on every engine.

use std::sync::Arc;

use merkato::{
    Context, Settings,
    context::SystemChance,
    id::{HoldId, MovementId, ProductId},
    inventory::{self, Error, Hold, Note, Reserve},
};
use widerow::{Database, Engine, Options, time::Clock};

use crate::world::{World, schema};

pub mod bad_input;
pub mod costs;
pub mod follow;
pub mod holds;
pub mod lines;
pub mod movements;
pub mod races;
pub mod stopped;

pub const MAIN: &str = "main";

pub fn new_hold(ctx: &Context) -> HoldId {
    HoldId(ctx.new_id())
}

pub fn new_movement(ctx: &Context) -> MovementId {
    MovementId(ctx.new_id())
}

/// A product with so many units in each of these warehouses.
pub async fn stocked(ctx: &Context, warehouses: &[(&str, i64)]) -> ProductId {
    let product = ProductId(ctx.new_id());
    for (warehouse, units) in warehouses {
        inventory::restock(ctx, new_movement(ctx), product, warehouse, *units, Note::default()).await.unwrap();
    }
    product
}

pub async fn reserve(ctx: &Context, product_id: ProductId, hold_id: HoldId, quantity: i64) -> Result<Hold, Error> {
    inventory::reserve(ctx, Reserve { product_id, hold_id, quantity, seconds: None }).await
}

/// Units that are there and units that are reserved, over all warehouses.
pub async fn figures(ctx: &Context, product: ProductId) -> (i32, i32) {
    let stock = inventory::get_stock(ctx, product).await.unwrap();
    let sum = |of: fn(&inventory::WarehouseLevel) -> i32| stock.warehouses.iter().map(of).sum();
    (sum(|level| level.quantity), sum(|level| level.reserved))
}

/// What is reserved is what the holds in force come to.
pub async fn assert_sound(ctx: &Context, product: ProductId) {
    let verified = inventory::verify_stock(ctx, Some(product)).await.unwrap();
    assert_eq!((verified.products, verified.differences, verified.unsettled), (1, vec![], vec![]));
}

/// The same shop in another process, over an engine of the same data.
pub fn other_process(world: &World, engine: Arc<dyn Engine>) -> Context {
    let options = Options { clock: world.clock.clone() as Arc<dyn Clock>, ..Options::default() };
    let database = Database::with_options(engine, schema(), options);
    let store = database.tenant(world.ctx.store.tenant().as_str()).unwrap();
    let settings = Settings::clone(&world.ctx.settings);
    Context::new(store, settings, world.clock.clone(), Arc::new(SystemChance))
}
