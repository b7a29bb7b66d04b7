//! Views that are counted in memory until they are written: one write for the views of some seconds, and not one a view.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use uuid::Uuid;
use widerow::{Date, key::Tenant};

use super::{rules::Seen, sketch::VisitorHash};
use crate::{id::ProductId, settings::AnalyticsSettings};

/// Whose views, of what, on which day.
pub(super) type Key = (Tenant, ProductId, Date);

/// The buffer of a process, for all its tenants.
#[derive(Debug)]
pub(super) struct Views {
    /// By which the rows know this process.
    pub(super) process: Uuid,
    held: Mutex<Held>,
    /// One flush at a time, so that no two write the same views.
    pub(super) flushing: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Held {
    waiting: HashMap<Key, Seen>,
    /// On their way, and of some it is not known whether they arrived. They stay as they are until that is known.
    leaving: HashMap<Key, (Uuid, Seen)>,
    bytes: usize,
}

/// The buffer takes no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

impl Views {
    pub(super) fn new(process: Uuid) -> Self {
        Views { process, held: Mutex::default(), flushing: tokio::sync::Mutex::default() }
    }

    pub(super) fn count(&self, key: Key, visitor: VisitorHash, settings: &AnalyticsSettings) -> Result<(), Full> {
        let mut held = self.held();
        let new = !held.waiting.contains_key(&key);
        let products = held.waiting.len() + held.leaving.len();
        // One at least, or none would ever be counted.
        let (bytes_max, products_max) = (settings.views_bytes_max.max(1), settings.views_products_max.max(1));
        if held.bytes >= bytes_max || (new && products >= products_max) {
            return Err(Full);
        }
        let seen = held.waiting.entry(key.clone()).or_default();
        let before = if new { 0 } else { bytes(&key, seen) };
        seen.views += 1;
        seen.visitors.add(visitor);
        let after = bytes(&key, seen);
        held.bytes = (held.bytes + after).saturating_sub(before);
        Ok(())
    }

    /// Everything of which there are views.
    pub(super) fn keys(&self) -> HashSet<Key> {
        let held = self.held();
        held.leaving.keys().chain(held.waiting.keys()).cloned().collect()
    }

    /// What of this key is to be written, and as which flush: first what was on its way before, as it was.
    pub(super) fn leave(&self, key: &Key, new_id: impl FnOnce() -> Uuid) -> Option<(Uuid, Seen)> {
        let mut held = self.held();
        if let Some(known) = held.leaving.get(key) {
            return Some(known.clone());
        }
        let leaving = (new_id(), held.waiting.remove(key)?);
        held.leaving.insert(key.clone(), leaving.clone());
        Some(leaving)
    }

    /// It was written.
    pub(super) fn arrived(&self, key: &Key) {
        let mut held = self.held();
        if let Some((_, seen)) = held.leaving.remove(key) {
            held.bytes = held.bytes.saturating_sub(bytes(key, &seen));
        }
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.held().bytes
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // Nothing that is done under the lock can fail half-way.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an entry takes, about.
fn bytes(key: &Key, seen: &Seen) -> usize {
    size_of::<(Key, Seen)>() + key.0.as_str().len() + seen.visitors.memory_bytes()
}
