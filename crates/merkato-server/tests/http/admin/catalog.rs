//! Upkeep of the catalog.

use merkato::{id::CategoryId, keys::Scope};
use serde_json::{Value, json};
use uuid::Uuid;
use widerow_testing::{Target, cases};

use super::{Office, etag, key};
use crate::world::{assert_ok, assert_problem};

cases![
    a_product_is_made_changed_and_archived,
    what_a_product_has_cost_is_told,
    a_product_is_made_once,
    what_is_no_editor_s_to_say_is_refused,
    an_edit_rests_on_what_was_read,
    what_is_in_stock_is_not_hidden_by_a_tag,
    lists_for_editors_have_drafts_too,
    categories_are_made_and_renamed,
    categories_are_moved_with_what_is_in_them,
    a_category_is_deleted_when_nothing_is_in_it,
    another_shop_s_products_are_not_there,
    featured_lists_are_set,
];

async fn category(office: &Office, name: &str) -> Uuid {
    office.world.category(&office.world.ctx, name).await.0
}

fn lamp(category: Uuid) -> Value {
    json!({
        "name": "Walnut lamp", "category_id": category, "price": {"amount": "19.90", "currency": "EUR"},
        "compare_at_price": {"amount": "25", "currency": "EUR"}, "tags": ["wood"], "attributes": {"socket": "E27"},
        "dimensions": {"height": 400}, "status": "active",
    })
}

async fn a_product_is_made_changed_and_archived(target: &Target) {
    let office = Office::open(target).await;
    let category = category(&office, "Lamps").await;
    let made = office.post("/v1/admin/products", &lamp(category)).send().await.unwrap();
    assert_eq!(made.status(), 201);
    let path = made.headers()["location"].to_str().unwrap().to_owned();
    let made = assert_ok(made).await;
    assert_eq!((&made["slug"], &made["status"]), (&json!("walnut-lamp"), &json!("active")));
    assert_eq!(made["compare_at_price"]["amount"], "25.00");
    assert_eq!(path, format!("/v1/admin/products/{}", made["id"].as_str().unwrap()));
    assert_eq!(assert_ok(office.get(&path).send().await.unwrap()).await, made);
    let shown = format!("/v1/products/{}", made["id"].as_str().unwrap());
    assert_ok(office.world.get(&shown).send().await.unwrap()).await;
    // What is absent is taken away; the slug and the status stay.
    let plain = json!({"name": "Oak lamp", "category_id": category, "price": {"amount": "30", "currency": "EUR"}});
    let changed = assert_ok(office.put(&path, &plain).send().await.unwrap()).await;
    assert_eq!(changed["compare_at_price"], Value::Null);
    assert_eq!(changed["tags"], json!([]));
    assert_eq!((&changed["slug"], &changed["status"]), (&json!("walnut-lamp"), &json!("active")));
    assert_eq!(office.request("DELETE", &path).send().await.unwrap().status(), 204);
    assert_problem(office.world.get(&shown).send().await.unwrap(), 404, "product_not_found").await;
    let archived = assert_ok(office.get(&path).send().await.unwrap()).await;
    assert_eq!(archived["status"], "archived");
    let nowhere = format!("/v1/admin/products/{}", Uuid::new_v4());
    assert_problem(office.put(&nowhere, &plain).send().await.unwrap(), 404, "product_not_found").await;
    assert_problem(office.request("DELETE", &nowhere).send().await.unwrap(), 404, "product_not_found").await;
}

