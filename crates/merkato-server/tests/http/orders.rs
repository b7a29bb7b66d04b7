//! Orders as whoever placed them sees them; and views of products.

use merkato::{
    accounts::Role,
    analytics, inventory,
    orders::{self, Change, OrderStatus},
};
use serde_json::{Value, json};
use widerow_testing::{Target, cases};

use crate::{
    checkouts::{body, buy, fill, shopper},
    world::{World, assert_ok, assert_problem},
};

cases![
    an_order_is_shown_with_lines_and_history,
    orders_are_listed_by_day_and_page,
    an_order_is_cancelled_once,
    what_was_sent_is_not_cancelled,
    another_s_order_is_not_there,
    a_view_is_counted_for_what_is_on_sale,
];

async fn order(world: &World, token: &str, key: &str) -> String {
    let bought = assert_ok(buy(world, token, key, &body("ok")).await).await;
    format!("/v1/orders/{}", bought["order"]["id"].as_str().unwrap())
}

async fn an_order_is_shown_with_lines_and_history(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 5).await.product_id;
    let token = shopper(&world, lamp, 2).await;
    let path = order(&world, &token, "a").await;
    let get = |path: String| world.get(&path).bearer_auth(&token).send();
    let answer = get(path.clone()).await.unwrap();
    let tag = answer.headers()["etag"].to_str().unwrap().to_owned();
    let found = assert_ok(answer).await;
    for hidden in ["internal_notes", "payment_id", "revision", "checkout_id", "cart_id", "change_ids", "user_id"] {
        assert!(found.get(hidden).is_none(), "{hidden}");
    }
    let same = world.get(&path).bearer_auth(&token).header("if-none-match", tag).send().await.unwrap();
    assert_eq!(same.status(), 304);
    let items = assert_ok(get(format!("{path}/items")).await.unwrap()).await;
    let line = &items["data"][0];
    assert_eq!((&line["line_number"], &line["quantity"], line["name"].as_str()), (&json!(1), &json!(2), Some("Lamp")));
    assert_eq!(line["line_total"], json!({"amount": "39.98", "currency": "EUR"}));
    let id = path.rsplit('/').next().unwrap().parse().unwrap();
    let change = Change { notes: Some("in the box".into()), ..Change::by("admin:john", world.ctx.new_id()) };
    orders::change_status(&world.ctx, id, OrderStatus::Processing, change).await.unwrap();
    let history = assert_ok(get(format!("{path}/history")).await.unwrap()).await;
    let steps: Vec<_> = history["data"].as_array().unwrap().iter().map(|row| (&row["status"], &row["by"])).collect();
    let (shop, customer) = (json!("shop"), json!("customer"));
    assert_eq!(steps, [(&json!("processing"), &shop), (&json!("paid"), &shop), (&json!("pending"), &customer)]);
    assert_eq!(history["data"][0]["notes"], "in the box");
    assert!(!history.to_string().contains("john"));
}

async fn orders_are_listed_by_day_and_page(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 50).await.product_id;
    let token = shopper(&world, lamp, 1).await;
    let first_day = world.ctx.now().date();
    for key in ["a", "b", "c"] {
        order(&world, &token, key).await;
        fill(&world, &token, lamp, 1).await;
        world.clock.advance_millis(1_000);
    }
    world.clock.advance_millis(25 * 3_600_000);
    let newest = order(&world, &token, "d").await;
    let list = |query: String| world.get(&format!("/v1/me/orders{query}")).bearer_auth(&token).send();
    let all = assert_ok(list(String::new()).await.unwrap()).await;
    assert_eq!(all["data"].as_array().unwrap().len(), 4);
    assert!(newest.ends_with(all["data"][0]["id"].as_str().unwrap()));
    let old = assert_ok(list(format!("?to={first_day}")).await.unwrap()).await;
    let rest = assert_ok(list(format!("?from={}", world.ctx.now().date())).await.unwrap()).await;
    let count = |page: &Value| page["data"].as_array().unwrap().len();
    assert_eq!((count(&old) + count(&rest), count(&rest)), (4, 1));
    let page = assert_ok(list("?limit=3".into()).await.unwrap()).await;
    let cursor = page["next_cursor"].as_str().unwrap().to_owned();
    let last = assert_ok(list(format!("?limit=3&cursor={cursor}")).await.unwrap()).await;
    assert_eq!((count(&page), count(&last), &last["next_cursor"]), (3, 1, &Value::Null));
    // A cursor leads to no other list, and to no other person's.
    assert_problem(list(format!("?to={first_day}&cursor={cursor}")).await.unwrap(), 400, "bad_cursor").await;
    let other = shopper(&world, lamp, 1).await;
    order(&world, &other, "a").await;
    let theirs = world.get(&format!("/v1/me/orders?cursor={cursor}")).bearer_auth(&other).send().await.unwrap();
    assert_problem(theirs, 400, "bad_cursor").await;
    let wrong = assert_problem(list("?from=2026-02-01&to=2026-01-01".into()).await.unwrap(), 400, "invalid").await;
    assert_eq!(wrong["errors"][0]["pointer"], "/to");
    for bad in ["?from=yesterday", "?from=2026-02-30", "?status=paid", "?user_id=1"] {
        assert_problem(list(bad.into()).await.unwrap(), 400, "bad_query").await;
    }
}

