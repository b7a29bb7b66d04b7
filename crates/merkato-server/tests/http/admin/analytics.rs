//! What was sold, what was looked at, what does best.

use merkato::{analytics, flows::sales};
use serde_json::json;
use uuid::Uuid;
use widerow_testing::{Target, cases};

use super::{
    Office,
    orders::{buy, product},
};
use crate::world::{assert_ok, assert_problem};

cases![what_was_sold_is_told, what_was_seen_is_told];

async fn what_was_sold_is_told(target: &Target) {
    let office = Office::open(target).await;
    let lamp = product(&office, 10).await;
    let order = buy(&office, lamp).await;
    buy(&office, lamp).await;
    let today = office.world.ctx.now().date();
    let daily = "/v1/admin/analytics/daily-sales";
    for query in [String::new(), format!("?date={today}"), format!("?from={today}&to={today}")] {
        let sales = assert_ok(office.get(&format!("{daily}{query}")).send().await.unwrap()).await;
        let rows = sales["data"].as_array().unwrap();
        assert_eq!((rows.len(), &rows[0]["order_count"], &rows[0]["item_count"]), (1, &json!(2), &json!(4)));
        assert_eq!(rows[0]["revenue"], json!({"amount": "79.60", "currency": "EUR"}));
        assert_eq!(rows[0]["date"], today.to_string());
    }
    sales::rank_products(&office.world.ctx).await.unwrap();
    let top = "/v1/admin/analytics/top-products";
    for query in ["", "?by=revenue&days=7", "?by=revenue&days=30&currency=EUR"] {
        let best = assert_ok(office.get(&format!("{top}{query}")).send().await.unwrap()).await;
        assert_eq!((&best["data"][0]["product_id"], &best["data"][0]["name"]), (&json!(lamp.0), &json!("Lamp")));
        assert_eq!(best["data"][0]["revenue"]["amount"], "79.60");
    }
    let best = assert_ok(office.get(&format!("{top}?by=units&days=1")).send().await.unwrap()).await;
    assert_eq!((&best["data"][0]["count"], &best["data"][0]["revenue"]), (&json!(4), &json!(null)));
    // Money that was given back was not earned.
    let refund = office.post(&format!("/v1/admin/orders/{order}/refund"), &json!({})).send().await.unwrap();
    assert_ok(refund).await;
    let sales = assert_ok(office.get(daily).send().await.unwrap()).await;
    assert_eq!(sales["data"][0]["order_count"], 1);
    for (query, code) in [
        (format!("{daily}?date={today}&from={today}"), "invalid"),
        (format!("{daily}?from={today}"), "invalid"),
        (format!("{daily}?to={today}"), "invalid"),
        (format!("{daily}?from=2020-01-01&to=2021-01-01"), "invalid"),
        (format!("{daily}?from={today}&to=2020-01-01"), "invalid"),
        (format!("{daily}?date=2020-02-30"), "bad_query"),
        (format!("{top}?days=2"), "invalid"),
        (format!("{top}?by=luck"), "bad_query"),
        (format!("{top}?by=revenue&currency=eur"), "invalid"),
    ] {
        assert_problem(office.get(&query).send().await.unwrap(), 400, code).await;
    }
}

async fn what_was_seen_is_told(target: &Target) {
    let office = Office::open(target).await;
    let (lamp, ctx) = (product(&office, 10).await, &office.world.ctx);
    for visitor in [b"ada", b"bob", b"ada"] {
        analytics::view_product(ctx, lamp, visitor).await.unwrap();
    }
    analytics::flush_views(ctx).await.unwrap();
    let path = format!("/v1/admin/analytics/products/{lamp}/views");
    let seen = assert_ok(office.get(&path).send().await.unwrap()).await;
    let day = &seen["data"][0];
    assert_eq!((&day["view_count"], &day["unique_visitor_count"]), (&json!(3), &json!(2)));
    assert_eq!(day["date"], ctx.now().date().to_string());
    let before = assert_ok(office.get(&format!("{path}?from=2020-01-01&to=2020-01-31")).send().await.unwrap()).await;
    assert_eq!(before["data"], json!([]));
    let unknown = format!("/v1/admin/analytics/products/{}/views", Uuid::new_v4());
    assert_eq!(assert_ok(office.get(&unknown).send().await.unwrap()).await["data"], json!([]));
    let wrong = office.get(&format!("{path}?from=2020-01-01&to=2021-01-01")).send().await.unwrap();
    assert_problem(wrong, 400, "invalid").await;
}
