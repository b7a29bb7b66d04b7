//! Sales over HTTP: recorded, found, and what they say about prices.

use merkato::{
    keys::Scope,
    sales::{self, NewSale},
};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use widerow::Date;
use widerow_testing::{Target, cases};

use crate::{
    admin::{Office, key},
    world::{assert_ok, assert_problem},
};

cases![
    a_sale_is_recorded_read_and_taken_back,
    a_bad_sale_is_told_by_its_fields,
    of_a_batch_every_sale_has_an_answer,
    sales_are_found_page_by_page,
    a_season_is_asked_for,
    another_shop_sees_nothing,
    figures_say_what_prices_did,
    too_much_is_refused_by_name,
    the_nearest_products_are_found,
    a_price_is_suggested_with_the_sales_it_rests_on,
    a_request_that_is_made_again_is_answered_the_same,
    a_key_reads_or_writes_as_its_scopes_say,
    what_was_stored_and_asked_for_is_counted,
];

fn euros(amount: &str) -> Value {
    json!({"amount": amount, "currency": "EUR"})
}

/// A day of this year and the last, so that nothing of it has ended.
fn day(office: &Office, ago: i32) -> Date {
    Date::from_days(office.world.ctx.now().date().days() - ago)
}

fn sale(product: &str, id: &str, date: Date, price: &str) -> Value {
    json!({
        "product_id": product, "sale_id": id, "sale_date": date.to_string(), "sale_price": euros(price),
        "original_price": euros("200.00"), "category": "dress", "brand": "Nike",
    })
}

async fn record(office: &Office, sales: Vec<Value>) -> Value {
    assert_ok(office.post("/v1/admin/sales/batch", &json!({ "sales": sales })).send().await.unwrap()).await
}

async fn get(office: &Office, path: &str) -> Value {
    assert_ok(office.get(path).send().await.unwrap()).await
}

async fn a_sale_is_recorded_read_and_taken_back(target: &Target) {
    let office = Office::open(target).await;
    let date = day(&office, 3);
    let mut body = sale("prod 123/a", "sale_ä", date, "99.99");
    body["season"] = json!("WINTER");
    body["embedding_id"] = json!("emb");
    body["embedding_s3_key"] = json!("s3://bucket/x.json");
    let answer = office.post("/v1/admin/sales", &body).send().await.unwrap();
    assert_eq!(answer.status(), 201);
    let location = answer.headers()["location"].to_str().unwrap().to_owned();
    let made = assert_ok(answer).await;
    assert_eq!(made["sale_price"], euros("99.99"));
    assert_eq!((&made["season"], &made["brand"]), (&json!("WINTER"), &json!("Nike")));
    assert!(made["expires_at"].as_str().is_some(), "{made}");
    let found = office.get(&location).send().await.unwrap();
    let tag = found.headers()["etag"].clone();
    assert_eq!(assert_ok(found).await, made);
    let again = office.get(&location).header("if-none-match", tag).send().await.unwrap();
    assert_eq!(again.status(), 304);
    // The same sale at another price is the same sale.
    body["sale_price"] = euros("80");
    let changed = assert_ok(office.post("/v1/admin/sales", &body).send().await.unwrap()).await;
    assert_eq!(changed["sale_price"], euros("80.00"));
    let all = get(&office, "/v1/admin/sales/categories/dress/trends").await;
    assert_eq!(all["data"].as_array().unwrap().len(), 1, "{all}");
    let product = "prod%20123%2Fa";
    let embeddings = get(&office, &format!("/v1/admin/sales/products/{product}/embeddings")).await;
    assert_eq!(embeddings["data"][0]["embedding_s3_key"], "s3://bucket/x.json");
    for _ in 0..2 {
        assert_eq!(office.request("DELETE", &location).send().await.unwrap().status(), 204);
    }
    assert_problem(office.get(&location).send().await.unwrap(), 404, "sale_not_found").await;
    for path in ["categories/dress/trends", "brands/Nike", "products/prod%20123%2Fa"] {
        let left = get(&office, &format!("/v1/admin/sales/{path}")).await;
        assert_eq!(left["data"], json!([]), "{path}");
    }
}

