//! Looks at the books: what was sold, what is left, what was paid.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use rust_decimal::Decimal;

use super::{
    Options, Report, Result, Verdict,
    shoppers::{Answer, Bought, Shop, patiently, settled},
};
use crate::{
    PageRequest, analytics, carts,
    carts::Which,
    context::Context,
    flows::checkout::{self, Stage},
    id::CheckoutId,
    inventory, limits,
    orders::{self, Order, OrderStatus},
    payments::{PaymentState, TestProvider},
};

pub(super) async fn audit(
    ctx: &Context,
    shop: &Shop,
    options: &Options,
    bought: &Bought,
    provider: &TestProvider,
) -> Result<Report> {
    let orders = all_orders(ctx).await?;
    let paid: Vec<&Order> = orders.iter().filter(|order| order.status == OrderStatus::Paid).collect();
    let sold: i64 = paid.iter().map(|order| order.item_count).sum();
    let stock = patiently(|| async { Ok(inventory::get_stock(ctx, shop.product).await?) }).await?;
    let (left, held) = (stock.quantity(), stock.reserved());
    let count = |answer: Answer| bought.visits.iter().filter(|visit| visit.answer == answer).count();
    let mut took: Vec<Duration> = bought.visits.iter().map(|visit| visit.took).collect();
    took.sort_unstable();
    let part = |of: usize| took.get(took.len() * of / 100).copied().unwrap_or_default();
    let verdicts = vec![
        units(options, sold, left),
        holds(ctx, shop, held).await?,
        ended(ctx, bought).await?,
        acknowledged(bought, &paid),
        one_each(bought, &orders),
        money(provider, &paid, &orders),
        figures(ctx, shop, &paid).await?,
        carts_kept(ctx, bought).await?,
    ];
    Ok(Report {
        sold,
        held,
        left: left - held,
        refused: count(Answer::OutOfStock),
        declined: count(Answer::Declined),
        retried: bought.retried,
        stopped: 0,
        took: Duration::ZERO,
        answer_p50: part(50),
        answer_p99: part(99),
        verdicts,
    })
}

fn verdict(what: &'static str, holds: bool, detail: String) -> Verdict {
    Verdict { what, holds, detail }
}

