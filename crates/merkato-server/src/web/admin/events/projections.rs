//! The read models that follow the feed: how far they are, and made anew.

use askama::Template;
use axum::response::Response;
use merkato::events::{self, ProjectionStatus};

use super::PATH;
use crate::{
    http::{Path, Problem, Visit},
    web::{
        Form, Frame, Html,
        admin::desk::said::{self, State},
        next, see_other, words,
    },
};

struct Row {
    name: String,
    what: &'static str,
    state: State,
    position: String,
    lag: String,
    /// How far it is with being made anew, in words.
    anew: String,
    updated: String,
    action: String,
}

#[derive(Template)]
#[template(path = "admin/events_projections.html")]
pub struct Projections {
    frame: Frame,
    rows: Vec<Row>,
    head: String,
}

pub async fn show(visit: Visit, frame: Frame) -> Result<Html<Projections>, Problem> {
    let head = events::feed_position(&visit.ctx).await?;
    let all = events::list_projections(&visit.ctx).await?;
    let rows = all.into_iter().map(|status| row(status, head)).collect();
    Ok(Html(Projections { frame, rows, head: words::thousands(&head.to_string()) }))
}

fn row(status: ProjectionStatus, head: i64) -> Row {
    let state = match (&status.rebuild, status.lag) {
        (Some(_), _) => State { word: "Being made anew", class: "doing" },
        (None, 0) => State { word: "Up to date", class: "done" },
        (None, _) => State { word: "Behind", class: "waiting" },
    };
    let number = |number: i64| words::thousands(&number.max(0).to_string());
    let anew = status.rebuild.as_ref().map(|rebuild| format!("{} of {}", number(rebuild.position), number(head)));
    Row {
        what: what(&status.name),
        state,
        position: number(status.position),
        lag: number(status.lag),
        anew: anew.unwrap_or_default(),
        updated: status.updated_at.map_or_else(|| "never".to_owned(), said::moment),
        action: format!("{PATH}/projections/{}/rebuild", next::encode(&status.name)),
        name: status.name,
    }
}

/// What people know a read model by.
fn what(name: &str) -> &'static str {
    match name {
        "event_types" => "The types of events, with their number",
        "user_balance_projection" => "The balance of every wallet",
        _ => "",
    }
}

pub async fn rebuild(visit: Visit, Path(name): Path<String>, Form(_): Form) -> Result<Response, Problem> {
    events::rebuild_projection(&visit.ctx, &name).await?;
    Ok(see_other(&format!("{PATH}/projections?notice=projection-anew")))
}
