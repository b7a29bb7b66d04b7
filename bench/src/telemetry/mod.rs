//! Measurements: how fast they come in beside PostgreSQL with the obvious table, in batches of the same size, each batch durable
//! and the same again changing nothing on both sides; and how long the charts of a sensor take where there are many.

mod charts;
mod theirs;

use std::{
    collections::{BTreeMap, VecDeque},
    future::Future,
    path::Path,
    sync::{Arc, Mutex},
};

use merkato::{
    Context, Settings,
    context::SystemChance,
    id::{MeasurementId, SensorId},
    telemetry::{self, Metric, NewMeasurement, NewSensor},
};
use uuid::Uuid;
use widerow::{
    Database, Timestamp,
    embedded::Embedded,
    time::{Clock as _, SystemClock},
};

use crate::measure::{Verdicts, duel};

const INGEST: &str = "telemetry: ingest beside PostgreSQL";
const FLOOR: f64 = 5.0;
const SENSORS: usize = 1_000;
const BATCH: usize = 1_000;
const CLIENTS: usize = 4;
/// Of each client in a round.
const BATCHES: usize = 10;

/// A shop in a folder.
async fn shop(folder: &Path) -> Context {
    let schema = || merkato::schema().expect("a schema");
    let database = Database::new(Embedded::open(folder, &schema()).expect("the folder opens"), schema());
    database.migrate().await.expect("tables");
    let store = database.tenant("bench").expect("a good name");
    Context::new(store, Settings::default(), Arc::new(SystemClock), Arc::new(SystemChance))
}

async fn sensors(ctx: &Context, count: usize) -> Vec<SensorId> {
    let mut sensors = Vec::with_capacity(count);
    for n in 0..count {
        let new = NewSensor {
            sensor_id: None,
            name: format!("sensor {n:05}"),
            kind: "bench".into(),
            location: None,
            metrics: BTreeMap::from([("temperature".to_owned(), Metric::default())]),
            interval_seconds: 60,
        };
        sensors.push(telemetry::register_sensor(ctx, new).await.expect("a sensor").sensor_id);
    }
    sensors
}

/// Three metrics, as the document has them, with two decimals.
fn measurement(sensor: SensorId, at: Timestamp, n: usize) -> NewMeasurement {
    let tenth = |n: usize| (n % 1_000) as f64 / 100.0;
    let mut new = NewMeasurement::new(sensor, at)
        .with("temperature", 4.0 + tenth(n * 7))
        .with("humidity", 40.0 + tenth(n * 13))
        .with("pressure", 1_000.0 + tenth(n * 3));
    new.measurement_id = Some(MeasurementId(Uuid::now_v7()));
    new
}

/// Made before the clock starts: whoever measures has them.
struct Batches(Mutex<VecDeque<Vec<NewMeasurement>>>);

impl Batches {
    /// Each has one measurement of each sensor, as a gateway sends them.
    fn new(sensors: &[SensorId], count: usize) -> Self {
        let now = SystemClock.now();
        let batch = |n: usize| {
            let at = now.plus_seconds(-(n as i64) % 3_000);
            sensors.iter().map(|sensor| measurement(*sensor, at, n)).take(BATCH).collect()
        };
        Batches(Mutex::new((0..count).map(batch).collect()))
    }

    fn next(&self) -> Vec<NewMeasurement> {
        self.0.lock().expect("no panic").pop_front().expect("enough for all rounds")
    }
}

/// All clients side by side: how many rows they wrote.
async fn many<F>(work: impl Fn(usize) -> F) -> usize
where
    F: Future<Output = usize> + Send + 'static,
{
    let tasks: Vec<_> = (0..CLIENTS).map(|client| tokio::spawn(work(client))).collect();
    let mut sum = 0;
    for task in tasks {
        sum += task.await.expect("no panic");
    }
    sum
}

/// Beside PostgreSQL.
pub async fn run(address: &str, quick: bool, verdicts: &mut Verdicts) {
    if !verdicts.wants(INGEST) {
        return;
    }
    println!();
    let rounds = if quick { 6 } else { 20 };
    let folder = tempfile::tempdir().expect("a folder");
    let ctx = shop(folder.path()).await;
    let sensors = sensors(&ctx, SENSORS).await;
    let count = (rounds + 2) * CLIENTS * BATCHES;
    let (ours, theirs) = (Arc::new(Batches::new(&sensors, count)), Arc::new(Batches::new(&sensors, count)));
    let table = theirs::Table::create(address).await;
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(Arc::new(table.client().await));
    }
    let ours = || {
        many(|_| {
            let (ctx, batches) = (ctx.clone(), ours.clone());
            async move {
                for _ in 0..BATCHES {
                    let answers = telemetry::ingest(&ctx, batches.next()).await.expect("answers");
                    assert!(answers.len() == BATCH && answers.iter().all(Result::is_ok));
                }
                BATCHES * BATCH
            }
        })
    };
    let theirs = || {
        many(|client| {
            let (client, batches) = (clients[client].clone(), theirs.clone());
            async move {
                for _ in 0..BATCHES {
                    assert_eq!(client.insert(&batches.next()).await, BATCH as u64);
                }
                BATCHES * BATCH
            }
        })
    };
    duel(INGEST, FLOOR, rounds, ours, theirs, verdicts).await;
    table.drop().await;
}

/// By itself.
pub async fn run_charts(quick: bool, verdicts: &mut Verdicts) {
    charts::run(quick, verdicts).await;
}
