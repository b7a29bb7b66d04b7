//! What the shop knows of whoever is logged in, and their addresses.

use std::collections::BTreeMap;

use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use merkato::{
    accounts::{self, Address, AddressInput, ProfileChange, User},
    id::AddressId,
};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::auth::RoleView;
use crate::http::{
    Json, Path, Problem, Visit,
    conditional::{IfMatch, Tagged},
    wire::{Listing, Time},
};

/// A person.
#[derive(Serialize, ToSchema)]
pub struct Me {
    pub id: Uuid,
    pub email: Option<String>,
    pub email_verified: bool,
    pub role: RoleView,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    pub phone: Option<String>,
    pub avatar_url: Option<String>,
    pub preferences: BTreeMap<String, String>,
    pub default_address_id: Option<Uuid>,
    pub created_at: Time,
    pub updated_at: Time,
}

impl From<User> for Me {
    fn from(user: User) -> Self {
        Me {
            id: user.user_id.0,
            email: user.email,
            email_verified: user.email_verified,
            role: user.role.into(),
            first_name: user.first_name,
            last_name: user.last_name,
            phone: user.phone,
            avatar_url: user.avatar_url,
            preferences: user.preferences,
            default_address_id: user.default_address_id.map(|id| id.0),
            created_at: user.created_at.into(),
            updated_at: user.updated_at.into(),
        }
    }
}

fn tagged(user: User) -> Tagged<Json<Me>> {
    Tagged { revision: user.revision, view: Json(user.into()) }
}

/// A field that is there, null or not.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// What is changed. What is absent stays, what is null is taken away.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MeChange {
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 200)]
    first_name: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 200)]
    last_name: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 40)]
    phone: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 2000)]
    avatar_url: Option<Option<String>>,
    /// In place of all that there are.
    #[serde(default)]
    preferences: Option<BTreeMap<String, String>>,
}

/// Who is logged in
#[utoipa::path(get, path = "/v1/me", tag = "me",
    responses((status = 200, description = "The person", body = Me), (status = 304, description = "As the client has it")))]
pub async fn get_me(visit: Visit) -> Result<Tagged<Json<Me>>, Problem> {
    Ok(tagged(accounts::get_user(&visit.ctx, visit.person()?.user_id).await?))
}

/// Change what one says about oneself
#[utoipa::path(patch, path = "/v1/me", tag = "me", request_body = MeChange,
    params(("If-Match" = Option<String>, Header, description = "The ETag that the change rests upon")),
    responses((status = 200, description = "The person as it is now", body = Me)))]
pub async fn change_me(
    visit: Visit,
    IfMatch(expected): IfMatch,
    Json(body): Json<MeChange>,
) -> Result<Tagged<Json<Me>>, Problem> {
    let MeChange { first_name, last_name, phone, avatar_url, preferences } = body;
    let change = ProfileChange { first_name, last_name, phone, avatar_url, preferences };
    Ok(tagged(accounts::change_profile(&visit.ctx, visit.person()?.user_id, expected, change).await?))
}

/// An address.
#[derive(Serialize, ToSchema)]
pub struct AddressView {
    pub id: Uuid,
    #[schema(example = "home")]
    pub label: Option<String>,
    #[schema(example = "Unter den Linden 1")]
    pub street: String,
    pub street2: Option<String>,
    #[schema(example = "Berlin")]
    pub city: String,
    pub state: Option<String>,
    #[schema(example = "10117")]
    pub postal_code: Option<String>,
    /// Two letters of ISO 3166.
    #[schema(example = "DE")]
    pub country: String,
    pub phone: Option<String>,
    pub is_default: bool,
}

fn view(address: Address, default: Option<AddressId>) -> AddressView {
    AddressView {
        id: address.address_id.0,
        is_default: default == Some(address.address_id),
        label: address.label,
        street: address.street,
        street2: address.street2,
        city: address.city,
        state: address.state,
        postal_code: address.postal_code,
        country: address.country,
        phone: address.phone,
    }
}

