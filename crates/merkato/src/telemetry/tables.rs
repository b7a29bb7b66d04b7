//! The tables of telemetry. Reading this file is reading its data model.
//!
//! Measurements are plain rows that end by themselves. What is made of them has one owner, `sensor_days`: a guarded partition
//! for each sensor and day, with the figures of its hours and with which measurements these were made of. The document's two
//! tables of roll-ups follow from it in the same commit, so that an hour, its day and what was counted never differ.

use std::collections::BTreeMap;

use rust_decimal::{Decimal, prelude::ToPrimitive as _};
use uuid::Uuid;
use widerow::{Cell, Date, Derive, Row, Schema, Timestamp};

use super::{
    bucket::{self, HOUR_SECONDS},
    roll::totals,
};
use crate::id::{MeasurementId, SensorId};

/// What a sensor measures, and what can be true of it. Expected one row a sensor.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "sensors", partition(sensor_id), guarded)]
pub struct Sensor {
    pub sensor_id: SensorId,
    pub name: String,
    /// A word of the shop's own: `cold_store`, `machine`.
    pub kind: String,
    pub location: Option<String>,
    /// What it measures besides temperature, humidity and pressure, which every sensor may; and what is plausible.
    pub metrics: BTreeMap<String, Metric>,
    /// Seconds between two measurements, where all is well.
    pub interval_seconds: u32,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// From then on its measurements are refused.
    pub retired_at: Option<Timestamp>,
    /// Counts the changes.
    pub revision: i64,
}

/// What is known of a metric.
#[derive(Cell, Clone, Debug, Default, PartialEq)]
pub struct Metric {
    pub unit: Option<String>,
    /// The least and the most that can be true: what lies outside is an outlier.
    pub min: Option<f64>,
    pub max: Option<f64>,
}

/// T2: the sensors by name. One partition; expected 1,000 rows, at most 100,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "sensors_by_name", partition(shop), clustering(name_lower, sensor_id))]
pub struct SensorByName {
    /// Always the same.
    pub shop: u32,
    pub name_lower: String,
    pub sensor_id: SensorId,
    pub name: String,
    pub kind: String,
    pub location: Option<String>,
    pub interval_seconds: u32,
    pub retired_at: Option<Timestamp>,
}

impl SensorByName {
    pub(super) const ALL: u32 = 0;
}

impl Derive<SensorByName> for Sensor {
    fn derive(&self) -> Vec<SensorByName> {
        vec![SensorByName {
            shop: SensorByName::ALL,
            name_lower: crate::text::cut(&crate::text::fold(&self.name), crate::limits::LINE_BYTES_MAX).to_owned(),
            sensor_id: self.sensor_id,
            name: self.name.clone(),
            kind: self.kind.clone(),
            location: self.location.clone(),
            interval_seconds: self.interval_seconds,
            retired_at: self.retired_at,
        }]
    }

    fn source(row: &SensorByName) -> SensorId {
        row.sensor_id
    }
}

/// T3: the measurements of a sensor in one hour, newest first, as the document has it. Expected 60 rows, at most some 10,000.
/// They are shown for a day; they are kept longer (a setting), so that a roll-up that stood still for that long finds them.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "sensor_data_raw",
    partition(sensor_id, time_bucket),
    clustering(measurement_time desc, measurement_id desc),
    series,
    ttl = "3d",
    gc_grace = "1d"
)]
pub struct RawMeasurement {
    pub sensor_id: SensorId,
    /// The hour's beginning, in seconds since 1970.
    pub time_bucket: i64,
    pub measurement_time: Timestamp,
    pub measurement_id: MeasurementId,
    pub temperature: Option<Decimal>,
    pub humidity: Option<Decimal>,
    pub pressure: Option<Decimal>,
    /// Any further metric by its name.
    pub metrics: BTreeMap<String, Decimal>,
    pub metadata: BTreeMap<String, String>,
    /// The mark of its commit, where an engine may show that before this: whoever has seen this row has seen what was marked.
    pub mark: Option<Uuid>,
}

/// Partitions over which a tenant's marks are spread. It is a part of stored keys and never changes.
pub const MARK_SHARDS: u32 = 8;

/// Which hours have measurements that no roll-up has seen, the oldest first. A mark is written in the same commit as the
/// measurements, has a token of its own, and is removed by whoever has made the roll-up after having read it. The last hour of
/// a day that is not over and has figures is marked too, so that the day is judged as a whole when it is.
/// Expected one row a sensor and hour.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "telemetry_marks", partition(shard), clustering(hour, sensor_id, token), gc_grace = "1h")]
pub struct Mark {
    pub shard: u32,
    /// The hour's beginning, in seconds since 1970.
    pub hour: i64,
    pub sensor_id: SensorId,
    pub token: Uuid,
    pub marked_at: Timestamp,
}

