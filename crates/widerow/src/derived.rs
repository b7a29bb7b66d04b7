//! Derived tables: a pure function from one base row to the rows of another table, kept in every commit.

use std::{any::Any, collections::BTreeSet};

use crate::{
    error::SchemaError,
    row::{KeyParts, Row},
    schema::{Projection, Table},
    value::{Mismatch, Value},
};

/// `D` is derived from `Self`. Both functions are pure; static columns of the base do not take part.
pub trait Derive<D: Row>: Row {
    /// The rows of the derived table that stand for this row: none (sparse), one or several. A shard is a column of the
    /// partition key that this function computes.
    fn derive(&self) -> Vec<D>;

    /// The key of the base row that a derived row stands for.
    fn source(derived: &D) -> Self::Key;
}

/// A row that others follow from, typed once for all of them.
pub(crate) struct Base(Box<dyn Any>);

/// A row that follows from another, and the whole key of that one, as the derivation has it.
pub(crate) struct DerivedRow {
    pub values: Vec<Value>,
    pub source: Vec<Value>,
}

/// A derivation, with the types forgotten.
#[derive(Clone, Copy, Debug)]
pub struct Derivation {
    pub base: &'static Table,
    pub derived: &'static Table,
    decode: fn(&[Value]) -> Result<Base, Mismatch>,
    derive: fn(&Base) -> Vec<DerivedRow>,
    source: fn(&[Value]) -> Result<Vec<Value>, Mismatch>,
}

impl Derivation {
    pub fn of<B: Derive<D>, D: Row>() -> Self {
        Derivation {
            base: B::table(),
            derived: D::table(),
            decode: |values| Ok(Base(Box::new(B::from_values(values.to_vec())?))),
            derive: |base| {
                let row = |row: &D| DerivedRow { values: row.to_values(), source: B::source(row).into_values() };
                // Whoever asks has the base decoded by a derivation from the same table.
                base.0.downcast_ref::<B>().map(|base| base.derive().iter().map(row).collect()).unwrap_or_default()
            },
            source: |values| Ok(B::source(&D::from_values(values.to_vec())?).into_values()),
        }
    }

    /// The derived rows of a base row, each once, keys normalized.
    pub fn derive(&self, base: &[Value]) -> Result<Vec<Vec<Value>>, Mismatch> {
        Ok(self.rows(&self.decode(base)?).into_iter().map(|row| row.values).collect())
    }

    /// The base row, good for all derivations from its table.
    pub(crate) fn decode(&self, base: &[Value]) -> Result<Base, Mismatch> {
        (self.decode)(base)
    }

    /// As `derive`, with the keys that the rows lead back to.
    pub(crate) fn rows(&self, base: &Base) -> Vec<DerivedRow> {
        let mut rows = (self.derive)(base);
        for row in &mut rows {
            crate::key::normalize(&mut row.values[..self.derived.key_columns()]);
            crate::key::normalize(&mut row.source);
        }
        rows
    }

    /// The whole key of the base row that a derived row stands for.
    pub fn source(&self, derived: &[Value]) -> Result<Vec<Value>, Mismatch> {
        let mut key = (self.source)(derived)?;
        crate::key::normalize(&mut key);
        Ok(key)
    }

    /// An index must be able to give back every column of the derived row.
    pub(crate) fn check(&self) -> Result<(), SchemaError> {
        let Some(index) = &self.derived.index else { return Ok(()) };
        let sorted = self.derived.partition_columns + index.sort_columns.min(self.derived.clustering_columns);
        let mut known: BTreeSet<&str> = self.derived.columns[..sorted].iter().map(|c| c.name.as_str()).collect();
        known.extend(self.base.columns[..self.base.key_columns()].iter().map(|c| c.name.as_str()));
        match &index.projection {
            Projection::KeysOnly => {}
            Projection::Include(columns) => known.extend(columns.iter().map(String::as_str)),
            Projection::All => known.extend(self.base.columns.iter().map(|c| c.name.as_str())),
        }
        match self.derived.columns.iter().find(|c| !known.contains(c.name.as_str())) {
            Some(column) => {
                Err(SchemaError::IndexColumn { table: self.derived.name.clone(), column: column.name.clone() })
            }
            None => Ok(()),
        }
    }
}
