//! Sockets: accepted, bounded in number and in time, and let go of when the server stops.
//!
//! HTTP/1.1 in the clear; over TLS, HTTP/2 as well, by ALPN. No connection waits for another: each is a task of its own.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::Router;
use hyper::server::conn::{http1, http2};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt as _;

use super::{app::App, app::StartError, client::Peer, settings::HttpSettings, stall::Stalling, tls};

/// Bytes of a request's head.
const HEAD_BYTES_MAX: usize = 32 * 1024;
const HEADERS_MAX: usize = 100;
/// Requests side by side on one connection of HTTP/2.
const STREAMS_MAX: u32 = 64;
/// How long one waits when no socket can be had, as when there are no file descriptors left.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// Serves until `stop` is ready; then takes no more connections, lets what runs finish within its time, and returns.
pub async fn serve(app: App, listener: TcpListener, stop: impl Future<Output = ()>) -> Result<(), StartError> {
    let settings = app.settings().clone();
    let acceptor = settings.tls.as_ref().map(tls::acceptor).transpose()?;
    let router = app.router();
    let places = Arc::new(Semaphore::new(settings.connections_max.clamp(1, Semaphore::MAX_PERMITS)));
    let graceful = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        // ORDER: the place before the connection. When all are taken, the others wait in the kernel's queue.
        let place = tokio::select! {
            place = places.clone().acquire_owned() => place,
            () = &mut stop => break,
        };
        let Ok(place) = place else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let (socket, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::debug!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_AGAIN).await;
                continue;
            }
        };
        let connection =
            Connection { service: router.clone(), peer, watcher: graceful.watcher(), settings: settings.clone() };
        let (acceptor, running) = (acceptor.clone(), app.metrics().connect());
        tokio::spawn(async move {
            let _until_closed = (place, running);
            connection.run(socket, acceptor).await;
        });
    }
    drop(listener);
    app.end_streams();
    let within = Duration::from_secs(settings.stop_seconds_max);
    // Requests whose clients have gone away are finished as well, and letters are sent.
    let rest = async {
        graceful.shutdown().await;
        app.rest().await;
    };
    if tokio::time::timeout(within, rest).await.is_err() {
        tracing::warn!("requests were still running when the server stopped");
    }
    Ok(())
}

struct Connection {
    service: Router,
    peer: SocketAddr,
    watcher: Watcher,
    settings: HttpSettings,
}

impl Connection {
    async fn run(self, socket: TcpStream, acceptor: Option<TlsAcceptor>) {
        let _ = socket.set_nodelay(true);
        let socket = Stalling::new(socket, Duration::from_secs(self.settings.stall_seconds_max));
        let Some(acceptor) = acceptor else { return self.speak_http1(socket).await };
        let within = Duration::from_secs(self.settings.header_seconds_max);
        match tokio::time::timeout(within, acceptor.accept(socket)).await {
            Ok(Ok(socket)) if socket.get_ref().1.alpn_protocol() == Some(b"h2") => self.speak_http2(socket).await,
            Ok(Ok(socket)) => self.speak_http1(socket).await,
            // A client that does not get through the handshake is nobody's business.
            Ok(Err(_)) | Err(_) => {}
        }
    }

    async fn speak_http1(self, socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new());
        http.header_read_timeout(Duration::from_secs(self.settings.header_seconds_max));
        http.max_buf_size(HEAD_BYTES_MAX).max_headers(HEADERS_MAX);
        let service = service(self.service, self.peer);
        // What goes wrong with a connection is its client's affair.
        let _ = self.watcher.watch(http.serve_connection(TokioIo::new(socket), service)).await;
    }

    async fn speak_http2(self, socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let mut http = http2::Builder::new(TokioExecutor::new());
        http.timer(TokioTimer::new());
        let within = Duration::from_secs(self.settings.header_seconds_max);
        http.keep_alive_interval(within).keep_alive_timeout(within);
        http.max_concurrent_streams(STREAMS_MAX).max_header_list_size(HEAD_BYTES_MAX as u32);
        // Every client answers to a ping; one that does not even begin is let go of.
        let stall = Duration::from_secs(self.settings.stall_seconds_max);
        let socket = Stalling::new(socket, stall).or_silent(within * 3);
        let service = service(self.service, self.peer);
        let _ = self.watcher.watch(http.serve_connection(TokioIo::new(socket), service)).await;
    }
}

type Incoming = http::Request<hyper::body::Incoming>;

fn service(
    router: Router,
    peer: SocketAddr,
) -> TowerToHyperService<
    impl tower::Service<Incoming, Response = axum::response::Response, Error = std::convert::Infallible, Future: Send>
    + Clone
    + Send
    + 'static,
> {
    TowerToHyperService::new(router.map_request(move |mut request: Incoming| {
        request.extensions_mut().insert(Peer(peer));
        request.map(axum::body::Body::new)
    }))
}
