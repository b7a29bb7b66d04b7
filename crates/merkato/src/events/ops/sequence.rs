//! Events get their places in the feed, and stand in the lists by type, day and correlation.
//!
//! 1. One commit, guarded on the feed: places, lists, how far each stream has its places, and the marks that are done with. It
//!    rests on the version at which all of it was read, by a read that finishes what earlier such commits have left.
//! 2. Which events of a stream are to get places is read from the log, behind the last version that has one. A mark only says
//!    which stream to look at. So an event never has two places, and a stream's events have theirs in order, whatever
//!    becomes of marks; where the log shows a gap yet, what is behind it waits, and its mark with it.
//! 3. Anybody may do it, in any number of processes: of two at once one begins anew.
//!
//! A mark stands under the time of its append, and is seen when its append's commit is. Every call walks over the marks of the
//! last minutes; once a minute one walks over everything from `open_bucket` on as well, for what came late or had to wait. A
//! walk goes from old to new in rounds, and on behind what it must leave: a stream whose events are lost keeps no other
//! waiting. A bucket is closed two hours after its end, by a look at everything that leaves nothing in it and that
//! began with a sweep of the data layer: commits whose processes died have been finished then. A mark that comes later still
//! (from a clock that is two hours behind) is found by `verify`, and its events get their places with the stream's next.

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
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
/// Events of a stream up to which they are read by their keys.
const FEW_EVENTS: usize = 4;
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
/// time share one walk.
pub async fn sequence(ctx: &Context) -> Result<Sequencing> {
    let own = ctx.events.of(ctx.store.tenant());
    let wanted = own.begun.load(Ordering::SeqCst) + 1;
    let mut turn = own.turn.lock().await;
    let mut done = Sequencing::default();
    if own.done.load(Ordering::SeqCst) >= wanted {
        return Ok(done);
    }
    // ORDER: told before anything is read, so that whoever came until here is served by this.
    let begun = own.begun.fetch_add(1, Ordering::SeqCst) + 1;
    let mut rounds = ROUNDS_MAX;
    // What is new comes first: what is old has waited already.
    let mut ended = Walk::new(ctx.now()).go_on(ctx, &mut rounds, &mut done).await?;
    if ended && (turn.look.is_some() || ctx.now().millis() >= turn.look_at) {
        if turn.look.is_none() {
            turn.look = Some(Walk::over_everything(ctx).await);
        }
        // One that comes to no end is gone on with by the next call.
        ended = match &mut turn.look {
            Some(look) => look.go_on(ctx, &mut rounds, &mut done).await?,
            None => true,
        };
        if let Some(look) = turn.look.take_if(|_| ended) {
            let took = (ctx.now().millis() - look.began.millis()).max(0);
            let pause = LOOK_MILLIS.max(took.saturating_mul(LOOK_SHARE));
            turn.look_at = look.began.millis().saturating_add(pause);
        }
    }
    done.more = !ended;
    if ended {
        own.done.store(begun, Ordering::SeqCst);
    }
    if done.events > 0 {
        own.news.notify_waiters();
    }
    Ok(done)
}

