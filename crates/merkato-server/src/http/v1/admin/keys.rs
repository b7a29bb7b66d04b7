//! Keys by which programs prove who they are and what they may do.

use std::collections::BTreeSet;

use http::StatusCode;
use merkato::{
    id::KeyId,
    keys::{self, ApiKey, KeyEntry, NewKey, Scope},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;
use widerow::Timestamp;

use super::actor;
use crate::http::{
    Json, Path, Problem, Query, Visit, Who,
    wire::{Listing, Paging, Time, mirror},
};

mirror! {
    /// What a key may be good for.
    ScopeView = Scope {
        CatalogRead,
        CatalogWrite,
        TreesRead,
        TreesWrite,
        GraphRead,
        GraphWrite,
        CustomersRead,
        CustomersWrite,
        OrdersRead,
        OrdersWrite,
        InventoryRead,
        InventoryWrite,
        AnalyticsRead,
        SalesRead,
        SalesWrite,
        TelemetryRead,
        TelemetryWrite,
        EventsRead,
        EventsWrite,
        WalletsRead,
        WalletsWrite,
        KeysWrite,
        SystemRead,
    }
}

/// A key, without its secret.
#[derive(Serialize, ToSchema)]
pub struct KeyView {
    pub id: Uuid,
    #[schema(example = "The warehouse's scanners")]
    pub name: String,
    pub scopes: BTreeSet<ScopeView>,
    /// As `admin:` and a user's id, `key:` and a key's, or a word.
    pub created_by: String,
    pub created_at: Time,
    /// Exact to an hour or so.
    pub last_used_at: Option<Time>,
    pub expires_at: Option<Time>,
    pub revoked_at: Option<Time>,
    /// Whether it is good at this instant.
    pub in_force: bool,
}

fn view(visit: &Visit, entry: KeyEntry) -> KeyView {
    KeyView {
        id: entry.key_id.0,
        in_force: entry.is_in_force(visit.ctx.now()),
        name: entry.name,
        scopes: entry.scopes.into_iter().map(Into::into).collect(),
        created_by: entry.created_by,
        created_at: entry.created_at.into(),
        last_used_at: entry.last_used_at.map(Time),
        expires_at: entry.expires_at.map(Time),
        revoked_at: entry.revoked_at.map(Time),
    }
}

fn view_of_new(visit: &Visit, key: ApiKey) -> KeyView {
    KeyView {
        id: key.key_id.0,
        in_force: key.is_in_force(visit.ctx.now()),
        name: key.name,
        scopes: key.scopes.into_iter().map(Into::into).collect(),
        created_by: key.created_by,
        created_at: key.created_at.into(),
        last_used_at: None,
        expires_at: key.expires_at.map(Time),
        revoked_at: None,
    }
}

/// Keys, newest first; those that are revoked or at their end for a while
#[utoipa::path(get, path = "/v1/admin/keys", tag = "admin: keys", params(Paging),
    responses((status = 200, description = "A page of them", body = Listing<KeyView>), (status = 304, description = "As the client has it")))]
pub async fn list_keys(visit: Visit, Query(paging): Query<Paging>) -> Result<Json<Listing<KeyView>>, Problem> {
    let found = keys::list(&visit.ctx, visit.page(&paging)?).await?;
    Ok(Json(visit.listing(found, |entry| view(&visit, entry))))
}

/// A key to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyBody {
    #[schema(example = "The warehouse's scanners", min_length = 1, max_length = 200)]
    name: String,
    /// A key makes none that may do what it may not do itself.
    #[schema(min_items = 1)]
    scopes: BTreeSet<ScopeView>,
    /// Good until it is revoked where it is not given; at most ten years ahead.
    expires_at: Option<Time>,
}

/// A key with its token.
#[derive(Serialize, ToSchema)]
pub struct NewKeyView {
    #[serde(flatten)]
    pub key: KeyView,
    /// For `Authorization: Bearer`. It is shown here and nowhere else.
    #[schema(example = "mk_default_…")]
    pub token: String,
}

/// Make a key
///
/// Its token is shown once. A request that is made again makes another key, also with an idempotency key.
#[utoipa::path(post, path = "/v1/admin/keys", tag = "admin: keys", request_body = KeyBody,
    responses((status = 201, description = "The key and its token", body = NewKeyView)))]
pub async fn create_key(visit: Visit, Json(body): Json<KeyBody>) -> Result<(StatusCode, Json<NewKeyView>), Problem> {
    let scopes: BTreeSet<Scope> = body.scopes.into_iter().map(Into::into).collect();
    let made = make_key(&visit, body.name, scopes, body.expires_at.map(|Time(time)| time)).await?;
    let token = made.token.as_str().to_owned();
    Ok((StatusCode::CREATED, Json(NewKeyView { key: view_of_new(&visit, made.key), token })))
}

/// Makes a key for whoever asks. A program's key makes none that may do what it may not do itself.
pub async fn make_key(
    visit: &Visit,
    name: String,
    scopes: BTreeSet<Scope>,
    expires_at: Option<Timestamp>,
) -> Result<keys::Created, Problem> {
    if let Who::Program(own) = &visit.who
        && let Some(more) = scopes.iter().find(|scope| !own.may(**scope))
    {
        let detail = format!("the key has not the scope {}, and makes none that has", more.as_str());
        return Err(Problem::new("scope_missing", detail));
    }
    let new = NewKey { name, scopes, created_by: actor(visit)?, expires_at };
    Ok(keys::create(&visit.ctx, new).await?)
}

/// End a key for good, at once
#[utoipa::path(delete, path = "/v1/admin/keys/{id}", tag = "admin: keys", params(("id" = Uuid, Path, description = "The key")),
    responses((status = 204, description = "It is revoked")))]
pub async fn revoke_key(visit: Visit, Path(id): Path<KeyId>) -> Result<StatusCode, Problem> {
    keys::revoke(&visit.ctx, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
