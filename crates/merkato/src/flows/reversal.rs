//! An order that was placed is cancelled, or its money is given back.
//!
//! The order's own status decides who was first: the clerk who ships it or the one who cancels it, the payment or the
//! cancellation. What follows from it (money, stock, figures) is then brought about, however often it is stopped.
//!
//! What store credit has paid goes back to the wallet, what the provider has taken goes back by the provider; unless all of a
//! refund is wanted as store credit.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    checkout::{GivenUp, give_up_credit, give_up_money, give_up_stock, hold_of},
    error::{Error, Result},
    run::{self, Begun, Flow, FlowKind, Progress, Run},
    sale_records, sales, stock,
};
use crate::{
    check::Invalid,
    context::Context,
    id::{CheckoutId, FlowId, OrderId, ProductId, UserId},
    inventory, limits,
    orders::{self, Change, Order, OrderStatus, PaymentStatus},
    wallets::{self, EntryKind, Fenced, Operation},
};

/// A reversal and how far it has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reversal {
    order_id: OrderId,
    /// None for an order of the past: its money and its stock were never ours.
    checkout_id: Option<CheckoutId>,
    kind: Kind,
    /// Whether the goods can be sold again.
    restock: bool,
    #[serde(default)]
    to: RefundTo,
    actor: String,
    notes: Option<String>,
    /// None while it is not decided.
    done: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    Cancel,
    Refund,
}

/// Where the money of a refund goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RefundTo {
    /// Each part to where it came from.
    #[default]
    Origin,
    /// All of it to the customer's wallet.
    StoreCredit,
}

impl Kind {
    fn status(self) -> OrderStatus {
        match self {
            Kind::Cancel => OrderStatus::Cancelled,
            Kind::Refund => OrderStatus::Refunded,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Cancel => "cancel",
            Kind::Refund => "refund",
        }
    }
}

/// Cancels an order that was not shipped: its payment is given up or given back, its stock is free. Asked again, it finishes
/// what was stopped.
pub async fn cancel_order(ctx: &Context, order: OrderId, actor: &str, notes: Option<&str>) -> Result<Order> {
    reverse(ctx, order, Kind::Cancel, RefundTo::Origin, true, actor, notes).await
}

/// Gives the money of a paid order back; with `restock`, the goods are there to be sold again.
pub async fn refund_order(
    ctx: &Context,
    order: OrderId,
    restock: bool,
    actor: &str,
    notes: Option<&str>,
) -> Result<Order> {
    reverse(ctx, order, Kind::Refund, RefundTo::Origin, restock, actor, notes).await
}

/// As `refund_order`, with a choice of where the money goes. What was begun keeps the choice that it was begun with.
pub async fn refund_order_to(
    ctx: &Context,
    order: OrderId,
    to: RefundTo,
    restock: bool,
    actor: &str,
    notes: Option<&str>,
) -> Result<Order> {
    reverse(ctx, order, Kind::Refund, to, restock, actor, notes).await
}

async fn reverse(
    ctx: &Context,
    order_id: OrderId,
    kind: Kind,
    to: RefundTo,
    restock: bool,
    actor: &str,
    notes: Option<&str>,
) -> Result<Order> {
    let id = FlowId(Uuid::new_v5(&order_id.0, kind.name().as_bytes()));
    let known = match run::find::<Reversal>(ctx, id).await? {
        Some(known) => known,
        None => {
            let order = orders::get_order(ctx, order_id).await?;
            if !order.status.next().contains(&kind.status()) {
                return Err(orders::Error::IllegalTransition { from: order.status, to: kind.status() }.into());
            }
            if to == RefundTo::StoreCredit {
                takes_credit(ctx, &order).await?;
            } else if let Some(user) = order.user_id.filter(|_| order.store_credit.is_some()) {
                in_its_currency(ctx, user, &order).await?;
            }
            let mut new = Reversal {
                order_id,
                checkout_id: order.checkout_id,
                kind,
                restock,
                to,
                actor: actor.to_owned(),
                notes: notes.map(str::to_owned),
                done: None,
            };
            new.change().check().map_err(orders::Error::from)?;
            if restock && !new.stock_is_known(ctx, &order).await? {
                match kind {
                    Kind::Refund => return Err(Invalid::new("restock", STOCK_FORGOTTEN).into()),
                    Kind::Cancel => new.note(STOCK_FORGOTTEN),
                }
            }
            match run::begin(ctx, id, kind.name(), &new).await? {
                Begun::New(run) => return answer(ctx, run.drive(new).await?).await,
                Begun::Known(known) => known,
            }
        }
    };
    let state = match known.finished {
        true => known.state,
        false => {
            let (state, run) = known.resume(ctx).await?;
            run.drive(state).await?
        }
    };
    answer(ctx, state).await
}

