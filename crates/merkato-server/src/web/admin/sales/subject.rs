//! The prices of a category, a brand or a product: over time, as a distribution, season by season, sale by sale.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use merkato::{
    Currency,
    sales::{self, SaleRecord, Subject},
};

use super::{
    Choice, brand_path, category_path, figures,
    figures::FiguresRow,
    product_path,
    span::{PERIODS_MAX, Span, SpanQuery},
};
use crate::{
    http::{Path, Problem, Query, Visit},
    web::{
        Complaints, Fields, Frame, Html,
        admin::desk::pager::{Pager, Turn},
        charts::Chart,
        words,
    },
};

/// A sale in the list.
struct SaleRow {
    date: String,
    product: String,
    product_path: String,
    category: String,
    category_path: String,
    brand: String,
    brand_path: String,
    price: String,
    list_price: String,
    season: String,
}

impl SaleRow {
    fn new(sale: SaleRecord, currency: &Currency) -> Self {
        SaleRow {
            date: sale.sale_date.to_string(),
            product_path: product_path(&sale.product_id),
            category_path: category_path(&sale.category),
            brand_path: sale.brand.as_deref().map(brand_path).unwrap_or_default(),
            price: words::money(sale.sale_price, currency),
            list_price: words::money(sale.list_price(), currency),
            season: sale.season.map(|season| season.to_lowercase()).unwrap_or_default(),
            product: sale.product_id,
            category: sale.category,
            brand: sale.brand.unwrap_or_default(),
        }
    }
}

#[derive(Template)]
#[template(path = "admin/sales_subject.html")]
pub struct Page {
    frame: Frame,
    fields: Fields,
    complaints: Complaints,
    /// What it is, as `Category`.
    kind: &'static str,
    name: String,
    path: String,
    periods: Vec<Choice>,
    spans: Vec<Choice>,
    when: String,
    one_period: &'static str,
    chart: Option<Chart>,
    rows: Vec<FiguresRow>,
    whole: Option<FiguresRow>,
    histogram: Option<Chart>,
    seasons: Vec<FiguresRow>,
    left_out: u64,
    brands: Option<String>,
    suggestion: Option<String>,
    sales: Vec<SaleRow>,
    pager: Pager,
}

pub async fn category(
    frame: Frame,
    visit: Visit,
    Path(name): Path<String>,
    Query(query): Query<SpanQuery>,
    Query(turn): Query<Turn>,
) -> Result<Response, Problem> {
    show(frame, visit, Subject::Category { name, season: None }, query, turn).await
}

pub async fn brand(
    frame: Frame,
    visit: Visit,
    Path(name): Path<String>,
    Query(query): Query<SpanQuery>,
    Query(turn): Query<Turn>,
) -> Result<Response, Problem> {
    show(frame, visit, Subject::Brand(name), query, turn).await
}

pub async fn product(
    frame: Frame,
    visit: Visit,
    Path(id): Path<String>,
    Query(query): Query<SpanQuery>,
    Query(turn): Query<Turn>,
) -> Result<Response, Problem> {
    show(frame, visit, Subject::Product(id), query, turn).await
}

async fn show(frame: Frame, visit: Visit, subject: Subject, query: SpanQuery, turn: Turn) -> Result<Response, Problem> {
    let ctx = &visit.ctx;
    let today = ctx.now().date();
    let (mut span, mut complaints) = match Span::of(&query, today) {
        Ok(span) => (span, Complaints::default()),
        Err(problem) => (Span::of(&SpanQuery::default(), today)?, Complaints::about(problem)?),
    };
    let mut picture = sales::get_picture(ctx, &subject, span.by(ctx), span.days).await;
    // Whoever did not say which days wants to see what there is.
    if span.is_default && picture.as_ref().is_ok_and(|picture| picture.whole.is_none()) {
        span = span.of_all();
        picture = sales::get_picture(ctx, &subject, span.by(ctx), span.days).await;
    }
    let too_many = |count: usize| {
        let (_, unit) = span.unit();
        format!("These are {count} {unit}, and at most {PERIODS_MAX} are drawn. Choose fewer days or longer periods.")
    };
    let picture = match picture {
        Ok(picture) if picture.periods.len() <= PERIODS_MAX => Some(picture),
        Ok(picture) => {
            complaints = Complaints::one(too_many(picture.periods.len()));
            None
        }
        Err(error) => {
            complaints = Complaints::about(error.into())?;
            None
        }
    };
    let page = turn.page(&visit)?;
    let (kind, name, path, found, next) = match &subject {
        Subject::Category { name, season } => {
            let found = sales::list_category_sales(ctx, name, *season, span.days, page).await?;
            ("Category", name, category_path(name), found.rows, found.next)
        }
        Subject::Brand(name) => {
            let found = sales::list_brand_sales(ctx, name, span.days, page).await?;
            ("Brand", name, brand_path(name), found.rows, found.next)
        }
        Subject::Product(id) => {
            let found = sales::list_product_sales(ctx, id, span.days, page).await?;
            ("Product", id, product_path(id), found.rows, found.next)
        }
    };
    // Where the figures are refused there is nothing to turn the pages of.
    let (found, next) = if picture.is_some() { (found, next) } else { (Vec::new(), None) };
    let currency = &ctx.settings.orders.currency;
    let of_category = matches!(subject, Subject::Category { .. });
    let filters = span.filters();
    let filters: Vec<(&str, &str)> = filters.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let date = |said: &str, date: Option<widerow::Date>| {
        if said.is_empty() { date.map(|date| date.to_string()).unwrap_or_default() } else { said.to_owned() }
    };
    let status = if complaints.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let whole = picture.as_ref().and_then(|picture| picture.whole.as_ref());
    let when = span.words();
    let page = Page {
        frame,
        fields: Fields::of([
            ("from", date(&query.from, span.days.from)),
            ("to", date(&query.to, span.days.to)),
            ("by", span.filters().into_iter().find(|(name, _)| *name == "by").map(|(_, by)| by).unwrap_or_default()),
        ]),
        complaints,
        kind,
        periods: span.periods(&path, today),
        spans: span.spans(&path, today),
        one_period: span.unit().0,
        chart: picture
            .as_ref()
            .zip(whole)
            .and_then(|(picture, whole)| figures::over_time(name, &picture.periods, whole, &when, currency)),
        rows: picture.as_ref().map(|picture| figures::rows(&picture.periods, currency)).unwrap_or_default(),
        histogram: picture
            .as_ref()
            .zip(whole)
            .and_then(|(picture, whole)| figures::distribution(name, &picture.histogram, whole, currency)),
        seasons: picture.as_ref().map(|picture| figures::rows(&picture.seasons, currency)).unwrap_or_default(),
        left_out: picture.as_ref().map_or(0, |picture| picture.left_out),
        whole: whole.map(|whole| figures::row("All".into(), Some(whole), None, currency)),
        brands: of_category.then(|| format!("{path}/brands")),
        suggestion: of_category.then(|| format!("/admin/sales/suggestion?category={}", super::part(name))),
        pager: turn.pager(&visit, &path, &filters, next),
        sales: found.into_iter().map(|sale| SaleRow::new(sale, currency)).collect(),
        when,
        name: name.clone(),
        path,
    };
    Ok((status, Html(page)).into_response())
}
