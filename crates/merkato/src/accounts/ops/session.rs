//! Sessions: opened, recognised, listed, revoked.

use widerow::Commit;

use super::{
    super::{
        error::{Error, Result},
        rules,
        tables::{Role, Session, User, UserSession, UserStatus},
        token::Secret,
    },
    afterwards, change_user, get_user,
    login::LoggedIn,
};
use crate::{
    context::Context,
    id::{SessionId, UserId},
    limits, text,
};

/// Who makes a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Actor {
    pub user_id: UserId,
    pub role: Role,
    pub session_id: SessionId,
}

impl Actor {
    /// Refuses one who may not do what the role may.
    pub fn require(&self, needed: Role) -> Result<()> {
        if self.role >= needed { Ok(()) } else { Err(Error::Forbidden { needed }) }
    }
}

/// Where a request comes from, as the server sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Client {
    pub address: String,
    pub user_agent: Option<String>,
}

/// A session for a user who has just proved to be one. Where there are too many, the oldest goes.
///
/// RACE: the user may be getting a new password, or be erased, at this moment: the partition then says that it takes none
/// of the user's epoch any more, or this session comes first and is cleared away.
pub(super) async fn open(ctx: &Context, user: User, client: &Client) -> Result<LoggedIn> {
    let token = Secret::new(ctx);
    let (now, seconds) = (ctx.now(), ctx.settings.accounts.session_seconds);
    let user_agent = client.user_agent.as_deref().map(|agent| agent.chars().filter(|c| !c.is_control()).collect());
    let session = UserSession {
        user_id: user.user_id,
        session_id: SessionId(ctx.new_id()),
        epoch_min: None,
        token_hash: token.hash(),
        created_at: now,
        last_seen_at: now,
        expires_at: now.plus_seconds(i64::from(seconds)),
        address: text::cut(&client.address, limits::CLIENT_ADDRESS_BYTES_MAX).to_owned(),
        user_agent: user_agent.map(|agent: String| text::cut(&agent, limits::USER_AGENT_BYTES_MAX).to_owned()),
        session_epoch: user.session_epoch,
    };
    ctx.store
        .guarded::<UserSession, _, Error>(user.user_id, |found| {
            if epoch_min(&found.statics)? > session.session_epoch {
                return Err(Error::WrongCredentials);
            }
            let mut commit = Commit::new();
            let spare = (found.rows.len() + 1).saturating_sub(limits::SESSIONS_MAX);
            for old in found.rows.iter().take(spare) {
                commit = commit.delete::<UserSession>((old.user_id, old.session_id));
            }
            Ok((commit.put_for(&session, seconds), ()))
        })
        .await?;
    let actor = Actor { user_id: user.user_id, role: user.role, session_id: session.session_id };
    Ok(LoggedIn { user, actor, token, expires_at: session.expires_at })
}

fn epoch_min(statics: &widerow::store::Statics<UserSession>) -> Result<i64> {
    Ok(statics.get(UserSession::EPOCH_MIN)?.flatten().unwrap_or(0))
}

/// Clears away the sessions of earlier epochs, which are good for nothing any more, and takes no more of them.
pub(super) async fn close(ctx: &Context, user_id: UserId, epoch: i64) -> Result<()> {
    ctx.store
        .guarded::<UserSession, _, Error>(user_id, |found| {
            let epoch = epoch.max(epoch_min(&found.statics)?);
            let mut commit = Commit::new().set_static(user_id, UserSession::EPOCH_MIN, &Some(epoch));
            for old in found.rows.iter().filter(|old| old.session_epoch < epoch) {
                commit = commit.delete::<UserSession>((user_id, old.session_id));
            }
            Ok((commit, ()))
        })
        .await
}

/// As `close`, where the epoch has ended them already. Rows that are left end with their sessions.
pub(super) async fn close_afterwards(ctx: &Context, user: &User) {
    afterwards(
        close(ctx, user.user_id, user.session_epoch).await,
        "sessions that have ended could not be cleared away",
    );
}

/// Who a token belongs to, as the user is now: suspended, erased, or with a new password since, and it is nobody's.
pub async fn authenticate(ctx: &Context, token: &str) -> Result<Actor> {
    let token = Secret::parse(token).ok_or(Error::NotLoggedIn)?;
    let session = ctx.store.get::<Session>(token.hash()).await?.ok_or(Error::NotLoggedIn)?;
    let user = ctx.store.get::<User>(session.user_id).await?.ok_or(Error::NotLoggedIn)?;
    let now = ctx.now();
    let good =
        user.status == UserStatus::Active && user.session_epoch == session.session_epoch && now < session.expires_at;
    if !good {
        return Err(Error::NotLoggedIn);
    }
    if now >= session.last_seen_at.plus_seconds(ctx.settings.accounts.session_seen_seconds) {
        afterwards(see(ctx, &session).await, "it could not be noted when a session was last seen");
    }
    Ok(Actor { user_id: user.user_id, role: user.role, session_id: session.session_id })
}

/// Notes that a session was seen, for the rest of its life. One that was revoked meanwhile stays so.
async fn see(ctx: &Context, session: &Session) -> Result<()> {
    ctx.store
        .guarded_prefix::<UserSession, _, Error>(session.user_id, session.session_id, |found| {
            let now = ctx.now();
            let Some(seen) = found.rows.first().filter(|seen| seen.last_seen_at < now) else {
                return Ok((Commit::new(), ()));
            };
            let rest_seconds = (seen.expires_at.millis() - now.millis() + 999) / 1_000;
            // The partition's static column is left as it is.
            let seen = UserSession { last_seen_at: now, epoch_min: None, ..seen.clone() };
            match u32::try_from(rest_seconds) {
                Ok(rest_seconds @ 1..) => Ok((Commit::new().put_for(&seen, rest_seconds), ())),
                _ => Ok((Commit::new(), ())),
            }
        })
        .await
}

/// Where the user is logged in, the newest first.
pub async fn list_sessions(ctx: &Context, user_id: UserId) -> Result<Vec<UserSession>> {
    let user = get_user(ctx, user_id).await?;
    let page = ctx.store.slice::<UserSession>(user_id).reverse().limit(limits::SESSIONS_MAX).page().await?;
    let now = ctx.now();
    let good = |session: &UserSession| session.session_epoch == user.session_epoch && now < session.expires_at;
    Ok(page.rows.into_iter().filter(good).collect())
}

/// Ends a session of the user: logging out. One that has ended already is no error.
pub async fn revoke_session(ctx: &Context, user_id: UserId, session_id: SessionId) -> Result<()> {
    ctx.store.update::<UserSession, Error>((user_id, session_id), None, |_| Ok(None)).await?;
    Ok(())
}

/// Ends all sessions of the user: logging out everywhere.
pub async fn revoke_all_sessions(ctx: &Context, user_id: UserId) -> Result<()> {
    let user = change_user(ctx, user_id, |user| Ok(rules::end_sessions(user, ctx.now()))).await?;
    close_afterwards(ctx, &user).await;
    Ok(())
}
