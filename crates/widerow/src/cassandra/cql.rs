//! CQL text and the values that go with it: names, types, hidden columns, conditions.
//!
//! Invariants: every table is named with its keyspace; every value is bound, none is ever part of the text; the text of a
//! statement depends only on the table and the shape of the request, so that few statements are prepared.

use std::{
    borrow::Cow,
    collections::HashMap,
    ops::Bound,
    sync::{Arc, PoisonError, RwLock},
};

use scylla::{
    cluster::metadata::ColumnType,
    serialize::{
        SerializationError,
        value::SerializeValue,
        writers::{CellWriter, WrittenCellProof},
    },
    statement::prepared::PreparedStatement,
    value::{CqlValue, Unset},
};

use super::convert;
use crate::{
    error::Result,
    key::Tenant,
    schema::{Column, Direction, Kind, Table},
    value::{Type, Value},
};

/// A bound value.
#[derive(Clone, Debug)]
pub(super) enum Cell<'v> {
    Null,
    /// Leaves what is there as it is.
    Unset,
    /// The caller's, as a copy would be for the request alone.
    Text(&'v str),
    /// As with texts.
    Blob(&'v [u8]),
    Converted(CqlValue),
}

impl SerializeValue for Cell<'_> {
    fn serialize<'b>(
        &self,
        to: &ColumnType<'_>,
        writer: CellWriter<'b>,
    ) -> Result<WrittenCellProof<'b>, SerializationError> {
        match self {
            Cell::Null => Ok(writer.set_null()),
            Cell::Unset => Unset.serialize(to, writer),
            Cell::Text(text) => text.serialize(to, writer),
            Cell::Blob(bytes) => bytes.serialize(to, writer),
            Cell::Converted(value) => value.serialize(to, writer),
        }
    }
}

/// A statement and its values.
#[derive(Clone, Debug)]
pub(super) struct Cql<'v> {
    pub table: &'static Table,
    pub text: Arc<Text>,
    pub values: Vec<Cell<'v>>,
}

/// The text of a statement; and, beside it, so that it is not looked for, the statement as it was last prepared.
#[derive(Debug)]
pub(super) struct Text {
    pub cql: String,
    prepared: RwLock<Option<(u64, PreparedStatement)>>,
}

impl Text {
    /// What was kept in the same era.
    pub fn prepared(&self, era: u64) -> Option<PreparedStatement> {
        let kept = self.prepared.read().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().filter(|(of, _)| *of == era).map(|(_, prepared)| prepared.clone())
    }

    pub fn keep(&self, era: u64, prepared: PreparedStatement) {
        *self.prepared.write().unwrap_or_else(PoisonError::into_inner) = Some((era, prepared));
    }
}

/// What, besides the table, the text of a frequent statement depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shape {
    Row,
    /// A slice from its beginning: the length of the prefix, the operators of the bounds, whether it is reversed.
    Slice(usize, Bound<()>, Bound<()>, bool),
    /// A row, with or without an end; only if there is none.
    Put {
        ends: bool,
        if_new: bool,
    },
}

/// The texts of frequent statements, so that only their values are put together for a request. They are few, as tables
/// and shapes are.
#[derive(Debug, Default)]
pub(super) struct Texts(RwLock<HashMap<(usize, Shape), Arc<Text>>>);

impl Texts {
    /// A table lives as long as the process, so that its address is its name.
    fn key(table: &'static Table, shape: Shape) -> (usize, Shape) {
        (std::ptr::from_ref(table).addr(), shape)
    }

    fn find(&self, table: &'static Table, shape: Shape) -> Option<Arc<Text>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&Self::key(table, shape)).cloned()
    }

    fn keep(&self, table: &'static Table, shape: Shape, text: Arc<Text>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(Self::key(table, shape), text);
    }
}

/// The end of a row, exact to the millisecond.
pub(super) const EXPIRES_AT: &str = "_expires_at";
/// Whether the row is there, where its partition's bookkeeping lives in the row itself.
pub(super) const LIVE: &str = "_live";
pub(super) const VERSION: &str = "_version";
pub(super) const SEQUENCE: &str = "_sequence";
pub(super) const RING: &str = "_ring";
pub(super) const OUTBOX: &str = "_outbox";
pub(super) const TENANT: &str = "tenant";

