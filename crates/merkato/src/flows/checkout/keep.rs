//! Stock that is kept for a shopper who looks at the order before placing it.
//!
//! The key follows from the cart as it is: whoever looks again, in another window or after going back, has the same hold and
//! the same key, so that one cart as it was seen is one order at the most. A cart that was changed has another key.

use widerow::Timestamp;

use super::{Checkout, hold_of, request::id_under};
use crate::{
    carts::{Cart, Shopper},
    context::Context,
    flows::{
        error::{Error, Result},
        run, stock,
    },
    id::{CheckoutId, FlowId, HoldId, ProductId},
    inventory::{self, Hold, Line},
};

/// Keys that are tried for one cart as it is. Each is used up when its hold has ended for good, or something was missing.
const ROUNDS_MAX: u32 = 8;

/// What is kept, and the key to check it out with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub key: String,
    /// None where nothing could be kept any more: whether it is there is then seen when the order is placed.
    pub until: Option<Timestamp>,
}

/// Keeps what is in the cart for as long as the settings say. Asked again, it is the same hold; one that has ended is taken
/// again, if all of it is still there.
pub async fn keep(ctx: &Context, shopper: &Shopper, cart: &Cart) -> Result<Kept> {
    if cart.lines.is_empty() {
        return Err(Error::EmptyCart);
    }
    for round in 0..ROUNDS_MAX {
        let key = key_of(cart, round);
        match hold(ctx, hold_of(id_under(shopper, &key)), cart).await {
            Ok(held) => {
                stock::follow_all(ctx, &turned_by(&held)).await?;
                return Ok(Kept { key, until: held.iter().map(|hold| hold.ends_at).min() });
            }
            Err(error @ inventory::Error::InsufficientStock { .. }) => return Err(error.into()),
            // The key is used up.
            Err(error) if error.is_refusal() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Kept { key: ctx.new_id().to_string(), until: None })
}

/// Gives back what is kept for the cart as it is. To be called before it is changed, so that the shopper does not stand in
/// one's own way; where nobody does, it ends by itself.
pub async fn let_go(ctx: &Context, shopper: &Shopper, cart: &Cart) -> Result<()> {
    let products = products(cart);
    let Some(first) = products.first() else { return Ok(()) };
    for round in 0..ROUNDS_MAX {
        let id = id_under(shopper, &key_of(cart, round));
        let Some(found) = inventory::find_hold(ctx, *first, hold_of(id)).await? else { return Ok(()) };
        // RACE: a checkout that begins after this look finds its hold released, and comes to nothing.
        if found.is_in_force(ctx.now()) && !has_begun(ctx, id).await? {
            let released = inventory::release_lines(ctx, hold_of(id), &products).await?;
            return stock::follow_all(ctx, &turned_by(&released)).await;
        }
    }
    Ok(())
}

async fn has_begun(ctx: &Context, id: CheckoutId) -> Result<bool> {
    Ok(run::find::<Checkout>(ctx, FlowId(id.0)).await?.is_some())
}

async fn hold(ctx: &Context, hold: HoldId, cart: &Cart) -> inventory::Result<Vec<Hold>> {
    let line = |line: &crate::carts::Line| Line { product_id: line.product_id, quantity: line.quantity.into() };
    let lines: Vec<Line> = cart.lines.iter().map(line).collect();
    match inventory::reserve_lines(ctx, hold, &lines, None).await {
        Err(inventory::Error::HoldEnded { .. }) => {}
        answer => return answer,
    }
    let until = ctx.now().plus_seconds(ctx.settings.inventory.hold_seconds.into());
    let products = products(cart);
    match inventory::extend_lines(ctx, hold, &products, until).await {
        Err(error) if error.is_refusal() => {
            // What was taken again before one refused must not be in the way of the next try.
            inventory::release_lines(ctx, hold, &products).await?;
            Err(error)
        }
        answer => answer,
    }
}

fn key_of(cart: &Cart, round: u32) -> String {
    let id = cart.cart_id.map_or_else(String::new, |id| id.to_string());
    format!("{id} {} {round}", cart.revision())
}

/// Each once.
fn products(cart: &Cart) -> Vec<ProductId> {
    let mut products: Vec<_> = cart.lines.iter().map(|line| line.product_id).collect();
    products.sort_unstable();
    products.dedup();
    products
}

fn turned_by(holds: &[Hold]) -> Vec<ProductId> {
    holds.iter().filter(|hold| hold.became.is_some()).map(|hold| hold.product_id).collect()
}
