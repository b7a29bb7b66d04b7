//! Registering, proving an address, logging in and out.
//!
//! Nobody learns here whether an address has an account: the answers are the same, and so is the time they take. What differs
//! is told by a letter, to who reads the address's letters.

use std::time::{Duration, Instant};

use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, StatusCode, header};
use merkato::{
    accounts::{self, Letter, NewUser, Profile, Role},
    carts::{self, MergePolicy},
    flows,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::http::{
    App, Json, Problem, Visit, Who, cookies,
    mail::Mail,
    who::By,
    wire::{Time, mirror},
};

/// Answers that must not tell of what they did come at multiples of this.
const EVEN: Duration = Duration::from_millis(250);

async fn even_out(began: Instant) {
    let over = began.elapsed().as_millis() % EVEN.as_millis();
    let rest = EVEN.as_millis() - over;
    tokio::time::sleep(Duration::from_millis(u64::try_from(rest).unwrap_or(0))).await;
}

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
    let began = Instant::now();
    let Registration { email, password, first_name, last_name, phone } = body;
    let profile = Profile { first_name, last_name, phone, avatar_url: None };
    let answer = accounts::register(&visit.ctx, NewUser { email: email.clone(), password, profile }).await;
    match answer {
        Ok(registered) => app.post().send(verification(&app, registered.letter)),
        Err(accounts::Error::EmailTaken) => send_again(&app, &visit, &email).await,
        Err(error) => return Err(error.into()),
    }
    even_out(began).await;
    Ok(SENT.into_response())
}

/// To one who registers again: the letter once more, or that there is an account.
///
/// Attempts at letters are counted by the address alone, not against the client: whoever tries many addresses would learn
/// from its own count which of them are known.
async fn send_again(app: &App, visit: &Visit, email: &str) {
    let email = accounts::fold_email(email);
    let counted_as = format!("register {email}");
    match accounts::request_verification(&visit.ctx, &email, &counted_as).await {
        Ok(Some(letter)) => app.post().send(verification(app, letter)),
        Ok(None) => app.post().send(Mail {
            to: email,
            subject: "You have an account already".into(),
            text: "Somebody, perhaps you, wanted to register with this address. It has an account: log in, or ask for a new \
                   password.\n"
                .into(),
        }),
        // Too many letters went there of late, or the store does not answer: the person asks again.
        Err(error) => tracing::info!(code = error.code(), "no letter was sent"),
    }
}

fn link(app: &App, path: &str, token: &str) -> String {
    let url = app.settings().public_url.as_deref().unwrap_or_default().trim_end_matches('/');
    if url.is_empty() { token.to_owned() } else { format!("{url}{path}?token={token}") }
}

fn verification(app: &App, letter: Letter) -> Mail {
    let link = link(app, "/verify", letter.token.as_str());
    let text = format!("Show that this address is yours:\n\n{link}\n\nIf you did not register, do nothing.\n");
    Mail { to: letter.email, subject: "Verify your e-mail address".into(), text }
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
    let entered = accounts::log_in(&visit.ctx, &body.email, &body.password, &visit.client).await?;
    // The session that the browser had before is not used any more; a program that shows another's token keeps it.
    if let Who::Person { actor, by: By::Cookie } = &visit.who {
        accounts::revoke_session(&visit.ctx, actor.user_id, actor.session_id).await?;
    }
    // One is logged in, whatever becomes of the carts; the next login tries again.
    if let Err(error) = flows::person::show_email(&visit.ctx, &entered.user).await {
        tracing::warn!(code = error.code(), "the address is not shown beside the carts");
    }
    let user = entered.actor.user_id;
    let mut headers = HeaderMap::new();
    if let Some(guest) = &visit.guest {
        match carts::merge_guest_cart(&visit.ctx, user, guest, MergePolicy::Max).await {
            Ok(_) => headers.extend(cookies::set(cookies::GUEST, "", 0, visit.secure).map(|c| (header::SET_COOKIE, c))),
            // One is logged in nevertheless. The token is still good for another try.
            Err(error) => tracing::warn!(code = error.code(), "a guest's cart could not be merged"),
        }
    }
    let seconds = (entered.expires_at.millis() - visit.ctx.now().millis()) / 1_000;
    if let Some(cookie) = cookies::set(cookies::SESSION, entered.token.as_str(), seconds, visit.secure) {
        headers.append(header::SET_COOKIE, cookie);
    }
    headers.insert(header::CACHE_CONTROL, http::HeaderValue::from_static("no-store"));
    let view = SessionView {
        user_id: user.0,
        role: entered.actor.role.into(),
        token: entered.token.as_str().to_owned(),
        expires_at: entered.expires_at.into(),
    };
    Ok((headers, Json(view)).into_response())
}

/// Log out
#[utoipa::path(post, path = "/v1/auth/logout", tag = "auth", responses((status = 204, description = "The session has ended")))]
pub async fn log_out(visit: Visit) -> Result<Response, Problem> {
    let actor = visit.person()?;
    accounts::revoke_session(&visit.ctx, actor.user_id, actor.session_id).await?;
    let mut headers = HeaderMap::new();
    if let Some(cookie) = cookies::set(cookies::SESSION, "", 0, visit.secure) {
        headers.insert(header::SET_COOKIE, cookie);
    }
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
    let began = Instant::now();
    let letter = accounts::request_password_reset(&visit.ctx, &body.email, &visit.client.address).await?;
    if let Some(letter) = letter {
        let link = link(&app, "/password-reset", letter.token.as_str());
        let text = format!("Choose a new password:\n\n{link}\n\nIf you did not ask for it, do nothing.\n");
        app.post().send(Mail { to: letter.email, subject: "A new password".into(), text });
    }
    even_out(began).await;
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