async fn a_bad_sale_is_told_by_its_fields(target: &Target) {
    let office = Office::open(target).await;
    let date = day(&office, 3);
    for (field, value, pointer) in [
        ("sale_date", json!("2025-13-01"), "/sale_date"),
        ("sale_date", json!("2025-02-29"), "/sale_date"),
        ("sale_price", euros("-1.00"), "/sale_price"),
        ("sale_price", euros("0.001"), "/sale_price"),
        ("sale_price", euros("100000000.00"), "/sale_price"),
        ("sale_price", json!({"amount": "1.00", "currency": "USD"}), "/sale_price/currency"),
        ("sale_price", json!(99.99), "/sale_price"),
        ("category", json!("dress#SHARD#0"), "/category"),
        ("product_id", json!("TENANT#other"), "/product_id"),
        ("brand", json!(""), "/brand"),
        ("season", json!("AUTUMN"), "/season"),
        ("embedding_id", json!("emb"), "/embedding_s3_key"),
        ("vector", json!([0.0, 0.0]), "/vector"),
        ("tenant", json!("other"), "/tenant"),
    ] {
        let mut body = sale("p", "s", date, "10.00");
        body[field] = value;
        let answer = office.post("/v1/admin/sales", &body).send().await.unwrap();
        let problem = assert_problem(answer, 400, "invalid").await;
        let pointers: Vec<_> =
            problem["errors"].as_array().unwrap().iter().map(|error| error["pointer"].clone()).collect();
        assert!(pointers.contains(&json!(pointer)), "{field}: {problem}");
    }
    let mut large = sale("p", "s", date, "10.00");
    large["category"] = json!("x".repeat(500_000));
    let answer = office.post("/v1/admin/sales", &large).send().await.unwrap();
    let problem = assert_problem(answer, 422, "too_large").await;
    assert!(problem["detail"].as_str().unwrap().contains("327680"), "{problem}");
    for path in ["p/2025-13-01/s", "p/yesterday/s"] {
        let answer = office.get(&format!("/v1/admin/sales/{path}")).send().await.unwrap();
        assert_problem(answer, 400, "bad_path").await;
    }
}

async fn of_a_batch_every_sale_has_an_answer(target: &Target) {
    let office = Office::open(target).await;
    let date = day(&office, 10);
    let mut sales: Vec<Value> =
        (0..60).map(|i| sale(&format!("p{}", i % 7), &format!("s{i}"), date, &format!("{}.50", 10 + i))).collect();
    sales[5]["sale_date"] = json!("2025-13-01");
    sales[6] = json!("no sale at all");
    sales[7]["sale_price"]["amount"] = json!("-3");
    sales[8]["category"] = json!("x".repeat(400_000));
    sales[9] = json!({});
    let told = record(&office, sales).await;
    assert_eq!((&told["recorded"], &told["refused"]), (&json!(55), &json!(5)));
    let results = told["results"].as_array().unwrap();
    assert_eq!(results.len(), 60);
    for (index, result) in results.iter().enumerate() {
        assert_eq!(result["index"], index);
        if (5..10).contains(&index) {
            assert_eq!(result["sale"], Value::Null, "{result}");
        } else {
            assert_eq!(result["status"], 201, "{result}");
            assert_eq!(result["sale"]["sale_id"], format!("s{index}"));
        }
    }
    let told = |index: usize| (results[index]["status"].clone(), results[index]["code"].clone());
    assert_eq!(told(5), (json!(400), json!("invalid")));
    assert_eq!(results[5]["errors"][0]["pointer"], "/sales/5/sale_date");
    assert_eq!(results[7]["errors"][0]["pointer"], "/sales/7/sale_price");
    assert_eq!(told(6), (json!(400), json!("invalid")));
    assert_eq!(told(8), (json!(422), json!("too_large")));
    assert_eq!(told(9), (json!(400), json!("invalid")));
    let found = get(&office, "/v1/admin/sales/brands/Nike?limit=100").await;
    assert_eq!(found["data"].as_array().unwrap().len(), 55);
    let nothing = record(&office, Vec::new()).await;
    assert_eq!(nothing, json!({"recorded": 0, "refused": 0, "results": []}));
    let names = get(&office, "/v1/admin/sales/brands").await;
    assert_eq!(names["data"], json!([{"name": "Nike"}]));
    assert_eq!(get(&office, "/v1/admin/sales/categories").await["data"], json!([{"name": "dress"}]));
}

