//! The password: asked again, changed, reset.

use super::{
    super::{
        error::{Error, Result},
        rules,
        tables::{TokenPurpose, User},
        token::{Letter, parse_link},
    },
    TRIES_MAX, afterwards,
    attempts::{self, Subject},
    change_user, email, get_user,
    login::LoggedIn,
    profile::find_by_email,
    session::{self, Client},
};
use crate::{check::Check, context::Context, id::UserId, passwords::PasswordHash};

/// Why a change that rests on a password was not made.
enum Unchanged {
    /// The hash is another by now.
    Moved(Option<PasswordHash>),
    Refused(Error),
}

impl From<widerow::Error> for Unchanged {
    fn from(error: widerow::Error) -> Self {
        Unchanged::Refused(error.into())
    }
}

/// Changes the user's row if the password is right, and hashes it anew if hashes are made otherwise by now.
///
/// RACE: verifying takes long, and the password may change meanwhile. The row is committed only with the hash that was
/// verified; if it is another, that one is verified.
pub(super) async fn change_if_right(
    ctx: &Context,
    user_id: UserId,
    mut known: Option<PasswordHash>,
    password: &str,
    change: impl Fn(User) -> Result<User>,
) -> Result<User> {
    for _ in 0..TRIES_MAX {
        if !ctx.passwords.verify(password, known.as_ref()).await? {
            return Err(Error::WrongCredentials);
        }
        let outdated = known.as_ref().is_some_and(|hash| ctx.passwords.is_outdated(hash));
        let renewed = if outdated { Some(ctx.passwords.hash(password, ctx.random()).await?) } else { None };
        let changed = ctx
            .store
            .update::<User, Unchanged>(user_id, None, |found| {
                let mut user = rules::living(found, user_id).map_err(Unchanged::Refused)?;
                if user.password_hash != known {
                    return Err(Unchanged::Moved(user.password_hash));
                }
                if renewed.is_some() {
                    user.password_hash.clone_from(&renewed);
                }
                change(user).map(Some).map_err(Unchanged::Refused)
            })
            .await;
        match changed {
            Ok(Some(user)) => return Ok(user),
            Ok(None) => return Err(Error::UserNotFound { user: user_id }),
            Err(Unchanged::Moved(hash)) => known = hash,
            Err(Unchanged::Refused(error)) => return Err(error),
        }
    }
    Err(widerow::Error::Contended { table: "users".into(), tries: TRIES_MAX }.into())
}

/// Asks for the password again, before something that a stolen session must not do. Guesses count as when logging in.
pub async fn confirm_password(ctx: &Context, user_id: UserId, password: &str, address: &str) -> Result<()> {
    let mut check = Check::new();
    rules::check_given_password(&mut check, "password", password);
    check.end()?;
    let user = get_user(ctx, user_id).await?;
    let email = user.email.unwrap_or_default();
    attempts::begin(ctx, Subject::Account(&email), address).await?;
    if !ctx.passwords.verify(password, user.password_hash.as_ref()).await? {
        return Err(Error::WrongCredentials);
    }
    attempts::succeed(ctx, &email, address).await;
    Ok(())
}

/// A new password in place of the present one. Every session ends, and the one who changed it gets a new one.
pub async fn change_password(
    ctx: &Context,
    user_id: UserId,
    password: &str,
    new_password: &str,
    client: &Client,
) -> Result<LoggedIn> {
    let mut check = Check::new();
    rules::check_given_password(&mut check, "password", password);
    rules::check_new_password(&mut check, "new_password", new_password, None);
    check.end()?;
    let user = get_user(ctx, user_id).await?;
    let email = user.email.clone().unwrap_or_default();
    check_against_email("new_password", new_password, &user)?;
    attempts::begin(ctx, Subject::Account(&email), &client.address).await?;
    let hash = ctx.passwords.hash(new_password, ctx.random()).await?;
    let changed = change_if_right(ctx, user_id, user.password_hash, password, |user| {
        Ok(rules::change_password(user, hash.clone(), ctx.now()))
    })
    .await?;
    attempts::succeed(ctx, &email, &client.address).await;
    session::close_afterwards(ctx, &changed).await;
    email::let_go_afterwards(ctx, &changed).await;
    session::open(ctx, changed, client).await
}

/// A letter for who has forgotten the password. None if nobody has the address. A stranger must not be able to tell: the
/// server says the same, and does not make anyone wait for this before it does.
pub async fn request_password_reset(ctx: &Context, email: &str, address: &str) -> Result<Option<Letter>> {
    let email = email::checked(email)?;
    attempts::begin(ctx, Subject::Letters(&email), address).await?;
    match find_by_email(ctx, &email).await? {
        Some(entry) => email::issue_to_stranger(ctx, entry.user_id, TokenPurpose::ResetPassword).await,
        None => Ok(None),
    }
}

/// Uses the token of a letter: the password is the new one, every session ends.
pub async fn reset_password(ctx: &Context, token: &str, new_password: &str) -> Result<User> {
    let mut check = Check::new();
    rules::check_new_password(&mut check, "new_password", new_password, None);
    check.end()?;
    let (user_id, secret) = parse_link(token).ok_or(Error::TokenInvalid)?;
    // Looked at before hashing, which costs; decided in the commit.
    let user = get_user(ctx, user_id).await.map_err(email::as_invalid)?;
    rules::find_token(&user, TokenPurpose::ResetPassword, &secret, ctx.now())?;
    check_against_email("new_password", new_password, &user)?;
    let hash = ctx.passwords.hash(new_password, ctx.random()).await?;
    let changed = change_user(ctx, user_id, |user| rules::reset_password(user, &secret, hash.clone(), ctx.now())).await;
    let changed = changed.map_err(email::as_invalid)?;
    clear_up(ctx, &changed).await;
    Ok(changed)
}

/// Sets the password of a user, for whoever runs the shop and vouches for the address: every session ends. Nothing is counted,
/// so that no stranger who asks for letters can be in the way.
pub async fn set_password(ctx: &Context, user_id: UserId, new_password: &str) -> Result<User> {
    let user = get_user(ctx, user_id).await?;
    check_against_email("new_password", new_password, &user)?;
    let hash = ctx.passwords.hash(new_password, ctx.random()).await?;
    let changed = change_user(ctx, user_id, |user| Ok(rules::set_password(user, hash.clone(), ctx.now()))).await?;
    clear_up(ctx, &changed).await;
    Ok(changed)
}

/// What follows a new password that was set without the old one.
async fn clear_up(ctx: &Context, changed: &User) {
    session::close_afterwards(ctx, changed).await;
    email::let_go_afterwards(ctx, changed).await;
    // The guesses at the old password are of no use any more.
    let account = Subject::Account(changed.email.as_deref().unwrap_or_default());
    afterwards(attempts::forget(ctx, account).await, "attempts at an old password stay counted");
}

fn check_against_email(field: &str, password: &str, user: &User) -> Result<()> {
    let mut check = Check::new();
    rules::check_new_password(&mut check, field, password, user.email.as_deref());
    Ok(check.end()?)
}
