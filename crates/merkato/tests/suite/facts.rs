//! What happens in the shop is told as an event, in the same commit: once, in order, and never without it.

use std::collections::BTreeMap;

use merkato::{
    Context,
    carts::{self, Shopper, Which},
    catalog::{self, ProductChange},
    events::{self, AppendRequest, Event, Expected, NewEvent, ReadStream},
    id::{AggregateId, MovementId, ProductId, UserId},
    inventory::{self, Level, Note},
    orders::{self, OrderStatus},
};
use rust_decimal::Decimal;
use serde_json::json;
use widerow_testing::{Target, cases};

use crate::{
    carts::{dying, finish_commits},
    catalog::{category, on_sale},
    orders::{change, place},
    world::World,
};

cases![
    an_order_is_told_from_its_placing_to_its_refund,
    a_price_is_told_whenever_it_changes,
    stock_is_told_whenever_it_is_moved,
    the_active_cart_is_told_whenever_it_is_another,
    what_is_told_is_in_the_feed_once_in_the_order_of_each_stream,
    a_fact_and_its_event_are_both_there_or_neither_wherever_the_process_dies,
    nobody_appends_to_a_stream_of_the_shop,
];

async fn told(ctx: &Context, stream: AggregateId) -> Vec<Event> {
    events::list_events(ctx, stream, ReadStream { limit: 100, ..ReadStream::default() }).await.unwrap().events
}

async fn types(ctx: &Context, stream: AggregateId) -> Vec<String> {
    told(ctx, stream).await.into_iter().map(|event| event.event_type).collect()
}

async fn an_order_is_told_from_its_placing_to_its_refund(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let order = place(ctx, Some(UserId(ctx.new_id()))).await;
    for status in [OrderStatus::Paid, OrderStatus::Processing, OrderStatus::Shipped, OrderStatus::Delivered] {
        let change = change(ctx);
        for _ in 0..2 {
            orders::change_status(ctx, order.order_id, status, change.clone()).await.unwrap();
        }
    }
    orders::note_internally(ctx, order.order_id, Some("a note is no fact"), None).await.unwrap();
    orders::change_status(ctx, order.order_id, OrderStatus::Refunded, change(ctx)).await.unwrap();
    let stream = orders::stream_of(order.order_id);
    let expected =
        ["OrderPlaced", "OrderPaid", "OrderProcessingStarted", "OrderShipped", "OrderDelivered", "OrderRefunded"];
    assert_eq!(types(ctx, stream).await, expected);
    let placed = told(ctx, stream).await.remove(0).data().unwrap();
    assert_eq!(placed["order_number"], json!(order.order_number));
    assert_eq!(placed["total"], json!(order.total));
    let timeline = orders::timeline(ctx, order.order_id).await.unwrap();
    let history = orders::list_history(ctx, order.order_id).await.unwrap();
    assert_eq!(timeline.len(), history.len());
    for (step, row) in timeline.iter().zip(&history) {
        let of_row = (row.status_time, row.status, &row.actor, &row.notes);
        assert_eq!((step.status_time, step.status, &step.actor, &step.notes), of_row);
    }
}

async fn a_price_is_told_whenever_it_changes(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let lamps = category(ctx, "Lamps").await;
    let product = catalog::create_product(ctx, on_sale("Lamp", &lamps, 10_00)).await.unwrap();
    let id = product.product_id;
    assert_eq!(catalog::price_history(ctx, id, None, 10).await.unwrap().steps, []);
    for cents in [12_00, 12_00, 9_50] {
        let change = ProductChange { price: Some(Decimal::new(cents, 2)), ..ProductChange::default() };
        catalog::change_product(ctx, id, None, change).await.unwrap();
        let renamed = ProductChange { name: Some(format!("Lamp {cents}")), ..ProductChange::default() };
        catalog::change_product(ctx, id, None, renamed).await.unwrap();
    }
    // One that comes back from an export is told too, and its numbers go on.
    let known = catalog::get_product(ctx, id).await.unwrap();
    let back = catalog::Product { price: Decimal::new(11_00, 2), told: None, ..known };
    catalog::restore_product(ctx, back).await.unwrap();
    let history = catalog::price_history(ctx, id, None, 2).await.unwrap();
    let rest = catalog::price_history(ctx, id, history.before, 2).await.unwrap();
    assert_eq!(rest.before, None);
    let steps =
        history.steps.into_iter().chain(rest.steps).map(|step| (step.version, step.change.was, step.change.price));
    let amount = |cents| Decimal::new(cents, 2);
    let expected = [(3, 9_50, 11_00), (2, 12_00, 9_50), (1, 10_00, 12_00)];
    assert_eq!(steps.collect::<Vec<_>>(), expected.map(|(n, was, is)| (n, amount(was), amount(is))));
    let missing = catalog::price_history(ctx, ProductId(ctx.new_id()), None, 2).await;
    assert!(matches!(missing, Err(catalog::Error::ProductNotFound { .. })), "{missing:?}");
}

