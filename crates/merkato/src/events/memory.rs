//! What a process knows of events: who makes sense of them, who sequences at this moment, who waits for news.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicU64},
};

use tokio::sync::Notify;
use widerow::key::Tenant;

use super::{ops::Turn, registry::Registry, stats::Stats};

/// Tenants of whom something is remembered.
const TENANTS_MAX: usize = 1_000;

pub(crate) struct Memory {
    pub registry: Registry,
    pub(super) stats: Stats,
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
        Memory { registry, stats: Stats::default(), tenants: Mutex::default() }
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
