//! Orders on their way, and discount codes.

use std::collections::BTreeMap;

use merkato::{
    carts::{Shopper, Which},
    flows::{
        checkout::{self, CheckoutRequest},
        shopping,
    },
    id::{CheckoutId, MovementId, OrderId, ProductId, UserId},
    inventory::{self, Note},
    keys::Scope,
    orders::{self, OrderDraft, OrderLine, OrderStatus, Past, PastStep, PaymentStatus, PostalAddress, Totals},
};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use uuid::Uuid;
use widerow_testing::{Target, cases};

use super::{Office, etag, key};
use crate::world::{assert_ok, assert_problem};

cases![
    an_order_goes_its_way,
    a_change_of_status_is_made_once,
    a_change_rests_on_what_was_read,
    a_cancelled_order_gives_everything_back,
    money_is_given_back,
    an_order_of_a_checkout_is_not_paid_by_hand,
    orders_are_listed_by_day_and_status,
    another_shop_s_orders_are_not_there,
    discounts_are_made_and_disabled,
];

pub async fn product(office: &Office, units: i64) -> ProductId {
    let (world, ctx) = (&office.world, &office.world.ctx);
    let category = world.category(ctx, "Lamps").await;
    let product = world.product(ctx, category, "Lamp", 19_90).await.product_id;
    let movement = MovementId(ctx.new_id());
    inventory::restock(ctx, movement, product, "vienna", units, Note::default()).await.expect("restocked");
    product
}

/// Somebody buys two of it.
pub async fn buy(office: &Office, product: ProductId) -> OrderId {
    let ctx = &office.world.ctx;
    let shopper = Shopper::User(UserId(ctx.new_id()));
    shopping::add_to_cart(ctx, &shopper, Which::Active, product, BTreeMap::new(), 2).await.expect("added");
    let request = CheckoutRequest {
        key: "once".into(),
        shopper,
        cart: Which::Active,
        email: "ada@example.org".into(),
        customer_name: Some("Ada".into()),
        shipping_address: PostalAddress {
            street: "Ring 1".into(),
            city: "Vienna".into(),
            country: "AT".into(),
            ..PostalAddress::default()
        },
        billing_address: None,
        shipping_method: "standard".into(),
        discount_code: None,
        payment_method: "card".into(),
        payment_source: "ok".into(),
        customer_notes: None,
        expected_total: None,
        store_credit: None,
    };
    checkout::check_out(ctx, &request).await.expect("bought").draft.order_id
}

/// An order that was not paid: one of a checkout, or one that came from elsewhere.
async fn unpaid(office: &Office, checkout_id: Option<CheckoutId>) -> OrderId {
    let ctx = &office.world.ctx;
    let price = Decimal::new(19_90, 2);
    let draft = OrderDraft {
        order_id: OrderId(ctx.new_id()),
        order_number: widerow_testing::unique(),
        checkout_id,
        cart_id: None,
        user_id: None,
        user_email: None,
        customer_name: None,
        shipping_address: None,
        billing_address: None,
        payment_method: None,
        lines: vec![OrderLine {
            product_id: ProductId(ctx.new_id()),
            name: "Lamp".into(),
            image: None,
            sku: None,
            options: BTreeMap::new(),
            unit_price: price,
            quantity: 1,
            category_id: Some(merkato::id::CategoryId(ctx.new_id())),
        }],
        totals: Totals {
            currency: merkato::Currency::new("EUR"),
            subtotal: price,
            discount_amount: Decimal::ZERO,
            shipping_amount: Decimal::ZERO,
            tax_amount: Decimal::ZERO,
            total: price,
        },
        discount_code: None,
        shipping_method: None,
        estimated_delivery: None,
        customer_notes: None,
        store_credit: None,
    };
    let created = PastStep { status: OrderStatus::Pending, at: ctx.now(), actor: "system".into(), notes: None };
    let past = Past {
        steps: vec![created],
        payment_status: PaymentStatus::Pending,
        payment_id: None,
        tracking_number: None,
        carrier: None,
        internal_notes: None,
    };
    let new = draft.import(past, ctx.now()).expect("an order");
    orders::insert(ctx, &new).await.expect("inserted");
    new.order().order_id
}

async fn show(office: &Office, order: OrderId) -> Value {
    assert_ok(office.get(&format!("/v1/admin/orders/{order}")).send().await.unwrap()).await
}

async fn available(office: &Office, product: ProductId) -> i64 {
    inventory::get_stock(&office.world.ctx, product).await.expect("stock").available()
}

