//! A request that is made again is answered as before and not done again.

use merkato::{accounts::Role, replies::ReplyRow, text::digest};
use merkato_server::{http::access::RULES, web::pages};
use serde_json::json;
use widerow_testing::{Target, cases};

use crate::world::{PASSWORD, World, assert_ok, assert_problem};

cases![
    the_same_request_is_done_once,
    a_key_is_its_principal_s_own,
    at_once_one_runs_and_the_others_wait,
    answers_with_secrets_are_not_kept,
    a_password_is_not_kept_even_as_a_hash,
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

/// A fast hash of a password, kept for a day, would be guessed by whoever reads the store.
async fn a_password_is_not_kept_even_as_a_hash(target: &Target) {
    let world = World::new(target).await;
    let email = format!("{}@example.com", widerow_testing::unique());
    let kept = async |path: &str, body: serde_json::Value| {
        let answer = world.post(path, &body).header("idempotency-key", "once").send().await.unwrap();
        assert!(answer.headers().get("idempotent-replayed").is_none(), "{path}");
        let key = digest(&[b"reply", format!("nobody POST {path}").as_bytes(), b"once"]);
        (answer.status().as_u16(), world.ctx.store.get::<ReplyRow>(key).await.unwrap().is_some())
    };
    // One without a password is kept.
    assert_eq!(kept("/v1/auth/password-reset", json!({"email": email})).await, (202, true));
    let register = |password: &str| json!({"email": email, "password": password});
    assert_eq!(kept("/v1/auth/register", register(PASSWORD)).await, (202, false));
    assert_eq!(kept("/v1/auth/register", register("another password")).await, (202, false));
    let reset = json!({"token": "x", "new_password": PASSWORD});
    assert_eq!(kept("/v1/auth/password-reset/confirm", reset).await, (422, false));
    for page in pages::rules().chain(RULES).filter(|rule| rule.is_unsafe() && rule.path.contains("password")) {
        let asks_for_a_letter = page.path.ends_with("/password-reset");
        assert_eq!(page.takes_key(), asks_for_a_letter, "{}", page.path);
    }
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
