//! Changes that meet, and readers between them.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use futures::future::join_all;
use merkato::{
    Context, Kind, PageRequest, Settings,
    context::SystemChance,
    hierarchy::{self, Error, Node, Phase},
    id::{NodeId, TreeId},
};
use widerow::{Database, Options, time::Clock};
use widerow_testing::Target;

use super::{add, add_many, children, named, new_tree, sound};
use crate::world::{World, patiently, schema};

widerow_testing::cases!(
    two_moves_that_would_make_a_circle_never_both_happen,
    of_many_who_want_a_name_one_has_it,
    readers_see_the_old_place_or_the_new,
    every_move_leaves_its_relocation_for_who_counts,
    many_who_change_one_tree_leave_it_whole,
);

/// The same shop in another process, on the embedded engine with commits that are seen row by row outside their guarded
/// partition, as they are on Cassandra.
pub fn row_by_row(target: &Target, world: &World) -> Context {
    let always_outbox = target.name == "embedded";
    let clock = world.clock.clone() as Arc<dyn Clock>;
    let database =
        Database::with_options(target.engine(), schema(), Options { clock, always_outbox, ..Options::default() });
    let store = database.tenant(world.ctx.store.tenant().as_str()).expect("a tenant");
    Context::new(store, Settings::clone(&world.ctx.settings), world.clock.clone(), Arc::new(SystemChance))
}

/// Whoever is told to come again does.
async fn moved(ctx: &Context, tree: TreeId, node: NodeId, to: NodeId) -> Result<(), Error> {
    patiently(|| hierarchy::move_node(ctx, tree, node, Some(to), None), Error::kind).await.map(drop)
}

async fn two_moves_that_would_make_a_circle_never_both_happen(target: &Target) {
    let world = World::new(target);
    let other = row_by_row(target, &world);
    let rounds = if target.name == "embedded" { 12 } else { 3 };
    for round in 0..rounds {
        let tree = hierarchy::create_tree(&world.ctx, &format!("tree {round}")).await.unwrap().org_id;
        let ctx = &world.ctx;
        let (a, b) = (add(ctx, tree, "a", None).await, add(ctx, tree, "b", None).await);
        let (under_a, under_b) = (add(ctx, tree, "under", a).await, add(ctx, tree, "under", b).await);
        if round % 3 == 2 && target.name == "embedded" {
            add_many(ctx, tree, under_a, 100).await;
        }
        let (first, second) = tokio::join!(
            moved(ctx, tree, a, under_b),
            moved(if round % 2 == 0 { ctx } else { &other }, tree, b, under_a)
        );
        let refused = match (first, second) {
            (Ok(()), Err(refused)) | (Err(refused), Ok(())) => refused,
            both => panic!("{both:?}"),
        };
        assert!(matches!(refused, Error::Cycle { .. }), "{refused:?}");
        sound(&world, tree).await;
    }
}

async fn of_many_who_want_a_name_one_has_it(target: &Target) {
    let world = World::new(target);
    let other = row_by_row(target, &world);
    let ctx = &world.ctx;
    let tree = new_tree(ctx).await;
    let parent = add(ctx, tree, "parent", None).await;
    let movable = add(ctx, tree, "wanted", None).await;
    let ask = |n: usize| {
        let ctx = if n.is_multiple_of(2) { ctx } else { &other };
        async move {
            let insert = || hierarchy::insert_node(ctx, tree, named("wanted", Some(parent)));
            if n == 0 {
                moved(ctx, tree, movable, parent).await
            } else {
                patiently(insert, Error::kind).await.map(drop)
            }
        }
    };
    let answers = join_all((0..6).map(ask)).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
    assert!(answers.iter().flatten().count() == 1);
    for refused in answers.into_iter().filter_map(Result::err) {
        assert_eq!(refused.kind(), Kind::Exists, "{refused:?}");
    }
    assert_eq!(children(ctx, tree, parent).await, ["wanted"]);
    sound(&world, tree).await;
}

/// What a reader may see of the subtree.
struct Readers {
    tree: TreeId,
    left: NodeId,
    right: NodeId,
    top: NodeId,
    leaf: NodeId,
    size: usize,
}

