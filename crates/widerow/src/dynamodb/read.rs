//! Reads: rows by key, slices of a partition, and a guarded partition with its bookkeeping.

use std::{
    collections::{BTreeSet, HashMap},
    ops::Bound,
};

use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes};
use futures::{
    StreamExt as _, TryStreamExt as _,
    future::{try_join, try_join_all},
    stream,
};

use super::{
    DynamoDb, Home,
    error::{Repeat, backoff, call},
    expression::Expression,
    item::{self, Address, Item, PK, SK, text},
    key::{self, SortRange},
    unbuilt,
};
use crate::{
    engine::{Anchor, AnchorRows, Get, RawPage, RawRow, ReadAnchor, Slice, sort_rows},
    error::{Error, Result},
    limits,
    meter::{self, Cost},
    schema::{Consistency, Direction, Table},
    value::Value,
};

/// DynamoDB takes no more keys in one `BatchGetItem`.
const BATCH_KEYS_MAX: usize = 100;

/// Queries of one partition that are under way at the same time for one call.
const QUERIES_AT_ONCE: usize = 32;

pub fn is_strong(consistency: Consistency) -> bool {
    !matches!(consistency, Consistency::One | Consistency::LocalOne)
}

impl DynamoDb {
    pub(super) async fn get_rows(&self, get: Get<'_>) -> Result<Vec<Option<RawRow>>> {
        let table = get.table;
        if table.index.is_some() {
            return try_join_all(get.keys.iter().map(|key| self.get_indexed(&get, key))).await;
        }
        let mut rows = Vec::with_capacity(get.keys.len());
        let mut wanted = BTreeSet::new();
        for key in get.keys {
            let address = Address::row(get.tenant, table, key)?;
            let partition = &key[..table.partition_columns.min(key.len())];
            let book =
                if table.has_statics() { Some(Address::bookkeeping(get.tenant, table, partition)?) } else { None };
            wanted.insert(address.clone());
            wanted.extend(book.clone());
            rows.push((address, book));
        }
        let items = self.fetch(table, wanted, is_strong(get.consistency)).await?;
        rows.into_iter()
            .map(|(address, book)| {
                let Some((_, mut row)) = items.get(&address).map(|i| item::row(table, i)).transpose()?.flatten() else {
                    return Ok(None);
                };
                let book = book.as_ref().and_then(|b| items.get(b));
                item::merge_statics(&mut row, item::statics(table, book)?.as_deref());
                Ok(Some(row))
            })
            .collect()
    }

    async fn get_indexed(&self, get: &Get<'_>, key: &[Value]) -> Result<Option<RawRow>> {
        let (partition, clustering) = key.split_at(get.table.partition_columns.min(key.len()));
        let first = Slice::first(1, get.tenant, get.table, partition);
        let page = self.slice_rows(Slice { prefix: clustering, consistency: get.consistency, ..first }).await?;
        Ok(Vec::from(page.rows).into_iter().next())
    }

    /// Items by address; those that are not there are not in the answer.
    pub(super) async fn fetch(
        &self,
        table: &'static Table,
        wanted: BTreeSet<Address>,
        strong: bool,
    ) -> Result<HashMap<Address, Item>> {
        let partitions: BTreeSet<&String> = wanted.iter().map(|a| &a.pk).collect();
        let partitions_read = partitions.len() as u64;
        let wanted: Vec<Address> = wanted.into_iter().collect();
        let items: Vec<Item> = match wanted.as_slice() {
            [] => Vec::new(),
            [one] => self.get_item(table, one, strong).await?.into_iter().collect(),
            many => {
                let batches = many.chunks(BATCH_KEYS_MAX).map(|keys| self.get_batch(table, keys, strong));
                try_join_all(batches).await?.into_iter().flatten().collect()
            }
        };
        charge_read(partitions_read, &items);
        items.into_iter().map(|item| Ok((Address::of(table, &item)?, item))).collect()
    }

    async fn get_item(&self, table: &'static Table, address: &Address, strong: bool) -> Result<Option<Item>> {
        let request = self
            .client
            .get_item()
            .table_name(self.physical(table))
            .set_key(Some(address.key()))
            .consistent_read(strong);
        let answer = call(self.limit, Repeat::Always, || request.clone().send()).await;
        Ok(answer.map_err(|t| t.of_read(&table.name))?.item)
    }

