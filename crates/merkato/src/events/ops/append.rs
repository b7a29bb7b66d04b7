//! Events are appended.
//!
//! 1. One commit, guarded on the stream: its new version, the events, a mark for whoever gives them places in the feed.
//! 2. Ids that the caller gave are looked up between a read of the stream, which finishes what earlier appends to it have
//!    left, and a commit that is made at the version of that read or not at all. So the same id never comes twice into one
//!    stream, and the same append again gives the first one's answer.
//!
//! RACE: two streams that are given one id at the same moment may both take it. One that is given it later is refused.

use std::{borrow::Cow, collections::BTreeMap};

use widerow::{Commit, Partition, Version};

use crate::{
    check::{Check, Invalid},
    context::Context,
    events::{
        error::{Error, Result},
        rules::{self, Expected, Fact, NewEvent, Stream, check_events, check_kind, fact_stream, is_fact_stream},
        tables::{EventById, EventMark, EventStream},
    },
    id::{AggregateId, EventId},
    limits,
};

/// Tries at a stream that others append to as well, where ids must be looked up at its version.
const TRIES_MAX: u32 = 256;

/// Events for one stream.
#[derive(Clone, Debug, PartialEq)]
pub struct AppendRequest {
    pub aggregate_id: AggregateId,
    /// What the aggregate is. The first append says it for good.
    pub kind: String,
    pub expected: Expected,
    pub events: Vec<NewEvent>,
}

/// Where events came to stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    pub aggregate_id: AggregateId,
    /// Of the first of them.
    pub first_version: i64,
    /// Of the last of them.
    pub version: i64,
    /// They were there already, under their ids.
    pub repeated: bool,
}

/// What a domain's decision comes to.
pub struct Change<'e, T> {
    /// None: nothing is written.
    pub events: Cow<'e, [NewEvent]>,
    /// What is kept beside the version from now on; None: as it was.
    pub state: Option<String>,
    pub answer: T,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed<T> {
    pub answer: T,
    /// None where there was nothing to append.
    pub appended: Option<Appended>,
}

/// Appends events to a stream: all of them or none, at the version that is expected.
pub async fn append(ctx: &Context, request: AppendRequest) -> Result<Appended> {
    let AppendRequest { aggregate_id, kind, expected, events } = request;
    let mut check = Check::new();
    check_kind(&mut check, &kind);
    check.end()?;
    check_events(&events, ctx.now())?;
    let own = |event: &NewEvent| event.event_id.is_some_and(|id| rules::is_own(id.0));
    if let Some(i) = events.iter().position(own) {
        let problem = "ids of version 8 are those of the shop's own events";
        return Err(Invalid::new(format!("events/{i}/event_id"), problem).into());
    }
    if ctx.events.registry.aggregate_of(&kind).is_reserved() {
        return Err(Error::Reserved { kind });
    }
    if is_fact_stream(aggregate_id) {
        return Err(Error::ReservedStream { aggregate: aggregate_id });
    }
    let ids: Vec<EventId> = events.iter().filter_map(|event| event.event_id).collect();
    let decide = |stream: &Stream| {
        let change = |events, answer| Change { events: Cow::Borrowed(events), state: None, answer };
        if let Some((first_version, version)) = stream.find_repeated(&events)? {
            return Ok(change(&[][..], Some(Appended { aggregate_id, first_version, version, repeated: true })));
        }
        stream.must_be_at(aggregate_id, expected)?;
        Ok(change(&events[..], None))
    };
    let changed = self::change::<_, Error>(ctx, aggregate_id, &kind, &ids, decide).await?;
    changed.answer.or(changed.appended).ok_or(Error::Busy { what: "the stream" })
}

/// Appends what a domain decides on its stream, with what it keeps beside the version, in one commit. It may be asked several
/// times and must have no effects of its own: for domains, which may append to kinds that are reserved. `ids` are all that its events may have: which of them the stream knows is told.
pub async fn change<'e, T, E: From<Error> + From<widerow::Error>>(
    ctx: &Context,
    aggregate_id: AggregateId,
    kind: &str,
    ids: &[EventId],
    mut decide: impl FnMut(&Stream) -> Result<Change<'e, T>, E>,
) -> Result<Changed<T>, E> {
    for _ in 0..TRIES_MAX {
        let at = if ids.is_empty() { None } else { Some(known_ids(ctx, aggregate_id, ids).await?) };
        let mut last = ctx.events.head(ctx.store.tenant(), aggregate_id);
        let changed = ctx.store.guarded_from::<EventStream, _, E>(&mut last, aggregate_id, [()], |found| {
            let known = match &at {
                Some((version, _)) if *version != found.version => return Ok((Commit::new(), None)),
                Some((_, known)) => known.clone(),
                None => BTreeMap::new(),
            };
            let stream = Stream { head: found.rows.first().cloned(), known };
            if let Some(head) = stream.head.as_ref().filter(|head| head.aggregate_kind != kind) {
                let (wanted, found) = (kind.to_owned(), head.aggregate_kind.clone());
                return Err(Error::OtherKind { aggregate: aggregate_id, wanted, found }.into());
            }
            let change = decide(&stream)?;
            let (commit, appended) = commit_of(ctx, aggregate_id, kind, &stream, &change.events, change.state)?;
            Ok((commit, Some(Changed { answer: change.answer, appended })))
        });
        if let Some(changed) = changed.await? {
            if changed.appended.is_some() {
                news(ctx);
            }
            return Ok(changed);
        }
        tokio::task::yield_now().await;
    }
    Err(Error::Busy { what: "the stream" }.into())
}

