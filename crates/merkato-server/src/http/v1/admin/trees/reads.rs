//! What is asked of a tree: lists, page by page, and counts.

use merkato::{
    hierarchy::{self, Ancestor, Relationship},
    id::NodeId,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::named;
use crate::http::{
    Json, Path, Problem, Query, Visit,
    wire::{Listing, Paging},
};

/// A node in a list.
#[derive(Serialize, ToSchema)]
pub struct NodeEntry {
    pub id: Uuid,
    /// Null at the root, which only its path leads to.
    pub parent_id: Option<Uuid>,
    #[schema(example = "Platform")]
    pub name: String,
    #[schema(example = "team")]
    pub node_type: Option<String>,
    /// Steps from the node that the list is of; from the root where there is none.
    #[schema(example = 1)]
    pub depth: i32,
}

impl From<Relationship> for NodeEntry {
    fn from(row: Relationship) -> Self {
        NodeEntry {
            id: row.descendant_id.0,
            parent_id: Some(row.parent_id.0),
            name: row.node_name,
            node_type: row.node_type,
            depth: row.relationship_depth,
        }
    }
}

/// Which nodes, and which page of them.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct NodesQuery {
    /// The node at this path, as `root/Engineering/Platform`; in a name `~1` stands for `/` and `~0` for `~`.
    #[param(example = "root/Engineering/Platform")]
    path: Option<String>,
    /// How many, 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// `next_cursor` of the page before, of the same list.
    cursor: Option<String>,
}

/// The nodes at the top of a tree, names in order; or the one at a path
///
/// A path that leads nowhere is answered with an empty list.
#[utoipa::path(get, path = "/v1/admin/trees/{tree}/nodes", tag = "admin: trees",
    params(("tree" = String, Path, description = "The tree's name"), NodesQuery),
    responses((status = 200, description = "A page of them", body = Listing<NodeEntry>), (status = 304, description = "As the client has it")))]
pub async fn list_nodes(
    visit: Visit,
    Path(tree): Path<String>,
    Query(query): Query<NodesQuery>,
) -> Result<Json<Listing<NodeEntry>>, Problem> {
    let tree = named(&tree);
    let page = visit.page(&Paging { limit: query.limit, cursor: query.cursor })?;
    let Some(path) = query.path else {
        let found = hierarchy::list_children(&visit.ctx, tree, None, page).await?;
        return Ok(Json(visit.listing(found, NodeEntry::from)));
    };
    let found = match hierarchy::find_by_path(&visit.ctx, tree, &path).await? {
        Some(entry) => hierarchy::find_node(&visit.ctx, tree, entry.node_id).await?,
        None => None,
    };
    if found.is_none() {
        // Nothing there, or no tree at all?
        hierarchy::get_node(&visit.ctx, tree, hierarchy::root_of(tree)).await?;
    }
    Ok(Json(Listing::whole(found.map(|node| NodeEntry {
        id: node.node_id.0,
        parent_id: node.parent_id.map(|id| id.0),
        name: node.node_name,
        node_type: node.node_type,
        depth: node.node_level,
    }))))
}

/// The nodes right below one, names in order
#[utoipa::path(get, path = "/v1/admin/trees/{tree}/nodes/{id}/children", tag = "admin: trees",
    params(("tree" = String, Path, description = "The tree's name"), ("id" = Uuid, Path, description = "The node"), Paging),
    responses((status = 200, description = "A page of them", body = Listing<NodeEntry>), (status = 304, description = "As the client has it")))]
pub async fn list_children(
    visit: Visit,
    Path((tree, id)): Path<(String, NodeId)>,
    Query(paging): Query<Paging>,
) -> Result<Json<Listing<NodeEntry>>, Problem> {
    let found = hierarchy::list_children(&visit.ctx, named(&tree), Some(id), visit.page(&paging)?).await?;
    Ok(Json(visit.listing(found, NodeEntry::from)))
}

/// A node above another.
#[derive(Serialize, ToSchema)]
pub struct AncestorView {
    pub id: Uuid,
    #[schema(example = "Engineering")]
    pub name: String,
    #[schema(example = "root/Engineering")]
    pub path: String,
}

impl From<Ancestor> for AncestorView {
    fn from(above: Ancestor) -> Self {
        AncestorView { id: above.node_id.0, name: above.name, path: above.path }
    }
}

/// The nodes above one, from the top; the root is not among them
#[utoipa::path(get, path = "/v1/admin/trees/{tree}/nodes/{id}/ancestors", tag = "admin: trees",
    params(("tree" = String, Path, description = "The tree's name"), ("id" = Uuid, Path, description = "The node")),
    responses((status = 200, description = "All of them", body = Listing<AncestorView>), (status = 304, description = "As the client has it")))]
pub async fn list_ancestors(
    visit: Visit,
    Path((tree, id)): Path<(String, NodeId)>,
) -> Result<Json<Listing<AncestorView>>, Problem> {
    Ok(Json(Listing::whole(hierarchy::ancestors(&visit.ctx, named(&tree), id).await?)))
}

