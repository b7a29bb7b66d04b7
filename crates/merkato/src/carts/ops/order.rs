//! A cart that becomes an order: its lines leave it in the very commit that makes the order.

use widerow::{Commit, Joint, Opened, Partition, Timestamp, Version};

use super::{
    cart::{self, Contents, ROWS_AT_ONCE},
    list,
};
use crate::{
    carts::{
        error::{Error, Result},
        rules::{self, Access, Draft, ItemSnapshot},
        shopper::{Shopper, Which},
        tables::{CartLine, Head, Line, MergePolicy},
    },
    context::Context,
    id::{CartId, UserId},
    money::Currency,
};

/// A cart as it was when its order was begun.
pub struct OpenedCart {
    pub cart_id: CartId,
    /// The cart is ordered only as long as it is at this version. None: it was never written, and has no lines.
    pub version: Option<Version>,
    /// Newest first.
    pub lines: Vec<Line>,
    pub currency: Option<Currency>,
    /// For `join_order`.
    pub(crate) opened: Opened<CartLine>,
}

/// What became of an order of a cart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the cart may not have been ordered"]
pub enum OrderedCart {
    Ordered,
    /// The cart is not as it was: nothing was written, and nothing will be at the version that was given.
    Changed,
}

/// The cart with every change that was acknowledged, to be ordered as it is.
pub async fn open_cart(ctx: &Context, shopper: &Shopper, which: impl Into<Which>) -> Result<OpenedCart> {
    let (cart_id, owner, mut listed) = match (shopper, which.into()) {
        (Shopper::Guest(token), which) => {
            which.must_be(token.cart_id())?;
            (token.cart_id(), None, true)
        }
        (Shopper::User(user), Which::Cart(cart)) => (cart, Some(*user), false),
        (Shopper::User(user), Which::Active) => (list::ensure_active(ctx, *user).await?.cart_id, Some(*user), true),
    };
    let opened = Box::pin(ctx.store.open::<CartLine>(cart_id, [()])).await?;
    let (found, version) = (Contents::of(&opened.view)?, opened.view.version);
    loop {
        match rules::access(&found.head, owner, listed, ctx.now()) {
            Access::Granted => break,
            Access::IfListed => {
                list::require(ctx, owner, cart_id).await?;
                listed = true;
            }
            Access::Ended => {
                return Ok(OpenedCart { cart_id, version: None, lines: Vec::new(), currency: None, opened });
            }
            Access::Closed | Access::Refused => return Err(Error::CartNotFound { cart: cart_id }),
        }
    }
    Ok(OpenedCart { cart_id, version, lines: found.lines, currency: found.head.currency, opened })
}

/// Empties the cart and writes what the order adds to the commit, if the cart is still at the version.
///
/// RACE: two orders of one cart, or an order and an edit. Only one commit finds the version unchanged. What an earlier
/// commit at this version left undone is finished before this answers `Changed`, so that its order can be seen.
pub async fn order_cart(
    ctx: &Context,
    cart: CartId,
    version: Version,
    mut order: impl FnMut(Commit) -> Commit + Send,
) -> Result<OrderedCart> {
    ctx.store
        .guarded::<CartLine, _, Error>(cart, |view| {
            if view.version != Some(version) {
                return Ok((Commit::new(), OrderedCart::Changed));
            }
            Ok((order(emptied(ctx, cart, view)?), OrderedCart::Ordered))
        })
        .await
}

/// As `order_cart`, of a cart as it was opened, in a commit with other partitions.
pub(crate) fn join_order(
    ctx: &Context,
    cart: CartId,
    opened: Opened<CartLine>,
    order: impl FnOnce(Commit) -> Commit,
    joint: &mut Joint,
) -> Result<()> {
    let commit = emptied(ctx, cart, &opened.view)?;
    joint.add(opened, order(commit));
    Ok(())
}

/// The commit that takes the lines out of the cart.
fn emptied(ctx: &Context, cart: CartId, view: &Partition<CartLine>) -> Result<Commit> {
    let before = Contents::of(view)?;
    let until = before.lines.iter().map(|line| line.added_at).max();
    let head = Head {
        subtotal: Default::default(),
        currency: None,
        item_count: 0,
        ordered_until: until.max(before.head.ordered_until),
        updated_at: Some(cart::change_time(ctx, &before.head)),
        ..before.head.clone()
    };
    let rows: Vec<&Line> = before.lines.iter().take(ROWS_AT_ONCE).collect();
    Ok(cart::set_head(ctx, cart, &before.head, &head, cart::delete_rows(cart, &rows)))
}

/// Finishes what commits on this cart have left to do elsewhere: afterwards an order of it that was placed can be seen.
pub async fn settle_cart(ctx: &Context, cart: CartId) -> Result<()> {
    ctx.store.guarded::<CartLine, _, Error>(cart, |_| Ok((Commit::new(), ()))).await
}

/// Makes sure that nobody orders the cart at this version from here on. Its lines stay as they are.
pub async fn fence_cart(ctx: &Context, cart: CartId, version: Version) -> Result<()> {
    ctx.store
        .guarded::<CartLine, _, Error>(cart, |view| {
            if view.version != Some(version) {
                return Ok((Commit::new(), ()));
            }
            // Any write of it makes a new version.
            let now = Some(cart::change_time(ctx, &Contents::of(view)?.head));
            Ok((Commit::new().set_static(cart, CartLine::UPDATED_AT, &now), ()))
        })
        .await
}

/// Deletes the rows of ordered lines that were too many for the order's own commit. Nobody sees them.
pub async fn tidy_ordered(ctx: &Context, cart: CartId) -> Result<()> {
    loop {
        let left = ctx
            .store
            .guarded::<CartLine, _, Error>(cart, |view| {
                let ordered = Contents::of(view)?.ordered;
                let rows: Vec<&Line> = ordered.iter().take(ROWS_AT_ONCE).collect();
                Ok((cart::delete_rows(cart, &rows), ordered.len() - rows.len()))
            })
            .await?;
        if left == 0 {
            return Ok(());
        }
    }
}

/// Puts back what was ordered, because the order came to nothing. A line that is there again by now has the larger of both
/// quantities, so that doing it twice is doing it once. A cart that is gone stays so.
pub async fn restore_lines(
    ctx: &Context,
    cart: CartId,
    owner: Option<UserId>,
    items: &[(ItemSnapshot, u32)],
    ordered_at: Timestamp,
) -> Result<()> {
    for some in items.chunks(ROWS_AT_ONCE / 2) {
        let mut restore = |draft: &mut Draft| {
            for (item, quantity) in some {
                let line = item.line(rules::line_id(item.product_id, &item.options), ordered_at, *quantity);
                // What no longer fits is left out: the shopper has filled the cart anew.
                let _ = draft.take(&line, Some(&item.currency), MergePolicy::Max);
            }
            Ok(())
        };
        match cart::edit(ctx, owner, cart, true, None, &mut restore).await {
            Ok(_) | Err(Error::CartNotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
