//! What was sold, by category and day; which products do best.

use std::collections::BTreeMap;

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use futures::TryFutureExt as _;
use http::StatusCode;
use merkato::{
    Context, PageRequest,
    analytics::{self, Metric, RANKED_DAYS},
    catalog::{self, Category},
    id::CategoryId,
    limits,
};
use rust_decimal::Decimal;
use serde::Deserialize;

use super::{
    dashboard::names,
    range::{LINKS, Range, RangeQuery},
    takings::{Share, Takings},
};
use crate::{
    http::{Problem, Query, Visit},
    web::{
        Complaints, Fields, Frame, Html,
        charts::{self, Bar, Chart, Line, Series},
        words,
    },
};

/// Departments that have a line of their own in the chart; departments, and categories, that are listed.
const LINES: usize = 5;
const DEPARTMENTS: usize = 24;
const CATEGORIES: usize = 50;
/// Categories whose departments are looked up; those that brought less stand for themselves.
const KNOWN: usize = 200;
/// Products that have a bar.
const BARS: usize = 10;

#[derive(Deserialize)]
pub struct AnalyticsQuery {
    days: Option<String>,
    from: Option<String>,
    to: Option<String>,
    by: Option<String>,
    over: Option<String>,
}

/// What a category brought.
struct CategoryRow {
    name: String,
    orders: String,
    pieces: String,
    revenue: String,
    share: String,
}

/// A product of the ranking.
struct RankedRow {
    rank: i32,
    id: String,
    name: String,
    figure: String,
}

/// One of a row of links.
struct Choice {
    name: String,
    address: String,
    is_current: bool,
}

#[derive(Template)]
#[template(path = "admin/analytics.html")]
pub struct Analytics {
    frame: Frame,
    fields: Fields,
    complaints: Complaints,
    ranges: Vec<Choice>,
    range: String,
    sales: Option<Chart>,
    departments: Vec<CategoryRow>,
    categories: Vec<CategoryRow>,
    /// Categories that are not listed.
    left_out: usize,
    elsewhere: Vec<String>,
    metrics: Vec<Choice>,
    spans: Vec<Choice>,
    ranking: Option<Chart>,
    ranked: Vec<RankedRow>,
    ranked_at: Option<String>,
    figure_name: &'static str,
}

const METRICS: [(&str, &str); 3] = [("revenue", "Revenue"), ("units", "Pieces"), ("views", "Views")];

pub async fn show(frame: Frame, visit: Visit, Query(query): Query<AnalyticsQuery>) -> Result<Response, Problem> {
    let ctx = &visit.ctx;
    let today = ctx.now().date();
    let asked = RangeQuery { days: query.days, from: query.from, to: query.to };
    let (range, complaints) = match Range::of(&asked, today, limits::SALES_DAYS_MAX) {
        Ok(range) => (range, Complaints::default()),
        Err(problem) => (Range::last(30, today), Complaints::about(problem)?),
    };
    let by = METRICS.iter().find(|(name, _)| query.by.as_deref() == Some(name)).unwrap_or(&METRICS[0]).0;
    let over = query.over.as_deref().and_then(|text| text.parse().ok()).filter(|days| RANKED_DAYS.contains(days));
    let over = over.unwrap_or(7);
    let currency = ctx.settings.orders.currency.clone();
    let metric = match by {
        "views" => Metric::Views,
        "units" => Metric::Units,
        _ => Metric::Revenue(currency.clone()),
    };
    let (takings, ranking) = futures::try_join!(
        Takings::load(ctx, range.from, range.to),
        analytics::list_top_products(ctx, &metric, over, PageRequest::first(limits::RANKED_MAX)).map_err(Problem::from),
    )?;
    let ranked = takings.ranked();
    let best: Vec<CategoryId> = ranked.iter().take(KNOWN).map(|(id, _)| *id).collect();
    let (categories, product_names) =
        futures::try_join!(find_categories(ctx, &best), names(ctx, ranking.rows.iter().map(|row| row.product_id)))?;
    let root = |category: &Category| category.path.first().copied().unwrap_or(category.category_id);
    let departments: BTreeMap<CategoryId, CategoryId> =
        categories.values().map(|category| (category.category_id, root(category))).collect();
    let whole = takings.by_department(&departments);
    let unknown: Vec<CategoryId> = departments.values().filter(|id| !categories.contains_key(id)).copied().collect();
    let roots = find_categories(ctx, &unknown).await?;
    let called = |id: &CategoryId| match categories.get(id).or_else(|| roots.get(id)) {
        Some(category) => category.name.clone(),
        None => "A category that is no more".to_owned(),
    };
    let named = |takings: &'_ Takings, most: usize| -> Vec<(String, Share)> {
        takings.ranked().into_iter().take(most).map(|(id, share)| (called(&id), share.clone())).collect()
    };
    let by_department = named(&whole, DEPARTMENTS);
    // Where every category is a department, one list is enough.
    let by_category = if whole.shares.len() == ranked.len() { Vec::new() } else { named(&takings, CATEGORIES) };
    let figure = |value: i64| match metric {
        Metric::Revenue(_) => words::money(currency.amount(value), &currency),
        _ => words::thousands(&value.to_string()),
    };
    let name = |id| product_names.get(&id).cloned().unwrap_or_else(|| "A product that is no more".to_owned());
    let rows = ranking.rows.iter().map(|row| RankedRow {
        rank: row.rank,
        id: row.product_id.to_string(),
        name: name(row.product_id),
        figure: figure(row.value),
    });
    let rows: Vec<RankedRow> = rows.collect();
    let bars = ranking.rows.iter().zip(&rows).take(BARS).map(|(row, shown)| Bar {
        name: shown.name.clone(),
        value: row.value as f64,
        shown: shown.figure.clone(),
    });
    let bars: Vec<Bar> = bars.collect();
    let figure_name = METRICS.iter().find(|(name, _)| *name == by).map_or("", |(_, title)| title);
    let title = bars.first().map(|best| best_of(best, by, over));
    let address = |by: &str, over: i32| {
        let range = match range.days {
            Some(days) => format!("days={days}"),
            None => format!("from={}&to={}", range.from, range.to),
        };
        format!("/admin/analytics?{range}&by={by}&over={over}#ranking")
    };
    let status = if complaints.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let typed = |said: Option<String>, date: widerow::Date| said.unwrap_or_else(|| date.to_string());
    let page = Analytics {
        frame,
        fields: Fields::of([("from", typed(asked.from, range.from)), ("to", typed(asked.to, range.to))]),
        complaints,
        ranges: LINKS
            .map(|days| Choice {
                name: format!("{days} days"),
                address: format!("/admin/analytics?days={days}&by={by}&over={over}"),
                is_current: range.days == Some(days),
            })
            .into(),
        range: range.words(),
        sales: sales(&whole, &by_department, &range),
        departments: category_rows(&takings, &by_department),
        left_out: ranked.len().saturating_sub(by_category.len()),
        categories: category_rows(&takings, &by_category),
        elsewhere: takings.elsewhere.iter().map(|(currency, amount)| words::money(*amount, currency)).collect(),
        metrics: METRICS
            .map(|(name, title)| Choice { name: title.into(), address: address(name, over), is_current: name == by })
            .into(),
        spans: RANKED_DAYS
            .map(|days| Choice {
                name: if days == 1 { "Today".into() } else { format!("{days} days") },
                address: address(by, days),
                is_current: days == over,
            })
            .into(),
        ranking: title.map(|title| charts::bars(&title, "Product", figure_name, &bars)),
        ranked_at: ranking.rows.first().map(|row| words::moment(row.ranked_at)),
        ranked: rows,
        figure_name,
    };
    Ok((status, Html(page)).into_response())
}

