//! Sales and their prices, on every engine.

use merkato::{
    Context,
    sales::{self, NewSale, SaleRecord},
};
use rust_decimal::Decimal;
use widerow::Date;

pub mod backfill;
pub mod costs;
pub mod document;
pub mod follow;
pub mod isolation;
pub mod reads;
pub mod records;

/// Some days before today.
pub fn day(ctx: &Context, ago: i32) -> Date {
    Date::from_days(ctx.now().date().days() - ago)
}

/// The document's sale, today.
pub fn sale(ctx: &Context, product: &str, id: &str) -> NewSale {
    NewSale {
        product_id: product.into(),
        sale_id: id.into(),
        sale_date: day(ctx, 0).to_string(),
        sale_price: Decimal::new(9_999, 2),
        original_price: Some(Decimal::new(19_999, 2)),
        category: "dress".into(),
        brand: Some("Nike".into()),
        season: None,
        embedding_id: Some(format!("emb_{id}")),
        embedding_s3_key: Some(format!("s3://bucket/products/{product}/sales/{id}.json")),
        ..NewSale::default()
    }
}

pub async fn put_all(ctx: &Context, sales: Vec<NewSale>) -> Vec<SaleRecord> {
    let answers = sales::put_sales(ctx, sales).await.expect("a batch");
    answers.into_iter().map(|answer| answer.expect("stored")).collect()
}
