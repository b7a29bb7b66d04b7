//! What may become of a cart and of a user's list of carts. No reading, no writing, no clock.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
};

use rust_decimal::Decimal;
use serde_json::json;
use uuid::{Uuid, uuid};
use widerow::Timestamp;

use super::{
    error::{Error, Result},
    tables::{CartEntry, Head, Line, MergePolicy},
};
use crate::{
    check::Check,
    events::{Fact, NewEvent, Told, fact_stream},
    id::{AggregateId, CartId, LineId, ProductId, UserId},
    limits,
    money::Currency,
};

/// What the shopper saw when the line was added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemSnapshot {
    pub product_id: ProductId,
    pub name: String,
    pub image_url: Option<String>,
    pub unit_price: Decimal,
    pub currency: Currency,
    /// As size: L, colour: blue.
    pub options: BTreeMap<String, String>,
}

impl ItemSnapshot {
    /// `root` is the path to the item: empty, or `lines/2/`.
    pub(super) fn check(&self, check: &mut Check, root: &str) {
        check.line(format_args!("{root}name"), &self.name, 1..=limits::NAME_BYTES_MAX);
        if let Some(url) = &self.image_url {
            check.url(&format!("{root}image_url"), url);
        }
        check.currency(&format!("{root}currency"), &self.currency);
        check.price(&format!("{root}unit_price"), self.unit_price, &self.currency);
        let options = format!("{root}options");
        check.count(&options, self.options.len(), limits::OPTIONS_A_LINE_MAX);
        for (position, (name, value)) in self.options.iter().enumerate().take(limits::OPTIONS_A_LINE_MAX) {
            check.line(format_args!("{options}/{position}/name"), name, 1..=limits::LINE_BYTES_MAX);
            check.line(format_args!("{options}/{position}/value"), value, 1..=limits::LINE_BYTES_MAX);
        }
    }

    pub(super) fn line(&self, line_id: LineId, added_at: Timestamp, quantity: u32) -> Line {
        // The check has found no more decimals than the currency has, so that nothing is rounded here.
        let mut unit_price = self.unit_price.abs();
        unit_price.rescale(self.currency.decimals().unwrap_or(2));
        Line {
            added_at,
            line_id,
            product_id: self.product_id,
            product_name: self.name.clone(),
            product_image: self.image_url.clone(),
            unit_price,
            quantity,
            selected_options: self.options.clone(),
        }
    }
}

/// The id of the line for a product with these options, in any cart.
pub fn line_id(product: ProductId, options: &BTreeMap<String, String>) -> LineId {
    const LINES: Uuid = uuid!("5b0c8f5e-3c0f-4d3b-9a57-6f1d5c1e7a11");
    let mut bytes = product.0.as_bytes().to_vec();
    for text in options.iter().flat_map(|(name, value)| [name, value]) {
        // With its length, so that no two lists of options are the same bytes.
        bytes.extend((text.len() as u64).to_be_bytes());
        bytes.extend(text.as_bytes());
    }
    LineId(Uuid::new_v5(&LINES, &bytes))
}

/// How a cart stands to someone who asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Granted,
    /// It is the shopper's, and its time is over: it has no lines, though there may be rows.
    Ended,
    /// It is the shopper's, and was deleted or merged.
    Closed,
    /// It is the shopper's if it is in the list of carts.
    IfListed,
    /// Another's.
    Refused,
}

/// `owner`: a user, or the guest that the cart's id belongs to. `listed`: the cart is known to be in the user's list.
pub(super) fn access(head: &Head, owner: Option<UserId>, listed: bool, now: Timestamp) -> Access {
    if head.updated_at.is_none() {
        return if listed || owner.is_none() { Access::Granted } else { Access::IfListed };
    }
    let ended = head.expires_at.is_some_and(|end| end <= now);
    if owner.is_none() && head.closed {
        // After its time a merged cart is no more than any other that ended: the token can be used again.
        return if ended { Access::Ended } else { Access::Closed };
    }
    if head.user_id != owner {
        return Access::Refused;
    }
    match (head.closed, head.copying) {
        (true, _) => Access::Closed,
        // A copy that is in the list is whole; that it would end is what its maker had no time to take back.
        (_, true) if listed => Access::Granted,
        (_, true) => Access::IfListed,
        _ if ended => Access::Ended,
        _ => Access::Granted,
    }
}

/// The lines of a cart, being changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Draft {
    /// Newest first, by the order of their rows.
    pub lines: Vec<Line>,
    pub currency: Option<Currency>,
    /// A line that is not later than this was ordered, and is not seen.
    pub ordered_until: Option<Timestamp>,
}

/// What became of a guest's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Added,
    Changed,
    /// The user's line is as it was.
    Kept,
    Dropped(DropReason),
}

/// Why a guest's line could not be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The cart has as many lines as a cart may have.
    TooManyLines,
    /// Both quantities together are more than a line may have; the user's stays.
    TooManyPieces,
    OtherCurrency,
}

