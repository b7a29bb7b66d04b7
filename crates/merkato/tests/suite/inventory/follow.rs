//! The catalog shows what the inventory has.

use merkato::{
    Context,
    catalog::{self, Product},
    flows::stock::{follow_stock, repair_stock, sweep_stock},
    id::{HoldId, ProductId},
    inventory::{self, Availability, Inventory, Note},
};
use uuid::Uuid;
use widerow::Commit;
use widerow_testing::{Target, cases};

use super::{MAIN, new_hold, new_movement, other_process, reserve};
use crate::{
    catalog::{category, on_sale},
    world::World,
};

cases![
    the_catalog_follows_the_stock,
    a_sweep_shows_what_is_available_again,
    whoever_follows_last_shows_what_is_true,
    what_is_mended_is_shown,
];

async fn product(ctx: &Context) -> Product {
    let lamps = category(ctx, "Lamps").await;
    catalog::create_product(ctx, on_sale("Lamp", &lamps, 1999)).await.unwrap()
}

async fn shown(ctx: &Context, product: ProductId) -> bool {
    catalog::get_product(ctx, product).await.unwrap().in_stock
}

async fn restock(ctx: &Context, product: ProductId, units: i64) {
    inventory::restock(ctx, new_movement(ctx), product, MAIN, units, Note::default()).await.unwrap();
}

async fn the_catalog_follows_the_stock(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let id = product(ctx).await.product_id;
    assert_eq!(follow_stock(ctx, id).await.unwrap(), None);
    assert!(shown(ctx, id).await, "nobody has said anything about its stock");
    restock(ctx, id, 1).await;
    let hold = reserve(ctx, id, new_hold(ctx), 1).await.unwrap();
    assert_eq!(hold.became, Some(Availability::OutOfStock));
    assert_eq!(follow_stock(ctx, id).await.unwrap(), hold.became);
    assert!(!shown(ctx, id).await);
    let hold = inventory::release(ctx, id, hold.hold_id).await.unwrap();
    assert_eq!(follow_stock(ctx, id).await.unwrap(), hold.became);
    assert!(shown(ctx, id).await);
    let sold = reserve(ctx, id, new_hold(ctx), 1).await.unwrap();
    inventory::confirm(ctx, id, sold.hold_id).await.unwrap();
    follow_stock(ctx, id).await.unwrap();
    assert!(!shown(ctx, id).await);
    inventory::set_policy(ctx, id, true, true).await.unwrap();
    follow_stock(ctx, id).await.unwrap();
    assert!(shown(ctx, id).await, "it can be ordered all the same");
}

async fn a_sweep_shows_what_is_available_again(target: &Target) {
    let world = World::alone(target);
    let ctx = &world.ctx;
    let id = product(ctx).await.product_id;
    restock(ctx, id, 1).await;
    reserve(ctx, id, new_hold(ctx), 1).await.unwrap();
    follow_stock(ctx, id).await.unwrap();
    assert_eq!(sweep_stock(ctx).await.unwrap(), 0);
    assert!(!shown(ctx, id).await);
    // Of one that is not in the catalog there is nothing to show.
    let unlisted = ProductId(ctx.new_id());
    restock(ctx, unlisted, 1).await;
    reserve(ctx, unlisted, new_hold(ctx), 1).await.unwrap();
    world.clock.advance_millis(1_000_000);
    assert_eq!(sweep_stock(ctx).await.unwrap(), 2);
    assert!(shown(ctx, id).await);
}

async fn whoever_follows_last_shows_what_is_true(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let id = product(ctx).await.product_id;
    restock(ctx, id, 1).await;
    let other = other_process(&world, target.engine());
    for _ in 0..5 {
        let work = |ctx: Context| async move {
            for _ in 0..3 {
                let hold = new_hold(&ctx);
                if reserve(&ctx, id, hold, 1).await.is_ok() {
                    follow_stock(&ctx, id).await.unwrap();
                    inventory::release(&ctx, id, hold).await.unwrap();
                    follow_stock(&ctx, id).await.unwrap();
                }
            }
        };
        tokio::join!(work(ctx.clone()), work(other.clone()));
        assert!(shown(ctx, id).await, "nobody holds it");
    }
}

async fn what_is_mended_is_shown(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let id = product(ctx).await.product_id;
    restock(ctx, id, 2).await;
    // Units that are reserved, and held by nobody.
    let key = (id, HoldId(Uuid::nil()), MAIN.to_owned());
    let mut row = ctx.store.get::<Inventory>(key).await.unwrap().unwrap();
    row.ending.insert(ctx.now().plus_seconds(900), 2);
    ctx.store.commit(Commit::new().put(&Inventory { reserved: Some(2), ..row })).await.unwrap();
    follow_stock(ctx, id).await.unwrap();
    assert!(!shown(ctx, id).await);
    let repaired = repair_stock(ctx, Some(id)).await.unwrap();
    assert_eq!((repaired.mended.len(), repaired.left.len()), (1, 0));
    assert!(shown(ctx, id).await);
    // Where it was stopped before it was shown, it is shown by the next.
    catalog::set_in_stock(ctx, id, false).await.unwrap();
    assert_eq!(repair_stock(ctx, Some(id)).await.unwrap().mended, []);
    assert!(shown(ctx, id).await);
    // Of one that is not in the catalog there is nothing to show.
    let unlisted = ProductId(ctx.new_id());
    restock(ctx, unlisted, 1).await;
    repair_stock(ctx, Some(unlisted)).await.unwrap();
}
