//! Any sequence of measurements and roll-ups, from a printed seed, against a plain list of what was taken.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;
use merkato::{
    Context,
    id::{MeasurementId, SensorId},
    telemetry::{self, DailyData, HourlyData, MetricSummary, NewMeasurement, Resolution, SeriesRequest},
};
use rand::{Rng, SeedableRng, rngs::SmallRng};
use uuid::Uuid;
use widerow::{Date, Timestamp, store::VerifyOptions};
use widerow_testing::Target;

use super::{DAY_MILLIS, HOUR_MILLIS, dying, process, roll, sensor};
use crate::world::{World, seed};

widerow_testing::cases![
    roll_ups_follow_what_was_taken,
    many_at_once_count_every_measurement_once,
    a_roll_up_stopped_anywhere_ends_as_one_that_was_not,
];

/// What was taken: by sensor, time and id.
type Taken = BTreeMap<(SensorId, Timestamp, Uuid), NewMeasurement>;

fn remember(taken: &mut Taken, new: &NewMeasurement) {
    let id = new.measurement_id.expect("it has one").0;
    taken.insert((new.sensor_id, new.measurement_time, id), new.clone());
}

/// One of few times and ids, so that many come again; now and then one of long ago.
fn any(dice: &mut SmallRng, ctx: &Context, sensors: &[SensorId]) -> NewMeasurement {
    let now = ctx.now().millis();
    let ago = match dice.random_range(0..10) {
        0 => dice.random_range(0..100) * DAY_MILLIS + dice.random_range(0..3) * HOUR_MILLIS,
        1..4 => dice.random_range(0..80) * HOUR_MILLIS,
        _ => dice.random_range(0..180) * 60_000,
    };
    let at = Timestamp::from_millis((now - ago).div_euclid(60_000) * 60_000);
    let n = dice.random_range(0..3_u128);
    // The same again says the same.
    let value = ((at.millis() / 60_000) % 97) as f64 / 7.0 + n as f64;
    let mut new = NewMeasurement::new(sensors[dice.random_range(0..sensors.len())], at).with("temperature", value);
    if n == 1 {
        new = new.with("power", 1e9 + value);
    }
    new.measurement_id = Some(MeasurementId(Uuid::from_u128(n + 1)));
    new
}

/// By two passes.
struct Direct {
    count: i64,
    mean: f64,
    stddev: f64,
    min: f64,
    max: f64,
}

fn direct(values: &[f64]) -> Direct {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let m2: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let (min, max) = values.iter().fold((f64::MAX, f64::MIN), |(min, max), v| (min.min(*v), max.max(*v)));
    Direct { count: values.len() as i64, mean, stddev: (m2 / n).sqrt(), min, max }
}

fn same(found: &MetricSummary, values: &[f64], what: &str) {
    let (found, expected) = (found.summary(), direct(values));
    assert_eq!(found.count() as i64, expected.count, "{what}");
    assert_eq!((found.min(), found.max()), (Some(expected.min), Some(expected.max)), "{what}");
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0);
    assert!(near(found.mean().expect("a mean"), expected.mean), "{what}: {found:?}");
    // The direct way is the less exact one where values are large.
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0);
    assert!(near(found.stddev().expect("a deviation"), expected.stddev), "{what}: {found:?}");
}

type Values = BTreeMap<String, Vec<f64>>;

fn add(values: &mut Values, new: &NewMeasurement) {
    let others = new.metrics.iter().map(|(name, value)| (name.clone(), *value));
    for (name, value) in new.temperature.map(|value| ("temperature".to_owned(), value)).into_iter().chain(others) {
        values.entry(name).or_default().push(value);
    }
}