/// How deep, and which page.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct SubtreeQuery {
    /// Steps below the node at most; all of them if it is not said.
    #[param(minimum = 1, maximum = 1000)]
    max_depth: Option<u32>,
    /// How many, 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// `next_cursor` of the page before, of the same list.
    cursor: Option<String>,
}

/// What stands below a node, level by level, names in order
#[utoipa::path(get, path = "/v1/admin/trees/{tree}/nodes/{id}/subtree", tag = "admin: trees",
    params(("tree" = String, Path, description = "The tree's name"), ("id" = Uuid, Path, description = "The node"), SubtreeQuery),
    responses((status = 200, description = "A page of it", body = Listing<NodeEntry>), (status = 304, description = "As the client has it")))]
pub async fn list_subtree(
    visit: Visit,
    Path((tree, id)): Path<(String, NodeId)>,
    Query(query): Query<SubtreeQuery>,
) -> Result<Json<Listing<NodeEntry>>, Problem> {
    let page = visit.page(&Paging { limit: query.limit, cursor: query.cursor })?;
    let found = hierarchy::list_subtree(&visit.ctx, named(&tree), Some(id), query.max_depth, page).await;
    Ok(Json(visit.listing(found.map_err(|error| told_as("max_depth", error))?, NodeEntry::from)))
}

/// Which level, and which page.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct LevelQuery {
    /// So many steps below the node.
    #[param(minimum = 1, maximum = 1000)]
    level: u32,
    /// How many, 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// `next_cursor` of the page before, of the same list.
    cursor: Option<String>,
}

/// The nodes so many steps below one, names in order
#[utoipa::path(get, path = "/v1/admin/trees/{tree}/nodes/{id}/descendants", tag = "admin: trees",
    params(("tree" = String, Path, description = "The tree's name"), ("id" = Uuid, Path, description = "The node"), LevelQuery),
    responses((status = 200, description = "A page of them", body = Listing<NodeEntry>), (status = 304, description = "As the client has it")))]
pub async fn list_descendants(
    visit: Visit,
    Path((tree, id)): Path<(String, NodeId)>,
    Query(query): Query<LevelQuery>,
) -> Result<Json<Listing<NodeEntry>>, Problem> {
    let page = visit.page(&Paging { limit: query.limit, cursor: query.cursor })?;
    let found = hierarchy::list_level(&visit.ctx, named(&tree), Some(id), query.level, page).await;
    Ok(Json(visit.listing(found.map_err(|error| told_as("level", error))?, NodeEntry::from)))
}

/// A depth by the name that the query has for it.
fn told_as(name: &str, error: hierarchy::Error) -> Problem {
    let mut problem = Problem::from(error);
    for error in problem.errors.iter_mut().filter(|error| error.pointer == "/depth") {
        error.pointer = format!("/{name}");
    }
    problem
}

/// Which names, and which page.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct SearchQuery {
    /// A part of the name; case and accents count for nothing.
    #[param(min_length = 1, max_length = 200)]
    q: String,
    /// How many, 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// `next_cursor` of the page before, of the same list.
    cursor: Option<String>,
}

/// What stands below a node and has a text in its name, level by level
///
/// 10,000 nodes are looked at for one page: it may be short, even empty, and not the last.
#[utoipa::path(get, path = "/v1/admin/trees/{tree}/nodes/{id}/search", tag = "admin: trees",
    params(("tree" = String, Path, description = "The tree's name"), ("id" = Uuid, Path, description = "The node"), SearchQuery),
    responses((status = 200, description = "A page of them", body = Listing<NodeEntry>), (status = 304, description = "As the client has it")))]
pub async fn search_nodes(
    visit: Visit,
    Path((tree, id)): Path<(String, NodeId)>,
    Query(query): Query<SearchQuery>,
) -> Result<Json<Listing<NodeEntry>>, Problem> {
    let page = visit.page(&Paging { limit: query.limit, cursor: query.cursor })?;
    let found = hierarchy::search_subtree(&visit.ctx, named(&tree), Some(id), &query.q, page).await?;
    Ok(Json(visit.listing(found, NodeEntry::from)))
}

/// How many nodes stand below one.
#[derive(Serialize, ToSchema)]
pub struct CountsView {
    #[schema(example = 61)]
    pub descendants: u64,
    /// Right below it, below these, and so on.
    #[schema(example = json!([7, 16, 38]))]
    pub by_depth: Vec<u64>,
}

/// How many nodes stand below one, in all and on each level: every one of them is read
#[utoipa::path(get, path = "/v1/admin/trees/{tree}/nodes/{id}/counts", tag = "admin: trees",
    params(("tree" = String, Path, description = "The tree's name"), ("id" = Uuid, Path, description = "The node")),
    responses((status = 200, description = "The counts", body = CountsView), (status = 304, description = "As the client has it")))]
pub async fn count_nodes(visit: Visit, Path((tree, id)): Path<(String, NodeId)>) -> Result<Json<CountsView>, Problem> {
    let counts = hierarchy::count_descendants(&visit.ctx, named(&tree), Some(id)).await?;
    Ok(Json(CountsView { descendants: counts.descendants, by_depth: counts.by_depth }))
}
