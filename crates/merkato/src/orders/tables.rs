//! The tables of orders. Reading this file is reading their data model.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use widerow::{Cell, Date, Derive, Row, Schema, Timestamp};

use crate::{
    claims::{Bearer, ClaimKind},
    events::Told,
    id::{CartId, CategoryId, CheckoutId, OrderId, ProductId, UserId},
    limits,
    money::Currency,
    shards,
};

/// Where an order stands. Which follows which is declared in `rules::NEXT`.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OrderStatus {
    Pending,
    Paid,
    Processing,
    Shipped,
    Delivered,
    Cancelled,
    Refunded,
}

/// What became of the money, as the payment provider has it.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PaymentStatus {
    /// Nothing was asked of the provider, or its answer is not known yet.
    Pending,
    Authorised,
    Captured,
    Declined,
    Voided,
    Refunded,
}

/// Where something goes to, as it was when the order was placed. The document's `address`, without an id: nothing points
/// at it.
#[derive(Cell, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostalAddress {
    pub label: Option<String>,
    pub street: String,
    pub street2: Option<String>,
    pub city: String,
    pub state: Option<String>,
    pub postal_code: Option<String>,
    /// Two letters of ISO 3166.
    pub country: String,
    pub phone: Option<String>,
}

/// What an order brings to one category.
#[derive(Cell, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CategorySum {
    /// Pieces.
    pub item_count: i64,
    /// The line totals, before discount, shipping and tax.
    pub revenue: Decimal,
}

/// Q12: everything about one order but its lines. One row a partition, about 2 KiB.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "orders", partition(order_id), guarded, read = Quorum, write = Quorum)]
pub struct Order {
    pub order_id: OrderId,
    /// For people: `ORD-2026-000123`.
    pub order_number: String,
    /// None where a guest placed it.
    pub user_id: Option<UserId>,
    /// Folded. None once the person is erased, or where an imported order came without.
    pub user_email: Option<String>,
    pub customer_name: Option<String>,
    pub status: OrderStatus,
    pub shipping_address: Option<PostalAddress>,
    pub billing_address: Option<PostalAddress>,
    /// The country by which it was taxed; it stays when the addresses are erased.
    pub tax_country: Option<String>,
    pub payment_method: Option<String>,
    pub payment_status: PaymentStatus,
    /// The provider's.
    pub payment_id: Option<String>,
    pub subtotal: Decimal,
    pub discount_amount: Decimal,
    pub discount_code: Option<String>,
    pub shipping_amount: Decimal,
    pub tax_amount: Decimal,
    pub total: Decimal,
    pub currency: Currency,
    pub shipping_method: Option<String>,
    pub tracking_number: Option<String>,
    pub carrier: Option<String>,
    pub estimated_delivery: Option<Date>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub paid_at: Option<Timestamp>,
    pub shipped_at: Option<Timestamp>,
    pub delivered_at: Option<Timestamp>,
    pub cancelled_at: Option<Timestamp>,
    pub refunded_at: Option<Timestamp>,
    pub customer_notes: Option<String>,
    pub internal_notes: Option<String>,
    pub checkout_id: Option<CheckoutId>,
    pub cart_id: Option<CartId>,
    /// Pieces, over all lines.
    pub item_count: i64,
    pub first_item_name: String,
    pub first_item_image: Option<String>,
    pub categories: BTreeMap<CategoryId, CategorySum>,
    /// When it came to its status: of its newest row in `order_status_history`.
    pub status_time: Timestamp,
    /// By which change it came to each status. No status is come to twice, so that every change is known again.
    pub change_ids: BTreeMap<OrderStatus, Uuid>,
    /// Grows with every change, beginning with one.
    pub revision: i64,
    /// How far its stream of events is. None: it came from elsewhere, and nothing was told of it yet.
    pub told: Option<Told>,
    /// The part of the total that the shopper's wallet pays.
    pub store_credit: Option<Decimal>,
}

impl Order {
    /// What the payment provider is asked for.
    pub fn charge(&self) -> Decimal {
        self.total - self.store_credit.unwrap_or_default()
    }

    /// The day under which it is filed, for good.
    pub fn order_date(&self) -> Date {
        self.created_at.date()
    }

