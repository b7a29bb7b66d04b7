//! TLS by setting.

use std::sync::Arc;

use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use merkato::accounts::Role;
use merkato_server::http::settings::TlsSettings;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{Duration, timeout},
};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::ServerName},
};
use widerow_testing::{Target, cases};

use crate::world::{PASSWORD, World};

cases![
    cookies_are_secure_over_tls,
    http_2_is_spoken_to_who_can,
    a_form_is_sent_over_http_2,
    a_handshake_that_never_comes_is_let_go_of,
];

async fn world(target: &Target, folder: &tempfile::TempDir) -> (World, rcgen::CertifiedKey<rcgen::KeyPair>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let (certificate, key) = (folder.path().join("certificate.pem"), folder.path().join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).expect("written");
    std::fs::write(&key, made.signing_key.serialize_pem()).expect("written");
    let world = World::with(target, |settings| {
        settings.tls = Some(TlsSettings { certificate, key });
        settings.header_seconds_max = 5;
    });
    (world.await, made)
}

/// A connection of a client that trusts the certificate and speaks this protocol.
async fn connect(world: &World, made: &rcgen::CertifiedKey<rcgen::KeyPair>, protocol: &str) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).expect("a root");
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().expect("versions").with_root_certificates(roots);
    let mut config = config.with_no_client_auth();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    let socket = TcpStream::connect(world.address).await.expect("a connection");
    let name = ServerName::try_from("localhost").expect("a name");
    TlsConnector::from(Arc::new(config)).connect(name, socket).await.expect("a handshake")
}

async fn http_2_is_spoken_to_who_can(target: &Target) {
    let folder = tempfile::tempdir().expect("a folder");
    let (world, made) = world(target, &folder).await;
    let socket = connect(&world, &made, "h2").await;
    let (client, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(socket)).await.expect("a handshake");
    let connection = tokio::spawn(connection);
    // Side by side on one connection.
    let asked = ["/v1/categories", "/v1/nothing", "/healthz"].map(|path| {
        let request = http::Request::get(format!("https://localhost{path}")).header("merkato-tenant", world.tenant());
        let request = request.body(http_body_util::Empty::<bytes::Bytes>::new()).expect("a request");
        let mut client = client.clone();
        async move { client.send_request(request).await.expect("an answer") }
    });
    let answers = futures::future::join_all(asked).await;
    let statuses: Vec<_> = answers.iter().map(|answer| (answer.version(), answer.status().as_u16())).collect();
    assert_eq!(statuses, [200, 404, 200].map(|status| (http::Version::HTTP_2, status)));
    drop((client, answers));
    let _ = timeout(Duration::from_secs(10), connection).await.expect("it ends");
}

/// HTTP/2 has the host in the address and not in a header: what comes from the site's own pages is known by it all the same.
async fn a_form_is_sent_over_http_2(target: &Target) {
    let folder = tempfile::tempdir().expect("a folder");
    let (world, made) = world(target, &folder).await;
    let session = world.session(&world.ctx, Role::Customer).await;
    let socket = connect(&world, &made, "h2").await;
    let (client, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(socket)).await.expect("a handshake");
    let connection = tokio::spawn(connection);
    let body = json!({"street": "Ring 1", "city": "Vienna", "country": "AT"}).to_string();
    let mut statuses = Vec::new();
    for origin in ["https://localhost", "https://evil.example", "http://localhost"] {
        let request = http::Request::post("https://localhost/v1/me/addresses")
            .header("merkato-tenant", world.tenant())
            .header("content-type", "application/json")
            .header("cookie", format!("merkato_session={session}"))
            .header("origin", origin)
            .body(http_body_util::Full::new(bytes::Bytes::from(body.clone())));
        let answer = client.clone().send_request(request.expect("a request")).await.expect("an answer");
        statuses.push((origin, answer.status().as_u16()));
    }
    assert_eq!(statuses, [("https://localhost", 201), ("https://evil.example", 403), ("http://localhost", 403)]);
    drop(client);
    let _ = timeout(Duration::from_secs(10), connection).await.expect("it ends");
}

async fn cookies_are_secure_over_tls(target: &Target) {
    let folder = tempfile::tempdir().expect("a folder");
    let (world, made) = world(target, &folder).await;
    let (_, email) = world.user(&world.ctx, Role::Customer).await;
    let mut socket = connect(&world, &made, "http/1.1").await;
    let body = json!({"email": email, "password": PASSWORD}).to_string();
    let request = format!(
        "POST /v1/auth/login HTTP/1.1\r\nHost: localhost\r\nMerkato-Tenant: {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        world.tenant(),
        body.len()
    );
    socket.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = Vec::new();
    let _ = socket.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("; Secure") && answer.contains("strict-transport-security"), "{answer}");
}

async fn a_handshake_that_never_comes_is_let_go_of(target: &Target) {
    let folder = tempfile::tempdir().expect("a folder");
    let (world, _) = world(target, &folder).await;
    for greeting in [b"".as_slice(), b"\x16\x03\x01", b"GET / HTTP/1.1\r\n\r\n"] {
        let mut socket = TcpStream::connect(world.address).await.expect("a connection");
        socket.write_all(greeting).await.expect("sent");
        let mut answer = Vec::new();
        let _ = timeout(Duration::from_secs(20), socket.read_to_end(&mut answer)).await.expect("it is closed");
    }
}
