//! Carts of persons and of guests.

use merkato::{
    accounts::Role,
    catalog::{self, ProductChange, ProductStatus},
};
use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};
use uuid::Uuid;
use widerow_testing::{Target, cases};

use crate::world::{PASSWORD, World, assert_ok, assert_problem};

cases![
    a_guest_is_given_a_token_and_keeps_its_cart,
    a_guest_takes_the_cart_along_when_logging_in,
    a_new_guest_s_token_is_nobody_else_s,
    a_guest_s_cookie_changes_nothing_from_another_site,
    a_person_has_carts_by_name,
    lines_tell_what_has_changed,
    an_edit_rests_on_the_cart_that_was_read,
    the_same_request_adds_once,
    what_is_the_shop_s_to_say_is_refused,
    another_s_cart_is_not_there,
    a_program_has_no_cart,
];

async fn add(request: RequestBuilder, product: impl std::fmt::Display, quantity: i64) -> Response {
    request.json(&json!({"product_id": product.to_string(), "quantity": quantity})).send().await.unwrap()
}

fn tag(response: &Response) -> String {
    response.headers()["etag"].to_str().unwrap().to_owned()
}

const ITEMS: &str = "/v1/carts/active/items";

async fn a_guest_is_given_a_token_and_keeps_its_cart(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 5).await.product_id;
    let nobody = assert_ok(world.get("/v1/carts/active").send().await.unwrap()).await;
    assert_eq!((&nobody["id"], &nobody["item_count"]), (&Value::Null, &json!(0)));
    assert_eq!(nobody["subtotal"], json!({"amount": "0.00", "currency": "EUR"}));
    let first = add(world.request("POST", ITEMS), lamp, 2).await;
    let token = first.headers()["merkato-guest"].to_str().unwrap().to_owned();
    let cookie = first.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.starts_with(&format!("merkato_guest={token}; ")), "{cookie}");
    for attribute in ["HttpOnly", "SameSite=Lax", "Max-Age=2592000"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    assert_eq!(first.headers()["cache-control"], "no-store");
    let cart = assert_ok(first).await;
    assert_eq!(cart["subtotal"], json!({"amount": "39.98", "currency": "EUR"}));
    assert_eq!(cart["is_active"], true);
    let second = add(world.request("POST", ITEMS).header("merkato-guest", &token), lamp, 1).await;
    assert!(second.headers().get("merkato-guest").is_none());
    assert_eq!(assert_ok(second).await["lines"][0]["quantity"], 3);
    // By its id, by its cookie, and line by line.
    let (id, line) = (cart["id"].as_str().unwrap(), cart["lines"][0]["id"].as_str().unwrap());
    for path in [format!("/v1/carts/{id}"), "/v1/carts/active".into()] {
        let by_cookie = world.get(&path).header("cookie", format!("merkato_guest={token}")).send().await.unwrap();
        assert_eq!(assert_ok(by_cookie).await["item_count"], 3);
    }
    for cart in [id, "active"] {
        let path = format!("/v1/carts/{cart}/items/{line}");
        let guest = |method: &str| world.request(method, &path).header("merkato-guest", &token);
        let found = assert_ok(guest("GET").send().await.unwrap()).await;
        assert_eq!((found["name"].as_str(), found["stock"].as_str()), (Some("Lamp"), Some("in_stock")));
        let changed = guest("PATCH").json(&json!({"quantity": 1})).send().await.unwrap();
        assert_eq!(assert_ok(changed).await["subtotal"]["amount"], "19.99");
        assert_problem(guest("PATCH").json(&json!({"quantity": 0})).send().await.unwrap(), 400, "invalid").await;
    }
    let path = format!("/v1/carts/active/items/{line}");
    let gone = world.request("DELETE", &path).header("merkato-guest", &token).send().await.unwrap();
    assert_eq!(assert_ok(gone).await["lines"], json!([]));
    let again = world.request("DELETE", &path).header("merkato-guest", &token).send().await.unwrap();
    assert_problem(again, 404, "line_not_found").await;
    // A guest has no list, and a bad token is no token.
    let list = world.get("/v1/carts").header("merkato-guest", &token).send().await.unwrap();
    assert_problem(list, 401, "not_logged_in").await;
    let bad = world.get("/v1/carts/active").header("merkato-guest", "x").send().await.unwrap();
    assert_problem(bad, 400, "bad_header").await;
    let strange = world.get("/v1/carts/mine").header("merkato-guest", &token).send().await.unwrap();
    assert_problem(strange, 400, "bad_path").await;
}

