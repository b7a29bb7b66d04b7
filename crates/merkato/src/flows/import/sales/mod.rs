//! Sales of records: each record is one.
//!
//! 1. A sale is imported once: where the source has no id of its own, one follows from all that the record says, and from how
//!    many before it say the same.
//! 2. No amount is rounded. A price with more than two decimals makes a record that is rejected.
//! 3. What would end at once, because it is older than sales are kept, is rejected and not written for nobody.
//!
//! A `#`, which parts the keys of the table, becomes a `-` in names and ids of products.

mod fields;
mod ops;
mod read;

pub use fields::SaleField;
pub use ops::{SaleOptions, import_sales};
