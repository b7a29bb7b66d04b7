use proptest::prelude::*;
use rust_decimal::Decimal;

use crate::telemetry::figures::{Summary, limits};

/// Values are whole numbers of this, which are exact as numbers: the two passes below are exact whole-number arithmetic.
const UNIT: f64 = 1.0 / 1024.0;

fn value(units: i64) -> f64 {
    units as f64 * UNIT
}

/// Mean and sum of squares, from sums without any rounding.
fn exactly(units: &[i64]) -> (f64, f64) {
    let count = units.len() as i128;
    let sum: i128 = units.iter().map(|&units| i128::from(units)).sum();
    let squares: i128 = units.iter().map(|&units| i128::from(units).pow(2)).sum();
    let m2 = (count * squares - sum * sum) as f64 / count as f64;
    // Of the mean the whole part and the rest apart, as their sum has no room in a number.
    let mean = (sum / count) as f64 * UNIT + (sum % count) as f64 / count as f64 * UNIT;
    (mean, m2 * UNIT * UNIT)
}

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs()
}

#[track_caller]
fn assert_exact(summary: &Summary, units: &[i64]) {
    let (mean, m2) = exactly(units);
    assert_eq!(summary.count(), units.len() as u64);
    let found = summary.mean().expect("some");
    // A mean near nought of values that are not is a difference of large sums: what counts is what they vary by.
    let scale = mean.abs().max((m2 / units.len() as f64).sqrt());
    assert!((found - mean).abs() <= 1e-9 * scale, "mean {found}, not {mean}");
    assert!(near(summary.m2(), m2), "m2 {}, not {m2}", summary.m2());
    assert!(near(summary.stddev().expect("some"), (m2 / units.len() as f64).sqrt()));
    assert_eq!(summary.min(), units.iter().min().map(|&units| value(units)));
    assert_eq!(summary.max(), units.iter().max().map(|&units| value(units)));
}

fn of(units: &[i64]) -> Summary {
    Summary::of(units.iter().map(|&units| value(units))).expect("in range")
}

#[test]
fn nothing_has_no_figures_and_changes_none() {
    let none = Summary::of([]).expect("nothing");
    assert!(none.is_empty());
    assert_eq!(
        (none.mean(), none.min(), none.max(), none.stddev(), none.sample_stddev()),
        (None, None, None, None, None)
    );
    assert_eq!((none.mean_decimal(), none.stddev_decimal()), (Ok(None), Ok(None)));
    let some = Summary::of([1.0, 5.0]).expect("in range");
    assert_eq!(some.merged(&none), some);
    assert_eq!(none.merged(&some), some);
    assert_eq!(none.merged(&none), Summary::EMPTY);
}

#[test]
fn one_value_is_its_own_mean_and_does_not_vary() {
    let one = Summary::of_one(-21.7).expect("in range");
    assert_eq!((one.mean(), one.min(), one.max()), (Some(-21.7), Some(-21.7), Some(-21.7)));
    assert_eq!((one.variance(), one.stddev()), (Some(0.0), Some(0.0)));
    assert_eq!(one.sample_variance(), None, "one value is no sample");
}

