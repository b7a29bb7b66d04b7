//! What staff do, and programs with a key: one file for each group. Who may call what stands in `access`.

pub mod analytics;
pub mod categories;
pub mod discounts;
pub mod events;
pub mod featured;
pub mod graph;
pub mod holds;
pub mod inventory;
pub mod keys;
pub mod orders;
pub mod products;
pub mod sales;
pub mod telemetry;
pub mod trees;
pub mod users;

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use merkato::Currency;
use rust_decimal::Decimal;

use crate::http::{Problem, Visit, Who, wire::Money};

/// Who does it, as it is written down beside what is done.
pub fn actor(visit: &Visit) -> Result<String, Problem> {
    match &visit.who {
        Who::Person { actor, .. } => Ok(format!("{}:{}", actor.role.as_str(), actor.user_id)),
        Who::Program(key) => Ok(format!("key:{}", key.key_id)),
        Who::Nobody | Who::Guest(_) => Err(Problem::new("not_logged_in", "it needs a session or an API key")),
    }
}

/// 201, with the place of what was made.
pub fn created(location: &str, view: impl IntoResponse) -> Response {
    let mut response = (StatusCode::CREATED, view).into_response();
    if let Ok(location) = HeaderValue::try_from(location) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// An amount in a currency that there is.
pub fn amount(field: &str, money: &Money) -> Result<(Decimal, Currency), Problem> {
    let (amount, currency) = money.parse(field)?;
    if currency.decimals().is_none() {
        return Err(Problem::field("invalid", format!("/{field}/currency"), "not a currency of ISO 4217"));
    }
    Ok((amount, currency))
}

/// An amount that must be in this currency.
fn amount_in(currency: &Currency, field: &str, money: &Money) -> Result<Decimal, Problem> {
    let (amount, found) = amount(field, money)?;
    if found != *currency {
        return Err(Problem::field("invalid", format!("/{field}/currency"), format!("not {currency}")));
    }
    Ok(amount)
}
