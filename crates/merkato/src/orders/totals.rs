//! What an order costs. No reading, no writing.
//!
//! Every part is rounded by itself, once, and the total is the sum of the rounded parts: they always add up.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::error::{Error, Result};
use crate::{
    limits,
    money::{self, Currency},
    settings::{OrderSettings, ShippingMethod},
};

/// What is taken off the subtotal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    Amount(Decimal),
    /// Of the subtotal: 10 is a tenth.
    Percentage(Decimal),
}

/// What is to be paid for.
#[derive(Clone, Debug)]
pub struct Purchase<'p> {
    pub currency: &'p Currency,
    /// Prices and quantities.
    pub lines: &'p [(Decimal, u32)],
    pub reduction: Option<Reduction>,
    /// None where nothing is sent.
    pub shipping: Option<&'p ShippingMethod>,
    /// Where it is sent to, or else the payer's country, in two capital letters.
    pub country: &'p str,
}

/// The parts of a total. `total = subtotal - discount_amount + shipping_amount + tax_amount`, exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    pub currency: Currency,
    pub subtotal: Decimal,
    pub discount_amount: Decimal,
    pub shipping_amount: Decimal,
    pub tax_amount: Decimal,
    pub total: Decimal,
}

/// The method of this name.
pub fn shipping_method<'s>(settings: &'s OrderSettings, name: &str) -> Result<&'s ShippingMethod> {
    let found = settings.shipping_methods.iter().find(|method| method.name == name);
    found.ok_or_else(|| Error::ShippingMethodNotFound { name: name.to_owned() })
}

/// What the purchase costs by the shop's settings.
pub fn totals(purchase: &Purchase<'_>, settings: &OrderSettings) -> Result<Totals> {
    let currency = purchase.currency;
    let subtotal = subtotal(purchase.lines)?;
    // What could not be counted among the day's sales is not sold.
    let limit = Decimal::new(limits::REVENUE_CENTS_MAX, currency.decimals().unwrap_or_default());
    if subtotal > limit {
        return Err(Error::AmountTooLarge { limit });
    }
    let discount_amount = match purchase.reduction {
        None => Decimal::ZERO,
        Some(Reduction::Amount(amount)) => rounded(amount, currency)?.clamp(Decimal::ZERO, subtotal),
        Some(Reduction::Percentage(percentage)) => {
            let part = percentage.checked_div(Decimal::ONE_HUNDRED).and_then(|part| subtotal.checked_mul(part));
            rounded(part.ok_or(TOO_LARGE)?, currency)?.clamp(Decimal::ZERO, subtotal)
        }
    };
    let goods = subtotal.checked_sub(discount_amount).ok_or(TOO_LARGE)?;
    let shipping_amount = match purchase.shipping {
        Some(method) => shipping_amount(method, goods, currency, &settings.currency)?,
        None => Decimal::ZERO,
    };
    let rate = settings.tax_rates.get(purchase.country).copied().unwrap_or_default();
    let taxed = if settings.tax_on_shipping { sum([goods, shipping_amount])? } else { goods };
    let tax_amount = rounded(taxed.checked_mul(rate).ok_or(TOO_LARGE)?, currency)?;
    let total = sum([goods, shipping_amount, tax_amount])?;
    Ok(Totals { currency: currency.clone(), subtotal, discount_amount, shipping_amount, tax_amount, total })
}

/// The sum of the lines; exact, because a price is no finer than its currency.
pub fn subtotal(lines: &[(Decimal, u32)]) -> Result<Decimal> {
    let mut all = Decimal::ZERO;
    for (price, quantity) in lines {
        all = sum([all, line_total(*price, *quantity)?])?;
    }
    Ok(all)
}

pub(super) fn line_total(price: Decimal, quantity: u32) -> Result<Decimal> {
    within(price.checked_mul(quantity.into()))
}

fn shipping_amount(
    method: &ShippingMethod,
    goods: Decimal,
    currency: &Currency,
    methods_currency: &Currency,
) -> Result<Decimal> {
    if method.amount.is_zero() {
        return Ok(Decimal::ZERO);
    }
    // A method's amounts mean nothing in another currency.
    if currency != methods_currency {
        return Err(Error::OtherCurrency { wanted: methods_currency.clone(), found: currency.clone() });
    }
    match method.free_from {
        Some(least) if goods >= least => Ok(Decimal::ZERO),
        _ => rounded(method.amount, currency),
    }
}

pub(super) fn sum<const N: usize>(amounts: [Decimal; N]) -> Result<Decimal> {
    within(amounts.into_iter().try_fold(Decimal::ZERO, Decimal::checked_add))
}

fn rounded(amount: Decimal, currency: &Currency) -> Result<Decimal> {
    let unknown = || crate::check::Invalid::new("currency", "not a currency of ISO 4217");
    within(Some(money::round(amount, currency).ok_or_else(unknown)?))
}

/// Far below where decimals would lose a digit.
fn within(amount: Option<Decimal>) -> Result<Decimal> {
    amount.filter(|amount| amount.abs() <= limits::AMOUNT_MAX).ok_or(TOO_LARGE)
}

const TOO_LARGE: Error = Error::AmountTooLarge { limit: limits::AMOUNT_MAX };
