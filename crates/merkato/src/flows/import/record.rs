//! A record of a source, whatever it was written in: columns and their values.

use std::sync::Arc;

/// Where a record stands in its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub record: u64,
    pub line: Option<u64>,
}

impl Place {
    /// Of what stands in no record.
    pub const NOWHERE: Place = Place { record: 0, line: None };
}

#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub place: Place,
    /// Shared by all the rows of a table.
    pub columns: Arc<[String]>,
    /// One for each column.
    pub values: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Text(String),
    /// Written as a number by a program: its point is a point.
    Number(String),
    List(Vec<String>),
}

impl Value {
    pub fn is_empty(&self) -> bool {
        match self {
            Value::Text(text) | Value::Number(text) => text.trim().is_empty(),
            Value::List(items) => items.iter().all(|item| item.trim().is_empty()),
        }
    }

    /// As one text.
    pub fn text(&self) -> String {
        match self {
            Value::Text(text) | Value::Number(text) => text.clone(),
            Value::List(items) => items.join(", "),
        }
    }
}

/// What reading a source gives, in its order.
#[derive(Debug, PartialEq)]
pub enum Item {
    /// The heading of a table, before its rows.
    Columns(Arc<[String]>),
    Record(Record),
    /// A record that is not one.
    Bad(Place, String),
}
