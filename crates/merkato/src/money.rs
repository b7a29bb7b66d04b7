//! Money: a decimal amount and a currency of ISO 4217; never a float.

use rust_decimal::Decimal;

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

/// So much of a currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Money {
    pub amount: Decimal,
    pub currency: Currency,
}

impl std::fmt::Display for Money {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let decimals = self.currency.decimals().unwrap_or(2) as usize;
        write!(f, "{:.decimals$} {}", self.amount, self.currency)
    }
}
