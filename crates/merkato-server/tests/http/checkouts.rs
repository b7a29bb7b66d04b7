//! From a cart to an order, over HTTP.

use merkato::{
    accounts::Role,
    catalog::{self, ProductChange},
    id::ProductId,
    inventory,
};
use reqwest::Response;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use uuid::Uuid;
use widerow_testing::{Target, cases};

use crate::world::{World, assert_ok, assert_problem};

cases![
    a_person_buys_what_is_in_the_cart,
    a_guest_buys_with_an_address_of_its_own,
    under_one_key_there_is_one_purchase,
    a_declined_payment_leaves_the_cart,
    a_payment_that_is_late_is_waited_for,
    what_is_not_there_is_told,
    a_changed_price_is_agreed_to_first,
    what_is_the_shop_s_to_say_is_refused,
    what_is_another_s_is_not_there,
];

pub fn body(source: &str) -> Value {
    json!({
        "shipping_address": {"street": "Ring 1", "city": "Vienna", "country": "AT"},
        "shipping_method": "standard",
        "payment": {"method": "card", "source": source},
    })
}

/// A person with so many of a product in the cart.
pub async fn shopper(world: &World, product: ProductId, quantity: i64) -> String {
    let token = world.session(&world.ctx, Role::Customer).await;
    fill(world, &token, product, quantity).await;
    token
}

pub async fn fill(world: &World, token: &str, product: ProductId, quantity: i64) {
    let item = json!({"product_id": product, "quantity": quantity});
    assert_ok(world.post("/v1/carts/active/items", &item).bearer_auth(token).send().await.unwrap()).await;
}

pub async fn buy(world: &World, token: &str, key: &str, body: &Value) -> Response {
    let request = world.post("/v1/checkouts", body).bearer_auth(token).header("idempotency-key", key);
    request.send().await.unwrap()
}

async fn in_cart(world: &World, token: &str) -> Value {
    let cart = world.get("/v1/carts/active").bearer_auth(token).send().await.unwrap();
    assert_ok(cart).await["item_count"].clone()
}

async fn free(world: &World, product: ProductId) -> i64 {
    inventory::get_stock(&world.ctx, product).await.unwrap().available()
}

async fn a_person_buys_what_is_in_the_cart(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 5).await.product_id;
    let token = shopper(&world, lamp, 2).await;
    let answer = buy(&world, &token, "a", &body("ok")).await;
    assert_eq!(answer.status(), 201);
    let location = answer.headers()["location"].to_str().unwrap().to_owned();
    let checkout = assert_ok(answer).await;
    assert_eq!((checkout["status"].as_str(), &checkout["failure"]), (Some("paid"), &Value::Null));
    let order = &checkout["order"];
    assert_eq!((order["status"].as_str(), order["payment_status"].as_str()), (Some("paid"), Some("captured")));
    // Two lamps, and what it costs to send them.
    assert_eq!(order["total"], json!({"amount": "44.88", "currency": "EUR"}));
    assert_eq!(location, format!("/v1/orders/{}", order["id"].as_str().unwrap()));
    assert!(order["email"].as_str().unwrap().ends_with("@example.com"));
    let found = assert_ok(world.get(&location).bearer_auth(&token).send().await.unwrap()).await;
    assert_eq!(found, *order);
    assert_eq!((in_cart(&world, &token).await, free(&world, lamp).await), (json!(0), 3));
    let path = format!("/v1/checkouts/{}", checkout["id"].as_str().unwrap());
    assert_eq!(assert_ok(world.get(&path).bearer_auth(&token).send().await.unwrap()).await, checkout);
    // Without anything in the cart there is nothing to buy, and without a key nothing is bought.
    assert_problem(buy(&world, &token, "b", &body("ok")).await, 409, "cart_empty").await;
    let keyless = world.post("/v1/checkouts", &body("ok")).bearer_auth(&token).send().await.unwrap();
    assert_problem(keyless, 400, "idempotency_key_required").await;
    for bad in ["", &"x".repeat(256)] {
        assert_problem(buy(&world, &token, bad, &body("ok")).await, 400, "invalid").await;
    }
}

