//! Whom somebody may know, and why.

use std::collections::BTreeSet;

use merkato::graph::{self, Betweenness, ConnectionType, unwatched};
use widerow_testing::Target;

use super::{befriend, connect, person};
use crate::world::World;

widerow_testing::cases!(
    friends_of_friends_are_suggested_with_the_reason,
    suggestions_are_replaced_and_end,
    who_is_blocked_or_connected_since_is_not_shown,
    who_is_forgotten_since_is_not_shown,
);

fn likes(interests: &[&str]) -> BTreeSet<String> {
    interests.iter().map(|interest| (*interest).to_owned()).collect()
}

async fn friends_of_friends_are_suggested_with_the_reason(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    // 5 is known to 2, 3 and 4; 6 to 2 alone; 7 to 3, who also has 8, 9 as friends.
    for (one, other) in [(1, 2), (1, 3), (1, 4), (2, 5), (3, 5), (4, 5), (2, 6), (3, 7), (3, 8)] {
        befriend(ctx, one, other).await;
    }
    graph::describe_person(ctx, person(1), &likes(&["Coffee", "tea", "jazz", "chess"])).await.unwrap();
    graph::describe_person(ctx, person(5), &likes(&["coffee"])).await.unwrap();
    graph::describe_person(ctx, person(7), &likes(&["coffee", "tea", "rain"])).await.unwrap();
    graph::describe_person(ctx, person(8), &likes(&["coffee", "tea", "jazz", "chess"])).await.unwrap();
    let made = graph::suggest(ctx, person(1)).await.unwrap();
    let told: Vec<(_, &str)> = made.iter().map(|row| (row.suggested_user_id, &*row.suggestion_reason)).collect();
    assert_eq!(
        told,
        [
            (person(5), "3 mutual friends, both like coffee"),
            (person(8), "1 mutual friend, both like chess, coffee, jazz and 1 more"),
            (person(7), "1 mutual friend, both like coffee and tea"),
            (person(6), "1 mutual friend"),
        ]
    );
    let score: f64 = made[0].suggestion_score.try_into().unwrap();
    // 2 has three friends, 3 has four, 4 has two.
    let expected = 1.0 / 3_f64.ln() + 1.0 / 4_f64.ln() + 1.0 / 2_f64.ln() + 0.1;
    assert!((score - expected).abs() < 1e-6, "{score}, {expected}");
    assert_eq!(made[0].common_interests, likes(&["coffee"]));
    assert_eq!(made[0].suggestion_metadata["algorithm"], "adamic_adar");
    assert!(!made[0].suggestion_metadata.contains_key("partial"));
    assert_eq!(graph::list_suggestions(ctx, person(1)).await.unwrap(), made);
}

async fn suggestions_are_replaced_and_end(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for (one, other) in [(1, 2), (2, 3), (2, 4)] {
        befriend(ctx, one, other).await;
    }
    assert_eq!(graph::suggest(ctx, person(1)).await.unwrap().len(), 2);
    // Another score is another key: the old row is not left.
    befriend(ctx, 2, 5).await;
    graph::disconnect(ctx, person(2), ConnectionType::Friend, person(3)).await.unwrap();
    let made = graph::suggest(ctx, person(1)).await.unwrap();
    let mut told: Vec<_> = made.iter().map(|row| row.suggested_user_id).collect();
    told.sort_unstable();
    let mut expected = [person(4), person(5)];
    expected.sort_unstable();
    assert_eq!(told, expected);
    world.clock.advance_millis(7 * 86_400_000 - 1);
    assert_eq!(graph::list_suggestions(ctx, person(1)).await.unwrap().len(), 2);
    world.clock.advance_millis(1);
    assert_eq!(graph::list_suggestions(ctx, person(1)).await.unwrap(), [], "they last for a week");
    assert_eq!(graph::suggest(ctx, person(99)).await.unwrap(), []);
}

async fn who_is_blocked_or_connected_since_is_not_shown(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for (one, other) in [(1, 2), (2, 3), (2, 4), (2, 5), (2, 6)] {
        befriend(ctx, one, other).await;
    }
    assert_eq!(graph::suggest(ctx, person(1)).await.unwrap().len(), 4);
    connect(ctx, person(3), ConnectionType::Block, person(1)).await;
    connect(ctx, person(1), ConnectionType::Block, person(4)).await;
    connect(ctx, person(1), ConnectionType::Follow, person(5)).await;
    connect(ctx, person(6), ConnectionType::Follow, person(1)).await;
    let shown = |rows: Vec<graph::Suggestion>| rows.iter().map(|row| row.suggested_user_id).collect::<Vec<_>>();
    assert_eq!(shown(graph::list_suggestions(ctx, person(1)).await.unwrap()), [person(6)]);
    assert_eq!(shown(graph::suggest(ctx, person(1)).await.unwrap()), [person(6)]);
    graph::disconnect(ctx, person(3), ConnectionType::Block, person(1)).await.unwrap();
    assert_eq!(graph::suggest(ctx, person(1)).await.unwrap().len(), 2);
}

async fn who_is_forgotten_since_is_not_shown(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for (one, other) in [(1, 2), (2, 3), (2, 4)] {
        befriend(ctx, one, other).await;
    }
    for n in [1, 3] {
        graph::describe_person(ctx, person(n), &likes(&["tea"])).await.unwrap();
    }
    assert_eq!(graph::suggest(ctx, person(1)).await.unwrap().len(), 2);
    graph::analyze(ctx, Betweenness::Exact, unwatched()).await.unwrap();
    let leaders = async || graph::list_communities(ctx).await.unwrap().1[0].leaders.clone();
    assert!(leaders().await.contains(&person(3)));
    graph::forget_person(ctx, person(3)).await.unwrap();
    let shown = |rows: Vec<graph::Suggestion>| rows.iter().map(|row| row.suggested_user_id).collect::<Vec<_>>();
    assert_eq!(shown(graph::list_suggestions(ctx, person(1)).await.unwrap()), [person(4)]);
    let (summary, communities) = graph::list_communities(ctx).await.unwrap();
    assert_eq!((communities[0].leaders.len(), summary.map(|told| told.people)), (3, Some(4)));
    assert!(!leaders().await.contains(&person(3)));
    // Also where somebody brings them back among the friends of a friend.
    befriend(ctx, 2, 3).await;
    assert_eq!(shown(graph::suggest(ctx, person(1)).await.unwrap()), [person(4)]);
    let stored = ctx.store.slice::<graph::Suggestion>(person(1)).limit(9).page().await.unwrap().rows;
    assert_eq!(shown(stored), [person(4)], "nothing of them is stored");
}
