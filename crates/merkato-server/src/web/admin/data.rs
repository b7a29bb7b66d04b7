//! The data model: every table drawn as its key, in the manner of a Chebotko diagram, with what is derived from it below it.

use askama::Template;
use axum::extract::State;
use widerow::{
    Schema,
    schema::{Column, Consistency, Direction, Kind, Table},
};

use crate::{
    http::App,
    model,
    web::{Frame, Html},
};

/// A column of a key, or a static one.
struct Drawn {
    name: String,
    kind: String,
    /// As `K` or `C↓`; the page says once what they mean.
    mark: &'static str,
}

/// A table as it is drawn.
struct Box {
    name: String,
    purpose: String,
    columns: Vec<Drawn>,
    others: String,
    /// `90 d`, `guarded`.
    traits: Vec<String>,
    /// What it answers, and where that stands.
    queries: Vec<(&'static str, String)>,
    derived: Vec<Box>,
}

/// The tables of one module.
struct Group {
    name: &'static str,
    tables: Vec<Box>,
}

#[derive(Template)]
#[template(path = "admin/data.html")]
pub struct Data {
    frame: Frame,
    tables: usize,
    derived: usize,
    groups: Vec<Group>,
}

pub async fn show(frame: Frame, State(app): State<App>) -> Html<Data> {
    let schema = app.database().schema();
    let (tables, derived) = (schema.tables().count(), schema.derivations().len());
    Html(Data { frame, tables, derived, groups: groups(schema) })
}

/// Every base table in the group of the first module that asks it, or something derived from it; the rest in one at the end.
fn groups(schema: &Schema) -> Vec<Group> {
    let mut bases: Vec<&Table> = schema.tables().filter(|table| schema.derivation_into(table).is_none()).collect();
    let mut groups = Vec::new();
    for (module, patterns) in merkato::PATTERNS {
        let asked = |table: &Table| patterns.iter().any(|pattern| model::asks(pattern, &table.name));
        let is_its = |base: &Table| asked(base) || schema.derivations_of(base).any(|d| asked(d.derived));
        let (own, others): (Vec<&Table>, Vec<&Table>) = bases.into_iter().partition(|base| is_its(base));
        bases = others;
        groups.push(Group { name: module, tables: own.into_iter().map(|table| draw(schema, table)).collect() });
    }
    let rest = bases.into_iter().map(|table| draw(schema, table)).collect();
    groups.push(Group { name: "behind the scenes", tables: rest });
    groups.retain(|group| !group.tables.is_empty());
    groups
}

fn draw(schema: &Schema, table: &Table) -> Box {
    let is_drawn = |column: &&Column| column.kind != Kind::Regular;
    let others: Vec<&str> =
        table.columns.iter().filter(|column| !is_drawn(column)).map(|column| column.name.as_str()).collect();
    let patterns = merkato::PATTERNS.iter().flat_map(|(_, patterns)| *patterns);
    let asked = patterns.filter(|pattern| model::asks(pattern, &table.name));
    Box {
        name: table.name.clone(),
        purpose: purpose(&table.doc),
        columns: table.columns.iter().filter(is_drawn).map(drawn).collect(),
        others: others.join(", "),
        traits: traits(table),
        queries: asked.map(|pattern| (pattern.name, model::anchor(pattern))).collect(),
        derived: schema.derivations_of(table).map(|derivation| draw(schema, derivation.derived)).collect(),
    }
}

fn drawn(column: &Column) -> Drawn {
    let mark = match column.kind {
        Kind::Partition => "K",
        Kind::Clustering(Direction::Ascending) => "C↑",
        Kind::Clustering(Direction::Descending) => "C↓",
        Kind::Static => "S",
        Kind::Regular => "",
    };
    Drawn { name: column.name.clone(), kind: column.column_type.to_string(), mark }
}

fn traits(table: &Table) -> Vec<String> {
    let mut traits = Vec::new();
    if table.guarded {
        traits.push("guarded".to_owned());
    }
    if let Some(seconds) = table.ttl_seconds {
        traits.push(format!("rows end after {}", span(seconds)));
    }
    if let Some(column) = table.ends.and_then(|position| table.columns.get(position)) {
        traits.push(format!("rows end at {}", column.name));
    }
    let consistency = match table.read {
        Consistency::One | Consistency::LocalOne => "read from one replica",
        Consistency::LocalQuorum => "read from a local quorum",
        Consistency::Quorum => "read from a quorum",
        Consistency::Serial => "read in order with all commits",
    };
    traits.push(consistency.to_owned());
    traits
}

/// `90 days`.
fn span(seconds: u32) -> String {
    let (count, unit) = match seconds {
        seconds if seconds % 86_400 == 0 => (seconds / 86_400, "day"),
        seconds if seconds % 3_600 == 0 => (seconds / 3_600, "hour"),
        seconds => (seconds, "second"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

/// What the declaration says, without the hazards, which are for whoever changes it.
fn purpose(doc: &str) -> String {
    let first = doc.split("RACE:").next().unwrap_or_default().split("ORDER:").next().unwrap_or_default();
    first.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(boxes: &[Box]) -> usize {
        boxes.iter().map(|drawn| 1 + count(&drawn.derived)).sum()
    }

    #[test]
    fn every_table_is_drawn_once() {
        let schema = merkato::schema().expect("a schema");
        let drawn: usize = groups(&schema).iter().map(|group| count(&group.tables)).sum();
        assert_eq!(drawn, schema.tables().count());
    }

    #[test]
    fn a_key_is_drawn_with_its_directions() {
        let schema = merkato::schema().expect("a schema");
        let views = draw(&schema, schema.find("product_views").expect("a table"));
        let marks: Vec<_> = views.columns.iter().map(|column| (column.name.as_str(), column.mark)).collect();
        assert_eq!(marks, [("product_id", "K"), ("date", "C↓")]);
        assert_eq!(views.traits, ["guarded", "rows end after 90 days", "read from one replica"]);
        assert_eq!(views.derived[0].name, "product_views_by_day");
        assert!(views.queries.contains(&("Q19 of a product", "Q19-of-a-product".into())), "{:?}", views.queries);
        let sold = draw(&schema, schema.find("product_sales_by_day").expect("a table"));
        assert!(sold.columns.iter().any(|column| column.name == "as_of" && column.mark == "S"));
    }
}
