//! A metric of a sensor as lines to be drawn, and as sliding windows.

use std::collections::BTreeMap;

use widerow::Timestamp;

use super::{
    sensors::get_sensor,
    series::{Resolution, all_days, all_hours, all_raw, check_span, choose, hours_from, known_span, raw_from},
};
use crate::{
    check::Invalid,
    context::Context,
    id::SensorId,
    telemetry::{
        bucket::{self, HOUR_SECONDS},
        error::{Error, Result},
        figures::{self, Expected, Gap, OutlierSettings, Plausible, Reading, Span, Summary, Window, Windows},
        measurement::COLUMNS,
        tables::{HourlyData, MetricSummary, Sensor},
    },
};

const DAY_MILLIS: i64 = 24 * HOUR_SECONDS * 1_000;

/// What is to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartRequest {
    pub from: Timestamp,
    /// Not part of it.
    pub to: Timestamp,
    pub resolution: Resolution,
    pub metric: String,
    /// At most so many points; as many as there are pixels.
    pub points_max: usize,
}

/// A point of a line: a measurement, or the mean of an hour or a day with its least and its most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChartPoint {
    pub at: Timestamp,
    pub value: f64,
    pub min: f64,
    pub max: f64,
}

/// Something to be marked: an outlier among the measurements, or an anomaly of an hour.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartMark {
    pub at: Timestamp,
    pub value: f64,
    pub reason: String,
}

/// What is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    pub sensor: Sensor,
    pub metric: String,
    /// The one that was chosen: never `Auto`.
    pub resolution: Resolution,
    /// Points that are joined. Between two lines there is a gap.
    pub lines: Vec<Vec<ChartPoint>>,
    /// Of what is not rolled up yet, or not shown any more, nothing is said.
    pub gaps: Vec<Gap>,
    /// Of all that was measured, drawn or not.
    pub summary: Summary,
    pub marks: Vec<ChartMark>,
    /// Of the hours or days, 0 to 1; none of raw measurements.
    pub quality: Option<f64>,
}

/// T6, of raw measurements: the lines of a metric with its outliers and gaps.
pub async fn chart(ctx: &Context, sensor: SensorId, asked: ChartRequest) -> Result<Chart> {
    let span = check_span(asked.from, asked.to)?;
    let known = get_sensor(ctx, sensor).await?;
    check_metric(&known, &asked.metric)?;
    let resolution = match asked.resolution {
        Resolution::Auto => choose(ctx, sensor, span).await?,
        resolution => resolution,
    };
    let mut drawn = match resolution {
        Resolution::Raw => raw(ctx, &known, span, &asked.metric).await?,
        Resolution::Hourly => hourly(ctx, sensor, span, &asked.metric).await?,
        Resolution::Daily | Resolution::Auto => daily(ctx, sensor, span, &asked.metric).await?,
    };
    let interval_ms = match resolution {
        Resolution::Raw => i64::from(known.interval_seconds) * 1_000,
        Resolution::Hourly => HOUR_SECONDS * 1_000,
        Resolution::Daily | Resolution::Auto => DAY_MILLIS,
    };
    let expected = Expected::every(interval_ms)?;
    let readings: Vec<Reading> =
        drawn.points.iter().map(|point| Reading::new(point.at, point.value)).collect::<figures::Result<_>>()?;
    let lines = figures::chart(&readings, asked.points_max, expected.gap_ms())?;
    // Two of the same time are told apart by their values.
    let mut points = drawn.points.iter();
    let mut point =
        |reading: &Reading| points.find(|point| point.at == reading.at() && point.value == reading.value()).copied();
    let lines = lines.iter().map(|line| line.iter().filter_map(&mut point).collect()).collect();
    let gaps = figures::gaps(&readings, known_span(ctx, span, resolution)?, &expected)?;
    drawn.marks.sort_by_key(|mark| mark.at);
    Ok(Chart {
        sensor: known,
        metric: asked.metric,
        resolution,
        lines,
        gaps,
        summary: drawn.summary,
        marks: drawn.marks,
        quality: drawn.quality,
    })
}

/// The metric is one that the sensor may measure.
pub(super) fn check_metric(sensor: &Sensor, metric: &str) -> Result<()> {
    if COLUMNS.contains(&metric) || sensor.metrics.contains_key(metric) {
        return Ok(());
    }
    Err(Error::UnknownMetric { sensor: sensor.sensor_id, metric: metric.to_owned() })
}

#[derive(Default)]
struct Drawn {
    points: Vec<ChartPoint>,
    summary: Summary,
    marks: Vec<ChartMark>,
    quality: Option<f64>,
}

async fn readings(ctx: &Context, sensor: SensorId, span: Span, metric: &str) -> Result<Vec<Reading>> {
    let rows = all_raw(ctx, sensor, span).await?;
    let values = rows.iter().filter_map(|row| Some((row.measurement_time, row.value(metric)?)));
    Ok(values.map(|(at, value)| Reading::new(at, value)).collect::<figures::Result<_>>()?)
}

async fn raw(ctx: &Context, sensor: &Sensor, span: Span, metric: &str) -> Result<Drawn> {
    let readings = readings(ctx, sensor.sensor_id, span, metric).await?;
    let known = sensor.metrics.get(metric);
    let plausible = known.map_or(Ok(Plausible::ANYTHING), |known| Plausible::new(known.min, known.max))?;
    let score_min = ctx.settings.telemetry.outlier_score();
    let settings = OutlierSettings { score_min, ..OutlierSettings::for_range(&plausible) };
    let outliers = figures::outliers(&readings, &plausible, &settings)?.into_iter();
    let marks = outliers.map(|o| ChartMark { at: o.at, value: o.value, reason: o.reason.to_string() }).collect();
    let point = |reading: &Reading| {
        let value = reading.value();
        ChartPoint { at: reading.at(), value, min: value, max: value }
    };
    let points = readings.iter().map(point).collect();
    Ok(Drawn { points, summary: Summary::of_readings(&readings), marks, quality: None })
}