impl Readers {
    async fn look(&self, ctx: &Context) {
        let page = || PageRequest::first(100);
        // Below each of the two: all or nothing.
        for (place, depth) in [(self.left, 1), (self.right, 2)] {
            let rows = hierarchy::list_subtree(ctx, self.tree, Some(place), None, page()).await.expect("a page").rows;
            let depths: BTreeMap<NodeId, i32> =
                rows.iter().map(|row| (row.descendant_id, row.relationship_depth)).collect();
            assert_eq!(depths.len(), rows.len(), "each once");
            let own = rows.len() - usize::from(place == self.right);
            assert!(own == 0 || own == self.size, "{own} of {}", self.size);
            assert!(own == 0 || depths[&self.top] == depth);
            let others = rows.iter().filter(|row| row.relationship_depth > depth).count();
            assert!(own == 0 || others == self.size - 1, "{others}");
        }
        // From the root: everything once, in one of the two places.
        let rows = hierarchy::list_subtree(ctx, self.tree, None, None, page()).await.expect("a page").rows;
        assert_eq!(rows.len(), self.size + 3, "everything once");
        let depth_of = |id: NodeId| rows.iter().find(|row| row.descendant_id == id).expect("there").relationship_depth;
        let depth = depth_of(self.top);
        assert!(depth == 2 || depth == 3);
        let below = rows.iter().filter(|row| row.parent_id == self.top);
        assert!(below.clone().all(|row| row.relationship_depth == depth + 1));
        assert_eq!(below.count(), self.size - 2, "all but the top and the leaf");
        let parent = rows.iter().find(|row| row.descendant_id == self.top).expect("there").parent_id;
        assert!((depth == 2) == (parent == self.left));
        assert_eq!(depth_of(self.leaf), depth + 2);
        // By its id: path and ancestors are of one place.
        let leaf = hierarchy::get_node(ctx, self.tree, self.leaf).await.expect("there");
        let old = leaf.node_path.starts_with("root/left/top/");
        assert!(old || leaf.node_path.starts_with("root/right/inner/renamed/"), "{}", leaf.node_path);
        assert_eq!(leaf.ancestors.contains(&self.left), old);
        assert_eq!(leaf.node_level, if old { 4 } else { 5 });
        let nodes = hierarchy::find_nodes(ctx, self.tree, &[self.top, self.leaf]).await.expect("nodes");
        let paths: Vec<_> = nodes.iter().map(|node| node.as_ref().expect("there").node_path.as_str()).collect();
        assert!(paths[1].starts_with(paths[0]), "{paths:?}");
        let counts = hierarchy::count_descendants(ctx, self.tree, None).await;
        assert!(
            matches!(&counts, Ok(counts) if counts.descendants as usize == self.size + 3)
                || matches!(counts, Err(Error::Busy { .. })),
            "{counts:?}"
        );
        // By its path: once it was seen at the new one, it is not at the old one before it moves back.
        let found = hierarchy::find_by_path(ctx, self.tree, &leaf.node_path).await.expect("an answer");
        assert!(found.is_none_or(|entry| entry.node_id == self.leaf));
    }
}