async fn an_order_goes_its_way(target: &Target) {
    let office = Office::open(target).await;
    let product = product(&office, 10).await;
    let order = buy(&office, product).await;
    let found = show(&office, order).await;
    assert_eq!((&found["status"], &found["payment_status"]), (&json!("paid"), &json!("captured")));
    assert_eq!(found["items"][0]["line_total"], json!({"amount": "39.80", "currency": "EUR"}));
    assert_eq!(found["next"], json!(["processing", "cancelled", "refunded"]));
    let path = format!("/v1/admin/orders/{order}/status");
    let go = |body: Value| office.post(&path, &body).send();
    assert_problem(go(json!({"status": "delivered"})).await.unwrap(), 409, "illegal_transition").await;
    assert_ok(go(json!({"status": "processing"})).await.unwrap()).await;
    let shipped = json!({"status": "shipped", "carrier": "Post", "tracking_number": "RR1", "notes": "Two parcels",
        "estimated_delivery": "2026-12-24"});
    let shipped = assert_ok(go(shipped).await.unwrap()).await;
    assert_eq!((&shipped["carrier"], &shipped["tracking_number"]), (&json!("Post"), &json!("RR1")));
    assert_eq!(shipped["estimated_delivery"], "2026-12-24");
    assert!(shipped["history"][0]["actor"].as_str().unwrap().starts_with("staff:"), "{shipped}");
    assert_eq!(shipped["history"][0]["notes"], "Two parcels");
    let program = key(&office.world.ctx, &[Scope::OrdersWrite]).await;
    let delivered = office.world.post(&path, &json!({"status": "delivered"})).bearer_auth(&program);
    let delivered = assert_ok(delivered.send().await.unwrap()).await;
    assert!(delivered["history"][0]["actor"].as_str().unwrap().starts_with("key:"), "{delivered}");
    let cancel = office.post(&format!("/v1/admin/orders/{order}/cancel"), &json!({})).send().await.unwrap();
    assert_problem(cancel, 409, "illegal_transition").await;
    for (body, pointer) in [
        (json!({"status": "lost"}), "/status"),
        (json!({"status": "refunded", "total": {"amount": "0", "currency": "EUR"}}), "/total"),
        (json!({"status": "refunded", "payment_status": "captured"}), "/payment_status"),
        (json!({"status": "refunded", "actor": "system"}), "/actor"),
        (json!({"status": "refunded", "notes": "x".repeat(5_000)}), "/notes"),
    ] {
        let problem = assert_problem(go(body).await.unwrap(), 400, "invalid").await;
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{problem}");
    }
}

async fn a_change_of_status_is_made_once(target: &Target) {
    let office = Office::open(target).await;
    let product = product(&office, 10).await;
    let order = buy(&office, product).await;
    let read = etag(&office.get(&format!("/v1/admin/orders/{order}")).send().await.unwrap());
    let go = || {
        let request = office.post(&format!("/v1/admin/orders/{order}/status"), &json!({"status": "processing"}));
        request.header("idempotency-key", "go").header("if-match", &read).send()
    };
    let first = assert_ok(go().await.unwrap()).await;
    assert_eq!(assert_ok(go().await.unwrap()).await, first);
    // The answer is forgotten; what was done is not, although the order is another by it.
    office.world.clock.advance_millis(25 * 3_600_000);
    let later = go().await.unwrap();
    assert!(later.headers().get("idempotent-replayed").is_none());
    assert_eq!(assert_ok(later).await["history"].as_array().unwrap().len(), 3);
}

async fn a_change_rests_on_what_was_read(target: &Target) {
    let office = Office::open(target).await;
    let product = product(&office, 10).await;
    let order = buy(&office, product).await;
    let path = format!("/v1/admin/orders/{order}");
    let read = etag(&office.get(&path).send().await.unwrap());
    assert_eq!(office.get(&path).header("if-none-match", &read).send().await.unwrap().status(), 304);
    let go = |tag: &str, status: &str| {
        office.post(&format!("{path}/status"), &json!({"status": status})).header("if-match", tag).send()
    };
    let first = go(&read, "processing").await.unwrap();
    let second = etag(&first);
    assert_ok(first).await;
    for status in ["shipped", "cancelled", "refunded"] {
        assert_problem(go(&read, status).await.unwrap(), 412, "precondition_failed").await;
    }
    assert_ok(go(&second, "shipped").await.unwrap()).await;
}

