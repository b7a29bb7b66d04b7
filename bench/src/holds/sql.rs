//! A hold in PostgreSQL: the row of the stock is updated and the hold's own row inserted, by one function, in one transaction.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio_postgres::{Client, Statement};
use uuid::Uuid;

use super::{CLIENTS, STOCK};
use crate::{
    checkout::Server,
    measure::{self, Contender},
};

pub struct Rival {
    owner: Arc<Client>,
    schema: String,
    clients: Vec<(Arc<Client>, Statement)>,
    product: Uuid,
    each: usize,
    held: i64,
}

impl Rival {
    /// With so many holds of each client in a round.
    pub async fn load(server: &Server, each: usize) -> Self {
        let schema = format!("holds_{}", std::process::id());
        let product = Uuid::now_v7();
        let owner = server.owner().clone();
        // Room for many versions of the one row in its page, so that its updates touch no index.
        let tables = format!(
            "CREATE SCHEMA {schema};
             CREATE TABLE {schema}.inventory (
               product_id uuid PRIMARY KEY, quantity integer NOT NULL, reserved integer NOT NULL
             ) WITH (fillfactor = 10);
             CREATE TABLE {schema}.holds (
               hold_id uuid PRIMARY KEY, product_id uuid NOT NULL, quantity integer NOT NULL, ends_at timestamptz NOT NULL
             );
             INSERT INTO {schema}.inventory VALUES ('{product}', {STOCK}, 0);
             ANALYZE {schema}.inventory, {schema}.holds;
             CREATE FUNCTION {schema}.hold(p_product uuid, p_hold uuid, p_seconds integer) RETURNS boolean
             LANGUAGE plpgsql AS $$
             BEGIN
               UPDATE {schema}.inventory SET reserved = reserved + 1
                WHERE product_id = p_product AND quantity - reserved >= 1;
               IF NOT FOUND THEN
                 RETURN false;
               END IF;
               INSERT INTO {schema}.holds VALUES (p_hold, p_product, 1, now() + make_interval(secs => p_seconds));
               RETURN true;
             END $$;"
        );
        owner.batch_execute(&tables).await.expect("tables");
        let mut clients = Vec::new();
        for client in server.clients() {
            let statement = client.prepare(&format!("SELECT {schema}.hold($1, $2, $3)")).await.expect("a statement");
            clients.push((client.clone(), statement));
        }
        Rival { owner, schema, clients, product, each, held: 0 }
    }

    pub async fn check_and_drop(self) {
        let schema = &self.schema;
        let sql = format!("SELECT reserved::bigint, (SELECT count(*) FROM {schema}.holds) FROM {schema}.inventory");
        let row = self.owner.query_one(&sql, &[]).await.expect("the stock");
        assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1)), (self.held, self.held));
        self.owner.batch_execute(&format!("DROP SCHEMA {schema} CASCADE")).await.expect("dropped");
    }
}

impl Contender for Rival {
    fn name(&self) -> String {
        "PostgreSQL".into()
    }

    async fn round(&mut self) -> Vec<Duration> {
        let (product, each) = (self.product, self.each);
        let times = measure::clients(CLIENTS, |client| {
            let (connection, statement) = self.clients[client].clone();
            async move {
                let mut times = Vec::with_capacity(each);
                for _ in 0..each {
                    let start = Instant::now();
                    let (hold, seconds) = (Uuid::now_v7(), 3_600_i32);
                    let row = connection.query_one(&statement, &[&product, &hold, &seconds]).await.expect("a hold");
                    times.push(start.elapsed());
                    assert!(row.get::<_, bool>(0), "enough for all");
                }
                times
            }
        })
        .await;
        self.held += times.len() as i64;
        times
    }
}