async fn what_a_product_has_cost_is_told(target: &Target) {
    let office = Office::open(target).await;
    let category = category(&office, "Lamps").await;
    let made = assert_ok(office.post("/v1/admin/products", &lamp(category)).send().await.unwrap()).await;
    let path = format!("/v1/admin/products/{}", made["id"].as_str().unwrap());
    let prices = format!("{path}/prices");
    let none = assert_ok(office.get(&prices).send().await.unwrap()).await;
    assert_eq!(none, json!({"data": [], "next_cursor": null}));
    for amount in ["30.00", "30.00", "28.50"] {
        let body = json!({"name": "Lamp", "category_id": category, "price": {"amount": amount, "currency": "EUR"}});
        assert_ok(office.put(&path, &body).send().await.unwrap()).await;
    }
    let told = |page: &Value| (page["data"][0]["was"]["amount"].clone(), page["data"][0]["price"]["amount"].clone());
    let first = assert_ok(office.get(&format!("{prices}?limit=1")).send().await.unwrap()).await;
    assert_eq!(told(&first), (json!("30.00"), json!("28.50")));
    let next = format!("{prices}?limit=1&cursor={}", first["next_cursor"].as_str().unwrap());
    let next = assert_ok(office.get(&next).send().await.unwrap()).await;
    assert_eq!((told(&next), &next["next_cursor"]), ((json!("19.90"), json!("30.00")), &Value::Null));
    let nowhere = format!("/v1/admin/products/{}/prices", Uuid::new_v4());
    assert_problem(office.get(&nowhere).send().await.unwrap(), 404, "product_not_found").await;
}

async fn a_product_is_made_once(target: &Target) {
    let office = Office::open(target).await;
    let category = category(&office, "Lamps").await;
    let make = || office.post("/v1/admin/products", &lamp(category)).header("idempotency-key", "lamp").send();
    let first = assert_ok(make().await.unwrap()).await;
    let again = make().await.unwrap();
    assert_eq!(again.headers()["idempotent-replayed"], "true");
    assert_eq!(assert_ok(again).await["id"], first["id"]);
    // The answer is kept for a day; the product has its id of the key for good.
    office.world.clock.advance_millis(25 * 3_600_000);
    let later = make().await.unwrap();
    assert!(later.headers().get("idempotent-replayed").is_none());
    assert_eq!(later.status(), 201);
    assert_eq!(assert_ok(later).await["id"], first["id"]);
    // Another one's key of the same name is another key.
    let program = key(&office.world.ctx, &[Scope::CatalogWrite]).await;
    let other = office.world.post("/v1/admin/products", &lamp(category)).bearer_auth(&program);
    let other = assert_ok(other.header("idempotency-key", "lamp").send().await.unwrap()).await;
    assert_ne!(other["id"], first["id"]);
}

async fn what_is_no_editor_s_to_say_is_refused(target: &Target) {
    let office = Office::open(target).await;
    let category = category(&office, "Lamps").await;
    let made = assert_ok(office.post("/v1/admin/products", &lamp(category)).send().await.unwrap()).await;
    let path = format!("/v1/admin/products/{}", made["id"].as_str().unwrap());
    for (field, value) in [
        ("in_stock", json!(true)),
        ("rating_average", json!("5")),
        ("rating_count", json!(1_000)),
        ("popularity", json!(1_000_000)),
        ("featured", json!({"homepage": {"position": 1}})),
        ("revision", json!(7)),
        ("id", json!(Uuid::new_v4())),
        ("tenant", json!("other")),
        ("created_at", json!("2020-01-01T00:00:00Z")),
    ] {
        let mut body = lamp(category);
        body[field] = value;
        let made = office.post("/v1/admin/products", &body).send().await.unwrap();
        assert_problem(made, 400, "invalid").await;
        assert_problem(office.put(&path, &body).send().await.unwrap(), 400, "invalid").await;
    }
    for (field, value, pointer) in [
        ("name", json!(""), "/name"),
        ("price", json!({"amount": "-1", "currency": "EUR"}), "/price"),
        ("price", json!({"amount": "1e3", "currency": "EUR"}), "/price/amount"),
        ("price", json!({"amount": "1.001", "currency": "EUR"}), "/price"),
        ("price", json!({"amount": "1", "currency": "XXX"}), "/price/currency"),
        ("compare_at_price", json!({"amount": "1", "currency": "USD"}), "/compare_at_price/currency"),
        ("price", json!(19.9), "/price"),
        ("slug", json!("Not A Slug"), "/slug"),
        ("image_urls", json!(["javascript:alert(1)"]), "/image_urls/0"),
        ("status", json!("sold"), "/status"),
    ] {
        let mut body = lamp(category);
        body[field] = value;
        let problem = assert_problem(office.put(&path, &body).send().await.unwrap(), 400, "invalid").await;
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{problem}");
    }
    let mut nowhere = lamp(category);
    nowhere["category_id"] = json!(Uuid::new_v4());
    assert_problem(office.put(&path, &nowhere).send().await.unwrap(), 404, "category_not_found").await;
}

