//! Where an order stands, and how it came there, as far as a source tells.

use widerow::Timestamp;

use super::{fields::OrderField, line::Row, ops::OrderOptions};
use crate::{
    flows::import::{report::Standing, time},
    orders::{OrderStatus, Past, PastStep, PaymentStatus},
};

/// Who made the steps of the history.
const ACTOR: &str = "import";

pub(super) fn status(word: &str) -> Option<OrderStatus> {
    Some(match word.to_lowercase().as_str() {
        "created" | "pending" | "new" | "open" => OrderStatus::Pending,
        "approved" | "paid" => OrderStatus::Paid,
        "invoiced" | "processing" => OrderStatus::Processing,
        "shipped" | "sent" => OrderStatus::Shipped,
        "delivered" | "complete" | "completed" => OrderStatus::Delivered,
        "canceled" | "cancelled" | "unavailable" => OrderStatus::Cancelled,
        "refunded" | "returned" => OrderStatus::Refunded,
        _ => return None,
    })
}

pub(super) fn standing(status: OrderStatus) -> Standing {
    match status {
        OrderStatus::Pending => Standing::Open,
        OrderStatus::Cancelled | OrderStatus::Refunded => Standing::Cancelled,
        OrderStatus::Paid | OrderStatus::Processing | OrderStatus::Shipped | OrderStatus::Delivered => Standing::Sold,
    }
}

/// The history of the order of these rows; or why there is none.
pub(super) fn past(rows: &[Row], options: &OrderOptions, is_cancellation: bool) -> Result<Past, String> {
    let status = if is_cancellation { OrderStatus::Cancelled } else { status_of(rows, options)? };
    // The beginning of an order is that of its first line, whichever line a source has first.
    let mut created = None;
    for row in rows {
        if let Some(text) = row.text(OrderField::CreatedAt) {
            let at = time::read(&text, options.dates)?;
            created = Some(created.map_or(at, |known: Timestamp| known.min(at)));
        }
    }
    let created = created.ok_or("it has no time")?;
    let mut known = Vec::new();
    for (of, field) in [
        (OrderStatus::Paid, OrderField::PaidAt),
        (OrderStatus::Shipped, OrderField::ShippedAt),
        (OrderStatus::Delivered, OrderField::DeliveredAt),
        (OrderStatus::Cancelled, OrderField::CancelledAt),
    ] {
        if let Some(text) = rows.iter().find_map(|row| row.text(field)) {
            known.push((of, time::read(&text, options.dates)?));
        }
    }
    let is_paid = known.iter().any(|(of, _)| *of == OrderStatus::Paid) || is_cancellation;
    Ok(Past {
        steps: steps(created, status, known),
        payment_status: match status {
            OrderStatus::Pending => PaymentStatus::Pending,
            OrderStatus::Cancelled if !is_paid => PaymentStatus::Voided,
            OrderStatus::Cancelled | OrderStatus::Refunded => PaymentStatus::Refunded,
            _ => PaymentStatus::Captured,
        },
        payment_id: None,
        tracking_number: None,
        carrier: None,
        internal_notes: None,
    })
}

fn status_of(rows: &[Row], options: &OrderOptions) -> Result<OrderStatus, String> {
    let mut found: Option<String> = None;
    for word in rows.iter().filter_map(|row| row.text(OrderField::Status)) {
        if let Some(other) = found.as_ref().filter(|other| !other.eq_ignore_ascii_case(&word)) {
            return Err(format!("its lines have the statuses {other} and {word}"));
        }
        found = Some(word);
    }
    match found {
        Some(word) => status(&word).ok_or_else(|| format!("{word} is no status")),
        None if rows.iter().any(|row| row.plan.has(OrderField::Status)) => Err("it has no status".into()),
        None => Ok(options.status),
    }
}

/// The steps from the creation to the status, each later than the one before it.
fn steps(created: Timestamp, status: OrderStatus, known: Vec<(OrderStatus, Timestamp)>) -> Vec<PastStep> {
    let step = |status, at, notes| PastStep { status, at, actor: ACTOR.to_owned(), notes };
    let mut steps = vec![step(OrderStatus::Pending, created, None)];
    let mut notes = Vec::new();
    let mut last = None;
    for (of, at) in known {
        if of == status {
            last = Some(at);
        } else if comes_before(of, status) {
            let (at, note) = after(&steps, Some(at));
            steps.push(step(of, at, note));
        } else {
            notes.push(format!("The source has it {} at {at}.", of.as_str()));
        }
    }
    if status != OrderStatus::Pending {
        let (at, note) = after(&steps, last);
        notes.extend(note);
        steps.push(step(status, at, None));
    }
    if let Some(step) = steps.last_mut().filter(|_| !notes.is_empty()) {
        step.notes = Some(notes.join("\n"));
    }
    steps
}

/// Whether an order that stands so may have stood so before.
fn comes_before(earlier: OrderStatus, status: OrderStatus) -> bool {
    earlier.next().iter().any(|next| *next == status || comes_before(*next, status))
}

/// The time of the next step, and what is to be said of it where it is not the source's.
///
/// ORDER: the time is the key of a row of the history, so that no two steps have the same.
fn after(steps: &[PastStep], at: Option<Timestamp>) -> (Timestamp, Option<String>) {
    let earliest = steps.last().map_or(0, |step| step.at.millis().saturating_add(1));
    let earliest = Timestamp::from_millis(earliest);
    match at {
        None => (earliest, Some("The source does not say when.".into())),
        Some(at) if at < earliest => (earliest, Some(format!("In the source it is at {at}."))),
        Some(at) => (at, None),
    }
}
