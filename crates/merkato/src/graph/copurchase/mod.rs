//! What is bought together: the graph of products behind those that go with one. An edge is a pair of products in one purchase, and
//! its weight how often; it leads both ways, and each product has its own row of it.

mod ops;
mod tables;

pub(crate) use ops::join_purchase;
pub use ops::{list_bought_together, record_purchase};
pub(super) use tables::tables;
pub use tables::{BoughtTogether, RelatedProduct};
