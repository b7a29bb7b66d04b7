//! What is done with connections.

use std::collections::BTreeSet;

use axum::response::Response;
use merkato::{
    graph::{self, ConnectionType, NewConnection},
    id::UserId,
};
use rust_decimal::Decimal;

use super::{
    super::{
        forms::{self, Forms},
        pager::Turn,
    },
    names,
    person::{ListQuery, page},
    person_path,
};
use crate::{
    http::{Path, Problem, Visit},
    web::{Fields, Form, Frame, see_other},
};

/// The page of the person, with the form as it was sent.
async fn refused(
    visit: &Visit,
    frame: Frame,
    user: UserId,
    (form, fields): (&'static str, Fields),
    problem: Problem,
) -> Result<Response, Problem> {
    let forms = Forms::new(visit).refused(form, fields, problem)?;
    Ok(forms::refused(page(visit, frame, user, (&ListQuery::default(), &Turn::default()), forms).await?))
}

pub async fn connect(
    visit: Visit,
    frame: Frame,
    Path(user): Path<UserId>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    match connected(&visit, user, &fields).await {
        Ok(()) => Ok(see_other(&format!("{}?notice=connected", person_path(user)))),
        Err(problem) => refused(&visit, frame, user, ("connect", fields), problem).await,
    }
}

async fn connected(visit: &Visit, user: UserId, fields: &Fields) -> Result<(), Problem> {
    let found = names::find(visit, fields.text("other")).await?;
    let other = found.map_err(|says| Problem::field("invalid", "/other", says))?;
    let kind = ConnectionType::parse(fields.text("type"))?;
    let strength: Option<Decimal> = match fields.optional("strength") {
        Some(_) => Some(fields.parse("strength", "a number from 0 to 1")?),
        None => None,
    };
    let new = NewConnection { strength, ..NewConnection::default() };
    graph::connect(&visit.ctx, user, kind, other, new).await.map_err(|error| {
        // Who it is to is what is wrong.
        let about_other = matches!(error, graph::Error::OneSelf { .. } | graph::Error::Blocked { .. });
        let says = match &error {
            graph::Error::Blocked { .. } => "One of the two has blocked the other.".to_owned(),
            error => error.to_string(),
        };
        let problem = Problem::from(error);
        if about_other { Problem::field(problem.code, "/other", says) } else { problem }
    })?;
    Ok(())
}

pub async fn disconnect(visit: Visit, Path(user): Path<UserId>, Form(fields): Form) -> Result<Response, Problem> {
    let kind = ConnectionType::parse(fields.text("type"))?;
    let other = UserId(fields.parse("other", "an id")?);
    match graph::disconnect(&visit.ctx, user, kind, other).await {
        // Somebody else was quicker, or the form was sent twice.
        Ok(()) | Err(graph::Error::NotConnected { .. }) => {
            Ok(see_other(&format!("{}?notice=connection-ended", person_path(user))))
        }
        Err(error) => Err(error.into()),
    }
}

pub async fn describe(
    visit: Visit,
    frame: Frame,
    Path(user): Path<UserId>,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let said = fields.text("interests").split(',').map(str::trim).filter(|interest| !interest.is_empty());
    let interests: BTreeSet<String> = said.map(str::to_owned).collect();
    match graph::describe_person(&visit.ctx, user, &interests).await {
        Ok(_) => Ok(see_other(&format!("{}?notice=interests-saved", person_path(user)))),
        Err(error) => {
            let mut problem = Problem::from(error);
            // They stand in one field here.
            problem.errors.iter_mut().for_each(|error| error.pointer = "/interests".into());
            refused(&visit, frame, user, ("interests", fields), problem).await
        }
    }
}

pub async fn suggest(visit: Visit, Path(user): Path<UserId>, Form(_): Form) -> Result<Response, Problem> {
    graph::suggest(&visit.ctx, user).await?;
    Ok(see_other(&format!("{}?notice=suggestions-made#suggestions", person_path(user))))
}
