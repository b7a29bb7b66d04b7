//! Atomic steps: one action for each item, all in one `TransactWriteItems`.
//!
//! Invariants: no item has two actions (DynamoDB refuses that), so writes, guards and bookkeeping that meet on one item are
//! merged; a refused step has written nothing; a step that was applied is known by its id, by the client token for ten
//! minutes and by the ids in the bookkeeping after that.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use aws_sdk_dynamodb::{
    operation::transact_write_items::TransactWriteItemsError,
    types::{
        AttributeValue, CancellationReason, ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure,
        TransactWriteItem, Update,
    },
};
use uuid::Uuid;

use super::{
    DynamoDb, TRANSACTION_ACTIONS_MAX,
    error::{Repeat, Trouble, backoff, call},
    expression::Expression,
    item::{self, Address, Item, PK, number},
    unbuilt,
};
use crate::{
    engine::{Applied, Condition, Expect, Guarded, RawGuard, RawRow, Step, Version, Write},
    error::{Error, Result},
    key::Tenant,
    limits,
    meter::{self, Cost},
    schema::{Kind, Table},
    time::Timestamp,
    value::Value,
};

/// What happens to one item.
#[derive(Debug)]
pub(super) enum Change {
    Check,
    Put(Item),
    Delete,
    Update { set: BTreeMap<String, AttributeValue>, remove: BTreeSet<String>, count: Option<&'static str> },
}

/// One action of a transaction.
#[derive(Debug)]
pub(super) struct Action {
    table: &'static Table,
    pub(super) address: Address,
    change: Change,
    /// The row itself is written here, not only its bookkeeping.
    row: bool,
    conditions: Vec<String>,
    expression: Expression,
    /// Positions of the guards among the conditions.
    guards: Vec<usize>,
}

/// The actions of a step, one for each item.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) actions: Vec<Action>,
    places: BTreeMap<(String, Address), usize>,
    /// Where the bookkeeping of the guarded partition is.
    book: Option<usize>,
}

/// What became of a transaction: for each action whether its condition failed, with the item as it is.
pub(super) enum Sent {
    Done,
    Failed(Vec<Option<Item>>, Vec<bool>),
}

impl Action {
    fn update(&mut self) -> (&mut BTreeMap<String, AttributeValue>, &mut BTreeSet<String>, &mut Option<&'static str>) {
        if !matches!(self.change, Change::Update { .. }) {
            self.change = Change::Update { set: BTreeMap::new(), remove: BTreeSet::new(), count: None };
        }
        match &mut self.change {
            Change::Update { set, remove, count } => (set, remove, count),
            _ => unreachable!("it was just made an update"),
        }
    }

    fn set(&mut self, name: impl Into<String>, value: AttributeValue) {
        let name = name.into();
        let (set, remove, _) = self.update();
        remove.remove(&name);
        set.insert(name, value);
    }

    fn remove(&mut self, name: impl Into<String>) {
        let name = name.into();
        let (set, remove, _) = self.update();
        set.remove(&name);
        remove.insert(name);
    }

    pub(super) fn change(&self) -> &Change {
        &self.change
    }

    pub(super) fn check(&mut self, condition: impl FnOnce(&mut Expression) -> String) {
        let condition = condition(&mut self.expression);
        self.conditions.push(condition);
    }

    fn condition(&self) -> Option<String> {
        let joined: Vec<String> = self.conditions.iter().map(|c| format!("({c})")).collect();
        (!joined.is_empty()).then(|| joined.join(" AND "))
    }

    /// `SET … REMOVE …`, with the aliases that it needs besides those of the conditions.
    fn update_text(&self) -> Option<(String, Expression)> {
        let Change::Update { set, remove, count } = &self.change else { return None };
        let mut e = self.expression.clone();
        let mut clauses: Vec<String> =
            set.iter().map(|(name, value)| format!("{} = {}", e.name(name), e.value(value.clone()))).collect();
        if let Some(count) = count {
            let (name, zero, one) = (e.name(count), e.value(number(0)), e.value(number(1)));
            clauses.push(format!("{name} = if_not_exists({name}, {zero}) + {one}"));
        }
        let removed: Vec<String> = remove.iter().map(|name| e.name(name)).collect();
        let mut text = String::new();
        if !clauses.is_empty() {
            text = format!("SET {}", clauses.join(", "));
        }
        if !removed.is_empty() {
            text = format!("{text} REMOVE {}", removed.join(", "));
        }
        Some((text, e))
    }

