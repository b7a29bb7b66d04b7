//! The cold stores of the warehouses: what their sensors measure at every instant, made of a seed. One of them fails, slowly and
//! then visibly; another one had a bad line for some hours.
//!
//! What is measured at an instant follows from the seed, the sensor, the instant, and when the demo was made: measured again, it
//! is the same.

use std::{collections::BTreeMap, f64::consts::TAU};

use merkato::{
    id::SensorId,
    telemetry::{Metric, NewMeasurement, NewSensor},
};
use widerow::Timestamp;

use super::{furniture::Size, products::id};
use crate::dice::Dice;

/// Seconds between two measurements.
pub const INTERVAL_SECONDS: i64 = 600;
const HOUR_SECONDS: i64 = 3_600;
const DAY_SECONDS: i64 = 86_400;

/// How a sensor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Good,
    /// Its line was down for some hours before the demo was made.
    BadLine,
    /// It drifts, then has gaps and values that cannot be true, and is stuck in the end.
    Failing,
}

/// A sensor of a warehouse.
pub struct Place {
    pub name: &'static str,
    location: &'static str,
    kind: &'static str,
    /// Degrees in the middle, and how far the day moves them.
    degrees: f64,
    day: f64,
    /// Percent in the middle.
    humidity: Option<f64>,
    health: Health,
}

const fn place(name: &'static str, location: &'static str, kind: &'static str, degrees: f64) -> Place {
    Place { name, location, kind, degrees, day: 0.4, humidity: Some(82.0), health: Health::Good }
}

pub const PLACES: [Place; 7] = [
    place("Cold store Berlin", "Berlin, hall 1", "cold_store", 4.0),
    Place { humidity: None, ..place("Freezer Berlin", "Berlin, hall 2", "freezer", -20.0) },
    Place { health: Health::BadLine, ..place("Cold store Hamburg", "Hamburg, quay", "cold_store", 3.6) },
    Place { humidity: None, ..place("Freezer Hamburg", "Hamburg, quay", "freezer", -21.0) },
    place("Cold store Munich", "Munich, cellar", "cold_store", 4.4),
    Place { humidity: None, health: Health::Failing, ..place("Freezer Munich", "Munich, cellar", "freezer", -20.0) },
    Place { day: 5.0, humidity: Some(58.0), ..place("Loading bay Munich", "Munich, gate 3", "loading_bay", 13.0) },
];

impl Place {
    pub fn sensor_id(&self, seed: u64) -> SensorId {
        SensorId(id(seed, "sensor", self.name))
    }

    pub fn sensor(&self, seed: u64) -> NewSensor {
        let degrees = Metric {
            unit: Some("°C".into()),
            min: Some(self.degrees - 8.0 - self.day),
            max: Some(self.degrees + 8.0 + self.day),
        };
        let percent = Metric { unit: Some("%".into()), min: Some(0.0), max: Some(100.0) };
        let humidity = self.humidity.map(|_| ("humidity".to_owned(), percent));
        NewSensor {
            sensor_id: Some(self.sensor_id(seed)),
            name: self.name.into(),
            kind: self.kind.into(),
            location: Some(self.location.into()),
            metrics: [("temperature".to_owned(), degrees)].into_iter().chain(humidity).collect::<BTreeMap<_, _>>(),
            interval_seconds: u32::try_from(INTERVAL_SECONDS).unwrap_or(600),
        }
    }

