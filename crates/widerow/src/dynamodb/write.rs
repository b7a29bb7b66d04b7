//! Atomic steps: one action for each item, all in one `TransactWriteItems`.
//!
//! Invariants: a refused step has written nothing; a step that was applied is known by its id, by the client token for ten
//! minutes and by the ids in the bookkeeping after that.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use aws_sdk_dynamodb::{
    operation::transact_write_items::TransactWriteItemsError,
    types::{
        CancellationReason, ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
    },
};
use uuid::Uuid;

use super::{
    DynamoDb, TRANSACTION_ACTIONS_MAX,
    error::{Repeat, Trouble, backoff, call, time_for_another},
    item::{self, Address, Item},
    plan::{Action, Change, Plan, token},
    unbuilt,
};
use crate::{
    engine::{Applied, Condition, Guarded, RawRow, Step, Version, Write, not_new},
    error::{Error, Result},
    limits,
    meter::{self, Cost},
    schema::Table,
    value::Value,
};

/// What became of a transaction: for each action whether its condition failed, with the item as it is.
pub(super) enum Sent {
    Done,
    Failed(Vec<Option<Item>>, Vec<bool>),
}

impl DynamoDb {
    pub(super) async fn apply_step(&self, step: &Step<'_>) -> Result<Applied> {
        let Some(guarded) = &step.guarded else {
            let mut plan = Plan::default();
            step.writes.iter().try_for_each(|w| plan.write(self, step.tenant, w, None))?;
            self.write_plan(step, &plan).await?;
            return Ok(Applied::Done(Version(0)));
        };
        let mut next = guarded.expect.map_or(step.timestamp, |e| e.next.0);
        let mut adopt = false;
        let start = Instant::now();
        let mut tries = 0;
        loop {
            tries += 1;
            let mut plan = Plan::default();
            for write in &step.writes {
                match write {
                    Write::Found { .. } => plan.found(self, step.tenant, write, next, None)?,
                    write => plan.write(self, step.tenant, write, Some(guarded))?,
                }
            }
            plan.bookkeeping(step, guarded, next, adopt)?;
            (0..guarded.guards.len()).try_for_each(|i| plan.guard(step.tenant, guarded, i, step.now))?;
            let token = token(step, next, adopt);
            let (items, failed) = match self.transact(&plan, guarded.table, step.id, token).await? {
                Sent::Done => return Ok(Applied::Done(Version(next))),
                Sent::Failed(items, failed) => (items, failed),
            };
            let book_failed = plan.book.filter(|at| failed[*at]);
            let found = book_failed.and_then(|at| items[at].as_ref());
            let book = found.map(|i| item::book(guarded.table, i)).transpose()?.unwrap_or_default();
            if book.ids.contains(&step.id) {
                return Ok(Applied::Done(book.version.unwrap_or(Version(next))));
            }
            if book_failed.is_some() && guarded.expect.is_some_and(|e| e.version != book.version) {
                return Ok(Applied::Moved);
            }
            let refused = self.refused(step, guarded, &plan, &items, &failed).await?;
            if !refused.is_empty() {
                return Ok(Applied::Refused(refused));
            }
            if let Some(at) = plan.founded.iter().find(|at| failed[**at]) {
                return Err(not_new(plan.actions[*at].table));
            }
            match book.version {
                // Only without `expect`: a clock that is behind takes the next number instead of the time.
                Some(Version(v)) if v >= next => next = v + 1,
                None if found.is_some() && !adopt => adopt = true,
                // The partition changed between the check and the answer.
                _ => adopt = false,
            }
            // The first repetition is for a clock that is behind; more of them are writers in each other's way.
            let pause = if tries > 1 { backoff(tries.min(3)) } else { Duration::ZERO };
            if tries >= limits::CONTENTION_TRIES_MAX || start.elapsed() + pause >= self.limit {
                return Err(Error::Contended { table: guarded.table.name.clone(), tries });
            }
            tracing::debug!(table = guarded.table.name, tries, "a guarded step is sent again under another version");
            tokio::time::sleep(pause).await;
        }
    }

