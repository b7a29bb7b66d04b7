//! How prices are distributed: counts in bins of one width, with edges that a person would choose.
//!
//! 1. A bin holds what is at its lower edge or above and below its upper edge: every price is in exactly one.
//! 2. Its width is one, two or five times a power of ten, in minor units, and its edges are multiples of it.
//! 3. The width is the least such one that is not below what Freedman and Diaconis ask for (twice the distance of the
//!    quartiles, divided by the cube root of how many prices there are), or Sturges where the quartiles are the same; then
//!    the next ones, until there are 5 to 60 bins. Where prices differ by less than five minor units, empty bins stand
//!    beside those that are not. It is all done in whole numbers, so that it comes out the same everywhere.

use rust_decimal::Decimal;

use super::{
    error::{Error, Result},
    limits, summary,
    units::MinorUnits,
};

/// Prices in bins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// How many prices.
    pub count: u64,
    /// Of each bin.
    pub width: Decimal,
    /// In ascending order, side by side; none without prices.
    pub bins: Vec<Bin>,
}

/// Prices from an edge to below the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bin {
    pub from: Decimal,
    pub below: Decimal,
    pub count: u64,
}

/// The distribution of prices. Eight to sixteen bytes are kept of each.
pub fn histogram(prices: impl IntoIterator<Item = Decimal>, units: MinorUnits) -> Result<Histogram> {
    let mut sorted = Vec::new();
    for price in prices {
        if sorted.len() >= limits::SALES_MAX {
            return Err(Error::TooManySales { limit: limits::SALES_MAX });
        }
        sorted.push(units.whole("price", price)?);
    }
    sorted.sort_unstable();
    let (Some(&least), Some(&most)) = (sorted.first(), sorted.last()) else {
        return Ok(Histogram { count: 0, width: Decimal::ZERO, bins: Vec::new() });
    };
    let width = width(&sorted, least, most);
    let (first, last) = padded(least / width, most / width);
    let amount = |edge: i64| units.amount(i128::from(edge) * i128::from(width));
    let (mut bins, mut rest) = (Vec::new(), sorted.as_slice());
    for bin in first..=last {
        let (here, behind) = rest.split_at(rest.partition_point(|price| price / width <= bin));
        rest = behind;
        bins.push(Bin { from: amount(bin)?, below: amount(bin + 1)?, count: here.len() as u64 });
    }
    Ok(Histogram { count: sorted.len() as u64, width: amount(1)?, bins })
}

/// The width of a bin in minor units.
fn width(sorted: &[i64], least: i64, most: i64) -> i64 {
    let bins = |width: i64| most / width - least / width + 1;
    let asked = nice_widths().find(|width| wide_enough(sorted, least, most, *width)).unwrap_or(1);
    let few_enough = nice_widths().find(|width| *width >= asked && bins(*width) <= *limits::BINS.end());
    let width = few_enough.unwrap_or(asked);
    if bins(width) >= *limits::BINS.start() {
        return width;
    }
    // One step down makes at most two and a half times as many, so the upper limit is not met.
    let narrower = nice_widths().take_while(|narrower| *narrower < width);
    narrower.filter(|narrower| bins(*narrower) >= *limits::BINS.start()).last().unwrap_or(1)
}

/// 1, 2, 5, 10, 20, 50 and so on, beyond the largest price.
fn nice_widths() -> impl Iterator<Item = i64> {
    (0..=13).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_i64.pow(power)))
}

fn wide_enough(sorted: &[i64], least: i64, most: i64, width: i64) -> bool {
    let (count, width) = (sorted.len() as i128, i128::from(width));
    let between = summary::quartile(sorted, 3) - summary::quartile(sorted, 1);
    if between == 0 {
        let sturges = i128::from(sorted.len().next_power_of_two().ilog2()) + 1;
        return width * sturges >= i128::from(most - least);
    }
    // width >= 2·(between / 4) / ∛count, to the third power. What has no room in 128 bits is wide enough: the other side has.
    match width.checked_pow(3).and_then(|cube| cube.checked_mul(8 * count)) {
        Some(cube) => cube >= between.pow(3),
        None => true,
    }
}

/// With empty bins on both sides, so that there are at least five; never below zero.
fn padded(first: i64, last: i64) -> (i64, i64) {
    let missing = (limits::BINS.start() - (last - first + 1)).max(0);
    let before = (missing / 2).min(first);
    (first - before, last + missing - before)
}
