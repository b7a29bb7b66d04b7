//! A new user.

use widerow::{Commit, Error as DataError};

use super::{
    super::{
        error::{Error, Result},
        rules::{self, NewUser, Profile},
        tables::{PendingToken, User},
        token::{Letter, Secret},
    },
    TRIES_MAX, change_user, email, pending,
};
use crate::{
    check::Check,
    claims::{self, Claimed},
    context::Context,
    id::UserId,
    passwords::PasswordHash,
};

/// A user and the letter that lets the address be verified.
#[derive(Clone, Debug)]
pub struct Registered {
    pub user: User,
    pub letter: Letter,
}

/// Registers a customer. Whoever registers with an address that was never verified nor used takes the place of who did so
/// before: the letter goes to who has the address, and must not open the account to the password of a stranger.
///
/// ORDER: the password is hashed first, so that the address is claimed for a moment only, and so that an address that is
/// taken does not answer sooner.
/// RACE: a claim that is taken over in that moment has moved on the partition of the new user, which is committed at no
/// version at all: the commit fails, and one begins anew under another id.
pub async fn register(ctx: &Context, new: NewUser) -> Result<Registered> {
    let email = rules::fold_email(&new.email);
    let mut check = Check::new();
    rules::check_email(&mut check, "email", &email);
    rules::check_new_password(&mut check, "password", &new.password, Some(&email));
    new.profile.check(&mut check);
    check.end()?;
    let hash = ctx.passwords.hash(&new.password, ctx.random()).await?;
    for _ in 0..TRIES_MAX {
        let user_id = UserId(ctx.new_id());
        match claims::claim::<User>(ctx, &email, user_id.0).await? {
            Claimed::Taken => return register_again(ctx, &email, hash, new.profile).await,
            Claimed::Yours => {}
        }
        let (now, secret) = (ctx.now(), Secret::new(ctx));
        let user = rules::new_user(user_id, &email, hash.clone(), new.profile.clone(), verify(ctx, &secret), now);
        match ctx.store.commit(Commit::new().unchanged::<User>(user_id, None).put(&user)).await {
            Ok(_) => return Ok(registered(user, email, &secret)),
            Err(DataError::Conflict(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(DataError::Contended { table: "claims".into(), tries: TRIES_MAX }.into())
}

/// Registers with an address that somebody has already.
///
/// RACE: the first may verify the address or log in at this moment. The row is committed as it was decided upon, and the
/// letter of the first is void in that commit.
async fn register_again(ctx: &Context, email: &str, hash: PasswordHash, profile: Profile) -> Result<Registered> {
    let owner = claims::find_owner::<User>(ctx, email).await?.ok_or(Error::EmailTaken)?;
    let (user_id, secret) = (UserId(owner), Secret::new(ctx));
    let changed = change_user(ctx, user_id, |user| {
        rules::register_again(user, email, hash.clone(), profile.clone(), verify(ctx, &secret), ctx.now())
    });
    // One who has only claimed the address, and has no row yet, is about to have it.
    let user = changed.await.map_err(|error| match error {
        Error::UserNotFound { .. } => Error::EmailTaken,
        other => other,
    })?;
    // A session of the first one cannot be there, and an address that it was about to take is free.
    email::let_go_afterwards(ctx, &user).await;
    Ok(registered(user, email.to_owned(), &secret))
}

fn verify(ctx: &Context, secret: &Secret) -> PendingToken {
    pending(secret, ctx.now().plus_seconds(ctx.settings.accounts.verify_token_seconds), None)
}

fn registered(user: User, email: String, secret: &Secret) -> Registered {
    let letter = Letter { user_id: user.user_id, email, token: secret.of_user(user.user_id) };
    Registered { user, letter }
}