/// Every order of the tenant of the last two days, whoever placed it.
async fn all_orders(ctx: &Context) -> Result<Vec<Order>> {
    let today = ctx.now().date();
    let mut ids = Vec::new();
    for date in [widerow::Date::from_days(today.days() - 1), today] {
        let mut cursor = None;
        loop {
            let page = PageRequest { limit: limits::PAGE_ROWS_MAX, cursor: cursor.clone() };
            let page = patiently(|| async { Ok(orders::list_by_day(ctx, date, page.clone()).await?) }).await?;
            ids.extend(page.rows.iter().map(|row| row.order_id));
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
    }
    let mut found = Vec::with_capacity(ids.len());
    for ids in ids.chunks(limits::PAGE_ROWS_MAX) {
        let some = patiently(|| async { Ok(orders::list_orders(ctx, ids).await?) }).await?;
        found.extend(some.into_iter().flatten());
    }
    Ok(found)
}

fn units(options: &Options, sold: i64, left: i64) -> Verdict {
    let all = i64::from(options.units);
    let detail = format!("{sold} sold, {left} left, of {all}");
    verdict("no unit is sold twice, none is lost", sold + left == all && left >= 0, detail)
}

async fn holds(ctx: &Context, shop: &Shop, held: i64) -> Result<Verdict> {
    let wrong = patiently(|| async { Ok(inventory::verify_stock(ctx, Some(shop.product)).await?) }).await?;
    let detail = format!("{held} units held at the end, {} differences", wrong.differences.len());
    Ok(verdict(
        "nothing is held for ever, and what is reserved is what is held",
        held == 0 && wrong.differences.is_empty(),
        detail,
    ))
}

async fn ended(ctx: &Context, bought: &Bought) -> Result<Verdict> {
    let mut open = 0;
    for visit in &bought.visits {
        open += usize::from(!settled(ctx, visit).await?);
    }
    Ok(verdict("every checkout has come to its end", open == 0, format!("{open} have not")))
}

fn acknowledged(bought: &Bought, paid: &[&Order]) -> Verdict {
    let paid: BTreeSet<CheckoutId> = paid.iter().filter_map(|order| order.checkout_id).collect();
    let told = bought.visits.iter().filter(|visit| visit.answer == Answer::Paid);
    let lost = told.clone().filter(|visit| !paid.contains(&visit.checkout)).count();
    let detail = format!("{} were told that they have bought, {lost} have no paid order", told.count());
    verdict("no order that was acknowledged is lost", lost == 0, detail)
}

fn one_each(bought: &Bought, orders: &[Order]) -> Verdict {
    let mut by_checkout: BTreeMap<Option<CheckoutId>, usize> = BTreeMap::new();
    for order in orders {
        *by_checkout.entry(order.checkout_id).or_default() += 1;
    }
    let known: BTreeSet<CheckoutId> = bought.visits.iter().map(|visit| visit.checkout).collect();
    let twice = by_checkout.values().filter(|orders| **orders > 1).count();
    let strange = by_checkout.keys().filter(|id| id.is_none_or(|id| !known.contains(&id))).count();
    let detail = format!("{} orders; {twice} shoppers have several, {strange} have no shopper", orders.len());
    verdict("every shopper has one order at the most", twice == 0 && strange == 0, detail)
}

fn money(provider: &TestProvider, paid: &[&Order], orders: &[Order]) -> Verdict {
    let due: Decimal = paid.iter().map(|order| order.total).sum();
    let kept = provider.captured_total() - provider.refunded_total();
    // Money that is set aside for an order that came to nothing is the shopper's, and yet not at hand.
    let over: BTreeSet<&str> =
        orders.iter().filter(|o| o.status == OrderStatus::Cancelled).map(|o| o.order_number.as_str()).collect();
    let stuck = provider.charges().into_iter().filter(|charge| {
        let of_cancelled = charge.request.as_ref().is_some_and(|r| over.contains(r.order_number.as_str()));
        of_cancelled && charge.state == PaymentState::Authorised
    });
    let stuck = stuck.count();
    let detail = format!("{kept} kept, {due} due, {stuck} payments of cancelled orders set aside");
    verdict("the money that was taken is that of the paid orders", kept == due && stuck == 0, detail)
}

async fn figures(ctx: &Context, shop: &Shop, paid: &[&Order]) -> Result<Verdict> {
    let days: BTreeSet<_> = paid.iter().map(|order| order.order_date()).collect();
    let (mut orders, mut pieces, mut revenue) = (0, 0, Decimal::ZERO);
    for date in days {
        let page = PageRequest { limit: limits::PAGE_ROWS_MAX, cursor: None };
        let page = patiently(|| async { Ok(analytics::list_daily_sales(ctx, date, page.clone()).await?) }).await?;
        for row in page.rows.iter().filter(|row| row.category_id == shop.category) {
            orders += row.order_count;
            pieces += row.item_count;
            revenue += row.revenue();
        }
    }
    let sold: i64 = paid.iter().map(|order| order.item_count).sum();
    let earned: Decimal = paid.iter().map(|order| order.subtotal).sum();
    let good = orders == paid.len() as i64 && pieces == sold && revenue == earned;
    let detail = format!("{orders} orders, {pieces} pieces, {revenue}; by the orders {}, {sold}, {earned}", paid.len());
    Ok(verdict("the daily sales are those of the orders", good, detail))
}

async fn carts_kept(ctx: &Context, bought: &Bought) -> Result<Verdict> {
    let (mut failed, mut empty) = (0, 0);
    for visit in &bought.visits {
        let found = patiently(|| async {
            match checkout::get_checkout(ctx, visit.checkout).await {
                Err(crate::flows::Error::CheckoutNotFound { .. }) => Ok(None),
                found => found.map(Some),
            }
        });
        let Some(found) = found.await? else { continue };
        if let Stage::Failed(_) = found.stage {
            failed += 1;
            let cart = patiently(|| async { Ok(carts::show_cart(ctx, &visit.shopper, Which::Active).await?) }).await?;
            let wanted: u32 = found.draft.lines.iter().map(|line| line.quantity).sum();
            empty += usize::from(cart.item_count != wanted);
        }
    }
    let detail = format!("{failed} failed, {empty} of them without what was in their carts");
    Ok(verdict("a checkout that failed leaves the cart as it was", empty == 0, detail))
}
