//! Charts of one sensor where a thousand have measured for a month: the document promises them within ten milliseconds.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use futures::{StreamExt as _, stream};
use merkato::{
    Context,
    id::SensorId,
    telemetry::{self, ChartRequest, HourState, MetricSummary, Resolution, SensorDay},
};
use rand::{Rng, SeedableRng, rngs::SmallRng};
use widerow::{
    Commit, Date, Timestamp,
    time::{Clock as _, SystemClock},
};

use super::{measurement, sensors, shop};
use crate::measure::{Verdict, Verdicts};

const RAW: &str = "telemetry: raw chart of a day in 10 ms";
const HOURLY: &str = "telemetry: hourly chart of 30 days in 10 ms";
const PROMISED: Duration = Duration::from_millis(10);
const DAYS: i32 = 30;
const POINTS: usize = 600;

pub async fn run(quick: bool, verdicts: &mut Verdicts) {
    if ![RAW, HOURLY].iter().any(|name| verdicts.wants(name)) {
        return;
    }
    println!();
    let count = if quick { 100 } else { 1_000 };
    let folder = tempfile::tempdir().expect("a folder");
    let ctx = shop(folder.path()).await;
    let sensors = sensors(&ctx, count).await;
    let now = SystemClock.now();
    let start = Instant::now();
    raw(&ctx, &sensors, now).await;
    println!("{} raw measurements of {count} sensors in {:.1} s", count * 1_440, start.elapsed().as_secs_f64());
    let start = Instant::now();
    days(&ctx, &sensors, now).await;
    println!("{DAYS} days of {count} sensors in {:.1} s", start.elapsed().as_secs_f64());
    let asked = if quick { 500 } else { 3_000 };
    for (name, resolution, days) in [(RAW, Resolution::Raw, 1), (HOURLY, Resolution::Hourly, DAYS)] {
        if !verdicts.wants(name) {
            continue;
        }
        let mut chance = SmallRng::seed_from_u64(7);
        let (mut times, mut drawn) = (Vec::new(), 0);
        for _ in 0..asked {
            let sensor = sensors[chance.random_range(0..sensors.len())];
            let to = ctx.now();
            let request = ChartRequest {
                from: to.plus_seconds(-i64::from(days) * 86_400),
                to,
                resolution,
                metric: "temperature".into(),
                points_max: POINTS,
            };
            let start = Instant::now();
            let chart = telemetry::chart(&ctx, sensor, request).await.expect("a chart");
            times.push(start.elapsed());
            drawn += chart.summary.count();
            assert!(chart.lines.iter().flatten().count() > 300, "{}", chart.lines.len());
        }
        times.sort_unstable();
        let (p50, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
        let each = drawn / asked as u64;
        println!("{name:<44} p50 {p50:.2?}, p99 {p99:.2?}, of {each} measurements each");
        let ratio = PROMISED.as_secs_f64() / p99.as_secs_f64();
        verdicts.all.push(Verdict { name: name.into(), ratio, floor: 1.0 });
    }
}

/// The last day, a measurement a minute.
async fn raw(ctx: &Context, sensors: &[SensorId], now: Timestamp) {
    for some in sensors.chunks(6) {
        let minutes = some.iter().flat_map(|sensor| (0..1_440).map(move |minute| (*sensor, minute)));
        let new = minutes.map(|(sensor, minute)| measurement(sensor, now.plus_seconds(-60 * minute), minute as usize));
        let answers = telemetry::ingest(ctx, new.collect()).await.expect("answers");
        assert!(answers.iter().all(Result::is_ok));
    }
}

/// The roll-ups of a month, as they would be after one.
async fn days(ctx: &Context, sensors: &[SensorId], now: Timestamp) {
    let metric = |n: i32| MetricSummary {
        count: 60,
        mean: 4.0 + f64::from(n % 7),
        mean_rest: 0.0,
        m2: 12.0,
        min: 3.0 + f64::from(n % 7),
        max: 5.0 + f64::from(n % 7),
    };
    let hour = |hour: i32| HourState {
        hour,
        base_count: 60,
        base: ["temperature", "humidity", "pressure"].map(|name| (name.to_owned(), metric(hour))).into(),
        quality: Some(1.0),
        quality_parts: BTreeMap::from([("completeness".to_owned(), 1.0)]),
        last_at: now.millis(),
        changed_at: now.millis(),
        ..HourState::default()
    };
    let all = sensors.iter().flat_map(|sensor| (0..=DAYS).map(move |ago| (*sensor, ago)));
    let commits = all.map(|(sensor_id, ago)| async move {
        let day = SensorDay {
            sensor_id,
            date: Date::from_days(now.date().days() - ago),
            part: 0,
            hours: (0..24).map(hour).collect(),
            anomalies: Vec::new(),
            maintenance_required: None,
            maintenance_reason: None,
            updated_at: now,
            base_ids: None,
            late_ids: None,
            overfull: None,
        };
        ctx.store.commit(Commit::new().put(&day)).await.expect("a day");
    });
    stream::iter(commits).buffer_unordered(64).count().await;
}
