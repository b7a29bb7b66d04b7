//! What the whole graph says of each.

use std::{
    ops::ControlFlow,
    sync::{Arc, Mutex},
};

use merkato::graph::{self, Betweenness, ConnectionType, Error, Metrics, Stage, figures, unwatched};
use widerow::Commit;
use widerow_testing::Target;

use super::{befriend, connect, person};
use crate::world::World;

widerow_testing::cases!(
    everybody_has_figures,
    an_analysis_is_watched_and_can_be_stopped,
    what_a_later_analysis_found_stays,
);

async fn everybody_has_figures(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    assert_eq!(graph::list_communities(ctx).await.unwrap(), (None, Vec::new()));
    // Two triangles with a bridge, and a pair beside them.
    for (one, other) in [(1, 2), (2, 3), (1, 3), (3, 4), (4, 5), (5, 6), (4, 6), (7, 8)] {
        befriend(ctx, one, other).await;
    }
    connect(ctx, person(1), ConnectionType::Follow, person(2)).await;
    connect(ctx, person(9), ConnectionType::Block, person(1)).await;
    let summary = graph::analyze(ctx, Betweenness::Exact, unwatched()).await.unwrap();
    assert_eq!((summary.people, summary.edges, summary.components, summary.sampled), (8, 8, 2, None));
    assert_eq!(summary.communities, 3);
    let bridge = graph::find_metrics(ctx, person(3)).await.unwrap().unwrap();
    assert_eq!((bridge.degree, bridge.component, bridge.computed_at), (3, 0, summary.computed_at));
    // Of three neighbours one pair knows each other; six of the 21 pairs of others go over it.
    assert!((bridge.clustering - 1.0 / 3.0).abs() < 1e-9, "{bridge:?}");
    assert!((bridge.betweenness - 6.0 / 21.0).abs() < 1e-9, "{bridge:?}");
    let apart = graph::find_metrics(ctx, person(7)).await.unwrap().unwrap();
    assert_eq!((apart.degree, apart.component, apart.betweenness), (1, 1, 0.0));
    let same = |a: u32, b: u32| async move {
        let of = |n| async move { graph::find_metrics(ctx, person(n)).await.unwrap().unwrap().community };
        of(a).await == of(b).await
    };
    assert!(same(1, 3).await && same(4, 6).await && !same(3, 4).await);
    assert_eq!(graph::find_metrics(ctx, person(9)).await.unwrap(), None, "who is blocked from all is not in it");
    let (told, communities) = graph::list_communities(ctx).await.unwrap();
    assert_eq!(told, Some(summary));
    assert_eq!(communities.iter().map(|community| community.people).collect::<Vec<_>>(), [3, 3, 2]);
    assert!(communities.iter().all(|community| community.leaders.len() == community.people as usize));
    // Another graph: what was found of those who left it goes.
    for (one, other) in [(7, 8), (4, 5), (5, 6), (4, 6)] {
        graph::disconnect(ctx, person(one), ConnectionType::Friend, person(other)).await.unwrap();
    }
    world.clock.advance_millis(1);
    let summary = graph::analyze(ctx, Betweenness::Sampled(2), unwatched()).await.unwrap();
    assert_eq!((summary.people, summary.edges, summary.sampled), (4, 4, Some(2)));
    assert_eq!(graph::find_metrics(ctx, person(7)).await.unwrap(), None);
    let (_, communities) = graph::list_communities(ctx).await.unwrap();
    assert_eq!(communities.iter().map(|community| community.people).sum::<u32>(), 4);
    let refused = graph::analyze(ctx, Betweenness::Sampled(1), unwatched()).await.unwrap_err();
    assert!(matches!(refused, Error::Figures(figures::Error::OutOfRange { field: "sources", .. })), "{refused:?}");
}

async fn an_analysis_is_watched_and_can_be_stopped(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    befriend(ctx, 1, 2).await;
    befriend(ctx, 2, 3).await;
    befriend(ctx, 3, 4).await;
    let seen: Arc<Mutex<Vec<Stage>>> = Arc::default();
    let notes = seen.clone();
    let watch = Arc::new(move |step: graph::Analysis| {
        notes.lock().unwrap().push(step.stage);
        ControlFlow::Continue(())
    });
    graph::analyze(ctx, Betweenness::Exact, watch).await.unwrap();
    let seen = seen.lock().unwrap().clone();
    let expected = [Stage::Reading, Stage::Reckoning(figures::Figure::PageRank), Stage::Storing];
    assert!(expected.iter().all(|stage| seen.contains(stage)), "{seen:?}");
    let at = |stop: Stage| {
        Arc::new(
            move |step: graph::Analysis| {
                if step.stage == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        )
    };
    for stage in expected {
        let stopped = graph::analyze(ctx, Betweenness::Exact, at(stage)).await.unwrap_err();
        assert!(matches!(stopped, Error::Stopped), "{stopped:?}");
    }
}

/// Of two that are made at once, the later one knows people who came since.
async fn what_a_later_analysis_found_stays(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    befriend(ctx, 1, 2).await;
    let now = graph::analyze(ctx, Betweenness::Exact, unwatched()).await.unwrap().computed_at;
    let known = graph::find_metrics(ctx, person(1)).await.unwrap().unwrap();
    let found = |n: u32, seconds: i64| Metrics { user_id: person(n), computed_at: now.plus_seconds(seconds), ..known };
    let rows = [found(7, -1), found(8, 1)];
    ctx.store.commit(rows.iter().fold(Commit::new(), |commit, row| commit.put(row))).await.unwrap();
    graph::analyze(ctx, Betweenness::Exact, unwatched()).await.unwrap();
    assert_eq!(graph::find_metrics(ctx, person(7)).await.unwrap(), None);
    assert_eq!(graph::find_metrics(ctx, person(8)).await.unwrap(), Some(found(8, 1)));
}
