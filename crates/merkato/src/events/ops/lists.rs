//! Events by type, by time, and by what they belong to.

use std::{cmp::Ordering, ops::Bound};

use futures::future::try_join_all;
use uuid::Uuid;
use widerow::{Date, Timestamp, store::SliceRequest};

use super::{feed::FeedEvent, sequence::sequence};
use crate::{
    check::{Check, Invalid},
    context::Context,
    events::{
        error::{Error, Result},
        rules::check_type,
        tables::{DAY_SHARDS, Event, EventByCorrelation, EventByDay, EventByType, day_shard},
    },
    id::{AggregateId, EventId},
    limits,
};

/// From an instant to before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRange {
    pub from: Timestamp,
    pub to: Timestamp,
}

impl TimeRange {
    fn check(self) -> Result<()> {
        let mut check = Check::new();
        check.that(self.from.in_range(), "from", "not a time of the years 0 to 9999");
        check.that(self.to.in_range(), "to", "not a time of the years 0 to 9999");
        check.that(self.from < self.to, "to", "it is not after from");
        Ok(check.end()?)
    }

    fn last_day(self) -> Date {
        Timestamp::from_millis(self.to.millis() - 1).date()
    }
}

/// How far a list was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventPlace {
    pub at: Timestamp,
    /// Behind this one of the events of that time; None: up to that time, and none of it.
    pub event: Option<(EventId, AggregateId)>,
}

/// Which page of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimePage {
    pub limit: usize,
    /// As the page before told it.
    pub after: Option<EventPlace>,
}

impl TimePage {
    pub fn first(limit: usize) -> Self {
        TimePage { limit, after: None }
    }

    fn check(&self) -> Result<()> {
        if (1..=limits::PAGE_ROWS_MAX).contains(&self.limit) {
            return Ok(());
        }
        Err(Invalid::new("limit", format!("{} is not 1 to {}", self.limit, limits::PAGE_ROWS_MAX)).into())
    }
}

/// Some events. A page may be short, and even empty, where it has looked at many days: only without `next` it is the last.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedEvents {
    pub events: Vec<FeedEvent>,
    pub next: Option<EventPlace>,
}

/// What a list says of an event.
struct Listed {
    at: Timestamp,
    event_id: EventId,
    aggregate_id: AggregateId,
    event_version: i64,
    position: i64,
}

impl Listed {
    fn place(&self) -> EventPlace {
        EventPlace { at: self.at, event: Some((self.event_id, self.aggregate_id)) }
    }
}

macro_rules! listed {
    ($($row:ty),*) => {$(
        impl From<$row> for Listed {
            fn from(row: $row) -> Self {
                Listed {
                    at: row.event_timestamp,
                    event_id: row.event_id,
                    aggregate_id: row.aggregate_id,
                    event_version: row.event_version,
                    position: row.position,
                }
            }
        }
    )*};
}

listed!(EventByType, EventByDay, EventByCorrelation);

/// The events of a type in a time, the newest first. What was appended before is among them.
pub async fn list_events_by_type(
    ctx: &Context,
    event_type: &str,
    range: TimeRange,
    page: TimePage,
) -> Result<ListedEvents> {
    let mut check = Check::new();
    check_type(&mut check, "event_type", event_type);
    check.end()?;
    begin(ctx, range, page).await?;
    // Up to a time, and none of it; or behind an event, which the slice itself is told.
    let to = page.after.filter(|after| after.event.is_none()).map_or(range.to, |after| after.at.min(range.to));
    let begun = TimeRange { to, ..range }.last_day();
    let begun = page.after.map_or(begun, |after| after.at.date().min(begun));
    let mut rows: Vec<Listed> = Vec::new();
    let mut more = false;
    for (n, day) in (range.from.date().days()..=begun.days()).rev().enumerate() {
        let day = Date::from_days(day);
        if n == limits::EVENT_DAYS_A_PAGE_MAX {
            let next = EventPlace { at: Date::from_days(day.days() + 1).start(), event: None };
            return Ok(ListedEvents { events: load(ctx, &rows).await?, next: Some(next) });
        }
        if rows.len() == page.limit {
            more = true;
            break;
        }
        let slice = ctx.store.slice::<EventByType>((event_type.to_owned(), day)).limit(page.limit - rows.len());
        let slice = slice.from(Bound::Included(range.from)).to(Bound::Excluded(to));
        let slice = match page.after.and_then(|after| Some((after.at, after.event?))).filter(|_| n == 0) {
            Some((at, (event_id, aggregate_id))) => slice.after_key((at, event_id, aggregate_id)),
            None => slice,
        };
        let found = slice.page().await?;
        rows.extend(found.rows.into_iter().map(Listed::from));
        if found.next.is_some() {
            more = true;
            break;
        }
    }
    end(ctx, rows, more).await
}