/// All pages of a list, of so many each.
async fn pages(office: &Office, path: &str, limit: usize) -> Vec<Value> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    let mark = if path.contains('?') { '&' } else { '?' };
    loop {
        let page = get(office, &format!("{path}{mark}limit={limit}{cursor}")).await;
        let rows = page["data"].as_array().unwrap();
        assert!(rows.len() <= limit);
        all.extend(rows.iter().cloned());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return all,
        }
    }
}

async fn sales_are_found_page_by_page(target: &Target) {
    let office = Office::open(target).await;
    let mut sales = Vec::new();
    for i in 0..45 {
        let date = day(&office, 40 - i / 3);
        sales.push(sale(&format!("p{}", i % 4), &format!("id{i}"), date, &format!("{}.00", (i * 7) % 11)));
    }
    record(&office, sales).await;
    for path in ["/v1/admin/sales/categories/dress/trends", "/v1/admin/sales/brands/Nike"] {
        let all = pages(&office, path, 7).await;
        let place = |row: &Value| {
            let price: Decimal = row["sale_price"]["amount"].as_str().unwrap().parse().unwrap();
            (row["sale_date"].as_str().unwrap().to_owned(), price)
        };
        assert!(all.is_sorted_by_key(place), "{path}: {all:?}");
        let ids: std::collections::BTreeSet<_> = all.iter().map(|row| row["sale_id"].to_string()).collect();
        assert_eq!((all.len(), ids.len()), (45, 45), "{path}: each once");
        let (from, to) = (day(&office, 38), day(&office, 36));
        let some = pages(&office, &format!("{path}?from={from}&to={to}"), 4).await;
        assert_eq!(some.len(), 9, "{path}: three days of three");
        assert!(some.iter().all(|row| (from.to_string()..=to.to_string()).contains(&row["sale_date"].as_str().unwrap().to_owned())));
    }
    let product = pages(&office, "/v1/admin/sales/products/p1", 5).await;
    assert_eq!(product.len(), 11);
    // A cursor is good for its own list alone.
    let page = get(&office, "/v1/admin/sales/categories/dress/trends?limit=5").await;
    let cursor = page["next_cursor"].as_str().unwrap();
    for bad in [
        format!("/v1/admin/sales/categories/shoes/trends?cursor={cursor}"),
        format!("/v1/admin/sales/categories/dress/trends?season=SPRING&cursor={cursor}"),
        format!("/v1/admin/sales/brands/Nike?cursor={cursor}"),
    ] {
        assert_problem(office.get(&bad).send().await.unwrap(), 400, "bad_cursor").await;
    }
    let (from, to) = (day(&office, 3), day(&office, 5));
    let turned = format!("/v1/admin/sales/brands/Nike?from={from}&to={to}");
    assert_problem(office.get(&turned).send().await.unwrap(), 400, "invalid").await;
}

async fn a_season_is_asked_for(target: &Target) {
    let office = Office::open(target).await;
    let date = day(&office, 20);
    let of = |season: &str, i: i32| {
        let mut sale = sale("p", &format!("{season}{i}"), date, "10.00");
        sale["season"] = json!(season);
        sale
    };
    let all = (0..20).map(|i| of(if i % 4 == 0 { "SPRING" } else { "FALL" }, i)).collect();
    record(&office, all).await;
    let path = "/v1/admin/sales/categories/dress";
    let spring = pages(&office, &format!("{path}/trends?season=SPRING"), 2).await;
    assert_eq!(spring.len(), 5);
    assert!(spring.iter().all(|row| row["season"] == "SPRING"));
    let figures = get(&office, &format!("{path}/figures?season=FALL")).await;
    assert_eq!(figures["whole"]["count"], 15);
    let wrong = office.get(&format!("{path}/trends?season=AUTUMN")).send().await.unwrap();
    assert_problem(wrong, 400, "bad_query").await;
}

