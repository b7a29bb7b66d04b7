//! The figures of an hour, from what is stored of it and from the raw measurements that are there.
//!
//! 1. Whoever was counted is counted once: what the figures are made of is known by its digests.
//! 2. While every measurement of `base` is still among the raw ones, `base` is made anew of them all. Once some are gone, it
//!    stays, and those that are new are added to `late`. No clock decides which of the two it is.
//! 3. Made twice of the same, it is the same.

use std::collections::BTreeMap;

use widerow::Timestamp;

use super::seen::{IDS_MAX, Print, Seen, print};
use crate::{
    limits,
    telemetry::{
        bucket,
        error::Result,
        figures::{self, Expected, Norm, Outlier, Plausible, Reading, Span, Summary},
        tables::{HourState, MetricSummary, RawMeasurement, Sensor},
    },
};

/// What an hour's figures are to be, and what they are made of.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::telemetry) struct Rolled {
    pub state: HourState,
    pub seen: Seen,
    /// Measurements that were not counted before.
    pub added: u64,
    /// Those that could not be counted, as it is not known whether they were.
    pub left_out: u64,
}

/// What an hour is made of, as the caller has read it.
pub(in crate::telemetry) struct Parts<'p> {
    pub hour: i64,
    pub known: Option<&'p HourState>,
    pub seen: &'p Seen,
    /// In the order of time.
    pub raw: &'p [RawMeasurement],
    /// Where the sensor is known.
    pub sensor: Option<&'p Sensor>,
    pub outlier_threshold: f64,
    /// Whether all raw measurements are there by the clock; for hours of which too few digests are kept.
    pub whole: bool,
    pub now: Timestamp,
}

/// The hour's new figures; None where they are as they were.
pub(in crate::telemetry) fn roll(parts: &Parts<'_>) -> Result<Option<Rolled>> {
    let Parts { known, seen, raw, .. } = parts;
    let prints: Vec<Print> = raw.iter().map(|row| print(row.measurement_time, row.measurement_id)).collect();
    let counted = known.map_or(0, |known| known.base_count + known.late_count);
    // A digest that is no longer there leaves its hour as if there had been too many.
    let told_apart = !seen.overfull && counted == seen.len() as i64;
    let base_is_there = || seen.base.is_subset(&prints.iter().copied().collect());
    let is_all = match told_apart {
        true => base_is_there(),
        false => known.is_some_and(|known| {
            // Those of `base` that are known by their digests speak for the others, as long as there are no fewer than were
            // counted; unless there are late ones without digests, which would be counted in both.
            let spoken_for = || seen.overfull && known.late_count == seen.late.len() as i64 && base_is_there();
            raw.len() as i64 >= known.base_count && (parts.whole || spoken_for())
        }),
    };
    let old = known.cloned().unwrap_or(HourState { hour: bucket::within_day(parts.hour), ..HourState::default() });
    let mut rolled = Rolled { state: old.clone(), seen: (*seen).clone(), added: 0, left_out: 0 };
    if is_all {
        let base = || raw.iter().zip(&prints).filter(|(_, print)| !seen.late.contains(print));
        rolled.state.base = summarize(base().map(|(row, _)| row))?;
        rolled.state.base_count = base().count() as i64;
        rolled.seen.base = base().map(|(_, print)| *print).take(IDS_MAX.saturating_sub(seen.late.len())).collect();
        rolled.seen.overfull = (rolled.seen.base.len() as i64) < rolled.state.base_count;
        judge(parts, &mut rolled.state)?;
    } else if !told_apart {
        // Of those without a digest it cannot be told any more whether they were counted.
        rolled.left_out = prints.iter().filter(|print| !seen.knows(**print)).count() as u64;
    } else {
        let news = raw.iter().zip(&prints).filter(|(_, print)| !seen.knows(**print));
        let news: Vec<(&RawMeasurement, Print)> = news.map(|(row, print)| (row, *print)).collect();
        super::totals::add(&mut rolled.state.late, &summarize(news.iter().map(|(row, _)| *row))?);
        rolled.state.late_count += news.len() as i64;
        let room = IDS_MAX.saturating_sub(seen.len());
        rolled.seen.late.extend(news.iter().take(room).map(|(_, print)| print));
        rolled.seen.overfull = news.len() > room;
        let beyond = beyond(parts, news.iter().map(|(row, _)| *row));
        for (metric, _) in &beyond {
            *rolled.state.out_of_range.entry((*metric).to_owned()).or_default() += 1;
        }
        add_outliers(&mut rolled.state, beyond);
    }
    let last_at = raw.iter().map(|row| row.measurement_time.millis()).max();
    rolled.state.last_at = rolled.state.last_at.max(last_at.unwrap_or(0));
    rolled.added = u64::try_from(rolled.state.base_count + rolled.state.late_count - counted).unwrap_or(0);
    if rolled.state == old && rolled.seen == **seen {
        return Ok((rolled.left_out > 0).then_some(rolled));
    }
    rolled.state.changed_at = parts.now.millis();
    Ok(Some(rolled))
}

