//! The tables of sales. Reading this file is reading their data model.
//!
//! On DynamoDB the first four are one table of the document, to the byte: its attributes, its keys, its three indexes with
//! their projections, its `ttl`. Other tools write and read it too. On the other engines the indexes are tables whose keys add
//! what makes them unique: the product and the sale.

use rust_decimal::{Decimal, prelude::ToPrimitive as _};
use widerow::{Cell, Date, Derive, Row, Schema, Timestamp};

/// A price in a sort key: minor units, padded to ten digits, so that text sorts as prices do. What another tool wrote in
/// another form is kept as it is: one odd item must not hide a category.
#[derive(Cell, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PaddedPrice(String);

impl PaddedPrice {
    /// Of a price that is not negative, has no more than two decimals and ten digits; None otherwise.
    pub fn of(price: Decimal) -> Option<Self> {
        let cents = price.checked_mul(Decimal::ONE_HUNDRED)?;
        let cents = Some(cents).filter(Decimal::is_integer)?.to_u64()?;
        (cents <= 9_999_999_999).then(|| PaddedPrice(format!("{cents:010}")))
    }

    /// None where it is no price of ten digits.
    pub fn minor_units(&self) -> Option<u64> {
        let digits = self.0.len() == 10 && self.0.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| self.0.parse().ok()).flatten()
    }

    pub fn price(&self) -> Option<Decimal> {
        Some(Decimal::new(i64::try_from(self.minor_units()?).ok()?, 2))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// S1, S2: one sale of a product, oldest first. Expected 100 rows a product, at most 1,000,000; about 0.5 KiB each.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "sales_intelligence", partition(product_id), clustering(sale_date, sale_id), shared, ends = "ttl")]
pub struct SaleRecord {
    #[row(name = "productId", label = "PRODUCT")]
    pub product_id: String,
    #[row(name = "saleDate", label = "SALE")]
    pub sale_date: Date,
    /// Unique for its product and day.
    #[row(name = "saleId", label = "")]
    pub sale_id: String,
    #[row(name = "salePrice")]
    pub sale_price: Decimal,
    /// The list price. Records of other tools may lack it.
    #[row(name = "originalPrice")]
    pub original_price: Option<Decimal>,
    pub category: String,
    pub brand: Option<String>,
    /// `SPRING`, `SUMMER`, `FALL`, `WINTER`; whatever another tool wrote.
    pub season: Option<String>,
    #[row(name = "embeddingId")]
    pub embedding_id: Option<String>,
    #[row(name = "embeddingS3Key")]
    pub embedding_s3_key: Option<String>,
    /// When it ends; none where it was written before there was a retention.
    pub ttl: Option<Timestamp>,
    #[row(name = "createdAt")]
    pub created_at: Option<Timestamp>,
    #[row(name = "updatedAt")]
    pub updated_at: Option<Timestamp>,
    /// None: not in the trends.
    #[row(name = "categoryShard", index_key = "GSI1PK")]
    pub category_shard: Option<i32>,
    /// None where there is no embedding: not in that index.
    #[row(name = "embeddingShard", index_key = "GSI2PK")]
    pub embedding_shard: Option<i32>,
}

impl SaleRecord {
    pub fn key(&self) -> (String, Date, String) {
        (self.product_id.clone(), self.sale_date, self.sale_id.clone())
    }

    /// The list price, or the price itself where nobody wrote one down.
    pub fn list_price(&self) -> Decimal {
        self.original_price.unwrap_or(self.sale_price)
    }
}

/// S3: the sales of a category by day and price, in shards. Expected 10,000 rows a shard, at most 100,000,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "sales_by_category",
    partition(category, category_shard),
    clustering(sale_date, price, product_id, sale_id),
    shared,
    index(name = "GSI1", sort_columns = 2, projection = keys_only)
)]
pub struct CategorySale {
    #[row(label = "CATEGORY")]
    pub category: String,
    #[row(name = "categoryShard", label = "SHARD")]
    pub category_shard: i32,
    #[row(name = "saleDate", label = "DATE")]
    pub sale_date: Date,
    #[row(label = "PRICE")]
    pub price: PaddedPrice,
    #[row(name = "productId")]
    pub product_id: String,
    #[row(name = "saleId")]
    pub sale_id: String,
}

/// S4: the embeddings of products by day, some products in each shard. Expected 10,000 rows a shard, at most 100,000,000:
/// those of one product stand among those of others.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "sales_by_embedding",
    partition(embedding_shard),
    clustering(sale_date, product_id, sale_id),
    shared,
    index(name = "GSI2", sort_columns = 1, projection = include(embedding_s3_key, product_id, category, sale_price, brand))
)]
pub struct EmbeddingSale {
    #[row(name = "embeddingShard", label = "EMBTYPE#PRODUCT#SHARD")]
    pub embedding_shard: i32,
    #[row(name = "saleDate", label = "DATE")]
    pub sale_date: Date,
    #[row(name = "productId")]
    pub product_id: String,
    #[row(name = "saleId")]
    pub sale_id: String,
    #[row(name = "embeddingS3Key")]
    pub embedding_s3_key: Option<String>,
    pub category: String,
    #[row(name = "salePrice")]
    pub sale_price: Decimal,
    pub brand: Option<String>,
}

