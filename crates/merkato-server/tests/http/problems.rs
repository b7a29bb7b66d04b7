//! Whatever goes wrong is told in one form.

use serde_json::json;
use uuid::Uuid;
use widerow_testing::{Target, cases};

use crate::world::{World, assert_problem};

cases![
    unknown_routes_and_methods_are_problems,
    bad_bodies_say_where,
    unknown_fields_are_refused,
    bad_paths_and_queries_are_problems,
    request_ids_are_taken_if_they_are_plain,
    too_many_requests_are_told_when_to_come_back,
    documents_are_counted_and_health_is_not,
    a_trusted_proxy_says_who_the_client_is,
    whoever_comes_when_all_turns_are_taken_is_told_so,
];

async fn unknown_routes_and_methods_are_problems(target: &Target) {
    let world = World::new(target).await;
    assert_problem(world.get("/v1/nothing").send().await.unwrap(), 404, "not_found").await;
    assert_problem(world.get("/nothing").send().await.unwrap(), 404, "not_found").await;
    let answer = world.request("DELETE", "/v1/search").send().await.unwrap();
    assert_eq!(answer.headers()["allow"], "GET,HEAD");
    assert_problem(answer, 405, "method_not_allowed").await;
    assert_problem(world.request("BREW", "/v1/search").send().await.unwrap(), 405, "method_not_allowed").await;
}

async fn bad_bodies_say_where(target: &Target) {
    let world = World::new(target).await;
    let send = |body: &'static str| {
        let request = world.request("POST", "/v1/auth/login").header("content-type", "application/json");
        request.body(body).send()
    };
    let body = assert_problem(send("{\"email\": \"a\",,}").await.unwrap(), 400, "bad_json").await;
    assert!(body["detail"].as_str().unwrap().contains("line 1 column 15"), "{body}");
    let body = assert_problem(send("{\"email\": 5}").await.unwrap(), 400, "invalid").await;
    assert_eq!(body["errors"][0]["pointer"], "/email");
    assert_problem(send("").await.unwrap(), 400, "bad_json").await;
    assert_problem(send("{\"email\": \"a@b\", \"password\": \"x\"} trailing").await.unwrap(), 400, "bad_json").await;
    let missing = world.request("POST", "/v1/auth/login").body("{}").send().await.unwrap();
    assert_problem(missing, 415, "unsupported_media_type").await;
    let form = world.request("POST", "/v1/auth/login").header("content-type", "application/x-www-form-urlencoded");
    assert_problem(form.body("email=a").send().await.unwrap(), 415, "unsupported_media_type").await;
    let body = json!({"email": "not an address", "password": "short"});
    let body = assert_problem(world.post("/v1/auth/register", &body).send().await.unwrap(), 400, "invalid").await;
    let pointers: Vec<_> = body["errors"].as_array().unwrap().iter().map(|e| e["pointer"].as_str().unwrap()).collect();
    assert_eq!(pointers, ["/email", "/password"]);
}

/// A body cannot set what it should not: it is told so, not ignored.
async fn unknown_fields_are_refused(target: &Target) {
    let world = World::new(target).await;
    let body = json!({"email": "a@example.com", "password": "correct horse", "role": "admin"});
    let body = assert_problem(world.post("/v1/auth/register", &body).send().await.unwrap(), 400, "invalid").await;
    assert!(body["detail"].as_str().unwrap().contains("role"), "{body}");
    assert_problem(world.get("/v1/categories?limitt=5").send().await.unwrap(), 400, "bad_query").await;
}

async fn bad_paths_and_queries_are_problems(target: &Target) {
    let world = World::new(target).await;
    assert_problem(world.get("/v1/products/not-an-id").send().await.unwrap(), 400, "bad_path").await;
    assert_problem(world.get("/v1/products/by-slug/%ff").send().await.unwrap(), 400, "bad_path").await;
    assert_problem(world.get("/v1/categories?limit=x").send().await.unwrap(), 400, "bad_query").await;
    let body = assert_problem(world.get("/v1/categories?limit=101").send().await.unwrap(), 400, "invalid").await;
    assert_eq!(body["errors"][0]["pointer"], "/limit");
    assert_problem(world.get("/v1/search").send().await.unwrap(), 400, "bad_query").await;
    let unknown = world.get(&format!("/v1/products/{}", Uuid::new_v4())).send().await.unwrap();
    assert_problem(unknown, 404, "product_not_found").await;
}

