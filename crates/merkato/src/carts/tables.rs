//! The tables of carts. Reading this file is reading their data model.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::{Cell, Commit, Date, Row, Schema, Timestamp, row::ColumnOf, store::Statics};

use crate::{
    events::Told,
    id::{CartId, LineId, ProductId, UserId},
    money::Currency,
};

/// named-carts Q1 and Q4: a user's carts by name, one of them active. Expected 3 rows, at most 100.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "carts_by_user",
    partition(user_id),
    clustering(cart_name, cart_id),
    guarded,
    read = LocalQuorum,
    write = LocalQuorum
)]
pub struct CartEntry {
    pub user_id: UserId,
    pub cart_name: String,
    pub cart_id: CartId,
    #[row(static)]
    pub user_email: Option<String>,
    /// How far the stream of which cart is active is.
    #[row(static)]
    pub told: Option<Told>,
    pub cart_is_active: bool,
    pub created_at: Timestamp,
}

/// named-carts Q5, Q9 and Q10: a cart's lines, newest first, with what is known of the cart as a whole beside them.
/// Expected 5 rows, at most 1,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "items_by_cart",
    partition(cart_id),
    clustering(added_at desc, line_id),
    guarded,
    read = LocalQuorum,
    write = LocalQuorum
)]
pub struct CartLine {
    pub cart_id: CartId,
    /// The document's "timestamp".
    pub added_at: Timestamp,
    pub line_id: LineId,
    #[row(static)]
    pub subtotal: Option<Decimal>,
    /// Of all lines; none where there are none.
    #[row(static)]
    pub currency: Option<Currency>,
    /// Pieces, over all lines.
    #[row(static)]
    pub item_count: Option<u32>,
    /// The owner; none where it is a guest's.
    #[row(static)]
    pub user_id: Option<UserId>,
    /// From here on the cart has no lines.
    #[row(static)]
    pub expires_at: Option<Timestamp>,
    /// It was deleted, or merged into another.
    #[row(static)]
    pub closed: Option<bool>,
    /// It is a copy that may not be in `carts_by_user` yet.
    #[row(static)]
    pub copying: Option<bool>,
    /// Of a guest's cart that is merged, and of the cart that takes it in: which merge it is, the same in both.
    #[row(static)]
    pub merge_id: Option<Uuid>,
    /// The guest's cart whose lines were taken in last, and how many of them so far.
    #[row(static)]
    pub merge_source: Option<CartId>,
    #[row(static)]
    pub merge_done: Option<u32>,
    /// Of a guest's cart that is merged: where its lines go, and by which policy.
    #[row(static)]
    pub merge_target: Option<CartId>,
    #[row(static)]
    pub merge_policy: Option<MergePolicy>,
    /// Lines up to this time were ordered: they are no longer the cart's, whether their rows are gone or not.
    #[row(static)]
    pub ordered_until: Option<Timestamp>,
    #[row(static)]
    pub updated_at: Option<Timestamp>,
    pub product_id: ProductId,
    pub product_name: String,
    pub product_image: Option<String>,
    pub unit_price: Decimal,
    pub quantity: u32,
    pub selected_options: BTreeMap<String, String>,
}

/// Carts by the day on which they end, for the sweep. A row outlives its day by a month; one for a cart that was prolonged
/// meanwhile stands for nothing. Expected 10,000 rows, at most 1,000,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "cart_ends_by_day", partition(day), clustering(cart_id), ttl = "62d", read = LocalQuorum)]
pub struct CartEnd {
    pub day: Date,
    pub cart_id: CartId,
    pub ends_at: Timestamp,
}

/// What becomes of a line that is in the user's cart and in the guest's.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MergePolicy {
    /// Both quantities together.
    Sum,
    /// The larger quantity.
    Max,
    /// The user's line.
    KeepMine,
    /// The guest's line.
    KeepGuests,
}

impl MergePolicy {
    pub const ALL: [MergePolicy; 4] =
        [MergePolicy::Sum, MergePolicy::Max, MergePolicy::KeepMine, MergePolicy::KeepGuests];
}

/// A line, as it was when it was added: the product's name, picture and price are those that the shopper saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub added_at: Timestamp,
    pub line_id: LineId,
    pub product_id: ProductId,
    pub product_name: String,
    pub product_image: Option<String>,
    pub unit_price: Decimal,
    pub quantity: u32,
    pub selected_options: BTreeMap<String, String>,
}

impl From<CartLine> for Line {
    fn from(row: CartLine) -> Self {
        Line {
            added_at: row.added_at,
            line_id: row.line_id,
            product_id: row.product_id,
            product_name: row.product_name,
            product_image: row.product_image,
            unit_price: row.unit_price,
            quantity: row.quantity,
            selected_options: row.selected_options,
        }
    }
}

