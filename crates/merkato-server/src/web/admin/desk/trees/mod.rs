//! Trees: the list of them, one of them as an outline that opens and closes, and what is done with its nodes.

mod acts;
mod found;
mod outline;
mod overview;
mod page;

use merkato::{
    hierarchy,
    id::{NodeId, TreeId},
    keys::Scope::{TreesRead, TreesWrite},
};

use crate::{
    http::access::Access::Staff,
    web::{next, pages::pages},
};

pages! {
    get "/admin/trees" (Staff(TreesRead)) => overview::list;
    post "/admin/trees" (Staff(TreesWrite)) => overview::create;
    get "/admin/trees/{tree}" (Staff(TreesRead)) => page::show_root;
    get "/admin/trees/{tree}/search" (Staff(TreesRead)) => found::show;
    post "/admin/trees/{tree}/nodes" (Staff(TreesWrite)) => acts::add;
    get "/admin/trees/{tree}/nodes/{id}" (Staff(TreesRead)) => page::show;
    post "/admin/trees/{tree}/nodes/{id}/rename" (Staff(TreesWrite)) => acts::rename;
    post "/admin/trees/{tree}/nodes/{id}/facts" (Staff(TreesWrite)) => acts::describe;
    post "/admin/trees/{tree}/nodes/{id}/move" (Staff(TreesWrite)) => acts::carry;
    post "/admin/trees/{tree}/nodes/{id}/delete" (Staff(TreesWrite)) => acts::delete;
}

const PATH: &str = "/admin/trees";
/// Where the tree that the catalog keeps is shown and changed.
const CATEGORIES: &str = "/admin/categories";

/// The page of a tree.
fn tree_path(tree: &str) -> String {
    // A slash in a name is a part of it.
    format!("{PATH}/{}", next::encode(tree).replace('/', "%2F"))
}

/// The page of a node; that of the root is the tree's.
fn node_path(tree: &str, id: TreeId, node: NodeId) -> String {
    let path = tree_path(tree);
    if node == hierarchy::root_of(id) { path } else { format!("{path}/nodes/{node}") }
}
