//! The whole: how many they are, and who belongs together.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use merkato::graph::{self, Summary};
use serde::Deserialize;

use super::{
    super::said,
    names::{self, Names, Somebody},
    person_path,
};
use crate::{
    http::{Problem, Query, Visit},
    web::{Frame, Html, see_other, words},
};

/// Leaders that a line has.
const LEADERS: usize = 4;

/// Who is looked for.
#[derive(Deserialize)]
pub struct Sought {
    #[serde(default)]
    who: String,
}

struct CommunityRow {
    number: u32,
    people: String,
    /// Of the largest, in steps of five percent.
    width: u64,
    leaders: Vec<Somebody>,
}

struct Whole {
    people: String,
    pairs: String,
    components: i64,
    communities: i64,
    modularity: String,
    /// From how many betweenness was measured.
    measured: String,
    at: String,
}

impl From<Summary> for Whole {
    fn from(summary: Summary) -> Self {
        let thousands = |number: i64| words::thousands(&number.to_string());
        Whole {
            people: thousands(summary.people),
            pairs: thousands(summary.edges),
            components: summary.components,
            communities: summary.communities,
            modularity: format!("{:.2}", summary.modularity),
            measured: match summary.sampled {
                Some(sources) => format!("from a sample of {}", thousands(sources)),
                None => "from everybody".to_owned(),
            },
            at: said::moment(summary.computed_at),
        }
    }
}

#[derive(Template)]
#[template(path = "admin/graph.html")]
pub struct Overview {
    frame: Frame,
    who: String,
    trouble: String,
    whole: Option<Whole>,
    rows: Vec<CommunityRow>,
    /// Communities that have no line.
    further: i64,
}

pub async fn show(visit: Visit, frame: Frame, Query(sought): Query<Sought>) -> Result<Response, Problem> {
    let who = sought.who.trim().to_owned();
    let mut trouble = String::new();
    if !who.is_empty() {
        match names::find(&visit, &who).await? {
            Ok(user) => return Ok(see_other(&person_path(user))),
            Err(says) => trouble = says,
        }
    }
    let (summary, communities) = graph::list_communities(&visit.ctx).await?;
    let leaders = communities.iter().flat_map(|row| row.leaders.iter().take(LEADERS).copied());
    let names = Names::of(&visit, leaders).await?;
    let most = communities.first().map_or(1, |row| u64::from(row.people)).max(1);
    let rows: Vec<CommunityRow> = communities
        .iter()
        .map(|row| CommunityRow {
            number: row.community + 1,
            people: words::thousands(&row.people.to_string()),
            width: (u64::from(row.people) * 20).div_ceil(most) * 5,
            leaders: row.leaders.iter().take(LEADERS).map(|user| names.somebody(*user)).collect(),
        })
        .collect();
    let further = summary.as_ref().map_or(0, |summary| summary.communities - rows.len() as i64);
    Ok(Html(Overview { frame, who, trouble, whole: summary.map(Whole::from), rows, further }).into_response())
}