impl Line {
    /// The row of this line; static columns are left as they are.
    pub(super) fn row(&self, cart_id: CartId) -> CartLine {
        CartLine {
            cart_id,
            added_at: self.added_at,
            line_id: self.line_id,
            subtotal: None,
            currency: None,
            item_count: None,
            user_id: None,
            expires_at: None,
            closed: None,
            copying: None,
            merge_id: None,
            merge_source: None,
            merge_done: None,
            merge_target: None,
            merge_policy: None,
            ordered_until: None,
            updated_at: None,
            product_id: self.product_id,
            product_name: self.product_name.clone(),
            product_image: self.product_image.clone(),
            unit_price: self.unit_price,
            quantity: self.quantity,
            selected_options: self.selected_options.clone(),
        }
    }
}

/// The static columns of a cart.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Head {
    pub subtotal: Decimal,
    pub currency: Option<Currency>,
    pub item_count: u32,
    pub user_id: Option<UserId>,
    pub expires_at: Option<Timestamp>,
    pub closed: bool,
    pub copying: bool,
    pub merge_id: Option<Uuid>,
    pub merge_source: Option<CartId>,
    pub merge_done: u32,
    pub merge_target: Option<CartId>,
    pub merge_policy: Option<MergePolicy>,
    pub ordered_until: Option<Timestamp>,
    /// None where nothing was ever written, or all of it was swept.
    pub updated_at: Option<Timestamp>,
}

impl Head {
    pub(super) fn of(statics: &Statics<CartLine>) -> widerow::Result<Self> {
        Ok(Head {
            subtotal: statics.get(CartLine::SUBTOTAL)?.flatten().unwrap_or_default(),
            currency: statics.get(CartLine::CURRENCY)?.flatten(),
            item_count: statics.get(CartLine::ITEM_COUNT)?.flatten().unwrap_or_default(),
            user_id: statics.get(CartLine::USER_ID)?.flatten(),
            expires_at: statics.get(CartLine::EXPIRES_AT)?.flatten(),
            closed: statics.get(CartLine::CLOSED)?.flatten().unwrap_or_default(),
            copying: statics.get(CartLine::COPYING)?.flatten().unwrap_or_default(),
            merge_id: statics.get(CartLine::MERGE_ID)?.flatten(),
            merge_source: statics.get(CartLine::MERGE_SOURCE)?.flatten(),
            merge_done: statics.get(CartLine::MERGE_DONE)?.flatten().unwrap_or_default(),
            merge_target: statics.get(CartLine::MERGE_TARGET)?.flatten(),
            merge_policy: statics.get(CartLine::MERGE_POLICY)?.flatten(),
            ordered_until: statics.get(CartLine::ORDERED_UNTIL)?.flatten(),
            updated_at: statics.get(CartLine::UPDATED_AT)?.flatten(),
        })
    }

    /// Adds to the commit what differs from before.
    pub(super) fn set(&self, before: &Head, cart: CartId, commit: Commit) -> Commit {
        fn set<T: PartialEq>(
            commit: Commit,
            cart: CartId,
            column: ColumnOf<CartLine, Option<T>>,
            before: Option<T>,
            after: Option<T>,
        ) -> Commit
        where
            Option<T>: Cell,
        {
            if before == after { commit } else { commit.set_static(cart, column, &after) }
        }
        let total = |head: &Head| head.updated_at.is_some().then_some((head.subtotal, head.item_count));
        let (old, new) = (total(before), total(self));
        let commit = set(commit, cart, CartLine::SUBTOTAL, old.map(|t| t.0), new.map(|t| t.0));
        let commit = set(commit, cart, CartLine::ITEM_COUNT, old.map(|t| t.1), new.map(|t| t.1));
        let commit = set(commit, cart, CartLine::CURRENCY, before.currency.clone(), self.currency.clone());
        let commit = set(commit, cart, CartLine::USER_ID, before.user_id, self.user_id);
        let commit = set(commit, cart, CartLine::EXPIRES_AT, before.expires_at, self.expires_at);
        let flag = |set: bool| set.then_some(true);
        let commit = set(commit, cart, CartLine::CLOSED, flag(before.closed), flag(self.closed));
        let commit = set(commit, cart, CartLine::COPYING, flag(before.copying), flag(self.copying));
        let commit = set(commit, cart, CartLine::MERGE_ID, before.merge_id, self.merge_id);
        let commit = set(commit, cart, CartLine::MERGE_SOURCE, before.merge_source, self.merge_source);
        let done = |head: &Head| head.merge_source.map(|_| head.merge_done);
        let commit = set(commit, cart, CartLine::MERGE_DONE, done(before), done(self));
        let commit = set(commit, cart, CartLine::MERGE_TARGET, before.merge_target, self.merge_target);
        let commit = set(commit, cart, CartLine::MERGE_POLICY, before.merge_policy, self.merge_policy);
        let commit = set(commit, cart, CartLine::ORDERED_UNTIL, before.ordered_until, self.ordered_until);
        set(commit, cart, CartLine::UPDATED_AT, before.updated_at, self.updated_at)
    }
}

pub(crate) fn tables(schema: Schema) -> Schema {
    schema.table::<CartEntry>().table::<CartLine>().table::<CartEnd>()
}
