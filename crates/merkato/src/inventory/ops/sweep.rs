//! What has ended, written down. No decision waits for it: a hold that has ended keeps nothing, swept or not.

use std::collections::BTreeSet;

use widerow::Timestamp;

use super::decide::{self, guarded_stock};
use crate::{
    context::Context,
    id::ProductId,
    inventory::{error::Result, tables::Inventory},
};

/// Settles the figures of every product that still counts ended holds as reserved, so that what is low on stock follows; how
/// many rows. It walks over the whole table; every few minutes is enough.
pub async fn sweep(ctx: &Context) -> Result<usize> {
    let mut rows = 0;
    for product in list_unsettled(ctx).await? {
        rows += settle(ctx, product).await?;
    }
    Ok(rows)
}

/// The products of which some stock is written down as reserved for holds that have ended.
pub async fn list_unsettled(ctx: &Context) -> Result<BTreeSet<ProductId>> {
    let (mut products, mut in_force, mut ended) = (BTreeSet::new(), 0, 0);
    let now = ctx.now();
    ctx.for_each_row::<Inventory>(|row| {
        let Some(shelf) = row.shelf() else { return };
        let reserved = i64::from(shelf.reserved(now));
        in_force += reserved;
        if shelf.has_ended_units(now) {
            ended += i64::from(shelf.reserved(Timestamp::MIN)) - reserved;
            products.insert(row.product_id);
        }
    })
    .await?;
    ctx.stock_writer.counts.see(ctx.store.tenant(), in_force, ended);
    Ok(products)
}

/// Writes down what has ended of a product's holds; how many rows. It changes no figure that is asked for.
pub async fn settle(ctx: &Context, product: ProductId) -> Result<usize> {
    guarded_stock(ctx, product, None, |stock, _| {
        stock.settle();
        Ok((decide::changes(stock, &ctx.settings.inventory), stock.changed_shelves.len()))
    })
    .await
}