impl Draft {
    pub fn subtotal(&self) -> Decimal {
        subtotal(&self.lines)
    }

    pub fn pieces(&self) -> u32 {
        pieces(&self.lines)
    }

    /// One more of a line that is there already, with the newer snapshot; in either case it comes to the top.
    pub fn add(&mut self, item: &ItemSnapshot, quantity: u32, now: Timestamp) -> Result<()> {
        if let Some(currency) = self.currency.as_ref().filter(|c| **c != item.currency) {
            return Err(Error::OtherCurrency { cart: currency.clone(), found: item.currency.clone() });
        }
        let line = line_id(item.product_id, &item.options);
        let found = self.lines.iter().position(|other| other.line_id == line);
        let wanted = u64::from(quantity) + found.map_or(0, |at| self.lines[at].quantity.into());
        let quantity = match u32::try_from(wanted) {
            Ok(quantity) if quantity <= limits::QUANTITY_MAX => quantity,
            _ => return Err(Error::TooManyPieces { line, wanted, limit: limits::QUANTITY_MAX }),
        };
        if found.is_none() && self.lines.len() >= limits::LINES_A_CART_MAX {
            return Err(Error::TooManyLines { limit: limits::LINES_A_CART_MAX });
        }
        // Later than every other line, also where two are added within a millisecond, or a clock went back.
        let newest = self.lines.iter().map(|line| line.added_at).chain(self.ordered_until).max();
        let added_at = newest.map_or(now, |newest| now.max(just_after(newest)));
        if let Some(at) = found {
            self.lines.remove(at);
        }
        self.lines.insert(0, item.line(line, added_at, quantity));
        self.currency = Some(item.currency.clone());
        Ok(())
    }

    pub fn set_quantity(&mut self, line: LineId, quantity: u32) -> Result<()> {
        let found = self.lines.iter_mut().find(|other| other.line_id == line);
        found.ok_or(Error::LineNotFound { line })?.quantity = quantity;
        Ok(())
    }

    pub fn remove(&mut self, line: LineId) -> Result<()> {
        let found = self.lines.iter().position(|other| other.line_id == line);
        self.lines.remove(found.ok_or(Error::LineNotFound { line })?);
        self.settle();
        Ok(())
    }

    /// Takes a guest's line in. What comes out follows from the two lines alone, so that a merge which was stopped ends as
    /// one that was not.
    pub fn take(&mut self, line: &Line, currency: Option<&Currency>, policy: MergePolicy) -> Outcome {
        let mut line = line.clone();
        line.added_at = self.ordered_until.map_or(line.added_at, |until| line.added_at.max(just_after(until)));
        let line = &line;
        if self.currency.is_some() && self.currency.as_ref() != currency {
            return Outcome::Dropped(DropReason::OtherCurrency);
        }
        let Some(at) = self.lines.iter().position(|other| other.line_id == line.line_id) else {
            if self.lines.len() >= limits::LINES_A_CART_MAX {
                return Outcome::Dropped(DropReason::TooManyLines);
            }
            self.lines.push(line.clone());
            self.currency = currency.cloned();
            self.settle();
            return Outcome::Added;
        };
        let mine = &self.lines[at];
        let newer = if line.added_at > mine.added_at { line } else { mine };
        let merged = match policy {
            MergePolicy::Sum => Line { quantity: mine.quantity.saturating_add(line.quantity), ..newer.clone() },
            MergePolicy::Max => Line { quantity: mine.quantity.max(line.quantity), ..newer.clone() },
            MergePolicy::KeepMine => mine.clone(),
            MergePolicy::KeepGuests => Line { added_at: newer.added_at, ..line.clone() },
        };
        if merged.quantity > limits::QUANTITY_MAX {
            return Outcome::Dropped(DropReason::TooManyPieces);
        }
        if merged == *mine {
            return Outcome::Kept;
        }
        self.lines[at] = merged;
        self.settle();
        Outcome::Changed
    }

    fn settle(&mut self) {
        self.lines.sort_by_key(|line| (Reverse(line.added_at), line.line_id));
        if self.lines.is_empty() {
            self.currency = None;
        }
    }

    /// Removes lines, the newest first.
    pub fn drop_first(&mut self, lines: usize) {
        self.lines.drain(..lines.min(self.lines.len()));
        self.settle();
    }

    /// Removes, of the lines up to this time, so many at the most; how many of them are left.
    pub fn remove_until(&mut self, last: Timestamp, lines: usize) -> usize {
        let first = self.lines.partition_point(|line| line.added_at > last);
        let end = self.lines.len().min(first + lines);
        self.lines.drain(first..end);
        let left = self.lines.len() - first;
        self.settle();
        left
    }
}

pub(super) fn just_after(time: Timestamp) -> Timestamp {
    Timestamp::from_millis(time.millis() + 1)
}

