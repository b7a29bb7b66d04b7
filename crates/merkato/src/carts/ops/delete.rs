//! A cart deleted.

use super::{cart, list};
use crate::{
    carts::{error::Result, rules, tables::CartEntry},
    context::Context,
    id::{CartId, UserId},
};

/// Deletes a cart and its lines. The first of the others by name becomes active if it was; the last one is followed by a
/// new one without lines. The cart that is active then. With `expected`, only if it is at that revision.
///
/// ORDER: the cart is closed, then it leaves the list, then the rest of its lines is deleted. Stopped before the first, it
/// is as it was. Between the first and the second it is in the list but is not found by its id; the next delete goes on
/// from there, and so does whoever uses the active cart and finds it closed, and the sweep. After the second nobody sees
/// it; lines that are left are swept a day later.
pub async fn delete_cart(ctx: &Context, user: UserId, cart: CartId, expected: Option<i64>) -> Result<CartEntry> {
    rules::find(&list::list_carts(ctx, user).await?, cart)?;
    cart::close(ctx, user, cart, expected, |head| head.user_id.is_none_or(|owner| owner == user)).await?;
    let active = list::unlist(ctx, user, cart).await?;
    cart::empty_closed(ctx, cart).await?;
    Ok(active)
}
