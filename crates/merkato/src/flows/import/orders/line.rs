//! A line as a source has it.

use std::sync::Arc;

use rust_decimal::{Decimal, prelude::ToPrimitive as _};

use super::{fields::OrderField, ops::OrderOptions};
use crate::{
    flows::import::{
        amount,
        categories::path,
        clean, ids,
        mapping::Plan,
        record::{Record, Value},
        report::Sum,
    },
    limits,
    orders::OrderLine,
    text,
};

/// A record, joined with its companions, and what its columns are.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub record: Record,
    pub plan: Arc<Plan<OrderField>>,
}

impl Row {
    /// Columns of a field that have a value here.
    pub fn columns(&self, field: OrderField) -> impl Iterator<Item = (&str, &Value)> {
        let cells = self.record.columns.iter().zip(&self.record.values).zip(&self.plan.columns);
        let of_field = cells.filter(move |((_, value), (known, _))| *known == field && !value.is_empty());
        of_field.map(|((name, value), _)| (name.as_str(), value))
    }

    pub fn value(&self, field: OrderField) -> Option<&Value> {
        self.columns(field).next().map(|(_, value)| value)
    }

    pub fn text(&self, field: OrderField) -> Option<String> {
        self.value(field).map(|value| clean::line(&value.text())).filter(|text| !text.is_empty())
    }
}

/// A line that can be a part of an order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub line: OrderLine,
    /// Names from the root.
    pub category: Vec<String>,
    pub shipping: Decimal,
    pub sum: Sum,
}

/// The line, or why it is none, with what it comes to as far as that can be told.
///
/// The lines of a cancellation have quantities below nought, which are what was given back.
pub(super) fn line(row: &Row, options: &OrderOptions, is_cancellation: bool) -> Result<Line, (String, Sum)> {
    let price = price(row, options);
    let quantity = quantity(row);
    let mut sum = Sum::of_lines(1);
    if let (Ok(price), Ok(quantity)) = (&price, &quantity) {
        sum.pieces = *quantity;
        sum.amount = price.unwrap_or_default().saturating_mul((*quantity).into());
    }
    let made = make(row, options, price, quantity, is_cancellation).map_err(|reason| (reason, sum))?;
    Ok(Line { sum: Sum { pieces: sum.pieces.abs(), amount: sum.amount.abs(), ..sum }, ..made })
}

fn make(
    row: &Row,
    options: &OrderOptions,
    price: Result<Option<Decimal>, String>,
    quantity: Result<i64, String>,
    is_cancellation: bool,
) -> Result<Line, String> {
    let currency = &options.currency;
    if let Some(other) = row.text(OrderField::Currency).filter(|code| !code.eq_ignore_ascii_case(currency.code())) {
        return Err(format!("it is in {other}, not in {currency}"));
    }
    let name = row.text(OrderField::Name);
    let (price, quantity) = (price?, quantity?);
    let Some(price) = price.filter(|price| name.is_some() || !price.is_zero()) else {
        return Err(if name.is_some() { "it has no price" } else { "it has neither a name nor a price" }.into());
    };
    // Adjustments of debts are no sales.
    if price.is_sign_negative() && !price.is_zero() {
        return Err(format!("its price is {price}"));
    }
    let decimals = currency.decimals().unwrap_or(0);
    if price.normalize().scale() > decimals {
        return Err(format!("its price is {price}, and {currency} has {decimals} decimals"));
    }
    let bought = if is_cancellation { quantity.checked_neg() } else { Some(quantity) };
    let bought = bought.and_then(|bought| u32::try_from(bought).ok()).filter(|bought| *bought > 0);
    let Some(bought) = bought else {
        let of = if is_cancellation { " in a cancellation" } else { "" };
        return Err(format!("its quantity is {quantity}{of}"));
    };
    if bought > limits::QUANTITY_MAX {
        return Err(format!("its quantity is {quantity}, the limit is {}", limits::QUANTITY_MAX));
    }
    let code = row.value(OrderField::Product).map(|value| value.text().trim().to_owned()).ok_or("it has no product")?;
    let sku = Some(clean::line(&code)).filter(|sku| (1..=limits::LINE_BYTES_MAX).contains(&sku.len()));
    let name = name.or_else(|| sku.clone()).ok_or("its product has no name")?;
    let shipping = match row.value(OrderField::Shipping) {
        Some(value) => amount::price(value, currency)?.unwrap_or_default(),
        None => Decimal::ZERO,
    };
    let fits = !shipping.is_sign_negative() || shipping.is_zero();
    if !fits || shipping.normalize().scale() > decimals {
        return Err(format!("its shipping is {shipping}"));
    }
    let category = row.text(OrderField::Category).map(|name| path(&name)).filter(|path| !path.is_empty());
    let line = OrderLine {
        product_id: ids::product(&options.source, &code),
        name: text::cut(&name, limits::NAME_BYTES_MAX).trim_end().to_owned(),
        image: None,
        sku,
        options: Default::default(),
        unit_price: price,
        quantity: bought,
        category_id: None,
    };
    let category = category.unwrap_or_else(|| path(&options.category));
    Ok(Line { line, category, shipping, sum: Sum::default() })
}

fn price(row: &Row, options: &OrderOptions) -> Result<Option<Decimal>, String> {
    row.value(OrderField::Price).map_or(Ok(None), |value| amount::price(value, &options.currency))
}

/// One, where the source has no such column; an empty one says nothing that could be counted.
fn quantity(row: &Row) -> Result<i64, String> {
    let Some(value) = row.value(OrderField::Quantity) else {
        return if row.plan.has(OrderField::Quantity) { Err("it has no quantity".into()) } else { Ok(1) };
    };
    let written = value.text();
    let read = written.trim().parse::<Decimal>().ok().or_else(|| amount::leading(value, 0));
    let whole = read.filter(Decimal::is_integer).and_then(|number| number.to_i64());
    whole.ok_or_else(|| format!("{written} is no quantity"))
}
