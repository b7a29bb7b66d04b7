//! Events get their places in the feed, and stand in the lists by type, day and correlation.
//!
//! 1. One commit, guarded on the feed: places, lists, how far each stream has its places, and the marks that are done with. It
//!    rests on the version at which all of it was read, by a read that finishes what earlier such commits have left.
//! 2. Which events of a stream are to get places is read from the log, behind the last version that has one. A mark only says
//!    which stream to look at. So an event never has two places, and a stream's events have theirs in order, whatever
//!    becomes of marks; where the log shows a gap yet, what is behind it waits, and its mark with it.
//! 3. Anybody may do it, in any number of processes: of two at once one begins anew.
//!
//! A mark stands under the time of its append, and is seen when its append's commit is. Rounds look at the last minutes; once a
//! minute one looks at everything from `open_bucket` on, for what came late. A bucket is closed two hours after its end, by
//! a round that leaves nothing in it and that began after a sweep of the data layer: commits whose processes died have been
//! finished then. A mark that comes later still (from a clock that is two hours behind) is found by `verify`, and its events
//! get their places with the stream's next.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Bound,
    sync::atomic::Ordering,
};

use futures::{StreamExt as _, TryStreamExt as _, future::try_join_all, stream};
use widerow::{Commit, Error as DataError, Partition, Timestamp, Version};

use super::stream::read_forward;
use crate::{
    context::Context,
    events::{
        error::{Error, Result},
        tables::{
            Event, EventByCorrelation, EventByDay, EventByType, EventMark, FEED, FeedEntry, FeedHead,
            INBOX_BUCKET_SECONDS, INBOX_SHARDS, Sequenced, SnapshotDue, block_of, bucket_of, day_shard, due_shard,
        },
    },
    id::AggregateId,
    limits,
};

/// Events of one commit: four rows each, and two a stream.
const EVENTS_A_COMMIT: usize = 250;
/// Marks that one commit removes.
const MARKS_A_COMMIT: usize = 450;
/// Marks of one partition that are read at once.
const MARKS_A_PAGE: usize = 250;
/// Buckets that one round looks at.
const BUCKETS_A_ROUND: i64 = 144;
/// Streams that are read side by side.
const AT_ONCE: usize = 16;
/// Rounds of one call, before others have their turn.
const ROUNDS_MAX: usize = 40;
/// How far ahead of the clock a round looks.
const AHEAD_SECONDS: i64 = 300;
/// How often everything is looked at that may still get a mark; and how many times longer than a look took, at least.
const LOOK_MILLIS: i64 = 60_000;
const LOOK_SHARE: i64 = 20;
/// How far what was seen may be behind before it is written down without need, and how many buckets may be closed late.
const IDLE_MILLIS: i64 = 600_000;
const IDLE_BUCKETS: i64 = 5;

/// How late a mark may come.
#[derive(Clone, Copy)]
struct Delays {
    /// Behind the newest that was seen, for every round to look.
    behind_millis: i64,
    /// After which a bucket that is over gets none.
    late_seconds: i64,
}

