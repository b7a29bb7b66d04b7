use proptest::prelude::*;
use rust_decimal::Decimal;

use super::{cents, decimal};
use crate::sales::figures::{Histogram, MinorUnits, histogram, limits};

fn of(prices: impl IntoIterator<Item = i64>) -> Histogram {
    histogram(prices.into_iter().map(cents), MinorUnits::CENTS).expect("few")
}

#[test]
fn a_thousand_even_prices_have_as_many_bins_as_freedman_and_diaconis_ask_for() {
    // The middle half spans 499.50, twice that by the cube root of a thousand is 99.90: a width of 100.
    let histogram = of((0..1_000).map(|n| n * 100));
    assert_eq!(histogram.width, decimal("100"));
    assert_eq!(histogram.bins.iter().map(|bin| bin.count).collect::<Vec<_>>(), [100; 10]);
    assert_eq!((histogram.bins[0].from, histogram.bins[9].below), (decimal("0"), decimal("1000")));
}

#[test]
fn a_price_at_an_edge_is_in_the_bin_above_it() {
    let histogram = of([1_000, 1_999, 2_000, 2_001, 5_000, 5_999]);
    for bin in &histogram.bins {
        let inside = [1_000, 1_999, 2_000, 2_001, 5_000, 5_999].map(cents);
        let inside = inside.iter().filter(|price| (bin.from..bin.below).contains(price)).count();
        assert_eq!(bin.count, inside as u64, "{bin:?}");
    }
}

#[test]
fn prices_that_hardly_differ_stand_between_empty_bins() {
    let one = of([9_999]);
    assert_eq!(one.width, cents(1));
    assert_eq!(one.bins.iter().map(|bin| bin.count).collect::<Vec<_>>(), [0, 0, 1, 0, 0]);
    assert_eq!(one.bins[2].from, cents(9_999));
    let free = of([0, 0, 0, 1]);
    assert_eq!(free.bins.iter().map(|bin| bin.count).collect::<Vec<_>>(), [3, 1, 0, 0, 0], "not below zero");
}

#[test]
fn equal_quartiles_leave_it_to_sturges() {
    // Nine of ten are equal, one is far away: ten prices ask for five bins of at least 20.
    let histogram = of([1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 11_000]);
    assert_eq!(histogram.width, decimal("20"));
    assert_eq!(histogram.bins.first().map(|bin| bin.count), Some(9));
    assert_eq!(histogram.bins.last().map(|bin| bin.count), Some(1));
    assert_eq!(histogram.bins.len(), 6);
}

#[test]
fn nothing_has_no_bins_and_a_bad_price_is_refused() {
    assert_eq!(of([]), Histogram { count: 0, width: Decimal::ZERO, bins: vec![] });
    assert_eq!(histogram([decimal("-1")], MinorUnits::CENTS).expect_err("negative").code(), "invalid");
}

fn is_nice(width: Decimal) -> bool {
    let mut digits = width.mantissa();
    while digits % 10 == 0 {
        digits /= 10;
    }
    [1, 2, 5].contains(&digits)
}

fn prices() -> impl Strategy<Value = Vec<i64>> {
    let most = limits::PRICE_MINOR_UNITS_MAX;
    prop_oneof![
        prop::collection::vec(0..=most, 1..50),
        prop::collection::vec(0_i64..20, 1..50),
        prop::collection::vec(prop_oneof![Just(0), Just(most), Just(most - 1), 0_i64..100], 1..50),
        (0..=most - 10_000, prop::collection::vec(0_i64..10_000, 1..300))
            .prop_map(|(from, prices)| prices.into_iter().map(|price| from + price).collect()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn every_price_is_in_exactly_one_bin(prices in prices()) {
        let histogram = of(prices.iter().copied());
        prop_assert!(is_nice(histogram.width), "{}", histogram.width);
        prop_assert!((5..=60).contains(&histogram.bins.len()), "{}", histogram.bins.len());
        prop_assert_eq!(histogram.count, prices.len() as u64);
        prop_assert_eq!(histogram.bins.iter().map(|bin| bin.count).sum::<u64>(), histogram.count);
        prop_assert!(histogram.bins.windows(2).all(|pair| pair[0].below == pair[1].from));
        for bin in &histogram.bins {
            prop_assert_eq!(bin.below - bin.from, histogram.width);
            prop_assert!((bin.from / histogram.width).is_integer() && bin.from >= Decimal::ZERO);
            let inside = prices.iter().filter(|price| (bin.from..bin.below).contains(&cents(**price)));
            prop_assert_eq!(bin.count, inside.count() as u64);
        }
        let backwards = of(prices.iter().rev().copied());
        prop_assert_eq!(backwards, histogram);
    }
}
