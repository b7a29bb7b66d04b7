//! An order on its way, as the staff moves it on.

use super::{
    error::Result,
    reversal::{cancel_order, refund_order},
    sales,
};
use crate::{
    context::Context,
    id::OrderId,
    orders::{self, Change, Order, OrderStatus},
};

/// Brings an order to its next status, and its day's sales after it; with `revision`, only if nobody has changed the order
/// since. Cancelling and refunding are the flows that they are; goods that come back are not sold again unless `refund_order`
/// is asked for it. Asked again with the same change id, it finishes what was stopped.
///
/// An order that a checkout has placed is not paid by hand: the checkout would take it for cancelled, and give the money back.
pub async fn move_order(
    ctx: &Context,
    order_id: OrderId,
    to: OrderStatus,
    mut change: Change,
    revision: Option<i64>,
) -> Result<Order> {
    change.check()?;
    let (order, version) = orders::get_order_versioned(ctx, order_id).await?;
    // ORDER: before the revision is looked at, which the change itself has moved on.
    let known = match to {
        OrderStatus::Cancelled | OrderStatus::Refunded => order.change_ids.contains_key(&to),
        _ => order.change_ids.get(&to) == Some(&change.change_id),
    };
    if !known && revision.is_some_and(|revision| revision != order.revision) {
        return Err(orders::Error::Changed { order: order_id }.into());
    }
    match to {
        // RACE: the order may change between the look at its revision and the flow's own write. By then its status decides.
        OrderStatus::Cancelled => return cancel_order(ctx, order_id, &change.actor, change.notes.as_deref()).await,
        OrderStatus::Refunded => {
            return refund_order(ctx, order_id, false, &change.actor, change.notes.as_deref()).await;
        }
        OrderStatus::Paid if order.checkout_id.is_some() && !known => {
            return Err(orders::Error::IllegalTransition { from: order.status, to }.into());
        }
        _ => {}
    }
    change.expected = revision.and(version);
    let moved = orders::change_status(ctx, order_id, to, change).await?;
    sales::count(ctx, &moved).await?;
    Ok(moved)
}