async fn a_guest_takes_the_cart_along_when_logging_in(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 5).await.product_id;
    let (_, email) = world.user(&world.ctx, Role::Customer).await;
    let first = add(world.request("POST", ITEMS), lamp, 2).await;
    let token = first.headers()["merkato-guest"].to_str().unwrap().to_owned();
    let login = world.post("/v1/auth/login", &json!({"email": email, "password": PASSWORD}));
    let login = login.header("merkato-guest", &token).send().await.unwrap();
    let cookies: Vec<_> =
        login.headers().get_all("set-cookie").iter().map(|c| c.to_str().unwrap().to_owned()).collect();
    assert!(cookies.iter().any(|cookie| cookie.starts_with("merkato_guest=;")), "{cookies:?}");
    let session = assert_ok(login).await["token"].as_str().unwrap().to_owned();
    let mine = assert_ok(world.get("/v1/carts/active").bearer_auth(&session).send().await.unwrap()).await;
    assert_eq!((&mine["item_count"], mine["name"].as_str()), (&json!(2), Some("My cart")));
    // The guest's cart is a part of the person's now.
    let late = add(world.request("POST", ITEMS).header("merkato-guest", &token), lamp, 1).await;
    assert_problem(late, 409, "guest_cart_merged").await;
}

/// All who are nobody are one principal: what one of them is given is not kept for the next.
async fn a_new_guest_s_token_is_nobody_else_s(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 5).await.product_id;
    let mut tokens = Vec::new();
    for _ in 0..2 {
        let answer = add(world.request("POST", ITEMS).header("idempotency-key", "same"), lamp, 1).await;
        assert!(answer.headers().get("idempotent-replayed").is_none());
        tokens.push(answer.headers()["merkato-guest"].clone());
    }
    assert_ne!(tokens[0], tokens[1]);
}

async fn a_guest_s_cookie_changes_nothing_from_another_site(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 5).await.product_id;
    let first = add(world.request("POST", ITEMS), lamp, 1).await;
    let token = first.headers()["merkato-guest"].to_str().unwrap().to_owned();
    let by_cookie = || world.request("POST", ITEMS).header("cookie", format!("merkato_guest={token}"));
    assert_problem(add(by_cookie(), lamp, 1).await, 403, "csrf").await;
    assert_problem(add(by_cookie().header("origin", "https://evil.example"), lamp, 1).await, 403, "csrf").await;
    let own = add(by_cookie().header("sec-fetch-site", "same-origin"), lamp, 1).await;
    // The cookie lives on with the cart.
    assert!(own.headers()["set-cookie"].to_str().unwrap().contains("Max-Age=2592000"));
    assert_eq!(assert_ok(own).await["item_count"], 2);
}