    async fn get_batch(&self, table: &'static Table, keys: &[Address], strong: bool) -> Result<Vec<Item>> {
        let physical = self.physical(table);
        let mut left: Vec<Item> = keys.iter().map(Address::key).collect();
        let mut items = Vec::with_capacity(left.len());
        let start = std::time::Instant::now();
        let mut tries = 0;
        loop {
            let keys = KeysAndAttributes::builder().set_keys(Some(left)).consistent_read(strong);
            let request = self.client.batch_get_item().request_items(&physical, keys.build().map_err(unbuilt)?);
            let answer = call(self.limit, Repeat::Always, || request.clone().send()).await;
            let answer = answer.map_err(|t| t.of_read(&table.name))?;
            items.extend(answer.responses.into_iter().flatten().flat_map(|(_, items)| items));
            left = answer.unprocessed_keys.into_iter().flatten().flat_map(|(_, keys)| keys.keys).collect();
            if left.is_empty() {
                return Ok(items);
            }
            // DynamoDB left keys out: the answer was too large, or too much was asked of one partition.
            tries += 1;
            let pause = backoff(tries);
            if start.elapsed() + pause >= self.limit {
                return Err(Error::Throttled { detail: format!("{} keys were not answered", left.len()) });
            }
            tokio::time::sleep(pause).await;
        }
    }

    pub(super) async fn slice_rows(&self, slice: Slice<'_>) -> Result<RawPage> {
        let table = slice.table;
        let home = self.home(table)?;
        if home.index.is_some() {
            return Ok(RawPage { rows: self.query(&slice, &home).await?.into(), statics: None });
        }
        if table.clustering_columns == 0 {
            let address = Address::row(slice.tenant, table, slice.partition)?;
            let items = self.fetch(table, BTreeSet::from([address]), is_strong(slice.consistency)).await?;
            let rows = items.values().map(|i| item::row(table, i)).collect::<Result<Vec<_>>>()?;
            let rows = rows.into_iter().flatten().map(|(_, row)| row);
            let rows: Vec<_> = if slice.after.is_some() { Vec::new() } else { rows.take(slice.limit).collect() };
            return Ok(RawPage { rows: rows.into(), statics: None });
        }
        if !table.has_statics() {
            return Ok(RawPage { rows: self.query(&slice, &home).await?.into(), statics: None });
        }
        let book = Address::bookkeeping(slice.tenant, table, slice.partition)?;
        let book = self.get_item(table, &book, is_strong(slice.consistency));
        let (mut rows, book) = try_join(self.query(&slice, &home), book).await?;
        let statics = item::statics(table, book.as_ref())?;
        rows.iter_mut().for_each(|row| item::merge_statics(row, statics.as_deref()));
        Ok(RawPage { rows: rows.into(), statics })
    }

    /// The rows of a slice, static columns null.
    async fn query(&self, slice: &Slice<'_>, home: &Home<'_>) -> Result<Vec<RawRow>> {
        let (rows, cost) = self.query_uncharged(slice, home).await?;
        meter::charge(cost);
        Ok(rows)
    }

    async fn query_uncharged(&self, slice: &Slice<'_>, home: &Home<'_>) -> Result<(Vec<RawRow>, Cost)> {
        let table = slice.table;
        let upward = (table.clustering_columns == 0 || table.direction(0) == Direction::Ascending) != slice.reverse;
        let pk = key::partition_text(slice.tenant, table, slice.partition)?;
        let in_key = slice.prefix.len() < home.sorted;
        let (lower, upper) = if in_key { (slice.lower, slice.upper) } else { (Bound::Unbounded, Bound::Unbounded) };
        let sorted_prefix = &slice.prefix[..slice.prefix.len().min(home.sorted)];
        let mut range = SortRange::new(table, home.sorted, sorted_prefix, lower, upper)?;
        let mut start = None;
        match (slice.after, home.index) {
            (None, _) => {}
            (Some(after), None) => {
                range = range.behind(key::sort_text(table, home.sorted, after)?, upward);
            }
            // Sort keys of an index are not unique: only the position with the base's key tells where to go on.
            (Some(after), Some(_)) => start = Some(self.index_position(slice, home, after)?),
        }
        let (pk_name, sk_name) = match home.index {
            Some(index) => item::index_keys(index),
            None => (PK.to_owned(), Some(SK.to_owned())),
        };
        let mut expression = Expression::default();
        let sort = sk_name.as_deref().map(|name| (name, &range));
        let Some(condition) = expression.keys(&pk_name, &pk, sort) else {
            return Ok((Vec::new(), Cost::default()));
        };
        let mut rows = Vec::new();
        let (mut rows_read, mut bytes_read) = (0, 0);
        while rows.len() < slice.limit {
            // The texts that the range holds and should not are asked for too, so that a page is still one request.
            let wanted = slice.limit - rows.len() + range.without.len();
            let request = self
                .client
                .query()
                .table_name(&home.physical)
                .set_index_name(home.index_name.clone())
                .key_condition_expression(&condition)
                .set_expression_attribute_names(expression.names())
                .set_expression_attribute_values(expression.values())
                .scan_index_forward(upward)
                .consistent_read(home.index.is_none() && is_strong(slice.consistency))
                .limit(i32::try_from(wanted).unwrap_or(i32::MAX))
                .set_exclusive_start_key(start.take());
            let answer = call(self.limit, Repeat::Always, || request.clone().send()).await;
            let answer = answer.map_err(|t| t.of_read(&table.name))?;
            for found in answer.items.unwrap_or_default() {
                rows_read += 1;
                bytes_read += item::bytes(&found);
                rows.extend(wanted_row(slice, home, &range, &found)?);
            }
            start = answer.last_evaluated_key;
            if start.is_none() {
                break;
            }
        }
        rows.truncate(slice.limit);
        Ok((rows, Cost { partitions_read: 1, rows_read, bytes_read, ..Cost::default() }))
    }

