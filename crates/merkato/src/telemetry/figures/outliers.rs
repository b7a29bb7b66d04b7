//! Readings that do not belong to their series: outside of what is plausible, or far from the middle of the others.
//!
//! 1. A reading is named once. Outside of the range comes before far from the median.
//! 2. Few readings have no middle to be far from (`readings_min`): then the range alone decides.
//! 3. What differs by less than `spread_min` is no outlier, however still the others are.

use widerow::Timestamp;

use super::{
    error::{Error, Result},
    limits,
    reading::{Reading, check_value},
    robust::Middle,
};

/// What a sensor can plausibly measure; an end that is not given is open.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Plausible {
    low: Option<f64>,
    high: Option<f64>,
}

impl Plausible {
    pub const ANYTHING: Plausible = Plausible { low: None, high: None };

    pub fn new(low: Option<f64>, high: Option<f64>) -> Result<Self> {
        let low = low.map(|low| check_value("low", low)).transpose()?;
        let high = high.map(|high| check_value("high", high)).transpose()?;
        if let (Some(low), Some(high)) = (low, high)
            && low > high
        {
            return Err(Error::invalid("high", "it must not be below low"));
        }
        Ok(Plausible { low, high })
    }

    pub fn low(&self) -> Option<f64> {
        self.low
    }

    pub fn high(&self) -> Option<f64> {
        self.high
    }

    pub fn width(&self) -> Option<f64> {
        Some(self.high? - self.low?)
    }

    /// Which end a value is beyond.
    pub fn beyond(&self, value: f64) -> Option<OutlierReason> {
        let below = self.low.filter(|low| value < *low).map(|low| OutlierReason::BelowRange { low });
        let above = self.high.filter(|high| value > *high).map(|high| OutlierReason::AboveRange { high });
        below.or(above)
    }
}

/// When a reading is an outlier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutlierSettings {
    /// From how many spreads on.
    pub score_min: f64,
    /// From how many readings on there is a middle.
    pub readings_min: usize,
    /// What a sensor may always differ by: its resolution, its noise.
    pub spread_min: f64,
}

impl Default for OutlierSettings {
    /// Of Iglewicz and Hoaglin, but a little more patient: an hour of a reading a second has 3,600 chances to be unusual.
    fn default() -> Self {
        OutlierSettings { score_min: 5.0, readings_min: 8, spread_min: 0.0 }
    }
}

impl OutlierSettings {
    /// For a sensor whose range is known: what differs by a thousandth of it is within its resolution.
    pub fn for_range(plausible: &Plausible) -> Self {
        let spread_min = plausible.width().map_or(0.0, |width| width / 1000.0);
        OutlierSettings { spread_min, ..Self::default() }
    }

    fn check(&self) -> Result<()> {
        if !(self.score_min.is_finite() && self.score_min > 0.0) {
            return Err(Error::invalid("score_min", "a number above nought"));
        }
        if !(self.spread_min.is_finite() && self.spread_min >= 0.0) {
            return Err(Error::invalid("spread_min", "a number that is not negative"));
        }
        Ok(())
    }
}

/// A reading that does not belong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlier {
    pub at: Timestamp,
    pub value: f64,
    pub reason: OutlierReason,
    /// How many spreads it lies from the median; of the range, how many of its widths it lies beyond it.
    pub score: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OutlierReason {
    BelowRange { low: f64 },
    AboveRange { high: f64 },
    FarFromMedian { median: f64, spread: f64 },
}

impl OutlierReason {
    pub fn code(&self) -> &'static str {
        match self {
            OutlierReason::BelowRange { .. } => "below_range",
            OutlierReason::AboveRange { .. } => "above_range",
            OutlierReason::FarFromMedian { .. } => "far_from_median",
        }
    }

    pub fn is_range(&self) -> bool {
        !matches!(self, OutlierReason::FarFromMedian { .. })
    }
}

impl std::fmt::Display for OutlierReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OutlierReason::BelowRange { low } => write!(f, "below {low}, the least that is plausible"),
            OutlierReason::AboveRange { high } => write!(f, "above {high}, the most that is plausible"),
            OutlierReason::FarFromMedian { median, .. } => write!(f, "far from {median}, the median"),
        }
    }
}

/// The outliers, in the order of the readings, which may be any.
pub fn outliers(readings: &[Reading], plausible: &Plausible, settings: &OutlierSettings) -> Result<Vec<Outlier>> {
    settings.check()?;
    if readings.len() > limits::READINGS_MAX {
        let (found, limit) = (readings.len() as u64, limits::READINGS_MAX as u64);
        return Err(Error::TooMany { field: "readings", found, limit });
    }
    let mut values: Vec<f64> = readings.iter().map(|reading| reading.value()).collect();
    let middle = Middle::of(&mut values).filter(|_| readings.len() >= settings.readings_min);
    let judge = |reading: &Reading| {
        let (at, value) = (reading.at(), reading.value());
        if let Some(reason) = plausible.beyond(value) {
            return Some(Outlier { at, value, reason, score: beyond_score(plausible, value) });
        }
        let Middle { median, spread } = middle?;
        let score = Middle { median, spread }.score(value, settings.spread_min);
        let reason = OutlierReason::FarFromMedian { median, spread };
        (score >= settings.score_min).then_some(Outlier { at, value, reason, score })
    };
    Ok(readings.iter().filter_map(judge).collect())
}

/// A range with an open end has no width: the size of the other end stands for it.
fn beyond_score(plausible: &Plausible, value: f64) -> f64 {
    let end = if plausible.low.is_some_and(|low| value < low) { plausible.low } else { plausible.high };
    let end = end.unwrap_or(value);
    let width = plausible.width().filter(|width| *width > 0.0).unwrap_or(end.abs().max(1.0));
    ((value - end).abs() / width).min(limits::SCORE_MAX)
}
