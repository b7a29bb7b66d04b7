//! Measurements from elsewhere, whose sensors are registered if asked.

use std::fs::File;

use clap::Args;
use merkato::{
    Context,
    flows::import::{MeasurementOptions, Registration, Report, import_measurements},
};

use super::{Dates, Format, Input, Progress, date_order, mapping, source};

#[derive(Args)]
pub struct Measurements {
    #[command(flatten)]
    pub input: Input,
    /// Columns whose names do not speak for themselves
    #[arg(long, value_name = "FIELD=COLUMN,…")]
    map: Option<String>,
    /// The name of the source: its names of sensors are its own [default: the file's name]
    #[arg(long)]
    source: Option<String>,
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// How to read dates such as 3/4/2011
    #[arg(long, value_enum)]
    dates: Option<Dates>,
    /// The sensor of records that name none: its id, or a name
    #[arg(long, value_name = "SENSOR")]
    sensor: Option<String>,
    /// What a column of values measures
    #[arg(long, default_value = "value", value_name = "METRIC")]
    metric: String,
    /// Register sensors that are not there
    #[arg(long)]
    register: bool,
    /// Of sensors that are registered: what they are
    #[arg(long, default_value = "sensor", requires = "register")]
    kind: String,
    /// Of sensors that are registered: where they are
    #[arg(long, requires = "register", value_name = "PLACE")]
    location: Option<String>,
    /// Of sensors that are registered: seconds between two measurements
    #[arg(long, default_value_t = 60, requires = "register", value_name = "N")]
    interval_seconds: u32,
}

impl Measurements {
    pub async fn import(&self, ctx: &Context, file: File, progress: &mut Progress) -> anyhow::Result<Report> {
        let registration = || Registration {
            kind: self.kind.clone(),
            location: self.location.clone(),
            interval_seconds: self.interval_seconds,
        };
        let options = MeasurementOptions {
            format: self.format.into(),
            mapping: mapping(self.map.as_ref())?,
            dates: date_order(self.dates),
            sensor: self.sensor.clone(),
            metric: self.metric.clone(),
            register: self.register.then(registration),
            ..MeasurementOptions::new(source(self.source.as_ref(), &self.input.file))
        };
        Ok(import_measurements(ctx, file, options, |report| progress.at(report.read)).await?)
    }
}