    fn shard(&self) -> u32 {
        shards::of(self.order_id.0.as_bytes(), limits::ORDER_SHARDS)
    }
}

/// Only imported orders claim their numbers: those of the shop's own count are unique by the count.
impl Bearer for Order {
    const KIND: ClaimKind = ClaimKind::OrderNumber;

    fn partition(owner: Uuid) -> OrderId {
        OrderId(owner)
    }

    fn key(owner: Uuid) -> OrderId {
        OrderId(owner)
    }

    fn has_name(&self, number: &str) -> bool {
        self.order_number == number
    }
}

/// Q13: the lines of an order. Expected 3 rows, at most 1,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "order_items", partition(order_id), clustering(line_number), read = Quorum, write = Quorum)]
pub struct OrderItem {
    pub order_id: OrderId,
    /// From one.
    pub line_number: i32,
    pub product_id: ProductId,
    pub product_name: String,
    pub product_image: Option<String>,
    pub sku: Option<String>,
    pub selected_options: BTreeMap<String, String>,
    pub unit_price: Decimal,
    pub quantity: u32,
    pub line_total: Decimal,
    pub category_id: Option<CategoryId>,
}

/// Q14: how an order came to where it stands, newest first. At most 5 rows by the state machine.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "order_status_history",
    partition(order_id),
    clustering(status_time desc),
    read = LocalQuorum,
    write = Quorum
)]
pub struct HistoryRow {
    pub order_id: OrderId,
    pub status_time: Timestamp,
    pub status: OrderStatus,
    /// `system`, `admin:john`, `customer`.
    pub actor: String,
    pub notes: Option<String>,
}

/// Q11: a user's orders, newest first. Expected 20 rows, at most 100,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "orders_by_user",
    partition(user_id),
    clustering(order_date desc, order_id desc),
    read = LocalQuorum,
    write = Quorum
)]
pub struct UserOrder {
    pub user_id: UserId,
    pub order_date: Date,
    pub order_id: OrderId,
    pub order_number: String,
    pub status: OrderStatus,
    pub total: Decimal,
    pub currency: Currency,
    pub item_count: i64,
    pub first_item_name: String,
    pub first_item_image: Option<String>,
}

/// A guest has no list.
impl Derive<UserOrder> for Order {
    fn derive(&self) -> Vec<UserOrder> {
        let row = |user_id| UserOrder {
            user_id,
            order_date: self.order_date(),
            order_id: self.order_id,
            order_number: self.order_number.clone(),
            status: self.status,
            total: self.total,
            currency: self.currency.clone(),
            item_count: self.item_count,
            first_item_name: self.first_item_name.clone(),
            first_item_image: self.first_item_image.clone(),
        };
        self.user_id.map(row).into_iter().collect()
    }

    fn source(row: &UserOrder) -> OrderId {
        row.order_id
    }
}

/// Q15: the orders of a day that stand so, newest first, until thirty days after they came to stand so. Expected 500
/// rows a shard, at most 100,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "orders_by_status",
    partition(status, order_date, shard),
    clustering(created_at desc, order_id desc),
    ends = "ends_at",
    read = Quorum,
    write = Quorum
)]
pub struct StatusOrder {
    pub status: OrderStatus,
    pub order_date: Date,
    pub shard: u32,
    pub created_at: Timestamp,
    pub order_id: OrderId,
    pub order_number: String,
    pub user_email: Option<String>,
    pub total: Decimal,
    pub currency: Currency,
    pub ends_at: Timestamp,
}

impl Derive<StatusOrder> for Order {
    fn derive(&self) -> Vec<StatusOrder> {
        vec![StatusOrder {
            status: self.status,
            order_date: self.order_date(),
            shard: self.shard(),
            created_at: self.created_at,
            order_id: self.order_id,
            order_number: self.order_number.clone(),
            user_email: self.user_email.clone(),
            total: self.total,
            currency: self.currency.clone(),
            ends_at: self.status_time.plus_seconds(i64::from(limits::STATUS_LIST_DAYS) * 86_400),
        }]
    }

    fn source(row: &StatusOrder) -> OrderId {
        row.order_id
    }
}