async fn a_guest_buys_with_an_address_of_its_own(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 60_00, 5).await.product_id;
    let nobody = world.post("/v1/checkouts", &body("ok")).header("idempotency-key", "a").send().await.unwrap();
    assert_problem(nobody, 401, "not_logged_in").await;
    let first = world.post("/v1/carts/active/items", &json!({"product_id": lamp})).send().await.unwrap();
    let guest = first.headers()["merkato-guest"].to_str().unwrap().to_owned();
    let send = |body: &Value| {
        world.post("/v1/checkouts", body).header("merkato-guest", &guest).header("idempotency-key", "a").send()
    };
    let missing = assert_problem(send(&body("ok")).await.unwrap(), 400, "invalid").await;
    assert_eq!(missing["errors"][0]["pointer"], "/email");
    let mut with_email = body("ok");
    with_email["email"] = "Guest@Example.com".into();
    let answer = send(&with_email).await.unwrap();
    assert_eq!(answer.status(), 201);
    let checkout = assert_ok(answer).await;
    assert_eq!(checkout["order"]["email"], "guest@example.com");
    // The token is what shows that the order is one's own.
    let (order, checkout) = (checkout["order"]["id"].as_str().unwrap(), checkout["id"].as_str().unwrap());
    let stranger = world.post("/v1/carts/active/items", &json!({"product_id": lamp})).send().await.unwrap();
    let stranger = stranger.headers()["merkato-guest"].to_str().unwrap().to_owned();
    for (path, code) in [
        (format!("/v1/orders/{order}"), "order_not_found"),
        (format!("/v1/orders/{order}/items"), "order_not_found"),
        (format!("/v1/orders/{order}/history"), "order_not_found"),
        (format!("/v1/checkouts/{checkout}"), "checkout_not_found"),
    ] {
        assert_ok(world.get(&path).header("merkato-guest", &guest).send().await.unwrap()).await;
        let other = world.get(&path).header("merkato-guest", &stranger).send().await.unwrap();
        assert_problem(other, 404, code).await;
        assert_problem(world.get(&path).send().await.unwrap(), 401, "not_logged_in").await;
    }
}

async fn under_one_key_there_is_one_purchase(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 50).await.product_id;
    let token = shopper(&world, lamp, 2).await;
    let wanted = body("ok");
    let tries = futures::future::join_all((0..8).map(|_| buy(&world, &token, "<a>", &wanted))).await;
    let mut orders = std::collections::BTreeSet::new();
    for answer in tries {
        match answer.status().as_u16() {
            201 | 202 => _ = orders.insert(assert_ok(answer).await["order"]["id"].to_string()),
            409 => {
                assert!(answer.headers().contains_key("retry-after"));
                assert_problem(answer, 409, "in_progress").await;
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!((orders.len(), free(&world, lamp).await), (1, 48));
    fill(&world, &token, lamp, 1).await;
    let again = buy(&world, &token, "<a>", &body("ok")).await;
    assert_eq!((again.status().as_u16(), &again.headers()["idempotent-replayed"]), (201, &"true".parse().unwrap()));
    assert!(orders.contains(&assert_ok(again).await["order"]["id"].to_string()));
    let mut other = body("ok");
    other["shipping_method"] = "express".into();
    assert_problem(buy(&world, &token, "<a>", &other).await, 422, "idempotency_key_reused").await;
    // What was in the cart since is still there; and a key is its principal's own.
    assert_eq!(in_cart(&world, &token).await, 1);
    let second = shopper(&world, lamp, 1).await;
    let theirs = buy(&world, &second, "<a>", &body("ok")).await;
    assert!(theirs.headers().get("idempotent-replayed").is_none());
    assert!(!orders.contains(&assert_ok(theirs).await["order"]["id"].to_string()));
}

async fn a_declined_payment_leaves_the_cart(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 5).await.product_id;
    let token = shopper(&world, lamp, 2).await;
    let first = assert_problem(buy(&world, &token, "a", &body("decline")).await, 409, "payment_declined").await;
    let again = buy(&world, &token, "a", &body("decline")).await;
    assert_eq!(again.headers()["idempotent-replayed"], "true");
    assert_problem(again, 409, "payment_declined").await;
    assert_eq!((in_cart(&world, &token).await, free(&world, lamp).await), (json!(2), 5));
    let path = format!("/v1/checkouts/{}", first["details"]["checkout_id"].as_str().unwrap());
    let failed = assert_ok(world.get(&path).bearer_auth(&token).send().await.unwrap()).await;
    assert_eq!(
        (failed["status"].as_str(), failed["failure"]["code"].as_str()),
        (Some("failed"), Some("payment_declined"))
    );
    assert_eq!(buy(&world, &token, "b", &body("ok")).await.status(), 201);
}

async fn a_payment_that_is_late_is_waited_for(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 5).await.product_id;
    let token = shopper(&world, lamp, 2).await;
    let answer = buy(&world, &token, "a", &body("late:30")).await;
    assert_eq!(answer.status(), 202);
    let location = answer.headers()["location"].to_str().unwrap().to_owned();
    let pending = assert_ok(answer).await;
    assert_eq!((pending["status"].as_str(), pending["order"]["status"].as_str()), (Some("pending"), Some("pending")));
    assert_eq!(assert_ok(world.get(&location).bearer_auth(&token).send().await.unwrap()).await, pending);
    let again = buy(&world, &token, "a", &body("late:30")).await;
    assert_eq!((again.status().as_u16(), &again.headers()["idempotent-replayed"]), (202, &"true".parse().unwrap()));
    world.clock.advance_millis(31_000);
    let paid = buy(&world, &token, "a", &body("late:30")).await;
    assert_eq!(paid.status(), 201);
    assert_eq!(assert_ok(paid).await["order"]["id"], pending["order"]["id"]);
    let path = format!("/v1/orders/{}", pending["order"]["id"].as_str().unwrap());
    assert_eq!(assert_ok(world.get(&path).bearer_auth(&token).send().await.unwrap()).await["status"], "paid");
}

