//! Series, charts, windows, sparklines: against a plain list.

use merkato::{
    PageRequest,
    telemetry::{self, ChartRequest, NewMeasurement, Resolution, SeriesRequest, WindowsRequest, figures},
};
use widerow::Timestamp;
use widerow_testing::Target;

use super::{DAY_MILLIS, HOUR_MILLIS, hours_ago, reading, roll, sensor, take};
use crate::world::World;

widerow_testing::cases![
    pages_of_many_hours_come_in_order_each_once,
    the_hour_and_the_day_that_go_on_are_no_gaps,
    what_was_measured_is_no_gap_where_finer_rows_have_ended,
    a_chart_keeps_the_shape_and_the_gaps,
    windows_are_those_of_a_plain_list,
    the_latest_of_many_sensors,
    a_day_unlike_the_days_before_is_told,
    a_sensor_that_falls_silent_is_told_when_its_day_is_over,
];

fn asked(from: Timestamp, to: Timestamp, resolution: Resolution, page: PageRequest) -> SeriesRequest {
    SeriesRequest { from, to, resolution, metric: None, page }
}

async fn pages_of_many_hours_come_in_order_each_once(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let one = sensor(ctx, "one").await.sensor_id;
    let from = hours_ago(ctx, 6);
    // Every seven minutes, two at once now and then, and nothing in the third hour.
    let mut times = Vec::new();
    for minute in (0..360).step_by(7).filter(|minute| !(120..180).contains(minute)) {
        times.push(from.plus_seconds(minute * 60));
        if minute % 5 == 0 {
            times.push(from.plus_seconds(minute * 60));
        }
    }
    let some = times.iter().enumerate().map(|(n, at)| reading(one, *at, n as f64)).rev();
    take(ctx, some.collect()).await;
    let mut all_gaps = Vec::new();
    for limit in [100, 1, 3, 10] {
        let (mut found, mut gaps, mut cursor) = (Vec::new(), Vec::new(), None);
        loop {
            let page = PageRequest { limit, cursor };
            let request = asked(from, hours_ago(ctx, 0), Resolution::Auto, page);
            let series = telemetry::read_series(ctx, one, request).await.expect("a page");
            assert_eq!(series.resolution, Resolution::Raw);
            assert!(series.next.is_none() || series.points.len() == limit);
            gaps.extend(series.gaps);
            found.extend(series.points.into_iter().map(|point| (point.at, point.measurement_id)));
            cursor = series.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(found.iter().map(|(at, _)| *at).collect::<Vec<_>>(), times);
        found.dedup();
        assert_eq!(found.len(), times.len());
        // Of a sensor that should send every minute, everything between two of them is a gap.
        if limit == 100 {
            assert!(gaps.len() > 40, "{gaps:?}");
            all_gaps = gaps;
        } else {
            assert_eq!(gaps, all_gaps, "none is lost between two pages of {limit}");
        }
    }
    // Not every measurement has a metric that is asked for, and a page of others loses no gap either.
    let metric = Some("power".to_owned());
    let (first, middle) = (times[0], times[times.len() / 2]);
    take(ctx, [first, middle].map(|at| NewMeasurement::new(one, at).with("power", 1.0)).into()).await;
    let gaps = async |limit| {
        let (mut gaps, mut cursor) = (Vec::new(), None);
        loop {
            let page = PageRequest { limit, cursor };
            let request = asked(from, hours_ago(ctx, 0), Resolution::Raw, page);
            let request = SeriesRequest { metric: metric.clone(), ..request };
            let series = telemetry::read_series(ctx, one, request).await.expect("a page");
            gaps.extend(series.gaps);
            cursor = series.next;
            if cursor.is_none() {
                return gaps;
            }
        }
    };
    let spans: Vec<_> = gaps(3).await.iter().map(|gap| (gap.from, gap.to)).collect();
    assert_eq!(spans, [(first, middle), (middle, hours_ago(ctx, 0))]);
    assert_eq!(gaps(3).await, gaps(100).await);
    let request = asked(from, hours_ago(ctx, 0), Resolution::Raw, PageRequest::first(3));
    let unknown = SeriesRequest { metric: Some("volume".into()), ..request };
    let refused = telemetry::read_series(ctx, one, unknown).await;
    assert!(matches!(refused, Err(telemetry::Error::UnknownMetric { .. })), "{refused:?}");
    // A cursor is good for its own question.
    let page = PageRequest::first(3);
    let series = telemetry::read_series(ctx, one, asked(from, hours_ago(ctx, 0), Resolution::Raw, page)).await;
    let cursor = series.expect("a page").next;
    let other = asked(from, hours_ago(ctx, 1), Resolution::Raw, PageRequest { limit: 3, cursor });
    assert!(telemetry::read_series(ctx, one, other).await.is_err());
    world.clock.advance_millis(2 * HOUR_MILLIS);
    roll(ctx).await;
    let request = asked(from, hours_ago(ctx, 0), Resolution::Hourly, PageRequest::first(2));
    let first = telemetry::read_series(ctx, one, request.clone()).await.expect("a page");
    let request = SeriesRequest { page: PageRequest { limit: 10, cursor: first.next }, ..request };
    let second = telemetry::read_series(ctx, one, request).await.expect("a page");
    let counts: Vec<i64> = first.points.iter().chain(&second.points).map(|point| point.measurement_count).collect();
    assert_eq!((counts.len(), counts.iter().sum::<i64>()), (5, times.len() as i64 + 2));
    let request = asked(from, hours_ago(ctx, 0), Resolution::Daily, PageRequest::first(2));
    let days = telemetry::read_series(ctx, one, request).await.expect("a page").points;
    assert_eq!(days.iter().map(|point| point.measurement_count).sum::<i64>(), times.len() as i64 + 2);
}

async fn the_hour_and_the_day_that_go_on_are_no_gaps(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let one = sensor(ctx, "one").await.sensor_id;
    // A quarter to eleven of the next day.
    let today = widerow::Date::from_days(ctx.now().date().days() + 1).start();
    let until = |minute: i64| world.clock.advance_millis(today.millis() + minute * 60_000 - ctx.now().millis());
    until(10 * 60 + 45);
    let from = today.plus_seconds(-12 * 3_600);
    let measure = |minutes: std::ops::Range<i64>| {
        minutes.map(|minute| reading(one, today.plus_seconds(minute * 60), 4.0)).collect::<Vec<_>>()
    };
    take(ctx, measure(-720..645)).await;
    world.clock.advance_millis(40_000);
    roll(ctx).await;
    let gaps = async |from: Timestamp, resolution| {
        let request = asked(from, ctx.now(), resolution, PageRequest::first(100));
        let series = telemetry::read_series(ctx, one, request).await.expect("a series").gaps;
        let metric = "temperature".to_owned();
        let request = ChartRequest { from, to: ctx.now(), resolution, metric, points_max: 100 };
        assert_eq!(telemetry::chart(ctx, one, request).await.expect("a chart").gaps, series);
        series
    };
    assert_eq!(gaps(from, Resolution::Hourly).await, []);
    assert_eq!(gaps(from.plus_seconds(1_800), Resolution::Hourly).await, []);
    assert_eq!(gaps(from, Resolution::Daily).await, []);
    // An hour that has just ended is rolled up in a moment.
    until(11 * 60);
    take(ctx, measure(645..660)).await;
    until(11 * 60 + 3);
    assert_eq!(gaps(from, Resolution::Hourly).await, []);
    world.clock.advance_millis(40_000);
    roll(ctx).await;
    // One in which nothing came is a gap when it is over.
    until(12 * 60 + 30);
    let [gap] = gaps(from, Resolution::Hourly).await[..] else { panic!("no gap") };
    assert_eq!((gap.from, gap.to, gap.missing), (today.plus_seconds(10 * 3_600), today.plus_seconds(12 * 3_600), 1));
}

async fn what_was_measured_is_no_gap_where_finer_rows_have_ended(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let one = sensor(ctx, "one").await.sensor_id;
    let every = telemetry::SensorChange { interval_seconds: Some(3_600), ..Default::default() };
    telemetry::update_sensor(ctx, one, None, every).await.expect("changed");
    let today = ctx.now().date().start();
    // Sixty days, each rolled up when it is over.
    for day in 0..60 {
        let start = today.plus_seconds(day * 86_400);
        world.clock.advance_millis(start.plus_seconds(86_400 + 300).millis() - ctx.now().millis());
        take(ctx, (0..24).map(|hour| reading(one, start.plus_seconds(hour * 3_600), hour as f64)).collect()).await;
        world.clock.advance_millis(60_000);
        roll(ctx).await;
    }
    let windows = |size_seconds, last| {
        telemetry::windows(
            ctx,
            one,
            WindowsRequest { size_seconds, step_seconds: size_seconds, metric: "temperature".into(), last },
        )
    };
    let counts = |windows: Vec<figures::Window>| windows.iter().map(|w| w.summary.count()).collect::<Vec<_>>();
    assert_eq!(counts(windows(7 * 86_400, 8).await.expect("windows")), [7 * 24; 8]);
    assert_eq!(counts(windows(12 * 3_600, 56).await.expect("windows of hours")), [12; 56]);
    let refused = windows(12 * 3_600, 100).await.expect_err("hours have ended");
    assert!(refused.to_string().contains("whole days"), "{refused}");

    let auto = async |from: Timestamp, to: Timestamp| {
        let request = asked(from, to, Resolution::Auto, PageRequest::first(100));
        let series = telemetry::read_series(ctx, one, request).await.expect("a series");
        let metric = "temperature".to_owned();
        let request = ChartRequest { from, to, resolution: Resolution::Auto, metric, points_max: 100 };
        let chart = telemetry::chart(ctx, one, request).await.expect("a chart");
        assert_eq!((chart.resolution, &chart.gaps), (series.resolution, &series.gaps));
        assert_eq!(series.gaps, [], "{:?} from {from} to {to}", series.resolution);
        series.resolution
    };
    let ago = |days: i64| ctx.now().plus_seconds(-days * 86_400);
    assert_eq!(auto(ago(40), ago(12)).await, Resolution::Daily);
    assert_eq!(auto(ago(28), ago(12)).await, Resolution::Hourly);
    // What came late keeps its own hour for longer, and no other.
    take(ctx, vec![reading(one, hours_ago(ctx, 40 * 24), 1.0)]).await;
    world.clock.advance_millis(60_000);
    roll(ctx).await;
    assert_eq!(auto(ago(40), ago(12)).await, Resolution::Daily);
    // Fifty minutes of this time are behind the raw measurements.
    let seconds_ago = |seconds: i64| ctx.now().plus_seconds(-seconds);
    assert_eq!(auto(seconds_ago(86_400 + 3_000), seconds_ago(3_000)).await, Resolution::Hourly);
    assert_eq!(auto(seconds_ago(86_400 + 30), seconds_ago(3_000)).await, Resolution::Raw);
}

async fn a_chart_keeps_the_shape_and_the_gaps(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let one = sensor(ctx, "one").await.sensor_id;
    let from = hours_ago(ctx, 12);
    // A wave with one spike, and nothing for two hours.
    let minutes = (0..720).filter(|minute| !(300..420).contains(minute));
    let value = |minute: i64| if minute == 500 { 90.0 } else { (minute as f64 / 60.0).sin() };
    take(ctx, minutes.map(|minute| reading(one, from.plus_seconds(minute * 60), value(minute))).collect()).await;
    let request = ChartRequest {
        from,
        to: hours_ago(ctx, 0),
        resolution: Resolution::Auto,
        metric: "temperature".into(),
        points_max: 80,
    };
    let chart = telemetry::chart(ctx, one, request.clone()).await.expect("a chart");
    assert_eq!((chart.resolution, chart.lines.len(), chart.gaps.len()), (Resolution::Raw, 2, 1));
    let points: Vec<_> = chart.lines.iter().flatten().collect();
    assert!((20..=80).contains(&points.len()), "{}", points.len());
    assert!(points.iter().any(|point| point.value == 90.0) && points.is_sorted_by_key(|point| point.at));
    assert_eq!((chart.summary.count(), chart.summary.max()), (600, Some(90.0)));
    assert_eq!(chart.marks.iter().map(|mark| mark.value).collect::<Vec<_>>(), [90.0]);
    world.clock.advance_millis(HOUR_MILLIS);
    roll(ctx).await;
    let request = ChartRequest { resolution: Resolution::Hourly, ..request };
    let chart = telemetry::chart(ctx, one, request).await.expect("a chart");
    assert_eq!((chart.lines.len(), chart.lines.iter().flatten().count()), (2, 10));
    assert_eq!(chart.lines.iter().flatten().map(|point| point.max).fold(f64::MIN, f64::max), 90.0);
    assert!(chart.quality.is_some_and(|quality| quality > 0.9), "{:?}", chart.quality);
    assert_eq!(chart.marks.len(), 1);
}

async fn windows_are_those_of_a_plain_list(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let one = sensor(ctx, "one").await.sensor_id;
    let now = ctx.now();
    let all: Vec<(Timestamp, f64)> = (1..200).map(|n| (now.plus_seconds(-n * 77), (n * n % 31) as f64)).collect();
    take(ctx, all.iter().map(|(at, value)| reading(one, *at, *value)).collect()).await;
    let request = |size_seconds, step_seconds, last| WindowsRequest {
        size_seconds,
        step_seconds,
        metric: "temperature".into(),
        last,
    };
    let found = telemetry::windows(ctx, one, request(1_800, 600, 24)).await.expect("windows");
    assert_eq!(found.len(), 24);
    for (n, window) in found.iter().rev().enumerate() {
        let to = now.plus_seconds(-600 * n as i64);
        let from = to.plus_seconds(-1_800);
        assert_eq!((window.from, window.to), (from, to));
        let inside: Vec<f64> = all.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, value)| *value).collect();
        assert_eq!(window.summary.count(), inside.len() as u64);
        let mean = (!inside.is_empty()).then(|| inside.iter().sum::<f64>() / inside.len() as f64);
        assert!(mean.zip(window.summary.mean()).is_none_or(|(a, b)| (a - b).abs() < 1e-9));
        assert_eq!(mean.is_some(), window.summary.mean().is_some());
    }
    world.clock.advance_millis(2 * HOUR_MILLIS);
    roll(ctx).await;
    let found = telemetry::windows(ctx, one, request(2 * 3_600, 3_600, 30)).await.expect("windows");
    let last = hours_ago(ctx, 0);
    assert!(found.last().is_some_and(|window| window.to == last || window.to == last.plus_seconds(-3_600)));
    // Each hour is in two windows, but those at the end of time.
    assert!(found.iter().map(|window| window.summary.count()).sum::<u64>() >= 199);
}

