//! From one status to the next.

use widerow::{Commit, Joint, Partition};

use crate::{
    check::Check,
    context::Context,
    events,
    id::OrderId,
    limits,
    orders::{
        error::{Error, Result},
        rules::{self, Change},
        tables::{Order, OrderStatus, PaymentStatus},
    },
};

/// The order in its next status, with the row of its history and its event; the lists follow in the same commit. Asked again with the same
/// change id, it changes nothing and gives the order as it is by now.
///
/// RACE: two clerks. Both decide on the same version of the order, and only one commit finds it unchanged; the other decides
/// again, on the new status, and is told.
pub async fn change_status(ctx: &Context, order_id: OrderId, to: OrderStatus, change: Change) -> Result<Order> {
    change.check()?;
    ctx.store.guarded::<Order, _, Error>(order_id, |found| decide(ctx, order_id, to, &change, found)).await
}

/// As `change_status`, in a commit with other partitions.
pub(crate) async fn join_status(
    ctx: &Context,
    order_id: OrderId,
    to: OrderStatus,
    change: &Change,
    joint: &mut Joint,
) -> Result<Order> {
    change.check()?;
    let opened = ctx.store.open::<Order>(order_id, [()]).await?;
    let (commit, order) = decide(ctx, order_id, to, change, &opened.view)?;
    joint.add(opened, commit);
    Ok(order)
}

fn decide(
    ctx: &Context,
    order_id: OrderId,
    to: OrderStatus,
    change: &Change,
    found: &Partition<Order>,
) -> Result<(Commit, Order)> {
    let order = found.rows.first().ok_or(Error::OrderNotFound { order: order_id })?;
    // ORDER: before the version is looked at, which the change itself has moved on.
    if rules::is_done(order, to, change) {
        return Ok((Commit::new(), order.clone()));
    }
    if change.expected.is_some() && change.expected != found.version {
        return Err(Error::Changed { order: order_id });
    }
    let (next, row) = rules::transition(order, to, change, ctx.now())?;
    Ok((events::tell(ctx, Commit::new().put(&next).put(&row), &rules::fact(&next, &row)), next))
}

/// What the staff says of the order among themselves; with `revision`, only if nobody has changed the order since.
pub async fn note_internally(
    ctx: &Context,
    order_id: OrderId,
    notes: Option<&str>,
    revision: Option<i64>,
) -> Result<Order> {
    let mut check = Check::new();
    check.lines("internal_notes", notes.unwrap_or_default(), limits::NOTES_BYTES_MAX);
    check.end()?;
    ctx.store
        .guarded::<Order, _, Error>(order_id, |found| {
            let order = found.rows.first().ok_or(Error::OrderNotFound { order: order_id })?;
            let next = rules::note_internally(order, notes, ctx.now());
            if next == *order {
                return Ok((Commit::new(), next));
            }
            if revision.is_some_and(|revision| revision != order.revision) {
                return Err(Error::Changed { order: order_id });
            }
            Ok((Commit::new().put(&next), next))
        })
        .await
}

/// What the payment provider says of the order's payment, without a change of its status.
pub async fn note_payment(
    ctx: &Context,
    order_id: OrderId,
    status: PaymentStatus,
    payment_id: Option<&str>,
) -> Result<Order> {
    let mut check = Check::new();
    check.optional_line("payment_id", payment_id, limits::REFERENCE_BYTES_MAX);
    check.end()?;
    ctx.store
        .guarded::<Order, _, Error>(order_id, |found| {
            let order = found.rows.first().ok_or(Error::OrderNotFound { order: order_id })?;
            let next = rules::note_payment(order, status, payment_id, ctx.now());
            let commit = if next == *order { Commit::new() } else { Commit::new().put(&next) };
            Ok((commit, next))
        })
        .await
}
