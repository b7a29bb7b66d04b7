//! Real series, in the folder that `MERKATO_TEST_DATA` names; without them the run says that it skipped them. Roll-ups are what a
//! few lines here make of the same files by themselves.
//!
//! They are not of this project: `sensors-nab` (Numenta Anomaly Benchmark, MIT).

use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::{Path, PathBuf},
};

use merkato::{
    Context,
    flows::import::{MeasurementOptions, Registration, import_measurements},
    id::SensorId,
    telemetry::{self, DailyData, HourlyData, MetricSummary},
};
use widerow::{Date, Timestamp};
use widerow_testing::Target;

use super::{HOUR_MILLIS, roll};
use crate::world::World;

widerow_testing::cases![roll_ups_of_real_series_equal_a_direct_computation];

const METRIC: &str = "value";

/// All 24 files, by the names that the labels have for them.
fn files() -> Option<Vec<(String, PathBuf)>> {
    let Some(folder) = widerow_testing::address("MERKATO_TEST_DATA") else {
        eprintln!("skipped: sensors-nab, as MERKATO_TEST_DATA does not say where real data is");
        return None;
    };
    let mut files = Vec::new();
    for group in ["realAWSCloudwatch", "realKnownCause"] {
        let folder = Path::new(&folder).join("sensors-nab/data").join(group);
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("a file").path();
            files.push((format!("{group}/{}", path.file_name().expect("a name").to_string_lossy()), path));
        }
    }
    files.sort();
    assert_eq!(files.len(), 24);
    Some(files)
}

fn rows(file: &Path) -> Vec<(Timestamp, f64)> {
    let rows = csv::Reader::from_path(file).expect("a file").into_deserialize::<(String, f64)>();
    let rows = rows.map(|row| row.expect("a row"));
    rows.map(|(at, value)| (format!("{}Z", at.replace(' ', "T")).parse().expect("a time"), value)).collect()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-3)
}

/// In two passes, from the first value: so that the rounding of a large one is not taken for a deviation.
fn same(found: &MetricSummary, values: &[f64]) {
    let n = values.len() as f64;
    let apart = || values.iter().map(|value| value - values[0]);
    let shift = apart().sum::<f64>() / n;
    let deviation = (apart().map(|apart| (apart - shift).powi(2)).sum::<f64>() / n).sqrt();
    let summary = found.summary();
    assert_eq!(summary.count(), values.len() as u64);
    assert_eq!(summary.min(), values.iter().copied().reduce(f64::min));
    assert_eq!(summary.max(), values.iter().copied().reduce(f64::max));
    assert!(near(summary.mean().expect("a mean"), values[0] + shift), "{summary:?}");
    assert!(near(summary.stddev().expect("a deviation"), deviation), "{summary:?}, {deviation}");
}

async fn compare(ctx: &Context, sensor: SensorId, rows: &[(Timestamp, f64)]) -> Vec<DailyData> {
    let (mut hours, mut days): (BTreeMap<i64, Vec<f64>>, BTreeMap<Date, Vec<f64>>) = Default::default();
    for (at, value) in rows {
        hours.entry(at.millis().div_euclid(HOUR_MILLIS)).or_default().push(*value);
        days.entry(at.date()).or_default().push(*value);
    }
    let found = ctx.store.slice::<HourlyData>(sensor).limit(10_000).all(100_000).await.expect("hours");
    assert_eq!(found.len(), hours.len());
    for row in &found {
        let values = &hours[&row.hour_bucket.millis().div_euclid(HOUR_MILLIS)];
        assert_eq!(row.measurement_count, values.len() as i64, "{}", row.hour_bucket);
        same(&row.metrics[METRIC], values);
    }
    let found = ctx.store.slice::<DailyData>(sensor).limit(10_000).page().await.expect("days").rows;
    assert_eq!(found.iter().map(|row| row.date_bucket).collect::<Vec<_>>(), days.keys().copied().collect::<Vec<_>>());
    found.iter().for_each(|row| same(&row.metrics[METRIC], &days[&row.date_bucket]));
    found
}