async fn the_latest_of_many_sensors(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let mut sensors = Vec::new();
    for n in 0..5 {
        sensors.push(sensor(ctx, &format!("sensor {n}")).await.sensor_id);
    }
    let hours = (1..4).flat_map(|hour| sensors.iter().map(move |sensor| (hour, *sensor)));
    take(ctx, hours.map(|(hour, sensor)| reading(sensor, hours_ago(ctx, hour), hour as f64)).collect()).await;
    world.clock.advance_millis(HOUR_MILLIS);
    roll(ctx).await;
    let now = ctx.now();
    take(ctx, sensors[..4].iter().map(|sensor| reading(*sensor, now.plus_seconds(-120), 7.0)).collect()).await;
    let found = telemetry::latest(ctx, &sensors).await.expect("the latest");
    assert_eq!(found.iter().map(|latest| latest.sensor_id).collect::<Vec<_>>(), sensors);
    for latest in &found[..4] {
        assert_eq!(latest.last.as_ref().and_then(|row| row.value("temperature")), Some(7.0));
        assert_eq!((latest.hours.len(), latest.missing), (3, Some(2)));
        assert!(latest.hours.is_sorted_by_key(|hour| hour.hour_bucket));
    }
    assert!(found[4].missing.is_some_and(|missing| missing >= 60), "{:?}", found[4].missing);
    let nobody = merkato::id::SensorId(uuid::Uuid::nil());
    assert!(matches!(telemetry::latest(ctx, &[nobody]).await, Err(telemetry::Error::SensorNotFound { .. })));
}

