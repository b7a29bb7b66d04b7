//! What cannot be reckoned, and what is ended.

use std::{
    ops::ControlFlow,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use super::undirected;
use crate::graph::figures::{
    Builder, Error, Figure, PageRankSettings, Settings, Shape, Sources, betweenness, figures, limits, modularity,
    pagerank, unwatched,
};

#[test]
fn a_network_takes_as_many_nodes_and_edges_as_it_is_told() {
    let mut builder = Builder::new(Shape::Undirected).at_most(3, 2);
    builder.edge(1, 2).expect("room");
    builder.edge(2, 3).expect("room");
    builder.edge(2, 1).expect("no new edge");
    assert_eq!(builder.edge(3, 4), Err(Error::TooMany { field: "nodes", limit: 3 }));
    // Told from the other end, and again: still two.
    (0..100).for_each(|_| builder.edge(3, 2).expect("no new edge"));
    assert_eq!(builder.clone().build().expect("a network").edges(), 2);
    builder.edge(3, 1).expect("counted later");
    assert_eq!(builder.build(), Err(Error::TooMany { field: "edges", limit: 2 }));
}

#[test]
fn weights_that_are_none_and_nodes_that_know_themselves_are_refused() {
    let mut builder = Builder::new(Shape::Directed);
    for weight in [-0.1, f64::NAN, f64::INFINITY, 2.0 * limits::WEIGHT_MAX] {
        assert!(matches!(builder.weighted(1, 2, weight), Err(Error::Weight { .. })), "{weight}");
    }
    assert_eq!(builder.edge(1, 1), Err(Error::Loop));
    assert!(builder.build().expect("a network").is_empty());
}

#[test]
fn settings_out_of_range_are_named() {
    let network = undirected(&[(1, 2), (2, 3)]);
    let settings = PageRankSettings { damping: 1.0, ..PageRankSettings::default() };
    let refused = pagerank(&network, &settings, &unwatched).expect_err("nothing would begin anew");
    assert_eq!(refused.to_string(), "damping: 1 is not within 0 to 0.99");
    let sources = Sources::Sample { count: 1, seed: 1 };
    assert!(matches!(betweenness(&network, sources, &unwatched), Err(Error::OutOfRange { field: "sources", .. })));
    assert_eq!(modularity(&network, &[0, 1]), Err(Error::NotAPartition { found: 2, nodes: 3 }));
    assert_eq!(modularity(&network, &[0, 1, 3]), Err(Error::NotAPartition { found: 3, nodes: 3 }));
}

#[test]
fn each_figure_tells_how_far_it_is_and_can_be_ended() {
    let network = undirected(&[(1, 2), (2, 3), (3, 1), (3, 4)]);
    let told = Mutex::new(Vec::new());
    let watch = |step| {
        told.lock().expect("told").push(step);
        ControlFlow::Continue(())
    };
    figures(&network, &Settings::default(), &watch).expect("figures");
    let told = told.into_inner().expect("told");
    let all = [Figure::PageRank, Figure::Clustering, Figure::Communities, Figure::Betweenness];
    for figure in all {
        let last = told.iter().filter(|step| step.figure == figure).max_by_key(|step| step.done).expect("told");
        assert!(last.of.is_none_or(|of| of == last.done), "{figure:?} ends at {last:?}");
        let steps = AtomicU64::new(0);
        let watch = |step: crate::graph::figures::Step| {
            if step.figure == figure {
                steps.fetch_add(1, Ordering::Relaxed);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        };
        assert_eq!(figures(&network, &Settings::default(), &watch), Err(Error::Stopped));
        // Betweenness: a step of each core may be on its way.
        assert!(figure == Figure::Betweenness || steps.into_inner() == 1);
    }
}
