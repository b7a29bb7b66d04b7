//! A sensor's day as it is stored, and as it is to be.

use std::collections::{BTreeMap, BTreeSet};

use widerow::{Date, Timestamp};

use super::{
    hour::{self, Rolled},
    seen::{self, Seen},
    totals,
};
use crate::{
    id::SensorId,
    settings::TelemetrySettings,
    telemetry::{
        bucket,
        error::Result,
        figures::{self, AnomalyKind, DaySettings, Expected, MaintenanceSettings, Summary},
        tables::{Anomaly, FIGURES, HourlyData, MetricSummary, RawMeasurement, Sensor, SensorDay, ids_part},
    },
};

/// Days that a day is compared with.
pub(in crate::telemetry) const HISTORY_DAYS: i32 = 14;
/// What is unusual about one day that is kept.
const ANOMALIES_MAX: usize = 100;

/// A day under change.
pub(in crate::telemetry) struct Day {
    now: Timestamp,
    figures: SensorDay,
    was: SensorDay,
    seen: BTreeMap<i32, Seen>,
    /// Hours of the day whose figures, and whose digests, have changed.
    changed: BTreeSet<i32>,
    seen_changed: BTreeSet<i32>,
}

/// One hour that is to be rolled up.
pub(in crate::telemetry) struct Asked<'a> {
    pub hour: i64,
    pub raw: &'a [RawMeasurement],
    pub sensor: Option<&'a Sensor>,
    pub whole: bool,
    pub settings: &'a TelemetrySettings,
}

impl Day {
    /// From the rows of its partition that were read: the figures, and the digests of the hours that are looked at.
    pub fn new(sensor_id: SensorId, date: Date, rows: &[SensorDay], now: Timestamp) -> Self {
        let figures = rows.iter().find(|row| row.part == FIGURES).cloned();
        let figures = figures.unwrap_or_else(|| SensorDay::blank(sensor_id, date, FIGURES, now));
        let seen = rows.iter().filter(|row| row.part != FIGURES).map(|row| (row.part - ids_part(0), seen_of(row)));
        Day {
            now,
            was: figures.clone(),
            figures,
            seen: seen.collect(),
            changed: BTreeSet::new(),
            seen_changed: BTreeSet::new(),
        }
    }

    pub fn seen(&self, hour: i64) -> Seen {
        self.seen.get(&bucket::within_day(hour)).cloned().unwrap_or_default()
    }

    pub fn has_changed(&self, hour: i64) -> bool {
        self.changed.contains(&bucket::within_day(hour))
    }

    /// Takes what the raw measurements of an hour say.
    pub fn roll(&mut self, asked: &Asked<'_>) -> Result<Option<Rolled>> {
        let of_day = bucket::within_day(asked.hour);
        let place = self.figures.hours.binary_search_by_key(&of_day, |hour| hour.hour);
        let (seen, no_seen) = (self.seen.get(&of_day), Seen::default());
        let rolled = hour::roll(&hour::Parts {
            hour: asked.hour,
            known: place.ok().map(|place| &self.figures.hours[place]),
            seen: seen.unwrap_or(&no_seen),
            raw: asked.raw,
            sensor: asked.sensor,
            outlier_threshold: asked.settings.outlier_score(),
            whole: asked.whole,
            now: self.now,
        })?;
        let Some(rolled) = rolled else { return Ok(None) };
        let is_something = rolled.state.base_count + rolled.state.late_count > 0;
        match place {
            Ok(place) if self.figures.hours[place] != rolled.state => {
                self.figures.hours[place] = rolled.state.clone();
                self.changed.insert(of_day);
            }
            Err(place) if is_something => {
                self.figures.hours.insert(place, rolled.state.clone());
                self.changed.insert(of_day);
            }
            _ => {}
        }
        if is_something && self.seen.get(&of_day) != Some(&rolled.seen) {
            self.seen.insert(of_day, rolled.seen.clone());
            self.seen_changed.insert(of_day);
        }
        Ok(Some(rolled))
    }

