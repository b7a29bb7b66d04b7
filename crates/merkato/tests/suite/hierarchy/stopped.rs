//! Moves, renamings and deletions of subtrees, stopped after every step and taken up by whoever comes next.

use std::sync::Arc;

use merkato::{
    Context, PageRequest, Settings,
    context::SystemChance,
    hierarchy::{self, Error, Phase, Relationship},
    id::{NodeId, TreeId},
};
use widerow::{
    Database, Engine, Options,
    faulty::{Faults, Faulty},
    time::Clock,
};
use widerow_testing::Target;

use super::{add, add_many, sound};
use crate::world::{World, schema, seed, stride};

widerow_testing::cases!(
    a_move_stopped_anywhere_is_seen_whole_and_ended,
    a_renaming_stopped_anywhere_is_seen_whole_and_ended,
    a_deletion_stopped_anywhere_is_seen_whole_and_ended,
    a_move_that_cannot_be_is_given_up_wherever_it_is_stopped,
);

/// The same shop in a process that stops after so many steps; on the embedded engine, every second time, one whose commits are
/// seen row by row.
pub fn dying(
    target: &Target,
    world: &World,
    steps: u64,
    always_outbox: bool,
) -> (Context, Arc<Faulty<Arc<dyn Engine>>>) {
    let faults = Faults { stop_after_steps: Some(steps), ..Faults::default() };
    let faulty = Arc::new(Faulty::new(target.engine(), faults));
    let clock = world.clock.clone() as Arc<dyn Clock>;
    let database =
        Database::with_options(faulty.clone(), schema(), Options { clock, always_outbox, ..Options::default() });
    let store = database.tenant(world.ctx.store.tenant().as_str()).unwrap();
    let settings = Settings::clone(&world.ctx.settings);
    (Context::new(store, settings, world.clock.clone(), Arc::new(SystemChance)), faulty)
}

struct Case {
    tree: TreeId,
    left: NodeId,
    right: NodeId,
    top: NodeId,
    below: Vec<NodeId>,
    size: usize,
}

async fn case(ctx: &Context, name: &str, size: usize) -> Case {
    let tree = hierarchy::create_tree(ctx, name).await.unwrap().org_id;
    let (left, right) = (add(ctx, tree, "left", None).await, add(ctx, tree, "right", None).await);
    let top = add(ctx, tree, "top", left).await;
    let below = add_many(ctx, tree, top, size).await;
    Case { tree, left, right, top, below, size: size + 1 }
}

async fn rows(ctx: &Context, case: &Case, node: NodeId) -> Vec<Relationship> {
    let page = hierarchy::list_subtree(ctx, case.tree, Some(node), None, PageRequest::first(100)).await.unwrap();
    page.rows
}

/// Where the subtree is seen, all of it: at the left, at the right, or nowhere.
async fn place(ctx: &Context, case: &Case) -> Option<NodeId> {
    let mut seen = Vec::new();
    for place in [case.left, case.right] {
        let found = rows(ctx, case, place).await.len();
        assert!(found == 0 || found == case.size, "{found} of {}", case.size);
        seen.extend((found > 0).then_some(place));
    }
    assert!(seen.len() <= 1, "in two places");
    let leaf = *case.below.last().unwrap();
    let nodes = hierarchy::find_nodes(ctx, case.tree, &[case.top, leaf, case.left, case.right]).await.unwrap();
    let inside = nodes[1].as_ref().map(|node| node.ancestors[1]);
    assert_eq!(
        (nodes[0].as_ref().and_then(|node| node.parent_id), inside),
        (seen.first().copied(), seen.first().copied())
    );
    for (node, place) in nodes[2..].iter().zip([case.left, case.right]) {
        let count = node.as_ref().unwrap().children_count;
        assert_eq!(count, i64::from(seen.contains(&place)), "the number of children is that of the place");
    }
    if let Some(node) = &nodes[1] {
        let found = hierarchy::find_by_path(ctx, case.tree, &node.node_path).await.unwrap();
        assert_eq!(found.map(|entry| entry.node_id), Some(leaf));
    }
    seen.pop()
}

/// Every step on the embedded engine; elsewhere, where each takes its time, a part of them.
fn steps(target: &Target) -> impl Iterator<Item = u64> {
    (0..).step_by(if target.name == "embedded" { 1 } else { 9 })
}

