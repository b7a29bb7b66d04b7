//! The e-mail address: verified, changed, given back.

use widerow::Error as DataError;

use super::{
    super::{
        error::{Error, Result},
        rules,
        tables::{TokenPurpose, User},
        token::{Letter, Secret, parse_link},
    },
    TRIES_MAX, afterwards,
    attempts::{self, Subject},
    change_user, issue, pending,
    profile::find_by_email,
};
use crate::{
    check::{Check, Invalid},
    claims::{self, Claimed},
    context::Context,
    id::UserId,
};

const STILL_CLAIMED: &str = "the claim to an address that is not used could not be given back yet";

/// Gives back the claims to the addresses that the user has no more.
///
/// ORDER: the row forgets an address only when its claim is gone, so that whoever comes next goes on where this stopped.
pub(super) async fn let_go(ctx: &Context, user: &User) -> Result<()> {
    if user.former_emails.is_empty() {
        return Ok(());
    }
    for email in &user.former_emails {
        claims::release::<User>(ctx, email, user.user_id.0).await?;
    }
    let gone = &user.former_emails;
    ctx.store
        .update::<User, DataError>(user.user_id, None, |found| {
            Ok(found.map(|mut user| {
                user.former_emails.retain(|email| !gone.contains(email));
                user
            }))
        })
        .await?;
    Ok(())
}

/// As `let_go`, where the change that was asked for is made already. A claim that is left goes to the next who asks for it.
pub(super) async fn let_go_afterwards(ctx: &Context, user: &User) {
    afterwards(let_go(ctx, user).await, STILL_CLAIMED);
}

/// Another letter for verifying an address. None if nobody has it, or it is verified. A stranger must not be able to tell:
/// the server says the same, and does not make anyone wait for this before it does.
pub async fn request_verification(ctx: &Context, email: &str, address: &str) -> Result<Option<Letter>> {
    let email = checked(email)?;
    attempts::begin(ctx, Subject::Letters(&email), address).await?;
    match find_by_email(ctx, &email).await? {
        Some(entry) if !entry.email_verified => issue_to_stranger(ctx, entry.user_id, TokenPurpose::VerifyEmail).await,
        _ => Ok(None),
    }
}

/// What goes to an address that somebody registers with again.
#[derive(Clone, Debug)]
pub enum Again {
    /// The letter once more.
    Verify(Letter),
    /// A letter by which a password is chosen: none of those that were given is.
    Choose(Letter),
    /// It has an account, which needs no letter.
    Known,
}

