//! Many nodes at once, with an answer for each.

use http::StatusCode;
use merkato::{
    hierarchy::{self, Inserted, NewNode},
    limits,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{named, nodes::NodeBody};
use crate::http::{FieldProblem, Json, Path, Problem, Visit, read_value};

/// Many nodes to be.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeBatch {
    /// Parents before those below them, which name them by their `id`. At most 10,000, and as many as fit the largest body.
    // As they are: one that is no node at all is refused by itself.
    #[schema(value_type = Vec<NodeBody>, max_items = 10000)]
    nodes: Vec<Value>,
}

/// What became of one node of a batch.
#[derive(Serialize, ToSchema)]
pub struct NodeResult {
    /// Its place in the batch, from nought.
    pub index: usize,
    /// 201; 200 where it was there already, and the same; or the status that it would have been refused with by itself.
    #[schema(example = 201)]
    pub status: u16,
    /// The node, where it is there now.
    pub id: Option<Uuid>,
    /// Why it is not, as the code of a problem.
    #[schema(example = "node_name_taken")]
    pub code: Option<String>,
    pub detail: Option<String>,
    /// Each field that is wrong.
    pub errors: Vec<FieldProblem>,
}

/// What became of a batch.
#[derive(Serialize, ToSchema)]
pub struct NodeResults {
    pub inserted: usize,
    /// They were there, and the same.
    pub unchanged: usize,
    pub refused: usize,
    /// One for each node, in their order.
    pub results: Vec<NodeResult>,
}

/// Make many nodes, with an answer for each
///
/// One that is refused takes those below it along, and no others. Who gives ids can send the whole again.
#[utoipa::path(post, path = "/v1/admin/trees/{tree}/nodes/batch", tag = "admin: trees", request_body = NodeBatch,
    params(("tree" = String, Path, description = "The tree's name")),
    responses((status = 200, description = "What became of each", body = NodeResults)))]
pub async fn create_nodes(
    visit: Visit,
    Path(tree): Path<String>,
    Json(batch): Json<NodeBatch>,
) -> Result<Json<NodeResults>, Problem> {
    let (size, limit) = (batch.nodes.len(), limits::NODES_TOGETHER_MAX);
    if size > limit {
        return Err(hierarchy::Error::TooLarge { what: "nodes of one batch", size, limit }.into());
    }
    let mut results: Vec<Option<NodeResult>> = Vec::with_capacity(size);
    let (mut places, mut good): (Vec<usize>, Vec<NewNode>) = Default::default();
    for (index, value) in batch.nodes.into_iter().enumerate() {
        match read_value::<NodeBody>(value) {
            Ok(body) => {
                places.push(index);
                good.push(body.node());
                results.push(None);
            }
            Err(problem) => results.push(Some(refused(index, problem))),
        }
    }
    for (index, answer) in places.into_iter().zip(hierarchy::insert_nodes(&visit.ctx, named(&tree), good).await?) {
        results[index] = Some(match answer {
            Ok(Inserted::New(id)) => there(index, StatusCode::CREATED, id.0),
            Ok(Inserted::Unchanged(id)) => there(index, StatusCode::OK, id.0),
            Err(error) => refused(index, error.into()),
        });
    }
    let results: Vec<NodeResult> = results.into_iter().flatten().collect();
    let of = |status: StatusCode| results.iter().filter(|result| result.status == status.as_u16()).count();
    let (inserted, unchanged) = (of(StatusCode::CREATED), of(StatusCode::OK));
    Ok(Json(NodeResults { inserted, unchanged, refused: results.len() - inserted - unchanged, results }))
}

fn there(index: usize, status: StatusCode, id: Uuid) -> NodeResult {
    NodeResult { index, status: status.as_u16(), id: Some(id), code: None, detail: None, errors: Vec::new() }
}

fn refused(index: usize, mut problem: Problem) -> NodeResult {
    if let Some(cause) = &problem.cause {
        tracing::warn!(index, code = problem.code, cause, "a node of a batch was not made");
    }
    for error in &mut problem.errors {
        error.pointer = format!("/nodes/{index}{}", error.pointer);
    }
    NodeResult {
        index,
        status: problem.status.as_u16(),
        id: None,
        code: Some(problem.code.to_owned()),
        detail: Some(problem.detail).filter(|detail| !detail.is_empty()),
        errors: problem.errors,
    }
}
