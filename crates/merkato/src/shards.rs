//! Lists that are spread over several partitions, so that no day's list is one hot partition, read as one.
//!
//! 1. The rows of all shards come in the order of their clustering keys, each once, on whatever page.
//! 2. A cursor is good for the query that it came from and for no other.

use std::cmp::Ordering;

use futures::future::try_join_all;
use widerow::{
    Cursor, Error, Row, Store,
    codec::{self, Reader},
    row::KeyParts,
    schema::{Direction, Table},
    value::Value,
};

use crate::{
    pattern::{Amount, PageRequest, ReadCost},
    text,
};

/// Bytes of the clustering key of one shard in a cursor, with what it takes to write them down.
const POSITION_BYTES_MAX: usize = 2 * widerow::limits::CLUSTERING_KEY_BYTES_MAX;

/// Rows of several partitions, in one order.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged<R> {
    pub rows: Vec<R>,
    /// None at the end.
    pub next: Option<Cursor>,
}

/// Where each shard goes on: behind this clustering key, or at its beginning.
///
/// Engines differ in how they order ids of different kinds. With one position for all shards a row could be passed over;
/// with one for each, every shard goes on where it ended, in whatever order it has.
pub(crate) type Positions = Vec<Option<Vec<Value>>>;

/// The shard of a key, for good: it is a part of stored keys.
pub fn of(key: &[u8], shards: u32) -> u32 {
    // The lower bits of this hash know the lower bits of the key alone.
    ((codec::fingerprint(key) >> 32) % u64::from(shards.max(1))) as u32
}

/// What a page costs: every shard is read as if all rows of the page were in it, side by side. DynamoDB also reads again the
/// row behind which a shard goes on.
pub const fn page_cost(shards: u32) -> ReadCost {
    let shards = shards as u64;
    ReadCost {
        partitions: Amount::of(shards),
        rows: Amount::of(2 * shards).and_per_row(shards),
        requests: Amount::of(shards),
    }
}

/// A page of the rows of all shards, in clustering order. `partition` gives the key of each shard.
pub async fn page<R: Row>(
    store: &Store,
    shards: u32,
    partition: impl Fn(u32) -> R::Partition,
    page: &PageRequest,
) -> Result<Merged<R>, Error> {
    read(store, shards, partition, page, false).await
}

/// The same from the other end.
pub async fn page_back<R: Row>(
    store: &Store,
    shards: u32,
    partition: impl Fn(u32) -> R::Partition,
    page: &PageRequest,
) -> Result<Merged<R>, Error> {
    read(store, shards, partition, page, true).await
}

async fn read<R: Row>(
    store: &Store,
    shards: u32,
    partition: impl Fn(u32) -> R::Partition,
    page: &PageRequest,
    back: bool,
) -> Result<Merged<R>, Error> {
    let table = R::table();
    let forth = fingerprint(store, table, (0..shards).map(|shard| partition(shard).into_values()));
    let query = if back { !forth } else { forth };
    let mut positions = match &page.cursor {
        Some(cursor) => decode(cursor, query, table, shards as usize)?,
        None => vec![None; shards as usize],
    };
    let slices = (0..shards).zip(&positions).map(|(shard, position)| {
        let slice = store.slice::<R>(partition(shard)).limit(page.limit);
        let slice = if back { slice.reverse() } else { slice };
        match position {
            Some(key) => slice.after_key(key.clone()).page(),
            None => slice.page(),
        }
    });
    let pages = try_join_all(slices).await?;
    let mut more = pages.iter().any(|page| page.next.is_some());
    let keyed = |row: R| (clustering_of(table, &row), row);
    let mut lists: Vec<_> = pages.into_iter().map(|page| page.rows.into_iter().map(keyed).peekable()).collect();
    let mut rows = Vec::new();
    while rows.len() < page.limit {
        let heads = lists.iter_mut().enumerate().filter_map(|(shard, list)| Some((shard, list.peek()?)));
        let first = heads.min_by(|(_, (a, _)), (_, (b, _))| {
            let order = order(table, a, b);
            if back { order.reverse() } else { order }
        });
        let first = first.map(|(shard, _)| shard);
        let Some((shard, (key, row))) = first.and_then(|shard| Some((shard, lists[shard].next()?))) else { break };
        positions[shard] = Some(key);
        rows.push(row);
    }
    more |= lists.iter_mut().any(|list| list.peek().is_some());
    Ok(Merged { rows, next: more.then(|| encode(query, positions)) })
}

pub(crate) fn clustering_of<R: Row>(table: &Table, row: &R) -> Vec<Value> {
    let mut values = row.to_values();
    values.truncate(table.key_columns());
    values.split_off(table.partition_columns)
}

fn order(table: &Table, a: &[Value], b: &[Value]) -> Ordering {
    let each = a.iter().zip(b).enumerate().map(|(i, (a, b))| match table.direction(i) {
        Direction::Ascending => a.key_order(b),
        Direction::Descending => b.key_order(a),
    });
    each.fold(Ordering::Equal, Ordering::then)
}

pub(crate) fn fingerprint(store: &Store, table: &Table, partitions: impl Iterator<Item = Vec<Value>>) -> u64 {
    let mut bytes = Vec::new();
    codec::put_bytes(&mut bytes, store.tenant().as_str().as_bytes());
    codec::put_bytes(&mut bytes, table.name.as_bytes());
    partitions.for_each(|partition| codec::put_values(&mut bytes, &partition));
    codec::fingerprint(&bytes)
}

pub(crate) fn encode(query: u64, positions: Positions) -> Cursor {
    let mut bytes = query.to_be_bytes().to_vec();
    let values: Vec<_> = positions.into_iter().map(|key| key.map_or(Value::Null, Value::List)).collect();
    codec::put_values(&mut bytes, &values);
    text::hex(&bytes).into()
}

/// The positions in a cursor. One that was made for another query, or made up, is refused.
pub(crate) fn decode(cursor: &Cursor, query: u64, table: &Table, shards: usize) -> Result<Positions, Error> {
    let wrong = || Error::invalid("cursor", "it does not belong to this query");
    positions(cursor.as_str(), query, table, shards).ok_or_else(wrong)
}

fn positions(cursor: &str, query: u64, table: &Table, shards: usize) -> Option<Positions> {
    let chars_max = 2 * (8 + 2 + shards * POSITION_BYTES_MAX);
    if cursor.len() > chars_max || !text::is_hex(cursor, cursor.len() / 2) {
        return None;
    }
    let digits = cursor.as_bytes().chunks_exact(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok());
    let bytes = digits.collect::<Option<Vec<u8>>>()?;
    let (head, rest) = bytes.split_at_checked(8)?;
    let mut reader = Reader::new(rest);
    let values = reader.values().ok()?;
    if head != query.to_be_bytes() || !reader.is_empty() || values.len() != shards {
        return None;
    }
    let position = |value| match value {
        Value::Null => Some(None),
        Value::List(key) if is_key(table, &key) => Some(Some(key)),
        _ => None,
    };
    values.into_iter().map(position).collect()
}

fn is_key(table: &Table, key: &[Value]) -> bool {
    let in_range = |value: &Value| match value {
        Value::Timestamp(time) => time.in_range(),
        Value::Date(date) => date.in_range(),
        _ => true,
    };
    let columns = table.clustering();
    key.len() == columns.len()
        && columns.iter().zip(key).all(|(column, value)| column.column_type.admits(value) && in_range(value))
}
