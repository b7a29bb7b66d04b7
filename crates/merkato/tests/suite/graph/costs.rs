//! What every access pattern of the graph costs: as its declaration says, whatever else there is.

use merkato::{
    PageRequest,
    graph::{self, Betweenness, ConnectionType, Edge, NewConnection, PATTERNS, unwatched},
};
use widerow::meter::{Cost, measure};
use widerow_testing::Target;

use super::{befriend, person};
use crate::world::World;

widerow_testing::cases!(
    every_pattern_costs_what_it_says_whatever_the_size_of_the_graph,
    a_connection_costs_four_conditional_writes,
);

async fn every_pattern_costs_what_it_says_whatever_the_size_of_the_graph(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (star, end) = (person(0), person(9_999));
    let sizes = if target.name == "embedded" { [40, 1_000] } else { [15, 60] };
    let mut made = 0;
    for size in sizes {
        let edges = (made + 1..=size).flat_map(|n| {
            let friend = |user, other| Edge {
                user,
                connection_type: ConnectionType::Friend,
                other,
                new: NewConnection::default(),
            };
            [friend(star, person(n)), friend(person(n), person(n + 5_000))]
        });
        for answer in graph::connect_many(ctx, edges.collect()).await.unwrap() {
            answer.unwrap();
        }
        made = size;
        befriend(ctx, 1, 2).await;
        befriend(ctx, 5_001, 9_999).await;
        graph::suggest(ctx, star).await.unwrap();
        graph::analyze(ctx, Betweenness::Sampled(2), unwatched()).await.unwrap();
        let found = graph::find_path(ctx, star, end, 6).await.unwrap().unwrap();
        assert_eq!(found.types.len(), 3);
        let page = || PageRequest::first(10);
        let friend = Some(ConnectionType::Friend);
        let mut measured: Vec<(&str, usize, Cost)> = Vec::new();
        let (found, cost) = measure(graph::list_connections(ctx, star, friend, page())).await;
        measured.push(("G1", found.unwrap().rows.len(), cost));
        let (found, cost) = measure(graph::list_followers(ctx, star, friend, page())).await;
        measured.push(("G2", found.unwrap().rows.len(), cost));
        let (found, cost) = measure(graph::find_connection(ctx, star, ConnectionType::Friend, person(1))).await;
        measured.push(("G3", usize::from(found.unwrap().is_some()), cost));
        let (found, cost) = measure(graph::find_path(ctx, star, end, 6)).await;
        measured.push(("G4", usize::from(found.unwrap().is_some()), cost));
        let (found, cost) = measure(graph::get_degree(ctx, star)).await;
        measured.push(("G5", usize::from(found.unwrap().friends == i64::from(size)), cost));
        let (found, cost) = measure(graph::list_suggestions(ctx, star)).await;
        measured.push(("G6", found.unwrap().len(), cost));
        let (found, cost) = measure(graph::find_metrics(ctx, star)).await;
        measured.push(("G7", usize::from(found.unwrap().is_some()), cost));
        let (found, cost) = measure(graph::list_communities(ctx)).await;
        measured.push(("G8", found.unwrap().1.len(), cost));
        // Of the one who has three.
        let (found, cost) = measure(graph::list_mutual(ctx, star, person(1), ConnectionType::Friend, page())).await;
        measured.push(("G9", 2 + found.unwrap().rows.len(), cost));
        assert_eq!(measured.len(), PATTERNS.len());
        for ((name, rows, cost), pattern) in measured.iter().zip(PATTERNS) {
            assert_eq!(*name, pattern.name, "every pattern is measured");
            assert!(*rows >= 1 && pattern.cost.admits(cost, *rows as u64), "{name}, {rows} rows: {cost}");
            assert_eq!((cost.rows_written, cost.conditional_writes), (0, 0), "{name}");
        }
    }
}

async fn a_connection_costs_four_conditional_writes(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let friend = ConnectionType::Friend;
    let (made, cost) = measure(graph::connect(ctx, person(1), friend, person(2), NewConnection::default())).await;
    made.unwrap();
    // The pair, each of the two, and the pair again when both have counted.
    assert_eq!(cost.conditional_writes, 4, "{cost}");
    let (made, cost) = measure(graph::interact(ctx, person(1), friend, person(2))).await;
    made.unwrap();
    assert_eq!(cost.conditional_writes, 1, "{cost}");
}
