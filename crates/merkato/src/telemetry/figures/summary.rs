//! Many values in five numbers, which can be merged: how many, their mean, how far they lie from it, the least and the most.
//!
//! 1. Merging is associative and commutative but for rounding: however values are split and merged, the figures are those of a
//!    computation in two passes to 1e-9 of their size (Welford 1962 for one value more, Chan, Golub and LeVeque 1979 for two
//!    summaries).
//! 2. The mean is kept to twice the precision of a number. Values with a large offset (1e9 and a little noise) would otherwise
//!    lose in the mean what their deviation is made of: seven digits of it.
//! 3. What is stored as standard deviation is that of the population: an hour's readings are all that there were. From it and
//!    the count the sum of squares comes back, so that hours merge to a day without any column of their own.

use rust_decimal::Decimal;

use super::{
    decimal::{from_decimal, to_decimal},
    error::{Error, Result},
    reading::{Reading, check_value},
};

/// The figures of a metric. The empty one has a count and nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    count: u64,
    mean: f64,
    /// What the mean is more than `mean`, which is rounded.
    mean_rest: f64,
    /// The sum of the squared distances from the mean.
    m2: f64,
    min: f64,
    max: f64,
}

impl Summary {
    pub const EMPTY: Summary = Summary { count: 0, mean: 0.0, mean_rest: 0.0, m2: 0.0, min: 0.0, max: 0.0 };

    pub fn of_one(value: f64) -> Result<Self> {
        check_value("value", value).map(Self::one)
    }

    pub fn of(values: impl IntoIterator<Item = f64>) -> Result<Self> {
        let mut all = Self::EMPTY;
        for value in values {
            all.add(value)?;
        }
        Ok(all)
    }