    fn bytes(&self) -> u64 {
        let content: u64 = match &self.change {
            Change::Put(item) => item::bytes(item),
            Change::Update { set, .. } => {
                item::bytes(&set.iter().map(|(k, v)| (k.clone(), v.clone())).collect::<Item>())
            }
            _ => 0,
        };
        content + (self.address.pk.len() + self.address.sk.as_ref().map_or(0, String::len)) as u64
    }
}

impl Plan {
    pub(super) fn action(&mut self, table: &'static Table, address: Address) -> usize {
        *self.places.entry((table.name.clone(), address.clone())).or_insert_with(|| {
            self.actions.push(Action {
                table,
                address,
                change: Change::Check,
                row: false,
                conditions: Vec::new(),
                expression: Expression::default(),
                guards: Vec::new(),
            });
            self.actions.len() - 1
        })
    }

    /// Adds a write. `in_place`: the row's item also holds the bookkeeping and must not be replaced as a whole.
    pub(super) fn write(
        &mut self,
        db: &DynamoDb,
        tenant: &Tenant,
        write: &Write,
        guarded: Option<&Table>,
    ) -> Result<()> {
        let table = write.table();
        if table.index.is_some() {
            return Err(Error::invalid(&table.name, "it is an index and is written with its base table"));
        }
        let in_place = table.clustering_columns == 0
            && (table.guarded || guarded.is_some_and(|guarded| guarded.name == table.name));
        match write {
            Write::Put { values, expires_at, indexes, .. } => {
                let mut attributes = item::row_attributes(tenant, table, values, *expires_at, indexes)?;
                let address = Address::row(tenant, table, &values[..table.key_columns().min(values.len())])?;
                let at = self.action(table, address);
                let action = &mut self.actions[at];
                action.row = true;
                if in_place {
                    row_names(db, table).for_each(|name| action.remove(name));
                    attributes.into_iter().for_each(|(name, value)| action.set(name, value));
                    action.set(item::LIVE, AttributeValue::Bool(true));
                } else {
                    attributes.extend(action.address.key());
                    action.change = Change::Put(attributes);
                }
                let statics = table.columns.iter().zip(values).enumerate();
                let statics = statics.filter(|(_, (c, v))| c.kind == Kind::Static && !v.is_null());
                let cells: Vec<(usize, Value)> = statics.map(|(i, (_, v))| (i, v.clone())).collect();
                self.statics(tenant, table, write.partition(), &cells)
            }
            Write::SetStatics { partition, cells, .. } => self.statics(tenant, table, partition, cells),
            Write::Delete { key, .. } => {
                let at = self.action(table, Address::row(tenant, table, key)?);
                let action = &mut self.actions[at];
                action.row = true;
                if in_place {
                    row_names(db, table).for_each(|name| action.remove(name));
                    action.remove(item::LIVE);
                } else {
                    action.change = Change::Delete;
                }
                Ok(())
            }
            Write::DeleteRange { .. } => {
                Err(Error::invalid(&table.name, "DynamoDB deletes rows one by one, not by ranges"))
            }
        }
    }

    fn statics(
        &mut self,
        tenant: &Tenant,
        table: &'static Table,
        partition: &[Value],
        cells: &[(usize, Value)],
    ) -> Result<()> {
        if cells.is_empty() {
            return Ok(());
        }
        let at = self.action(table, Address::bookkeeping(tenant, table, partition)?);
        for (column, value) in cells {
            let column = table.columns.get(*column).ok_or_else(|| Error::invalid(&table.name, "no such column"))?;
            match super::convert::attribute(&column.column_type, value) {
                Some(attribute) => self.actions[at].set(&column.name, attribute),
                None => self.actions[at].remove(&column.name),
            }
        }
        Ok(())
    }

