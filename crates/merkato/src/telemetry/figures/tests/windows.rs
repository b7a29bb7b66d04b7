use proptest::prelude::*;

use super::{HOUR, MINUTE, at, minutes, noise, reading};
use crate::telemetry::figures::{Reading, Summary, Window, Windows, limits, windows, windows_of_summaries};

fn of(readings: &[Reading], end: i64, size: i64, step: i64, count: u32) -> Vec<Window> {
    windows(readings, &Windows::new(at(end), size, step, count).expect("windows")).expect("in order")
}

#[test]
fn each_window_has_the_figures_of_its_readings() {
    let found = of(&minutes((0..10).map(f64::from)), 10 * MINUTE, 4 * MINUTE, 3 * MINUTE, 3);
    let figures: Vec<_> = found.iter().map(|w| (w.from, w.to, w.summary.count(), w.summary.mean())).collect();
    assert_eq!(
        figures,
        [
            (at(0), at(4 * MINUTE), 4, Some(1.5)),
            (at(3 * MINUTE), at(7 * MINUTE), 4, Some(4.5)),
            (at(6 * MINUTE), at(10 * MINUTE), 4, Some(7.5)),
        ]
    );
    assert_eq!((found[2].summary.min(), found[2].summary.max()), (Some(6.0), Some(9.0)));
    assert_eq!(found[2].summary.stddev(), Some(1.25_f64.sqrt()));
}

#[test]
fn a_window_without_readings_is_empty() {
    let readings = [reading(0, 5.0), reading(9 * MINUTE, 7.0)];
    let found = of(&readings, 10 * MINUTE, MINUTE, MINUTE, 10);
    let means: Vec<_> = found.iter().map(|window| window.summary.mean()).collect();
    assert_eq!(means[0], Some(5.0));
    assert_eq!(means[1..9], [None; 8]);
    assert_eq!(means[9], Some(7.0));
    assert!(of(&[], 0, 1, 1, 5).iter().all(|window| window.summary.is_empty()));
    assert_eq!(of(&readings, 0, 1, 1, 0), []);
}

#[test]
fn hours_slide_as_readings_do() {
    let readings = minutes((0..600).map(|n| 1e9 + noise(n)));
    let hours: Vec<_> = readings.chunks(60).map(|hour| (hour[0].at(), Summary::of_readings(hour))).collect();
    let asked = Windows::new(at(10 * HOUR), 3 * HOUR, HOUR, 8).expect("windows");
    let (fine, coarse) =
        (windows(&readings, &asked).expect("in order"), windows_of_summaries(&hours, &asked).expect("in order"));
    for (fine, coarse) in fine.iter().zip(&coarse) {
        assert_eq!((fine.from, fine.to, fine.summary.count()), (coarse.from, coarse.to, 180));
        let (fine, coarse) = (fine.summary.stddev().expect("some"), coarse.summary.stddev().expect("some"));
        assert!((fine - coarse).abs() < 1e-9 * fine, "{fine} {coarse}");
    }
    let mut disorder = hours.clone();
    disorder.swap(0, 1);
    assert_eq!(windows_of_summaries(&disorder, &asked).expect_err("not in order").code(), "out_of_order");
}

#[test]
fn windows_that_make_no_sense_are_refused() {
    for (size, step) in [(0, 1), (1, 0), (-5, 1), (i64::MAX, 1)] {
        assert_eq!(Windows::new(at(0), size, step, 1).expect_err("no sense").code(), "invalid");
    }
    assert_eq!(Windows::new(at(0), 1, 1, limits::WINDOWS_MAX + 1).expect_err("many").code(), "too_many");
    assert_eq!(Windows::new(at(i64::MIN), 1, 1, 1).expect_err("no time").code(), "invalid");
}

#[test]
fn many_windows_that_overlap_cost_little_more_than_their_readings() {
    // A hundred thousand readings in ten thousand windows that each hold half of them: one by one, that is half a billion.
    let readings: Vec<Reading> = (0..100_000).map(|n| reading(n * 1_000, noise(n))).collect();
    let begun = std::time::Instant::now();
    let found = of(&readings, 100_000_000, 50_000_000, 5_000, 10_000);
    let took = begun.elapsed();
    assert_eq!(found.last().map(|window| window.summary.count()), Some(50_000));
    eprintln!("ten thousand windows took {took:?}");
    assert!(took.as_secs() < 20, "{took:?}");
}

proptest! {
    #[test]
    fn windows_are_what_each_would_be_alone(
        steps in prop::collection::vec((0_i64..5, -1_000_i32..1_000), 0..80),
        end in 0_i64..150, size in 1_i64..40, step in 1_i64..40, count in 0_u32..30,
    ) {
        let mut time = 0;
        let readings: Vec<Reading> = steps.iter().map(|(wait, value)| { time += wait; reading(time, f64::from(*value)) }).collect();
        let found = of(&readings, end, size, step, count);
        prop_assert_eq!(found.len(), count as usize);
        for (n, window) in found.iter().rev().enumerate() {
            let to = end - n as i64 * step;
            prop_assert_eq!((window.from, window.to), (at(to - size), at(to)));
            let inside: Vec<&Reading> = readings.iter().filter(|r| (to - size..to).contains(&r.at().millis())).collect();
            let alone = Summary::of_readings(inside.iter().copied());
            prop_assert_eq!((window.summary.count(), window.summary.min(), window.summary.max()), (alone.count(), alone.min(), alone.max()));
            let near = |one: Option<f64>, other: Option<f64>| match (one, other) {
                (Some(one), Some(other)) => (one - other).abs() <= 1e-9 * alone.stddev().unwrap_or(0.0).max(other.abs()),
                (one, other) => one == other,
            };
            prop_assert!(near(window.summary.mean(), alone.mean()), "{:?} {:?}", window.summary, alone);
            prop_assert!(near(window.summary.stddev(), alone.stddev()), "{:?} {:?}", window.summary, alone);
        }
    }
}
