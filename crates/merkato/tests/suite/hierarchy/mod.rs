//! Trees, on every engine.

use std::collections::BTreeMap;

use merkato::{
    Context, Kind, PageRequest,
    hierarchy::{self, NewNode, Node, Relationship},
    id::{NodeId, TreeId},
};
use widerow::store::VerifyOptions;

use crate::world::{World, patiently};

pub mod bad_input;
pub mod costs;
pub mod model;
pub mod races;
pub mod sizes;
pub mod stopped;
pub mod trees;

pub async fn new_tree(ctx: &Context) -> TreeId {
    hierarchy::create_tree(ctx, "company").await.expect("a tree").org_id
}

pub fn named(name: &str, parent: Option<NodeId>) -> NewNode {
    NewNode { name: name.into(), parent_id: parent, ..NewNode::default() }
}

pub async fn add(ctx: &Context, tree: TreeId, name: &str, parent: impl Into<Option<NodeId>>) -> NodeId {
    hierarchy::insert_node(ctx, tree, named(name, parent.into())).await.expect("a node").node_id
}

/// So many nodes right below one.
pub async fn add_many(ctx: &Context, tree: TreeId, parent: NodeId, count: usize) -> Vec<NodeId> {
    let nodes: Vec<NewNode> = (0..count).map(|n| named(&format!("node {n:05}"), Some(parent))).collect();
    let mut ids = Vec::new();
    for some in nodes.chunks(merkato::limits::NODES_TOGETHER_MAX) {
        for answer in hierarchy::insert_nodes(ctx, tree, some.to_vec()).await.expect("answers") {
            match answer.expect("a node") {
                hierarchy::Inserted::New(id) | hierarchy::Inserted::Unchanged(id) => ids.push(id),
            }
        }
    }
    ids
}

/// All below a node, through pages of so many.
pub async fn subtree(ctx: &Context, tree: TreeId, node: Option<NodeId>, page_rows: usize) -> Vec<Relationship> {
    let (mut rows, mut cursor) = (Vec::new(), None);
    loop {
        let page = PageRequest { limit: page_rows, cursor };
        let page = hierarchy::list_subtree(ctx, tree, node, None, page).await.expect("a page");
        rows.extend(page.rows);
        match page.next {
            Some(next) => cursor = Some(next),
            None => return rows,
        }
    }
}

pub async fn children(ctx: &Context, tree: TreeId, node: impl Into<Option<NodeId>>) -> Vec<String> {
    let page = hierarchy::list_children(ctx, tree, node.into(), PageRequest::first(100)).await.expect("a page");
    page.rows.into_iter().map(|row| row.node_name).collect()
}

pub async fn path_of(ctx: &Context, tree: TreeId, node: NodeId) -> String {
    hierarchy::get_node(ctx, tree, node).await.expect("a node").node_path
}

/// Every node by its id, as the rows of the tree have it.
pub async fn all_nodes(ctx: &Context, tree: TreeId) -> BTreeMap<NodeId, Node> {
    let rows = subtree(ctx, tree, None, 100).await;
    let ids: Vec<NodeId> = rows.iter().map(|row| row.descendant_id).collect();
    let mut nodes = BTreeMap::new();
    for some in ids.chunks(1_000) {
        let found = hierarchy::find_nodes(ctx, tree, some).await.expect("nodes");
        nodes.extend(found.into_iter().map(|node| node.expect("there")).map(|node| (node.node_id, node)));
    }
    assert_eq!(nodes.len(), rows.len(), "each once");
    nodes
}

/// The tree is one, and all that follows from it is there and nothing else.
pub async fn sound(world: &World, tree: TreeId) {
    let report = hierarchy::verify_tree(&world.ctx, tree).await.expect("a look");
    assert_eq!((report.wrong.as_slice(), report.relocating), (&[][..], false));
    let look = || world.ctx.store.verify(VerifyOptions::default());
    let report = patiently(look, Kind::of).await.expect("a look");
    assert_eq!(report.listed, []);
}
