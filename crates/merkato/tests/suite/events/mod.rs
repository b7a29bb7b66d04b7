//! Events, their feed, what follows from them, on every engine.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use merkato::{
    Context, Settings,
    context::SystemChance,
    events::{self, AppendRequest, Appended, Event, EventMark, Expected, Fact, FeedEvent, NewEvent},
    id::{AggregateId, EventId},
};
use serde_json::json;
use uuid::Uuid;
use widerow::{
    Commit, Database, Engine, Options, Row as _,
    faulty::{Faults, Faulty},
    time::Clock,
};
use widerow_testing::Target;

use crate::world::{World, raw_rows, schema};

pub mod bad_input;
pub mod costs;
pub mod feed;
pub mod holes;
pub mod model;
pub mod projections;
pub mod states;
pub mod stopped;
pub mod streams;

pub fn new_stream(ctx: &Context) -> AggregateId {
    AggregateId(ctx.new_id())
}

pub fn noted(number: i64) -> NewEvent {
    NewEvent::new("Noted", json!({ "number": number }))
}

pub fn request(aggregate_id: AggregateId, expected: Expected, events: Vec<NewEvent>) -> AppendRequest {
    AppendRequest { aggregate_id, kind: "note".into(), expected, events }
}

/// Appends so many events, at any version.
pub async fn append(ctx: &Context, aggregate: AggregateId, numbers: impl IntoIterator<Item = i64>) -> Appended {
    let events = numbers.into_iter().map(noted).collect();
    events::append(ctx, request(aggregate, Expected::Any, events)).await.expect("appended")
}

/// Events that are gone from the log, as no program of ours does it.
pub async fn lose(ctx: &Context, stream: AggregateId, versions: impl IntoIterator<Item = i64>) {
    let key = |version| (stream, events::block_of(version), version);
    let lost = versions.into_iter().fold(Commit::new(), |commit, version| commit.delete::<Event>(key(version)));
    ctx.store.commit(lost).await.unwrap();
}

/// Facts of an order, of these versions.
pub async fn tell(ctx: &Context, of: Uuid, versions: impl IntoIterator<Item = i64>) {
    for version in versions {
        let fact = Fact { kind: "order", of, version, at: ctx.now(), event: noted(version) };
        ctx.store.commit(events::tell(ctx, Commit::new(), &fact)).await.unwrap();
    }
}

/// The feed from a place on, in pages of odd sizes.
pub async fn read_feed(ctx: &Context, after: i64) -> Vec<FeedEvent> {
    let mut all: Vec<FeedEvent> = Vec::new();
    let mut position = after;
    loop {
        let page = events::feed(ctx, position, 37).await.expect("a page");
        assert_eq!(page.position, page.events.last().map_or(position, |event| event.position));
        position = page.position;
        let end = page.events.len() < 37;
        all.extend(page.events);
        if end {
            return all;
        }
    }
}

/// Each event once, places and each stream's versions without a gap. The versions of each stream.
pub fn check_feed(events: &[FeedEvent]) -> BTreeMap<AggregateId, i64> {
    let mut versions: BTreeMap<AggregateId, i64> = BTreeMap::new();
    let mut ids: HashSet<EventId> = HashSet::new();
    for (event, position) in events.iter().zip(1..) {
        assert_eq!(event.position, position, "places have no gap");
        let version = versions.entry(event.event.aggregate_id).or_default();
        assert_eq!(event.event.event_version, *version + 1, "a stream's events come in order, each once");
        *version += 1;
        assert!(ids.insert(event.event.event_id), "each event has one place");
    }
    versions
}

/// The marks that there are.
pub async fn marks(world: &World) -> Vec<EventMark> {
    raw_rows(world, EventMark::table()).await.into_iter().map(|row| EventMark::from_values(row).unwrap()).collect()
}

pub async fn unmark(ctx: &Context, mark: &EventMark) {
    let key = (mark.bucket, mark.shard, mark.marked_at, mark.aggregate_id, mark.event_version);
    ctx.store.commit(Commit::new().delete::<EventMark>(key)).await.unwrap();
}

pub async fn verify(ctx: &Context) {
    let report = events::verify(ctx, false, |_| {}).await.expect("a report");
    assert_eq!((report.faults_count, report.events), (0, report.places), "{report:?}");
}

/// The same shop in another process, which stops after so many steps.
pub fn dying(target: &Target, world: &World, steps: u64) -> (Context, Arc<Faulty<Arc<dyn Engine>>>) {
    let faults = Faults { stop_after_steps: Some(steps), ..Faults::default() };
    let faulty = Arc::new(Faulty::new(target.engine(), faults));
    (process(world, faulty.clone(), true), faulty)
}

/// The same shop in another process; one whose commits are seen step by step, or as the engine shows them.
pub fn process(world: &World, engine: impl Engine, always_outbox: bool) -> Context {
    let clock = world.clock.clone() as Arc<dyn Clock>;
    let options = Options { clock, always_outbox, ..Options::default() };
    let database = Database::with_options(engine, schema(), options);
    let store = database.tenant(world.ctx.store.tenant().as_str()).expect("a good name");
    let settings = Settings::clone(&world.ctx.settings);
    Context::new(store, settings, world.clock.clone(), Arc::new(SystemChance))
}

/// Does what commits of stopped processes left to do, as the data layer does in the background.
pub async fn finish_commits(target: &Target, world: &World) {
    let clock = world.clock.clone() as Arc<dyn Clock>;
    let options = Options { clock, ..Options::default() };
    let swept = Database::with_options(target.engine(), schema(), options).sweep().await.expect("swept");
    assert_eq!(swept.failed, 0, "{swept:?}");
}
