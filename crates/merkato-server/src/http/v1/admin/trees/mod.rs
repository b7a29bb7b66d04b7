//! Trees, and their nodes in files of their own: one by one, many at once, and what is asked of them.

pub mod batch;
pub mod nodes;
pub mod reads;

use axum::response::Response;
use merkato::{
    hierarchy::{self, Tree},
    id::TreeId,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::created;
use crate::http::{
    Json, Path, Problem, Query, Visit,
    wire::{Listing, Paging, Time},
};

/// A tree.
#[derive(Serialize, ToSchema)]
pub struct TreeView {
    #[schema(example = "company")]
    pub name: String,
    /// The node that all others stand below; it has the tree's name, and is neither moved nor renamed nor deleted.
    pub root_id: Uuid,
    pub created_at: Time,
}

impl From<Tree> for TreeView {
    fn from(tree: Tree) -> Self {
        TreeView {
            name: tree.tree_name,
            root_id: hierarchy::root_of(tree.org_id).0,
            created_at: tree.created_at.into(),
        }
    }
}

/// The id follows from the name; whether there is such a tree is another question.
fn named(tree: &str) -> TreeId {
    hierarchy::tree_id(tree)
}

/// Where something of a tree is.
fn place(tree: &str, rest: &str) -> String {
    format!("/v1/admin/trees/{}{rest}", utf8_percent_encode(tree, NON_ALPHANUMERIC))
}

/// The trees of the shop, by name
#[utoipa::path(get, path = "/v1/admin/trees", tag = "admin: trees", params(Paging),
    responses((status = 200, description = "A page of them", body = Listing<TreeView>), (status = 304, description = "As the client has it")))]
pub async fn list_trees(visit: Visit, Query(paging): Query<Paging>) -> Result<Json<Listing<TreeView>>, Problem> {
    let found = hierarchy::list_trees(&visit.ctx, visit.page(&paging)?).await?;
    Ok(Json(visit.listing(found, TreeView::from)))
}

/// A tree to be.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTree {
    /// At most 100 bytes.
    #[schema(example = "company", min_length = 1, max_length = 100)]
    name: String,
}

/// Make a tree
///
/// One of the name that is there already is answered as it is.
#[utoipa::path(post, path = "/v1/admin/trees", tag = "admin: trees", request_body = NewTree,
    responses((status = 201, description = "The tree", body = TreeView,
        headers(("Location" = String, description = "Where it is")))))]
pub async fn create_tree(visit: Visit, Json(body): Json<NewTree>) -> Result<Response, Problem> {
    let tree = hierarchy::create_tree(&visit.ctx, &body.name).await?;
    let location = place(&tree.tree_name, "");
    Ok(created(&location, Json(TreeView::from(tree))))
}

/// A tree, and what goes on in it.
#[derive(Serialize, ToSchema)]
pub struct TreeState {
    #[serde(flatten)]
    pub tree: TreeView,
    /// How many nodes stand at the top.
    #[schema(example = 7)]
    pub children_count: i64,
    /// A subtree that is too large for one step is being moved, renamed or deleted: others' changes wait for it.
    pub relocating: bool,
}

/// A tree
#[utoipa::path(get, path = "/v1/admin/trees/{tree}", tag = "admin: trees",
    params(("tree" = String, Path, description = "The tree's name")),
    responses((status = 200, description = "The tree", body = TreeState), (status = 304, description = "As the client has it")))]
pub async fn get_tree(visit: Visit, Path(tree): Path<String>) -> Result<Json<TreeState>, Problem> {
    let tree = hierarchy::get_tree(&visit.ctx, &tree).await?;
    let root = hierarchy::get_node(&visit.ctx, tree.org_id, hierarchy::root_of(tree.org_id)).await?;
    let relocating = hierarchy::pending_relocation(&visit.ctx, tree.org_id).await?.is_some();
    Ok(Json(TreeState { tree: tree.into(), children_count: root.children_count, relocating }))
}
