//! Orders: what was bought, by whom, for how much, and where it stands.
//!
//! It knows no cart, no stock and no provider of payments: a flow brings it what they say. It keeps what the shopper saw: a
//! product that is renamed, or an address that is changed, changes no order.
//!
//! 1. The parts of an order's total add up, and its subtotal is the sum of its lines (`totals`, and again when it is written).
//! 2. An order goes the ways of `rules::NEXT` alone, and of two who change it at once one is told.
//! 3. A change of status is made once, however often it is asked for under one change id.
//! 4. Every list follows from the order itself, in the same commit; a list by status never shows an order that has moved on.
//! 5. No two orders have one number (`numbers`).
//! 6. A discount code is never redeemed more often than it says, and once by a checkout (`discounts`).
//!
//! Where the document is not followed to the letter: the lists by status are spread over shards; they end thirty days after
//! an order came to its status, not after it was placed; and a history row has a time of its own, later than the one before,
//! because the time is its key.

mod discounts;
mod error;
mod numbers;
mod ops;
mod rules;
mod tables;
#[cfg(test)]
mod tests;
mod totals;

pub use discounts::{
    Discount, NewDiscount, create_discount, disable_discount, find_discount, get_discount, list_discounts, redeem,
    unredeem,
};
pub use error::{Error, Result};
pub(crate) use numbers::Numbers;
pub use numbers::take_number;
pub use ops::*;
pub use rules::{Change, KIND, NEXT, NewOrder, OrderDraft, OrderLine, Past, PastStep, stream_of, told_as, transition};
pub(crate) use tables::tables;
pub use tables::{
    CategorySum, DayOrder, DiscountEntry, HistoryRow, NumberBlocks, NumberedOrder, Order, OrderItem, OrderStatus,
    PaymentStatus, PostalAddress, Redemption, RedemptionState, StatusOrder, UserOrder,
};
pub use totals::{Purchase, Reduction, Totals, shipping_method, subtotal, totals};

use crate::{
    limits,
    pattern::{AccessPattern, Amount, ReadCost},
    shards,
};

const BY_STATUS: ReadCost = shards::page_cost(limits::ORDER_SHARDS).then(ReadCost {
    partitions: Amount::of(0).and_per_row(1),
    rows: Amount::of(0).and_per_row(1),
    requests: Amount::of(0).and_per_row(1),
});

/// DynamoDB keeps static columns in an item of their own and is sent two requests side by side; the others are sent one.
const STATICS: ReadCost = ReadCost { partitions: Amount::of(1), rows: Amount::of(2), requests: Amount::of(2) };

pub const PATTERNS: &[AccessPattern] = &[
    AccessPattern {
        name: "Q11",
        question: "A user's orders, newest first, of all time or between two days",
        table: "orders_by_user",
        key: "user_id = ? AND order_date >= ? AND order_date <= ?",
        cost: ReadCost::PAGE,
    },
    AccessPattern {
        name: "Q12",
        question: "Everything about one order",
        table: "orders",
        key: "order_id = ?",
        cost: ReadCost::ROW,
    },
    AccessPattern {
        name: "Q12 by number",
        question: "Everything about the order with a number",
        table: "orders_by_number, orders",
        key: "order_number = ?, then order_id = ?",
        cost: ReadCost::ROW.then(ReadCost::ROW),
    },
    AccessPattern {
        name: "Q13",
        question: "The lines of an order",
        table: "order_items",
        key: "order_id = ?",
        cost: ReadCost::PAGE,
    },
    AccessPattern {
        name: "Q14",
        question: "How an order came to where it stands, newest first",
        table: "order_status_history",
        key: "order_id = ?",
        cost: ReadCost::PAGE,
    },
    AccessPattern {
        name: "Q14 timeline",
        question: "How an order came to where it stands, newest first, as its events tell it, with notes",
        table: "event_log, order_status_history",
        key: "aggregate_id = ? AND block = 0; order_id = ?",
        cost: ReadCost::PAGE.then(ReadCost::PAGE),
    },
    AccessPattern {
        name: "Q15",
        question: "The orders of a day that stand so, newest first, as they are now",
        table: "orders_by_status, orders",
        key: "status = ? AND order_date = ? AND shard = 0 … 7, then order_id = ?, for each",
        cost: BY_STATUS,
    },
    AccessPattern {
        name: "orders of a day",
        question: "All orders of a day, oldest first or newest first",
        table: "orders_by_day",
        key: "order_date = ? AND shard = 0 … 7",
        cost: shards::page_cost(limits::ORDER_SHARDS),
    },
    AccessPattern {
        name: "discount",
        question: "What a discount code takes off, and how often it was used",
        table: "discounts",
        key: "code = ?",
        cost: STATICS,
    },
    AccessPattern {
        name: "discounts",
        question: "The discount codes of a shop, newest first, as they are now",
        table: "discounts_by_age, discounts",
        key: "shelf = 0, then code = ?, for each",
        cost: ReadCost::PAGE.then(ReadCost {
            partitions: Amount::of(0).and_per_row(1),
            rows: Amount::of(0).and_per_row(2),
            requests: Amount::of(0).and_per_row(2),
        }),
    },
];
