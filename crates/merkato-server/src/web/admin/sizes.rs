//! How large the shop's partitions are. Measuring walks over tables: it is done when somebody asks, within bounds, by one at a
//! time.

use std::time::Duration;

use askama::Template;
use axum::extract::State;
use serde::Deserialize;
use tokio::time::Instant;
use widerow::{
    schema::Table,
    store::{Extent, Histogram},
};

use crate::{
    http::{App, Problem, Query, Visit},
    model,
    web::{
        Frame, Html,
        charts::{self, Chart, Column},
        words,
    },
};

/// Rows that are walked over for each of all tables, and for one by itself.
const ROWS_EACH: u64 = 20_000;
const ROWS_ONE: u64 = 500_000;
/// The longest that it takes: less than a request may.
const TIME_MAX: Duration = Duration::from_secs(15);
/// Scans of a table side by side.
const RANGES: usize = 2;

#[derive(Deserialize)]
pub struct SizesQuery {
    measure: Option<String>,
    table: Option<String>,
}

/// What was measured of a table.
struct Row {
    table: String,
    partitions: String,
    rows: String,
    bytes: String,
    most_rows: String,
    most_bytes: String,
    is_large: bool,
    is_part: bool,
}

/// What was measured.
struct Measured {
    rows: Vec<Row>,
    charts: Vec<Chart>,
    /// Tables that no time was left for.
    left: usize,
    is_part: bool,
}

#[derive(Template)]
#[template(path = "admin/sizes.html")]
pub struct Sizes {
    frame: Frame,
    tables: Vec<String>,
    chosen: Option<String>,
    measured: Option<Measured>,
    rows_each: String,
    rows_one: String,
    seconds: u64,
}

pub async fn show(
    frame: Frame,
    visit: Visit,
    State(app): State<App>,
    Query(query): Query<SizesQuery>,
) -> Result<Html<Sizes>, Problem> {
    let schema = app.database().schema();
    let chosen = query.table.filter(|name| !name.is_empty());
    let tables: Vec<&'static Table> = match &chosen {
        Some(name) => vec![schema.find(name).ok_or_else(|| Problem::new("not_found", "there is no such table"))?],
        None => schema.tables().collect(),
    };
    let measured = match query.measure {
        Some(_) => Some(measure(&app, &visit, &tables, chosen.is_some()).await?),
        None => None,
    };
    Ok(Html(Sizes {
        frame,
        tables: schema.tables().map(|table| table.name.clone()).collect(),
        chosen,
        measured,
        rows_each: words::thousands(&ROWS_EACH.to_string()),
        rows_one: words::thousands(&ROWS_ONE.to_string()),
        seconds: TIME_MAX.as_secs(),
    }))
}

async fn measure(app: &App, visit: &Visit, tables: &[&'static Table], is_one: bool) -> Result<Measured, Problem> {
    let Some(_turn) = app.inspections().take_turn() else {
        return Err(Problem::new("busy", "Somebody is measuring or checking already.").retry_after(5));
    };
    let extent = Extent { tenant: Some(visit.ctx.store.tenant()), rows_max: if is_one { ROWS_ONE } else { ROWS_EACH } };
    let end = Instant::now() + TIME_MAX;
    let (mut rows, mut all, mut left) = (Vec::new(), Histogram::default(), 0);
    for table in tables {
        let measured = tokio::time::timeout_at(end, app.database().histogram_within(table, RANGES, extent)).await;
        let Ok(measured) = measured else {
            left += 1;
            continue;
        };
        let histogram = measured?;
        rows.push(row(&table.name, &histogram));
        add(&mut all, histogram);
    }
    rows.sort_by(|a, b| a.table.cmp(&b.table));
    let mut charts = Vec::from_iter(chart(&all.by_rows, &all, "rows", |rows| words::thousands(&rows.to_string())));
    charts.extend(chart(&all.by_bytes, &all, "bytes", words::bytes).filter(|_| is_one));
    Ok(Measured { rows, charts, left, is_part: all.is_part })
}

fn row(table: &str, histogram: &Histogram) -> Row {
    let count = |number: u64| words::thousands(&number.to_string());
    Row {
        table: table.to_owned(),
        partitions: count(histogram.partitions),
        rows: count(histogram.rows),
        bytes: words::bytes(histogram.bytes),
        most_rows: count(model::most_rows(histogram)),
        most_bytes: words::bytes(model::most_bytes(histogram)),
        is_large: model::is_large(histogram),
        is_part: histogram.is_part,
    }
}

fn add(to: &mut Histogram, from: Histogram) {
    let sum = |to: &mut Vec<u64>, from: &[u64]| {
        to.resize(to.len().max(from.len()), 0);
        to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
    };
    to.partitions += from.partitions;
    to.is_part |= from.is_part;
    sum(&mut to.by_rows, &from.by_rows);
    sum(&mut to.by_bytes, &from.by_bytes);
    let rows = |histogram: &Histogram| histogram.largest.as_ref().map(|(.., rows)| *rows);
    if rows(&from) > rows(to) {
        to.largest = from.largest;
    }
}

/// Bucket i counts partitions of less than 2ⁱ, but not less than half that. None where there is no partition.
fn chart(buckets: &[u64], all: &Histogram, what: &str, written: fn(u64) -> String) -> Option<Chart> {
    let first = buckets.iter().position(|count| *count > 0)?;
    let column = |(bucket, count): (usize, &u64)| {
        let (low, high) = (1_u64 << bucket.saturating_sub(1).min(62), (1_u64 << bucket.min(62)).saturating_sub(1));
        let name = if low >= high { written(low) } else { format!("{}+", written(low)) };
        Column { name, value: *count, shown: words::thousands(&count.to_string()) }
    };
    let columns: Vec<Column> = buckets.iter().enumerate().skip(first).map(column).collect();
    let partitions = words::count(all.partitions, "partition", "partitions");
    let title = match what {
        "rows" => {
            let most = words::count(model::most_rows(all), "row", "rows");
            format!("The largest of {partitions} has {most}")
        }
        _ => format!("The largest of {partitions} has less than {}", words::bytes(model::most_bytes(all))),
    };
    let name = if what == "rows" { "Rows of a partition" } else { "Bytes of a partition" };
    Some(
        charts::histogram(&title, name, &columns).with_note(format!(
            "Partitions by their {what}: every column begins at twice as many as the one before it."
        )),
    )
}
