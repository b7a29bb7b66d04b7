//! Registering, proving an address, logging in and out. What is done is in [`entry`], for the pages as well.

use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::StatusCode;
use merkato::accounts::{self, NewUser, Profile, Role};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::http::{
    App, Json, Problem, Visit, entry,
    wire::{Time, mirror},
};

/// Who wants to register.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Registration {
    #[schema(example = "ada@example.com", max_length = 254)]
    email: String,
    /// 10 to 1024 bytes; nothing else is asked of it.
    #[schema(example = "correct horse battery", min_length = 10, max_length = 1024, format = Password)]
    password: String,
    #[schema(min_length = 1, max_length = 200)]
    first_name: Option<String>,
    #[schema(min_length = 1, max_length = 200)]
    last_name: Option<String>,
    #[schema(min_length = 1, max_length = 40)]
    phone: Option<String>,
}

/// What happens next.
#[derive(Serialize, ToSchema)]
pub struct Sent {
    #[schema(example = "letter_sent")]
    status: &'static str,
}

const SENT: (StatusCode, Json<Sent>) = (StatusCode::ACCEPTED, Json(Sent { status: "letter_sent" }));

/// Register
///
/// A letter goes to the address, whether or not somebody has registered with it before.
#[utoipa::path(post, path = "/v1/auth/register", tag = "auth", request_body = Registration,
    responses((status = 202, description = "A letter is on its way", body = Sent)))]
pub async fn register(
    State(app): State<App>,
    visit: Visit,
    Json(body): Json<Registration>,
) -> Result<Response, Problem> {
    let Registration { email, password, first_name, last_name, phone } = body;
    let profile = Profile { first_name, last_name, phone, avatar_url: None };
    entry::register(&app, &visit, NewUser { email, password, profile }).await?;
    Ok(SENT.into_response())
}

/// The token of a letter.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LetterToken {
    #[schema(min_length = 1, max_length = 200)]
    token: String,
}

/// Show that an address is one's own
#[utoipa::path(post, path = "/v1/auth/verify", tag = "auth", request_body = LetterToken,
    responses((status = 204, description = "It is verified")))]
pub async fn verify(visit: Visit, Json(body): Json<LetterToken>) -> Result<StatusCode, Problem> {
    accounts::verify_email(&visit.ctx, &body.token).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Who one is.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    #[schema(example = "ada@example.com", max_length = 254)]
    email: String,
    #[schema(example = "correct horse battery", min_length = 1, max_length = 1024, format = Password)]
    password: String,
}

/// A session.
#[derive(Serialize, ToSchema)]
pub struct SessionView {
    pub user_id: Uuid,
    pub role: RoleView,
    /// For `Authorization: Bearer`. It is in the cookie, too, and shown nowhere else.
    pub token: String,
    pub expires_at: Time,
}

mirror! {
    /// What a user may do.
    RoleView = Role { Customer, Staff, Admin }
}

/// Log in
///
/// Always opens a new session. A guest's cart that comes with the request becomes a part of the user's.
#[utoipa::path(post, path = "/v1/auth/login", tag = "auth", request_body = Credentials,
    responses((status = 200, description = "A session, as a token and as a cookie", body = SessionView)))]
pub async fn log_in(visit: Visit, Json(body): Json<Credentials>) -> Result<Response, Problem> {
    let (entered, headers) = entry::log_in(&visit, &body.email, &body.password).await?;
    let view = SessionView {
        user_id: entered.actor.user_id.0,
        role: entered.actor.role.into(),
        token: entered.token.as_str().to_owned(),
        expires_at: entered.expires_at.into(),
    };
    Ok((headers, Json(view)).into_response())
}

/// Log out
#[utoipa::path(post, path = "/v1/auth/logout", tag = "auth", responses((status = 204, description = "The session has ended")))]
pub async fn log_out(visit: Visit) -> Result<Response, Problem> {
    let headers = entry::log_out(&visit).await?;
    Ok((StatusCode::NO_CONTENT, headers).into_response())
}

/// Whose password.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ResetRequest {
    #[schema(example = "ada@example.com", max_length = 254)]
    email: String,
}

/// Ask for a new password
///
/// A letter goes to the address if it has an account; the answer does not say whether it has.
#[utoipa::path(post, path = "/v1/auth/password-reset", tag = "auth", request_body = ResetRequest,
    responses((status = 202, description = "A letter is on its way, if there is an account", body = Sent)))]
pub async fn request_password_reset(
    State(app): State<App>,
    visit: Visit,
    Json(body): Json<ResetRequest>,
) -> Result<Response, Problem> {
    entry::request_password_reset(&app, &visit, &body.email).await?;
    Ok(SENT.into_response())
}

/// A new password.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Reset {
    #[schema(min_length = 1, max_length = 200)]
    token: String,
    #[schema(example = "correct horse battery", min_length = 10, max_length = 1024, format = Password)]
    new_password: String,
}

/// Set a new password
///
/// Every session of the user ends.
#[utoipa::path(post, path = "/v1/auth/password-reset/confirm", tag = "auth", request_body = Reset,
    responses((status = 204, description = "It is set")))]
pub async fn reset_password(visit: Visit, Json(body): Json<Reset>) -> Result<StatusCode, Problem> {
    accounts::reset_password(&visit.ctx, &body.token, &body.new_password).await?;
    Ok(StatusCode::NO_CONTENT)
}
