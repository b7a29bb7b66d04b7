//! What was sold, by category and day; which products do best.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use futures::{StreamExt as _, TryFutureExt as _, TryStreamExt as _, stream};
use http::StatusCode;
use merkato::{
    Context, PageRequest,
    analytics::{self, Metric, RANKED_DAYS},
    catalog,
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

/// Categories that have a line of their own in the chart, and in the table.
const LINES: usize = 5;
const CATEGORIES: usize = 50;
/// Names that are looked up at once.
const NAMES_AT_ONCE: usize = 16;
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
    categories: Vec<CategoryRow>,
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
    let shown: Vec<_> = ranked.iter().take(CATEGORIES).map(|(id, _)| *id).collect();
    let (category_names, product_names) =
        futures::try_join!(category_names(ctx, &shown), names(ctx, ranking.rows.iter().map(|row| row.product_id)))?;
    let named: Vec<(&str, &Share)> =
        category_names.iter().map(String::as_str).zip(ranked.iter().map(|(_, share)| *share)).collect();
    let rest: Vec<&Share> = ranked.iter().skip(named.len()).map(|(_, share)| *share).collect();
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
        sales: sales(&takings, &named, &rest, &range),
        categories: category_rows(&takings, &named),
        left_out: rest.len(),
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

/// What each category brought day by day, the best five by themselves; None where nothing was sold.
fn sales(takings: &Takings, named: &[(&str, &Share)], rest: &[&Share], range: &Range) -> Option<Chart> {
    let (best, share) = named.first()?;
    let whole = words::money_glanced(takings.whole(), &takings.currency);
    let most = words::money_glanced(takings.amount(share), &takings.currency);
    let title = match (named.len(), range.days) {
        (1, _) => format!("{best} brought {whole} in {}", range.words()),
        (_, Some(1)) => format!("{whole} was sold today; {best} brought the most, {most}"),
        _ => format!("{whole} was sold in {}; {best} brought the most, {most}", range.words()),
    };
    let line = |(name, share): &(&str, &Share)| Series::line(*name, takings.positions([*share]));
    let mut series: Vec<Series> = named.iter().take(LINES).map(line).collect();
    let others: Vec<&Share> = named.iter().skip(LINES).map(|(_, share)| *share).chain(rest.iter().copied()).collect();
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
        axis: &written,
        value: &written,
    }))
}

fn category_rows(takings: &Takings, named: &[(&str, &Share)]) -> Vec<CategoryRow> {
    let whole = takings.whole();
    let row = |(name, share): &(&str, &Share)| {
        let amount = takings.amount(share);
        let percent = (amount * Decimal::ONE_HUNDRED).checked_div(whole).unwrap_or_default().round();
        CategoryRow {
            name: (*name).to_owned(),
            orders: words::thousands(&share.orders.to_string()),
            pieces: words::thousands(&share.pieces.to_string()),
            revenue: words::money(amount, &takings.currency),
            share: format!("{percent} %"),
        }
    };
    named.iter().map(row).collect()
}

/// What categories are called, in their order.
async fn category_names(ctx: &Context, ids: &[CategoryId]) -> Result<Vec<String>, Problem> {
    let found = ids.iter().copied().map(|id| catalog::find_category(ctx, id));
    let found: Vec<_> = stream::iter(found).buffered(NAMES_AT_ONCE).try_collect().await?;
    let name = |category: Option<catalog::Category>| category.map_or("A category that is no more".into(), |c| c.name);
    Ok(found.into_iter().map(name).collect())
}
