//! Tenants and keys: what a key must look like before anything is sent.

use std::{cmp::Ordering, sync::Arc};

use crate::{
    error::{Error, Result},
    limits,
    schema::{Column, Direction, Table},
    value::{Type, Value},
};

/// Whose rows they are: the first part of every partition key on every engine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tenant(Arc<str>);

impl Tenant {
    /// A tenant's name is 1 to 64 lower-case ASCII letters, digits, '-' and '_', a letter or digit first.
    pub fn new(name: &str) -> Result<Self> {
        let bytes = name.as_bytes();
        let good = (1..=limits::TENANT_CHARS_MAX).contains(&bytes.len())
            && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_'))
            && bytes[0].is_ascii_alphanumeric();
        if !good {
            return Err(Error::invalid(
                "tenant",
                format!(
                    "{name:?} is not 1 to {} lower-case letters, digits, '-' and '_', a letter or digit first",
                    limits::TENANT_CHARS_MAX
                ),
            ));
        }
        Ok(Tenant(name.into()))
    }

    /// The data layer's own rows; no name that a caller can give.
    #[doc(hidden)]
    pub fn system() -> Self {
        Tenant("_system".into())
    }

    /// A tenant read back from an engine.
    pub(crate) fn stored(name: &str) -> Result<Self> {
        if name == "_system" { Ok(Self::system()) } else { Self::new(name) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Tenant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Decimals are keys by value: 1.50 and 1.5 are one key, on engines that compare bytes too.
pub(crate) fn normalize(values: &mut [Value]) {
    for value in values {
        if let Value::Decimal(d) = value {
            *d = d.normalize();
        }
    }
}

pub(crate) fn check_partition(table: &Table, partition: &[Value]) -> Result<()> {
    if partition.len() != table.partition_columns {
        return Err(Error::invalid(
            format!("{} key", table.name),
            format!("{} partition values were given, the table has {}", partition.len(), table.partition_columns),
        ));
    }
    check_columns(table, table.partition(), partition)?;
    for (column, value) in table.partition().iter().zip(partition) {
        if table.shared && matches!(value, Value::Text(t) if t.contains('#')) {
            let problem = "'#' parts the keys of a table that other tools share, and cannot stand in a value";
            return Err(Error::invalid(field(table, column), problem));
        }
        if matches!(value, Value::Text(t) if t.is_empty()) || matches!(value, Value::Blob(b) if b.is_empty()) {
            return Err(Error::invalid(field(table, column), "a partition column cannot be empty"));
        }
    }
    bounded(table, "partition key", partition, limits::PARTITION_KEY_BYTES_MAX)
}

/// Leading clustering values, all of them where `whole`.
pub(crate) fn check_clustering(table: &Table, values: &[Value], whole: bool) -> Result<()> {
    if values.len() > table.clustering_columns || (whole && values.len() < table.clustering_columns) {
        return Err(Error::invalid(
            format!("{} key", table.name),
            format!("{} clustering values were given, the table has {}", values.len(), table.clustering_columns),
        ));
    }
    check_columns(table, table.clustering(), values)?;
    bounded(table, "clustering key", values, limits::CLUSTERING_KEY_BYTES_MAX)
}

/// The order of two clustering keys, or of beginnings of such, as the table has it.
pub(crate) fn clustering_order(table: &Table, one: &[Value], other: &[Value]) -> Ordering {
    let column = |(i, (a, b)): (usize, (&Value, &Value))| match table.direction(i) {
        Direction::Ascending => a.key_order(b),
        Direction::Descending => b.key_order(a),
    };
    let mut columns = one.iter().zip(other).enumerate().map(column);
    columns.find(|order| order.is_ne()).unwrap_or_else(|| one.len().cmp(&other.len()))
}

/// The same rows by fewer prefixes: in clustering order, and none begins with another.
pub(crate) fn disjoint(table: &Table, mut prefixes: Vec<Vec<Value>>) -> Vec<Vec<Value>> {
    prefixes.sort_by(|a, b| clustering_order(table, a, b));
    // A prefix stands right before all that begin with it.
    prefixes.dedup_by(|later, earlier| later.starts_with(earlier));
    prefixes
}

/// Whether the key begins with one of the prefixes, which are as `disjoint` leaves them.
pub(crate) fn covered(table: &Table, prefixes: &[Vec<Value>], key: &[Value]) -> bool {
    // Whatever stands between a prefix and a key that begins with it begins with it, too: it can only be the last before.
    let behind = prefixes.partition_point(|prefix| clustering_order(table, prefix, key).is_le());
    behind > 0 && key.starts_with(&prefixes[behind - 1])
}

fn check_columns(table: &Table, columns: &[Column], values: &[Value]) -> Result<()> {
    columns.iter().zip(values).try_for_each(|(column, value)| check_cell(table, column, value, true))
}

/// One cell against its column.
pub(crate) fn check_cell(table: &Table, column: &Column, value: &Value, in_key: bool) -> Result<()> {
    if value.is_null() {
        if in_key || !column.optional {
            return Err(Error::invalid(field(table, column), "there is no value"));
        }
        return Ok(());
    }
    if !column.column_type.admits(value) {
        return Err(Error::invalid(
            field(table, column),
            match (&column.column_type, value) {
                (Type::Int, Value::BigInt(n)) => format!("{n} is over the largest int, {}", i32::MAX),
                (Type::Vector(n), Value::Vector(v)) => format!("the vector has {} floats, the column {n}", v.len()),
                (t, _) => format!("the value is not of type {t}"),
            },
        ));
    }
    let out_of_range = match value {
        Value::Timestamp(t) => !t.in_range(),
        Value::Date(d) => !d.in_range(),
        _ => false,
    };
    if out_of_range {
        return Err(Error::invalid(field(table, column), "a time must lie in the years 0000 to 9999"));
    }
    Ok(())
}

fn bounded(table: &Table, what: &str, values: &[Value], limit: usize) -> Result<()> {
    let size = values.iter().map(Value::bytes).sum();
    if size > limit {
        return Err(Error::TooLarge { what: format!("{} {what} in bytes", table.name), size, limit });
    }
    Ok(())
}

pub(crate) fn field(table: &Table, column: &Column) -> String {
    format!("{}.{}", table.name, column.name)
}
