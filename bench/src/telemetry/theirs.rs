//! The same measurements in PostgreSQL: one table with the document's columns and its key, a batch as one prepared statement over
//! arrays, which is the fastest insert that may meet the same row again.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use merkato::telemetry::NewMeasurement;
use rust_decimal::Decimal;
use tokio_postgres::{Config, Statement};
use uuid::Uuid;

use crate::postgres::connect;

/// A table of this run's own.
pub struct Table {
    config: Config,
    owner: tokio_postgres::Client,
    name: String,
}

pub struct Client {
    connection: tokio_postgres::Client,
    insert: Statement,
}

impl Table {
    pub async fn create(address: &str) -> Self {
        let config: Config = address.parse().expect("an address of PostgreSQL");
        let owner = connect(&config).await;
        let name = format!("sensor_data_raw_{}", std::process::id());
        let create = format!(
            "CREATE TABLE {name} (
               sensor_id uuid NOT NULL, measurement_time timestamptz NOT NULL, measurement_id uuid NOT NULL,
               temperature numeric, humidity numeric, pressure numeric, metadata jsonb,
               PRIMARY KEY (sensor_id, measurement_time, measurement_id)
             )"
        );
        owner.batch_execute(&create).await.expect("a table");
        Table { config, owner, name }
    }

    pub async fn client(&self) -> Client {
        let connection = connect(&self.config).await;
        let insert = format!(
            "INSERT INTO {} (sensor_id, measurement_time, measurement_id, temperature, humidity, pressure)
             SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::numeric[], $5::numeric[], $6::numeric[])
             ON CONFLICT DO NOTHING",
            self.name
        );
        let insert = connection.prepare(&insert).await.expect("a statement");
        Client { connection, insert }
    }

    pub async fn drop(self) {
        self.owner.batch_execute(&format!("DROP TABLE {}", self.name)).await.expect("gone");
    }
}

impl Client {
    /// How many were new.
    pub async fn insert(&self, batch: &[NewMeasurement]) -> u64 {
        let sensors: Vec<Uuid> = batch.iter().map(|new| new.sensor_id.0).collect();
        let times: Vec<SystemTime> = batch.iter().map(|new| time(new.measurement_time.millis())).collect();
        let ids: Vec<Uuid> = batch.iter().map(|new| new.measurement_id.expect("an id").0).collect();
        let column = |value: fn(&NewMeasurement) -> Option<f64>| -> Vec<Option<Decimal>> {
            batch.iter().map(|new| value(new).map(hundredths)).collect()
        };
        let (temperature, humidity, pressure) =
            (column(|new| new.temperature), column(|new| new.humidity), column(|new| new.pressure));
        let inserted =
            self.connection.execute(&self.insert, &[&sensors, &times, &ids, &temperature, &humidity, &pressure]).await;
        inserted.expect("inserted")
    }
}

/// The cheapest way for values that are known to have two decimals.
fn hundredths(value: f64) -> Decimal {
    Decimal::new((value * 100.0).round() as i64, 2)
}

fn time(millis: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(millis.unsigned_abs())
}
