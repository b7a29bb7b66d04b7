//! What columns are to sales.

use crate::flows::import::mapping::{Fields, Named};

/// What a column is to a sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SaleField {
    /// The source's own, unique for a product and a day. Without such a column it follows from the record.
    Id,
    /// The source's own id of the product, or its name.
    Product,
    Date,
    Price,
    /// The list price.
    Original,
    Category,
    Brand,
    Season,
    Currency,
    EmbeddingId,
    EmbeddingKey,
    /// It has no home, which is told once.
    Homeless,
    /// It is not wanted.
    LeftOut,
}

impl Fields for SaleField {
    const NAMED: &'static [Named<Self>] = &[
        (SaleField::Id, "id", &["saleid", "transactionid", "id"]),
        (
            SaleField::Product,
            "product",
            &["productid", "sku", "productcode", "product", "productname", "sneakername", "itemname", "item", "name"],
        ),
        (SaleField::Date, "date", &["saledate", "orderdate", "soldon", "soldat", "date", "day"]),
        (SaleField::Price, "price", &["saleprice", "soldprice", "price", "amount"]),
        (
            SaleField::Original,
            "original_price",
            &["originalprice", "retailprice", "listprice", "compareatprice", "msrp"],
        ),
        (SaleField::Category, "category", &["category", "productcategory", "categoryname", "producttype"]),
        (SaleField::Brand, "brand", &["brand", "brandname", "vendor", "manufacturer"]),
        (SaleField::Season, "season", &["season"]),
        (SaleField::Currency, "currency", &["currency", "currencycode"]),
        (SaleField::EmbeddingId, "embedding_id", &["embeddingid"]),
        (SaleField::EmbeddingKey, "embedding_s3_key", &["embeddings3key"]),
    ];
    const ID: Self = SaleField::Id;
    const NEEDED: &'static [Self] = &[SaleField::Product, SaleField::Date, SaleField::Price];
    const HOMELESS: Self = SaleField::Homeless;
    const LEFT_OUT: Self = SaleField::LeftOut;
}
