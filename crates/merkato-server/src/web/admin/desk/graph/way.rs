//! The way from one person to another.

use askama::Template;
use merkato::{
    graph::{self, ConnectionType},
    id::UserId,
    limits,
};
use rust_decimal::prelude::ToPrimitive as _;
use serde::Deserialize;

use super::{
    names::{self, Names, Somebody},
    word,
};
use crate::{
    http::{Problem, Query, Visit},
    web::{
        Frame, Html,
        charts::{self, Chart},
        words,
    },
};

/// From whom to whom.
#[derive(Default, Deserialize)]
pub struct Between {
    #[serde(default)]
    from: String,
    #[serde(default)]
    to: String,
}

struct Shown {
    chart: Chart,
    people: Vec<Somebody>,
}

#[derive(Template)]
#[template(path = "admin/graph_path.html")]
pub struct Way {
    frame: Frame,
    from: String,
    to: String,
    from_trouble: String,
    to_trouble: String,
    /// Why there is none, though both are known.
    none: String,
    way: Option<Shown>,
}

pub async fn show(visit: Visit, frame: Frame, Query(between): Query<Between>) -> Result<Html<Way>, Problem> {
    let (from, to) = (between.from.trim().to_owned(), between.to.trim().to_owned());
    let mut page =
        Way { frame, from_trouble: String::new(), to_trouble: String::new(), none: String::new(), way: None, from, to };
    if page.from.is_empty() && page.to.is_empty() {
        return Ok(Html(page));
    }
    let from = sought(&visit, &page.from, &mut page.from_trouble).await?;
    let to = sought(&visit, &page.to, &mut page.to_trouble).await?;
    let (Some(from), Some(to)) = (from, to) else { return Ok(Html(page)) };
    match graph::find_path(&visit.ctx, from, to, limits::PATH_HOPS_MAX).await {
        Ok(Some(found)) => page.way = Some(drawn(&visit, &found).await?),
        Ok(None) => {
            let names = Names::of(&visit, [from, to]).await?;
            page.none = format!(
                "No way of at most {} steps leads from {} to {}.",
                limits::PATH_HOPS_MAX,
                names.get(from),
                names.get(to)
            );
        }
        Err(graph::Error::OneSelf { .. }) => page.to_trouble = "That is the same person.".to_owned(),
        Err(graph::Error::SearchTooWide { .. }) => {
            page.none = "So many people lie between the two that the search was given up.".to_owned();
        }
        Err(error) => return Err(error.into()),
    }
    Ok(Html(page))
}

async fn sought(visit: &Visit, text: &str, trouble: &mut String) -> Result<Option<UserId>, Problem> {
    if text.is_empty() {
        *trouble = "Who is it? An e-mail address or an id.".to_owned();
        return Ok(None);
    }
    Ok(match names::find(visit, text).await? {
        Ok(user) => Some(user),
        Err(says) => {
            *trouble = says;
            None
        }
    })
}

async fn drawn(visit: &Visit, found: &graph::Found) -> Result<Shown, Problem> {
    let names = Names::of(visit, found.nodes.iter().copied()).await?;
    let people: Vec<Somebody> = found.nodes.iter().map(|user| names.somebody(*user)).collect();
    let called: Vec<String> = people.iter().map(|somebody| somebody.name.clone()).collect();
    let mut steps = Vec::new();
    for (pair, kind) in found.nodes.windows(2).zip(&found.types) {
        steps.push(step(visit, pair[0], pair[1], *kind).await?);
    }
    let [first, .., last] = called.as_slice() else { return Err(Problem::internal("a way of nobody")) };
    let title = format!(
        "{} from {first} to {last}, and none of them is weaker than {:.2}",
        words::count(found.types.len() as u64, "step leads", "steps lead"),
        found.strength.to_f64().unwrap_or_default(),
    );
    let title = if found.types.len() == 1 { format!("{first} is connected with {last}") } else { title };
    Ok(Shown { chart: charts::way(&title, &called, &steps), people })
}

/// How strong it is now; it may have ended since the way was found.
async fn step(visit: &Visit, from: UserId, to: UserId, kind: ConnectionType) -> Result<charts::Step, Problem> {
    let found = graph::find_connection(&visit.ctx, from, kind, to).await?;
    let strength = found.and_then(|found| found.connection_strength.to_f64());
    Ok(charts::Step { kind: word(kind).to_owned(), strength })
}
