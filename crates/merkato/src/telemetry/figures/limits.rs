//! Every limit of the figures, in one place.

/// The largest size of a value. Whole numbers up to here are exact, and its square leaves room for sums.
pub const VALUE_MAX: f64 = 1e15;
/// Readings that one answer is computed from: a year of one every ten seconds, and a little more.
pub const READINGS_MAX: usize = 4_000_000;
/// The score of an outlier, where readings that hardly vary would make it endless.
pub const SCORE_MAX: f64 = 1e6;
/// The longest expected interval between two readings.
pub const INTERVAL_MS_MAX: i64 = 366 * 86_400_000;
/// Windows of one answer.
pub const WINDOWS_MAX: u32 = 10_000;
/// Points of a chart.
pub const CHART_POINTS: std::ops::RangeInclusive<usize> = 4..=100_000;
/// Days that a day is compared with.
pub const HISTORY_DAYS_MAX: usize = 366;
/// Readings that a detector remembers.
pub const REMEMBERED: std::ops::RangeInclusive<usize> = 8..=100_000;
