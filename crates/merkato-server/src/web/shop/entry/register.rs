//! A new account, and the letter that shows whose address it is.

use askama::Template;
use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use merkato::accounts::{self, NewUser, Profile};
use serde::Deserialize;

use crate::{
    http::{App, Problem, Query, Visit, Who, entry},
    web::{Complaints, Fields, Form, Frame, Html, see_other},
};

#[derive(Template)]
#[template(path = "shop/register.html")]
pub struct RegisterPage {
    frame: Frame,
    fields: Fields,
    complaints: Complaints,
}

#[derive(Template)]
#[template(path = "shop/letter-sent.html")]
pub struct LetterSent {
    pub frame: Frame,
    pub heading: &'static str,
    pub text: &'static str,
}

#[derive(Template)]
#[template(path = "shop/confirm.html")]
pub struct ConfirmPage {
    pub frame: Frame,
    pub complaints: Complaints,
    pub heading: &'static str,
    pub text: &'static str,
    pub button: &'static str,
    pub action: &'static str,
    pub token: String,
}

/// The token of a letter's link.
#[derive(Deserialize)]
pub struct LinkQuery {
    #[serde(default)]
    pub token: String,
}

pub async fn show(visit: Visit, frame: Frame) -> Response {
    if matches!(visit.who, Who::Person { .. }) {
        return see_other("/account");
    }
    Html(RegisterPage { frame, fields: Fields::default(), complaints: Complaints::default() }).into_response()
}

pub async fn submit(
    State(app): State<App>,
    visit: Visit,
    frame: Frame,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let profile = Profile {
        first_name: fields.optional("first_name"),
        last_name: fields.optional("last_name"),
        ..Profile::default()
    };
    let new = NewUser { email: fields.text("email").to_owned(), password: fields.text("password").to_owned(), profile };
    match entry::register(&app, &visit, new).await {
        Ok(()) => Ok(see_other("/register/sent")),
        Err(problem) => {
            let complaints = Complaints::about(plainly(problem))?;
            Ok(Html(RegisterPage { frame, fields, complaints }).refused())
        }
    }
}

/// What is wrong with an address or a password, as people say it.
pub fn plainly(mut problem: Problem) -> Problem {
    for error in &mut problem.errors {
        match error.pointer.as_str() {
            "/email" if error.detail == "not an e-mail address" => {
                error.detail = "Enter an e-mail address, as ada@example.com".into();
            }
            "/password" | "/new_password" if error.detail.contains("are the least") => {
                error.detail = "Choose a longer one: ten characters are the least".into();
            }
            "/password" | "/new_password" if error.detail == "it is the e-mail address" => {
                error.detail = "Choose another one than your e-mail address".into();
            }
            _ => {}
        }
    }
    problem
}

pub async fn sent(frame: Frame) -> Html<LetterSent> {
    Html(LetterSent {
        frame,
        heading: "Look into your letters",
        text: "We sent a letter to your e-mail address. Open the link in it to show that the address is yours; then you can \
               log in.",
    })
}

fn verify_question(frame: Frame, token: String, complaints: Complaints) -> ConfirmPage {
    ConfirmPage {
        frame,
        complaints,
        heading: "Verify your e-mail address",
        text: "One click, and your account is ready.",
        button: "Verify my e-mail address",
        action: "/verify",
        token,
    }
}

pub async fn verify_page(frame: Frame, Query(query): Query<LinkQuery>) -> Html<ConfirmPage> {
    Html(verify_question(frame, query.token, Complaints::default()))
}

pub async fn verify(visit: Visit, frame: Frame, Form(fields): Form) -> Result<Response, Problem> {
    match accounts::verify_email(&visit.ctx, fields.text("token")).await {
        Ok(_) => Ok(see_other("/login?notice=verified")),
        Err(accounts::Error::TokenInvalid) => {
            let complaints = Complaints::one(
                "This link has been used, or it has ended. If you verified your address before, log in; otherwise register \
                 again, and a new letter comes.",
            );
            Ok(Html(verify_question(frame, fields.text("token").to_owned(), complaints)).refused())
        }
        Err(error) => Err(error.into()),
    }
}

/// The letter once more, for whoever asks; whether there is anybody to send it to is not told.
pub async fn send_again(State(app): State<App>, visit: Visit, Form(fields): Form) -> Response {
    entry::send_verification(&app, &visit, fields.text("email")).await;
    see_other("/register/sent")
}