fn best_of(best: &Bar, by: &str, over: i32) -> String {
    let when = if over == 1 { "today".to_owned() } else { format!("in the last {over} days") };
    match by {
        "views" => format!("{} was looked at the most {when}: {} times", best.name, best.shown),
        "units" => format!("{} sold the most {when}: {} pieces", best.name, best.shown),
        _ => format!("{} brought the most {when}: {}", best.name, best.shown),
    }
}

/// What each department brought day by day, the best five by themselves; None where nothing was sold.
fn sales(takings: &Takings, named: &[(String, Share)], range: &Range) -> Option<Chart> {
    let (best, share) = named.first()?;
    let whole = words::money_glanced(takings.whole(), &takings.currency);
    let most = words::money_glanced(takings.amount(share), &takings.currency);
    let title = match (named.len(), range.days) {
        (1, _) => format!("{best} brought {whole} in {}", range.words()),
        (_, Some(1)) => format!("{whole} was sold today; {best} brought the most, {most}"),
        _ => format!("{whole} was sold in {}; {best} brought the most, {most}", range.words()),
    };
    let line = |(name, share): &(String, Share)| Series::line(name.clone(), takings.positions([share]));
    let mut series: Vec<Series> = named.iter().take(LINES).map(line).collect();
    let ranked = takings.ranked();
    let others: Vec<&Share> = ranked.iter().skip(LINES).map(|(_, share)| *share).collect();
    if !others.is_empty() {
        series.push(Series::rest("All others", takings.positions(others)));
    }
    let written =
        |value: f64| words::money_glanced(Decimal::from_f64_retain(value).unwrap_or_default(), &takings.currency);
    Some(charts::line(&Line {
        title: &title,
        labels: takings.days().map(words::short_day).collect(),
        series,
        bands: Vec::new(),
        marks: Vec::new(),
        is_around: false,
        axis: &written,
        value: &written,
    }))
}

fn category_rows(takings: &Takings, named: &[(String, Share)]) -> Vec<CategoryRow> {
    let whole = takings.whole();
    let row = |(name, share): &(String, Share)| {
        let amount = takings.amount(share);
        let percent = (amount * Decimal::ONE_HUNDRED).checked_div(whole).unwrap_or_default().round();
        CategoryRow {
            name: name.clone(),
            orders: words::thousands(&share.orders.to_string()),
            pieces: words::thousands(&share.pieces.to_string()),
            revenue: words::money(amount, &takings.currency),
            share: format!("{percent} %"),
        }
    };
    named.iter().map(row).collect()
}

/// The categories that there are, of these.
async fn find_categories(ctx: &Context, ids: &[CategoryId]) -> Result<BTreeMap<CategoryId, Category>, Problem> {
    let mut known = BTreeMap::new();
    for some in ids.chunks(limits::PAGE_ROWS_MAX) {
        let found = catalog::find_categories(ctx, some).await?.into_iter().flatten();
        known.extend(found.map(|category| (category.category_id, category)));
    }
    Ok(known)
}
