//! What a table is: its columns, keys, time to live and consistency; and a schema, the list of tables and derivations.
//!
//! Invariants: columns stand in canonical order (partition, clustering, then the others as declared), so that a row is a
//! plain list of values; a derived table has one base; a base is guarded, or its index rows could race with it, or shared, in
//! which case the engine keeps them in the same step as the base row.

use std::{collections::BTreeMap, sync::LazyLock};

use crate::{
    derived::{Derivation, Derive},
    error::SchemaError,
    row::Row,
    time::Timestamp,
    value::{StructType, Type, Value},
};

/// How many replicas must answer. On DynamoDB `One` and `LocalOne` read eventually, the others strongly; the embedded
/// engine has one replica and ignores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Consistency {
    One,
    LocalOne,
    LocalQuorum,
    Quorum,
    /// Linearizable: sees every guarded commit that was acknowledged, and settles what is in flight.
    Serial,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    Ascending,
    Descending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Partition,
    Clustering(Direction),
    Static,
    Regular,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub column_type: Type,
    pub kind: Kind,
    /// A row may leave it out.
    pub optional: bool,
    /// The word before the value in a DynamoDB key (`PRODUCT` in `PRODUCT#123`); may be empty.
    pub label: String,
    /// On DynamoDB the column has no attribute of its own: it is what stands behind the last `#` of this key attribute.
    pub index_key: Option<String>,
}

/// What a DynamoDB index carries besides its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Projection {
    KeysOnly,
    Include(Vec<String>),
    All,
}

/// On DynamoDB, a derived table that is kept as an index of its base table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// Its name, and the prefix of its key attributes: `GSI1` has `GSI1PK` and `GSI1SK`.
    pub name: String,
    /// How many clustering columns are in the index's sort key; the others come from the base table's key.
    pub sort_columns: usize,
    pub projection: Projection,
}

/// A table, as declared by `#[derive(Row)]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub name: String,
    /// What the table is for, from the struct's doc comment.
    pub doc: String,
    pub columns: Vec<Column>,
    pub partition_columns: usize,
    pub clustering_columns: usize,
    /// Written only through the partition's version, so that guards and derivations are exact.
    pub guarded: bool,
    /// Other tools write it too: its items hold what is declared and nothing else, its keys are as people write them, and no
    /// commit stands over it. Each row is written for itself, with what is derived from it.
    pub shared: bool,
    /// Rows come in by time, many at once, and are hardly ever changed: an engine may keep those of a partition packed.
    pub series: bool,
    pub counters: bool,
    pub ttl_seconds: Option<u32>,
    /// The position of the column that says when a row ends, in place of a time to live; a null there means never.
    pub ends: Option<usize>,
    pub gc_grace_seconds: Option<u32>,
    pub read: Consistency,
    pub write: Consistency,
    pub index: Option<Index>,
}

impl Table {
    /// The bytes of a row as the engine keeps it that needs the most.
    pub(crate) fn stored_bytes(&self, values: &[Value]) -> usize {
        let cells = self.columns.iter().zip(values).filter(|(_, value)| !value.is_null());
        cells.map(|(column, value)| column.name.len() + column.column_type.stored_bytes(value)).sum()
    }

    pub fn key_columns(&self) -> usize {
        self.partition_columns + self.clustering_columns
    }

    pub fn partition(&self) -> &[Column] {
        &self.columns[..self.partition_columns]
    }

    pub fn clustering(&self) -> &[Column] {
        &self.columns[self.partition_columns..self.key_columns()]
    }

    /// Whether its partitions have versions on an engine that does not keep what follows from shared rows by itself.
    pub fn versioned(&self) -> bool {
        self.guarded || (self.shared && self.index.is_none())
    }

    /// Static and regular columns, as declared.
    pub fn others(&self) -> &[Column] {
        &self.columns[self.key_columns()..]
    }

    pub fn has_statics(&self) -> bool {
        self.others().iter().any(|c| c.kind == Kind::Static)
    }

