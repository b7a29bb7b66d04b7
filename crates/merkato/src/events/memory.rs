//! What a process knows of events: who makes sense of them, who sequences at this moment, who waits for news.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicU64},
};

use quick_cache::{Weighter, sync::Cache};
use tokio::sync::Notify;
use widerow::{Remembered, key::Tenant};

use super::{ops::Turn, registry::Registry, stats::Stats};
use crate::{id::AggregateId, limits};

/// Tenants of whom something is remembered.
const TENANTS_MAX: usize = 1_000;
/// Streams that room is made for beforehand, of those whose heads are remembered.
const STREAMS_EXPECTED: usize = 1_024;
/// What a head that is remembered takes beside its cells, about.
const HEAD_BYTES: u64 = 512;

pub(crate) struct Memory {
    pub registry: Registry,
    pub(super) stats: Stats,
    /// How this process left the streams that it appended to last, so that it need not read them to append again.
    heads: Cache<(Tenant, AggregateId), Remembered, ByBytes>,
    tenants: Mutex<HashMap<Tenant, Arc<OfTenant>>>,
}

/// What is shared by all who sequence for one tenant in this process.
#[derive(Default)]
pub(super) struct OfTenant {
    /// Held by whoever sequences.
    pub turn: tokio::sync::Mutex<Turn>,
    /// How many walks have begun, and the last one that went well.
    pub begun: AtomicU64,
    pub done: AtomicU64,
    /// Somebody appended, or gave places.
    pub news: Notify,
}

impl Memory {
    pub fn new(registry: Registry) -> Self {
        let heads = Cache::with_weighter(STREAMS_EXPECTED, limits::STREAM_HEADS_BYTES_MAX, ByBytes);
        Memory { registry, stats: Stats::default(), heads, tenants: Mutex::default() }
    }

    /// What is remembered of a stream, for the one who appends.
    pub(super) fn head<'m>(&'m self, tenant: &Tenant, stream: AggregateId) -> HeadOf<'m> {
        HeadOf { heads: &self.heads, key: (tenant.clone(), stream) }
    }

    pub(super) fn of(&self, tenant: &Tenant) -> Arc<OfTenant> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody has so many; whoever makes them up has nothing remembered.
        if tenants.len() > TENANTS_MAX {
            tenants.clear();
        }
        if let Some(known) = tenants.get(tenant) {
            return known.clone();
        }
        tenants.entry(tenant.clone()).or_default().clone()
    }
}

/// The head of one stream as this process left it.
pub(super) struct HeadOf<'m> {
    heads: &'m Cache<(Tenant, AggregateId), Remembered, ByBytes>,
    key: (Tenant, AggregateId),
}

impl widerow::Memory for HeadOf<'_> {
    fn take(&mut self) -> Option<Remembered> {
        self.heads.remove(&self.key).map(|(_, last)| last)
    }

    fn keep(&mut self, last: Remembered) {
        self.heads.insert(self.key.clone(), last);
    }
}

/// What is remembered is bounded by its bytes.
#[derive(Clone, Debug)]
struct ByBytes;

impl Weighter<(Tenant, AggregateId), Remembered> for ByBytes {
    fn weight(&self, _: &(Tenant, AggregateId), last: &Remembered) -> u64 {
        HEAD_BYTES + last.bytes() as u64
    }
}