async fn what_is_not_there_is_told(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 1).await.product_id;
    let token = shopper(&world, lamp, 3).await;
    let problem = assert_problem(buy(&world, &token, "a", &body("ok")).await, 409, "out_of_stock").await;
    let short = json!([{"product_id": lamp, "wanted": 3, "available": 1}]);
    assert_eq!(problem["details"]["shortages"], short);
    assert_eq!((in_cart(&world, &token).await, free(&world, lamp).await), (json!(3), 1));
    let mut wrong = body("ok");
    wrong["shipping_method"] = "balloon".into();
    assert_problem(buy(&world, &token, "b", &wrong).await, 404, "shipping_method_not_found").await;
    let mut wrong = body("ok");
    wrong["discount_code"] = "NOTHING".into();
    assert_problem(buy(&world, &token, "c", &wrong).await, 404, "discount_not_found").await;
    let mut wrong = body("ok");
    wrong["shipping_address"]["country"] = "Austria".into();
    let problem = assert_problem(buy(&world, &token, "d", &wrong).await, 400, "invalid").await;
    assert_eq!(problem["errors"][0]["pointer"], "/shipping_address/country");
    let mut wrong = body("ok");
    wrong.as_object_mut().unwrap().remove("shipping_address");
    assert_problem(buy(&world, &token, "e", &wrong).await, 400, "invalid").await;
}

async fn a_changed_price_is_agreed_to_first(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 5).await.product_id;
    let token = shopper(&world, lamp, 1).await;
    let change = ProductChange { price: Some(Decimal::new(24_99, 2)), ..ProductChange::default() };
    catalog::change_product(&world.ctx, lamp, None, change).await.unwrap();
    let problem = assert_problem(buy(&world, &token, "a", &body("ok")).await, 409, "prices_changed").await;
    let change = &problem["details"]["price_changes"][0];
    let money = |amount: &str| json!({"amount": amount, "currency": "EUR"});
    assert_eq!((&change["was"], &change["is"]), (&money("19.99"), &money("24.99")));
    let ask = json!({"country": "AT", "shipping_method": "standard"});
    let quote = assert_ok(world.post("/v1/checkouts/quote", &ask).bearer_auth(&token).send().await.unwrap()).await;
    assert_eq!((&quote["total"], &quote["price_changes"][0]["is"]), (&money("29.89"), &money("24.99")));
    let mut agreed = body("ok");
    agreed["expected_total"] = money("24.89");
    let problem = assert_problem(buy(&world, &token, "a", &agreed).await, 409, "total_changed").await;
    assert_eq!(problem["details"]["total"], money("29.89"));
    agreed["expected_total"] = json!({"amount": "29.89", "currency": "USD"});
    assert_problem(buy(&world, &token, "a", &agreed).await, 409, "other_currency").await;
    agreed["expected_total"] = json!({"amount": "2.9e1", "currency": "EUR"});
    assert_problem(buy(&world, &token, "a", &agreed).await, 400, "invalid").await;
    agreed["expected_total"] = quote["total"].clone();
    let bought = buy(&world, &token, "a", &agreed).await;
    assert_eq!(bought.status(), 201);
    assert_eq!(assert_ok(bought).await["total"], money("29.89"));
    let bad = world.post("/v1/checkouts/quote", &json!({"country": "at", "shipping_method": "standard"}));
    assert_problem(bad.bearer_auth(&token).send().await.unwrap(), 400, "invalid").await;
}