fn summarize<'r>(rows: impl Iterator<Item = &'r RawMeasurement>) -> Result<BTreeMap<String, MetricSummary>> {
    let mut all: BTreeMap<&str, Summary> = BTreeMap::new();
    for row in rows {
        for (metric, value) in row.values() {
            all.entry(metric).or_insert(Summary::EMPTY).add(value)?;
        }
    }
    let stored =
        all.into_iter().filter_map(|(metric, summary)| Some((metric.to_owned(), MetricSummary::of(&summary)?)));
    Ok(stored.collect())
}

fn plausible(sensor: Option<&Sensor>, metric: &str) -> Plausible {
    let known = sensor.and_then(|sensor| sensor.metrics.get(metric));
    known.and_then(|known| Plausible::new(known.min, known.max).ok()).unwrap_or(Plausible::ANYTHING)
}

/// The quality of the hour is that of the metric that can be trusted least.
fn judge(parts: &Parts<'_>, state: &mut HourState) -> Result<()> {
    (state.outliers, state.outlier_count, state.quality) = (Vec::new(), 0, None);
    (state.quality_parts, state.out_of_range, state.stuck) = Default::default();
    let mut readings: BTreeMap<&str, Vec<Reading>> = BTreeMap::new();
    for row in parts.raw {
        for (metric, value) in row.values() {
            readings.entry(metric).or_default().push(Reading::new(row.measurement_time, value)?);
        }
    }
    let span = Span::new(bucket::start_of(parts.hour), bucket::end_of(parts.hour))?;
    let interval_seconds = parts.sensor.map_or(60, |sensor| sensor.interval_seconds);
    let expected = Expected::every(i64::from(interval_seconds) * 1_000)?;
    let mut outliers = Vec::new();
    for (metric, readings) in &readings {
        let mut norm = Norm::new(expected, plausible(parts.sensor, metric));
        norm.outliers.score_min = parts.outlier_threshold;
        let quality = figures::quality(readings, span, &norm)?;
        outliers.extend(quality.outliers.iter().map(|outlier| (*metric, *outlier)));
        let counts = [(quality.out_of_range(), &mut state.out_of_range), (quality.stuck_readings(), &mut state.stuck)];
        for (count, counts) in counts.into_iter().filter(|(count, _)| *count > 0) {
            counts.insert((*metric).to_owned(), i64::try_from(count).unwrap_or(i64::MAX));
        }
        if state.quality.is_none_or(|least| quality.score < least) {
            state.quality = Some(quality.score);
            let named = [
                ("completeness", quality.completeness),
                ("continuity", quality.continuity),
                ("plausibility", quality.plausibility),
                ("liveliness", quality.liveliness),
            ];
            state.quality_parts = named.into_iter().map(|(name, part)| (name.to_owned(), part)).collect();
        }
    }
    add_outliers(state, outliers);
    Ok(())
}

