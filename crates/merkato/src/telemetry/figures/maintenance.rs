//! Whether somebody should go and look at a sensor, and why, in words.

use super::{
    day::{Day, check_history, summary_of_day, usual_stddev},
    error::{Error, Result},
    gaps::Expected,
    robust::median,
    words::{duration, short},
};

/// From when on somebody should look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaintenanceSettings {
    /// Hours in a row that are stuck.
    pub stuck_hours_min: usize,
    /// Readings of the day outside of what is plausible.
    pub out_of_range_min: u64,
    /// Intervals since the last reading.
    pub silent_intervals_min: i64,
    /// Days of which a drift is told.
    pub drift_days_min: usize,
    /// How far it drifted over these days, in what values vary by within a day.
    pub drift_min: f64,
    /// How steadily: of all pairs of days, how many more went the drift's way than the other, as a share (Kendall's tau).
    pub drift_steadiness_min: f64,
}

impl Default for MaintenanceSettings {
    fn default() -> Self {
        MaintenanceSettings {
            stuck_hours_min: 2,
            out_of_range_min: 3,
            silent_intervals_min: 10,
            drift_days_min: 7,
            drift_min: 2.0,
            drift_steadiness_min: 0.7,
        }
    }
}

impl MaintenanceSettings {
    fn check(&self) -> Result<()> {
        if self.stuck_hours_min == 0 || self.out_of_range_min == 0 || self.silent_intervals_min < 1 {
            return Err(Error::invalid("maintenance", "one hour, one reading and one interval at least"));
        }
        if self.drift_days_min < 3 {
            return Err(Error::invalid("drift_days_min", "three days at least"));
        }
        if !(self.drift_min.is_finite() && self.drift_min > 0.0) {
            return Err(Error::invalid("drift_min", "a number above nought"));
        }
        if !(0.0..=1.0).contains(&self.drift_steadiness_min) {
            return Err(Error::invalid("drift_steadiness_min", "from 0 to 1"));
        }
        Ok(())
    }
}

/// Why somebody should look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Maintenance {
    /// The same value, hour after hour, although it otherwise varies.
    Stuck { value: f64, hours: usize },
    /// Readings outside of what is plausible, again and again.
    OutOfRange { readings: u64, hours: usize },
    /// Nothing since so long.
    Silent { intervals: i64, silent_ms: i64 },
    /// Slowly and steadily away from where it was.
    Drift { per_day: f64, days: usize },
}

impl Maintenance {
    pub fn code(&self) -> &'static str {
        match self {
            Maintenance::Stuck { .. } => "stuck",
            Maintenance::OutOfRange { .. } => "out_of_range",
            Maintenance::Silent { .. } => "silent",
            Maintenance::Drift { .. } => "drift",
        }
    }
}

impl std::fmt::Display for Maintenance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Maintenance::Stuck { value, hours } => write!(f, "stuck at {} for {hours} hours", short(*value)),
            Maintenance::OutOfRange { readings, hours: 1 } => write!(f, "{readings} readings out of range in one hour"),
            Maintenance::OutOfRange { readings, hours } => {
                write!(f, "{readings} readings out of range in {hours} hours of the day")
            }
            Maintenance::Silent { intervals, silent_ms } => {
                write!(f, "silent for {}: {intervals} readings are missing", duration(*silent_ms))
            }
            Maintenance::Drift { per_day, days } => {
                let total = per_day * (days.saturating_sub(1)) as f64;
                let way = if total < 0.0 { "down" } else { "up" };
                write!(f, "drifts {way} by {} a day, {} in {days} days", short(per_day.abs()), short(total.abs()))
            }
        }
    }
}

/// Why somebody should look at a sensor; nothing if nobody need to.
///
/// `silent_ms` is how long ago the last reading came, when the day was over or now. The history's oldest day comes first, and the
/// day itself is not part of it.
pub fn maintenance(
    day: &Day,
    history: &[Day],
    expected: &Expected,
    silent_ms: i64,
    settings: &MaintenanceSettings,
) -> Result<Vec<Maintenance>> {
    check_history(history)?;
    settings.check()?;
    let silent = (silent_ms / expected.interval_ms() >= settings.silent_intervals_min)
        .then(|| Maintenance::Silent { intervals: silent_ms / expected.interval_ms(), silent_ms });
    let why = [silent, stuck(day, history, settings), out_of_range(day, settings), drift(day, history, settings)];
    Ok(why.into_iter().flatten().collect())
}

/// The longest row of hours of which half and more is stuck, or that had one value where hours usually vary.
fn stuck(day: &Day, history: &[Day], settings: &MaintenanceSettings) -> Option<Maintenance> {
    let varies = usual_stddev(history).is_some_and(|stddev| stddev > 0.0);
    // Half an hour of one value says that it is stuck; two readings of one value do not.
    let (mut longest, mut row) = ((0, 0.0), 0);
    for hour in day {
        let count = hour.summary.count();
        let one_value = varies && count > 2 && hour.summary.min() == hour.summary.max();
        let is_stuck = count > 0 && (one_value || hour.stuck * 2 >= count);
        row = if is_stuck { row + 1 } else { 0 };
        if row > longest.0 {
            // The middle of the extremes is the value itself, where there is one.
            longest = (row, hour.summary.mean().unwrap_or(0.0));
        }
    }
    let (hours, value) = longest;
    (hours >= settings.stuck_hours_min).then_some(Maintenance::Stuck { value, hours })
}

fn out_of_range(day: &Day, settings: &MaintenanceSettings) -> Option<Maintenance> {
    let readings = day.iter().fold(0_u64, |sum, hour| sum.saturating_add(hour.out_of_range));
    let hours = day.iter().filter(|hour| hour.out_of_range > 0).count();
    (readings >= settings.out_of_range_min).then_some(Maintenance::OutOfRange { readings, hours })
}

/// The median of the slopes between all pairs of days (Theil and Sen), which a few odd days do not bend.
fn drift(day: &Day, history: &[Day], settings: &MaintenanceSettings) -> Option<Maintenance> {
    let days = || history.iter().chain([day]);
    let means = days().map(|day| summary_of_day(day).mean()).enumerate();
    let means: Vec<(usize, f64)> = means.filter_map(|(n, mean)| Some((n, mean?))).collect();
    if means.len() < settings.drift_days_min {
        return None;
    }
    let pairs = means.iter().enumerate().flat_map(|(n, one)| means[n + 1..].iter().map(move |other| (one, other)));
    let mut slopes: Vec<f64> = pairs.map(|(one, other)| (other.1 - one.1) / (other.0 - one.0) as f64).collect();
    let (ups, downs) = slopes
        .iter()
        .fold((0_i64, 0_i64), |(ups, downs), slope| (ups + i64::from(*slope > 0.0), downs + i64::from(*slope < 0.0)));
    let steadiness = (ups - downs).abs() as f64 / slopes.len() as f64;
    let per_day = median(&mut slopes)?;
    let (first, last) = (means.first()?.0, means.last()?.0);
    let varies = median(&mut days().filter_map(|day| summary_of_day(day).stddev()).collect::<Vec<_>>())?;
    let far = per_day != 0.0 && (per_day * (last - first) as f64).abs() >= settings.drift_min * varies;
    (far && steadiness >= settings.drift_steadiness_min)
        .then_some(Maintenance::Drift { per_day, days: last - first + 1 })
}
