//! The feed, and the lists that come with it.

use std::{collections::BTreeSet, time::Duration};

use futures::StreamExt as _;
use merkato::{
    events::{self, Expected, FeedEvent, NewEvent, TimePage, TimeRange},
    id::EventId,
};
use serde_json::json;
use widerow::Timestamp;
use widerow_testing::Target;

use super::{append, check_feed, lose, marks, new_stream, noted, process, read_feed, request, tell, unmark, verify};
use crate::world::World;

widerow_testing::cases![
    what_was_appended_is_in_the_feed_at_once_and_for_good,
    a_feed_goes_over_its_blocks,
    writers_and_readers_in_two_processes_miss_nothing,
    who_follows_is_told,
    a_mark_of_long_ago_is_found,
    a_mark_that_nobody_sees_is_mended,
    a_hole_is_told_as_one,
    events_by_type_the_newest_first_over_days,
    events_by_time_over_days_and_shards,
    events_that_belong_together,
];

async fn what_was_appended_is_in_the_feed_at_once_and_for_good(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    assert_eq!(events::feed(ctx, 0, 10).await.unwrap().position, 0);
    let streams = [new_stream(ctx), new_stream(ctx), new_stream(ctx)];
    let mut seen = Vec::new();
    for round in 0..8 {
        for stream in &streams {
            append(ctx, *stream, 0..=round % 3).await;
            let all = read_feed(ctx, 0).await;
            assert_eq!(all.len(), seen.len() + 1 + round as usize % 3, "it is there at once");
            assert_eq!(all[..seen.len()], seen[..], "what was read once stays");
            seen = all;
        }
        world.clock.advance_millis(400_000);
    }
    check_feed(&seen);
    assert_eq!(events::feed_position(ctx).await.unwrap(), seen.len() as i64);
    verify(ctx).await;
}

async fn a_feed_goes_over_its_blocks(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (one, other) = (new_stream(ctx), new_stream(ctx));
    append(ctx, one, 0..500).await;
    append(ctx, other, 0..450).await;
    append(ctx, one, 0..90).await;
    append(ctx, other, 0..60).await;
    let versions = check_feed(&read_feed(ctx, 0).await);
    assert_eq!((versions[&one], versions[&other]), (590, 510));
    for after in [998, 999, 1_000, 1_099, 1_100, 5_000] {
        let page = events::feed(ctx, after, 3).await.unwrap();
        let expected: Vec<i64> = (after + 1..=1_100).take(3).collect();
        assert_eq!(page.events.iter().map(|event| event.position).collect::<Vec<_>>(), expected);
        assert_eq!(page.position, expected.last().copied().unwrap_or(after));
    }
}

/// Two processes append and read at once; one shows its commits step by step. Readers go on from their last place.
async fn writers_and_readers_in_two_processes_miss_nothing(target: &Target) {
    let world = World::new(target);
    let others = [process(&world, target.engine(), true), process(&world, target.engine(), false)];
    let (writers, rounds) = (6, if target.name == "embedded" { 30 } else { 6 });
    let streams: Vec<_> = (0..4).map(|_| new_stream(&world.ctx)).collect();
    let write = |n: usize| {
        let (ctx, streams) = (others[n % 2].clone(), streams.clone());
        tokio::spawn(async move {
            for round in 0..rounds {
                append(&ctx, streams[(n + round) % streams.len()], 0..=(round as i64 % 3)).await;
            }
        })
    };
    let writing: Vec<_> = (0..writers).map(write).collect();
    let total = writers * (0..rounds).map(|round| 1 + round % 3).sum::<usize>();
    let read = |n: usize| {
        let ctx = others[n % 2].clone();
        tokio::spawn(async move {
            let (mut seen, mut position): (Vec<FeedEvent>, i64) = (Vec::new(), 0);
            while seen.len() < total {
                let page = events::feed(&ctx, position, 1 + 7 * n).await.unwrap();
                position = page.position;
                seen.extend(page.events);
            }
            seen
        })
    };
    let reading: Vec<_> = (0..3).map(read).collect();
    for writing in writing {
        tokio::time::timeout(Duration::from_secs(120), writing).await.expect("in time").unwrap();
    }
    let mut first: Option<Vec<FeedEvent>> = None;
    for reading in reading {
        let seen = tokio::time::timeout(Duration::from_secs(120), reading).await.expect("in time").unwrap();
        check_feed(&seen);
        assert_eq!(seen.len(), total);
        assert_eq!(first.get_or_insert_with(|| seen.clone()), &seen, "all see the same");
    }
    verify(&world.ctx).await;
}

