//! From a cart to an order that is paid for, or to a cart as it was.
//!
//! 1. Under one key there is one checkout: the same request again has the same answer, another one is refused.
//! 2. Stock is held before the order is placed, and sold (`confirm`) before money is taken: nobody pays for what is not there.
//! 3. The order is placed in the commit that empties the cart, at the version of the cart that was priced: of two checkouts
//!    of one cart only one is an order.
//! 4. Whatever cannot go on is undone: the money is given up, the order is cancelled, the stock is free, the cart is filled.
//!    Every part of it decides by itself which of two that race for it was first, and each is told.
//!
//! A shopper who looks at the order before placing it may have the stock kept meanwhile (`keep`): under the key of the checkout to
//! come, whose hold it is.
//!
//! The steps, in order: redeem, reserve, place, authorise, confirm, spend (where store credit pays a part), capture, pay; then
//! count, relate and stock side by side. On engines that commit several partitions at once, what lies between two questions to
//! the provider is one step (`at_once`). Undoing: fence, cancel, return, release, restore, unredeem, count, stock, void.

mod at_once;
mod forward;
mod keep;
mod quote;
mod request;
mod undo;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use keep::{Kept, keep, let_go};
pub use quote::{PriceChange, Quote, quote};
pub use request::{CheckoutRequest, QuoteRequest, checkout_id};
pub(super) use undo::{GivenUp, give_up_credit, give_up_money, give_up_stock};

use super::{
    error::{Error, Result},
    run::{self, Begun, Flow, FlowKind, Progress, Run},
};
use crate::{
    context::Context,
    id::{CheckoutId, FlowId, HoldId, ProductId, UserId},
    limits,
    orders::OrderDraft,
};

/// A checkout and how far it has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkout {
    pub draft: OrderDraft,
    /// The cart's, when it was priced.
    cart_version: i64,
    /// What stands for the payer's card: a token of the provider's.
    source: String,
    pub stage: Stage,
    /// Of what is undone, all but the payment is.
    #[serde(default)]
    only_money: bool,
    /// The order was placed in the commit that began this run: the products of which nothing was left then.
    #[serde(skip)]
    placed: Option<Vec<ProductId>>,
}

/// Where a checkout stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// On its way, or waiting for the provider's answer.
    Going,
    /// What was done is being undone.
    Undoing(Failure),
    Paid,
    Failed(Failure),
}

/// Why a checkout came to nothing. The cart is as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    OutOfStock {
        products: Vec<Short>,
    },
    /// The cart was changed, or ordered, while it was checked out.
    CartChanged,
    /// The code was used up, or ended, between the quote and the order.
    DiscountRefused {
        code: String,
    },
    Declined {
        reason: String,
    },
    /// The wallet no longer holds what it was to pay.
    CreditRefused {
        reason: String,
    },
    /// It stood still until what it held was no longer there.
    Expired,
    /// No payment came in time.
    Unpaid,
    /// The order was cancelled before it was paid.
    Cancelled,
}

/// A product of which there is not enough.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Short {
    pub product_id: ProductId,
    pub wanted: i64,
    pub available: i64,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::OutOfStock { products } => {
                let each = products.iter().map(|short| {
                    format!("{} of {} were wanted, {} are there", short.wanted, short.product_id, short.available)
                });
                write!(f, "not enough stock: {}", each.collect::<Vec<_>>().join("; "))
            }
            Failure::CartChanged => f.write_str("the cart was changed meanwhile"),
            Failure::DiscountRefused { code } => write!(f, "the discount code {code} is not taken any more"),
            Failure::Declined { reason } => write!(f, "the payment was declined: {reason}"),
            Failure::CreditRefused { reason } => write!(f, "the store credit was not taken: {reason}"),
            Failure::Expired => f.write_str("it took too long, and what was held for it is sold"),
            Failure::Unpaid => f.write_str("no payment came in time"),
            Failure::Cancelled => f.write_str("the order was cancelled"),
        }
    }
}

impl Failure {
    pub fn code(&self) -> &'static str {
        match self {
            Failure::OutOfStock { .. } => "out_of_stock",
            Failure::CartChanged => "cart_changed",
            Failure::DiscountRefused { .. } => "discount_refused",
            Failure::Declined { .. } => "payment_declined",
            Failure::CreditRefused { .. } => "store_credit_refused",
            Failure::Expired => "expired",
            Failure::Unpaid => "unpaid",
            Failure::Cancelled => "order_cancelled",
        }
    }
}

impl Checkout {
    pub fn checkout_id(&self) -> CheckoutId {
        // Every draft of a checkout has one.
        self.draft.checkout_id.unwrap_or(CheckoutId(Uuid::nil()))
    }

    /// Whose wallet pays how much of it.
    fn credit(&self) -> Option<(UserId, Decimal)> {
        self.draft.user_id.zip(self.draft.store_credit)
    }

    /// What the payment provider is asked for.
    fn charge(&self) -> Decimal {
        self.draft.totals.total - self.draft.store_credit.unwrap_or_default()
    }

