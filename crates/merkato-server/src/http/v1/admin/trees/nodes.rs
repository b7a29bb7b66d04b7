//! One node: made, read, renamed, described, moved, deleted.

use std::collections::BTreeMap;

use axum::response::Response;
use http::StatusCode;
use merkato::{
    hierarchy::{self, NewNode, Node, NodeFacts},
    id::NodeId,
};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{super::created, named, place};
use crate::http::{
    Json, Path, Problem, Query, Visit,
    conditional::{IfMatch, Tagged},
    operation::Operation,
    wire::Time,
};

/// A node.
#[derive(Serialize, ToSchema)]
pub struct NodeView {
    pub id: Uuid,
    /// Null at the root.
    pub parent_id: Option<Uuid>,
    #[schema(example = "Platform")]
    pub name: String,
    /// The names from the root down; in a name `~1` stands for `/` and `~0` for `~`.
    #[schema(example = "root/Engineering/Platform")]
    pub path: String,
    /// Steps from the root, which has none.
    #[schema(example = 2)]
    pub level: i32,
    #[schema(example = "team")]
    pub node_type: Option<String>,
    pub metadata: BTreeMap<String, String>,
    /// How many stand right below it.
    #[schema(example = 5)]
    pub children_count: i64,
    pub created_at: Time,
    pub updated_at: Time,
}

impl From<Node> for NodeView {
    fn from(node: Node) -> Self {
        NodeView {
            id: node.node_id.0,
            parent_id: node.parent_id.map(|id| id.0),
            name: node.node_name,
            path: node.node_path,
            level: node.node_level,
            node_type: node.node_type,
            metadata: node.node_metadata,
            children_count: node.children_count,
            created_at: node.created_at.into(),
            updated_at: node.updated_at.into(),
        }
    }
}

fn tagged(node: Node) -> Tagged<Json<NodeView>> {
    Tagged { revision: node.revision, view: Json(node.into()) }
}

/// A node to be.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeBody {
    /// A new one where it is not given. The same node again, by its id, changes nothing.
    pub(super) id: Option<Uuid>,
    /// At the top without one.
    pub(super) parent_id: Option<Uuid>,
    /// At most 200 bytes, and no other node of the same parent has it.
    #[schema(example = "Platform", min_length = 1, max_length = 200)]
    pub(super) name: String,
    #[schema(example = "team", min_length = 1, max_length = 60)]
    pub(super) node_type: Option<String>,
    /// At most 8 KiB in all.
    #[serde(default)]
    pub(super) metadata: BTreeMap<String, String>,
}

impl NodeBody {
    pub(super) fn node(self) -> NewNode {
        let NodeBody { id, parent_id, name, node_type, metadata } = self;
        NewNode { node_id: id.map(NodeId), parent_id: parent_id.map(NodeId), name, node_type, metadata }
    }
}

/// Make a node
#[utoipa::path(post, path = "/v1/admin/trees/{tree}/nodes", tag = "admin: trees", request_body = NodeBody,
    params(("tree" = String, Path, description = "The tree's name")),
    responses((status = 201, description = "The node", body = NodeView,
        headers(("Location" = String, description = "Where it is"), ("ETag" = String, description = "For If-Match")))))]
pub async fn create_node(
    visit: Visit,
    Path(tree): Path<String>,
    operation: Operation,
    Json(body): Json<NodeBody>,
) -> Result<Response, Problem> {
    let mut new = body.node();
    new.node_id = new.node_id.or(Some(NodeId(operation.id)));
    let node = hierarchy::insert_node(&visit.ctx, named(&tree), new).await?;
    Ok(created(&place(&tree, &format!("/nodes/{}", node.node_id)), tagged(node)))
}

/// A node
#[utoipa::path(get, path = "/v1/admin/trees/{tree}/nodes/{id}", tag = "admin: trees",
    params(("tree" = String, Path, description = "The tree's name"), ("id" = Uuid, Path, description = "The node")),
    responses((status = 200, description = "The node", body = NodeView), (status = 304, description = "As the client has it")))]
pub async fn get_node(
    visit: Visit,
    Path((tree, id)): Path<(String, NodeId)>,
) -> Result<Tagged<Json<NodeView>>, Problem> {
    Ok(tagged(hierarchy::get_node(&visit.ctx, named(&tree), id).await?))
}

