use proptest::prelude::*;

use super::{MINUTE, minutes, noise, reading};
use crate::telemetry::figures::{Line, Reading, chart};

fn of(readings: &[Reading], points_max: usize) -> Vec<Line> {
    chart(readings, points_max, MINUTE).expect("in order")
}

#[test]
fn few_readings_stay_as_they_are() {
    let readings = minutes((0..50).map(noise));
    assert_eq!(of(&readings, 50), std::slice::from_ref(&readings));
    assert_eq!(of(&[], 4), Vec::<Line>::new());
    assert_eq!(of(&readings[..1], 4), [readings[..1].to_vec()]);
}

#[test]
fn one_spike_among_many_thousand_is_kept() {
    let readings = minutes((0..20_000).map(|n| if n == 12_345 { 90.0 } else { 20.0 + noise(n) }));
    let lines = of(&readings, 100);
    assert_eq!(lines.len(), 1);
    assert!(lines[0].len() <= 100 && lines[0].len() > 80, "{}", lines[0].len());
    assert!(lines[0].contains(&readings[12_345]));
}

#[test]
fn a_line_ends_at_a_gap_even_between_readings_that_are_not_kept() {
    // Ten thousand minutes, of which each hundredth is missing, in so few points that most pieces have none.
    let whole = minutes((0..10_000).map(noise));
    let pieces: Vec<Reading> = whole.iter().copied().filter(|r| r.at().millis() / MINUTE % 100 != 0).collect();
    let lines = of(&pieces, 40);
    let piece = |reading: &Reading| reading.at().millis() / MINUTE / 100;
    assert!(lines.iter().all(|line| line.iter().all(|reading| piece(reading) == piece(&line[0]))), "{lines:?}");
    assert!(lines.concat().len() <= 40);
}

#[test]
fn what_makes_no_sense_is_refused() {
    assert_eq!(chart(&[], 3, 1).expect_err("few").code(), "invalid");
    assert_eq!(chart(&[], 100_001, 1).expect_err("many").code(), "invalid");
    assert_eq!(chart(&[], 100, 0).expect_err("no gap").code(), "invalid");
    assert_eq!(chart(&[reading(1, 0.0), reading(0, 0.0)], 100, 1).expect_err("disorder").code(), "out_of_order");
}

proptest! {
    #[test]
    fn points_are_readings_within_the_limit_and_the_extremes_are_among_them(
        steps in prop::collection::vec((0_i64..3 * MINUTE, -100_i32..100), 1..300),
        points_max in 4_usize..60,
    ) {
        let mut time = 0;
        let readings: Vec<Reading> = steps.iter().map(|(wait, value)| { time += wait; reading(time, f64::from(*value)) }).collect();
        let lines = of(&readings, points_max);
        let points = lines.concat();
        prop_assert!(points.len() <= points_max);
        prop_assert!(lines.iter().all(|line| !line.is_empty()));
        prop_assert!(points.windows(2).all(|pair| pair[0].at() <= pair[1].at()));
        prop_assert!(points.iter().all(|point| readings.contains(point)));
        prop_assert_eq!((points.first(), points.last()), (readings.first(), readings.last()));
        let extremes = |of: &[Reading]| {
            let values = || of.iter().map(|reading| reading.value());
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
        };
        prop_assert_eq!(extremes(&points), extremes(&readings));
        // Between two that are joined, every two readings that follow each other are near.
        for pair in lines.iter().flat_map(|line| line.windows(2)) {
            let between: Vec<&Reading> = readings.iter().filter(|r| (pair[0].at()..=pair[1].at()).contains(&r.at())).collect();
            prop_assert!(between.windows(2).all(|two| two[1].at().millis() - two[0].at().millis() <= MINUTE));
        }
        // And two that are not joined have a gap between them.
        for pair in lines.windows(2) {
            let (end, begin) = (pair[0][pair[0].len() - 1].at(), pair[1][0].at());
            let between: Vec<&Reading> = readings.iter().filter(|r| (end..=begin).contains(&r.at())).collect();
            prop_assert!(between.windows(2).any(|two| two[1].at().millis() - two[0].at().millis() > MINUTE));
        }
    }
}