impl Mark {
    pub(super) fn key(&self) -> (u32, i64, SensorId, Uuid) {
        (self.shard, self.hour, self.sensor_id, self.token)
    }
}

/// The figures of one metric, as `figures::Summary` has them.
#[derive(Cell, Clone, Copy, Debug, Default, PartialEq)]
pub struct MetricSummary {
    pub count: i64,
    pub mean: f64,
    /// What the mean is more than `mean`, which is rounded.
    pub mean_rest: f64,
    /// The sum of the squared distances from the mean.
    pub m2: f64,
    pub min: f64,
    pub max: f64,
}

/// What one hour comes to.
#[derive(Cell, Clone, Debug, Default, PartialEq)]
pub struct HourState {
    /// Of the day, 0 to 23.
    pub hour: i32,
    /// Measurements of `base`.
    pub base_count: i64,
    /// Measurements of `late`.
    pub late_count: i64,
    /// Made of the raw measurements while all of them were there, and made anew whenever there are more.
    pub base: BTreeMap<String, MetricSummary>,
    /// Of those that came after that.
    pub late: BTreeMap<String, MetricSummary>,
    /// The largest of them, as the document has them.
    pub outliers: Vec<BTreeMap<String, String>>,
    pub outlier_count: i64,
    /// 0 to 1, and the parts that it is made of by name.
    pub quality: Option<f64>,
    pub quality_parts: BTreeMap<String, f64>,
    /// Values of a metric that are outside of what is plausible, and that came again and again; none where there are none.
    pub out_of_range: BTreeMap<String, i64>,
    pub stuck: BTreeMap<String, i64>,
    /// When the latest of the measurements was made, in milliseconds since 1970.
    pub last_at: i64,
    /// Of the hour's latest change, in milliseconds since 1970: the hour's own row ends thirty days later.
    pub changed_at: i64,
}

/// What is unusual about an hour.
#[derive(Cell, Clone, Debug, PartialEq)]
pub struct Anomaly {
    pub hour: i32,
    pub metric: String,
    /// `high`, `low`, `restless`, `silent`.
    pub kind: String,
    /// The hour's mean; of a restless one, what its values vary by.
    pub value: f64,
    pub score: f64,
    pub reason: String,
}

/// The owner of all roll-ups of a sensor's day. Part 0 has the figures; part 1 to 24 has, for one hour each, which
/// measurements they are made of, so that none is counted twice however often and however late it comes.
/// Expected 25 rows, 8 bytes a measurement; at most 1 MiB.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "sensor_days", partition(sensor_id, date), clustering(part), guarded, ttl = "365d")]
pub struct SensorDay {
    pub sensor_id: SensorId,
    pub date: Date,
    pub part: i32,
    /// Of part 0: the hours that have any, in their order.
    pub hours: Vec<HourState>,
    /// Of part 0: what is unusual, beside the days before.
    pub anomalies: Vec<Anomaly>,
    pub maintenance_required: Option<bool>,
    pub maintenance_reason: Option<String>,
    pub updated_at: Timestamp,
    /// Of the other parts: digests of the measurements in `base`, eight bytes each, in order.
    pub base_ids: Option<Vec<u8>>,
    /// And of those in `late`.
    pub late_ids: Option<Vec<u8>>,
    /// There are more measurements than digests are kept: once some of them are gone, later ones are left out.
    pub overfull: Option<bool>,
}

/// The part that has the figures.
pub(super) const FIGURES: i32 = 0;

/// The part that has the digests of an hour of the day.
pub(super) const fn ids_part(hour: i32) -> i32 {
    1 + hour
}

impl SensorDay {
    pub(super) fn blank(sensor_id: SensorId, date: Date, part: i32, updated_at: Timestamp) -> Self {
        SensorDay {
            sensor_id,
            date,
            part,
            hours: Vec::new(),
            anomalies: Vec::new(),
            maintenance_required: None,
            maintenance_reason: None,
            updated_at,
            base_ids: None,
            late_ids: None,
            overfull: None,
        }
    }
}

/// Seconds for which an hour's roll-up is kept.
pub const HOURLY_SECONDS: i64 = 2_592_000;

/// T4: the roll-ups of a sensor's hours. Expected 720 rows.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "sensor_data_hourly", partition(sensor_id), clustering(hour_bucket), ends = "ends_at")]
pub struct HourlyData {
    pub sensor_id: SensorId,
    pub hour_bucket: Timestamp,
    pub measurement_count: i64,
    pub temperature_avg: Option<Decimal>,
    pub temperature_min: Option<Decimal>,
    pub temperature_max: Option<Decimal>,
    pub temperature_stddev: Option<Decimal>,
    pub humidity_avg: Option<Decimal>,
    pub outliers: Vec<BTreeMap<String, String>>,
    pub data_quality_score: Option<Decimal>,
    /// Of every metric, those above included.
    pub metrics: BTreeMap<String, MetricSummary>,
    pub quality_parts: BTreeMap<String, f64>,
    pub outlier_count: i64,
    /// How many of the measurements came after the raw ones had begun to go.
    pub late_count: i64,
    pub ends_at: Timestamp,
}

