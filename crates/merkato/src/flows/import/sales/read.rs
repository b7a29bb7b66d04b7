//! A record as a sale.

use std::collections::HashMap;

use rust_decimal::Decimal;

use super::{fields::SaleField, ops::SaleOptions};
use crate::{
    flows::import::{
        amount, clean,
        mapping::Plans,
        record::{Record, Value},
        time,
    },
    sales::NewSale,
    text,
};

/// Reads records of one source, in its order.
pub(super) struct Reading {
    options: SaleOptions,
    pub plans: Plans<SaleField>,
    /// How many records said the same so far, where the source has no ids.
    same: HashMap<u64, u32>,
}

impl Reading {
    pub fn new(options: SaleOptions) -> Self {
        Reading { plans: Plans::new(options.mapping.clone()), options, same: HashMap::new() }
    }

    /// The sale, or why it is none. Whether it can be recorded is the domain's to say.
    pub fn sale(&mut self, record: &Record) -> Result<NewSale, String> {
        let plan = self.plans.of(&record.columns);
        let value = |field: SaleField| -> Option<&Value> {
            let cells = plan.columns.iter().zip(&record.values);
            cells.filter(|((known, _), value)| *known == field && !value.is_empty()).map(|(_, value)| value).next()
        };
        let line = |field| value(field).map(|value| clean::line(&value.text())).filter(|text| !text.is_empty());
        let in_key = |field| line(field).map(|text| text.replace('#', "-"));
        let currency = &self.options.currency;
        if let Some(other) = line(SaleField::Currency).filter(|code| !code.eq_ignore_ascii_case(currency.code())) {
            return Err(format!("it is in {other}, not in {currency}"));
        }
        let price = |field| -> Result<Option<Decimal>, String> {
            value(field).map_or(Ok(None), |value| amount::price(value, currency))
        };
        let product_id = in_key(SaleField::Product).ok_or("it has no product")?;
        let date = line(SaleField::Date).ok_or("it has no date")?;
        let day = time::read(&date, self.options.dates)?.date();
        let sale_price = price(SaleField::Price)?.ok_or("it has no price")?;
        let original_price = price(SaleField::Original)?;
        let sale_id = match in_key(SaleField::Id) {
            Some(id) => id,
            None => self.id_of(record),
        };
        let category = in_key(SaleField::Category).unwrap_or_else(|| self.options.category.clone());
        Ok(NewSale {
            product_id,
            sale_id,
            sale_date: day.to_string(),
            sale_price,
            original_price,
            category,
            brand: in_key(SaleField::Brand),
            season: line(SaleField::Season).map(|season| season.to_uppercase()),
            embedding_id: line(SaleField::EmbeddingId),
            embedding_s3_key: line(SaleField::EmbeddingKey),
            ..NewSale::default()
        })
    }

    /// Of the same record of the same source, the same for ever. It ends with digits that are as likely as each other: the last
    /// character of an id says its shard.
    fn id_of(&mut self, record: &Record) -> String {
        let texts: Vec<String> = record.values.iter().map(Value::text).collect();
        let source = self.options.source.as_bytes();
        let parts: Vec<&[u8]> = [source].into_iter().chain(texts.iter().map(String::as_bytes)).collect();
        let digest = text::digest(&parts);
        let number = u64::from_str_radix(digest.get(..15).unwrap_or("0"), 16).unwrap_or(0);
        let same = self.same.entry(number).or_default();
        *same += 1;
        format!("{same}-{number}")
    }
}