async fn an_edit_rests_on_what_was_read(target: &Target) {
    let office = Office::open(target).await;
    let category = category(&office, "Lamps").await;
    let made = assert_ok(office.post("/v1/admin/products", &lamp(category)).send().await.unwrap()).await;
    let path = format!("/v1/admin/products/{}", made["id"].as_str().unwrap());
    let read = etag(&office.get(&path).send().await.unwrap());
    let edit = |tag: &str, name: &str| {
        let mut body = lamp(category);
        body["name"] = json!(name);
        office.put(&path, &body).header("if-match", tag).send()
    };
    let first = edit(&read, "Oak lamp").await.unwrap();
    let second = etag(&first);
    assert_ok(first).await;
    assert_problem(edit(&read, "Elm lamp").await.unwrap(), 412, "precondition_failed").await;
    let delete = |tag: &str| office.request("DELETE", &path).header("if-match", tag).send();
    assert_problem(delete(&read).await.unwrap(), 412, "precondition_failed").await;
    assert_ok(edit(&second, "Elm lamp").await.unwrap()).await;
    assert_eq!(delete("*").await.unwrap().status(), 204);
}

/// What nobody edits is shown as it is, too: a client that has an old answer gets the new one.
async fn what_is_in_stock_is_not_hidden_by_a_tag(target: &Target) {
    let office = Office::open(target).await;
    let category = category(&office, "Lamps").await;
    let made = assert_ok(office.post("/v1/admin/products", &lamp(category)).send().await.unwrap()).await;
    let id = made["id"].as_str().unwrap();
    let path = format!("/v1/products/{id}");
    let tag = etag(&office.world.get(&path).send().await.unwrap());
    let again = || office.world.get(&path).header("if-none-match", &tag).send();
    assert_eq!(again().await.unwrap().status(), 304);
    let restock = office.post(&format!("/v1/admin/inventory/{id}/vienna/restock"), &json!({"units": 5}));
    assert_ok(restock.send().await.unwrap()).await;
    let now = again().await.unwrap();
    assert_eq!(now.status(), 200);
    assert_eq!(assert_ok(now).await["in_stock"], true);
    // No editor has changed it: an edit may still rest on what was read.
    let edit = office.put(&format!("/v1/admin/products/{id}"), &lamp(category)).header("if-match", &tag);
    assert_ok(edit.send().await.unwrap()).await;
}

