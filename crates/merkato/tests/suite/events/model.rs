//! Any sequence of what can be done with events, beside a model that keeps them in a list.

use std::collections::BTreeMap;

use merkato::{
    Context,
    events::{self, Error, Expected, FeedEvent, NewEvent},
    id::{AggregateId, EventId},
};
use rand::{Rng as _, SeedableRng as _, rngs::SmallRng};
use widerow::faulty::{Faults, Faulty};
use widerow_testing::Target;

use super::{check_feed, dying, finish_commits, new_stream, noted, process, request, verify};
use crate::world::{World, seed};

widerow_testing::cases![
    any_appends_are_in_the_feed_once_and_in_order,
    writers_that_fail_at_random_leave_each_event_once
];

/// What a stream has, as the model knows it: the ids that were given, or none.
type Model = BTreeMap<AggregateId, Vec<Option<EventId>>>;

struct Known {
    stream: AggregateId,
    first: i64,
    events: Vec<NewEvent>,
}

async fn any_appends_are_in_the_feed_once_and_in_order(target: &Target) {
    let seed = seed();
    let (runs, turns) = if target.name == "embedded" { (6, 150) } else { (1, 60) };
    for run in 0..runs {
        let mut chance = SmallRng::seed_from_u64(seed.wrapping_add(run));
        let world = World::new(target);
        let slow = process(&world, target.engine(), true);
        let streams: Vec<AggregateId> = (0..5).map(|_| new_stream(&world.ctx)).collect();
        let (mut model, mut known, mut feed): (Model, Vec<Known>, Vec<FeedEvent>) = Default::default();
        for _ in 0..turns {
            let ctx = if chance.random_bool(0.5) { &world.ctx } else { &slow };
            match chance.random_range(0..10) {
                0..5 => append(ctx, &streams, &mut model, &mut known, &mut chance).await,
                5 if !known.is_empty() => {
                    let one = &known[chance.random_range(0..known.len())];
                    let again = events::append(ctx, request(one.stream, Expected::Absent, one.events.clone())).await;
                    let again = again.expect("the first answer");
                    assert_eq!((again.first_version, again.repeated), (one.first, true));
                }
                6 => die(target, &world, &streams, &mut model, &mut chance).await,
                7 => drop(events::sequence(ctx).await.expect("places")),
                8 => world.clock.advance_millis(chance.random_range(0..200_000)),
                _ => go_on(ctx, &mut feed, chance.random_range(1..40)).await,
            }
        }
        world.clock.advance_millis(120_000);
        finish_commits(target, &world).await;
        let total: usize = model.values().map(Vec::len).sum();
        while feed.len() < total {
            go_on(&world.ctx, &mut feed, 50).await;
        }
        let versions = check_feed(&feed);
        for (stream, events) in &model {
            assert_eq!(versions.get(stream).copied().unwrap_or(0), events.len() as i64, "run {run}");
        }
        for event in &feed {
            let given = model[&event.event.aggregate_id][event.event.event_version as usize - 1];
            assert!(given.is_none_or(|given| given == event.event.event_id));
        }
        verify(&world.ctx).await;
    }
}

async fn append(
    ctx: &Context,
    streams: &[AggregateId],
    model: &mut Model,
    known: &mut Vec<Known>,
    chance: &mut SmallRng,
) {
    let stream = streams[chance.random_range(0..streams.len())];
    let with_ids = chance.random_bool(0.5);
    let events: Vec<NewEvent> = (0..chance.random_range(1..5))
        .map(|n| if with_ids { noted(n).with_id(EventId(ctx.new_id())) } else { noted(n) })
        .collect();
    let there = model.entry(stream).or_default();
    let version = there.len() as i64;
    let expected = match chance.random_range(0..4) {
        0 => Expected::Absent,
        1 => Expected::Exact(version + chance.random_range(-1..2)),
        2 => Expected::Exact(version),
        _ => Expected::Any,
    };
    let right = match expected {
        Expected::Any => true,
        Expected::Absent => version == 0,
        Expected::Exact(expected) => expected == version,
    };
    match events::append(ctx, request(stream, expected, events.clone())).await {
        Ok(appended) => {
            assert!(right, "{expected:?} at {version}");
            assert_eq!((appended.first_version, appended.repeated), (version + 1, false));
            there.extend(events.iter().map(|event| event.event_id));
            assert_eq!(appended.version, there.len() as i64);
            if with_ids {
                known.push(Known { stream, first: version + 1, events });
            }
        }
        Err(Error::VersionConflict { found, .. }) => assert!(!right && found == version, "{found} at {version}"),
        Err(error) => panic!("{error}"),
    }
}

