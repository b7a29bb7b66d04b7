//! Stock, its movements, and holds on it.

use merkato::{id::ProductId, keys::Scope};
use serde_json::{Value, json};
use uuid::Uuid;
use widerow_testing::{Target, cases};

use super::{Office, etag, key};
use crate::world::{assert_ok, assert_problem};

cases![
    stock_is_taken_in_counted_and_moved,
    a_count_rests_on_what_was_read,
    a_movement_is_made_once,
    what_is_low_is_listed,
    a_hold_is_had_as_a_whole_or_not_at_all,
    a_hold_is_made_once,
    bad_input_is_named,
];

async fn lamp(office: &Office, name: &str) -> ProductId {
    let (world, ctx) = (&office.world, &office.world.ctx);
    let category = world.category(ctx, &format!("Of {name}")).await;
    world.product(ctx, category, name, 19_90).await.product_id
}

async fn in_stock(office: &Office, product: ProductId) -> Value {
    assert_ok(office.world.get(&format!("/v1/products/{product}")).send().await.unwrap()).await["in_stock"].clone()
}

async fn stock(office: &Office, product: ProductId) -> Value {
    assert_ok(office.get(&format!("/v1/admin/inventory/{product}")).send().await.unwrap()).await
}

async fn stock_is_taken_in_counted_and_moved(target: &Target) {
    let office = Office::open(target).await;
    let product = lamp(&office, "Lamp").await;
    let path = format!("/v1/admin/inventory/{product}");
    assert_eq!(stock(&office, product).await["warehouses"], json!([]));
    let post = |what: &str, body: Value| office.post(&format!("{path}/{what}"), &body).send();
    let now = assert_ok(post("vienna/restock", json!({"units": 10, "reason": "Delivery 1"})).await.unwrap()).await;
    assert_eq!((&now["quantity"], &now["available"]), (&json!(10), &json!(10)));
    assert_eq!(in_stock(&office, product).await, true);
    let now = assert_ok(post("vienna/adjust", json!({"delta": -3, "reason": "Broken"})).await.unwrap()).await;
    assert_eq!(now["quantity"], 7);
    let transfer = json!({"product_id": product.0, "from": "vienna", "to": "graz", "units": 2});
    let now = assert_ok(office.post("/v1/admin/inventory/transfers", &transfer).send().await.unwrap()).await;
    assert_eq!((&now["warehouses"][0]["warehouse_id"], &now["warehouses"][0]["quantity"]), (&json!("graz"), &json!(2)));
    let put = |warehouse: &str, body: Value| office.put(&format!("{path}/{warehouse}"), &body).send();
    let now = assert_ok(put("vienna", json!({"quantity": 6, "reason": "Counted"})).await.unwrap()).await;
    assert_eq!(now["quantity"], 8);
    // What is counted right is no movement; a warehouse with nothing in it is one all the same.
    assert_ok(put("vienna", json!({"quantity": 6})).await.unwrap()).await;
    let now = assert_ok(put("linz", json!({"quantity": 0})).await.unwrap()).await;
    assert_eq!(now["warehouses"].as_array().unwrap().len(), 3);
    let list = format!("/v1/admin/inventory/movements?product_id={product}");
    let moved = assert_ok(office.get(&list).send().await.unwrap()).await;
    let moved = moved["data"].as_array().unwrap();
    let mut deltas: Vec<i64> = moved.iter().map(|row| row["delta"].as_i64().unwrap()).collect();
    deltas.sort_unstable();
    assert_eq!(deltas, [-3, -2, 1, 10]);
    assert!(moved.iter().all(|row| row["actor"].as_str().unwrap().starts_with("staff:")), "{moved:?}");
    // A page at a time.
    let page = assert_ok(office.get(&format!("{list}&limit=3")).send().await.unwrap()).await;
    let rest = format!("{list}&limit=3&cursor={}", page["next_cursor"].as_str().unwrap());
    let rest = assert_ok(office.get(&rest).send().await.unwrap()).await;
    assert_eq!((rest["data"].as_array().unwrap().len(), &rest["next_cursor"]), (1, &Value::Null));
    for warehouse in ["vienna", "graz"] {
        assert_ok(put(warehouse, json!({"quantity": 0})).await.unwrap()).await;
    }
    assert_eq!(in_stock(&office, product).await, false);
    let now = assert_ok(office.put(&path, &json!({"tracked": true, "backorder": true})).send().await.unwrap()).await;
    assert_eq!((&now["in_stock"], &now["available"]), (&json!(true), &json!(0)));
    assert_eq!(in_stock(&office, product).await, true);
}

