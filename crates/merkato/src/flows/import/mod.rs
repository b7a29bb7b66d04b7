//! Catalogs from elsewhere become products: CSV in any dialect, JSON, Shopify's layout, gzipped or not.
//!
//! It is no synchronisation: products that a source no longer has stay, and what this shop decides by itself (slugs, the
//! stock, ratings) is taken from the source only when a product is made.
//!
//! 1. Nothing is lost in silence: a column without a home becomes an attribute, a value that does not fit is told in a
//!    note, a row that makes no product is listed with the reason.
//! 2. Every record is accounted for: `read` is the sum of created, changed, unchanged, rejected and folded.
//! 3. The same source again changes nothing: ids follow from the source's name and its own ids.
//! 4. What cannot be read at all is refused before anything is written.
//! 5. Memory is bounded: records stream; an id is kept for each, and the records of one product until the last of them.
//!
//! `source` opens the bytes, `csv` and `json` make records of them, `mapping` says what each column is, `gather` brings
//! the records of one product together, `draft` makes the product, `stream` runs all that, `write` and `categories` write. `clean` and `amount` read what
//! people wrote.

mod amount;
mod categories;
mod clean;
mod csv;
mod draft;
mod error;
mod gather;
mod json;
mod mapping;
mod ops;
mod record;
mod report;
mod source;
mod stream;
#[cfg(test)]
mod tests;
mod write;

pub use error::Error;
pub use mapping::{Field, Mapping};
pub use ops::{Options, import_products};
pub use report::{Note, Rejected, Report};
pub use source::Format;
