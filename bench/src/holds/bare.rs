//! A hold as one conditional write through the bare driver: the stock is two numbers of the product's partition, and the hold's
//! own row, by which it is released or confirmed, goes into the same batch.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use scylla::{
    client::session::Session,
    statement::{Consistency, SerialConsistency, prepared::PreparedStatement},
    value::{CqlTimestamp, CqlValue, Row},
};
use tokio::sync::Mutex;
use uuid::Uuid;
use widerow::time::{Clock as _, SystemClock};

use super::{CLIENTS, STOCK};
use crate::measure::{self, Contender};

/// How the clients keep out of each other's way.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// They do not: each reads, writes if nothing has changed since, and tries again with what was found instead.
    Retried,
    /// One after the other, by a queue of the process, which knows what it has written last: no write is ever refused.
    Queued,
}

#[derive(Clone)]
pub struct Bare {
    session: Arc<Session>,
    read: PreparedStatement,
    write: PreparedStatement,
    product: Uuid,
    way: Way,
    /// What the process has written last.
    queue: Arc<Mutex<i32>>,
    held: i32,
    /// Writes without an answer, which may have been made.
    unknown: Arc<std::sync::atomic::AtomicI32>,
}

impl Bare {
    pub async fn load(session: Arc<Session>, keyspace: &str, way: Way) -> Self {
        let table = format!("{keyspace}.stock_{}", format!("{way:?}").to_lowercase());
        let create = format!(
            "CREATE TABLE {table} (product_id uuid, hold_id uuid, quantity int static, reserved int static, units int,
             ends_at timestamp, PRIMARY KEY (product_id, hold_id))"
        );
        session.query_unpaged(create, ()).await.expect("a table");
        session.await_schema_agreement().await.expect("an agreement");
        let product = Uuid::now_v7();
        let insert = format!("INSERT INTO {table} (product_id, quantity, reserved) VALUES (?, ?, 0) IF NOT EXISTS");
        session.query_unpaged(insert, (product, STOCK)).await.expect("stock");
        let read = format!("SELECT quantity, reserved FROM {table} WHERE product_id = ? LIMIT 1");
        let mut read = session.prepare(read).await.expect("a statement");
        read.set_consistency(Consistency::Serial);
        let write = format!(
            "BEGIN UNLOGGED BATCH
             UPDATE {table} SET reserved = ? WHERE product_id = ? IF reserved = ?;
             INSERT INTO {table} (product_id, hold_id, units, ends_at) VALUES (?, ?, 1, ?);
             APPLY BATCH"
        );
        let mut write = session.prepare(write).await.expect("a statement");
        write.set_consistency(Consistency::LocalQuorum);
        write.set_serial_consistency(Some(SerialConsistency::Serial));
        Bare { session, read, write, product, way, queue: Arc::default(), held: 0, unknown: Arc::default() }
    }

    pub async fn check(&self) {
        let most = self.held + self.unknown.load(std::sync::atomic::Ordering::SeqCst);
        let reserved = self.reserved().await.expect("the stock");
        assert!((self.held..=most).contains(&reserved), "{reserved} are reserved, {} to {most} were held", self.held);
    }

    async fn reserved(&self) -> Option<i32> {
        let result = self.session.execute_unpaged(&self.read, (self.product,)).await.ok()?;
        let (quantity, reserved) = result.into_rows_result().ok()?.single_row::<(i32, i32)>().ok()?;
        assert!(quantity > reserved, "enough for all");
        Some(reserved)
    }

    /// None where it is done; otherwise what was found instead, if that is known.
    async fn write(&self, was: i32) -> Option<Option<i32>> {
        let (hold, ends_at) = (Uuid::now_v7(), CqlTimestamp(SystemClock.now().plus_seconds(3_600).millis()));
        let values = (was + 1, self.product, was, self.product, hold, ends_at);
        let Ok(result) = self.session.execute_unpaged(&self.write, values).await else {
            self.unknown.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            return Some(None);
        };
        let rows = result.into_rows_result().expect("rows");
        // Cassandra sends what it found only with a refusal, beside the key.
        let place = rows.column_specs().iter().position(|column| column.name() == "reserved");
        let answer = rows.first_row::<Row>().expect("an answer").columns;
        let applied = answer[0].as_ref().and_then(CqlValue::as_boolean).expect("whether it was made");
        let found = place.and_then(|place| answer[place].as_ref()?.as_int());
        (!applied).then_some(found)
    }

    async fn hold(&self) {
        match self.way {
            Way::Retried => {
                let mut was = self.reserved().await;
                loop {
                    was = match was {
                        Some(known) => match self.write(known).await {
                            None => return,
                            Some(found) => found,
                        },
                        None => self.reserved().await,
                    }
                }
            }
            Way::Queued => {
                let mut last = self.queue.lock().await;
                while let Some(found) = self.write(*last).await {
                    *last = match found {
                        Some(found) => found,
                        None => self.reserved().await.unwrap_or(*last),
                    };
                }
                *last += 1;
            }
        }
    }
}

impl Contender for Bare {
    fn name(&self) -> String {
        match self.way {
            Way::Retried => "one conditional write for a hold, tried again when refused".into(),
            Way::Queued => "one conditional write for a hold, one after the other".into(),
        }
    }

    async fn round(&mut self) -> Vec<Duration> {
        let each = match self.way {
            Way::Retried => 1,
            Way::Queued => 4,
        };
        let times = measure::clients(CLIENTS, |_| {
            let own = self.clone();
            async move {
                let mut times = Vec::with_capacity(each);
                for _ in 0..each {
                    let start = Instant::now();
                    own.hold().await;
                    times.push(start.elapsed());
                }
                times
            }
        })
        .await;
        self.held += times.len() as i32;
        times
    }
}
