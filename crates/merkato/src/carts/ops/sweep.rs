//! What is left of carts whose time is over, deleted. No reader waits for it: an ended cart has no lines, swept or not.

use std::ops::Bound;

use widerow::{Cell, Commit, Date};

use super::{cart, copy, list};
use crate::{
    carts::{error::Result, tables::CartEnd},
    context::Context,
    id::CartId,
    limits,
};

/// Rows of a day that are looked at together.
const ROWS: usize = 200;

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Carts whose rows were deleted.
    pub deleted: usize,
    /// Copies and deletions that had been stopped half-way, and were ended.
    pub finished: usize,
}

/// Deletes what is left of the tenant's carts that ended before today. Once a day is enough; once in thirty is not too late.
///
/// RACE: a row of a day is written a day before it at the latest, as no cart ends sooner, and looked at a day after it at
/// the earliest: none comes behind the sweep's back, also where clocks differ.
pub async fn sweep(ctx: &Context) -> Result<Swept> {
    let today = ctx.now().date().days();
    let mut swept = Swept::default();
    for day in (today - limits::CART_SWEEP_DAYS..today).map(Date::from_days) {
        loop {
            let page = ctx.store.slice::<CartEnd>(day).limit(ROWS).page().await?;
            for end in &page.rows {
                sweep_cart(ctx, end.cart_id, &mut swept).await?;
            }
            let Some(last) = page.rows.last() else { break };
            // In one range: many single deletions would lie in the way of the next sweep on Cassandra.
            let until = (Bound::Unbounded, Bound::Included(last.cart_id.to_value()));
            ctx.store.commit(Commit::new().delete_range::<CartEnd>(day, (), until)).await?;
            if page.next.is_none() {
                break;
            }
        }
    }
    Ok(swept)
}

async fn sweep_cart(ctx: &Context, cart: CartId, swept: &mut Swept) -> Result<()> {
    let found = cart::read(ctx, cart).await?;
    if !found.has_ended(ctx.now()) {
        return Ok(());
    }
    if let Some(user) = found.head.user_id {
        let listed = list::is_listed(ctx, user, cart).await?;
        if found.head.copying && !found.head.closed {
            if listed {
                copy::settle(ctx, user, cart).await?;
            } else {
                // Closed first, and deleted a day later, for the case that its maker is alive after all.
                copy::discard(ctx, user, cart).await?;
            }
            swept.finished += 1;
            return Ok(());
        }
        if found.head.closed && listed {
            list::unlist(ctx, user, cart).await?;
            swept.finished += 1;
        }
    }
    // It is looked at again, at the version that is deleted.
    swept.deleted += usize::from(cart::purge(ctx, cart).await?);
    Ok(())
}
