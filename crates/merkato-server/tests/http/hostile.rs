//! Clients that mean no good, or know no better: everyone else is answered meanwhile.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{Instant, timeout},
};
use widerow_testing::{Target, cases};

use crate::world::{World, assert_problem};

cases![
    a_thousand_idle_connections,
    heads_that_come_byte_by_byte,
    bodies_that_never_end,
    bodies_that_never_come,
    json_nested_a_million_deep,
    bytes_that_are_no_text,
    half_closed_sockets,
    clients_that_never_read,
    heads_that_are_too_large,
];

/// Long for an answer, and short beside waiting for ever: engines of a busy machine take their time.
const SOON: Duration = Duration::from_secs(20);

/// Someone else is answered, soon.
async fn assert_serves(world: &World) {
    let answer = timeout(SOON, world.get("/v1/categories").send()).await.expect("in time").unwrap();
    assert_eq!(answer.status(), 200);
}

async fn answer_of(socket: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = timeout(Duration::from_secs(20), socket.read_to_end(&mut bytes)).await.expect("the server closes it");
    String::from_utf8_lossy(&bytes).into_owned()
}

async fn a_thousand_idle_connections(target: &Target) {
    let world = World::new(target).await;
    let mut idle = Vec::new();
    for _ in 0..1_000 {
        idle.push(TcpStream::connect(world.address).await.expect("a connection"));
    }
    assert_serves(&world).await;
    drop(idle);
    assert_serves(&world).await;
}

async fn heads_that_come_byte_by_byte(target: &Target) {
    let world = World::with(target, |settings| settings.header_seconds_max = 5).await;
    let mut slow = Vec::new();
    for _ in 0..50 {
        let mut socket = TcpStream::connect(world.address).await.unwrap();
        socket.write_all(b"GET /v1/categories HTTP/1.1\r\nHost: x\r\nX-A: ").await.unwrap();
        slow.push(socket);
    }
    assert_serves(&world).await;
    let began = Instant::now();
    for socket in &mut slow {
        // Now and then a byte, which does not begin the time anew.
        let _ = socket.write_all(b"a").await;
        answer_of(socket).await;
    }
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    // One that says nothing at all is let go of, too.
    let mut silent = TcpStream::connect(world.address).await.unwrap();
    answer_of(&mut silent).await;
}

const HEAD: &str = "POST /v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";

async fn bodies_that_never_end(target: &Target) {
    let world = World::new(target).await;
    let mut socket = TcpStream::connect(world.address).await.unwrap();
    socket.write_all(format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n").as_bytes()).await.unwrap();
    let chunk = [b"10000\r\n".as_slice(), &[b' '; 0x10000], b"\r\n"].concat();
    let mut sent = 0;
    // What was sent before the refusal came lies in the kernel's buffers, which are megabytes.
    while sent < 1_024 && socket.write_all(&chunk).await.is_ok() {
        sent += 1;
    }
    assert!(sent < 1_024, "sixty-four megabytes were taken in");
    let large = vec![b' '; 2 * 1024 * 1024];
    let request = world.request("POST", "/v1/auth/login").header("content-type", "application/json").body(large);
    // The server does not wait for what it does not want: a client may find the socket closed while it still sends.
    if let Ok(answer) = request.send().await {
        assert_eq!(answer.headers()["connection"], "close", "the last answer says so");
        assert_problem(answer, 413, "body_too_large").await;
    }
    assert_serves(&world).await;
}

async fn bodies_that_never_come(target: &Target) {
    // Long enough for who asks meanwhile, on a busy machine too.
    let world = World::with(target, |settings| settings.request_seconds_max = 5).await;
    let mut sockets = Vec::new();
    for _ in 0..50 {
        let mut socket = TcpStream::connect(world.address).await.unwrap();
        socket.write_all(format!("{HEAD}Content-Length: 100\r\n\r\n{{").as_bytes()).await.unwrap();
        sockets.push(socket);
    }
    assert_serves(&world).await;
    let answer = answer_of(&mut sockets[0]).await;
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("body_timeout"), "{answer}");
}

async fn json_nested_a_million_deep(target: &Target) {
    let world = World::new(target).await;
    for opening in ["[", "{\"a\":"] {
        let body = opening.repeat(1_000_000 / opening.len());
        let request = world.request("POST", "/v1/auth/login").header("content-type", "application/json");
        let answer = request.body(body).send().await.unwrap();
        assert_eq!(answer.status(), 400);
    }
    // Nested where any value may be.
    let deep = format!("{{\"email\": {}", "[".repeat(500_000));
    let request = world.request("PATCH", "/v1/me").header("content-type", "application/json").body(deep);
    assert_eq!(request.send().await.unwrap().status(), 401);
    assert_serves(&world).await;
}

async fn bytes_that_are_no_text(target: &Target) {
    let world = World::new(target).await;
    let body = b"{\"email\": \"\xff\xfe\", \"password\": \"x\"}".to_vec();
    let request = world.request("POST", "/v1/auth/login").header("content-type", "application/json").body(body);
    assert_problem(request.send().await.unwrap(), 400, "bad_json").await;
    assert_problem(world.get("/v1/search?prefix=%ff%fe").send().await.unwrap(), 400, "bad_query").await;
    for head in [
        b"GET /\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n".as_slice(),
        b"GET /v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \xff\xff\r\nConnection: close\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\x00\x00\x00\x00\r\n\r\n",
    ] {
        let mut socket = TcpStream::connect(world.address).await.unwrap();
        socket.write_all(head).await.unwrap();
        socket.shutdown().await.unwrap();
        let answer = answer_of(&mut socket).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    assert_serves(&world).await;
}

async fn half_closed_sockets(target: &Target) {
    let world = World::new(target).await;
    for _ in 0..50 {
        let mut socket = TcpStream::connect(world.address).await.unwrap();
        socket.write_all(format!("{HEAD}Content-Length: 100\r\n\r\n{{").as_bytes()).await.unwrap();
        socket.shutdown().await.unwrap();
        answer_of(&mut socket).await;
    }
    assert_serves(&world).await;
}

/// Whoever asks for much and takes in nothing is let go of.
async fn clients_that_never_read(target: &Target) {
    let world = World::with(target, |settings| settings.stall_seconds_max = 1).await;
    let mut socket = TcpStream::connect(world.address).await.unwrap();
    let request = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(100);
    let began = Instant::now();
    // Until the socket's buffers are full on both sides and the server gives up.
    while timeout(Duration::from_secs(5), socket.write_all(&request)).await.is_ok_and(|written| written.is_ok()) {
        assert!(began.elapsed() < Duration::from_secs(30), "the server never gave up");
    }
    assert_serves(&world).await;
    for _ in 0..100 {
        let metrics = world.bare("GET", "/metrics").send().await.unwrap().text().await.unwrap();
        let open = metrics.lines().find_map(|line| line.strip_prefix("merkato_http_connections ")).unwrap();
        if open.parse::<u32>().unwrap() <= 2 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the connection is still open");
}

async fn heads_that_are_too_large(target: &Target) {
    let world = World::new(target).await;
    let many = (0..200).fold(String::new(), |head, i| format!("{head}X-{i}: a\r\n"));
    let long = format!("X-A: {}\r\n", "a".repeat(100_000));
    for head in [many, long] {
        let mut socket = TcpStream::connect(world.address).await.unwrap();
        let _ = socket.write_all(format!("GET /healthz HTTP/1.1\r\nHost: x\r\n{head}\r\n").as_bytes()).await;
        let answer = answer_of(&mut socket).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    }
    assert_serves(&world).await;
}
