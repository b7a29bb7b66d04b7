//! Prices over time: a summary for each period, and how its median moved.
//!
//! 1. Periods without sales between the first and the last are there, without a summary: a gap is shown as a gap.
//! 2. A change is told only against a median of the very period before. Over a gap, or from a median of zero, there is none.
//! 3. What is kept of a sale is its price in minor units. A million sales take eight to sixteen megabytes, and the time to
//!    sort them; the records themselves can pass by in pages.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use super::{
    Point,
    error::{Error, Result},
    limits,
    period::{By, Period},
    summary::{Gathered, Summary},
    units::{MinorUnits, SHARE_DECIMALS},
};

/// Sales of one period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeriodFigures {
    pub period: Period,
    /// None where nothing was sold.
    pub summary: Option<Summary>,
    /// Of the median against that of the period before, as a share of it.
    pub change: Option<Decimal>,
}

impl PeriodFigures {
    pub fn count(&self) -> u64 {
        self.summary.as_ref().map_or(0, |summary| summary.count)
    }
}

/// Sales on their way into periods, in any order.
#[derive(Debug)]
pub struct Series {
    by: By,
    units: MinorUnits,
    periods_max: u32,
    sales_count: usize,
    periods: BTreeMap<i32, Gathered>,
}

impl Series {
    pub fn new(by: By, units: MinorUnits) -> Self {
        Series { by, units, periods_max: limits::PERIODS_MAX, sales_count: 0, periods: BTreeMap::new() }
    }

    /// With another limit of periods, gaps included.
    pub fn periods_max(self, periods_max: u32) -> Self {
        Series { periods_max, ..self }
    }

    /// Takes in one sale. One that is refused is not counted, and those before it still are.
    pub fn add(&mut self, point: &Point<'_>) -> Result<()> {
        super::check_date(point.date)?;
        if self.sales_count >= limits::SALES_MAX {
            return Err(Error::TooManySales { limit: limits::SALES_MAX });
        }
        let number = Period::of(self.by, point.date).number();
        match self.periods.get_mut(&number) {
            Some(gathered) => gathered.add(point, self.units)?,
            None => {
                self.check_room(number)?;
                let mut gathered = Gathered::default();
                gathered.add(point, self.units)?;
                self.periods.insert(number, gathered);
            }
        }
        self.sales_count += 1;
        Ok(())
    }

    /// The gaps count: each of them is a line of the answer.
    fn check_room(&self, number: i32) -> Result<()> {
        let first = self.periods.first_key_value().map_or(number, |(first, _)| number.min(*first));
        let last = self.periods.last_key_value().map_or(number, |(last, _)| number.max(*last));
        let periods = last.abs_diff(first).saturating_add(1);
        if periods > self.periods_max {
            let limit = self.periods_max;
            return Err(Error::TooManyPeriods { by: self.by, periods: periods.into(), limit });
        }
        Ok(())
    }

    /// All periods from the first sale to the last, in order.
    pub fn end(self) -> Result<Vec<PeriodFigures>> {
        let Series { by, units, mut periods, .. } = self;
        let (Some((&first, _)), Some((&last, _))) = (periods.first_key_value(), periods.last_key_value()) else {
            return Ok(Vec::new());
        };
        let mut figures: Vec<PeriodFigures> = Vec::new();
        for number in first..=last {
            let summary = periods.remove(&number).unwrap_or_default().summary(units)?;
            let before = figures.last().and_then(|before| before.summary.as_ref());
            let change = before.zip(summary.as_ref()).and_then(|(before, now)| change(before.median, now.median));
            figures.push(PeriodFigures { period: Period::numbered(by, number), summary, change });
        }
        Ok(figures)
    }
}

/// All sales at once.
pub fn series<'a>(
    points: impl IntoIterator<Item = Point<'a>>,
    by: By,
    units: MinorUnits,
) -> Result<Vec<PeriodFigures>> {
    let mut series = Series::new(by, units);
    points.into_iter().try_for_each(|point| series.add(&point))?;
    series.end()
}

/// What came to or went, as a share of what was before, rounded as shares are. None from zero.
pub(super) fn change(before: Decimal, now: Decimal) -> Option<Decimal> {
    let scale = before.scale().max(now.scale());
    let whole = |amount: Decimal| amount.mantissa().checked_mul(10_i128.checked_pow(scale - amount.scale())?);
    let (before, now) = (whole(before)?, whole(now)?);
    super::units::quotient(now - before, before, SHARE_DECIMALS)
}