/// T5: the summaries of a sensor's days. Expected 365 rows.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "sensor_data_daily", partition(sensor_id), clustering(date_bucket))]
pub struct DailyData {
    pub sensor_id: SensorId,
    pub date_bucket: Date,
    /// An entry an hour that has any: `hour`, `count`, `quality`, and of every metric its `_avg`, `_min`, `_max`, `_stddev`.
    pub hourly_stats: Vec<BTreeMap<String, Decimal>>,
    pub anomalies_detected: i32,
    pub maintenance_required: bool,
    pub summary_metadata: BTreeMap<String, String>,
    pub measurement_count: i64,
    pub data_quality_score: Option<Decimal>,
    /// Of every metric, over the whole day.
    pub metrics: BTreeMap<String, MetricSummary>,
    pub anomalies: Vec<Anomaly>,
    pub outlier_count: i64,
}

impl DailyData {
    /// Where the hours begin in which anything was measured.
    pub(super) fn hours(&self) -> impl Iterator<Item = Timestamp> {
        let hours = self.hourly_stats.iter().filter_map(|stats| stats.get("hour")?.to_i32());
        hours.map(|hour| bucket::hour_of_day(self.date_bucket, hour))
    }
}

impl Derive<HourlyData> for SensorDay {
    fn derive(&self) -> Vec<HourlyData> {
        let row = |hour: &HourState| {
            let metrics = totals::of_hour(hour);
            let (temperature, humidity) = (metrics.get("temperature"), metrics.get("humidity"));
            HourlyData {
                sensor_id: self.sensor_id,
                hour_bucket: bucket::hour_of_day(self.date, hour.hour),
                measurement_count: hour.base_count + hour.late_count,
                temperature_avg: temperature.and_then(totals::mean),
                temperature_min: temperature.and_then(totals::min),
                temperature_max: temperature.and_then(totals::max),
                temperature_stddev: temperature.and_then(totals::stddev),
                humidity_avg: humidity.and_then(totals::mean),
                outliers: hour.outliers.clone(),
                data_quality_score: hour.quality.and_then(totals::score),
                quality_parts: hour.quality_parts.clone(),
                outlier_count: hour.outlier_count,
                late_count: hour.late_count,
                ends_at: Timestamp::from_millis(hour.changed_at).plus_seconds(HOURLY_SECONDS),
                metrics,
            }
        };
        // The other parts have no hours.
        self.hours.iter().map(row).collect()
    }

    fn source(row: &HourlyData) -> (SensorId, Date, i32) {
        (row.sensor_id, row.hour_bucket.date(), FIGURES)
    }
}

impl Derive<DailyData> for SensorDay {
    fn derive(&self) -> Vec<DailyData> {
        if self.part != FIGURES || self.hours.is_empty() {
            return Vec::new();
        }
        let quality = totals::quality_of_day(&self.hours);
        let reason = self.maintenance_reason.clone().map(|reason| ("maintenance_reason".to_owned(), reason));
        let hours = ("hours".to_owned(), self.hours.len().to_string());
        vec![DailyData {
            sensor_id: self.sensor_id,
            date_bucket: self.date,
            hourly_stats: self.hours.iter().map(totals::stats_of_hour).collect(),
            anomalies_detected: i32::try_from(self.anomalies.len()).unwrap_or(i32::MAX),
            maintenance_required: self.maintenance_required.unwrap_or(false),
            summary_metadata: [hours].into_iter().chain(reason).collect(),
            measurement_count: self.hours.iter().map(|hour| hour.base_count + hour.late_count).sum(),
            data_quality_score: quality.and_then(totals::score),
            metrics: totals::of_day(&self.hours),
            anomalies: self.anomalies.clone(),
            outlier_count: self.hours.iter().map(|hour| hour.outlier_count).sum(),
        }]
    }

    fn source(row: &DailyData) -> (SensorId, Date, i32) {
        (row.sensor_id, row.date_bucket, FIGURES)
    }
}

const _: () = assert!(HOUR_SECONDS == 3_600);

pub(crate) fn tables(schema: Schema) -> Schema {
    schema
        .derived::<Sensor, SensorByName>()
        .table::<RawMeasurement>()
        .table::<Mark>()
        .derived::<SensorDay, HourlyData>()
        .derived::<SensorDay, DailyData>()
}
