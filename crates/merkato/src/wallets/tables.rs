//! What follows from the wallets' events. The wallets themselves are streams: `event_streams` has the balance, `event_log` the
//! entries.

use rust_decimal::Decimal;
use widerow::{Row, Schema, Timestamp};

use crate::{
    id::{EventId, UserId},
    money::Currency,
};

/// E10: a user's balance as the feed has told it, as the document has it. It is a projection: a moment behind the wallet itself.
/// One row a partition, and another while it is made anew.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "user_balance_projection", partition(user_id), clustering(generation), read = Quorum, write = Quorum)]
pub struct UserBalance {
    pub user_id: UserId,
    pub generation: i64,
    pub current_balance: Decimal,
    pub currency: Option<Currency>,
    pub last_transaction_id: EventId,
    pub last_updated: Timestamp,
    pub transaction_count: i64,
    /// Of the last event that is in it.
    pub event_version: i64,
}

pub(crate) fn tables(schema: Schema) -> Schema {
    schema.table::<UserBalance>()
}
