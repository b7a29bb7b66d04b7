//! The server itself.

use widerow_testing::{Target, cases};

use crate::world::World;

cases![
    it_says_how_it_is,
    it_counts_what_it_does,
    pages_load_nothing_from_elsewhere,
    answers_are_compressed_and_guarded,
    links_to_the_documentation_lead_somewhere,
    a_search_that_is_given_up_is_in_the_document,
];

async fn it_says_how_it_is(target: &Target) {
    let world = World::new(target).await;
    for path in ["/healthz", "/readyz"] {
        let answer = world.bare("GET", path).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        assert_eq!(answer.json::<serde_json::Value>().await.unwrap()["status"], "ok");
    }
    let health = world.bare("GET", "/healthz").send().await.unwrap();
    assert!(health.headers()["merkato-cost"].to_str().unwrap().contains("round_trips=0"));
}

async fn it_counts_what_it_does(target: &Target) {
    let world = World::new(target).await;
    for _ in 0..3 {
        world.get("/v1/categories").send().await.unwrap();
    }
    world.get("/v1/me").send().await.unwrap();
    world.get("/secret-path").send().await.unwrap();
    let text = world.bare("GET", "/metrics").send().await.unwrap().text().await.unwrap();
    for line in [
        "merkato_http_requests_total{route=\"/v1/categories\",method=\"GET\",status=\"200\"} 3",
        "merkato_http_requests_total{route=\"/v1/me\",method=\"GET\",status=\"401\"} 1",
        "merkato_http_requests_total{route=\"\",method=\"\",status=\"404\"} 1",
        "merkato_http_request_seconds_count{route=\"/v1/categories\",method=\"GET\"} 3",
        "merkato_http_requests_running 1",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    assert!(!text.contains("secret-path"), "{text}");
    for line in [
        "merkato_read_rows_total{pattern=",
        "table=\"org_relationships\",kind=\"page\",le=\"+Inf\"} 3",
        "merkato_conditional_writes_total{outcome=\"applied\"}",
        "merkato_conditional_writes_total{outcome=\"unknown\"} 0",
        "merkato_outbox_lag_seconds 0",
        "merkato_holds_total{state=\"held\"} 0",
        "merkato_hold_units_in_force 0",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    for line in ["merkato_committer_queue ", "merkato_committer_entries_total ", "merkato_committer_bytes_total "] {
        assert_eq!(text.contains(line), target.name == "embedded", "{line}: {text}");
    }
}

async fn pages_load_nothing_from_elsewhere(target: &Target) {
    let world = World::new(target).await;
    for path in ["/docs", "/docs/errors"] {
        let answer = world.bare("GET", path).send().await.unwrap();
        let policy = answer.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.contains("style-src 'sha256-") && policy.contains("frame-ancestors 'none'"), "{policy}");
        let html = answer.text().await.unwrap();
        assert!(html.starts_with("<!doctype html>"));
        assert!(!html.contains("<script") && !html.contains("src=") && !html.contains("href=\"http"), "{path}");
    }
    let html = world.bare("GET", "/docs").send().await.unwrap().text().await.unwrap();
    assert!(html.contains("/v1/me/addresses/{id}"));
}

async fn answers_are_compressed_and_guarded(target: &Target) {
    let world = World::new(target).await;
    let zipped = world.bare("GET", "/docs").header("accept-encoding", "gzip").send().await.unwrap();
    assert_eq!(zipped.headers()["content-encoding"], "gzip");
    let api = world.get("/v1/categories").send().await.unwrap();
    assert!(api.headers()["content-security-policy"].to_str().unwrap().starts_with("default-src 'none'"));
    assert_eq!(api.headers()["x-content-type-options"], "nosniff");
    assert_eq!(api.headers()["x-frame-options"], "DENY");
    assert!(api.headers().get("strict-transport-security").is_none());
    let world = World::with(target, |settings| settings.behind_tls = true).await;
    let secure = world.get("/v1/categories").send().await.unwrap();
    assert!(secure.headers().contains_key("strict-transport-security"));
}

async fn links_to_the_documentation_lead_somewhere(target: &Target) {
    let world = World::new(target).await;
    let docs = world.bare("GET", "/docs").send().await.unwrap().text().await.unwrap();
    let mut links = 0;
    for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/admin")).unwrap() {
        let template = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for id in template.split("\"/docs#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(docs.contains(&format!(" id=\"{id}\"")), "{id}");
            links += 1;
        }
    }
    assert!(links >= 4, "{links}");
}

async fn a_search_that_is_given_up_is_in_the_document(target: &Target) {
    let world = World::new(target).await;
    let document: serde_json::Value = world.bare("GET", "/openapi.json").send().await.unwrap().json().await.unwrap();
    let told = &document["paths"]["/v1/admin/graph/{user}/path/{other}"]["get"]["responses"]["422"];
    assert_eq!(told["description"], "So many people lie between the two that the search was given up");
    assert_eq!(told["content"]["application/problem+json"]["schema"]["$ref"], "#/components/schemas/Problem");
}