    /// What is unusual about it beside the days before, and whether somebody should go and look.
    ///
    /// A day that is not over is judged by the hours that are.
    pub fn judge(&mut self, sensor: Option<&Sensor>, history: &[HourlyData], last_closed: i64) -> Result<()> {
        let Some(last_at) = self.figures.hours.iter().map(|hour| hour.last_at).max() else { return Ok(()) };
        let is_today = bucket::day_of(last_closed) == self.figures.date;
        let hours = if is_today { bucket::within_day(last_closed) as usize + 1 } else { 24 };
        let end = bucket::hour_of_day(self.figures.date, hours as i32);
        let silent_ms = (end.millis() - last_at).max(0);
        let interval_seconds = sensor.map_or(60, |sensor| sensor.interval_seconds);
        let expected = Expected::every(i64::from(interval_seconds) * 1_000)?;
        let (mut found, mut reasons) = (Vec::new(), Vec::new());
        let metrics = totals::of_day(&self.figures.hours);
        for (n, metric) in metrics.keys().enumerate() {
            let (day, before) = (self.of_metric(metric), days_of(history, metric));
            for anomaly in figures::anomalies(&day, hours, &before, &DaySettings::default())? {
                let value = match anomaly.kind {
                    AnomalyKind::High { mean, .. } | AnomalyKind::Low { mean, .. } => mean,
                    AnomalyKind::Restless { stddev, .. } => stddev,
                    AnomalyKind::Silent => 0.0,
                };
                let (hour, score) = (i32::from(anomaly.hour), anomaly.score);
                let reason = anomaly.kind.to_string();
                let kind = anomaly.kind.code().to_owned();
                found.push(Anomaly { hour, metric: metric.clone(), kind, value, score, reason });
            }
            // That nothing comes is said once, not of every metric.
            let silent_ms = if n == 0 { silent_ms } else { 0 };
            let settings = MaintenanceSettings::default();
            for why in figures::maintenance(&day, &before, &expected, silent_ms, &settings)? {
                let of = if metrics.len() > 1 && why.code() != "silent" { format!("{metric} ") } else { String::new() };
                reasons.push(format!("{of}{why}"));
            }
        }
        found.sort_by_key(|anomaly| anomaly.hour);
        found.truncate(ANOMALIES_MAX);
        self.figures.anomalies = found;
        self.figures.maintenance_required = (!reasons.is_empty()).then_some(true);
        self.figures.maintenance_reason = (!reasons.is_empty()).then(|| reasons.join("; "));
        Ok(())
    }

    fn of_metric(&self, metric: &str) -> figures::Day {
        let mut day = figures::EMPTY_DAY;
        for hour in &self.figures.hours {
            let Some(place) = usize::try_from(hour.hour).ok().and_then(|place| day.get_mut(place)) else { continue };
            let all = totals::of_hour(hour);
            let count = |counts: &BTreeMap<String, i64>| {
                counts.get(metric).copied().and_then(|count| u64::try_from(count).ok()).unwrap_or(0)
            };
            *place = figures::Hour {
                summary: all.get(metric).map_or(Summary::EMPTY, MetricSummary::summary),
                out_of_range: count(&hour.out_of_range),
                stuck: count(&hour.stuck),
            };
        }
        day
    }

    /// The rows that are to be written; none where nothing has changed.
    pub fn changed_rows(&self) -> Vec<SensorDay> {
        let mut rows = Vec::new();
        if self.figures != self.was {
            rows.push(SensorDay { updated_at: self.now, ..self.figures.clone() });
        }
        for hour in &self.seen_changed {
            let Some(seen) = self.seen.get(hour) else { continue };
            let blank = SensorDay::blank(self.figures.sensor_id, self.figures.date, ids_part(*hour), self.now);
            rows.push(SensorDay {
                base_ids: seen::write(&seen.base),
                late_ids: seen::write(&seen.late),
                overfull: seen.overfull.then_some(true),
                ..blank
            });
        }
        rows
    }
}

/// The days of a metric that have any hours, the oldest first.
fn days_of(hours: &[HourlyData], metric: &str) -> Vec<figures::Day> {
    let mut days: BTreeMap<Date, figures::Day> = BTreeMap::new();
    for hour in hours {
        let at = hour.hour_bucket;
        let day = days.entry(at.date()).or_insert(figures::EMPTY_DAY);
        let place = bucket::within_day(bucket::hour_of(at)) as usize;
        let summary = hour.metrics.get(metric).map_or(Summary::EMPTY, MetricSummary::summary);
        day[place] = figures::Hour { summary, ..figures::Hour::default() };
    }
    days.into_values().collect()
}

pub(in crate::telemetry) fn seen_of(row: &SensorDay) -> Seen {
    Seen::of(row.base_ids.as_deref(), row.late_ids.as_deref(), row.overfull)
}
