//! A request that is made again is answered as before and not done again.

use merkato::accounts::Role;
use serde_json::json;
use widerow_testing::{Target, cases};

use crate::world::{PASSWORD, World, assert_ok, assert_problem};

cases![
    the_same_request_is_done_once,
    a_key_is_its_principal_s_own,
    at_once_one_runs_and_the_others_wait,
    answers_with_secrets_are_not_kept,
    refusals_are_kept_and_bad_keys_refused,
];

fn address() -> serde_json::Value {
    json!({"street": "Unter den Linden 1", "city": "Berlin", "country": "DE"})
}

async fn count(world: &World, token: &str) -> usize {
    let all = assert_ok(world.get("/v1/me/addresses").bearer_auth(token).send().await.unwrap()).await;
    all["data"].as_array().unwrap().len()
}

async fn the_same_request_is_done_once(target: &Target) {
    let world = World::new(target).await;
    let token = world.session(&world.ctx, Role::Customer).await;
    let add = |body: serde_json::Value| {
        let request = world.post("/v1/me/addresses", &body).bearer_auth(&token);
        request.header("idempotency-key", "once").send()
    };
    let first = add(address()).await.unwrap();
    assert_eq!(first.status(), 201);
    assert!(first.headers().get("idempotent-replayed").is_none());
    let location = first.headers()["location"].clone();
    let body = first.text().await.unwrap();
    let again = add(address()).await.unwrap();
    assert_eq!(again.status(), 201);
    assert_eq!(again.headers()["idempotent-replayed"], "true");
    assert_eq!(again.headers()["location"], location);
    assert_eq!(again.headers()["content-type"], "application/json");
    assert_eq!(again.text().await.unwrap(), body);
    assert_eq!(count(&world, &token).await, 1);
    let mut other = address();
    other["city"] = "Potsdam".into();
    assert_problem(add(other).await.unwrap(), 422, "idempotency_key_reused").await;
    world.clock.advance_millis(25 * 3_600_000);
    assert!(add(address()).await.unwrap().headers().get("idempotent-replayed").is_none());
}

async fn a_key_is_its_principal_s_own(target: &Target) {
    let world = World::new(target).await;
    let people = [world.session(&world.ctx, Role::Customer).await, world.session(&world.ctx, Role::Customer).await];
    for token in &people {
        let request = world.post("/v1/me/addresses", &address()).bearer_auth(token);
        let answer = request.header("idempotency-key", "same").send().await.unwrap();
        assert!(answer.headers().get("idempotent-replayed").is_none());
        assert_eq!(answer.status(), 201);
        assert_eq!(count(&world, token).await, 1);
    }
}

async fn at_once_one_runs_and_the_others_wait(target: &Target) {
    let world = World::new(target).await;
    let token = world.session(&world.ctx, Role::Customer).await;
    let add = || {
        let request = world.post("/v1/me/addresses", &address()).bearer_auth(&token);
        request.header("idempotency-key", "at-once").send()
    };
    let answers = futures::future::join_all((0..8).map(|_| add())).await;
    for answer in answers {
        let answer = answer.unwrap();
        match answer.status().as_u16() {
            201 => {}
            409 => {
                assert!(answer.headers().contains_key("retry-after"));
                assert_problem(answer, 409, "idempotency_key_in_use").await;
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!(count(&world, &token).await, 1);
    assert_eq!(add().await.unwrap().headers()["idempotent-replayed"], "true");
}

async fn answers_with_secrets_are_not_kept(target: &Target) {
    let world = World::new(target).await;
    let (_, email) = world.user(&world.ctx, Role::Customer).await;
    let login = || {
        let request = world.post("/v1/auth/login", &json!({"email": email, "password": PASSWORD}));
        request.header("idempotency-key", "login").send()
    };
    let first = assert_ok(login().await.unwrap()).await;
    let second = login().await.unwrap();
    assert!(second.headers().get("idempotent-replayed").is_none());
    assert_ne!(assert_ok(second).await["token"], first["token"]);
}

async fn refusals_are_kept_and_bad_keys_refused(target: &Target) {
    let world = World::new(target).await;
    let token = world.session(&world.ctx, Role::Customer).await;
    let add = |key: String| {
        let request = world.post("/v1/me/addresses", &json!({"street": ""})).bearer_auth(&token);
        request.header("idempotency-key", key).send()
    };
    let first = assert_problem(add("bad".into()).await.unwrap(), 400, "invalid").await;
    let again = add("bad".into()).await.unwrap();
    assert_eq!(again.headers()["idempotent-replayed"], "true");
    let again: serde_json::Value = again.json().await.unwrap();
    assert_eq!(again, first);
    for bad in [String::new(), "x".repeat(256)] {
        assert_problem(add(bad).await.unwrap(), 400, "invalid").await;
    }
}
