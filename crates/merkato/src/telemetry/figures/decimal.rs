//! Between the numbers that are reckoned with and the decimals that the tables keep.
//!
//! Invariant: a number that goes into a decimal and comes back is the same number, unless it is so small that 28 decimals do
//! not reach it; the crate's own conversions keep sixteen digits, of the seventeen that some numbers need.

use rust_decimal::Decimal;

use super::error::{Error, Result};

/// Of the largest power of ten, and the largest whole number, that are exact.
const EXACT_POWER_MAX: u32 = 22;
const EXACT_WHOLE_MAX: u128 = 1 << 53;

/// The decimal with the fewest digits that is read back as the same number. What is smaller than a decimal can be is zero.
pub fn to_decimal(field: &'static str, value: f64) -> Result<Decimal> {
    if !value.is_finite() {
        return Err(Error::NotFinite { field, value });
    }
    value.to_string().parse().map_err(|_| Error::NotDecimal { field, value })
}

/// The number that is nearest to a decimal.
pub fn from_decimal(decimal: Decimal) -> f64 {
    let whole = decimal.mantissa();
    if whole.unsigned_abs() <= EXACT_WHOLE_MAX && decimal.scale() <= EXACT_POWER_MAX {
        // Both are exact, so that the quotient is rounded once.
        return whole as f64 / 10_f64.powi(decimal.scale() as i32);
    }
    // Every decimal's text is a number's.
    decimal.to_string().parse().unwrap_or(0.0)
}
