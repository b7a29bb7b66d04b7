//! Bad input: every wrong field is named, with what is wrong, before anything is read or written.

use std::{fmt::Display, ops::RangeInclusive};

use rust_decimal::Decimal;

use crate::{limits, money::Currency};

/// One field and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadField {
    /// As a path from the input's root: `image_urls/2`.
    pub field: String,
    pub problem: String,
}

/// Input that makes no sense. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", describe(.fields))]
pub struct Invalid {
    pub fields: Vec<BadField>,
}

impl Invalid {
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Invalid { fields: vec![BadField { field: field.into(), problem: problem.into() }] }
    }
}

fn describe(fields: &[BadField]) -> String {
    let each = fields.iter().map(|bad| format!("{}: {}", bad.field, bad.problem));
    each.collect::<Vec<_>>().join("; ")
}

/// Collects what is wrong, so that a person mends all of it at once. What a field is called is written out only where it is wrong: the
/// name of one among many is given as `format_args!`.
#[derive(Debug, Default)]
pub struct Check {
    bad: Vec<BadField>,
}

impl Check {
    pub fn new() -> Self {
        Check::default()
    }

    pub fn end(self) -> Result<(), Invalid> {
        if self.bad.is_empty() { Ok(()) } else { Err(Invalid { fields: self.bad }) }
    }

    pub fn refuse(&mut self, field: impl Display, problem: impl Display) {
        self.bad.push(BadField { field: field.to_string(), problem: problem.to_string() });
    }

    pub fn that(&mut self, holds: bool, field: impl Display, problem: impl Display) {
        if !holds {
            self.refuse(field, problem);
        }
    }

    /// A text of one line: a name, a title, a city.
    pub fn line(&mut self, field: impl Display, text: &str, bytes: RangeInclusive<usize>) {
        if let Err(problem) = plain_text(text, bytes, |c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
            self.refuse(field, problem);
        } else if text.trim() != text {
            self.refuse(field, "it begins or ends with a space");
        }
    }

    /// A text of several lines: a description, a note.
    pub fn lines(&mut self, field: impl Display, text: &str, bytes_max: usize) {
        if let Err(problem) = plain_text(text, 0..=bytes_max, |c| c.is_control() && !matches!(c, '\n' | '\t')) {
            self.refuse(field, problem);
        }
    }

    /// As `line`, where there is one.
    pub fn optional_line(&mut self, field: &str, text: Option<&str>, bytes_max: usize) {
        if let Some(text) = text {
            self.line(field, text, 1..=bytes_max);
        }
    }

    /// An e-mail address, as far as it can be told without writing to it.
    pub fn email(&mut self, field: &str, email: &str) {
        let good = email.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
        self.line(field, email, 1..=limits::EMAIL_BYTES_MAX);
        self.that(good || email.is_empty(), field, "not an e-mail address");
    }

    /// A slug: lower-case letters and digits in words between hyphens, as in an address.
    pub fn slug(&mut self, field: &str, slug: &str) {
        let good = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        if slug.len() > limits::SLUG_BYTES_MAX {
            self.refuse(field, format!("it has {} characters, the limit is {}", slug.len(), limits::SLUG_BYTES_MAX));
        } else if !slug.split('-').all(good) {
            self.refuse(field, "only the letters a to z, digits, and single hyphens between them");
        }
    }

    /// The address of a picture or a page: http, https, or a path on this site.
    pub fn url(&mut self, field: &str, url: &str) {
        let known = ["https://", "http://"].iter().any(|scheme| url.len() > scheme.len() && url.starts_with(scheme));
        let path = url.starts_with('/') && !url.starts_with("//");
        if url.len() > limits::URL_BYTES_MAX {
            self.refuse(field, format!("it has {} bytes, the limit is {}", url.len(), limits::URL_BYTES_MAX));
        } else if !(known || path) || url.chars().any(|c| c.is_control() || c.is_whitespace() || "<>\"'\\".contains(c))
        {
            self.refuse(field, "not an http or https address, nor a path that begins with /");
        }
    }

    /// A price: not negative, not absurd, no finer than the currency.
    pub fn price(&mut self, field: &str, price: Decimal, currency: &Currency) {
        if price.is_sign_negative() && !price.is_zero() {
            self.refuse(field, "a price is not negative");
        } else if price > limits::PRICE_MAX {
            self.refuse(field, format!("the limit is {}", limits::PRICE_MAX));
        } else if let Some(decimals) = currency.decimals()
            && price.normalize().scale() > decimals
        {
            self.refuse(field, format!("{currency} has {decimals} decimals"));
        }
    }

    pub fn currency(&mut self, field: &str, currency: &Currency) {
        if currency.decimals().is_none() {
            self.refuse(field, "not a currency of ISO 4217");
        }
    }

    pub fn quantity(&mut self, field: &str, quantity: i64) {
        if !(1..=i64::from(limits::QUANTITY_MAX)).contains(&quantity) {
            self.refuse(field, format!("{quantity} is not 1 to {}", limits::QUANTITY_MAX));
        }
    }

    /// How often a thing was edited, where somebody else says so.
    pub fn revision(&mut self, field: &str, revision: i64) {
        let most = limits::REVISION_MAX;
        self.that((1..=most).contains(&revision), field, format!("{revision} is not 1 to {most}"));
    }

    pub fn count(&mut self, field: impl Display, count: usize, most: usize) {
        if count > most {
            self.refuse(field, format!("{count} of them, the limit is {most}"));
        }
    }
}

fn plain_text(text: &str, bytes: RangeInclusive<usize>, forbidden: impl Fn(char) -> bool) -> Result<(), String> {
    if text.len() > *bytes.end() {
        return Err(format!("it has {} bytes, the limit is {}", text.len(), bytes.end()));
    }
    if text.trim().len() < *bytes.start() {
        return Err("it is empty".into());
    }
    if let Some(bad) = text.chars().find(|c| forbidden(*c)) {
        return Err(format!("it has the control character U+{:04X}", bad as u32));
    }
    if has_markup(text) {
        return Err("it has HTML; plain text is wanted".into());
    }
    Ok(())
}

/// Whether a browser would read a part of the text as a tag. "Size < 5" is none.
fn has_markup(text: &str) -> bool {
    let tag = |next: char| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?');
    text.char_indices().any(|(i, c)| c == '<' && text[i + 1..].chars().next().is_some_and(tag))
}