/// A column that the engine adds to a table: name, type, whether it is static.
pub(super) type Hidden = (&'static str, &'static str, bool);

/// The bookkeeping of a guarded partition stands in static columns, or, where there is no clustering column and so no
/// static one, in the partition's only row: that row then needs a mark of its own to be there or not.
pub(super) fn hidden_columns(table: &Table) -> Vec<Hidden> {
    let mut hidden = Vec::new();
    if !table.counters {
        hidden.push((EXPIRES_AT, "timestamp", false));
    }
    if table.versioned() {
        let of_partition = table.clustering_columns > 0;
        hidden.push((VERSION, "bigint", of_partition));
        hidden.push((SEQUENCE, "bigint", of_partition));
        hidden.push((RING, "map<int, uuid>", of_partition));
        hidden.push((OUTBOX, "map<uuid, bigint>", of_partition));
        if !of_partition {
            hidden.push((LIVE, "boolean", false));
        }
    }
    hidden
}

/// Whether the row's presence is told by its own mark.
pub(super) fn has_live_mark(table: &Table) -> bool {
    table.versioned() && table.clustering_columns == 0
}

/// A name as CQL takes it.
pub(super) fn quote(name: &str) -> Cow<'_, str> {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && !RESERVED.contains(&name);
    if plain { Cow::Borrowed(name) } else { Cow::Owned(format!("\"{}\"", name.replace('"', "\"\""))) }
}

pub(super) fn qualified(keyspace: &str, name: &str) -> String {
    format!("{}.{}", quote(keyspace), quote(name))
}

/// A type as a column has it. Without a keyspace, as the server's own tables name it.
pub(super) fn type_text(t: &Type, keyspace: Option<&str>) -> String {
    match t {
        Type::List(item) => format!("list<{}>", inner_type_text(item, keyspace)),
        Type::Set(item) => format!("set<{}>", inner_type_text(item, keyspace)),
        Type::Map(key, item) => {
            format!("map<{}, {}>", inner_type_text(key, keyspace), inner_type_text(item, keyspace))
        }
        Type::Struct(def) => match keyspace {
            Some(keyspace) => format!("frozen<{}>", qualified(keyspace, &def.name)),
            None => format!("frozen<{}>", quote(&def.name)),
        },
        Type::Vector(n) => format!("vector<float, {n}>"),
        plain => plain.to_string(),
    }
}

/// A column's type. A list is frozen where its table is not guarded: such rows may be written twice under one timestamp,
/// which doubles a list that is not.
pub(super) fn column_text(table: &Table, column: &Column, keyspace: Option<&str>) -> String {
    match &column.column_type {
        t @ Type::List(_) if !table.versioned() => inner_type_text(t, keyspace),
        t => type_text(t, keyspace),
    }
}

/// A type inside another: collections are frozen there.
pub(super) fn inner_type_text(t: &Type, keyspace: Option<&str>) -> String {
    let text = type_text(t, keyspace);
    if t.is_collection() { format!("frozen<{text}>") } else { text }
}

/// Builds one statement. Where its text is known from its shape, only the values are added.
pub(super) struct Builder<'v> {
    keyspace: &'v str,
    table: &'static Table,
    text: String,
    known: Option<Arc<Text>>,
    shape: Option<(&'v Texts, Shape)>,
    values: Vec<Cell<'v>>,
    leaves_nulls: bool,
}

impl<'v> Builder<'v> {
    pub fn new(keyspace: &'v str, table: &'static Table) -> Self {
        let (text, values) = (String::new(), Vec::with_capacity(table.columns.len() + 3));
        Builder { keyspace, table, text, known: None, shape: None, values, leaves_nulls: false }
    }

    /// The same shape of the same table must always come to the same text.
    pub fn shaped(keyspace: &'v str, table: &'static Table, texts: &'v Texts, shape: Shape) -> Self {
        let known = texts.find(table, shape);
        Builder { known, shape: Some((texts, shape)), ..Builder::new(keyspace, table) }
    }

