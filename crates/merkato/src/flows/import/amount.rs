//! Numbers as people write them: prices with signs and separators, sizes with units.
//!
//! A comma before exactly three digits parts thousands; a point before exactly three digits may be either, and a price
//! that may be a thousand times another is refused rather than guessed.

use rust_decimal::{Decimal, prelude::ToPrimitive as _};

use super::record::Value;
use crate::money::Currency;

/// The price in a value: None where it has no digit ("No old price"), an error where it is not one amount of this currency.
pub(super) fn price(value: &Value, currency: &Currency) -> Result<Option<Decimal>, String> {
    let text = match value {
        Value::Number(number) => return exact(number).map(Some),
        value => value.text(),
    };
    let Some(written) = Written::parse(&text) else { return Ok(None) };
    for word in written.words() {
        match sign(word) {
            Sign::Of(code) if code != currency.code() => return Err(format!("{text} is in {code}, not in {currency}")),
            Sign::Of(_) | Sign::OfSeveral => {}
            Sign::Unknown => return Err(format!("{text} is not one amount")),
        }
    }
    let decimals = currency.decimals().unwrap_or(2);
    written.number(decimals).map(Some).ok_or_else(|| format!("{text} is not one amount, or may be read in two ways"))
}

/// A number as programs write it.
fn exact(number: &str) -> Result<Decimal, String> {
    let parsed = number.parse().or_else(|_| Decimal::from_scientific(number));
    parsed.map_err(|_| format!("{number} is not a number that is kept"))
}

/// The number at the beginning: 5 in "5 new", 4.9 in "4.9 out of 5 stars". Of counts, which have no decimals, a comma
/// parts thousands.
pub(super) fn leading(value: &Value, decimals: u32) -> Option<Decimal> {
    let text = match value {
        Value::Number(number) => return exact(number).ok(),
        value => value.text(),
    };
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && !",.-".contains(c)).unwrap_or(text.len());
    let digits = text[..end].trim_end_matches([',', '.', '-']);
    let negative = digits.starts_with('-');
    let number = Written { before: "", digits: digits.trim_start_matches('-'), after: "", negative };
    number.number(decimals)
}

/// Lengths in millimetres, weights in grams: how many of these a unit has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit(Decimal);

impl Unit {
    pub const CENTIMETRE: Unit = Unit(Decimal::TEN);

    pub(super) fn length(name: &str) -> Option<Unit> {
        let millimetres = match name {
            "mm" | "millimetre" | "millimetres" | "millimeters" => Decimal::ONE,
            "cm" | "centimetre" | "centimetres" | "centimeters" => Decimal::TEN,
            "m" | "metre" | "metres" | "meters" => Decimal::ONE_THOUSAND,
            "in" | "inch" | "inches" | "\"" | "″" => Decimal::new(254, 1),
            "ft" | "foot" | "feet" => Decimal::new(3048, 1),
            _ => return None,
        };
        Some(Unit(millimetres))
    }

    pub(super) fn weight(name: &str) -> Option<Unit> {
        let grams = match name {
            "g" | "gr" | "gram" | "grams" => Decimal::ONE,
            "kg" | "kilo" | "kilos" | "kilogram" | "kilograms" => Decimal::ONE_THOUSAND,
            "mg" => Decimal::new(1, 3),
            "oz" | "ounce" | "ounces" => Decimal::new(28_349_523_125, 9),
            "lb" | "lbs" | "pound" | "pounds" => Decimal::new(45_359_237, 5),
            _ => return None,
        };
        Some(Unit(grams))
    }
}

/// A size in whole millimetres or grams, and whether nothing was rounded off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub whole: i32,
    pub exact: bool,
}

/// "12,5 cm" by its own unit; a bare number by the column's, if it has one.
pub(super) fn size(value: &Value, unit: Option<Unit>, units: fn(&str) -> Option<Unit>) -> Option<Size> {
    let (number, unit) = match value {
        Value::Number(number) => (exact(number).ok()?, unit?),
        value => {
            let text = value.text();
            let written = Written::parse(&text).filter(|written| written.before.is_empty())?;
            let unit = if written.after.is_empty() { unit? } else { units(&written.after.to_lowercase())? };
            (written.number(3)?, unit)
        }
    };
    let measured = number.checked_mul(unit.0)?;
    let whole = measured.round();
    Some(Size { whole: whole.to_i32()?, exact: whole == measured })
}

/// What stands before the digits, the digits with their separators, what stands behind them.
struct Written<'a> {
    before: &'a str,
    digits: &'a str,
    after: &'a str,
    negative: bool,
}

