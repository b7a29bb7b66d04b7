//! What one says about oneself.

use merkato::accounts::Role;
use serde_json::{Value, json};
use widerow_testing::{Target, cases};

use crate::world::{World, assert_ok, assert_problem};

cases![
    a_profile_is_changed_in_parts,
    what_is_not_ones_own_to_set_is_refused,
    addresses_are_kept,
    nothing_personal_is_cached
];

async fn a_profile_is_changed_in_parts(target: &Target) {
    let world = World::new(target).await;
    let token = world.session(&world.ctx, Role::Customer).await;
    let patch = |body: Value| world.request("PATCH", "/v1/me").bearer_auth(&token).json(&body).send();
    let me =
        assert_ok(patch(json!({"first_name": "Ada", "phone": "+49 30 1", "preferences": {"a": "b"}})).await.unwrap());
    assert_eq!(me.await["first_name"], "Ada");
    let me = assert_ok(patch(json!({"last_name": "Lovelace", "phone": null})).await.unwrap()).await;
    assert_eq!(me["first_name"], "Ada");
    assert_eq!(me["last_name"], "Lovelace");
    assert_eq!(me["phone"], Value::Null);
    assert_eq!(me["preferences"], json!({"a": "b"}));
    let body = assert_problem(patch(json!({"first_name": "<b>Ada"})).await.unwrap(), 400, "invalid").await;
    assert_eq!(body["errors"][0]["pointer"], "/first_name");
}

async fn what_is_not_ones_own_to_set_is_refused(target: &Target) {
    let world = World::new(target).await;
    let token = world.session(&world.ctx, Role::Customer).await;
    let fields =
        ["role", "status", "email", "email_verified", "id", "user_id", "password_hash", "session_epoch", "revision"];
    for field in fields {
        let patch = world.request("PATCH", "/v1/me").bearer_auth(&token).json(&json!({field: "admin"}));
        assert_problem(patch.send().await.unwrap(), 400, "invalid").await;
    }
    let me = assert_ok(world.get("/v1/me").bearer_auth(&token).send().await.unwrap()).await;
    assert_eq!(me["role"], "customer");
}

async fn addresses_are_kept(target: &Target) {
    let world = World::new(target).await;
    let token = world.session(&world.ctx, Role::Customer).await;
    let address = json!({"street": "Unter den Linden 1", "city": "Berlin", "country": "DE"});
    let add = || world.post("/v1/me/addresses", &address).bearer_auth(&token).send();
    let answer = add().await.unwrap();
    assert_eq!(answer.status(), 201);
    let location = answer.headers()["location"].to_str().unwrap().to_owned();
    let first = assert_ok(answer).await;
    assert_eq!(first["is_default"], true);
    let second = assert_ok(add().await.unwrap()).await;
    assert_eq!(second["is_default"], false);
    let moved = json!({"street": "Rue de Rivoli 1", "city": "Paris", "country": "FR", "make_default": true});
    let path = format!("/v1/me/addresses/{}", second["id"].as_str().unwrap());
    let put = world.request("PUT", &path).bearer_auth(&token).json(&moved).send().await.unwrap();
    assert_eq!(assert_ok(put).await["is_default"], true);
    let gone = world.request("DELETE", &location).bearer_auth(&token).send().await.unwrap();
    assert_eq!(gone.status(), 204);
    let again = world.request("DELETE", &location).bearer_auth(&token).send().await.unwrap();
    assert_problem(again, 404, "address_not_found").await;
    let all = assert_ok(world.get("/v1/me/addresses").bearer_auth(&token).send().await.unwrap()).await;
    assert_eq!(all["data"].as_array().unwrap().len(), 1);
    // Another person has none of them.
    let other = world.session(&world.ctx, Role::Admin).await;
    let stolen = world.request("PUT", &path).bearer_auth(&other).json(&moved).send().await.unwrap();
    assert_problem(stolen, 404, "address_not_found").await;
    let mut left = 4;
    while add().await.unwrap().status() == 201 {
        left -= 1;
    }
    assert_eq!(left, 0);
    assert_problem(add().await.unwrap(), 422, "too_many_addresses").await;
}

async fn nothing_personal_is_cached(target: &Target) {
    let world = World::new(target).await;
    let token = world.session(&world.ctx, Role::Customer).await;
    let mine = world.get("/v1/me").bearer_auth(&token).send().await.unwrap();
    assert_eq!(mine.headers()["cache-control"], "no-store");
    let all = world.get("/v1/categories").send().await.unwrap();
    assert_eq!(all.headers()["cache-control"], "no-cache");
    let varies: Vec<_> = all.headers().get_all("vary").iter().map(|value| value.to_str().unwrap()).collect();
    assert!(varies.join(",").contains("authorization"), "{varies:?}");
}
