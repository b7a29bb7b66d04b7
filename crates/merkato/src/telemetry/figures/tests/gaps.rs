use proptest::prelude::*;

use super::{HOUR, MINUTE, at, minutes, reading, span};
use crate::telemetry::figures::{Expected, Gap, Reading, gaps, limits};

fn each_minute() -> Expected {
    Expected::every(MINUTE).expect("an interval")
}

fn found(readings: &[Reading]) -> Vec<Gap> {
    gaps(readings, span(0, HOUR), &each_minute()).expect("in order")
}

#[test]
fn a_full_hour_has_no_gap_wherever_its_seconds_fall() {
    assert_eq!(found(&minutes((0..60).map(f64::from))), []);
    let shifted: Vec<Reading> = (0..60).map(|n| reading(n * MINUTE + 59_999, 1.0)).collect();
    assert_eq!(found(&shifted), []);
    let trembling: Vec<Reading> = (0..60).map(|n| reading(n * MINUTE + n % 3 * 10_000, 1.0)).collect();
    assert_eq!(found(&trembling), []);
}

#[test]
fn gaps_at_the_begin_inside_and_at_the_end_are_counted() {
    let readings: Vec<Reading> = (0..60)
        .filter(|n| !(0..5).contains(n) && !(20..23).contains(n) && !(50..60).contains(n))
        .map(|n| reading(n * MINUTE, 1.0))
        .collect();
    let minute = |from: i64, to: i64, missing| Gap { from: at(from * MINUTE), to: at(to * MINUTE), missing };
    assert_eq!(found(&readings), [minute(0, 5, 5), minute(19, 23, 3), minute(49, 60, 10)]);
}

#[test]
fn nothing_at_all_is_one_gap() {
    assert_eq!(found(&[]), [Gap { from: at(0), to: at(HOUR), missing: 60 }]);
    let other_hour = [reading(-MINUTE, 1.0), reading(HOUR, 1.0)];
    assert_eq!(found(&other_hour), found(&[]), "what is outside does not count");
    let short = gaps(&[], span(0, 1_000), &each_minute()).expect("nothing");
    assert_eq!(short, [], "a second expects nothing of a sensor that sends each minute");
}

#[test]
fn repeated_times_are_no_gap_and_disorder_is_refused() {
    let mut readings = minutes((0..60).map(f64::from));
    readings.insert(30, readings[30]);
    assert_eq!(found(&readings), []);
    readings.swap(3, 4);
    let refused = gaps(&readings, span(0, HOUR), &each_minute()).expect_err("not in order");
    assert_eq!(refused.code(), "out_of_order");
}

#[test]
fn intervals_that_make_no_sense_are_refused() {
    for (interval, tolerance) in [(0, 0), (-1, 0), (i64::MAX, 0), (1, -1), (1, i64::MAX)] {
        assert_eq!(Expected::new(interval, tolerance).expect_err("no sense").code(), "invalid");
    }
    assert_eq!(Expected::every(limits::INTERVAL_MS_MAX).expect("a year").count(span(0, HOUR)), 0);
}

proptest! {
    /// Minutes are left out at random: what came and what is missing are all that were expected.
    #[test]
    fn received_and_missing_are_expected(came in prop::collection::vec(any::<bool>(), 60)) {
        let came: Vec<i64> = (0..60).zip(came).filter(|(_, came)| *came).map(|(minute, _)| minute).collect();
        let readings: Vec<Reading> = came.iter().map(|minute| reading(minute * MINUTE, 1.0)).collect();
        let gaps = found(&readings);
        let missing: u64 = gaps.iter().map(|gap| gap.missing).sum();
        // That the first minute alone is missing cannot be told from a sensor that sends at the end of each minute.
        let unseen = u64::from(came.first() == Some(&1));
        prop_assert_eq!(missing + unseen + readings.len() as u64, 60);
        for gap in &gaps {
            prop_assert!(gap.from < gap.to && gap.missing > 0);
            prop_assert!(readings.iter().all(|reading| reading.at() <= gap.from || reading.at() >= gap.to));
        }
        prop_assert!(gaps.windows(2).all(|pair| pair[0].to <= pair[1].from));
    }
}
