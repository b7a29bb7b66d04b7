//! A sensor that repeats itself: the same value again and again, although the series otherwise varies.
//!
//! Invariant: a series that never varies is not stuck. A door is closed, a store is at rest.

use widerow::Timestamp;

use super::{
    error::{Error, Result},
    reading::{Reading, check_order},
};

/// When a sensor is stuck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StuckSettings {
    /// From how many equal readings in a row on; at least 2.
    pub repeats_min: usize,
    /// How often a reading differs from the one before it in a series that varies, from 0 to 1. A coarse sensor repeats itself
    /// when it is well.
    pub changes_min: f64,
}

impl Default for StuckSettings {
    fn default() -> Self {
        StuckSettings { repeats_min: 12, changes_min: 0.3 }
    }
}

/// Equal readings in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StuckRun {
    /// The first and the last of them.
    pub from: Timestamp,
    pub to: Timestamp,
    pub value: f64,
    pub readings: usize,
}

/// How often a reading differs from the one before it, from 0 to 1; None of fewer than two.
pub fn changes(readings: &[Reading]) -> Option<f64> {
    let changed = readings.windows(2).filter(|pair| pair[0].value() != pair[1].value()).count();
    (readings.len() > 1).then(|| changed as f64 / (readings.len() - 1) as f64)
}

/// Where a sensor is stuck.
///
/// `usual` is how often its readings change otherwise (see `changes`), from the hours before. Without it the readings outside of
/// the runs tell, if they are as many as make a run: a sensor that is stuck for all of the time cannot be told from one at rest.
pub fn stuck(readings: &[Reading], settings: &StuckSettings, usual: Option<f64>) -> Result<Vec<StuckRun>> {
    check_order(readings)?;
    if settings.repeats_min < 2 {
        return Err(Error::invalid("repeats_min", "two readings at least"));
    }
    if !(0.0..=1.0).contains(&settings.changes_min) {
        return Err(Error::invalid("changes_min", "from 0 to 1"));
    }
    let same = readings.chunk_by(|one, next| one.value() == next.value());
    let (runs, others): (Vec<&[Reading]>, Vec<&[Reading]>) = same.partition(|run| run.len() >= settings.repeats_min);
    let outside: usize = others.iter().map(|run| run.len()).sum();
    // Each chunk begins with a change, and has none inside.
    let here = (outside >= settings.repeats_min).then(|| others.len() as f64 / outside as f64);
    if usual.or(here).is_none_or(|changes| changes < settings.changes_min) {
        return Ok(Vec::new());
    }
    let run = |run: &[Reading]| {
        let (first, last) = (run.first()?, run.last()?);
        Some(StuckRun { from: first.at(), to: last.at(), value: first.value(), readings: run.len() })
    };
    Ok(runs.into_iter().filter_map(run).collect())
}
