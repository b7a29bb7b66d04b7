//! Writes that are not atomic steps: later writes behind a fence, closing an outbox, counters, and loading.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_dynamodb::types::{AttributeValue, DeleteRequest, PutRequest, WriteRequest};
use futures::{StreamExt, future::join_all, stream};
use uuid::Uuid;

use super::{
    DynamoDb, TRANSACTION_ACTIONS_MAX, TRANSACTION_BYTES_MAX,
    error::{Repeat, backoff, call, time_for_another},
    expression::Expression,
    item::{self, Address, PK, number, text},
    plan::{Change, Plan, outbox_name, put_write, token_of},
    unbuilt,
    write::Sent,
};
use crate::{
    engine::{Add, Fence, Write},
    error::{Error, Result},
    key::Tenant,
    meter::{self, Cost},
    outbox::PENDING,
    schema::Table,
    value::Value,
};

/// DynamoDB takes no more in one `BatchWriteItem`.
const BATCH_WRITES_MAX: usize = 25;
const BATCHES_AT_ONCE: usize = 4;

impl DynamoDb {
    pub(super) async fn late(&self, tenant: &Tenant, fence: Fence<'_>, writes: &[Write], timestamp: i64) -> Result<()> {
        let (fence_table, fence_address, id) = match &fence {
            Fence::Outbox { tenant, table, partition, id, .. } => {
                (*table, Address::bookkeeping(tenant, table, partition)?, *id)
            }
            Fence::Pending { key } => {
                let id = key.iter().find_map(|v| if let Value::Uuid(id) = v { Some(*id) } else { None });
                (&*PENDING, Address::row(&Tenant::system(), &PENDING, key)?, id.unwrap_or_default())
            }
        };
        let mut rest = writes;
        while !rest.is_empty() {
            let mut plan = Plan::default();
            let at = plan.action(fence_table, fence_address.clone());
            plan.actions[at].check(|e| match &fence {
                Fence::Outbox { id, .. } => e.exists(&outbox_name(*id)),
                Fence::Pending { .. } => e.exists(PK),
            });
            // The fence is part of the content: whoever finishes another's writes stands behind another fence.
            let mut content = format!("{timestamp} {tenant} {} {fence_address:?}", fence_table.name).into_bytes();
            let (mut taken, mut bytes) = (0, 0);
            for write in rest {
                if let Write::Found { .. } = write {
                    // A transaction of its own: its condition is about its own partition.
                    if taken > 0 {
                        break;
                    }
                    let entry = if let Fence::Outbox { id, bucket, .. } = &fence { Some((*id, *bucket)) } else { None };
                    plan.found(self, tenant, write, timestamp, entry)?;
                    put_write(&mut content, write);
                    taken = 1;
                    break;
                }
                // A put may also touch its partition's static columns: two items.
                bytes += stored_bytes(write);
                if taken > 0 && (plan.actions.len() + 2 > TRANSACTION_ACTIONS_MAX || bytes > TRANSACTION_BYTES_MAX) {
                    break;
                }
                plan.write(self, tenant, write, None)?;
                put_write(&mut content, write);
                taken += 1;
            }
            match self.transact(&plan, fence_table, id, token_of(id, &content)).await? {
                Sent::Done => rest = &rest[taken..],
                // The partition is there: whoever is finishing the same commit was quicker. There is more to do.
                Sent::Failed(_, failed) if !failed[at] => rest = &rest[taken..],
                // Somebody else has finished them.
                Sent::Failed(..) => return Ok(()),
            }
        }
        Ok(())
    }

