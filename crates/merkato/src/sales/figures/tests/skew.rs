use proptest::prelude::*;
use rust_decimal::Decimal;

use super::decimal;
use crate::sales::figures::{Error, count_shards, limits, skew};

/// The document's function.
fn last_character(id: &str) -> u32 {
    id.encode_utf16().last().map_or(0, |unit| u32::from(unit) % 10)
}

#[test]
fn hexadecimal_ids_fill_six_shards_twice_as_much_as_the_other_four() {
    let ids: Vec<String> = (0..1_600).map(|n| format!("sale_{n:x}")).collect();
    let skew = skew(&count_shards(&ids, 10, |id| last_character(id)).expect("ten")).expect("few");
    let (more, less) = (decimal("0.125"), decimal("0.0625"));
    // The digits 0 to 9 fall into 8, 9, 0 … 7 and the letters a to f into 7, 8, 9, 0, 1, 2.
    assert_eq!(skew.shares, [more, more, more, less, less, less, less, more, more, more]);
    assert_eq!((skew.total, skew.mean, skew.fullest()), (1_600, decimal("160"), Some(0)));
    assert_eq!(skew.largest_to_mean, Some(decimal("1.25")));
    // Six shards have 40 more than 160, four have 60 less: (6·1600 + 4·3600) / 160.
    assert_eq!(skew.chi_square, Some(decimal("150")));
    assert_eq!(skew.unevenness, Some(decimal("0.09375")));
    assert_eq!(skew.degrees_of_freedom(), 9);
    assert_eq!(skew.to_string(), "the fullest of 10 shards is 0, with 12.5 % of 1600 keys, 1.25 times the mean");
}

#[test]
fn an_even_spread_is_even_and_nothing_has_no_spread() {
    let even = skew(&[7; 5]).expect("five");
    assert_eq!((even.largest_to_mean, even.chi_square), (Some(Decimal::ONE), Some(Decimal::ZERO)));
    let nothing = skew(&[0, 0]).expect("two");
    assert_eq!((nothing.largest_to_mean, nothing.chi_square, nothing.unevenness), (None, None, None));
    assert_eq!((nothing.shares.as_slice(), nothing.fullest()), (&[Decimal::ZERO; 2][..], None));
    assert_eq!(nothing.to_string(), "no keys");
}

#[test]
fn what_cannot_be_is_refused() {
    assert_eq!(skew(&[]).expect_err("none").to_string(), "shards: 0 is not 1 to 10000");
    assert_eq!(skew(&[u64::MAX, 1]), Err(Error::TooMuch { field: "counts" }));
    assert_eq!(count_shards(["a"], 2, |_| 2), Err(Error::NoSuchShard { found: 2, shards: 2 }));
    let all_in_one: Vec<u64> = [limits::KEYS_COUNTED_MAX].into_iter().chain([0; limits::SHARDS_MAX - 1]).collect();
    let skew = skew(&all_in_one).expect("the limits have room");
    assert_eq!(skew.largest_to_mean, Some(Decimal::from(limits::SHARDS_MAX)));
    assert_eq!(skew.unevenness, Some(Decimal::from(limits::SHARDS_MAX - 1)));
}

proptest! {
    #[test]
    fn chi_square_is_what_pearson_wrote(counts in prop::collection::vec(0_u64..10_000, 1..30)) {
        let skew = skew(&counts).expect("few");
        let total: u64 = counts.iter().sum();
        prop_assume!(total > 0);
        let mean = total as f64 / counts.len() as f64;
        let naive: f64 = counts.iter().map(|count| (*count as f64 - mean).powi(2) / mean).sum();
        let found: f64 = skew.chi_square.expect("keys").to_string().parse().expect("a number");
        prop_assert!((found - naive).abs() <= 1e-6 + naive * 1e-9, "{} is not {}", found, naive);
    }
}