async fn a_count_rests_on_what_was_read(target: &Target) {
    let office = Office::open(target).await;
    let product = lamp(&office, "Lamp").await;
    let path = format!("/v1/admin/inventory/{product}");
    let count = |tag: &str, quantity: i64| {
        let request = office.put(&format!("{path}/vienna"), &json!({"quantity": quantity}));
        request.header("if-match", tag).send()
    };
    let read = etag(&office.get(&path).send().await.unwrap());
    let first = count(&read, 10).await.unwrap();
    let second = etag(&first);
    assert_ok(first).await;
    assert_problem(count(&read, 11).await.unwrap(), 412, "precondition_failed").await;
    // Somebody wants units meanwhile.
    let hold = json!({"lines": [{"product_id": product.0, "quantity": 4}]});
    assert_ok(office.post("/v1/admin/inventory/holds", &hold).send().await.unwrap()).await;
    assert_problem(count(&second, 11).await.unwrap(), 412, "precondition_failed").await;
    let third = office.get(&path).send().await.unwrap();
    let tag = etag(&third);
    assert_eq!(office.get(&path).header("if-none-match", &tag).send().await.unwrap().status(), 304);
    assert_problem(count(&tag, 3).await.unwrap(), 409, "stock_not_free").await;
    assert_eq!(assert_ok(count(&tag, 4).await.unwrap()).await["available"], 0);
    assert_ok(count("*", 9).await.unwrap()).await;
    assert_problem(count("\"x\"", 9).await.unwrap(), 412, "precondition_failed").await;
}

/// A key is forgotten after a day, and what was done under it only later.
async fn a_movement_is_made_once(target: &Target) {
    let office = Office::open(target).await;
    let product = lamp(&office, "Lamp").await;
    let path = format!("/v1/admin/inventory/{product}/vienna");
    let restock = |units: i64| {
        let request = office.post(&format!("{path}/restock"), &json!({"units": units}));
        request.header("idempotency-key", "delivery 1".replace(' ', "-")).send()
    };
    assert_eq!(assert_ok(restock(10).await.unwrap()).await["quantity"], 10);
    assert_eq!(restock(10).await.unwrap().headers()["idempotent-replayed"], "true");
    assert_problem(restock(11).await.unwrap(), 422, "idempotency_key_reused").await;
    office.world.clock.advance_millis(25 * 3_600_000);
    let later = restock(10).await.unwrap();
    assert!(later.headers().get("idempotent-replayed").is_none());
    assert_eq!(assert_ok(later).await["quantity"], 10);
    // A count, too, although what it added depended on what was there, and on an ETag.
    let tag = etag(&office.get(&format!("/v1/admin/inventory/{product}")).send().await.unwrap());
    let count = || {
        let request = office.put(&path, &json!({"quantity": 4})).header("if-match", &tag);
        request.header("idempotency-key", "count").send()
    };
    assert_eq!(assert_ok(count().await.unwrap()).await["quantity"], 4);
    let sold = office.post(&format!("{path}/adjust"), &json!({"delta": -1, "reason": "Sold"})).send().await.unwrap();
    assert_ok(sold).await;
    office.world.clock.advance_millis(25 * 3_600_000);
    assert_eq!(assert_ok(count().await.unwrap()).await["quantity"], 3);
    // Without a key each is another.
    let adjust = || office.post(&format!("{path}/adjust"), &json!({"delta": 1, "reason": "Found"})).send();
    assert_ok(adjust().await.unwrap()).await;
    assert_eq!(assert_ok(adjust().await.unwrap()).await["quantity"], 5);
}

async fn what_is_low_is_listed(target: &Target) {
    let office = Office::open(target).await;
    for (name, quantity) in [("Lamp", 3), ("Chair", 1), ("Table", 50)] {
        let product = lamp(&office, name).await;
        let body = json!({"quantity": quantity, "low_stock_threshold": 5});
        let path = format!("/v1/admin/inventory/{product}/vienna");
        assert_ok(office.put(&path, &body).send().await.unwrap()).await;
    }
    let list = "/v1/admin/inventory/low-stock?warehouse_id=vienna";
    let low = assert_ok(office.get(list).send().await.unwrap()).await;
    let available: Vec<_> = low["data"].as_array().unwrap().iter().map(|row| row["available"].clone()).collect();
    assert_eq!(available, [json!(1), json!(3)]);
    let page = assert_ok(office.get(&format!("{list}&limit=1")).send().await.unwrap()).await;
    let cursor = page["next_cursor"].as_str().unwrap();
    let next = assert_ok(office.get(&format!("{list}&limit=1&cursor={cursor}")).send().await.unwrap()).await;
    assert_eq!(next["data"][0]["available"], 3);
    let other = format!("/v1/admin/inventory/low-stock?warehouse_id=graz&limit=1&cursor={cursor}");
    assert_problem(office.get(&other).send().await.unwrap(), 400, "bad_cursor").await;
    assert_problem(office.get("/v1/admin/inventory/low-stock").send().await.unwrap(), 400, "bad_query").await;
}