async fn a_person_has_carts_by_name(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 5).await.product_id;
    let token = world.session(&world.ctx, Role::Customer).await;
    let call = |method: &str, path: &str| world.request(method, path).bearer_auth(&token);
    let create = async |name: &str| {
        let answer = call("POST", "/v1/carts").json(&json!({"name": name})).send().await.unwrap();
        assert_eq!(answer.status(), 201);
        let location = answer.headers()["location"].to_str().unwrap().to_owned();
        (location, assert_ok(answer).await)
    };
    let (garden, card) = create("Garden").await;
    assert_eq!(card["is_active"], true);
    let (attic, card) = create("Attic").await;
    assert_eq!(card["is_active"], false);
    assert_ok(add(call("POST", ITEMS), lamp, 2).await).await;
    let shown = assert_ok(call("GET", &garden).send().await.unwrap()).await;
    assert_eq!((shown["name"].as_str(), &shown["item_count"]), (Some("Garden"), &json!(2)));
    let active = assert_ok(call("POST", &format!("{attic}/activate")).send().await.unwrap()).await;
    assert_eq!((active["name"].as_str(), &active["is_active"]), (Some("Attic"), &json!(true)));
    let shown = assert_ok(call("GET", "/v1/carts/active").send().await.unwrap()).await;
    assert_eq!((shown["name"].as_str(), &shown["item_count"]), (Some("Attic"), &json!(0)));
    let renamed = call("PATCH", &garden).json(&json!({"name": "Balcony"})).send().await.unwrap();
    assert_eq!(assert_ok(renamed).await["name"], "Balcony");
    let copy = call("POST", &format!("{garden}/copy")).json(&json!({"name": "Copy"})).send().await.unwrap();
    assert_eq!(copy.status(), 201);
    let copy = copy.headers()["location"].to_str().unwrap().to_owned();
    assert_eq!(assert_ok(call("GET", &copy).send().await.unwrap()).await["subtotal"]["amount"], "39.98");
    let list = assert_ok(call("GET", "/v1/carts").send().await.unwrap()).await;
    let names: Vec<_> = list["data"].as_array().unwrap().iter().map(|card| card["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Attic", "Balcony", "Copy"]);
    assert_eq!(call("DELETE", &attic).send().await.unwrap().status(), 204);
    assert_problem(call("DELETE", &attic).send().await.unwrap(), 404, "cart_not_found").await;
    let shown = assert_ok(call("GET", "/v1/carts/active").send().await.unwrap()).await;
    assert_eq!(shown["name"], "Balcony");
    let bad = call("POST", "/v1/carts").json(&json!({"name": ""})).send().await.unwrap();
    assert_eq!(assert_problem(bad, 400, "invalid").await["errors"][0]["pointer"], "/name");
}

async fn lines_tell_what_has_changed(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 5).await;
    let token = world.session(&world.ctx, Role::Customer).await;
    let options = json!({"product_id": lamp.product_id, "options": {"colour": "black"}});
    let cart = assert_ok(world.post(ITEMS, &options).bearer_auth(&token).send().await.unwrap()).await;
    let line = &cart["lines"][0];
    assert_eq!((&line["quantity"], &line["options"]), (&json!(1), &json!({"colour": "black"})));
    assert_eq!((&line["current_price"], line["stock"].as_str()), (&Value::Null, Some("in_stock")));
    let read = world.get("/v1/carts/active").bearer_auth(&token).send().await.unwrap();
    let before = tag(&read);
    let price = Some(rust_decimal::Decimal::new(24_99, 2));
    let change = ProductChange { price, ..ProductChange::default() };
    catalog::change_product(&world.ctx, lamp.product_id, None, change).await.unwrap();
    // The cart's revision is as it was; what is shown is not, and so it is sent.
    let read = world.get("/v1/carts/active").bearer_auth(&token).header("if-none-match", &before).send().await.unwrap();
    assert_eq!(read.status(), 200);
    let cart = assert_ok(read).await;
    assert_eq!(cart["lines"][0]["unit_price"]["amount"], "19.99");
    assert_eq!(cart["lines"][0]["current_price"], json!({"amount": "24.99", "currency": "EUR"}));
    assert_eq!(cart["subtotal"]["amount"], "19.99");
    let change = ProductChange { status: Some(ProductStatus::Archived), ..ProductChange::default() };
    catalog::change_product(&world.ctx, lamp.product_id, None, change).await.unwrap();
    let cart = assert_ok(world.get("/v1/carts/active").bearer_auth(&token).send().await.unwrap()).await;
    assert_eq!(cart["lines"][0]["stock"], "not_on_sale");
    let late = add(world.request("POST", ITEMS).bearer_auth(&token), lamp.product_id, 1).await;
    assert_problem(late, 409, "not_on_sale").await;
    let none = add(world.request("POST", ITEMS).bearer_auth(&token), Uuid::nil(), 1).await;
    assert_problem(none, 404, "product_not_found").await;
    let much = add(world.request("POST", ITEMS).bearer_auth(&token), lamp.product_id, 100_001).await;
    assert!(matches!(much.status().as_u16(), 400 | 409));
}

