//! How often a product is looked at.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use merkato::{
    PageRequest,
    analytics::{self, Metric, ProductViews},
    catalog,
    id::ProductId,
    limits,
};
use serde::Deserialize;
use widerow::Date;

use super::{
    dashboard::names,
    range::{LINKS, Range, RangeQuery},
};
use crate::{
    http::{Path, Problem, Query, Visit},
    web::{
        Complaints, Fields, Frame, Html,
        charts::{self, Chart, Line, Series},
        words,
    },
};

/// Products that a search lists, and that are shown before anything is searched.
const FOUND: usize = 24;

#[derive(Deserialize)]
pub struct FindQuery {
    q: Option<String>,
}

/// A product that can be chosen.
struct Choice {
    id: String,
    name: String,
    figure: String,
}

#[derive(Template)]
#[template(path = "admin/views_find.html")]
pub struct Find {
    frame: Frame,
    q: String,
    found: Vec<Choice>,
    is_search: bool,
}

/// Which product: a search, or the most looked at.
pub async fn find(frame: Frame, visit: Visit, Query(query): Query<FindQuery>) -> Result<Html<Find>, Problem> {
    let ctx = &visit.ctx;
    let q = query.q.unwrap_or_default().trim().to_owned();
    let page = PageRequest::first(FOUND);
    let found = if q.is_empty() {
        let rows = analytics::list_top_products(ctx, &Metric::Views, 7, page).await?.rows;
        let names = names(ctx, rows.iter().map(|row| row.product_id)).await?;
        let choice = |row: &analytics::TopProduct| {
            let figure = words::count(row.value.unsigned_abs(), "view", "views");
            Some(Choice { id: row.product_id.to_string(), name: names.get(&row.product_id)?.clone(), figure })
        };
        rows.iter().filter_map(choice).collect()
    } else {
        let rows = match catalog::search_text(ctx, &q, page).await {
            Ok(found) => found.rows,
            // By a word of one letter, or of signs, nothing can be found.
            Err(catalog::Error::Invalid(_)) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let choice = |row: catalog::PrefixEntry| Choice {
            id: row.product_id.to_string(),
            name: row.name,
            figure: row.category_name,
        };
        rows.into_iter().map(choice).collect()
    };
    Ok(Html(Find { frame, is_search: !q.is_empty(), q, found }))
}

/// One of a row of links.
struct RangeLink {
    days: i32,
    is_current: bool,
}

#[derive(Template)]
#[template(path = "admin/views.html")]
pub struct Views {
    frame: Frame,
    fields: Fields,
    complaints: Complaints,
    id: String,
    name: String,
    ranges: Vec<RangeLink>,
    chart: Option<Chart>,
    seconds: u64,
}

pub async fn show(
    frame: Frame,
    visit: Visit,
    Path(id): Path<ProductId>,
    Query(query): Query<RangeQuery>,
) -> Result<Response, Problem> {
    let ctx = &visit.ctx;
    let today = ctx.now().date();
    let product = catalog::get_product(ctx, id).await?;
    let (range, complaints) = match Range::of(&query, today, limits::VIEW_DAYS_MAX) {
        Ok(range) => (range, Complaints::default()),
        Err(problem) => (Range::last(30, today), Complaints::about(problem)?),
    };
    let days = analytics::list_product_views(ctx, id, range.from, range.to).await?;
    let typed = |said: Option<String>, date: Date| said.unwrap_or_else(|| date.to_string());
    let status = if complaints.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = Views {
        frame,
        fields: Fields::of([("from", typed(query.from, range.from)), ("to", typed(query.to, range.to))]),
        complaints,
        id: id.to_string(),
        ranges: LINKS.map(|days| RangeLink { days, is_current: range.days == Some(days) }).into(),
        chart: chart(&product.name, &days, &range)?,
        name: product.name,
        seconds: ctx.settings.analytics.views_flush_seconds,
    };
    Ok((status, Html(page)).into_response())
}

/// None where nobody looked.
fn chart(name: &str, days: &[ProductViews], range: &Range) -> Result<Option<Chart>, Problem> {
    if days.is_empty() {
        return Ok(None);
    }
    let views: i64 = days.iter().map(|day| day.view_count).sum();
    let visitors = analytics::unique_visitors(days)?;
    let title = format!(
        "{name} was looked at {} by {} in {}",
        words::count(views.unsigned_abs(), "time", "times"),
        words::count(visitors.unsigned_abs(), "visitor", "visitors"),
        range.words()
    );
    let all: Vec<Date> = (range.from.days()..=range.to.days()).map(Date::from_days).collect();
    let series = |name: &str, of: fn(&ProductViews) -> i64| {
        let value = |date: &Date| days.iter().find(|day| day.date == *date).map_or(0, of);
        Series::line(name, all.iter().map(|date| Some(value(date) as f64)).collect())
    };
    let written = |value: f64| words::thousands(&format!("{value:.0}"));
    let chart = charts::line(&Line {
        title: &title,
        labels: all.iter().map(|date| words::short_day(*date)).collect(),
        series: vec![series("Views", |day| day.view_count), series("Visitors", |day| day.unique_visitor_count)],
        bands: Vec::new(),
        marks: Vec::new(),
        is_around: false,
        axis: &written,
        value: &written,
    });
    Ok(Some(chart))
}