impl<'a> Written<'a> {
    /// None where there is no digit.
    fn parse(text: &'a str) -> Option<Self> {
        let first = text.find(|c: char| c.is_ascii_digit())?;
        let last = text.rfind(|c: char| c.is_ascii_digit())? + 1;
        // ".99" begins with its point; "199,-" and "199.-" end with a dash in place of cents.
        let first = if text[..first].ends_with('.') && first == 1 { 0 } else { first };
        let after = text[last..].trim_start_matches([',', '.', '-', '–', '—']).trim();
        let before = text[..first].trim();
        let negative = before.contains(['-', '−']);
        Some(Written { before: before.trim_matches(['-', '−']).trim(), digits: &text[first..last], after, negative })
    }

    fn words(&self) -> impl Iterator<Item = &'a str> {
        [self.before, self.after].into_iter().filter(|word| !word.is_empty())
    }

    /// None where it is not one number, or may be two.
    fn number(&self, decimals: u32) -> Option<Decimal> {
        let bare: String = self.digits.chars().filter(|c| !is_gap(*c)).collect();
        // Gaps part thousands, never two numbers.
        if bare.len() != self.digits.len() && !grouped(self.digits, is_gap) {
            return None;
        }
        let (commas, points) = (bare.matches(',').count(), bare.matches('.').count());
        let plain = match (commas, points) {
            (0, 0) => bare,
            (0, 1) => {
                let behind = bare.len() - bare.find('.')? - 1;
                let either = behind == 3 && decimals < 3 && !bare.starts_with('0') && !bare.starts_with('.');
                if either {
                    return None;
                }
                bare
            }
            (1, 0) => {
                let at = bare.find(',')?;
                if bare.len() - at - 1 != 3 || bare.starts_with('0') {
                    bare.replace(',', ".")
                } else if decimals < 3 || at > 3 {
                    without_groups(&bare, ',')?
                } else {
                    return None;
                }
            }
            (_, 0) => without_groups(&bare, ',')?,
            (0, _) => without_groups(&bare, '.')?,
            // The last one is the mark of decimals, the other one parts thousands.
            _ => {
                let (mark, group) = if bare.rfind(',') > bare.rfind('.') { (',', '.') } else { ('.', ',') };
                let (whole, fraction) = bare.rsplit_once(mark)?;
                if whole.contains(mark) {
                    return None;
                }
                format!("{}.{fraction}", without_groups(whole, group)?)
            }
        };
        let number: Decimal = plain.parse().ok()?;
        Some(if self.negative { -number } else { number })
    }
}

/// Spaces and apostrophes between thousands.
fn is_gap(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '\'' | '’')
}

fn without_groups(digits: &str, separator: char) -> Option<String> {
    grouped(digits, |c| c == separator).then(|| digits.replace(separator, ""))
}

/// Whether the separators part groups of three, up to where decimals begin.
fn grouped(digits: &str, separates: impl Fn(char) -> bool) -> bool {
    let mut groups = digits.split(separates);
    let first = groups.next().unwrap_or("");
    let mut good = (1..=3).contains(&first.len()) && first.bytes().all(|b| b.is_ascii_digit());
    let mut groups = groups.peekable();
    while let Some(group) = groups.next() {
        let whole = if groups.peek().is_none() { group.split([',', '.']).next().unwrap_or("") } else { group };
        good &= whole.len() == 3 && whole.bytes().all(|b| b.is_ascii_digit());
    }
    good
}

enum Sign {
    Of(&'static str),
    /// Several currencies have it.
    OfSeveral,
    Unknown,
}

fn sign(word: &str) -> Sign {
    let known = match word.to_uppercase().trim_end_matches('.') {
        "£" => "GBP",
        "€" => "EUR",
        "US$" | "$US" => "USD",
        "A$" | "AU$" => "AUD",
        "C$" | "CA$" => "CAD",
        "R$" => "BRL",
        "₹" | "RS" => "INR",
        "₽" => "RUB",
        "₩" => "KRW",
        "₺" | "TL" => "TRY",
        "₪" => "ILS",
        "₴" => "UAH",
        "฿" => "THB",
        "₫" => "VND",
        "ZŁ" => "PLN",
        "KČ" => "CZK",
        "FT" => "HUF",
        "SR" => "SAR",
        "DH" | "DHS" => "AED",
        "SFR" | "FR" => "CHF",
        "$" | "¥" | "KR" | ":-" => return Sign::OfSeveral,
        code => match iso_currency::Currency::from_code(code) {
            Some(currency) => currency.code(),
            None => return Sign::Unknown,
        },
    };
    Sign::Of(known)
}
