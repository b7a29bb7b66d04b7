//! Attempts to log in, counted before anything is learnt from them.

use super::{
    super::{
        error::{Error, Result},
        rules,
        tables::LoginAttempts,
    },
    afterwards,
};
use crate::{context::Context, text::digest};

/// What attempts are counted against.
#[derive(Clone, Copy, Debug)]
pub(super) enum Subject<'s> {
    /// The folded e-mail address that is logged in to, whether anyone has it or not.
    Account(&'s str),
    /// The folded e-mail address that letters are asked for.
    Letters(&'s str),
    /// The client's address.
    Address(&'s str),
}

impl Subject<'_> {
    /// A hash: the table's keys say nothing to one who reads them.
    fn key(self) -> String {
        match self {
            Subject::Account(email) => digest(&[b"account", email.as_bytes()]),
            Subject::Letters(email) => digest(&[b"letters", email.as_bytes()]),
            Subject::Address(address) => digest(&[b"address", rules::address_subject(address).as_bytes()]),
        }
    }

    fn free(self, ctx: &Context) -> u32 {
        let settings = &ctx.settings.accounts.attempts;
        match self {
            Subject::Account(_) | Subject::Letters(_) => settings.account_free,
            Subject::Address(_) => settings.address_free,
        }
    }
}

/// Counts an attempt, or refuses it.
///
/// RACE: the count is a guarded write of its own, done before the password is looked at. Of many guesses at once, those
/// that come after the last free one find the wait that it left.
async fn count(ctx: &Context, subject: Subject<'_>) -> Result<()> {
    let (key, free) = (subject.key(), subject.free(ctx));
    let settings = &ctx.settings.accounts.attempts;
    ctx.store
        .update::<LoginAttempts, Error>(key.clone(), None, |found| {
            rules::attempt(found, &key, free, settings, ctx.now()).map(Some)
        })
        .await?;
    Ok(())
}

/// Counts an attempt against what is asked for and from the client's address.
///
/// ORDER: the address first. One that must wait does not make others wait for their accounts.
pub(super) async fn begin(ctx: &Context, subject: Subject<'_>, address: &str) -> Result<()> {
    count(ctx, Subject::Address(address)).await?;
    count(ctx, subject).await
}

/// The password was right: nothing is held against the account any more, and this one attempt not against the address.
/// Others from there stay counted, or one who guesses could wipe them out by logging in to an account of one's own.
pub(super) async fn succeed(ctx: &Context, email: &str, address: &str) {
    let (key, free) = (Subject::Address(address).key(), Subject::Address(address).free(ctx));
    let settings = &ctx.settings.accounts.attempts;
    let address =
        ctx.store.update::<LoginAttempts, Error>(key, None, |found| Ok(rules::take_back(found, free, settings)));
    let (account, address) = futures::future::join(forget(ctx, Subject::Account(email)), address).await;
    // What stays counted is forgotten in time; it is no reason to keep out who is already in.
    for result in [account, address.map(|_| ())] {
        afterwards(result, "an attempt could not be taken back");
    }
}

/// Nothing is held against it any more.
pub(super) async fn forget(ctx: &Context, subject: Subject<'_>) -> Result<()> {
    ctx.store.update::<LoginAttempts, Error>(subject.key(), None, |_| Ok(None)).await?;
    Ok(())
}

/// What is counted against the account of an e-mail address: for staff who are asked why someone must wait.
pub async fn find_attempts(ctx: &Context, email: &str) -> Result<Option<LoginAttempts>> {
    Ok(ctx.store.get::<LoginAttempts>(Subject::Account(&rules::fold_email(email)).key()).await?)
}
