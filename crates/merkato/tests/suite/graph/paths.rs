//! The shortest way from one to another, and what becomes of one that was kept.

use merkato::{
    Context,
    graph::{self, ConnectionPath, ConnectionType, Found},
    id::UserId,
};
use rust_decimal::Decimal;
use widerow_testing::Target;

use super::{befriend, connect, person, strong};
use crate::world::World;

use ConnectionType::{Block, Colleague, Follow, Friend};

widerow_testing::cases!(
    of_the_shortest_the_strongest_is_found,
    a_path_follows_who_follows_whom,
    a_kept_path_is_never_stale,
    a_longer_path_is_kept_where_a_shorter_one_was,
    nobody_on_a_path_is_hidden_from_its_ends,
);

async fn path(ctx: &Context, start: u32, end: u32, hops: usize) -> Option<Found> {
    graph::find_path(ctx, person(start), person(end), hops).await.expect("an answer")
}

fn people(found: &Found) -> Vec<UserId> {
    found.nodes.clone()
}

async fn of_the_shortest_the_strongest_is_found(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    // 0 to 9: over 1 and 2 (0.3), over 3 and 4 (0.6), over 3 and 2 (0.2); and a long strong one over 5, 6, 7.
    for (one, other, strength) in [
        (0, 1, 90),
        (1, 2, 30),
        (2, 9, 90),
        (0, 3, 60),
        (3, 4, 70),
        (4, 9, 80),
        (3, 2, 20),
        (0, 5, 100),
        (5, 6, 100),
        (6, 7, 100),
        (7, 9, 100),
    ] {
        graph::connect(ctx, person(one), Friend, person(other), strong(strength)).await.unwrap();
    }
    assert_eq!(path(ctx, 0, 9, 2).await, None);
    for hops in [3, 4, 6] {
        let found = path(ctx, 0, 9, hops).await.unwrap();
        assert_eq!(people(&found), [0, 3, 4, 9].map(person), "{hops}");
        assert_eq!((found.strength, found.types.as_slice()), (Decimal::new(6, 1), &[Friend; 3][..]));
    }
    let direct = path(ctx, 0, 1, 1).await.unwrap();
    assert_eq!((people(&direct), direct.strength), (vec![person(0), person(1)], Decimal::new(9, 1)));
    assert_eq!(path(ctx, 0, 77, 6).await, None);
}

async fn a_path_follows_who_follows_whom(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    connect(ctx, person(1), Follow, person(2)).await;
    connect(ctx, person(2), Colleague, person(3)).await;
    befriend(ctx, 3, 4).await;
    let found = path(ctx, 1, 4, 3).await.unwrap();
    assert_eq!(found.types, [Follow, Colleague, Friend]);
    assert_eq!(found.strength, Follow.default_strength());
    assert_eq!(path(ctx, 4, 1, 3).await, None, "nobody follows back");
    // Of several connections of a step the strongest is told.
    graph::connect(ctx, person(1), Colleague, person(2), strong(95)).await.unwrap();
    let found = path(ctx, 1, 4, 3).await.unwrap();
    assert_eq!(found.types, [Colleague, Colleague, Friend]);
    assert_eq!(found.strength, Colleague.default_strength());
}

async fn a_kept_path_is_never_stale(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for (one, other) in [(1, 2), (2, 3), (1, 4), (4, 5), (5, 3)] {
        befriend(ctx, one, other).await;
    }
    let first = path(ctx, 1, 3, 3).await.unwrap();
    assert_eq!(people(&first), [1, 2, 3].map(person));
    world.clock.advance_millis(1_000);
    assert_eq!(path(ctx, 1, 3, 3).await, Some(first.clone()), "it was kept");
    // One that is ended, or hidden, is not shown again.
    graph::disconnect(ctx, person(2), Friend, person(3)).await.unwrap();
    let longer = path(ctx, 1, 3, 3).await.unwrap();
    assert_eq!(people(&longer), [1, 4, 5, 3].map(person));
    assert_eq!(path(ctx, 1, 3, 2).await, None);
    connect(ctx, person(5), Block, person(4)).await;
    assert_eq!(path(ctx, 1, 3, 3).await, None);
    graph::disconnect(ctx, person(5), Block, person(4)).await.unwrap();
    assert_eq!(people(&path(ctx, 1, 3, 3).await.unwrap()), [1, 4, 5, 3].map(person), "that there is none is not kept");
    // How strong a kept one is, is told as it is.
    graph::connect(ctx, person(5), Friend, person(4), strong(10)).await.unwrap();
    assert_eq!(path(ctx, 1, 3, 3).await.unwrap().strength, Decimal::new(1, 1));
    // A step from one to the other is seen at once, and another shorter way within the day.
    befriend(ctx, 2, 3).await;
    connect(ctx, person(1), Follow, person(3)).await;
    assert_eq!(path(ctx, 1, 3, 3).await.unwrap().nodes.len(), 2);
    graph::disconnect(ctx, person(1), Follow, person(3)).await.unwrap();
    world.clock.advance_millis(86_400_000);
    assert_eq!(people(&path(ctx, 1, 3, 3).await.unwrap()), [1, 2, 3].map(person));
}

async fn a_longer_path_is_kept_where_a_shorter_one_was(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for (one, other) in [(1, 2), (2, 3), (1, 4), (4, 5), (5, 3)] {
        befriend(ctx, one, other).await;
    }
    assert_eq!(people(&path(ctx, 1, 3, 3).await.unwrap()), [1, 2, 3].map(person));
    graph::disconnect(ctx, person(2), Friend, person(3)).await.unwrap();
    world.clock.advance_millis(1_000);
    let longer = path(ctx, 1, 3, 3).await.unwrap();
    assert_eq!((people(&longer), longer.calculated_at), ([1, 4, 5, 3].map(person).to_vec(), ctx.now()));
    for _ in 0..2 {
        world.clock.advance_millis(1_000);
        assert_eq!(path(ctx, 1, 3, 3).await, Some(longer.clone()), "it is not searched again");
    }
    // Also where both do not hold.
    graph::disconnect(ctx, person(4), Friend, person(5)).await.unwrap();
    assert_eq!(path(ctx, 1, 3, 3).await, None);
    let kept = ctx.store.get_many::<ConnectionPath>([2, 3].map(|length| (person(1), length, person(3)))).await.unwrap();
    assert_eq!(kept, [None, None]);
}

async fn nobody_on_a_path_is_hidden_from_its_ends(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for (one, other) in [(1, 2), (2, 3), (3, 4)] {
        befriend(ctx, one, other).await;
    }
    assert!(path(ctx, 1, 4, 3).await.is_some());
    // Two who have no connection: the one on the way has blocked the one who asks.
    connect(ctx, person(3), Block, person(1)).await;
    assert_eq!(path(ctx, 1, 4, 3).await, None);
    graph::disconnect(ctx, person(3), Block, person(1)).await.unwrap();
    connect(ctx, person(4), Block, person(2)).await;
    assert_eq!(path(ctx, 1, 4, 3).await, None, "nor from the other end");
    assert!(path(ctx, 1, 3, 3).await.is_some());
}
