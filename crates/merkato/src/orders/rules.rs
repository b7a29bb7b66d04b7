//! What an order is made of, and which way it goes. No reading, no writing, no clock.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;
use widerow::{Date, Timestamp, Version};

use super::{
    error::{Error, Result},
    tables::{CategorySum, HistoryRow, Order, OrderItem, OrderStatus, PaymentStatus, PostalAddress},
    totals::{self, Totals},
};
use crate::{
    check::{Check, Invalid},
    events::{Fact, NewEvent, Told, fact_stream},
    id::{AggregateId, CartId, CategoryId, CheckoutId, OrderId, ProductId, UserId},
    limits,
    money::Currency,
};

/// The state machine: from where one comes to where. No way leads back, so that no status is come to twice.
pub const NEXT: &[(OrderStatus, &[OrderStatus])] = {
    use OrderStatus::*;
    &[
        (Pending, &[Paid, Cancelled]),
        (Paid, &[Processing, Cancelled, Refunded]),
        (Processing, &[Shipped, Cancelled, Refunded]),
        (Shipped, &[Delivered, Refunded]),
        (Delivered, &[Refunded]),
        (Cancelled, &[]),
        (Refunded, &[]),
    ]
};

impl OrderStatus {
    pub const ALL: [OrderStatus; 7] = {
        use OrderStatus::*;
        [Pending, Paid, Processing, Shipped, Delivered, Cancelled, Refunded]
    };

    /// What may follow.
    pub fn next(self) -> &'static [OrderStatus] {
        NEXT.iter().find(|(from, _)| *from == self).map_or(&[], |(_, to)| to)
    }
}

/// A line as the shopper saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderLine {
    pub product_id: ProductId,
    pub name: String,
    pub image: Option<String>,
    pub sku: Option<String>,
    pub options: BTreeMap<String, String>,
    pub unit_price: Decimal,
    pub quantity: u32,
    /// What its revenue is counted under.
    pub category_id: Option<CategoryId>,
}

/// What an order is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderDraft {
    pub order_id: OrderId,
    pub order_number: String,
    pub checkout_id: Option<CheckoutId>,
    pub cart_id: Option<CartId>,
    pub user_id: Option<UserId>,
    /// Needed where the order is placed; one that is imported may be without.
    pub user_email: Option<String>,
    pub customer_name: Option<String>,
    pub shipping_address: Option<PostalAddress>,
    /// The shipping address where it is not given.
    pub billing_address: Option<PostalAddress>,
    pub payment_method: Option<String>,
    pub lines: Vec<OrderLine>,
    pub totals: Totals,
    pub discount_code: Option<String>,
    pub shipping_method: Option<String>,
    /// Said when it is placed, not kept with the draft.
    #[serde(skip)]
    pub estimated_delivery: Option<Date>,
    pub customer_notes: Option<String>,
    /// The part of the total that the shopper's wallet pays.
    #[serde(default)]
    pub store_credit: Option<Decimal>,
}

/// A step that an imported order has behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastStep {
    pub status: OrderStatus,
    pub at: Timestamp,
    pub actor: String,
    pub notes: Option<String>,
}

/// What an imported order has behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// Oldest first, at least one: the first is its creation, the last is where it stands.
    pub steps: Vec<PastStep>,
    pub payment_status: PaymentStatus,
    pub payment_id: Option<String>,
    pub tracking_number: Option<String>,
    pub carrier: Option<String>,
    pub internal_notes: Option<String>,
}

/// An order that is to be written: its row, its lines, its history. Made of a draft only, so that they belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct NewOrder {
    pub(super) order: Order,
    pub(super) items: Vec<OrderItem>,
    pub(super) history: Vec<HistoryRow>,
}