/// The clock stands still here: also two changes within a millisecond are told apart.
async fn an_edit_rests_on_the_cart_that_was_read(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 5).await.product_id;
    let token = world.session(&world.ctx, Role::Customer).await;
    let call = |method: &str, path: &str| world.request(method, path).bearer_auth(&token);
    let cart = assert_ok(add(call("POST", ITEMS), lamp, 1).await).await;
    let (id, line) = (cart["id"].as_str().unwrap(), cart["lines"][0]["id"].as_str().unwrap());
    let (cart, line) = (format!("/v1/carts/{id}"), format!("/v1/carts/{id}/items/{line}"));
    let seen = tag(&call("GET", &cart).send().await.unwrap());
    let same = call("GET", &cart).header("if-none-match", &seen).send().await.unwrap();
    assert_eq!(same.status(), 304);
    let head = call("HEAD", &cart).send().await.unwrap();
    assert_eq!(tag(&head), seen);
    let changed = call("PATCH", &line).header("if-match", &seen).json(&json!({"quantity": 2})).send().await.unwrap();
    let newer = tag(&changed);
    assert_eq!(changed.status(), 200);
    assert_ne!(newer, seen);
    for request in [
        call("PATCH", &line).json(&json!({"quantity": 3})),
        call("POST", ITEMS).json(&json!({"product_id": lamp})),
        call("PATCH", &cart).json(&json!({"name": "Other"})),
        call("DELETE", &line),
        call("DELETE", &cart),
    ] {
        let answer = request.header("if-match", &seen).send().await.unwrap();
        assert_problem(answer, 412, "precondition_failed").await;
    }
    let cart_now = assert_ok(call("GET", &cart).send().await.unwrap()).await;
    assert_eq!(cart_now["item_count"], 2);
    // The tag of an edit's answer is as good as that of a read.
    assert_ok(call("DELETE", &line).header("if-match", &newer).send().await.unwrap()).await;
    let last = tag(&call("GET", &cart).send().await.unwrap());
    assert_eq!(call("DELETE", &cart).header("if-match", &last).send().await.unwrap().status(), 204);
}

async fn the_same_request_adds_once(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 5).await.product_id;
    let token = world.session(&world.ctx, Role::Customer).await;
    let guest = add(world.request("POST", ITEMS), lamp, 1).await.headers()["merkato-guest"].clone();
    for (name, value) in
        [("authorization", format!("Bearer {token}")), ("merkato-guest", guest.to_str().unwrap().into())]
    {
        let post = || world.request("POST", ITEMS).header(name, &value).header("idempotency-key", "once");
        let first = add(post(), lamp, 2).await;
        assert!(first.headers().get("idempotent-replayed").is_none());
        let (tagged, first) = (tag(&first), assert_ok(first).await);
        let again = add(post(), lamp, 2).await;
        assert_eq!(again.headers()["idempotent-replayed"], "true");
        assert_eq!(tag(&again), tagged);
        assert_eq!(assert_ok(again).await, first);
        assert_problem(add(post(), lamp, 3).await, 422, "idempotency_key_reused").await;
        let cart = assert_ok(world.get("/v1/carts/active").header(name, &value).send().await.unwrap()).await;
        assert_eq!(cart["item_count"], first["item_count"]);
    }
}

async fn what_is_the_shop_s_to_say_is_refused(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 5).await.product_id;
    let token = world.session(&world.ctx, Role::Customer).await;
    let call = |method: &str, path: &str| world.request(method, path).bearer_auth(&token);
    let cart = assert_ok(add(call("POST", ITEMS), lamp, 1).await).await;
    let (id, line) = (cart["id"].as_str().unwrap(), cart["lines"][0]["id"].as_str().unwrap());
    let fields = ["price", "unit_price", "name", "user_id", "cart_id", "currency", "line_total", "tenant"];
    for field in fields {
        let item = json!({"product_id": lamp, field: "1"});
        assert_problem(call("POST", ITEMS).json(&item).send().await.unwrap(), 400, "invalid").await;
        let line = call("PATCH", &format!("/v1/carts/{id}/items/{line}")).json(&json!({"quantity": 1, field: "1"}));
        assert_problem(line.send().await.unwrap(), 400, "invalid").await;
    }
    for field in ["user_id", "is_active", "id", "lines", "subtotal", "expires_at"] {
        let body = json!({"name": "Mine", field: "1"});
        for request in [call("POST", "/v1/carts"), call("PATCH", &format!("/v1/carts/{id}"))] {
            assert_problem(request.json(&body).send().await.unwrap(), 400, "invalid").await;
        }
    }
    let cart = assert_ok(call("GET", &format!("/v1/carts/{id}")).send().await.unwrap()).await;
    assert_eq!(cart["subtotal"]["amount"], "19.99");
}

