//! Forgetting a person.

use widerow::Commit;

use super::{
    super::{
        error::{Error, Result},
        rules,
        tables::{User, UserStatus},
    },
    attempts::{self, Subject},
    email::let_go,
    session,
};
use crate::{context::Context, id::UserId};

/// Removes what is personal from every table of accounts; the user's id stays, with the status deleted. Asked again, it
/// changes nothing, or finishes what was interrupted.
///
/// ORDER: the row first, which ends sessions and tokens and makes the address nobody's to log in with. It keeps the addresses
/// whose claims are to be given back, and forgets them last: while it names any, there is something left to do.
pub async fn erase(ctx: &Context, user_id: UserId) -> Result<()> {
    let left = ctx
        .store
        .guarded::<User, _, Error>(user_id, |found| match found.rows.first() {
            None => Err(Error::UserNotFound { user: user_id }),
            Some(user) if user.status == UserStatus::Deleted => Ok((Commit::new(), user.clone())),
            Some(user) => {
                let left = rules::erase(user.clone(), ctx.now());
                Ok((Commit::new().put(&left), left))
            }
        })
        .await?;
    if left.former_emails.is_empty() {
        return Ok(());
    }
    // No session is taken any more, of no epoch: a login that is under way writes down no address.
    session::close(ctx, user_id, i64::MAX).await?;
    for email in &left.former_emails {
        attempts::forget(ctx, Subject::Account(email)).await?;
        attempts::forget(ctx, Subject::Letters(email)).await?;
    }
    let_go(ctx, &left).await
}
