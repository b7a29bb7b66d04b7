//! A cart copied.

use widerow::{Commit, Operator};

use super::{
    cart::{self, Contents, DAY_SECONDS, ROWS_AT_ONCE, end_of, set_head},
    list, show,
};
use crate::{
    carts::{
        error::{Error, Result},
        rules::Draft,
        shopper::Shopper,
        tables::{CartEntry, CartLine, Head},
    },
    context::Context,
    id::{CartId, UserId},
    limits,
};

/// Makes a saved cart with the same lines, under a name of its own.
///
/// ORDER: the lines are written, then the copy enters the list, then it is told that it will not end. Stopped before the
/// second, nobody sees the copy, and the sweep takes it after a day. Stopped before the third, it is seen whole, because it
/// is listed; the sweep, or the next edit, does the rest.
pub async fn copy_cart(ctx: &Context, user: UserId, source: CartId, name: &str) -> Result<CartEntry> {
    list::check_name(name)?;
    let original = show::show_cart(ctx, &Shopper::User(user), source).await?;
    // Before a thousand lines are written in vain; it is decided when the copy is listed.
    if list::list_carts(ctx, user).await?.len() >= limits::CARTS_A_USER_MAX {
        return Err(Error::TooManyCarts { limit: limits::CARTS_A_USER_MAX });
    }
    let copy = CartId(ctx.new_id());
    let mut before = Head::default();
    let mut draft = Draft { currency: original.currency, ..Draft::default() };
    for lines in original.lines.chunks(ROWS_AT_ONCE) {
        draft.lines.extend_from_slice(lines);
        let head = Head {
            user_id: Some(user),
            subtotal: draft.subtotal(),
            item_count: draft.pieces(),
            currency: draft.currency.clone(),
            expires_at: Some(ctx.now().plus_seconds(DAY_SECONDS)),
            copying: true,
            updated_at: Some(ctx.now()),
            ..Head::default()
        };
        // RACE: a copy that takes more than a day is closed by the sweep, and must not grow afterwards.
        let commit = Commit::new().when_static(copy, CartLine::CLOSED, Operator::Equal, &None);
        let commit = lines.iter().fold(commit, |commit, line| commit.put(&line.row(copy)));
        match ctx.store.commit(set_head(ctx, copy, &before, &head, commit)).await {
            Err(widerow::Error::Conflict(_)) => return Err(Error::CartNotFound { cart: copy }),
            other => other?,
        };
        before = head;
    }
    let entry = match list::list_new(ctx, list::new_entry(ctx, user, copy, name)).await {
        Err(refused @ Error::TooManyCarts { .. }) => {
            discard(ctx, user, copy).await?;
            return Err(refused);
        }
        other => other?,
    };
    if !draft.lines.is_empty() && !settle(ctx, user, copy).await? {
        list::unlist(ctx, user, copy).await?;
        return Err(Error::CartNotFound { cart: copy });
    }
    Ok(entry)
}

/// A listed copy lives as long as any cart of its owner; false where it was closed.
pub(super) async fn settle(ctx: &Context, user: UserId, copy: CartId) -> Result<bool> {
    ctx.store
        .guarded::<CartLine, _, Error>(copy, |view| {
            let head = Contents::of(view)?.head;
            if head.closed || !head.copying {
                return Ok((Commit::new(), !head.closed));
            }
            let settled = Head { copying: false, expires_at: end_of(ctx, Some(user)), ..head.clone() };
            Ok((set_head(ctx, copy, &head, &settled, Commit::new()), true))
        })
        .await
}

/// A copy that will not be listed.
pub(super) async fn discard(ctx: &Context, user: UserId, copy: CartId) -> Result<()> {
    cart::close(ctx, user, copy, None, |head| head.copying).await?;
    cart::empty_closed(ctx, copy).await
}
