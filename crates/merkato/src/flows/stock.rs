//! What the inventory has, shown in the catalog.

use std::collections::BTreeSet;

use super::error::{Error, Result};
use crate::{
    catalog,
    context::Context,
    id::ProductId,
    inventory::{self, Availability, Repaired},
};

/// Shows in the catalog whether the product can be had; what is shown. A product of which nobody has ever said anything about
/// its stock is left as it is, and None. To be called for every change whose answer says that the product `became` something,
/// for every product whose change was never answered, and for
/// one that was found short.
///
/// RACE: two who follow the same product may have read its stock at different times, and the one with the older answer may be
/// the later to write. So each looks again after it has written, and writes again if that is not what it wrote: whoever writes
/// last has looked at the stock after writing, and what has changed since is followed by whoever changed it.
pub async fn follow_stock(ctx: &Context, product: ProductId) -> Result<Option<Availability>> {
    let mut stock = inventory::get_stock(ctx, product).await?;
    loop {
        if stock.is_unknown() {
            return Ok(None);
        }
        let shown = stock.availability();
        catalog::set_in_stock(ctx, product, shown == Availability::InStock).await?;
        stock = inventory::get_stock(ctx, product).await?;
        if stock.availability() == shown {
            return Ok(Some(shown));
        }
    }
}

/// Follows each of these products.
pub async fn follow_all(ctx: &Context, products: &[ProductId]) -> Result<()> {
    for product in products {
        follow_stock(ctx, *product).await?;
    }
    Ok(())
}

/// Shows in the catalog what is available again because holds have ended, and writes down that they have; how many rows of
/// stock.
///
/// ORDER: shown first, written down afterwards: what was not shown, because that failed or this was stopped, is found again by
/// the next sweep.
pub async fn sweep_stock(ctx: &Context) -> Result<usize> {
    let mut rows = 0;
    for product in inventory::list_unsettled(ctx).await? {
        match follow_stock(ctx, product).await {
            Ok(_) | Err(Error::Catalog(catalog::Error::ProductNotFound { .. })) => {}
            Err(error) => {
                tracing::warn!(%product, %error, "the catalog does not show what is in stock");
                continue;
            }
        }
        rows += inventory::settle(ctx, product).await?;
    }
    Ok(rows)
}

/// Makes what is reserved what the holds come to, of a product or of all, and shows in the catalog what is available by that.
/// Where it was stopped between the two, it is to be asked for the product by its id, which is shown whatever was mended.
pub async fn repair_stock(ctx: &Context, product: Option<ProductId>) -> Result<Repaired> {
    let repaired = inventory::repair_stock(ctx, product).await?;
    let mended = repaired.mended.iter().chain(&repaired.left).map(|difference| difference.product);
    for product in mended.chain(product).collect::<BTreeSet<_>>() {
        match follow_stock(ctx, product).await {
            Ok(_) | Err(Error::Catalog(catalog::Error::ProductNotFound { .. })) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(repaired)
}
