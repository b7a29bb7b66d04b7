//! All events in one order that never changes, to be read from any place on.
//!
//! Places are numbered without a gap, and a reader ends at the first one that it does not see: where an engine shows the rows of
//! a commit one by one, what is behind a gap waits for it. So whoever goes on behind the last place it saw misses nothing.

use std::{collections::VecDeque, ops::Bound, time::Duration};

use futures::{Stream, stream};

use super::sequence::sequence;
use crate::{
    check::Invalid,
    context::Context,
    events::{
        error::{Error, Result},
        tables::{Event, FEED, FeedEntry, FeedHead, block_of},
    },
    limits,
};

/// How long one who follows waits before it looks for what other processes have appended.
const PAUSE: Duration = Duration::from_millis(500);
/// Events that are read at once for one who follows.
const FOLLOWED_EVENTS: usize = 100;

/// An event and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedEvent {
    pub position: i64,
    pub event: Event,
}

/// Some events of the feed.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedPage {
    pub events: Vec<FeedEvent>,
    /// Where to go on: the last place, or what was asked for where there is nothing behind it.
    pub position: i64,
}

/// The last place that is taken.
pub async fn feed_position(ctx: &Context) -> Result<i64> {
    Ok(ctx.store.get::<FeedHead>(FEED).await?.map_or(0, |head| head.position))
}

/// The events behind a place; 0 is before all. What was appended before this is among them, if there is room.
pub async fn feed(ctx: &Context, after: i64, limit: usize) -> Result<FeedPage> {
    if !(1..=limits::PAGE_ROWS_MAX).contains(&limit) {
        return Err(Invalid::new("limit", format!("{limit} is not 1 to {}", limits::PAGE_ROWS_MAX)).into());
    }
    if after < 0 {
        return Err(Invalid::new("after", format!("{after} is not 0 or more")).into());
    }
    let mut events = feed_from(ctx, after, limit).await?;
    if events.len() < limit {
        sequence(ctx).await?;
        let known = events.last().map_or(after, |event| event.position);
        events.extend(feed_from(ctx, known, limit - events.len()).await?);
    }
    let position = events.last().map_or(after, |event| event.position);
    Ok(FeedPage { events, position })
}

/// The events behind a place that have theirs.
pub(super) async fn feed_from(ctx: &Context, after: i64, limit: usize) -> Result<Vec<FeedEvent>> {
    let entries = entries_from(ctx, after, limit).await?;
    let keys = entries.iter().map(|entry| Event::key(entry.aggregate_id, entry.event_version));
    let keys: Vec<_> = keys.collect();
    let mut found = Vec::with_capacity(entries.len());
    for some in keys.chunks(widerow::limits::GET_KEYS_MAX) {
        found.extend(ctx.store.get_many::<Event>(some.iter().copied()).await?);
    }
    let mut events = Vec::with_capacity(entries.len());
    for (entry, event) in entries.into_iter().zip(found) {
        // It was read when it got its place: without it the log has lost something, and nobody may go on as if it had not.
        let event = event.ok_or_else(|| {
            let (aggregate, version) = (entry.aggregate_id, entry.event_version);
            Error::Data(widerow::Error::corrupt("event_log", format!("version {version} of {aggregate} is not there")))
        })?;
        events.push(FeedEvent { position: entry.position, event });
    }
    Ok(events)
}

/// Places behind one, without a gap.
pub(super) async fn entries_from(ctx: &Context, after: i64, limit: usize) -> Result<Vec<FeedEntry>> {
    let mut entries: Vec<FeedEntry> = Vec::new();
    let mut next = after.saturating_add(1);
    while entries.len() < limit {
        let block = block_of(next);
        let slice = ctx.store.slice::<FeedEntry>(block).from(Bound::Included(next)).limit(limit - entries.len());
        for entry in slice.page().await?.rows {
            if entry.position != next {
                return Ok(entries);
            }
            next += 1;
            entries.push(entry);
        }
        if block_of(next) == block {
            break;
        }
    }
    Ok(entries)
}

/// The feed from a place on, for as long as it is polled. After an error it goes on where it was, a moment later.
pub fn follow(ctx: &Context, after: i64) -> impl Stream<Item = Result<FeedEvent>> + Send + use<> {
    let following = Following { ctx: ctx.clone(), position: after, waiting: VecDeque::new(), failed: false };
    stream::unfold(following, |mut following| async move {
        let next = following.next().await;
        Some((next, following))
    })
}

/// Somebody who follows.
struct Following {
    ctx: Context,
    position: i64,
    waiting: VecDeque<FeedEvent>,
    failed: bool,
}

impl Following {
    async fn next(&mut self) -> Result<FeedEvent> {
        if std::mem::take(&mut self.failed) {
            tokio::time::sleep(PAUSE).await;
        }
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Ok(event);
            }
            let own = self.ctx.events.of(self.ctx.store.tenant());
            // ORDER: it listens before it reads, so that no news is lost in between.
            let news = own.news.notified();
            let page = feed(&self.ctx, self.position, FOLLOWED_EVENTS).await.inspect_err(|_| self.failed = true)?;
            if page.events.is_empty() {
                // Told or not, it looks again.
                let _ = tokio::time::timeout(PAUSE, news).await;
            }
            self.position = page.position;
            self.waiting.extend(page.events);
        }
    }
}
