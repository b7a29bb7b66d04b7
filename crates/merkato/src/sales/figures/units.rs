//! Prices as whole numbers of minor units, in which they are kept and reckoned, and back.

use rust_decimal::{Decimal, prelude::ToPrimitive as _};

use super::{
    error::{Error, Result},
    limits,
};
use crate::money::Currency;

/// Decimals of a share or a change: 0.125 is an eighth.
pub const SHARE_DECIMALS: u32 = 6;

/// How many decimals prices have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinorUnits {
    decimals: u32,
}

impl MinorUnits {
    /// The document's: dollars with two decimals.
    pub const CENTS: MinorUnits = MinorUnits { decimals: 2 };

    pub fn new(decimals: u32) -> Result<Self> {
        if decimals > limits::DECIMALS_MAX {
            let problem = format!("{decimals} of them, the limit is {}", limits::DECIMALS_MAX);
            return Err(Error::invalid("decimals", problem));
        }
        Ok(MinorUnits { decimals })
    }

    /// Those of a currency.
    pub fn of(currency: &Currency) -> Result<Self> {
        let decimals = currency.decimals().ok_or_else(|| Error::invalid("currency", "not a currency of ISO 4217"))?;
        MinorUnits::new(decimals)
    }

    pub fn decimals(self) -> u32 {
        self.decimals
    }

    /// Whether an amount can be a price here.
    pub fn has(self, amount: Decimal) -> bool {
        self.whole("price", amount).is_ok()
    }

    /// A price in minor units. What is negative, too large or finer than they are is refused: rounding is not ours.
    pub(super) fn whole(self, field: &'static str, amount: Decimal) -> Result<i64> {
        let amount = if amount.scale() > self.decimals { amount.normalize() } else { amount };
        let Some(missing) = self.decimals.checked_sub(amount.scale()) else {
            return Err(Error::invalid(field, format!("{amount} has more than {} decimals", self.decimals)));
        };
        if amount.is_sign_negative() && !amount.is_zero() {
            return Err(Error::invalid(field, "a price is not negative"));
        }
        // With ten to the fourth at the most, 128 bits have room for what a decimal's 96 can hold.
        let units = amount.mantissa() * 10_i128.pow(missing);
        match i64::try_from(units) {
            Ok(units) if units <= limits::PRICE_MINOR_UNITS_MAX => Ok(units),
            _ => {
                let most = self.amount(i128::from(limits::PRICE_MINOR_UNITS_MAX))?;
                Err(Error::invalid(field, format!("the limit is {most}")))
            }
        }
    }

    /// So many minor units.
    pub(super) fn amount(self, units: i128) -> Result<Decimal> {
        decimal(units, self.decimals)
    }

    /// So many quarters of a minor unit, exactly, with no more decimals than that takes.
    pub(super) fn quarters(self, quarters: i128) -> Result<Decimal> {
        let hundredths = quarters.checked_mul(25).ok_or(Error::TooMuch { field: "price" })?;
        let mut amount = decimal(hundredths, self.decimals + 2)?.normalize();
        if amount.scale() < self.decimals {
            amount.rescale(self.decimals);
        }
        Ok(amount)
    }
}

fn decimal(units: i128, scale: u32) -> Result<Decimal> {
    Decimal::try_from_i128_with_scale(units, scale).map_err(|_| Error::TooMuch { field: "price" })
}

/// A quotient to so many decimals, halves away from zero as money is rounded; None without a divisor, or where it is too
/// large to be told.
pub(super) fn quotient(dividend: i128, divisor: i128, decimals: u32) -> Option<Decimal> {
    let scaled = dividend.checked_mul(10_i128.checked_pow(decimals)?)?;
    Decimal::try_from_i128_with_scale(divide(scaled, divisor)?, decimals).ok()
}

/// A part of the whole.
pub(super) fn share(part: i128, whole: i128) -> Option<Decimal> {
    quotient(part, whole, SHARE_DECIMALS)
}

/// The nearest whole number, halves away from zero.
pub(super) fn divide(dividend: i128, divisor: i128) -> Option<i128> {
    let (whole, rest) = (dividend.checked_div(divisor)?, dividend.checked_rem(divisor)?);
    let away = rest.unsigned_abs() >= divisor.unsigned_abs() - rest.unsigned_abs();
    let step = if (dividend < 0) == (divisor < 0) { 1 } else { -1 };
    Some(if rest != 0 && away { whole + step } else { whole })
}

/// A share of a settings' weight, between nought and one, as a part of two to the 32nd.
pub(super) fn fixed(share: Decimal) -> Option<u64> {
    let scaled = share.checked_mul(Decimal::from(1_u64 << 32))?;
    scaled.round().to_u64().filter(|fixed| *fixed <= 1 << 32)
}