async fn a_cancelled_order_gives_everything_back(target: &Target) {
    let office = Office::open(target).await;
    let product = product(&office, 2).await;
    for by_status in [false, true] {
        let order = buy(&office, product).await;
        assert_eq!(available(&office, product).await, 0);
        let path = format!("/v1/admin/orders/{order}");
        let cancel = || match by_status {
            true => office.post(&format!("{path}/status"), &json!({"status": "cancelled", "notes": "She called"})),
            false => office.post(&format!("{path}/cancel"), &json!({"notes": "She called"})),
        };
        let cancelled = assert_ok(cancel().send().await.unwrap()).await;
        assert_eq!((&cancelled["status"], &cancelled["payment_status"]), (&json!("cancelled"), &json!("refunded")));
        assert_eq!(cancelled["history"][0]["notes"], "She called");
        assert!(cancelled["history"][0]["actor"].as_str().unwrap().starts_with("staff:"), "{cancelled}");
        assert_eq!(available(&office, product).await, 2);
        // Again, it is as it was.
        assert_ok(cancel().send().await.unwrap()).await;
        assert_eq!(available(&office, product).await, 2);
        let refund = office.post(&format!("{path}/refund"), &json!({})).send().await.unwrap();
        assert_problem(refund, 409, "illegal_transition").await;
    }
    let nowhere = format!("/v1/admin/orders/{}/cancel", Uuid::new_v4());
    assert_problem(office.post(&nowhere, &json!({})).send().await.unwrap(), 404, "order_not_found").await;
}

async fn money_is_given_back(target: &Target) {
    let office = Office::open(target).await;
    let product = product(&office, 10).await;
    for (restock, left) in [(false, 8), (true, 8)] {
        let order = buy(&office, product).await;
        let path = format!("/v1/admin/orders/{order}/refund");
        let refund = || office.post(&path, &json!({"restock": restock, "notes": "Broken"})).send();
        let refunded = assert_ok(refund().await.unwrap()).await;
        assert_eq!((&refunded["status"], &refunded["payment_status"]), (&json!("refunded"), &json!("refunded")));
        assert_ok(refund().await.unwrap()).await;
        assert_eq!(available(&office, product).await, left);
        let amount = office.post(&path, &json!({"amount": {"amount": "1", "currency": "EUR"}})).send().await.unwrap();
        assert_problem(amount, 400, "invalid").await;
    }
}

/// Its checkout would take it for cancelled, and give the money back.
async fn an_order_of_a_checkout_is_not_paid_by_hand(target: &Target) {
    let office = Office::open(target).await;
    let pay =
        |order: OrderId| office.post(&format!("/v1/admin/orders/{order}/status"), &json!({"status": "paid"})).send();
    let own = unpaid(&office, Some(CheckoutId(Uuid::new_v4()))).await;
    assert_problem(pay(own).await.unwrap(), 409, "illegal_transition").await;
    let imported = unpaid(&office, None).await;
    assert_eq!(assert_ok(pay(imported).await.unwrap()).await["status"], "paid");
    let sales = assert_ok(office.get("/v1/admin/analytics/daily-sales").send().await.unwrap()).await;
    assert_eq!((sales["data"].as_array().unwrap().len(), &sales["data"][0]["order_count"]), (1, &json!(1)));
}

async fn orders_are_listed_by_day_and_status(target: &Target) {
    let office = Office::open(target).await;
    let product = product(&office, 100).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(buy(&office, product).await);
        office.world.clock.advance_millis(10);
    }
    let today = office.world.ctx.now().date();
    let status = format!("/v1/admin/orders/{}/status", ids[1]);
    assert_ok(office.post(&status, &json!({"status": "processing"})).send().await.unwrap()).await;
    let office = &office;
    let list = async |query: String| {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("/v1/admin/orders?{query}&limit=2{cursor}");
            let page = assert_ok(office.get(&path).send().await.unwrap()).await;
            let rows = page["data"].as_array().unwrap().iter();
            found.extend(rows.map(|row| OrderId(row["id"].as_str().unwrap().parse().unwrap())));
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return found,
            }
        }
    };
    let found = list(format!("date={today}&status=paid")).await;
    assert_eq!(found, [ids[4], ids[3], ids[2], ids[0]]);
    for path in [format!("date={today}"), "limit=24".to_owned()] {
        let all = assert_ok(office.get(&format!("/v1/admin/orders?{path}")).send().await.unwrap()).await;
        assert_eq!(all["data"].as_array().unwrap().len(), 5);
        assert_eq!(all["data"][0]["id"], json!(ids[0].0));
    }
    let number = show(office, ids[3]).await["order_number"].as_str().unwrap().to_owned();
    let one = assert_ok(office.get(&format!("/v1/admin/orders?number={number}")).send().await.unwrap()).await;
    assert_eq!((one["data"].as_array().unwrap().len(), &one["data"][0]["id"]), (1, &json!(ids[3].0)));
    let none = assert_ok(office.get("/v1/admin/orders?number=ORD-1").send().await.unwrap()).await;
    assert_eq!(none["data"], json!([]));
    // A cursor is good for its own day and status.
    let page = office.get(&format!("/v1/admin/orders?date={today}&status=paid&limit=1")).send().await.unwrap();
    let cursor = assert_ok(page).await["next_cursor"].as_str().unwrap().to_owned();
    for other in [format!("date={today}&status=pending"), format!("date={today}"), "date=2020-01-01&status=paid".into()]
    {
        let other = office.get(&format!("/v1/admin/orders?{other}&limit=1&cursor={cursor}")).send().await.unwrap();
        assert_problem(other, 400, "bad_cursor").await;
    }
    let past = office.get("/v1/admin/orders?date=2020-01-01&status=paid").send().await.unwrap();
    assert_problem(past, 409, "too_long_ago").await;
    for bad in ["status=lost", "date=yesterday", "state=paid", "limit=0x"] {
        let bad = office.get(&format!("/v1/admin/orders?{bad}")).send().await.unwrap();
        assert_problem(bad, 400, "bad_query").await;
    }
}