    /// The guards that did not hold, with the rows as they were found.
    async fn refused(
        &self,
        step: &Step<'_>,
        guarded: &Guarded,
        plan: &Plan,
        items: &[Option<Item>],
        failed: &[bool],
    ) -> Result<Vec<(usize, Option<RawRow>)>> {
        let table = guarded.table;
        let mut refused = Vec::new();
        let guards = plan.actions.iter().enumerate().filter(|(at, action)| failed[*at] && !action.guards.is_empty());
        for (at, action) in guards {
            let found = items[at].as_ref();
            let row = found.map(|i| item::row(table, i)).transpose()?.flatten().map(|(_, row)| row);
            let row = row.filter(|row| row.is_live(step.now));
            let statics = item::statics(table, found)?;
            let holds = |position: &usize| guarded.guards[*position].condition.holds(row.as_ref(), statics.as_deref());
            // On the bookkeeping item other conditions may have failed; on a row's item only guards can, so that if all
            // of them seem to hold, the two ways to compare differ and all are told.
            let all = plan.book != Some(at) && action.guards.iter().all(holds);
            for position in action.guards.iter().filter(|position| all || !holds(position)) {
                let is_static = matches!(guarded.guards[*position].condition, Condition::CompareStatic { .. });
                let shown = if is_static { statics_row(guarded, statics.as_deref()) } else { row.clone() };
                refused.push((*position, shown));
            }
        }
        refused.sort_by_key(|(position, _)| *position);
        if table.has_statics() && refused.iter().any(|(_, row)| row.is_some()) {
            let address = Address::bookkeeping(step.tenant, table, &guarded.partition)?;
            let found = self.fetch(table, BTreeSet::from([address]), true).await?;
            let statics = item::statics(table, found.values().next())?;
            refused.iter_mut().filter_map(|(_, r)| r.as_mut()).for_each(|r| item::merge_statics(r, statics.as_deref()));
        }
        Ok(refused)
    }

    /// A step without guards.
    ///
    /// RACE: also one item goes as a transaction, at twice the price: it has a token. A put without one whose answer is lost can
    /// only be sent again over what another wrote meanwhile.
    async fn write_plan(&self, step: &Step<'_>, plan: &Plan) -> Result<()> {
        match plan.actions.as_slice() {
            [] => Ok(()),
            [first, ..] => match self.transact(plan, first.table, step.id, token(step, 0, false)).await? {
                Sent::Done => Ok(()),
                Sent::Failed(..) => Err(Error::Engine { detail: "a condition failed that nobody made".into() }),
            },
        }
    }

    /// Not repeated when the answer is lost: without a token the repetition could undo what another wrote meanwhile.
    pub(super) async fn write_one(&self, action: &Action, id: Uuid) -> Result<()> {
        let (physical, name) = (self.physical(action.table), &action.table.name);
        let (limit, repeat) = (self.limit, Repeat::IfNotExecuted);
        match &action.change {
            Change::Check => Ok(()),
            Change::Put(item) => {
                let request = self.client.put_item().table_name(physical).set_item(Some(item.clone()));
                call(limit, repeat, || request.clone().send()).await.map(drop).map_err(|t| t.of_commit(name, id))
            }
            Change::Delete => {
                let request = self.client.delete_item().table_name(physical).set_key(Some(action.address.key()));
                call(limit, repeat, || request.clone().send()).await.map(drop).map_err(|t| t.of_commit(name, id))
            }
            Change::Update(update) => {
                let (text, e) = action.update_text(update);
                let request = self
                    .client
                    .update_item()
                    .table_name(physical)
                    .set_key(Some(action.address.key()))
                    .update_expression(text)
                    .set_expression_attribute_names(e.names())
                    .set_expression_attribute_values(e.values());
                call(limit, repeat, || request.clone().send()).await.map(drop).map_err(|t| t.of_commit(name, id))
            }
        }
    }

