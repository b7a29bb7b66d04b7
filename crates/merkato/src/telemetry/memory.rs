//! What a process remembers, of all tenants, so that the same is not read and written for every measurement.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use foldhash::fast::RandomState;
use uuid::Uuid;
use widerow::{Timestamp, key::Tenant};

use super::{bucket, stats::Tally, tables::Sensor};
use crate::id::SensorId;

/// How long a sensor is taken for what it was: another process may have changed or retired it.
pub(super) const SENSOR_MILLIS: i64 = 10_000;
/// Sensors, and hours of sensors, that are remembered of one tenant.
const REMEMBERED_MAX: usize = 100_000;
/// Tenants of whom something is remembered.
const TENANTS_MAX: usize = 1_000;

#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(super) tally: Tally,
    tenants: Mutex<HashMap<Tenant, OfTenant>>,
}

#[derive(Debug, Default)]
struct OfTenant {
    /// And when they were read.
    sensors: HashMap<SensorId, (Arc<Sensor>, Timestamp), RandomState>,
    /// By the hours that they are of.
    marks: HashMap<(SensorId, i64), Uuid, RandomState>,
}

impl Memory {
    fn of<T>(&self, tenant: &Tenant, ask: impl FnOnce(&mut OfTenant) -> T) -> T {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody has so many; whoever makes them up has nothing remembered.
        if tenants.len() > TENANTS_MAX {
            tenants.clear();
        }
        match tenants.get_mut(tenant) {
            Some(known) => ask(known),
            None => ask(tenants.entry(tenant.clone()).or_default()),
        }
    }

    /// One for each, where it is known.
    pub fn sensors(
        &self,
        tenant: &Tenant,
        wanted: impl IntoIterator<Item = SensorId>,
        now: Timestamp,
    ) -> Vec<Option<Arc<Sensor>>> {
        let fresh = |read_at: Timestamp| (0..SENSOR_MILLIS).contains(&(now.millis() - read_at.millis()));
        self.of(tenant, |known| {
            let find = |sensor| known.sensors.get(&sensor).filter(|(_, read_at)| fresh(*read_at));
            wanted.into_iter().map(|sensor| Some(find(sensor)?.0.clone())).collect()
        })
    }

    pub fn keep_sensor(&self, tenant: &Tenant, sensor: Arc<Sensor>, now: Timestamp) {
        self.of(tenant, |known| {
            if known.sensors.len() >= REMEMBERED_MAX {
                known.sensors.clear();
            }
            known.sensors.insert(sensor.sensor_id, (sensor, now));
        });
    }

    /// What it has itself changed a process does not take for what it was.
    pub fn forget_sensor(&self, tenant: &Tenant, sensor: SensorId) {
        self.of(tenant, |known| known.sensors.remove(&sensor));
    }

    /// The marks that this process has placed for these hours, one for each. Only of hours that are open, as nobody removes those
    /// before.
    pub fn marks(
        &self,
        tenant: &Tenant,
        hours: impl IntoIterator<Item = (SensorId, i64)>,
        now: Timestamp,
    ) -> Vec<Option<Uuid>> {
        self.of(tenant, |known| {
            let mark = |hour| known.marks.get(&hour).copied().filter(|_| now < bucket::end_of(hour.1));
            hours.into_iter().map(mark).collect()
        })
    }

    /// Once the marks are committed.
    pub fn keep_marks(&self, tenant: &Tenant, placed: impl IntoIterator<Item = (SensorId, i64, Uuid)>, now: Timestamp) {
        self.of(tenant, |known| {
            for (sensor, hour, token) in placed.into_iter().filter(|(_, hour, _)| now < bucket::end_of(*hour)) {
                if known.marks.len() >= REMEMBERED_MAX {
                    known.marks.retain(|(_, hour), _| now < bucket::end_of(*hour));
                }
                // Without it a mark is placed once more, and nothing is wrong.
                if known.marks.len() < REMEMBERED_MAX {
                    known.marks.insert((sensor, hour), token);
                }
            }
        });
    }
}