async fn another_shop_s_orders_are_not_there(target: &Target) {
    let office = Office::open(target).await;
    let product = product(&office, 10).await;
    let order = buy(&office, product).await;
    let staff = office.world.session(&office.world.other, merkato::accounts::Role::Admin).await;
    let there = |method: &str, path: &str| {
        let request = office.world.bare(method, path).bearer_auth(&staff);
        request.header("merkato-tenant", office.world.other.store.tenant().as_str())
    };
    let path = format!("/v1/admin/orders/{order}");
    assert_problem(there("GET", &path).send().await.unwrap(), 404, "order_not_found").await;
    for (what, body) in [("status", json!({"status": "processing"})), ("cancel", json!({})), ("refund", json!({}))] {
        let answer = there("POST", &format!("{path}/{what}")).json(&body).send().await.unwrap();
        assert_problem(answer, 404, "order_not_found").await;
    }
    let all = assert_ok(there("GET", "/v1/admin/orders").send().await.unwrap()).await;
    assert_eq!(all["data"], json!([]));
    assert_eq!(show(&office, order).await["status"], "paid");
}

async fn discounts_are_made_and_disabled(target: &Target) {
    let office = Office::open(target).await;
    let make = |body: Value| office.post("/v1/admin/discounts", &body).send();
    let made =
        make(json!({"code": "SUMMER-10", "percentage": "10", "uses_max": 5, "valid_from": "2026-01-01T00:00:00Z",
        "minimal_subtotal": {"amount": "20", "currency": "EUR"}}))
        .await
        .unwrap();
    assert_eq!(made.headers()["location"], "/v1/admin/discounts/summer-10");
    let made = assert_ok(made).await;
    assert_eq!((&made["percentage"], &made["minimal_subtotal"]["amount"]), (&json!("10"), &json!("20.00")));
    let path = "/v1/admin/discounts/Summer-10";
    assert_eq!(assert_ok(office.get(path).send().await.unwrap()).await, made);
    assert_problem(make(json!({"code": "summer-10", "percentage": "5"})).await.unwrap(), 409, "discount_exists").await;
    assert_eq!(office.request("DELETE", path).send().await.unwrap().status(), 204);
    assert_eq!(assert_ok(office.get(path).send().await.unwrap()).await["disabled"], true);
    let five = json!({"code": "five", "amount": {"amount": "5", "currency": "EUR"}});
    assert_eq!(assert_ok(make(five).await.unwrap()).await["amount"]["amount"], "5.00");
    assert_problem(office.get("/v1/admin/discounts/none").send().await.unwrap(), 404, "discount_not_found").await;
    let eur = |amount: &str| json!({"amount": amount, "currency": "EUR"});
    for (body, pointer) in [
        (json!({"code": "x"}), "/percentage"),
        (json!({"code": "x", "percentage": "5", "amount": eur("5")}), "/percentage"),
        (json!({"code": "x", "percentage": "101"}), "/percentage"),
        (json!({"code": "x", "percentage": "ten"}), "/percentage"),
        (json!({"code": "x", "amount": eur("0")}), "/amount"),
        (json!({"code": "x y", "amount": eur("1")}), "/code"),
        (json!({"code": "x", "amount": eur("1"), "uses_max": 0}), "/uses_max"),
        (json!({"code": "x", "amount": eur("1"), "uses": 0}), "/uses"),
        (
            json!({"code": "x", "amount": eur("1"), "minimal_subtotal": {"amount": "1", "currency": "USD"}}),
            "/minimal_subtotal/currency",
        ),
    ] {
        let problem = assert_problem(make(body).await.unwrap(), 400, "invalid").await;
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{problem}");
    }
}
