//! Processes that die at every step, of an append and of whoever gives places.

use merkato::{
    events::{self, Expected},
    id::EventId,
};
use widerow_testing::Target;

use super::{append, check_feed, dying, finish_commits, new_stream, noted, read_feed, request, verify};
use crate::world::World;

widerow_testing::cases![
    an_append_stopped_anywhere_is_there_whole_or_not_at_all,
    places_that_were_given_half_way_are_ended_by_whoever_comes,
    a_stream_whose_writer_died_does_not_keep_the_others_waiting,
];

/// Every step on the embedded engine; elsewhere, where each takes its time, a part of them.
fn stride(target: &Target) -> usize {
    if target.name == "embedded" { 1 } else { 3 }
}

/// Healed by the same request again, by the next writer, or by the sweep of the data layer alone.
async fn an_append_stopped_anywhere_is_there_whole_or_not_at_all(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (mut total, mut made) = (0, 0);
    for healer in 0..3 {
        for steps in (0..).step_by(stride(target)) {
            let (stream, ids) = (new_stream(ctx), [0; 3].map(|_| EventId(ctx.new_id())));
            append(ctx, stream, [0]).await;
            let batch = || ids.iter().zip(0..).map(|(id, n)| noted(n).with_id(*id)).collect::<Vec<_>>();
            let (doomed, faulty) = dying(target, &world, steps);
            let stopped = events::append(&doomed, request(stream, Expected::Any, batch())).await;
            if !faulty.has_stopped() {
                assert!(stopped.is_ok(), "{stopped:?}");
                total += 4;
                break;
            }
            // Readers in between see none of it, or a part that goes on.
            read_feed(ctx, 0).await;
            match healer {
                0 => {
                    let again = events::append(ctx, request(stream, Expected::Any, batch())).await.unwrap();
                    assert_eq!((again.first_version, again.version), (2, 4), "after {steps}");
                    made += usize::from(again.repeated);
                    total += 4;
                }
                1 => {
                    let next = append(ctx, stream, [9]).await;
                    assert!(next.version == 2 || next.version == 5, "{} after {steps}", next.version);
                    assert!(stopped.is_err() || next.version == 5, "what was told is there");
                    total += next.version;
                }
                _ => {
                    world.clock.advance_millis(120_000);
                    finish_commits(target, &world).await;
                    let version = events::get_stream(ctx, stream).await.unwrap().version;
                    assert!(version == 1 || version == 4);
                    assert!(stopped.is_err() || version == 4, "what was told is there");
                    total += version;
                }
            }
        }
    }
    assert!(made > 0, "none was stopped between its commit and its answer");
    world.clock.advance_millis(61_000);
    let feed = read_feed(ctx, 0).await;
    check_feed(&feed);
    assert_eq!(feed.len() as i64, total);
    verify(ctx).await;
}

async fn places_that_were_given_half_way_are_ended_by_whoever_comes(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let streams = [new_stream(ctx), new_stream(ctx)];
    let (mut total, mut half_way) = (0, false);
    for steps in (0..).step_by(stride(target)) {
        for (stream, n) in streams.iter().zip(1..) {
            append(ctx, *stream, 0..n).await;
            total += n;
        }
        let before = events::feed_position(ctx).await.unwrap();
        let (doomed, faulty) = dying(target, &world, steps);
        let _ = events::sequence(&doomed).await;
        half_way |= faulty.has_stopped() && events::feed_position(ctx).await.unwrap() > before;
        let feed = read_feed(ctx, 0).await;
        check_feed(&feed);
        assert_eq!(feed.len() as i64, total, "after {steps}");
        if !faulty.has_stopped() {
            break;
        }
    }
    // A commit that is one step for the engine has no half-way but for its answer.
    assert!(half_way || target.name != "embedded", "none was stopped after its commit");
    verify(ctx).await;
}

/// It died after its commit and before its events were to be seen. The others' go on; its own come behind, in their order.
async fn a_stream_whose_writer_died_does_not_keep_the_others_waiting(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let mut late = 0;
    for steps in (0..).step_by(stride(target)) {
        let (slow, other) = (new_stream(ctx), new_stream(ctx));
        let (doomed, faulty) = dying(target, &world, steps);
        let stopped = events::append(&doomed, request(slow, Expected::Absent, vec![noted(1), noted(2)])).await;
        append(ctx, other, [1]).await;
        let versions = check_feed(&read_feed(ctx, 0).await);
        assert_eq!(versions.get(&other), Some(&1), "after {steps}");
        let seen = versions.get(&slow).copied().unwrap_or(0);
        // Long after: the data layer finishes it, a look at what came late finds it.
        world.clock.advance_millis(3_600_000);
        finish_commits(target, &world).await;
        append(ctx, other, [2]).await;
        let versions = check_feed(&read_feed(ctx, 0).await);
        let there = events::find_stream(ctx, slow).await.unwrap().map_or(0, |head| head.version);
        assert_eq!(versions.get(&slow).copied().unwrap_or(0), there, "after {steps}");
        late += usize::from(there > seen);
        if !faulty.has_stopped() {
            assert!(stopped.is_ok());
            break;
        }
    }
    assert!(late > 0, "none was finished by the sweep");
    verify(ctx).await;
}