pub(super) fn subtotal(lines: &[Line]) -> Decimal {
    // Within the limits of prices, quantities and lines nothing comes near the end of what a decimal holds.
    let of = |line: &Line| line.unit_price.saturating_mul(line.quantity.into());
    lines.iter().fold(Decimal::ZERO, |sum, line| sum.saturating_add(of(line)))
}

pub(super) fn pieces(lines: &[Line]) -> u32 {
    lines.iter().fold(0, |sum: u32, line| sum.saturating_add(line.quantity))
}

/// The rows to delete and the rows to put that make the one list of lines of the other.
pub(super) fn changes<'l>(before: &[Line], after: &'l [Line]) -> (Vec<(Timestamp, LineId)>, Vec<&'l Line>) {
    let key = |line: &Line| (line.added_at, line.line_id);
    let mut old: HashMap<_, &Line> = before.iter().map(|line| (key(line), line)).collect();
    let puts = after.iter().filter(|line| old.remove(&key(line)) != Some(line)).collect();
    let mut deletes: Vec<_> = old.into_keys().collect();
    deletes.sort_unstable();
    (deletes, puts)
}

/// Adds a cart; the first one is active.
pub(super) fn list_new(entries: &mut Vec<CartEntry>, new: CartEntry) -> Result<CartEntry> {
    if entries.len() >= limits::CARTS_A_USER_MAX {
        return Err(Error::TooManyCarts { limit: limits::CARTS_A_USER_MAX });
    }
    let cart_is_active = !entries.iter().any(|entry| entry.cart_is_active);
    entries.push(CartEntry { cart_is_active, ..new.clone() });
    Ok(CartEntry { cart_is_active, ..new })
}

/// The active cart; `new` where there is none.
pub(super) fn ensure_active(entries: &mut Vec<CartEntry>, new: CartEntry) -> CartEntry {
    if !entries.iter().any(|entry| entry.cart_is_active) {
        match entries.first_mut() {
            Some(first) => first.cart_is_active = true,
            None => entries.push(CartEntry { cart_is_active: true, ..new.clone() }),
        }
    }
    entries.iter().find(|entry| entry.cart_is_active).cloned().unwrap_or(new)
}

pub(super) fn find(entries: &[CartEntry], cart: CartId) -> Result<&CartEntry> {
    entries.iter().find(|entry| entry.cart_id == cart).ok_or(Error::CartNotFound { cart })
}

pub(super) fn activate(entries: &mut [CartEntry], cart: CartId) -> Result<CartEntry> {
    find(entries, cart)?;
    for entry in entries.iter_mut() {
        entry.cart_is_active = entry.cart_id == cart;
    }
    find(entries, cart).cloned()
}

pub(super) fn rename(entries: &mut [CartEntry], cart: CartId, name: &str) -> Result<CartEntry> {
    let found = entries.iter_mut().find(|entry| entry.cart_id == cart);
    let entry = found.ok_or(Error::CartNotFound { cart })?;
    entry.cart_name = name.to_owned();
    Ok(entry.clone())
}

/// Removes a cart, if it is there. The first of the others by name is active in its place, or the new one where it was the
/// last; the active cart.
pub(super) fn unlist(entries: &mut Vec<CartEntry>, cart: CartId, new: CartEntry) -> CartEntry {
    entries.retain(|entry| entry.cart_id != cart);
    ensure_active(entries, new)
}

/// Puts the active cart aside under a name. Another that is called as `new` is active in its place, or `new` where there is none;
/// the cart that was put aside.
pub(super) fn put_aside(entries: &mut Vec<CartEntry>, name: &str, new: CartEntry) -> Result<CartEntry> {
    let active = entries.iter().find(|entry| entry.cart_is_active).map(|entry| entry.cart_id);
    let saved = active.ok_or(Error::CartNotFound { cart: new.cart_id })?;
    let other = entries.iter().find(|entry| entry.cart_id != saved && entry.cart_name == new.cart_name);
    let next = match other.map(|entry| entry.cart_id) {
        Some(next) => next,
        None => list_new(entries, new)?.cart_id,
    };
    rename(entries, saved, name)?;
    activate(entries, next)?;
    find(entries, saved).cloned()
}

/// What the events of a user's carts are events of.
pub const KIND: &str = "carts";

/// The stream of which cart of a user is active.
pub fn carts_of(user: UserId) -> AggregateId {
    fact_stream(KIND, user.0)
}

/// The cart that is active and was not.
pub fn activated(before: &[CartEntry], after: &[CartEntry]) -> Option<CartId> {
    let active = |entries: &[CartEntry]| entries.iter().find(|entry| entry.cart_is_active).map(|entry| entry.cart_id);
    active(after).filter(|cart| active(before) != Some(*cart))
}

/// That a user goes on with another cart.
pub fn fact(user: UserId, cart: CartId, told: Told) -> Fact {
    let event = NewEvent::new("CartActivated", json!({ "user_id": user, "cart_id": cart }));
    told.fact(KIND, user.0, event)
}