async fn stock_is_told_whenever_it_is_moved(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let product = ProductId(ctx.new_id());
    let note = || Note { actor: Some("admin:joan".into()), reason: Some("counted".into()) };
    let first = MovementId(ctx.new_id());
    for _ in 0..2 {
        inventory::restock(ctx, first, product, "east", 10, note()).await.unwrap();
    }
    inventory::adjust(ctx, MovementId(ctx.new_id()), product, "east", -2, note()).await.unwrap();
    inventory::transfer(ctx, MovementId(ctx.new_id()), product, ("east", "west"), 3, note()).await.unwrap();
    for quantity in [5, 6] {
        let level = Level { quantity, low_stock_threshold: None };
        inventory::set_level(ctx, MovementId(ctx.new_id()), product, "east", level, None, note()).await.unwrap();
    }
    let stream = inventory::movements_of(product);
    assert_eq!(types(ctx, stream).await, ["StockRestocked", "StockAdjusted", "StockTransferred", "StockAdjusted"]);
    let deltas: Vec<_> = told(ctx, stream).await.iter().map(|event| event.data().unwrap()["delta"].clone()).collect();
    assert_eq!(deltas, [json!(10), json!(-2), json!(-3), json!(1)]);
}

async fn the_active_cart_is_told_whenever_it_is_another(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let user = UserId(ctx.new_id());
    let first = carts::create_cart(ctx, user, "First").await.unwrap().cart_id;
    let second = carts::create_cart(ctx, user, "Second").await.unwrap().cart_id;
    for cart in [second, second, first] {
        carts::activate_cart(ctx, user, cart).await.unwrap();
    }
    carts::rename_cart(ctx, user, first, "Still the first").await.unwrap();
    let activated = |events: Vec<Event>| -> Vec<_> {
        events.iter().map(|event| event.data().unwrap()["cart_id"].clone()).collect()
    };
    let stream = carts::carts_of(user);
    assert_eq!(activated(told(ctx, stream).await), [json!(first), json!(second), json!(first)]);
    // The numbers go on for one who was forgotten, and came back.
    carts::erase_carts(ctx, user).await.unwrap();
    assert_eq!(carts::list_carts(ctx, user).await.unwrap(), []);
    carts::show_cart(ctx, &Shopper::User(user), Which::Active).await.unwrap();
    let third = carts::create_cart(ctx, user, "Third").await.unwrap().cart_id;
    carts::activate_cart(ctx, user, third).await.unwrap();
    let all = activated(told(ctx, stream).await);
    assert_eq!((&all[..3], all.last()), (&[json!(first), json!(second), json!(first)][..], Some(&json!(third))));
}

async fn what_is_told_is_in_the_feed_once_in_the_order_of_each_stream(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let orders = futures::future::join_all((0..5).map(|_| place(ctx, None))).await;
    for order in &orders {
        orders::change_status(ctx, order.order_id, OrderStatus::Paid, change(ctx)).await.unwrap();
        orders::change_status(ctx, order.order_id, OrderStatus::Cancelled, change(ctx)).await.unwrap();
    }
    events::sequence_all(ctx, |_| {}).await.unwrap();
    let mut seen: BTreeMap<AggregateId, Vec<i64>> = BTreeMap::new();
    let mut position = 0;
    loop {
        let page = events::feed(ctx, position, 4).await.unwrap();
        for event in &page.events {
            position += 1;
            assert_eq!(event.position, position);
            seen.entry(event.event.aggregate_id).or_default().push(event.event.event_version);
        }
        if page.events.is_empty() {
            break;
        }
    }
    let expected = orders.iter().map(|order| (orders::stream_of(order.order_id), vec![1, 2, 3]));
    assert_eq!(seen, expected.collect());
}

async fn a_fact_and_its_event_are_both_there_or_neither_wherever_the_process_dies(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let stride = if target.name == "embedded" { 1 } else { 2 };
    for steps in (0..).step_by(stride) {
        let order = place(ctx, None).await;
        let product = ProductId(ctx.new_id());
        inventory::restock(ctx, MovementId(ctx.new_id()), product, "east", 10, Note::default()).await.unwrap();
        let (doomed, faulty) = dying(target, &world, steps);
        let _ = orders::change_status(&doomed, order.order_id, OrderStatus::Paid, change(ctx)).await;
        let _ = inventory::restock(&doomed, MovementId(ctx.new_id()), product, "east", 5, Note::default()).await;
        world.clock.advance_millis(120_000);
        finish_commits(target, &world).await;
        let now = orders::get_order(ctx, order.order_id).await.unwrap();
        let stream = types(ctx, orders::stream_of(order.order_id)).await;
        assert_eq!(now.told.map(|told| told.version), Some(stream.len() as i64), "after {steps}");
        assert_eq!(now.status == OrderStatus::Paid, stream.len() == 2, "after {steps}: {stream:?}");
        let units = inventory::get_stock(ctx, product).await.unwrap().quantity();
        assert_eq!(told(ctx, inventory::movements_of(product)).await.len(), if units == 15 { 2 } else { 1 });
        if !faulty.has_stopped() {
            break;
        }
    }
}

async fn nobody_appends_to_a_stream_of_the_shop(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let order = place(ctx, None).await;
    for aggregate_id in [orders::stream_of(order.order_id), catalog::prices_of(ProductId(ctx.new_id()))] {
        let events = vec![NewEvent::new("OrderRefunded", json!({}))];
        let request = AppendRequest { aggregate_id, kind: "order".into(), expected: Expected::Any, events };
        assert_eq!(events::append(ctx, request).await.unwrap_err().code(), "stream_reserved");
    }
    assert_eq!(types(ctx, orders::stream_of(order.order_id)).await, ["OrderPlaced"]);
}
