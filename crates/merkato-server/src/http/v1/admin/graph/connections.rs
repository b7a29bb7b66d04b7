//! Connections: made, kept up and ended, and listed from both their ends.

use std::collections::BTreeMap;

use http::StatusCode;
use merkato::{
    graph::{self, Connection, NewConnection, ReverseConnection},
    id::UserId,
};
use rust_decimal::{Decimal, prelude::FromPrimitive as _};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{ConnectionTypeView, named, number};
use crate::http::{
    Json, Path, Problem, Query, Visit,
    wire::{Listing, Paging, Time},
};

/// A connection.
#[derive(Serialize, ToSchema)]
pub struct ConnectionView {
    /// Whose it is.
    pub user_id: Uuid,
    #[serde(rename = "type")]
    pub connection_type: ConnectionTypeView,
    /// To whom.
    pub other_id: Uuid,
    /// 0 to 1.
    #[schema(example = 0.7, minimum = 0, maximum = 1)]
    pub strength: f64,
    pub metadata: BTreeMap<String, String>,
    pub created_at: Time,
    pub last_interaction: Time,
}

impl From<Connection> for ConnectionView {
    fn from(row: Connection) -> Self {
        ConnectionView {
            user_id: row.user_id.0,
            connection_type: row.connection_type.into(),
            other_id: row.connected_user_id.0,
            strength: number(row.connection_strength),
            metadata: row.connection_metadata,
            created_at: row.created_at.into(),
            last_interaction: row.last_interaction.into(),
        }
    }
}

/// What is known of a connection. What is absent is as its type has it, or stays as it is.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectionBody {
    /// 0 to 1. A friend has 0.7, a colleague 0.5, whom one follows 0.3.
    #[schema(example = 0.7, minimum = 0, maximum = 1)]
    strength: Option<f64>,
    /// At most 20 entries.
    metadata: Option<BTreeMap<String, String>>,
    /// For one that is older than its record.
    created_at: Option<Time>,
}

impl ConnectionBody {
    fn connection(self) -> Result<NewConnection, Problem> {
        let decimal = |strength: f64| {
            let refused = || Problem::field("invalid", "/strength", format!("{strength} is not 0 to 1"));
            Decimal::from_f64(strength).ok_or_else(refused)
        };
        Ok(NewConnection {
            strength: self.strength.map(decimal).transpose()?,
            metadata: self.metadata,
            created_at: self.created_at.map(|Time(at)| at),
        })
    }
}

/// Make a connection, or bring it up to date
///
/// The same again changes nothing. A friendship is that of both from then on; a block hides the two from each other in every list,
/// path and suggestion, until it is taken back. Whether there are such people is not asked.
#[utoipa::path(put, path = "/v1/admin/graph/{user}/connections/{type}/{other}", tag = "admin: graph", request_body = ConnectionBody,
    params(("user" = Uuid, Path, description = "Whose it is"), ("type" = ConnectionTypeView, Path, description = "What they are to each other"),
        ("other" = Uuid, Path, description = "To whom")),
    responses((status = 200, description = "The connection as it is now", body = ConnectionView)))]
pub async fn connect(
    visit: Visit,
    Path((user, connection_type, other)): Path<(UserId, String, UserId)>,
    Json(body): Json<ConnectionBody>,
) -> Result<Json<ConnectionView>, Problem> {
    let made = graph::connect(&visit.ctx, user, named(&connection_type)?, other, body.connection()?).await?;
    Ok(Json(made.into()))
}

/// A connection
#[utoipa::path(get, path = "/v1/admin/graph/{user}/connections/{type}/{other}", tag = "admin: graph",
    params(("user" = Uuid, Path, description = "Whose it is"), ("type" = ConnectionTypeView, Path, description = "What they are to each other"),
        ("other" = Uuid, Path, description = "To whom")),
    responses((status = 200, description = "The connection", body = ConnectionView), (status = 304, description = "As the client has it")))]
pub async fn get_connection(
    visit: Visit,
    Path((user, connection_type, other)): Path<(UserId, String, UserId)>,
) -> Result<Json<ConnectionView>, Problem> {
    let connection_type = named(&connection_type)?;
    let found = graph::find_connection(&visit.ctx, user, connection_type, other).await?;
    Ok(Json(found.ok_or(graph::Error::NotConnected { user, connection_type, other })?.into()))
}

