//! What makes a product and a category, and how an edit changes them. Nothing here reads or writes.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::json;
use widerow::Timestamp;

use super::{
    category::Category,
    error::{Error, Result},
    tables::{Product, ProductStatus},
};
use crate::{
    check::{Check, Invalid},
    events::{Fact, NewEvent, Told, fact_stream},
    id::{AggregateId, CategoryId, ProductId},
    limits,
    money::Currency,
    text,
};

/// A product to be made. Without an id it gets a new one, without a slug one that is made of its name.
#[derive(Clone, Debug, PartialEq)]
pub struct NewProduct {
    pub product_id: Option<ProductId>,
    pub name: String,
    pub slug: Option<String>,
    pub description: Option<String>,
    pub category_id: CategoryId,
    pub brand: Option<String>,
    pub price: Decimal,
    pub compare_at_price: Option<Decimal>,
    pub currency: Currency,
    pub sku: Option<String>,
    pub weight_grams: Option<i32>,
    pub dimensions: BTreeMap<String, i32>,
    pub image_urls: Vec<String>,
    pub thumbnail_url: Option<String>,
    pub attributes: BTreeMap<String, String>,
    pub tags: BTreeSet<String>,
    pub status: ProductStatus,
    pub rating_average: Option<Decimal>,
    pub rating_count: i32,
    pub in_stock: bool,
    /// When it came into being elsewhere, if it is imported.
    pub created_at: Option<Timestamp>,
}

impl NewProduct {
    /// A draft with what every product has.
    pub fn named(name: impl Into<String>, category_id: CategoryId, price: Decimal, currency: Currency) -> Self {
        NewProduct {
            product_id: None,
            name: name.into(),
            slug: None,
            description: None,
            category_id,
            brand: None,
            price,
            compare_at_price: None,
            currency,
            sku: None,
            weight_grams: None,
            dimensions: BTreeMap::new(),
            image_urls: Vec::new(),
            thumbnail_url: None,
            attributes: BTreeMap::new(),
            tags: BTreeSet::new(),
            status: ProductStatus::Draft,
            rating_average: None,
            rating_count: 0,
            in_stock: false,
            created_at: None,
        }
    }
}

/// What an editor changes; what is None stays. Of what may be absent, `Some(None)` takes it away.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProductChange {
    pub name: Option<String>,
    pub slug: Option<String>,
    pub description: Option<Option<String>>,
    pub category_id: Option<CategoryId>,
    pub brand: Option<Option<String>>,
    pub price: Option<Decimal>,
    pub compare_at_price: Option<Option<Decimal>>,
    pub currency: Option<Currency>,
    pub sku: Option<Option<String>>,
    pub weight_grams: Option<Option<i32>>,
    pub dimensions: Option<BTreeMap<String, i32>>,
    pub image_urls: Option<Vec<String>>,
    pub thumbnail_url: Option<Option<String>>,
    pub attributes: Option<BTreeMap<String, String>>,
    pub tags: Option<BTreeSet<String>>,
    pub status: Option<ProductStatus>,
}

/// The product as it begins, not yet filed under its category.
pub fn draft(new: NewProduct, product_id: ProductId, now: Timestamp) -> Product {
    let slug = new.slug.unwrap_or_else(|| slug_of(&new.name));
    Product {
        product_id,
        name: new.name,
        slug,
        description: new.description,
        category_id: new.category_id,
        category_name: String::new(),
        category_path: Vec::new(),
        brand: new.brand,
        price: new.price,
        compare_at_price: new.compare_at_price,
        currency: new.currency,
        sku: new.sku,
        weight_grams: new.weight_grams,
        dimensions: new.dimensions,
        image_urls: new.image_urls,
        thumbnail_url: new.thumbnail_url,
        attributes: new.attributes,
        tags: new.tags,
        status: new.status,
        rating_average: new.rating_average,
        rating_count: new.rating_count,
        in_stock: new.in_stock,
        popularity: 0,
        featured: BTreeMap::new(),
        revision: 1,
        created_at: new.created_at.unwrap_or(now),
        updated_at: now,
        told: None,
    }
}

/// A slug for a name; not empty, whatever the name is written in.
pub fn slug_of(name: &str) -> String {
    let slug = text::slugify(name);
    if slug.is_empty() { "product".to_owned() } else { slug }
}

/// Another slug for the same name, which no other product makes.
pub fn slug_with_id(slug: &str, id: uuid::Uuid) -> String {
    let end = id.simple().to_string();
    let end = &end[end.len() - 12..];
    let start = text::cut(slug, limits::SLUG_BYTES_MAX - end.len() - 1).trim_end_matches('-');
    format!("{start}-{end}")
}

pub fn file_under(product: &mut Product, category: &Category) {
    product.category_id = category.category_id;
    product.category_name = category.name.clone();
    product.category_path = category.path.clone();
}

