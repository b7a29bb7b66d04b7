//! A measurement as it comes, checked and made a row.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::Timestamp;

use super::{
    bucket,
    error::{Error, Result},
    figures,
    tables::{RawMeasurement, Sensor},
};
use crate::{
    check::{Check, Invalid},
    id::{MeasurementId, SensorId},
    limits,
    settings::TelemetrySettings,
};

/// The metrics that have columns of their own. Every sensor may measure them.
pub const COLUMNS: [&str; 3] = ["temperature", "humidity", "pressure"];

const IDS: Uuid = Uuid::from_u128(0x6d65_726b_6174_4f6d_8000_0000_0000_0001);

/// What a sensor says.
#[derive(Clone, Debug, PartialEq)]
pub struct NewMeasurement {
    pub sensor_id: SensorId,
    pub measurement_time: Timestamp,
    /// By which it is known when it comes again. Without one it follows from the sensor, the time and the values.
    pub measurement_id: Option<MeasurementId>,
    pub temperature: Option<f64>,
    pub humidity: Option<f64>,
    pub pressure: Option<f64>,
    /// Any further metric that the sensor was registered with.
    pub metrics: BTreeMap<String, f64>,
    pub metadata: BTreeMap<String, String>,
}

impl NewMeasurement {
    pub fn new(sensor_id: SensorId, measurement_time: Timestamp) -> Self {
        NewMeasurement {
            sensor_id,
            measurement_time,
            measurement_id: None,
            temperature: None,
            humidity: None,
            pressure: None,
            metrics: BTreeMap::new(),
            metadata: BTreeMap::new(),
        }
    }

    /// The id that it has where it brings none. `occurrence` is 1, or tells apart those that say the same.
    pub fn derived_id(&self, occurrence: u32) -> MeasurementId {
        let decimal = |value: Option<f64>| value.and_then(|value| decimal(value).ok());
        let metrics =
            self.metrics.iter().map(|(name, value)| (name.as_str(), decimal(Some(*value)).unwrap_or_default()));
        let columns = [decimal(self.temperature), decimal(self.humidity), decimal(self.pressure)];
        id_of(self.sensor_id, self.measurement_time, columns, metrics, occurrence)
    }

    /// With one metric more, in its column where it has one.
    pub fn with(mut self, metric: &str, value: f64) -> Self {
        match metric {
            "temperature" => self.temperature = Some(value),
            "humidity" => self.humidity = Some(value),
            "pressure" => self.pressure = Some(value),
            other => drop(self.metrics.insert(other.to_owned(), value)),
        }
        self
    }
}

impl RawMeasurement {
    /// Every metric that it has, in one order.
    pub fn values(&self) -> impl Iterator<Item = (&str, f64)> {
        let columns = COLUMNS.into_iter().zip([self.temperature, self.humidity, self.pressure]);
        let columns = columns.filter_map(|(name, value)| Some((name, value?)));
        let others = self.metrics.iter().map(|(name, value)| (name.as_str(), *value));
        columns.chain(others).map(|(name, value)| (name, figures::from_decimal(value)))
    }

    pub fn value(&self, metric: &str) -> Option<f64> {
        let value = match metric {
            "temperature" => self.temperature,
            "humidity" => self.humidity,
            "pressure" => self.pressure,
            other => self.metrics.get(other).copied(),
        };
        value.map(figures::from_decimal)
    }

    /// At least what the data layer takes the row for.
    pub(super) fn bytes(&self) -> usize {
        let metrics: usize = self.metrics.keys().map(|name| name.len() + 20).sum();
        let metadata: usize = self.metadata.iter().map(|(name, text)| name.len() + text.len() + 4).sum();
        128 + metrics + metadata
    }
}

/// The sensor measures still.
pub(super) fn check_in_service(sensor: &Sensor) -> Result<()> {
    match sensor.retired_at {
        Some(retired_at) => Err(Error::SensorRetired { sensor: sensor.sensor_id, retired_at }),
        None => Ok(()),
    }
}

