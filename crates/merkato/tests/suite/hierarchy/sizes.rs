//! Trees that are as deep and as wide as trees may be. On the embedded engine, as nothing in it is an engine's own.

use merkato::{
    PageRequest,
    hierarchy::{self, Error, NewNode},
    id::NodeId,
    limits,
};
use widerow::meter::measure;
use widerow_testing::Target;

use super::{add, add_many, named, new_tree};
use crate::world::World;

widerow_testing::cases!(a_tree_may_be_a_thousand_levels_deep, a_node_may_have_very_many_below_it);

/// Levels in the test, and nodes side by side, unless `MERKATO_TREE_NODES` says how many.
fn wide() -> usize {
    let given = std::env::var("MERKATO_TREE_NODES").ok().and_then(|text| text.parse().ok());
    given.unwrap_or(3_000)
}

async fn a_tree_may_be_a_thousand_levels_deep(target: &Target) {
    if target.name != "embedded" {
        return;
    }
    let world = World::alone(target);
    let ctx = &world.ctx;
    let tree = new_tree(ctx).await;
    let ids: Vec<NodeId> = (0..limits::NODE_DEPTH_MAX).map(|_| NodeId(ctx.new_id())).collect();
    let node = |n: usize| NewNode {
        node_id: Some(ids[n]),
        parent_id: n.checked_sub(1).map(|above| ids[above]),
        name: format!("{n}"),
        ..NewNode::default()
    };
    for answer in hierarchy::insert_nodes(ctx, tree, (0..ids.len()).map(node).collect()).await.unwrap() {
        answer.unwrap();
    }
    let deepest = hierarchy::get_node(ctx, tree, *ids.last().unwrap()).await.unwrap();
    assert_eq!((deepest.node_level, deepest.ancestors.len()), (1_000, 1_000));
    let too_deep = hierarchy::insert_node(ctx, tree, named("x", Some(deepest.node_id))).await;
    assert!(matches!(too_deep, Err(Error::TooDeep { limit: limits::NODE_DEPTH_MAX })), "{too_deep:?}");
    assert_eq!(hierarchy::ancestors(ctx, tree, deepest.node_id).await.unwrap().len(), 999);
    let found = hierarchy::find_by_path(ctx, tree, &deepest.node_path).await.unwrap().unwrap();
    assert_eq!(found.node_id, deepest.node_id);
    let level = hierarchy::list_level(ctx, tree, None, 1_000, PageRequest::first(5)).await.unwrap();
    assert_eq!(level.rows.len(), 1);
    // The deepest node is renamed, which changes the keys of all its thousand rows, and moved; neither fits one commit.
    let renamed = hierarchy::rename_node(ctx, tree, deepest.node_id, "last", None).await.unwrap();
    assert_eq!(renamed.node_name, "last");
    let other = hierarchy::insert_node(ctx, tree, named("other", Some(ids[997]))).await.unwrap();
    let moved = hierarchy::move_node(ctx, tree, deepest.node_id, Some(other.node_id), None).await.unwrap();
    assert_eq!(moved.node_level, 1_000);
    assert_eq!(hierarchy::count_descendants(ctx, tree, None).await.unwrap().descendants, 1_001);
    // A subtree that would be too deep elsewhere stays.
    let refused = hierarchy::move_node(ctx, tree, other.node_id, Some(ids[998]), None).await;
    assert!(matches!(refused, Err(Error::TooDeep { .. })), "{refused:?}");
    assert_eq!(hierarchy::pending_relocation(ctx, tree).await.unwrap(), None);
    let report = hierarchy::verify_tree(ctx, tree).await.unwrap();
    assert_eq!((report.nodes, report.wrong), (1_002, vec![]));
}

async fn a_node_may_have_very_many_below_it(target: &Target) {
    if target.name != "embedded" {
        return;
    }
    let world = World::alone(target);
    let ctx = &world.ctx;
    let tree = new_tree(ctx).await;
    let (top, other) = (add(ctx, tree, "top", None).await, add(ctx, tree, "other", None).await);
    let count = wide();
    add_many(ctx, tree, top, count).await;
    let (mut seen, mut cursor, mut last) = (0, None, String::new());
    loop {
        let asked = PageRequest { limit: 100, cursor };
        let (page, cost) = measure(hierarchy::list_children(ctx, tree, Some(top), asked)).await;
        assert_eq!((cost.partitions_read, cost.round_trips), (1, 1), "{cost}");
        let page = page.unwrap();
        for row in &page.rows {
            assert!(row.node_name > last);
            last.clone_from(&row.node_name);
        }
        seen += page.rows.len();
        match page.next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, count);
    let (moved, cost) = measure(hierarchy::move_node(ctx, tree, top, Some(other), None)).await;
    assert_eq!(moved.unwrap().children_count, count as i64);
    // In proportion to the subtree. Each node is written twice, and twice its path in the old place and in the new, and its
    // rows with the nodes above that are not the same in both: one before, two after.
    let per_node = cost.rows_written as f64 / count as f64;
    println!("a moved subtree of {count} nodes: {per_node:.2} rows written a node");
    assert!(per_node < 12.5, "{cost}");
    assert_eq!(hierarchy::count_descendants(ctx, tree, Some(other)).await.unwrap().by_depth, [1, count as u64]);
    let report = hierarchy::verify_tree(ctx, tree).await.unwrap();
    assert_eq!((report.nodes as usize, report.wrong), (count + 3, vec![]));
}
