//! How many bytes a sale has in the table and in each index, by the document's attributes.

use rust_decimal::Decimal;

use crate::{
    check::Check,
    sales::figures::{Result, limits},
};

/// Bytes as DynamoDB counts them: names and values of all attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// An item with a brand, and one without.
    pub item_bytes: u64,
    pub unbranded_item_bytes: u64,
    /// An entry of the index of categories, of embeddings (with a brand), of brands.
    pub category_entry_bytes: u64,
    pub embedding_entry_bytes: u64,
    pub brand_entry_bytes: u64,
}

/// A sale as they mostly are, by whose texts sizes are reckoned.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    pub tenant: &'a str,
    pub product_id: &'a str,
    pub sale_id: &'a str,
    pub category: &'a str,
    pub brand: &'a str,
    pub price: Decimal,
    pub original: Decimal,
    pub embedding_id: &'a str,
    pub embedding_s3_key: &'a str,
}

impl Sample<'static> {
    /// The sale that the document writes first.
    pub const DOCUMENT: Sample<'static> = Sample {
        tenant: "carousel-labs",
        product_id: "prod_123",
        sale_id: "sale_abc",
        category: "dress",
        brand: "Nike",
        price: Decimal::from_parts(9_999, 0, 0, false, 2),
        original: Decimal::from_parts(19_999, 0, 0, false, 2),
        embedding_id: "emb_xyz",
        embedding_s3_key: "s3://bucket/carousel-labs/products/prod_123/sales/sale_abc.json",
    };
}

impl Default for Sizes {
    /// Those of the document's own sale.
    fn default() -> Self {
        Sizes::of(&Sample::DOCUMENT)
    }
}

impl Sizes {
    pub fn of(sale: &Sample<'_>) -> Self {
        let Sample { tenant, product_id, sale_id, category, brand, embedding_id, embedding_s3_key, .. } = sale;
        let text = |name: &str, value: &str| (name.len() + value.len()) as u64;
        let number = |name: &str, value: Decimal| name.len() as u64 + number_bytes(value);
        const DATE: &str = "2025-12-29";
        const TIME: &str = "2025-12-29T00:00:00.000Z";
        const PRICE: &str = "0000009999";
        let key = text("PK", &format!("TENANT#{tenant}#PRODUCT#{product_id}"))
            + text("SK", &format!("SALE#{DATE}#{sale_id}"));
        let category_key = text("GSI1PK", &format!("TENANT#{tenant}#CATEGORY#{category}#SHARD#0"))
            + text("GSI1SK", &format!("DATE#{DATE}#PRICE#{PRICE}"));
        let embedding_key = text("GSI2PK", &format!("TENANT#{tenant}#EMBTYPE#PRODUCT#SHARD#0"))
            + text("GSI2SK", &format!("DATE#{DATE}"));
        let brand_key = text("GSI3PK", &format!("TENANT#{tenant}#BRAND#{brand}"))
            + text("GSI3SK", &format!("DATE#{DATE}#PRICE#{PRICE}"));
        let brand = text("brand", brand);
        let included = text("embeddingS3Key", embedding_s3_key)
            + text("productId", product_id)
            + text("category", category)
            + number("salePrice", sale.price);
        let others = text("tenant", tenant)
            + text("saleId", sale_id)
            + text("saleDate", DATE)
            + number("originalPrice", sale.original)
            + text("season", "WINTER")
            + text("embeddingId", embedding_id)
            + number("ttl", Decimal::from(1_830_124_799))
            + text("createdAt", TIME)
            + text("updatedAt", TIME);
        let unbranded_item_bytes = key + category_key + embedding_key + included + others;
        Sizes {
            item_bytes: unbranded_item_bytes + brand + brand_key,
            unbranded_item_bytes,
            category_entry_bytes: key + category_key,
            embedding_entry_bytes: key + embedding_key + included + brand,
            brand_entry_bytes: key + brand_key,
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        let mut check = Check::new();
        let all = [
            ("item_bytes", self.item_bytes),
            ("unbranded_item_bytes", self.unbranded_item_bytes),
            ("category_entry_bytes", self.category_entry_bytes),
            ("embedding_entry_bytes", self.embedding_entry_bytes),
            ("brand_entry_bytes", self.brand_entry_bytes),
        ];
        for (field, bytes) in all {
            let good = (1..=limits::ITEM_BYTES_MAX).contains(&bytes);
            check.that(good, field, format!("{bytes} is not 1 to {}", limits::ITEM_BYTES_MAX));
        }
        Ok(check.end()?)
    }
}

/// A byte for every two significant digits, and one more.
fn number_bytes(value: Decimal) -> u64 {
    let mut digits = value.mantissa().unsigned_abs();
    while digits != 0 && digits.is_multiple_of(10) {
        digits /= 10;
    }
    u64::from(digits.checked_ilog10().map_or(0, |log| log + 1).div_ceil(2)) + 1
}
