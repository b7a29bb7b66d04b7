//! Reads a source on a thread of its own and stores its measurements, many at once.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{Read, Seek},
    ops::ControlFlow,
};

use super::{
    fields::MeasurementField,
    read::{Reading, metric_name},
};
use crate::{
    check::Check,
    context::Context,
    flows::import::{
        error::Result,
        heaps::{self, Heaps, Step, Steps},
        mapping::{Fields as _, Mapping, Plan},
        record::{Item, Place},
        report::Report,
        source::{self, Format},
        time::DateOrder,
    },
    id::SensorId,
    limits,
    telemetry::{self, COLUMNS, Metric, NewMeasurement, NewSensor},
};

/// How a source of measurements is to be read.
#[derive(Clone, Debug)]
pub struct MeasurementOptions {
    /// The name of the source: its names of sensors are its own.
    pub source: String,
    pub format: Format,
    /// Columns whose names do not speak for themselves.
    pub mapping: Option<Mapping<MeasurementField>>,
    /// How to read dates such as `3/4/2011`.
    pub dates: DateOrder,
    /// The sensor of records that name none: its id, or a name.
    pub sensor: Option<String>,
    /// What a column of values measures.
    pub metric: String,
    /// Whether sensors that are not there are registered, and as what.
    pub register: Option<Registration>,
}

/// What the source does not say of its sensors.
#[derive(Clone, Debug, PartialEq)]
pub struct Registration {
    pub kind: String,
    pub location: Option<String>,
    pub interval_seconds: u32,
}

impl MeasurementOptions {
    pub fn new(source: impl Into<String>) -> Self {
        MeasurementOptions {
            source: source.into(),
            format: Format::Auto,
            mapping: None,
            dates: DateOrder::Unknown,
            sensor: None,
            metric: "value".into(),
            register: None,
        }
    }

    fn check(&self) -> Result<()> {
        let mut check = Check::new();
        check.line("source", &self.source, 1..=limits::LINE_BYTES_MAX);
        check.optional_line("sensor", self.sensor.as_deref(), limits::LINE_BYTES_MAX);
        check.line("metric", &self.metric, 1..=limits::METRIC_NAME_BYTES_MAX);
        Ok(check.end()?)
    }
}

/// Measurements that are stored together.
const TOGETHER: usize = 2_000;

/// One of a record: what the source calls its sensor comes along.
struct Found {
    place: Place,
    sensor: String,
    new: NewMeasurement,
}

/// What is read of a source, in this order.
enum Heap {
    /// The metrics of the columns.
    Metrics(BTreeSet<String>),
    Measurements(Vec<Found>),
}

/// Imports measurements. Every record ends in the report, which is shown to `on_progress` whenever it has grown. Where it is
/// stopped half-way, the same import again finds what is there and goes on.
pub async fn import_measurements<R>(
    ctx: &Context,
    input: R,
    options: MeasurementOptions,
    mut on_progress: impl FnMut(&Report),
) -> Result<Report>
where
    R: Read + Seek + Send + 'static,
{
    options.check()?;
    let mut sensors = Sensors { register: options.register.clone(), metrics: BTreeSet::new(), known: BTreeSet::new() };
    let mut heaps = Heaps::of(move |steps| read(input, options, steps));
    let mut report = Report::default();
    while let Some(heap) = heaps.next(&mut report, &mut on_progress).await {
        match heap {
            Heap::Metrics(metrics) => sensors.metrics = metrics,
            Heap::Measurements(found) => write(ctx, found, &mut sensors, &mut report).await?,
        }
        on_progress(&report);
    }
    heaps.end().await?;
    report.sort();
    Ok(report)
}

/// Sensors that were looked for.
struct Sensors {
    register: Option<Registration>,
    metrics: BTreeSet<String>,
    known: BTreeSet<SensorId>,
}

impl Sensors {
    /// Registers those that are not there, if that is wanted. One that cannot be has its measurements refused.
    async fn see(&mut self, ctx: &Context, found: &[Found]) -> Result<()> {
        let Some(register) = &self.register else { return Ok(()) };
        let names: BTreeMap<SensorId, &str> =
            found.iter().map(|found| (found.new.sensor_id, found.sensor.as_str())).collect();
        for (sensor, name) in names {
            if !self.known.insert(sensor) {
                continue;
            }
            match telemetry::get_sensor(ctx, sensor).await {
                Err(telemetry::Error::SensorNotFound { .. }) => {}
                other => {
                    other?;
                    continue;
                }
            }
            let metrics = self.metrics.iter().filter(|metric| !COLUMNS.contains(&metric.as_str()));
            let new = NewSensor {
                sensor_id: Some(sensor),
                name: name.to_owned(),
                kind: register.kind.clone(),
                location: register.location.clone(),
                metrics: metrics.map(|metric| (metric.clone(), Metric::default())).collect(),
                interval_seconds: register.interval_seconds,
            };
            telemetry::register_sensor(ctx, new).await?;
        }
        Ok(())
    }
}

