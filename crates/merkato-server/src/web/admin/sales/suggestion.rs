//! A price for something new, with the sales that it rests on.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use merkato::sales::{self, Advised, Item, Priced, Season};
use serde::Deserialize;

use super::{figures, product_path};
use crate::{
    http::{Problem, Query, Visit},
    web::{Complaints, Fields, Frame, Html, words},
};

/// What is asked. Nothing is asked without a category.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct ItemQuery {
    category: Option<String>,
    #[serde(default)]
    brand: String,
    #[serde(default)]
    season: String,
    #[serde(default)]
    on: String,
}

/// What speaks for a price, or against it.
struct Said {
    text: String,
    speaks_against: bool,
}

/// A sale that the price rests on.
struct RestsOn {
    date: String,
    product: String,
    product_path: String,
    brand: String,
    price: String,
    weight: String,
}

/// A price with its reasons.
struct Told {
    price: String,
    low: String,
    high: String,
    confidence: String,
    count: String,
    reasons: Vec<Said>,
    rests_on: Vec<RestsOn>,
}

#[derive(Template)]
#[template(path = "admin/sales_suggestion.html")]
pub struct Suggestion {
    frame: Frame,
    fields: Fields,
    complaints: Complaints,
    told: Option<Told>,
    /// Why there is none.
    none: String,
}

pub async fn show(frame: Frame, visit: Visit, Query(query): Query<ItemQuery>) -> Result<Response, Problem> {
    let (told, none, complaints) = match &query.category {
        None => (None, String::new(), Complaints::default()),
        Some(category) => match advise(&visit, category, &query).await {
            Ok(Advised::Price(priced)) => (Some(tell(&visit, *priced)), String::new(), Complaints::default()),
            Ok(Advised::TooFewSales { found, needed }) => {
                let found = words::count(found as u64, "comparable sale", "comparable sales");
                (None, format!("{found} were found, and a suggestion takes {needed}."), Complaints::default())
            }
            Err(problem) => (None, String::new(), Complaints::about(problem)?),
        },
    };
    let status = if complaints.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let fields = Fields::of([
        ("category", query.category.unwrap_or_default()),
        ("brand", query.brand),
        ("season", query.season),
        ("on", query.on),
    ]);
    Ok((status, Html(Suggestion { frame, fields, complaints, told, none })).into_response())
}

async fn advise(visit: &Visit, category: &str, query: &ItemQuery) -> Result<Advised, Problem> {
    let said = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let wrong = |field: &str, detail: &str| Problem::field("invalid", format!("/{field}"), detail);
    let season = said(&query.season).map(|text| text.parse::<Season>());
    let on = said(&query.on).map(|text| text.parse::<widerow::Date>());
    let item = Item {
        category: category.trim().to_owned(),
        brand: said(&query.brand),
        season: season.transpose().map_err(|_| wrong("season", "Choose one of the four."))?,
        on: on.transpose().map_err(|_| wrong("on", "It must be a day as 2026-03-01."))?,
        vector: None,
    };
    Ok(sales::suggest_price(&visit.ctx, item).await?)
}

fn tell(visit: &Visit, priced: Priced) -> Told {
    let currency = &visit.ctx.settings.orders.currency;
    let money = |amount| words::money(amount, currency);
    let reason =
        |reason: &sales::figures::Reason| Said { text: reason.to_string(), speaks_against: reason.speaks_against() };
    Told {
        price: money(priced.price),
        low: money(priced.low),
        high: money(priced.high),
        confidence: priced.confidence.to_string(),
        count: words::count(priced.sales_count as u64, "sale", "sales"),
        reasons: priced.reasons.iter().map(reason).collect(),
        rests_on: priced
            .rests_on
            .into_iter()
            .map(|(sale, weight, _)| RestsOn {
                date: sale.sale_date.to_string(),
                product_path: product_path(&sale.product_id),
                price: money(sale.sale_price),
                brand: sale.brand.unwrap_or_default(),
                product: sale.product_id,
                weight: figures::percent(Some(weight), false),
            })
            .collect(),
    }
}
