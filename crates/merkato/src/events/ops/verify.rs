//! Whether the feed and the lists have what the log has, each event once.
//!
//! Every event of the log leads by its keys to its rows in the lists, by these to its place, and there to itself; and there are
//! as many places, and as many rows in each list, as there are such events. So each has one, and nothing else has any. It
//! takes little memory, whatever the number of events.

use std::collections::BTreeMap;

use widerow::{Commit, Partition, Row, key::Tenant};

use super::{
    feed::feed_position,
    sequence::{by_correlation, by_day, by_type, entry, sequence_all},
    stream::{finish, read_forward},
};
use crate::{
    context::Context,
    events::{
        error::{Error, Result},
        tables::{
            Event, EventByCorrelation, EventByDay, EventByType, EventMark, EventStream, FeedEntry, Sequenced, block_of,
        },
    },
    id::AggregateId,
};

/// Faults that are told one by one; the others are counted.
const FAULTS_TOLD: usize = 100;
/// Events that are compared at once.
const CHUNK: usize = 200;
/// Streams without places that are looked at a second time.
const WAITING_MAX: usize = 10_000;

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventFault {
    pub table: &'static str,
    pub problem: String,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventsVerified {
    /// Events of the log.
    pub events: u64,
    /// Places that are taken.
    pub places: u64,
    pub streams: u64,
    /// The first of them.
    pub faults: Vec<EventFault>,
    pub faults_count: u64,
    /// Streams that were marked anew, so that their events get places.
    pub mended: u64,
}

impl EventsVerified {
    fn fault(&mut self, table: &'static str, problem: String) {
        self.faults_count += 1;
        if self.faults.len() < FAULTS_TOLD {
            self.faults.push(EventFault { table, problem });
        }
    }
}

/// Compares the log with everything that follows from it. With `repair`, events that nobody would give a place get one.
pub async fn verify(
    ctx: &Context,
    repair: bool,
    mut on_progress: impl FnMut(&EventsVerified),
) -> Result<EventsVerified> {
    let mut report = EventsVerified::default();
    sequence_all(ctx, |_| {}).await?;
    // Only what has its place now is compared: others may get theirs meanwhile.
    let last = feed_position(ctx).await?;
    report.places = u64::try_from(last).unwrap_or(0);
    let mut placed = 0;
    let mut waiting = BTreeMap::new();
    for mut range in ctx.store.scan(Event::table(), 1).await? {
        while let Some(rows) = range.next().await? {
            let events = typed::<Event>(rows)?;
            for some in events.chunks(CHUNK) {
                report.events += some.len() as u64;
                placed += compare(ctx, some, last, &mut waiting, &mut report).await?;
            }
            on_progress(&report);
        }
    }
    if placed != last {
        report.fault("event_feed", format!("{last} places are taken, {placed} events have one"));
    }
    count::<FeedEntry>(ctx, "event_feed", last, |row| row.position, &mut report).await?;
    count::<EventByType>(ctx, "events_by_type", last, |row| row.position, &mut report).await?;
    count::<EventByDay>(ctx, "events_by_day", last, |row| row.position, &mut report).await?;
    count::<EventByCorrelation>(ctx, "events_by_correlation", last, |row| row.position, &mut report).await?;
    streams(ctx, &mut report).await?;
    look_again(ctx, waiting, repair, &mut report).await?;
    on_progress(&report);
    Ok(report)
}

fn typed<R: Row>(rows: Vec<(Tenant, widerow::engine::RawRow)>) -> Result<Vec<R>> {
    let typed = |(_, row): (Tenant, widerow::engine::RawRow)| {
        R::from_values(row.values).map_err(|mismatch| Error::Data(widerow::Error::mismatch(&R::table().name, mismatch)))
    };
    rows.into_iter().map(typed).collect()
}

/// How many of the events have a place up to the last.
async fn compare(
    ctx: &Context,
    events: &[Event],
    last: i64,
    waiting: &mut BTreeMap<AggregateId, i64>,
    report: &mut EventsVerified,
) -> Result<i64> {
    let reached = ctx.store.get_many::<Sequenced>(events.iter().map(|event| event.aggregate_id)).await?;
    let days = events.iter().map(|event| {
        let row = by_day(event, 0);
        (row.event_day, row.shard, row.event_timestamp, row.event_id, row.aggregate_id)
    });
    let days = ctx.store.get_many::<EventByDay>(days).await?;
    let types = events.iter().map(|event| {
        let row = by_type(event, 0);
        (row.event_type, row.event_day, row.event_timestamp, row.event_id, row.aggregate_id)
    });
    let types = ctx.store.get_many::<EventByType>(types).await?;
    let together = events.iter().map(|event| {
        let row = by_correlation(event, 0);
        (row.correlation_id, row.event_timestamp, row.event_id, row.aggregate_id)
    });
    let together = ctx.store.get_many::<EventByCorrelation>(together).await?;
    let position = |row: &Option<EventByDay>| row.as_ref().map_or(0, |row| row.position);
    let places = days.iter().map(|row| (block_of(position(row)), position(row)));
    let places = ctx.store.get_many::<FeedEntry>(places).await?;
    let mut placed = 0;
    for (i, event) in events.iter().enumerate() {
        let (aggregate, version) = (event.aggregate_id, event.event_version);
        if reached[i].as_ref().is_none_or(|reached| reached.event_version < version) {
            if waiting.len() < WAITING_MAX || waiting.contains_key(&aggregate) {
                let seen = waiting.entry(aggregate).or_insert(version);
                *seen = version.max(*seen);
            }
            continue;
        }
        let position = position(&days[i]);
        if position > last {
            continue;
        }
        let mut check = |table, same: bool| {
            if !same {
                report.fault(table, format!("version {version} of {aggregate} is not there as it is in the log"));
            }
        };
        check("events_by_day", days[i].as_ref() == Some(&by_day(event, position)));
        check("events_by_type", types[i].as_ref() == Some(&by_type(event, position)));
        check("events_by_correlation", together[i].as_ref() == Some(&by_correlation(event, position)));
        check("event_feed", places[i].as_ref() == Some(&entry(event, position)));
        placed += i64::from(places[i].is_some());
    }
    Ok(placed)
}

async fn count<R: Row>(
    ctx: &Context,
    table: &'static str,
    last: i64,
    position: impl Fn(&R) -> i64,
    report: &mut EventsVerified,
) -> Result<()> {
    let mut found = 0;
    ctx.for_each_row::<R>(|row| found += i64::from(position(&row) <= last)).await?;
    if found != last {
        report.fault(table, format!("it has {found} rows for {last} places"));
    }
    Ok(())
}

/// Whether the newest event of every stream is in the log.
async fn streams(ctx: &Context, report: &mut EventsVerified) -> Result<()> {
    for mut range in ctx.store.scan(EventStream::table(), 1).await? {
        while let Some(rows) = range.next().await? {
            let streams = typed::<EventStream>(rows)?;
            report.streams += streams.len() as u64;
            for some in streams.chunks(CHUNK) {
                let keys = some.iter().map(|stream| Event::key(stream.aggregate_id, stream.version));
                let newest = ctx.store.get_many::<Event>(keys).await?;
                for (stream, newest) in some.iter().zip(newest) {
                    let same = |event: &Event| event.event_id == stream.last_event_id;
                    if newest.is_some_and(|event| same(&event)) || ends_well(ctx, stream.aggregate_id).await? {
                        continue;
                    }
                    let (aggregate, version) = (stream.aggregate_id, stream.version);
                    report.fault("event_log", format!("version {version} of {aggregate} is not there"));
                }
            }
        }
    }
    Ok(())
}

/// The same after its last commit is finished.
async fn ends_well(ctx: &Context, aggregate: AggregateId) -> Result<bool> {
    let read = |found: &Partition<EventStream>| Ok((Commit::new(), found.rows.first().cloned()));
    let Some(stream) = ctx.store.guarded::<EventStream, _, Error>(aggregate, read).await? else { return Ok(true) };
    let newest = ctx.store.get::<Event>(Event::key(aggregate, stream.version)).await?;
    Ok(newest.is_some_and(|event| event.event_id == stream.last_event_id))
}

/// Streams with events that had no place, up to the version that the log was seen to have: those that still have none are
/// marked by nobody, or behind one that is lost. What is appended from here on has a mark of its own and is not meant.
async fn look_again(
    ctx: &Context,
    waiting: BTreeMap<AggregateId, i64>,
    repair: bool,
    report: &mut EventsVerified,
) -> Result<()> {
    if waiting.is_empty() {
        return Ok(());
    }
    sequence_all(ctx, |_| {}).await?;
    let waiting: Vec<(AggregateId, i64)> = waiting.into_iter().collect();
    for some in waiting.chunks(CHUNK) {
        let reached = ctx.store.get_many::<Sequenced>(some.iter().map(|(aggregate, _)| *aggregate)).await?;
        for ((aggregate, seen), reached) in some.iter().copied().zip(reached) {
            let reached = reached.map_or(0, |reached| reached.event_version);
            if reached >= seen {
                continue;
            }
            let whole = whole_to(ctx, aggregate, reached, seen).await?;
            if whole < seen {
                let lost = whole + 1;
                report
                    .fault("event_log", format!("version {lost} of {aggregate} is not there, and {seen} waits for it"));
            }
            if whole == reached {
                continue;
            }
            report.fault("event_inbox", format!("{aggregate} has events without a place, and no mark says so"));
            if repair {
                // No farther: a mark behind what is lost would never be done with.
                ctx.store.commit(Commit::new().put(&EventMark::new(aggregate, whole, ctx.now()))).await?;
                report.mended += 1;
            }
        }
    }
    if report.mended > 0 {
        sequence_all(ctx, |_| {}).await?;
    }
    Ok(())
}

/// The last version behind one, up to another, before which none is missing.
async fn whole_to(ctx: &Context, aggregate: AggregateId, mut version: i64, to: i64) -> Result<i64> {
    // ORDER: what earlier commits on the stream have left is done first; it may be what is missing.
    finish(ctx, aggregate).await?;
    while version < to {
        match read_forward(ctx, aggregate, version + 1, to, CHUNK).await?.last() {
            Some(last) => version = last.event_version,
            None => break,
        }
    }
    Ok(version)
}
