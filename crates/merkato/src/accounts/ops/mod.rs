//! The operations: load, decide, commit, answer.

mod address;
mod attempts;
mod email;
mod erase;
mod login;
mod password;
mod profile;
mod register;
mod session;
mod staff;

use widerow::Timestamp;

pub use self::{
    address::{add_address, change_address, list_addresses, remove_address, set_default_address},
    attempts::find_attempts,
    email::{
        Again, confirm_email_change, count_letter, register_again, request_email_change, request_verification,
        verify_email,
    },
    erase::erase,
    login::{LoggedIn, log_in},
    password::{change_password, confirm_password, request_password_reset, reset_password, set_password},
    profile::{change_profile, find_by_email, find_user, find_users, get_user, set_preferences, update_profile},
    register::{Registered, register},
    session::{Actor, Client, authenticate, list_sessions, revoke_all_sessions, revoke_session},
    staff::{list_staff, list_users, reinstate, set_role, suspend},
};
use super::{
    error::{Error, Result},
    rules,
    tables::{PendingToken, TokenPurpose, User},
    token::{Letter, Secret},
};
use crate::{context::Context, id::UserId};

/// Tries of what begins anew when another was quicker.
const TRIES_MAX: u32 = 8;

/// Changes the row of a user who has not been erased.
async fn change_user(ctx: &Context, user_id: UserId, change: impl Fn(User) -> Result<User>) -> Result<User> {
    let changed = ctx
        .store
        .update::<User, Error>(user_id, None, |found| change(rules::living(found, user_id)?).map(Some))
        .await?;
    changed.ok_or(Error::UserNotFound { user: user_id })
}

/// A token for a purpose, until the time given.
fn pending(secret: &Secret, expires_at: Timestamp, new_email: Option<String>) -> PendingToken {
    PendingToken { secret_hash: secret.hash(), expires_at, new_email }
}

/// A token for the user, and the letter that takes it to the address.
async fn issue(
    ctx: &Context,
    user_id: UserId,
    purpose: TokenPurpose,
    new_email: Option<&str>,
) -> Result<(Letter, User)> {
    let settings = &ctx.settings.accounts;
    let seconds = match purpose {
        TokenPurpose::VerifyEmail => settings.verify_token_seconds,
        TokenPurpose::ResetPassword => settings.reset_token_seconds,
        TokenPurpose::ChangeEmail => settings.email_change_token_seconds,
    };
    let secret = Secret::new(ctx);
    let user = change_user(ctx, user_id, |user| {
        let now = ctx.now();
        let token = pending(&secret, now.plus_seconds(seconds), new_email.map(str::to_owned));
        Ok(rules::issue_token(user, purpose, token, now))
    })
    .await?;
    let email = new_email.map(str::to_owned).or_else(|| user.email.clone());
    let email = email.ok_or(Error::UserNotFound { user: user_id })?;
    Ok((Letter { user_id, email, token: secret.of_user(user_id) }, user))
}

/// What follows a change that was made and stands by itself: if it fails, it is done later or not missed.
fn afterwards(result: Result<()>, what: &str) {
    if let Err(error) = result {
        tracing::warn!(%error, "{what}");
    }
}