    fn guard(&mut self, tenant: &Tenant, guarded: &Guarded, position: usize, now: Timestamp) -> Result<()> {
        let RawGuard { clustering, condition } = &guarded.guards[position];
        let address = match condition {
            Condition::CompareStatic { .. } => Address::bookkeeping(tenant, guarded.table, &guarded.partition)?,
            _ => Address::row(tenant, guarded.table, &[&guarded.partition[..], clustering].concat())?,
        };
        let key = [&guarded.partition[..], clustering].concat();
        let at = self.action(guarded.table, address);
        let action = &mut self.actions[at];
        let text = action.expression.guard(guarded.table, &key, condition, now)?;
        action.conditions.push(text);
        action.guards.push(position);
        Ok(())
    }

    /// The bookkeeping of the guarded partition: the version moves on under the condition that it is as expected.
    fn bookkeeping(&mut self, step: &Step<'_>, guarded: &Guarded, next: i64, adopt: bool) -> Result<()> {
        let table = guarded.table;
        let at = self.action(table, Address::bookkeeping(step.tenant, table, &guarded.partition)?);
        self.book = Some(at);
        let action = &mut self.actions[at];
        action.set(item::VERSION, number(next));
        match guarded.expect {
            Some(Expect { version, sequence, .. }) => {
                let sequence = sequence.saturating_add(1);
                action.set(item::SEQUENCE, number(sequence));
                let slot = sequence.rem_euclid(limits::RING_SLOTS);
                action.set(format!("{}{slot}", item::RING), item::id_attribute(step.id));
                action.check(|e| match version {
                    Some(Version(v)) => format!("{} = {}", e.name(item::VERSION), e.value(number(v))),
                    None => e.missing(item::VERSION),
                });
            }
            None => {
                *action.update().2 = Some(item::SEQUENCE);
                let seen = seen_name(step.id);
                action.set(&seen, item::id_attribute(step.id));
                action.check(|e| {
                    format!("{} OR {} < {}", e.missing(item::VERSION), e.name(item::VERSION), e.value(number(next)))
                });
                action.check(|e| {
                    format!("{} OR {} <> {}", e.missing(&seen), e.name(&seen), e.value(item::id_attribute(step.id)))
                });
            }
        }
        if let Some(bucket) = guarded.outbox {
            action.set(outbox_name(step.id), number(bucket));
        }
        // A row that another tool wrote is told by having no version; before it gets one it must be marked as there.
        if table.clustering_columns == 0 && !action.row {
            if adopt {
                action.set(item::LIVE, AttributeValue::Bool(true));
                action.check(|e| format!("{} AND {}", e.exists(PK), e.missing(item::VERSION)));
            } else {
                action.check(|e| format!("{} OR {}", e.exists(item::VERSION), e.missing(PK)));
            }
        }
        Ok(())
    }
}

/// The attributes of a row besides its keys and its bookkeeping.
fn row_names<'t>(db: &'t DynamoDb, table: &'t Table) -> impl Iterator<Item = String> + 't {
    let indexes = db.indexes(table).flat_map(|(_, index)| {
        let (pk, sk) = item::index_keys(index);
        [Some(pk), sk].into_iter().flatten()
    });
    let columns = table.columns.iter().map(|c| c.name.clone());
    columns.chain([item::TENANT, item::EXPIRES_AT, item::TTL].map(str::to_owned)).chain(indexes)
}

pub(super) fn outbox_name(id: Uuid) -> String {
    format!("{}{id}", item::OUTBOX)
}

fn seen_name(id: Uuid) -> String {
    let slot = crate::codec::fingerprint(id.as_bytes()) % limits::RING_SLOTS.unsigned_abs();
    format!("{}{slot}", item::SEEN)
}