async fn what_is_the_shop_s_to_say_is_refused(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 5).await.product_id;
    let token = shopper(&world, lamp, 1).await;
    let fields =
        ["status", "payment_status", "total", "price", "user_id", "order_id", "key", "role", "lines", "shipping"];
    for field in fields {
        let mut wrong = body("ok");
        wrong[field] = "1".into();
        assert_problem(buy(&world, &token, field, &wrong).await, 400, "invalid").await;
        let ask = json!({"country": "AT", "shipping_method": "standard", field: "1"});
        let ask = world.post("/v1/checkouts/quote", &ask).bearer_auth(&token).send().await.unwrap();
        assert_problem(ask, 400, "invalid").await;
    }
    for (place, field) in [("payment", "amount"), ("payment", "status"), ("shipping_address", "id")] {
        let mut wrong = body("ok");
        wrong[place][field] = "0.01".into();
        assert_problem(buy(&world, &token, field, &wrong).await, 400, "invalid").await;
    }
    assert_eq!(in_cart(&world, &token).await, 1);
}

async fn what_is_another_s_is_not_there(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 5).await.product_id;
    let token = shopper(&world, lamp, 1).await;
    let thief = shopper(&world, lamp, 1).await;
    let cart = assert_ok(world.get("/v1/carts/active").bearer_auth(&token).send().await.unwrap()).await;
    let address = json!({"street": "Ring 1", "city": "Vienna", "country": "AT"});
    let address = world.post("/v1/me/addresses", &address).bearer_auth(&token).send().await.unwrap();
    let address = assert_ok(address).await;
    let mut stolen = body("ok");
    stolen["cart_id"] = cart["id"].clone();
    assert_problem(buy(&world, &thief, "a", &stolen).await, 404, "cart_not_found").await;
    let ask = json!({"country": "AT", "shipping_method": "standard", "cart_id": cart["id"]});
    let ask = world.post("/v1/checkouts/quote", &ask).bearer_auth(&thief).send().await.unwrap();
    assert_problem(ask, 404, "cart_not_found").await;
    let mut sent = body("ok");
    sent.as_object_mut().unwrap().remove("shipping_address");
    sent["shipping_address_id"] = address["id"].clone();
    assert_problem(buy(&world, &thief, "b", &sent).await, 404, "address_not_found").await;
    sent["cart_id"] = cart["id"].clone();
    let bought = assert_ok(buy(&world, &token, "c", &sent).await).await;
    assert_eq!(bought["order"]["shipping_address"]["city"], "Vienna");
    let path = format!("/v1/checkouts/{}", bought["id"].as_str().unwrap());
    let admin = world.session(&world.ctx, Role::Admin).await;
    for other in [&thief, &admin] {
        assert_problem(world.get(&path).bearer_auth(other).send().await.unwrap(), 404, "checkout_not_found").await;
    }
    let there = world.session(&world.other, Role::Admin).await;
    let elsewhere = world.bare("GET", &path).header("merkato-tenant", world.other.store.tenant().as_str());
    assert_problem(elsewhere.bearer_auth(&there).send().await.unwrap(), 404, "checkout_not_found").await;
    let none = world.get(&format!("/v1/checkouts/{}", Uuid::nil())).bearer_auth(&token).send().await.unwrap();
    assert_problem(none, 404, "checkout_not_found").await;
}
