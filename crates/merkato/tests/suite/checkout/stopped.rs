//! One harness for all flows: each is stopped at every step, once before and once after the step's effect, as by the end of
//! its process; then it goes on, and the books must be in order.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use futures::{StreamExt as _, future::BoxFuture, stream};
use merkato::{
    Context,
    flows::{
        Error,
        checkout::Stage,
        reversal::{self, RefundTo},
        run::{Point, Watch},
    },
    orders::{self, Change, OrderStatus},
};
use widerow_testing::{Target, cases};

use super::shop::{Shop, WANTED};
use crate::world::{seed, stride};

cases![
    a_purchase_that_is_stopped_anywhere_is_made_once,
    a_declined_purchase_that_is_stopped_anywhere_leaves_nothing,
    a_purchase_declined_at_the_last_moment_that_is_stopped_anywhere_leaves_nothing,
    a_purchase_of_what_is_not_there_that_is_stopped_anywhere_leaves_nothing,
    a_payment_whose_answers_are_lost_that_is_stopped_anywhere_is_taken_once,
    a_payment_that_never_comes_that_is_stopped_anywhere_is_given_up,
    a_cancellation_that_is_stopped_anywhere_is_made_once,
    a_refund_that_is_stopped_anywhere_is_made_once,
    a_purchase_paid_in_part_by_store_credit_that_is_stopped_anywhere_is_made_once,
    a_purchase_paid_by_store_credit_alone_that_is_stopped_anywhere_is_made_once,
    a_purchase_with_store_credit_that_is_declined_and_stopped_anywhere_leaves_nothing,
    a_refund_of_store_credit_that_is_stopped_anywhere_is_made_once,
    a_refund_to_store_credit_that_is_stopped_anywhere_is_made_once,
    a_cancellation_with_store_credit_that_is_stopped_anywhere_is_made_once,
];

/// Sees the points that a flow comes by, and may stop it at one of them.
#[derive(Default)]
struct Stop {
    seen: Mutex<Vec<Point>>,
    at: Option<usize>,
    count: AtomicUsize,
}

impl Watch for Stop {
    fn stops(&self, point: Point) -> bool {
        self.seen.lock().expect("whole").push(point);
        let number = self.count.fetch_add(1, Ordering::SeqCst);
        self.at == Some(number)
    }
}

/// What is done, and how it must end: with the same answer whether it was stopped or not.
struct Scenario {
    stock: [i64; 2],
    /// Before the flow, not watched.
    before: for<'a> fn(&'a Shop) -> BoxFuture<'a, ()>,
    /// The flow, watched; a shopper or a clerk who asks again asks this.
    act: for<'a> fn(&'a Shop, &'a Context) -> BoxFuture<'a, Result<String, Error>>,
    answer: &'static str,
    /// In the cart at the end.
    cart: [i64; 2],
}

const AT_ONCE: usize = 8;

/// How the shop's commits are made.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// As the engine can, with a discount code.
    Usual,
    /// As the engine can, without: where it commits several partitions at once, the order is placed in the first commit.
    AtOnce,
    /// One guarded partition at a time, where the engine could do more.
    StepByStep,
}

async fn open(target: &Target, scenario: &Scenario, way: Way) -> Shop {
    match way {
        Way::Usual => Shop::open(target, scenario.stock).await,
        Way::AtOnce => {
            let shop = Shop::open(target, scenario.stock).await;
            shop.without_code.store(true, Ordering::SeqCst);
            shop
        }
        Way::StepByStep => Shop::open_step_by_step(target, scenario.stock).await,
    }
}

/// On an engine that commits several partitions at once, both ways.
async fn stop_everywhere(target: &Target, scenario: Scenario) {
    let usual = stop_at_every_point(target, &scenario, Way::Usual).await;
    if Shop::open(target, scenario.stock).await.ctx.store.commits_jointly() {
        stop_at_every_point(target, &scenario, Way::AtOnce).await;
        let steps = stop_at_every_point(target, &scenario, Way::StepByStep).await;
        assert!(steps >= usual, "step by step it comes by no fewer points: {steps}, {usual}");
    }
}

/// Runs it once without a stop, to learn the points it comes by; then once for each of them: how many there are.
async fn stop_at_every_point(target: &Target, scenario: &Scenario, way: Way) -> usize {
    let shop = open(target, scenario, way).await;
    (scenario.before)(&shop).await;
    let watch = Arc::new(Stop::default());
    let answer = settle(&shop, scenario, (scenario.act)(&shop, &shop.watched(watch.clone())).await).await;
    assert_eq!(answer, scenario.answer);
    shop.audit().await;
    assert_eq!(shop.cart().await, scenario.cart);
    let points = watch.seen.lock().expect("whole").clone();
    assert!(points.len() >= 8, "{points:?}");
    let stride = if target.name == "embedded" { 1 } else { stride() };
    let count = points.len();
    let chosen = points.into_iter().enumerate().skip(seed() as usize % stride).step_by(stride);
    let runs = chosen.map(|(number, point)| async move {
        let shop = open(target, scenario, way).await;
        (scenario.before)(&shop).await;
        let watch = Arc::new(Stop { at: Some(number), ..Stop::default() });
        let first = (scenario.act)(&shop, &shop.watched(watch.clone())).await;
        assert!(matches!(first, Err(Error::Stopped { .. })), "{point:?}: {first:?}");
        let answer = settle(&shop, scenario, first).await;
        assert_eq!(answer, scenario.answer, "stopped at {point:?}");
        let orders = shop.orders().await;
        assert!(orders.len() <= 1, "{point:?}: the shopper sees one order: {orders:?}");
        println!("stopped at {point:?}, went on ({way:?})");
        shop.audit().await;
        assert_eq!(shop.cart().await, scenario.cart, "{point:?}");
    });
    stream::iter(runs).buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
    count
}

