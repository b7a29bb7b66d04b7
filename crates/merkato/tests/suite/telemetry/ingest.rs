//! Measurements come in, once or again, in any order; sensors come and go.

use merkato::{
    Kind, PageRequest,
    id::SensorId,
    telemetry::{
        self, Error, HourlyData, NewMeasurement, Resolution, RollLimits, SensorChange, SensorDay, SeriesRequest,
    },
};
use widerow::{Database, Options, Timestamp};
use widerow_testing::Target;

use super::{DAY_MILLIS, HOUR_MILLIS, hours_ago, process, reading, roll, sensor, take};
use crate::world::{World, schema};

widerow_testing::cases![
    sensors_are_registered_changed_listed_and_retired,
    the_same_again_is_the_same,
    an_hour_is_rolled_up_when_it_is_over_and_again_when_more_comes,
    what_comes_after_raw_measurements_are_gone_is_added_once,
    raw_measurements_end_and_roll_ups_stay,
    an_open_hour_is_marked_once_by_a_process,
    an_hour_that_is_marked_again_and_again_keeps_no_other_waiting,
    what_is_too_young_to_be_rolled_up_is_told_with_its_time,
    what_an_hour_has_beyond_the_limit_is_told_as_left_out,
    the_check_looks_at_all_hours_of_a_busy_day,
];

async fn sensors_are_registered_changed_listed_and_retired(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (b, a) = (sensor(ctx, "Bravo").await, sensor(ctx, "alpha").await);
    let listed = telemetry::list_sensors(ctx, PageRequest::default()).await.expect("a page").rows;
    assert_eq!(listed.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["alpha", "Bravo"]);
    let change = SensorChange { name: Some("Zulu".into()), interval_seconds: Some(30), ..SensorChange::default() };
    let changed = telemetry::update_sensor(ctx, a.sensor_id, Some(1), change.clone()).await.expect("changed");
    assert_eq!((changed.revision, changed.interval_seconds, &changed.metrics), (2, 30, &a.metrics));
    let refused = telemetry::update_sensor(ctx, a.sensor_id, Some(1), change).await;
    assert!(matches!(refused, Err(Error::SensorChanged { .. })), "{refused:?}");
    let listed = telemetry::list_sensors(ctx, PageRequest::first(1)).await.expect("a page");
    assert_eq!(listed.rows[0].name, "Bravo");
    let next = PageRequest { limit: 1, cursor: listed.next };
    assert_eq!(telemetry::list_sensors(ctx, next).await.expect("a page").rows[0].name, "Zulu");

    let at = hours_ago(ctx, 0);
    take(ctx, vec![reading(b.sensor_id, at, 4.0)]).await;
    telemetry::retire_sensor(ctx, b.sensor_id).await.expect("retired");
    let answers = telemetry::ingest(ctx, vec![reading(b.sensor_id, at, 4.0), reading(a.sensor_id, at, 4.0)]).await;
    let answers = answers.expect("answers");
    assert!(matches!(answers[0], Err(Error::SensorRetired { .. })) && answers[1].is_ok(), "{answers:?}");
    // What it measured before is known still.
    let known = vec![reading(b.sensor_id, at, 4.0), reading(b.sensor_id, at, 5.0)];
    assert_eq!(telemetry::find_known(ctx, known).await.expect("known"), [true, false]);

    // Another tenant's sensor is no sensor.
    let other = World::new(target);
    let stranger = ctx.with_store(other.ctx.store.clone());
    let answers = telemetry::ingest(&stranger, vec![reading(a.sensor_id, at, 4.0)]).await.expect("answers");
    assert!(matches!(answers[0], Err(Error::SensorNotFound { .. })), "{answers:?}");
    let refused = telemetry::get_sensor(&stranger, a.sensor_id).await.expect_err("refused");
    assert_eq!(refused.kind(), Kind::NotFound);
}

