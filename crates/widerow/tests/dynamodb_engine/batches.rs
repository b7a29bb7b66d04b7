//! Many rows at once, against a server that takes some of each call, or none, or does not answer.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value as Json, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use widerow::{
    Error,
    dynamodb::connect,
    engine::{Each, Engine as _},
    key::Tenant,
    value::Value,
};

use crate::fixture::*;

/// What a server does with the items of one call, by its number: how many of them it takes, or None to hang up.
type Takes = fn(call: usize, items: usize) -> Option<usize>;

#[derive(Default)]
struct Seen {
    /// Items of each call.
    calls: Vec<usize>,
    /// How often each item was taken.
    taken: BTreeMap<String, usize>,
}

/// A server that speaks so much of DynamoDB's protocol as `BatchWriteItem` needs.
async fn server(takes: Takes) -> (SocketAddr, Arc<Mutex<Seen>>) {
    slow_server(takes, Duration::ZERO).await
}

/// The same, that answers so much later.
async fn slow_server(takes: Takes, pause: Duration) -> (SocketAddr, Arc<Mutex<Seen>>) {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let shared = seen.clone();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(serve(client, takes, pause, shared.clone()));
        }
    });
    (address, seen)
}

async fn serve(mut client: TcpStream, takes: Takes, pause: Duration, seen: Arc<Mutex<Seen>>) {
    let mut bytes = Vec::new();
    while let Some(body) = body(&mut client, &mut bytes).await {
        let request: Json = serde_json::from_slice(&body).unwrap();
        let (table, items) = request["RequestItems"].as_object().unwrap().iter().next().unwrap();
        let items = items.as_array().unwrap();
        let left = {
            let mut seen = seen.lock().unwrap();
            seen.calls.push(items.len());
            let Some(taken) = takes(seen.calls.len(), items.len()) else { return };
            for item in &items[..taken.min(items.len())] {
                *seen.taken.entry(item["PutRequest"]["Item"]["SK"]["S"].as_str().unwrap().to_owned()).or_default() += 1;
            }
            items[taken.min(items.len())..].to_vec()
        };
        tokio::time::sleep(pause).await;
        let left = if left.is_empty() { json!({}) } else { json!({ table: left }) };
        let answer = json!({ "UnprocessedItems": left }).to_string();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/x-amz-json-1.0\r\ncontent-length:";
        if client.write_all(format!("{head} {}\r\n\r\n{answer}", answer.len()).as_bytes()).await.is_err() {
            return;
        }
    }
}

/// The body of the next request on the connection.
async fn body(client: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<Vec<u8>> {
    let mut buffer = vec![0; 65_536];
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length: usize =
                head.lines().find_map(|line| line.strip_prefix("content-length:"))?.trim().parse().ok()?;
            let whole = end + 4 + length;
            if bytes.len() >= whole {
                let rest = bytes.split_off(whole);
                let request = std::mem::replace(bytes, rest);
                return Some(request[end + 4..].to_vec());
            }
        }
        match client.read(&mut buffer).await {
            Ok(read @ 1..) => bytes.extend_from_slice(&buffer[..read]),
            _ => return None,
        }
    }
}

async fn put_rows(address: SocketAddr, rows: i32, limit: Duration) -> Vec<Result<(), Error>> {
    let mut config = config(&format!("http://{address}"), "x");
    config.request_timeout = limit;
    let engine = connect(config, &schema()).await.unwrap();
    let tenant = Tenant::new("acme").unwrap();
    let row = |n| put(&MIXED, vec![text("p"), day("2025-01-01"), Value::Int(n), text("w"), Value::Int(n)]);
    let (id, writes) = (uuid::Uuid::new_v4(), (0..rows).map(row).collect());
    let each = Each { id, tenant: &tenant, table: &MIXED, writes, derivations: &[], now: NOW, timestamp: 1 };
    engine.write_each(each).await
}

#[tokio::test]
async fn no_call_holds_more_than_twenty_five_items() {
    let (address, seen) = server(|_, items| Some(items)).await;
    let answers = put_rows(address, 130, Duration::from_secs(5)).await;
    assert!(answers.len() == 130 && answers.iter().all(Result::is_ok), "{answers:?}");
    let mut calls = seen.lock().unwrap().calls.clone();
    calls.sort();
    assert_eq!(calls, [5, 25, 25, 25, 25, 25]);
}

#[tokio::test]
async fn what_is_left_unprocessed_is_sent_again_until_it_is_taken() {
    // Some seven of each call, and none of every third.
    let (address, seen) = server(|call, _| Some(if call % 3 == 0 { 0 } else { 7 })).await;
    let answers = put_rows(address, 60, Duration::from_secs(30)).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    let seen = seen.lock().unwrap();
    assert_eq!(seen.taken.len(), 60);
    assert!(seen.taken.values().all(|times| *times == 1), "none was sent again that had been taken");
    assert!(seen.calls.iter().all(|items| *items <= 25) && seen.calls.len() > 9, "{:?}", seen.calls);
}

#[tokio::test]
async fn what_is_never_taken_is_told_and_the_others_are_done() {
    // Who asks until the last moment has no answer to the last time, and does not know any more.
    let takes: Takes = |call, _| Some(if call == 1 { 10 } else { 0 });
    let (address, seen) = slow_server(takes, Duration::from_secs(1)).await;
    let answers = put_rows(address, 25, Duration::from_secs(5)).await;
    let done = answers.iter().filter(|answer| answer.is_ok()).count();
    let throttled = answers.iter().filter(|answer| matches!(answer, Err(Error::Throttled { .. }))).count();
    assert_eq!((done, throttled, seen.lock().unwrap().taken.len()), (10, 15, 10));
}

#[tokio::test]
async fn a_call_whose_answer_is_lost_is_not_repeated() {
    let (address, seen) = server(|_, _| None).await;
    let answers = put_rows(address, 20, Duration::from_secs(5)).await;
    assert!(answers.iter().all(|answer| answer.as_ref().is_err_and(Error::may_have_happened)), "{answers:?}");
    assert_eq!(seen.lock().unwrap().calls, [20]);
}
