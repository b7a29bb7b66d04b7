//! What is in a cart.

use super::{
    cart::{self, Cart, TRIES, contended},
    list,
};
use crate::{
    carts::{
        error::{Error, Result},
        rules::{self, Access},
        shopper::{Shopper, Which},
        tables::Line,
    },
    context::Context,
    id::{CartId, LineId, ProductId, UserId},
};

/// named-carts Q5, Q9: the cart's lines, newest first, and its subtotal. One read of one partition by the cart's id or a
/// guest's token; for a user's active cart Q1 comes before it. An ended cart has no lines.
pub async fn show_cart(ctx: &Context, shopper: &Shopper, which: impl Into<Which>) -> Result<Cart> {
    match (shopper, which.into()) {
        (Shopper::Guest(token), which) => {
            let cart = token.cart_id();
            which.must_be(cart)?;
            // A merged cart has no lines: they are the user's.
            Ok(show(ctx, None, cart, true).await?.unwrap_or_else(|| Cart::empty(cart)))
        }
        (Shopper::User(user), Which::Cart(cart)) => {
            show(ctx, Some(*user), cart, false).await?.ok_or(Error::CartNotFound { cart })
        }
        (Shopper::User(user), Which::Active) => {
            for _ in 0..TRIES {
                let Some(active) = list::find_active_cart(ctx, *user).await? else { return Ok(Cart::default()) };
                match show(ctx, Some(*user), active.cart_id, true).await? {
                    Some(cart) => return Ok(cart),
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

/// The cart, unless it is closed.
async fn show(ctx: &Context, owner: Option<UserId>, id: CartId, mut listed: bool) -> Result<Option<Cart>> {
    let found = cart::read(ctx, id).await?;
    loop {
        match rules::access(&found.head, owner, listed, ctx.now()) {
            Access::Granted => return Ok(Some(found.into_cart(id))),
            Access::Ended => return Ok(Some(Cart::empty(id))),
            Access::Closed => return Ok(None),
            Access::Refused => return Err(Error::CartNotFound { cart: id }),
            Access::IfListed => {
                list::require(ctx, owner, id).await?;
                listed = true;
            }
        }
    }
}

/// Q10: the lines of a product, in whatever options; none if it is not in the cart. Costs what showing the cart costs.
pub async fn find_product(
    ctx: &Context,
    shopper: &Shopper,
    which: impl Into<Which>,
    product: ProductId,
) -> Result<Vec<Line>> {
    let mut lines = show_cart(ctx, shopper, which).await?.lines;
    lines.retain(|line| line.product_id == product);
    Ok(lines)
}

/// One line of a cart. Costs what showing the cart costs.
pub async fn find_line(
    ctx: &Context,
    shopper: &Shopper,
    which: impl Into<Which>,
    line: LineId,
) -> Result<Option<Line>> {
    Ok(show_cart(ctx, shopper, which).await?.lines.into_iter().find(|found| found.line_id == line))
}

impl Cart {
    pub(super) fn empty(cart: CartId) -> Self {
        Cart { cart_id: Some(cart), ..Cart::default() }
    }
}

impl Which {
    /// A guest has one cart, and no other is to be found.
    pub(super) fn must_be(self, guests: CartId) -> Result<()> {
        match self {
            Which::Cart(cart) if cart != guests => Err(Error::CartNotFound { cart }),
            _ => Ok(()),
        }
    }
}