async fn who_follows_is_told(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let stream = new_stream(ctx);
    append(ctx, stream, 0..3).await;
    let mut following = std::pin::pin!(events::follow(ctx, 1));
    let mut next = async || {
        let event = tokio::time::timeout(Duration::from_secs(30), following.next()).await.expect("in time");
        event.expect("it never ends").unwrap().position
    };
    assert_eq!((next().await, next().await), (2, 3));
    let (told, _) = tokio::join!(next(), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        append(ctx, stream, [4]).await
    });
    assert_eq!(told, 4);
    // Of another process it learns by looking.
    append(&process(&world, target.engine(), false), stream, [5]).await;
    assert_eq!(next().await, 5);
}

/// Appended while nobody read for days, and by a clock that was behind.
async fn a_mark_of_long_ago_is_found(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let stream = new_stream(ctx);
    append(ctx, stream, [1]).await;
    world.clock.advance_millis(9 * 86_400_000);
    append(ctx, stream, [2]).await;
    events::sequence_all(ctx, |_| {}).await.unwrap();
    assert_eq!(read_feed(ctx, 0).await.len(), 2);
    // Nobody for a while: what was seen is written down, and the day after is looked at all the same.
    for _ in 0..4 {
        world.clock.advance_millis(86_400_000);
        events::sequence_all(ctx, |_| {}).await.unwrap();
    }
    let late = new_stream(ctx);
    world.clock.advance_millis(-400_000);
    append(ctx, late, [1]).await;
    world.clock.advance_millis(400_000);
    append(ctx, stream, [3]).await;
    world.clock.advance_millis(61_000);
    assert_eq!(read_feed(ctx, 0).await.len(), 4);
    verify(ctx).await;
}

/// Whatever could take a mark away: the check sees it, and mends it.
async fn a_mark_that_nobody_sees_is_mended(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (lost, other) = (new_stream(ctx), new_stream(ctx));
    append(ctx, lost, 0..4).await;
    let marks = marks(&world).await;
    assert_eq!(marks.len(), 1, "one mark an append");
    unmark(ctx, &marks[0]).await;
    append(ctx, other, 0..3).await;
    assert_eq!(read_feed(ctx, 0).await.len(), 3);
    let report = events::verify(ctx, false, |_| {}).await.unwrap();
    assert_eq!((report.faults_count, report.mended, report.faults[0].table), (1, 0, "event_inbox"));
    let report = events::verify(ctx, true, |_| {}).await.unwrap();
    assert_eq!((report.faults_count, report.mended), (1, 1));
    assert_eq!(read_feed(ctx, 0).await.len(), 7);
    verify(ctx).await;
    // A mark that comes back from the dead gives nothing a second place.
    ctx.store.commit(widerow::Commit::new().put(&marks[0])).await.unwrap();
    append(ctx, lost, [1]).await;
    assert_eq!(check_feed(&read_feed(ctx, 0).await)[&lost], 5);
    verify(ctx).await;
}

/// What is behind an event that is lost is told, and nothing is marked that can have no place.
async fn a_hole_is_told_as_one(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (stream, of) = (new_stream(ctx), ctx.new_id());
    append(ctx, stream, 0..5).await;
    lose(ctx, stream, [3]).await;
    unmark(ctx, &marks(&world).await[0]).await;
    tell(ctx, of, [1, 2, 3, 5, 6]).await;
    let holes = [(stream, 3, 5), (events::fact_stream("order", of), 4, 6)];
    for (repair, faults, mended, placed) in [(false, 3, 0, 3), (true, 3, 1, 5), (true, 2, 0, 5)] {
        let report = events::verify(ctx, repair, |_| {}).await.unwrap();
        for (of, lost, waits) in holes {
            let problem = format!("version {lost} of {of} is not there, and {waits} waits for it");
            assert!(report.faults.iter().any(|fault| fault.problem == problem), "{report:?}");
        }
        assert_eq!((report.faults_count, report.mended), (faults, mended), "{report:?}");
        assert_eq!(check_feed(&read_feed(ctx, 0).await).values().sum::<i64>(), placed);
        assert_eq!(marks(&world).await.len(), 2, "of the facts behind the hole, and no other");
    }
}

fn range(ctx: &merkato::Context, from_days: i64, to_days: i64) -> TimeRange {
    let day = |days: i64| ctx.now().plus_seconds(days * 86_400);
    TimeRange { from: day(from_days), to: Timestamp::from_millis(day(to_days).millis() + 1) }
}