/// So many that the embedded engine needs several commits for each phase; elsewhere few do.
fn size(target: &Target) -> usize {
    if target.name == "embedded" { 99 } else { 3 }
}

/// Whoever comes by.
async fn heal(ctx: &Context, case: &Case, healer: u64) {
    match healer % 3 {
        0 => drop(hierarchy::finish_relocations(ctx).await.unwrap()),
        1 => drop(add(ctx, case.tree, "newcomer", None).await),
        _ => drop(hierarchy::rename_node(ctx, case.tree, case.right, "renamed", None).await.unwrap()),
    }
    assert_eq!(hierarchy::pending_relocation(ctx, case.tree).await.unwrap(), None);
}

async fn a_move_stopped_anywhere_is_seen_whole_and_ended(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (mut old, mut new, mut half_way) = (0, 0, Vec::new());
    for steps in steps(target) {
        let case = case(ctx, &format!("tree {steps}"), size(target)).await;
        let (doomed, faulty) = dying(target, &world, steps, target.name == "embedded" && steps % 2 == 1);
        let stopped = hierarchy::move_node(&doomed, case.tree, case.top, Some(case.right), None).await;
        let seen = place(ctx, &case).await.expect("somewhere");
        assert_eq!(place(ctx, &case).await, Some(seen), "it is decided by nobody who reads");
        let pending = hierarchy::pending_relocation(ctx, case.tree).await.unwrap();
        if let Some(pending) = &pending {
            half_way.push(pending.phase);
            assert_eq!(seen == case.right, pending.phase == Phase::Settling);
        }
        heal(ctx, &case, steps).await;
        let ended = place(ctx, &case).await.expect("somewhere");
        assert!(ended == case.right || (pending.is_none() && seen == case.left), "what has begun is ended");
        let again = hierarchy::move_node(ctx, case.tree, case.top, Some(case.right), None).await.unwrap();
        assert_eq!((again.parent_id, again.revision), (Some(case.right), 2), "once");
        (old, new) = (old + u32::from(seen == case.left), new + u32::from(seen == case.right));
        if steps % 4 == 0 || !faulty.has_stopped() {
            sound(&world, case.tree).await;
        }
        if !faulty.has_stopped() {
            stopped.unwrap();
            break;
        }
    }
    assert!(old > 0 && new > 0, "{old} were seen in the old place, {new} in the new");
    if target.name == "embedded" {
        for phase in [Phase::Preparing, Phase::Prepared, Phase::Settling] {
            assert!(half_way.contains(&phase), "none was stopped while {phase:?}");
        }
    }
}

async fn a_renaming_stopped_anywhere_is_seen_whole_and_ended(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for steps in steps(target) {
        let case = case(ctx, &format!("tree {steps}"), size(target)).await;
        let (doomed, faulty) = dying(target, &world, steps, target.name == "embedded" && steps % 2 == 0);
        let stopped = hierarchy::rename_node(&doomed, case.tree, case.top, "Top", None).await;
        let paths = |name: &str| [case.top, case.below[0], case.below[1]].map(|_| format!("root/left/{name}"));
        let nodes = hierarchy::find_nodes(ctx, case.tree, &[case.top, case.below[0], case.below[1]]).await.unwrap();
        let seen: Vec<_> = nodes.iter().map(|node| node.as_ref().unwrap().node_path[..13].to_owned()).collect();
        assert!(seen == paths("top") || seen == paths("Top"), "{seen:?}");
        let named = rows(ctx, &case, case.left).await[0].node_name.clone();
        assert_eq!(seen[0], format!("root/left/{named}"));
        let (here, there) = if named == "top" { ("top", "Top") } else { ("Top", "top") };
        let at = |name: &str| format!("root/left/{name}/node 00001");
        let found = hierarchy::find_by_path(ctx, case.tree, &at(here)).await.unwrap();
        assert_eq!(found.map(|entry| entry.node_id), Some(case.below[1]));
        assert_eq!(hierarchy::find_by_path(ctx, case.tree, &at(there)).await.unwrap(), None);
        heal(ctx, &case, steps).await;
        hierarchy::rename_node(ctx, case.tree, case.top, "Top", None).await.unwrap();
        assert_eq!(hierarchy::get_node(ctx, case.tree, case.top).await.unwrap().revision, 2, "once");
        if steps % 4 == 0 || !faulty.has_stopped() {
            sound(&world, case.tree).await;
        }
        if !faulty.has_stopped() {
            stopped.unwrap();
            break;
        }
    }
}

