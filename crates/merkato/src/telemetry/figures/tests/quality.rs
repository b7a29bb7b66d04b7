use proptest::prelude::*;

use super::{HOUR, MINUTE, at, minutes, noise, reading, span};
use crate::telemetry::figures::{
    Expected, Norm, Plausible, Quality, Reading, StuckRun, StuckSettings, changes, quality, stuck,
};

fn norm() -> Norm {
    let plausible = Plausible::new(Some(-30.0), Some(50.0)).expect("a range");
    Norm::new(Expected::every(MINUTE).expect("an interval"), plausible)
}

fn of(readings: &[Reading]) -> Quality {
    quality(readings, span(0, HOUR), &norm()).expect("in order")
}

fn good() -> Vec<Reading> {
    minutes((0..60).map(|n| 20.0 + noise(n)))
}

#[test]
fn a_good_hour_is_one_and_has_nothing_against_it() {
    let quality = of(&good());
    assert_eq!((quality.score, quality.received, quality.expected), (1.0, 60, 60));
    assert_eq!(quality.reasons(), Vec::<String>::new());
}

#[test]
fn an_empty_hour_is_nought() {
    let quality = of(&[]);
    assert_eq!((quality.score, quality.received, quality.completeness, quality.continuity), (0.0, 0, 0.0, 0.0));
    assert_eq!(quality.reasons(), ["0 of 60 readings came", "1 gap, the longest of 60 minutes"]);
}

#[test]
fn half_an_hour_missing_counts_once() {
    let quality = of(&good()[..30]);
    assert_eq!((quality.completeness, quality.continuity, quality.score), (0.5, 0.5, 0.5));
    assert_eq!(quality.reasons(), ["30 of 60 readings came", "1 gap, the longest of 31 minutes"]);
}

#[test]
fn many_readings_at_once_do_not_cover_an_hour() {
    let burst: Vec<Reading> = (0..600).map(|n| reading(n * 100, 20.0 + noise(n))).collect();
    let quality = of(&burst);
    assert_eq!(quality.completeness, 1.0, "more than expected is no merit");
    assert!(quality.score < 0.05, "{quality:?}");
}

#[test]
fn outliers_and_repetitions_are_told() {
    let mut readings = good();
    readings[10] = reading(10 * MINUTE, 99.0);
    readings[20] = reading(20 * MINUTE, 45.0);
    readings.iter_mut().skip(40).take(15).for_each(|stuck| *stuck = reading(stuck.at().millis(), 20.5));
    let quality = of(&readings);
    assert_eq!((quality.plausibility, quality.liveliness), (58.0 / 60.0, 45.0 / 60.0));
    assert!((quality.score - 58.0 / 60.0 * 0.75).abs() < 1e-12);
    assert_eq!(
        quality.reasons(),
        [
            "1 reading outside of what is plausible",
            "1 reading far from the median",
            "the value 20.5 came 15 times in a row"
        ]
    );
    let run = StuckRun { from: at(40 * MINUTE), to: at(54 * MINUTE), value: 20.5, readings: 15 };
    assert_eq!(quality.stuck, [run]);
}

#[test]
fn a_series_at_rest_is_not_stuck_unless_it_usually_moves() {
    let rest = minutes([4.0; 60]);
    assert_eq!(of(&rest).score, 1.0);
    let usual = changes(&good());
    assert_eq!(usual, Some(1.0));
    let quality = quality(&rest, span(0, HOUR), &Norm { usual_changes: usual, ..norm() }).expect("in order");
    assert_eq!((quality.score, quality.stuck.len()), (0.0, 1), "yesterday it moved");
}

#[test]
fn what_was_usual_before_comes_before_what_an_hour_says() {
    let mut readings = good();
    readings.iter_mut().take(30).for_each(|still| *still = reading(still.at().millis(), 20.0));
    assert_eq!(stuck(&readings, &StuckSettings::default(), None).map(|runs| runs.len()), Ok(1));
    assert_eq!(stuck(&readings, &StuckSettings::default(), Some(0.1)), Ok(vec![]), "it rests most of the time");
}

#[test]
fn a_coarse_sensor_may_repeat_itself() {
    // Whole degrees of a slow curve: each value comes fifteen times.
    let coarse = minutes((0..60).map(|n| 20.0 + f64::from(n / 15)));
    assert_eq!(stuck(&coarse, &StuckSettings::default(), None), Ok(vec![]));
    assert_eq!(stuck(&coarse, &StuckSettings::default(), changes(&coarse)), Ok(vec![]));
    assert!(stuck(&coarse, &StuckSettings { repeats_min: 1, ..StuckSettings::default() }, None).is_err());
    assert!(stuck(&coarse, &StuckSettings { changes_min: f64::NAN, ..StuckSettings::default() }, None).is_err());
}

proptest! {
    #[test]
    fn a_score_is_the_product_of_its_parts(
        came in prop::collection::vec((any::<bool>(), prop_oneof![-100_i32..100, Just(7)]), 0..120),
    ) {
        let readings: Vec<Reading> =
            (0..).zip(came).filter(|(_, (came, _))| *came).map(|(n, (_, v))| reading(n * MINUTE / 2, f64::from(v))).collect();
        let quality = of(&readings);
        for part in [quality.completeness, quality.continuity, quality.plausibility, quality.liveliness, quality.score] {
            prop_assert!((0.0..=1.0).contains(&part), "{:?}", quality);
        }
        prop_assert_eq!(quality.coverage, quality.completeness.min(quality.continuity));
        if !readings.is_empty() {
            prop_assert_eq!(quality.score, quality.coverage * quality.plausibility * quality.liveliness);
        }
        prop_assert!(quality.score < 1.0 || quality.reasons().is_empty());
    }
}
