//! What a product has cost, as its events tell it.

use widerow::{Error as DataError, Timestamp};

use crate::{
    catalog::{
        error::Result,
        rules::{self, PriceChange},
    },
    context::Context,
    events::{self, Direction, ReadStream},
    id::ProductId,
};

/// A price that a product came to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceStep {
    /// Counted from 1 without a gap.
    pub version: i64,
    pub at: Timestamp,
    pub change: PriceChange,
}

/// A page of a product's prices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceHistory {
    /// The newest first.
    pub steps: Vec<PriceStep>,
    /// The version to ask before for the next page; None at the end.
    pub before: Option<i64>,
}

/// The prices that a product came to have, the newest first; with `before`, those before that version. What it cost at first
/// stands in the oldest as what it was.
pub async fn price_history(
    ctx: &Context,
    product: ProductId,
    before: Option<i64>,
    limit: usize,
) -> Result<PriceHistory> {
    let last = match before {
        Some(before) => before.saturating_sub(1),
        None => super::products::get_product(ctx, product).await?.told.map_or(0, |told| told.version),
    };
    if last < 1 {
        return Ok(PriceHistory { steps: Vec::new(), before: None });
    }
    let read = ReadStream { to: Some(last), direction: Direction::Backward, limit, ..ReadStream::default() };
    let page = events::list_events(ctx, rules::prices_of(product), read).await?;
    let mut steps = Vec::with_capacity(page.events.len());
    for event in &page.events {
        let change: PriceChange = serde_json::from_str(&event.event_data).map_err(|error| {
            let (version, product) = (event.event_version, product);
            DataError::corrupt("event_log", format!("version {version} of the prices of {product}: {error}"))
        })?;
        steps.push(PriceStep { version: event.event_version, at: event.event_timestamp, change });
    }
    Ok(PriceHistory { steps, before: page.next.and_then(|next| next.to).map(|to| to + 1) })
}
