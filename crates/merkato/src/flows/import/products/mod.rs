//! Products of records: variants, pictures, the same item in several categories.
//!
//! `fields` says what columns can be, `gather` brings the records of one product together, `draft` makes the product of them,
//! `write` writes it.

pub(super) mod draft;
mod fields;
pub(super) mod gather;
mod ops;
mod urls;
mod write;

pub use fields::Field;
pub use ops::{Options, import_products};
