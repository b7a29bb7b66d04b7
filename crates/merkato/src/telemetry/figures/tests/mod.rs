//! Figures against what a person, or a slower program, works out.

mod chart;
mod day;
mod decimal;
mod detector;
mod gaps;
mod nab;
mod outliers;
mod quality;
mod reading;
mod summary;
mod windows;

use widerow::Timestamp;

use super::{Reading, Span};

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn reading(millis: i64, value: f64) -> Reading {
    Reading::new(at(millis), value).expect("a good value")
}

fn span(from: i64, to: i64) -> Span {
    Span::new(at(from), at(to)).expect("a span")
}

/// One a minute, from nought on.
fn minutes(values: impl IntoIterator<Item = f64>) -> Vec<Reading> {
    (0..).zip(values).map(|(minute, value)| reading(minute * MINUTE, value)).collect()
}

/// Values that vary, and come out the same everywhere.
fn noise(n: i64) -> f64 {
    (n * 7919 % 101) as f64 / 101.0
}
