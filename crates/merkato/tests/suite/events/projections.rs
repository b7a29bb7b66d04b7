//! Read models that follow the feed.

use std::collections::BTreeMap;

use merkato::{
    Context, PageRequest,
    events::{self, EventTypeCount, Expected, NewEvent},
};
use serde_json::json;
use widerow::Row;
use widerow_testing::Target;

use super::{dying, new_stream, process, request};
use crate::world::{World, raw_rows};

widerow_testing::cases![
    a_projection_knows_every_event_once,
    a_projection_stopped_anywhere_counts_nothing_twice,
    a_projection_is_made_anew_beside_the_one_that_serves,
];

async fn happen(ctx: &Context, count: usize) {
    let kinds = ["Opened", "Noted", "Noted", "Closed"];
    let events = (0..count).map(|n| NewEvent::new(kinds[n % kinds.len()], json!({}))).collect();
    events::append(ctx, request(new_stream(ctx), Expected::Any, events)).await.unwrap();
    events::sequence_all(ctx, |_| {}).await.unwrap();
}

async fn counts(ctx: &Context) -> BTreeMap<String, i64> {
    let (rows, _) = events::list_event_types(ctx, &PageRequest::first(100)).await.unwrap();
    rows.into_iter().map(|row| (row.event_type, row.events_count)).collect()
}

fn expected(opened: i64, noted: i64, closed: i64) -> BTreeMap<String, i64> {
    BTreeMap::from([("Closed".into(), closed), ("Noted".into(), noted), ("Opened".into(), opened)])
}

async fn a_projection_knows_every_event_once(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    assert_eq!(counts(ctx).await, BTreeMap::new());
    happen(ctx, 40).await;
    let status = events::list_projections(ctx).await.unwrap();
    assert_eq!((status[0].name.as_str(), status[0].position, status[0].lag), ("event_types", 0, 40));
    // Two processes at once.
    let other = process(&world, target.engine(), true);
    let (one, two) = tokio::join!(events::project(ctx, "event_types"), events::project(&other, "event_types"));
    assert_eq!(one.unwrap().events + two.unwrap().events, 40);
    assert_eq!(counts(ctx).await, expected(10, 20, 10));
    happen(ctx, 4).await;
    assert_eq!(events::project(ctx, "event_types").await.unwrap().events, 4);
    assert_eq!(events::project(ctx, "event_types").await.unwrap().events, 0);
    assert_eq!(counts(ctx).await, expected(11, 22, 11));
    let status = events::list_projections(ctx).await.unwrap();
    assert_eq!((status[0].position, status[0].lag, status[0].updated_at), (44, 0, Some(ctx.now())));
    assert_eq!(events::project(ctx, "nothing").await.unwrap_err().code(), "projection_not_found");
}

async fn a_projection_stopped_anywhere_counts_nothing_twice(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let mut rounds = 0;
    for steps in (0..).step_by(if target.name == "embedded" { 1 } else { 3 }) {
        happen(ctx, 4).await;
        rounds += 1;
        let (doomed, faulty) = dying(target, &world, steps);
        let stopped = events::project_all(&doomed).await;
        if !faulty.has_stopped() {
            assert!(stopped.is_ok());
            break;
        }
        events::project_all(ctx).await.unwrap();
        assert_eq!(counts(ctx).await, expected(rounds, 2 * rounds, rounds), "after {steps}");
    }
    assert!(rounds > 3);
}

async fn a_projection_is_made_anew_beside_the_one_that_serves(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    happen(ctx, 16).await;
    events::project_all(ctx).await.unwrap();
    // Something went wrong with its rows.
    let broken = ctx.store.get::<EventTypeCount>((1, "Noted".into())).await.unwrap().unwrap();
    let broken = EventTypeCount { events_count: 99, ..broken };
    ctx.store.commit(widerow::Commit::new().put(&broken)).await.unwrap();
    assert_eq!(counts(ctx).await, expected(4, 99, 4));
    events::rebuild_projection(ctx, "event_types").await.unwrap();
    assert_eq!(counts(ctx).await, expected(4, 99, 4), "the old rows serve");
    let status = events::list_projections(ctx).await.unwrap().remove(0);
    assert_eq!((status.generation, status.rebuild.as_ref().map(|r| (r.generation, r.position))), (1, Some((2, 0))));
    happen(ctx, 4).await;
    // Stopped anywhere, it goes on there.
    for steps in (0..).step_by(if target.name == "embedded" { 1 } else { 4 }) {
        let (doomed, faulty) = dying(target, &world, steps);
        let _ = events::project_all(&doomed).await;
        if !faulty.has_stopped() {
            break;
        }
    }
    let done = events::project_all(ctx).await.unwrap();
    assert!(!done.more);
    assert_eq!(counts(ctx).await, expected(5, 10, 5));
    let status = events::list_projections(ctx).await.unwrap().remove(0);
    assert_eq!((status.generation, status.position, status.lag, status.rebuild), (2, 20, 0, None));
    let rows = raw_rows(&world, EventTypeCount::table()).await;
    assert_eq!(rows.len(), 3, "the old rows are gone");
}
