use proptest::prelude::*;
use rust_decimal::{Decimal, RoundingStrategy};

use super::{cents, decimal};
use crate::{
    error::Kind,
    money::Currency,
    sales::figures::{
        MinorUnits, limits,
        units::{divide, quotient},
    },
};

#[test]
fn a_price_is_a_whole_number_of_minor_units_or_is_refused_by_name() {
    let units = MinorUnits::CENTS;
    for (text, whole) in [("99.99", 9_999), ("99.9900", 9_999), ("100", 10_000), ("0", 0), ("-0.00", 0)] {
        assert_eq!(units.whole("price", decimal(text)), Ok(whole), "{text}");
    }
    let refused = |text: &str| {
        let error = units.whole("price", decimal(text)).expect_err(text);
        assert_eq!((error.code(), error.kind()), ("invalid", Kind::Invalid));
        error.to_string()
    };
    assert_eq!(refused("9.999"), "price: 9.999 has more than 2 decimals");
    assert_eq!(refused("-0.01"), "price: a price is not negative");
    assert_eq!(refused("10000000000.01"), "price: the limit is 10000000000.00");
    assert_eq!(refused("79228162514264337593543950335"), "price: the limit is 10000000000.00");
    assert_eq!(units.whole("price", decimal("10000000000")), Ok(limits::PRICE_MINOR_UNITS_MAX));
}

#[test]
fn decimals_are_the_currencys() {
    assert_eq!(MinorUnits::of(&Currency::new("JPY")).expect("yen").decimals(), 0);
    assert_eq!(MinorUnits::of(&Currency::new("KWD")).expect("dinars").decimals(), 3);
    assert!(MinorUnits::of(&Currency::new("XYZ")).is_err());
    assert_eq!(MinorUnits::new(5).expect_err("five").to_string(), "decimals: 5 of them, the limit is 4");
    let yen = MinorUnits::new(0).expect("none");
    assert_eq!(yen.whole("price", decimal("120")), Ok(120));
    assert!(yen.whole("price", decimal("120.5")).is_err());
}

#[test]
fn quarters_have_no_more_decimals_than_they_take() {
    let text = |quarters| MinorUnits::CENTS.quarters(quarters).expect("small").to_string();
    assert_eq!(text(400), "1.00");
    assert_eq!(text(402), "1.005");
    assert_eq!(text(401), "1.0025");
    assert_eq!(text(0), "0.00");
}

#[test]
fn halves_go_away_from_zero() {
    assert_eq!([1, 3, -1, -3, 2, 0].map(|n| divide(n, 2)), [1, 2, -1, -2, 1, 0].map(Some));
    assert_eq!(divide(1, 0), None);
    assert_eq!(quotient(1, 3, 6), Some(decimal("0.333333")));
    assert_eq!(quotient(-2, 3, 2), Some(decimal("-0.67")));
    assert_eq!(quotient(i128::MAX, 1, 6), None, "too large to be told");
}

proptest! {
    #[test]
    fn a_quotient_is_the_decimals_own(dividend in -1_000_000_000_000_i64..1_000_000_000_000, divisor in 1_i64..1_000_000) {
        let naive = Decimal::from(dividend) / Decimal::from(divisor);
        let naive = naive.round_dp_with_strategy(6, RoundingStrategy::MidpointAwayFromZero);
        prop_assert_eq!(quotient(dividend.into(), divisor.into(), 6), Some(naive));
        prop_assert_eq!(quotient((-dividend).into(), (-divisor).into(), 6), Some(naive));
    }

    #[test]
    fn what_is_whole_is_told_as_it_came(price in 0_i64..=limits::PRICE_MINOR_UNITS_MAX, decimals in 0_u32..=4) {
        let units = MinorUnits::new(decimals).expect("few");
        let amount = Decimal::new(price, decimals);
        prop_assert_eq!(units.whole("price", amount), Ok(price));
        prop_assert_eq!(units.amount(price.into()), Ok(amount));
        prop_assert_eq!(units.quarters(4 * i128::from(price)), Ok(amount));
        prop_assert_eq!(units.whole("price", cents(0)), Ok(0));
    }
}