/// The product after an edit: as it was, where nothing is different.
pub fn change(
    old: &Product,
    change: &ProductChange,
    category: Option<&Category>,
    expected: Option<i64>,
    now: Timestamp,
) -> Result<Product> {
    if let Some(expected) = expected.filter(|expected| *expected != old.revision) {
        return Err(Error::Edited { product: old.product_id, expected, found: old.revision });
    }
    fn set<T: Clone>(field: &mut T, change: &Option<T>) {
        if let Some(value) = change {
            field.clone_from(value);
        }
    }
    let mut product = old.clone();
    set(&mut product.name, &change.name);
    set(&mut product.slug, &change.slug);
    set(&mut product.description, &change.description);
    set(&mut product.brand, &change.brand);
    set(&mut product.price, &change.price);
    set(&mut product.compare_at_price, &change.compare_at_price);
    set(&mut product.currency, &change.currency);
    set(&mut product.sku, &change.sku);
    set(&mut product.weight_grams, &change.weight_grams);
    set(&mut product.dimensions, &change.dimensions);
    set(&mut product.image_urls, &change.image_urls);
    set(&mut product.thumbnail_url, &change.thumbnail_url);
    set(&mut product.attributes, &change.attributes);
    set(&mut product.tags, &change.tags);
    set(&mut product.status, &change.status);
    if let Some(category) = category {
        file_under(&mut product, category);
    }
    if product != *old {
        check(&product, now)?;
        product.revision += 1;
        product.updated_at = now;
    }
    Ok(product)
}

/// What the events of a product's price are events of.
pub const PRICE: &str = "price";

/// The stream of a product's prices.
pub fn prices_of(product: ProductId) -> AggregateId {
    fact_stream(PRICE, product.0)
}

/// That the product has another price than before, noted in the product; None where it has not.
pub fn tell_price(old: &Product, product: &mut Product, now: Timestamp) -> Option<Fact> {
    product.told = old.told;
    if (product.price, &product.currency) == (old.price, &old.currency) {
        return None;
    }
    let told = Told::after(old.told, now);
    product.told = Some(told);
    let change = PriceChange {
        product_id: product.product_id,
        was: old.price,
        was_currency: old.currency.clone(),
        price: product.price,
        currency: product.currency.clone(),
    };
    Some(told.fact(PRICE, product.product_id.0, NewEvent::new(PriceChange::TYPE, json!(change))))
}

/// What an event of a product's price says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceChange {
    pub product_id: ProductId,
    pub was: Decimal,
    pub was_currency: Currency,
    pub price: Decimal,
    pub currency: Currency,
}

impl PriceChange {
    pub const TYPE: &str = "PriceChanged";
}

/// Whether a product makes sense; what does not is named, all of it.
pub fn check(product: &Product, now: Timestamp) -> Result<(), Invalid> {
    let mut check = Check::new();
    check.line("name", &product.name, 1..=limits::NAME_BYTES_MAX);
    check.slug("slug", &product.slug);
    check.lines("description", product.description.as_deref().unwrap_or(""), limits::DESCRIPTION_BYTES_MAX);
    check.optional_line("brand", product.brand.as_deref(), limits::LINE_BYTES_MAX);
    check.currency("currency", &product.currency);
    check.price("price", product.price, &product.currency);
    if let Some(price) = product.compare_at_price {
        check.price("compare_at_price", price, &product.currency);
    }
    check.optional_line("sku", product.sku.as_deref(), limits::LINE_BYTES_MAX);
    if let Some(grams) = product.weight_grams {
        let good = (0..=limits::WEIGHT_GRAMS_MAX).contains(&grams);
        check.that(good, "weight_grams", format!("{grams} is not 0 to {}", limits::WEIGHT_GRAMS_MAX));
    }
    check.count("dimensions", product.dimensions.len(), limits::COLLECTION_ITEMS_MAX);
    for (name, millimetres) in &product.dimensions {
        let field = format!("dimensions/{name}");
        check.line(&field, name, 1..=limits::LINE_BYTES_MAX);
        let good = (0..=limits::DIMENSION_MAX).contains(millimetres);
        check.that(good, field, format!("{millimetres} mm is not 0 to {}", limits::DIMENSION_MAX));
    }
    check.count("image_urls", product.image_urls.len(), limits::COLLECTION_ITEMS_MAX);
    for (i, url) in product.image_urls.iter().enumerate() {
        check.url(&format!("image_urls/{i}"), url);
    }
    if let Some(url) = &product.thumbnail_url {
        check.url("thumbnail_url", url);
    }
    check.count("attributes", product.attributes.len(), limits::COLLECTION_ITEMS_MAX);
    for (name, value) in &product.attributes {
        let field = format!("attributes/{name}");
        check.line(&field, name, 1..=limits::LINE_BYTES_MAX);
        check.lines(&field, value, limits::ATTRIBUTE_BYTES_MAX);
    }
    check.count("tags", product.tags.len(), limits::COLLECTION_ITEMS_MAX);
    for tag in &product.tags {
        check.line(format_args!("tags/{tag}"), tag, 1..=limits::LINE_BYTES_MAX);
    }
    check_rating(&mut check, product.rating_average, product.rating_count);
    let created = Timestamp::from_millis(0)..=now.plus_seconds(limits::CLOCK_SKEW_SECONDS);
    check.that(created.contains(&product.created_at), "created_at", "it lies before 1970 or in the future");
    check.end()
}

pub fn check_rating(check: &mut Check, average: Option<Decimal>, count: i32) {
    if let Some(average) = average {
        let good = (Decimal::ZERO..=Decimal::from(5)).contains(&average);
        check.that(good, "rating_average", format!("{average} is not 0 to 5"));
    }
    check.that(count >= 0, "rating_count", format!("{count} is negative"));
}

/// Whether the name of an active product is new, so that one more has it.
pub fn takes_name(old: Option<&Product>, new: &Product) -> bool {
    let shown = |product: &Product| product.status == ProductStatus::Active;
    shown(new) && old.is_none_or(|old| !shown(old) || old.name != new.name)
}
