//! Logging in.

use super::{
    super::{
        error::{Error, Result},
        rules,
        tables::User,
        token::Secret,
    },
    attempts::{self, Subject},
    password::change_if_right,
    profile::find_by_email,
    session::{self, Actor, Client},
};
use crate::{check::Check, context::Context};

/// Who came in, and the token that the client shows from now on.
#[derive(Clone, Debug)]
pub struct LoggedIn {
    pub user: User,
    pub actor: Actor,
    pub token: Secret,
    pub expires_at: widerow::Timestamp,
}

/// Q7. A session for who knows the password.
///
/// RACE: what was found by the address may be a moment old. The user's row decides: it is committed only if the password
/// that was verified is still its own, and the session is of the epoch that the row had then.
pub async fn log_in(ctx: &Context, email: &str, password: &str, client: &Client) -> Result<LoggedIn> {
    let email = rules::fold_email(email);
    let mut check = Check::new();
    rules::check_email(&mut check, "email", &email);
    rules::check_given_password(&mut check, "password", password);
    check.end()?;
    attempts::begin(ctx, Subject::Account(&email), &client.address).await?;
    let Some(entry) = find_by_email(ctx, &email).await? else {
        ctx.passwords.verify(password, None).await?;
        return Err(Error::WrongCredentials);
    };
    let needed = ctx.settings.accounts.verified_email_needed;
    let entered = change_if_right(ctx, entry.user_id, entry.password_hash, password, |mut user| {
        rules::may_log_in(&user, &email, needed)?;
        user.last_login_at = Some(ctx.now());
        Ok(user)
    })
    .await;
    // The last two are said only to who knows the password.
    if let Ok(_) | Err(Error::EmailNotVerified | Error::Suspended) = &entered {
        attempts::succeed(ctx, &email, &client.address).await;
    }
    let user = entered.map_err(|error| match error {
        Error::UserNotFound { .. } => Error::WrongCredentials,
        other => other,
    })?;
    session::open(ctx, user, client).await
}
