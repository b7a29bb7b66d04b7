//! The operations: load, decide, commit, answer.

use widerow::{Commit, Page, Timestamp};

use super::{
    error::{Error, Result},
    rules::NewKey,
    tables::{ApiKey, KeyEntry, SHARD},
    token::Token,
};
use crate::{context::Context, id::KeyId, limits, pattern::PageRequest};

/// A key, and the token that stands for it.
#[derive(Clone, Debug)]
#[must_use = "the token is kept nowhere else"]
pub struct Created {
    pub key: ApiKey,
    pub token: Token,
}

/// Makes a key.
///
/// RACE: the keys are counted before. Two who make one at the same time may come to one more than the limit, which keeps the
/// list short and promises nothing.
pub async fn create(ctx: &Context, new: NewKey) -> Result<Created> {
    let now = ctx.now();
    new.check(now)?;
    let limit = limits::KEYS_MAX;
    if count_in_force(ctx, limit).await? >= limit {
        return Err(Error::TooManyKeys { limit });
    }
    let key_id = KeyId(ctx.new_id());
    let token = Token::new(ctx, key_id);
    let key = new.make(key_id, token.hash().clone(), now);
    ctx.store.commit(put(Commit::new().absent::<ApiKey>(key_id), &key, now)).await?;
    Ok(Created { key, token })
}

/// The keys that are good, counted as far as the limit.
async fn count_in_force(ctx: &Context, limit: usize) -> Result<usize> {
    let (mut count, mut cursor) = (0, None);
    loop {
        let page = ctx.store.slice::<KeyEntry>(SHARD).limit(limit).after(cursor).page().await?;
        count += page.rows.iter().filter(|entry| entry.is_in_force(ctx.now())).count();
        cursor = page.next;
        if cursor.is_none() || count >= limit {
            return Ok(count);
        }
    }
}

fn put(commit: Commit, key: &ApiKey, now: Timestamp) -> Commit {
    match key.rest_seconds(now) {
        Some(seconds) => commit.put_for(key, seconds),
        None => commit.put(key),
    }
}

/// The key that a token stands for. None if it is unknown, wrong, revoked, at its end, or another tenant's.
pub async fn find(ctx: &Context, token: &Token) -> Result<Option<ApiKey>> {
    if token.tenant() != ctx.store.tenant().as_str() {
        return Ok(None);
    }
    let found = ctx.store.get::<ApiKey>(token.key_id()).await?;
    Ok(found.filter(|key| token.has_hash(&key.secret_hash) && key.is_in_force(ctx.now())))
}

/// Writes down that a key is used, as `find` gave it. It asks for nothing where that was written not long ago, and is best
/// called after the request is answered.
///
/// RACE: the key may be revoked at this moment. What is written rests on the key as it is then: what is revoked stays so.
pub async fn note_use(ctx: &Context, key: &ApiKey) -> Result<()> {
    let every_seconds = ctx.settings.keys.used_seconds;
    if !key.use_is_due(ctx.now(), every_seconds) {
        return Ok(());
    }
    ctx.store
        .guarded::<ApiKey, _, Error>(key.key_id, |found| {
            let now = ctx.now();
            let due = found.rows.first().filter(|key| key.use_is_due(now, every_seconds));
            let used = due.map(|key| ApiKey { last_used_at: Some(now), ..key.clone() });
            Ok((used.map_or(Commit::new(), |used| put(Commit::new(), &used, now)), ()))
        })
        .await
}

/// The keys, newest first; those that are revoked or at their end for a while.
pub async fn list(ctx: &Context, page: PageRequest) -> Result<Page<KeyEntry>> {
    page.check()?;
    Ok(ctx.store.slice::<KeyEntry>(SHARD).limit(page.limit).after(page.cursor).page().await?)
}

/// A key as it is, in force or not.
pub async fn get_key(ctx: &Context, key_id: KeyId) -> Result<ApiKey> {
    ctx.store.get::<ApiKey>(key_id).await?.ok_or(Error::KeyNotFound { key: key_id })
}

/// Ends a key for good, at once. One that was revoked before stays as it was.
pub async fn revoke(ctx: &Context, key_id: KeyId) -> Result<ApiKey> {
    ctx.store
        .guarded::<ApiKey, _, Error>(key_id, |found| {
            let key = found.rows.first().ok_or(Error::KeyNotFound { key: key_id })?;
            if key.revoked_at.is_some() {
                return Ok((Commit::new(), key.clone()));
            }
            let now = ctx.now();
            let revoked = ApiKey { revoked_at: Some(now), ..key.clone() };
            Ok((put(Commit::new(), &revoked, now), revoked))
        })
        .await
}