/// Whoever was left without an answer asks again, while sweeps go on with what is due.
async fn settle(shop: &Shop, scenario: &Scenario, first: Result<String, Error>) -> String {
    let mut answer = first;
    for _ in 0..3 {
        shop.go_on().await;
        answer = (scenario.act)(shop, &shop.ctx).await;
        let waits = answer.as_ref().is_ok_and(|answer| answer == "pending");
        if !waits && !matches!(answer, Err(Error::FlowRunning { .. })) {
            break;
        }
    }
    match answer {
        Ok(answer) => answer,
        Err(Error::CheckoutFailed { failure, .. }) => failure.code().to_owned(),
        Err(error) => panic!("{error}"),
    }
}

fn nothing(_: &Shop) -> BoxFuture<'_, ()> {
    Box::pin(async {})
}

/// Checks out and pays from this source.
macro_rules! check_out {
    ($source:literal) => {{
        fn act<'a>(shop: &'a Shop, ctx: &'a Context) -> BoxFuture<'a, Result<String, Error>> {
            Box::pin(async move {
                let checkout = shop.check_out(ctx, "key", $source).await?;
                Ok(if checkout.stage == Stage::Paid { "paid" } else { "pending" }.to_owned())
            })
        }
        act
    }};
}

async fn a_purchase_that_is_stopped_anywhere_is_made_once(target: &Target) {
    let scenario = Scenario { stock: [5, 1], before: nothing, act: check_out!("ok"), answer: "paid", cart: [0, 0] };
    stop_everywhere(target, scenario).await;
}

async fn a_declined_purchase_that_is_stopped_anywhere_leaves_nothing(target: &Target) {
    let answer = "payment_declined";
    stop_everywhere(
        target,
        Scenario { stock: [5, 1], before: nothing, act: check_out!("decline"), answer, cart: WANTED },
    )
    .await;
}

async fn a_purchase_declined_at_the_last_moment_that_is_stopped_anywhere_leaves_nothing(target: &Target) {
    let answer = "payment_declined";
    let act = check_out!("decline_capture");
    stop_everywhere(target, Scenario { stock: [5, 1], before: nothing, act, answer, cart: WANTED }).await;
}

async fn a_purchase_of_what_is_not_there_that_is_stopped_anywhere_leaves_nothing(target: &Target) {
    let answer = "out_of_stock";
    stop_everywhere(target, Scenario { stock: [1, 1], before: nothing, act: check_out!("ok"), answer, cart: WANTED })
        .await;
}

async fn a_payment_whose_answers_are_lost_that_is_stopped_anywhere_is_taken_once(target: &Target) {
    let act = check_out!("timeout_after:3");
    stop_everywhere(target, Scenario { stock: [5, 1], before: nothing, act, answer: "paid", cart: [0, 0] }).await;
}

async fn a_payment_that_never_comes_that_is_stopped_anywhere_is_given_up(target: &Target) {
    fn act<'a>(shop: &'a Shop, ctx: &'a Context) -> BoxFuture<'a, Result<String, Error>> {
        Box::pin(async move {
            let answer = shop.check_out(ctx, "key", "late").await;
            // The time in which the order must be paid passes.
            shop.world.clock.advance_millis(1_000 * ctx.settings.orders.unpaid_seconds);
            answer.map(|_| "pending".to_owned())
        })
    }
    stop_everywhere(target, Scenario { stock: [5, 1], before: nothing, act, answer: "unpaid", cart: WANTED }).await;
}

fn bought(shop: &Shop) -> BoxFuture<'_, ()> {
    Box::pin(async move {
        shop.buy("key").await;
    })
}

async fn a_cancellation_that_is_stopped_anywhere_is_made_once(target: &Target) {
    fn act<'a>(shop: &'a Shop, ctx: &'a Context) -> BoxFuture<'a, Result<String, Error>> {
        Box::pin(async move {
            let order = shop.orders().await.pop().expect("an order");
            let order = reversal::cancel_order(ctx, order.order_id, "customer", Some("not wanted any more")).await?;
            Ok(order.status.as_str().to_owned())
        })
    }
    stop_everywhere(target, Scenario { stock: [5, 1], before: bought, act, answer: "cancelled", cart: [0, 0] }).await;
}

