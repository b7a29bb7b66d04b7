//! Somebody among those whom they know.

use std::collections::{BTreeMap, HashSet};

use askama::Template;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use merkato::{
    Context, PageRequest,
    graph::{self, Connection, ConnectionType, Degree, Metrics},
    id::UserId,
    keys::Scope::CustomersRead,
    limits,
};
use rust_decimal::{Decimal, prelude::ToPrimitive as _};
use serde::Deserialize;

use super::{
    super::{
        forms::Forms,
        may,
        pager::{Pager, Turn},
        said,
    },
    names::{Names, Somebody},
    person_path, word,
};
use crate::{
    http::{Path, Problem, Query, Visit},
    web::{
        Fields, Frame, Html,
        charts::{self, Chart, Neighbour},
        words,
    },
};

/// People who are drawn around one.
const DRAWN_MAX: usize = 18;
/// Reads at once.
const READ_AT_ONCE: usize = 8;

/// Which list.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct ListQuery {
    #[serde(default)]
    list: String,
}

struct Choice {
    path: String,
    name: &'static str,
    count: i64,
    is_chosen: bool,
}

struct Row {
    somebody: Somebody,
    id: UserId,
    kind: &'static str,
    /// As the form that ends it has it; empty where it is another's to end.
    ends: &'static str,
    strength: String,
    since: String,
    met: String,
}

struct Suggested {
    somebody: Somebody,
    reason: String,
}

struct Figures {
    degree: u32,
    clustering: String,
    betweenness: String,
    pagerank: String,
    community: u32,
    component: u32,
    at: String,
}

