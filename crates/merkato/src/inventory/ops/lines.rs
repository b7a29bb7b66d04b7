//! One hold over several products: all or none. Units are taken from the products one after the other, in the order of their
//! ids, so that of two who want the last units of the same products one gets them all.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt, stream};
use widerow::Timestamp;

use super::{decide, holds, joint, show};
use crate::{
    check::Check,
    context::Context,
    id::{HoldId, ProductId},
    inventory::{
        error::{Error, Result, Shortage},
        rules::{self, Wish},
        tables::Hold,
    },
    limits,
};

/// Products that are asked at the same time, where their order does not matter.
const AT_ONCE: usize = 16;

/// So many of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    pub product_id: ProductId,
    pub quantity: i64,
}

/// Keeps all lines, or none. A refusal names every product that is short. After a refusal the hold's id is used up: what was
/// taken under it is released for good.
///
/// After an error nothing is known, and nothing is released: asked again under the same id, it goes on where it was. Where nobody
/// asks again, what was taken ends by itself.
pub async fn reserve_lines(ctx: &Context, hold: HoldId, lines: &[Line], seconds: Option<i64>) -> Result<Vec<Hold>> {
    let wanted = reserve_wishes(ctx, hold, lines, seconds)?;
    if wanted.len() > 1
        && let Some(held) = Box::pin(joint::at_once(ctx, hold, &wanted)).await?
    {
        return Ok(held);
    }
    let mut held = Vec::with_capacity(wanted.len());
    for (product, wish) in &wanted {
        let error = match decide::submit(ctx, *product, hold, wish.clone()).await {
            Ok(taken) => {
                held.push(taken);
                continue;
            }
            Err(error) => error,
        };
        if !error.is_refusal() {
            return Err(error);
        }
        undo(ctx, hold, held.iter().map(|hold| hold.product_id).collect()).await;
        return Err(match error {
            Error::InsufficientStock { mut short } => {
                let behind = wanted.range(product..).skip(1).filter_map(|(product, wish)| match wish {
                    Wish::Reserve { quantity, .. } => Some((*product, *quantity)),
                    _ => None,
                });
                short.extend(find_short(ctx, behind.collect()).await);
                Error::InsufficientStock { short }
            }
            other => other,
        });
    }
    Ok(held)
}

/// What is asked of each product, if the lines make sense.
pub(crate) fn reserve_wishes(
    ctx: &Context,
    hold: HoldId,
    lines: &[Line],
    seconds: Option<i64>,
) -> Result<BTreeMap<ProductId, Wish>> {
    let mut check = Check::new();
    rules::check_hold(&mut check, hold);
    let seconds = holds::check_seconds(&mut check, ctx, seconds);
    let wanted = sum(&mut check, lines);
    check.end()?;
    Ok(wanted.into_iter().map(|(product, quantity)| (product, Wish::Reserve { quantity, seconds })).collect())
}

/// The lines by product; each once, with what all its lines come to.
fn sum(check: &mut Check, lines: &[Line]) -> BTreeMap<ProductId, i32> {
    check.count("lines", lines.len(), limits::LINES_A_CART_MAX);
    let mut wanted: BTreeMap<ProductId, i32> = BTreeMap::new();
    for (position, line) in lines.iter().enumerate().take(limits::LINES_A_CART_MAX) {
        let field = format!("lines/{position}/quantity");
        let quantity = rules::check_units(check, &field, line.quantity);
        let all = wanted.entry(line.product_id).or_default();
        *all = all.saturating_add(quantity);
        if i64::from(*all) > limits::UNITS_MAX && i64::from(quantity) <= limits::UNITS_MAX {
            check.refuse(field, format!("the product comes to {all}, the limit is {}", limits::UNITS_MAX));
        }
    }
    wanted
}

async fn undo(ctx: &Context, hold: HoldId, products: Vec<ProductId>) {
    let release = |product| async move {
        if let Err(error) = decide::submit(ctx, product, hold, Wish::Release).await {
            tracing::warn!(%hold, %product, %error, "a hold was not released and will end by itself");
        }
    };
    stream::iter(products).for_each_concurrent(AT_ONCE, release).await;
}

/// The products that were not asked yet and are short too, by what is free at this moment.
async fn find_short(ctx: &Context, wanted: Vec<(ProductId, i32)>) -> Vec<Shortage> {
    let look = |(product, quantity): (ProductId, i32)| async move {
        let stock = show::get_stock(ctx, product).await.ok()?;
        let (wanted, available) = (i64::from(quantity), stock.available());
        let short = stock.tracked && !stock.backorder && available < wanted;
        short.then_some(Shortage { product, wanted, available })
    };
    stream::iter(wanted).map(look).buffered(AT_ONCE).filter_map(std::future::ready).collect().await
}

