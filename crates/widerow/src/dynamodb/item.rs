//! Rows as items: which attributes an item has, and what an item is when it is read.
//!
//! An item has `PK`, `SK` (tables with clustering columns), `tenant`, one attribute for each cell, named as its column, and
//! `_expires_at` (exact, in milliseconds) with `ttl` (seconds, for DynamoDB's own sweeping) where it ends. A base item of
//! an index has `{index}PK` and `{index}SK`.
//!
//! An item of a shared table has no `_expires_at`: it ends at its `ttl`, a column of the table, to the second. A column that
//! is declared with `index_key` is read from that attribute's end and has none of its own.
//!
//! Bookkeeping and static columns of a partition are in the item with the sort key `!`; tables without clustering columns
//! have them in the row's own item, where `_live` says that the row is there. An item that another tool wrote has neither
//! `_version` nor `_live` and is a row. The ring is 64 attributes `_ring_{slot}` and an outbox entry an attribute
//! `_outbox_{id}`, not maps: a nested attribute can only be set in a map that is already there, which would take two writes.

use std::collections::HashMap;

use aws_sdk_dynamodb::{primitives::Blob, types::AttributeValue};
use uuid::Uuid;

use super::{
    convert,
    key::{self, BOOKKEEPING},
};
use crate::{
    engine::{IndexRow, RawRow, Version},
    error::{Error, Result},
    key::Tenant,
    schema::{Index, Kind, Table},
    time::Timestamp,
    value::Value,
};

pub type Item = HashMap<String, AttributeValue>;

pub const PK: &str = "PK";
pub const SK: &str = "SK";
pub const TENANT: &str = "tenant";
pub const EXPIRES_AT: &str = "_expires_at";
pub const TTL: &str = "ttl";
/// How long after its row the bookkeeping of a partition stays that is one item with it.
const BOOKKEEPING_GRACE_SECONDS: i64 = 24 * 60 * 60;
pub const LIVE: &str = "_live";
pub const VERSION: &str = "_version";
pub const SEQUENCE: &str = "_sequence";
/// Slot by sequence: the last commits that named the version they had read.
pub const RING: &str = "_ring_";
/// Slot by id: commits that went by their guards alone and do not know the sequence.
pub const SEEN: &str = "_seen_";
pub const OUTBOX: &str = "_outbox_";

pub fn text(t: impl Into<String>) -> AttributeValue {
    AttributeValue::S(t.into())
}

pub fn number(n: i64) -> AttributeValue {
    AttributeValue::N(n.to_string())
}

pub fn id_attribute(id: Uuid) -> AttributeValue {
    AttributeValue::B(Blob::new(id.as_bytes().as_slice()))
}

/// How many clustering columns the sort key of an index has.
pub fn index_sorted(derived: &Table, index: &Index) -> usize {
    index.sort_columns.min(derived.clustering_columns)
}

/// The names of an index's key attributes.
pub fn index_keys(index: &Index) -> (String, Option<String>) {
    (format!("{}PK", index.name), (index.sort_columns > 0).then(|| format!("{}SK", index.name)))
}

/// Where an item is: the texts of its key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    pub pk: String,
    pub sk: Option<String>,
}

impl Address {
    pub fn row(tenant: &Tenant, table: &Table, key: &[Value]) -> Result<Address> {
        let (partition, clustering) = key.split_at(table.partition_columns.min(key.len()));
        let count = table.clustering_columns;
        let sk = if count > 0 { Some(key::sort_text(table, count, clustering)?) } else { None };
        Ok(Address { pk: key::partition_text(tenant, table, partition)?, sk })
    }

    /// The item with the partition's bookkeeping.
    pub fn bookkeeping(tenant: &Tenant, table: &Table, partition: &[Value]) -> Result<Address> {
        let sk = (table.clustering_columns > 0).then(|| BOOKKEEPING.to_owned());
        Ok(Address { pk: key::partition_text(tenant, table, partition)?, sk })
    }

    pub fn key(&self) -> Item {
        let sk = self.sk.iter().map(|sk| (SK.to_owned(), text(sk)));
        sk.chain([(PK.to_owned(), text(&self.pk))]).collect()
    }

    pub fn of(table: &Table, item: &Item) -> Result<Address> {
        let sk = if table.clustering_columns > 0 { Some(string(table, item, SK)?.to_owned()) } else { None };
        Ok(Address { pk: string(table, item, PK)?.to_owned(), sk })
    }
}

fn string<'i>(table: &Table, item: &'i Item, name: &str) -> Result<&'i str> {
    item.get(name)
        .and_then(|a| a.as_s().ok())
        .map(String::as_str)
        .ok_or_else(|| Error::corrupt(&table.name, format!("an item has no text attribute {name}")))
}

