//! Every route, as nobody, as a customer, as staff, as another shop's admin.

use std::collections::BTreeSet;

use merkato::{
    accounts::Role,
    keys::{self, NewKey, Scope},
};
use merkato_server::http::access::{Access, RULES, Rule};
use reqwest::Response;
use uuid::Uuid;
use widerow_testing::{Target, cases};

use crate::world::{World, assert_problem};

cases![nobody, a_customer, staff, an_admin, a_key, an_admin_of_another_shop, every_route_is_described];

/// The route with something for each variable, and a body where it takes one.
async fn call(world: &World, rule: &Rule, bearer: Option<&str>) -> Response {
    let parts = rule.path.split('/').map(|part| match part {
        "{slug}" => "a-slug".to_owned(),
        "{feature_type}" => "homepage".to_owned(),
        part if part.starts_with('{') => Uuid::new_v4().to_string(),
        part => part.to_owned(),
    });
    let path = parts.collect::<Vec<_>>().join("/");
    let mut request = world.request(rule.method, &path);
    if rule.is_unsafe() {
        request = request.json(&serde_json::json!({}));
    }
    if let Some(token) = bearer {
        request = request.bearer_auth(token);
    }
    request.send().await.expect("an answer")
}

async fn nobody(target: &Target) {
    let world = World::new(target).await;
    for rule in RULES {
        let answer = call(&world, rule, None).await;
        match rule.access {
            Access::System | Access::Anyone => {
                assert!(!matches!(answer.status().as_u16(), 401 | 403 | 500..), "{rule:?}: {}", answer.status());
            }
            Access::Shopper | Access::Person | Access::Staff(_) | Access::Admin(_) => {
                assert_problem(answer, 401, "not_logged_in").await;
            }
        }
    }
}

async fn a_customer(target: &Target) {
    let world = World::new(target).await;
    for rule in RULES {
        let token = world.session(&world.ctx, Role::Customer).await;
        let answer = call(&world, rule, Some(&token)).await;
        match rule.access {
            Access::Staff(_) | Access::Admin(_) => _ = assert_problem(answer, 403, "forbidden").await,
            _ => assert!(!matches!(answer.status().as_u16(), 401 | 403 | 500..), "{rule:?}: {}", answer.status()),
        }
    }
}

async fn staff(target: &Target) {
    let world = World::new(target).await;
    for rule in RULES {
        let token = world.session(&world.ctx, Role::Staff).await;
        let answer = call(&world, rule, Some(&token)).await;
        match rule.access {
            Access::Admin(_) => _ = assert_problem(answer, 403, "forbidden").await,
            _ => assert!(!matches!(answer.status().as_u16(), 401 | 403 | 500..), "{rule:?}: {}", answer.status()),
        }
    }
}

async fn an_admin(target: &Target) {
    let world = World::new(target).await;
    for rule in RULES {
        let token = world.session(&world.ctx, Role::Admin).await;
        let answer = call(&world, rule, Some(&token)).await;
        assert!(!matches!(answer.status().as_u16(), 401 | 403 | 500..), "{rule:?}: {}", answer.status());
    }
}

/// A key opens the routes of its scopes, and no other of the staff's.
async fn a_key(target: &Target) {
    let world = World::new(target).await;
    let staff = |rule: &&Rule| matches!(rule.access, Access::Staff(_) | Access::Admin(_));
    for own in Scope::ALL {
        let new = NewKey {
            name: "a program".into(),
            scopes: BTreeSet::from([*own]),
            created_by: "a test".into(),
            expires_at: None,
        };
        let token = keys::create(&world.ctx, new).await.expect("a key").token;
        for rule in RULES.iter().filter(staff) {
            let answer = call(&world, rule, Some(token.as_str())).await;
            match rule.access {
                Access::Staff(scope) | Access::Admin(scope) if scope == *own => {
                    assert!(!matches!(answer.status().as_u16(), 401 | 403 | 500..), "{rule:?}: {}", answer.status());
                }
                _ => _ = assert_problem(answer, 403, "scope_missing").await,
            }
        }
    }
}

/// To this shop, an admin of another is nobody; and a token that is not good is told so, wherever it is shown.
async fn an_admin_of_another_shop(target: &Target) {
    let world = World::new(target).await;
    let token = world.session(&world.other, Role::Admin).await;
    for rule in RULES.iter().filter(|rule| rule.access != Access::System) {
        assert_problem(call(&world, rule, Some(&token)).await, 401, "not_logged_in").await;
    }
}

async fn every_route_is_described(target: &Target) {
    let world = World::new(target).await;
    let document: serde_json::Value = world.get("/openapi.json").send().await.unwrap().json().await.unwrap();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"), "{}", document["openapi"]);
    for rule in RULES {
        let operation = &document["paths"][rule.path][rule.method.to_ascii_lowercase()];
        let name = format!("{} {}", rule.method, rule.path);
        assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{name} has no summary");
        let statuses = operation["responses"].as_object().expect("responses");
        assert!(statuses.keys().any(|status| status.starts_with('2')), "{name} never succeeds");
        assert!(statuses.contains_key("500"), "{name} never fails");
        if matches!(rule.access, Access::Person | Access::Staff(_) | Access::Admin(_)) {
            assert!(
                operation["security"].as_array().is_some_and(|schemes| !schemes.is_empty()),
                "{name} needs nothing"
            );
        }
    }
    assert_refs(&document, &document);
}

/// What is referred to is there.
fn assert_refs(document: &serde_json::Value, value: &serde_json::Value) {
    match value {
        serde_json::Value::Object(object) => {
            if let Some(reference) = object.get("$ref").and_then(|reference| reference.as_str()) {
                let pointer = reference.trim_start_matches('#');
                assert!(document.pointer(pointer).is_some(), "{reference} is nowhere");
            }
            object.values().for_each(|value| assert_refs(document, value));
        }
        serde_json::Value::Array(values) => values.iter().for_each(|value| assert_refs(document, value)),
        _ => {}
    }
}
