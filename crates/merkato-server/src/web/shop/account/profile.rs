//! The name, the password and the e-mail address.

use askama::Template;
use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use merkato::{
    accounts::{self, ProfileChange, User},
    flows,
};

use crate::{
    http::{App, Problem, Query, Visit, entry},
    web::{
        Complaints, Fields, Form, Frame, Html, see_other,
        shop::entry::{ConfirmPage, LinkQuery, plainly},
    },
};

#[derive(Template)]
#[template(path = "shop/account/profile.html")]
pub struct ProfilePage {
    frame: Frame,
    email: String,
    fields: Fields,
    complaints: Complaints,
}

async fn user(visit: &Visit) -> Result<User, Problem> {
    Ok(accounts::get_user(&visit.ctx, visit.person()?.user_id).await?)
}

/// The page with what the shop knows, and over it what was typed.
fn page(frame: Frame, user: User, fields: Fields, complaints: Complaints) -> Html<ProfilePage> {
    let is_typed = fields.is_on("typed");
    let known = |fields: Fields, name: &str, value: Option<String>| match (is_typed, value) {
        (false, Some(value)) => fields.with(name, value),
        _ => fields,
    };
    let fields = known(fields, "first_name", user.first_name);
    let fields = known(fields, "last_name", user.last_name);
    let fields = known(fields, "phone", user.phone);
    Html(ProfilePage { frame, email: user.email.unwrap_or_default(), fields, complaints })
}

pub async fn show(visit: Visit, frame: Frame) -> Result<Response, Problem> {
    Ok(page(frame, user(&visit).await?, Fields::default(), Complaints::default()).into_response())
}

pub async fn change(visit: Visit, frame: Frame, Form(fields): Form) -> Result<Response, Problem> {
    let change = ProfileChange {
        first_name: Some(fields.optional("first_name")),
        last_name: Some(fields.optional("last_name")),
        phone: Some(fields.optional("phone")),
        ..ProfileChange::default()
    };
    match accounts::change_profile(&visit.ctx, visit.person()?.user_id, None, change).await {
        Ok(_) => Ok(see_other("/account/profile?notice=changed")),
        Err(error) => {
            let complaints = Complaints::about(error.into())?;
            Ok(page(frame, user(&visit).await?, fields, complaints).refused())
        }
    }
}

/// A refusal of a form that asks for the password: a wrong one stands beside its field.
fn refused(problem: Problem, field: &str) -> Result<Complaints, Problem> {
    match problem.code {
        "wrong_credentials" => Ok(Complaints::field(field, "This is not your password")),
        "too_many_attempts" => {
            let seconds = problem.retry_after_seconds.unwrap_or(1);
            Ok(Complaints::one(format!("Too many attempts. Wait for {seconds} seconds, then try again.")))
        }
        _ => Complaints::about(plainly(problem)),
    }
}

/// Every session ends; this browser gets a new one.
pub async fn change_password(visit: Visit, frame: Frame, Form(fields): Form) -> Result<Response, Problem> {
    let (old, new) = (fields.text("password"), fields.text("new_password"));
    match accounts::change_password(&visit.ctx, visit.person()?.user_id, old, new, &visit.client).await {
        Ok(entered) => {
            let mut response = see_other("/account/profile?notice=password-changed");
            response.headers_mut().extend(entry::session_cookie(&visit, &entered));
            Ok(response)
        }
        Err(error) => {
            let complaints = refused(error.into(), "password")?;
            Ok(page(frame, user(&visit).await?, fields, complaints).refused())
        }
    }
}

/// A letter to the new address. Whether another has it is told only to who reads its letters.
pub async fn change_email(
    State(app): State<App>,
    visit: Visit,
    frame: Frame,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let (password, email) = (fields.text("email_password"), fields.text("email"));
    match entry::request_email_change(&app, &visit, password, email).await {
        Ok(()) => Ok(see_other("/account/profile?notice=letter-sent")),
        Err(mut problem) => {
            for error in problem.errors.iter_mut().filter(|error| error.pointer == "/password") {
                error.pointer = "/email_password".into();
            }
            let complaints = refused(problem, "email_password")?;
            Ok(page(frame, user(&visit).await?, fields, complaints).refused())
        }
    }
}

fn question(frame: Frame, token: String, complaints: Complaints) -> ConfirmPage {
    ConfirmPage {
        frame,
        complaints,
        heading: "Your new e-mail address",
        text: "From now on you log in with the address that this letter came to.",
        button: "Use this address",
        action: "/account/email/confirm",
        token,
    }
}

pub async fn confirm_page(frame: Frame, Query(query): Query<LinkQuery>) -> Html<ConfirmPage> {
    Html(question(frame, query.token, Complaints::default()))
}

pub async fn confirm_email(visit: Visit, frame: Frame, Form(fields): Form) -> Result<Response, Problem> {
    let token = fields.text("token");
    // The page speaks of the visitor's own address. A letter that went to another account is no business of this one.
    let is_own = accounts::addressee(token) == Some(visit.person()?.user_id);
    let problem = match is_own {
        true => match flows::person::confirm_email_change(&visit.ctx, token).await {
            Ok(_) => return Ok(see_other("/account/profile?notice=email-changed")),
            Err(error) => Problem::from(error),
        },
        false => accounts::Error::TokenInvalid.into(),
    };
    let complaints = match problem.code {
        "token_invalid" => Complaints::one("This link has been used, or it has ended. Ask for a new letter."),
        "email_taken" => {
            Complaints::one("Another account has this address. Log in to that one, or use another address.")
        }
        _ => Complaints::about(problem)?,
    };
    Ok(Html(question(frame, fields.text("token").to_owned(), complaints)).refused())
}
