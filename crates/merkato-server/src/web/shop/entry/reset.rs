//! A new password for who has forgotten the old one.

use askama::Template;
use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use merkato::accounts;

use super::register::{LetterSent, LinkQuery, plainly};
use crate::{
    http::{App, Problem, Query, Visit, entry},
    web::{Complaints, Fields, Form, Frame, Html, see_other},
};

#[derive(Template)]
#[template(path = "shop/reset.html")]
pub struct ResetPage {
    frame: Frame,
    fields: Fields,
    complaints: Complaints,
    /// Of the letter; empty where one is still to be asked for.
    token: String,
}

pub async fn show(frame: Frame, Query(query): Query<LinkQuery>) -> Response {
    let page = ResetPage { frame, fields: Fields::default(), complaints: Complaints::default(), token: query.token };
    Html(page).into_response()
}

pub async fn ask(State(app): State<App>, visit: Visit, frame: Frame, Form(fields): Form) -> Result<Response, Problem> {
    match entry::request_password_reset(&app, &visit, fields.text("email")).await {
        Ok(()) => Ok(see_other("/password-reset/sent")),
        Err(problem) => {
            let complaints = Complaints::about(plainly(problem))?;
            Ok(Html(ResetPage { frame, fields, complaints, token: String::new() }).refused())
        }
    }
}

pub async fn sent(frame: Frame) -> Html<LetterSent> {
    Html(LetterSent {
        frame,
        heading: "Look into your letters",
        text: "If there is an account with this address, a letter is on its way to it. Open the link in it to choose a new \
               password.",
    })
}

pub async fn set(visit: Visit, frame: Frame, Form(fields): Form) -> Result<Response, Problem> {
    let token = fields.text("token").to_owned();
    let problem = match accounts::reset_password(&visit.ctx, &token, fields.text("new_password")).await {
        Ok(_) => return Ok(see_other("/login?notice=password-set")),
        Err(error) => Problem::from(error),
    };
    let (complaints, token) = match problem.code {
        "token_invalid" => {
            (Complaints::one("This link has been used, or it has ended. Ask for a new letter below."), String::new())
        }
        _ => (Complaints::about(plainly(problem))?, token),
    };
    Ok(Html(ResetPage { frame, fields, complaints, token }).refused())
}
