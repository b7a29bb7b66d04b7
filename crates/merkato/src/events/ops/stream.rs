//! The events of one aggregate.

use std::ops::Bound;

use widerow::{Commit, Partition, Timestamp};

use crate::{
    check::Invalid,
    context::Context,
    events::{
        error::{Error, Result},
        tables::{Event, EventStream, block_of},
    },
    id::AggregateId,
    limits,
};

/// Which way a stream is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    #[default]
    Forward,
    Backward,
}

/// Which events of a stream, and how many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadStream {
    /// The lowest version, from 1.
    pub from: i64,
    /// The highest version; None: to the end.
    pub to: Option<i64>,
    pub direction: Direction,
    pub limit: usize,
}

impl Default for ReadStream {
    fn default() -> Self {
        ReadStream { from: 1, to: None, direction: Direction::Forward, limit: limits::PAGE_ROWS_DEFAULT }
    }
}

/// Some events of a stream, in the direction that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamPage {
    pub events: Vec<Event>,
    /// What to ask for to go on; None at the end.
    pub next: Option<ReadStream>,
}

/// How far a stream is, if it is one that is appended to. Facts of the shop have none: their rows count them.
pub async fn find_stream(ctx: &Context, aggregate: AggregateId) -> Result<Option<EventStream>> {
    Ok(ctx.store.get::<EventStream>(aggregate).await?)
}

pub async fn get_stream(ctx: &Context, aggregate: AggregateId) -> Result<EventStream> {
    find_stream(ctx, aggregate).await?.ok_or(Error::StreamNotFound { aggregate })
}

/// A page of a stream: one read of one partition, and of a second one at the border of two blocks.
pub async fn list_events(ctx: &Context, aggregate: AggregateId, read: ReadStream) -> Result<StreamPage> {
    if !(1..=limits::PAGE_ROWS_MAX).contains(&read.limit) {
        let problem = format!("{} is not 1 to {}", read.limit, limits::PAGE_ROWS_MAX);
        return Err(Invalid::new("limit", problem).into());
    }
    let from = read.from.max(1);
    match read.direction {
        Direction::Forward => {
            let events = read_forward(ctx, aggregate, from, read.to.unwrap_or(i64::MAX), read.limit).await?;
            let last = events.last().map(|event| event.event_version);
            let next = last.filter(|last| events.len() == read.limit && read.to.is_none_or(|to| *last < to));
            Ok(StreamPage { events, next: next.map(|last| ReadStream { from: last + 1, ..read }) })
        }
        Direction::Backward => {
            let to = match read.to {
                Some(to) => to,
                None => last_version(ctx, aggregate).await?,
            };
            let events = read_backward(ctx, aggregate, from, to, read.limit).await?;
            let last = events.last().map(|event| event.event_version);
            let next = last.filter(|last| events.len() == read.limit && *last > from);
            Ok(StreamPage { events, next: next.map(|last| ReadStream { to: Some(last - 1), ..read }) })
        }
    }
}

/// Events from one version to another, without a gap, at most so many.
///
/// RACE: on engines that show the rows of a commit one by one, a later event may be seen before an earlier one: what is behind
/// a gap is not there yet.
pub(super) async fn read_forward(
    ctx: &Context,
    aggregate: AggregateId,
    from: i64,
    to: i64,
    limit: usize,
) -> Result<Vec<Event>> {
    let mut events: Vec<Event> = Vec::new();
    let mut next = from.max(1);
    while next <= to && events.len() < limit {
        let block = block_of(next);
        let slice = ctx.store.slice::<Event>((aggregate, block));
        let slice = slice.from(Bound::Included(next)).to(Bound::Included(to)).limit(limit - events.len());
        let rows = slice.page().await?.rows;
        for row in rows {
            if row.event_version != next {
                return Ok(events);
            }
            next += 1;
            events.push(row);
        }
        // A block that is not full is the last one.
        if block_of(next) == block {
            break;
        }
    }
    Ok(events)
}

