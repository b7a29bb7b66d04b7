//! Currencies of ISO 4217. An amount is a decimal beside its currency, never a float.

use rust_decimal::{Decimal, RoundingStrategy};

/// The code of a currency, as `EUR`. Whether there is such a one is checked where it comes in.
#[derive(widerow::Cell, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency(String);

impl Currency {
    pub fn new(code: impl Into<String>) -> Self {
        Currency(code.into())
    }

    pub fn code(&self) -> &str {
        &self.0
    }

    /// How many decimals its amounts have; None if there is no such currency, or it has no unit that one could pay with.
    pub fn decimals(&self) -> Option<u32> {
        iso_currency::Currency::from_code(&self.0)?.exponent().map(u32::from)
    }
}

impl std::fmt::Display for Currency {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The one way in which an amount is rounded: to the currency's decimals, halves away from zero. None if there is no such
/// currency.
pub fn round(amount: Decimal, currency: &Currency) -> Option<Decimal> {
    Some(amount.round_dp_with_strategy(currency.decimals()?, RoundingStrategy::MidpointAwayFromZero))
}
