//! Payments: what is asked of whoever moves the money, and a provider for tests.
//!
//! It holds no table and decides nothing about orders. A real provider is an implementation of [`PaymentProvider`].
//!
//! 1. Every call that moves money carries a key of the caller's; the same key gives the same answer and never moves it twice.
//! 2. What timed out is `Unknown`, never a failure: the caller asks again with the same key, or voids.
//! 3. After a void nothing under its key is ever captured, however late an answer comes.

mod error;
mod test_provider;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use rust_decimal::Decimal;
use uuid::Uuid;

pub use error::{Error, Result};
pub use test_provider::{Chaos, Charge, TestProvider};

use crate::money::Currency;

/// Money to be set aside for an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorise {
    /// Of the authorisation: the same for every try.
    pub key: Uuid,
    pub order_number: String,
    pub amount: Decimal,
    pub currency: Currency,
    /// What stands for the payer's card or account: a token of the provider's.
    pub source: String,
}

/// Money that is set aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorised {
    /// The provider's.
    pub payment_id: String,
    pub amount: Decimal,
}

/// Money that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    pub payment_id: String,
    pub amount: Decimal,
}

/// Money that was given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refunded {
    pub payment_id: String,
    pub amount: Decimal,
}

/// Where an authorisation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaymentState {
    /// The provider knows nothing under the key.
    Absent,
    /// It is not decided yet.
    Pending,
    Authorised,
    Declined,
    Voided,
    Captured,
    /// All or a part of what was captured was given back.
    Refunded,
}

/// What the provider knows under the key of an authorisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    pub state: PaymentState,
    /// Once it is authorised.
    pub payment_id: Option<String>,
    pub authorised: Decimal,
    pub captured: Decimal,
    pub refunded: Decimal,
}

/// Whoever moves the money.
#[async_trait]
pub trait PaymentProvider: Send + Sync + 'static {
    /// Sets money aside.
    async fn authorise(&self, request: Authorise) -> Result<Authorised>;

    /// Takes what was set aside, or a part of it, once. The key is the capture's own.
    async fn capture(&self, key: Uuid, payment_id: &str, amount: Decimal) -> Result<Captured>;

    /// Gives back what was captured, or a part of it. The key is the refund's own.
    async fn refund(&self, key: Uuid, payment_id: &str, amount: Decimal) -> Result<Refunded>;

    /// Gives up an authorisation, whether it was made, is under way or was never asked for: nothing under this key is
    /// captured from here on. What was captured is not voided but refunded (`Error::AlreadyCaptured`).
    async fn void(&self, authorise_key: Uuid) -> Result<()>;

    /// What became of an authorisation, of its capture and its refunds.
    async fn status(&self, authorise_key: Uuid) -> Result<Payment>;
}