/// What was sold long ago, or in another shop, has no hold here to be given back.
const STOCK_FORGOTTEN: &str = "the stock no longer knows what was sold with this order: put it back by an adjustment";

/// Who has no wallet, or one in another currency, is told before the order is turned.
async fn takes_credit(ctx: &Context, order: &Order) -> Result<()> {
    let no_wallet = || Invalid::new("to", "a guest has no wallet");
    let user = order.user_id.ok_or_else(no_wallet)?;
    let of_past = || Invalid::new("to", "an order of the past was not paid here");
    order.checkout_id.ok_or_else(of_past)?;
    in_its_currency(ctx, user, order).await
}

async fn in_its_currency(ctx: &Context, user: UserId, order: &Order) -> Result<()> {
    match wallets::get_wallet(ctx, user).await?.currency {
        Some(wallet) if wallet != order.currency => {
            Err(wallets::Error::OtherCurrency { wallet, given: order.currency.clone() }.into())
        }
        _ => Ok(()),
    }
}

async fn answer(ctx: &Context, reversal: Reversal) -> Result<Order> {
    let order = orders::get_order(ctx, reversal.order_id).await?;
    match reversal.done {
        Some(true) => Ok(order),
        _ => Err(orders::Error::IllegalTransition { from: order.status, to: reversal.kind.status() }.into()),
    }
}

impl Reversal {
    fn change(&self) -> Change {
        let change_id = Uuid::new_v5(&self.order_id.0, self.kind.name().as_bytes());
        Change { notes: self.notes.clone(), ..Change::by(self.actor.clone(), change_id) }
    }

    /// Notes may tell of the person. They stand in the order's history, where they can be erased.
    fn end(&mut self, done: bool) {
        self.done = Some(done);
        self.notes = None;
    }

