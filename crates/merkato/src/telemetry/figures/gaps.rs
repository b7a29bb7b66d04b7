//! Where readings are missing, of a sensor that should send one at each interval.
//!
//! 1. There is a gap where two readings are farther apart than the interval and the tolerance.
//! 2. A gap goes from the reading before it to the one after it, or to the end of the time that is looked at.
//! 3. Readings need not fall on whole intervals: a sensor starts when it is switched on.

use widerow::Timestamp;

use super::{
    error::{Error, Result},
    limits,
    reading::{Reading, Span, check_order},
};

/// How often a sensor sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    interval_ms: i64,
    tolerance_ms: i64,
}

impl Expected {
    pub fn new(interval_ms: i64, tolerance_ms: i64) -> Result<Self> {
        if !(1..=limits::INTERVAL_MS_MAX).contains(&interval_ms) {
            let problem = format!("it must be from 1 to {} milliseconds", limits::INTERVAL_MS_MAX);
            return Err(Error::invalid("interval_ms", problem));
        }
        if !(0..=limits::INTERVAL_MS_MAX).contains(&tolerance_ms) {
            let problem = format!("it must be from 0 to {} milliseconds", limits::INTERVAL_MS_MAX);
            return Err(Error::invalid("tolerance_ms", problem));
        }
        Ok(Expected { interval_ms, tolerance_ms })
    }

    /// With half an interval of tolerance.
    pub fn every(interval_ms: i64) -> Result<Self> {
        Expected::new(interval_ms, interval_ms / 2)
    }

    pub fn interval_ms(&self) -> i64 {
        self.interval_ms
    }

    /// The longest distance of two readings that is no gap.
    pub fn gap_ms(&self) -> i64 {
        self.interval_ms + self.tolerance_ms
    }

    /// How many readings a span should have.
    pub fn count(&self, span: Span) -> u64 {
        (span.millis() / self.interval_ms).max(0) as u64
    }

    /// How many readings are missing between two that are that far apart.
    fn missing(&self, apart_ms: i64) -> u64 {
        if apart_ms <= self.gap_ms() {
            return 0;
        }
        ((apart_ms - self.tolerance_ms - 1) / self.interval_ms) as u64
    }
}

/// Where nothing came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The last reading before it, or where the span begins.
    pub from: Timestamp,
    /// The first reading after it, or where the span ends.
    pub to: Timestamp,
    /// How many readings should have come; at least one.
    pub missing: u64,
}

impl Gap {
    pub fn millis(&self) -> i64 {
        self.to.millis() - self.from.millis()
    }
}

/// The gaps of a span. Readings outside of it are not looked at.
pub fn gaps(readings: &[Reading], span: Span, expected: &Expected) -> Result<Vec<Gap>> {
    check_order(readings)?;
    let mut found = Vec::new();
    let mut before: Option<Timestamp> = None;
    for at in readings.iter().map(|reading| reading.at()).filter(|at| span.contains(*at)) {
        let from = before.unwrap_or(span.from);
        let apart_ms = at.millis() - from.millis();
        let missing = match before {
            Some(_) => expected.missing(apart_ms),
            // Before the first one whole intervals are missing: nothing came at the span's begin.
            None if apart_ms > expected.gap_ms() => (apart_ms / expected.interval_ms) as u64,
            None => 0,
        };
        if missing > 0 {
            found.push(Gap { from, to: at, missing });
        }
        before = Some(at);
    }
    let missing = match before {
        Some(last) => expected.missing(span.to.millis() - last.millis()),
        None => expected.count(span),
    };
    if missing > 0 {
        found.push(Gap { from: before.unwrap_or(span.from), to: span.to, missing });
    }
    Ok(found)
}