impl NewOrder {
    /// An order as it was elsewhere, every column of it. Its parts must belong together and add up.
    pub fn restore(order: Order, items: Vec<OrderItem>, history: Vec<HistoryRow>) -> Result<Self> {
        let mut lines = Decimal::ZERO;
        for item in &items {
            lines = totals::sum([lines, item.line_total])?;
        }
        let sum = totals::sum([order.subtotal, -order.discount_amount, order.shipping_amount, order.tax_amount])?;
        let pieces: i64 = items.iter().map(|item| i64::from(item.quantity)).sum();
        let newest = history.iter().max_by_key(|row| row.status_time);
        let mut check = Check::new();
        check.line("order_number", &order.order_number, 1..=limits::ORDER_NUMBER_BYTES_MAX);
        check.currency("currency", &order.currency);
        check.count("items", items.len(), limits::LINES_AN_ORDER_MAX);
        check.that(items.iter().all(|item| item.order_id == order.order_id), "items", "one is of another order");
        check.that(history.iter().all(|row| row.order_id == order.order_id), "history", "a row is of another order");
        check.that(lines == order.subtotal, "subtotal", format!("the lines come to {lines}"));
        check.that(sum == order.total, "total", format!("the parts come to {sum}"));
        let credit = order.store_credit.unwrap_or_default();
        let pays =
            credit == Decimal::ZERO || (Decimal::ZERO..=order.total).contains(&credit) && order.user_id.is_some();
        check.that(pays, "store_credit", "it is more than the total, less than nought, or of nobody");
        check.that(pieces == order.item_count, "item_count", format!("the lines have {pieces}"));
        let ends_there = newest.is_some_and(|row| row.status == order.status && row.status_time == order.status_time);
        check.that(ends_there, "history", "it does not end where the order stands");
        check.end()?;
        // What was told of it elsewhere is not in this shop's log: its stream begins with the next change.
        Ok(NewOrder { order: Order { told: None, ..order }, items, history })
    }

    pub fn order(&self) -> &Order {
        &self.order
    }

    pub fn items(&self) -> &[OrderItem] {
        &self.items
    }

    pub fn history(&self) -> &[HistoryRow] {
        &self.history
    }
}

/// What comes with a change of status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The same for every try: what was done under it is not done again.
    pub change_id: Uuid,
    /// `system`, `admin:john`, `customer`.
    pub actor: String,
    pub notes: Option<String>,
    /// Only if the order is still as it was read.
    pub expected: Option<Version>,
    pub payment_status: Option<PaymentStatus>,
    pub payment_id: Option<String>,
    pub tracking_number: Option<String>,
    pub carrier: Option<String>,
    pub estimated_delivery: Option<Date>,
}

impl Change {
    pub fn by(actor: impl Into<String>, change_id: Uuid) -> Self {
        Change {
            change_id,
            actor: actor.into(),
            notes: None,
            expected: None,
            payment_status: None,
            payment_id: None,
            tracking_number: None,
            carrier: None,
            estimated_delivery: None,
        }
    }

    pub fn check(&self) -> Result<(), Invalid> {
        let mut check = Check::new();
        check.line("actor", &self.actor, 1..=limits::REFERENCE_BYTES_MAX);
        check.lines("notes", self.notes.as_deref().unwrap_or_default(), limits::NOTES_BYTES_MAX);
        check.optional_line("payment_id", self.payment_id.as_deref(), limits::REFERENCE_BYTES_MAX);
        check.optional_line("tracking_number", self.tracking_number.as_deref(), limits::REFERENCE_BYTES_MAX);
        check.optional_line("carrier", self.carrier.as_deref(), limits::REFERENCE_BYTES_MAX);
        check.that(self.estimated_delivery.is_none_or(Date::in_range), "estimated_delivery", "no such day");
        check.end()
    }
}

impl OrderDraft {
    /// The order as it is placed now: pending, with the first row of its history.
    pub fn place(self, actor: &str, now: Timestamp) -> Result<NewOrder> {
        let created = PastStep {
            status: OrderStatus::Pending,
            at: now,
            actor: actor.to_owned(),
            notes: Some("Order created".into()),
        };
        let past = Past {
            steps: vec![created],
            payment_status: PaymentStatus::Pending,
            payment_id: None,
            tracking_number: None,
            carrier: None,
            internal_notes: None,
        };
        let mut check = Check::new();
        check.that(self.user_email.is_some(), "user_email", "it is missing");
        let mut new = self.build(past, check, now)?;
        new.order.told = Some(Told::after(None, now));
        Ok(new)
    }

