//! Catalogs, orders, sales, measurements, trees, events, graphs and a bank's transactions from elsewhere: CSV in any dialect, JSON,
//! the layouts of Shopify, Olist and Online Retail, gzipped or not.
//!
//! It is no synchronisation: products that a source no longer has stay, and what this shop decides by itself (slugs, the
//! stock, ratings, what became of an order) is taken from the source only when a thing is made.
//!
//! 1. Nothing is lost in silence: of products, a column without a home becomes an attribute, of orders it is told; a value
//!    that does not fit is told in a note, a row that makes nothing is listed with the reason.
//! 2. Every record is accounted for: `read` is the sum of created, changed, unchanged, rejected and folded. Of orders, every
//!    amount is too (`Sales`).
//! 3. The same source again changes nothing: ids follow from the source's name and its own ids.
//! 4. What cannot be read at all is refused before anything is written.
//! 5. Memory is bounded: records stream; an id is kept for each, and the records of one thing until the last of them. The
//!    companions of orders are held, up to a limit.
//!
//! `source` opens the bytes, `csv` and `json` make records of them, `mapping` says what each column is, `stream` brings the
//! records of one id together and has drafts made of them, `run` has these written. What becomes of records is in `products`
//! and `orders`, as a `Maker` and a `Writer`; `sales`, `measurements` and `events` have a way of their own, as each record is one and
//! many are written together; so has `tree`, where nodes come after those above them, `graph`, whose sources often have no
//! heading, and `transactions`, which are booked day by day. `clean`, `amount` and `time` read what people wrote.

mod amount;
mod categories;
mod clean;
mod csv;
mod error;
mod events;
mod graph;
mod heaps;
mod ids;
mod json;
mod mapping;
mod measurements;
mod orders;
mod products;
mod record;
mod report;
mod run;
mod sales;
mod source;
mod stream;
#[cfg(test)]
mod tests;
mod time;
mod transactions;
mod tree;

pub use error::Error;
pub use events::{EventField, EventOptions, import_events};
pub use graph::{GraphField, GraphLayout, GraphOptions, import_graph, person_of};
pub use ids::user as account_of;
pub use mapping::Mapping;
pub use measurements::{MeasurementField, MeasurementOptions, Registration, import_measurements};
pub use orders::{Companion, OrderField, OrderOptions, import_orders};
pub use products::{Field, Options, import_products};
pub use report::{Balances, Note, Rejected, Report, Sales, Sum};
pub use sales::{SaleField, SaleOptions, import_sales};
pub use source::Format;
pub use time::DateOrder;
pub use transactions::{TransactionField, TransactionOptions, import_transactions};
pub use tree::{TreeField, TreeLayout, TreeOptions, import_tree};
