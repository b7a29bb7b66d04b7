//! An engine that is not there, one that never answers, and answers that are lost on the way.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use widerow::{
    Error,
    dynamodb::{DynamoDb, connect},
    engine::{Add, Applied, Condition, Engine, Get, Step},
    key::Tenant,
    meter,
    schema::Consistency,
    value::Value,
};

use crate::fixture::*;

async fn engine(address: SocketAddr, prefix: &str, limit: Duration) -> DynamoDb {
    let mut config = config(&format!("http://{address}"), prefix);
    config.request_timeout = limit;
    connect(config, &schema()).await.unwrap()
}

async fn both(engine: &DynamoDb) -> (Error, Error) {
    let tenant = Tenant::new("acme").unwrap();
    let key = [vec![text("p"), text("a")]];
    let get = Get { tenant: &tenant, table: &STOCK, keys: &key, consistency: Consistency::Quorum };
    let read = engine.get(get).await.unwrap_err();
    let writes = vec![put(&STOCK, stock("a", 1)), put(&STOCK, stock("b", 1))];
    let id = uuid::Uuid::new_v4();
    let step = Step { id, tenant: &tenant, guarded: None, writes, now: NOW, timestamp: 1 };
    (read, engine.apply(&step).await.unwrap_err())
}

#[tokio::test]
async fn where_nobody_listens_the_engine_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let limit = Duration::from_secs(5);
    let engine = engine(address, "x", limit).await;
    let start = Instant::now();
    let (read, write) = both(&engine).await;
    assert!(matches!(read, Error::Unavailable { .. }), "{read:?}");
    assert!(matches!(write, Error::Unavailable { .. }), "{write:?}");
    assert!(start.elapsed() < limit * 2);
}

#[tokio::test]
async fn where_nobody_answers_reads_time_out_and_steps_are_indeterminate() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    // The third limit is for a machine that has other things to do.
    let limit = Duration::from_secs(4);
    let engine = engine(address, "x", limit).await;
    let start = Instant::now();
    let (read, write) = both(&engine).await;
    assert!(matches!(read, Error::TimedOut { .. }), "{read:?}");
    assert!(matches!(write, Error::Indeterminate { .. }), "{write:?}");
    assert!(start.elapsed() < limit * 3, "{:?}", start.elapsed());
}

/// A relay to DynamoDB that, once told, lets the next request through and hangs up instead of answering.
async fn relay(lose: Arc<AtomicBool>) -> Option<SocketAddr> {
    let target = fixture_target()?;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let (target, lose) = (target.clone(), lose.clone());
            tokio::spawn(async move {
                let server = TcpStream::connect(target).await.unwrap();
                let (mut from_client, mut to_client) = client.into_split();
                let (mut from_server, mut to_server) = server.into_split();
                tokio::spawn(async move { tokio::io::copy(&mut from_client, &mut to_server).await });
                let mut buffer = vec![0; 65536];
                while let Ok(n @ 1..) = from_server.read(&mut buffer).await {
                    if lose.swap(false, Ordering::SeqCst) || to_client.write_all(&buffer[..n]).await.is_err() {
                        break;
                    }
                }
            });
        }
    });
    Some(address)
}

fn fixture_target() -> Option<String> {
    Some(address()?.trim_start_matches("http://").trim_end_matches('/').to_owned())
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_again_under_the_same_token() {
    on_tables(true, |b| async move {
        let lose = Arc::new(AtomicBool::new(false));
        let address = relay(lose.clone()).await.unwrap();
        let engine = engine(address, &b.prefix, Duration::from_secs(5)).await;
        for (n, line) in ["a", "b", "c"].into_iter().enumerate() {
            let guards = vec![on(&[text(line)], Condition::Absent)];
            let mut step = b.step(Some(guarded(&STOCK, "p", guards)), vec![put(&STOCK, stock(line, 1))]);
            step.timestamp += n as i64;
            lose.store(true, Ordering::SeqCst);
            let (applied, cost) = meter::measure(engine.apply(&step)).await;
            assert!(matches!(applied, Ok(Applied::Done(_))), "{applied:?}");
            assert_eq!((cost.round_trips, cost.repeats), (1, 1));
        }
        let book = b.item("stock", "TENANT#acme#STOCK#p", Some("!")).await.unwrap();
        assert_eq!(book["_sequence"].as_n().unwrap(), "3", "each was applied once");

        // So is a put of one item, which would otherwise come again over what another wrote meanwhile.
        let row = vec![text("u"), day("2025-01-01"), Value::Int(1), text("w"), Value::Int(1)];
        lose.store(true, Ordering::SeqCst);
        let step = b.step(None, vec![put(&MIXED, row.clone())]);
        assert!(matches!(engine.apply(&step).await, Ok(Applied::Done(_))));
        let mut newer = row.clone();
        newer[4] = Value::Int(2);
        assert!(engine.apply(&b.step(None, vec![put(&MIXED, newer)])).await.is_ok());
        assert!(engine.apply(&step).await.is_ok(), "sent once more");
        assert_eq!(b.get(&MIXED, &row[..4]).await.unwrap().values[4], Value::Int(2), "and changes nothing");
    })
    .await;
}

#[tokio::test]
async fn a_lost_add_is_never_repeated() {
    on_tables(true, |b| async move {
        let lose = Arc::new(AtomicBool::new(true));
        let engine = engine(relay(lose).await.unwrap(), &b.prefix, Duration::from_secs(5)).await;
        let key = vec![text("page"), day("2025-01-01")];
        let add = Add { table: &HITS, key: key.clone(), amounts: vec![(2, 1)] };
        let (lost, cost) = meter::measure(engine.add(&b.tenant, std::slice::from_ref(&add))).await;
        assert!(matches!(lost, Err(Error::TimedOut { .. })), "{lost:?}");
        assert_eq!(cost.round_trips, 1);
        assert_eq!(b.get(&HITS, &key).await.unwrap().values[2], Value::Counter(1));
    })
    .await;
}
