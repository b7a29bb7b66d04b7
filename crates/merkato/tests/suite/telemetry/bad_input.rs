//! Bad input is refused by name, and writes nothing.

use std::collections::BTreeMap;

use merkato::{
    Kind, PageRequest,
    telemetry::{
        self, ChartRequest, Error, Metric, NewMeasurement, NewSensor, RawMeasurement, Resolution, SeriesRequest,
        WindowsRequest,
    },
};
use widerow::{Row as _, Timestamp};
use widerow_testing::Target;

use super::{hours_ago, reading, sensor};
use crate::world::{World, raw_rows};

widerow_testing::cases![bad_measurements_take_no_others_along, bad_sensors_and_questions_are_refused];

async fn bad_measurements_take_no_others_along(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let one = sensor(ctx, "one").await.sensor_id;
    let at = hours_ago(ctx, 0);
    let good = || reading(one, at, 4.0);
    let far = merkato::id::SensorId(uuid::Uuid::nil());
    let text = |name: &str, text: &str| BTreeMap::from([(name.to_owned(), text.to_owned())]);
    let many = (0..11).map(|n| (format!("n{n}"), String::from("x"))).collect();
    let bad: Vec<(NewMeasurement, &str)> = vec![
        (reading(one, at, f64::NAN), "temperature: NaN"),
        (reading(one, at, f64::INFINITY), "temperature: inf"),
        (reading(one, at, -1e300), "the limit is 1e15"),
        (good().with("power", f64::NEG_INFINITY), "metrics/power: -inf"),
        (good().with("volume", 1.0), "measures no volume"),
        (NewMeasurement { metrics: BTreeMap::from([("humidity".into(), 1.0)]), ..good() }, "a field of its own"),
        (NewMeasurement { temperature: None, ..good() }, "it measures nothing"),
        (NewMeasurement { measurement_time: Timestamp::from_millis(-1), ..good() }, "before 1970"),
        (NewMeasurement { measurement_time: ctx.now().plus_seconds(301), ..good() }, "more than 300 seconds"),
        (NewMeasurement { measurement_time: Timestamp::from_millis(i64::MAX), ..good() }, "more than 300 seconds"),
        (NewMeasurement { metadata: text("note", &"x".repeat(201)), ..good() }, "the limit is 200"),
        (NewMeasurement { metadata: text(&"n".repeat(65), "x"), ..good() }, "the limit is 64"),
        (NewMeasurement { metadata: many, ..good() }, "the limit is 10"),
        (NewMeasurement { sensor_id: far, ..good() }, "there is no sensor"),
    ];
    let mut all: Vec<NewMeasurement> = vec![good()];
    all.extend(bad.iter().map(|(new, _)| new.clone()));
    all.push(reading(one, at.plus_seconds(1), 4.5));
    let answers = telemetry::ingest(ctx, all).await.expect("answers");
    assert_eq!(answers.len(), bad.len() + 2);
    for ((new, problem), answer) in bad.iter().zip(&answers[1..]) {
        let error = answer.as_ref().expect_err(problem).to_string();
        assert!(error.contains(problem), "{new:?}: {error}");
    }
    assert!(answers[0].is_ok() && answers.last().is_some_and(Result::is_ok));
    assert_eq!(raw_rows(&world, RawMeasurement::table()).await.len(), 2);
    let refused = telemetry::ingest(ctx, vec![good(); 10_001]).await.expect_err("too many");
    assert!(matches!(refused, Error::TooLarge { size: 10_001, limit: 10_000, .. }), "{refused:?}");
}

async fn bad_sensors_and_questions_are_refused(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let metric = |name: &str, min, max| BTreeMap::from([(name.to_owned(), Metric { unit: None, min, max })]);
    let good = || NewSensor {
        sensor_id: None,
        name: "one".into(),
        kind: "x".into(),
        location: None,
        metrics: BTreeMap::new(),
        interval_seconds: 60,
    };
    let many = (0..25).map(|n| (format!("m{n}"), Metric::default())).collect();
    let bad = [
        (NewSensor { name: " ".into(), ..good() }, "name"),
        (NewSensor { kind: "a\nb".into(), ..good() }, "kind"),
        (NewSensor { interval_seconds: 0, ..good() }, "interval_seconds"),
        (NewSensor { metrics: metric("Bad name", None, None), ..good() }, "metrics/Bad name"),
        (NewSensor { metrics: metric(&"x".repeat(65), None, None), ..good() }, "the limit is 64"),
        (NewSensor { metrics: metric("power", Some(f64::NAN), None), ..good() }, "metrics/power/min"),
        (NewSensor { metrics: metric("power", Some(2.0), Some(1.0)), ..good() }, "metrics/power/max"),
        (NewSensor { metrics: many, ..good() }, "the limit is 24"),
    ];
    for (new, problem) in bad {
        let error = telemetry::register_sensor(ctx, new).await.expect_err(problem);
        assert!(error.kind() == Kind::Invalid && error.to_string().contains(problem), "{error}");
    }
    let one = telemetry::register_sensor(ctx, good()).await.expect("a sensor");
    let same = NewSensor { sensor_id: Some(one.sensor_id), ..good() };
    assert_eq!(telemetry::register_sensor(ctx, same.clone()).await.expect("the same"), one);
    let other = telemetry::register_sensor(ctx, NewSensor { kind: "y".into(), ..same }).await;
    assert!(matches!(other, Err(Error::SensorExists { .. })), "{other:?}");

    let (from, to) = (hours_ago(ctx, 2), hours_ago(ctx, 1));
    let series = |from, to, limit| SeriesRequest {
        from,
        to,
        resolution: Resolution::Auto,
        metric: None,
        page: PageRequest::first(limit),
    };
    for (asked, problem) in [
        (series(to, from, 10), "to: it is not after"),
        (series(from, from, 10), "to: it is not after"),
        (series(Timestamp::from_millis(0), to, 10), "the limit is 3660"),
        (series(from, to, 0), "limit"),
        (series(Timestamp::from_millis(i64::MIN), to, 10), "years 0000 to 9999"),
    ] {
        let error = telemetry::read_series(ctx, one.sensor_id, asked).await.expect_err(problem);
        assert!(error.to_string().contains(problem), "{error}");
    }
    let made_up = SeriesRequest {
        page: PageRequest { limit: 10, cursor: Some("00ff".to_owned().into()) },
        ..series(from, to, 10)
    };
    assert_eq!(telemetry::read_series(ctx, one.sensor_id, made_up).await.expect_err("refused").kind(), Kind::Invalid);
    let chart = |metric: &str, points_max| ChartRequest {
        from,
        to,
        resolution: Resolution::Raw,
        metric: metric.into(),
        points_max,
    };
    let refused = telemetry::chart(ctx, one.sensor_id, chart("volume", 100)).await;
    assert!(matches!(refused, Err(Error::UnknownMetric { .. })), "{refused:?}");
    assert!(telemetry::chart(ctx, one.sensor_id, chart("temperature", 1)).await.is_err());
    let windows = |size_seconds, step_seconds, last| WindowsRequest {
        size_seconds,
        step_seconds,
        metric: "temperature".into(),
        last,
    };
    for asked in [windows(0, 60, 3), windows(60, 0, 3), windows(60, 60, 1_000_000), windows(90, 90 * 3_600, 3)] {
        let refused = telemetry::windows(ctx, one.sensor_id, asked).await.expect_err("refused");
        assert!(matches!(refused.kind(), Kind::Invalid | Kind::Limit), "{refused}");
    }
}