    /// From now on a column that is null is left as it is.
    pub fn leave_nulls(&mut self, leave: bool) {
        self.leaves_nulls = leave;
    }

    pub fn of(&self) -> &'static Table {
        self.table
    }

    pub fn finish(self) -> Cql<'v> {
        let Builder { table, text, known, shape, values, .. } = self;
        let text = known.unwrap_or_else(|| {
            let text = Arc::new(Text { cql: text, prepared: RwLock::default() });
            if let Some((texts, shape)) = shape {
                texts.keep(table, shape, Arc::clone(&text));
            }
            text
        });
        Cql { table, text, values }
    }

    pub fn text(&mut self, text: &str) -> &mut Self {
        if self.known.is_none() {
            self.text.push_str(text);
        }
        self
    }

    pub fn name(&mut self, name: &str) -> &mut Self {
        if self.known.is_none() {
            self.text.push_str(&quote(name));
        }
        self
    }

    pub fn table(&mut self) -> &mut Self {
        if self.known.is_none() {
            self.text.push_str(&qualified(self.keyspace, &self.table.name));
        }
        self
    }

    /// Binds a value that belongs to no column of the table.
    pub fn bind(&mut self, value: CqlValue) -> &mut Self {
        self.bind_cell(Cell::Converted(value))
    }

    pub fn bind_cell(&mut self, cell: Cell<'v>) -> &mut Self {
        self.values.push(cell);
        self
    }

    /// Binds the value of a column.
    pub fn bind_column(&mut self, column: usize, value: &'v Value) -> Result<&mut Self> {
        let cell = match (&self.table.columns[column].column_type, value) {
            (Type::Text, Value::Text(text)) => Cell::Text(text),
            (Type::Blob, Value::Blob(bytes)) => Cell::Blob(bytes),
            (column_type, value) => {
                let null = if self.leaves_nulls { Cell::Unset } else { Cell::Null };
                convert::to_cql(self.keyspace, column_type, value)?.map_or(null, Cell::Converted)
            }
        };
        Ok(self.bind_cell(cell))
    }

    /// `name = ?`, bound.
    pub fn equal(&mut self, column: usize, value: &'v Value) -> Result<&mut Self> {
        self.compare(column, "=", value)
    }

    pub fn compare(&mut self, column: usize, operator: &str, value: &'v Value) -> Result<&mut Self> {
        let table = self.table;
        self.name(&table.columns[column].name).text(" ").text(operator).text(" ?");
        self.bind_column(column, value)
    }

    /// ` WHERE tenant = ? AND …` for the whole partition key.
    pub fn of_partition(&mut self, tenant: &'v Tenant, partition: &'v [Value]) -> Result<&mut Self> {
        self.text(" WHERE ").name(TENANT).text(" = ?").bind_cell(Cell::Text(tenant.as_str()));
        for (column, value) in partition.iter().enumerate() {
            self.text(" AND ").equal(column, value)?;
        }
        Ok(self)
    }

    /// Leading clustering columns equal to these.
    pub fn of_prefix(&mut self, prefix: &'v [Value]) -> Result<&mut Self> {
        let first = self.table.partition_columns;
        for (i, value) in prefix.iter().enumerate() {
            self.text(" AND ").equal(first + i, value)?;
        }
        Ok(self)
    }

    /// Bounds by value on one clustering column, counted from the first.
    pub fn within(&mut self, clustering: usize, lower: Bound<&'v Value>, upper: Bound<&'v Value>) -> Result<&mut Self> {
        let column = self.table.partition_columns + clustering;
        match lower {
            Bound::Included(value) => self.text(" AND ").compare(column, ">=", value)?,
            Bound::Excluded(value) => self.text(" AND ").compare(column, ">", value)?,
            Bound::Unbounded => self,
        };
        match upper {
            Bound::Included(value) => self.text(" AND ").compare(column, "<=", value),
            Bound::Excluded(value) => self.text(" AND ").compare(column, "<", value),
            Bound::Unbounded => Ok(self),
        }
    }

    /// ` AND (a, b) > (?, ?)` on clustering columns from `first` on.
    pub fn beyond(&mut self, first: usize, operator: &str, values: &'v [Value]) -> Result<&mut Self> {
        let columns = self.table.partition_columns + first..;
        self.text(" AND (");
        for (i, (column, _)) in columns.clone().zip(values).enumerate() {
            let table = self.table;
            self.text(if i > 0 { ", " } else { "" }).name(&table.columns[column].name);
        }
        self.text(") ").text(operator).text(" (");
        for (i, (column, value)) in columns.zip(values).enumerate() {
            self.text(if i > 0 { ", ?" } else { "?" }).bind_column(column, value)?;
        }
        Ok(self.text(")"))
    }

    /// ` AND (a, b) IN ?` on all clustering columns, or on the first ones: as many as each of the keys has.
    pub fn among(&mut self, keys: &[Vec<Value>]) -> Result<&mut Self> {
        let table = self.table;
        self.text(" AND (");
        let columns = keys.first().map_or(0, Vec::len);
        for (i, column) in table.clustering().iter().take(columns).enumerate() {
            self.text(if i > 0 { ", " } else { "" }).name(&column.name);
        }
        self.text(") IN ?");
        let tuple = |key: &Vec<Value>| {
            let parts = table.clustering().iter().zip(key);
            let parts = parts.map(|(c, v)| convert::to_cql(self.keyspace, &c.column_type, v));
            Ok(CqlValue::Tuple(parts.collect::<Result<_>>()?))
        };
        let tuples = keys.iter().map(tuple).collect::<Result<_>>()?;
        Ok(self.bind(CqlValue::List(tuples)))
    }

    /// The table's order reversed. All columns are named: the server takes nothing else for mixed directions.
    pub fn reversed(&mut self) -> &mut Self {
        let table = self.table;
        for (i, column) in table.clustering().iter().enumerate() {
            self.text(if i == 0 { " ORDER BY " } else { ", " }).name(&column.name);
            self.text(match table.direction(i) {
                Direction::Ascending => " DESC",
                Direction::Descending => " ASC",
            });
        }
        self
    }

    /// The server takes no limit of zero.
    pub fn limit(&mut self, rows: usize) -> &mut Self {
        self.text(" LIMIT ?").bind(CqlValue::Int(i32::try_from(rows).unwrap_or(i32::MAX).max(1)))
    }

    /// `tenant, p1, …`.
    pub fn partition_names(&mut self) -> &mut Self {
        let table = self.table;
        self.name(TENANT);
        for column in table.partition() {
            self.text(", ").name(&column.name);
        }
        self
    }
}