async fn request_ids_are_taken_if_they_are_plain(target: &Target) {
    let world = World::new(target).await;
    let answer = world.get("/healthz").header("x-request-id", "abc-123").send().await.unwrap();
    assert_eq!(answer.headers()["x-request-id"], "abc-123");
    let long = "x".repeat(65);
    for bad in ["a b", "<script>", long.as_str()] {
        let answer = world.get("/healthz").header("x-request-id", bad).send().await.unwrap();
        assert!(Uuid::parse_str(answer.headers()["x-request-id"].to_str().unwrap()).is_ok());
    }
}

async fn too_many_requests_are_told_when_to_come_back(target: &Target) {
    let world = World::with(target, |settings| {
        settings.rate.requests_a_minute = 20;
        settings.rate.logins_a_minute = 3;
    })
    .await;
    let body = json!({"token": "x"});
    for left in [2, 1, 0] {
        let answer = world.post("/v1/auth/verify", &body).send().await.unwrap();
        assert_eq!(answer.headers()["ratelimit-remaining"], left.to_string().as_str());
        assert_problem(answer, 422, "token_invalid").await;
    }
    let answer = world.post("/v1/auth/verify", &body).send().await.unwrap();
    assert_eq!(answer.headers()["retry-after"], "20");
    assert_problem(answer, 429, "too_many_requests").await;
    for _ in 0..16 {
        assert_eq!(world.get("/v1/categories").send().await.unwrap().status(), 200);
    }
    assert_problem(world.get("/v1/categories").send().await.unwrap(), 429, "too_many_requests").await;
    // A header that anyone can write does not make another client.
    let forged = world.get("/v1/categories").header("x-forwarded-for", "9.9.9.9").send().await.unwrap();
    assert_problem(forged, 429, "too_many_requests").await;
    assert_eq!(world.get("/healthz").send().await.unwrap().status(), 200);
    world.clock.advance_millis(60_000);
    assert_eq!(world.get("/v1/categories").send().await.unwrap().status(), 200);
}

/// What the server says of itself is long, and asked for by nobody in a hurry; how it is, is asked by who watches over it.
async fn documents_are_counted_and_health_is_not(target: &Target) {
    let world = World::with(target, |settings| settings.rate.requests_a_minute = 5).await;
    let ask = async |path: &str| world.bare("GET", path).send().await.unwrap().status().as_u16();
    for path in ["/openapi.json", "/docs", "/docs/errors", "/openapi.json", "/docs"] {
        assert_eq!(ask(path).await, 200, "{path}");
    }
    assert_problem(world.bare("GET", "/openapi.json").send().await.unwrap(), 429, "too_many_requests").await;
    assert_eq!((ask("/docs").await, ask("/docs/errors").await), (429, 429));
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(ask(path).await, 200, "{path}");
    }
}

/// The nearest address that is not a proxy's counts; what stands before it anyone may have written.
async fn a_trusted_proxy_says_who_the_client_is(target: &Target) {
    let world = World::with(target, |settings| {
        settings.rate.requests_a_minute = 2;
        settings.trusted_proxies = vec!["127.0.0.0/8".parse().expect("a network")];
    })
    .await;
    let ask = async |forwarded: &str| {
        let answer = world.get("/v1/categories").header("x-forwarded-for", forwarded).send().await.unwrap();
        answer.status().as_u16()
    };
    for client in ["9.9.9.1", "9.9.9.2", "8.8.8.8, 9.9.9.3", "9.9.9.4, 127.0.0.7"] {
        assert_eq!([ask(client).await, ask(client).await, ask(client).await], [200, 200, 429], "{client}");
    }
    assert_eq!(ask("1.2.3.4, 9.9.9.1").await, 429, "the same client with a forged one before it");
}

async fn whoever_comes_when_all_turns_are_taken_is_told_so(target: &Target) {
    let world = World::with(target, |settings| settings.requests_at_once_max = 1).await;
    let body = json!({"email": "nobody@example.com"});
    // Each keeps its turn for a quarter of a second.
    let asked = (0..8).map(|_| world.post("/v1/auth/password-reset", &body).send());
    let mut statuses = Vec::new();
    for answer in futures::future::join_all(asked).await {
        let answer = answer.unwrap();
        if answer.status() == 503 {
            assert_eq!(answer.headers()["retry-after"], "1");
            assert_problem(answer, 503, "busy").await;
            statuses.push(503);
        } else {
            statuses.push(answer.status().as_u16());
        }
    }
    assert!(statuses.contains(&202) && statuses.contains(&503), "{statuses:?}");
    assert_eq!(world.get("/v1/categories").send().await.unwrap().status(), 200);
}
