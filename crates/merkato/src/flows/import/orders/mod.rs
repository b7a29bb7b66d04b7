//! Orders of records: each record is a line, or a piece, of an order.
//!
//! 1. An order is imported once: ids follow from the source's name and its own ids. What happened to the order here since
//!    stays; where the source has become another, it is told.
//! 2. Every line is accounted for, with its money: `Sales` adds up to what the source has.
//! 3. No amount is rounded. A price that is finer than its currency makes a line that is rejected.
//! 4. Every order that was written is counted in the sales of its day; an import that was stopped between the two counts it
//!    when it is run again.
//!
//! Products, accounts and categories are not made: a product has the id that an import of the catalog from the same source
//! gives it; a category has that of the shop's own of this name or slug, or the one that an import of it would have; the
//! customer stands in the internal notes.
//!
//! Words of status: `created`, `pending` and `new` are pending; `approved` and `paid` are paid; `invoiced` and `processing`
//! are in processing, as both come after the payment and before the parcel; `shipped` and `delivered` are what they say;
//! `canceled` is cancelled, and so is Olist's `unavailable`, which was paid for and could not be had. Where a source has no
//! status, all its orders have that of the options, by default delivered: an invoice of the past leaves nothing to do.
//!
//! The history has the steps of which the source tells. A step without a time of its own, or with one before that of the
//! step before it, comes a millisecond after that one, and says so. What was sent and then cancelled is cancelled, with the
//! time of sending in a note: this shop has no way from the one to the other.
//!
//! `fields` says what columns can be, `companion` joins other files, `line` reads a line, `past` the status and its times,
//! `draft` makes the order of them, `write` writes it.

mod companion;
mod draft;
mod fields;
mod line;
mod ops;
mod past;
#[cfg(test)]
mod tests;
mod write;

pub use companion::Companion;
pub use fields::OrderField;
pub use ops::{OrderOptions, import_orders};
