//! Holds on one product. Each operation is decided on the hold's own row, so that asking again changes nothing.

use widerow::Timestamp;

use super::decide;
use crate::{
    check::Check,
    context::Context,
    id::{HoldId, ProductId},
    inventory::{
        error::Result,
        rules::{self, Wish},
        tables::Hold,
    },
};

/// Units that are to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reserve {
    pub product_id: ProductId,
    pub hold_id: HoldId,
    pub quantity: i64,
    /// For how long; None: for as long as the shop's settings say.
    pub seconds: Option<i64>,
}

/// Q17. Keeps units for a while, or says how many there are. Asking again with the same id and quantity gives the same hold.
pub async fn reserve(ctx: &Context, request: Reserve) -> Result<Hold> {
    let mut check = Check::new();
    rules::check_hold(&mut check, request.hold_id);
    let quantity = rules::check_units(&mut check, "quantity", request.quantity);
    let seconds = check_seconds(&mut check, ctx, request.seconds);
    check.end()?;
    decide::submit(ctx, request.product_id, request.hold_id, Wish::Reserve { quantity, seconds }).await
}

pub(super) fn check_seconds(check: &mut Check, ctx: &Context, seconds: Option<i64>) -> i64 {
    let settings = &ctx.settings.inventory;
    let most = i64::from(settings.hold_seconds_max);
    let seconds = seconds.unwrap_or_else(|| i64::from(settings.hold_seconds).min(most));
    check.that((1..=most).contains(&seconds), "seconds", format!("{seconds} is not 1 to {most}"));
    seconds
}

/// Gives the units back. What was released, has ended or was never there stays released for good; what was confirmed is not.
pub async fn release(ctx: &Context, product: ProductId, hold: HoldId) -> Result<Hold> {
    ask(ctx, product, hold, Wish::Release).await
}

/// Takes the units out of the stock: they are sold. Of a hold that has ended, if there are still as many free.
pub async fn confirm(ctx: &Context, product: ProductId, hold: HoldId) -> Result<Hold> {
    ask(ctx, product, hold, Wish::Confirm).await
}

/// Puts the units of a confirmed hold back into the stock: the order was cancelled.
pub async fn give_back(ctx: &Context, product: ProductId, hold: HoldId) -> Result<Hold> {
    ask(ctx, product, hold, Wish::GiveBack).await
}

/// Keeps the units until an instant, if that is later than it was, and no longer than the settings allow from the hold's
/// beginning on. A hold that has ended is taken again, if there are still as many free.
pub async fn extend(ctx: &Context, product: ProductId, hold: HoldId, until: Timestamp) -> Result<Hold> {
    ask(ctx, product, hold, Wish::Extend { until }).await
}

async fn ask(ctx: &Context, product: ProductId, hold: HoldId, wish: Wish) -> Result<Hold> {
    let mut check = Check::new();
    rules::check_hold(&mut check, hold);
    check_wish(&mut check, &wish);
    check.end()?;
    decide::submit(ctx, product, hold, wish).await
}

pub(super) fn check_wish(check: &mut Check, wish: &Wish) {
    if let Wish::Extend { until } = wish {
        check.that(until.in_range(), "until", "it is not in the years 0000 to 9999");
    }
}
