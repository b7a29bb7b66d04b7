//! Whom staff see, and what they decide about a user. Who is asked to be staff is the caller's business (`Actor::require`).

use widerow::Page;

use super::{
    super::{
        error::{Error, Result},
        rules,
        tables::{Role, STAFF, StaffEntry, User, UserEntry, UserStatus},
    },
    change_user, session,
};
use crate::{
    context::Context,
    id::UserId,
    limits,
    pattern::PageRequest,
    shards::{self, Merged},
};

/// The users, newest first, without those who were erased.
pub async fn list_users(ctx: &Context, page: PageRequest) -> Result<Merged<UserEntry>> {
    page.check()?;
    Ok(shards::page::<UserEntry>(&ctx.store, limits::USER_SHARDS, |shard| shard, &page).await?)
}

/// Who works for the shop, the oldest first.
pub async fn list_staff(ctx: &Context, page: PageRequest) -> Result<Page<StaffEntry>> {
    page.check()?;
    let slice = ctx.store.slice::<StaffEntry>(STAFF);
    Ok(slice.limit(page.limit).after(page.cursor).page().await?)
}

/// Keeps the user out, at once: every session ends.
pub async fn suspend(ctx: &Context, user_id: UserId) -> Result<User> {
    let user = change_user(ctx, user_id, |user| {
        let user = rules::end_sessions(user, ctx.now());
        Ok(User { status: UserStatus::Suspended, ..user })
    })
    .await?;
    session::close_afterwards(ctx, &user).await;
    Ok(user)
}

/// Lets the user log in again.
pub async fn reinstate(ctx: &Context, user_id: UserId) -> Result<User> {
    let active = |user| Ok(User { status: UserStatus::Active, updated_at: ctx.now(), ..user });
    change_user(ctx, user_id, active).await
}

/// What the user may do from now on, in sessions that are open, too. Nobody may do more than before whose address is not verified:
/// anybody can have registered with it. Less is always possible.
pub async fn set_role(ctx: &Context, user_id: UserId, role: Role) -> Result<User> {
    change_user(ctx, user_id, |user| {
        if role > user.role && !user.email_verified {
            return Err(Error::EmailNotVerified);
        }
        Ok(User { role, updated_at: ctx.now(), ..user })
    })
    .await
}