    pub fn position(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == column)
    }

    /// When a row ends by its own column.
    pub fn end_of(&self, values: &[Value]) -> Option<Timestamp> {
        match self.ends.and_then(|position| values.get(position)) {
            Some(Value::Timestamp(end)) => Some(*end),
            _ => None,
        }
    }

    pub fn direction(&self, clustering_column: usize) -> Direction {
        match self.columns[self.partition_columns + clustering_column].kind {
            Kind::Clustering(direction) => direction,
            _ => Direction::Ascending,
        }
    }

    /// Whether clustering columns go in different directions.
    pub fn mixed_directions(&self) -> bool {
        (1..self.clustering_columns).any(|i| self.direction(i) != self.direction(0))
    }

    /// The user-defined types that the columns use, those that others need first.
    pub fn struct_types(&self) -> Vec<&StructType> {
        let mut found = Vec::new();
        for column in &self.columns {
            collect_structs(&column.column_type, &mut found);
        }
        found
    }
}

fn collect_structs<'t>(t: &'t Type, found: &mut Vec<&'t StructType>) {
    match t {
        Type::List(item) | Type::Set(item) => collect_structs(item, found),
        Type::Map(key, item) => {
            collect_structs(key, found);
            collect_structs(item, found);
        }
        Type::Struct(def) => {
            for (_, field) in &def.fields {
                collect_structs(field, found);
            }
            if !found.iter().any(|f| f.name == def.name) {
                found.push(def);
            }
        }
        _ => {}
    }
}

/// The tables of an application and what is derived from what.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    tables: BTreeMap<String, &'static Table>,
    derivations: Vec<Derivation>,
    /// A name that two different declarations have.
    twice: Option<String>,
}

impl Schema {
    pub fn new() -> Self {
        let mut schema = Schema::default();
        schema.tables.insert(crate::outbox::PENDING.name.clone(), &crate::outbox::PENDING);
        schema
    }

    pub fn table<R: Row>(mut self) -> Self {
        let table = R::table();
        if self.tables.insert(table.name.clone(), table).is_some_and(|other| other != table) {
            self.twice.get_or_insert_with(|| table.name.clone());
        }
        self
    }

    /// `D` is derived from `B`: declared here once, kept in every commit.
    pub fn derived<B: Derive<D>, D: Row>(mut self) -> Self {
        self.derivations.push(Derivation::of::<B, D>());
        self.table::<B>().table::<D>()
    }

    /// The schema, if it makes sense as a whole.
    pub fn build(self) -> Result<Schema, SchemaError> {
        if let Some(table) = self.twice {
            return Err(SchemaError::Declaration { table, problem: "it is declared twice, differently".into() });
        }
        for table in self.tables.values() {
            check(table)?;
        }
        for (i, derivation) in self.derivations.iter().enumerate() {
            let (base, derived) = (derivation.base, derivation.derived);
            if !base.versioned() {
                return Err(SchemaError::BaseNotGuarded { base: base.name.clone(), derived: derived.name.clone() });
            }
            if base.shared != derived.shared || (base.shared && derived.index.is_none()) {
                let problem = match derived.index {
                    None => "what is derived from a shared table is an index: add `index(…)`",
                    Some(_) => "a shared table has shared indexes and no others: `shared` stands in both or in neither",
                };
                return Err(SchemaError::Declaration { table: derived.name.clone(), problem: problem.into() });
            }
            if derived.guarded
                || derived.series
                || derived.counters
                || derived.has_statics()
                || derived.ttl_seconds.is_some()
            {
                return Err(SchemaError::DerivedNotPlain { derived: derived.name.clone() });
            }
            if self.derivations[..i].iter().any(|d| d.derived.name == derived.name) {
                return Err(SchemaError::TwoBases { derived: derived.name.clone() });
            }
            derivation.check()?;
        }
        let indexed = |t: &Table| self.derivations.iter().any(|d| d.derived.name == t.name);
        if let Some(stray) = self.tables.values().find(|t| t.index.is_some() && !indexed(t)) {
            return Err(SchemaError::IndexOfNothing { table: stray.name.clone() });
        }
        let mut structs: BTreeMap<&str, &StructType> = BTreeMap::new();
        for table in self.tables.values() {
            for def in table.struct_types() {
                if structs.insert(&def.name, def).is_some_and(|other| other != def) {
                    return Err(SchemaError::TwoTypes { name: def.name.clone() });
                }
            }
        }
        Ok(self)
    }

    pub fn tables(&self) -> impl Iterator<Item = &'static Table> + '_ {
        self.tables.values().copied()
    }

