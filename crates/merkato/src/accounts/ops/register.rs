//! A new user.

use widerow::{Commit, Error as DataError};

use super::{
    super::{
        error::{Error, Result},
        rules::{self, NewUser},
        tables::User,
        token::{Letter, Secret},
    },
    TRIES_MAX, pending,
};
use crate::{
    check::Check,
    claims::{self, Claimed},
    context::Context,
    id::UserId,
};

/// A user and the letter that lets the address be verified.
#[derive(Clone, Debug)]
pub struct Registered {
    pub user: User,
    pub letter: Letter,
}

/// Registers a customer.
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
            Claimed::Taken => return Err(Error::EmailTaken),
            Claimed::Yours => {}
        }
        let (now, secret) = (ctx.now(), Secret::new(ctx));
        let token = pending(&secret, now.plus_seconds(ctx.settings.accounts.verify_token_seconds), None);
        let user = rules::new_user(user_id, &email, hash.clone(), new.profile.clone(), token, now);
        match ctx.store.commit(Commit::new().unchanged::<User>(user_id, None).put(&user)).await {
            Ok(_) => return Ok(Registered { user, letter: Letter { user_id, email, token: secret.of_user(user_id) } }),
            Err(DataError::Conflict(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(DataError::Contended { table: "claims".into(), tries: TRIES_MAX }.into())
}
