//! Stopping: what runs is finished, nothing new is begun.

use std::time::Duration;

use serde_json::json;
use tokio::task::JoinHandle;
use widerow_testing::{Target, cases};

use crate::world::World;

cases![what_runs_is_finished, idle_connections_do_not_hold_it_up];

async fn what_runs_is_finished(target: &Target) {
    let mut world = World::new(target).await;
    let running = running(&world).await;
    let server = world.stop();
    assert_eq!(running.await.unwrap().expect("an answer").status(), 202);
    tokio::time::timeout(Duration::from_secs(20), server).await.expect("it stops").expect("no panic");
    assert!(world.get("/healthz").send().await.is_err());
}

/// A request that is seen to run.
async fn running(world: &World) -> JoinHandle<reqwest::Result<reqwest::Response>> {
    loop {
        let body = json!({"email": format!("{}@example.com", widerow_testing::unique()), "password": "correct horse"});
        // It takes a quarter of a second at the least. On a machine that was busy for so long, another is looked for.
        let running = tokio::spawn(world.post("/v1/auth/register", &body).send());
        while !running.is_finished() {
            let metrics = world.bare("GET", "/metrics").send().await.unwrap().text().await.unwrap();
            // Beside the request that asks so.
            if metrics.contains("merkato_http_requests_running 2") {
                return running;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(running.await.unwrap().expect("an answer").status(), 202);
    }
}

async fn idle_connections_do_not_hold_it_up(target: &Target) {
    let mut world = World::new(target).await;
    let _idle = tokio::net::TcpStream::connect(world.address).await.unwrap();
    world.get("/healthz").send().await.unwrap();
    let server = world.stop();
    tokio::time::timeout(Duration::from_secs(20), server).await.expect("it stops").expect("no panic");
}
