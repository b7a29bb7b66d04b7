//! A server that goes away, and answers that do not come.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::AbortHandle,
};
use widerow::{
    cassandra::{Cassandra, CassandraConfig},
    engine::*,
    error::Error,
    row::Row,
    schema::*,
    time::Date,
    value::Value,
};

use crate::fixture::*;

/// Passes on what the client says. While it is told to, it keeps the server's answers to itself, or is not there.
struct Proxy {
    address: String,
    mute: Arc<AtomicBool>,
    cut: Arc<AtomicBool>,
    connections: Arc<Mutex<Vec<AbortHandle>>>,
}

impl Proxy {
    async fn to(server: String) -> Proxy {
        // At the address of the node itself, by which the driver will look for it.
        let host = server.rsplit_once(':').map_or("127.0.0.1", |(host, _)| host);
        let listener = TcpListener::bind((host, 0)).await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (mute, cut) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let proxy = Proxy { address, mute: mute.clone(), cut: cut.clone(), connections: Arc::default() };
        let connections = proxy.connections.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if cut.load(SeqCst) {
                    continue;
                }
                let upstream = TcpStream::connect(&server).await.unwrap();
                let (mut from_client, mut to_client) = client.into_split();
                let (mut from_server, mut to_server) = upstream.into_split();
                let mute = mute.clone();
                let up = tokio::spawn(async move {
                    let _ = tokio::io::copy(&mut from_client, &mut to_server).await;
                });
                let down = tokio::spawn(async move {
                    let mut buffer = vec![0; 65_536];
                    while let Ok(read @ 1..) = from_server.read(&mut buffer).await {
                        if !mute.load(SeqCst) && to_client.write_all(&buffer[..read]).await.is_err() {
                            break;
                        }
                    }
                });
                connections.lock().unwrap().extend([up.abort_handle(), down.abort_handle()]);
            }
        });
        proxy
    }

    fn cut(&self) {
        self.cut.store(true, SeqCst);
        self.connections.lock().unwrap().drain(..).for_each(|connection| connection.abort());
    }
}

