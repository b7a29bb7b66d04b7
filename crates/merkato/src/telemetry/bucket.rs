//! Hours and days, and until when their raw measurements are whole.

use widerow::{Date, Timestamp};

use crate::settings::TelemetrySettings;

pub const HOUR_SECONDS: i64 = 3_600;
const HOUR_MILLIS: i64 = HOUR_SECONDS * 1_000;
/// How long before the first of an hour's rows goes they are no longer taken for all. More than a measurement may be ahead of
/// its time: the first row of an hour may have been written before the hour began.
const MARGIN_SECONDS: i64 = 600;

/// The hour of an instant, in seconds since 1970, as the document's `time_bucket`.
pub fn hour_of(at: Timestamp) -> i64 {
    at.millis().div_euclid(HOUR_MILLIS) * HOUR_SECONDS
}

pub fn start_of(hour: i64) -> Timestamp {
    Timestamp::from_millis(hour.saturating_mul(1_000))
}

pub fn end_of(hour: i64) -> Timestamp {
    start_of(hour).plus_seconds(HOUR_SECONDS)
}

pub fn day_of(hour: i64) -> Date {
    start_of(hour).date()
}

/// 0 to 23.
pub fn within_day(hour: i64) -> i32 {
    (hour.div_euclid(HOUR_SECONDS)).rem_euclid(24) as i32
}

/// The beginning of an hour of a day.
pub fn hour_of_day(date: Date, hour: i32) -> Timestamp {
    date.start().plus_seconds(i64::from(hour) * HOUR_SECONDS)
}

/// Whether every raw measurement that the hour ever had is still there.
pub fn is_whole(hour: i64, now: Timestamp, settings: &TelemetrySettings) -> bool {
    now < start_of(hour).plus_seconds(settings.raw_kept_seconds() - MARGIN_SECONDS)
}

/// Whether the hour is over, and whoever was a little late has come.
pub fn is_closed(hour: i64, now: Timestamp, settings: &TelemetrySettings) -> bool {
    now >= end_of(hour).plus_seconds(i64::from(settings.grace_seconds))
}

/// The latest hour that is closed.
pub fn last_closed(now: Timestamp, settings: &TelemetrySettings) -> i64 {
    hour_of(now.plus_seconds(-i64::from(settings.grace_seconds) - HOUR_SECONDS))
}
