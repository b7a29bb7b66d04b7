//! `ETag`, `If-None-Match`, `If-Match`.

use merkato::accounts::Role;
use serde_json::json;
use widerow_testing::{Target, cases};

use crate::world::{World, assert_ok, assert_problem};

cases![what_the_client_has_is_not_sent_again, an_edit_rests_on_what_was_read];

async fn what_the_client_has_is_not_sent_again(target: &Target) {
    let world = World::new(target).await;
    let category = world.category(&world.ctx, "Lamps").await;
    let lamp = world.product(&world.ctx, category, "Walnut lamp", 19_90).await;
    for path in [format!("/v1/products/{}", lamp.product_id), format!("/v1/categories/{category}/products")] {
        let first = world.get(&path).send().await.unwrap();
        let tag = first.headers()["etag"].to_str().unwrap().to_owned();
        let again = world.get(&path).header("if-none-match", &tag).send().await.unwrap();
        assert_eq!(again.status(), 304);
        assert_eq!(again.headers()["etag"], tag.as_str());
        assert_eq!(again.text().await.unwrap(), "");
        let several = world.get(&path).header("if-none-match", format!("\"x\", W/{tag}")).send().await.unwrap();
        assert_eq!(several.status(), 304);
        assert_eq!(world.get(&path).header("if-none-match", "\"x\"").send().await.unwrap().status(), 200);
    }
    let head = world.request("HEAD", &format!("/v1/products/{}", lamp.product_id)).send().await.unwrap();
    assert_eq!(head.status(), 200);
    assert!(head.headers().contains_key("etag"));
}

async fn an_edit_rests_on_what_was_read(target: &Target) {
    let world = World::new(target).await;
    let token = world.session(&world.ctx, Role::Customer).await;
    let read = world.get("/v1/me").bearer_auth(&token).send().await.unwrap();
    let tag = read.headers()["etag"].to_str().unwrap().to_owned();
    let patch = |tag: &str| {
        let request = world.request("PATCH", "/v1/me").bearer_auth(&token).header("if-match", tag);
        request.json(&json!({"first_name": "Ada"})).send()
    };
    let changed = patch(&tag).await.unwrap();
    assert_ne!(changed.headers()["etag"], tag.as_str());
    assert_ok(changed).await;
    assert_problem(patch(&tag).await.unwrap(), 412, "precondition_failed").await;
    assert_problem(patch("\"what is this\"").await.unwrap(), 412, "precondition_failed").await;
    assert_ok(patch("*").await.unwrap()).await;
}
