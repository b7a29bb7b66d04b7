//! Q5: what goes with a product. What was bought together with it, then the same brand and category.

use std::collections::HashSet;

use rust_decimal::Decimal;

use super::{
    categories::list_category,
    products::{get_product, list_products},
};
use crate::{
    catalog::{
        error::Result,
        order::SortOrder,
        tables::{CategoryEntry, Product, ProductStatus},
    },
    check::Check,
    context::Context,
    graph,
    id::ProductId,
    limits,
    money::Currency,
    pattern::PageRequest,
};

/// A product as a small picture of it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    pub product_id: ProductId,
    pub name: String,
    pub slug: String,
    pub thumbnail_url: Option<String>,
    pub price: Decimal,
    pub compare_at_price: Option<Decimal>,
    pub currency: Currency,
    pub in_stock: bool,
}

impl From<Product> for Card {
    fn from(product: Product) -> Self {
        Card {
            product_id: product.product_id,
            name: product.name,
            slug: product.slug,
            thumbnail_url: product.thumbnail_url,
            price: product.price,
            compare_at_price: product.compare_at_price,
            currency: product.currency,
            in_stock: product.in_stock,
        }
    }
}

impl From<CategoryEntry> for Card {
    fn from(entry: CategoryEntry) -> Self {
        Card {
            product_id: entry.product_id,
            name: entry.name,
            slug: entry.slug,
            thumbnail_url: entry.thumbnail_url,
            price: entry.price,
            compare_at_price: entry.compare_at_price,
            currency: entry.currency,
            in_stock: entry.in_stock,
        }
    }
}

/// Why a product is shown beside another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    BoughtTogether,
    SameBrand,
    SameCategory,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Related {
    pub card: Card,
    pub because: Because,
}

/// Q5. Active products that go with this one, the best first.
pub async fn list_related(ctx: &Context, id: ProductId, limit: usize) -> Result<Vec<Related>> {
    let mut check = Check::new();
    check.that((1..=limits::RELATED_MAX).contains(&limit), "limit", {
        format!("{limit} is not 1 to {}", limits::RELATED_MAX)
    });
    check.end()?;
    let product = get_product(ctx, id).await?;
    let ranked = graph::list_bought_together(ctx, id, limit).await?;
    let ids: Vec<ProductId> = ranked.iter().map(|row| row.related_id).collect();
    let bought = list_products(ctx, &ids).await?.into_iter().flatten();
    let bought = bought.filter(|product| product.status == ProductStatus::Active);
    let mut related: Vec<Related> =
        bought.map(|product| Related { card: product.into(), because: Because::BoughtTogether }).collect();
    if related.len() < limit {
        let page = PageRequest::first(limit * 2);
        let popular = list_category(ctx, product.category_id, SortOrder::Popular, page).await?.rows;
        let mut seen: HashSet<ProductId> = related.iter().map(|related| related.card.product_id).collect();
        seen.insert(id);
        let popular = popular.into_iter().filter(|entry| seen.insert(entry.product_id));
        let same_brand = |entry: &CategoryEntry| product.brand.is_some() && entry.brand == product.brand;
        let (brand, others): (Vec<_>, Vec<_>) = popular.partition(same_brand);
        let brand = brand.into_iter().map(|entry| Related { card: entry.into(), because: Because::SameBrand });
        let others = others.into_iter().map(|entry| Related { card: entry.into(), because: Because::SameCategory });
        related.extend(brand.chain(others).take(limit - related.len()));
    }
    Ok(related)
}