async fn another_shop_sees_nothing(target: &Target) {
    let office = Office::open(target).await;
    let other = &office.world.other;
    let date = day(&office, 3);
    let theirs = NewSale {
        product_id: "p".into(),
        sale_id: "s".into(),
        sale_date: date.to_string(),
        sale_price: Decimal::TEN,
        category: "dress".into(),
        brand: Some("Nike".into()),
        ..NewSale::default()
    };
    sales::put_sale(other, theirs).await.unwrap();
    let tenant = other.store.tenant();
    for path in ["categories/dress/trends".to_owned(), "brands/Nike".into(), "products/p".into(), "categories".into()] {
        assert_eq!(get(&office, &format!("/v1/admin/sales/{path}")).await["data"], json!([]), "{path}");
    }
    assert_problem(office.get(&format!("/v1/admin/sales/p/{date}/s")).send().await.unwrap(), 404, "sale_not_found")
        .await;
    // What would be a part of a key is no name.
    for bent in [format!("x%23TENANT%23{tenant}"), "dress%23SHARD%230".into(), "a%00b".into()] {
        for path in [format!("categories/{bent}/trends"), format!("brands/{bent}"), format!("products/{bent}")] {
            let answer = office.get(&format!("/v1/admin/sales/{path}")).send().await.unwrap();
            assert_problem(answer, 400, "invalid").await;
        }
    }
}

async fn figures_say_what_prices_did(target: &Target) {
    let office = Office::open(target).await;
    let today = office.world.ctx.now().date();
    // Ten days, each with prices of 10, 20, 30 and 40 plus its number; one day without any.
    let mut all = Vec::new();
    for ago in (0..11).filter(|ago| *ago != 4) {
        for price in [10, 20, 30, 40] {
            let mut sale = sale("p", &format!("{ago}-{price}"), day(&office, ago), &format!("{}.00", price + ago));
            sale["original_price"] = euros("100.00");
            sale["brand"] = json!(if price < 25 { "Nike" } else { "Puma" });
            all.push(sale);
        }
    }
    record(&office, all).await;
    let paths = ["categories/dress", "products/p"];
    for path in paths {
        let figures = get(&office, &format!("/v1/admin/sales/{path}/figures?by=day")).await;
        let periods = figures["periods"].as_array().unwrap();
        assert_eq!(periods.len(), 11, "a gap is a period");
        let last = &periods[10];
        assert_eq!(last["period"], today.to_string());
        assert_eq!(last["summary"]["median"], euros("25.00"));
        assert_eq!(last["summary"]["lower_quartile"], euros("17.50"));
        assert_eq!(last["summary"]["upper_quartile"], euros("32.50"));
        assert_eq!((&last["summary"]["minimum"], &last["summary"]["maximum"]), (&euros("10.00"), &euros("40.00")));
        assert_eq!(last["summary"]["discount"], "0.75");
        assert_eq!(last["change"], "-0.038462", "from 26 to 25");
        assert_eq!(periods[6]["summary"], Value::Null);
        assert_eq!((&periods[6]["change"], &periods[7]["change"]), (&Value::Null, &Value::Null));
        assert_eq!(figures["whole"]["count"], 40);
        let short = get(&office, &format!("/v1/admin/sales/{path}/figures?by=day&from={today}")).await;
        assert_eq!(short["periods"].as_array().unwrap().len(), 1);
        for by in ["week", "month", "season"] {
            let figures = get(&office, &format!("/v1/admin/sales/{path}/figures?by={by}")).await;
            assert_eq!(figures["by"], by);
            let counts =
                figures["periods"].as_array().unwrap().iter().map(|period| period["summary"]["count"].as_u64());
            assert_eq!(counts.map(Option::unwrap_or_default).sum::<u64>(), 40, "{by}");
        }
        let distribution = get(&office, &format!("/v1/admin/sales/{path}/distribution")).await;
        let bins = distribution["bins"].as_array().unwrap();
        assert!((5..=60).contains(&bins.len()), "{distribution}");
        assert_eq!(bins.iter().map(|bin| bin["count"].as_u64().unwrap()).sum::<u64>(), 40);
    }
    let nike = get(&office, "/v1/admin/sales/brands/Nike/figures").await;
    assert_eq!(nike["whole"]["count"], 20);
    assert_eq!(get(&office, "/v1/admin/sales/brands/Nike/distribution").await["whole"]["count"], 20);
    let brands = get(&office, "/v1/admin/sales/categories/dress/brands").await;
    let names: Vec<_> = brands["brands"].as_array().unwrap().iter().map(|brand| brand["brand"].clone()).collect();
    assert_eq!(names, [json!("Nike"), json!("Puma")]);
    assert_eq!(brands["brands"][0]["share_of_count"], "0.5");
    let nothing = get(&office, "/v1/admin/sales/categories/nothing/figures").await;
    assert_eq!((&nothing["periods"], &nothing["whole"]), (&json!([]), &Value::Null));
    assert_eq!(get(&office, "/v1/admin/sales/brands/nobody/distribution").await["bins"], json!([]));
}