async fn an_order_is_cancelled_once(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 5).await.product_id;
    let token = shopper(&world, lamp, 2).await;
    let path = order(&world, &token, "a").await;
    let call = |body: Value| world.post(&format!("{path}/cancel"), &body).bearer_auth(&token);
    let stale = call(json!({})).header("if-match", "\"r1\"").send().await.unwrap();
    assert_problem(stale, 412, "precondition_failed").await;
    for field in ["status", "refund", "actor", "restock"] {
        assert_problem(call(json!({field: "1"})).send().await.unwrap(), 400, "invalid").await;
    }
    let read = world.get(&path).bearer_auth(&token).send().await.unwrap();
    let tag = read.headers()["etag"].to_str().unwrap().to_owned();
    let done = call(json!({"notes": "ordered twice"})).header("if-match", tag).header("idempotency-key", "x");
    let done = assert_ok(done.send().await.unwrap()).await;
    assert_eq!((done["status"].as_str(), done["payment_status"].as_str()), (Some("cancelled"), Some("refunded")));
    assert_eq!(inventory::get_stock(&world.ctx, lamp).await.unwrap().available(), 5);
    // Again, also without a body: it stays cancelled.
    let again = world.request("POST", &format!("{path}/cancel")).bearer_auth(&token).send().await.unwrap();
    assert_eq!(assert_ok(again).await["cancelled_at"], done["cancelled_at"]);
    let history = world.get(&format!("{path}/history")).bearer_auth(&token).send().await.unwrap();
    let history = assert_ok(history).await;
    assert_eq!(history["data"].as_array().unwrap().len(), 3);
    assert_eq!(
        (&history["data"][0]["by"], &history["data"][0]["notes"]),
        (&json!("customer"), &json!("ordered twice"))
    );
}

async fn what_was_sent_is_not_cancelled(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 5).await.product_id;
    let token = shopper(&world, lamp, 2).await;
    let path = order(&world, &token, "a").await;
    let id = path.rsplit('/').next().unwrap().parse().unwrap();
    for status in [OrderStatus::Processing, OrderStatus::Shipped] {
        orders::change_status(&world.ctx, id, status, Change::by("admin", world.ctx.new_id())).await.unwrap();
    }
    let late = world.request("POST", &format!("{path}/cancel")).bearer_auth(&token).send().await.unwrap();
    assert_problem(late, 409, "illegal_transition").await;
}

async fn another_s_order_is_not_there(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 5).await.product_id;
    let token = shopper(&world, lamp, 1).await;
    let path = order(&world, &token, "a").await;
    let (customer, admin) =
        (world.session(&world.ctx, Role::Customer).await, world.session(&world.ctx, Role::Admin).await);
    let there = world.session(&world.other, Role::Admin).await;
    let guest = world.post("/v1/carts/active/items", &json!({"product_id": lamp})).send().await.unwrap();
    let guest = guest.headers()["merkato-guest"].to_str().unwrap().to_owned();
    for (method, part) in [("GET", ""), ("GET", "/items"), ("GET", "/history"), ("POST", "/cancel")] {
        let path = format!("{path}{part}");
        for other in [&customer, &admin] {
            let answer = world.request(method, &path).bearer_auth(other).send().await.unwrap();
            assert_problem(answer, 404, "order_not_found").await;
        }
        let by_guest = world.request(method, &path).header("merkato-guest", &guest).send().await.unwrap();
        assert_problem(by_guest, 404, "order_not_found").await;
        let elsewhere = world.bare(method, &path).header("merkato-tenant", world.other.store.tenant().as_str());
        assert_problem(elsewhere.bearer_auth(&there).send().await.unwrap(), 404, "order_not_found").await;
    }
    assert_eq!(assert_ok(world.get(&path).bearer_auth(&token).send().await.unwrap()).await["status"], "paid");
}

async fn a_view_is_counted_for_what_is_on_sale(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 5).await.product_id;
    let token = world.session(&world.ctx, Role::Customer).await;
    let path = format!("/v1/products/{lamp}/views");
    for request in [
        world.request("POST", &path),
        world.request("POST", &path).header("user-agent", "é".repeat(300)),
        world.request("POST", &path).bearer_auth(&token),
        world.request("POST", &path).bearer_auth(&token),
    ] {
        assert_eq!(request.send().await.unwrap().status(), 204);
    }
    let none = world.request("POST", &format!("/v1/products/{}/views", uuid::Uuid::nil())).send().await.unwrap();
    assert_problem(none, 404, "product_not_found").await;
    analytics::flush_views(&world.ctx).await.unwrap();
    let today = world.ctx.now().date();
    let rows = analytics::list_product_views(&world.ctx, lamp, today, today).await.unwrap();
    assert_eq!(rows[0].view_count, 4);
}
