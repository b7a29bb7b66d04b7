//! The tables of what is bought together.

use uuid::Uuid;
use widerow::{Derive, Row, Schema};

use crate::id::ProductId;

/// How often two products were bought together, lately. Expected 50 rows, at most 10,000; a pair that is not bought for
/// half a year is forgotten.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "bought_together",
    partition(product_id),
    clustering(other_id),
    guarded,
    ttl = "180d",
    read = LocalQuorum,
    write = Quorum
)]
pub struct BoughtTogether {
    pub product_id: ProductId,
    pub other_id: ProductId,
    pub times: i64,
    /// The last purchases that were counted, the newest last: one that is noted again is known by it.
    pub lately: Vec<Uuid>,
}

/// Q5: what is bought together with a product, most often first.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "related_products", partition(product_id), clustering(times desc, related_id), read = LocalOne)]
pub struct RelatedProduct {
    pub product_id: ProductId,
    pub times: i64,
    pub related_id: ProductId,
}

impl Derive<RelatedProduct> for BoughtTogether {
    fn derive(&self) -> Vec<RelatedProduct> {
        vec![RelatedProduct { product_id: self.product_id, times: self.times, related_id: self.other_id }]
    }

    fn source(row: &RelatedProduct) -> (ProductId, ProductId) {
        (row.product_id, row.related_id)
    }
}

pub(in crate::graph) fn tables(schema: Schema) -> Schema {
    schema.derived::<BoughtTogether, RelatedProduct>()
}