/// As `sequence`, to the end, and with a look at everything that may have come late.
pub async fn sequence_all(ctx: &Context, mut on_progress: impl FnMut(&Sequencing)) -> Result<Sequencing> {
    // A look that is half-way has not seen what came late behind it.
    *ctx.events.of(ctx.store.tenant()).turn.lock().await = Turn::default();
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

/// What whoever sequences keeps for the next.
pub(in crate::events) struct Turn {
    /// A look at everything that is half-way.
    look: Option<Walk>,
    /// From when on everything is looked at again, in milliseconds.
    look_at: i64,
}

impl Default for Turn {
    fn default() -> Self {
        Turn { look: None, look_at: i64::MIN }
    }
}

/// A walk over marks, from old to new.
struct Walk {
    began: Timestamp,
    /// Over all that are open, not only those of the last minutes.
    everything: bool,
    /// Whether commits that were left half-way were finished before it began.
    settled: bool,
    /// Marks before this were seen, and in each shard those up to one of them.
    from: Timestamp,
    after: BTreeMap<u32, EventMark>,
    /// The oldest mark that it left behind, of those that it is to remember.
    left: Timestamp,
}

/// What a round did.
struct Round {
    events: u64,
    marks: u64,
    /// Nothing is left to be seen.
    ended: bool,
    /// What was seen, as a walk has it.
    from: Timestamp,
    after: Vec<EventMark>,
    left: Timestamp,
}

impl Walk {
    fn new(began: Timestamp) -> Self {
        let (from, after, left) = (Timestamp::MIN, BTreeMap::new(), Timestamp::MAX);
        Walk { began, everything: false, settled: false, from, after, left }
    }

    async fn over_everything(ctx: &Context) -> Self {
        let walk = Walk::new(ctx.now());
        // ORDER: commits whose processes died are finished before their marks are looked for.
        Walk { everything: true, settled: ctx.finish_commits().await, ..walk }
    }

    /// Goes on for some rounds. Whether it came to its end.
    async fn go_on(&mut self, ctx: &Context, rounds: &mut usize, done: &mut Sequencing) -> Result<bool> {
        while *rounds > 0 {
            *rounds -= 1;
            let Some(round) = round(ctx, self).await? else {
                tokio::task::yield_now().await;
                continue;
            };
            done.events += round.events;
            done.marks += round.marks;
            if round.ended {
                return Ok(true);
            }
            self.from = self.from.max(round.from);
            self.left = self.left.min(round.left);
            self.after.extend(round.after.into_iter().map(|mark| (mark.shard, mark)));
        }
        Ok(false)
    }
}

/// Reads, and commits at what was read. None where another was quicker.
async fn round(ctx: &Context, walk: &Walk) -> Result<Option<Round>> {
    let (now, delays) = (ctx.now(), Delays::of(ctx));
    // ORDER: the feed first, by a read that finishes earlier commits on it; then the marks, how far their streams are, and
    // the log; then the commit at the version of that read.
    let read = |found: &Partition<FeedHead>| Ok((Commit::new(), (found.rows.first().cloned(), found.version)));
    let (head, version) = ctx.store.guarded::<FeedHead, _, Error>(FEED, read).await?;
    let is_new = head.is_none();
    let head = match head {
        Some(head) => head,
        None => first_head(ctx, now, delays).await?,
    };
    let window = Window::of(&head, now, delays, walk);
    let seen = read_marks(ctx, &window, walk).await?;
    let work = plan(ctx, &seen.marks).await?;

    // Up to the first that had no room, or to the end, all were seen: they are done with, or left for good reason.
    let next_one = seen.marks.iter().position(|mark| work.is_cut(mark));
    let (passed, from) = match next_one {
        Some(first) => (&seen.marks[..first], seen.marks[first].marked_at),
        None => (&seen.marks[..], seen.covered_to),
    };
    // What is old and still waits is left to the looks at everything, and does not make every round look as far back.
    let recent = minus(now, delays.behind_millis);
    let waits = |mark: &&EventMark| !work.is_done(mark) && (walk.everything || mark.marked_at >= recent);
    let left = passed.iter().filter(waits).map(|mark| mark.marked_at).fold(walk.left, Timestamp::min);
    let done_to = from.min(left);
    let mut next = FeedHead { moved_at: now, ..head.clone() };
    if !walk.everything {
        next.read_to = done_to.min(now);
    } else if walk.settled {
        // As of its beginning: what it saw first it saw then.
        let closed = bucket_of(walk.began.plus_seconds(-delays.late_seconds)).min(bucket_of(done_to));
        next.open_bucket = head.open_bucket.max(closed);
    }
    // Behind that every walk looks.
    let looked = walk.everything && from >= minus(head.read_to.min(now), delays.behind_millis);
    let ended = next_one.is_none() && (looked || !seen.more);
    let done: Vec<&EventMark> = seen.marks.iter().filter(|mark| work.is_done(mark)).collect();
    let (events, marks) = (work.events.len() as u64, done.len() as u64);
    // A walk that goes on may be stopped: then the next one has it behind it.
    let idle = if ended { IDLE_MILLIS } else { 1 };
    let moved =
        next.read_to.millis() - head.read_to.millis() >= idle || next.open_bucket - head.open_bucket > IDLE_BUCKETS;
    let round = Round { events, marks, ended, from, after: passed.to_vec(), left };
    if events + marks == 0 && !moved && !is_new {
        // Whatever is left waits for others.
        return Ok(Some(round));
    }
    next.position = head.position + events as i64;
    let made = commit(ctx, version, &next, &work, &done, head.position).await?;
    Ok(made.then_some(round))
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
    fn of(head: &FeedHead, now: Timestamp, delays: Delays, walk: &Walk) -> Self {
        let open = start_of(head.open_bucket);
        let recent = minus(head.read_to.min(now), delays.behind_millis);
        let from = if walk.everything { open } else { recent.max(open) }.max(walk.from);
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

async fn read_marks(ctx: &Context, window: &Window, walk: &Walk) -> Result<Seen> {
    let mut covered_to = if window.cut { start_of(window.last + 1) } else { Timestamp::MAX };
    let (mut marks, mut more) = (Vec::new(), window.cut);
    for bucket in window.first..=window.last {
        let read = |shard| {
            let slice = ctx.store.slice::<EventMark>((bucket, shard)).from(Bound::Included(window.from));
            let after = walk.after.get(&shard).filter(|mark| mark.bucket == bucket && mark.marked_at >= window.from);
            let slice = match after {
                Some(mark) => slice.after_key((mark.marked_at, mark.aggregate_id, mark.event_version)),
                None => slice,
            };
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
    // ORDER: by time alone, which keeps those of one partition in its own order: a walk goes on behind the last of them.
    marks.sort_by_key(|mark| mark.marked_at);
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
    /// Streams that have more events than there was room for.
    cut: HashSet<AggregateId>,
}

struct Reached {
    before: i64,
    after: i64,
}

impl Work {
    fn is_done(&self, mark: &EventMark) -> bool {
        self.reached.get(&mark.aggregate_id).is_some_and(|reached| mark.event_version <= reached.after)
    }

    /// Whether the next round can go on with it.
    fn is_cut(&self, mark: &EventMark) -> bool {
        !self.is_done(mark) && self.cut.contains(&mark.aggregate_id)
    }
}

async fn plan(ctx: &Context, marks: &[EventMark]) -> Result<Work> {
    let mut wanted: Vec<AggregateId> = Vec::new();
    let mut newest: HashMap<AggregateId, i64> = HashMap::new();
    for mark in marks {
        let version = newest.entry(mark.aggregate_id).or_insert_with(|| {
            wanted.push(mark.aggregate_id);
            0
        });
        *version = mark.event_version.max(*version);
    }
    let known = ctx.store.get_many::<Sequenced>(wanted.iter().copied()).await?;
    let mut work = Work { events: Vec::new(), reached: BTreeMap::new(), cut: HashSet::new() };
    let mut asked = VecDeque::new();
    for (aggregate, known) in wanted.iter().copied().zip(known) {
        let before = known.map_or(0, |known| known.event_version);
        work.reached.insert(aggregate, Reached { before, after: before });
        let count = usize::try_from(newest.get(&aggregate).copied().unwrap_or(0) - before).unwrap_or(0);
        if count > 0 {
            asked.push_back((aggregate, before + 1, count));
        }
    }
    // Some at a time: what was kept free for one that has a gap is the others'.
    while work.events.len() < EVENTS_A_COMMIT && !asked.is_empty() {
        let (mut reads, mut room) = (Vec::new(), EVENTS_A_COMMIT - work.events.len());
        while room > 0 {
            let Some((aggregate, from, count)) = asked.pop_front() else { break };
            let limit = room.min(count);
            room -= limit;
            reads.push(NextOf { aggregate, from, limit, is_cut: limit < count });
        }
        for (NextOf { aggregate, limit, is_cut, .. }, events) in read_next(ctx, reads).await? {
            if let (Some(stream), Some(last)) = (work.reached.get_mut(&aggregate), events.last()) {
                stream.after = last.event_version;
            }
            if is_cut && events.len() == limit {
                work.cut.insert(aggregate);
            }
            work.events.extend(events);
        }
    }
    work.cut.extend(asked.into_iter().map(|(aggregate, ..)| aggregate));
    Ok(work)
}

/// The events of a stream that are to get places next.
#[derive(Clone, Copy)]
struct NextOf {
    aggregate: AggregateId,
    /// The version of the first.
    from: i64,
    limit: usize,
    /// There are more of them.
    is_cut: bool,
}

/// What each of the streams has of that, up to the first that is not there.
async fn read_next(ctx: &Context, reads: Vec<NextOf>) -> Result<Vec<(NextOf, Vec<Event>)>> {
    let mut found = read_by_keys(ctx, &reads).await?;
    let mut read = Vec::with_capacity(reads.len());
    let rest: Vec<NextOf> = reads.iter().filter(|next| !found.contains_key(&next.aggregate)).copied().collect();
    let slice = |NextOf { aggregate, from, limit, .. }: NextOf| async move {
        let events = readable(read_forward(ctx, aggregate, from, i64::MAX, limit).await, aggregate)?;
        Ok::<_, Error>((aggregate, events))
    };
    let slices: HashMap<AggregateId, Vec<Event>> =
        stream::iter(rest).map(slice).buffered(AT_ONCE).try_collect().await?;
    found.extend(slices);
    for next in reads {
        read.push((next, found.remove(&next.aggregate).unwrap_or_default()));
    }
    Ok(read)
}

/// Of streams with few new events, as most have, all in one request: their keys are known, and a row is found sooner by its key.
async fn read_by_keys(ctx: &Context, reads: &[NextOf]) -> Result<HashMap<AggregateId, Vec<Event>>> {
    let few: Vec<&NextOf> = reads.iter().filter(|next| next.limit <= FEW_EVENTS).collect();
    let keys = few.iter().flat_map(|next| (next.from..).take(next.limit).map(|n| Event::key(next.aggregate, n)));
    let mut rows = match ctx.store.get_many::<Event>(keys).await {
        Ok(rows) => rows.into_iter(),
        // Each is read by itself, so that one that cannot be read keeps no other waiting.
        Err(DataError::Corrupt { .. }) => return Ok(HashMap::new()),
        Err(error) => return Err(error.into()),
    };
    let whole = |next: &&NextOf| {
        let events: Vec<Option<Event>> = rows.by_ref().take(next.limit).collect();
        (next.aggregate, events.into_iter().map_while(|event| event).collect())
    };
    Ok(few.iter().map(whole).collect())
}

/// What a stream has. One that cannot be read waits, as one with a gap does, and the others go on.
fn readable(read: Result<Vec<Event>>, aggregate: AggregateId) -> Result<Vec<Event>> {
    match read {
        Err(Error::Data(error @ DataError::Corrupt { .. })) => {
            tracing::error!(%aggregate, %error, "events that cannot be read have no places");
            Ok(Vec::new())
        }
        read => read,
    }
}

async fn commit(
    ctx: &Context,
    version: Option<Version>,
    next: &FeedHead,
    work: &Work,
    done: &[&EventMark],
    taken: i64,
) -> Result<bool> {
    let mut commit = Commit::new().unchanged::<FeedHead>(FEED, version).put(next);
    let placed = || work.events.iter().zip(taken + 1..);
    let last: HashMap<AggregateId, i64> = placed().map(|(event, position)| (event.aggregate_id, position)).collect();
    // Table by table: so what is known of a table is looked up once for all of its rows.
    commit = placed().fold(commit, |commit, (event, position)| commit.put(&entry(event, position)));
    commit = placed().fold(commit, |commit, (event, position)| commit.put(&by_type(event, position)));
    commit = placed().fold(commit, |commit, (event, position)| commit.put(&by_day(event, position)));
    commit = placed().fold(commit, |commit, (event, position)| commit.put(&by_correlation(event, position)));
    let reached = work.reached.iter().filter_map(|(id, reached)| Some((*id, reached, *last.get(id)?)));
    for (aggregate_id, Reached { after, .. }, position) in reached.clone() {
        commit = commit.put(&Sequenced { aggregate_id, event_version: *after, position });
    }
    for (aggregate_id, Reached { before, after }, _) in reached {
        if before / limits::EVENTS_A_SNAPSHOT < after / limits::EVENTS_A_SNAPSHOT {
            commit = commit.put(&SnapshotDue { shard: due_shard(aggregate_id), aggregate_id, event_version: *after });
        }
    }
    commit = done.iter().fold(commit, |commit, mark| commit.delete::<EventMark>(mark.key()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_cannot_be_read_waits_and_one_that_cannot_be_reached_is_told() {
        let failed = |error: DataError| readable(Err(Error::Data(error)), AggregateId(uuid::Uuid::nil()));
        assert!(failed(DataError::corrupt("event_log", "a number")).is_ok_and(|events| events.is_empty()));
        assert!(matches!(failed(DataError::unavailable("no")), Err(Error::Data(DataError::Unavailable { .. }))));
    }
}
