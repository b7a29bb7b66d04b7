use proptest::prelude::*;

use super::{minutes, noise, reading};
use crate::telemetry::figures::{
    MAD_SCALE, Middle, Outlier, OutlierReason, OutlierSettings, Plausible, limits, median, outliers,
};

fn found(values: impl IntoIterator<Item = f64>, plausible: Plausible, settings: OutlierSettings) -> Vec<Outlier> {
    outliers(&minutes(values), &plausible, &settings).expect("few")
}

#[test]
fn the_median_distance_is_worked_out_as_by_hand() {
    // The distances from 2 are 1 1 0 0 2 4 7, of which the middle one is 1.
    let middle = Middle::of(&mut [1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]).expect("some");
    assert_eq!((middle.median, middle.spread), (2.0, MAD_SCALE));
    assert_eq!(middle.score(2.0 + 3.0 * MAD_SCALE, 0.0), 3.0);
    assert_eq!(median(&mut [4.0, 1.0, 3.0, 2.0]), Some(2.5));
    assert_eq!(median(&mut [-1e15, 1e15]), Some(0.0));
    assert_eq!((median(&mut []), Middle::of(&mut [])), (None, None));
}

#[test]
fn a_spike_in_noise_is_far_from_the_median() {
    let values = (0..60).map(|n| if n == 30 { 40.0 } else { 20.0 + noise(n) });
    let found = found(values, Plausible::ANYTHING, OutlierSettings::default());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].value, found[0].reason.code()), (40.0, "far_from_median"));
    assert!(found[0].score > 20.0, "{found:?}");
}

#[test]
fn a_spike_in_a_constant_series_is_found_though_its_median_distance_is_nought() {
    let constant = || (0..60).map(|n| if n == 30 { 4.2 } else { 4.0 });
    let found_one = found(constant(), Plausible::ANYTHING, OutlierSettings::default());
    assert_eq!(found_one.iter().map(|outlier| outlier.value).collect::<Vec<_>>(), [4.2]);
    assert!(found_one[0].score.is_finite());
    let coarse = OutlierSettings { spread_min: 0.1, ..OutlierSettings::default() };
    assert_eq!(found(constant(), Plausible::ANYTHING, coarse), [], "a sensor that counts in tenths");
    assert_eq!(found([4.0; 60], Plausible::ANYTHING, OutlierSettings::default()), [], "nothing differs");
}

#[test]
fn where_more_than_half_are_equal_the_others_are_not_all_outliers() {
    let values = || (0..60).map(|n| if n % 2 == 0 || n == 1 { 4.0 } else { 4.0 + if n % 4 == 1 { 0.1 } else { -0.1 } });
    assert_eq!(found(values(), Plausible::ANYTHING, OutlierSettings::default()), []);
    let spike = found(values().chain([9.0]), Plausible::ANYTHING, OutlierSettings::default());
    assert_eq!(spike.iter().map(|outlier| outlier.value).collect::<Vec<_>>(), [9.0]);
}

#[test]
fn the_threshold_is_counted_in_spreads() {
    // Median 0, median distance 1: the last value is 4 / 1.4826 spreads away.
    let values = [-1.0, -1.0, -1.0, -1.0, 0.0, 1.0, 1.0, 1.0, 4.0];
    let of =
        |score_min| found(values, Plausible::ANYTHING, OutlierSettings { score_min, ..OutlierSettings::default() });
    assert_eq!(of(2.7), []);
    assert_eq!(
        of(2.69).iter().map(|outlier| (outlier.value, outlier.score)).collect::<Vec<_>>(),
        [(4.0, 4.0 / MAD_SCALE)]
    );
}

#[test]
fn what_is_not_plausible_is_named_even_alone() {
    let plausible = Plausible::new(Some(-30.0), Some(10.0)).expect("a range");
    let found = found([-273.0, -30.0, 10.0, 50.0], plausible, OutlierSettings::default());
    let reasons: Vec<_> = found.iter().map(|outlier| (outlier.value, outlier.reason)).collect();
    let (below, above) = (OutlierReason::BelowRange { low: -30.0 }, OutlierReason::AboveRange { high: 10.0 });
    assert_eq!(reasons, [(-273.0, below), (50.0, above)]);
    assert_eq!(found[1].score, 1.0, "one width above");
    let open = Plausible::new(None, Some(0.0)).expect("a range");
    assert_eq!(open.beyond(1.0), Some(OutlierReason::AboveRange { high: 0.0 }));
    assert_eq!(open.beyond(-1e15), None);
}

#[test]
fn few_readings_have_no_middle_and_many_hide_no_second_spike() {
    assert_eq!(found([1.0, 2.0, 900.0], Plausible::ANYTHING, OutlierSettings::default()), []);
    // A third of all are wild: mean and deviation would call nothing unusual.
    let values = (0..60).map(|n| if n % 3 == 0 { 500.0 + noise(n) } else { 20.0 + noise(n) });
    assert_eq!(found(values, Plausible::ANYTHING, OutlierSettings::default()).len(), 20);
}

#[test]
fn settings_and_ranges_that_make_no_sense_are_refused() {
    assert!(Plausible::new(Some(2.0), Some(1.0)).is_err());
    assert!(Plausible::new(Some(f64::NAN), None).is_err());
    for settings in [
        OutlierSettings { score_min: 0.0, ..OutlierSettings::default() },
        OutlierSettings { score_min: f64::NAN, ..OutlierSettings::default() },
        OutlierSettings { spread_min: -1.0, ..OutlierSettings::default() },
    ] {
        let refused = outliers(&[reading(0, 1.0)], &Plausible::ANYTHING, &settings).expect_err("no sense");
        assert_eq!(refused.code(), "invalid");
    }
}

/// By sorting.
fn slow_median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { (sorted[half - 1] + sorted[half]) / 2.0 }
}

proptest! {
    #[test]
    fn the_median_is_that_of_the_sorted_values(values in prop::collection::vec(-50_i32..50, 1..60)) {
        let mut values: Vec<f64> = values.into_iter().map(f64::from).collect();
        let expected = slow_median(&values);
        prop_assert_eq!(median(&mut values), Some(expected));
    }

    #[test]
    fn every_score_is_finite_and_from_the_threshold_on(
        values in prop::collection::vec(prop_oneof![-1e15..1e15, -1.0..1.0, Just(0.0)], 0..60),
        score_min in 0.5..20.0,
    ) {
        let settings = OutlierSettings { score_min, ..OutlierSettings::default() };
        for outlier in found(values.iter().copied(), Plausible::ANYTHING, settings) {
            prop_assert!((score_min..=limits::SCORE_MAX).contains(&outlier.score), "{:?}", outlier);
        }
    }

    #[test]
    fn a_shift_and_a_scale_change_no_verdict(values in prop::collection::vec(-100_i32..100, 8..60), shift in -64_i32..64) {
        let of = |scale: f64, shift: f64| {
            let values = values.iter().map(|&value| f64::from(value) * scale + shift);
            found(values, Plausible::ANYTHING, OutlierSettings::default()).iter().map(|o| o.at).collect::<Vec<_>>()
        };
        prop_assert_eq!(of(1.0, 0.0), of(4.0, f64::from(shift)));
    }
}