async fn the_same_again_is_the_same(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let one = sensor(ctx, "one").await.sensor_id;
    let at = hours_ago(ctx, 2);
    let some: Vec<NewMeasurement> = (0..50).map(|n| reading(one, at.plus_seconds(n * 60), n as f64)).collect();
    let twice = [some.clone(), some.clone()].concat();
    let answers = telemetry::ingest(ctx, twice.clone()).await.expect("answers");
    for (first, again) in answers[..50].iter().zip(&answers[50..]) {
        assert_eq!(first.as_ref().expect("taken"), again.as_ref().expect("taken"));
    }
    assert_eq!(telemetry::find_known(ctx, some.clone()).await.expect("known"), vec![true; 50]);
    world.clock.advance_millis(HOUR_MILLIS);
    assert_eq!(roll(ctx).await.measurements, 50);
    take(ctx, twice).await;
    let other = NewMeasurement { temperature: Some(-1.0), ..some[3].clone() };
    assert_eq!(telemetry::find_known(ctx, vec![other]).await.expect("known"), [false]);
    world.clock.advance_millis(HOUR_MILLIS);
    let report = roll(ctx).await;
    assert_eq!((report.measurements, report.changed), (0, 0), "{report:?}");
    // Known also when the rows are gone.
    world.clock.advance_millis(4 * DAY_MILLIS);
    assert_eq!(telemetry::find_known(ctx, some).await.expect("known"), vec![true; 50]);
}

async fn hour(world: &World, one: merkato::id::SensorId, at: Timestamp) -> Option<HourlyData> {
    world.ctx.store.get::<HourlyData>((one, at)).await.expect("a row")
}

async fn an_hour_is_rolled_up_when_it_is_over_and_again_when_more_comes(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let one = sensor(ctx, "one").await.sensor_id;
    let at = hours_ago(ctx, -1);
    world.clock.advance_millis(at.millis() - ctx.now().millis() + 60_000);
    take(ctx, vec![reading(one, at, 1.0), reading(one, at.plus_seconds(60), 3.0)]).await;
    world.clock.advance_millis(58 * 60_000);
    assert_eq!(roll(ctx).await.hours, 0, "it is not over");
    world.clock.advance_millis(10 * 60_000);
    assert_eq!(roll(ctx).await.hours, 1);
    let row = hour(&world, one, at).await.expect("an hour");
    assert_eq!((row.measurement_count, row.late_count), (2, 0));
    assert_eq!(row.temperature_avg, Some(2.into()));
    assert_eq!((row.temperature_min, row.temperature_max), (Some(1.into()), Some(3.into())));
    assert_eq!(row.temperature_stddev, Some(1.into()));
    assert!(row.data_quality_score.is_some_and(|score| score < rust_decimal::Decimal::new(1, 1)), "{row:?}");
    // Late, out of order, and beyond what is plausible.
    take(ctx, vec![reading(one, at.plus_seconds(30), 100.0)]).await;
    world.clock.advance_millis(60_000);
    let report = roll(ctx).await;
    assert_eq!((report.hours, report.changed, report.measurements, report.days), (1, 1, 1, 1));
    let row = hour(&world, one, at).await.expect("an hour");
    assert_eq!((row.measurement_count, row.late_count, row.outlier_count), (3, 0, 1));
    assert_eq!(row.outliers[0]["reason"], "above_range");
    let day = telemetry::find_day(ctx, one, at.date()).await.expect("a day").expect("a day");
    assert_eq!((day.measurement_count, day.outlier_count), (3, 1));
    assert_eq!(day.metrics["temperature"], row.metrics["temperature"]);
}

async fn what_comes_after_raw_measurements_are_gone_is_added_once(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let one = sensor(ctx, "one").await.sensor_id;
    let at = hours_ago(ctx, 3);
    let first: Vec<_> = (0..20).map(|n| reading(one, at.plus_seconds(n * 60), n as f64)).collect();
    take(ctx, first.clone()).await;
    world.clock.advance_millis(HOUR_MILLIS);
    roll(ctx).await;
    world.clock.advance_millis(10 * DAY_MILLIS);
    let second: Vec<_> = (15..30).map(|n| reading(one, at.plus_seconds(n * 60), n as f64)).collect();
    for round in 0..3 {
        take(ctx, second.clone()).await;
        if round == 1 {
            take(ctx, first.clone()).await;
        }
        world.clock.advance_millis(2 * HOUR_MILLIS);
        roll(ctx).await;
        let row = hour(&world, one, at).await.expect("an hour");
        assert_eq!((row.measurement_count, row.late_count), (30, 10));
        let summary = row.metrics["temperature"].summary();
        assert_eq!((summary.count(), summary.min(), summary.max()), (30, Some(0.0), Some(29.0)));
        assert!((summary.mean().expect("a mean") - 14.5).abs() < 1e-9);
        world.clock.advance_millis(5 * DAY_MILLIS);
    }
}

