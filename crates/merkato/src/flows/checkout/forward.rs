//! The way from a priced cart to a paid order.

use widerow::{Timestamp, Version};

use super::{Checkout, Failure, Short, at_once, credit_of, key_of};
use crate::{
    carts::{self, OrderedCart},
    context::Context,
    flows::{
        error::{Error, Result},
        run::Run,
        sales, stock,
    },
    graph,
    id::{HoldId, ProductId},
    inventory::{self, Hold, Line},
    limits,
    orders::{self, Change, Order, OrderDraft, OrderLine, OrderStatus, PaymentStatus},
    payments::{self, Authorise, PaymentState},
    text,
    wallets::{self, Operation},
};

/// How far it went.
pub(super) enum Went {
    Through,
    /// The provider has not said yet what became of the payment.
    Waiting(Timestamp),
    Nowhere(Failure),
}

/// How soon the provider is asked again.
const ASK_AGAIN_SECONDS: i64 = 10;
/// How often it is asked before the shopper is told that the payment is on its way.
const ASK_TIMES: u32 = 2;
/// What is kept of the provider's own words: they stand in the order's history, which takes no more than a note.
const DECLINE_BYTES_MAX: usize = 500;

pub(super) async fn go(checkout: &Checkout, run: &Run<'_>) -> Result<Went> {
    let placed = if run.resumed { find_placed(checkout, run).await? } else { None };
    // An earlier run has come to the end of it, whatever became of the order since.
    if let Some(order) = placed.as_ref().filter(|order| order.paid_at.is_some()) {
        let products = checkout.products();
        after(run, order, &products, &products).await?;
        return Ok(Went::Through);
    }
    if overdue(run) && !(placed.is_some() && taken(checkout, run).await?) {
        return Ok(Went::Nowhere(Failure::Unpaid));
    }
    let mut turned = Vec::new();
    if let Some(held) = &checkout.placed {
        turned.clone_from(held);
    } else if placed.is_none() {
        match order(checkout, run).await? {
            Ok(held) => turned = held,
            Err(failure) => return Ok(Went::Nowhere(failure)),
        }
    }
    tidy(checkout, run).await?;
    let payment_id = match authorise(checkout, run).await? {
        Ok(payment_id) => payment_id,
        Err(went) => return Ok(went),
    };
    let (hold, products) = (checkout.hold(), checkout.products());
    let confirmed = run.step("confirm", async {
        match inventory::confirm_lines(run.ctx, hold, &products).await {
            Ok(holds) => Ok(Ok(holds)),
            Err(error) => refused(error).map(Err),
        }
    });
    let holds = match confirmed.await? {
        Ok(holds) => holds,
        // Its hold may have been given up because it was cancelled.
        Err(failure) => {
            let order = orders::find_order(run.ctx, checkout.draft.order_id).await?;
            let cancelled = order.is_some_and(|order| order.status == OrderStatus::Cancelled);
            return Ok(Went::Nowhere(if cancelled { Failure::Cancelled } else { failure }));
        }
    };
    // ORDER: before the capture, so that money that was captured means that all of it is there.
    if let Err(failure) = spend(checkout, run).await? {
        return Ok(Went::Nowhere(failure));
    }
    if let Err(went) = capture(checkout, run, &payment_id).await? {
        return Ok(went);
    }
    let Some((order, related)) = run.step("pay", pay(checkout, run, &payment_id, &products)).await? else {
        return Ok(Went::Nowhere(Failure::Cancelled));
    };
    turned.extend(turned_by(&holds));
    // A run before this one may have seen the last unit go.
    let turned = if run.resumed { products.clone() } else { turned };
    after(run, &order, if related { &[] } else { &products }, &turned).await?;
    Ok(Went::Through)
}

