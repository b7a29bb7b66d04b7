//! The operations of telemetry, each in the file of its kind.

mod chart;
mod ingest;
mod latest;
mod roll_up;
mod sensors;
mod series;
mod verify;

pub use chart::{Chart, ChartMark, ChartPoint, ChartRequest, WindowsRequest, chart, windows};
pub use ingest::{Accepted, find_known, ingest, restore_measurements};
pub use latest::{Latest, find_day, latest, list_days, list_hours};
pub use roll_up::{RollLimits, RollReport, roll_up};
pub use sensors::{
    NewSensor, SensorChange, get_sensor, list_sensors, register_sensor, restore_sensor, retire_sensor, update_sensor,
};
pub use series::{Resolution, Series, SeriesPoint, SeriesRequest, read_series};
pub use verify::{VerifiedRolls, verify_rolls};