/// An order by its number. One row a partition.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "orders_by_number", partition(order_number), read = Quorum, write = Quorum)]
pub struct NumberedOrder {
    pub order_number: String,
    pub order_id: OrderId,
}

impl Derive<NumberedOrder> for Order {
    fn derive(&self) -> Vec<NumberedOrder> {
        vec![NumberedOrder { order_number: self.order_number.clone(), order_id: self.order_id }]
    }

    fn source(row: &NumberedOrder) -> OrderId {
        row.order_id
    }
}

/// All orders of a day, oldest first, kept for good: for analytics and export. Expected 2,000 rows a shard, at most 500,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "orders_by_day",
    partition(order_date, shard),
    clustering(created_at, order_id),
    read = LocalQuorum,
    write = Quorum
)]
pub struct DayOrder {
    pub order_date: Date,
    pub shard: u32,
    pub created_at: Timestamp,
    pub order_id: OrderId,
    pub order_number: String,
    pub status: OrderStatus,
    pub total: Decimal,
    pub currency: Currency,
    pub item_count: i64,
    pub revision: i64,
}

impl Derive<DayOrder> for Order {
    fn derive(&self) -> Vec<DayOrder> {
        vec![DayOrder {
            order_date: self.order_date(),
            shard: self.shard(),
            created_at: self.created_at,
            order_id: self.order_id,
            order_number: self.order_number.clone(),
            status: self.status,
            total: self.total,
            currency: self.currency.clone(),
            item_count: self.item_count,
            revision: self.revision,
        }]
    }

    fn source(row: &DayOrder) -> OrderId {
        row.order_id
    }
}

/// How far a year's order numbers are given away. One row a partition.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "order_number_blocks", partition(year), guarded, read = Quorum, write = Quorum)]
pub struct NumberBlocks {
    pub year: i32,
    /// The first number that no block has.
    pub next: i64,
    /// The blocks, from their first numbers to behind their last. Those that adjoin are one; between them lie numbers of
    /// imported orders.
    pub blocks: BTreeMap<i64, i64>,
}

/// What became of a checkout's redemption.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedemptionState {
    Redeemed,
    /// Given back, or given up before it was made: this checkout cannot redeem the code any more.
    GivenBack,
}

/// A discount code, and the checkouts that redeemed it as rows beside it. One row a redemption, at most 1,000,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "discounts", partition(code), clustering(checkout_id), guarded, read = Quorum, write = Quorum)]
pub struct Redemption {
    /// Folded.
    pub code: String,
    pub checkout_id: CheckoutId,
    /// Off the subtotal, in the currency; or a percentage.
    #[row(static)]
    pub amount: Option<Decimal>,
    #[row(static)]
    pub currency: Option<Currency>,
    #[row(static)]
    pub percentage: Option<Decimal>,
    #[row(static)]
    pub minimal_subtotal: Option<Decimal>,
    #[row(static)]
    pub valid_from: Option<Timestamp>,
    #[row(static)]
    pub valid_until: Option<Timestamp>,
    #[row(static)]
    pub uses_max: Option<i64>,
    /// Rows that are redeemed.
    #[row(static)]
    pub uses: Option<i64>,
    #[row(static)]
    pub disabled: Option<bool>,
    #[row(static)]
    pub created_at: Option<Timestamp>,
    pub state: RedemptionState,
    pub changed_at: Timestamp,
}

/// The discount codes of a shop, newest first: for the staff. One partition; expected 100 rows, at most 100,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "discounts_by_age", partition(shelf), clustering(created_at desc, code), read = LocalQuorum)]
pub struct DiscountEntry {
    /// Always the same.
    pub shelf: u32,
    pub created_at: Timestamp,
    pub code: String,
}

impl DiscountEntry {
    pub(super) const ALL: u32 = 0;
}

pub(crate) fn tables(schema: Schema) -> Schema {
    schema
        .derived::<Order, UserOrder>()
        .derived::<Order, StatusOrder>()
        .derived::<Order, NumberedOrder>()
        .derived::<Order, DayOrder>()
        .table::<OrderItem>()
        .table::<HistoryRow>()
        .table::<NumberBlocks>()
        .table::<Redemption>()
        .table::<DiscountEntry>()
}