#[tokio::test]
async fn an_engine_that_goes_away_is_unavailable_at_once_and_found_again() {
    let schema = Schema::new().table::<Stock>().table::<Mixed>().build().unwrap();
    let Some(bench) = Bench::new(&schema).await else { return };
    let proxy = Proxy::to(address().unwrap()).await;
    let (nodes, keyspace) = (vec![proxy.address.clone()], bench.keyspace.clone());
    let engine = Cassandra::connect(CassandraConfig { nodes, keyspace, ..CassandraConfig::default() }, &schema);
    let engine = engine.await.unwrap();
    let (table, partition) = (Stock::table(), vec![t("lamp")]);
    let stock = |held: i32| vec![put(table, vec![t("lamp"), t("stock"), n(0), Value::Null, n(held)])];
    let plain = || vec![put(Mixed::table(), vec![n(1), n(1), n(1), n(1), n(1), t("v")])];
    let key = vec![vec![n(1), n(1), n(1), n(1), n(1)]];
    let get = Get { tenant: &bench.tenant, table: Mixed::table(), keys: &key, consistency: Consistency::Quorum };
    engine.apply(&bench.guarded(table, &partition, &Anchor::default(), stock(1))).await.unwrap();
    engine.apply(&bench.step(plain())).await.unwrap();
    engine.get(get.clone()).await.unwrap();

    let seen = bench.anchor(table, &partition, &[]).await;
    proxy.cut();
    // Until the driver has seen it: what is sent at that instant may have arrived.
    let started = Instant::now();
    while engine.get(get.clone()).await.is_ok() {
        assert!(started.elapsed() < Duration::from_secs(60), "it is never missed");
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    let started = Instant::now();
    let refused = engine.apply(&bench.guarded(table, &partition, &seen, stock(2))).await;
    assert!(matches!(refused, Err(Error::Unavailable { .. })), "{refused:?}");
    let refused = engine.apply(&bench.step(plain())).await;
    assert!(matches!(refused, Err(Error::Unavailable { .. })), "{refused:?}");
    let refused = engine.get(get.clone()).await;
    assert!(matches!(refused, Err(Error::Unavailable { .. })), "{refused:?}");
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    assert_eq!(bench.anchor(table, &partition, &[]).await.sequence, 1);

    proxy.cut.store(false, SeqCst);
    while engine.get(get.clone()).await.is_err() {
        assert!(started.elapsed() < Duration::from_secs(60), "it is never found again");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    engine.apply(&bench.guarded(table, &partition, &seen, stock(2))).await.unwrap();
    bench.end().await;
}

#[tokio::test]
async fn a_lost_answer_is_told_as_what_it_is_and_nothing_is_done_twice() {
    let schema = Schema::new().table::<Stock>().table::<Views>().table::<Mixed>().build().unwrap();
    let Some(bench) = Bench::new(&schema).await else { return };
    let proxy = Proxy::to(address().unwrap()).await;
    // Long for an engine that answers, however busy it is, and short to wait for one that does not.
    let request_timeout = Duration::from_secs(3);
    let config = CassandraConfig {
        nodes: vec![proxy.address.clone()],
        keyspace: bench.keyspace.clone(),
        request_timeout,
        ..CassandraConfig::default()
    };
    let engine = Cassandra::connect(config, &schema).await.unwrap();
    let (table, partition, day) = (Stock::table(), vec![t("lamp")], Value::Date(Date::from_days(1)));
    let stock = |held: i32| vec![put(table, vec![t("lamp"), t("stock"), n(0), Value::Null, n(held)])];
    let add = [Add { table: Views::table(), key: vec![t("a"), day.clone()], amounts: vec![(2, 1)] }];
    let plain = |v: &str| vec![put(Mixed::table(), vec![n(1), n(1), n(1), n(1), n(1), t(v)])];
    let key = vec![vec![n(1), n(1), n(1), n(1), n(1)]];
    let get = Get { tenant: &bench.tenant, table: Mixed::table(), keys: &key, consistency: Consistency::Quorum };

    // Everything once while the answers come, so that the statements are prepared.
    engine.apply(&bench.guarded(table, &partition, &Anchor::default(), stock(1))).await.unwrap();
    engine.add(&bench.tenant, &add).await.unwrap();
    engine.apply(&bench.step(plain("first"))).await.unwrap();
    engine.get(get.clone()).await.unwrap();
    let seen = bench.anchor(table, &partition, &[]).await;

    proxy.mute.store(true, SeqCst);
    let started = Instant::now();
    let step = bench.guarded(table, &partition, &seen, stock(2));
    let step_id = step.id;
    let lost = engine.apply(&step).await;
    assert!(matches!(lost, Err(Error::Indeterminate { id, .. }) if id == step_id), "{lost:?}");
    let lost = engine.add(&bench.tenant, &add).await;
    assert!(matches!(lost, Err(Error::TimedOut { .. })), "{lost:?}");
    let step = bench.step(plain("second"));
    let lost = engine.apply(&step.clone()).await;
    assert!(matches!(lost, Err(Error::Indeterminate { id, .. }) if id == step.id), "{lost:?}");
    let lost = engine.get(get.clone()).await;
    assert!(matches!(lost, Err(Error::TimedOut { .. })), "{lost:?}");
    assert!(started.elapsed() < 8 * request_timeout, "{:?}", started.elapsed());

    // All of it had happened, once.
    let seen = bench.anchor(table, &partition, &[]).await;
    assert!(seen.ring.contains(&step_id) && seen.sequence == 2);
    let views = bench.get(Views::table(), &[vec![t("a"), day]]).await;
    assert_eq!(views[0].as_ref().unwrap().values[2], Value::Counter(2));
    proxy.mute.store(false, SeqCst);
    engine.apply(&step).await.unwrap();
    assert_eq!(engine.get(get).await.unwrap()[0].as_ref().unwrap().values[5], t("second"));
    bench.end().await;
}

#[tokio::test]
async fn a_wrong_address_is_refused_in_time() {
    let schema = Schema::new().build().unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = silent.local_addr().unwrap().to_string();
    // A closed port, and a server that says nothing.
    for node in ["127.0.0.1:1", &silent] {
        let started = Instant::now();
        let connect_timeout = Duration::from_millis(1_500);
        let config = CassandraConfig { nodes: vec![node.into()], connect_timeout, ..CassandraConfig::default() };
        let refused = Cassandra::connect(config, &schema).await.err();
        assert!(matches!(refused, Some(Error::Unavailable { .. })), "{node}: {refused:?}");
        assert!(started.elapsed() < Duration::from_secs(20), "{node}: {:?}", started.elapsed());
    }
}
