//! Any changes of a tree, beside a naive model of it.

use std::collections::{BTreeMap, BTreeSet};

use merkato::{
    Context,
    hierarchy::{self, Error, NewNode, path, root_of},
    id::{NodeId, TreeId},
};
use rand::{Rng as _, SeedableRng as _, rngs::SmallRng, seq::IndexedRandom as _};
use widerow_testing::Target;

use super::{all_nodes, new_tree, sound, subtree};
use crate::world::{World, seed};

widerow_testing::cases!(any_changes_leave_what_the_model_says);

const NAMES: &[&str] =
    &["a", "b", "A", "a/b", "~", "~1", "/", "ä", "a\u{308}", "Ä", "日本", "x y", "…", "ß", "ss", "0", "zz"];

/// Parent and name of every node; nothing else is known, all is searched.
#[derive(Default)]
struct Model {
    nodes: BTreeMap<NodeId, (NodeId, String)>,
}

impl Model {
    fn below(&self, node: NodeId) -> Vec<NodeId> {
        self.nodes.iter().filter(|(_, (parent, _))| *parent == node).map(|(id, _)| *id).collect()
    }

    fn above(&self, node: NodeId) -> Vec<NodeId> {
        let mut above = Vec::new();
        let mut at = node;
        while let Some((parent, _)) = self.nodes.get(&at) {
            above.insert(0, *parent);
            at = *parent;
        }
        above
    }

    fn subtree(&self, node: NodeId) -> BTreeSet<NodeId> {
        self.nodes.keys().copied().filter(|id| *id == node || self.above(*id).contains(&node)).collect()
    }

    fn path(&self, node: NodeId) -> String {
        match self.nodes.get(&node) {
            Some((parent, name)) => path::below(&self.path(*parent), name),
            None => path::ROOT.to_owned(),
        }
    }

    fn taken(&self, parent: NodeId, name: &str, by_other_than: NodeId) -> bool {
        self.nodes.iter().any(|(id, (p, n))| (*p, n.as_str()) == (parent, name) && *id != by_other_than)
    }
}

/// The letters as they are kept.
fn kept(name: &str) -> String {
    name.replace("a\u{308}", "ä")
}

fn told<T>(answer: Result<T, Error>) -> &'static str {
    answer.map_or_else(|error| error.code(), |_| "done")
}

async fn any_changes_leave_what_the_model_says(target: &Target) {
    let (rounds, steps) = if target.name == "embedded" { (4, 150) } else { (1, 25) };
    for round in 0..rounds {
        let world = World::new(target);
        // On the embedded engine every second round as on engines that show a commit row by row.
        let ctx = &if round % 2 == 1 { super::races::row_by_row(target, &world) } else { world.ctx.clone() };
        let mut random = SmallRng::seed_from_u64(seed() ^ round);
        let tree = new_tree(ctx).await;
        let mut model = Model::default();
        for step in 0..steps {
            change(ctx, tree, &mut model, &mut random).await;
            if step % 25 == 24 {
                compare(ctx, tree, &model).await;
            }
        }
        sound(&world, tree).await;
    }
}

