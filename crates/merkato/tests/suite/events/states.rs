//! What aggregates are, with snapshots and without.

use merkato::events::{self, Aggregate, Event, Expected, NewEvent, Registry, Snapshot};
use rand::{Rng as _, SeedableRng as _, rngs::SmallRng};
use serde_json::{Value, json};
use widerow::Commit;
use widerow_testing::Target;

use super::{append, new_stream, request};
use crate::world::{World, seed};

widerow_testing::cases![
    from_a_snapshot_or_from_scratch_it_is_the_same,
    a_broken_snapshot_is_passed_over,
    an_older_schema_is_brought_up_to_date,
    snapshots_are_taken_behind_the_back,
    the_newest_snapshots_are_kept,
];

/// The sum of all numbers; those of the first schema were told in tens.
struct Sum(i32);

impl Aggregate for Sum {
    fn kind(&self) -> &str {
        "note"
    }

    fn fold_version(&self) -> i32 {
        self.0
    }

    fn upcast(&self, event: Event) -> Result<Event, String> {
        if event.schema_version > 1 {
            return Ok(event);
        }
        let number = event.data()?["number"].as_i64().ok_or("no number")?;
        Ok(Event { event_data: json!({ "number": 10 * number }).to_string(), schema_version: 2, ..event })
    }

    fn fold(&self, state: Value, event: &Event) -> Result<Value, String> {
        let number = event.data()?["number"].as_i64().ok_or("no number")?;
        Ok(json!(state.as_i64().unwrap_or(0) + number * i64::from(self.0)))
    }
}

async fn from_a_snapshot_or_from_scratch_it_is_the_same(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx.with_events(Registry::default().aggregate(Sum(1)));
    let mut chance = SmallRng::seed_from_u64(seed());
    let (stream, mut numbers) = (new_stream(ctx), Vec::new());
    let runs = if target.name == "embedded" { 30 } else { 8 };
    for _ in 0..runs {
        let some: Vec<i64> = (0..chance.random_range(1..120)).map(|_| chance.random_range(-9..10)).collect();
        append(ctx, stream, some.clone()).await;
        numbers.extend(some);
        if chance.random_bool(0.4) {
            events::sequence(ctx).await.unwrap();
            events::take_snapshots(ctx, 10).await.unwrap();
        }
        let version = chance.random_range(1..=numbers.len());
        let wanted = json!(numbers[..version].iter().map(|n| 10 * n).sum::<i64>());
        let by_snapshot = events::state_at(ctx, stream, version as i64).await.unwrap();
        let from_scratch = events::state_from_scratch(ctx, stream, Some(version as i64)).await.unwrap();
        assert_eq!((&by_snapshot.state, &from_scratch.state), (&wanted, &wanted), "at {version}");
        assert_eq!((by_snapshot.version, from_scratch.from_snapshot), (version as i64, 0));
        let now = events::state_now(ctx, stream).await.unwrap();
        assert_eq!(now.version, numbers.len() as i64);
        assert_eq!(now.state, events::state_from_scratch(ctx, stream, None).await.unwrap().state);
    }
    let beyond = events::state_at(ctx, stream, numbers.len() as i64 + 1).await.unwrap_err();
    assert_eq!(beyond.code(), "version_not_found");
    assert_eq!(events::state_at(ctx, stream, 0).await.unwrap_err().code(), "version_not_found");
    assert_eq!(events::state_now(ctx, new_stream(ctx)).await.unwrap_err().code(), "stream_not_found");
    // What another fold has left is of no use to this one.
    let other = &world.ctx.with_events(Registry::default().aggregate(Sum(2)));
    let doubled = events::state_now(other, stream).await.unwrap();
    assert_eq!(doubled.state, json!(numbers.iter().map(|n| 20 * n).sum::<i64>()));
}

