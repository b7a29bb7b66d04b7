//! What was done for an order that comes to nothing, undone. Each part may not have been done at all.

use widerow::{Timestamp, Version};

use super::{Checkout, Failure, credit_of, hold_of, key_of};
use crate::{
    carts::{self, ItemSnapshot},
    context::Context,
    flows::{error::Result, run::Run, sales, stock},
    id::{CheckoutId, ProductId, UserId},
    inventory,
    orders::{self, Change, OrderStatus, PaymentStatus},
    payments, wallets,
};

/// False where the order was paid after all, by a slower run, and has gone on since: then it stands, and nothing of it is touched.
///
/// ORDER: the provider last. One that refuses, for days or for good, keeps nobody's credit, no stock and no cart.
pub(super) async fn undo(checkout: &mut Checkout, run: &mut Run<'_>, failure: &Failure) -> Result<bool> {
    let id = checkout.checkout_id();
    if !checkout.only_money {
        let Some(placed) = undo_ours(checkout, run, failure).await? else { return Ok(false) };
        if !placed || checkout.charge().is_zero() {
            return Ok(true);
        }
        // Remembered, as the shopper goes on with the cart that was filled again, however long the provider is asked.
        checkout.only_money = true;
        run.save(checkout).await?;
    }
    run.step("void", async {
        if give_up_money(run.ctx, id).await? == GivenUp::Refunded {
            orders::note_payment(run.ctx, checkout.draft.order_id, PaymentStatus::Refunded, None).await?;
        }
        Ok(())
    })
    .await?;
    Ok(true)
}

/// All that is the shop's own, and whether there is an order; None where it stands.
async fn undo_ours(checkout: &Checkout, run: &Run<'_>, failure: &Failure) -> Result<Option<bool>> {
    let (ctx, draft, id) = (run.ctx, &checkout.draft, checkout.checkout_id());
    // RACE: a slow run may be about to place the order. From here on it cannot: either the order is there, or the cart is at
    // another version than the one it would be placed at.
    let placed = run.step("fence", async {
        if let Some(cart) = draft.cart_id {
            carts::fence_cart(ctx, cart, Version(checkout.cart_version)).await?;
        }
        Ok(orders::find_order(ctx, draft.order_id).await?.is_some())
    });
    let placed = placed.await?;
    // ORDER: the order decides before anything moves. Where it was shipped meanwhile, or refunded, what was paid and what was
    // sold are no longer this checkout's to give back.
    if placed {
        if !run.step("cancel", cancel(checkout, ctx, failure)).await? {
            return Ok(None);
        }
        if let Some((user, _)) = checkout.credit() {
            run.step("return", give_up_credit(ctx, user, id)).await?;
        }
    }
    run.step("release", give_up_stock(ctx, id, &checkout.products())).await?;
    if placed && *failure != Failure::Cancelled {
        run.step("restore", restore(checkout, ctx, run.created_at())).await?;
    }
    if let Some(code) = &draft.discount_code {
        run.step("unredeem", async { Ok(orders::unredeem(ctx, code, id).await.map(drop)?) }).await?;
    }
    if placed {
        run.step("count", sales::count_order(ctx, draft.order_id)).await?;
    }
    run.step("stock", stock::follow_all(ctx, &checkout.products())).await?;
    Ok(Some(placed))
}

/// What became of a payment that was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::flows) enum GivenUp {
    /// Nothing was taken.
    Voided,
    Refunded,
}

/// Nothing is taken from the payer any more; what was taken is given back.
pub(in crate::flows) async fn give_up_money(ctx: &Context, checkout: CheckoutId) -> Result<GivenUp> {
    match ctx.payments.void(key_of(checkout, "authorise")).await {
        Ok(()) => Ok(GivenUp::Voided),
        Err(payments::Error::AlreadyCaptured { payment_id, amount }) => {
            ctx.payments.refund(key_of(checkout, "refund"), &payment_id, amount).await?;
            Ok(GivenUp::Refunded)
        }
        Err(error) => Err(error.into()),
    }
}

/// No store credit is spent any more; what was spent is given back, once.
pub(in crate::flows) async fn give_up_credit(
    ctx: &Context,
    user: UserId,
    checkout: CheckoutId,
) -> Result<wallets::Told> {
    Ok(wallets::give_back(ctx, user, credit_of(checkout)).await?)
}

/// The order says that it came to nothing. One that was cancelled by somebody else says so already; false for one that can no
/// longer be cancelled.
async fn cancel(checkout: &Checkout, ctx: &Context, failure: &Failure) -> Result<bool> {
    let payment_status = match failure {
        Failure::Declined { .. } => PaymentStatus::Declined,
        _ => PaymentStatus::Voided,
    };
    let change = Change {
        notes: Some(failure.to_string()),
        payment_status: Some(payment_status),
        ..Change::by("system", key_of(checkout.checkout_id(), "cancel"))
    };
    match orders::change_status(ctx, checkout.draft.order_id, OrderStatus::Cancelled, change).await {
        Ok(_) => Ok(true),
        Err(orders::Error::IllegalTransition { from, .. }) => Ok(from == OrderStatus::Cancelled),
        Err(error) => Err(error.into()),
    }
}

/// The stock is free again: what was held is released, what was sold is given back, once.
pub(in crate::flows) async fn give_up_stock(ctx: &Context, checkout: CheckoutId, products: &[ProductId]) -> Result<()> {
    for product in products {
        match inventory::release(ctx, *product, hold_of(checkout)).await {
            Ok(_) | Err(inventory::Error::HoldNotFound { .. } | inventory::Error::HoldReturned { .. }) => {}
            Err(inventory::Error::HoldConfirmed { .. }) => {
                inventory::give_back(ctx, *product, hold_of(checkout)).await?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

async fn restore(checkout: &Checkout, ctx: &Context, ordered_at: Timestamp) -> Result<()> {
    let draft = &checkout.draft;
    let Some(cart) = draft.cart_id else { return Ok(()) };
    let items: Vec<(ItemSnapshot, u32)> = draft
        .lines
        .iter()
        .map(|line| {
            let item = ItemSnapshot {
                product_id: line.product_id,
                name: line.name.clone(),
                image_url: line.image.clone(),
                unit_price: line.unit_price,
                currency: draft.totals.currency.clone(),
                options: line.options.clone(),
            };
            (item, line.quantity)
        })
        .collect();
    Ok(carts::restore_lines(ctx, cart, draft.user_id, &items, ordered_at).await?)
}
