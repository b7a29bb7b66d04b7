//! The rows of several shards as one list, by their clustering keys, from where a page ended.
//!
//! 1. Every row comes once, in the order of its day and price; of equal ones, in the order of the shards.
//! 2. A shard is read in pieces as its rows are wanted: a whole walk reads each row once, not once a shard.
//! 3. A cursor is good for the query that it came from and for no other: tenant, table, shards and days are in its print.
//!
//! Each shard has a position of its own in the cursor: DynamoDB has rows of equal keys in an order of its own, so that behind
//! one common position a row could be passed over.

use std::{cmp::Ordering, collections::VecDeque, ops::Bound};

use futures::future::try_join_all;
use widerow::{Cursor, Date, Row, Store, codec, row::KeyParts, value::Value};

use super::error::Result;
use crate::shards::{self, Positions};

/// Shards, each of which is a partition, within some days.
pub(super) struct Merge<R: Row> {
    store: Store,
    lists: Vec<List<R>>,
    days: (Bound<Date>, Bound<Date>),
    piece: usize,
    query: u64,
}

/// One shard: what was read and not yet taken, and where it goes on.
struct List<R: Row> {
    partition: R::Partition,
    read: VecDeque<(Vec<Value>, R)>,
    /// The last that was read, and the last that was taken.
    read_to: Option<Vec<Value>>,
    taken_to: Option<Vec<Value>>,
    at_end: bool,
}

impl<R: Row> Merge<R>
where
    R::Partition: Clone,
{
    /// `piece` rows are read of a shard at once. `of` tells apart queries that read the same rows and take others.
    pub fn new(
        store: &Store,
        partitions: impl IntoIterator<Item = R::Partition>,
        days: (Bound<Date>, Bound<Date>),
        of: &str,
        piece: usize,
        cursor: Option<&Cursor>,
    ) -> Result<Self> {
        let partitions: Vec<R::Partition> = partitions.into_iter().collect();
        let mut print = Vec::new();
        codec::put_bytes(&mut print, of.as_bytes());
        codec::put_bytes(&mut print, format!("{days:?}").as_bytes());
        print.extend(
            shards::fingerprint(store, R::table(), partitions.iter().cloned().map(KeyParts::into_values)).to_be_bytes(),
        );
        let query = codec::fingerprint(&print);
        let positions: Positions = match cursor {
            Some(cursor) => shards::decode(cursor, query, R::table(), partitions.len())?,
            None => vec![None; partitions.len()],
        };
        let list = |(partition, position): (R::Partition, Option<Vec<Value>>)| List {
            partition,
            read: VecDeque::new(),
            read_to: position.clone(),
            taken_to: position,
            at_end: false,
        };
        let lists = partitions.into_iter().zip(positions).map(list).collect();
        Ok(Merge { store: store.clone(), lists, days, piece: piece.max(1), query })
    }

    /// The next rows, at most so many; none at the end.
    pub async fn take(&mut self, rows_max: usize) -> Result<Vec<R>> {
        let mut rows = Vec::new();
        while rows.len() < rows_max {
            self.fill().await?;
            let heads = self.lists.iter().enumerate().filter_map(|(at, list)| Some((at, list.read.front()?)));
            let least = heads.min_by(|(_, (a, _)), (_, (b, _))| order(a, b)).map(|(at, _)| at);
            let Some(list) = least.map(|at| &mut self.lists[at]) else { break };
            if let Some((key, row)) = list.read.pop_front() {
                list.taken_to = Some(key);
                rows.push(row);
            }
        }
        Ok(rows)
    }

    /// Reads on, side by side, in all shards of which nothing is left.
    async fn fill(&mut self) -> Result<()> {
        let wanting = |list: &List<R>| list.read.is_empty() && !list.at_end;
        if !self.lists.iter().any(wanting) {
            return Ok(());
        }
        let (store, days, piece) = (&self.store, &self.days, self.piece);
        let reads = self.lists.iter_mut().filter(|list| wanting(list)).map(|list| async move {
            let slice = store.slice::<R>(list.partition.clone()).from(days.0).to(days.1).limit(piece);
            let page = match list.read_to.clone() {
                Some(key) => slice.after_key(key).page().await?,
                None => slice.page().await?,
            };
            list.at_end = page.next.is_none();
            list.read.extend(page.rows.into_iter().map(|row| (shards::clustering_of(R::table(), &row), row)));
            if let Some((key, _)) = list.read.back() {
                list.read_to = Some(key.clone());
            }
            Ok::<(), widerow::Error>(())
        });
        try_join_all(reads).await?;
        Ok(())
    }

    /// Behind what was taken; None at the end.
    pub fn cursor(&self) -> Option<Cursor> {
        let more = self.lists.iter().any(|list| !list.at_end || !list.read.is_empty());
        more.then(|| shards::encode(self.query, self.lists.iter().map(|list| list.taken_to.clone()).collect()))
    }
}

/// Upward by every column, as the tables of sales are.
fn order(a: &[Value], b: &[Value]) -> Ordering {
    a.iter().zip(b).fold(Ordering::Equal, |order, (a, b)| order.then_with(|| a.key_order(b)))
}
