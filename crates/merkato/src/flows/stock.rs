//! What the inventory has, shown in the catalog.

use super::error::Result;
use crate::{
    catalog,
    context::Context,
    id::ProductId,
    inventory::{self, Availability, Swept},
};

/// Shows in the catalog whether the product can be had; what is shown. A product of which nobody has ever said anything about
/// its stock is left as it is, and None. To be called for every change whose answer says that the product `became` something,
/// and for every product whose change was never answered.
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

/// Settles what has ended, and shows in the catalog what is available again.
///
/// ORDER: stopped between the two, a product stays shown as it was until its stock next changes. So those that failed do not
/// keep the others.
pub async fn sweep_stock(ctx: &Context) -> Result<Swept> {
    let swept = inventory::sweep(ctx).await?;
    for (product, _) in &swept.became {
        if let Err(error) = follow_stock(ctx, *product).await {
            tracing::warn!(%product, %error, "the catalog does not show what is in stock");
        }
    }
    Ok(swept)
}