/// Whether all of a hold that is released was once taken: then the shopper let go of it. Otherwise a run before this one found
/// that something is not there, and gave back the rest.
async fn was_let_go(ctx: &Context, hold: HoldId, lines: &[Line]) -> Result<bool> {
    for line in lines {
        if inventory::find_hold(ctx, line.product_id, hold).await?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Holds the stock and places the order: the products of which nothing is left now, or why not.
async fn order(checkout: &Checkout, run: &Run<'_>) -> Result<Result<Vec<ProductId>, Failure>> {
    let (ctx, draft) = (run.ctx, &checkout.draft);
    if let Some(code) = &draft.discount_code {
        let redeemed = run.step("redeem", async {
            match orders::redeem(ctx, code, checkout.checkout_id()).await {
                Ok(_) => Ok(true),
                Err(error) if error.kind() == crate::Kind::Refused => Ok(false),
                Err(error) => Err(error.into()),
            }
        });
        if !redeemed.await? {
            return Ok(Err(Failure::DiscountRefused { code: code.clone() }));
        }
    }
    let lines = lines_of(checkout);
    let held = run.step("reserve", async {
        match inventory::reserve_lines(ctx, checkout.hold(), &lines, None).await {
            Ok(holds) => Ok(Ok(turned_by(&holds))),
            // What was kept under the key is not what is in the cart now.
            Err(inventory::Error::HoldMismatch { .. }) => Ok(Err(Failure::CartChanged)),
            Err(inventory::Error::HoldReleased { .. }) if was_let_go(ctx, checkout.hold(), &lines).await? => {
                Ok(Err(Failure::CartChanged))
            }
            Err(error) => refused(error).map(Err),
        }
    });
    let turned = match held.await? {
        Ok(turned) => turned,
        Err(failure) => return Ok(Err(failure)),
    };
    let Some(cart) = draft.cart_id else { return Ok(Err(Failure::CartChanged)) };
    let new = dated(ctx, draft).place("customer", ctx.now())?;
    let version = Version(checkout.cart_version);
    let ordered = run.step("place", async {
        Ok(carts::order_cart(ctx, cart, version, |commit| orders::place(ctx, commit, &new)).await?)
    });
    // RACE: changed by whom? By another run of this checkout, which has placed the order, or by somebody else.
    if ordered.await? == OrderedCart::Changed && orders::find_order(ctx, draft.order_id).await?.is_none() {
        return Ok(Err(Failure::CartChanged));
    }
    Ok(Ok(turned))
}

/// What the inventory is asked for.
pub(super) fn lines_of(checkout: &Checkout) -> Vec<Line> {
    let line = |line: &OrderLine| Line { product_id: line.product_id, quantity: i64::from(line.quantity) };
    checkout.draft.lines.iter().map(line).collect()
}

/// The draft with the day on which it is expected to arrive, if it is ordered now.
pub(super) fn dated(ctx: &Context, draft: &OrderDraft) -> OrderDraft {
    let method = draft.shipping_method.as_deref().unwrap_or_default();
    let days = orders::shipping_method(&ctx.settings.orders, method).map_or(0, |method| method.days);
    let estimated_delivery = Some(ctx.now().plus_seconds(i64::from(days) * 86_400).date());
    OrderDraft { estimated_delivery, ..draft.clone() }
}

/// The rows of a large cart that were ordered, and did not go with the order.
async fn tidy(checkout: &Checkout, run: &Run<'_>) -> Result<()> {
    let large = checkout.draft.lines.len() > carts::ORDERED_AT_ONCE;
    let Some(cart) = checkout.draft.cart_id.filter(|_| large) else { return Ok(()) };
    run.step("tidy", async { Ok(carts::tidy_ordered(run.ctx, cart).await?) }).await
}

/// The products that have just become available or unavailable.
pub(super) fn turned_by(holds: &[Hold]) -> Vec<ProductId> {
    holds.iter().filter(|hold| hold.became.is_some()).map(|hold| hold.product_id).collect()
}

/// The order, if an earlier run has placed it.
///
/// ORDER: what that run may have left half-done in the cart's outbox is finished first; the order stands in it.
async fn find_placed(checkout: &Checkout, run: &Run<'_>) -> Result<Option<Order>> {
    if let Some(cart) = checkout.draft.cart_id {
        carts::settle_cart(run.ctx, cart).await?;
    }
    Ok(orders::find_order(run.ctx, checkout.draft.order_id).await?)
}

fn overdue(run: &Run<'_>) -> bool {
    run.ctx.now() >= run.created_at().plus_seconds(run.ctx.settings.orders.unpaid_seconds)
}

/// Whether all of the money is there, so that the order can be paid however late it is.
async fn taken(checkout: &Checkout, run: &Run<'_>) -> Result<bool> {
    if checkout.charge().is_zero() {
        let Some((user, _)) = checkout.credit() else { return Ok(false) };
        return Ok(wallets::has_paid(run.ctx, user, credit_of(checkout.checkout_id())).await?);
    }
    let payment = run.ctx.payments.status(key_of(checkout.checkout_id(), "authorise")).await?;
    Ok(matches!(payment.state, PaymentState::Captured))
}

/// A step that is asked of the provider; `Err` where the checkout cannot go on now.
async fn ask<T: Send, F: Future<Output = payments::Result<T>> + Send>(
    checkout: &Checkout,
    run: &Run<'_>,
    step: &'static str,
    call: impl Fn() -> F + Sync,
) -> Result<Result<T, Went>> {
    let asked = run.step(step, async {
        let mut answer = call().await;
        for _ in 1..ASK_TIMES {
            if !answer.as_ref().is_err_and(payments::Error::is_transient) {
                break;
            }
            answer = call().await;
        }
        Ok(answer)
    });
    match asked.await? {
        Ok(answer) => Ok(Ok(answer)),
        Err(payments::Error::Declined { reason }) => {
            let reason = text::line(&reason, DECLINE_BYTES_MAX);
            Ok(Err(Went::Nowhere(Failure::Declined { reason })))
        }
        // Another run has given the payment up.
        Err(payments::Error::Voided) => Ok(Err(Went::Nowhere(Failure::Cancelled))),
        Err(error) if error.is_transient() => Ok(Err(wait(checkout, run).await?)),
        Err(error) => Err(error.into()),
    }
}

/// The provider is asked again later, until the order's time is over; until then its stock is held, as far as that goes.
async fn wait(checkout: &Checkout, run: &Run<'_>) -> Result<Went> {
    let ctx = run.ctx;
    if overdue(run) {
        return Ok(Went::Nowhere(Failure::Unpaid));
    }
    let until = run.created_at().plus_seconds(ctx.settings.orders.unpaid_seconds);
    let extended = run.step("extend", async {
        match inventory::extend_lines(ctx, checkout.hold(), &checkout.products(), until).await {
            Ok(_) => Ok(()),
            // It is decided when it is confirmed.
            Err(error) => refused(error).map(drop),
        }
    });
    extended.await?;
    Ok(Went::Waiting(ctx.now().plus_seconds(ASK_AGAIN_SECONDS)))
}

async fn authorise(checkout: &Checkout, run: &Run<'_>) -> Result<Result<Option<String>, Went>> {
    let draft = &checkout.draft;
    let amount = checkout.charge();
    if amount.is_zero() {
        return Ok(Ok(None));
    }
    let request = Authorise {
        key: key_of(checkout.checkout_id(), "authorise"),
        order_number: draft.order_number.clone(),
        amount,
        currency: draft.totals.currency.clone(),
        source: checkout.source.clone(),
    };
    let payments = &run.ctx.payments;
    let authorised = ask(checkout, run, "authorise", || payments.authorise(request.clone())).await?;
    Ok(authorised.map(|authorised| Some(authorised.payment_id)))
}

/// Takes the shopper's store credit, where it pays a part; once, and never after it was given up.
async fn spend(checkout: &Checkout, run: &Run<'_>) -> Result<Result<(), Failure>> {
    let Some((user, amount)) = checkout.credit() else { return Ok(Ok(())) };
    let draft = &checkout.draft;
    let operation = Operation::new(credit_of(checkout.checkout_id()), amount, draft.totals.currency.clone())
        .because(format!("order {}", draft.order_number));
    run.step("spend", async {
        match wallets::withdraw(run.ctx, user, operation).await {
            Ok(_) => Ok(Ok(())),
            // Another run has given the order up.
            Err(wallets::Error::OperationVoided { .. }) => Ok(Err(Failure::Cancelled)),
            Err(error) if error.is_refusal() => Ok(Err(Failure::CreditRefused { reason: error.to_string() })),
            Err(error) => Err(error.into()),
        }
    })
    .await
}

async fn capture(checkout: &Checkout, run: &Run<'_>, payment_id: &Option<String>) -> Result<Result<(), Went>> {
    let Some(payment_id) = payment_id else { return Ok(Ok(())) };
    let key = key_of(checkout.checkout_id(), "capture");
    let (payments, amount) = (&run.ctx.payments, checkout.charge());
    let captured = ask(checkout, run, "capture", || payments.capture(key, payment_id, amount)).await?;
    Ok(captured.map(drop))
}

/// The order, which is paid now, and whether it is noted what was bought together; None if it was cancelled.
async fn pay(
    checkout: &Checkout,
    run: &Run<'_>,
    payment_id: &Option<String>,
    products: &[ProductId],
) -> Result<Option<(Order, bool)>> {
    let change = Change {
        payment_status: Some(PaymentStatus::Captured),
        payment_id: payment_id.clone(),
        ..Change::by("system", key_of(checkout.checkout_id(), "pay"))
    };
    match Box::pin(at_once::pay(checkout, run, &change, products)).await {
        Ok(Some(order)) => return Ok(Some((order, true))),
        Ok(None) => {}
        // ORDER: the money is taken. What is wrong with what was bought together keeps no order from being paid; and if it was
        // done after all, the change and the purchase are known by their ids.
        Err(error) => {
            let order = checkout.draft.order_id;
            tracing::warn!(%order, %error, "an order is made paid by itself");
        }
    }
    match orders::change_status(run.ctx, checkout.draft.order_id, OrderStatus::Paid, change).await {
        Ok(order) => Ok(Some((order, false))),
        Err(orders::Error::IllegalTransition { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What follows from a paid order elsewhere. Nothing of it rests on the rest of it: all of it is done side by side, and where
/// one part fails, whoever goes on does all of it again.
async fn after(run: &Run<'_>, order: &Order, products: &[ProductId], turned: &[ProductId]) -> Result<()> {
    let ctx = run.ctx;
    let count = run.step("count", async { Ok(sales::count(ctx, order).await?) });
    let relate = async {
        if !(2..=limits::BOUGHT_TOGETHER_MAX).contains(&products.len()) {
            return Ok(());
        }
        let purchase = order.order_id.0;
        run.step("relate", async { Ok(graph::record_purchase(ctx, purchase, products).await?) }).await
    };
    let follow = async {
        if turned.is_empty() {
            return Ok(());
        }
        run.step("stock", stock::follow_all(ctx, turned)).await
    };
    futures::try_join!(count, relate, follow)?;
    Ok(())
}

/// What a refusal of the inventory means; anything else is an error.
fn refused(error: inventory::Error) -> Result<Failure> {
    match error {
        inventory::Error::InsufficientStock { short } => Ok(Failure::OutOfStock {
            products: short
                .into_iter()
                .map(|short| Short { product_id: short.product, wanted: short.wanted, available: short.available })
                .collect(),
        }),
        inventory::Error::HoldEnded { .. } => Ok(Failure::Expired),
        error if error.kind() == crate::Kind::Refused => Ok(Failure::OutOfStock { products: Vec::new() }),
        error => Err(Error::Inventory(error)),
    }
}