#[test]
fn a_known_set_has_the_known_deviations() {
    let known = Summary::of([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).expect("in range");
    assert_eq!((known.mean(), known.stddev()), (Some(5.0), Some(2.0)));
    assert!(near(known.sample_variance().expect("eight"), 32.0 / 7.0));
}

#[test]
fn a_large_offset_leaves_the_deviation_as_it_is() {
    // A billion and up to a hundredth: sixty minutes of it, then a day.
    let noise = |n: i64| 1_000_000_000 * 1024 + n * 7919 % 11;
    let hours: Vec<Vec<i64>> =
        (0..24).map(|hour| (0..3_600).map(|second| noise(hour * 3_600 + second)).collect()).collect();
    let mut day = Summary::EMPTY;
    for hour in &hours {
        assert_exact(&of(hour), hour);
        day.merge(&of(hour));
    }
    assert_exact(&day, &hours.concat());
}

#[test]
fn what_is_no_number_or_too_large_is_refused_and_changes_nothing() {
    let mut some = Summary::of([1.0, 2.0]).expect("in range");
    let before = some;
    for (value, code) in [(f64::NAN, "not_finite"), (f64::INFINITY, "not_finite"), (-1.1e15, "too_large")] {
        assert_eq!(some.add(value).expect_err("bad").code(), code);
    }
    assert_eq!(some, before);
    assert_eq!(Summary::from_parts(2, 1.0, f64::NAN, 1.0, 1.0).expect_err("bad").code(), "not_finite");
    assert_eq!(Summary::from_parts(2, 1.0, -1.0, 1.0, 1.0).expect_err("bad").code(), "invalid");
    assert_eq!(Summary::from_parts(2, 3.0, 0.0, 1.0, 2.0).expect_err("bad").code(), "invalid");
    assert_eq!(Summary::from_parts(2, 1.5, 0.51, 1.0, 2.0).expect_err("bad").code(), "invalid");
    assert!(Summary::from_parts(2, 1.5, 0.5, 1.0, 2.0).is_ok());
    assert_eq!(Summary::from_parts(0, 3.0, 1.0, 1.0, 2.0), Ok(Summary::EMPTY));
}

#[test]
fn the_largest_values_have_figures_and_decimals() {
    let most = limits::VALUE_MAX;
    let both = Summary::of([most, -most, most, -most]).expect("at the limit");
    assert_eq!((both.mean(), both.stddev()), (Some(0.0), Some(most)));
    assert_eq!(both.stddev_decimal(), Ok(Some(Decimal::from(1_000_000_000_000_000_i64))));
    let stored = Summary::from_stored(u64::MAX, Decimal::MAX, Decimal::MAX, Decimal::MAX, Decimal::MAX);
    assert_eq!(stored.expect_err("too large").code(), "too_large");
    let mut many = Summary::from_parts(u64::MAX, 1.0, 0.0, 1.0, 1.0).expect("many");
    many.add(1.0).expect("one more");
    assert_eq!(many.count(), u64::MAX, "it stays at what can be counted");
}

fn stored(summary: &Summary) -> Summary {
    let decimal = |of: Option<Decimal>| of.expect("some");
    Summary::from_stored(
        summary.count(),
        decimal(summary.mean_decimal().expect("a decimal")),
        decimal(summary.stddev_decimal().expect("a decimal")),
        decimal(summary.min_decimal().expect("a decimal")),
        decimal(summary.max_decimal().expect("a decimal")),
    )
    .expect("as it was stored")
}

fn units() -> impl Strategy<Value = Vec<i64>> {
    let offsets = prop_oneof![Just(0), Just(1024 * 1_000_000_000), Just(-1024 * 1_000_000_000), -10_000_i64..10_000];
    let noises = prop_oneof![Just(0_i64), Just(3), Just(10_000), Just(1 << 40)];
    (offsets, noises, 1_usize..200).prop_flat_map(|(offset, noise, count)| {
        prop::collection::vec((-noise..=noise).prop_map(move |units| offset + units), count)
    })
}

/// Merges neighbours picked at random until one is left, so that every grouping can come about.
fn merged(mut parts: Vec<Summary>, picks: &[prop::sample::Index], through_store: bool) -> Summary {
    for pick in picks.iter().cycle() {
        if parts.len() == 1 {
            break;
        }
        let one = parts.swap_remove(pick.index(parts.len()));
        let other = parts.swap_remove(pick.index(parts.len()));
        let both = one.merged(&other);
        parts.push(if through_store && !both.is_empty() { stored(&both) } else { both });
    }
    parts.pop().expect("one")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn any_split_and_any_order_of_merging_are_the_two_passes(
        units in units(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 1..20),
        through_store in any::<bool>(),
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(units.len() + 1)).collect();
        cuts.extend([0, units.len()]);
        cuts.sort_unstable();
        let parts = cuts.windows(2).map(|pair| of(&units[pair[0]..pair[1]])).collect();
        assert_exact(&merged(parts, &picks, through_store), &units);
        assert_exact(&of(&units), &units);
    }

    #[test]
    fn what_is_stored_comes_back(units in units()) {
        assert_exact(&stored(&of(&units)), &units);
    }
}
