//! What every access pattern of telemetry costs: as its declaration says, whatever else there is.

use merkato::{
    PageRequest,
    telemetry::{self, ChartRequest, Mark, NewMeasurement, PATTERNS, Resolution, SeriesRequest},
};
use widerow::meter::{Cost, measure};
use widerow_testing::Target;

use super::{HOUR_MILLIS, hours_ago, reading, roll, sensor, take};
use crate::world::World;

widerow_testing::cases![every_pattern_costs_what_it_says_whatever_the_number_of_measurements, what_a_batch_writes];

const PAGE: usize = 10;

async fn every_pattern_costs_what_it_says_whatever_the_number_of_measurements(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let mut sensors = Vec::new();
    for (round, step) in [(0, 1_200), (1, 120)] {
        for n in 0..5 + 10 * round {
            sensors.push(sensor(ctx, &format!("sensor {round} {n}")).await.sensor_id);
        }
        let one = sensors[0];
        let from = hours_ago(ctx, 20);
        let some = (0..18 * 3_600).step_by(step).map(|seconds| reading(one, from.plus_seconds(seconds), 4.0));
        take(ctx, some.collect::<Vec<NewMeasurement>>()).await;
        take(ctx, sensors.iter().map(|sensor| reading(*sensor, ctx.now(), 4.0)).collect()).await;
        let marks = ctx.store.slice::<Mark>(super::model::mark_shard_of(ctx, one).await).limit(PAGE);
        let (marks, marks_cost) = measure(marks.page()).await;
        roll_now(&world).await;
        let asked = |resolution| SeriesRequest {
            from: hours_ago(ctx, 23),
            to: ctx.now(),
            resolution,
            metric: None,
            page: PageRequest::first(PAGE),
        };
        let mut measured: Vec<(&str, usize, Cost)> = Vec::new();
        let (found, cost) = measure(telemetry::get_sensor(ctx, one)).await;
        measured.push(("T1", found.map(|_| 1).expect("found"), cost));
        let (found, cost) = measure(telemetry::list_sensors(ctx, PageRequest::first(PAGE))).await;
        measured.push(("T2", found.expect("a page").rows.len(), cost));
        let (found, cost) = measure(telemetry::read_series(ctx, one, asked(Resolution::Raw))).await;
        measured.push(("T3", found.expect("a page").points.len(), cost));
        let (found, cost) = measure(telemetry::read_series(ctx, one, asked(Resolution::Hourly))).await;
        measured.push(("T4", found.expect("a page").points.len(), cost));
        let (found, cost) = measure(telemetry::read_series(ctx, one, asked(Resolution::Daily))).await;
        measured.push(("T5", found.expect("a page").points.len(), cost));
        let chart = ChartRequest {
            from: hours_ago(ctx, 23),
            to: ctx.now(),
            resolution: Resolution::Raw,
            metric: "temperature".into(),
            points_max: 100,
        };
        let (found, cost) = measure(telemetry::chart(ctx, one, chart)).await;
        measured.push(("T6", found.expect("a chart").summary.count() as usize, cost));
        let (found, cost) = measure(telemetry::latest(ctx, &sensors)).await;
        measured.push(("T7", found.expect("the latest").len(), cost));
        measured.push(("T8", marks.expect("a page").rows.len(), marks_cost));
        assert_eq!(measured.len(), PATTERNS.len());
        for ((name, rows, cost), pattern) in measured.iter().zip(PATTERNS) {
            assert_eq!(*name, pattern.name, "every pattern is measured");
            assert!(*rows >= 1 && pattern.cost.admits(cost, *rows as u64), "{name}, {rows} rows: {cost}");
            assert_eq!((cost.rows_written, cost.conditional_writes), (0, 0), "{name}");
        }
    }
}

/// Old enough to be rolled up, and no older.
async fn roll_now(world: &World) {
    world.clock.advance_millis(5 * 60_000);
    roll(&world.ctx).await;
}

async fn what_a_batch_writes(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let one = sensor(ctx, "one").await.sensor_id;
    let at = hours_ago(ctx, -1);
    world.clock.advance_millis(at.millis() - ctx.now().millis() + HOUR_MILLIS / 2);
    let batch = |second: i64| (0..30).map(|n| reading(one, at.plus_seconds(second + n), n as f64)).collect::<Vec<_>>();
    let (_, cost) = measure(take(ctx, batch(0))).await;
    assert_eq!((cost.rows_written, cost.conditional_writes), (31, 0), "a row each, and a mark: {cost}");
    let (_, cost) = measure(take(ctx, batch(100))).await;
    assert_eq!((cost.rows_written, cost.rows_read, cost.conditional_writes), (30, 0, 0), "a row each: {cost}");
}