async fn too_much_is_refused_by_name(target: &Target) {
    let office = Office::open(target).await;
    let path = "/v1/admin/sales/categories/dress/figures";
    let long = format!("{path}?by=day&from=2000-01-01&to=2025-01-01");
    let problem = assert_problem(office.get(&long).send().await.unwrap(), 400, "too_many_periods").await;
    assert!(problem["detail"].as_str().unwrap().contains("1000"), "{problem}");
    for bad in [format!("{path}?by=year"), format!("{path}?from=2025-02-30"), format!("{path}?limit=5")] {
        assert_problem(office.get(&bad).send().await.unwrap(), 400, "bad_query").await;
    }
    let many: Vec<Value> = (0..10_001).map(|_| json!(0)).collect();
    let answer = office.post("/v1/admin/sales/batch", &json!({ "sales": many })).send().await.unwrap();
    assert_problem(answer, 422, "too_large").await;
}

async fn the_nearest_products_are_found(target: &Target) {
    let office = Office::open(target).await;
    let date = day(&office, 3);
    let with = |product: &str, id: &str, vector: Value| {
        let mut sale = sale(product, id, date, "10.00");
        sale["embedding_id"] = json!(format!("emb-{id}"));
        sale["vector"] = vector;
        sale
    };
    let sales = vec![
        with("north", "a", json!([0.0, 1.0])),
        with("north", "b", json!([0.01, 1.0])),
        with("east", "c", json!([1.0, 0.0])),
        with("north-east", "d", json!([3.0, 3.0])),
        with("south", "e", json!([0.0, -2.0])),
        with("elsewhere", "f", json!([1.0, 0.0, 0.0])),
    ];
    assert_eq!(record(&office, sales).await["recorded"], 6);
    let near = async |body: Value| office.post("/v1/admin/sales/nearest", &body).send().await.unwrap();
    let found = assert_ok(near(json!({"vector": [0.0, 5.0], "count": 3})).await).await;
    let ids: Vec<_> = found["data"].as_array().unwrap().iter().map(|near| near["product_id"].clone()).collect();
    assert_eq!(ids, [json!("north"), json!("north-east"), json!("east")], "each product once");
    assert_eq!(found["data"][0]["cosine"], 1.0);
    let found = assert_ok(near(json!({"product_id": "east"})).await).await;
    let ids: Vec<_> = found["data"].as_array().unwrap().iter().map(|near| near["product_id"].clone()).collect();
    assert_eq!(ids, [json!("north-east"), json!("north"), json!("south")], "not itself");
    assert_problem(near(json!({"vector": [1.0, 2.0, 3.0, 4.0]})).await, 400, "other_dimension").await;
    assert_problem(near(json!({"product_id": "nothing"})).await, 404, "embedding_not_found").await;
    for bad in [
        json!({}),
        json!({"vector": [1.0], "product_id": "east"}),
        json!({"vector": [0.0, 0.0]}),
        json!({"vector": [1.0, 0.0], "count": 101}),
    ] {
        assert_problem(near(bad).await, 400, "invalid").await;
    }
}

