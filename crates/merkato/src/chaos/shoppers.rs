//! Shoppers who all want the same.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use futures::{StreamExt as _, stream};
use rust_decimal::Decimal;

use super::{LEASE_SECONDS, Options, Result, mix};
use crate::{
    Kind,
    carts::{self, GuestToken, Shopper, Which},
    catalog::{self, NewCategory, NewProduct, ProductStatus},
    context::Context,
    flows::{
        self,
        checkout::{self, CheckoutRequest, Failure, Stage},
        run, shopping,
    },
    id::{CategoryId, CheckoutId, MovementId, ProductId},
    inventory::{self, Note},
    money::Currency,
    orders::PostalAddress,
};

/// What there is to buy.
pub(super) struct Shop {
    pub product: ProductId,
    pub category: CategoryId,
}

/// What a shopper was told, and by which checkout.
pub(super) struct Visit {
    pub shopper: Shopper,
    pub checkout: CheckoutId,
    pub answer: Answer,
    pub took: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Paid,
    /// The order is there, and its payment not yet.
    Pending,
    OutOfStock,
    Declined,
    /// Nothing that can be acted upon, in all tries: the shopper went away.
    None,
}

pub(super) struct Bought {
    pub visits: Vec<Visit>,
    pub retried: u64,
}

/// How often a shopper asks before giving up.
const TRIES: u32 = 25;
/// How often it is looked whether all is settled.
const ROUNDS: u32 = 60;