async fn raw_measurements_end_and_roll_ups_stay(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let one = sensor(ctx, "one").await.sensor_id;
    let at = hours_ago(ctx, 1);
    take(ctx, (0..60).map(|n| reading(one, at.plus_seconds(n * 60), 5.0)).collect()).await;
    world.clock.advance_millis(HOUR_MILLIS);
    // Roll-ups stood still for two days.
    world.clock.advance_millis(2 * DAY_MILLIS);
    let asked = |resolution| SeriesRequest {
        from: at,
        to: at.plus_seconds(3_600),
        resolution,
        metric: None,
        page: PageRequest::first(100),
    };
    let raw = telemetry::read_series(ctx, one, asked(Resolution::Raw)).await.expect("a series");
    assert_eq!(raw.points.len(), 0, "a day is over");
    roll(ctx).await;
    let count = async |resolution| {
        let series = telemetry::read_series(ctx, one, asked(resolution)).await.expect("a series");
        (series.resolution, series.points.first().map(|point| point.measurement_count))
    };
    assert_eq!(count(Resolution::Auto).await, (Resolution::Hourly, Some(60)));
    world.clock.advance_millis(29 * DAY_MILLIS);
    assert_eq!(roll(ctx).await.hours, 0);
    assert_eq!(count(Resolution::Auto).await, (Resolution::Hourly, Some(60)));
    world.clock.advance_millis(2 * DAY_MILLIS);
    assert_eq!(count(Resolution::Hourly).await, (Resolution::Hourly, None));
    assert_eq!(count(Resolution::Auto).await, (Resolution::Daily, Some(60)));
    let day = telemetry::find_day(ctx, one, at.date()).await.expect("a day").expect("a day");
    assert_eq!((day.measurement_count, day.hourly_stats.len()), (60, 1));
    world.clock.advance_millis(340 * DAY_MILLIS);
    assert_eq!(telemetry::find_day(ctx, one, at.date()).await.expect("no error"), None, "a year is over");
}

async fn an_open_hour_is_marked_once_by_a_process(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let one = sensor(ctx, "one").await.sensor_id;
    let other = process(&world, target.engine());
    let at = hours_ago(ctx, -1);
    world.clock.advance_millis(at.millis() - ctx.now().millis());
    for n in 0..10 {
        take(ctx, vec![reading(one, at.plus_seconds(n), n as f64)]).await;
        take(&other, vec![reading(one, at.plus_seconds(n), 100.0 + n as f64)]).await;
    }
    world.clock.advance_millis(HOUR_MILLIS);
    take(ctx, vec![reading(one, at.plus_seconds(100), 1.0)]).await;
    world.clock.advance_millis(HOUR_MILLIS);
    let report = roll(ctx).await;
    assert_eq!((report.marks, report.measurements), (3, 21), "{report:?}");
}

async fn an_hour_that_is_marked_again_and_again_keeps_no_other_waiting(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let one = sensor(ctx, "one").await.sensor_id;
    // Two hours of the day before.
    let at = widerow::Date::from_days(ctx.now().date().days() - 1).start().plus_seconds(10 * 3_600);
    for _ in 0..401 {
        take(ctx, vec![reading(one, at, 1.0)]).await;
    }
    let next = at.plus_seconds(3_600);
    take(ctx, vec![reading(one, next, 2.0)]).await;
    world.clock.advance_millis(31_000);
    let report = telemetry::roll_up(ctx, RollLimits::default(), |_| {}).await.expect("rolled up");
    assert_eq!((report.measurements, report.failed), (2, 0), "{report:?}");
    assert!(hour(&world, one, next).await.is_some(), "{report:?}");
}