/// Somebody registers with an address that is taken. If nobody has verified it, nor used the account, then who registered before
/// may be a stranger, and so may be who does now: neither one's password stands, and who reads the letter chooses one. Where
/// addresses need not be verified, the account is in use from its first instant, and stays as it is.
///
/// ORDER: counted before anything is changed, so that whoever may send no letter takes none away.
pub async fn register_again(ctx: &Context, email: &str, address: &str) -> Result<Again> {
    let email = checked(email)?;
    attempts::begin(ctx, Subject::Letters(&email), address).await?;
    let Some(entry) = find_by_email(ctx, &email).await?.filter(|entry| !entry.email_verified) else {
        return Ok(Again::Known);
    };
    if ctx.settings.accounts.verified_email_needed {
        let (user_id, secret) = (entry.user_id, Secret::new(ctx));
        let choose = pending(&secret, ctx.now().plus_seconds(ctx.settings.accounts.reset_token_seconds), None);
        match change_user(ctx, user_id, |user| rules::contest(user, &email, choose.clone(), ctx.now())).await {
            Ok(user) => {
                let_go_afterwards(ctx, &user).await;
                return Ok(Again::Choose(Letter { user_id, email, token: secret.of_user(user_id) }));
            }
            Err(Error::EmailTaken | Error::UserNotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let letter = issue_to_stranger(ctx, entry.user_id, TokenPurpose::VerifyEmail).await?;
    Ok(letter.map_or(Again::Known, Again::Verify))
}

/// Counts a letter that was not asked for here, as that of a registration, as if it had been: the count tells nobody whose
/// address has an account.
pub async fn count_letter(ctx: &Context, email: &str, address: &str) -> Result<()> {
    let email = checked(email)?;
    attempts::begin(ctx, Subject::Letters(&email), address).await
}

/// A token for who may not be there any more.
pub(super) async fn issue_to_stranger(ctx: &Context, user_id: UserId, purpose: TokenPurpose) -> Result<Option<Letter>> {
    match issue(ctx, user_id, purpose, None).await {
        Ok((letter, _)) => Ok(Some(letter)),
        Err(Error::UserNotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Uses the token of a letter. It works once.
///
/// RACE: of two who use it at once, both decide on one version of the row, and one finds the token gone.
pub async fn verify_email(ctx: &Context, token: &str) -> Result<User> {
    let (user_id, secret) = parse_link(token).ok_or(Error::TokenInvalid)?;
    let used = change_user(ctx, user_id, |user| rules::verify_email(user, &secret, ctx.now())).await;
    used.map_err(as_invalid)
}

/// Asks for another address; the caller has made sure of the person (`confirm_password`). The letter goes to the new address,
/// and nothing changes before it is answered. Whether the new one is taken is told only to who can read its letters.
pub async fn request_email_change(ctx: &Context, user_id: UserId, new_email: &str, address: &str) -> Result<Letter> {
    let new_email = checked(new_email)?;
    let user = super::get_user(ctx, user_id).await?;
    if user.email.as_ref() == Some(&new_email) {
        return Err(Invalid::new("email", "it is the address already").into());
    }
    attempts::begin(ctx, Subject::Letters(&new_email), address).await?;
    let (letter, user) = issue(ctx, user_id, TokenPurpose::ChangeEmail, Some(&new_email)).await?;
    // One that was asked for before, and may have been claimed.
    let_go_afterwards(ctx, &user).await;
    Ok(letter)
}

/// Uses the token of a letter: the new address is the user's, the old one is free.
///
/// RACE: the row is read before the claim and committed at that version. If anything moved it (another use of the token, a
/// new password, one who takes over the claim), one begins anew.
pub async fn confirm_email_change(ctx: &Context, token: &str) -> Result<User> {
    let (user_id, secret) = parse_link(token).ok_or(Error::TokenInvalid)?;
    let mut claimed = None;
    for _ in 0..TRIES_MAX {
        let user = match change_email(ctx, user_id, &secret, &mut claimed).await {
            Ok(user) => user,
            Err(Error::Data(DataError::Conflict(_))) => continue,
            Err(error) => {
                // The token was good a moment ago, and the address was claimed for nothing.
                if let Some(email) = claimed.filter(|_| !matches!(error, Error::Data(_))) {
                    let released = claims::release::<User>(ctx, &email, user_id.0).await;
                    afterwards(released.map_err(Error::from), STILL_CLAIMED);
                }
                return Err(as_invalid(error));
            }
        };
        let_go_afterwards(ctx, &user).await;
        return Ok(user);
    }
    Err(DataError::Contended { table: "users".into(), tries: TRIES_MAX }.into())
}

async fn change_email(ctx: &Context, user_id: UserId, secret: &Secret, claimed: &mut Option<String>) -> Result<User> {
    let (found, version) = ctx.store.get_versioned::<User>(user_id).await?;
    let user = rules::living(found, user_id)?;
    let token = rules::find_token(&user, TokenPurpose::ChangeEmail, secret, ctx.now())?;
    let email = token.new_email.clone().ok_or(Error::TokenInvalid)?;
    if claims::claim::<User>(ctx, &email, user_id.0).await? == Claimed::Taken {
        return Err(Error::EmailTaken);
    }
    *claimed = Some(email);
    let changed = ctx
        .store
        .update::<User, Error>(user_id, version, |found| {
            rules::confirm_email_change(rules::living(found, user_id)?, secret, ctx.now()).map(Some)
        })
        .await?;
    changed.ok_or(Error::TokenInvalid)
}

pub(super) fn checked(email: &str) -> Result<String, Invalid> {
    let email = rules::fold_email(email);
    let mut check = Check::new();
    rules::check_email(&mut check, "email", &email);
    check.end()?;
    Ok(email)
}

/// A link says no more about a user who is not there than about one whose token is another.
pub(super) fn as_invalid(error: Error) -> Error {
    match error {
        Error::UserNotFound { .. } => Error::TokenInvalid,
        other => other,
    }
}
