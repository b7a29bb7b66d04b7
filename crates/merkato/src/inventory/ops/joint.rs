//! One hold over several products in one commit, on engines that commit several partitions at once.

use std::collections::BTreeMap;

use widerow::{Joined, Joint, row::KeyParts as _};

use super::decide;
use crate::{
    context::Context,
    id::{HoldId, ProductId},
    inventory::{
        error::Result,
        rules::{Request, Wish},
        tables::{Hold, Inventory, STOCK},
    },
};

/// Decides the wishes of one hold on several products, for a joint commit. None where that is not the way to go: where the engine
/// commits one partition at a time, where others want one of the products at this moment and are decided together, or where one
/// is refused. Nothing is written then, and whoever asks product by product is told why.
pub(crate) async fn join_holds(
    ctx: &Context,
    hold: HoldId,
    wishes: &BTreeMap<ProductId, Wish>,
    joint: &mut Joint,
) -> Result<Option<Vec<Hold>>> {
    let (tenant, settings) = (ctx.store.tenant(), &ctx.settings.inventory);
    let busy = |product: &ProductId| ctx.stock_writer.is_busy(tenant, *product);
    if !ctx.store.commits_jointly() || wishes.keys().any(busy) {
        return Ok(None);
    }
    let mut holds = Vec::with_capacity(wishes.len());
    for (product, wish) in wishes {
        let last = ctx.stock_writer.take(tenant, *product);
        let prefixes = [STOCK.into_values(), (hold, String::new()).into_values()];
        let opened = ctx.store.open_from::<Inventory>(last, *product, prefixes).await?;
        let mut stock = decide::load(*product, &opened.view, ctx)?;
        let request = Request { hold_id: hold, wish: wish.clone() };
        let Ok(decided) = stock.decide(&request, settings) else { return Ok(None) };
        holds.push(decided);
        joint.add(opened, decide::changes(&stock, settings));
    }
    Ok(Some(holds))
}

/// To be called when such a commit was made, with what it left in the partitions of these holds.
pub(crate) fn joined(ctx: &Context, holds: &[Hold], left: impl IntoIterator<Item = Joined>) {
    for (hold, left) in holds.iter().zip(left) {
        if let Some(last) = left.last {
            ctx.stock_writer.keep(ctx.store.tenant(), hold.product_id, last);
        }
        ctx.stock_writer.counts.count(&Ok(hold.clone()));
    }
}

/// All products in one commit; None as above, or where somebody else was quicker.
pub(super) async fn at_once(
    ctx: &Context,
    hold: HoldId,
    wishes: &BTreeMap<ProductId, Wish>,
) -> Result<Option<Vec<Hold>>> {
    let mut joint = Joint::new();
    let Some(holds) = join_holds(ctx, hold, wishes, &mut joint).await? else { return Ok(None) };
    let Some(left) = ctx.store.commit_jointly(joint).await? else { return Ok(None) };
    joined(ctx, &holds, left);
    Ok(Some(holds))
}
