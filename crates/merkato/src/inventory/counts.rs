//! What this process has decided on holds, for whoever watches it.

use std::{
    collections::HashMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use widerow::key::Tenant;

use super::{
    error::Result,
    tables::{Hold, HoldState},
};
use crate::context::Context;

#[derive(Debug, Default)]
pub(crate) struct HoldCounts {
    held: AtomicU64,
    confirmed: AtomicU64,
    released: AtomicU64,
    returned: AtomicU64,
    refused: AtomicU64,
    ended: AtomicU64,
    in_force: Mutex<HashMap<Tenant, i64>>,
}

/// Answers to requests for holds since the process began, by the state that the hold was left in, and what the last sweep of
/// every shop saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HoldStats {
    pub held: u64,
    pub confirmed: u64,
    pub released: u64,
    pub returned: u64,
    pub refused: u64,
    /// Units whose hold had ended when a sweep came by.
    pub units_ended: u64,
    /// Units that were reserved when the last sweep came by.
    pub units_in_force: i64,
}

impl HoldCounts {
    pub(super) fn count(&self, answer: &Result<Hold>) {
        let cell = match answer {
            Ok(hold) => match hold.state {
                HoldState::Held => &self.held,
                HoldState::Confirmed => &self.confirmed,
                HoldState::Released => &self.released,
                HoldState::Returned => &self.returned,
            },
            Err(error) if error.is_refusal() => &self.refused,
            Err(_) => return,
        };
        cell.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn see(&self, tenant: &Tenant, in_force: i64, ended: i64) {
        self.ended.fetch_add(u64::try_from(ended).unwrap_or_default(), Ordering::Relaxed);
        self.in_force.lock().unwrap_or_else(PoisonError::into_inner).insert(tenant.clone(), in_force);
    }
}

/// Of all shops of the process.
pub fn stats(ctx: &Context) -> HoldStats {
    let counts = &ctx.stock_writer.counts;
    let load = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
    HoldStats {
        held: load(&counts.held),
        confirmed: load(&counts.confirmed),
        released: load(&counts.released),
        returned: load(&counts.returned),
        refused: load(&counts.refused),
        units_ended: load(&counts.ended),
        units_in_force: counts.in_force.lock().unwrap_or_else(PoisonError::into_inner).values().sum(),
    }
}