impl Delays {
    /// One process that shows its commits whole has no others that are slow, and none that are finished after their end.
    fn of(ctx: &Context) -> Self {
        if ctx.store.shows_commits_whole() {
            Delays { behind_millis: 2_000, late_seconds: 600 }
        } else {
            Delays { behind_millis: 120_000, late_seconds: 2 * 60 * 60 }
        }
    }
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sequencing {
    /// Events that have their places now.
    pub events: u64,
    /// Marks that are gone.
    pub marks: u64,
    /// Whether it stopped at a limit and there is more to be done at once.
    pub more: bool,
}

/// Gives places to what was appended before this, as far as it can be seen, and up to a limit. Those who ask at the same
/// time share one round.
pub async fn sequence(ctx: &Context) -> Result<Sequencing> {
    let own = ctx.events.of(ctx.store.tenant());
    let wanted = own.begun.load(Ordering::SeqCst) + 1;
    let _turn = own.turn.lock().await;
    let mut done = Sequencing::default();
    if own.done.load(Ordering::SeqCst) >= wanted {
        return Ok(done);
    }
    let mut resume = Timestamp::MIN;
    for _ in 0..ROUNDS_MAX {
        let begun = own.begun.fetch_add(1, Ordering::SeqCst) + 1;
        let began = ctx.now();
        let everything = began.millis() >= own.look_at.load(Ordering::SeqCst);
        let Some(round) = round(ctx, began, everything, resume).await? else {
            tokio::task::yield_now().await;
            done.more = true;
            continue;
        };
        done.events += round.events;
        done.marks += round.marks;
        done.more = round.more;
        // One that cannot get on with what is old leaves it to the next look, and does not keep what is new waiting.
        let stuck = everything && !round.looked && !round.more;
        if round.looked || stuck {
            let took = (ctx.now().millis() - began.millis()).max(0);
            let pause = LOOK_MILLIS.max(took.saturating_mul(LOOK_SHARE));
            own.look_at.store(began.millis().saturating_add(pause), Ordering::SeqCst);
        }
        if stuck {
            continue;
        }
        // What is next is enough while there is more. The last round looks back as well: whoever waits for it is told that
        // its append was seen.
        if round.more {
            resume = if everything && !round.looked { Timestamp::MIN } else { round.done_to };
        } else if everything || resume == Timestamp::MIN {
            own.done.store(begun, Ordering::SeqCst);
            break;
        } else {
            resume = Timestamp::MIN;
        }
    }
    if done.events > 0 {
        own.news.notify_waiters();
    }
    Ok(done)
}

/// As `sequence`, to the end, and with a look at everything that may have come late.
pub async fn sequence_all(ctx: &Context, mut on_progress: impl FnMut(&Sequencing)) -> Result<Sequencing> {
    ctx.events.of(ctx.store.tenant()).look_at.store(i64::MIN, Ordering::SeqCst);
    let mut done = Sequencing::default();
    loop {
        let some = sequence(ctx).await?;
        done.events += some.events;
        done.marks += some.marks;
        on_progress(&done);
        if !some.more {
            return Ok(done);
        }
    }
}

/// What a round did.
struct Round {
    events: u64,
    marks: u64,
    more: bool,
    /// Nothing that is older than what every round looks at is left unseen.
    looked: bool,
    /// Up to then nothing was left.
    done_to: Timestamp,
}

/// Reads, and commits at what was read. None where another was quicker. What lies before `resume` was seen a moment ago.
async fn round(ctx: &Context, now: Timestamp, everything: bool, resume: Timestamp) -> Result<Option<Round>> {
    let delays = Delays::of(ctx);
    // ORDER: commits whose processes died are finished before their marks are looked for.
    let settled = everything && ctx.finish_commits().await;
    // ORDER: the feed first, by a read that finishes earlier commits on it; then the marks, how far their streams are, and
    // the log; then the commit at the version of that read.
    let read = |found: &Partition<FeedHead>| Ok((Commit::new(), (found.rows.first().cloned(), found.version)));
    let (head, version) = ctx.store.guarded::<FeedHead, _, Error>(FEED, read).await?;
    let is_new = head.is_none();
    let head = match head {
        Some(head) => head,
        None => first_head(ctx, now, delays).await?,
    };
    let window = Window::of(&head, now, delays, everything, resume);
    let seen = read_marks(ctx, &window).await?;
    let work = plan(ctx, seen.marks).await?;

    // All marks of the window before this are done with.
    let done_to = work.left.iter().map(|mark| mark.marked_at).fold(seen.covered_to, Timestamp::min);
    let mut next = FeedHead { read_to: done_to.min(now), moved_at: now, ..head.clone() };
    if everything {
        // What came late is left to the next look, and does not make every round look as far back.
        next.read_to = next.read_to.max(head.read_to);
    }
    if settled {
        let closed = bucket_of(now.plus_seconds(-delays.late_seconds)).min(bucket_of(done_to));
        next.open_bucket = head.open_bucket.max(closed);
    }
    let (events, marks) = (work.events.len() as u64, work.done.len() as u64);
    let looked = everything && done_to >= minus(head.read_to.min(now), delays.behind_millis);
    let moved = next.read_to.millis() - head.read_to.millis() >= IDLE_MILLIS
        || next.open_bucket - head.open_bucket > IDLE_BUCKETS;
    if events + marks == 0 && !moved && !is_new {
        // Whatever is left waits for others.
        return Ok(Some(Round { events, marks, more: false, looked, done_to }));
    }
    next.position = head.position + events as i64;
    let made = commit(ctx, version, &next, &work, head.position).await?;
    Ok(made.then_some(Round { events, marks, more: seen.more || work.more, looked, done_to }))
}

fn minus(time: Timestamp, millis: i64) -> Timestamp {
    Timestamp::from_millis(time.millis().saturating_sub(millis)).max(Timestamp::MIN)
}

/// Before the first place is given: where the oldest mark is, found by a walk over all of them, once in the life of a shop.
async fn first_head(ctx: &Context, now: Timestamp, delays: Delays) -> Result<FeedHead> {
    let mut open_bucket = bucket_of(now.plus_seconds(-delays.late_seconds));
    ctx.for_each_row::<EventMark>(|mark| open_bucket = open_bucket.min(mark.bucket)).await?;
    Ok(FeedHead { feed: FEED, position: 0, read_to: start_of(open_bucket), open_bucket, moved_at: now })
}

fn start_of(bucket: i64) -> Timestamp {
    let start = Timestamp::from_millis(bucket.saturating_mul(1_000 * INBOX_BUCKET_SECONDS));
    start.clamp(Timestamp::MIN, Timestamp::MAX)
}

/// Which marks a round looks at.
struct Window {
    from: Timestamp,
    first: i64,
    last: i64,
    /// Whether it ends before the present.
    cut: bool,
}

impl Window {
    fn of(head: &FeedHead, now: Timestamp, delays: Delays, everything: bool, resume: Timestamp) -> Self {
        let open = start_of(head.open_bucket);
        let recent = minus(head.read_to.min(now), delays.behind_millis);
        let from = if everything { open } else { recent.max(resume.min(now)).max(open) };
        let (first, end) = (bucket_of(from), bucket_of(now.plus_seconds(AHEAD_SECONDS)));
        let last = end.min(first + BUCKETS_A_ROUND);
        Window { from, first, last, cut: last < end }
    }
}

/// The marks of a window.
struct Seen {
    marks: Vec<EventMark>,
    /// All before this were read.
    covered_to: Timestamp,
    more: bool,
}

async fn read_marks(ctx: &Context, window: &Window) -> Result<Seen> {
    let mut covered_to = if window.cut { start_of(window.last + 1) } else { Timestamp::MAX };
    let (mut marks, mut more) = (Vec::new(), window.cut);
    for bucket in window.first..=window.last {
        let read = |shard| {
            let slice = ctx.store.slice::<EventMark>((bucket, shard)).from(Bound::Included(window.from));
            slice.limit(MARKS_A_PAGE).page()
        };
        for page in try_join_all((0..INBOX_SHARDS).map(read)).await? {
            if let Some(last) = page.rows.last().filter(|_| page.next.is_some()) {
                covered_to = covered_to.min(last.marked_at);
                more = true;
            }
            marks.extend(page.rows);
        }
        // ORDER: only between buckets, as any partition of this one may have the oldest mark.
        if covered_to < start_of(bucket + 1) {
            break;
        }
        if marks.len() >= MARKS_A_COMMIT && bucket < window.last {
            covered_to = covered_to.min(start_of(bucket + 1));
            more = true;
            break;
        }
    }
    // The oldest come first: what is behind one that was not read is left to the next round.
    marks.retain(|mark: &EventMark| mark.marked_at <= covered_to);
    marks.sort_by_key(|mark| (mark.marked_at, mark.aggregate_id, mark.event_version));
    if let Some(first) = marks.get(MARKS_A_COMMIT) {
        covered_to = covered_to.min(first.marked_at);
        marks.truncate(MARKS_A_COMMIT);
        more = true;
    }
    Ok(Seen { marks, covered_to, more })
}

/// What one commit does.
struct Work {
    /// In the order of their places.
    events: Vec<Event>,
    /// Up to which version streams have their places after it.
    reached: BTreeMap<AggregateId, Reached>,
    done: Vec<EventMark>,
    left: Vec<EventMark>,
    more: bool,
}

struct Reached {
    before: i64,
    after: i64,
}

async fn plan(ctx: &Context, marks: Vec<EventMark>) -> Result<Work> {
    let mut wanted: Vec<AggregateId> = Vec::new();
    let mut newest: HashMap<AggregateId, i64> = HashMap::new();
    for mark in &marks {
        let version = newest.entry(mark.aggregate_id).or_insert_with(|| {
            wanted.push(mark.aggregate_id);
            0
        });
        *version = mark.event_version.max(*version);
    }
    let known = ctx.store.get_many::<Sequenced>(wanted.iter().copied()).await?;
    let mut reached: BTreeMap<AggregateId, Reached> = BTreeMap::new();
    let (mut reads, mut room, mut more) = (Vec::new(), EVENTS_A_COMMIT, false);
    for (aggregate, known) in wanted.iter().copied().zip(known) {
        let before = known.map_or(0, |known| known.event_version);
        reached.insert(aggregate, Reached { before, after: before });
        let asked = usize::try_from(newest.get(&aggregate).copied().unwrap_or(0) - before).unwrap_or(0);
        let taken = asked.min(room);
        room -= taken;
        more |= taken < asked;
        if taken > 0 {
            reads.push((aggregate, before + 1, taken));
        }
    }
    let read = |(aggregate, from, limit)| read_forward(ctx, aggregate, from, i64::MAX, limit);
    let read: Vec<Vec<Event>> = stream::iter(reads).map(read).buffered(AT_ONCE).try_collect().await?;
    let events: Vec<Event> = read.into_iter().flatten().collect();
    for event in &events {
        if let Some(stream) = reached.get_mut(&event.aggregate_id) {
            stream.after = event.event_version;
        }
    }
    let is_done = |mark: &EventMark| reached.get(&mark.aggregate_id).is_some_and(|r| mark.event_version <= r.after);
    let (done, left) = marks.into_iter().partition(is_done);
    Ok(Work { events, reached, done, left, more })
}

async fn commit(ctx: &Context, version: Option<Version>, next: &FeedHead, work: &Work, taken: i64) -> Result<bool> {
    let mut commit = Commit::new().unchanged::<FeedHead>(FEED, version).put(next);
    let mut last: HashMap<AggregateId, i64> = HashMap::new();
    for (event, position) in work.events.iter().zip(taken + 1..) {
        last.insert(event.aggregate_id, position);
        commit = commit.put(&entry(event, position)).put(&by_type(event, position));
        commit = commit.put(&by_day(event, position)).put(&by_correlation(event, position));
    }
    for (aggregate_id, Reached { before, after }) in &work.reached {
        let (aggregate_id, event_version) = (*aggregate_id, *after);
        let Some(position) = last.get(&aggregate_id).copied() else { continue };
        commit = commit.put(&Sequenced { aggregate_id, event_version, position });
        if before / limits::EVENTS_A_SNAPSHOT < after / limits::EVENTS_A_SNAPSHOT {
            commit = commit.put(&SnapshotDue { shard: due_shard(aggregate_id), aggregate_id, event_version });
        }
    }
    commit = work.done.iter().fold(commit, |commit, mark| commit.delete::<EventMark>(mark.key()));
    match ctx.store.commit(commit).await {
        Ok(_) => Ok(true),
        Err(DataError::Conflict(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn entry(event: &Event, position: i64) -> FeedEntry {
    FeedEntry {
        block: block_of(position),
        position,
        aggregate_id: event.aggregate_id,
        event_version: event.event_version,
        event_id: event.event_id,
        event_type: event.event_type.clone(),
        event_timestamp: event.event_timestamp,
    }
}

pub(super) fn by_type(event: &Event, position: i64) -> EventByType {
    EventByType {
        event_type: event.event_type.clone(),
        event_day: event.event_timestamp.date(),
        event_timestamp: event.event_timestamp,
        event_id: event.event_id,
        aggregate_id: event.aggregate_id,
        event_version: event.event_version,
        position,
    }
}

pub(super) fn by_day(event: &Event, position: i64) -> EventByDay {
    EventByDay {
        event_day: event.event_timestamp.date(),
        shard: day_shard(event.aggregate_id),
        event_timestamp: event.event_timestamp,
        event_id: event.event_id,
        aggregate_id: event.aggregate_id,
        event_version: event.event_version,
        event_type: event.event_type.clone(),
        position,
    }
}

pub(super) fn by_correlation(event: &Event, position: i64) -> EventByCorrelation {
    EventByCorrelation {
        correlation_id: event.correlation_id,
        event_timestamp: event.event_timestamp,
        event_id: event.event_id,
        aggregate_id: event.aggregate_id,
        event_version: event.event_version,
        position,
    }
}