/// Positions of the static columns.
pub(super) fn statics(table: &Table) -> impl Iterator<Item = usize> + '_ {
    table.columns.iter().enumerate().filter(|(_, c)| c.kind == Kind::Static).map(|(i, _)| i)
}

/// What the grammar keeps for itself, in Cassandra 5.0 or in ScyllaDB.
#[rustfmt::skip]
static RESERVED: &[&str] = &[
    "add", "allow", "alter", "and", "any", "apply", "asc", "authorize", "batch", "begin", "between", "by", "cast",
    "columnfamily", "create", "default", "delete", "desc", "describe", "distinct", "drop", "each_quorum", "entries",
    "execute", "from", "full", "grant", "if", "in", "index", "inet", "infinity", "insert", "into", "is", "json",
    "keyspace", "limit", "local_one", "local_quorum", "materialized", "mbean", "mbeans", "modify", "nan",
    "norecursive", "not", "null", "of", "on", "one", "or", "order", "partition", "password", "per", "primary",
    "quorum", "rename", "replace", "revoke", "schema", "scylla_clustering_bound", "scylla_counter_shard_list",
    "scylla_timeuuid_list_index", "select", "set", "table", "three", "timeout", "to", "token", "truncate", "two",
    "unlogged", "unset", "update", "use", "using", "view", "where", "with",
];