async fn write(ctx: &Context, found: Vec<Found>, sensors: &mut Sensors, report: &mut Report) -> Result<()> {
    sensors.see(ctx, &found).await?;
    let all: Vec<NewMeasurement> = found.iter().map(|found| found.new.clone()).collect();
    let known = telemetry::find_known(ctx, all).await?;
    let mut places = Vec::new();
    let mut fresh = Vec::new();
    for (Found { place, sensor, new }, known) in found.into_iter().zip(known) {
        if known {
            report.count(1);
            report.unchanged += 1;
        } else {
            places.push((place, sensor));
            fresh.push(new);
        }
    }
    for ((place, sensor), answer) in places.into_iter().zip(telemetry::ingest(ctx, fresh).await?) {
        report.count(1);
        match answer {
            Ok(_) => report.created += 1,
            Err(error) if error.kind().is_failure() => return Err(error.into()),
            Err(error) => report.reject(place, Some(sensor), error.to_string()),
        }
    }
    Ok(())
}

/// Twice through the source: whether it can be read to its end, before anything is written; then its measurements.
fn read(mut input: impl Read + Seek, options: MeasurementOptions, steps: &Steps<Heap>) -> Result<()> {
    let metrics = check_source(&mut input, &options)?;
    if steps.send(Step::Heap(Heap::Metrics(metrics))).is_break() {
        return Ok(());
    }
    let format = options.format;
    let mut reading = Reading::new(options);
    let mut waiting: Vec<Found> = Vec::new();
    let mut told: BTreeSet<String> = BTreeSet::new();
    source::read(&mut input, format, &mut |item| {
        let record = match item {
            Item::Record(record) => record,
            Item::Columns(_) => return ControlFlow::Continue(()),
            Item::Bad(place, reason) => return steps.send(Step::Rejected(place, None, reason)),
        };
        let plan = reading.plans.of(&record.columns);
        let cells = record.columns.iter().zip(&plan.columns).zip(&record.values);
        for ((column, (field, _)), value) in cells {
            if *field == MeasurementField::HOMELESS && !value.is_empty() && told.insert(column.clone()) {
                let note = format!("the column {column} is left out: map it as metric={column} to keep it");
                steps.send(Step::Note(record.place, note))?;
            }
        }
        match reading.measurement(&record) {
            Ok((sensor, new)) => waiting.push(Found { place: record.place, sensor, new }),
            Err(reason) => return steps.send(Step::Rejected(record.place, None, reason)),
        }
        if waiting.len() < TOGETHER {
            return ControlFlow::Continue(());
        }
        steps.send(Step::Heap(Heap::Measurements(std::mem::take(&mut waiting))))
    })?;
    if !waiting.is_empty() {
        let _ = steps.send(Step::Heap(Heap::Measurements(waiting)));
    }
    Ok(())
}

/// That it can be read, and which metrics its columns have.
fn check_source(input: &mut (impl Read + Seek), options: &MeasurementOptions) -> Result<BTreeSet<String>> {
    let mapping = options.mapping.clone().unwrap_or_default();
    let mut metrics = BTreeSet::new();
    let mut seen: Option<std::sync::Arc<[String]>> = None;
    let mut look = |item: &Item| {
        let columns = match item {
            Item::Columns(columns) => columns,
            Item::Record(record) => &record.columns,
            Item::Bad(..) => return,
        };
        if seen.as_ref().is_none_or(|seen| !std::sync::Arc::ptr_eq(seen, columns)) {
            seen = Some(columns.clone());
            let plan = Plan::new(columns, &mapping);
            metrics.extend(columns.iter().zip(&plan.columns).filter_map(|(column, (field, _))| match field {
                MeasurementField::Value => Some(options.metric.clone()),
                MeasurementField::Metric => Some(metric_name(column)),
                _ => None,
            }));
        }
    };
    heaps::check_source(&mapping, |each| {
        source::read(input, options.format, &mut |item| {
            look(&item);
            each(item)
        })
    })?;
    Ok(metrics)
}