/// End a connection
///
/// A friendship ends for both, whoever ends it. What a block has hidden is there again when the block ends.
#[utoipa::path(delete, path = "/v1/admin/graph/{user}/connections/{type}/{other}", tag = "admin: graph",
    params(("user" = Uuid, Path, description = "Whose it is"), ("type" = ConnectionTypeView, Path, description = "What they are to each other"),
        ("other" = Uuid, Path, description = "To whom")),
    responses((status = 204, description = "It has ended")))]
pub async fn disconnect(
    visit: Visit,
    Path((user, connection_type, other)): Path<(UserId, String, UserId)>,
) -> Result<StatusCode, Problem> {
    graph::disconnect(&visit.ctx, user, named(&connection_type)?, other).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Note that the two have had to do with each other
///
/// The connection is stronger by a tenth of what is missing to 1.
#[utoipa::path(post, path = "/v1/admin/graph/{user}/connections/{type}/{other}/interactions", tag = "admin: graph",
    params(("user" = Uuid, Path, description = "Whose it is"), ("type" = ConnectionTypeView, Path, description = "What they are to each other"),
        ("other" = Uuid, Path, description = "To whom")),
    responses((status = 200, description = "The connection as it is now", body = ConnectionView)))]
pub async fn interact(
    visit: Visit,
    Path((user, connection_type, other)): Path<(UserId, String, UserId)>,
) -> Result<Json<ConnectionView>, Problem> {
    Ok(Json(graph::interact(&visit.ctx, user, named(&connection_type)?, other).await?.into()))
}

/// Which connections, and which page of them.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ConnectionsQuery {
    /// All types without one.
    #[serde(rename = "type")]
    #[param(inline)]
    connection_type: Option<ConnectionTypeView>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    cursor: Option<String>,
}

impl ConnectionsQuery {
    fn paging(&self) -> Paging {
        Paging { limit: self.limit, cursor: self.cursor.clone() }
    }
}

/// Whom somebody is connected to
///
/// Those whom they have blocked are among them.
#[utoipa::path(get, path = "/v1/admin/graph/{user}/connections", tag = "admin: graph",
    params(("user" = Uuid, Path, description = "Whose they are"), ConnectionsQuery),
    responses((status = 200, description = "A page of them", body = Listing<ConnectionView>), (status = 304, description = "As the client has it")))]
pub async fn list_connections(
    visit: Visit,
    Path(user): Path<UserId>,
    Query(query): Query<ConnectionsQuery>,
) -> Result<Json<Listing<ConnectionView>>, Problem> {
    let page = visit.page(&query.paging())?;
    let found = graph::list_connections(&visit.ctx, user, query.connection_type.map(Into::into), page).await?;
    Ok(Json(visit.listed(found.rows, found.next, ConnectionView::from)))
}

/// A connection, seen from the one to whom it is.
#[derive(Serialize, ToSchema)]
pub struct FollowerView {
    /// To whom it is.
    pub user_id: Uuid,
    #[serde(rename = "type")]
    pub connection_type: ConnectionTypeView,
    /// Whose it is.
    pub other_id: Uuid,
    #[schema(example = 0.3, minimum = 0, maximum = 1)]
    pub strength: f64,
    pub created_at: Time,
}

impl From<ReverseConnection> for FollowerView {
    fn from(row: ReverseConnection) -> Self {
        FollowerView {
            user_id: row.user_id.0,
            connection_type: row.connection_type.into(),
            other_id: row.connecting_user_id.0,
            strength: number(row.connection_strength),
            created_at: row.created_at.into(),
        }
    }
}

/// Who is connected to somebody
///
/// Who has blocked them is not told.
#[utoipa::path(get, path = "/v1/admin/graph/{user}/followers", tag = "admin: graph",
    params(("user" = Uuid, Path, description = "To whom"), ConnectionsQuery),
    responses((status = 200, description = "A page of them", body = Listing<FollowerView>), (status = 304, description = "As the client has it")))]
pub async fn list_followers(
    visit: Visit,
    Path(user): Path<UserId>,
    Query(query): Query<ConnectionsQuery>,
) -> Result<Json<Listing<FollowerView>>, Problem> {
    let page = visit.page(&query.paging())?;
    let found = graph::list_followers(&visit.ctx, user, query.connection_type.map(Into::into), page).await?;
    Ok(Json(visit.listed(found.rows, found.next, FollowerView::from)))
}
