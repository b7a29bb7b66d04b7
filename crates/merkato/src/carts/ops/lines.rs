//! Lines added, changed and removed, each with the subtotal in one guarded write.

use super::{
    cart::{self, Cart, ROWS_AT_ONCE, TRIES, contended},
    list,
};
use crate::{
    carts::{
        error::{Error, Result},
        rules::{Draft, ItemSnapshot},
        shopper::{CartAt, Shopper, Which},
    },
    check::Check,
    context::Context,
    id::LineId,
    limits,
};

/// U1: adds so many of an item. The same product with the same options is one line: its quantity is the sum, its snapshot
/// the newer one, and it comes to the top.
pub async fn add_line(
    ctx: &Context,
    shopper: &Shopper,
    which: impl Into<CartAt>,
    item: ItemSnapshot,
    quantity: i64,
) -> Result<Cart> {
    let mut check = Check::new();
    item.check(&mut check, "");
    check.quantity("quantity", quantity);
    check.end()?;
    add(ctx, shopper, which.into(), &[(item, quantity)]).await
}

/// Adds several items, the last one on top: all of them, or none.
pub async fn add_lines(
    ctx: &Context,
    shopper: &Shopper,
    which: impl Into<CartAt>,
    items: &[(ItemSnapshot, i64)],
) -> Result<Cart> {
    let mut check = Check::new();
    check.that(!items.is_empty(), "lines", "there are none");
    check.count("lines", items.len(), limits::LINES_AT_ONCE_MAX);
    for (position, (item, quantity)) in items.iter().enumerate().take(limits::LINES_AT_ONCE_MAX) {
        item.check(&mut check, &format!("lines/{position}/"));
        check.quantity(&format!("lines/{position}/quantity"), *quantity);
    }
    check.end()?;
    add(ctx, shopper, which.into(), items).await
}

async fn add(ctx: &Context, shopper: &Shopper, which: CartAt, items: &[(ItemSnapshot, i64)]) -> Result<Cart> {
    edit(ctx, shopper, which, |draft| {
        items.iter().try_for_each(|(item, quantity)| draft.add(item, checked(*quantity), ctx.now()))
    })
    .await
}

/// So many of a line, from one on; to have none, remove it. The line stays where it is.
pub async fn set_quantity(
    ctx: &Context,
    shopper: &Shopper,
    which: impl Into<CartAt>,
    line: LineId,
    quantity: i64,
) -> Result<Cart> {
    let mut check = Check::new();
    check.quantity("quantity", quantity);
    check.end()?;
    edit(ctx, shopper, which.into(), |draft| draft.set_quantity(line, checked(quantity))).await
}

pub async fn remove_line(ctx: &Context, shopper: &Shopper, which: impl Into<CartAt>, line: LineId) -> Result<Cart> {
    edit(ctx, shopper, which.into(), |draft| draft.remove(line)).await
}

/// Removes all lines that were there when it began; one that is added meanwhile stays.
///
/// Up to ninety lines go in one write. Of more, a reader may see fewer and fewer, each time with their true subtotal; and
/// so they stay if the process stops.
pub async fn clear_cart(ctx: &Context, shopper: &Shopper, which: impl Into<CartAt>) -> Result<Cart> {
    let mut which: CartAt = which.into();
    let mut last = None;
    loop {
        let mut left = 0;
        let after = edit(ctx, shopper, which, |draft| {
            // What is added later stands above what is there now.
            if last.is_none() {
                last = draft.lines.first().map(|line| line.added_at);
            }
            left = last.map_or(0, |last| draft.remove_until(last, ROWS_AT_ONCE));
            Ok(())
        })
        .await?;
        // Another cart may be activated between two pieces.
        which = after.cart_id.map_or(which.which, Which::Cart).at(None);
        if left == 0 {
            return Ok(after);
        }
    }
}

/// The check has found it between one and the limit.
fn checked(quantity: i64) -> u32 {
    u32::try_from(quantity).unwrap_or(limits::QUANTITY_MAX)
}

/// Finds the cart and changes its lines.
async fn edit(
    ctx: &Context,
    shopper: &Shopper,
    at: CartAt,
    mut decide: impl FnMut(&mut Draft) -> Result<()> + Send,
) -> Result<Cart> {
    let expected = at.revision;
    match (shopper, at.which) {
        (Shopper::Guest(token), which) => {
            let id = token.cart_id();
            which.must_be(id)?;
            cart::edit(ctx, None, id, true, expected, &mut decide).await?.ok_or(Error::GuestCartMerged)
        }
        (Shopper::User(user), Which::Cart(id)) => cart::edit(ctx, Some(*user), id, false, expected, &mut decide)
            .await?
            .ok_or(Error::CartNotFound { cart: id }),
        (Shopper::User(user), Which::Active) => {
            for _ in 0..TRIES {
                let active = list::ensure_active(ctx, *user).await?;
                match cart::edit(ctx, Some(*user), active.cart_id, true, expected, &mut decide).await? {
                    Some(after) => return Ok(after),
                    // Its deletion was stopped half-way, or is under way: what it left to do is done here.
                    None => {
                        list::unlist(ctx, *user, active.cart_id).await?;
                    }
                }
            }
            Err(contended())
        }
    }
}
