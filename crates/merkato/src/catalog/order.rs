//! The five orders of a category page, as texts that sort by bytes.

use rust_decimal::Decimal;

use super::tables::Product;
use crate::{limits, text};

/// How the products of a category are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SortOrder {
    PriceAsc,
    PriceDesc,
    NameAsc,
    Newest,
    Popular,
}

/// More than any timestamp and any popularity.
const INVERT_MILLIS: i64 = 999_999_999_999_999;
const INVERT_COUNT: i64 = 999_999_999_999_999_999;
/// Ten digits, the point, and the three decimals that the finest currencies have.
const PRICE_WIDTH: usize = 14;

impl SortOrder {
    pub const ALL: [SortOrder; 5] =
        [SortOrder::PriceAsc, SortOrder::PriceDesc, SortOrder::NameAsc, SortOrder::Newest, SortOrder::Popular];

    pub fn as_str(self) -> &'static str {
        match self {
            SortOrder::PriceAsc => "price_asc",
            SortOrder::PriceDesc => "price_desc",
            SortOrder::NameAsc => "name_asc",
            SortOrder::Newest => "newest",
            SortOrder::Popular => "popular",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        SortOrder::ALL.into_iter().find(|order| order.as_str() == name)
    }

    /// What all keys of this order, and no others, begin with.
    pub fn prefix(self) -> String {
        format!("{}:", self.as_str())
    }

    /// Where the product stands in this order; among equals its id decides.
    pub fn key(self, product: &Product) -> String {
        let prefix = self.as_str();
        match self {
            SortOrder::PriceAsc => format!("{prefix}:{}", padded(product.price)),
            SortOrder::PriceDesc => {
                let most = limits::PRICE_MAX + Decimal::new(999, 3);
                format!("{prefix}:{}", padded(most - product.price))
            }
            SortOrder::NameAsc => {
                let name = text::fold(&product.name);
                format!("{prefix}:{}", text::cut(&name, super::prefix::SORTED_BYTES_MAX))
            }
            SortOrder::Newest => {
                let millis = product.created_at.millis().clamp(0, INVERT_MILLIS);
                format!("{prefix}:{:015}", INVERT_MILLIS - millis)
            }
            SortOrder::Popular => {
                format!("{prefix}:{:018}", INVERT_COUNT - product.popularity.clamp(0, INVERT_COUNT))
            }
        }
    }
}

/// As `0000000599.000`: texts of one width order as the prices do.
fn padded(price: Decimal) -> String {
    let price = price.clamp(Decimal::ZERO, limits::PRICE_MAX + Decimal::new(999, 3));
    format!("{:0>PRICE_WIDTH$}", format!("{price:.3}"))
}
