//! A record as a measurement.

use std::collections::HashMap;

use uuid::Uuid;
use widerow::Timestamp;

use super::{fields::MeasurementField, ops::MeasurementOptions};
use crate::{
    flows::import::{
        clean, ids,
        mapping::Plans,
        record::{Record, Value},
        time,
    },
    id::{MeasurementId, SensorId},
    telemetry::NewMeasurement,
    text,
};

/// Reads records of one source, in its order.
pub(super) struct Reading {
    options: MeasurementOptions,
    pub plans: Plans<MeasurementField>,
    /// How many records said the same so far, where the source has no ids.
    same: HashMap<u128, u32>,
}

impl Reading {
    pub fn new(options: MeasurementOptions) -> Self {
        Reading { plans: Plans::new(options.mapping.clone()), options, same: HashMap::new() }
    }

    /// The measurement and what the source calls its sensor, or why it is none. Whether it can be taken is the domain's to say.
    pub fn measurement(&mut self, record: &Record) -> Result<(String, NewMeasurement), String> {
        let plan = self.plans.of(&record.columns);
        let cells = || plan.columns.iter().zip(&record.values).zip(&*record.columns);
        let cells = || cells().filter(|((_, value), _)| !value.is_empty());
        let value = |field| cells().find(|(((known, _), _), _)| *known == field).map(|((_, value), _)| value);
        let line = |field| value(field).map(|value| clean::line(&value.text())).filter(|text| !text.is_empty());
        let name = line(MeasurementField::Sensor).or_else(|| self.options.sensor.clone());
        let name = name.ok_or("it names no sensor")?;
        let sensor = name.parse().map_or_else(|_| ids::sensor(&self.options.source, &name), SensorId);
        let at = line(MeasurementField::Time).ok_or("it has no time")?;
        let at = epoch(&at).map_or_else(|| time::read(&at, self.options.dates), Ok)?;
        let mut new = NewMeasurement::new(sensor, at);
        for (((field, _), value), column) in cells() {
            let metric = match field {
                MeasurementField::Value => self.options.metric.clone(),
                MeasurementField::Temperature => "temperature".to_owned(),
                MeasurementField::Humidity => "humidity".to_owned(),
                MeasurementField::Pressure => "pressure".to_owned(),
                MeasurementField::Metric => metric_name(column),
                _ => continue,
            };
            new = new.with(&metric, number(value).ok_or_else(|| format!("{column}: {} is no number", value.text()))?);
        }
        new.measurement_id = Some(match line(MeasurementField::Id) {
            Some(id) => id.parse::<Uuid>().map_or_else(|_| ids::measurement(sensor, &id), MeasurementId),
            None => {
                let first = new.derived_id(1);
                let same = self.same.entry(first.0.as_u128()).or_default();
                *same += 1;
                if *same == 1 { first } else { new.derived_id(*same) }
            }
        });
        Ok((name, new))
    }
}

/// Of a column: "CPU Load" is `cpu_load`.
pub(super) fn metric_name(column: &str) -> String {
    text::slugify(column).replace('-', "_")
}

fn number(value: &Value) -> Option<f64> {
    value.text().trim().parse().ok()
}

/// Seconds or milliseconds since 1970, as programs write them.
fn epoch(text: &str) -> Option<Timestamp> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    let number: i64 = text.parse().ok().filter(|_| digits)?;
    match text.len() {
        9 | 10 => Some(Timestamp::from_millis(number * 1_000)),
        12 | 13 => Some(Timestamp::from_millis(number)),
        _ => None,
    }
}
