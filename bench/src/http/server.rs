//! The server as a process of its own.

use std::{
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tokio::net::TcpStream;

use super::client::Client;

/// The longest that it may take to start, or to stop.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Server {
    process: Child,
    pub address: String,
    /// From its start until it said that it can work.
    pub took: Duration,
}

impl Server {
    pub async fn start(binary: &Path, folder: &Path) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = free.local_addr().expect("an address").to_string();
        drop(free);
        let start = Instant::now();
        let process = Command::new(binary)
            .args(["serve", "--listen", &address, "--set", "http.rate.requests_a_minute=0"])
            .args(["--set", "http.log.filter=error", "--engine", "embedded", "--folder"])
            .arg(folder)
            .env_clear()
            .stdin(Stdio::null())
            .spawn()
            .expect("the server starts");
        let mut server = Server { process, address, took: Duration::ZERO };
        while TcpStream::connect(&server.address).await.is_err() {
            assert!(start.elapsed() < PATIENCE, "the server does not listen");
            assert!(server.process.try_wait().expect("a process").is_none(), "the server has ended");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let ready = Client::connect(&server.address).await.get("/readyz").await;
        assert_eq!(ready, "{\"status\":\"ok\"}");
        server.took = start.elapsed();
        server
    }

    /// What it has in memory now.
    pub fn memory_mib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).expect("its status");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("its memory");
        line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("a number") / 1024
    }

    /// Tells it to stop, as a supervisor would.
    pub async fn stop(mut self) {
        let told = Command::new("kill").arg(self.process.id().to_string()).status();
        assert!(told.is_ok_and(|status| status.success()), "the server was there");
        let start = Instant::now();
        while self.process.try_wait().expect("a process").is_none() {
            assert!(start.elapsed() < PATIENCE, "the server does not stop");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