    /// Whether what was sold can be given back: an order that is not paid has sold nothing yet.
    async fn stock_is_known(&self, ctx: &Context, order: &Order) -> Result<bool> {
        let Some(checkout) = self.checkout_id.filter(|_| order.paid_at.is_some()) else { return Ok(true) };
        for product in self.products(ctx).await? {
            if inventory::find_hold(ctx, product, hold_of(checkout)).await?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds to the notes, as far as there is room.
    fn note(&mut self, text: &str) {
        let notes = match &self.notes {
            Some(notes) => format!("{notes}\n{text}"),
            None => text.to_owned(),
        };
        if notes.len() <= limits::NOTES_BYTES_MAX {
            self.notes = Some(notes);
        }
    }

    /// What the provider has taken goes back the way it came, and the order says so.
    async fn give_back_money(&self, run: &Run<'_>, order: &Order, checkout: CheckoutId) -> Result<()> {
        let ctx = run.ctx;
        let given_up = run.step("money", give_up_money(ctx, checkout)).await?;
        let refunded = order.paid_at.is_some() || given_up == GivenUp::Refunded;
        run.step("note", note_payment(ctx, self.order_id, refunded)).await
    }

    /// What the wallet has paid. An order that was paid before it came here, from another shop, was paid from a wallet there: what
    /// is not known here as spent is put in.
    async fn give_back_credit(&self, ctx: &Context, user: UserId, order: &Order, checkout: CheckoutId) -> Result<()> {
        let told = give_up_credit(ctx, user, checkout).await?;
        let Some(credit) = order.store_credit.filter(|_| told.kind == EntryKind::OperationVoided) else {
            return Ok(());
        };
        if order.paid_at.is_some() {
            let id = Uuid::new_v5(&self.order_id.0, b"store credit that was spent elsewhere");
            let operation = Operation::new(id, credit, order.currency.clone())
                .because(format!("refund of order {}", order.order_number));
            if !put_in(ctx, user, operation).await? {
                let order = order.order_id;
                tracing::error!(%order, %user, %credit, "store credit that was spent elsewhere is not given back");
            }
        }
        Ok(())
    }

    /// What the provider has taken becomes store credit; false if the wallet does not take it.
    async fn credit(&self, ctx: &Context, order: &Order) -> Result<bool> {
        let Some(user) = order.user_id else { return Ok(false) };
        if order.charge().is_zero() {
            return Ok(true);
        }
        let id = Uuid::new_v5(&self.order_id.0, b"refund to store credit");
        let operation = Operation::new(id, order.charge(), order.currency.clone())
            .because(format!("refund of order {}", order.order_number));
        put_in(ctx, user, operation).await
    }

    async fn products(&self, ctx: &Context) -> Result<Vec<ProductId>> {
        let items = orders::list_items(ctx, self.order_id).await?;
        let mut products: Vec<_> = items.iter().map(|item| item.product_id).collect();
        products.sort_unstable();
        products.dedup();
        Ok(products)
    }
}

impl Flow for Reversal {
    const KIND: FlowKind = FlowKind::Reversal;

    async fn advance(&mut self, run: &mut Run<'_>) -> Result<Progress> {
        let ctx = run.ctx;
        // RACE: this one write decides; whoever was first is told apart by the change's id.
        let turned = run.step("turn", async {
            match orders::change_status(ctx, self.order_id, self.kind.status(), self.change()).await {
                Ok(_) => Ok(true),
                Err(orders::Error::IllegalTransition { .. }) => Ok(false),
                Err(error) => Err(Error::from(error)),
            }
        });
        if !turned.await? {
            self.end(false);
            return Ok(Progress::Finished);
        }
        let mut to_provider = None;
        if let Some(checkout) = self.checkout_id {
            let order = orders::get_order(ctx, self.order_id).await?;
            if let Some(user) = order.user_id.filter(|_| order.store_credit.is_some()) {
                run.step("return", self.give_back_credit(ctx, user, &order, checkout)).await?;
            }
            if self.to == RefundTo::StoreCredit && run.step("credit", self.credit(ctx, &order)).await? {
                run.step("note", note_payment(ctx, self.order_id, true)).await?;
            } else {
                to_provider = Some((order, checkout));
            }
            if self.restock {
                let products = self.products(ctx).await?;
                run.step("release", give_up_stock(ctx, checkout, &products)).await?;
                run.step("stock", stock::follow_all(ctx, &products)).await?;
            }
        }
        run.step("count", async {
            sales::count_order(ctx, self.order_id).await?;
            sale_records::follow_order(ctx, self.order_id).await?;
            Ok(())
        })
        .await?;
        // ORDER: the provider last. One that refuses, for days or for good, keeps nobody's credit, no stock and no figures.
        if let Some((order, checkout)) = to_provider {
            self.give_back_money(run, &order, checkout).await?;
        }
        self.end(true);
        Ok(Progress::Finished)
    }
}

/// Puts it into the wallet; false if the wallet does not take it.
///
/// RACE: a wallet that refuses may take it a moment later, from a slower run of this flow. So the refusal is made good for ever
/// before the money goes another way.
async fn put_in(ctx: &Context, user: UserId, operation: Operation) -> Result<bool> {
    let id = operation.operation_id;
    match wallets::deposit(ctx, user, operation).await {
        Ok(_) => Ok(true),
        Err(error) if error.is_refusal() => {
            tracing::warn!(%user, %id, %error, "a wallet does not take a refund");
            Ok(wallets::fence(ctx, user, id).await? == Fenced::Made)
        }
        Err(error) => Err(error.into()),
    }
}

async fn note_payment(ctx: &Context, order: OrderId, refunded: bool) -> Result<()> {
    let status = if refunded { PaymentStatus::Refunded } else { PaymentStatus::Voided };
    orders::note_payment(ctx, order, status, None).await?;
    Ok(())
}