/// A field that is there, null or not.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// What is changed. What is absent stays, what is null is taken away.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeChange {
    /// A new name comes alone: the paths of all below the node change with it, which may take a while.
    #[schema(example = "Infrastructure", min_length = 1, max_length = 200)]
    name: Option<String>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 60)]
    node_type: Option<Option<String>>,
    /// In place of all that there is.
    metadata: Option<BTreeMap<String, String>>,
}

/// Rename a node, or change what is noted of it
///
/// The one or the other, so that a change that is refused has changed nothing.
#[utoipa::path(patch, path = "/v1/admin/trees/{tree}/nodes/{id}", tag = "admin: trees", request_body = NodeChange,
    params(("tree" = String, Path, description = "The tree's name"), ("id" = Uuid, Path, description = "The node"),
        ("If-Match" = Option<String>, Header, description = "The ETag that the change rests upon")),
    responses((status = 200, description = "The node as it is now", body = NodeView,
        headers(("ETag" = String, description = "For If-Match")))))]
pub async fn change_node(
    visit: Visit,
    Path((tree, id)): Path<(String, NodeId)>,
    IfMatch(expected): IfMatch,
    Json(body): Json<NodeChange>,
) -> Result<Tagged<Json<NodeView>>, Problem> {
    let tree = named(&tree);
    let NodeChange { name, node_type, metadata } = body;
    let node = match name {
        Some(_) if node_type.is_some() || metadata.is_some() => {
            return Err(Problem::field("invalid", "/name", "a new name comes alone, without node_type and metadata"));
        }
        Some(name) => hierarchy::rename_node(&visit.ctx, tree, id, &name, expected).await?,
        None => hierarchy::describe_node(&visit.ctx, tree, id, NodeFacts { node_type, metadata }, expected).await?,
    };
    Ok(tagged(node))
}

/// What is deleted.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct DeleteQuery {
    /// With all that stands below it. Without this, a node that has others below it stays.
    subtree: Option<bool>,
}

/// Delete a node, alone or with all below it
#[utoipa::path(delete, path = "/v1/admin/trees/{tree}/nodes/{id}", tag = "admin: trees",
    params(("tree" = String, Path, description = "The tree's name"), ("id" = Uuid, Path, description = "The node"),
        ("If-Match" = Option<String>, Header, description = "The ETag that the change rests upon"), DeleteQuery),
    responses((status = 204, description = "It is gone")))]
pub async fn delete_node(
    visit: Visit,
    Path((tree, id)): Path<(String, NodeId)>,
    IfMatch(expected): IfMatch,
    Query(query): Query<DeleteQuery>,
) -> Result<StatusCode, Problem> {
    let tree = named(&tree);
    match query.subtree.unwrap_or(false) {
        true => hierarchy::delete_subtree(&visit.ctx, tree, id, expected).await?,
        false => hierarchy::delete_leaf(&visit.ctx, tree, id, expected).await?,
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Where a node goes.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveBody {
    /// The node that it is to stand below; null: the root.
    #[serde(deserialize_with = "Option::deserialize")]
    #[schema(required = true)]
    parent_id: Option<Uuid>,
}

/// Move a node, with all that stands below it
///
/// Readers see all of it in the old place or all of it in the new, at any size.
#[utoipa::path(post, path = "/v1/admin/trees/{tree}/nodes/{id}/move", tag = "admin: trees", request_body = MoveBody,
    params(("tree" = String, Path, description = "The tree's name"), ("id" = Uuid, Path, description = "The node"),
        ("If-Match" = Option<String>, Header, description = "The ETag that the change rests upon")),
    responses((status = 200, description = "The node as it is now", body = NodeView,
        headers(("ETag" = String, description = "For If-Match")))))]
pub async fn move_node(
    visit: Visit,
    Path((tree, id)): Path<(String, NodeId)>,
    IfMatch(expected): IfMatch,
    Json(body): Json<MoveBody>,
) -> Result<Tagged<Json<NodeView>>, Problem> {
    let parent = body.parent_id.map(NodeId);
    let moved = hierarchy::move_node(&visit.ctx, named(&tree), id, parent, expected).await;
    Ok(tagged(moved.map_err(misplaced)?))
}

/// A name that is taken is a reason not to stand there.
fn misplaced(error: hierarchy::Error) -> Problem {
    let mut problem = Problem::from(error);
    for error in problem.errors.iter_mut().filter(|error| error.pointer == "/name") {
        error.pointer = "/parent_id".into();
    }
    problem
}
