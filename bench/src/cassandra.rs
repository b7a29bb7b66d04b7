//! Cassandra through widerow beside the driver with prepared statements, on the same table.

use std::sync::Arc;

use scylla::{
    client::{session::Session, session_builder::SessionBuilder},
    statement::{Consistency, prepared::PreparedStatement},
};
use widerow::{
    Commit, Database, Row, Schema,
    cassandra::{Cassandra, CassandraConfig},
};

use crate::measure::{Verdicts, duel};

/// One shelf of a shop.
#[derive(Row, Clone, Debug)]
#[row(table = "items", partition(shelf), clustering(position), read = LocalQuorum, write = LocalQuorum)]
struct Item {
    shelf: i64,
    position: i64,
    name: String,
    description: String,
    price: i64,
    in_stock: bool,
}

const SHELVES: i64 = 50;
const ROWS_A_SHELF: i64 = 100;
/// Requests in flight.
const CALLERS: i64 = 32;

type Cells = (i64, i64, String, String, i64, bool);

fn item(i: i64) -> Item {
    Item {
        shelf: i / ROWS_A_SHELF % SHELVES,
        position: i % ROWS_A_SHELF,
        name: format!("Brass lamp number {i}"),
        description: format!("{i:0>240}"),
        price: i * 7 % 10_000,
        in_stock: i % 3 == 0,
    }
}

pub async fn run(address: &str, quick: bool, verdicts: &mut Verdicts) {
    println!();
    let keyspace = format!("bench{}", std::process::id());
    let schema = || Schema::new().table::<Item>().build().expect("a schema");
    let nodes: Vec<String> = address.split(',').map(String::from).collect();
    let config = CassandraConfig { nodes: nodes.clone(), keyspace: keyspace.clone(), ..CassandraConfig::default() };
    let engine = Cassandra::connect(config, &schema()).await.expect("a connection");
    let database = Database::new(engine, schema());
    database.migrate().await.expect("tables");
    let store = database.tenant("bench").expect("a good name");
    for shelf in 0..SHELVES {
        for half in 0..4 {
            let first = shelf * ROWS_A_SHELF + half * 25;
            let commit = (first..first + 25).fold(Commit::new(), |c, i| c.put(&item(i)));
            store.commit(commit).await.expect("a commit");
        }
    }
    let session: Session = SessionBuilder::new().known_nodes(&nodes).build().await.expect("a session");
    let session = Arc::new(session);
    let prepare = async |cql: String, idempotent: bool| -> Arc<PreparedStatement> {
        let mut statement = session.prepare(cql).await.expect("a statement");
        statement.set_consistency(Consistency::LocalQuorum);
        statement.set_is_idempotent(idempotent);
        Arc::new(statement)
    };
    let columns = "shelf, position, name, description, price, in_stock";
    let one = format!("SELECT {columns} FROM {keyspace}.items WHERE tenant = ? AND shelf = ? AND position = ?");
    let page = format!("SELECT {columns} FROM {keyspace}.items WHERE tenant = ? AND shelf = ? LIMIT 24");
    let put = format!("INSERT INTO {keyspace}.items (tenant, {columns}) VALUES (?, ?, ?, ?, ?, ?, ?)");
    let (one, page, put) = (prepare(one, true).await, prepare(page, true).await, prepare(put, true).await);

    let each: i64 = 1_500;
    let rounds = if quick { 10 } else { 50 };
    let all = SHELVES * ROWS_A_SHELF;
    // A stride that visits every row before it comes back to one.
    let at = move |n: i64| n * 7919 % all;

    let ours = || {
        let store = store.clone();
        many(each, move |n| {
            let (store, i) = (store.clone(), at(n));
            async move {
                let row = store.get::<Item>((i / ROWS_A_SHELF, i % ROWS_A_SHELF)).await.expect("a read");
                assert_eq!(row.expect("a row").price, i * 7 % 10_000);
            }
        })
    };
    let theirs = || {
        let (session, one) = (session.clone(), one.clone());
        many(each, move |n| {
            let (session, one, i) = (session.clone(), one.clone(), at(n));
            async move {
                let result = session.execute_unpaged(&one, ("bench", i / ROWS_A_SHELF, i % ROWS_A_SHELF)).await;
                let rows = result.expect("a read").into_rows_result().expect("rows");
                assert_eq!(rows.single_row::<Cells>().expect("a row").4, i * 7 % 10_000);
            }
        })
    };
    duel("cassandra: get", 0.9, rounds, ours, theirs, verdicts).await;

    let ours = || {
        let store = store.clone();
        many(each, move |n| {
            let (store, row) = (store.clone(), item(at(n)));
            async move {
                store.commit(Commit::new().put(&row)).await.expect("a write");
            }
        })
    };
    let theirs = || {
        let (session, put) = (session.clone(), put.clone());
        many(each, move |n| {
            let (session, put, row) = (session.clone(), put.clone(), item(at(n)));
            async move {
                let Item { shelf, position, name, description, price, in_stock } = row;
                let values = ("bench", shelf, position, name, description, price, in_stock);
                session.execute_unpaged(&put, values).await.expect("a write");
            }
        })
    };
    duel("cassandra: put", 0.9, rounds, ours, theirs, verdicts).await;

    let ours = || {
        let store = store.clone();
        many(each / 2, move |n| {
            let (store, shelf) = (store.clone(), n % SHELVES);
            async move {
                let page = store.slice::<Item>(shelf).limit(24).page().await.expect("a read");
                assert_eq!(page.rows.len(), 24);
            }
        })
    };
    let theirs = || {
        let (session, page) = (session.clone(), page.clone());
        many(each / 2, move |n| {
            let (session, page, shelf) = (session.clone(), page.clone(), n % SHELVES);
            async move {
                let result = session.execute_unpaged(&page, ("bench", shelf)).await.expect("a read");
                let rows = result.into_rows_result().expect("rows");
                let rows: Vec<Cells> = rows.rows().expect("typed").map(|row| row.expect("a row")).collect();
                assert_eq!(rows.len(), 24);
            }
        })
    };
    duel("cassandra: slice of 24", 0.9, rounds, ours, theirs, verdicts).await;
    let _ = session.query_unpaged(format!("DROP KEYSPACE {keyspace}"), ()).await;
}

/// So many requests, from `CALLERS` tasks that each send one after the other, as the tasks of a server do.
async fn many<F>(count: i64, request: impl Fn(i64) -> F + Clone + Send + 'static) -> usize
where
    F: Future<Output = ()> + Send,
{
    let caller = |first: i64| {
        let request = request.clone();
        tokio::spawn(async move {
            for n in (first..count).step_by(CALLERS as usize) {
                request(n).await;
            }
        })
    };
    for caller in (0..CALLERS).map(caller).collect::<Vec<_>>() {
        caller.await.expect("no panic");
    }
    count as usize
}
