//! What a shopper and a clerk see.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering::SeqCst},
};

use futures::future::join_all;
use merkato::{
    Context, Kind, PageRequest, carts,
    catalog::{self, ProductChange},
    flows::{
        Error,
        checkout::{self, Failure, Stage},
        reversal,
        run::{self, Moment, Point, Watch},
        sales, shopping,
    },
    graph,
    id::{FlowId, MovementId},
    inventory::{self, Note},
    limits,
    orders::{self, Change, OrderStatus, PaymentStatus},
};
use rust_decimal::Decimal;
use widerow::{Date, Row as _, meter};
use widerow_testing::{Target, cases};

use super::shop::{Shop, WANTED};
use crate::{
    carts::{dying, finish_commits},
    catalog::on_sale,
    world::raw_rows,
};

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

cases![
    an_order_has_all_that_the_shopper_saw,
    the_same_key_has_the_same_answer_and_another_request_under_it_is_refused,
    fifty_tries_of_one_key_at_once_make_one_order,
    twenty_keys_for_one_cart_at_once_make_one_order,
    a_price_that_changed_is_told_before_it_is_charged,
    what_is_not_there_is_told_and_the_cart_stays,
    a_declined_payment_fills_the_cart_again,
    a_late_payment_is_waited_for_and_its_stock_held,
    an_order_that_is_not_paid_in_time_is_given_up,
    a_cancelled_order_gives_its_stock_back_once,
    a_clerk_who_cancels_and_one_who_ships_at_once,
    a_cart_of_hundreds_of_lines_is_ordered_in_one_go,
    an_order_of_many_products_is_paid_and_they_are_related,
    bad_requests_are_refused_by_field_and_nothing_is_written,
    a_days_sales_are_rebuilt_from_its_orders,
    nothing_of_the_person_stays_with_a_checkout_that_is_over,
    a_flow_is_one_row_and_what_is_due_one_slice_a_shard,
    a_key_is_one_purchase_for_good,
    an_engine_that_does_not_answer_while_stock_is_held_is_asked_again,
    what_was_sold_too_long_ago_is_not_said_to_be_back,
    what_is_left_of_a_large_cart_goes_after_a_crash_as_well,
    what_lies_between_two_questions_to_the_provider_is_one_commit_where_the_engine_can,
];

fn failure<T: std::fmt::Debug>(answer: Result<T, Error>) -> Failure {
    match answer {
        Err(Error::CheckoutFailed { failure, .. }) => failure,
        other => panic!("{other:?}"),
    }
}

async fn an_order_has_all_that_the_shopper_saw(target: &Target) {
    let shop = Shop::open(target, [5, 1]).await;
    let ctx = &shop.ctx;
    let mut request = shop.request("key", "ok");
    request.email = "José@Example.org".into();
    let bought = checkout::check_out(ctx, &request).await.expect("bought");
    assert_eq!(bought.stage, Stage::Paid);
    let order = orders::get_order(ctx, bought.draft.order_id).await.expect("an order");
    // Two lamps and a table, a tenth off, no shipping from fifty on, a fifth of tax.
    let amounts = (order.subtotal, order.discount_amount, order.shipping_amount, order.tax_amount, order.total);
    let cents = |cents| Decimal::new(cents, 2);
    assert_eq!(amounts, (cents(28_998), cents(2_900), cents(0), cents(5_220), cents(31_318)));
    assert_eq!((order.status, order.payment_status), (OrderStatus::Paid, PaymentStatus::Captured));
    assert_eq!(
        order.user_email.as_deref(),
        Some("josé@example.org"),
        "as accounts fold it: letters stay what they are"
    );
    assert!(order.order_number.starts_with("ORD-") && order.paid_at.is_some() && order.payment_id.is_some());
    let items = orders::list_items(ctx, order.order_id).await.expect("items");
    let lines: Vec<_> = items.iter().map(|item| (item.product_name.as_str(), item.quantity)).collect();
    assert_eq!(lines, [("Lamp", 2), ("Table", 1)]);
    let history = orders::list_history(ctx, order.order_id).await.expect("history");
    let steps: Vec<_> = history.iter().map(|row| row.status).collect();
    assert_eq!(steps, [OrderStatus::Paid, OrderStatus::Pending]);
    let found = orders::find_by_number(ctx, &order.order_number).await.expect("found").expect("an order");
    assert_eq!(found, order);
    let page = |limit| PageRequest { limit, cursor: None };
    let paid = orders::list_by_status(ctx, OrderStatus::Paid, order.order_date(), page(10)).await.expect("paid");
    assert_eq!(paid.rows.len(), 1);
    let pending = orders::list_by_status(ctx, OrderStatus::Pending, order.order_date(), page(10)).await;
    assert_eq!(pending.expect("pending").rows.len(), 0);
    assert_eq!(shop.cart().await, [0, 0]);
    shop.audit().await;
    let related = catalog::list_related(ctx, shop.products[0], 4).await.expect("related");
    assert_eq!(related.first().map(|related| related.card.product_id), Some(shop.products[1]), "bought together");
}