async fn a_day_unlike_the_days_before_is_told(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let one = sensor(ctx, "one").await.sensor_id;
    let every = telemetry::SensorChange { interval_seconds: Some(600), ..Default::default() };
    telemetry::update_sensor(ctx, one, None, every).await.expect("changed");
    let today = ctx.now().date();
    // A store at four degrees, and on the last day its door is open from noon on, far beyond what is plausible at the end.
    let mut some = Vec::new();
    for day in 1..=8 {
        let start = widerow::Date::from_days(today.days() - day).start();
        for step in 0..24 * 6 {
            let open = day == 1 && step >= 12 * 6;
            let warm = if open { 40.0 + (step - 72) as f64 } else { 0.0 };
            let noise = ((step * 7 + day as i64 * 13) % 11) as f64 / 10.0;
            some.push(reading(one, start.plus_seconds(step * 600), 4.0 + noise + warm));
        }
    }
    take(ctx, some).await;
    world.clock.advance_millis(2 * HOUR_MILLIS);
    roll(ctx).await;
    let first = widerow::Date::from_days(today.days() - 8);
    let days = telemetry::list_days(ctx, one, (first, today), PageRequest::default()).await.expect("days").rows;
    assert_eq!(days.len(), 8);
    assert!(days[0].anomalies_detected >= 10, "{:?}", days[0].anomalies);
    assert!(days[0].anomalies.iter().all(|anomaly| anomaly.hour >= 12), "{:?}", days[0].anomalies);
    assert!(days[0].maintenance_required, "{:?}", days[0].summary_metadata);
    assert!(days[0].summary_metadata["maintenance_reason"].contains("out of range"), "{:?}", days[0].summary_metadata);
    for day in &days[1..] {
        assert!(day.anomalies_detected == 0 && !day.maintenance_required, "{:?}", day.summary_metadata);
    }
}