async fn change(ctx: &Context, tree: TreeId, model: &mut Model, random: &mut SmallRng) {
    let root = root_of(tree);
    let ids: Vec<NodeId> = model.nodes.keys().copied().collect();
    let any = |random: &mut SmallRng| ids.choose(random).copied().unwrap_or(root);
    let parent = |random: &mut SmallRng| if random.random_bool(0.2) { root } else { any(random) };
    let name = *NAMES.choose(random).expect("names");
    match random.random_range(0..10) {
        0..5 => {
            let below = parent(random);
            let count = random.random_range(1..4);
            let mut nodes = Vec::new();
            let mut expected = Vec::new();
            for n in 0..count {
                let id = NodeId(ctx.new_id());
                let name = if n == 0 { name } else { *NAMES.choose(random).expect("names") };
                nodes.push(NewNode {
                    node_id: Some(id),
                    parent_id: Some(below),
                    name: name.into(),
                    ..NewNode::default()
                });
                if model.taken(below, &kept(name), id) {
                    expected.push("node_name_taken");
                } else {
                    model.nodes.insert(id, (below, kept(name)));
                    expected.push("done");
                }
            }
            let answers = hierarchy::insert_nodes(ctx, tree, nodes).await.expect("answers");
            assert_eq!(answers.into_iter().map(told).collect::<Vec<_>>(), expected);
        }
        5..7 => {
            let (node, to) = (any(random), parent(random));
            let expected = if node == root {
                "root_is_fixed"
            } else if model.subtree(node).contains(&to) {
                "node_cycle"
            } else if model.taken(to, &model.nodes[&node].1, node) {
                "node_name_taken"
            } else {
                model.nodes.get_mut(&node).expect("known").0 = to;
                "done"
            };
            assert_eq!(told(hierarchy::move_node(ctx, tree, node, Some(to), None).await), expected);
        }
        7..9 => {
            let node = any(random);
            let expected = if node == root {
                "root_is_fixed"
            } else if model.taken(model.nodes[&node].0, &kept(name), node) {
                "node_name_taken"
            } else {
                model.nodes.get_mut(&node).expect("known").1 = kept(name);
                "done"
            };
            assert_eq!(told(hierarchy::rename_node(ctx, tree, node, name, None).await), expected);
        }
        _ => {
            let node = any(random);
            if node == root {
                return;
            }
            let leaf = model.below(node).is_empty();
            if random.random_bool(0.5) {
                let expected = if leaf { "done" } else { "not_a_leaf" };
                assert_eq!(told(hierarchy::delete_leaf(ctx, tree, node, None).await), expected);
                if leaf {
                    model.nodes.remove(&node);
                }
            } else if model.subtree(node).len() * 3 <= model.nodes.len() {
                assert_eq!(told(hierarchy::delete_subtree(ctx, tree, node, None).await), "done");
                model.subtree(node).into_iter().for_each(|gone| drop(model.nodes.remove(&gone)));
            }
        }
    }
}

async fn compare(ctx: &Context, tree: TreeId, model: &Model) {
    let stored = all_nodes(ctx, tree).await;
    assert_eq!(stored.keys().collect::<Vec<_>>(), model.nodes.keys().collect::<Vec<_>>());
    for (id, node) in &stored {
        let (parent, name) = &model.nodes[id];
        assert_eq!((node.parent_id, &node.node_name, &node.node_path), (Some(*parent), name, &model.path(*id)));
        assert_eq!((&node.ancestors, node.node_level as usize), (&model.above(*id), model.above(*id).len()));
        assert_eq!(node.children_count as usize, model.below(*id).len());
        let found = hierarchy::find_by_path(ctx, tree, &node.node_path).await.expect("an answer");
        assert_eq!(found.map(|entry| entry.node_id), Some(*id), "{}", node.node_path);
        let above: Vec<String> = hierarchy::ancestors_of(node).into_iter().map(|above| above.path).collect();
        assert_eq!(above, model.above(*id)[1..].iter().map(|above| model.path(*above)).collect::<Vec<_>>());
        let below = subtree(ctx, tree, Some(*id), 7).await;
        let mut expected = model.subtree(*id);
        expected.remove(id);
        assert_eq!(below.iter().map(|row| row.descendant_id).collect::<BTreeSet<_>>(), expected);
        assert_eq!(below.len(), expected.len());
        assert!(below.is_sorted_by_key(|row| (row.relationship_depth, row.name_lower.clone(), row.descendant_id)));
        for row in below {
            let depth = model.above(row.descendant_id).len() - model.above(*id).len();
            assert_eq!((row.relationship_depth as usize, row.parent_id), (depth, model.nodes[&row.descendant_id].0));
            assert_eq!((row.node_name.as_str(), &row.mark), (model.nodes[&row.descendant_id].1.as_str(), &None));
        }
    }
    let counts = hierarchy::count_descendants(ctx, tree, None).await.expect("counts");
    assert_eq!(counts.descendants as usize, model.nodes.len());
}