impl Drawn {
    fn add(&mut self, at: Timestamp, figures: &MetricSummary) {
        let summary = figures.summary();
        if let (Some(value), Some(min), Some(max)) = (summary.mean(), summary.min(), summary.max()) {
            self.points.push(ChartPoint { at, value, min, max });
            self.summary.merge(&summary);
        }
    }
}

fn mean(scores: &[f64]) -> Option<f64> {
    (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64)
}

async fn hourly(ctx: &Context, sensor: SensorId, span: Span, metric: &str) -> Result<Drawn> {
    let (mut drawn, mut scores) = (Drawn::default(), Vec::new());
    for row in all_hours(ctx, sensor, span).await? {
        if let Some(figures) = row.metrics.get(metric) {
            drawn.add(row.hour_bucket, figures);
            scores.extend(row.data_quality_score.map(figures::from_decimal));
            drawn.marks.extend(outliers_of(&row, metric));
        }
    }
    drawn.quality = mean(&scores);
    Ok(drawn)
}

/// As they are written into an hour.
fn outliers_of(row: &HourlyData, metric: &str) -> Vec<ChartMark> {
    let of_metric = row.outliers.iter().filter(|told| told.get("metric").is_some_and(|name| name == metric));
    let mark = |told: &BTreeMap<String, String>| {
        Some(ChartMark {
            at: told.get("at")?.parse().ok()?,
            value: told.get("value")?.parse().ok()?,
            reason: told.get("reason")?.clone(),
        })
    };
    of_metric.filter_map(mark).collect()
}

async fn daily(ctx: &Context, sensor: SensorId, span: Span, metric: &str) -> Result<Drawn> {
    let (mut drawn, mut scores) = (Drawn::default(), Vec::new());
    let last = Timestamp::from_millis(span.to.millis() - 1).date();
    for row in all_days(ctx, sensor, span.from.date(), last).await? {
        let Some(figures) = row.metrics.get(metric) else { continue };
        drawn.add(row.date_bucket.start(), figures);
        scores.extend(row.data_quality_score.map(figures::from_decimal));
        let unusual = row.anomalies.iter().filter(|anomaly| anomaly.metric == metric);
        drawn.marks.extend(unusual.map(|anomaly| ChartMark {
            at: row.date_bucket.start(),
            value: anomaly.value,
            reason: format!("{:02}:00 {}", anomaly.hour, anomaly.reason),
        }));
    }
    drawn.quality = mean(&scores);
    Ok(drawn)
}

/// What sliding windows are asked for: the document's are the last 24.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowsRequest {
    pub size_seconds: i64,
    pub step_seconds: i64,
    pub metric: String,
    pub last: u32,
}

/// The last windows of a metric, the oldest first. Empty ones are empty.
///
/// Where they reach back behind the raw measurements they are made of hours, are whole hours themselves, and end with the last
/// hour that is over; where they reach back behind the hours, the same of days.
pub async fn windows(ctx: &Context, sensor: SensorId, asked: WindowsRequest) -> Result<Vec<Window>> {
    let known = get_sensor(ctx, sensor).await?;
    check_metric(&known, &asked.metric)?;
    let now = ctx.now();
    let (size_ms, step_ms) = (asked.size_seconds.saturating_mul(1_000), asked.step_seconds.saturating_mul(1_000));
    let wanted = Windows::new(now, size_ms, step_ms, asked.last)?;
    let Some(from) = wanted.begin() else { return Ok(Vec::new()) };
    if from >= raw_from(ctx) {
        let readings = readings(ctx, sensor, Span::new(from, now)?, &asked.metric).await?;
        return Ok(figures::windows(&readings, &wanted)?);
    }
    let are_whole = |seconds: i64| asked.size_seconds % seconds == 0 && asked.step_seconds % seconds == 0;
    if !are_whole(HOUR_SECONDS) {
        let problem = format!("windows from {from} on are behind the raw measurements, and must be whole hours");
        return Err(Invalid::new("size_seconds", problem).into());
    }
    let end = bucket::end_of(bucket::last_closed(now, &ctx.settings.telemetry));
    let wanted = Windows::new(end, size_ms, step_ms, asked.last)?;
    let Some(from) = wanted.begin() else { return Ok(Vec::new()) };
    let of_metric = |metrics: &BTreeMap<String, MetricSummary>| metrics.get(&asked.metric).map(MetricSummary::summary);
    if from >= hours_from(ctx) {
        let hours = all_hours(ctx, sensor, check_span(from, end)?).await?;
        let hours = hours.iter().filter_map(|row| Some((row.hour_bucket, of_metric(&row.metrics)?)));
        return Ok(figures::windows_of_summaries(&hours.collect::<Vec<_>>(), &wanted)?);
    }
    if !are_whole(24 * HOUR_SECONDS) {
        let problem = format!("windows from {from} on are behind the hours, and must be whole days");
        return Err(Invalid::new("size_seconds", problem).into());
    }
    let end = end.date().start();
    let wanted = Windows::new(end, size_ms, step_ms, asked.last)?;
    let Some(from) = wanted.begin() else { return Ok(Vec::new()) };
    let span = check_span(from, end)?;
    let days = all_days(ctx, sensor, span.from.date(), span.to.date()).await?;
    let days = days.iter().filter_map(|row| Some((row.date_bucket.start(), of_metric(&row.metrics)?)));
    Ok(figures::windows_of_summaries(&days.collect::<Vec<_>>(), &wanted)?)
}