async fn a_sensor_that_falls_silent_is_told_when_its_day_is_over(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let (followed, left_alone) = (sensor(ctx, "followed").await.sensor_id, sensor(ctx, "left alone").await.sensor_id);
    for one in [followed, left_alone] {
        let every = telemetry::SensorChange { interval_seconds: Some(600), ..Default::default() };
        telemetry::update_sensor(ctx, one, None, every).await.expect("changed");
    }
    // Two minutes past six of a day, of which the last measurement is of ten to six, after eight days as usual.
    let last = widerow::Date::from_days(ctx.now().date().days() + 1);
    let until = |at: Timestamp| world.clock.advance_millis(at.millis() - ctx.now().millis());
    until(last.start().plus_seconds(6 * 3_600 + 180));
    let of = |one, steps: std::ops::Range<i64>| {
        let value = |step: i64| 4.0 + (step * 7).rem_euclid(11) as f64 / 10.0;
        steps.map(move |step| reading(one, last.start().plus_seconds(step * 600), value(step))).collect::<Vec<_>>()
    };
    take(ctx, of(followed, -8 * 144..36)).await;
    // So that engines which show a commit row by row have shown all of it.
    world.clock.advance_millis(60_000);
    roll(ctx).await;
    let day = async |one| telemetry::find_day(ctx, one, last).await.expect("no error").expect("a day");
    let so_far = day(followed).await;
    assert!(so_far.anomalies.is_empty() && !so_far.maintenance_required, "{so_far:?}");
    assert_eq!(roll(ctx).await.marks, 0, "nothing is to be done before the day is over");

    until(last.start().plus_seconds(25 * 3_600 + 180));
    take(ctx, of(left_alone, -8 * 144..36)).await;
    world.clock.advance_millis(60_000);
    roll(ctx).await;
    let (followed, left_alone) = (day(followed).await, day(left_alone).await);
    assert_eq!(followed.anomalies.iter().filter(|anomaly| anomaly.kind == "silent").count(), 18, "{followed:?}");
    assert!(followed.maintenance_required, "{followed:?}");
    assert_eq!(followed, telemetry::DailyData { sensor_id: followed.sensor_id, ..left_alone });
    assert_eq!(roll(ctx).await.marks, 0, "nothing is left to be done");
    world.clock.advance_millis(DAY_MILLIS);
    assert_eq!(roll(ctx).await.marks, 0, "a day that is over is not marked again");
}
