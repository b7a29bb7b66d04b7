//! A user's carts, when the person is to be forgotten.

use widerow::Commit;

use super::{
    cart::{self, ROWS_AT_ONCE},
    list::list_carts,
};
use crate::{
    carts::{
        error::{Error, Result},
        tables::CartEntry,
    },
    context::Context,
    id::UserId,
};

/// Deletes all carts of a user and the e-mail address beside them. Asked again, it finishes what was interrupted.
///
/// ORDER: a cart is closed and emptied before it leaves the list: while it is listed there is something left to do.
pub async fn erase_carts(ctx: &Context, user: UserId) -> Result<()> {
    for entry in list_carts(ctx, user).await? {
        cart::close(ctx, user, entry.cart_id, None, |head| head.user_id.is_none_or(|owner| owner == user)).await?;
        cart::empty_closed(ctx, entry.cart_id).await?;
    }
    loop {
        let more = ctx
            .store
            .guarded::<CartEntry, _, Error>(user, |view| {
                let told = view.statics.get(CartEntry::TOLD)?.flatten();
                let all = view.rows.len() <= ROWS_AT_ONCE;
                if all && told.is_none() {
                    return Ok((Commit::new().delete_partition::<CartEntry>(user), false));
                }
                let some = view.rows.iter().take(ROWS_AT_ONCE);
                let key = |entry: &CartEntry| (user, entry.cart_name.clone(), entry.cart_id);
                let commit = some.fold(Commit::new(), |commit, entry| commit.delete::<CartEntry>(key(entry)));
                // The number of events stays: one that begins anew would be told over an old one.
                Ok((if all { commit.set_static(user, CartEntry::USER_EMAIL, &None) } else { commit }, !all))
            })
            .await?;
        if !more {
            return Ok(());
        }
    }
}
