//! The catalog as shoppers see it.

use merkato::catalog::{self, Featured, NewProduct, ProductChange, ProductStatus};
use uuid::Uuid;
use widerow_testing::{Target, cases};

use crate::world::{World, assert_ok, assert_problem};

cases![
    products_are_found_by_id_and_slug,
    lists_are_walked_by_cursor,
    names_are_found_by_all_their_words,
    what_is_not_on_sale_is_not_there,
    another_shop_has_nothing
];

async fn products_are_found_by_id_and_slug(target: &Target) {
    let world = World::new(target).await;
    let category = world.category(&world.ctx, "Lamps").await;
    let lamp = world.product(&world.ctx, category, "Walnut lamp", 19_90).await;
    let get = || world.get(&format!("/v1/products/{}", lamp.product_id)).send();
    // The first request to a shop reads its key, too.
    get().await.unwrap();
    let answer = get().await.unwrap();
    assert!(answer.headers()["merkato-cost"].to_str().unwrap().contains("partitions_read=1, rows_read=1"));
    let body = assert_ok(answer).await;
    assert_eq!(body["price"], serde_json::json!({"amount": "19.90", "currency": "EUR"}));
    assert_eq!(body["category_name"], "Lamps");
    assert!(body["created_at"].as_str().unwrap().ends_with('Z'));
    let by_slug = assert_ok(world.get("/v1/products/by-slug/walnut-lamp").send().await.unwrap()).await;
    assert_eq!(by_slug, body);
    let found = assert_ok(world.get("/v1/search?prefix=wal").send().await.unwrap()).await;
    assert_eq!(found["data"][0]["id"], body["id"]);
    let items = assert_ok(world.get("/v1/items?name=Walnut%20lamp").send().await.unwrap()).await;
    assert_eq!(items["data"][0]["id"], body["id"]);
    catalog::set_featured(&world.ctx, "deals", &[Featured { product_id: lamp.product_id, badge: Some("Sale".into()) }])
        .await
        .unwrap();
    let featured = assert_ok(world.get("/v1/featured/deals").send().await.unwrap()).await;
    assert_eq!(featured["data"][0]["badge"], "Sale");
    assert_eq!(featured["next_cursor"], serde_json::Value::Null);
    let shown = assert_ok(world.get(&format!("/v1/categories/{category}")).send().await.unwrap()).await;
    assert_eq!(shown["breadcrumbs"][0]["name"], "Lamps");
    let top = assert_ok(world.get("/v1/categories").send().await.unwrap()).await;
    assert_eq!(top["data"][0]["slug"], "lamps");
    world.product(&world.ctx, category, "Oak lamp", 29_90).await;
    let related =
        assert_ok(world.get(&format!("/v1/products/{}/related", lamp.product_id)).send().await.unwrap()).await;
    assert_eq!(related["data"][0]["because"], "same_category");
}

async fn lists_are_walked_by_cursor(target: &Target) {
    let world = World::new(target).await;
    let category = world.category(&world.ctx, "Lamps").await;
    for i in 0..7 {
        world.product(&world.ctx, category, &format!("Lamp {i}"), 10_00 + i).await;
    }
    let (mut amounts, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("/v1/categories/{category}/products?sort=price_desc&limit=3{cursor}");
        let page = assert_ok(world.get(&path).send().await.unwrap()).await;
        let rows = page["data"].as_array().unwrap();
        assert!(rows.len() <= 3);
        amounts.extend(rows.iter().map(|row| row["price"]["amount"].as_str().unwrap().to_owned()));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(amounts, ["10.06", "10.05", "10.04", "10.03", "10.02", "10.01", "10.00"]);
}

async fn names_are_found_by_all_their_words(target: &Target) {
    let world = World::new(target).await;
    let category = world.category(&world.ctx, "Lamps").await;
    for name in ["Oak desk lamp", "Lamp of oak", "Oak chair", "Elm lamp"] {
        world.product(&world.ctx, category, name, 10_00).await;
    }
    let (mut names, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = assert_ok(world.get(&format!("/v1/search?q=lamp+oak&limit=1{cursor}")).send().await.unwrap()).await;
        let rows = page["data"].as_array().unwrap();
        names.extend(rows.iter().map(|row| row["name"].as_str().unwrap().to_owned()));
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    names.sort();
    assert_eq!(names, ["Lamp of oak", "Oak desk lamp"]);
    let other = world.get(&format!("/v1/search?q=lamp+elm{cursor}")).send().await.unwrap();
    assert_problem(other, 400, "bad_cursor").await;
    for (query, code, pointer) in [
        ("", "bad_query", "/q"),
        ("q=oak&prefix=oak", "bad_query", "/q"),
        ("prefix=oak&cursor=x", "bad_cursor", "/cursor"),
        ("prefix=oak&limit=21", "invalid", "/limit"),
        ("q=oak&limit=101", "invalid", "/limit"),
        ("q=a+b", "invalid", "/q"),
        ("q=", "invalid", "/q"),
    ] {
        let answer = world.get(&format!("/v1/search?{query}")).send().await.unwrap();
        let problem = assert_problem(answer, 400, code).await;
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{query}");
    }
}

async fn what_is_not_on_sale_is_not_there(target: &Target) {
    let world = World::new(target).await;
    let category = world.category(&world.ctx, "Lamps").await;
    let price = rust_decimal::Decimal::ONE;
    let draft = NewProduct::named("Secret lamp", category, price, merkato::Currency::new("EUR"));
    let draft = catalog::create_product(&world.ctx, draft).await.unwrap();
    let path = format!("/v1/products/{}", draft.product_id);
    assert_problem(world.get(&path).send().await.unwrap(), 404, "product_not_found").await;
    assert_problem(world.get("/v1/products/by-slug/secret-lamp").send().await.unwrap(), 404, "product_not_found").await;
    let change = ProductChange { status: Some(ProductStatus::Active), ..ProductChange::default() };
    catalog::change_product(&world.ctx, draft.product_id, None, change).await.unwrap();
    assert_ok(world.get(&path).send().await.unwrap()).await;
}

async fn another_shop_has_nothing(target: &Target) {
    let world = World::new(target).await;
    let category = world.category(&world.other, "Lamps").await;
    let lamp = world.product(&world.other, category, "Walnut lamp", 19_90).await;
    let path = format!("/v1/products/{}", lamp.product_id);
    assert_problem(world.get(&path).send().await.unwrap(), 404, "product_not_found").await;
    let there = world.bare("GET", &path).header("merkato-tenant", world.other.store.tenant().as_str());
    assert_ok(there.send().await.unwrap()).await;
    let unknown = world.get(&format!("/v1/categories/{}", Uuid::new_v4())).send().await.unwrap();
    assert_problem(unknown, 404, "category_not_found").await;
}
