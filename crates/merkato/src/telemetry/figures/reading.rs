//! One value of one metric at one time, and the time that is looked at.

use widerow::Timestamp;

use super::{
    error::{Error, Result},
    limits,
};

/// A value at a time. The value is finite and within `limits::VALUE_MAX`, and the time one that engines can keep: distances of two
/// have room.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    at: Timestamp,
    value: f64,
}

impl Reading {
    pub fn new(at: Timestamp, value: f64) -> Result<Self> {
        if !at.in_range() {
            return Err(Error::invalid("at", "times lie in the years 0000 to 9999"));
        }
        Ok(Reading { at, value: check_value("value", value)? })
    }

    pub fn at(self) -> Timestamp {
        self.at
    }

    pub fn value(self) -> f64 {
        self.value
    }
}

/// From a time to before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub from: Timestamp,
    pub to: Timestamp,
}

impl Span {
    pub fn new(from: Timestamp, to: Timestamp) -> Result<Self> {
        match from.in_range() && to.in_range() {
            false => Err(Error::invalid("from", "times lie in the years 0000 to 9999")),
            true if from >= to => Err(Error::invalid("to", "it must be after from")),
            true => Ok(Span { from, to }),
        }
    }

    pub fn millis(self) -> i64 {
        self.to.millis().saturating_sub(self.from.millis())
    }

    pub fn contains(self, at: Timestamp) -> bool {
        (self.from..self.to).contains(&at)
    }
}

/// The same value, if it can be reckoned with.
pub(super) fn check_value(field: &'static str, value: f64) -> Result<f64> {
    if !value.is_finite() {
        return Err(Error::NotFinite { field, value });
    }
    if value.abs() > limits::VALUE_MAX {
        return Err(Error::TooLarge { field, value });
    }
    Ok(value)
}

/// That there are not too many, and each at the time of the one before or later.
pub(super) fn check_order(readings: &[Reading]) -> Result<()> {
    if readings.len() > limits::READINGS_MAX {
        let (found, limit) = (readings.len() as u64, limits::READINGS_MAX as u64);
        return Err(Error::TooMany { field: "readings", found, limit });
    }
    match readings.windows(2).find(|pair| pair[1].at < pair[0].at) {
        Some(pair) => Err(Error::OutOfOrder { at: pair[1].at }),
        None => Ok(()),
    }
}
