//! What a process remembers, of all tenants, so that the same is not read and written for every measurement.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use uuid::Uuid;
use widerow::{Timestamp, key::Tenant};

use super::{bucket, tables::Sensor};
use crate::id::SensorId;

/// How long a sensor is taken for what it was: another process may have changed or retired it.
const SENSOR_MILLIS: i64 = 10_000;
/// Sensors, and hours of sensors, that are remembered.
const REMEMBERED_MAX: usize = 100_000;

/// Sensors, and when they were read.
type Sensors = HashMap<(Tenant, SensorId), (Arc<Sensor>, Timestamp)>;

#[derive(Debug, Default)]
pub(crate) struct Memory {
    sensors: Mutex<Sensors>,
    marks: Mutex<HashMap<(Tenant, SensorId, i64), Uuid>>,
}

impl Memory {
    pub fn sensor(&self, tenant: &Tenant, sensor: SensorId, now: Timestamp) -> Option<Arc<Sensor>> {
        let known = self.sensors.lock().unwrap_or_else(PoisonError::into_inner);
        let (found, read_at) = known.get(&(tenant.clone(), sensor))?;
        let age = now.millis() - read_at.millis();
        (0..SENSOR_MILLIS).contains(&age).then(|| found.clone())
    }

    pub fn keep_sensor(&self, tenant: &Tenant, sensor: Arc<Sensor>, now: Timestamp) {
        let mut known = self.sensors.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED_MAX {
            known.clear();
        }
        known.insert((tenant.clone(), sensor.sensor_id), (sensor, now));
    }

    /// What it has itself changed a process does not take for what it was.
    pub fn forget_sensor(&self, tenant: &Tenant, sensor: SensorId) {
        self.sensors.lock().unwrap_or_else(PoisonError::into_inner).remove(&(tenant.clone(), sensor));
    }

    /// The mark that this process has placed for the hour. Only while the hour is open, as nobody removes it before.
    pub fn mark(&self, tenant: &Tenant, sensor: SensorId, hour: i64, now: Timestamp) -> Option<Uuid> {
        if now >= bucket::end_of(hour) {
            return None;
        }
        let marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        marks.get(&(tenant.clone(), sensor, hour)).copied()
    }

    /// Once the marks are committed.
    pub fn keep_marks(&self, tenant: &Tenant, placed: impl IntoIterator<Item = (SensorId, i64, Uuid)>, now: Timestamp) {
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        for (sensor, hour, token) in placed {
            if now >= bucket::end_of(hour) {
                continue;
            }
            if marks.len() >= REMEMBERED_MAX {
                marks.retain(|(_, _, hour), _| now < bucket::end_of(*hour));
            }
            // Without it a mark is placed once more, and nothing is wrong.
            if marks.len() < REMEMBERED_MAX {
                marks.insert((tenant.clone(), sensor, hour), token);
            }
        }
    }
}
