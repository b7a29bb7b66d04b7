//! What can be chosen on the way to an order: where to, by what, paid how.

use merkato::{
    accounts::{Address, User},
    settings::OrderSettings,
};
use rust_decimal::Decimal;

use crate::web::{Fields, shop::countries, words};

/// The value of `address` that stands for one that is typed.
pub const NEW: &str = "new";

pub struct AddressChoice {
    pub id: String,
    pub label: String,
    pub text: String,
    pub is_chosen: bool,
}

pub struct MethodChoice {
    pub name: String,
    pub title: String,
    pub price: String,
    pub days: String,
    pub is_chosen: bool,
}

/// What the provider for tests is told to do.
pub struct Outcome {
    pub source: &'static str,
    pub title: &'static str,
    pub hint: &'static str,
    pub is_chosen: bool,
}

const OUTCOMES: &[(&str, &str, &str)] = &[
    ("ok", "The payment goes well", "The order is paid at once."),
    ("decline", "The bank says no", "Nothing is charged, and your cart stays as it is."),
    ("decline_capture", "The bank says no later", "It agrees first and refuses when the money is taken."),
    ("late:20", "The answer comes late", "The order waits for it; your goods are kept meanwhile."),
    ("timeout_after:1", "An answer gets lost", "It is asked for again, and nothing is charged twice."),
];

/// An address in one line.
pub fn in_a_line(address: &Address) -> String {
    let parts = [
        Some(address.street.clone()),
        address.street2.clone(),
        Some([address.postal_code.as_deref().unwrap_or_default(), &address.city].join(" ").trim().to_owned()),
        address.state.clone(),
        Some(countries::name(&address.country).to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

pub fn addresses(user: Option<&User>, fields: &Fields) -> Vec<AddressChoice> {
    let choice = |address: &Address| AddressChoice {
        id: address.address_id.to_string(),
        label: address.label.clone().unwrap_or_else(|| "Address".into()),
        text: in_a_line(address),
        is_chosen: fields.text("address") == address.address_id.to_string(),
    };
    user.map_or_else(Vec::new, |user| user.addresses.iter().map(choice).collect())
}

/// Where it would go to, by what was chosen or typed.
pub fn country(user: Option<&User>, fields: &Fields) -> String {
    let chosen = user.and_then(|user| {
        user.addresses.iter().find(|address| address.address_id.to_string() == fields.text("address"))
    });
    chosen.map_or_else(|| fields.text("country").to_owned(), |address| address.country.clone())
}

/// Each with what it costs for goods of this price.
pub fn methods(settings: &OrderSettings, goods: Decimal, fields: &Fields) -> Vec<MethodChoice> {
    let methods = settings.shipping_methods.iter();
    methods
        .map(|method| {
            let is_free = method.amount.is_zero() || method.free_from.is_some_and(|from| goods >= from);
            MethodChoice {
                name: method.name.clone(),
                title: method.title.clone(),
                price: if is_free { "Free".into() } else { words::money(method.amount, &settings.currency) },
                days: words::count(method.days.into(), "day", "days"),
                is_chosen: fields.text("shipping") == method.name,
            }
        })
        .collect()
}

pub fn outcomes(fields: &Fields) -> Vec<Outcome> {
    let outcome = |(source, title, hint): &(&'static str, &'static str, &'static str)| Outcome {
        source,
        title,
        hint,
        is_chosen: fields.text("outcome") == *source,
    };
    OUTCOMES.iter().map(outcome).collect()
}