async fn the_same_key_has_the_same_answer_and_another_request_under_it_is_refused(target: &Target) {
    let shop = Shop::open(target, [9, 9]).await;
    let first = shop.buy("key").await;
    shop.fill_cart().await;
    assert_eq!(shop.buy("key").await, first, "the same answer, though there is a cart to order");
    let other = shop.check_out(&shop.ctx, "key", "decline").await.expect_err("refused");
    assert!(matches!(other, Error::OtherRequest { .. }), "{other}");
    assert_eq!(other.code(), "idempotency_key_reused");
    assert_eq!(shop.orders().await.len(), 1);
    assert_eq!(shop.cart().await, WANTED);
    let mut again = shop.request("another key", "ok");
    again.discount_code = None;
    let second = checkout::check_out(&shop.ctx, &again).await.expect("bought");
    assert_ne!(second.draft.order_number, first.draft.order_number);
    shop.audit().await;
}

async fn fifty_tries_of_one_key_at_once_make_one_order(target: &Target) {
    let shop = Shop::open(target, [200, 200]).await;
    let tries = join_all((0..50).map(|_| shop.check_out(&shop.ctx, "key", "ok"))).await;
    let paid = tries.iter().filter(|answer| answer.is_ok()).count();
    let running = tries.iter().filter(|answer| matches!(answer, Err(Error::FlowRunning { .. }))).count();
    assert!(paid >= 1 && paid + running == 50, "{paid} were answered, {running} were told that it is being done");
    assert_eq!(shop.orders().await.len(), 1);
    shop.audit().await;
}

async fn twenty_keys_for_one_cart_at_once_make_one_order(target: &Target) {
    let shop = Shop::open(target, [200, 200]).await;
    let requests: Vec<_> = (0..20)
        .map(|n| checkout::CheckoutRequest { discount_code: None, ..shop.request(&format!("key {n}"), "ok") })
        .collect();
    let tries = join_all(requests.iter().map(|request| checkout::check_out(&shop.ctx, request))).await;
    let paid = tries.iter().filter(|answer| answer.is_ok()).count();
    assert_eq!(paid, 1, "{tries:?}");
    for answer in tries.into_iter().filter(|answer| answer.is_err()) {
        let error = answer.expect_err("refused");
        assert!(matches!(error.code(), "cart_changed" | "cart_empty"), "{error}");
    }
    assert_eq!(shop.orders().await.len(), 1);
    shop.audit().await;
}