    /// Sends the actions as one transaction; conflicts with other transactions are waited out under the same token.
    pub(super) async fn transact(&self, plan: &Plan, table: &Table, id: Uuid, token: String) -> Result<Sent> {
        let (size, limit) = (plan.actions.len(), TRANSACTION_ACTIONS_MAX);
        if size > limit {
            return Err(Error::TooLarge { what: "the number of items of one step".into(), size, limit });
        }
        let items: Vec<TransactWriteItem> =
            plan.actions.iter().map(|a| self.transact_item(a)).collect::<Result<_>>()?;
        charge_written(plan, plan.actions.iter().any(|a| !a.conditions.is_empty()));
        let request = self.client.transact_write_items().set_transact_items(Some(items)).client_request_token(token);
        let start = Instant::now();
        let mut tries = 0;
        loop {
            tries += 1;
            let left = self.limit.saturating_sub(start.elapsed());
            let trouble = match call(left, Repeat::Always, || request.clone().send()).await {
                Ok(_) => return Ok(Sent::Done),
                Err(trouble) => trouble,
            };
            let Trouble::Refused(TransactWriteItemsError::TransactionCanceledException(cancelled)) = trouble else {
                return Err(trouble.of_commit(&table.name, id));
            };
            let reasons = cancelled.cancellation_reasons();
            let is = |r: &CancellationReason, code: &str| r.code() == Some(code);
            let failed: Vec<bool> = reasons.iter().map(|r| is(r, "ConditionalCheckFailed")).collect();
            if failed.contains(&true) && failed.len() == size {
                return Ok(Sent::Failed(
                    reasons.iter().map(|r| r.item.clone().filter(|i| !i.is_empty())).collect(),
                    failed,
                ));
            }
            let conflict = reasons.iter().any(|r| is(r, "TransactionConflict"));
            let throttled = reasons.iter().any(|r| is(r, "ThrottlingError") || is(r, "ProvisionedThroughputExceeded"));
            let detail = || {
                let told = reasons.iter().filter(|r| !is(r, "None"));
                let told = told.map(|r| format!("{} {}", r.code().unwrap_or("?"), r.message().unwrap_or_default()));
                told.collect::<Vec<_>>().join("; ")
            };
            if !conflict && !throttled {
                return Err(Error::Engine { detail: format!("the transaction was cancelled: {}", detail()) });
            }
            let pause = backoff(tries);
            if tries >= limits::CONTENTION_TRIES_MAX || !time_for_another(start, pause, self.limit) {
                return Err(match throttled {
                    true => Error::Throttled { detail: detail() },
                    false => Error::Contended { table: table.name.clone(), tries },
                });
            }
            tokio::time::sleep(pause).await;
        }
    }

    fn transact_item(&self, action: &Action) -> Result<TransactWriteItem> {
        let old = ReturnValuesOnConditionCheckFailure::AllOld;
        let (physical, condition, e) = (self.physical(action.table), action.condition(), &action.expression);
        let key = Some(action.address.key());
        let item = TransactWriteItem::builder();
        Ok(match &action.change {
            Change::Check => item.condition_check(
                ConditionCheck::builder()
                    .table_name(physical)
                    .set_key(key)
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(e.names())
                    .set_expression_attribute_values(e.values())
                    .return_values_on_condition_check_failure(old)
                    .build()
                    .map_err(unbuilt)?,
            ),
            Change::Put(content) => item.put(
                Put::builder()
                    .table_name(physical)
                    .set_item(Some(content.clone()))
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(e.names())
                    .set_expression_attribute_values(e.values())
                    .return_values_on_condition_check_failure(old)
                    .build()
                    .map_err(unbuilt)?,
            ),
            Change::Delete => item.delete(
                Delete::builder()
                    .table_name(physical)
                    .set_key(key)
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(e.names())
                    .set_expression_attribute_values(e.values())
                    .return_values_on_condition_check_failure(old)
                    .build()
                    .map_err(unbuilt)?,
            ),
            Change::Update(update) => {
                let (text, e) = action.update_text(update);
                item.update(
                    Update::builder()
                        .table_name(physical)
                        .set_key(key)
                        .update_expression(text)
                        .set_condition_expression(condition)
                        .set_expression_attribute_names(e.names())
                        .set_expression_attribute_values(e.values())
                        .return_values_on_condition_check_failure(old)
                        .build()
                        .map_err(unbuilt)?,
                )
            }
        }
        .build())
    }
}

/// What a refused guard on a static column shows: the partition and its static columns.
fn statics_row(guarded: &Guarded, statics: Option<&[Value]>) -> Option<RawRow> {
    let mut values = statics?.to_vec();
    for (cell, value) in values.iter_mut().zip(&guarded.partition) {
        *cell = value.clone();
    }
    Some(RawRow { values, expires_at: None })
}

fn charge_written(plan: &Plan, conditional: bool) {
    let written = plan.actions.iter().filter(|a| !matches!(a.change, Change::Check));
    let partitions: BTreeSet<(&str, &str)> = written.clone().map(|a| (&*a.table.name, &*a.address.pk)).collect();
    meter::charge(Cost {
        partitions_written: partitions.len() as u64,
        rows_written: written.clone().count() as u64,
        bytes_written: written.map(Action::bytes).sum(),
        conditional_writes: conditional.into(),
        ..Cost::default()
    });
}
