//! An order of its lines. Pure: it reads no store and no clock.

use rust_decimal::Decimal;

use super::{
    fields::OrderField,
    line::{Line, Row},
    ops::OrderOptions,
    past,
};
use crate::{
    flows::import::{clean, ids, record::Place, report::Sum, run::Counted, time},
    limits,
    orders::{OrderDraft, Past, Totals},
    text,
};

/// An order that only lacks the ids of its lines' categories.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub place: Place,
    pub source_id: String,
    pub order: OrderDraft,
    pub past: Past,
    /// Names from the root, for each line.
    pub categories: Vec<Vec<String>>,
    pub counted: Counted,
    pub notes: Vec<String>,
}

/// The order of these lines, at least one; or why there is none.
pub(super) fn draft(
    source_id: &str,
    lines: Vec<(Row, Line)>,
    options: &OrderOptions,
    is_cancellation: bool,
) -> Result<Draft, String> {
    let (rows, lines): (Vec<Row>, Vec<Line>) = lines.into_iter().unzip();
    let mut past = past::past(&rows, options, is_cancellation)?;
    let mut notes = Vec::new();
    past.internal_notes = Some(internal_notes(source_id, &rows, options, &mut notes));
    let first = |field| rows.iter().find_map(|row| row.text(field));
    let estimated = first(OrderField::EstimatedDelivery).and_then(|text| match time::read(&text, options.dates) {
        Ok(time) => Some(time.date()),
        Err(reason) => {
            notes.push(format!("the day of its delivery is left out: {reason}"));
            None
        }
    });
    let sum = sum(lines.iter());
    let shipping_amount = lines.iter().map(|line| line.shipping).fold(Decimal::ZERO, Decimal::saturating_add);
    let status = past.steps.last().map(|step| step.status).ok_or("it has no history")?;
    let (categories, lines) = lines.into_iter().map(|line| (line.category, line.line)).unzip();
    let order = OrderDraft {
        order_id: ids::order(&options.source, source_id),
        order_number: format!("{}{source_id}", options.number_prefix),
        checkout_id: None,
        cart_id: None,
        user_id: None,
        user_email: None,
        customer_name: first(OrderField::CustomerName).filter(|name| name.len() <= limits::LINE_BYTES_MAX),
        shipping_address: None,
        billing_address: None,
        payment_method: first(OrderField::PaymentMethod).filter(|name| name.len() <= limits::REFERENCE_BYTES_MAX),
        lines,
        totals: Totals {
            currency: options.currency.clone(),
            subtotal: sum.amount,
            discount_amount: Decimal::ZERO,
            shipping_amount,
            tax_amount: Decimal::ZERO,
            total: sum.amount.saturating_add(shipping_amount),
        },
        discount_code: None,
        shipping_method: None,
        estimated_delivery: estimated,
        customer_notes: None,
        store_credit: None,
    };
    Ok(Draft {
        place: rows.first().map_or(Place::NOWHERE, |row| row.record.place),
        source_id: source_id.to_owned(),
        order,
        past,
        categories,
        counted: Counted { standing: past::standing(status), sum, as_read: as_read(sum, is_cancellation) },
        notes,
    })
}

/// What the lines come to, as one order.
pub(super) fn sum<'l>(lines: impl Iterator<Item = &'l Line>) -> Sum {
    let mut sum = Sum { orders: 1, ..Sum::default() };
    lines.for_each(|line| sum.add(line.sum));
    sum
}

/// What an order comes to in the source, where cancellations are below nought.
pub(super) fn as_read(sum: Sum, is_cancellation: bool) -> Sum {
    let below = Sum { pieces: -sum.pieces, amount: -sum.amount, ..sum };
    if is_cancellation { below } else { sum }
}

/// Where it comes from, and what the source says of the customer: `CustomerID: 17850`.
fn internal_notes(source_id: &str, rows: &[Row], options: &OrderOptions, notes: &mut Vec<String>) -> String {
    let mut columns: Vec<(&str, Vec<String>)> = Vec::new();
    for (name, value) in rows.iter().flat_map(|row| row.columns(OrderField::Note)) {
        let text = clean::line(&value.text());
        match columns.iter_mut().find(|(known, _)| *known == name) {
            Some((_, texts)) if texts.contains(&text) => {}
            Some((_, texts)) => texts.push(text),
            None => columns.push((name, vec![text])),
        }
    }
    let mut all = format!("Imported from {}: {}", options.source, clean::line(source_id));
    for (name, texts) in columns {
        all.push_str(&format!("\n{}: {}", clean::line(name), texts.join(", ")));
    }
    if all.len() > limits::NOTES_BYTES_MAX {
        notes.push("what the source says of the customer is cut: it is too long".into());
    }
    text::cut(&all, limits::NOTES_BYTES_MAX).to_owned()
}