/// Every hour and every day is what a plain list says, and there is none besides.
pub async fn compare(ctx: &Context, taken: &Taken, sensors: &[SensorId]) {
    for sensor in sensors {
        let own: Vec<&NewMeasurement> = taken.values().filter(|new| new.sensor_id == *sensor).collect();
        let mut hours: BTreeMap<i64, (i64, Values)> = BTreeMap::new();
        let mut days: BTreeMap<Date, (i64, Values)> = BTreeMap::new();
        for new in own {
            let at = new.measurement_time;
            let hour = hours.entry(at.millis().div_euclid(HOUR_MILLIS)).or_default();
            hour.0 += 1;
            add(&mut hour.1, new);
            let day = days.entry(at.date()).or_default();
            day.0 += 1;
            add(&mut day.1, new);
        }
        let found = ctx.store.slice::<HourlyData>(*sensor).limit(10_000).page().await.expect("hours").rows;
        let found: BTreeMap<i64, HourlyData> =
            found.into_iter().map(|row| (row.hour_bucket.millis() / HOUR_MILLIS, row)).collect();
        assert_eq!(found.keys().collect::<Vec<_>>(), hours.keys().collect::<Vec<_>>());
        for (hour, (count, values)) in &hours {
            let row = &found[hour];
            assert_eq!(row.measurement_count, *count, "{}", row.hour_bucket);
            assert_eq!(row.metrics.keys().collect::<Vec<_>>(), values.keys().collect::<Vec<_>>());
            values.iter().for_each(|(metric, values)| same(&row.metrics[metric], values, metric));
        }
        let found = ctx.store.slice::<DailyData>(*sensor).limit(10_000).page().await.expect("days").rows;
        assert_eq!(
            found.iter().map(|row| row.date_bucket).collect::<Vec<_>>(),
            days.keys().copied().collect::<Vec<_>>()
        );
        for row in found {
            let (count, values) = &days[&row.date_bucket];
            assert_eq!(row.measurement_count, *count, "{}", row.date_bucket);
            values.iter().for_each(|(metric, values)| same(&row.metrics[metric], values, metric));
            let hours: BTreeSet<i64> = hours.keys().map(|hour| hour.rem_euclid(24)).collect();
            assert!(row.hourly_stats.iter().all(|stats| {
                let hour: i64 = stats["hour"].try_into().expect("a number");
                hours.contains(&hour) && stats.contains_key("temperature_avg")
            }));
        }
    }
}

/// After everything is over that was still open.
async fn settle(target: &Target, world: &World) {
    world.clock.advance_millis(2 * HOUR_MILLIS);
    process(world, target.engine()).store.database().sweep().await.expect("swept");
    roll(&world.ctx).await;
}

async fn roll_ups_follow_what_was_taken(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let mut dice = SmallRng::seed_from_u64(seed());
    let sensors = [sensor(ctx, "one").await.sensor_id, sensor(ctx, "two").await.sensor_id];
    let mut taken = Taken::new();
    let (mut since_roll, begin) = (0, ctx.now());
    let rounds = if target.name == "embedded" { 150 } else { 25 };
    for _ in 0..rounds {
        match dice.random_range(0..10) {
            0..5 => {
                let some: Vec<_> = (0..dice.random_range(1..60)).map(|_| any(&mut dice, ctx, &sensors)).collect();
                some.iter().for_each(|new| remember(&mut taken, new));
                // A process that dies has told nobody that it took them: they are sent again.
                if dice.random_range(0..4) == 0 {
                    let (doomed, _) = dying(target, &world, dice.random_range(0..8));
                    let _ = telemetry::ingest(&doomed, some.clone()).await;
                }
                super::take(ctx, some).await;
            }
            5..7 => {
                if dice.random_range(0..3) == 0 {
                    let (doomed, _) = dying(target, &world, dice.random_range(0..20));
                    let _ = telemetry::roll_up(&doomed, Default::default(), |_| {}).await;
                } else {
                    roll(ctx).await;
                    since_roll = 0;
                }
            }
            7 => world.clock.advance_millis(dice.random_range(0..40) * 60_000),
            _ => {
                let millis = dice.random_range(0..30) * HOUR_MILLIS;
                // Roll-ups may stand still for as long as raw measurements are kept.
                since_roll += millis;
                if since_roll > 60 * HOUR_MILLIS {
                    roll(ctx).await;
                    since_roll = millis;
                }
                world.clock.advance_millis(millis);
            }
        }
        // Hours end thirty days after their latest change: those are for another case.
        if ctx.now().millis() - begin.millis() > 25 * DAY_MILLIS {
            break;
        }
    }
    settle(target, &world).await;
    compare(ctx, &taken, &sensors).await;
    let verified = telemetry::verify_rolls(ctx, false).await.expect("verified");
    assert_eq!(verified.differences, [], "{verified:?}");
    assert_eq!(roll(ctx).await.marks, 0, "nothing is left to be done");
    // Everything again, all of it late: nothing is counted twice.
    for some in taken.values().cloned().collect::<Vec<_>>().chunks(500) {
        super::take(ctx, some.to_vec()).await;
    }
    settle(target, &world).await;
    compare(ctx, &taken, &sensors).await;
    if target.name == "embedded" {
        let report = world.ctx.store.verify(VerifyOptions::default()).await.expect("verified");
        assert_eq!(report.differences, 0, "{:?}", report.listed);
    }
}