/// A process that dies on its way; whether its events are there is seen from the stream.
async fn die(target: &Target, world: &World, streams: &[AggregateId], model: &mut Model, chance: &mut SmallRng) {
    let (doomed, _) = dying(target, world, chance.random_range(0..12));
    if chance.random_bool(0.4) {
        let _ = events::sequence(&doomed).await;
        return;
    }
    let stream = streams[chance.random_range(0..streams.len())];
    let told = events::append(&doomed, request(stream, Expected::Any, vec![noted(1), noted(2)])).await;
    let there = model.entry(stream).or_default();
    let found = events::find_stream(&world.ctx, stream).await.expect("a stream").map_or(0, |head| head.version);
    let before = there.len() as i64;
    assert!(found == before + 2 || (found == before && told.is_err()), "{before}, then {found}: {told:?}");
    there.resize(found as usize, None);
}

async fn go_on(ctx: &Context, feed: &mut Vec<FeedEvent>, limit: usize) {
    let after = feed.last().map_or(0, |event| event.position);
    let page = events::feed(ctx, after, limit).await.expect("a page");
    feed.extend(page.events);
}

/// Writers at once, on engines that refuse, lose answers and are late. What was told to be there is there once; what was
/// not, once or not at all.
async fn writers_that_fail_at_random_leave_each_event_once(target: &Target) {
    let world = World::new(target);
    let streams: Vec<AggregateId> = (0..3).map(|_| new_stream(&world.ctx)).collect();
    let rounds = if target.name == "embedded" { 40 } else { 8 };
    let write = |n: u64| {
        let fault = 0.03;
        let faults = Faults {
            seed: seed().wrapping_add(n),
            refuse: fault,
            time_out_before: fault,
            time_out_after: fault,
            delay: fault,
            ..Faults::default()
        };
        let ctx = process(&world, Faulty::new(target.engine(), faults), n.is_multiple_of(2));
        let streams = streams.clone();
        tokio::spawn(async move {
            let (mut told, mut asked) = (Vec::new(), Vec::new());
            for round in 0..rounds {
                let id = EventId(ctx.new_id());
                let stream = streams[(n as usize + round) % streams.len()];
                asked.push(id);
                // Asked again under its id, as one does who was not told.
                for _ in 0..5 {
                    if events::append(&ctx, request(stream, Expected::Any, vec![noted(1).with_id(id)])).await.is_ok() {
                        told.push(id);
                        break;
                    }
                }
                let _ = events::sequence(&ctx).await;
            }
            (told, asked)
        })
    };
    let writing: Vec<_> = (0..4).map(write).collect();
    let (mut told, mut asked) = (Vec::new(), Vec::new());
    for writing in writing {
        let (some_told, some_asked) = writing.await.expect("a writer");
        told.extend(some_told);
        asked.extend(some_asked);
    }
    world.clock.advance_millis(120_000);
    finish_commits(target, &world).await;
    events::sequence_all(&world.ctx, |_| {}).await.expect("places");
    let feed = super::read_feed(&world.ctx, 0).await;
    check_feed(&feed);
    assert!(told.len() > asked.len() / 2, "{} of {}", told.len(), asked.len());
    let there: Vec<EventId> = feed.iter().map(|event| event.event.event_id).collect();
    assert!(told.iter().all(|id| there.contains(id)), "what was told is there");
    assert!(there.iter().all(|id| asked.contains(id)), "what is there was asked for");
    verify(&world.ctx).await;
}
