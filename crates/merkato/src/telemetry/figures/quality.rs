//! How far an hour of readings can be trusted, from 0 to 1, and why.
//!
//! The score is coverage × plausibility × liveliness.
//! 1. Coverage is the lesser of completeness (received against expected) and continuity (time outside of gaps). They are the
//!    same fault seen twice, so it counts once; but sixty readings in one minute are complete and do not cover an hour.
//! 2. Plausibility is the share of readings that are no outliers, liveliness the share that are not stuck.
//! 3. Nothing received is a score of nought.

use super::{
    error::Result,
    gaps::{Expected, Gap, gaps},
    outliers::{Outlier, OutlierSettings, Plausible, outliers},
    reading::{Reading, Span},
    stuck::{StuckRun, StuckSettings, stuck},
    words::duration,
};

/// What a sensor should do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Norm {
    pub expected: Expected,
    pub plausible: Plausible,
    pub outliers: OutlierSettings,
    pub stuck: StuckSettings,
    /// How often its readings usually change (see `changes`), where it is known.
    pub usual_changes: Option<f64>,
}

impl Norm {
    pub fn new(expected: Expected, plausible: Plausible) -> Self {
        let outliers = OutlierSettings::for_range(&plausible);
        Norm { expected, plausible, outliers, stuck: StuckSettings::default(), usual_changes: None }
    }
}

/// How far readings can be trusted, with all that speaks against them.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    /// From 0 to 1; the product of `coverage`, `plausibility` and `liveliness`.
    pub score: f64,
    pub received: u64,
    pub expected: u64,
    /// Received against expected, at most 1.
    pub completeness: f64,
    /// The share of the time that is outside of gaps.
    pub continuity: f64,
    pub coverage: f64,
    /// The share of readings that are no outliers.
    pub plausibility: f64,
    /// The share of readings that are not stuck.
    pub liveliness: f64,
    pub gaps: Vec<Gap>,
    pub outliers: Vec<Outlier>,
    pub stuck: Vec<StuckRun>,
}

impl Quality {
    pub fn stuck_readings(&self) -> u64 {
        self.stuck.iter().map(|run| run.readings as u64).sum()
    }

    pub fn out_of_range(&self) -> u64 {
        self.outliers.iter().filter(|outlier| outlier.reason.is_range()).count() as u64
    }

    /// What speaks against the readings, in words; none if nothing does.
    pub fn reasons(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        if self.completeness < 1.0 {
            reasons.push(format!("{} of {} readings came", self.received, self.expected));
        }
        if let Some(longest) = self.gaps.iter().max_by_key(|gap| gap.millis()) {
            let gaps = if self.gaps.len() == 1 { "1 gap".into() } else { format!("{} gaps", self.gaps.len()) };
            reasons.push(format!("{gaps}, the longest of {}", duration(longest.millis())));
        }
        let range = self.out_of_range();
        let far = self.outliers.len() as u64 - range;
        if range > 0 {
            reasons.push(format!("{} outside of what is plausible", counted(range)));
        }
        if far > 0 {
            reasons.push(format!("{} far from the median", counted(far)));
        }
        if let Some(longest) = self.stuck.iter().max_by_key(|run| run.readings) {
            reasons.push(format!("the value {} came {} times in a row", longest.value, longest.readings));
        }
        reasons
    }
}

/// The quality of a span, usually an hour. Readings outside of it do not count.
pub fn quality(readings: &[Reading], span: Span, norm: &Norm) -> Result<Quality> {
    let gaps = gaps(readings, span, &norm.expected)?;
    // They are in order, which `gaps` has seen to.
    let inside = &readings[readings.partition_point(|reading| reading.at() < span.from)..];
    let inside = &inside[..inside.partition_point(|reading| reading.at() < span.to)];
    let outliers = outliers(inside, &norm.plausible, &norm.outliers)?;
    let stuck = stuck(inside, &norm.stuck, norm.usual_changes)?;
    let (received, expected) = (inside.len() as u64, norm.expected.count(span));
    let stuck_readings: u64 = stuck.iter().map(|run| run.readings as u64).sum();
    let completeness = share(received, expected).unwrap_or(if received > 0 { 1.0 } else { 0.0 }).min(1.0);
    let continuity = 1.0 - uncovered_ms(&gaps, &norm.expected) as f64 / span.millis() as f64;
    let plausibility = 1.0 - share(outliers.len() as u64, received).unwrap_or(0.0);
    let liveliness = 1.0 - share(stuck_readings, received).unwrap_or(0.0);
    let coverage = completeness.min(continuity);
    let score = if received == 0 { 0.0 } else { coverage * plausibility * liveliness };
    Ok(Quality {
        score,
        received,
        expected,
        completeness,
        continuity,
        coverage,
        plausibility,
        liveliness,
        gaps,
        outliers,
        stuck,
    })
}

/// Each missing reading stands for an interval; a gap is one longer than what it misses.
fn uncovered_ms(gaps: &[Gap], expected: &Expected) -> i64 {
    let of_gap = |gap: &Gap| (gap.missing as i64).saturating_mul(expected.interval_ms()).min(gap.millis());
    gaps.iter().map(of_gap).sum()
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn counted(readings: u64) -> String {
    if readings == 1 { "1 reading".into() } else { format!("{readings} readings") }
}
