//! What columns are to measurements.

use crate::flows::import::mapping::{Fields, Named};

/// What a column is to a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MeasurementField {
    /// The source's own, unique for a sensor. Without such a column it follows from the record.
    Id,
    /// Its id here, or the source's own name for it.
    Sensor,
    Time,
    /// Of the metric that the options name.
    Value,
    Temperature,
    Humidity,
    Pressure,
    /// A metric of the column's own name.
    Metric,
    /// It has no home, which is told once.
    Homeless,
    /// It is not wanted.
    LeftOut,
}

impl Fields for MeasurementField {
    const NAMED: &'static [Named<Self>] = &[
        (MeasurementField::Id, "id", &["measurementid", "readingid", "id"]),
        (
            MeasurementField::Sensor,
            "sensor",
            &["sensorid", "sensor", "deviceid", "device", "sensorname", "devicename", "series"],
        ),
        (
            MeasurementField::Time,
            "time",
            &["measurementtime", "timestamp", "measuredat", "datetime", "time", "date", "ts"],
        ),
        (MeasurementField::Value, "value", &["value", "reading"]),
        (MeasurementField::Temperature, "temperature", &["temperature", "temp"]),
        (MeasurementField::Humidity, "humidity", &["humidity"]),
        (MeasurementField::Pressure, "pressure", &["pressure"]),
        (MeasurementField::Metric, "metric", &[]),
    ];
    const ID: Self = MeasurementField::Id;
    const NEEDED: &'static [Self] = &[MeasurementField::Time];
    const HOMELESS: Self = MeasurementField::Homeless;
    const LEFT_OUT: Self = MeasurementField::LeftOut;

    fn takes_many(self) -> bool {
        self == MeasurementField::Metric
    }
}
