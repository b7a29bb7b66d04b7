//! Carts: a user has up to a hundred by name, one of them active; a guest has one, by a secret token.
//!
//! It knows no catalog (what a line shows of a product is given to it, and kept as it was), no stock and no prices but
//! those that it was given.
//!
//! 1. A cart's subtotal is the sum of its lines: both are one guarded write of one partition, whoever else edits it.
//! 2. The same product with the same options is one line (`line_id`); parallel edits of different lines all survive.
//! 3. A user who has carts has exactly one active cart: activating, creating and deleting are each one guarded write of the
//!    user's partition.
//! 4. A cart that was not changed for its time (thirty days for a guest's) has no lines from that instant on, whether it
//!    was swept or not. A user's cart keeps its name.
//! 5. A line of a guest's cart is merged into a user's cart once, however often the merge is stopped and begun again.
//! 6. A cart is seen by its owner alone: to everyone else it is not found.
//! 7. An edit that rests on a revision is made on that revision or not at all: its revision grows with every change of a cart.
//!
//! Where the documents are not followed to the letter: adding a product again sums the quantities of one line, where the
//! one document would keep two rows and the other the last one; a new quantity leaves the line where it stands, where the
//! document moves it up (a list that is reordered under the shopper's finger); lines carry no time to live, because a
//! thousand of them cannot be prolonged in one write: the cart ends as a whole, by a static column.

mod error;
mod ops;
mod rules;
mod shopper;
mod tables;
#[cfg(test)]
mod tests;

pub use error::{Error, Result};
pub use ops::*;
pub use rules::{DropReason, ItemSnapshot, carts_of, line_id};
pub use shopper::{CartAt, GuestToken, Shopper, Which};
pub(crate) use tables::tables;
pub use tables::{CartEnd, CartEntry, CartLine, Line, MergePolicy};

use crate::pattern::{AccessPattern, Amount, ReadCost};

/// One partition, read whole: its rows, and one that would tell of more. DynamoDB keeps static columns in an item of their
/// own and is sent two requests side by side; the others are sent one.
const PARTITION: ReadCost = ReadCost { requests: Amount::of(2), ..ReadCost::PAGE };

pub const PATTERNS: &[AccessPattern] = &[
    AccessPattern {
        name: "named-carts Q1",
        question: "Id and name of a user's active cart",
        table: "carts_by_user",
        key: "user_id = ?",
        cost: PARTITION,
    },
    AccessPattern {
        name: "named-carts Q4",
        question: "A user's carts, by name",
        table: "carts_by_user",
        key: "user_id = ?",
        cost: PARTITION,
    },
    AccessPattern {
        name: "named-carts Q5, Q9",
        question: "A cart's lines, newest first, with their subtotal",
        table: "items_by_cart",
        key: "cart_id = ?",
        cost: PARTITION,
    },
    AccessPattern {
        name: "Q10",
        question: "Whether a product is in a cart, in which options and how often",
        table: "items_by_cart",
        key: "cart_id = ?",
        cost: PARTITION,
    },
    AccessPattern {
        name: "cart ends",
        question: "Carts that ended on a day, for the sweep",
        table: "cart_ends_by_day",
        key: "day = ?",
        cost: ReadCost::PAGE,
    },
];
