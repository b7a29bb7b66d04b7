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

const FLOOR: f64 = 5.0;
const SENSORS: usize = 1_000;

/// Who sends: gateways of a few sensors each, many of them at once, up to a few that send for everybody.
const SHAPES: [Shape; 4] = [
    Shape { batch: 1, clients: 64, batches: 60 },
    Shape { batch: 10, clients: 64, batches: 30 },
    Shape { batch: 100, clients: 16, batches: 20 },
    Shape { batch: 1_000, clients: 4, batches: 10 },
];

#[derive(Clone, Copy)]
struct Shape {
    /// Measurements of one call.
    batch: usize,
    clients: usize,
    /// Of each client in a round.
    batches: usize,
}

impl Shape {
    fn name(self) -> String {
        format!("telemetry: ingest in batches of {}, {} clients", self.batch, self.clients)
    }
}

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
    // One division at the end: a sum of two such numbers is not always the number that has two decimals.
    let value = |from: usize, n: usize| (from * 100 + n % 1_000) as f64 / 100.0;
    let mut new = NewMeasurement::new(sensor, at)
        .with("temperature", value(4, n * 7))
        .with("humidity", value(40, n * 13))
        .with("pressure", value(1_000, n * 3));
    new.measurement_id = Some(MeasurementId(Uuid::now_v7()));
    new
}

/// Made before the clock starts: whoever measures has them.
struct Batches(Mutex<VecDeque<Vec<NewMeasurement>>>);

impl Batches {
    /// Each has one measurement of each sensor of a gateway.
    fn new(sensors: &[SensorId], shape: Shape, count: usize) -> Self {
        let now = SystemClock.now();
        let gateways = sensors.len() / shape.batch;
        let batch = |n: usize| {
            // Close together: what is of an hour that is over comes late, which is another question.
            let at = Timestamp::from_millis(now.millis() - (n / gateways) as i64 * 10);
            let sensors = sensors.iter().skip(n % gateways * shape.batch).take(shape.batch);
            sensors.map(|sensor| measurement(*sensor, at, n)).collect()
        };
        Batches(Mutex::new((0..count).map(batch).collect()))
    }

    fn next(&self) -> Vec<NewMeasurement> {
        self.0.lock().expect("no panic").pop_front().expect("enough for all rounds")
    }
}

/// All clients side by side: how many rows they wrote.
async fn many<F>(clients: usize, work: impl Fn(usize) -> F) -> usize
where
    F: Future<Output = usize> + Send + 'static,
{
    let tasks: Vec<_> = (0..clients).map(|client| tokio::spawn(work(client))).collect();
    let mut sum = 0;
    for task in tasks {
        sum += task.await.expect("no panic");
    }
    sum
}

/// Beside PostgreSQL.
pub async fn run(address: &str, quick: bool, verdicts: &mut Verdicts) {
    for shape in SHAPES {
        if verdicts.wants(&shape.name()) {
            println!();
            ingest(address, shape, if quick { 6 } else { 20 }, verdicts).await;
        }
    }
}

async fn ingest(address: &str, shape: Shape, rounds: usize, verdicts: &mut Verdicts) {
    let folder = tempfile::tempdir().expect("a folder");
    let ctx = shop(folder.path()).await;
    let sensors = sensors(&ctx, SENSORS).await;
    let Shape { batch, clients, batches } = shape;
    let count = (rounds + 2) * clients * batches;
    let batches_of = || Arc::new(Batches::new(&sensors, shape, count));
    let (ours, theirs) = (batches_of(), batches_of());
    let table = theirs::Table::create(address).await;
    let mut connections = Vec::new();
    for _ in 0..clients {
        connections.push(Arc::new(table.client().await));
    }
    let ours = || {
        many(clients, |_| {
            let (ctx, waiting) = (ctx.clone(), ours.clone());
            async move {
                for _ in 0..batches {
                    let answers = telemetry::ingest(&ctx, waiting.next()).await.expect("answers");
                    assert!(answers.len() == batch && answers.iter().all(Result::is_ok));
                }
                batches * batch
            }
        })
    };
    let theirs = || {
        many(clients, |client| {
            let (client, waiting) = (connections[client].clone(), theirs.clone());
            async move {
                for _ in 0..batches {
                    assert_eq!(client.insert(&waiting.next()).await, batch as u64);
                }
                batches * batch
            }
        })
    };
    duel(&shape.name(), FLOOR, rounds, ours, theirs, verdicts).await;
    table.drop().await;
}

/// By itself.
pub async fn run_charts(quick: bool, verdicts: &mut Verdicts) {
    charts::run(quick, verdicts).await;
}
