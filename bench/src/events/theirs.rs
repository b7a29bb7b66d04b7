//! The same events in PostgreSQL: one table with the document's columns; an append is one prepared statement.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use tokio_postgres::{Config, Statement};
use uuid::Uuid;

use super::{CLIENTS, Streams, data};
use crate::{
    measure::{self, Contender},
    postgres::connect,
};

pub(super) struct Rival {
    owner: tokio_postgres::Client,
    table: String,
    clients: Vec<Arc<Client>>,
    streams: Streams,
    batch: i64,
    each: usize,
}

struct Client {
    connection: tokio_postgres::Client,
    insert: Statement,
}

impl Rival {
    pub(super) async fn create(address: &str, batch: i64, each: usize) -> Self {
        let config: Config = address.parse().expect("an address of PostgreSQL");
        let owner = connect(&config).await;
        let table = format!("event_log_{}", std::process::id());
        let create = format!(
            "CREATE TABLE {table} (
               aggregate_id uuid NOT NULL, event_version bigint NOT NULL, event_timestamp timestamptz NOT NULL,
               event_id uuid NOT NULL, event_type text NOT NULL, event_data text NOT NULL, event_metadata jsonb,
               causation_id uuid, correlation_id uuid NOT NULL, PRIMARY KEY (aggregate_id, event_version)
             )"
        );
        owner.batch_execute(&create).await.expect("a table");
        let mut clients = Vec::new();
        for _ in 0..CLIENTS {
            clients.push(Arc::new(Client::connect(&config, &table).await));
        }
        Rival { owner, table, clients, streams: Streams::new(), batch, each }
    }

    pub(super) async fn drop(self) {
        self.owner.batch_execute(&format!("DROP TABLE {}", self.table)).await.expect("gone");
    }
}

impl Contender for Rival {
    fn name(&self) -> String {
        "PostgreSQL".into()
    }

    async fn round(&mut self) -> Vec<Duration> {
        let (batch, each) = (self.batch, self.each);
        measure::clients(CLIENTS, |client| {
            let (connection, streams) = (self.clients[client].clone(), self.streams.clone());
            async move {
                let mut times = Vec::with_capacity(each);
                for n in 0..each {
                    let (stream, start) = (streams.turn(client, n), Instant::now());
                    connection.append(stream.id, stream.version(), batch).await;
                    times.push(start.elapsed());
                    stream.moved_to(stream.version() + batch);
                }
                times
            }
        })
        .await
    }
}

impl Client {
    async fn connect(config: &Config, table: &str) -> Self {
        let connection = connect(config).await;
        let insert = format!(
            "INSERT INTO {table} (aggregate_id, event_version, event_timestamp, event_id, event_type, event_data, correlation_id)
             SELECT $1::uuid, version, $2::timestamptz, id, 'MoneyDeposited', data, id
             FROM unnest($3::bigint[], $4::uuid[], $5::text[]) AS event (version, id, data)"
        );
        let insert = connection.prepare(&insert).await.expect("a statement");
        Client { connection, insert }
    }

    async fn append(&self, aggregate: Uuid, version: i64, batch: i64) {
        let now: SystemTime = UNIX_EPOCH + SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
        let versions: Vec<i64> = (version + 1..=version + batch).collect();
        let ids: Vec<Uuid> = versions.iter().map(|_| Uuid::now_v7()).collect();
        let data: Vec<String> = versions.iter().map(|n| data(*n).to_string()).collect();
        let inserted = self.connection.execute(&self.insert, &[&aggregate, &now, &versions, &ids, &data]).await;
        assert_eq!(inserted.expect("inserted"), batch as u64);
    }
}