/// An address as it should be.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AddressBody {
    #[schema(min_length = 1, max_length = 200)]
    label: Option<String>,
    #[schema(example = "Unter den Linden 1", min_length = 1, max_length = 200)]
    street: String,
    #[schema(min_length = 1, max_length = 200)]
    street2: Option<String>,
    #[schema(example = "Berlin", min_length = 1, max_length = 200)]
    city: String,
    #[schema(min_length = 1, max_length = 200)]
    state: Option<String>,
    #[schema(example = "10117", min_length = 1, max_length = 20)]
    postal_code: Option<String>,
    #[schema(example = "DE", pattern = "^[A-Z]{2}$")]
    country: String,
    #[schema(min_length = 1, max_length = 40)]
    phone: Option<String>,
    /// Whether it is to be the default from now on. The first always is.
    #[serde(default)]
    make_default: bool,
}

impl AddressBody {
    fn input(self) -> AddressInput {
        let AddressBody { label, street, street2, city, state, postal_code, country, phone, make_default: _ } = self;
        AddressInput { label, street, street2, city, state, postal_code, country, phone }
    }
}

fn find(user: &User, id: AddressId) -> Result<AddressView, Problem> {
    let found = user.addresses.iter().find(|address| address.address_id == id).cloned();
    let missing = accounts::Error::AddressNotFound { address: id };
    Ok(view(found.ok_or(missing)?, user.default_address_id))
}

/// One's addresses, in the order in which they were added
#[utoipa::path(get, path = "/v1/me/addresses", tag = "me",
    responses((status = 200, description = "All of them", body = Listing<AddressView>), (status = 304, description = "As the client has it")))]
pub async fn list_addresses(visit: Visit) -> Result<Json<Listing<AddressView>>, Problem> {
    let user = accounts::get_user(&visit.ctx, visit.person()?.user_id).await?;
    let default = user.default_address_id;
    Ok(Json(Listing::whole(user.addresses.into_iter().map(|address| view(address, default)))))
}

/// One more address
#[utoipa::path(post, path = "/v1/me/addresses", tag = "me", request_body = AddressBody,
    responses((status = 201, description = "The address", body = AddressView,
        headers(("Location" = String, description = "Where it is")))))]
pub async fn add_address(visit: Visit, Json(body): Json<AddressBody>) -> Result<Response, Problem> {
    let (make_default, user) = (body.make_default, visit.person()?.user_id);
    let (id, user) = accounts::add_address(&visit.ctx, user, body.input(), make_default).await?;
    let mut headers = HeaderMap::new();
    if let Ok(location) = HeaderValue::try_from(format!("/v1/me/addresses/{id}")) {
        headers.insert(header::LOCATION, location);
    }
    Ok((StatusCode::CREATED, headers, Json(find(&user, id)?)).into_response())
}

/// Another address in place of one. Orders keep the one that they were placed with
#[utoipa::path(put, path = "/v1/me/addresses/{id}", tag = "me", request_body = AddressBody,
    params(("id" = Uuid, Path, description = "The address")),
    responses((status = 200, description = "The address as it is now", body = AddressView)))]
pub async fn change_address(
    visit: Visit,
    Path(id): Path<AddressId>,
    Json(body): Json<AddressBody>,
) -> Result<Json<AddressView>, Problem> {
    let (make_default, user_id) = (body.make_default, visit.person()?.user_id);
    let mut user = accounts::change_address(&visit.ctx, user_id, id, body.input()).await?;
    if make_default && user.default_address_id != Some(id) {
        user = accounts::set_default_address(&visit.ctx, user_id, id).await?;
    }
    Ok(Json(find(&user, id)?))
}

/// Remove an address
#[utoipa::path(delete, path = "/v1/me/addresses/{id}", tag = "me", params(("id" = Uuid, Path, description = "The address")),
    responses((status = 204, description = "It is gone")))]
pub async fn remove_address(visit: Visit, Path(id): Path<AddressId>) -> Result<StatusCode, Problem> {
    accounts::remove_address(&visit.ctx, visit.person()?.user_id, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
