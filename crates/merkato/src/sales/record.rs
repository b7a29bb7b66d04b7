//! From what somebody tells of a sale to its record, or to what is wrong with it. No reads, no writes, no clock.

use rust_decimal::Decimal;
use widerow::{Date, Row as _, Timestamp};

use super::{
    error::{Error, Result},
    retention,
    season::Season,
    shards::{category_shard, embedding_shard},
    tables::{SaleRecord, SaleVector, VECTOR_SHARDS},
};
use crate::{check::Check, limits, settings::SalesSettings};

/// A sale as it is told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewSale {
    pub product_id: String,
    pub sale_id: String,
    /// `YYYY-MM-DD`.
    pub sale_date: String,
    pub sale_price: Decimal,
    /// None: it was sold at its list price.
    pub original_price: Option<Decimal>,
    pub category: String,
    pub brand: Option<String>,
    /// `SPRING`, `SUMMER`, `FALL` or `WINTER`; None: by its day.
    pub season: Option<String>,
    pub embedding_id: Option<String>,
    pub embedding_s3_key: Option<String>,
    /// The embedding itself.
    pub vector: Option<Vec<f32>>,
    /// When it was first recorded, and last; None: now.
    pub created_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
}

/// What is written of a sale.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    pub record: SaleRecord,
    pub vector: Option<SaleVector>,
}

/// The record of a sale, as all tools of the table have it.
pub fn prepare(new: NewSale, settings: &SalesSettings, now: Timestamp) -> Result<Prepared> {
    let size = new.bytes();
    if size > limits::SALE_BYTES_MAX {
        return Err(Error::TooLarge { what: "sale record in bytes", size, limit: limits::SALE_BYTES_MAX });
    }
    let mut check = Check::new();
    id(&mut check, "product_id", &new.product_id);
    id(&mut check, "sale_id", &new.sale_id);
    name(&mut check, "category", &new.category);
    if let Some(brand) = &new.brand {
        name(&mut check, "brand", brand);
    }
    price(&mut check, "sale_price", new.sale_price);
    if let Some(original) = new.original_price {
        price(&mut check, "original_price", original);
    }
    check.optional_line("embedding_id", new.embedding_id.as_deref(), limits::SALE_ID_BYTES_MAX);
    check.optional_line("embedding_s3_key", new.embedding_s3_key.as_deref(), limits::EMBEDDING_KEY_BYTES_MAX);
    check.that(
        new.embedding_id.is_some() == new.embedding_s3_key.is_some() || new.vector.is_some(),
        "embedding_s3_key",
        "an embedding has an id and a place, or neither",
    );
    if let Some(vector) = &new.vector {
        check.that(new.embedding_id.is_some(), "embedding_id", "a vector is known by it");
        check_vector(&mut check, vector);
    }
    let season = new.season.as_deref().map(str::parse::<Season>);
    check.that(!matches!(season, Some(Err(_))), "season", "not one of SPRING, SUMMER, FALL, WINTER");
    let date = parse_date(&new.sale_date);
    if date.is_none() {
        check.refuse("sale_date", format!("{:?} is no day of the calendar, as 2025-12-29", cut(&new.sale_date)));
    }
    check.end()?;
    // Both were just looked at.
    let sale_date = date.unwrap_or(Date::MIN);
    let season = season.and_then(Result::ok).unwrap_or_else(|| Season::of(sale_date, settings.hemisphere));
    let embedded = new.embedding_s3_key.is_some();
    let ttl = retention::end(sale_date, settings.retention());
    let vector = new.vector.zip(new.embedding_id.clone()).map(|(floats, embedding_id)| SaleVector {
        shard: embedding_shard(&new.product_id, VECTOR_SHARDS),
        product_id: new.product_id.clone(),
        embedding_id,
        category: new.category.clone(),
        brand: new.brand.clone(),
        sale_price: new.sale_price,
        sale_date,
        floats: floats.iter().flat_map(|float| float.to_le_bytes()).collect(),
        ends_at: ttl,
    });
    let record = SaleRecord {
        category_shard: Some(category_shard(&new.sale_id, settings.category_shards)),
        embedding_shard: embedded.then(|| embedding_shard(&new.product_id, settings.embedding_shards)),
        product_id: new.product_id,
        sale_date,
        sale_id: new.sale_id,
        sale_price: new.sale_price.normalize(),
        original_price: Some(new.original_price.unwrap_or(new.sale_price).normalize()),
        category: new.category,
        brand: new.brand,
        season: Some(season.as_str().to_owned()),
        embedding_id: new.embedding_id,
        embedding_s3_key: new.embedding_s3_key,
        ttl,
        created_at: Some(new.created_at.unwrap_or(now)),
        updated_at: Some(new.updated_at.unwrap_or(now)),
    };
    debug_assert_eq!(record.to_values().len(), SaleRecord::table().columns.len());
    Ok(Prepared { record, vector })
}

impl NewSale {
    /// Bytes of all its texts and numbers.
    fn bytes(&self) -> usize {
        let texts = [&self.product_id, &self.sale_id, &self.sale_date, &self.category];
        let optional = [&self.brand, &self.season, &self.embedding_id, &self.embedding_s3_key];
        texts.iter().map(|text| text.len()).sum::<usize>()
            + optional.into_iter().flatten().map(String::len).sum::<usize>()
            + self.vector.as_ref().map_or(0, |vector| 4 * vector.len())
    }
}

/// What stands in a key: `#` parts the keys of the table, and control characters are nobody's.
fn in_key(check: &mut Check, field: &str, text: &str) {
    check.that(!text.contains('#'), field, "it has a '#', which parts the keys of the table");
}

pub(super) fn id(check: &mut Check, field: &str, id: &str) {
    check.line(field, id, 1..=limits::SALE_ID_BYTES_MAX);
    in_key(check, field, id);
}

pub(super) fn name(check: &mut Check, field: &str, name: &str) {
    check.line(field, name, 1..=limits::SALE_NAME_BYTES_MAX);
    in_key(check, field, name);
}

fn price(check: &mut Check, field: &str, price: Decimal) {
    if price.is_sign_negative() && !price.is_zero() {
        check.refuse(field, "a price is not negative");
    } else if price > limits::SALE_PRICE_MAX {
        check.refuse(field, format!("the limit is {}", limits::SALE_PRICE_MAX));
    } else if price.normalize().scale() > 2 {
        check.refuse(field, "a price has at most two decimals");
    }
}

pub(super) fn check_vector(check: &mut Check, vector: &[f32]) {
    if vector.is_empty() || vector.len() > limits::VECTOR_FLOATS_MAX {
        let problem = format!("{} numbers are not 1 to {}", vector.len(), limits::VECTOR_FLOATS_MAX);
        check.refuse("vector", problem);
    } else if !vector.iter().all(|float| float.is_finite()) {
        check.refuse("vector", "all of it are finite numbers");
    } else if vector.iter().all(|float| *float == 0.0) {
        check.refuse("vector", "it is all noughts and has no direction");
    }
}

/// A day as the document writes it, and in no other of the ways that ISO 8601 has.
pub fn parse_date(text: &str) -> Option<Date> {
    let date: Date = text.parse().ok()?;
    (date.to_string() == text).then_some(date)
}

fn cut(text: &str) -> &str {
    crate::text::cut(text, 40)
}
