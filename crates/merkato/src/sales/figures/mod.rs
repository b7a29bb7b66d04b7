//! Answers to a buyer's questions from sales: prices over time, their distribution, brands side by side, a price for a new
//! item, what is similar, what it costs to keep, and how evenly it is spread.
//!
//! Pure functions: nothing is read, written or waited for, and neither the clock nor chance is asked. The same sales give the
//! same answer, in whichever order they come.
//!
//! 1. Prices are reckoned in whole minor units. What is exact is told exactly; what is a quotient says to how many decimals
//!    it is rounded.
//! 2. Every input has a limit (`limits`), and what is over it is refused by name.
//! 3. They compute on the caller's thread. A million sales take part of a second, so an async caller hands them to a thread
//!    that may block.

mod compare;
pub mod cost;
mod error;
mod histogram;
pub mod limits;
mod nearest;
mod period;
mod series;
mod skew;
mod suggest;
mod summary;
#[cfg(test)]
mod tests;
mod units;

pub use compare::{Comparison, GroupFigures, brands};
pub use error::{Error, Result};
pub use histogram::{Bin, Histogram, histogram};
pub use nearest::{Vectors, cosine, nearest};
pub use period::{By, Period};
pub use series::{PeriodFigures, Series, series};
pub use skew::{Skew, count_shards, skew};
pub use suggest::{
    Advice, Basis, Comparable, Confidence, Reason, RestsOn, SuggestSettings, Suggestion, Wanted, suggest,
};
pub use summary::Summary;
pub use units::{MinorUnits, SHARE_DECIMALS};

use rust_decimal::Decimal;
use widerow::Date;

use super::season::Season;

/// One sale, as far as figures look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point<'a> {
    pub product_id: &'a str,
    pub sale_id: &'a str,
    pub date: Date,
    pub price: Decimal,
    /// The list price; zero where there is none.
    pub original: Decimal,
    pub season: Season,
    pub category: &'a str,
    pub brand: Option<&'a str>,
}

fn check_date(date: Date) -> Result<()> {
    if date.in_range() {
        return Ok(());
    }
    Err(Error::invalid("date", "a date must lie in the years 0000 to 9999"))
}