/// Asks again as long as the engine says to ask later.
pub(super) async fn patiently<T, F: Future<Output = Result<T>>>(ask: impl Fn() -> F) -> Result<T> {
    let mut tries = 0;
    loop {
        match ask().await {
            Err(error) if error.kind() == Kind::Unavailable && tries < 10 * TRIES => {
                tries += 1;
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            answer => return answer,
        }
    }
}

/// Under an id of one's own there is something already: an earlier try made it, and its answer was lost.
fn made(answer: std::result::Result<(), catalog::Error>) -> Result<()> {
    match answer {
        Err(catalog::Error::ProductExists { .. } | catalog::Error::CategoryExists { .. }) => Ok(()),
        answer => Ok(answer?),
    }
}

/// One product, its units in two warehouses.
pub(super) async fn open_shop(ctx: &Context, units: i32) -> Result<Shop> {
    let category = CategoryId(ctx.new_id());
    let new = NewCategory {
        category_id: Some(category),
        name: format!("Last units {category}"),
        slug: None,
        parent_id: None,
    };
    patiently(|| async { made(catalog::create_category(ctx, new.clone()).await.map(drop)) }).await?;
    let product = ProductId(ctx.new_id());
    let mut wanted =
        NewProduct::named("The one that everybody wants", category, Decimal::new(19_99, 2), Currency::new("EUR"));
    wanted.product_id = Some(product);
    wanted.status = ProductStatus::Active;
    patiently(|| async { made(catalog::create_product(ctx, wanted.clone()).await.map(drop)) }).await?;
    for (warehouse, units) in [("north", units / 2), ("south", units - units / 2)] {
        if units > 0 {
            let movement = MovementId(ctx.new_id());
            patiently(|| async {
                Ok(inventory::restock(ctx, movement, product, warehouse, i64::from(units), Note::default())
                    .await
                    .map(drop)?)
            })
            .await?;
        }
    }
    Ok(Shop { product, category })
}

pub(super) async fn shop_all(
    contexts: &[Context],
    shop: &Shop,
    options: &Options,
    progress: &(impl Fn(usize) + Sync),
) -> Result<Bought> {
    let mut bought = Bought { visits: Vec::with_capacity(options.shoppers), retried: 0 };
    let visits = (0..options.shoppers).map(|n| visit(contexts, shop, options, n));
    let mut visits = stream::iter(visits).buffer_unordered(options.at_once.max(1));
    while let Some(visit) = visits.next().await {
        let (visit, retried) = visit?;
        bought.retried += retried;
        bought.visits.push(visit);
        progress(bought.visits.len());
    }
    Ok(bought)
}

async fn visit(contexts: &[Context], shop: &Shop, options: &Options, n: usize) -> Result<(Visit, u64)> {
    let chance = mix(options.faults.unwrap_or_default(), n as u64);
    let ctx = &contexts[n % contexts.len()];
    let shopper = Shopper::Guest(GuestToken::new(ctx));
    let pieces = 1 + i64::from(chance.is_multiple_of(5));
    patiently(|| async {
        // What an earlier try has added without telling is enough.
        if !carts::show_cart(ctx, &shopper, Which::Active).await?.lines.is_empty() {
            return Ok(());
        }
        shopping::add_to_cart(ctx, &shopper, Which::Active, shop.product, BTreeMap::new(), pieces).await.map(drop)
    })
    .await?;
    let source = match (options.faults, (chance >> 8) % 100) {
        (None, _) | (_, 15..) => "ok",
        (_, 0..5) => "decline",
        (_, 5..8) => "timeout_before:1",
        (_, 8..11) => "timeout_after:1",
        (_, 11..13) => "late:1",
        (_, 13..15) => "decline_capture",
    };
    let request = request(n, shopper.clone(), source);
    let checkout = checkout::checkout_id(&request);
    let start = Instant::now();
    let (mut answer, mut retried) = (Answer::None, 0);
    for attempt in 0..TRIES {
        // Another try may come to another process.
        let ctx = &contexts[(n + attempt as usize) % contexts.len()];
        match checkout::check_out(ctx, &request).await {
            Ok(checkout) => {
                answer = if checkout.stage == Stage::Paid { Answer::Paid } else { Answer::Pending };
                break;
            }
            Err(flows::Error::CheckoutFailed { failure, .. }) => {
                answer = if let Failure::OutOfStock { .. } = failure { Answer::OutOfStock } else { Answer::Declined };
                break;
            }
            Err(error) if matches!(error.kind(), Kind::Unavailable | Kind::Conflict) => {
                retried += 1;
                tokio::time::sleep(Duration::from_millis(LEASE_SECONDS as u64 * 300)).await;
            }
            Err(error) => return Err(error),
        }
    }
    Ok((Visit { shopper, checkout, answer, took: start.elapsed() }, retried))
}

fn request(n: usize, shopper: Shopper, source: &str) -> CheckoutRequest {
    CheckoutRequest {
        key: format!("shopper-{n}"),
        shopper,
        cart: Which::Active,
        email: format!("shopper-{n}@example.com"),
        customer_name: None,
        shipping_address: PostalAddress {
            street: "Market Square 1".into(),
            city: "Vienna".into(),
            country: "AT".into(),
            ..PostalAddress::default()
        },
        billing_address: None,
        shipping_method: "standard".into(),
        discount_code: None,
        payment_method: "card".into(),
        payment_source: source.into(),
        customer_notes: None,
        expected_total: None,
        store_credit: None,
    }
}

/// Goes on with what was stopped until nothing is left to do; how often something went on.
pub(super) async fn settle(contexts: &[Context], bought: &Bought) -> Result<u64> {
    let mut resumed = 0;
    for _ in 0..ROUNDS {
        for ctx in contexts {
            resumed += patiently(|| run::resume_due(ctx)).await?.resumed as u64;
        }
        let mut open = 0;
        for visit in &bought.visits {
            open += u64::from(!settled(&contexts[0], visit).await?);
        }
        if open == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(LEASE_SECONDS as u64 * 500)).await;
    }
    Ok(resumed)
}

/// Whether the shopper's checkout has come to its end, or was never begun.
pub(super) async fn settled(ctx: &Context, visit: &Visit) -> Result<bool> {
    let found = patiently(|| run::find::<checkout::Checkout>(ctx, visit.flow())).await?;
    Ok(found.is_none_or(|known| known.finished))
}

impl Visit {
    pub(super) fn flow(&self) -> crate::id::FlowId {
        crate::id::FlowId(self.checkout.0)
    }
}