/// Events from one version down to another, at most so many.
///
/// RACE: on engines that show the rows of a commit one by one, one may be missing that is there a moment later, and whoever
/// reads backward does not come back for it. So where one is missing, what its stream's commits have left is done first.
async fn read_backward(ctx: &Context, aggregate: AggregateId, from: i64, to: i64, limit: usize) -> Result<Vec<Event>> {
    let mut events: Vec<Event> = Vec::new();
    let (mut next, mut finished) = (to, None);
    while next >= from && events.len() < limit {
        let block = block_of(next);
        let (first, room) = ((block * limits::EVENTS_A_BLOCK + 1).max(from), limit - events.len());
        let slice = ctx.store.slice::<Event>((aggregate, block)).reverse();
        let slice = slice.from(Bound::Included(first)).to(Bound::Included(next)).limit(room);
        let mut rows = slice.page().await?.rows;
        let last = rows.last().map_or(first, |row| if rows.len() < room { first } else { row.event_version });
        if !rows.iter().map(|row| row.event_version).eq((last..=next).rev()) {
            match finished {
                // It may be that the stream ends before, too.
                None => {
                    let end = finish(ctx, aggregate).await?;
                    (next, finished) = (to.min(end.version), Some(end));
                    events.clear();
                    continue;
                }
                // It is lost; the others are not.
                Some(End { is_exact: true, .. }) => {}
                // What is behind a gap is not there yet.
                Some(End { is_exact: false, .. }) => {
                    let below =
                        rows.iter().rev().zip(last..).take_while(|(row, version)| row.event_version == *version);
                    let above = rows.len() - below.count();
                    rows.drain(..above);
                    events.clear();
                }
            }
        }
        events.extend(rows);
        next = last - 1;
    }
    Ok(events)
}

/// Where a stream ends.
pub(super) struct End {
    version: i64,
    /// Its row says so, and the events of all its commits are to be seen.
    is_exact: bool,
}

/// Does what earlier commits on a stream have left. Those of facts are finished by whoever writes their own rows.
pub(super) async fn finish(ctx: &Context, aggregate: AggregateId) -> Result<End> {
    let read = |found: &Partition<EventStream>| Ok((Commit::new(), found.rows.first().map(|head| head.version)));
    match ctx.store.guarded::<EventStream, _, Error>(aggregate, read).await? {
        Some(version) => Ok(End { version, is_exact: true }),
        None => Ok(End { version: last_version(ctx, aggregate).await?, is_exact: false }),
    }
}

/// The newest version: what its row says, or its facts, which have none.
pub(super) async fn last_version(ctx: &Context, aggregate: AggregateId) -> Result<i64> {
    if let Some(stream) = find_stream(ctx, aggregate).await? {
        return Ok(stream.version);
    }
    // Doubled until there is none, then halved: a stream of facts is short.
    let mut beyond = 1;
    while read_version(ctx, aggregate, beyond).await?.is_some() {
        beyond = beyond.saturating_mul(2);
    }
    find_last(ctx, aggregate, beyond, |_| true).await
}

async fn read_version(ctx: &Context, aggregate: AggregateId, version: i64) -> Result<Option<Event>> {
    Ok(ctx.store.get::<Event>(Event::key(aggregate, version)).await?)
}

/// The last version below `beyond` that is there and holds, where none behind one that does not holds.
async fn find_last(
    ctx: &Context,
    aggregate: AggregateId,
    mut beyond: i64,
    holds: impl Fn(&Event) -> bool,
) -> Result<i64> {
    let mut known = 0;
    while beyond - known > 1 {
        let middle = known + (beyond - known) / 2;
        if read_version(ctx, aggregate, middle).await?.is_some_and(|event| holds(&event)) {
            known = middle;
        } else {
            beyond = middle;
        }
    }
    Ok(known)
}

/// The version that a stream had at a time; 0 before its first event. As many reads of one row as its version has binary
/// digits, as times never go back in a stream.
pub async fn version_at(ctx: &Context, aggregate: AggregateId, time: Timestamp) -> Result<i64> {
    let last = last_version(ctx, aggregate).await?;
    if last == 0 {
        return Err(Error::StreamNotFound { aggregate });
    }
    find_last(ctx, aggregate, last + 1, |event| event.event_timestamp <= time).await
}