    /// Where an index goes on behind a row: its keys and those of the base.
    fn index_position(&self, slice: &Slice<'_>, home: &Home<'_>, after: &[Value]) -> Result<Item> {
        let (table, base) = (slice.table, home.base);
        let mut derived = [slice.partition, after].concat();
        let by_name =
            |column: &crate::schema::Column| table.position(&column.name).and_then(|i| derived.get(i)).cloned();
        let base_key: Option<Vec<Value>> = base.columns[..base.key_columns()].iter().map(by_name).collect();
        let base_key = match base_key {
            Some(key) => key,
            None => {
                derived.resize(table.columns.len(), Value::Null);
                let derivation = self.schema.derivation_into(table);
                derivation.and_then(|d| d.source(&derived).ok()).ok_or_else(|| {
                    Error::invalid(&table.name, "its key does not tell the base row, so a slice cannot go on behind it")
                })?
            }
        };
        let mut position = Address::row(slice.tenant, base, &base_key)?.key();
        if let Some(index) = home.index {
            let (pk, sk) = item::index_keys(index);
            position.insert(pk, text(key::partition_text(slice.tenant, table, slice.partition)?));
            if let Some(sk) = sk {
                let sorted = &after[..home.sorted.min(after.len())];
                position.insert(sk, text(key::sort_text(table, home.sorted, sorted)?));
            }
        }
        Ok(position)
    }

    /// RACE: a query is no snapshot: it may see half of a transaction. A decision that ends in no write has no guard to fail,
    /// so rows by prefix, which decisions rest upon, are read between two looks at the version.
    pub(super) async fn anchor(&self, read: ReadAnchor<'_>) -> Result<Anchor> {
        let table = read.table;
        let address = Address::bookkeeping(read.tenant, table, read.partition)?;
        let decides = table.clustering_columns > 0 && matches!(read.rows, AnchorRows::Prefixes { .. });
        let mut found = self.get_item(table, &address, true).await?;
        charge_read(1, found.as_slice());
        for tries in 1..=limits::CONTENTION_TRIES_MAX {
            let anchor = self.anchor_at(&read, found).await?;
            // Nothing of a partition's first commit is the state before it. Later on nothing may be half of a commit that moves the
            // only row.
            if !decides || (anchor.rows.is_empty() && anchor.version.is_none()) {
                return Ok(anchor);
            }
            found = self.get_item(table, &address, true).await?;
            let version = found.as_ref().map(|i| item::book(table, i)).transpose()?.unwrap_or_default().version;
            if version == anchor.version {
                return Ok(anchor);
            }
            tokio::time::sleep(backoff(tries.min(3))).await;
        }
        Err(Error::Contended { table: table.name.clone(), tries: limits::CONTENTION_TRIES_MAX })
    }

    /// RACE: the version was read before the rows, so that a commit in between makes the guard on it fail.
    async fn anchor_at(&self, read: &ReadAnchor<'_>, found: Option<Item>) -> Result<Anchor> {
        let table = read.table;
        let book = found.as_ref().map(|i| item::book(table, i)).transpose()?.unwrap_or_default();
        let statics = item::statics(table, found.as_ref())?;
        let mut rows = if table.clustering_columns == 0 {
            let row = found.as_ref().map(|i| item::row(table, i)).transpose()?.flatten().map(|(_, row)| row);
            match read.rows {
                AnchorRows::Keys(keys) => vec![row; keys.len()],
                AnchorRows::Prefixes { .. } => row.into_iter().map(Some).collect(),
            }
        } else {
            match read.rows {
                AnchorRows::Keys(keys) => self.anchor_keys(read, keys).await?,
                AnchorRows::Prefixes { prefixes, limit } => self.anchor_prefixes(read, prefixes, limit).await?,
            }
        };
        rows.iter_mut().flatten().for_each(|row| item::merge_statics(row, statics.as_deref()));
        Ok(Anchor {
            version: book.version,
            sequence: book.sequence,
            outbox: book.outbox,
            ring: if read.ring { book.ids } else { Vec::new() },
            rows,
            statics,
        })
    }

