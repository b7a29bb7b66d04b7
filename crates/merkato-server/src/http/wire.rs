//! Types of the outside that many routes share: money, times, lists.

use merkato::Currency;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use widerow::{Date, Timestamp};

use super::problem::Problem;

/// An amount, never a float.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Money {
    /// A decimal number.
    #[schema(example = "19.99", pattern = r"^-?[0-9]{1,20}(\.[0-9]{1,10})?$")]
    pub amount: String,
    /// Three letters of ISO 4217.
    #[schema(example = "EUR", pattern = "^[A-Z]{3}$")]
    pub currency: String,
}

impl Money {
    /// With all the decimals that the currency has.
    pub fn new(amount: Decimal, currency: &Currency) -> Self {
        let decimals = currency.decimals().unwrap_or(0).max(amount.normalize().scale());
        let mut amount = amount;
        amount.rescale(decimals);
        Money { amount: amount.to_string(), currency: currency.code().to_owned() }
    }

    /// What a client sent, as the domain has it; `field` names it in a refusal.
    pub fn parse(&self, field: &str) -> Result<(Decimal, Currency), Problem> {
        // Neither an exponent nor a sign of plus: one way to write a number.
        let digits = self.amount.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-'));
        let amount = Decimal::from_str_exact(&self.amount).ok().filter(|_| digits);
        let refused = || Problem::field("invalid", format!("/{field}/amount"), "not a decimal number");
        Ok((amount.ok_or_else(refused)?, Currency::new(self.currency.clone())))
    }
}

/// An instant, as RFC 3339 in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub Timestamp);

/// A day, as `YYYY-MM-DD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Day(pub Date);

macro_rules! as_text {
    ($name:ident, $inner:ident, $format:ident, $example:literal, $expected:literal) => {
        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map($name).map_err(|_| serde::de::Error::custom($expected))
            }
        }

        impl From<$inner> for $name {
            fn from(inner: $inner) -> Self {
                $name(inner)
            }
        }

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
                let text = ObjectBuilder::new().schema_type(Type::String);
                let text = text.format(Some(SchemaFormat::KnownFormat(KnownFormat::$format)));
                text.examples([$example]).into()
            }
        }

        impl ToSchema for $name {}
    };
}

as_text!(Time, Timestamp, DateTime, "2026-03-01T12:00:00.000Z", "not an instant as 2026-03-01T12:00:00Z");
as_text!(Day, Date, Date, "2026-03-01", "not a day as 2026-03-01");

/// A page of a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Listing<T: ToSchema> {
    pub data: Vec<T>,
    /// Where the next page begins; null at the end.
    pub next_cursor: Option<String>,
}

impl<T: ToSchema> Listing<T> {
    /// A list that has no second page.
    pub fn whole(data: impl IntoIterator<Item = impl Into<T>>) -> Self {
        Listing { data: data.into_iter().map(Into::into).collect(), next_cursor: None }
    }
}

/// Which page of a list.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Paging {
    /// How many, 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    pub limit: Option<usize>,
    /// `next_cursor` of the page before, of the same list.
    pub cursor: Option<String>,
}

/// An enum of the domain as the outside has it, both ways.
macro_rules! mirror {
    ($(#[$doc:meta])* $name:ident = $domain:path { $($variant:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[derive(serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($variant),*
        }

        impl From<$domain> for $name {
            fn from(domain: $domain) -> Self {
                use $domain as Domain;
                match domain {
                    $(Domain::$variant => $name::$variant),*
                }
            }
        }

        impl From<$name> for $domain {
            fn from(outside: $name) -> Self {
                use $domain as Domain;
                match outside {
                    $($name::$variant => Domain::$variant),*
                }
            }
        }
    };
}
pub(crate) use mirror;