fn commit_of<'n>(
    ctx: &Context,
    aggregate_id: AggregateId,
    kind: &str,
    stream: &Stream,
    events: &'n [NewEvent],
    state: Option<String>,
) -> Result<(Commit, Option<Appended>)> {
    if let Some(size) = state.as_ref().map(String::len).filter(|size| *size > limits::STREAM_STATE_BYTES_MAX) {
        return Err(Error::TooLarge { what: "a stream's state in bytes", size, limit: limits::STREAM_STATE_BYTES_MAX });
    }
    let now = ctx.now();
    let with_id = |event: &'n NewEvent| (event.event_id.unwrap_or_else(|| EventId(ctx.new_id())), event);
    let events: Vec<(EventId, &NewEvent)> = events.iter().map(with_id).collect();
    let head = stream.head.as_ref();
    let Some((head, rows)) = rules::append(aggregate_id, kind, head, &events, state, now) else {
        return Ok((Commit::new(), None));
    };
    // The stream, its events and the mark; rarely more.
    let mut commit = rows.iter().fold(Commit::with_room(rows.len() + 2).put(&head), Commit::put);
    for (row, (event_id, event)) in rows.iter().zip(&events).filter(|(_, (_, event))| event.event_id.is_some()) {
        let (event_version, fingerprint) = (row.event_version, event.fingerprint());
        commit = commit.put(&EventById { event_id: *event_id, aggregate_id, event_version, fingerprint });
    }
    commit = commit.put(&EventMark::new(aggregate_id, head.version, now));
    let first_version = stream.version() + 1;
    Ok((commit, Some(Appended { aggregate_id, first_version, version: head.version, repeated: false })))
}

type Known = BTreeMap<EventId, EventById>;

/// Which of the ids the stream has, and the version of its partition at which that is true.
///
/// ORDER: the stream first, by a read that finishes earlier commits on it; the ids behind.
async fn known_ids(ctx: &Context, aggregate: AggregateId, ids: &[EventId]) -> Result<(Option<Version>, Known)> {
    let read = |found: &Partition<EventStream>| Ok((Commit::new(), found.version));
    let version = ctx.store.guarded::<EventStream, _, Error>(aggregate, read).await?;
    let mut known = BTreeMap::new();
    for row in find_known(ctx, ids).await?.into_iter().flatten() {
        if row.aggregate_id != aggregate {
            return Err(Error::OtherStream { event: row.event_id, holder: row.aggregate_id });
        }
        known.insert(row.event_id, row);
    }
    Ok((version, known))
}

/// Which of these ids that callers gave are there, in their order.
pub async fn find_known(ctx: &Context, ids: &[EventId]) -> Result<Vec<Option<EventById>>> {
    let mut known = Vec::with_capacity(ids.len());
    for some in ids.chunks(widerow::limits::GET_KEYS_MAX) {
        known.extend(ctx.store.get_many::<EventById>(some.iter().copied()).await?);
    }
    Ok(known)
}

/// Adds a fact to the commit in which it happens. The version is counted by the commit's own guarded partition.
pub fn tell(ctx: &Context, commit: Commit, fact: &Fact) -> Commit {
    let Fact { kind, of, version, at, event } = fact;
    // What a fact says was checked where it came in.
    debug_assert!(check_events(std::slice::from_ref(event), ctx.now()).is_ok(), "{event:?}");
    let aggregate_id = fact_stream(kind, *of);
    let event_id = event.event_id.unwrap_or_else(|| EventId(ctx.new_id()));
    let row = rules::row(aggregate_id, kind, *version, *at, event_id, event);
    commit.put(&row).put(&EventMark::new(aggregate_id, *version, ctx.now()))
}

/// Wakes those who follow the feed in this process. Facts are found when they next look, a moment later.
fn news(ctx: &Context) {
    ctx.events.of(ctx.store.tenant()).news.notify_waiters();
}
