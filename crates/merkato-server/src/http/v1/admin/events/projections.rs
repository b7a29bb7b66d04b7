//! Read models that follow the feed: how far they are, and made anew.

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use merkato::events::{self, ProjectionStatus, Rebuild};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::{
    Json, Path, Problem, Visit,
    wire::{Listing, Time},
};

/// A read model that is being made anew, beside the rows that serve.
#[derive(Serialize, ToSchema)]
pub struct RebuildView {
    /// The place in the feed up to which it is.
    #[schema(example = 512)]
    pub position: i64,
    pub begun_at: Time,
}

impl From<Rebuild> for RebuildView {
    fn from(rebuild: Rebuild) -> Self {
        RebuildView { position: rebuild.position, begun_at: rebuild.begun_at.into() }
    }
}

/// How far a read model is.
#[derive(Serialize, ToSchema)]
pub struct ProjectionView {
    #[schema(example = "event_types")]
    pub name: String,
    /// The last place in the feed that it knows.
    #[schema(example = 1042)]
    pub position: i64,
    /// Events that have a place and that it does not know yet.
    #[schema(example = 0)]
    pub lag: i64,
    /// How often it was made anew, from 1.
    #[schema(example = 1)]
    pub generation: i64,
    pub rebuild: Option<RebuildView>,
    /// Null before it was ever run.
    pub updated_at: Option<Time>,
}

impl From<ProjectionStatus> for ProjectionView {
    fn from(status: ProjectionStatus) -> Self {
        ProjectionView {
            name: status.name,
            position: status.position,
            lag: status.lag,
            generation: status.generation,
            rebuild: status.rebuild.map(RebuildView::from),
            updated_at: status.updated_at.map(Time),
        }
    }
}

/// The read models, and how far behind the feed they are
#[utoipa::path(get, path = "/v1/admin/projections", tag = "admin: events",
    responses((status = 200, description = "All of them", body = Listing<ProjectionView>), (status = 304, description = "As the client has it")))]
pub async fn list_projections(visit: Visit) -> Result<Json<Listing<ProjectionView>>, Problem> {
    Ok(Json(Listing::whole(events::list_projections(&visit.ctx).await?)))
}

/// Have a read model made anew from the first event on
///
/// It goes on in the background: the rows that there are serve until the new ones know as much. Where it is being made anew
/// already, that goes on.
#[utoipa::path(post, path = "/v1/admin/projections/{name}/rebuild", tag = "admin: events",
    params(("name" = String, Path, description = "The projection")),
    responses((status = 202, description = "It is made anew", body = ProjectionView)))]
pub async fn rebuild(visit: Visit, Path(name): Path<String>) -> Result<Response, Problem> {
    events::rebuild_projection(&visit.ctx, &name).await?;
    let all = events::list_projections(&visit.ctx).await?;
    let found = all.into_iter().find(|status| status.name == name);
    let status = found.ok_or(events::Error::ProjectionNotFound { name })?;
    Ok((StatusCode::ACCEPTED, Json(ProjectionView::from(status))).into_response())
}
