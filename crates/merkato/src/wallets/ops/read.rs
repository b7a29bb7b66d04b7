//! What a wallet holds, and how it came to that.

use uuid::Uuid;
use widerow::{Commit, Timestamp};

use super::decide::{told, wallet_of};
use crate::{
    context::Context,
    events::{self, Direction, Event, EventById, EventStream, ReadStream},
    id::{EventId, UserId},
    wallets::{
        error::{Error, Result},
        projection::BALANCES,
        rules::{self, EntryKind, Told, Wallet},
        tables::UserBalance,
    },
};

/// The wallet as it is; an empty one where the user has none. Exact: it is what the next withdrawal rests upon.
pub async fn get_wallet(ctx: &Context, user: UserId) -> Result<Wallet> {
    let stream = events::find_stream(ctx, rules::stream_of(user)).await?;
    wallet_of(user, stream.as_ref().and_then(|stream| stream.state.as_deref()))
}

/// A line of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementLine {
    /// Counted from 1 without a gap.
    pub version: i64,
    pub event_id: EventId,
    pub at: Timestamp,
    pub told: Told,
}

/// A page of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The newest first.
    pub lines: Vec<StatementLine>,
    /// The version to ask before for the next page; None at the end.
    pub before: Option<i64>,
}

/// How a wallet came to what it holds, the newest first, from the event log; with `before`, what was before that version.
pub async fn statement(ctx: &Context, user: UserId, before: Option<i64>, limit: usize) -> Result<Statement> {
    let to = before.map(|before| before.saturating_sub(1));
    if to.is_some_and(|to| to < 1) {
        return Ok(Statement { lines: Vec::new(), before: None });
    }
    let read = ReadStream { to, direction: Direction::Backward, limit, ..ReadStream::default() };
    let page = events::list_events(ctx, rules::stream_of(user), read).await?;
    let lines = page.events.iter().map(line).collect::<Result<_>>()?;
    Ok(Statement { lines, before: page.next.and_then(|next| next.to).map(|to| to + 1) })
}

fn line(event: &Event) -> Result<StatementLine> {
    let (version, event_id, at) = (event.event_version, event.event_id, event.event_timestamp);
    Ok(StatementLine { version, event_id, at, told: told(event)? })
}

/// What was told of an operation, if anything was.
pub async fn find_operation(ctx: &Context, user: UserId, operation: Uuid) -> Result<Option<Told>> {
    let stream = rules::stream_of(user);
    // ORDER: what an earlier commit on the wallet has left to do is done first; the operation's row may be in it.
    ctx.store.guarded::<EventStream, _, Error>(stream, |_| Ok((Commit::new(), ()))).await?;
    let Some(known) = ctx.store.get::<EventById>(rules::event_of(user, operation)).await? else {
        return Ok(None);
    };
    let event = ctx.store.get::<Event>((stream, events::block_of(known.event_version), known.event_version)).await?;
    event.as_ref().map(told).transpose()
}

/// Whether an operation took money out that has not come back.
pub(crate) async fn has_paid(ctx: &Context, user: UserId, operation: Uuid) -> Result<bool> {
    let paid = find_operation(ctx, user, operation).await?;
    Ok(paid.is_some_and(|told| told.kind == EntryKind::MoneyWithdrawn)
        && find_operation(ctx, user, rules::return_of(operation)).await?.is_none())
}

/// E10: the user's balance as the feed has told it so far.
pub async fn find_balance(ctx: &Context, user: UserId) -> Result<Option<UserBalance>> {
    match events::generation_of(ctx, BALANCES).await? {
        Some(generation) => Ok(ctx.store.get::<UserBalance>((user, generation)).await?),
        None => Ok(None),
    }
}