async fn many_at_once_count_every_measurement_once(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let mut dice = SmallRng::seed_from_u64(seed() ^ 1);
    let sensors = [sensor(ctx, "one").await.sensor_id];
    let mut taken = Taken::new();
    let rounds = if target.name == "embedded" { 12 } else { 3 };
    for _ in 0..rounds {
        let heaps: Vec<Vec<NewMeasurement>> =
            (0..6).map(|_| (0..20).map(|_| any(&mut dice, ctx, &sensors)).collect()).collect();
        heaps.iter().flatten().for_each(|new| remember(&mut taken, new));
        let processes: Vec<Context> = (0..3).map(|_| process(&world, target.engine())).collect();
        let takes = heaps.into_iter().enumerate().map(|(n, heap)| super::take(&processes[n % 3], heap));
        let rolls = processes.iter().map(|ctx| async {
            // One that finds others at the same day again and again leaves it to the next round.
            telemetry::roll_up(ctx, Default::default(), |_| {}).await.expect("rolled up");
        });
        futures::join!(join_all(takes), join_all(rolls));
        world.clock.advance_millis(dice.random_range(0..3) * HOUR_MILLIS);
    }
    settle(target, &world).await;
    compare(ctx, &taken, &sensors).await;
}

async fn a_roll_up_stopped_anywhere_ends_as_one_that_was_not(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let stride = if target.name == "embedded" { 1 } else { 5 };
    for steps in (0..).step_by(stride) {
        let one = sensor(ctx, "one").await.sensor_id;
        let mut taken = Taken::new();
        let mut dice = SmallRng::seed_from_u64(steps);
        let some: Vec<_> = (0..30).map(|_| any(&mut dice, ctx, &[one])).collect();
        some.iter().for_each(|new| remember(&mut taken, new));
        super::take(ctx, some).await;
        world.clock.advance_millis(2 * HOUR_MILLIS);
        let (doomed, faulty) = dying(target, &world, steps);
        let _ = telemetry::roll_up(&doomed, Default::default(), |_| {}).await;
        settle(target, &world).await;
        compare(ctx, &taken, &[one]).await;
        // What a reader is shown is the same.
        let asked = SeriesRequest {
            from: ctx.now().plus_seconds(-3_600 * 24 * 200),
            to: ctx.now(),
            resolution: Resolution::Hourly,
            metric: None,
            page: merkato::PageRequest::first(100),
        };
        let series = telemetry::read_series(ctx, one, asked).await.expect("a series");
        assert_eq!(series.points.iter().map(|point| point.measurement_count).sum::<i64>(), taken.len() as i64);
        if !faulty.has_stopped() {
            break;
        }
    }
}

/// The shard that has the marks of a sensor.
pub async fn mark_shard_of(ctx: &Context, sensor: SensorId) -> u32 {
    for shard in 0..telemetry::MARK_SHARDS {
        let marks = ctx.store.slice::<telemetry::Mark>(shard).limit(1_000).page().await.expect("marks").rows;
        if marks.iter().any(|mark| mark.sensor_id == sensor) {
            return shard;
        }
    }
    panic!("the sensor has no mark");
}
