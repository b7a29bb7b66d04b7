//! What has ended, written down. No decision waits for it: a hold that has ended keeps nothing, swept or not.

use std::collections::BTreeSet;

use widerow::Row;

use super::decide::{self, guarded_stock};
use crate::{
    context::Context,
    id::ProductId,
    inventory::{
        error::Result,
        tables::{Availability, Inventory},
    },
};

/// What a sweep did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Rows of stock whose figures were settled.
    pub rows: usize,
    /// Products that are available again, because holds on them have ended.
    pub became: Vec<(ProductId, Availability)>,
}

/// Settles the figures of every row of stock that still counts ended holds as reserved, so that what is low on stock and what
/// the catalog shows follow. It walks over the whole table; every few minutes is enough.
pub async fn sweep(ctx: &Context) -> Result<Swept> {
    let mut ended = BTreeSet::new();
    let now = ctx.now();
    for_each_row(ctx, |row| {
        if row.shelf().is_some_and(|shelf| shelf.has_ended_units(now)) {
            ended.insert(row.product_id);
        }
    })
    .await?;
    let mut swept = Swept::default();
    for product in ended {
        let (rows, became) = guarded_stock(ctx, product, None, |stock, _| {
            stock.settle();
            let commit = decide::changes(stock, &ctx.settings.inventory);
            Ok((commit, (stock.changed_shelves.len(), stock.became())))
        })
        .await?;
        swept.rows += rows;
        swept.became.extend(became.map(|became| (product, became)));
    }
    Ok(swept)
}

/// Every row of the tenant's inventory.
pub(super) async fn for_each_row(ctx: &Context, mut see: impl FnMut(Inventory)) -> Result<()> {
    for mut range in ctx.store.database().scan(Inventory::table(), 1).await? {
        while let Some(rows) = range.next().await? {
            for (tenant, row) in rows {
                if tenant == *ctx.store.tenant() {
                    let row = Inventory::from_values(row.values);
                    see(row.map_err(|m| widerow::Error::mismatch(&Inventory::table().name, m))?);
                }
            }
        }
    }
    Ok(())
}
