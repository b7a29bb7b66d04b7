//! Prices in a few numbers: extremes, quartiles, mean, total, and the discount.
//!
//! 1. Quartiles are those of type 7 (Hyndman and Fan, 1996; the default of R and of spreadsheets): the p-quantile of n sorted
//!    prices lies at the place (n - 1)·p, counted from nought, and between two prices on the straight line from one to the
//!    other. With p a quarter, a half or three quarters that is a whole number of quarters of a minor unit, so it is exact.
//! 2. The total is exact. The mean is rounded to two decimals more than prices have, the discount to six decimals, both with
//!    halves away from zero.

use rust_decimal::Decimal;

use super::{
    Point,
    error::{Error, Result},
    units::{self, MinorUnits},
};

/// What is told of several prices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How many; at least one.
    pub count: u64,
    pub minimum: Decimal,
    pub lower_quartile: Decimal,
    pub median: Decimal,
    pub upper_quartile: Decimal,
    pub maximum: Decimal,
    pub mean: Decimal,
    pub total: Decimal,
    /// What was left off the original prices, as a share of their sum; below zero where more was paid. Sales whose original
    /// price is zero are left out, None if all are.
    pub discount: Option<Decimal>,
}

/// The prices of a group while it is gathered: eight bytes each.
#[derive(Clone, Debug, Default)]
pub(super) struct Gathered {
    prices: Vec<i64>,
    /// Both of the sales with an original price alone.
    original: i128,
    paid: i128,
}

impl Gathered {
    pub(super) fn add(&mut self, point: &Point<'_>, units: MinorUnits) -> Result<()> {
        let price = units.whole("price", point.price)?;
        let original = units.whole("original", point.original)?;
        if original > 0 {
            self.original += i128::from(original);
            self.paid += i128::from(price);
        }
        self.prices.push(price);
        Ok(())
    }

    pub(super) fn count(&self) -> usize {
        self.prices.len()
    }

    pub(super) fn total(&self) -> i128 {
        self.prices.iter().map(|price| i128::from(*price)).sum()
    }

    /// None without any price.
    pub(super) fn summary(mut self, units: MinorUnits) -> Result<Option<Summary>> {
        self.prices.sort_unstable();
        let total = self.total();
        let sorted = &self.prices;
        let (Some(minimum), Some(maximum)) = (sorted.first(), sorted.last()) else { return Ok(None) };
        let mean = units::quotient(total, sorted.len() as i128 * 10_i128.pow(units.decimals()), units.decimals() + 2);
        let quartile = |k| units.quarters(quartile(sorted, k));
        Ok(Some(Summary {
            count: sorted.len() as u64,
            minimum: units.amount(i128::from(*minimum))?,
            lower_quartile: quartile(1)?,
            median: quartile(2)?,
            upper_quartile: quartile(3)?,
            maximum: units.amount(i128::from(*maximum))?,
            mean: mean.ok_or(Error::TooMuch { field: "price" })?,
            total: units.amount(total)?,
            discount: units::share(self.original - self.paid, self.original),
        }))
    }
}

/// The k-th quartile of sorted prices, in quarters; nought of none.
pub(super) fn quartile(sorted: &[i64], k: usize) -> i128 {
    let place = sorted.len().saturating_sub(1) * k;
    let (below, rest) = (place / 4, place % 4);
    let at = |i: usize| sorted.get(i).copied().map_or(0, i128::from);
    let step = if rest == 0 { 0 } else { at(below + 1) - at(below) };
    4 * at(below) + rest as i128 * step
}
