//! Who has an account.

use merkato::{accounts::Role, keys::Scope};
use serde_json::json;
use uuid::Uuid;
use widerow_testing::{Target, cases};

use super::{Office, key};
use crate::world::{PASSWORD, assert_ok, assert_problem};

cases![users_are_listed_and_shown, a_suspended_user_is_out, staff_is_an_admin_s, another_shop_s_users_are_not_there];

async fn users_are_listed_and_shown(target: &Target) {
    let office = Office::open(target).await;
    let (world, ctx) = (&office.world, &office.world.ctx);
    world.clock.advance_millis(10);
    let (id, email) = world.user(ctx, Role::Customer).await;
    let first = assert_ok(office.get("/v1/admin/users?limit=1").send().await.unwrap()).await;
    assert_eq!((&first["data"][0]["email"], &first["data"][0]["role"]), (&json!(email), &json!("customer")));
    let cursor = first["next_cursor"].as_str().unwrap();
    let next = assert_ok(office.get(&format!("/v1/admin/users?limit=1&cursor={cursor}")).send().await.unwrap()).await;
    assert_eq!((&next["data"][0]["role"], &next["next_cursor"]), (&json!("staff"), &json!(null)));
    let user = office.get(&format!("/v1/admin/users/{id}")).send().await.unwrap();
    let user = user.text().await.unwrap();
    assert!(user.contains(&email) && !user.contains("hash") && !user.contains("pending"), "{user}");
    let unknown = office.get(&format!("/v1/admin/users/{}", Uuid::new_v4())).send().await.unwrap();
    assert_problem(unknown, 404, "user_not_found").await;
    let product = super::orders::product(&office, 5).await;
    let order = super::orders::buy(&office, product).await;
    let buyer = assert_ok(office.get(&format!("/v1/admin/orders/{order}")).send().await.unwrap()).await;
    let list = format!("/v1/admin/users/{}/orders", buyer["user_id"].as_str().unwrap());
    let orders = assert_ok(office.get(&list).send().await.unwrap()).await;
    assert_eq!(orders["data"][0]["id"], json!(order.0));
    let none = assert_ok(office.get(&format!("{list}?to=2020-01-01")).send().await.unwrap()).await;
    assert_eq!(none["data"], json!([]));
    let wrong = office.get(&format!("{list}?from=2020-01-02&to=2020-01-01")).send().await.unwrap();
    assert_problem(wrong, 400, "invalid").await;
}

async fn a_suspended_user_is_out(target: &Target) {
    let office = Office::open(target).await;
    let (world, ctx) = (&office.world, &office.world.ctx);
    let (id, email) = world.user(ctx, Role::Customer).await;
    let login = || world.post("/v1/auth/login", &json!({"email": email, "password": PASSWORD})).send();
    let token = assert_ok(login().await.unwrap()).await["token"].as_str().unwrap().to_owned();
    let post = |what: &str| office.request("POST", &format!("/v1/admin/users/{id}/{what}")).send();
    assert_eq!(assert_ok(post("suspend").await.unwrap()).await["status"], "suspended");
    assert_problem(world.get("/v1/me").bearer_auth(&token).send().await.unwrap(), 401, "not_logged_in").await;
    assert_problem(login().await.unwrap(), 403, "account_suspended").await;
    assert_eq!(assert_ok(post("reinstate").await.unwrap()).await["status"], "active");
    assert_ok(login().await.unwrap()).await;
    merkato::flows::person::erase(ctx, id).await.unwrap();
    assert_problem(post("reinstate").await.unwrap(), 404, "user_not_found").await;
}

async fn staff_is_an_admin_s(target: &Target) {
    let office = Office::open(target).await;
    let (world, ctx) = (&office.world, &office.world.ctx);
    let (admin, _) = world.user(ctx, Role::Admin).await;
    let (colleague, _) = world.user(ctx, Role::Staff).await;
    let program = key(ctx, &[Scope::CustomersWrite, Scope::CustomersRead]).await;
    for id in [admin, colleague] {
        for token in [&office.token, &program] {
            for what in ["suspend", "reinstate"] {
                let request = world.request("POST", &format!("/v1/admin/users/{id}/{what}")).bearer_auth(token);
                assert_problem(request.send().await.unwrap(), 403, "forbidden").await;
            }
        }
    }
    let token = world.session(ctx, Role::Admin).await;
    let request = world.request("POST", &format!("/v1/admin/users/{colleague}/suspend")).bearer_auth(&token);
    assert_ok(request.send().await.unwrap()).await;
}

async fn another_shop_s_users_are_not_there(target: &Target) {
    let office = Office::open(target).await;
    let (id, _) = office.world.user(&office.world.other, Role::Customer).await;
    let path = format!("/v1/admin/users/{id}");
    assert_problem(office.get(&path).send().await.unwrap(), 404, "user_not_found").await;
    let suspend = office.request("POST", &format!("{path}/suspend")).send().await.unwrap();
    assert_problem(suspend, 404, "user_not_found").await;
}
