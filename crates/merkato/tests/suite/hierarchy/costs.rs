//! What every access pattern of trees costs: as its declaration says, whatever else there is.

use merkato::{
    PageRequest,
    hierarchy::{self, PATTERNS},
};
use widerow::meter::{Cost, measure};
use widerow_testing::Target;

use super::{add, add_many, new_tree};
use crate::world::World;

widerow_testing::cases!(
    every_pattern_costs_what_it_says_whatever_the_size_of_the_tree,
    a_page_of_any_subtree_is_one_read_of_one_partition,
    a_node_costs_its_rows_and_one_conditional_write,
);

async fn every_pattern_costs_what_it_says_whatever_the_size_of_the_tree(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let tree = new_tree(ctx).await;
    let top = add(ctx, tree, "top", None).await;
    let inner = add(ctx, tree, "inner", top).await;
    for count in [15, 300] {
        let more = add(ctx, tree, &format!("more {count}"), inner).await;
        add_many(ctx, tree, more, count).await;
        let page = || PageRequest::first(10);
        let mut measured: Vec<(&str, usize, Cost)> = Vec::new();
        let (found, cost) = measure(hierarchy::find_node(ctx, tree, more)).await;
        measured.push(("H1", usize::from(found.unwrap().is_some()), cost));
        let (found, cost) = measure(hierarchy::list_children(ctx, tree, Some(more), page())).await;
        measured.push(("H2", found.unwrap().rows.len(), cost));
        let (found, cost) = measure(hierarchy::list_subtree(ctx, tree, Some(inner), Some(2), page())).await;
        measured.push(("H3", found.unwrap().rows.len(), cost));
        let (found, cost) = measure(hierarchy::list_level(ctx, tree, None, 4, page())).await;
        measured.push(("H4", found.unwrap().rows.len(), cost));
        let (found, cost) = measure(hierarchy::ancestors(ctx, tree, more)).await;
        assert_eq!(found.unwrap().len(), 2);
        measured.push(("H5", 1, cost));
        let path = format!("root/top/inner/more {count}");
        let (found, cost) = measure(hierarchy::find_by_path(ctx, tree, &path)).await;
        assert_eq!(found.unwrap().unwrap().node_id, more);
        measured.push(("H6", 1, cost));
        let (found, cost) = measure(hierarchy::count_descendants(ctx, tree, Some(more))).await;
        assert_eq!(found.unwrap().descendants, count as u64);
        assert!(cost.partitions_read <= 8, "{cost}");
        measured.push(("H7", count, cost));
        let (found, cost) = measure(hierarchy::list_trees(ctx, page())).await;
        measured.push(("H8", found.unwrap().rows.len(), cost));
        assert_eq!(measured.len(), PATTERNS.len());
        for ((name, rows, cost), pattern) in measured.iter().zip(PATTERNS) {
            assert_eq!(*name, pattern.name, "every pattern is measured");
            assert!(*rows >= 1 && pattern.cost.admits(cost, *rows as u64), "{name}, {rows} rows: {cost}");
            assert_eq!((cost.rows_written, cost.conditional_writes), (0, 0), "{name}");
        }
    }
}

async fn a_page_of_any_subtree_is_one_read_of_one_partition(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let tree = new_tree(ctx).await;
    let mut above = add(ctx, tree, "level 1", None).await;
    let mut nodes = vec![above];
    for level in 2..=5 {
        add_many(ctx, tree, above, 40).await;
        above = add(ctx, tree, &format!("level {level}"), above).await;
        nodes.push(above);
    }
    add(ctx, tree, "leaf", above).await;
    for node in nodes.into_iter().map(Some).chain([None]) {
        let mut cursor = None;
        loop {
            let asked = PageRequest { limit: 25, cursor };
            let (page, cost) = measure(hierarchy::list_subtree(ctx, tree, node, None, asked)).await;
            assert_eq!((cost.partitions_read, cost.round_trips), (1, 1), "{cost}");
            cursor = page.unwrap().next;
            if cursor.is_none() {
                break;
            }
        }
    }
}

async fn a_node_costs_its_rows_and_one_conditional_write(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let tree = new_tree(ctx).await;
    let top = add(ctx, tree, "top", None).await;
    let inner = add(ctx, tree, "inner", top).await;
    let (_, cost) = measure(add(ctx, tree, "new", inner)).await;
    assert_eq!(cost.conditional_writes, 1, "{cost}");
    if target.name == "embedded" {
        // Itself, its name, its parent, its path, and a row with each of the three above it.
        assert_eq!(cost.rows_written, 7, "{cost}");
    }
    // The same node below many others.
    add_many(ctx, tree, inner, 100).await;
    let (_, more) = measure(add(ctx, tree, "newer", inner)).await;
    assert_eq!((more.rows_written, more.conditional_writes), (cost.rows_written, 1), "{more}");
}