    pub fn find(&self, name: &str) -> Option<&'static Table> {
        self.tables.get(name).copied()
    }

    pub fn derivations(&self) -> &[Derivation] {
        &self.derivations
    }

    pub fn derivations_of<'s>(&'s self, base: &'s Table) -> impl Iterator<Item = &'s Derivation> + 's {
        self.derivations.iter().filter(move |d| d.base.name == base.name)
    }

    pub fn derivation_into(&self, derived: &Table) -> Option<&Derivation> {
        self.derivations.iter().find(|d| d.derived.name == derived.name)
    }
}

/// What the compiler cannot see of one declaration.
pub fn check(table: &Table) -> Result<(), SchemaError> {
    let wrong = |problem: String| Err(SchemaError::Declaration { table: table.name.clone(), problem });
    let named = |name: &str| {
        !name.is_empty()
            && name.len() <= 48
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && name.as_bytes()[0].is_ascii_alphabetic()
    };
    if !named(&table.name) || table.name.bytes().any(|b| b.is_ascii_uppercase()) {
        return wrong("a table's name is 1 to 48 lower-case letters, digits and '_', a letter first".into());
    }
    for (i, column) in table.columns.iter().enumerate() {
        if !named(&column.name) {
            return wrong(format!(
                "column {:?}: a name is 1 to 48 letters, digits and '_', a letter first",
                column.name
            ));
        }
        if table.columns[..i].iter().any(|c| c.name == column.name) {
            return wrong(format!("column {} stands there twice", column.name));
        }
        if i < table.key_columns() && !column.column_type.orders_in_keys() {
            return wrong(format!("column {} is of type {}, which no key can have", column.name, column.column_type));
        }
        let counter = column.column_type == Type::Counter;
        if i >= table.key_columns() && counter != table.counters {
            return wrong(format!(
                "column {}: counters stand in tables of counters, and nothing else does",
                column.name
            ));
        }
        let end_of_shared = table.shared && table.ends == Some(i) && column.name == "ttl";
        if RESERVED.contains(&column.name.as_str()) && !end_of_shared {
            return wrong(format!("column {} has a name that the data layer needs for itself", column.name));
        }
    }
    if table.partition_columns == 0 {
        return wrong("there is no partition column".into());
    }
    if table.has_statics() && table.clustering_columns == 0 {
        return wrong("a static column needs a clustering column".into());
    }
    if table.counters && (table.ttl_seconds.is_some() || table.ends.is_some() || table.guarded) {
        return wrong("a table of counters has no time to live and no guards".into());
    }
    if table.shared && (table.guarded || table.counters || table.has_statics() || table.ttl_seconds.is_some()) {
        return wrong("a shared table has no guards, counters, static columns or time to live of its own".into());
    }
    let plain = !table.guarded && !table.shared && !table.counters && !table.has_statics() && table.index.is_none();
    if table.series && (!plain || table.clustering_columns == 0) {
        return wrong("a series has clustering columns, and no guards, counters, static columns or indexes".into());
    }
    if let Some(column) = table.columns.iter().find(|c| c.index_key.is_some()) {
        let number = matches!(column.column_type, Type::Int | Type::BigInt);
        if !table.shared || !number || !column.optional || column.kind != Kind::Regular {
            let problem = "what stands in an index's key alone is an optional whole number of a shared table";
            return wrong(format!("column {}: {problem}", column.name));
        }
    }
    if let Some(position) = table.ends {
        let Some(column) = table.columns.get(position) else {
            return wrong("the column that its rows end by is not there".into());
        };
        let problem = if table.ttl_seconds.is_some() {
            "it is the end of the rows, which have a time to live as well: keep one of them"
        } else if column.kind == Kind::Static {
            "it is static, and static columns do not end"
        } else if column.column_type != Type::Timestamp {
            "rows end at an instant: its type must be a timestamp"
        } else if table.index.is_some() {
            "a table that is kept as an index ends with its base table's rows"
        } else if table.shared && column.name != "ttl" {
            "rows of a shared table end by the attribute that DynamoDB sweeps by: its name must be ttl"
        } else {
            return Ok(());
        };
        return wrong(format!("column {}: {problem}", column.name));
    }
    Ok(())
}

/// Names of attributes that engines add.
static RESERVED: [&str; 4] = ["tenant", "PK", "SK", "ttl"];

/// A `Table` made at the first use of a row type; what the derive macro expands to.
pub type LazyTable = LazyLock<Table>;
