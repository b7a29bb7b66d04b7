//! What sensors measure: taken in, rolled up to hours and days, shown, judged.
//!
//! It knows no warehouse and no product: a sensor has a name, a place in words, and metrics.
//!
//! 1. A measurement that was taken is in the figures of its hour and its day once, however often, in whatever order and however
//!    late it came (`roll`). [Decision 10](../../../../docs/decisions/0010-roll-ups-stay-exact.md) has the reasons.
//! 2. An hour, its day, and which measurements they are made of change in one commit, or not at all (`tables::SensorDay`).
//! 3. What retention takes of the raw measurements is not taken from a roll-up, nor is a day changed when its hours end.
//! 4. Of many measurements each has an answer of its own, and a bad one takes no other along.
//! 5. Where nothing was measured there is a gap, and no number.

mod bucket;
mod error;
pub mod figures;
mod measurement;
mod memory;
mod ops;
mod roll;
mod stats;
mod tables;

pub use error::{Error, Result};
pub use measurement::{COLUMNS, NewMeasurement};
pub(crate) use memory::Memory;
pub use ops::*;
pub use stats::{TelemetryStats, stats};
pub(crate) use tables::tables;
pub use tables::{
    Anomaly, DailyData, HOURLY_SECONDS, HourState, HourlyData, MARK_SHARDS, Mark, Metric, MetricSummary,
    RawMeasurement, Sensor, SensorByName, SensorDay,
};

use crate::pattern::{AccessPattern, Amount, ReadCost};

/// The sensor, and 26 hours of which the first and the last are not whole; eight of them are read at once.
const RAW: ReadCost =
    ReadCost { partitions: Amount::of(27), rows: Amount::of(28).and_per_row(8), requests: Amount::of(27) };

/// The sensor, and a page. DynamoDB counts the row at an end of the range that is not a part of it.
const ROLLED: ReadCost =
    ReadCost { partitions: Amount::of(2), rows: Amount::of(3).and_per_row(1), requests: Amount::of(2) };

pub const PATTERNS: &[AccessPattern] = &[
    AccessPattern { name: "T1", question: "One sensor", table: "sensors", key: "sensor_id = ?", cost: ReadCost::ROW },
    AccessPattern {
        name: "T2",
        question: "The sensors of a shop, by name",
        table: "sensors_by_name",
        key: "shop = 0",
        cost: ReadCost::PAGE,
    },
    AccessPattern {
        name: "T3",
        question: "The measurements of a sensor in a time of up to a day, a page of them",
        table: "sensors, sensor_data_raw",
        key: "sensor_id = ? AND time_bucket = each hour AND measurement_time >= ? AND measurement_time < ?",
        cost: RAW,
    },
    AccessPattern {
        name: "T4",
        question: "The hours of a sensor in a time",
        table: "sensors, sensor_data_hourly",
        key: "sensor_id = ? AND hour_bucket >= ? AND hour_bucket < ?",
        cost: ROLLED,
    },
    AccessPattern {
        name: "T5",
        question: "The days of a sensor, with quality and anomalies",
        table: "sensors, sensor_data_daily",
        key: "sensor_id = ? AND date_bucket >= ? AND date_bucket <= ?",
        cost: ROLLED,
    },
    AccessPattern {
        name: "T6",
        question: "A chart of a day's raw measurements",
        table: "sensors, sensor_data_raw",
        key: "sensor_id = ? AND time_bucket = each hour",
        cost: ReadCost { rows: Amount::of(28).and_per_row(1), ..RAW },
    },
    AccessPattern {
        name: "T7",
        question: "The newest measurement and the last 24 hours of n sensors",
        table: "sensors, sensor_data_raw, sensor_data_hourly",
        key: "sensor_id = ? AND time_bucket = this hour and the one before; sensor_id = ? AND hour_bucket >= ?",
        cost: ReadCost {
            partitions: Amount::of(0).and_per_row(4),
            rows: Amount::of(0).and_per_row(31),
            requests: Amount::of(1).and_per_row(4),
        },
    },
    AccessPattern {
        name: "T8",
        question: "Which hours are to be rolled up",
        table: "telemetry_marks",
        key: "shard = ? AND hour <= the last that is over",
        cost: ReadCost::PAGE,
    },
];