async fn a_broken_snapshot_is_passed_over(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let stream = new_stream(ctx);
    append(ctx, stream, 0..250).await;
    assert!(events::take_snapshot(ctx, stream).await.unwrap());
    let good = events::state_now(ctx, stream).await.unwrap();
    assert_eq!((good.from_snapshot, &good.state), (200, &json!({ "number": 249 })));
    let broken = |version: i64, data: &str, fold_version: i32| Snapshot {
        aggregate_id: stream,
        snapshot_version: version,
        snapshot_timestamp: ctx.now(),
        aggregate_data: data.into(),
        events_count: version,
        aggregate_kind: "note".into(),
        fold_version,
    };
    ctx.store.commit(Commit::new().put(&broken(249, "{\"number\": 7", 0))).await.unwrap();
    ctx.store.commit(Commit::new().put(&broken(248, "{\"wrong\": 7}", 9))).await.unwrap();
    assert_eq!(events::state_now(ctx, stream).await.unwrap(), good);
    for version in [200, 249] {
        ctx.store.commit(Commit::new().delete::<Snapshot>((stream, version))).await.unwrap();
    }
    assert_eq!(events::state_now(ctx, stream).await.unwrap().from_snapshot, 0);
    assert_eq!(events::state_now(ctx, stream).await.unwrap().state, good.state);
}

async fn an_older_schema_is_brought_up_to_date(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx.with_events(Registry::default().aggregate(Sum(1)));
    let stream = new_stream(ctx);
    let event =
        |schema_version, number| NewEvent { schema_version, ..NewEvent::new("Noted", json!({ "number": number })) };
    let both = vec![event(1, 3), event(2, 4)];
    events::append(ctx, request(stream, Expected::Any, both)).await.unwrap();
    assert_eq!(events::state_now(ctx, stream).await.unwrap().state, json!(34));
    let stored = events::list_events(ctx, stream, Default::default()).await.unwrap().events;
    assert_eq!(stored[0].data().unwrap(), json!({ "number": 3 }), "what is stored stays");
    let senseless = vec![NewEvent::new("Noted", json!({}))];
    events::append(ctx, request(stream, Expected::Any, senseless)).await.unwrap();
    let refused = events::state_now(ctx, stream).await.unwrap_err();
    assert_eq!(refused.to_string(), format!("version 3 of {stream}: no number"));
}

async fn snapshots_are_taken_behind_the_back(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let streams = [new_stream(ctx), new_stream(ctx), new_stream(ctx)];
    for (stream, events) in streams.iter().zip([99, 100, 345]) {
        append(ctx, *stream, 0..events).await;
    }
    assert_eq!(events::take_snapshots(ctx, 100).await.unwrap().taken, 0, "nobody was there yet");
    events::sequence_all(ctx, |_| {}).await.unwrap();
    assert_eq!(
        events::take_snapshots(ctx, 100).await.unwrap(),
        events::SnapshotsTaken { taken: 2, ..Default::default() }
    );
    assert_eq!(events::take_snapshots(ctx, 100).await.unwrap().taken, 0, "once");
    for (stream, snapshot) in streams.iter().zip([0, 100, 300]) {
        assert_eq!(events::state_now(ctx, *stream).await.unwrap().from_snapshot, snapshot);
    }
    append(ctx, streams[0], [1]).await;
    events::sequence_all(ctx, |_| {}).await.unwrap();
    assert_eq!(events::take_snapshots(ctx, 100).await.unwrap().taken, 1);
    // Whoever folds a long tail leaves a snapshot too.
    append(ctx, streams[2], 0..400).await;
    assert_eq!(events::state_now(ctx, streams[2]).await.unwrap().from_snapshot, 300);
    assert_eq!(events::state_now(ctx, streams[2]).await.unwrap().from_snapshot, 700);
}

async fn the_newest_snapshots_are_kept(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let stream = new_stream(ctx);
    for _ in 0..7 {
        append(ctx, stream, 0..100).await;
        assert!(events::take_snapshot(ctx, stream).await.unwrap());
    }
    let kept = ctx.store.slice::<Snapshot>(stream).page().await.unwrap().rows;
    assert_eq!(kept.iter().map(|row| row.snapshot_version).collect::<Vec<_>>(), [700, 600, 500]);
    // Before the oldest of them all events are folded, in several reads.
    for (version, snapshot) in [(700, 700), (555, 500), (499, 0), (250, 0), (1, 0)] {
        let then = events::state_at(ctx, stream, version).await.unwrap();
        assert_eq!((then.version, then.from_snapshot), (version, snapshot));
        assert_eq!(then.state, json!({ "number": (version - 1) % 100 }));
    }
}
