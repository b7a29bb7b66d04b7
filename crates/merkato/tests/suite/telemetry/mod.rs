//! Sensors and their measurements, on every engine.

use std::{collections::BTreeMap, sync::Arc};

use merkato::{
    Context, Settings,
    context::SystemChance,
    id::SensorId,
    telemetry::{self, Metric, NewMeasurement, NewSensor, RollLimits, RollReport, Sensor},
};
use widerow::{
    Database, Engine, Options, Timestamp,
    faulty::{Faults, Faulty},
    time::Clock,
};
use widerow_testing::Target;

use crate::world::{World, schema};

pub mod bad_input;
pub mod costs;
pub mod ingest;
pub mod model;
pub mod nab;
pub mod reads;

pub const HOUR_MILLIS: i64 = 3_600_000;
pub const DAY_MILLIS: i64 = 24 * HOUR_MILLIS;

/// One measurement a minute, of a temperature that is plausible from -30 to 60, and of `power`.
pub async fn sensor(ctx: &Context, name: &str) -> Sensor {
    let metrics = BTreeMap::from([
        ("temperature".to_owned(), Metric { unit: Some("°C".into()), min: Some(-30.0), max: Some(60.0) }),
        ("power".to_owned(), Metric::default()),
    ]);
    let new = NewSensor {
        sensor_id: None,
        name: name.into(),
        kind: "cold_store".into(),
        location: Some("Hamburg, hall 2".into()),
        metrics,
        interval_seconds: 60,
    };
    telemetry::register_sensor(ctx, new).await.expect("a sensor")
}

/// Where the hour begins that is so many hours before this one.
pub fn hours_ago(ctx: &Context, hours: i64) -> Timestamp {
    Timestamp::from_millis(ctx.now().millis().div_euclid(HOUR_MILLIS) * HOUR_MILLIS - hours * HOUR_MILLIS)
}

pub fn reading(sensor: SensorId, at: Timestamp, temperature: f64) -> NewMeasurement {
    NewMeasurement::new(sensor, at).with("temperature", temperature)
}

/// Takes all of them.
pub async fn take(ctx: &Context, measurements: Vec<NewMeasurement>) {
    for answer in telemetry::ingest(ctx, measurements).await.expect("answers") {
        answer.expect("taken");
    }
}

pub async fn roll(ctx: &Context) -> RollReport {
    let report = telemetry::roll_up(ctx, RollLimits::default(), |_| {}).await.expect("rolled up");
    assert_eq!((report.failed, report.more), (0, false), "{report:?}");
    report
}

/// The same shop in another process, which stops after so many steps.
pub fn dying(target: &Target, world: &World, steps: u64) -> (Context, Arc<Faulty<Arc<dyn Engine>>>) {
    let faults = Faults { stop_after_steps: Some(steps), ..Faults::default() };
    let faulty = Arc::new(Faulty::new(target.engine(), faults));
    (process(world, faulty.clone()), faulty)
}

/// The same shop in another process.
pub fn process(world: &World, engine: impl Engine) -> Context {
    let options = Options { clock: world.clock.clone() as Arc<dyn Clock>, ..Options::default() };
    let database = Database::with_options(engine, schema(), options);
    let store = database.tenant(world.ctx.store.tenant().as_str()).expect("a good name");
    let settings = Settings::clone(&world.ctx.settings);
    Context::new(store, settings, world.clock.clone(), Arc::new(SystemChance))
}