/// The attributes of a row besides `PK` and `SK`; static columns are not among them.
pub fn row_attributes(
    tenant: &Tenant,
    table: &Table,
    values: &[Value],
    expires_at: Option<Timestamp>,
    indexes: &[IndexRow],
) -> Result<Item> {
    let mut item = Item::from([(TENANT.to_owned(), text(tenant.as_str()))]);
    let cells = table.columns.iter().zip(values).enumerate();
    for (position, (column, value)) in cells.filter(|(_, (c, _))| c.kind != Kind::Static) {
        if column.index_key.is_some() || (table.shared && table.ends == Some(position)) {
            continue;
        }
        if let Some(attribute) = convert::attribute(&column.column_type, value) {
            item.insert(column.name.clone(), attribute);
        }
    }
    if let Some(end) = expires_at {
        if !table.shared {
            item.insert(EXPIRES_AT.into(), number(end.millis()));
        }
        // Rounded up: DynamoDB must never sweep a row that is still to be seen. Where the row is its whole partition, the outbox goes
        // with it, which must have been seen to by then.
        let in_place = table.guarded && table.clustering_columns == 0;
        let grace = if in_place { BOOKKEEPING_GRACE_SECONDS } else { 0 };
        let seconds = end.millis().div_euclid(1000) + i64::from(end.millis().rem_euclid(1000) > 0);
        item.insert(TTL.into(), number(seconds.saturating_add(grace)));
    }
    for IndexRow { table: derived, values } in indexes {
        let index = derived.index.as_ref().ok_or_else(|| {
            Error::invalid(&derived.name, format!("it is no index and cannot be kept by {}", table.name))
        })?;
        let (pk, sk) = index_keys(index);
        let (partition, clustering) = values.split_at(derived.partition_columns.min(values.len()));
        if item.insert(pk, text(key::partition_text(tenant, derived, partition)?)).is_some() {
            return Err(Error::invalid(&derived.name, "a row of the base table can stand in an index only once"));
        }
        if let Some(sk) = sk {
            let count = index_sorted(derived, index);
            item.insert(sk, text(key::sort_text(derived, count, &clustering[..count.min(clustering.len())])?));
        }
    }
    Ok(item)
}

/// When a row ends. What others wrote has only `ttl`.
fn expiry(table: &Table, item: &Item) -> Result<Option<Timestamp>> {
    let whole = |name: &str| match item.get(name) {
        None => Ok(None),
        Some(a) => a
            .as_n()
            .ok()
            .and_then(|n| convert::whole(n))
            .map(Some)
            .ok_or_else(|| Error::corrupt(&table.name, format!("attribute {name} is not a whole number"))),
    };
    Ok(match whole(EXPIRES_AT)? {
        Some(millis) => Some(Timestamp::from_millis(millis)),
        None => whole(TTL)?.map(|seconds| Timestamp::from_millis(seconds.saturating_mul(1000))),
    })
}

/// The row of an item of a base table, static columns null; None where the item is only bookkeeping, or where another tool
/// wrote what is no row of the table: one odd item must not hide all others.
pub fn row(table: &Table, item: &Item) -> Result<Option<(Tenant, RawRow)>> {
    tolerant(table, base_row(table, item))
}

/// What cannot be read of a table that nobody else writes is an error.
fn tolerant<T>(table: &Table, read: Result<Option<T>>) -> Result<Option<T>> {
    match read {
        Err(error) if table.shared => {
            tracing::warn!(table = table.name, %error, "an item of another tool is no row of the table and is left out");
            Ok(None)
        }
        read => read,
    }
}

/// A row has a value in every column that must have one.
fn complete(table: &Table, row: &RawRow) -> Result<()> {
    let missing = table.columns.iter().zip(&row.values).find(|(column, value)| !column.optional && value.is_null());
    match missing.filter(|_| table.shared) {
        Some((column, _)) => Err(Error::corrupt(&table.name, format!("an item has no {}", column.name))),
        None => Ok(()),
    }
}

fn base_row(table: &Table, item: &Item) -> Result<Option<(Tenant, RawRow)>> {
    let address = Address::of(table, item)?;
    let there = match &address.sk {
        Some(sk) => sk != BOOKKEEPING,
        None => matches!(item.get(LIVE), Some(AttributeValue::Bool(true))) || !item.contains_key(VERSION),
    };
    if !there {
        return Ok(None);
    }
    let (tenant, mut values) = key::parse_partition(table, &address.pk)?;
    if let Some(sk) = &address.sk {
        values.extend(key::parse_sort(table, table.clustering_columns, sk)?);
    }
    let expires_at = expiry(table, item)?;
    for (i, column) in table.others().iter().enumerate() {
        if table.shared && table.ends == Some(table.key_columns() + i) {
            values.push(expires_at.map_or(Value::Null, Value::Timestamp));
            continue;
        }
        if let Some(name) = &column.index_key {
            values.push(behind_last(column, item.get(name)));
            continue;
        }
        let attribute = if column.kind == Kind::Static { None } else { item.get(&column.name) };
        values.push(cell(table, column, attribute)?);
    }
    let row = RawRow { values, expires_at };
    complete(table, &row)?;
    Ok(Some((tenant, row)))
}

/// The number behind the last `#` of a key attribute; null where there is none.
fn behind_last(column: &crate::schema::Column, attribute: Option<&AttributeValue>) -> Value {
    let text = attribute.and_then(|a| a.as_s().ok()).and_then(|text| text.rsplit('#').next());
    let whole: Option<i64> = text.and_then(|text| text.parse().ok());
    match (&column.column_type, whole) {
        (crate::value::Type::Int, Some(n)) => i32::try_from(n).map_or(Value::Null, Value::Int),
        (_, Some(n)) => Value::BigInt(n),
        (_, None) => Value::Null,
    }
}

