//! Everybody wants the same product: 64 clients that hold one unit of it each, again and again, and there are enough.
//!
//! Ours decides all that wait in one commit. Beside it stands what a shop would do otherwise: on PostgreSQL one transaction
//! for each hold, on Cassandra one conditional write for each hold.

mod bare;
mod ours;
mod sql;

use std::sync::Arc;

use scylla::client::session_builder::SessionBuilder;
use widerow::{
    Database, Schema,
    cassandra::{Cassandra, CassandraConfig},
    embedded::Embedded,
};

use self::{
    bare::{Bare, Way},
    ours::Shop,
    sql::Rival,
};
use crate::{
    checkout::Server,
    measure::{Verdicts, contest},
};

const CLIENTS: usize = 64;
/// Units of the product; far more than are ever held.
const STOCK: i32 = 1_000_000;
const POSTGRES: &str = "postgres: hot holds, 64 clients";
const POSTGRES_FLOOR: f64 = 30.0;
const CASSANDRA: &str = "cassandra: hot holds, 64 clients";
const CASSANDRA_FLOOR: f64 = 20.0;

fn schema() -> Schema {
    merkato::schema().expect("a schema")
}

pub async fn postgres(address: &str, quick: bool, verdicts: &mut Verdicts) {
    if !verdicts.wants(POSTGRES) {
        return;
    }
    let server = Server::connect(address, CLIENTS).await;
    println!(
        "\nholds of one unit of one product by {CLIENTS} clients.\nPostgreSQL {}: one function and one transaction for a hold; \
         fsync = {}, synchronous_commit = {}",
        server.show("server_version").await,
        server.show("fsync").await,
        server.show("synchronous_commit").await,
    );
    assert_eq!(server.show("fsync").await, "on", "an acknowledged hold is durable on both sides");
    assert_eq!(server.show("synchronous_commit").await, "on", "an acknowledged hold is durable on both sides");
    let folder = tempfile::tempdir().expect("a folder");
    let database = Database::new(Embedded::open(folder.path(), &schema()).expect("the folder opens"), schema());
    let mut shop = Shop::open(database, "merkato on the embedded engine", 100).await;
    let mut rivals = [Rival::load(&server, 10).await];
    let rounds = if quick { 6 } else { 20 };
    contest(POSTGRES, POSTGRES_FLOOR, rounds, &mut shop, &mut rivals, None, verdicts).await;
    shop.check().await;
    let [rival] = rivals;
    rival.check_and_drop().await;
}

pub async fn cassandra(address: &str, quick: bool, verdicts: &mut Verdicts) {
    if !verdicts.wants(CASSANDRA) {
        return;
    }
    println!(
        "\nholds of one unit of one product by {CLIENTS} clients, on Cassandra, beside the bare driver with one conditional \
         write for each hold"
    );
    let keyspace = format!("holds{}", std::process::id());
    let nodes: Vec<String> = address.split(',').map(String::from).collect();
    let config = CassandraConfig { nodes: nodes.clone(), keyspace: keyspace.clone(), ..CassandraConfig::default() };
    let engine = Cassandra::connect(config, &schema()).await.expect("a connection");
    let mut shop = Shop::open(Database::new(engine, schema()), "merkato on Cassandra", 40).await;
    let session = Arc::new(SessionBuilder::new().known_nodes(&nodes).build().await.expect("a session"));
    let mut rivals = Vec::new();
    for way in [Way::Retried, Way::Queued] {
        rivals.push(Bare::load(session.clone(), &keyspace, way).await);
    }
    let rounds = if quick { 5 } else { 20 };
    contest(CASSANDRA, CASSANDRA_FLOOR, rounds, &mut shop, &mut rivals, None, verdicts).await;
    shop.check().await;
    for rival in rivals {
        rival.check().await;
    }
    let _ = session.query_unpaged(format!("DROP KEYSPACE {keyspace}"), ()).await;
}