/// By whatever route, to another person, to a guest and to another shop.
async fn another_s_cart_is_not_there(target: &Target) {
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 5).await.product_id;
    let token = world.session(&world.ctx, Role::Customer).await;
    let cart = assert_ok(add(world.request("POST", ITEMS).bearer_auth(&token), lamp, 1).await).await;
    let guests = add(world.request("POST", ITEMS), lamp, 1).await;
    let guest = guests.headers()["merkato-guest"].to_str().unwrap().to_owned();
    let guests = assert_ok(guests).await;
    let line = cart["lines"][0]["id"].as_str().unwrap();
    let admin = world.session(&world.ctx, Role::Admin).await;
    let there = world.session(&world.other, Role::Admin).await;
    for id in [cart["id"].as_str().unwrap(), guests["id"].as_str().unwrap()] {
        let routes = [
            ("GET", format!("/v1/carts/{id}"), json!(null)),
            ("PATCH", format!("/v1/carts/{id}"), json!({"name": "Stolen"})),
            ("DELETE", format!("/v1/carts/{id}"), json!(null)),
            ("POST", format!("/v1/carts/{id}/activate"), json!(null)),
            ("POST", format!("/v1/carts/{id}/copy"), json!({"name": "Stolen"})),
            ("GET", format!("/v1/carts/{id}/items/{line}"), json!(null)),
            ("PATCH", format!("/v1/carts/{id}/items/{line}"), json!({"quantity": 9})),
            ("DELETE", format!("/v1/carts/{id}/items/{line}"), json!(null)),
        ];
        for (method, path, body) in &routes {
            let send = |request: RequestBuilder| {
                if body.is_null() { request.send() } else { request.json(body).send() }
            };
            let answer = send(world.request(method, path).bearer_auth(&admin)).await.unwrap();
            assert_problem(answer, 404, "cart_not_found").await;
            let elsewhere = world.bare(method, path).header("merkato-tenant", world.other.store.tenant().as_str());
            assert_problem(send(elsewhere.bearer_auth(&there)).await.unwrap(), 404, "cart_not_found").await;
        }
    }
    let id = cart["id"].as_str().unwrap();
    for path in [format!("/v1/carts/{id}"), format!("/v1/carts/{id}/items/{line}")] {
        let answer = world.get(&path).header("merkato-guest", &guest).send().await.unwrap();
        assert_problem(answer, 404, "cart_not_found").await;
    }
    let mine = assert_ok(world.get("/v1/carts/active").bearer_auth(&token).send().await.unwrap()).await;
    assert_eq!(mine["item_count"], 1);
}

async fn a_program_has_no_cart(target: &Target) {
    use merkato::keys::{self, NewKey, Scope};
    let world = World::new(target).await;
    let lamp = world.stocked(&world.ctx, "Lamp", 19_99, 5).await.product_id;
    let new = NewKey {
        name: "a program".into(),
        scopes: [Scope::CatalogRead].into(),
        created_by: "a test".into(),
        expires_at: None,
    };
    let key = keys::create(&world.ctx, new).await.unwrap().token.as_str().to_owned();
    assert_problem(add(world.request("POST", ITEMS).bearer_auth(&key), lamp, 1).await, 403, "forbidden").await;
    for path in ["/v1/carts/active", "/v1/carts"] {
        assert_problem(world.get(path).bearer_auth(&key).send().await.unwrap(), 403, "forbidden").await;
    }
}
