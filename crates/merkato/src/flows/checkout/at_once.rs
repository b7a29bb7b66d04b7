//! The shorter way to an order, on engines that commit several partitions at once: what follows step by step elsewhere is one
//! commit, made whole or not at all. What is refused there, or contended, goes the way of all others, which tells why.

use widerow::{Joint, Opened};

use super::{
    Checkout,
    forward::{dated, lines_of, turned_by},
};
use crate::{
    carts::{self, CartLine},
    context::Context,
    flows::{
        error::Result,
        run::{self, Run},
    },
    graph,
    id::{FlowId, ProductId},
    inventory,
    orders::{self, Order, OrderStatus},
};

/// Begins the checkout, holds its stock and places its order; None where nothing of it was done.
pub(super) async fn begin<'c>(
    ctx: &'c Context,
    id: FlowId,
    fingerprint: &str,
    checkout: &mut Checkout,
    opened: Opened<CartLine>,
) -> Result<Option<Run<'c>>> {
    let draft = &checkout.draft;
    // A code is redeemed in a partition that all who have it want.
    let plain = draft.discount_code.is_none() && draft.lines.len() <= carts::ORDERED_AT_ONCE;
    let Some(cart) = draft.cart_id.filter(|_| plain && ctx.store.commits_jointly()) else { return Ok(None) };
    let (hold, mut joint) = (checkout.hold(), Joint::new());
    let Some(mut run) = run::join_begin(ctx, id, fingerprint, checkout, &mut joint).await? else { return Ok(None) };
    let wishes = inventory::reserve_wishes(ctx, hold, &lines_of(checkout), None)?;
    let Some(held) = inventory::join_holds(ctx, hold, &wishes, &mut joint).await? else { return Ok(None) };
    let new = dated(ctx, draft).place("customer", ctx.now())?;
    carts::join_order(ctx, cart, opened, |commit| orders::place(ctx, commit, &new), &mut joint)?;
    let Some(left) = run.begin_jointly("order", joint).await? else { return Ok(None) };
    inventory::joined(ctx, &held, left);
    checkout.placed = Some(turned_by(&held));
    Ok(Some(run))
}

/// Products of an order that is paid and related in one commit: every two of them are up to six writes, and more than a commit may
/// have is read in vain.
const RELATED_AT_ONCE: usize = 16;

/// Makes the order paid and notes what was bought together; None where nothing of it was done.
pub(super) async fn pay(
    checkout: &Checkout,
    run: &Run<'_>,
    change: &orders::Change,
    products: &[ProductId],
) -> Result<Option<Order>> {
    let ctx = run.ctx;
    if !ctx.store.commits_jointly() || !(2..=RELATED_AT_ONCE).contains(&products.len()) {
        return Ok(None);
    }
    let mut joint = Joint::new();
    let order_id = checkout.draft.order_id;
    let Ok(order) = orders::join_status(ctx, order_id, OrderStatus::Paid, change, &mut joint).await else {
        return Ok(None);
    };
    graph::join_purchase(ctx, order_id.0, products, &mut joint).await?;
    Ok(ctx.store.commit_jointly(joint).await?.map(|_| order))
}