    pub fn of_readings<'a>(readings: impl IntoIterator<Item = &'a Reading>) -> Self {
        let mut all = Self::EMPTY;
        readings.into_iter().for_each(|reading| all.add_checked(reading.value()));
        all
    }

    /// As it was stored. The mean's decimal may have more digits than a number.
    pub fn from_stored(count: u64, mean: Decimal, stddev: Decimal, min: Decimal, max: Decimal) -> Result<Self> {
        let rounded = from_decimal(mean);
        let rest = all_digits(rounded).and_then(|rounded| mean.checked_sub(rounded)).map_or(0.0, from_decimal);
        let stddev = from_decimal(stddev);
        let m2 = stddev * stddev * count as f64;
        let all = Self::from_parts(count, rounded, m2, from_decimal(min), from_decimal(max))?;
        // Of equal values the mean was written with few digits, and is the value itself.
        Ok(if all.min == all.max { Summary { mean: all.min, ..all } } else { Summary { mean_rest: rest, ..all } })
    }

    /// Of its five numbers, if there can be such values.
    pub fn from_parts(count: u64, mean: f64, m2: f64, min: f64, max: f64) -> Result<Self> {
        if count == 0 {
            return Ok(Self::EMPTY);
        }
        let (mean, min, max) = (check_value("mean", mean)?, check_value("min", min)?, check_value("max", max)?);
        if !m2.is_finite() {
            return Err(Error::NotFinite { field: "m2", value: m2 });
        }
        if m2 < 0.0 {
            return Err(Error::invalid("m2", "a sum of squares is not negative"));
        }
        // The mean was rounded, so that it may lie a little outside of values that are all the same.
        let rounding = (min.abs().max(max.abs())) * 1e-9;
        if min > max || mean < min - rounding || mean > max + rounding {
            return Err(Error::invalid("mean", "it must lie between the least and the most"));
        }
        // Values between two ends vary by half of their distance at the most (Popoviciu).
        if m2 > count as f64 * ((max - min) / 2.0).powi(2) * (1.0 + 1e-6) {
            return Err(Error::invalid("m2", "values between the least and the most cannot vary by so much"));
        }
        Ok(Summary { count, mean, mean_rest: 0.0, m2, min, max })
    }

    pub fn add(&mut self, value: f64) -> Result<()> {
        self.add_checked(check_value("value", value)?);
        Ok(())
    }

    pub fn merge(&mut self, other: &Summary) {
        if other.is_empty() {
            return;
        }
        if self.is_empty() {
            *self = *other;
            return;
        }
        let count = self.count.saturating_add(other.count);
        let share = other.count as f64 / count as f64;
        let apart = (other.mean - self.mean) + (other.mean_rest - self.mean_rest);
        self.m2 += other.m2 + apart * apart * (self.count as f64 * share);
        self.move_mean(apart * share);
        self.count = count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    pub fn merged(mut self, other: &Summary) -> Summary {
        self.merge(other);
        self
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn mean(&self) -> Option<f64> {
        // Rounding may put the mean of equal values beside them.
        (!self.is_empty()).then(|| (self.mean + self.mean_rest).clamp(self.min, self.max))
    }

    /// The mean in two numbers, as it is kept: rounded, and what it is more than that.
    pub fn mean_parts(&self) -> Option<(f64, f64)> {
        (!self.is_empty()).then_some((self.mean, self.mean_rest))
    }

    /// The same with what the mean is more than its rounded number; nothing where that can be no rest.
    pub fn with_rest(self, rest: f64) -> Summary {
        let is_rest = !self.is_empty() && rest.abs() <= self.mean.abs() * f64::EPSILON;
        Summary { mean_rest: if is_rest { rest } else { 0.0 }, ..self }
    }

    /// The sum of the squared distances from the mean; nought of none.
    pub fn m2(&self) -> f64 {
        self.m2
    }

    pub fn min(&self) -> Option<f64> {
        (!self.is_empty()).then_some(self.min)
    }

    pub fn max(&self) -> Option<f64> {
        (!self.is_empty()).then_some(self.max)
    }

    /// Of the population: divided by the count.
    pub fn variance(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.m2 / self.count as f64)
    }

    /// Of the population. This is the one that is stored and shown.
    pub fn stddev(&self) -> Option<f64> {
        self.variance().map(f64::sqrt)
    }

    /// Of a sample: divided by one less than the count, which takes two values.
    pub fn sample_variance(&self) -> Option<f64> {
        (self.count > 1).then(|| self.m2 / (self.count - 1) as f64)
    }

    pub fn sample_stddev(&self) -> Option<f64> {
        self.sample_variance().map(f64::sqrt)
    }

    /// The mean, with as many digits as merging needs: the few that a person would write where they are near enough to what the
    /// values vary by, otherwise up to the 28 of a decimal.
    pub fn mean_decimal(&self) -> Result<Option<Decimal>> {
        let (Some(mean), Some(stddev)) = (self.mean(), self.stddev()) else { return Ok(None) };
        let short = to_decimal("mean", mean)?;
        let too_large = || Error::NotDecimal { field: "mean", value: mean };
        let long = all_digits(self.mean).and_then(|mean| mean.checked_add(all_digits(self.mean_rest)?));
        let long = long.ok_or_else(too_large)?;
        let apart = long.checked_sub(short).ok_or_else(too_large)?;
        Ok(Some(if self.min == self.max || from_decimal(apart).abs() <= stddev * 1e-11 {
            short
        } else {
            long.normalize()
        }))
    }

    pub fn stddev_decimal(&self) -> Result<Option<Decimal>> {
        self.stddev().map(|stddev| to_decimal("stddev", stddev)).transpose()
    }

    pub fn min_decimal(&self) -> Result<Option<Decimal>> {
        self.min().map(|min| to_decimal("min", min)).transpose()
    }

    pub fn max_decimal(&self) -> Result<Option<Decimal>> {
        self.max().map(|max| to_decimal("max", max)).transpose()
    }

    fn one(value: f64) -> Self {
        Summary { count: 1, mean: value, min: value, max: value, ..Self::EMPTY }
    }

    fn add_checked(&mut self, value: f64) {
        if self.is_empty() {
            *self = Self::one(value);
            return;
        }
        self.count = self.count.saturating_add(1);
        let before = (value - self.mean) - self.mean_rest;
        self.move_mean(before / self.count as f64);
        let after = (value - self.mean) - self.mean_rest;
        // Both have one sign, but for rounding.
        self.m2 += (before * after).max(0.0);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds to the mean what it moves by, and keeps what the rounding of the sum leaves (Knuth's two-sum).
    fn move_mean(&mut self, by: f64) {
        let by = by + self.mean_rest;
        let sum = self.mean + by;
        let moved = sum - self.mean;
        self.mean_rest = (self.mean - (sum - moved)) + (by - moved);
        self.mean = sum;
    }
}

/// The number itself, not the shortest decimal that is read as it: these differ in the eighteenth digit.
fn all_digits(value: f64) -> Option<Decimal> {
    format!("{value:.28}").parse().ok()
}