async fn a_price_is_suggested_with_the_sales_it_rests_on(target: &Target) {
    let office = Office::open(target).await;
    let suggest = async |body: Value| office.post("/v1/admin/sales/suggestion", &body).send().await.unwrap();
    let none = assert_ok(suggest(json!({"category": "dress", "brand": "Nike"})).await).await;
    assert_eq!((&none["price"], &none["sales_count"]), (&Value::Null, &json!(0)));
    assert_eq!(none["reasons"][0]["speaks_against"], true);
    let mut all = Vec::new();
    for i in 0..12 {
        all.push(sale("p", &format!("nike{i}"), day(&office, 5), &format!("{}.00", 90 + i)));
        let mut other = sale("q", &format!("puma{i}"), day(&office, 5), "20.00");
        other["brand"] = json!("Puma");
        all.push(other);
    }
    record(&office, all).await;
    let told = assert_ok(suggest(json!({"category": "dress", "brand": "Nike"})).await).await;
    assert_eq!(told["price"], euros("95.50"), "the median of 90 to 101");
    assert_eq!((&told["basis"], &told["sales_count"]), (&json!("category_and_brand"), &json!(12)));
    assert_eq!(told["rests_on"].as_array().unwrap().len(), 10);
    assert_eq!(told["rests_on"][0]["sale"]["brand"], "Nike");
    let other = assert_ok(suggest(json!({"category": "dress", "brand": "Unheard of"})).await).await;
    assert_eq!(other["basis"], "category");
    let before = day(&office, 30);
    let early = assert_ok(suggest(json!({"category": "dress", "on": before.to_string()})).await).await;
    assert_eq!(early["price"], Value::Null, "later sales are left out");
    for bad in [json!({"category": ""}), json!({"category": "a#b"}), json!({"category": "a", "vector": []}), json!({})]
    {
        assert_problem(suggest(bad).await, 400, "invalid").await;
    }
}

async fn a_request_that_is_made_again_is_answered_the_same(target: &Target) {
    let office = Office::open(target).await;
    let body = sale("p", "s", day(&office, 3), "10.00");
    let send = async |body: &Value| {
        office.post("/v1/admin/sales", body).header("idempotency-key", "one").send().await.unwrap()
    };
    let first = send(&body).await;
    assert_eq!(first.status(), 201);
    let first = assert_ok(first).await;
    let again = send(&body).await;
    assert_eq!(again.headers()["idempotent-replayed"], "true");
    assert_eq!(assert_ok(again).await, first);
    assert_problem(send(&sale("p", "s", day(&office, 3), "11.00")).await, 422, "idempotency_key_reused").await;
}

async fn a_key_reads_or_writes_as_its_scopes_say(target: &Target) {
    let office = Office::open(target).await;
    let world = &office.world;
    let (reader, writer) = (key(&world.ctx, &[Scope::SalesRead]).await, key(&world.ctx, &[Scope::SalesWrite]).await);
    let body = sale("p", "s", day(&office, 3), "10.00");
    let refused = world.post("/v1/admin/sales", &body).bearer_auth(&reader).send().await.unwrap();
    assert_problem(refused, 403, "scope_missing").await;
    assert_ok(world.post("/v1/admin/sales", &body).bearer_auth(&writer).send().await.unwrap()).await;
    let path = "/v1/admin/sales/products/p";
    assert_problem(world.get(path).bearer_auth(&writer).send().await.unwrap(), 403, "scope_missing").await;
    let found = assert_ok(world.get(path).bearer_auth(&reader).send().await.unwrap()).await;
    assert_eq!(found["data"].as_array().unwrap().len(), 1);
}

async fn what_was_stored_and_asked_for_is_counted(target: &Target) {
    let office = Office::open(target).await;
    let mut sales: Vec<Value> = (0..5).map(|i| sale("p", &format!("s{i}"), day(&office, 3), "10.00")).collect();
    sales[2]["sale_date"] = json!("2025-13-01");
    record(&office, sales).await;
    get(&office, "/v1/admin/sales/categories/dress/trends").await;
    get(&office, "/v1/admin/sales/brands/Nike/figures").await;
    let metrics = office.world.get("/metrics").send().await.unwrap().text().await.unwrap();
    for line in [
        "merkato_sales_records_total{outcome=\"stored\"} 4",
        "merkato_sales_records_total{outcome=\"refused\"} 1",
        "merkato_sales_records_total{outcome=\"failed\"} 0",
        "merkato_sales_queries_total{what=\"category\"} 1",
        "merkato_sales_found_total{what=\"category\"} 4",
        "merkato_sales_found_total{what=\"figures\"} 4",
    ] {
        assert!(metrics.lines().any(|known| known == line), "{line} is not in {metrics}");
    }
}