async fn a_hold_is_had_as_a_whole_or_not_at_all(target: &Target) {
    let office = Office::open(target).await;
    let (lamp, chair) = (lamp(&office, "Lamp").await, lamp(&office, "Chair").await);
    for (product, units) in [(lamp, 5), (chair, 2)] {
        let path = format!("/v1/admin/inventory/{product}/vienna/restock");
        assert_ok(office.post(&path, &json!({"units": units})).send().await.unwrap()).await;
    }
    let line = |product: ProductId, quantity: i64| json!({"product_id": product.0, "quantity": quantity});
    let hold = |lines: Value| office.post("/v1/admin/inventory/holds", &json!({"lines": lines})).send();
    let short = hold(json!([line(lamp, 1), line(chair, 3)])).await.unwrap();
    let short = assert_problem(short, 409, "insufficient_stock").await;
    assert!(short["detail"].as_str().unwrap().contains("2 of"), "{short}");
    assert_eq!(stock(&office, lamp).await["available"], 5);
    let held = hold(json!([line(lamp, 3), line(chair, 2)])).await.unwrap();
    assert_eq!(held.status(), 201);
    let held = assert_ok(held).await;
    assert_eq!(held["lines"].as_array().unwrap().len(), 2);
    assert_eq!(stock(&office, lamp).await["available"], 2);
    assert_eq!(in_stock(&office, chair).await, false);
    let path = format!("/v1/admin/inventory/holds/{}", held["id"].as_str().unwrap());
    let products = json!({"products": [lamp.0, chair.0]});
    let post = |what: &str, body: &Value| office.post(&format!("{path}/{what}"), body).send();
    let until = office.world.ctx.now().plus_seconds(1_800).to_string();
    let extended = post("extend", &json!({"products": [lamp.0, chair.0], "until": until})).await.unwrap();
    let extended = assert_ok(extended).await;
    assert!(extended["lines"][0]["ends_at"].as_str() > held["lines"][0]["ends_at"].as_str(), "{extended}");
    let list = format!("/v1/admin/inventory/holds?product_id={lamp}");
    let listed = assert_ok(office.get(&list).send().await.unwrap()).await;
    let in_force = listed["data"].as_array().unwrap().iter().filter(|hold| hold["in_force"] == true).count();
    assert_eq!(in_force, 1);
    let confirmed = assert_ok(post("confirm", &products).await.unwrap()).await;
    assert_eq!(confirmed["lines"][0]["state"], "confirmed");
    assert_ok(post("confirm", &products).await.unwrap()).await;
    assert_eq!(
        (&stock(&office, lamp).await["quantity"], &stock(&office, chair).await["quantity"]),
        (&json!(2), &json!(0))
    );
    assert_problem(post("release", &products).await.unwrap(), 409, "hold_confirmed").await;
    let other = assert_ok(hold(json!([line(lamp, 2)])).await.unwrap()).await;
    let other = format!("/v1/admin/inventory/holds/{}", other["id"].as_str().unwrap());
    assert_eq!(in_stock(&office, lamp).await, false);
    let products = json!({"products": [lamp.0]});
    assert_ok(office.post(&format!("{other}/release"), &products).send().await.unwrap()).await;
    assert_eq!(in_stock(&office, lamp).await, true);
    let late = office.post(&format!("{other}/confirm"), &products).send().await.unwrap();
    assert_problem(late, 409, "hold_released").await;
    let unknown = format!("/v1/admin/inventory/holds/{}/confirm", Uuid::new_v4());
    assert_problem(office.post(&unknown, &products).send().await.unwrap(), 404, "hold_not_found").await;
    // Another shop's hold is none.
    let staff = office.world.session(&office.world.other, merkato::accounts::Role::Staff).await;
    let there = office.world.bare("POST", &format!("{path}/confirm")).bearer_auth(staff).json(&products);
    let there = there.header("merkato-tenant", office.world.other.store.tenant().as_str()).send().await.unwrap();
    assert_problem(there, 404, "hold_not_found").await;
}