/// Some events of two types in several streams, over a hundred days.
async fn history(ctx: &merkato::Context) -> Vec<(Timestamp, EventId, &'static str)> {
    let mut all = Vec::new();
    for stream in 0..5 {
        let aggregate = new_stream(ctx);
        let mut batch = Vec::new();
        for n in 0..12 {
            let days = [-100, -99, -99, -30, -30, -30, -29, -2, -1, -1, 0, 0][n];
            let event_type = if (n + stream) % 3 == 0 { "Marked" } else { "Noted" };
            let (at, id) = (ctx.now().plus_seconds(days * 86_400), EventId(ctx.new_id()));
            all.push((at, id, event_type));
            batch.push(NewEvent { at: Some(at), ..NewEvent::new(event_type, json!({ "n": n })).with_id(id) });
        }
        events::append(ctx, request(aggregate, Expected::Any, batch)).await.unwrap();
    }
    all.sort_unstable_by_key(|(at, id, _)| (*at, *id));
    all
}

async fn events_by_type_the_newest_first_over_days(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let mut all = history(ctx).await;
    all.reverse();
    for (from, to, limit) in [(-200, 0, 100), (-200, 0, 4), (-30, -1, 3), (-98, -31, 5)] {
        let range = range(ctx, from, to);
        for event_type in ["Marked", "Noted", "Never"] {
            let within =
                |(at, _, of): &&(Timestamp, EventId, &str)| *at >= range.from && *at < range.to && *of == event_type;
            let wanted: Vec<EventId> = all.iter().filter(within).map(|(_, id, _)| *id).collect();
            let (mut found, mut after, mut pages) = (Vec::new(), None, 0);
            loop {
                let page = TimePage { limit, after };
                let page = events::list_events_by_type(ctx, event_type, range, page).await.unwrap();
                assert!(page.events.len() <= limit);
                found.extend(page.events.iter().map(|event| event.event.event_id));
                (after, pages) = (page.next, pages + 1);
                if after.is_none() {
                    break;
                }
                assert!(pages < 100);
            }
            assert_eq!(found, wanted, "{event_type} from {from} to {to}");
        }
    }
}

async fn events_by_time_over_days_and_shards(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let all = history(ctx).await;
    for (from, to, limit) in [(-200, 0, 100), (-200, 0, 7), (-30, -1, 1), (-98, -31, 5)] {
        let range = range(ctx, from, to);
        let within = |(at, ..): &&(Timestamp, EventId, &str)| *at >= range.from && *at < range.to;
        let wanted: BTreeSet<EventId> = all.iter().filter(within).map(|(_, id, _)| *id).collect();
        let (mut found, mut after): (Vec<FeedEvent>, _) = (Vec::new(), None);
        loop {
            let page = events::list_events_by_time(ctx, range, TimePage { limit, after }).await.unwrap();
            found.extend(page.events);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert!(found.windows(2).all(|pair| pair[0].event.event_timestamp <= pair[1].event.event_timestamp));
        assert_eq!(found.len(), wanted.len(), "each once, from {from} to {to} by {limit}");
        let found: BTreeSet<EventId> = found.iter().map(|event| event.event.event_id).collect();
        assert_eq!(found, wanted, "from {from} to {to} by {limit}");
    }
}

async fn events_that_belong_together(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (correlation, mut ids) = (ctx.new_id(), BTreeSet::new());
    for n in 0..5 {
        let (stream, id) = (new_stream(ctx), EventId(ctx.new_id()));
        let event = NewEvent { correlation_id: Some(correlation), ..noted(n).with_id(id) };
        events::append(ctx, request(stream, Expected::Any, vec![event])).await.unwrap();
        append(ctx, stream, [n]).await;
        ids.insert(id);
        world.clock.advance_millis(1);
    }
    let mut page = events::list_events_of_correlation(ctx, correlation, TimePage::first(3)).await.unwrap();
    let mut found = page.events;
    while let Some(after) = page.next {
        page = events::list_events_of_correlation(ctx, correlation, TimePage { limit: 3, after: Some(after) })
            .await
            .unwrap();
        found.extend(page.events);
    }
    assert_eq!(found.iter().map(|event| event.event.event_id).collect::<BTreeSet<_>>(), ids);
    assert!(found.windows(2).all(|pair| pair[0].event.event_timestamp < pair[1].event.event_timestamp));
    // An event of which nothing was said is together with itself.
    let alone = append(ctx, new_stream(ctx), [1]).await;
    let event = events::list_events(ctx, alone.aggregate_id, Default::default()).await.unwrap().events.remove(0);
    let own = events::list_events_of_correlation(ctx, event.event_id.0, TimePage::first(3)).await.unwrap();
    assert_eq!(own.events.len(), 1);
}