/// All events of a time, the oldest first; those of one instant shard by shard. What was appended before is among them.
pub async fn list_events_by_time(ctx: &Context, range: TimeRange, page: TimePage) -> Result<ListedEvents> {
    begin(ctx, range, page).await?;
    let begun = page.after.map_or(range.from.date(), |after| after.at.date().max(range.from.date()));
    let mut rows: Vec<Listed> = Vec::new();
    let mut more = false;
    for (n, day) in (begun.days()..=range.last_day().days()).enumerate() {
        let day = Date::from_days(day);
        if n == limits::EVENT_DAYS_A_PAGE_MAX {
            let next = EventPlace { at: day.start(), event: None };
            return Ok(ListedEvents { events: load(ctx, &rows).await?, next: Some(next) });
        }
        let room = page.limit - rows.len();
        if room == 0 {
            more = true;
            break;
        }
        let read = |shard| {
            let slice = ctx.store.slice::<EventByDay>((day, shard)).to(Bound::Excluded(range.to)).limit(room);
            from_place(slice, shard, range.from, page.after).page()
        };
        // ORDER: engines differ in how they order ids, so that within an instant only the order of a shard is relied upon.
        let mut found: Vec<(u32, Listed)> = Vec::new();
        for (part, shard) in try_join_all((0..DAY_SHARDS).map(read)).await?.into_iter().zip(0..) {
            more |= part.next.is_some();
            found.extend(part.rows.into_iter().map(|row| (shard, Listed::from(row))));
        }
        found.sort_by_key(|(shard, listed)| (listed.at, *shard));
        more |= found.len() > room;
        found.truncate(room);
        rows.extend(found.into_iter().map(|(_, listed)| listed));
        if more {
            break;
        }
    }
    end(ctx, rows, more).await
}

/// What of a shard is behind a place.
fn from_place(
    slice: SliceRequest<EventByDay>,
    shard: u32,
    from: Timestamp,
    after: Option<EventPlace>,
) -> SliceRequest<EventByDay> {
    let Some(EventPlace { at, event }) = after.filter(|after| after.at >= from) else {
        return slice.from(Bound::Included(from));
    };
    let Some((event_id, aggregate_id)) = event else { return slice.from(Bound::Included(at)) };
    match shard.cmp(&day_shard(aggregate_id)) {
        Ordering::Less => slice.from(Bound::Excluded(at)),
        Ordering::Equal => slice.from(Bound::Included(at)).after_key((at, event_id, aggregate_id)),
        Ordering::Greater => slice.from(Bound::Included(at)),
    }
}

/// The events that belong together, the oldest first. What was appended before is among them.
pub async fn list_events_of_correlation(ctx: &Context, correlation: Uuid, page: TimePage) -> Result<ListedEvents> {
    page.check()?;
    if page.after.is_none() {
        sequence(ctx).await?;
    }
    let slice = ctx.store.slice::<EventByCorrelation>(correlation).limit(page.limit);
    let slice = match page.after {
        Some(EventPlace { at, event: Some((event_id, aggregate_id)) }) => slice.after_key((at, event_id, aggregate_id)),
        Some(EventPlace { at, event: None }) => slice.from(Bound::Included(at)),
        None => slice,
    };
    let found = slice.page().await?;
    let more = found.next.is_some();
    end(ctx, found.rows.into_iter().map(Listed::from).collect(), more).await
}

async fn begin(ctx: &Context, range: TimeRange, page: TimePage) -> Result<()> {
    range.check()?;
    page.check()?;
    if page.after.is_none() {
        sequence(ctx).await?;
    }
    Ok(())
}

async fn end(ctx: &Context, rows: Vec<Listed>, more: bool) -> Result<ListedEvents> {
    let next = rows.last().map(Listed::place).filter(|_| more);
    Ok(ListedEvents { events: load(ctx, &rows).await?, next })
}

async fn load(ctx: &Context, rows: &[Listed]) -> Result<Vec<FeedEvent>> {
    let mut events = Vec::with_capacity(rows.len());
    for some in rows.chunks(widerow::limits::GET_KEYS_MAX) {
        let keys = some.iter().map(|listed| Event::key(listed.aggregate_id, listed.event_version));
        for (listed, event) in some.iter().zip(ctx.store.get_many::<Event>(keys).await?) {
            let event = event.ok_or_else(|| {
                let (aggregate, version) = (listed.aggregate_id, listed.event_version);
                let problem = format!("version {version} of {aggregate} is not there");
                Error::Data(widerow::Error::corrupt("event_log", problem))
            })?;
            events.push(FeedEvent { position: listed.position, event });
        }
    }
    Ok(events)
}
