//! One connection that stays open, one request after the other.

use bytes::Bytes;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

pub struct Client {
    requests: SendRequest<Full<Bytes>>,
    address: String,
}

impl Client {
    pub async fn connect(address: &str) -> Self {
        let socket = TcpStream::connect(address).await.expect("a connection");
        socket.set_nodelay(true).expect("an option");
        let (requests, connection) = handshake(TokioIo::new(socket)).await.expect("a connection");
        tokio::spawn(connection);
        Client { requests, address: address.to_owned() }
    }

    /// The bytes as they came: whoever loads a server does not spend its time on reading what it sends.
    pub async fn get(&mut self, path: &str) -> Bytes {
        let request = Request::get(path).header(header::HOST, &self.address);
        self.send(request.body(Full::default()).expect("a request")).await.0
    }

    /// The answer, and the token of a new guest.
    pub async fn post(&mut self, path: &str, headers: &[(&str, &str)], body: &Value) -> (Value, Option<String>) {
        let mut request = Request::post(path).header(header::HOST, &self.address);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.header(header::CONTENT_TYPE, "application/json");
        let (answer, guest) = self.send(request.body(Full::from(body.to_string())).expect("a request")).await;
        (serde_json::from_slice(&answer).expect("JSON"), guest)
    }

    async fn send(&mut self, request: Request<Full<Bytes>>) -> (Bytes, Option<String>) {
        let path = request.uri().path().to_owned();
        let response = self.requests.send_request(request).await.expect("an answer");
        let (head, body) = response.into_parts();
        let body = body.collect().await.expect("a body").to_bytes();
        let good = matches!(head.status, StatusCode::OK | StatusCode::CREATED);
        assert!(good, "{path}: {} {}", head.status, String::from_utf8_lossy(&body));
        let guest = head.headers.get("merkato-guest").map(|token| token.to_str().expect("a token").to_owned());
        (body, guest)
    }
}
