use proptest::prelude::*;
use rust_decimal::Decimal;

use crate::telemetry::figures::{from_decimal, to_decimal};

#[test]
fn numbers_that_no_decimal_has_room_for_are_refused_by_name() {
    for (value, code) in [
        (f64::NAN, "not_finite"),
        (f64::INFINITY, "not_finite"),
        (f64::NEG_INFINITY, "not_finite"),
        (1e29, "not_decimal"),
        (-1e300, "not_decimal"),
    ] {
        let refused = to_decimal("humidity", value).expect_err("no decimal");
        assert_eq!(refused.code(), code, "{value}");
        assert!(refused.to_string().starts_with("humidity: "), "{refused}");
    }
}

#[test]
fn the_decimal_of_a_number_is_the_one_a_person_would_write() {
    for text in ["21.7", "0.1", "-40", "1013.25", "73.96732207", "0.06453452400000001", "1000000000.0000001"] {
        let value: f64 = text.parse().expect("a number");
        assert_eq!(to_decimal("value", value).expect("small").to_string(), value.to_string());
    }
    assert_eq!(to_decimal("value", 5e-324), Ok(Decimal::ZERO));
    assert_eq!(to_decimal("value", -0.0), Ok(Decimal::ZERO));
    assert_eq!(from_decimal(Decimal::MAX), 7.922816251426434e28);
    assert_eq!(from_decimal(Decimal::MIN), -7.922816251426434e28);
}

proptest! {
    #[test]
    fn a_number_comes_back_from_its_decimal(value in prop_oneof![-1e3..1e3, -1e15..1e15, -1e-6..1e-6]) {
        let back = from_decimal(to_decimal("value", value).expect("in range"));
        // Of what is near nought, 28 decimals keep fewer digits.
        prop_assert!((back - value).abs() <= 0.5e-28 || value.abs() > 1e-11 && back == value, "{} {}", back, value);
    }

    #[test]
    fn any_number_is_a_decimal_or_a_refusal(bits in any::<u64>()) {
        let value = f64::from_bits(bits);
        if let Ok(decimal) = to_decimal("value", value) {
            prop_assert!((from_decimal(decimal) - value).abs() <= value.abs() * 1e-15 + 1e-28);
        } else {
            prop_assert!(!value.is_finite() || value.abs() > 7e28);
        }
    }

    #[test]
    fn a_decimal_is_read_as_its_text_is(mantissa in any::<i64>(), scale in 0_u32..=28) {
        let decimal = Decimal::new(mantissa, scale);
        prop_assert_eq!(Ok(from_decimal(decimal)), decimal.to_string().parse::<f64>());
    }
}