async fn roll_ups_of_real_series_equal_a_direct_computation(target: &Target) {
    let Some(files) = files() else { return };
    if target.name != "embedded" {
        eprintln!("skipped: 24 real series on {}, as the embedded engine has them", target.name);
        return;
    }
    let world = World::new(target);
    let ctx = &world.ctx;
    let mut sensors = BTreeMap::new();
    for (name, file) in &files {
        let rows = rows(file);
        let interval_seconds = if name.contains("nyc_taxi") {
            1_800
        } else if name.contains("ambient") {
            3_600
        } else {
            300
        };
        let register = Registration { kind: "nab".into(), location: None, interval_seconds };
        let options = || MeasurementOptions {
            sensor: Some(name.clone()),
            register: Some(register.clone()),
            ..MeasurementOptions::new("nab")
        };
        let open = || File::open(file).expect("a file");
        let report = import_measurements(ctx, open(), options(), |_| {}).await.expect("an import");
        assert_eq!(
            (report.read, report.created),
            (rows.len() as u64, rows.len() as u64),
            "{name}: {:?}",
            report.rejected
        );
        let again = import_measurements(ctx, open(), options(), |_| {}).await.expect("an import");
        assert_eq!((again.created, again.unchanged), (0, rows.len() as u64), "{name}");
        sensors.insert(name.clone(), rows);
    }
    world.clock.advance_millis(HOUR_MILLIS);
    let report = roll(ctx).await;
    assert_eq!(report.measurements, sensors.values().map(|rows| rows.len() as u64).sum::<u64>());
    let listed = telemetry::list_sensors(ctx, merkato::PageRequest::first(100)).await.expect("sensors").rows;
    let ids: BTreeMap<String, SensorId> = listed.into_iter().map(|row| (row.name, row.sensor_id)).collect();
    let labels = fs::read(files[0].1.ancestors().nth(3).expect("a folder").join("labels/combined_windows.json"));
    let labels: BTreeMap<String, Vec<(String, String)>> =
        serde_json::from_slice(&labels.expect("labels")).expect("labels");
    let (mut told, mut right, mut windows, mut found, mut covered, mut hours) = (0, 0, 0, 0, 0, 0);
    for (name, rows) in &sensors {
        let days = compare(ctx, ids[name], rows).await;
        let time =
            |text: &String| -> Timestamp { format!("{}Z", text[..19].replace(' ', "T")).parse().expect("a time") };
        let labels: Vec<(Timestamp, Timestamp)> = labels[name].iter().map(|(a, b)| (time(a), time(b))).collect();
        let mut hit = vec![false; labels.len()];
        for day in &days {
            for anomaly in &day.anomalies {
                let from = day.date_bucket.start().plus_seconds(i64::from(anomaly.hour) * 3_600);
                let to = from.plus_seconds(3_600);
                let inside: Vec<usize> =
                    (0..labels.len()).filter(|n| labels[*n].0 < to && labels[*n].1 >= from).collect();
                told += 1;
                right += usize::from(!inside.is_empty());
                inside.into_iter().for_each(|n| hit[n] = true);
            }
        }
        windows += labels.len();
        let of_hours: std::collections::BTreeSet<i64> =
            rows.iter().map(|(at, _)| at.millis().div_euclid(HOUR_MILLIS) * HOUR_MILLIS).collect();
        hours += of_hours.len();
        let covers = |hour: &i64| labels.iter().any(|(from, to)| (from.millis()..=to.millis()).contains(hour));
        covered += of_hours.iter().filter(|hour| covers(hour)).count();
        found += hit.iter().filter(|hit| **hit).count();
    }
    let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
    let (precision, recall, chance) = (share(right, told), share(found, windows), share(covered, hours));
    println!(
        "unusual hours of days against {windows} labelled windows of NAB: {told} of {hours} hours told, precision \
         {precision:.2} (by chance {chance:.2}), recall {recall:.2}"
    );
    assert!(precision > 1.5 * chance && recall > 0.5, "{precision} {recall} {chance}");
    // The same files once more, when nothing raw is left of them.
    world.clock.advance_millis(5 * 24 * HOUR_MILLIS);
    let (name, file) = &files[0];
    let options = MeasurementOptions { sensor: Some(name.clone()), ..MeasurementOptions::new("nab") };
    let again = import_measurements(ctx, File::open(file).expect("a file"), options, |_| {}).await.expect("an import");
    assert_eq!((again.created, again.unchanged), (0, sensors[name].len() as u64));
}
