//! The detector against real series whose anomalies people have labelled, in the folder that `MERKATO_TEST_DATA` names; without
//! them the run says that it skipped them.
//!
//! They are not of this project: `sensors-nab` (Numenta Anomaly Benchmark, real series with known causes and of CloudWatch).
//! The detector's settings were chosen by looking at these very series, on a plateau where neighbours do as well. So the figures
//! say that it works, not how it would do elsewhere.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use widerow::Timestamp;

use super::{DAY, at, reading};
use crate::telemetry::figures::{DetectorSettings, Mark, MarkKind, Reading, Summary, alarms, detect, median};

/// Series whose labels are known.
struct Series {
    name: String,
    readings: Vec<Reading>,
    windows: Vec<(Timestamp, Timestamp)>,
}

impl Series {
    fn interval_ms(&self) -> i64 {
        let apart = self.readings.windows(2).map(|pair| (pair[1].at().millis() - pair[0].at().millis()) as f64);
        median(&mut apart.collect::<Vec<_>>()).expect("several") as i64
    }

    /// The benchmark lets a detector learn from the first seventh or so, and does not judge it there.
    fn judged_from(&self) -> Timestamp {
        self.readings[self.readings.len() * 15 / 100].at()
    }
}

fn folder() -> Option<PathBuf> {
    let folder = std::env::var("MERKATO_TEST_DATA").ok().filter(|folder| !folder.is_empty());
    if folder.is_none() {
        eprintln!("skipped: sensors-nab, as MERKATO_TEST_DATA does not say where real data is");
    }
    Some(Path::new(&folder?).join("sensors-nab"))
}

fn time(text: &str) -> Timestamp {
    let (date, time) = text.split_once(' ').expect("date and time");
    format!("{date}T{}Z", time.trim_end_matches(".000000")).parse().expect("a time")
}

fn all(folder: &Path) -> Vec<Series> {
    let labels = fs::read_to_string(folder.join("labels/combined_windows.json")).expect("labels");
    let labels: BTreeMap<String, Vec<(String, String)>> = serde_json::from_str(&labels).expect("labels");
    let mut all = Vec::new();
    for (name, windows) in labels {
        let Ok(text) = fs::read_to_string(folder.join("data").join(&name)) else { continue };
        let rows = text.lines().skip(1).filter_map(|line| line.split_once(','));
        let mut readings: Vec<Reading> =
            rows.map(|(at, value)| reading(time(at).millis(), value.parse().expect("a value"))).collect();
        // One series is not in the order of time.
        readings.sort_by_key(|reading| reading.at());
        let windows = windows.iter().map(|(from, to)| (time(from), time(to))).collect();
        all.push(Series { name, readings, windows });
    }
    all
}

#[derive(Default)]
struct Tally {
    alarms: usize,
    alarms_right: usize,
    windows: usize,
    windows_found: usize,
}

impl Tally {
    /// Of all alarms, how many lie in a window.
    fn precision(&self) -> f64 {
        self.alarms_right as f64 / self.alarms.max(1) as f64
    }

    /// Of all windows, in how many an alarm lies.
    fn recall(&self) -> f64 {
        self.windows_found as f64 / self.windows.max(1) as f64
    }

    fn add(&mut self, other: &Tally) {
        self.alarms += other.alarms;
        self.alarms_right += other.alarms_right;
        self.windows += other.windows;
        self.windows_found += other.windows_found;
    }
}

fn judge(series: &Series, marks: &[Mark]) -> Tally {
    let from = series.judged_from();
    let marks: Vec<Mark> = marks.iter().copied().filter(|mark| mark.at >= from).collect();
    let alarms = alarms(&marks, DAY);
    let windows: Vec<_> = series.windows.iter().filter(|(_, to)| *to >= from).collect();
    let is_in = |mark: &Mark, (from, to): &(Timestamp, Timestamp)| (*from..=*to).contains(&mark.at);
    Tally {
        alarms: alarms.len(),
        alarms_right: alarms.iter().filter(|mark| windows.iter().any(|window| is_in(mark, window))).count(),
        windows: windows.len(),
        windows_found: windows.iter().filter(|window| alarms.iter().any(|mark| is_in(mark, window))).count(),
    }
}

const PRECISION_MIN: f64 = 0.5;
const RECALL_MIN: f64 = 0.45;

#[test]
fn half_of_the_labelled_anomalies_are_found_and_half_of_the_alarms_are_right() {
    let Some(folder) = folder() else { return };
    let all = all(&folder);
    assert_eq!(all.len(), 24);
    let (mut found, mut always) = (Tally::default(), Tally::default());
    for series in &all {
        let settings = DetectorSettings::every(series.interval_ms()).expect("an interval");
        let tally = judge(series, &detect(&series.readings, settings).expect("in order"));
        eprintln!(
            "{:<62} {} of {} windows found, {} of {} alarms right",
            series.name, tally.windows_found, tally.windows, tally.alarms_right, tally.alarms
        );
        found.add(&tally);
        // What is no detector: it marks everything.
        let everything = series.readings.iter().map(|reading| Mark {
            at: reading.at(),
            value: reading.value(),
            usual: 0.0,
            kind: MarkKind::Spike,
            score: 0.0,
        });
        always.add(&judge(series, &everything.collect::<Vec<_>>()));
    }
    eprintln!("precision {:.3}, recall {:.3}, of {} windows", found.precision(), found.recall(), found.windows);
    eprintln!("one that marks everything: precision {:.3}, recall {:.3}", always.precision(), always.recall());
    assert!(found.precision() >= PRECISION_MIN, "precision {}", found.precision());
    assert!(found.recall() >= RECALL_MIN, "recall {}", found.recall());
    // The floor tells a detector from none: whoever marks everything is below it, and whoever marks nothing finds nothing.
    assert!(always.precision() < PRECISION_MIN / 2.0, "precision {}", always.precision());
}

#[test]
fn hours_of_real_readings_merge_to_what_two_passes_give() {
    let Some(folder) = folder() else { return };
    for series in all(&folder) {
        let hour = |reading: &Reading| reading.at().millis() / super::HOUR;
        let hours = series.readings.chunk_by(|one, next| hour(one) == hour(next));
        let merged = hours.fold(Summary::EMPTY, |all, hour| all.merged(&Summary::of_readings(hour)));
        let values = || series.readings.iter().map(|reading| reading.value());
        let count = series.readings.len() as f64;
        let mean = values().sum::<f64>() / count;
        // The second pass takes back what the first rounded.
        let rest = values().map(|value| value - mean).sum::<f64>() / count;
        let m2 = values().map(|value| (value - mean - rest).powi(2)).sum::<f64>();
        let near = |found: f64, expected: f64| (found - expected).abs() <= 1e-9 * expected.abs();
        assert_eq!(merged.count(), series.readings.len() as u64);
        assert!(near(merged.mean().expect("some"), mean + rest), "{}", series.name);
        assert!(near(merged.m2(), m2), "{}", series.name);
        assert_eq!(merged.min(), values().reduce(f64::min));
        assert_eq!(merged.max(), values().reduce(f64::max));
    }
}

#[test]
fn times_of_the_labels_are_read() {
    assert_eq!(time("1970-01-02 00:00:01.000000"), at(DAY + 1_000));
    assert_eq!(time("1970-01-02 00:00:01"), at(DAY + 1_000));
}
