//! What is unusual about a day: each of its hours against the same hour of the days before.
//!
//! 1. The usual is a median over days, and what it varies by a median distance: a bad day in the history does not hide the next.
//! 2. A mean that moved by less than what values vary by within an hour is not unusual, however equal the days before were.
//! 3. Without enough days before, nothing is unusual.

use super::{
    error::{Error, Result},
    limits,
    robust::{Middle, median},
    summary::Summary,
    words::short,
};

/// An hour of a metric, as its roll-up keeps it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hour {
    pub summary: Summary,
    /// Readings outside of what is plausible.
    pub out_of_range: u64,
    /// Readings that are part of a stuck run.
    pub stuck: u64,
}

/// The hours of a day in UTC, from midnight on. One in which nothing came is empty.
pub type Day = [Hour; 24];

/// Of nothing.
pub const EMPTY_DAY: Day = [Hour { summary: Summary::EMPTY, out_of_range: 0, stuck: 0 }; 24];

/// When an hour is unusual.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DaySettings {
    /// From how many spreads on.
    pub score_min: f64,
    /// How many days before must have the same hour.
    pub days_min: usize,
    /// What a mean may always differ by.
    pub spread_min: f64,
}

impl Default for DaySettings {
    fn default() -> Self {
        DaySettings { score_min: 5.0, days_min: 4, spread_min: 0.0 }
    }
}

/// An hour that is not as usual.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anomaly {
    /// From 0 to 23, in UTC.
    pub hour: u8,
    pub kind: AnomalyKind,
    /// How many spreads it is off; of a silent hour, 0.
    pub score: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AnomalyKind {
    High {
        mean: f64,
        usual: f64,
    },
    Low {
        mean: f64,
        usual: f64,
    },
    /// Values vary far more than they do at that hour.
    Restless {
        stddev: f64,
        usual: f64,
    },
    /// Nothing came, though it does otherwise.
    Silent,
}

impl AnomalyKind {
    pub fn code(&self) -> &'static str {
        match self {
            AnomalyKind::High { .. } => "high",
            AnomalyKind::Low { .. } => "low",
            AnomalyKind::Restless { .. } => "restless",
            AnomalyKind::Silent => "silent",
        }
    }
}

impl std::fmt::Display for AnomalyKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AnomalyKind::High { mean, usual } => write!(f, "{} on average, usually {}", short(*mean), short(*usual)),
            AnomalyKind::Low { mean, usual } => {
                write!(f, "only {} on average, usually {}", short(*mean), short(*usual))
            }
            AnomalyKind::Restless { stddev, usual } => {
                write!(f, "varies by {}, usually by {}", short(*stddev), short(*usual))
            }
            AnomalyKind::Silent => write!(f, "nothing came, though it usually does"),
        }
    }
}

/// What is unusual about the hours of a day, in their order; an hour may be both high and restless. The order of the days before
/// does not matter. Of a day that is not over, the hours to come must be left out with `hours`.
pub fn anomalies(day: &Day, hours: usize, history: &[Day], settings: &DaySettings) -> Result<Vec<Anomaly>> {
    check_history(history)?;
    if !(settings.score_min.is_finite() && settings.score_min > 0.0) {
        return Err(Error::invalid("score_min", "a number above nought"));
    }
    if !(settings.spread_min.is_finite() && settings.spread_min >= 0.0) {
        return Err(Error::invalid("spread_min", "a number that is not negative"));
    }
    let mut found = Vec::new();
    for (hour, now) in (0_u8..).zip(day).take(hours) {
        let before = || history.iter().map(|day| &day[usize::from(hour)].summary).filter(|before| !before.is_empty());
        if before().count() < settings.days_min.max(1) {
            continue;
        }
        let mut deviations: Vec<f64> = before().filter_map(Summary::stddev).collect();
        let mut means: Vec<f64> = before().filter_map(Summary::mean).collect();
        let (Some(varies), Some(usual)) = (Middle::of(&mut deviations), Middle::of(&mut means)) else { continue };
        let (Some(mean), Some(stddev)) = (now.summary.mean(), now.summary.stddev()) else {
            // On one day of two it is silent at this hour anyway.
            if before().count() * 2 > history.len() {
                found.push(Anomaly { hour, kind: AnomalyKind::Silent, score: 0.0 });
            }
            continue;
        };
        let score = usual.score(mean, settings.spread_min.max(varies.median / 2.0));
        if score >= settings.score_min {
            let usual = usual.median;
            let kind = if mean > usual { AnomalyKind::High { mean, usual } } else { AnomalyKind::Low { mean, usual } };
            found.push(Anomaly { hour, kind, score });
        }
        let score = varies.score(stddev, settings.spread_min.max(varies.median / 2.0));
        if stddev > varies.median && score >= settings.score_min {
            let kind = AnomalyKind::Restless { stddev, usual: varies.median };
            found.push(Anomaly { hour, kind, score });
        }
    }
    Ok(found)
}

/// A day of its hours.
pub fn summary_of_day(day: &Day) -> Summary {
    day.iter().fold(Summary::EMPTY, |all, hour| all.merged(&hour.summary))
}

/// What values usually vary by within an hour; None without any.
pub(super) fn usual_stddev(days: &[Day]) -> Option<f64> {
    let hours = days.iter().flatten().filter(|hour| hour.summary.count() > 1);
    median(&mut hours.filter_map(|hour| hour.summary.stddev()).collect::<Vec<_>>())
}

pub(super) fn check_history(history: &[Day]) -> Result<()> {
    if history.len() > limits::HISTORY_DAYS_MAX {
        let (found, limit) = (history.len() as u64, limits::HISTORY_DAYS_MAX as u64);
        return Err(Error::TooMany { field: "history", found, limit });
    }
    Ok(())
}