async fn lists_for_editors_have_drafts_too(target: &Target) {
    let office = Office::open(target).await;
    let category = category(&office, "Lamps").await;
    for i in 0..5 {
        let mut body = lamp(category);
        body["name"] = json!(format!("Lamp {i}"));
        body["status"] = json!(if i % 2 == 0 { "active" } else { "draft" });
        assert_ok(office.post("/v1/admin/products", &body).send().await.unwrap()).await;
        office.world.clock.advance_millis(10);
    }
    let (mut names, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("/v1/admin/products?limit=2{cursor}");
        let page = assert_ok(office.get(&path).send().await.unwrap()).await;
        names.extend(page["data"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(names, ["Lamp 4", "Lamp 3", "Lamp 2", "Lamp 1", "Lamp 0"]);
    let members = format!("/v1/admin/categories/{category}/products?limit=100");
    let members = assert_ok(office.get(&members).send().await.unwrap()).await;
    assert_eq!(members["data"].as_array().unwrap().len(), 5);
    // A cursor of the one list is none of the other's.
    let page = assert_ok(office.get("/v1/admin/products?limit=1").send().await.unwrap()).await;
    let cursor = page["next_cursor"].as_str().unwrap();
    let other = office.get(&format!("/v1/admin/users?limit=1&cursor={cursor}")).send().await.unwrap();
    assert_problem(other, 400, "bad_cursor").await;
    let there = office.world.session(&office.world.other, merkato::accounts::Role::Staff).await;
    let there = office.world.bare("GET", &format!("/v1/admin/products?limit=1&cursor={cursor}")).bearer_auth(&there);
    let there = there.header("merkato-tenant", office.world.other.store.tenant().as_str());
    assert_problem(there.send().await.unwrap(), 400, "bad_cursor").await;
}

async fn categories_are_made_and_renamed(target: &Target) {
    let office = Office::open(target).await;
    let make = |body: Value| office.post("/v1/admin/categories", &body).send();
    let lamps = assert_ok(make(json!({"name": "Lamps"})).await.unwrap()).await;
    let desk = assert_ok(make(json!({"name": "Desk lamps", "parent_id": lamps["id"]})).await.unwrap()).await;
    assert_eq!(desk["path"], json!([lamps["id"]]));
    assert_problem(make(json!({"name": "Other", "slug": "lamps"})).await.unwrap(), 409, "slug_taken").await;
    let nowhere = make(json!({"name": "Other", "parent_id": Uuid::new_v4()})).await.unwrap();
    assert_problem(nowhere, 404, "category_not_found").await;
    let path = format!("/v1/admin/categories/{}", desk["id"].as_str().unwrap());
    let product = lamp(desk["id"].as_str().unwrap().parse().unwrap());
    let product = assert_ok(office.post("/v1/admin/products", &product).send().await.unwrap()).await;
    let tag = etag(&office.get(&path).send().await.unwrap());
    let rename = |name: &str| office.put(&path, &json!({"name": name})).header("if-match", &tag).send();
    let renamed = assert_ok(rename("Table lamps").await.unwrap()).await;
    assert_eq!((&renamed["name"], &renamed["slug"]), (&json!("Table lamps"), &json!("desk-lamps")));
    assert_problem(rename("Tall lamps").await.unwrap(), 412, "precondition_failed").await;
    let moved = office.put(&path, &json!({"name": "Lamps", "parent_id": null})).send().await.unwrap();
    assert_problem(moved, 400, "invalid").await;
    let shown = office.get(&format!("/v1/admin/products/{}", product["id"].as_str().unwrap())).send().await.unwrap();
    assert_eq!(assert_ok(shown).await["category_name"], "Table lamps");
    let once = || {
        let request = office.post("/v1/admin/categories", &json!({"name": "Chairs"}));
        request.header("idempotency-key", "chairs").send()
    };
    let first = assert_ok(once().await.unwrap()).await;
    office.world.clock.advance_millis(25 * 3_600_000);
    assert_eq!(assert_ok(once().await.unwrap()).await["id"], first["id"]);
}

async fn categories_are_moved_with_what_is_in_them(target: &Target) {
    let office = Office::open(target).await;
    let (home, garden) = (category(&office, "Home").await, category(&office, "Garden").await);
    let make = |body: Value| office.post("/v1/admin/categories", &body).send();
    let lamps = assert_ok(make(json!({"name": "Lamps", "parent_id": home})).await.unwrap()).await;
    let desk = assert_ok(make(json!({"name": "Desk", "parent_id": lamps["id"]})).await.unwrap()).await;
    let product = office.world.product(
        &office.world.ctx,
        CategoryId(desk["id"].as_str().unwrap().parse().unwrap()),
        "Lamp",
        9_90,
    );
    let product = product.await;
    let path = format!("/v1/admin/categories/{}", lamps["id"].as_str().unwrap());
    let tag = etag(&office.get(&path).send().await.unwrap());
    let go = |to: Value| office.post(&format!("{path}/move"), &json!({"parent_id": to})).send();
    let moved = office.post(&format!("{path}/move"), &json!({"parent_id": garden})).header("if-match", &tag).send();
    let moved = moved.await.unwrap();
    assert_ne!(etag(&moved), tag);
    let moved = assert_ok(moved).await;
    assert_eq!((&moved["parent_id"], &moved["path"]), (&json!(garden), &json!([garden])));
    let late = office.post(&format!("{path}/move"), &json!({"parent_id": home})).header("if-match", &tag).send();
    assert_problem(late.await.unwrap(), 412, "precondition_failed").await;
    let shown =
        assert_ok(office.world.get(&format!("/v1/categories/{}", desk["id"].as_str().unwrap())).send().await.unwrap())
            .await;
    let crumbs: Vec<_> =
        shown["breadcrumbs"].as_array().unwrap().iter().map(|crumb| crumb["name"].as_str().unwrap()).collect();
    assert_eq!(crumbs, ["Garden", "Lamps", "Desk"]);
    for (category, products) in [(home, 0), (garden, 1)] {
        let list = office.world.get(&format!("/v1/categories/{category}/products")).send().await.unwrap();
        assert_eq!(assert_ok(list).await["data"].as_array().unwrap().len(), products);
    }
    let shown =
        assert_ok(office.world.get(&format!("/v1/products/{}", product.product_id)).send().await.unwrap()).await;
    assert_eq!(shown["category_path"], json!([garden, lamps["id"]]));
    // Not below itself, not beside its own name, not where nothing is.
    for (to, status, code) in [
        (lamps["id"].clone(), 409, "category_cycle"),
        (desk["id"].clone(), 409, "category_cycle"),
        (json!(Uuid::new_v4()), 404, "category_not_found"),
    ] {
        let problem = assert_problem(go(to).await.unwrap(), status, code).await;
        assert_eq!(problem["errors"][0]["pointer"], "/parent_id");
    }
    category(&office, "Lamps").await;
    assert_problem(go(Value::Null).await.unwrap(), 409, "category_name_taken").await;
    assert_problem(make(json!({"name": "Lamps"})).await.unwrap(), 409, "category_name_taken").await;
    let nobody = office.post(&format!("/v1/admin/categories/{}/move", Uuid::new_v4()), &json!({"parent_id": null}));
    assert_problem(nobody.send().await.unwrap(), 404, "category_not_found").await;
    let moved = assert_ok(go(json!(home)).await.unwrap()).await;
    assert_eq!(moved["path"], json!([home]));
    // As a tree it can be read by whoever reads trees, and changed by nobody there.
    let nodes = "/v1/admin/trees/categories/nodes";
    let read = assert_ok(office.get(&format!("{nodes}?path=root/Home/Lamps/Desk")).send().await.unwrap()).await;
    assert_eq!(read["data"][0]["id"], desk["id"]);
    let made = office.post(nodes, &json!({"name": "Other"})).send().await.unwrap();
    assert_problem(made, 409, "tree_is_kept").await;
}

async fn a_category_is_deleted_when_nothing_is_in_it(target: &Target) {
    let office = Office::open(target).await;
    let make = |body: Value| office.post("/v1/admin/categories", &body).send();
    let home = assert_ok(make(json!({"name": "Home"})).await.unwrap()).await;
    let lamps = assert_ok(make(json!({"name": "Lamps", "parent_id": home["id"]})).await.unwrap()).await;
    let path = |category: &Value| format!("/v1/admin/categories/{}", category["id"].as_str().unwrap());
    let delete = |category: &Value| office.request("DELETE", &path(category)).send();
    let told = assert_problem(delete(&home).await.unwrap(), 409, "category_has_subcategories").await;
    assert!(told["detail"].as_str().unwrap().starts_with("1 categories stand below"), "{told}");
    let product = lamp(lamps["id"].as_str().unwrap().parse().unwrap());
    let product = assert_ok(office.post("/v1/admin/products", &product).send().await.unwrap()).await;
    let product_path = format!("/v1/admin/products/{}", product["id"].as_str().unwrap());
    for status in ["active", "archived"] {
        let told = assert_problem(delete(&lamps).await.unwrap(), 409, "category_has_products").await;
        let detail = told["detail"].as_str().unwrap();
        assert!(detail.contains("Walnut lamp") && detail.contains(product["id"].as_str().unwrap()), "{told}");
        assert!(detail.contains(status), "{told}");
        assert_eq!(office.request("DELETE", &product_path).send().await.unwrap().status(), 204);
    }
    let there = json!({"name": "Lamp", "category_id": home["id"], "price": {"amount": "30", "currency": "EUR"}});
    assert_ok(office.put(&product_path, &there).send().await.unwrap()).await;
    let stale = office.request("DELETE", &path(&lamps)).header("if-match", "\"99\"").send().await.unwrap();
    assert_problem(stale, 412, "precondition_failed").await;
    assert_eq!(delete(&lamps).await.unwrap().status(), 204);
    assert_problem(delete(&lamps).await.unwrap(), 404, "category_not_found").await;
    assert_problem(office.get(&path(&lamps)).send().await.unwrap(), 404, "category_not_found").await;
    let shown = format!("/v1/categories/{}", lamps["id"].as_str().unwrap());
    assert_problem(office.world.get(&shown).send().await.unwrap(), 404, "category_not_found").await;
    // Its name and its address are free.
    let again = assert_ok(make(json!({"name": "Lamps", "parent_id": home["id"]})).await.unwrap()).await;
    assert_eq!(again["slug"], "lamps");
    assert_ne!(again["id"], lamps["id"]);
    assert_problem(delete(&json!({"id": Uuid::nil()})).await.unwrap(), 404, "category_not_found").await;
}

async fn another_shop_s_products_are_not_there(target: &Target) {
    let office = Office::open(target).await;
    let (world, other) = (&office.world, &office.world.other);
    let there = world.category(other, "Lamps").await;
    let product = world.product(other, there, "Walnut lamp", 19_90).await;
    let here = category(&office, "Lamps").await;
    let path = format!("/v1/admin/products/{}", product.product_id);
    assert_problem(office.get(&path).send().await.unwrap(), 404, "product_not_found").await;
    assert_problem(office.put(&path, &lamp(here)).send().await.unwrap(), 404, "product_not_found").await;
    assert_problem(office.request("DELETE", &path).send().await.unwrap(), 404, "product_not_found").await;
    let misfiled = office.post("/v1/admin/products", &lamp(there.0)).send().await.unwrap();
    assert_problem(misfiled, 404, "category_not_found").await;
    let stock = format!("/v1/admin/inventory/{}", product.product_id);
    assert_problem(office.get(&stock).send().await.unwrap(), 404, "product_not_found").await;
    let level = office.put(&format!("{stock}/vienna"), &json!({"quantity": 5})).send().await.unwrap();
    assert_problem(level, 404, "product_not_found").await;
}

async fn featured_lists_are_set(target: &Target) {
    let office = Office::open(target).await;
    let (world, ctx) = (&office.world, &office.world.ctx);
    let lamps = world.category(ctx, "Lamps").await;
    let mut ids = Vec::new();
    for i in 0..3 {
        ids.push(world.product(ctx, lamps, &format!("Lamp {i}"), 10_00).await.product_id.0);
    }
    let set = |list: Value| office.put("/v1/admin/featured/deals", &json!({"products": list})).send();
    let both = json!([{"product_id": ids[2], "badge": "Sale"}, {"product_id": ids[0]}]);
    assert_eq!(set(both).await.unwrap().status(), 204);
    let shown = assert_ok(world.get("/v1/featured/deals").send().await.unwrap()).await;
    assert_eq!((&shown["data"][0]["id"], &shown["data"][0]["badge"]), (&json!(ids[2]), &json!("Sale")));
    assert_eq!(shown["data"][1]["id"], json!(ids[0]));
    assert_eq!(set(json!([{"product_id": ids[1]}])).await.unwrap().status(), 204);
    let shown = assert_ok(world.get("/v1/featured/deals").send().await.unwrap()).await;
    assert_eq!(shown["data"].as_array().unwrap().len(), 1);
    let twice = json!([{"product_id": ids[1]}, {"product_id": ids[1]}]);
    assert_problem(set(twice).await.unwrap(), 400, "invalid").await;
    assert_problem(set(json!([{"product_id": Uuid::new_v4()}])).await.unwrap(), 404, "product_not_found").await;
    let bad = office.put("/v1/admin/featured/No-Such", &json!({"products": []})).send().await.unwrap();
    assert_problem(bad, 400, "invalid").await;
}
