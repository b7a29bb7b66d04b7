//! How far the feed and those who follow it were when somebody last looked, for whoever watches over the process.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use super::{
    error::Result,
    ops::{ProjectionStatus, feed_position, list_projections},
};
use crate::context::Context;

/// Tenants that are told of.
const TENANTS_MAX: usize = 1_000;

/// What is known of a tenant's feed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventStats {
    pub tenant: String,
    /// The last place that was taken.
    pub position: i64,
    /// Each projection with the events that it does not know yet.
    pub lags: Vec<(String, i64)>,
}

#[derive(Default)]
pub(super) struct Stats(Mutex<BTreeMap<String, EventStats>>);

/// Looks how far the projections are, and remembers it for [`stats`].
pub async fn look_at_projections(ctx: &Context) -> Result<Vec<ProjectionStatus>> {
    let (position, all) = (feed_position(ctx).await?, list_projections(ctx).await?);
    let tenant = ctx.store.tenant().as_str().to_owned();
    let lags = all.iter().map(|status| (status.name.clone(), status.lag)).collect();
    let mut known = ctx.events.stats.0.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() < TENANTS_MAX || known.contains_key(&tenant) {
        known.insert(tenant.clone(), EventStats { tenant, position, lags });
    }
    Ok(all)
}

/// What was seen last, of every tenant of this process.
pub fn stats(ctx: &Context) -> Vec<EventStats> {
    let known = ctx.events.stats.0.lock().unwrap_or_else(PoisonError::into_inner);
    known.values().cloned().collect()
}
