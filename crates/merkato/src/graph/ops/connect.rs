//! Connections are made, kept up and ended: each on the row of its pair, where all that two people are to each other is decided.

use futures::{StreamExt as _, stream};
use widerow::Commit;

use super::{count, people};
use crate::{
    check::Check,
    context::Context,
    graph::{
        error::{Error, Result},
        rules::{NewConnection, check_two, pair_key},
        tables::{Connection, ConnectionType, Pair},
    },
    id::UserId,
    limits,
};

/// Connections that are made side by side. Those of one person are counted together.
const MADE_AT_ONCE: usize = 128;
/// Times that a change is decided anew because another one of the same pair was not counted yet.
const TRIES_MAX: usize = 32;

/// Makes a connection, or brings it up to date with what is given. A friendship is that of both from then on; a block hides all
/// that is between the two, until it is taken back. Whether there are such people is not asked: a graph may know more than the
/// shop's accounts.
pub async fn connect(
    ctx: &Context,
    user: UserId,
    connection_type: ConnectionType,
    other: UserId,
    new: NewConnection,
) -> Result<Connection> {
    Ok(make(ctx, &Edge { user, connection_type, other, new }).await?.0)
}

/// A connection that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    pub user: UserId,
    pub connection_type: ConnectionType,
    pub other: UserId,
    pub new: NewConnection,
}

/// What became of a connection that was to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    New,
    Changed,
    Unchanged,
}

/// Makes many connections, side by side: an answer for each, in their order. One that is refused takes no other along.
pub async fn connect_many(ctx: &Context, edges: Vec<Edge>) -> Result<Vec<Result<Made>>> {
    let mut check = Check::new();
    check.count("connections", edges.len(), limits::CONNECTIONS_TOGETHER_MAX);
    check.end()?;
    let each = edges.iter().map(|edge| async { make(ctx, edge).await.map(|(_, made)| made) });
    Ok(stream::iter(each.collect::<Vec<_>>()).buffered(MADE_AT_ONCE).collect().await)
}

async fn make(ctx: &Context, edge: &Edge) -> Result<(Connection, Made)> {
    let Edge { user, connection_type, other, ref new } = *edge;
    new.check()?;
    let now = ctx.now();
    let changed = change(ctx, user, other, |pair| pair.connect(user, connection_type, new, now)).await?;
    let made = match &changed.old {
        None => Made::Unchanged,
        Some(old) if old.tie(user, connection_type).is_none() => Made::New,
        Some(_) => Made::Changed,
    };
    let connection = changed.pair.connection(user, connection_type);
    Ok((connection.ok_or(Error::NotConnected { user, connection_type, other })?, made))
}

/// Ends a connection, hidden or not. A friendship ends for both, whoever ends it.
pub async fn disconnect(ctx: &Context, user: UserId, connection_type: ConnectionType, other: UserId) -> Result<()> {
    let missing = || Error::NotConnected { user, connection_type, other };
    change(ctx, user, other, |pair| pair.disconnect(user, connection_type).ok_or_else(missing)).await?;
    Ok(())
}

/// The two have had to do with each other: the connection is stronger by a tenth of what is missing to 1.
pub async fn interact(
    ctx: &Context,
    user: UserId,
    connection_type: ConnectionType,
    other: UserId,
) -> Result<Connection> {
    let now = ctx.now();
    let missing = || Error::NotConnected { user, connection_type, other };
    if connection_type == ConnectionType::Block {
        return Err(missing());
    }
    let changed =
        change(ctx, user, other, |pair| pair.interact(user, connection_type, now).ok_or_else(missing)).await?;
    changed.pair.connection(user, connection_type).ok_or_else(missing)
}

/// G3. One connection, as the lists show it.
pub async fn find_connection(
    ctx: &Context,
    user: UserId,
    connection_type: ConnectionType,
    other: UserId,
) -> Result<Option<Connection>> {
    check_two(user, other)?;
    let pair = ctx.store.get::<Pair>(pair_key(user, other)).await?;
    let seen = |pair: &Pair| connection_type == ConnectionType::Block || !pair.is_hidden();
    Ok(pair.filter(seen).and_then(|pair| pair.connection(user, connection_type)))
}

/// A pair as it is, and as it was before, if it has changed.
pub(super) struct Changed {
    pub pair: Pair,
    pub old: Option<Pair>,
}

enum Turn {
    Done(Changed),
    /// A change before this one has not been counted.
    Uncounted(Pair),
    /// It begins now, and needs a place in both lists.
    Placeless,
}

/// The pair as it is after the change, which is counted when this returns; where it could not be, it is marked, and counted by
/// the next who changes the pair or by `settle_counts`.
pub(super) async fn change(
    ctx: &Context,
    user: UserId,
    other: UserId,
    decide: impl Fn(&Pair) -> Result<Pair>,
) -> Result<Changed> {
    check_two(user, other)?;
    let key = pair_key(user, other);
    let mut places = None;
    let token = ctx.new_id();
    for _ in 0..TRIES_MAX {
        let turn = ctx.store.guarded::<Pair, Turn, Error>(key, |found| {
            let old = match found.rows.first() {
                // ORDER: one change is counted before the next is made, so that a pair has one to count at most.
                Some(pair) if pair.uncounted.is_some() => return Ok((Commit::new(), Turn::Uncounted(pair.clone()))),
                Some(pair) => pair.clone(),
                None => Pair::new(key, places.unwrap_or_default()),
            };
            let Some(new) = decide(&old)?.instead_of(&old, token) else {
                return Ok((Commit::new(), Turn::Done(Changed { pair: old, old: None })));
            };
            if found.rows.is_empty() && places.is_none() {
                return Ok((Commit::new(), Turn::Placeless));
            }
            Ok((Commit::new().put(&new), Turn::Done(Changed { pair: new, old: Some(old) })))
        });
        match turn.await? {
            Turn::Done(changed) => {
                // The change is made, whatever becomes of the counting: its mark stays.
                let _counted_later = count::settle(ctx, &changed.pair).await;
                return Ok(changed);
            }
            Turn::Uncounted(pair) => count::settle(ctx, &pair).await?,
            Turn::Placeless => places = Some(people::places(ctx, key).await?),
        }
    }
    Err(Error::Busy { user })
}
