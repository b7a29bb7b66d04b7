//! Lists that are spread over several partitions, so that no day's list is one hot partition, read as one.
//!
//! 1. The rows of all shards come in the order of their clustering keys, each once, on whatever page.
//! 2. A cursor is a position in that order; it is good for the query that it came from and for no other.

use std::cmp::Ordering;

use futures::future::try_join_all;
use widerow::row::KeyParts;
use widerow::{
    Cursor, Error, Row, Store,
    codec::{self, Reader},
    schema::{Direction, Table},
    value::Value,
};

use crate::{
    pattern::{Amount, PageRequest, ReadCost},
    text,
};

/// Characters of a cursor: a head and one clustering key, in hexadecimal.
const CURSOR_CHARS_MAX: usize = 2 * (8 + 2 * widerow::limits::CLUSTERING_KEY_BYTES_MAX + 200);

/// Rows of several partitions, in one order.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged<R> {
    pub rows: Vec<R>,
    /// None at the end.
    pub next: Option<Cursor>,
}

/// The shard of a key, for good: it is a part of stored keys.
pub fn of(key: &[u8], shards: u32) -> u32 {
    // The lower bits of this hash know the lower bits of the key alone.
    ((codec::fingerprint(key) >> 32) % u64::from(shards.max(1))) as u32
}

/// What a page costs: every shard is read as if all rows of the page were in it, side by side.
pub const fn page_cost(shards: u32) -> ReadCost {
    let shards = shards as u64;
    ReadCost {
        partitions: Amount::of(shards),
        rows: Amount::of(shards).and_per_row(shards),
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
    let table = R::table();
    let query = fingerprint(store, table, (0..shards).map(|shard| partition(shard).into_values()));
    let after = page.cursor.as_ref().map(|cursor| decode(cursor, query, table)).transpose()?;
    let slices = (0..shards).map(|shard| {
        let slice = store.slice::<R>(partition(shard)).limit(page.limit);
        match &after {
            Some(position) => slice.after_key(position.clone()).page(),
            None => slice.page(),
        }
    });
    let pages = try_join_all(slices).await?;
    let mut more = pages.iter().any(|page| page.next.is_some());
    let keyed = |row: R| (clustering_of(table, &row), row);
    let mut rows: Vec<_> = pages.into_iter().flat_map(|page| page.rows).map(keyed).collect();
    rows.sort_by(|(a, _), (b, _)| order(table, a, b));
    more |= rows.len() > page.limit;
    rows.truncate(page.limit);
    let next = rows.last().filter(|_| more).map(|(key, _)| encode(query, key));
    Ok(Merged { rows: rows.into_iter().map(|(_, row)| row).collect(), next })
}

fn clustering_of<R: Row>(table: &Table, row: &R) -> Vec<Value> {
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

fn fingerprint(store: &Store, table: &Table, partitions: impl Iterator<Item = Vec<Value>>) -> u64 {
    let mut bytes = Vec::new();
    codec::put_bytes(&mut bytes, store.tenant().as_str().as_bytes());
    codec::put_bytes(&mut bytes, table.name.as_bytes());
    partitions.for_each(|partition| codec::put_values(&mut bytes, &partition));
    codec::fingerprint(&bytes)
}

fn encode(query: u64, position: &[Value]) -> Cursor {
    let mut bytes = query.to_be_bytes().to_vec();
    codec::put_values(&mut bytes, position);
    text::hex(&bytes).into()
}

/// The position in a cursor. One that was made for another query, or made up, is refused.
fn decode(cursor: &Cursor, query: u64, table: &Table) -> Result<Vec<Value>, Error> {
    position(cursor.as_str(), query, table).ok_or_else(|| Error::invalid("cursor", "it does not belong to this query"))
}

fn position(cursor: &str, query: u64, table: &Table) -> Option<Vec<Value>> {
    if cursor.len() > CURSOR_CHARS_MAX || !text::is_hex(cursor, cursor.len() / 2) {
        return None;
    }
    let digits = cursor.as_bytes().chunks_exact(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok());
    let bytes = digits.collect::<Option<Vec<u8>>>()?;
    let (head, rest) = bytes.split_at_checked(8)?;
    let mut reader = Reader::new(rest);
    let values = reader.values().ok().filter(|_| reader.is_empty())?;
    let in_range = |value: &Value| match value {
        Value::Timestamp(time) => time.in_range(),
        Value::Date(date) => date.in_range(),
        _ => true,
    };
    let columns = table.clustering();
    let typed = columns.iter().zip(&values).all(|(column, value)| column.column_type.admits(value) && in_range(value));
    (head == query.to_be_bytes() && values.len() == columns.len() && typed).then_some(values)
}