async fn a_hold_is_made_once(target: &Target) {
    let office = Office::open(target).await;
    let product = lamp(&office, "Lamp").await;
    let path = format!("/v1/admin/inventory/{product}/vienna/restock");
    assert_ok(office.post(&path, &json!({"units": 10})).send().await.unwrap()).await;
    let program = key(&office.world.ctx, &[Scope::InventoryWrite]).await;
    let body = json!({"lines": [{"product_id": product.0, "quantity": 4}], "seconds": 600});
    let hold = || {
        let request = office.world.post("/v1/admin/inventory/holds", &body).bearer_auth(&program);
        request.header("idempotency-key", "hold").send()
    };
    let first = assert_ok(hold().await.unwrap()).await;
    assert_eq!(assert_ok(hold().await.unwrap()).await, first);
    let mut own = body.clone();
    own["hold_id"] = json!(Uuid::new_v4());
    for _ in 0..2 {
        let held = assert_ok(office.post("/v1/admin/inventory/holds", &own).send().await.unwrap()).await;
        assert_eq!(held["id"], own["hold_id"]);
    }
    assert_eq!(stock(&office, product).await["available"], 2);
    own["lines"][0]["quantity"] = json!(5);
    let mismatch = office.post("/v1/admin/inventory/holds", &own).send().await.unwrap();
    assert_problem(mismatch, 409, "hold_mismatch").await;
    office.world.clock.advance_millis(700_000);
    assert_eq!(stock(&office, product).await["available"], 10);
}

async fn bad_input_is_named(target: &Target) {
    let office = Office::open(target).await;
    let product = lamp(&office, "Lamp").await;
    let path = format!("/v1/admin/inventory/{product}");
    for (method, path, body, pointer) in [
        ("PUT", format!("{path}/vienna"), json!({"quantity": -1}), "/quantity"),
        ("PUT", format!("{path}/vienna"), json!({"quantity": 5_000_000_000_i64}), "/quantity"),
        ("PUT", format!("{path}/vienna"), json!({"quantity": 1.5}), "/quantity"),
        ("PUT", format!("{path}/vienna"), json!({"quantity": 1, "low_stock_threshold": -1}), "/low_stock_threshold"),
        ("PUT", format!("{path}/vienna"), json!({"quantity": 1, "reserved": 0}), "/reserved"),
        ("PUT", format!("{path}/Vienna"), json!({"quantity": 1}), "/warehouse_id"),
        ("POST", format!("{path}/vienna/adjust"), json!({"delta": 0, "reason": "x"}), "/delta"),
        ("POST", format!("{path}/vienna/adjust"), json!({"delta": 1, "reason": ""}), "/reason"),
        ("POST", format!("{path}/vienna/restock"), json!({"units": 0}), "/units"),
        ("POST", format!("{path}/vienna/restock"), json!({"units": 1, "actor": "somebody else"}), "/actor"),
        ("POST", "/v1/admin/inventory/holds".into(), json!({"lines": []}), "/lines"),
        (
            "POST",
            "/v1/admin/inventory/holds".into(),
            json!({"lines": [{"product_id": product.0, "quantity": 0}]}),
            "/lines/0/quantity",
        ),
        (
            "POST",
            "/v1/admin/inventory/holds".into(),
            json!({"lines": [{"product_id": product.0, "quantity": 1}], "seconds": 0}),
            "/seconds",
        ),
        (
            "POST",
            "/v1/admin/inventory/holds".into(),
            json!({"hold_id": Uuid::nil(), "lines": [{"product_id": product.0, "quantity": 1}]}),
            "/hold_id",
        ),
        ("POST", format!("/v1/admin/inventory/holds/{}/release", Uuid::new_v4()), json!({"products": []}), "/products"),
    ] {
        let answer = office.request(method, &path).json(&body).send().await.unwrap();
        let problem = assert_problem(answer, 400, "invalid").await;
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{problem}");
    }
    let unknown = format!("/v1/admin/inventory/{}/vienna/restock", Uuid::new_v4());
    let unknown = office.post(&unknown, &json!({"units": 1})).send().await.unwrap();
    assert_problem(unknown, 404, "product_not_found").await;
    let more =
        office.post(&format!("{path}/vienna/adjust"), &json!({"delta": -1, "reason": "x"})).send().await.unwrap();
    assert_problem(more, 409, "stock_not_free").await;
}
