//! What is asked of a checkout.

use rust_decimal::Decimal;
use serde::Serialize;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::{
    accounts::fold_email,
    carts::{Shopper, Which},
    check::{Check, Invalid},
    id::{self, CheckoutId, UserId},
    limits,
    orders::PostalAddress,
    text::hex,
};

/// A cart to be ordered, and how.
#[derive(Clone, Debug)]
pub struct CheckoutRequest {
    /// The shopper's, new for every purchase and the same for every try.
    pub key: String,
    pub shopper: Shopper,
    pub cart: Which,
    pub email: String,
    pub customer_name: Option<String>,
    pub shipping_address: PostalAddress,
    /// The shipping address where it is not given.
    pub billing_address: Option<PostalAddress>,
    pub shipping_method: String,
    pub discount_code: Option<String>,
    /// As it is called: `card`.
    pub payment_method: String,
    /// What stands for the payer's card or account: a token of the provider's.
    pub payment_source: String,
    pub customer_notes: Option<String>,
    /// What the shopper saw and agreed to. Where a price has changed since it was put into the cart, nothing is ordered
    /// without it.
    pub expected_total: Option<Decimal>,
    /// How much of it the shopper's wallet pays, up to the total; the payment source pays the rest.
    pub store_credit: Option<Decimal>,
}

/// A cart to be priced, and what its price rests upon beside its lines.
#[derive(Clone, Debug)]
pub struct QuoteRequest {
    pub shopper: Shopper,
    pub cart: Which,
    /// Where it would go to: two capital letters.
    pub country: String,
    pub shipping_method: String,
    pub discount_code: Option<String>,
}

impl QuoteRequest {
    pub(super) fn check(&self) -> Result<(), Invalid> {
        let mut check = Check::new();
        let country = self.country.len() == 2 && self.country.bytes().all(|b| b.is_ascii_uppercase());
        check.that(country, "country", "not the two capital letters of a country");
        check.end()
    }
}

/// What makes a request the same request.
#[derive(Serialize)]
struct Fingerprint<'r> {
    cart: Option<Uuid>,
    email: String,
    customer_name: &'r Option<String>,
    shipping_address: &'r PostalAddress,
    billing_address: &'r Option<PostalAddress>,
    shipping_method: &'r str,
    discount_code: &'r Option<String>,
    payment_method: &'r str,
    payment_source: &'r str,
    customer_notes: &'r Option<String>,
    expected_total: Option<Decimal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    store_credit: Option<Decimal>,
}

/// Of whom and under which key; the same for every try.
pub fn checkout_id(request: &CheckoutRequest) -> CheckoutId {
    id_under(&request.shopper, &request.key)
}

pub(super) fn id_under(shopper: &Shopper, key: &str) -> CheckoutId {
    let digest = Sha256::new().chain_update("merkato checkout ");
    let digest = match shopper {
        Shopper::User(UserId(user)) => digest.chain_update("user ").chain_update(user),
        Shopper::Guest(token) => digest.chain_update("guest ").chain_update(token.cart_id().0),
    };
    CheckoutId(id::of_digest(&digest.chain_update(key).finalize().into()))
}

impl CheckoutRequest {
    /// Where it goes to and what it costs are looked at when it is priced.
    pub(super) fn check(&self) -> Result<(), Invalid> {
        let mut check = Check::new();
        // Nobody reads it: any text will do.
        let (bytes, most) = (self.key.len(), limits::IDEMPOTENCY_KEY_BYTES_MAX);
        check.that(!self.key.trim().is_empty(), "key", "it is empty");
        check.that(bytes <= most, "key", format!("it has {bytes} bytes, the limit is {most}"));
        check.email("email", &self.email);
        check.optional_line("customer_name", self.customer_name.as_deref(), limits::LINE_BYTES_MAX);
        self.shipping_address.check(&mut check, "shipping_address");
        if let Some(address) = &self.billing_address {
            address.check(&mut check, "billing_address");
        }
        check.line("payment_method", &self.payment_method, 1..=limits::REFERENCE_BYTES_MAX);
        check.line("payment_source", &self.payment_source, 1..=limits::REFERENCE_BYTES_MAX);
        check.lines("customer_notes", self.customer_notes.as_deref().unwrap_or_default(), limits::NOTES_BYTES_MAX);
        if let Some(credit) = self.store_credit {
            check.that(credit > Decimal::ZERO, "store_credit", format!("{credit} is not above nought"));
            let user = matches!(self.shopper, Shopper::User(_));
            check.that(user, "store_credit", "a guest has no wallet");
        }
        check.end()
    }

    /// What its price rests upon.
    pub fn to_quote(&self) -> QuoteRequest {
        QuoteRequest {
            shopper: self.shopper.clone(),
            cart: self.cart,
            country: self.shipping_address.country.clone(),
            shipping_method: self.shipping_method.clone(),
            discount_code: self.discount_code.clone(),
        }
    }

    pub(super) fn folded_email(&self) -> String {
        fold_email(&self.email)
    }

    pub(super) fn fingerprint(&self) -> String {
        let all = Fingerprint {
            cart: match self.cart {
                Which::Active => None,
                Which::Cart(cart) => Some(cart.0),
            },
            email: self.folded_email(),
            customer_name: &self.customer_name,
            shipping_address: &self.shipping_address,
            billing_address: &self.billing_address,
            shipping_method: &self.shipping_method,
            discount_code: &self.discount_code,
            payment_method: &self.payment_method,
            payment_source: &self.payment_source,
            customer_notes: &self.customer_notes,
            expected_total: self.expected_total.map(|total| total.normalize()),
            store_credit: self.store_credit.map(|credit| credit.normalize()),
        };
        // Texts and numbers alone: there is nothing in it that JSON cannot say.
        hex(&Sha256::digest(serde_json::to_vec(&all).unwrap_or_default()))
    }
}