async fn a_price_that_changed_is_told_before_it_is_charged(target: &Target) {
    let shop = Shop::open(target, [5, 1]).await;
    let change = ProductChange { price: Some(Decimal::from(30)), ..ProductChange::default() };
    catalog::change_product(&shop.ctx, shop.products[0], None, change).await.expect("changed");
    match shop.check_out(&shop.ctx, "key", "ok").await {
        Err(Error::PricesChanged { changed }) => {
            let [change] = &changed[..] else { panic!("{changed:?}") };
            assert_eq!((change.was, change.is), (Decimal::new(1999, 2), Decimal::from(30)));
            assert_eq!(change.product_id, shop.products[0]);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(shop.provider.charges().len(), 0, "nothing was asked of the payer");
    let quote = checkout::quote(&shop.ctx, &shop.request("key", "ok").to_quote()).await.expect("a quote");
    assert_eq!(quote.changed.len(), 1);
    let mut request = shop.request("key", "ok");
    request.expected_total = Some(Decimal::ONE);
    let wrong = checkout::check_out(&shop.ctx, &request).await.expect_err("not what was expected");
    assert_eq!(wrong.code(), "total_changed");
    request.expected_total = Some(quote.totals.total);
    let bought = checkout::check_out(&shop.ctx, &request).await.expect("agreed to");
    assert_eq!(bought.draft.totals.total, quote.totals.total);
    shop.audit().await;
}

async fn what_is_not_there_is_told_and_the_cart_stays(target: &Target) {
    let shop = Shop::open(target, [1, 1]).await;
    match failure(shop.check_out(&shop.ctx, "key", "ok").await) {
        Failure::OutOfStock { products } => {
            let [short] = &products[..] else { panic!("{products:?}") };
            assert_eq!((short.product_id, short.wanted, short.available), (shop.products[0], 2, 1));
        }
        other => panic!("{other}"),
    }
    assert_eq!(shop.orders().await.len(), 0);
    assert_eq!(shop.cart().await, WANTED);
    shop.audit().await;
    // The same key has the same answer, also when there is enough by now; a new one is a new try.
    let more = MovementId(shop.ctx.new_id());
    inventory::restock(&shop.ctx, more, shop.products[0], "graz", 5, Note::default()).await.expect("restocked");
    assert_eq!(failure(shop.check_out(&shop.ctx, "key", "ok").await).code(), "out_of_stock");
    assert_eq!(shop.buy("another key").await.stage, Stage::Paid);
}

async fn a_declined_payment_fills_the_cart_again(target: &Target) {
    let shop = Shop::open(target, [5, 1]).await;
    for (key, source) in [("at once", "decline"), ("at the end", "decline_capture")] {
        let declined = failure(shop.check_out(&shop.ctx, key, source).await);
        assert!(matches!(declined, Failure::Declined { .. }), "{declined}");
        assert_eq!(shop.cart().await, WANTED, "{key}");
        shop.audit().await;
    }
    assert_eq!(shop.orders().await.iter().filter(|order| order.status == OrderStatus::Cancelled).count(), 2);
    // What was tried before keeps nobody from buying, nor the code from being used.
    shop.buy("third time").await;
    shop.audit().await;
}

async fn a_late_payment_is_waited_for_and_its_stock_held(target: &Target) {
    let shop = Shop::open(target, [2, 1]).await;
    let waiting = shop.check_out(&shop.ctx, "key", "late:1500").await.expect("an answer");
    assert_eq!(waiting.stage, Stage::Going);
    let order = orders::get_order(&shop.ctx, waiting.draft.order_id).await.expect("an order");
    assert_eq!(order.status, OrderStatus::Pending);
    // A quarter of an hour would be over by now: the hold was extended.
    shop.world.clock.advance_millis(1_000_000);
    run::resume_due(&shop.ctx).await.expect("resumed");
    let stock = inventory::get_stock(&shop.ctx, shop.products[0]).await.expect("stock");
    assert_eq!((stock.reserved(), stock.available()), (2, 0));
    shop.world.clock.advance_millis(501_000);
    run::resume_due(&shop.ctx).await.expect("resumed");
    let order = orders::get_order(&shop.ctx, order.order_id).await.expect("an order");
    assert_eq!(order.status, OrderStatus::Paid);
    assert_eq!(shop.check_out(&shop.ctx, "key", "late:1500").await.expect("an answer").stage, Stage::Paid);
    shop.audit().await;
}

async fn an_order_that_is_not_paid_in_time_is_given_up(target: &Target) {
    let shop = Shop::open(target, [5, 1]).await;
    let waiting = shop.check_out(&shop.ctx, "key", "late").await.expect("an answer");
    assert_eq!(waiting.stage, Stage::Going);
    shop.world.clock.advance_millis(1_000 * (shop.ctx.settings.orders.unpaid_seconds + 1));
    run::resume_due(&shop.ctx).await.expect("resumed");
    assert_eq!(failure(shop.check_out(&shop.ctx, "key", "late").await), Failure::Unpaid);
    assert_eq!(shop.cart().await, WANTED);
    // The bank says yes when nobody asks any more: nothing is taken.
    shop.provider.settle();
    run::resume_due(&shop.ctx).await.expect("resumed");
    shop.audit().await;
}

async fn a_cancelled_order_gives_its_stock_back_once(target: &Target) {
    let shop = Shop::open(target, [2, 1]).await;
    let ctx = &shop.ctx;
    let order = shop.buy("key").await.draft.order_id;
    assert!(!catalog::get_product(ctx, shop.products[0]).await.expect("a lamp").in_stock, "the last ones are sold");
    let cancel = || reversal::cancel_order(ctx, order, "admin:joan", Some("damaged"));
    let at_once = join_all((0..10).map(|_| cancel())).await;
    assert!(at_once.iter().any(|answer| answer.is_ok()), "{at_once:?}");
    let cancelled = cancel().await.expect("again");
    assert_eq!((cancelled.status, cancelled.payment_status), (OrderStatus::Cancelled, PaymentStatus::Refunded));
    shop.audit().await;
    assert!(catalog::get_product(ctx, shop.products[0]).await.expect("a lamp").in_stock);
    let refund = reversal::refund_order(ctx, order, true, "admin:joan", None).await.expect_err("cancelled");
    assert_eq!(refund.code(), "illegal_transition");
    assert_eq!(shop.provider.refunded_total(), cancelled.total);
}

async fn a_clerk_who_cancels_and_one_who_ships_at_once(target: &Target) {
    let shop = Shop::open(target, [20, 20]).await;
    let ctx = &shop.ctx;
    for round in 0..4 {
        if round > 0 {
            shop.fill_cart().await;
        }
        let request = checkout::CheckoutRequest { discount_code: None, ..shop.request(&round.to_string(), "ok") };
        let order = checkout::check_out(ctx, &request).await.expect("bought").draft.order_id;
        let change = |by: &str| Change::by(by, ctx.new_id());
        orders::change_status(ctx, order, OrderStatus::Processing, change("admin:ann")).await.expect("processing");
        let (cancelled, shipped) = tokio::join!(
            reversal::cancel_order(ctx, order, "admin:ann", None),
            orders::change_status(ctx, order, OrderStatus::Shipped, change("admin:bob")),
        );
        assert!(cancelled.is_ok() != shipped.is_ok(), "one wins, one is told: {cancelled:?} {shipped:?}");
        shop.audit().await;
    }
}

async fn a_cart_of_hundreds_of_lines_is_ordered_in_one_go(target: &Target) {
    let shop = Shop::open(target, [500, 500]).await;
    let ctx = &shop.ctx;
    for n in 0..120 {
        let options = BTreeMap::from([("engraving".to_owned(), n.to_string())]);
        let which = carts::Which::Active;
        shopping::add_to_cart(ctx, &shop.shopper, which, shop.products[0], options, 1).await.expect("added");
    }
    let bought = shop.buy("key").await;
    let items = orders::list_items(ctx, bought.draft.order_id).await.expect("items");
    assert_eq!(items.len(), 122);
    let cart = carts::show_cart(ctx, &shop.shopper, carts::Which::Active).await.expect("a cart");
    assert_eq!((cart.lines.len(), cart.subtotal), (0, Decimal::ZERO));
    shop.fill_cart().await;
    assert_eq!(shop.cart().await, WANTED, "what is added later is seen");
    shop.audit().await;
    assert!(carts::verify_carts(ctx, false).await.expect("verified").totals.is_empty());
}

/// So many that their pairs are more than one commit takes, when they are new and when they are known; and so many products that no
/// pairs of them are noted.
async fn an_order_of_many_products_is_paid_and_they_are_related(target: &Target) {
    let shop = Shop::open(target, [500, 500]).await;
    let ctx = &shop.ctx;
    // Elsewhere it is a commit a partition anyhow.
    let most = if ctx.store.commits_jointly() { limits::BOUGHT_TOGETHER_MAX + 1 } else { 4 };
    let lamp = catalog::get_product(ctx, shop.products[0]).await.expect("a product");
    let furniture = catalog::get_category(ctx, lamp.category_id).await.expect("a category");
    let mut products = shop.products.to_vec();
    while products.len() < most {
        let new = on_sale(&format!("Shelf {}", products.len()), &furniture, 500);
        let product = catalog::create_product(ctx, new).await.expect("a product").product_id;
        let (movement, note) = (MovementId(ctx.new_id()), Note::default());
        inventory::restock(ctx, movement, product, "vienna", 500, note).await.expect("restocked");
        products.push(product);
    }
    shop.without_code.store(true, SeqCst);
    for (key, count) in [("new", most - 1), ("known", most - 1), ("too many", most)] {
        shop.fill_cart().await;
        for product in &products[2..count] {
            let (which, options) = (carts::Which::Active, BTreeMap::new());
            shopping::add_to_cart(ctx, &shop.shopper, which, *product, options, 1).await.expect("added");
        }
        let bought = shop.buy(key).await;
        assert_eq!(bought.stage, Stage::Paid, "{key}");
        let order = orders::get_order(ctx, bought.draft.order_id).await.expect("an order");
        assert_eq!(order.status, OrderStatus::Paid);
    }
    let related = graph::list_bought_together(ctx, products[0], 100).await.expect("related");
    let times = if most > limits::BOUGHT_TOGETHER_MAX { 2 } else { 3 };
    assert!(related.iter().filter(|row| row.times == times).count() >= most - 2, "{related:?}");
    shop.audit().await;
}

async fn bad_requests_are_refused_by_field_and_nothing_is_written(target: &Target) {
    let shop = Shop::open(target, [5, 1]).await;
    let good = shop.request("key", "ok");
    let bad = [
        (checkout::CheckoutRequest { key: String::new(), ..good.clone() }, "key"),
        (checkout::CheckoutRequest { key: "k".repeat(300), ..good.clone() }, "key"),
        (checkout::CheckoutRequest { email: "nobody".into(), ..good.clone() }, "email"),
        (checkout::CheckoutRequest { payment_source: String::new(), ..good.clone() }, "payment_source"),
        (checkout::CheckoutRequest { customer_notes: Some("<b>".into()), ..good.clone() }, "customer_notes"),
    ];
    for (request, field) in bad {
        match checkout::check_out(&shop.ctx, &request).await {
            Err(Error::Invalid(invalid)) => assert_eq!(invalid.fields[0].field, field),
            other => panic!("{field}: {other:?}"),
        }
    }
    let mut nowhere = good.clone();
    nowhere.shipping_address.country = "Austria".into();
    assert_eq!(checkout::check_out(&shop.ctx, &nowhere).await.expect_err("no country").kind(), Kind::Invalid);
    for (request, code) in [
        (checkout::CheckoutRequest { shipping_method: "by owl".into(), ..good.clone() }, "shipping_method_not_found"),
        (checkout::CheckoutRequest { discount_code: Some("NONE".into()), ..good.clone() }, "discount_not_found"),
    ] {
        assert_eq!(checkout::check_out(&shop.ctx, &request).await.expect_err("refused").code(), code);
    }
    assert_eq!((shop.orders().await.len(), shop.cart().await), (0, WANTED));
    shop.audit().await;
}

async fn a_days_sales_are_rebuilt_from_its_orders(target: &Target) {
    let shop = Shop::open(target, [20, 20]).await;
    let ctx: &Context = &shop.ctx;
    shop.buy("key").await;
    let today: Date = ctx.now().date();
    let report = sales::rebuild_sales(ctx, today, false).await.expect("rebuilt");
    assert!(report.is_sound() && report.orders == 1, "{report:?}");
    sales::rank_products(ctx).await.expect("ranked");
    let page = PageRequest { limit: 10, cursor: None };
    let top =
        merkato::analytics::list_top_products(ctx, &merkato::analytics::Metric::Units, 7, page).await.expect("top");
    assert_eq!(top.rows.iter().map(|row| row.product_id).collect::<Vec<_>>(), shop.products);
}

async fn nothing_of_the_person_stays_with_a_checkout_that_is_over(target: &Target) {
    let shop = Shop::open(target, [20, 20]).await;
    let bought = shop.buy("key").await;
    shop.fill_cart().await;
    let mut declined = shop.request("declined", "decline");
    declined.discount_code = None;
    checkout::check_out(&shop.ctx, &declined).await.expect_err("declined");
    for checkout in [bought.checkout_id(), checkout::checkout_id(&declined)] {
        let row = shop.ctx.store.get::<run::FlowRow>(FlowId(checkout.0)).await.expect("read").expect("a flow");
        for personal in ["ada@example.org", "Ada", "Ring 1", "Vienna"] {
            assert!(!row.state.contains(personal), "{personal}: {}", row.state);
        }
    }
    let order = orders::get_order(&shop.ctx, bought.draft.order_id).await.expect("an order");
    assert_eq!(order.shipping_address.expect("an address").street, "Ring 1");
}

async fn a_flow_is_one_row_and_what_is_due_one_slice_a_shard(target: &Target) {
    let shop = Shop::open(target, [20, 20]).await;
    let id = shop.buy("key").await.checkout_id();
    let pattern = |name: &str| {
        let of_flows = run::PATTERNS.iter().find(|pattern| pattern.name == name);
        of_flows.expect("a pattern").cost
    };
    let (_, cost) = meter::measure(shop.ctx.store.get::<run::FlowRow>(FlowId(id.0))).await;
    let most = pattern("flow");
    assert!(cost.partitions_read <= most.partitions.for_rows(1) && cost.rows_read <= most.rows.for_rows(1), "{cost}");
    assert!(cost.round_trips <= most.requests.for_rows(1), "{cost}");
    // The mark, and four shards of each hour that is not settled: what is finished lies in none of them.
    let (swept, cost) = meter::measure(run::resume_due(&shop.ctx)).await;
    assert_eq!(swept.expect("swept").resumed, 0);
    let slices = 4 * 3;
    assert!(cost.partitions_read <= 1 + slices * pattern("flows due").partitions.for_rows(0), "{cost}");
    assert!(cost.rows_read <= 1 + slices * pattern("flows due").rows.for_rows(0), "{cost}");
}

async fn a_key_is_one_purchase_for_good(target: &Target) {
    let shop = Shop::open(target, [20, 20]).await;
    let bought = shop.buy("key").await;
    // Its hold, its payment and its code are known by the key for longer than most flows are.
    shop.world.clock.advance_millis(31 * DAY_MILLIS);
    shop.fill_cart().await;
    let again = shop.buy("key").await;
    assert_eq!(again.draft.order_id, bought.draft.order_id);
    assert_eq!((shop.orders().await.len(), shop.cart().await), (1, WANTED));
    let mut other = shop.request("key", "ok");
    other.discount_code = None;
    assert!(matches!(checkout::check_out(&shop.ctx, &other).await, Err(Error::OtherRequest { .. })));
    shop.audit().await;
}

/// Whatever request is the last to be answered: under the same key the shopper has what was wanted.
async fn an_engine_that_does_not_answer_while_stock_is_held_is_asked_again(target: &Target) {
    let stride = if target.name == "embedded" { 1 } else { 5 };
    for steps in (0..).step_by(stride) {
        let shop = Shop::open(target, [2, 1]).await;
        let (doomed, faulty) = dying(target, &shop.world, steps);
        let first = shop.check_out(&doomed.with_payments(shop.provider.clone()), "key", "ok").await;
        if !faulty.has_stopped() {
            assert_eq!(first.expect("bought").stage, Stage::Paid);
            assert!(steps > 5, "{steps}");
            break;
        }
        shop.go_on().await;
        assert_eq!(shop.buy("key").await.stage, Stage::Paid, "after {steps}");
        // What the dead one left half-way is in its lists once the data layer's sweep has been there.
        finish_commits(target, &shop.world).await;
        shop.audit().await;
    }
}

async fn what_was_sold_too_long_ago_is_not_said_to_be_back(target: &Target) {
    let shop = Shop::open(target, [20, 20]).await;
    let ctx = &shop.ctx;
    let (kept, cancelled) = (shop.buy("key").await.draft.order_id, {
        shop.fill_cart().await;
        let mut request = shop.request("other", "ok");
        request.discount_code = None;
        checkout::check_out(ctx, &request).await.expect("bought").draft.order_id
    });
    let days = i64::from(ctx.settings.inventory.confirmed_days);
    shop.world.clock.advance_millis((days + 1) * DAY_MILLIS);
    let refused = reversal::refund_order(ctx, kept, true, "admin:joan", None).await.expect_err("refused");
    assert_eq!(refused.kind(), Kind::Invalid, "{refused}");
    assert!(refused.to_string().contains("restock"), "{refused}");
    reversal::refund_order(ctx, kept, false, "admin:joan", None).await.expect("refunded");
    reversal::cancel_order(ctx, cancelled, "admin:joan", Some("lost")).await.expect("cancelled");
    let history = orders::list_history(ctx, cancelled).await.expect("history");
    let note = history[0].notes.as_deref().expect("a note");
    assert!(note.starts_with("lost\n") && note.contains("by an adjustment"), "{note}");
    assert_eq!(shop.provider.refunded_total(), shop.provider.captured_total());
}

/// Dies once the order is placed, before the rest of the cart is gone.
struct DiesBeforeTidying;

impl Watch for DiesBeforeTidying {
    fn stops(&self, point: Point) -> bool {
        point.step == "tidy" && point.moment == Moment::Before
    }
}

async fn what_is_left_of_a_large_cart_goes_after_a_crash_as_well(target: &Target) {
    let shop = Shop::open(target, [500, 500]).await;
    for n in 0..120 {
        let options = BTreeMap::from([("engraving".to_owned(), n.to_string())]);
        let (which, product) = (carts::Which::Active, shop.products[0]);
        shopping::add_to_cart(&shop.ctx, &shop.shopper, which, product, options, 1).await.expect("added");
    }
    let stopped = shop.check_out(&shop.watched(Arc::new(DiesBeforeTidying)), "key", "ok").await;
    assert!(matches!(stopped, Err(Error::Stopped { .. })), "{stopped:?}");
    assert!(!raw_rows(&shop.world, carts::CartLine::table()).await.is_empty(), "the rest is there");
    shop.go_on().await;
    assert_eq!(shop.buy("key").await.stage, Stage::Paid);
    assert_eq!(raw_rows(&shop.world, carts::CartLine::table()).await.len(), 0, "and goes");
    shop.audit().await;
}

async fn what_lies_between_two_questions_to_the_provider_is_one_commit_where_the_engine_can(target: &Target) {
    let mut commits = Vec::new();
    for shop in [Shop::open(target, [9, 9]).await, Shop::open_step_by_step(target, [9, 9]).await] {
        shop.without_code.store(true, SeqCst);
        // The first one takes numbers and notes that there are flows.
        shop.buy("first").await;
        shop.fill_cart().await;
        let tried = || shop.world.database.stats().conditional.tried;
        let before = tried();
        assert_eq!(shop.buy("second").await.stage, Stage::Paid);
        commits.push(tried() - before);
        shop.audit().await;
    }
    // Begun, held and placed; confirmed; paid; counted; finished.
    let few = 5;
    if Shop::open(target, [1, 1]).await.ctx.store.commits_jointly() {
        assert_eq!(commits[0], few, "{commits:?}");
    }
    assert!(commits[1] > few, "step by step each is one: {commits:?}");
}
