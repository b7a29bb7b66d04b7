//! Streams whose events are lost: their own wait, all others go on.

use merkato::{
    Context,
    events::{self, Event, FeedHead, ReadStream},
    id::AggregateId,
};
use widerow::Commit;
use widerow_testing::Target;

use super::{append, check_feed, lose, marks, new_stream, read_feed, verify};
use crate::world::World;

widerow_testing::cases![
    many_events_behind_a_hole_take_nobodys_room,
    many_marks_behind_holes_hide_no_others,
    an_old_hole_makes_no_round_look_far_back,
];

/// The first event of a stream, which is lost then.
async fn lose_first(ctx: &Context, stream: AggregateId) -> Event {
    let read = ReadStream { limit: 1, ..ReadStream::default() };
    let first = events::list_events(ctx, stream, read).await.unwrap().events.remove(0);
    lose(ctx, stream, [1]).await;
    first
}

/// How many events of the stream are in the feed.
async fn placed(ctx: &Context, stream: AggregateId) -> i64 {
    check_feed(&read_feed(ctx, 0).await).get(&stream).copied().unwrap_or(0)
}

async fn many_events_behind_a_hole_take_nobodys_room(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (holed, other) = (new_stream(ctx), new_stream(ctx));
    append(ctx, holed, 0..301).await;
    let lost = lose_first(ctx, holed).await;
    for n in 1..4 {
        append(ctx, other, 0..200).await;
        assert_eq!((placed(ctx, holed).await, placed(ctx, other).await), (0, 200 * n));
        world.clock.advance_millis(61_000);
    }
    // Found again, they have their places.
    ctx.store.commit(Commit::new().put(&lost)).await.unwrap();
    assert_eq!(placed(ctx, holed).await, 301);
    verify(ctx).await;
}

/// More than are read at once of one partition, and than one round looks at; of one moment, and of several.
async fn many_marks_behind_holes_hide_no_others(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for step in [0, 1] {
        let (holed, other) = ([new_stream(ctx), new_stream(ctx)], new_stream(ctx));
        let mut lost = Vec::new();
        for (stream, count) in holed.iter().zip([300, 200]) {
            append(ctx, *stream, [0]).await;
            lost.push(lose_first(ctx, *stream).await);
            for n in 1..count {
                world.clock.advance_millis(step);
                append(ctx, *stream, [n]).await;
            }
        }
        for n in 1..4 {
            append(ctx, other, [n]).await;
            assert_eq!(placed(ctx, other).await, n);
            world.clock.advance_millis(61_000);
        }
        assert_eq!(marks(&world).await.len(), 500, "they wait");
        assert_eq!(placed(ctx, holed[0]).await, 0);
        for lost in &lost {
            ctx.store.commit(Commit::new().put(lost)).await.unwrap();
        }
        world.clock.advance_millis(61_000);
        assert_eq!((placed(ctx, holed[0]).await, placed(ctx, holed[1]).await), (300, 200));
        verify(ctx).await;
    }
}

/// Days go by: rounds look at the last minutes, and what came late is found in the days behind the hole.
async fn an_old_hole_makes_no_round_look_far_back(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (holed, other) = (new_stream(ctx), new_stream(ctx));
    append(ctx, holed, 0..2).await;
    let lost = lose_first(ctx, holed).await;
    for n in 1..4 {
        append(ctx, other, [n]).await;
        assert_eq!(placed(ctx, other).await, n);
        let head = ctx.store.get::<FeedHead>(0).await.unwrap().unwrap();
        assert!(n == 1 || ctx.now().millis() - head.read_to.millis() < 1_000_000, "{head:?}");
        world.clock.advance_millis(86_400_000);
    }
    events::sequence_all(ctx, |_| {}).await.unwrap();
    let late = new_stream(ctx);
    world.clock.advance_millis(-400_000);
    append(ctx, late, [1]).await;
    world.clock.advance_millis(461_000);
    assert_eq!((placed(ctx, late).await, placed(ctx, holed).await), (1, 0));
    ctx.store.commit(Commit::new().put(&lost)).await.unwrap();
    world.clock.advance_millis(61_000);
    assert_eq!(placed(ctx, holed).await, 2);
    verify(ctx).await;
}
