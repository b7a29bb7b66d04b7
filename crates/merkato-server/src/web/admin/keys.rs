//! The keys of programs: which there are, making one, ending one.

use std::collections::BTreeSet;

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use merkato::{
    id::KeyId,
    keys::{self, KeyEntry, Scope},
};

use super::paging::{PageQuery, Pager};
use crate::{
    http::{Path, Problem, Query, Visit, v1::admin::keys::make_key},
    web::{Complaints, Fields, Form, Frame, Html, see_other, words},
};

/// A key of the list.
struct Row {
    id: String,
    name: String,
    scopes: Vec<&'static str>,
    created: String,
    used: String,
    ends: String,
    state: &'static str,
    in_force: bool,
}

#[derive(Template)]
#[template(path = "admin/keys.html")]
pub struct Keys {
    frame: Frame,
    rows: Vec<Row>,
    pager: Pager,
}

pub async fn list(frame: Frame, visit: Visit, Query(query): Query<PageQuery>) -> Result<Html<Keys>, Problem> {
    let found = keys::list(&visit.ctx, query.request(&visit)?).await?;
    let pager = query.links(&visit, "/admin/keys", found.next.as_ref());
    let rows = found.rows.iter().map(|entry| row(&visit, entry)).collect();
    Ok(Html(Keys { frame, rows, pager }))
}

fn row(visit: &Visit, entry: &KeyEntry) -> Row {
    let in_force = entry.is_in_force(visit.ctx.now());
    Row {
        id: entry.key_id.to_string(),
        name: entry.name.clone(),
        scopes: entry.scopes.iter().map(|scope| told(*scope).0).collect(),
        created: words::day(entry.created_at),
        used: entry.last_used_at.map_or("never".into(), words::moment),
        ends: entry.expires_at.map_or("never".into(), words::day),
        state: match (in_force, entry.revoked_at) {
            (true, _) => "In force",
            (false, Some(_)) => "Revoked",
            (false, None) => "Ended",
        },
        in_force,
    }
}

/// What a scope is called, and what it lets a program do.
fn told(scope: Scope) -> (&'static str, &'static str) {
    match scope {
        Scope::CatalogRead => ("Catalog: read", "See products and categories, hidden ones, too."),
        Scope::CatalogWrite => ("Catalog: change", "Make and change products, categories and featured lists."),
        Scope::TreesRead => ("Trees: read", "See departments, taxonomies and whatever else stands in a tree."),
        Scope::TreesWrite => ("Trees: change", "Make trees; add, rename, move and delete what stands in them."),
        Scope::GraphRead => ("Graph: read", "See who knows whom, and what follows from it."),
        Scope::GraphWrite => ("Graph: change", "Make and end connections; say what people like."),
        Scope::CustomersRead => ("Customers: read", "See who has an account, with names and addresses."),
        Scope::CustomersWrite => ("Customers: change", "Suspend and reinstate customers."),
        Scope::OrdersRead => ("Orders: read", "See orders and discount codes."),
        Scope::OrdersWrite => ("Orders: change", "Move orders on, cancel and refund them, make discount codes."),
        Scope::InventoryRead => ("Inventory: read", "See stock and holds."),
        Scope::InventoryWrite => ("Inventory: change", "Restock, adjust, transfer, hold and release."),
        Scope::AnalyticsRead => ("Analytics: read", "See sales, rankings and views."),
        Scope::SalesRead => ("Sales: read", "See records of sales, trends of prices and suggestions."),
        Scope::SalesWrite => ("Sales: change", "Record sales and take them back."),
        Scope::TelemetryRead => ("Sensors: read", "See sensors and what they measured."),
        Scope::TelemetryWrite => ("Sensors: change", "Register sensors and send measurements."),
        Scope::EventsRead => ("Events: read", "See every event, what follows from it, and follow the feed."),
        Scope::EventsWrite => ("Events: change", "Append events to streams, and have read models made anew."),
        Scope::WalletsRead => ("Wallets: read", "See what customers have as store credit, and how it came to that."),
        Scope::WalletsWrite => ("Wallets: change", "Put store credit into wallets, take it out, move it."),
        Scope::KeysWrite => ("Keys: change", "Make and revoke keys, with no more scopes than its own."),
        Scope::SystemRead => ("System: read", "See how the system is."),
    }
}

/// A scope that can be ticked.
struct Tick {
    value: &'static str,
    name: &'static str,
    says: &'static str,
    is_on: bool,
}

/// For how long a key can be good, in days; nought is for good.
const TERMS: [(&str, &str); 4] =
    [("90", "90 days"), ("365", "A year"), ("30", "30 days"), ("0", "Until it is revoked")];

#[derive(Template)]
#[template(path = "admin/key_new.html")]
pub struct NewKeyPage {
    frame: Frame,
    fields: Fields,
    complaints: Complaints,
    scopes: Vec<Tick>,
    terms: [(&'static str, &'static str); 4],
}

fn form_page(frame: Frame, fields: Fields, complaints: Complaints) -> NewKeyPage {
    let tick = |scope: &Scope| {
        let (name, says) = told(*scope);
        let is_on = fields.all("scope").any(|value| value == scope.as_str());
        Tick { value: scope.as_str(), name, says, is_on }
    };
    let scopes = Scope::ALL.iter().map(tick).collect();
    NewKeyPage { frame, fields, complaints, scopes, terms: TERMS }
}

pub async fn new(frame: Frame) -> Html<NewKeyPage> {
    Html(form_page(frame, Fields::default(), Complaints::default()))
}

#[derive(Template)]
#[template(path = "admin/key_made.html")]
pub struct MadeKey {
    frame: Frame,
    name: String,
    token: String,
    scopes: Vec<&'static str>,
    ends: String,
}

/// The answer is a page and no redirect: the token stands in it and is kept nowhere.
pub async fn create(frame: Frame, visit: Visit, Form(fields): Form) -> Result<Response, Problem> {
    match made(&visit, &fields).await {
        Ok(created) => Ok(Html(MadeKey {
            frame,
            name: created.key.name,
            token: created.token.as_str().to_owned(),
            scopes: created.key.scopes.iter().map(|scope| told(*scope).0).collect(),
            ends: created.key.expires_at.map_or("never".into(), words::day),
        })
        .into_response()),
        Err(problem) => {
            let complaints = Complaints::about(problem)?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, Html(form_page(frame, fields, complaints))).into_response())
        }
    }
}

async fn made(visit: &Visit, fields: &Fields) -> Result<keys::Created, Problem> {
    let unknown = || Problem::field("invalid", "/scopes", "there is no such scope");
    let scopes = fields.all("scope").map(|text| Scope::parse(text).ok_or_else(unknown));
    let scopes = scopes.collect::<Result<BTreeSet<Scope>, Problem>>()?;
    let days: i64 = fields.parse("days", "a number of days")?;
    let expires_at = (days != 0).then(|| visit.ctx.now().plus_seconds(days.saturating_mul(86_400)));
    make_key(visit, fields.text("name").trim().to_owned(), scopes, expires_at).await
}

pub async fn revoke(visit: Visit, Path(id): Path<KeyId>, Form(_): Form) -> Result<Response, Problem> {
    keys::revoke(&visit.ctx, id).await?;
    Ok(see_other("/admin/keys?notice=key-revoked"))
}