fn cell(table: &Table, column: &crate::schema::Column, attribute: Option<&AttributeValue>) -> Result<Value> {
    convert::value(&column.column_type, attribute)
        .map_err(|m| Error::corrupt(&table.name, format!("column {}: {m}", column.name)))
}

/// The row of an item as an index shows it: keys from the index's and the base's key texts, the rest as projected. None as
/// with `row`.
pub fn index_row(derived: &Table, index: &Index, base: &Table, item: &Item) -> Result<Option<(Tenant, RawRow)>> {
    tolerant(derived, shown_row(derived, index, base, item).map(Some))
}

fn shown_row(derived: &Table, index: &Index, base: &Table, item: &Item) -> Result<(Tenant, RawRow)> {
    let (pk, sk) = index_keys(index);
    let (tenant, mut values) = key::parse_partition(derived, string(derived, item, &pk)?)?;
    if let Some(sk) = sk {
        values.extend(key::parse_sort(derived, index_sorted(derived, index), string(derived, item, &sk)?)?);
    }
    let address = Address::of(base, item)?;
    let (_, mut base_key) = key::parse_partition(base, &address.pk)?;
    if let Some(sk) = &address.sk {
        base_key.extend(key::parse_sort(base, base.clustering_columns, sk)?);
    }
    for column in &derived.columns[values.len()..] {
        let in_key = base.position(&column.name).filter(|i| *i < base_key.len());
        values.push(match in_key {
            Some(i) => base_key[i].clone(),
            None => cell(derived, column, item.get(&column.name))?,
        });
    }
    let row = RawRow { values, expires_at: expiry(derived, item)? };
    complete(derived, &row)?;
    Ok((tenant, row))
}

/// The static columns in the table's canonical order, all else null; None where none is set.
pub fn statics(table: &Table, item: Option<&Item>) -> Result<Option<Vec<Value>>> {
    let Some(item) = item.filter(|_| table.has_statics()) else { return Ok(None) };
    let values: Vec<Value> = table
        .columns
        .iter()
        .map(|c| if c.kind == Kind::Static { cell(table, c, item.get(&c.name)) } else { Ok(Value::Null) })
        .collect::<Result<_>>()?;
    Ok(values.iter().any(|v| !v.is_null()).then_some(values))
}

/// Puts the static columns' values into a row.
pub fn merge_statics(row: &mut RawRow, statics: Option<&[Value]>) {
    for (cell, value) in row.values.iter_mut().zip(statics.unwrap_or_default()) {
        if !value.is_null() {
            *cell = value.clone();
        }
    }
}

/// The bookkeeping of a guarded partition.
#[derive(Clone, Debug, Default)]
pub struct Book {
    pub version: Option<Version>,
    pub sequence: i64,
    pub outbox: Vec<(Uuid, i64)>,
    pub ids: Vec<Uuid>,
}

pub fn book(table: &Table, item: &Item) -> Result<Book> {
    let mut book = Book::default();
    for (name, attribute) in item.iter().filter(|(name, _)| name.starts_with('_')) {
        let wrong = || Error::corrupt(&table.name, format!("bookkeeping attribute {name} is {attribute:?}"));
        let whole = || attribute.as_n().ok().and_then(|n| convert::whole(n)).ok_or_else(wrong);
        if name == VERSION {
            book.version = Some(Version(whole()?));
        } else if name == SEQUENCE {
            book.sequence = whole()?;
        } else if let Some(id) = name.strip_prefix(OUTBOX) {
            book.outbox.push((Uuid::parse_str(id).map_err(|_| wrong())?, whole()?));
        } else if name.starts_with(RING) || name.starts_with(SEEN) {
            let id = attribute.as_b().ok().and_then(|b| Uuid::from_slice(b.as_ref()).ok());
            book.ids.push(id.ok_or_else(wrong)?);
        }
    }
    book.outbox.sort_unstable();
    Ok(book)
}

/// The bytes of an item, for the meter.
pub fn bytes<'i>(item: impl IntoIterator<Item = (&'i String, &'i AttributeValue)>) -> u64 {
    fn size(a: &AttributeValue) -> usize {
        match a {
            AttributeValue::S(t) | AttributeValue::N(t) => t.len(),
            AttributeValue::B(b) => b.as_ref().len(),
            AttributeValue::Ss(items) | AttributeValue::Ns(items) => items.iter().map(String::len).sum(),
            AttributeValue::Bs(items) => items.iter().map(|b| b.as_ref().len()).sum(),
            AttributeValue::L(items) => items.iter().map(|a| size(a) + 1).sum::<usize>() + 3,
            AttributeValue::M(entries) => entries.iter().map(|(k, a)| k.len() + size(a) + 1).sum::<usize>() + 3,
            _ => 1,
        }
    }
    item.into_iter().map(|(name, a)| (name.len() + size(a)) as u64).sum()
}
