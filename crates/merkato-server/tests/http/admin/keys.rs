//! Keys of programs.

use merkato::{accounts::Role, keys::Scope};
use serde_json::{Value, json};
use uuid::Uuid;
use widerow_testing::{Target, cases};

use super::key;
use crate::world::{World, assert_ok, assert_problem};

cases![a_key_is_made_used_and_revoked, a_key_gives_no_more_than_it_has, tokens_are_shown_once];

async fn a_key_is_made_used_and_revoked(target: &Target) {
    let world = World::new(target).await;
    let admin = world.session(&world.ctx, Role::Admin).await;
    let body = json!({"name": "Scanners", "scopes": ["inventory_read", "catalog_read"]});
    let made = world.post("/v1/admin/keys", &body).bearer_auth(&admin).send().await.unwrap();
    assert_eq!(made.status(), 201);
    assert_eq!(made.headers()["cache-control"], "no-store");
    let made = assert_ok(made).await;
    assert!(made["created_by"].as_str().unwrap().starts_with("admin:"), "{made}");
    let token = made["token"].as_str().unwrap().to_owned();
    let list = || world.bare("GET", "/v1/admin/products").bearer_auth(&token).send();
    assert_ok(list().await.unwrap()).await;
    let path = format!("/v1/admin/keys/{}", made["id"].as_str().unwrap());
    let revoke = |path: String| world.request("DELETE", &path).bearer_auth(&admin).send();
    assert_eq!(revoke(path.clone()).await.unwrap().status(), 204);
    assert_eq!(revoke(path).await.unwrap().status(), 204);
    assert_problem(list().await.unwrap(), 401, "not_logged_in").await;
    let unknown = revoke(format!("/v1/admin/keys/{}", Uuid::new_v4())).await.unwrap();
    assert_problem(unknown, 404, "key_not_found").await;
    // Another shop's key is none.
    let other = world.session(&world.other, Role::Admin).await;
    let mine = key(&world.ctx, &[Scope::CatalogRead]).await;
    let keys = assert_ok(world.get("/v1/admin/keys").bearer_auth(&admin).send().await.unwrap()).await;
    let in_force = keys["data"].as_array().unwrap().iter().find(|key| key["in_force"] == true).unwrap();
    let there = world.bare("DELETE", &format!("/v1/admin/keys/{}", in_force["id"].as_str().unwrap()));
    let there = there.bearer_auth(&other).header("merkato-tenant", world.other.store.tenant().as_str());
    assert_problem(there.send().await.unwrap(), 404, "key_not_found").await;
    assert_ok(world.bare("GET", "/v1/admin/products").bearer_auth(&mine).send().await.unwrap()).await;
}

async fn a_key_gives_no_more_than_it_has(target: &Target) {
    let world = World::new(target).await;
    let own = key(&world.ctx, &[Scope::KeysWrite, Scope::CatalogRead]).await;
    let make = |scopes: Value| {
        world.post("/v1/admin/keys", &json!({"name": "Child", "scopes": scopes})).bearer_auth(&own).send()
    };
    let child = assert_ok(make(json!(["catalog_read"])).await.unwrap()).await;
    assert!(child["created_by"].as_str().unwrap().starts_with("key:"), "{child}");
    let more = make(json!(["catalog_read", "orders_write"])).await.unwrap();
    assert_problem(more, 403, "scope_missing").await;
    let admin = world.session(&world.ctx, Role::Admin).await;
    for (body, pointer) in [
        (json!({"name": "x", "scopes": []}), "/scopes"),
        (json!({"name": "x", "scopes": ["everything"]}), "/scopes/0"),
        (json!({"name": "", "scopes": ["catalog_read"]}), "/name"),
        (json!({"name": "x", "scopes": ["catalog_read"], "expires_at": "2020-01-01T00:00:00Z"}), "/expires_at"),
        (json!({"name": "x", "scopes": ["catalog_read"], "created_by": "god"}), "/created_by"),
        (json!({"name": "x", "scopes": ["catalog_read"], "tenant": "other"}), "/tenant"),
    ] {
        let answer = world.post("/v1/admin/keys", &body).bearer_auth(&admin).send().await.unwrap();
        let problem = assert_problem(answer, 400, "invalid").await;
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{problem}");
    }
}

async fn tokens_are_shown_once(target: &Target) {
    let world = World::new(target).await;
    let admin = world.session(&world.ctx, Role::Admin).await;
    let body = json!({"name": "Scanners", "scopes": ["inventory_read"]});
    let make = || {
        let request = world.post("/v1/admin/keys", &body).bearer_auth(&admin);
        request.header("idempotency-key", "same").send()
    };
    let first = assert_ok(make().await.unwrap()).await;
    let second = make().await.unwrap();
    assert!(second.headers().get("idempotent-replayed").is_none());
    let second = assert_ok(second).await;
    assert_ne!(first["id"], second["id"]);
    let list = world.get("/v1/admin/keys").bearer_auth(&admin).send().await.unwrap().text().await.unwrap();
    assert!(list.contains("Scanners") && !list.contains("mk_") && !list.contains("hash"), "{list}");
    let page = world.get("/v1/admin/keys?limit=1").bearer_auth(&admin).send().await.unwrap();
    let cursor = assert_ok(page).await["next_cursor"].as_str().unwrap().to_owned();
    let next = world.get(&format!("/v1/admin/keys?limit=1&cursor={cursor}")).bearer_auth(&admin).send().await.unwrap();
    assert_eq!(assert_ok(next).await["next_cursor"], Value::Null);
}