    /// What was measured at an instant, if anything was. `made_at` is when the demo was made.
    fn measure(&self, seed: u64, at: i64, made_at: i64) -> Option<NewMeasurement> {
        let name = self.name.bytes().fold(seed, |sum, byte| sum.wrapping_mul(131).wrapping_add(byte.into()));
        let mut dice = Dice::new(name ^ (at as u64).wrapping_mul(0x9e37_79b9));
        let mut noise = |size: f64| (dice.below(2_001) - 1_000) as f64 / 1_000.0 * size;
        let ago = made_at - at;
        let wave = |period: i64| (at.rem_euclid(period) as f64 / period as f64 * TAU).sin();
        let mut degrees = self.degrees + self.day * wave(DAY_SECONDS) + 0.2 * wave(47 * 60) + noise(0.15);
        let humidity = self.humidity.map(|middle| middle - 3.0 * wave(DAY_SECONDS) + noise(1.0));
        match self.health {
            Health::Good => {}
            Health::BadLine => {
                // Nothing for some hours, and now and then nothing.
                let torn = (6 * HOUR_SECONDS..20 * HOUR_SECONDS).contains(&ago) && dice.one_in(4);
                if (9 * HOUR_SECONDS..12 * HOUR_SECONDS).contains(&ago) || torn {
                    return None;
                }
            }
            Health::Failing => {
                degrees += 0.25 * (14.0 - ago as f64 / DAY_SECONDS as f64).max(0.0);
                if ago < 3 * DAY_SECONDS {
                    // Each seventh hour is lost, and some values cannot be true.
                    if at.div_euclid(HOUR_SECONDS) % 7 == 0 && ago > 6 * HOUR_SECONDS {
                        return None;
                    }
                    if dice.one_in(40) {
                        degrees = self.degrees + 14.0 + dice.below(400) as f64 / 100.0;
                    }
                }
                // For good, up to this day.
                if ago < 6 * HOUR_SECONDS {
                    degrees = -16.37;
                }
            }
        }
        let hundredths = |value: f64| (value * 100.0).round() / 100.0;
        let mut measured = NewMeasurement::new(self.sensor_id(seed), Timestamp::from_millis(at * 1_000));
        measured.temperature = Some(hundredths(degrees));
        measured.humidity = humidity.map(hundredths);
        Some(measured)
    }

    /// Everything that is measured from one instant to before another, in the order of time.
    pub fn measurements(
        &self,
        seed: u64,
        (from, to): (Timestamp, Timestamp),
        made_at: Timestamp,
    ) -> impl Iterator<Item = NewMeasurement> {
        let seconds = |at: Timestamp| at.millis().div_euclid(1_000);
        let first = seconds(from).div_euclid(INTERVAL_SECONDS);
        let last = seconds(to).div_euclid(INTERVAL_SECONDS);
        let made_at = seconds(made_at);
        (first..=last)
            .map(|n| n * INTERVAL_SECONDS)
            .filter(move |at| (seconds(from)..seconds(to)).contains(at))
            .filter_map(move |at| self.measure(seed, at, made_at))
    }
}

/// Days before the demo was made that are measured.
pub fn days(size: Size) -> i64 {
    if size == Size::Small { 9 } else { 30 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_is_the_same_every_time_and_one_sensor_fails() {
        let made_at: Timestamp = "2026-11-15T12:00:00Z".parse().expect("an instant");
        let from = made_at.plus_seconds(-30 * DAY_SECONDS);
        for place in &PLACES {
            let all: Vec<_> = place.measurements(1, (from, made_at), made_at).collect();
            let later = made_at.plus_seconds(DAY_SECONDS);
            let again: Vec<_> = place.measurements(1, (from, later), made_at).take(all.len()).collect();
            assert_eq!(all, again, "{}", place.name);
            let expected = 30 * DAY_SECONDS / INTERVAL_SECONDS;
            match place.health {
                Health::Good => assert_eq!(all.len() as i64, expected, "{}", place.name),
                Health::BadLine => assert!((expected - 60..expected - 18).contains(&(all.len() as i64))),
                Health::Failing => {
                    let last: Vec<_> = all.iter().rev().take(35).map(|one| one.temperature).collect();
                    assert!(last.iter().all(|value| *value == Some(-16.37)), "{last:?}");
                    assert!(all.len() as i64 <= expected - 48);
                }
            }
            let range = place.sensor(1).metrics.remove("temperature").expect("degrees");
            let outside = |one: &&NewMeasurement| one.temperature < range.min || one.temperature > range.max;
            let outside = all.iter().filter(outside).count();
            assert_eq!(outside > 2, place.health == Health::Failing, "{}: {outside}", place.name);
        }
    }
}
