//! Logging in and out.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::header;
use serde::Deserialize;

use crate::{
    http::{Problem, Query, Visit, Who, entry},
    web::{Complaints, Fields, Form, Frame, Html, next, see_other},
};

#[derive(Template)]
#[template(path = "shop/login.html")]
pub struct LoginPage {
    frame: Frame,
    fields: Fields,
    complaints: Complaints,
    /// Whether the letter that verifies the address can be sent again.
    is_unverified: bool,
}

/// Where one wants to go, and what has just been done.
#[derive(Deserialize)]
pub struct LoginQuery {
    #[serde(default)]
    next: String,
}

pub async fn show(visit: Visit, frame: Frame, Query(query): Query<LoginQuery>) -> Response {
    if matches!(visit.who, Who::Person { .. }) {
        return see_other(next::own_path(&query.next).unwrap_or("/account"));
    }
    let fields = Fields::of([("next", query.next)]);
    Html(LoginPage { frame, fields, complaints: Complaints::default(), is_unverified: false }).into_response()
}

pub async fn submit(visit: Visit, frame: Frame, Form(fields): Form) -> Result<Response, Problem> {
    let problem = match entry::log_in(&visit, fields.text("email"), fields.text("password")).await {
        Ok((_, headers)) => {
            let path = next::own_path(fields.text("next")).unwrap_or("/account");
            let mut response = see_other(path);
            response.headers_mut().extend(headers);
            return Ok(response);
        }
        Err(problem) => problem,
    };
    let is_unverified = problem.code == "email_not_verified";
    let complaints = match problem.code {
        // The same for an address that nobody has as for a wrong password; and as little for what is no address at all.
        "wrong_credentials" | "invalid" => {
            Complaints::one("The e-mail address or the password is wrong. Look whether both are typed as you meant.")
        }
        "email_not_verified" => {
            Complaints::one("Your e-mail address is not verified yet. Open the link in the letter that we sent you.")
        }
        "account_suspended" => Complaints::one("Your account is suspended. Write to the shop."),
        "too_many_attempts" => {
            let seconds = problem.retry_after_seconds.unwrap_or(1);
            Complaints::one(format!("Too many attempts. Wait for {seconds} seconds, then try again."))
        }
        _ => return Err(problem),
    };
    let mut response = Html(LoginPage { frame, fields, complaints, is_unverified }).refused();
    if let Some(seconds) = problem.retry_after_seconds {
        *response.status_mut() = problem.status;
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    Ok(response)
}

pub async fn leave(visit: Visit, Form(_): Form) -> Result<Response, Problem> {
    let mut response = see_other("/?notice=logged-out");
    response.headers_mut().extend(entry::log_out(&visit).await?);
    Ok(response)
}