impl DynamoDb {
    pub(super) async fn apply_step(&self, step: Step<'_>) -> Result<Applied> {
        let Some(guarded) = &step.guarded else {
            let mut plan = Plan::default();
            step.writes.iter().try_for_each(|w| plan.write(self, step.tenant, w, None))?;
            self.write_plan(&step, &plan).await?;
            return Ok(Applied::Done(Version(0)));
        };
        let mut next = guarded.expect.map_or(step.timestamp, |e| e.next.0);
        let mut adopt = false;
        for tries in 1..=limits::CONTENTION_TRIES_MAX {
            let mut plan = Plan::default();
            step.writes.iter().try_for_each(|w| plan.write(self, step.tenant, w, Some(guarded.table)))?;
            plan.bookkeeping(&step, guarded, next, adopt)?;
            (0..guarded.guards.len()).try_for_each(|i| plan.guard(step.tenant, guarded, i, step.now))?;
            let token = token(&step, next, adopt);
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
            let refused = self.refused(&step, guarded, &plan, &items, &failed).await?;
            if !refused.is_empty() {
                return Ok(Applied::Refused(refused));
            }
            match book.version {
                // Only without `expect`: a clock that is behind takes the next number instead of the time.
                Some(Version(v)) if v >= next => next = v + 1,
                None if found.is_some() && !adopt => adopt = true,
                // The partition changed between the check and the answer.
                _ => adopt = false,
            }
            tracing::debug!(table = guarded.table.name, tries, "a guarded step is sent again under another version");
        }
        Err(Error::Contended { table: guarded.table.name.clone(), tries: limits::CONTENTION_TRIES_MAX })
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
        for (at, action) in plan.actions.iter().enumerate().filter(|(at, _)| failed[*at]) {
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

    /// A step without guards: one item directly, at half the price, several as a transaction.
    async fn write_plan(&self, step: &Step<'_>, plan: &Plan) -> Result<()> {
        match plan.actions.as_slice() {
            [] => Ok(()),
            [one] => {
                charge_written(plan, false);
                self.write_one(one, step.id).await
            }
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
            Change::Update { .. } => {
                let Some((text, e)) = action.update_text() else { return Ok(()) };
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
            if tries >= limits::CONTENTION_TRIES_MAX || start.elapsed() + pause >= self.limit {
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
            Change::Update { .. } => {
                let (text, e) = action.update_text().unwrap_or_default();
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

/// The client token: the same for the same request, another for another. The commit's id alone will not do, because a
/// commit may be sent again with another version expected, and DynamoDB refuses other content under a known token.
fn token(step: &Step<'_>, next: i64, adopt: bool) -> String {
    let mut content = Vec::new();
    let guarded = step.guarded.as_ref().map(|g| (&g.table.name, &g.partition, g.expect, &g.guards, g.outbox));
    content.extend_from_slice(format!("{} {next} {adopt} {} {guarded:?}", step.tenant, step.now).as_bytes());
    step.writes.iter().for_each(|w| put_write(&mut content, w));
    token_of(step.id, &content)
}

pub(super) fn token_of(id: Uuid, content: &[u8]) -> String {
    let print = u128::from(crate::codec::fingerprint(content));
    format!("{:032x}", id.as_u128() ^ (print << 64 | print))
}

pub(super) fn put_write(content: &mut Vec<u8>, write: &Write) {
    content.extend_from_slice(write.table().name.as_bytes());
    match write {
        Write::Put { values, expires_at, indexes, .. } => {
            crate::codec::put_values(content, values);
            content.extend_from_slice(format!("{expires_at:?}").as_bytes());
            indexes.iter().for_each(|i| crate::codec::put_values(content, &i.values));
        }
        Write::SetStatics { partition, cells, .. } => {
            crate::codec::put_values(content, partition);
            content.extend_from_slice(format!("{cells:?}").as_bytes());
        }
        Write::Delete { key, .. } => {
            content.push(b'-');
            crate::codec::put_values(content, key);
        }
        Write::DeleteRange { .. } => {}
    }
}