    /// An order of the past, where it stands by now, as an import brings it.
    pub fn import(self, past: Past, now: Timestamp) -> Result<NewOrder> {
        self.build(past, Check::new(), now)
    }

    fn build(self, past: Past, mut check: Check, now: Timestamp) -> Result<NewOrder> {
        self.check(&mut check);
        past.check(&mut check, now);
        check.end()?;
        let (Some(first), Some(last)) = (past.steps.first(), past.steps.last()) else {
            return Err(Invalid::new("history", "it is empty").into());
        };
        let came_to = |status| past.steps.iter().find(|step| step.status == status).map(|step| step.at);
        let items = self.items()?;
        self.check_totals(&items)?;
        let mut categories: BTreeMap<CategoryId, CategorySum> = BTreeMap::new();
        for (category, item) in items.iter().filter_map(|item| Some((item.category_id?, item))) {
            let all = categories.entry(category).or_default();
            all.item_count += i64::from(item.quantity);
            all.revenue = totals::sum([all.revenue, item.line_total])?;
        }
        let history = past.steps.iter().map(|step| HistoryRow {
            order_id: self.order_id,
            status_time: step.at,
            status: step.status,
            actor: step.actor.clone(),
            notes: step.notes.clone().filter(|notes| !notes.is_empty()),
        });
        let history = history.collect();
        let taxed_in = self.shipping_address.as_ref().or(self.billing_address.as_ref());
        let order = Order {
            order_id: self.order_id,
            order_number: self.order_number,
            user_id: self.user_id,
            user_email: self.user_email,
            customer_name: self.customer_name,
            status: last.status,
            tax_country: taxed_in.map(|address| address.country.clone()),
            billing_address: self.billing_address.or_else(|| self.shipping_address.clone()),
            shipping_address: self.shipping_address,
            payment_method: self.payment_method,
            payment_status: past.payment_status,
            payment_id: past.payment_id,
            subtotal: self.totals.subtotal,
            discount_amount: self.totals.discount_amount,
            discount_code: self.discount_code,
            shipping_amount: self.totals.shipping_amount,
            tax_amount: self.totals.tax_amount,
            total: self.totals.total,
            currency: self.totals.currency,
            shipping_method: self.shipping_method,
            tracking_number: past.tracking_number,
            carrier: past.carrier,
            estimated_delivery: self.estimated_delivery,
            created_at: first.at,
            updated_at: last.at,
            paid_at: came_to(OrderStatus::Paid),
            shipped_at: came_to(OrderStatus::Shipped),
            delivered_at: came_to(OrderStatus::Delivered),
            cancelled_at: came_to(OrderStatus::Cancelled),
            refunded_at: came_to(OrderStatus::Refunded),
            customer_notes: self.customer_notes.filter(|notes| !notes.is_empty()),
            internal_notes: past.internal_notes.filter(|notes| !notes.is_empty()),
            checkout_id: self.checkout_id,
            cart_id: self.cart_id,
            item_count: items.iter().map(|item| i64::from(item.quantity)).sum(),
            first_item_name: self.lines.first().map(|line| line.name.clone()).unwrap_or_default(),
            first_item_image: self.lines.first().and_then(|line| line.image.clone()),
            categories,
            status_time: last.at,
            change_ids: BTreeMap::new(),
            revision: 1,
            told: None,
            store_credit: self.store_credit,
        };
        Ok(NewOrder { order, items, history })
    }

