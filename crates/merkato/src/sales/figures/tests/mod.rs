//! Figures against what a person, or a slower program, works out.

mod compare;
mod cost;
mod histogram;
mod nearest;
mod periods;
mod skew;
mod suggest;
mod units;

use rust_decimal::Decimal;
use widerow::Date;

use super::Point;
use crate::sales::season::{Hemisphere, Season};

fn date(text: &str) -> Date {
    text.parse().expect("a date")
}

fn cents(cents: i64) -> Decimal {
    Decimal::new(cents, 2)
}

fn decimal(text: &str) -> Decimal {
    text.parse().expect("a number")
}

/// A sale of a dress.
fn sale(date: Date, price_cents: i64) -> Point<'static> {
    Point {
        product_id: "prod_123",
        sale_id: "sale_abc",
        date,
        price: cents(price_cents),
        original: cents(19_999),
        season: Season::of(date, Hemisphere::North),
        category: "dress",
        brand: Some("Nike"),
    }
}