/// Releases the hold on all these products. Those that refuse do not keep the others; the first refusal is told.
pub async fn release_lines(ctx: &Context, hold: HoldId, products: &[ProductId]) -> Result<Vec<Hold>> {
    all(ctx, hold, products, Wish::Release).await
}

/// Gives the hold's units back on all these products. Those that refuse do not keep the others; the first refusal is told.
pub async fn give_back_lines(ctx: &Context, hold: HoldId, products: &[ProductId]) -> Result<Vec<Hold>> {
    all(ctx, hold, products, Wish::GiveBack).await
}

async fn all(ctx: &Context, hold: HoldId, products: &[ProductId], wish: Wish) -> Result<Vec<Hold>> {
    let products = check_lines(hold, products, &wish)?;
    let ask = |product| decide::submit(ctx, product, hold, wish.clone());
    let answers: Vec<Result<Hold>> = stream::iter(products).map(ask).buffered(AT_ONCE).collect().await;
    answers.into_iter().collect()
}

/// Extends the hold on all these products, until one refuses.
pub async fn extend_lines(ctx: &Context, hold: HoldId, products: &[ProductId], until: Timestamp) -> Result<Vec<Hold>> {
    let wish = Wish::Extend { until };
    let mut extended = Vec::with_capacity(products.len());
    for product in check_lines(hold, products, &wish)? {
        extended.push(decide::submit(ctx, product, hold, wish.clone()).await?);
    }
    Ok(extended)
}

/// Confirms the hold on all these products, or on none: on a refusal what was confirmed is given back. After an error some
/// may be confirmed: ask again, or give all of them back.
///
/// What is held is confirmed side by side, as it takes nothing from anybody; units of holds that have ended are taken again one
/// after the other, as when they are reserved.
///
/// RACE: the same confirmation may be under way twice, and units that the one finds gone may be free again for the other. So
/// the refused hold is released before anything is given back: then no other can confirm it any more, and all fail. Where
/// another has just confirmed it, it was not refused after all.
pub async fn confirm_lines(ctx: &Context, hold: HoldId, products: &[ProductId]) -> Result<Vec<Hold>> {
    let products = check_lines(hold, products, &Wish::ConfirmHeld)?;
    if products.len() > 1 {
        let wishes = products.iter().map(|product| (*product, Wish::ConfirmHeld)).collect();
        if let Some(sold) = Box::pin(joint::at_once(ctx, hold, &wishes)).await? {
            return Ok(sold);
        }
    }
    let ask = |product| async move { (product, decide::submit(ctx, product, hold, Wish::ConfirmHeld).await) };
    let answers: Vec<_> = stream::iter(products).map(ask).buffered(AT_ONCE).collect().await;
    let (mut confirmed, mut left) = (Vec::with_capacity(answers.len()), Vec::new());
    for (product, answer) in answers {
        match answer {
            Ok(sold) => confirmed.push(sold),
            Err(error) if error.is_refusal() => left.push(product),
            Err(error) => return Err(error),
        }
    }
    for product in left {
        let refusal = match decide::submit(ctx, product, hold, Wish::Confirm).await {
            Ok(sold) => {
                confirmed.push(sold);
                continue;
            }
            Err(error) if error.is_refusal() => error,
            Err(error) => return Err(error),
        };
        match decide::submit(ctx, product, hold, Wish::Release).await {
            Ok(_) => {}
            Err(Error::HoldConfirmed { .. }) => {
                confirmed.push(decide::submit(ctx, product, hold, Wish::Confirm).await?);
                continue;
            }
            Err(error) => return Err(error),
        }
        for sold in &confirmed {
            match decide::submit(ctx, sold.product_id, hold, Wish::GiveBack).await {
                // Another who was refused as well has given it back and, its memory being over, it is forgotten.
                Ok(_) | Err(Error::HoldNotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        return Err(refusal);
    }
    Ok(confirmed)
}

fn check_lines(hold: HoldId, products: &[ProductId], wish: &Wish) -> Result<BTreeSet<ProductId>> {
    let mut check = Check::new();
    rules::check_hold(&mut check, hold);
    holds::check_wish(&mut check, wish);
    check.count("products", products.len(), limits::LINES_A_CART_MAX);
    check.end()?;
    Ok(products.iter().copied().collect())
}
