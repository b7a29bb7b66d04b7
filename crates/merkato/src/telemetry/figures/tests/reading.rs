use super::{at, reading};
use crate::telemetry::figures::{Reading, Span, limits};

#[test]
fn what_cannot_be_reckoned_with_is_refused_by_name() {
    for (value, code) in [(f64::NAN, "not_finite"), (f64::NEG_INFINITY, "not_finite"), (1.1e15, "too_large")] {
        let refused = Reading::new(at(0), value).expect_err("a bad value");
        assert_eq!(refused.code(), code);
        assert!(refused.to_string().starts_with("value: "), "{refused}");
    }
    assert_eq!(reading(0, -limits::VALUE_MAX).value(), -limits::VALUE_MAX);
    for millis in [i64::MIN, i64::MAX] {
        assert_eq!(Reading::new(at(millis), 0.0).expect_err("no time").code(), "invalid");
    }
}

#[test]
fn a_span_has_a_begin_before_its_end() {
    assert!(Span::new(at(1), at(1)).is_err());
    assert!(Span::new(at(2), at(1)).is_err());
    assert!(Span::new(at(i64::MIN), at(1)).is_err());
    let span = Span::new(at(1), at(3)).expect("a span");
    assert_eq!((span.millis(), span.contains(at(1)), span.contains(at(3))), (2, true, false));
}