    async fn anchor_keys(&self, read: &ReadAnchor<'_>, keys: &[Vec<Value>]) -> Result<Vec<Option<RawRow>>> {
        let table = read.table;
        let address = |key: &Vec<Value>| Address::row(read.tenant, table, &[read.partition, key].concat());
        let addresses: Vec<Address> = keys.iter().map(address).collect::<Result<_>>()?;
        let items = self.fetch(table, addresses.iter().cloned().collect(), true).await?;
        let row = |a: &Address| Ok(items.get(a).map(|i| item::row(table, i)).transpose()?.flatten().map(|(_, r)| r));
        addresses.iter().map(row).collect()
    }

    async fn anchor_prefixes(
        &self,
        read: &ReadAnchor<'_>,
        prefixes: &[Vec<Value>],
        limit: usize,
    ) -> Result<Vec<Option<RawRow>>> {
        let (table, home) = (read.table, self.home(read.table)?);
        let (whole, begun): (Vec<_>, Vec<_>) =
            prefixes.iter().cloned().partition(|prefix| prefix.len() == table.clustering_columns);
        let first = Slice::first(limit, read.tenant, table, read.partition);
        let first = Slice { consistency: Consistency::Serial, ..first };
        let slices: Vec<Slice<'_>> = begun.iter().map(|prefix| Slice { prefix, ..first.clone() }).collect();
        // In a vector, as the compiler cannot tell that a stream's closure over borrowed items may go between threads.
        let queries: Vec<_> = slices.iter().map(|slice| self.query_uncharged(slice, &home)).collect();
        let queries = stream::iter(queries).buffered(QUERIES_AT_ONCE).try_collect::<Vec<_>>();
        let (mut rows, found) = try_join(self.anchor_keys(read, &whole), queries).await?;
        rows.retain(Option::is_some);
        // All of it is one partition, which the keys have counted if there were any.
        let mut cost = Cost { partitions_read: whole.is_empty().into(), ..Cost::default() };
        for (found, of_query) in found {
            rows.extend(found.into_iter().map(Some));
            cost += Cost { partitions_read: 0, ..of_query };
        }
        meter::charge(cost);
        if prefixes.len() > 1 {
            sort_rows(table, &mut rows);
            rows.truncate(limit);
        }
        Ok(rows)
    }
}

/// The row of an item if the slice asks for it: a range may hold a text too many, and an index's sort key fewer columns
/// than the slice names.
fn wanted_row(slice: &Slice<'_>, home: &Home<'_>, range: &SortRange, found: &Item) -> Result<Option<RawRow>> {
    let Some(index) = home.index else {
        let sk = found.get(SK).and_then(|a: &AttributeValue| a.as_s().ok());
        if sk.is_some_and(|sk| range.without.contains(sk)) {
            return Ok(None);
        }
        return Ok(item::row(home.base, found)?.map(|(_, row)| row));
    };
    let Some((_, row)) = item::index_row(slice.table, index, home.base, found)? else { return Ok(None) };
    let clustering = &row.values[slice.table.partition_columns..slice.table.key_columns()];
    let equal = slice.prefix.iter().zip(clustering).all(|(a, b)| a.key_order(b).is_eq());
    let inside = clustering.get(slice.prefix.len()).is_none_or(|cell| {
        let above = match slice.lower {
            Bound::Unbounded => true,
            Bound::Included(v) => cell.key_order(v).is_ge(),
            Bound::Excluded(v) => cell.key_order(v).is_gt(),
        };
        above
            && match slice.upper {
                Bound::Unbounded => true,
                Bound::Included(v) => cell.key_order(v).is_le(),
                Bound::Excluded(v) => cell.key_order(v).is_lt(),
            }
    });
    Ok((equal && inside).then_some(row))
}

pub fn charge_read(partitions_read: u64, items: &[Item]) {
    let bytes_read = items.iter().map(item::bytes).sum();
    meter::charge(Cost { partitions_read, rows_read: items.len() as u64, bytes_read, ..Cost::default() });
}
