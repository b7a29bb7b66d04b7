//! Many rows that stand for themselves: `BatchWriteItem`, 25 at a time, a few calls at once.
//!
//! Invariants: no call holds more than 25 items; what DynamoDB leaves unprocessed was not written and is sent again, later
//! and later, while there is time for the answer; a call whose answer is lost is not repeated, as the repetition could undo
//! what another wrote meanwhile; an item that DynamoDB refuses takes none of its call along.

use std::{collections::HashMap, time::Instant};

use aws_sdk_dynamodb::types::{DeleteRequest, PutRequest, WriteRequest};
use futures::{StreamExt as _, stream};

use super::{
    DynamoDb,
    error::{Repeat, Trouble, backoff, call, time_for_another},
    item::{Address, Item, PK, SK},
    plan::{Action, Change, Plan},
    unbuilt,
};
use crate::{
    engine::Each,
    error::{Error, Result},
    meter::{self, Cost},
};

/// DynamoDB takes no more in one `BatchWriteItem`.
pub(super) const BATCH_ITEMS_MAX: usize = 25;
/// Calls that are under way at the same time for one caller.
const BATCHES_AT_ONCE: usize = 8;

impl DynamoDb {
    pub(super) async fn each(&self, each: Each<'_>) -> Vec<Result<()>> {
        let mut done: Vec<Result<()>> = Vec::with_capacity(each.writes.len());
        let mut actions: Vec<(usize, Action)> = Vec::with_capacity(each.writes.len());
        for (place, write) in each.writes.iter().enumerate() {
            let mut plan = Plan::default();
            done.push(plan.write(self, each.tenant, write, None));
            if done[place].is_ok() {
                actions.extend(plan.actions.into_iter().map(|action| (place, action)));
            }
        }
        let batches: Vec<_> = actions.chunks(BATCH_ITEMS_MAX).map(|batch| self.write_some(&each, batch)).collect();
        let mut batches = stream::iter(batches).buffer_unordered(BATCHES_AT_ONCE);
        while let Some(answers) = batches.next().await {
            for (place, answer) in answers {
                done[place] = answer;
            }
        }
        done
    }

    async fn write_some(&self, each: &Each<'_>, batch: &[(usize, Action)]) -> Vec<(usize, Result<()>)> {
        debug_assert!(batch.len() <= BATCH_ITEMS_MAX);
        let bytes = batch.iter().map(|(_, action)| action.bytes()).sum();
        let rows = batch.len() as u64;
        meter::charge(Cost { partitions_written: rows, rows_written: rows, bytes_written: bytes, ..Cost::default() });
        if let [(place, one)] = batch {
            return vec![(*place, self.write_one(one, each.id).await)];
        }
        let answer = |error: Result<()>| batch.iter().map(|(place, _)| (*place, error.clone())).collect();
        let requests = match batch.iter().map(|(_, action)| request(action)).collect::<Result<Vec<_>>>() {
            Ok(requests) => requests,
            Err(error) => return answer(Err(error)),
        };
        let (physical, start) = (self.physical(each.table), Instant::now());
        let mut left = requests;
        let mut tries = 0;
        loop {
            let sending = self.client.batch_write_item().request_items(&physical, left.clone());
            let time = self.limit.saturating_sub(start.elapsed());
            let sent = match call(time, Repeat::IfNotExecuted, || sending.clone().send()).await {
                Ok(sent) => sent,
                // One of them is not to its liking, and it says not which: each is sent alone.
                Err(Trouble::Refused(error)) if tries == 0 && !error.is_resource_not_found_exception() => {
                    let mut answers = Vec::with_capacity(batch.len());
                    for (place, action) in batch {
                        answers.push((*place, self.write_one(action, each.id).await));
                    }
                    return answers;
                }
                Err(trouble) => return unwritten(batch, &left, trouble.of_commit(&each.table.name, each.id)),
            };
            left = sent.unprocessed_items.and_then(|mut tables| tables.remove(&physical)).unwrap_or_default();
            if left.is_empty() {
                return answer(Ok(()));
            }
            tries += 1;
            let pause = backoff(tries);
            if !time_for_another(start, pause, self.limit) {
                let detail = "the item was left unprocessed until the time was over".into();
                return unwritten(batch, &left, Error::Throttled { detail });
            }
            tracing::debug!(table = each.table.name, left = left.len(), tries, "unprocessed items are sent again");
            tokio::time::sleep(pause).await;
        }
    }
}

fn request(action: &Action) -> Result<WriteRequest> {
    let request = WriteRequest::builder();
    Ok(match &action.change {
        Change::Put(item) => {
            let put = PutRequest::builder().set_item(Some(item.clone())).build().map_err(unbuilt)?;
            request.put_request(put)
        }
        Change::Delete => {
            let delete = DeleteRequest::builder().set_key(Some(action.address.key())).build().map_err(unbuilt)?;
            request.delete_request(delete)
        }
        other => return Err(Error::Engine { detail: format!("{other:?} cannot go into a batch") }),
    }
    .build())
}

/// What is still left has not been written, for this reason; the others were.
fn unwritten(batch: &[(usize, Action)], left: &[WriteRequest], error: Error) -> Vec<(usize, Result<()>)> {
    let address = |item: &Item| {
        let text = |name: &str| item.get(name).and_then(|a| a.as_s().ok()).cloned();
        Some(Address { pk: text(PK)?, sk: text(SK) })
    };
    let of = |request: &WriteRequest| match (request.put_request(), request.delete_request()) {
        (Some(put), _) => address(put.item()),
        (_, Some(delete)) => address(delete.key()),
        _ => None,
    };
    let left: HashMap<Address, ()> = left.iter().filter_map(of).map(|address| (address, ())).collect();
    let answer = |action: &Action| match left.contains_key(&action.address) {
        true => Err(error.clone()),
        false => Ok(()),
    };
    batch.iter().map(|(place, action)| (*place, answer(action))).collect()
}