    pub(super) async fn close(
        &self,
        tenant: &Tenant,
        table: &'static Table,
        partition: &[Value],
        id: Uuid,
    ) -> Result<()> {
        let address = Address::bookkeeping(tenant, table, partition)?;
        let mut e = Expression::default();
        let name = e.name(&outbox_name(id));
        let request = self
            .client
            .update_item()
            .table_name(self.physical(table))
            .set_key(Some(address.key()))
            .update_expression(format!("REMOVE {name}"))
            // Without it, closing an outbox twice after the partition is gone would leave an empty item.
            .condition_expression(format!("attribute_exists({name})"))
            .set_expression_attribute_names(e.names());
        meter::charge(Cost { partitions_written: 1, rows_written: 1, ..Cost::default() });
        match call(self.limit, Repeat::Always, || request.clone().send()).await {
            Ok(_) => Ok(()),
            Err(super::error::Trouble::Refused(e)) if e.is_conditional_check_failed_exception() => Ok(()),
            Err(trouble) => Err(trouble.of_commit(&table.name, id)),
        }
    }

    /// One `UpdateItem` a row, side by side, none of them repeated.
    pub(super) async fn add_counters(&self, tenant: &Tenant, adds: &[Add]) -> Result<()> {
        let mut answers = join_all(adds.iter().map(|add| self.add_one(tenant, add))).await;
        let counted = answers.iter().filter(|a| a.is_ok()).count();
        let Some(worst) = answers.iter().position(|a| a.as_ref().is_err_and(Error::may_have_happened)) else {
            let Some(failed) = answers.iter().position(Result::is_err) else { return Ok(()) };
            return match answers.swap_remove(failed) {
                // Some were counted: the call as a whole may have happened.
                Err(error) if counted > 0 => Err(Error::TimedOut {
                    after: std::time::Duration::ZERO,
                    detail: format!("{counted} of {} adds were counted, then: {error}", adds.len()),
                }),
                other => other,
            };
        };
        answers.swap_remove(worst)
    }

    async fn add_one(&self, tenant: &Tenant, add: &Add) -> Result<()> {
        let table = add.table;
        let address = Address::row(tenant, table, &add.key)?;
        let mut e = Expression::default();
        let mut set = vec![format!("{} = {}", e.name(item::TENANT), e.value(text(tenant.as_str())))];
        for (column, value) in table.columns.iter().zip(&add.key) {
            if let Some(attribute) = super::convert::attribute(&column.column_type, value) {
                set.push(format!("{} = {}", e.name(&column.name), e.value(attribute)));
            }
        }
        let mut sums: BTreeMap<usize, i64> = BTreeMap::new();
        for (column, amount) in &add.amounts {
            let sum = sums.entry(*column).or_default();
            *sum = sum.saturating_add(*amount);
        }
        let mut counts = Vec::new();
        for (column, amount) in sums {
            let column = table.columns.get(column).ok_or_else(|| Error::invalid(&table.name, "no such column"))?;
            counts.push(format!("{} {}", e.name(&column.name), e.value(number(amount))));
        }
        if counts.is_empty() {
            return Ok(());
        }
        let request = self
            .client
            .update_item()
            .table_name(self.physical(table))
            .set_key(Some(address.key()))
            .update_expression(format!("SET {} ADD {}", set.join(", "), counts.join(", ")))
            .set_expression_attribute_names(e.names())
            .set_expression_attribute_values(e.values());
        meter::charge(Cost { partitions_written: 1, rows_written: 1, ..Cost::default() });
        let answer = call(self.limit, Repeat::Never, || request.clone().send()).await;
        answer.map(drop).map_err(|t| t.of_add(&table.name))
    }