/// S5: the sales of a brand by day and price. Expected 10,000 rows a brand, at most 10,000,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "sales_by_brand",
    partition(brand),
    clustering(sale_date, price, product_id, sale_id),
    shared,
    index(name = "GSI3", sort_columns = 2, projection = keys_only)
)]
pub struct BrandSale {
    #[row(label = "BRAND")]
    pub brand: String,
    #[row(name = "saleDate", label = "DATE")]
    pub sale_date: Date,
    #[row(label = "PRICE")]
    pub price: PaddedPrice,
    #[row(name = "productId")]
    pub product_id: String,
    #[row(name = "saleId")]
    pub sale_id: String,
}

impl Derive<CategorySale> for SaleRecord {
    fn derive(&self) -> Vec<CategorySale> {
        let row = |(category_shard, price)| CategorySale {
            category: self.category.clone(),
            category_shard,
            sale_date: self.sale_date,
            price,
            product_id: self.product_id.clone(),
            sale_id: self.sale_id.clone(),
        };
        self.category_shard.zip(PaddedPrice::of(self.sale_price)).map(row).into_iter().collect()
    }

    fn source(row: &CategorySale) -> (String, Date, String) {
        (row.product_id.clone(), row.sale_date, row.sale_id.clone())
    }
}

impl Derive<EmbeddingSale> for SaleRecord {
    fn derive(&self) -> Vec<EmbeddingSale> {
        let row = |embedding_shard| EmbeddingSale {
            embedding_shard,
            sale_date: self.sale_date,
            product_id: self.product_id.clone(),
            sale_id: self.sale_id.clone(),
            embedding_s3_key: self.embedding_s3_key.clone(),
            category: self.category.clone(),
            sale_price: self.sale_price,
            brand: self.brand.clone(),
        };
        self.embedding_shard.map(row).into_iter().collect()
    }

    fn source(row: &EmbeddingSale) -> (String, Date, String) {
        (row.product_id.clone(), row.sale_date, row.sale_id.clone())
    }
}

impl Derive<BrandSale> for SaleRecord {
    fn derive(&self) -> Vec<BrandSale> {
        let row = |(brand, price): (&String, _)| BrandSale {
            brand: brand.clone(),
            sale_date: self.sale_date,
            price,
            product_id: self.product_id.clone(),
            sale_id: self.sale_id.clone(),
        };
        self.brand.as_ref().zip(PaddedPrice::of(self.sale_price)).map(row).into_iter().collect()
    }

    fn source(row: &BrandSale) -> (String, Date, String) {
        (row.product_id.clone(), row.sale_date, row.sale_id.clone())
    }
}

/// Partitions over which the vectors of a tenant are spread. It is a part of stored keys and never changes.
pub const VECTOR_SHARDS: u32 = 16;

/// The vectors themselves, beside the document's table: those of a tenant are read whole to find the nearest. Expected 1,000
/// rows a shard, at most 100,000; up to 16 KiB each.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "sale_vectors", partition(shard), clustering(product_id, embedding_id), ends = "ends_at")]
pub struct SaleVector {
    pub shard: i32,
    pub product_id: String,
    pub embedding_id: String,
    pub category: String,
    pub brand: Option<String>,
    pub sale_price: Decimal,
    pub sale_date: Date,
    /// Floats of four bytes, little-endian.
    pub floats: Vec<u8>,
    pub ends_at: Option<Timestamp>,
}

impl SaleVector {
    /// The same vector, beside what is known of another sale of it.
    pub fn telling_of(self, sale: &SaleRecord) -> Self {
        SaleVector {
            category: sale.category.clone(),
            brand: sale.brand.clone(),
            sale_price: sale.sale_price,
            sale_date: sale.sale_date,
            ends_at: sale.ttl,
            ..self
        }
    }

    pub fn vector(&self) -> Vec<f32> {
        self.floats.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect()
    }
}

/// What a name is of.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameKind {
    Category,
    Brand,
}

/// S6: the categories and the brands that sales name, by name. Expected 100 rows a kind, at most 100,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "sale_names", partition(kind), clustering(name))]
pub struct SaleName {
    pub kind: NameKind,
    pub name: String,
    pub noted_at: Timestamp,
}

/// Which orders of a day are recorded, as they were at which revision: what is to be recorded anew. It may be forgotten:
/// a sale that is recorded again is the same.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "sales_recorded_orders", partition(date), clustering(order_id), ttl = "120d")]
pub struct RecordedOrder {
    pub date: Date,
    pub order_id: crate::id::OrderId,
    pub revision: i64,
}

/// How far the orders were followed: one row.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "sales_followed", partition(what))]
pub struct Followed {
    pub what: String,
    pub date: Date,
}

pub(crate) fn tables(schema: Schema) -> Schema {
    schema
        .derived::<SaleRecord, CategorySale>()
        .derived::<SaleRecord, EmbeddingSale>()
        .derived::<SaleRecord, BrandSale>()
        .table::<SaleVector>()
        .table::<SaleName>()
        .table::<RecordedOrder>()
        .table::<Followed>()
}
