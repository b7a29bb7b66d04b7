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
pub(super) async fn undo(checkout: &Checkout, run: &Run<'_>, failure: &Failure) -> Result<bool> {
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
            return Ok(false);
        }
        // ORDER: the wallet first, which is the shop's own. A provider that refuses, for days or for good, keeps nobody's credit.
        if let Some((user, _)) = checkout.credit() {
            run.step("return", give_up_credit(ctx, user, id)).await?;
        }
        if !checkout.charge().is_zero() {
            run.step("void", give_up_money(ctx, id)).await?;
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
    Ok(true)
}

/// Nothing is taken from the payer any more; what was taken is given back.
pub(in crate::flows) async fn give_up_money(ctx: &Context, checkout: CheckoutId) -> Result<()> {
    match ctx.payments.void(key_of(checkout, "authorise")).await {
        Ok(()) => Ok(()),
        Err(payments::Error::AlreadyCaptured { payment_id, amount }) => {
            ctx.payments.refund(key_of(checkout, "refund"), &payment_id, amount).await?;
            Ok(())
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