    /// Puts and deletes without atomicity, 25 a request, for loading: one answer for each write, in order. A row must not
    /// stand there twice. Writes that change only a part of an item go one by one.
    pub async fn put_many(&self, tenant: &Tenant, writes: &[Write]) -> Result<Vec<Result<()>>> {
        let id = Uuid::nil();
        let mut answers: Vec<Result<()>> = Vec::with_capacity(writes.len());
        let mut batch: Vec<(usize, String, Address, WriteRequest)> = Vec::new();
        for (i, write) in writes.iter().enumerate() {
            let mut plan = Plan::default();
            plan.write(self, tenant, write, None)?;
            let mut answer = Ok(());
            for action in &plan.actions {
                match &action.change {
                    Change::Put(content) => {
                        let put = PutRequest::builder().set_item(Some(content.clone())).build().map_err(unbuilt)?;
                        let request = WriteRequest::builder().put_request(put).build();
                        batch.push((i, self.physical(write.table()), action.address.clone(), request));
                    }
                    Change::Delete => {
                        let key = Some(action.address.key());
                        let delete = DeleteRequest::builder().set_key(key).build().map_err(unbuilt)?;
                        let request = WriteRequest::builder().delete_request(delete).build();
                        batch.push((i, self.physical(write.table()), action.address.clone(), request));
                    }
                    _ if answer.is_ok() => answer = self.write_one(action, id).await,
                    _ => {}
                }
            }
            answers.push(answer);
        }
        let batches = stream::iter(batch.chunks(BATCH_WRITES_MAX).map(|chunk| self.write_batch(chunk)));
        let failed: Vec<Vec<(usize, Error)>> = batches.buffer_unordered(BATCHES_AT_ONCE).collect().await;
        for (i, error) in failed.into_iter().flatten() {
            answers[i] = Err(error);
        }
        Ok(answers)
    }

    /// The writes of the batch that failed, each with its error.
    async fn write_batch(&self, batch: &[(usize, String, Address, WriteRequest)]) -> Vec<(usize, Error)> {
        let partitions: BTreeSet<(&String, &String)> = batch.iter().map(|(_, table, a, _)| (table, &a.pk)).collect();
        let (partitions_written, rows_written) = (partitions.len() as u64, batch.len() as u64);
        meter::charge(Cost { partitions_written, rows_written, ..Cost::default() });
        let mut left: Vec<&(usize, String, Address, WriteRequest)> = batch.iter().collect();
        let start = std::time::Instant::now();
        let mut tries = 0;
        loop {
            let mut request = self.client.batch_write_item();
            let mut tables: BTreeMap<&String, Vec<WriteRequest>> = BTreeMap::new();
            left.iter().for_each(|(_, table, _, write)| tables.entry(table).or_default().push(write.clone()));
            for (table, writes) in tables {
                request = request.request_items(table, writes);
            }
            let unprocessed = match call(self.limit, Repeat::IfNotExecuted, || request.clone().send()).await {
                Ok(answer) => answer.unprocessed_items.unwrap_or_default(),
                Err(trouble) => {
                    let told = trouble.of_add("");
                    let each = |(i, ..): &&(usize, _, _, _)| (*i, again(&told));
                    return left.iter().map(each).collect();
                }
            };
            left.retain(|(_, table, address, _)| {
                unprocessed.get(table).is_some_and(|writes| writes.iter().any(|w| is_of(w, address)))
            });
            if left.is_empty() {
                return Vec::new();
            }
            tries += 1;
            let pause = backoff(tries);
            if !time_for_another(start, pause, self.limit) {
                let detail = "the write was not taken".to_owned();
                return left.iter().map(|(i, ..)| (*i, Error::Throttled { detail: detail.clone() })).collect();
            }
            tokio::time::sleep(pause).await;
        }
    }
}

/// Whether a request that was handed back is that of the address.
fn is_of(write: &WriteRequest, address: &Address) -> bool {
    let content = write.put_request().map(|p| p.item()).or_else(|| write.delete_request().map(|d| d.key()));
    let is = |name: &str, expected: Option<&String>| {
        content.and_then(|c| c.get(name)).and_then(|a: &AttributeValue| a.as_s().ok()) == expected
    };
    is(PK, Some(&address.pk)) && is(item::SK, address.sk.as_ref())
}

/// One error for several writes.
fn again(error: &Error) -> Error {
    match error {
        Error::Throttled { detail } => Error::Throttled { detail: detail.clone() },
        Error::Unavailable { detail } => Error::Unavailable { detail: detail.clone() },
        Error::TimedOut { after, detail } => Error::TimedOut { after: *after, detail: detail.clone() },
        other => Error::Engine { detail: other.to_string() },
    }
}

/// What a write brings to a transaction, at most.
fn stored_bytes(write: &Write) -> usize {
    match write {
        Write::Put { table, values, .. } => table.stored_bytes(values),
        other => other.bytes(),
    }
}