async fn a_refund_that_is_stopped_anywhere_is_made_once(target: &Target) {
    fn before(shop: &Shop) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let order = shop.buy("key").await.draft.order_id;
            for status in [OrderStatus::Processing, OrderStatus::Shipped, OrderStatus::Delivered] {
                let change = Change::by("admin:joan", shop.ctx.new_id());
                orders::change_status(&shop.ctx, order, status, change).await.expect("changed");
            }
        })
    }
    fn act<'a>(shop: &'a Shop, ctx: &'a Context) -> BoxFuture<'a, Result<String, Error>> {
        Box::pin(async move {
            let order = shop.orders().await.pop().expect("an order");
            let order = reversal::refund_order(ctx, order.order_id, true, "admin:joan", None).await?;
            Ok(order.status.as_str().to_owned())
        })
    }
    stop_everywhere(target, Scenario { stock: [5, 1], before, act, answer: "refunded", cart: [0, 0] }).await;
}

/// A hundred euros of it.
fn with_credit(shop: &Shop) -> BoxFuture<'_, ()> {
    Box::pin(async move { shop.hold_credit(15_000, 10_000).await })
}

async fn a_purchase_paid_in_part_by_store_credit_that_is_stopped_anywhere_is_made_once(target: &Target) {
    let scenario = Scenario { stock: [5, 1], before: with_credit, act: check_out!("ok"), answer: "paid", cart: [0, 0] };
    stop_everywhere(target, scenario).await;
}

async fn a_purchase_paid_by_store_credit_alone_that_is_stopped_anywhere_is_made_once(target: &Target) {
    fn before(shop: &Shop) -> BoxFuture<'_, ()> {
        Box::pin(async move { shop.hold_credit(100_000, 90_000).await })
    }
    // Nothing is asked of the provider, which would refuse.
    let scenario = Scenario { stock: [5, 1], before, act: check_out!("decline"), answer: "paid", cart: [0, 0] };
    stop_everywhere(target, scenario).await;
}

async fn a_purchase_with_store_credit_that_is_declined_and_stopped_anywhere_leaves_nothing(target: &Target) {
    let (act, answer) = (check_out!("decline_capture"), "payment_declined");
    stop_everywhere(target, Scenario { stock: [5, 1], before: with_credit, act, answer, cart: WANTED }).await;
}

async fn a_refund_of_store_credit_that_is_stopped_anywhere_is_made_once(target: &Target) {
    fn act<'a>(shop: &'a Shop, ctx: &'a Context) -> BoxFuture<'a, Result<String, Error>> {
        Box::pin(async move {
            let order = shop.orders().await.pop().expect("an order");
            let order = reversal::refund_order(ctx, order.order_id, true, "admin:joan", None).await?;
            Ok(order.status.as_str().to_owned())
        })
    }
    let scenario = Scenario { stock: [5, 1], before: bought_on_credit, act, answer: "refunded", cart: [0, 0] };
    stop_everywhere(target, scenario).await;
}

fn bought_on_credit(shop: &Shop) -> BoxFuture<'_, ()> {
    Box::pin(async move {
        shop.hold_credit(15_000, 10_000).await;
        let order = shop.buy("key").await.draft.order_id;
        let order = orders::get_order(&shop.ctx, order).await.expect("an order");
        assert_eq!(order.store_credit, Some(rust_decimal::Decimal::ONE_HUNDRED));
    })
}

async fn a_refund_to_store_credit_that_is_stopped_anywhere_is_made_once(target: &Target) {
    fn act<'a>(shop: &'a Shop, ctx: &'a Context) -> BoxFuture<'a, Result<String, Error>> {
        Box::pin(async move {
            shop.refunds_to_credit.store(true, Ordering::SeqCst);
            let order = shop.orders().await.pop().expect("an order");
            let to = RefundTo::StoreCredit;
            let order = reversal::refund_order_to(ctx, order.order_id, to, true, "admin:joan", None).await?;
            assert_eq!(shop.provider.refunded_total(), rust_decimal::Decimal::ZERO);
            Ok(order.status.as_str().to_owned())
        })
    }
    let scenario = Scenario { stock: [5, 1], before: bought_on_credit, act, answer: "refunded", cart: [0, 0] };
    stop_everywhere(target, scenario).await;
}

async fn a_cancellation_with_store_credit_that_is_stopped_anywhere_is_made_once(target: &Target) {
    fn act<'a>(shop: &'a Shop, ctx: &'a Context) -> BoxFuture<'a, Result<String, Error>> {
        Box::pin(async move {
            let order = shop.orders().await.pop().expect("an order");
            let order = reversal::cancel_order(ctx, order.order_id, "customer", None).await?;
            Ok(order.status.as_str().to_owned())
        })
    }
    let scenario = Scenario { stock: [5, 1], before: bought_on_credit, act, answer: "cancelled", cart: [0, 0] };
    stop_everywhere(target, scenario).await;
}