async fn readers_see_the_old_place_or_the_new(target: &Target) {
    let world = World::new(target);
    let writer = row_by_row(target, &world);
    let ctx = &world.ctx;
    let tree = new_tree(ctx).await;
    let (left, right) = (add(ctx, tree, "left", None).await, add(ctx, tree, "right", None).await);
    let inner = add(ctx, tree, "inner", right).await;
    let top = add(ctx, tree, "top", left).await;
    let count = if target.name == "embedded" { 80 } else { 12 };
    let below = add_many(ctx, tree, top, count).await;
    let leaf = add(ctx, tree, "leaf", below[count / 2]).await;
    let readers = Arc::new(Readers { tree, left, right, top, leaf, size: count + 2 });
    readers.look(ctx).await;
    let (done, looks) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let reading: Vec<_> = (0..3)
        .map(|_| {
            let (ctx, readers, done, looks) = (ctx.clone(), readers.clone(), done.clone(), looks.clone());
            tokio::spawn(async move {
                while !done.load(Ordering::SeqCst) {
                    readers.look(&ctx).await;
                    looks.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    let rounds = if target.name == "embedded" { 12 } else { 2 };
    for _ in 0..rounds {
        // Both at once, place and name, is a move and a renaming: the readers know the name of each place.
        moved_and_renamed(&writer, tree, top, inner, "renamed").await;
        readers.look(ctx).await;
        moved_and_renamed(&writer, tree, top, left, "top").await;
        readers.look(ctx).await;
    }
    done.store(true, Ordering::SeqCst);
    for reader in reading {
        reader.await.expect("no reader saw a mix");
    }
    assert!(looks.load(Ordering::SeqCst) > 0);
    sound(&world, tree).await;
}

async fn moved_and_renamed(ctx: &Context, tree: TreeId, node: NodeId, to: NodeId, name: &str) {
    let relocate = || hierarchy::relocate_node(ctx, tree, node, Some(to), Some(name), None);
    patiently(relocate, Error::kind).await.expect("moved");
}

async fn many_who_change_one_tree_leave_it_whole(target: &Target) {
    let world = World::new(target);
    let other = row_by_row(target, &world);
    let tree = new_tree(&world.ctx).await;
    let mut tops = Vec::new();
    for n in 0..4 {
        let top = add(&world.ctx, tree, &format!("top {n}"), None).await;
        add_many(&world.ctx, tree, top, if target.name == "embedded" { 60 } else { 3 }).await;
        tops.push(top);
    }
    let steps = if target.name == "embedded" { 12 } else { 2 };
    let worker = |n: usize| {
        let (ctx, tops) = (if n.is_multiple_of(2) { world.ctx.clone() } else { other.clone() }, tops.clone());
        async move {
            for step in 0..steps {
                let (node, to) = (tops[(n + step) % 4], tops[(n + 2 * step + 1) % 4]);
                let answer = match step % 3 {
                    0 => moved(&ctx, tree, node, to).await,
                    1 => {
                        let name = format!("top {n} {step}");
                        let rename = || hierarchy::rename_node(&ctx, tree, node, &name, None);
                        patiently(rename, Error::kind).await.map(drop)
                    }
                    _ => {
                        let name = format!("new {n} {step}");
                        let insert = || hierarchy::insert_node(&ctx, tree, named(&name, Some(node)));
                        patiently(insert, Error::kind).await.map(drop)
                    }
                };
                assert!(matches!(answer, Ok(()) | Err(Error::Cycle { .. })), "{answer:?}");
            }
        }
    };
    join_all((0..3).map(worker)).await;
    sound(&world, tree).await;
}

/// Who counts page by page tells by the last relocation whether a subtree went by meanwhile, also one that moved in one commit.
async fn every_move_leaves_its_relocation_for_who_counts(target: &Target) {
    let world = World::new(target);
    let (ctx, tree) = (&world.ctx, new_tree(&world.ctx).await);
    let (top, leaf) = (add(ctx, tree, "top", None).await, add(ctx, tree, "leaf", None).await);
    let last = async || {
        let page = ctx.store.slice::<Node>(tree).prefix(NodeId(tree.0)).limit(1).page().await.expect("a row");
        page.statics.get(Node::RELOCATION).expect("a relocation").flatten()
    };
    let mut seen = Vec::new();
    for to in [top, NodeId(tree.0), top] {
        moved(ctx, tree, leaf, to).await.expect("moved");
        seen.push(last().await.expect("a relocation"));
    }
    hierarchy::delete_subtree(ctx, tree, top, None).await.expect("deleted");
    seen.push(last().await.expect("a relocation"));
    assert!(seen.iter().all(|seen| seen.phase == Phase::Done), "{seen:?}");
    let mut ids: Vec<_> = seen.iter().map(|seen| seen.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 4, "each is another: {seen:?}");
    assert_eq!(hierarchy::count_descendants(ctx, tree, None).await.expect("a count").descendants, 0);
    sound(&world, tree).await;
}