async fn a_deletion_stopped_anywhere_is_seen_whole_and_ended(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let mut gone = 0;
    for steps in steps(target) {
        let case = case(ctx, &format!("tree {steps}"), size(target)).await;
        let (doomed, faulty) = dying(target, &world, steps, target.name == "embedded" && steps % 2 == 1);
        let stopped = hierarchy::delete_subtree(&doomed, case.tree, case.top, None).await;
        let seen = place(ctx, &case).await;
        gone += u32::from(seen.is_none());
        let inner = hierarchy::list_children(ctx, case.tree, Some(case.top), PageRequest::first(100)).await;
        match &inner {
            Ok(page) => assert!(seen.is_some() && page.rows.len() == case.size - 1),
            Err(error) => assert!(seen.is_none() && matches!(error, Error::NodeNotFound { .. }), "{error:?}"),
        }
        heal(ctx, &case, steps).await;
        match hierarchy::delete_subtree(ctx, case.tree, case.top, None).await {
            Ok(()) => assert!(seen.is_some()),
            Err(error) => assert!(matches!(error, Error::NodeNotFound { .. }), "{error:?}"),
        }
        assert_eq!(place(ctx, &case).await, None);
        if steps % 4 == 0 || !faulty.has_stopped() {
            // Its name is free.
            add(ctx, case.tree, "top", case.left).await;
            sound(&world, case.tree).await;
        }
        if !faulty.has_stopped() {
            stopped.unwrap();
            break;
        }
    }
    assert!(gone > 0);
}

/// One of its nodes would have a path that is too long: that is found out on the way.
async fn a_move_that_cannot_be_is_given_up_wherever_it_is_stopped(target: &Target) {
    if target.name != "embedded" {
        // It takes hundreds of long names, and nothing in it is the engine's own.
        return;
    }
    let world = World::new(target);
    let ctx = &world.ctx;
    let long = |name: &str| format!("{name}{}", "n".repeat(merkato::limits::NODE_NAME_BYTES_MAX - name.len()));
    let tree = hierarchy::create_tree(ctx, "long").await.unwrap().org_id;
    let levels = merkato::limits::NODE_PATH_BYTES_MAX / (merkato::limits::NODE_NAME_BYTES_MAX + 1) - 1;
    let mut deep = hierarchy::root_of(tree);
    for n in 0..levels {
        deep = add(ctx, tree, &long(&n.to_string()), deep).await;
    }
    // As many as are moved in pieces. A piece takes six of them, each with hundreds above it.
    let top = add(ctx, tree, "the top of it", None).await;
    add_many(ctx, tree, top, 95).await;
    let too_long = add(ctx, tree, &long("node 00009"), top).await;
    let mut phases = Vec::new();
    for steps in (seed() % stride() as u64..).step_by(stride()) {
        let (doomed, faulty) = dying(target, &world, steps, false);
        let stopped = hierarchy::move_node(&doomed, tree, top, Some(deep), None).await;
        assert!(stopped.is_err());
        let pending = hierarchy::pending_relocation(ctx, tree).await.unwrap();
        phases.extend(pending.as_ref().map(|pending| pending.phase));
        assert_eq!(rows_of(ctx, tree, top).await, 96);
        assert_eq!(hierarchy::get_node(ctx, tree, too_long).await.unwrap().ancestors[1], top);
        assert_eq!(hierarchy::finish_relocations(ctx).await.unwrap() > 0, pending.is_some());
        assert_eq!(hierarchy::get_node(ctx, tree, top).await.unwrap().revision, 1);
        if !faulty.has_stopped() {
            let limit = merkato::limits::NODE_PATH_BYTES_MAX;
            assert!(matches!(stopped, Err(Error::PathTooLong { limit: told }) if told == limit), "{stopped:?}");
            break;
        }
    }
    assert!(phases.contains(&Phase::Preparing) && phases.contains(&Phase::Abandoning), "{phases:?}");
    // The name that was kept for it is free.
    add(ctx, tree, "the top of it", deep).await;
    sound(&world, tree).await;
}

async fn rows_of(ctx: &Context, tree: TreeId, node: NodeId) -> usize {
    hierarchy::list_children(ctx, tree, Some(node), PageRequest::first(100)).await.unwrap().rows.len()
}