    fn check(&self, check: &mut Check) {
        let line_max = limits::LINE_BYTES_MAX;
        check.line("order_number", &self.order_number, 1..=limits::ORDER_NUMBER_BYTES_MAX);
        if let Some(email) = &self.user_email {
            check.email("user_email", email);
        }
        check.optional_line("customer_name", self.customer_name.as_deref(), line_max);
        for (field, address) in
            [("shipping_address", &self.shipping_address), ("billing_address", &self.billing_address)]
        {
            if let Some(address) = address {
                address.check(check, field);
            }
        }
        check.optional_line("payment_method", self.payment_method.as_deref(), limits::REFERENCE_BYTES_MAX);
        check.optional_line("discount_code", self.discount_code.as_deref(), limits::DISCOUNT_CODE_BYTES_MAX);
        check.optional_line("shipping_method", self.shipping_method.as_deref(), line_max);
        check.lines("customer_notes", self.customer_notes.as_deref().unwrap_or_default(), limits::NOTES_BYTES_MAX);
        check.that(self.estimated_delivery.is_none_or(Date::in_range), "estimated_delivery", "no such day");
        check.currency("currency", &self.totals.currency);
        check.that(!self.lines.is_empty(), "lines", "there are none");
        check.count("lines", self.lines.len(), limits::LINES_AN_ORDER_MAX);
        for (i, line) in self.lines.iter().enumerate().take(limits::LINES_AN_ORDER_MAX) {
            line.check(check, &format!("lines/{i}"), &self.totals.currency);
        }
        let totals = &self.totals;
        let parts = [
            ("subtotal", totals.subtotal),
            ("discount_amount", totals.discount_amount),
            ("shipping_amount", totals.shipping_amount),
            ("tax_amount", totals.tax_amount),
            ("total", totals.total),
        ];
        let decimals = totals.currency.decimals().unwrap_or(u32::MAX);
        let credit = self.store_credit.map(|credit| ("store_credit", credit));
        for (field, amount) in parts.into_iter().chain(credit) {
            check.that(!amount.is_sign_negative() || amount.is_zero(), field, "it is negative");
            check.that(amount <= limits::AMOUNT_MAX, field, format!("the limit is {}", limits::AMOUNT_MAX));
            check.that(
                amount.normalize().scale() <= decimals,
                field,
                format!("{} has {decimals} decimals", totals.currency),
            );
        }
        let credit = self.store_credit.unwrap_or_default();
        check.that(credit <= totals.total, "store_credit", format!("the order comes to {}", totals.total));
        let whose = credit.is_zero() || self.user_id.is_some();
        check.that(whose, "store_credit", "a guest has no wallet");
    }

    /// Money that does not add up is not kept.
    fn check_totals(&self, items: &[OrderItem]) -> Result<()> {
        let totals = &self.totals;
        let mut lines = Decimal::ZERO;
        for item in items {
            lines = totals::sum([lines, item.line_total])?;
        }
        let sum = totals::sum([totals.subtotal, -totals.discount_amount, totals.shipping_amount, totals.tax_amount])?;
        let mut check = Check::new();
        check.that(lines == totals.subtotal, "subtotal", format!("the lines come to {lines}"));
        check.that(totals.discount_amount <= totals.subtotal, "discount_amount", "it is more than the subtotal");
        check.that(sum == totals.total, "total", format!("the parts come to {sum}"));
        Ok(check.end()?)
    }

    fn items(&self) -> Result<Vec<OrderItem>> {
        let item = |(line, number): (&OrderLine, i32)| {
            Ok(OrderItem {
                order_id: self.order_id,
                line_number: number,
                product_id: line.product_id,
                product_name: line.name.clone(),
                product_image: line.image.clone(),
                sku: line.sku.clone(),
                selected_options: line.options.clone(),
                unit_price: line.unit_price,
                quantity: line.quantity,
                line_total: totals::line_total(line.unit_price, line.quantity)?,
                category_id: line.category_id,
            })
        };
        self.lines.iter().zip(1..).map(item).collect()
    }
}

