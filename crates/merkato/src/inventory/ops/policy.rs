//! What a shop decides about the stock of one product.

use widerow::Commit;

use super::{
    decide::{self, guarded_stock},
    movements::Moved,
    show::StockLevels,
};
use crate::{
    check::Check,
    context::Context,
    id::ProductId,
    inventory::{error::Result, rules, tables::Inventory},
    limits,
};

/// Whether units of the product are counted, and whether more may be sold than are there. Holds that were made before stay as
/// they are.
pub async fn set_policy(ctx: &Context, product: ProductId, tracked: bool, backorder: bool) -> Result<Moved> {
    guarded_stock(ctx, product, None, |stock, _| {
        let mut commit = Commit::new();
        if (stock.tracked, stock.backorder) != (tracked, backorder) {
            (stock.tracked, stock.backorder) = (tracked, backorder);
            commit = commit.set_static(product, Inventory::TRACKED, &Some(tracked)).set_static(
                product,
                Inventory::BACKORDER,
                &Some(backorder),
            );
        }
        Ok((commit, Moved { became: stock.became(), stock: StockLevels::of(stock) }))
    })
    .await
}

/// From how many available units down the product is listed as low in a warehouse; zero: never.
pub async fn set_low_stock_threshold(ctx: &Context, product: ProductId, warehouse: &str, units: i64) -> Result<Moved> {
    let mut check = Check::new();
    rules::check_warehouse(&mut check, "warehouse_id", warehouse);
    let most = i64::from(limits::WAREHOUSE_UNITS_MAX);
    check.that((0..=most).contains(&units), "units", format!("{units} is not 0 to {most}"));
    check.end()?;
    let units = i32::try_from(units).unwrap_or_default();
    guarded_stock(ctx, product, None, |stock, _| {
        stock.set_threshold(warehouse, units)?;
        let commit = decide::changes(stock, &ctx.settings.inventory);
        Ok((commit, Moved { became: stock.became(), stock: StockLevels::of(stock) }))
    })
    .await
}
