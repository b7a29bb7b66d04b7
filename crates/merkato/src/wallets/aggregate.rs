//! What a wallet is, after its events.

use serde_json::{Value, json};

use super::rules::{self, KIND, Told, Wallet};
use crate::events::{Aggregate, Event};

/// A wallet rebuilt from its events is the one that stands beside its stream.
pub struct WalletFold;

impl Aggregate for WalletFold {
    fn kind(&self) -> &str {
        KIND
    }

    fn is_reserved(&self) -> bool {
        true
    }

    fn fold(&self, state: Value, event: &Event) -> Result<Value, String> {
        let told = Told::of(event)?;
        let mut wallet = match state {
            Value::Null => Wallet::new(told.entry.user_id),
            state => serde_json::from_value(state).map_err(|error| format!("the state before it: {error}"))?,
        };
        rules::apply(&mut wallet, &told);
        Ok(json!(wallet))
    }
}
