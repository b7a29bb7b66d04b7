//! The brands of a category side by side.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use merkato::sales;
use rust_decimal::prelude::ToPrimitive as _;

use super::{
    Choice, brand_path, category_path,
    figures::{self, FiguresRow},
    span::{Span, SpanQuery},
};
use crate::{
    http::{Path, Problem, Query, Visit},
    web::{
        Complaints, Frame, Html,
        charts::{self, Bar, Chart},
        words,
    },
};

/// Brands that have a bar, and that are listed.
const BARS: usize = 12;
const LISTED: usize = 100;

/// A brand with its prices.
struct BrandRow {
    path: String,
    share: String,
    figures: FiguresRow,
}

#[derive(Template)]
#[template(path = "admin/sales_brands.html")]
pub struct Brands {
    frame: Frame,
    complaints: Complaints,
    name: String,
    path: String,
    spans: Vec<Choice>,
    when: String,
    chart: Option<Chart>,
    rows: Vec<BrandRow>,
    left_out: usize,
}

pub async fn show(
    frame: Frame,
    visit: Visit,
    Path(name): Path<String>,
    Query(query): Query<SpanQuery>,
) -> Result<Response, Problem> {
    let ctx = &visit.ctx;
    let today = ctx.now().date();
    let (mut span, complaints) = match Span::of(&query, today) {
        Ok(span) => (span, Complaints::default()),
        Err(problem) => (Span::of(&SpanQuery::default(), today)?, Complaints::about(problem)?),
    };
    let mut found = sales::compare_brands(ctx, &name, None, span.days).await?;
    if span.is_default && found.brands.is_empty() {
        span = span.of_all();
        found = sales::compare_brands(ctx, &name, None, span.days).await?;
    }
    let currency = &ctx.settings.orders.currency;
    let called = |brand: &Option<String>| brand.clone().unwrap_or_else(|| "Without a brand".into());
    let row = |group: &sales::figures::GroupFigures| BrandRow {
        path: group.name.as_deref().map(brand_path).unwrap_or_default(),
        share: figures::percent(Some(group.share_of_count), false),
        figures: figures::row(called(&group.name), Some(&group.summary), None, currency),
    };
    let bar = |group: &sales::figures::GroupFigures| Bar {
        name: called(&group.name),
        value: group.summary.median.to_f64().unwrap_or_default(),
        shown: words::money(group.summary.median, currency),
    };
    let mut bars: Vec<Bar> = found.brands.iter().take(BARS).map(bar).collect();
    bars.sort_by(|a, b| b.value.total_cmp(&a.value));
    let title = match (bars.first(), bars.last()) {
        (Some(most), Some(least)) if bars.len() > 1 => {
            let (dear, cheap) = (&most.name, &least.name);
            Some(format!("Of {name}, {dear} sold at a median of {}, {cheap} at {}", most.shown, least.shown))
        }
        (Some(only), _) => Some(format!("All {name} were of {}, at a median of {}", only.name, only.shown)),
        _ => None,
    };
    let path = category_path(&name);
    let status = if complaints.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = Brands {
        frame,
        complaints,
        spans: span.spans(&format!("{path}/brands"), today),
        when: span.words(),
        chart: title.map(|title| charts::bars(&title, "Brand", "Median price", &bars)),
        left_out: found.brands.len().saturating_sub(LISTED),
        rows: found.brands.iter().take(LISTED).map(row).collect(),
        name,
        path,
    };
    Ok((status, Html(page)).into_response())
}