impl OrderLine {
    fn check(&self, check: &mut Check, at: &str, currency: &Currency) {
        check.line(format_args!("{at}/name"), &self.name, 1..=limits::NAME_BYTES_MAX);
        if let Some(image) = &self.image {
            check.url(&format!("{at}/image"), image);
        }
        check.optional_line(&format!("{at}/sku"), self.sku.as_deref(), limits::LINE_BYTES_MAX);
        check.count(format_args!("{at}/options"), self.options.len(), limits::OPTIONS_A_LINE_MAX);
        for (name, value) in self.options.iter().take(limits::OPTIONS_A_LINE_MAX) {
            check.line(format_args!("{at}/options"), name, 1..=limits::LINE_BYTES_MAX);
            check.line(format_args!("{at}/options/{name}"), value, 1..=limits::LINE_BYTES_MAX);
        }
        check.price(&format!("{at}/unit_price"), self.unit_price, currency);
        check.quantity(&format!("{at}/quantity"), self.quantity.into());
    }
}

impl PostalAddress {
    pub fn check(&self, check: &mut Check, at: &str) {
        let line_max = limits::LINE_BYTES_MAX;
        check.optional_line(&format!("{at}/label"), self.label.as_deref(), line_max);
        check.line(format_args!("{at}/street"), &self.street, 1..=line_max);
        check.optional_line(&format!("{at}/street2"), self.street2.as_deref(), line_max);
        check.line(format_args!("{at}/city"), &self.city, 1..=line_max);
        check.optional_line(&format!("{at}/state"), self.state.as_deref(), line_max);
        let postal_code = self.postal_code.as_deref();
        check.optional_line(&format!("{at}/postal_code"), postal_code, limits::POSTAL_CODE_BYTES_MAX);
        let country = self.country.len() == 2 && self.country.bytes().all(|b| b.is_ascii_uppercase());
        check.that(country, format!("{at}/country"), "not the two capital letters of a country");
        check.optional_line(&format!("{at}/phone"), self.phone.as_deref(), limits::PHONE_BYTES_MAX);
    }
}

impl Past {
    fn check(&self, check: &mut Check, now: Timestamp) {
        check.that(!self.steps.is_empty(), "history", "it is empty");
        check.count("history", self.steps.len(), limits::COLLECTION_ITEMS_MAX);
        let latest = now.plus_seconds(limits::CLOCK_SKEW_SECONDS);
        for (i, step) in self.steps.iter().enumerate().take(limits::COLLECTION_ITEMS_MAX) {
            check.line(format_args!("history/{i}/actor"), &step.actor, 1..=limits::REFERENCE_BYTES_MAX);
            let notes = step.notes.as_deref().unwrap_or_default();
            check.lines(format_args!("history/{i}/notes"), notes, limits::NOTES_BYTES_MAX);
            let in_time = step.at.in_range() && step.at <= latest;
            check.that(in_time, format!("history/{i}/at"), "it is not in the past");
        }
        // The time is the key of a row of the history.
        let rising = self.steps.windows(2).all(|pair| pair[0].at < pair[1].at);
        check.that(rising, "history", "each step must be later than the one before it");
        check.optional_line("payment_id", self.payment_id.as_deref(), limits::REFERENCE_BYTES_MAX);
        check.optional_line("tracking_number", self.tracking_number.as_deref(), limits::REFERENCE_BYTES_MAX);
        check.optional_line("carrier", self.carrier.as_deref(), limits::REFERENCE_BYTES_MAX);
        check.lines("internal_notes", self.internal_notes.as_deref().unwrap_or_default(), limits::NOTES_BYTES_MAX);
    }
}

/// Whether the order came to this status by this very change, whatever became of it since.
pub fn is_done(order: &Order, to: OrderStatus, change: &Change) -> bool {
    order.change_ids.get(&to) == Some(&change.change_id)
}