/// Of those that came late the range alone tells.
fn beyond<'r>(parts: &Parts<'_>, rows: impl Iterator<Item = &'r RawMeasurement>) -> Vec<(&'r str, Outlier)> {
    let mut found = Vec::new();
    for row in rows {
        for (metric, value) in row.values() {
            if let Some(reason) = plausible(parts.sensor, metric).beyond(value) {
                found.push((metric, Outlier { at: row.measurement_time, value, reason, score: 0.0 }));
            }
        }
    }
    found
}

/// Counts them, and lists the largest.
fn add_outliers(state: &mut HourState, mut outliers: Vec<(&str, Outlier)>) {
    state.outlier_count += outliers.len() as i64;
    outliers.sort_by(|(_, a), (_, b)| b.score.total_cmp(&a.score).then(a.at.cmp(&b.at)));
    let room = limits::OUTLIERS_LISTED_MAX.saturating_sub(state.outliers.len());
    state.outliers.extend(outliers.into_iter().take(room).map(|(metric, outlier)| {
        let told = [
            ("metric", metric.to_owned()),
            ("at", outlier.at.to_string()),
            ("value", outlier.value.to_string()),
            ("reason", outlier.reason.code().to_owned()),
            ("score", format!("{:.2}", outlier.score)),
        ];
        told.into_iter().map(|(name, text)| (name.to_owned(), text)).collect()
    }));
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::id::{MeasurementId, SensorId};

    fn rows(numbers: std::ops::Range<u128>) -> Vec<RawMeasurement> {
        let row = |n: u128| RawMeasurement {
            sensor_id: SensorId(Uuid::nil()),
            time_bucket: 0,
            measurement_time: Timestamp::from_millis(n as i64 * 200),
            measurement_id: MeasurementId(Uuid::from_u128(n + 1)),
            temperature: Some(rust_decimal::Decimal::from(n % 7)),
            humidity: None,
            pressure: None,
            metrics: BTreeMap::new(),
            metadata: BTreeMap::new(),
            mark: None,
        };
        numbers.map(row).collect()
    }

    /// An hour of long ago, of whose raw measurements the clock says nothing.
    fn roll_late(before: Option<&Rolled>, raw: &[RawMeasurement]) -> Option<Rolled> {
        let none = Seen::default();
        let parts = Parts {
            hour: 0,
            known: before.map(|before| &before.state),
            seen: before.map_or(&none, |before| &before.seen),
            raw,
            sensor: None,
            outlier_threshold: 3.5,
            whole: false,
            now: Timestamp::from_millis(10_000_000_000),
        };
        roll(&parts).expect("rolled")
    }

    #[test]
    fn a_late_hour_of_more_than_are_told_apart_counts_what_comes_while_all_are_there() {
        let first = roll_late(None, &rows(0..15_000)).expect("figures");
        assert!(first.seen.overfull && first.state.base_count == 15_000);
        let second = roll_late(Some(&first), &rows(0..16_000)).expect("figures");
        assert_eq!((second.state.base_count, second.state.late_count), (16_000, 0));
        assert_eq!((second.added, second.left_out), (1_000, 0));
        assert_eq!(second.state.base["temperature"].count, 16_000);
        assert_eq!(roll_late(Some(&second), &rows(0..16_000)), None, "the same again is the same");
    }

    #[test]
    fn once_some_are_gone_what_cannot_be_told_apart_is_left_out() {
        let first = roll_late(None, &rows(0..15_000)).expect("figures");
        let second = roll_late(Some(&first), &rows(1_000..16_000)).expect("figures");
        assert_eq!((second.state.base_count, second.state.late_count), (15_000, 0));
        // Behind the 14,400 whose digests are kept.
        assert_eq!((second.added, second.left_out), (0, 1_600));
    }
}
