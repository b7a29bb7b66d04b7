//! Prices: what was sold at which price, over time, as a distribution, brands side by side; and a price for something new.
//!
//! A record of a sale has no currency; amounts are shown in the shop's own.

pub mod brands;
mod figures;
pub mod overview;
mod span;
pub mod subject;
pub mod suggestion;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// A name as a part of a path.
fn part(name: &str) -> String {
    utf8_percent_encode(name, NON_ALPHANUMERIC).to_string()
}

fn category_path(name: &str) -> String {
    format!("/admin/sales/categories/{}", part(name))
}

fn brand_path(name: &str) -> String {
    format!("/admin/sales/brands/{}", part(name))
}

fn product_path(id: &str) -> String {
    format!("/admin/sales/products/{}", part(id))
}

/// One of a row of links.
pub struct Choice {
    pub name: String,
    pub address: String,
    pub is_current: bool,
}
