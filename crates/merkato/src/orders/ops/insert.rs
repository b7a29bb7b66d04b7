//! Orders come in: placed by a checkout, or imported.

use widerow::{Commit, Error as DataError};

use crate::{
    claims::{self, Claimed},
    context::Context,
    events,
    orders::{
        error::{Error, Result},
        numbers,
        rules::{self, NewOrder},
        tables::{NumberedOrder, Order},
    },
};

/// Adds a new order to a commit that the caller guards elsewhere: on the cart that it clears. The order's lists, its lines,
/// the first row of its history and its first event are part of the commit.
///
/// RACE: the order's id and its number must be new, made for this order and known to nobody before the commit. On some
/// engines the order is there a moment after the commit: until then it is not found, and nobody writes to its partition.
pub fn place(ctx: &Context, commit: Commit, new: &NewOrder) -> Commit {
    let commit = with_rows(commit.found(&new.order), new);
    new.history.iter().fold(commit, |commit, row| events::tell(ctx, commit, &rules::fact(&new.order, row)))
}

fn with_rows(commit: Commit, new: &NewOrder) -> Commit {
    let commit = new.items.iter().fold(commit, Commit::put);
    new.history.iter().fold(commit, Commit::put)
}

/// Writes an order of the past, once: the same id again, with the same number, gives what is there by now.
pub async fn insert(ctx: &Context, new: &NewOrder) -> Result<Order> {
    let (order_id, number) = (new.order.order_id, &new.order.order_number);
    loop {
        // ORDER: the version before the claim, as `claims` demands.
        let (found, version) = ctx.store.get_versioned::<Order>(order_id).await?;
        if let Some(order) = found {
            if order.order_number == *number {
                return Ok(order);
            }
            return Err(Error::OrderExists { order: order_id, number: order.order_number });
        }
        // Among imported orders the number is claimed; from the count of placed ones it is kept; and an order that was placed
        // while the shop's numbers had another form is found by it.
        let taken = claims::claim::<Order>(ctx, number, order_id.0).await? == Claimed::Taken;
        let numbered = ctx.store.get::<NumberedOrder>(number.clone()).await?;
        if taken || numbered.is_some_and(|other| other.order_id != order_id) {
            return Err(Error::NumberTaken { number: number.clone() });
        }
        numbers::keep_from_blocks(ctx, number).await?;
        let commit = Commit::new().unchanged::<Order>(order_id, version).put(&new.order);
        match ctx.store.commit(with_rows(commit, new)).await {
            Ok(_) => return Ok(new.order.clone()),
            Err(DataError::Conflict(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
