//! The figures of an hour and of a day, from what is stored of them.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use crate::telemetry::{
    figures::{Summary, to_decimal},
    tables::{HourState, MetricSummary},
};

type Metrics = BTreeMap<String, MetricSummary>;

impl MetricSummary {
    pub fn summary(&self) -> Summary {
        let count = u64::try_from(self.count).unwrap_or(0);
        let read = Summary::from_parts(count, self.mean, self.m2, self.min, self.max);
        // What cannot be is not there: a row that somebody else wrote must not stop the others.
        read.map_or(Summary::EMPTY, |summary| summary.with_rest(self.mean_rest))
    }

    pub fn of(summary: &Summary) -> Option<Self> {
        let (mean, mean_rest) = summary.mean_parts()?;
        Some(MetricSummary {
            count: i64::try_from(summary.count()).unwrap_or(i64::MAX),
            mean,
            mean_rest,
            m2: summary.m2(),
            min: summary.min()?,
            max: summary.max()?,
        })
    }
}

/// Adds the figures of every metric to others.
pub(in crate::telemetry) fn add(to: &mut Metrics, from: &Metrics) {
    for (metric, summary) in from {
        match to.get_mut(metric) {
            None => drop(to.insert(metric.clone(), *summary)),
            Some(known) => {
                let merged = known.summary().merged(&summary.summary());
                if let Some(merged) = MetricSummary::of(&merged) {
                    *known = merged;
                }
            }
        }
    }
}

/// What was made of the raw measurements, and what came late, together.
pub(in crate::telemetry) fn of_hour(hour: &HourState) -> Metrics {
    let mut all = hour.base.clone();
    add(&mut all, &hour.late);
    all
}

/// All hours together, in their order.
pub(in crate::telemetry) fn of_day(hours: &[HourState]) -> Metrics {
    let mut all = Metrics::new();
    for hour in hours {
        add(&mut all, &hour.base);
        add(&mut all, &hour.late);
    }
    all
}

pub(in crate::telemetry) fn mean(of: &MetricSummary) -> Option<Decimal> {
    of.summary().mean_decimal().ok().flatten()
}

pub(in crate::telemetry) fn stddev(of: &MetricSummary) -> Option<Decimal> {
    of.summary().stddev_decimal().ok().flatten()
}

pub(in crate::telemetry) fn min(of: &MetricSummary) -> Option<Decimal> {
    of.summary().min_decimal().ok().flatten()
}

pub(in crate::telemetry) fn max(of: &MetricSummary) -> Option<Decimal> {
    of.summary().max_decimal().ok().flatten()
}

/// To three decimals: nobody looks for more in a score.
pub(in crate::telemetry) fn score(quality: f64) -> Option<Decimal> {
    to_decimal("quality", quality).ok().map(|score| score.round_dp(3).normalize())
}

/// An hour as the document's list has it.
pub(in crate::telemetry) fn stats_of_hour(hour: &HourState) -> BTreeMap<String, Decimal> {
    let mut stats = BTreeMap::new();
    stats.insert("hour".to_owned(), Decimal::from(hour.hour));
    stats.insert("count".to_owned(), Decimal::from(hour.base_count + hour.late_count));
    stats.extend(hour.quality.and_then(score).map(|score| ("quality".to_owned(), score)));
    for (metric, summary) in of_hour(hour) {
        let figures =
            [("avg", mean(&summary)), ("min", min(&summary)), ("max", max(&summary)), ("stddev", stddev(&summary))];
        for (figure, value) in figures {
            stats.extend(value.map(|value| (format!("{metric}_{figure}"), value)));
        }
        // Beside metrics that not every measurement has.
        if summary.count != hour.base_count + hour.late_count {
            stats.insert(format!("{metric}_count"), Decimal::from(summary.count));
        }
    }
    stats
}

/// The mean of the hours' scores; none where no hour has one.
pub(in crate::telemetry) fn quality_of_day(hours: &[HourState]) -> Option<f64> {
    let scores: Vec<f64> = hours.iter().filter_map(|hour| hour.quality).collect();
    (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64)
}