/// The order in its next status, and the row that tells of it.
pub fn transition(order: &Order, to: OrderStatus, change: &Change, now: Timestamp) -> Result<(Order, HistoryRow)> {
    if !order.status.next().contains(&to) {
        return Err(Error::IllegalTransition { from: order.status, to });
    }
    // ORDER: the time is the key of the history's row; another machine's clock may have been ahead of this one's.
    let at = now.max(Timestamp::from_millis(order.status_time.millis().saturating_add(1)));
    let mut next = order.clone();
    next.status = to;
    next.status_time = at;
    match to {
        OrderStatus::Paid => next.paid_at = Some(at),
        OrderStatus::Shipped => next.shipped_at = Some(at),
        OrderStatus::Delivered => next.delivered_at = Some(at),
        OrderStatus::Cancelled => next.cancelled_at = Some(at),
        OrderStatus::Refunded => next.refunded_at = Some(at),
        OrderStatus::Pending | OrderStatus::Processing => {}
    }
    next.payment_status = change.payment_status.unwrap_or(next.payment_status);
    let replace = |old: &mut Option<String>, new: &Option<String>| {
        if new.is_some() {
            old.clone_from(new);
        }
    };
    replace(&mut next.payment_id, &change.payment_id);
    replace(&mut next.tracking_number, &change.tracking_number);
    replace(&mut next.carrier, &change.carrier);
    next.estimated_delivery = change.estimated_delivery.or(next.estimated_delivery);
    next.change_ids.insert(to, change.change_id);
    next.told = Some(Told::after(order.told, at));
    touch(&mut next, at);
    let row = HistoryRow {
        order_id: order.order_id,
        status_time: at,
        status: to,
        actor: change.actor.clone(),
        notes: change.notes.clone().filter(|notes| !notes.is_empty()),
    };
    Ok((next, row))
}

/// The stream of an order's events.
pub fn stream_of(order: OrderId) -> AggregateId {
    fact_stream(KIND, order.0)
}

/// What an order's events are events of.
pub const KIND: &str = "order";

/// That an order came to a status, as an event is called.
pub const fn told_as(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Pending => "OrderPlaced",
        OrderStatus::Paid => "OrderPaid",
        OrderStatus::Processing => "OrderProcessingStarted",
        OrderStatus::Shipped => "OrderShipped",
        OrderStatus::Delivered => "OrderDelivered",
        OrderStatus::Cancelled => "OrderCancelled",
        OrderStatus::Refunded => "OrderRefunded",
    }
}

/// That the order has come to where it stands. Nothing about the person but the user's id: what an event says stays, and
/// notes stand in the history, where they can be erased.
pub fn fact(order: &Order, row: &HistoryRow) -> Fact {
    let mut data = json!({ "order_id": order.order_id, "actor": row.actor });
    if order.status == OrderStatus::Pending {
        data["order_number"] = json!(order.order_number);
        data["user_id"] = json!(order.user_id);
        data["total"] = json!(order.total);
        data["currency"] = json!(order.currency);
        data["item_count"] = json!(order.item_count);
        data["store_credit"] = json!(order.store_credit);
    }
    let told = order.told.unwrap_or(Told::after(None, row.status_time));
    let event = NewEvent {
        correlation_id: order.checkout_id.map(|checkout| checkout.0),
        ..NewEvent::new(told_as(order.status), data)
    };
    told.fact(KIND, order.order_id.0, event)
}

/// What the provider says of the payment, without a change of status.
pub fn note_payment(order: &Order, status: PaymentStatus, payment_id: Option<&str>, now: Timestamp) -> Order {
    let mut next = order.clone();
    next.payment_status = status;
    if let Some(payment_id) = payment_id {
        next.payment_id = Some(payment_id.to_owned());
    }
    if next != *order {
        touch(&mut next, now);
    }
    next
}

/// What the staff says of it.
pub fn note_internally(order: &Order, notes: Option<&str>, now: Timestamp) -> Order {
    let mut next = order.clone();
    next.internal_notes = notes.filter(|notes| !notes.is_empty()).map(str::to_owned);
    if next != *order {
        touch(&mut next, now);
    }
    next
}

/// The order without the person: the money, the goods and the country of the tax stay.
pub fn erase(order: &Order, now: Timestamp) -> Order {
    let mut left = Order {
        user_email: None,
        customer_name: None,
        shipping_address: None,
        billing_address: None,
        customer_notes: None,
        internal_notes: None,
        ..order.clone()
    };
    if left != *order {
        touch(&mut left, now);
    }
    left
}

fn touch(order: &mut Order, now: Timestamp) {
    order.updated_at = order.updated_at.max(now);
    order.revision += 1;
}