/// The row of a measurement, if it is one of this sensor at this time.
pub(super) fn prepare(
    new: NewMeasurement,
    sensor: &Sensor,
    now: Timestamp,
    settings: &TelemetrySettings,
) -> Result<RawMeasurement> {
    let at = new.measurement_time;
    if at.millis() < 0 {
        return Err(Error::BeforeTime { at });
    }
    if at > now.plus_seconds(settings.future_seconds.into()) {
        return Err(Error::InFuture { at, seconds: settings.future_seconds });
    }
    let mut metrics = BTreeMap::new();
    for (name, value) in new.metrics {
        if COLUMNS.contains(&name.as_str()) {
            return Err(Invalid::new(format!("metrics/{name}"), "it has a field of its own").into());
        }
        if !sensor.metrics.contains_key(&name) {
            return Err(Error::UnknownMetric { sensor: sensor.sensor_id, metric: name });
        }
        let value = decimal(value).map_err(|problem| Invalid::new(format!("metrics/{name}"), problem))?;
        metrics.insert(name, value);
    }
    let column = |name, value: Option<f64>| -> Result<Option<Decimal>> {
        Ok(value.map(decimal).transpose().map_err(|problem| Invalid::new(name, problem))?)
    };
    let mut row = RawMeasurement {
        sensor_id: sensor.sensor_id,
        time_bucket: bucket::hour_of(at),
        measurement_time: at,
        measurement_id: MeasurementId(Uuid::nil()),
        temperature: column("temperature", new.temperature)?,
        humidity: column("humidity", new.humidity)?,
        pressure: column("pressure", new.pressure)?,
        metrics,
        metadata: new.metadata,
        mark: None,
    };
    if row.temperature.is_none() && row.humidity.is_none() && row.pressure.is_none() && row.metrics.is_empty() {
        return Err(Invalid::new("metrics", "it measures nothing").into());
    }
    check_metadata(&row.metadata)?;
    row.measurement_id = new.measurement_id.unwrap_or_else(|| {
        let columns = [row.temperature, row.humidity, row.pressure];
        let metrics = row.metrics.iter().map(|(name, value)| (name.as_str(), *value));
        id_of(row.sensor_id, at, columns, metrics, 1)
    });
    Ok(row)
}

fn check_metadata(metadata: &BTreeMap<String, String>) -> Result<()> {
    if metadata.is_empty() {
        return Ok(());
    }
    let mut check = Check::new();
    check.count("metadata", metadata.len(), limits::MEASUREMENT_METADATA_MAX);
    for (name, text) in metadata {
        let field = format!("metadata/{}", crate::text::cut(name, limits::METRIC_NAME_BYTES_MAX));
        check.line(&field, name, 1..=limits::METRIC_NAME_BYTES_MAX);
        check.line(&field, text, 0..=limits::LINE_BYTES_MAX);
    }
    Ok(check.end()?)
}

/// What follows from the sensor, the time and the values; and from how many before it said the same, where that is known.
fn id_of<'m>(
    sensor: SensorId,
    at: Timestamp,
    columns: [Option<Decimal>; 3],
    metrics: impl Iterator<Item = (&'m str, Decimal)>,
    occurrence: u32,
) -> MeasurementId {
    let mut bytes = Vec::with_capacity(128);
    bytes.extend_from_slice(sensor.0.as_bytes());
    bytes.extend_from_slice(&at.millis().to_be_bytes());
    bytes.extend_from_slice(&occurrence.to_be_bytes());
    for value in columns {
        bytes.push(u8::from(value.is_some()));
        value.into_iter().for_each(|value| bytes.extend_from_slice(&value.normalize().serialize()));
    }
    for (name, value) in metrics {
        // No name has it.
        bytes.push(0);
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(0);
        bytes.extend_from_slice(&value.normalize().serialize());
    }
    MeasurementId(Uuid::new_v5(&IDS, &bytes))
}

/// The decimal that is read back as the same number.
fn decimal(value: f64) -> Result<Decimal, String> {
    /// What sensors say has no more digits behind the point.
    const DIGITS: u32 = 6;
    const POWER: f64 = 1e6;
    if !value.is_finite() {
        return Err(format!("{value} is not a number that can be reckoned with"));
    }
    if value.abs() > figures::limits::VALUE_MAX {
        return Err(format!("{value} is too large, the limit is {:e}", figures::limits::VALUE_MAX));
    }
    // Few digits need no text to become a decimal.
    let scaled = value * POWER;
    // To the nearest, without a call; what comes of it is looked at anyhow.
    let whole = (scaled + 0.5_f64.copysign(scaled)) as i64;
    if scaled.abs() < 9e15 && whole as f64 / POWER == value {
        let (mut units, mut digits) = (whole, DIGITS);
        while digits > 0 && units % 10 == 0 {
            (units, digits) = (units / 10, digits - 1);
        }
        return Ok(Decimal::new(units, digits));
    }
    figures::to_decimal("value", value).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_decimal_is_read_back_as_the_same_number(value in -1e15..1e15_f64, digits in 0..9_i32) {
            let power = 10_f64.powi(digits);
            for value in [value, (value / 1e9 * power).round() / power] {
                prop_assert_eq!(figures::from_decimal(decimal(value).expect("a decimal")), value);
            }
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e16, -1e16] {
            assert!(decimal(value).is_err(), "{value}");
        }
    }
}
