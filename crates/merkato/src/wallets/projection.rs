//! `user_balance_projection`: the balances as the feed tells them.
//!
//! An entry says what the balance is after it, and the feed has the entries of a wallet in their order: of several, the last
//! one is the row.

use std::collections::BTreeMap;

use async_trait::async_trait;
use widerow::Commit;

use super::{
    rules::{KIND, Told},
    tables::UserBalance,
};
use crate::{
    context::Context,
    events::{self, Event, Projection, Result},
    id::UserId,
};

pub const BALANCES: &str = "user_balance_projection";

/// Rows that are removed at once.
const CLEARED_AT_ONCE: usize = 500;

pub struct Balances;

#[async_trait]
impl Projection for Balances {
    fn name(&self) -> &'static str {
        BALANCES
    }

    async fn apply(&self, _: &Context, generation: i64, events: &[Event], commit: Commit) -> Result<Commit> {
        let mut rows: BTreeMap<UserId, UserBalance> = BTreeMap::new();
        for event in events.iter().filter(|event| event.aggregate_kind == KIND) {
            let told = Told::of(event).map_err(|problem| unreadable(event, problem))?;
            let row = UserBalance {
                user_id: told.entry.user_id,
                generation,
                current_balance: told.entry.balance,
                currency: told.entry.currency,
                last_transaction_id: event.event_id,
                last_updated: event.event_timestamp,
                transaction_count: told.entry.transactions,
                event_version: event.event_version,
            };
            rows.insert(row.user_id, row);
        }
        Ok(rows.values().fold(commit, Commit::put))
    }

    async fn clear(&self, ctx: &Context, generation: i64) -> Result<bool> {
        let mut old = Vec::new();
        ctx.for_each_row::<UserBalance>(|row| {
            if row.generation == generation && old.len() <= CLEARED_AT_ONCE {
                old.push(row.user_id);
            }
        })
        .await?;
        let all = old.len() <= CLEARED_AT_ONCE;
        let some = old.into_iter().take(CLEARED_AT_ONCE);
        let commit = some.fold(Commit::new(), |commit, user| commit.delete::<UserBalance>((user, generation)));
        ctx.store.commit(commit).await?;
        Ok(all)
    }
}

fn unreadable(event: &Event, problem: String) -> events::Error {
    events::Error::Unreadable { aggregate: event.aggregate_id, version: event.event_version, problem }
}