impl From<Metrics> for Figures {
    fn from(row: Metrics) -> Self {
        Figures {
            degree: row.degree,
            clustering: percent(row.clustering),
            betweenness: percent(row.betweenness),
            pagerank: percent(row.pagerank),
            community: row.community + 1,
            component: row.component + 1,
            at: said::moment(row.computed_at),
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

#[derive(Template)]
#[template(path = "admin/graph_person.html")]
pub struct Shown {
    frame: Frame,
    forms: Forms,
    id: UserId,
    name: String,
    is_customer: bool,
    email: String,
    own: String,
    chart: Option<Chart>,
    choices: Vec<Choice>,
    rows: Vec<Row>,
    pager: Pager,
    suggestions: Vec<Suggested>,
    interests: Vec<String>,
    figures: Option<Figures>,
}

pub async fn show(
    visit: Visit,
    frame: Frame,
    Path(user): Path<UserId>,
    Query(query): Query<ListQuery>,
    Query(turn): Query<Turn>,
) -> Result<Html<Shown>, Problem> {
    let forms = Forms::new(&visit);
    Ok(Html(page(&visit, frame, user, (&query, &turn), forms).await?))
}

pub async fn page(
    visit: &Visit,
    frame: Frame,
    user: UserId,
    (query, turn): (&ListQuery, &Turn),
    forms: Forms,
) -> Result<Shown, Problem> {
    let ctx = &visit.ctx;
    let person = graph::get_person(ctx, user).await?;
    let account = match may(visit, CustomersRead) {
        true => merkato::accounts::find_user(ctx, user).await?,
        false => None,
    };
    let around = Around::of(ctx, user).await?;
    let suggestions = graph::list_suggestions(ctx, user).await?;
    let own = person_path(user);
    let (listed, next) = list(visit, user, &query.list, turn).await?;
    let people = around.people.iter().map(|(id, _)| *id);
    let people =
        people.chain(listed.iter().map(|row| row.0)).chain(suggestions.iter().map(|row| row.suggested_user_id));
    let names = Names::of(visit, people.chain([user])).await?;
    let name = names.get(user);
    let interests: Vec<String> = person.interests.into_iter().collect();
    let filled = Fields::of([("interests", interests.join(", "))]);
    Ok(Shown {
        forms: forms.with("interests", filled),
        chart: around.chart(&name, &person.degree, &names),
        choices: choices(&own, &query.list, &person.degree),
        rows: listed.into_iter().map(|(id, row)| row.named(id, &names)).collect(),
        pager: turn.pager(visit, &own, &[("list", &query.list)], next),
        suggestions: suggestions
            .into_iter()
            .map(|row| Suggested { somebody: names.somebody(row.suggested_user_id), reason: row.suggestion_reason })
            .collect(),
        figures: graph::find_metrics(ctx, user).await?.map(Figures::from),
        is_customer: account.is_some(),
        email: account.and_then(|account| account.email).unwrap_or_default(),
        id: user,
        frame,
        name,
        own,
        interests,
    })
}

fn choices(own: &str, chosen: &str, degree: &Degree) -> Vec<Choice> {
    let all = [
        ("", "All", degree.friends + degree.following + degree.colleagues + degree.blocked),
        ("friend", "Friends", degree.friends),
        ("follow", "Follows", degree.following),
        ("colleague", "Colleagues", degree.colleagues),
        ("followers", "Known by", degree.friends + degree.followers + degree.colleague_of),
        ("block", "Blocked", degree.blocked),
    ];
    let choice = |(list, name, count): (&'static str, &'static str, i64)| Choice {
        path: if list.is_empty() { own.to_owned() } else { format!("{own}?list={list}") },
        is_chosen: list == chosen,
        name,
        count,
    };
    all.into_iter().map(choice).collect()
}

/// A line, before it is known what people are called.
struct Unnamed {
    kind: ConnectionType,
    is_own: bool,
    strength: Decimal,
    since: String,
    met: String,
}

impl Unnamed {
    fn named(self, id: UserId, names: &Names) -> Row {
        Row {
            somebody: names.somebody(id),
            id,
            kind: if !self.is_own && self.kind == ConnectionType::Follow { "Follower" } else { word(self.kind) },
            ends: if self.is_own { self.kind.as_str() } else { "" },
            strength: format!("{:.2}", self.strength.to_f64().unwrap_or_default()),
            since: self.since,
            met: self.met,
        }
    }
}

type Listed = (Vec<(UserId, Unnamed)>, Option<merkato::Cursor>);

async fn list(visit: &Visit, user: UserId, which: &str, turn: &Turn) -> Result<Listed, Problem> {
    let page = turn.page(visit)?;
    if which == "followers" {
        let found = graph::list_followers(&visit.ctx, user, None, page).await?;
        let row = |row: graph::ReverseConnection| {
            let (kind, strength, since) = (row.connection_type, row.connection_strength, said::day(row.created_at));
            (row.connecting_user_id, Unnamed { kind, is_own: false, strength, since, met: String::new() })
        };
        return Ok((found.rows.into_iter().map(row).collect(), found.next));
    }
    let kind = if which.is_empty() { None } else { Some(ConnectionType::parse(which)?) };
    let found = graph::list_connections(&visit.ctx, user, kind, page).await?;
    let row = |mut row: Connection| {
        let (kind, strength, since) = (row.connection_type, row.connection_strength, said::day(row.created_at));
        let met = row.connection_metadata.remove("met").unwrap_or_default();
        (row.connected_user_id, Unnamed { kind, is_own: true, strength, since, met })
    };
    Ok((found.rows.into_iter().map(row).collect(), found.next))
}

/// What somebody is to the one in the middle.
struct Near {
    kinds: Vec<ConnectionType>,
    strength: Decimal,
    community: Option<u32>,
}

/// Those who are drawn around one, and who of them know each other.
struct Around {
    people: Vec<(UserId, Near)>,
    links: Vec<(usize, usize)>,
    /// Whether there are more than are drawn.
    is_part: bool,
}

impl Around {
    /// The nearest of the first hundred.
    async fn of(ctx: &Context, user: UserId) -> Result<Self, Problem> {
        let first = PageRequest::first(limits::PAGE_ROWS_MAX);
        let found = graph::list_connections(ctx, user, None, first).await?;
        let mut near: BTreeMap<UserId, Near> = BTreeMap::new();
        for row in found.rows.into_iter().filter(|row| row.connection_type != ConnectionType::Block) {
            let new = || Near { kinds: Vec::new(), strength: Decimal::ZERO, community: None };
            let near = near.entry(row.connected_user_id).or_insert_with(new);
            near.kinds.push(row.connection_type);
            near.strength = near.strength.max(row.connection_strength);
        }
        let mut people: Vec<(UserId, Near)> = near.into_iter().collect();
        people.sort_by_key(|(id, near)| (std::cmp::Reverse(near.strength), *id));
        let is_part = people.len() > DRAWN_MAX || found.next.is_some();
        people.truncate(DRAWN_MAX);
        let each: Vec<_> = people.iter().map(|(id, _)| known_by(ctx, *id)).collect();
        let known: Vec<(HashSet<UserId>, Option<u32>)> =
            stream::iter(each).buffered(READ_AT_ONCE).try_collect().await?;
        let mut links = Vec::new();
        for (a, (known_by_a, community)) in known.iter().enumerate() {
            people[a].1.community = *community;
            for (b, (known_by_b, _)) in known.iter().enumerate().skip(a + 1) {
                if known_by_a.contains(&people[b].0) || known_by_b.contains(&people[a].0) {
                    links.push((a, b));
                }
            }
        }
        Ok(Around { people, links, is_part })
    }

    fn chart(&self, name: &str, degree: &Degree, names: &Names) -> Option<Chart> {
        if self.people.is_empty() {
            return None;
        }
        let neighbours: Vec<Neighbour> = self
            .people
            .iter()
            .map(|(id, near)| Neighbour {
                name: names.get(*id),
                kind: near.kinds.iter().map(|kind| word(*kind)).collect::<Vec<_>>().join(", "),
                is_light: !near.kinds.contains(&ConnectionType::Friend),
                strength: near.strength.to_f64().unwrap_or_default(),
                community: near.community,
            })
            .collect();
        let friends = words::count(degree.friends.unsigned_abs(), "friend", "friends");
        let pairs = match self.links.len() as u64 {
            0 => "none of those drawn here know each other".to_owned(),
            1 => "two of those drawn here know each other".to_owned(),
            pairs => format!("{pairs} pairs of those drawn here know each other"),
        };
        let part = if self.is_part { format!(" The {} nearest are drawn.", neighbours.len()) } else { String::new() };
        let note = format!(
            "The thicker a line, the stronger the connection; broken where it is no friendship. Colours are communities, whose \
             numbers stand in the table.{part}"
        );
        let title = format!("{name} has {friends}, and {pairs}");
        Some(charts::neighbourhood(&title, name, &neighbours, &self.links).with_note(note))
    }
}

/// Whom one of those who are drawn knows, as far as a page goes, and the community.
async fn known_by(ctx: &Context, user: UserId) -> Result<(HashSet<UserId>, Option<u32>), Problem> {
    let first = PageRequest::first(limits::PAGE_ROWS_MAX);
    let (found, metrics) =
        futures::future::try_join(graph::list_connections(ctx, user, None, first), graph::find_metrics(ctx, user))
            .await?;
    let known = found.rows.into_iter().filter(|row| row.connection_type != ConnectionType::Block);
    Ok((known.map(|row| row.connected_user_id).collect(), metrics.map(|metrics| metrics.community)))
}