async fn what_is_too_young_to_be_rolled_up_is_told_with_its_time(target: &Target) {
    let world = World::new(target);
    // As on an engine where the rows of one write are seen one after the other.
    let options = Options { clock: world.clock.clone(), always_outbox: true, ..Options::default() };
    let store = Database::with_options(target.engine(), schema(), options).tenant(world.ctx.store.tenant().as_str());
    let ctx = &world.ctx.with_store(store.expect("a good name"));
    let one = sensor(ctx, "one").await.sensor_id;
    // A day that was over long ago, so that nothing else is marked.
    let at = widerow::Date::from_days(ctx.now().date().days() - 2).start().plus_seconds(10 * 3_600);
    take(ctx, vec![reading(one, at, 1.0), reading(one, at.plus_seconds(3_600), 2.0)]).await;
    let marked = ctx.now();
    let report = roll(ctx).await;
    assert_eq!((report.measurements, report.marks, report.waiting), (0, 0, 2), "{report:?}");
    assert_eq!(report.waits_until, Some(marked.plus_seconds(30)));
    world.clock.advance_millis(29_999);
    assert_eq!(roll(ctx).await.waiting, 2);
    world.clock.advance_millis(1);
    let report = roll(ctx).await;
    assert_eq!((report.measurements, report.marks, report.waiting), (2, 2, 0), "{report:?}");
    assert_eq!(report.waits_until, None);

    // The same again leaves its new mark at the row: of the former one nothing shows that it can go, before it is an hour old.
    let again = process(&world, target.engine());
    for _ in 0..2 {
        let ctx = &again.with_store(ctx.store.clone());
        take(ctx, vec![reading(one, at, 1.0)]).await;
    }
    let marked = ctx.now();
    world.clock.advance_millis(30_000);
    let report = roll(ctx).await;
    assert_eq!((report.marks, report.waiting), (1, 1), "{report:?}");
    assert_eq!(report.waits_until, Some(marked.plus_seconds(3_600)));
    world.clock.advance_millis(HOUR_MILLIS - 30_000);
    let report = roll(ctx).await;
    assert_eq!((report.marks, report.waiting, report.waits_until), (1, 0, None), "{report:?}");
}

/// So many measurements of an hour, through calls of as many as one takes.
async fn take_many(world: &World, one: SensorId, at: Timestamp, count: i64) {
    let all: Vec<_> =
        (0..count).map(|n| reading(one, Timestamp::from_millis(at.millis() + n * 30), (n % 7) as f64)).collect();
    for some in all.chunks(merkato::limits::MEASUREMENTS_TOGETHER_MAX) {
        take(&world.ctx, some.to_vec()).await;
    }
}

async fn what_an_hour_has_beyond_the_limit_is_told_as_left_out(target: &Target) {
    // The same on every engine, and long where there is a network between.
    if target.name != "embedded" {
        return;
    }
    let world = World::new(target);
    let one = sensor(&world.ctx, "one").await.sensor_id;
    let at = hours_ago(&world.ctx, 2);
    let all = merkato::limits::RAW_ROWS_MAX as i64 + 10_000;
    take_many(&world, one, at, all).await;
    world.clock.advance_millis(HOUR_MILLIS);
    let report = roll(&world.ctx).await;
    assert_eq!((report.measurements, report.left_out), (all as u64 - 10_000, 10_000), "{report:?}");
    let row = hour(&world, one, at).await.expect("an hour");
    assert_eq!(row.measurement_count, all - 10_000);
}

async fn the_check_looks_at_all_hours_of_a_busy_day(target: &Target) {
    if target.name != "embedded" {
        return;
    }
    let world = World::new(target);
    let ctx = &world.ctx;
    let one = sensor(ctx, "one").await.sensor_id;
    // More than one commit has digests for, and an hour behind them.
    let date = widerow::Date::from_days(ctx.now().date().days() - 1);
    for hour in 0..4 {
        take_many(&world, one, date.start().plus_seconds(hour * 3_600), 14_400).await;
    }
    let at = date.start().plus_seconds(20 * 3_600);
    take_many(&world, one, at, 10).await;
    world.clock.advance_millis(2 * HOUR_MILLIS);
    while telemetry::roll_up(ctx, RollLimits::default(), |_| {}).await.expect("rolled up").more {}
    assert_eq!(telemetry::verify_rolls(ctx, false).await.expect("verified").differences, []);
    // Somebody takes the figures of the last hour away.
    let torn = ctx.store.guarded_prefixes::<SensorDay, (), Error>((one, date), [0], |partition| {
        let mut figures = partition.rows[0].clone();
        figures.hours[4].base.clear();
        Ok((widerow::Commit::new().put(&figures), ()))
    });
    torn.await.expect("torn");
    assert!(hour(&world, one, at).await.is_some_and(|row| row.metrics.is_empty()));
    let found = telemetry::verify_rolls(ctx, true).await.expect("verified");
    assert_eq!((found.hours, found.differences.as_slice(), found.mended), (5, &[(one, date)][..], 1));
    assert_eq!(telemetry::verify_rolls(ctx, false).await.expect("verified").differences, []);
}
