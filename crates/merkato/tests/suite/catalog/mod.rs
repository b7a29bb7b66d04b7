//! The catalog on every engine.

pub mod bad_input;
pub mod costs;
pub mod delete;
pub mod lists;
pub mod model;
pub mod moves;
pub mod products;
pub mod races;
pub mod search;
pub mod stopped;

use merkato::{
    Context, Currency,
    catalog::{self, Category, NewCategory, NewProduct, ProductStatus},
    id::CategoryId,
};
use rust_decimal::Decimal;

/// A category at the top.
pub async fn category(ctx: &Context, name: &str) -> Category {
    below(ctx, name, None).await
}

pub async fn below(ctx: &Context, name: &str, parent_id: Option<CategoryId>) -> Category {
    let new = NewCategory { category_id: None, name: name.into(), slug: None, parent_id };
    catalog::create_category(ctx, new).await.expect("a category")
}

/// A product on sale, at so many cents.
pub fn on_sale(name: &str, category: &Category, cents: i64) -> NewProduct {
    let price = Decimal::new(cents, 2);
    let new = NewProduct::named(name, category.category_id, price, Currency::new("EUR"));
    NewProduct { status: ProductStatus::Active, in_stock: true, ..new }
}