    fn hold(&self) -> HoldId {
        hold_of(self.checkout_id())
    }

    /// Nothing of the person is kept with a checkout that is over: what there is stands in the order, where it can be erased.
    fn end(&mut self, stage: Stage) {
        self.stage = stage;
        self.source.clear();
        self.draft.user_email = None;
        self.draft.customer_name = None;
        self.draft.customer_notes = None;
        self.draft.shipping_address = None;
        self.draft.billing_address = None;
    }

    /// Each once.
    fn products(&self) -> Vec<ProductId> {
        let mut products: Vec<_> = self.draft.lines.iter().map(|line| line.product_id).collect();
        products.sort_unstable();
        products.dedup();
        products
    }
}

/// The hold on what a checkout is about. The ids of what a checkout does elsewhere follow from its own, so that doing it again is known again.
pub fn hold_of(checkout: CheckoutId) -> HoldId {
    HoldId(checkout.0)
}

/// The withdrawal of store credit for a checkout.
pub(super) fn credit_of(checkout: CheckoutId) -> Uuid {
    key_of(checkout, "credit")
}

pub(super) fn key_of(checkout: CheckoutId, what: &str) -> Uuid {
    Uuid::new_v5(&checkout.0, what.as_bytes())
}

/// Checks a cart out. Under the same key the same request has the same answer, whatever happened in between; one that is
/// still running is `FlowRunning`. A checkout that waits for its payment is an answer too: its order is pending.
pub async fn check_out(ctx: &Context, request: &CheckoutRequest) -> Result<Checkout> {
    request.check()?;
    let id = FlowId(checkout_id(request).0);
    let fingerprint = request.fingerprint();
    if let Some(checkout) = find_begun(ctx, id, &fingerprint).await? {
        return answer(checkout);
    }
    let (mut new, cart) = match quote::price(ctx, request).await {
        Ok(priced) => priced,
        // RACE: another try of the same key may have begun meanwhile, and ordered the cart that is empty here.
        Err(error) => return find_begun(ctx, id, &fingerprint).await?.ok_or(error).and_then(answer),
    };
    // Boxed, as each of these is large and only one of them is gone: together they would be on the stack of whoever checks out.
    if let Some(run) = Box::pin(at_once::begin(ctx, id, &fingerprint, &mut new, cart)).await? {
        return answer(Box::pin(run.drive(new)).await?);
    }
    match run::begin(ctx, id, &fingerprint, &new).await? {
        Begun::New(run) => answer(Box::pin(run.drive(new)).await?),
        Begun::Known(known) => answer(Box::pin(go_on(ctx, known)).await?),
    }
}

/// The checkout, if it was begun before, as far as it goes.
async fn find_begun(ctx: &Context, id: FlowId, fingerprint: &str) -> Result<Option<Checkout>> {
    match run::find::<Checkout>(ctx, id).await? {
        Some(known) => {
            known.must_be(fingerprint)?;
            go_on(ctx, known).await.map(Some)
        }
        None => Ok(None),
    }
}

/// How far a checkout has come.
pub async fn get_checkout(ctx: &Context, checkout: CheckoutId) -> Result<Checkout> {
    let known = run::find::<Checkout>(ctx, FlowId(checkout.0)).await?;
    known.map(|known| known.state).ok_or(Error::CheckoutNotFound { checkout })
}

async fn go_on(ctx: &Context, known: run::Known<Checkout>) -> Result<Checkout> {
    // Nobody is kept waiting for a provider that has not answered yet.
    if known.finished {
        return Ok(known.state);
    }
    let (state, run) = known.resume(ctx).await?;
    run.drive(state).await
}

fn answer(checkout: Checkout) -> Result<Checkout> {
    match &checkout.stage {
        Stage::Failed(failure) | Stage::Undoing(failure) => {
            Err(Error::CheckoutFailed { checkout: checkout.checkout_id(), failure: failure.clone() })
        }
        Stage::Going | Stage::Paid => Ok(checkout),
    }
}

impl Flow for Checkout {
    const KIND: FlowKind = FlowKind::Checkout;

    /// What was bought under a key is never bought under it again: its hold, its payment and its withdrawal are known by the key.
    fn memory(&self) -> Option<u32> {
        (self.stage != Stage::Paid).then_some(limits::FLOW_MEMORY_SECONDS)
    }

    async fn advance(&mut self, run: &mut Run<'_>) -> Result<Progress> {
        if self.stage == Stage::Going {
            match forward::go(self, run).await? {
                forward::Went::Through => self.end(Stage::Paid),
                forward::Went::Waiting(until) => return Ok(Progress::Wait(until)),
                forward::Went::Nowhere(failure) => {
                    // ORDER: remembered before the first thing is undone, so that whoever goes on does not go forward.
                    self.stage = Stage::Undoing(failure);
                    run.save(self).await?;
                }
            }
        }
        if let Stage::Undoing(failure) = self.stage.clone() {
            let undone = undo::undo(self, run, &failure).await?;
            self.end(if undone { Stage::Failed(failure) } else { Stage::Paid });
        }
        Ok(Progress::Finished)
    }
}
