//! What lies between two people: whom both know, and the way from one to the other.

use merkato::{
    graph::{self, ConnectionType, Mutual},
    id::UserId,
    limits,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{ConnectionTypeView, number};
use crate::http::{
    Json, Path, Problem, Query, Visit,
    wire::{Listing, Paging, Time},
};

/// Somebody whom both are connected to.
#[derive(Serialize, ToSchema)]
pub struct MutualView {
    pub user_id: Uuid,
    /// Of the first with them.
    #[schema(example = 0.7, minimum = 0, maximum = 1)]
    pub strength: f64,
    /// Of the second with them.
    #[schema(example = 0.73, minimum = 0, maximum = 1)]
    pub other_strength: f64,
}

impl From<Mutual> for MutualView {
    fn from(row: Mutual) -> Self {
        MutualView {
            user_id: row.user_id.0,
            strength: number(row.strength),
            other_strength: number(row.other_strength),
        }
    }
}

/// By which connections, and which page.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct MutualQuery {
    /// Friends if it is not said.
    #[serde(rename = "type")]
    #[param(inline)]
    connection_type: Option<ConnectionTypeView>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    cursor: Option<String>,
}

/// Whom two have in common
///
/// Of two of whom one has blocked the other: nobody. A page may have fewer than were asked for, and still another after it.
#[utoipa::path(get, path = "/v1/admin/graph/{user}/mutual/{other}", tag = "admin: graph",
    params(("user" = Uuid, Path, description = "The one"), ("other" = Uuid, Path, description = "The other"), MutualQuery),
    responses((status = 200, description = "A page of them", body = Listing<MutualView>), (status = 304, description = "As the client has it")))]
pub async fn list_mutual(
    visit: Visit,
    Path((user, other)): Path<(UserId, UserId)>,
    Query(query): Query<MutualQuery>,
) -> Result<Json<Listing<MutualView>>, Problem> {
    let page = visit.page(&Paging { limit: query.limit, cursor: query.cursor })?;
    let connection_type = query.connection_type.map_or(ConnectionType::Friend, Into::into);
    let found = graph::list_mutual(&visit.ctx, user, other, connection_type, page).await?;
    Ok(Json(visit.listed(found.rows, found.next, MutualView::from)))
}

/// How far.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PathQuery {
    /// Steps at the most; as many as there may be if it is not said.
    #[param(minimum = 1, maximum = 6)]
    max_hops: Option<usize>,
}

/// A way from one to another.
#[derive(Serialize, ToSchema)]
pub struct PathView {
    /// Everybody on it, from the one to the other.
    pub nodes: Vec<Uuid>,
    /// Of each step, the strongest connection.
    pub types: Vec<ConnectionTypeView>,
    /// Steps.
    #[schema(example = 3)]
    pub length: usize,
    /// The least of its steps.
    #[schema(example = 0.7, minimum = 0, maximum = 1)]
    pub strength: f64,
    /// When it was searched. That all of it is still there was seen just now.
    pub calculated_at: Time,
}

/// The shortest way from one to another, and of the shortest the strongest
#[utoipa::path(get, path = "/v1/admin/graph/{user}/path/{other}", tag = "admin: graph",
    params(("user" = Uuid, Path, description = "Where it begins"), ("other" = Uuid, Path, description = "Where it ends"), PathQuery),
    responses((status = 200, description = "The way", body = PathView), (status = 304, description = "As the client has it"),
        (status = 422, description = "So many people lie between the two that the search was given up")))]
pub async fn find_path(
    visit: Visit,
    Path((user, other)): Path<(UserId, UserId)>,
    Query(query): Query<PathQuery>,
) -> Result<Json<PathView>, Problem> {
    let hops = query.max_hops.unwrap_or(limits::PATH_HOPS_MAX);
    let found = graph::find_path(&visit.ctx, user, other, hops).await?;
    let none = || Problem::new("path_not_found", format!("no way of at most {hops} steps leads from one to the other"));
    let found = found.ok_or_else(none)?;
    Ok(Json(PathView {
        length: found.types.len(),
        nodes: found.nodes.into_iter().map(|user| user.0).collect(),
        types: found.types.into_iter().map(Into::into).collect(),
        strength: number(found.strength),
        calculated_at: found.calculated_at.into(),
    }))
}
