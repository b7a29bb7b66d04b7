//! The values that a cell can hold, the types that a column can have, and the Rust types that stand for them.
//!
//! Invariants: a key is never null; an empty collection is the same as no collection (as on Cassandra), on every engine;
//! decimals are equal by value, not by scale.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use rust_decimal::Decimal;
use uuid::Uuid;

use crate::time::{Date, Timestamp};

/// One cell. The variants are the types of CQL that every engine can keep.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Text(String),
    Int(i32),
    BigInt(i64),
    Decimal(Decimal),
    Double(f64),
    Boolean(bool),
    Uuid(Uuid),
    Timestamp(Timestamp),
    Date(Date),
    Blob(Vec<u8>),
    Vector(Vec<f32>),
    List(Vec<Value>),
    /// Sorted, without repetition.
    Set(Vec<Value>),
    /// Sorted by key, without repetition.
    Map(Vec<(Value, Value)>),
    /// The fields of a user-defined type, in the order of its declaration.
    Struct(Vec<Value>),
    Counter(i64),
}

/// The type of a column.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    Text,
    Int,
    BigInt,
    Decimal,
    Double,
    Boolean,
    Uuid,
    Timestamp,
    Date,
    Blob,
    Vector(usize),
    List(Box<Type>),
    Set(Box<Type>),
    Map(Box<Type>, Box<Type>),
    Struct(StructType),
    Counter,
}

/// A user-defined type: `CREATE TYPE name (field type, …)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StructType {
    pub name: String,
    pub fields: Vec<(String, Type)>,
}

impl Type {
    /// The bytes of a value of this type on the engine that needs the most for it: DynamoDB keeps ids and times as text, and the
    /// name of every field with its value.
    pub(crate) fn stored_bytes(&self, value: &Value) -> usize {
        const ENTRY: usize = 4;
        match (value, self) {
            (Value::Uuid(_), _) => 36,
            (Value::Timestamp(_) | Value::Decimal(_) | Value::Double(_), _) => 24,
            (Value::BigInt(_) | Value::Int(_) | Value::Counter(_) | Value::Date(_), _) => 12,
            (Value::List(items) | Value::Set(items), Type::List(of) | Type::Set(of)) => {
                items.iter().map(|item| of.stored_bytes(item) + ENTRY).sum::<usize>() + ENTRY
            }
            (Value::Map(entries), Type::Map(key, of)) => {
                let entry = |(k, v): &(Value, Value)| key.stored_bytes(k) + of.stored_bytes(v) + 2 * ENTRY;
                entries.iter().map(entry).sum::<usize>() + ENTRY
            }
            (Value::Struct(values), Type::Struct(def)) => {
                let fields = def.fields.iter().zip(values).filter(|(_, value)| !value.is_null());
                fields.map(|((name, of), value)| name.len() + of.stored_bytes(value) + ENTRY).sum::<usize>() + ENTRY
            }
            (other, _) => other.bytes(),
        }
    }

    /// Whether a column of this type may be part of a key: its values have one order on every engine.
    pub fn orders_in_keys(&self) -> bool {
        matches!(
            self,
            Type::Text
                | Type::Int
                | Type::BigInt
                | Type::Decimal
                | Type::Boolean
                | Type::Uuid
                | Type::Timestamp
                | Type::Date
                | Type::Blob
        )
    }

    pub fn is_collection(&self) -> bool {
        matches!(self, Type::List(_) | Type::Set(_) | Type::Map(..))
    }

    /// Whether the value, null aside, is of this type in all its depth.
    pub fn admits(&self, value: &Value) -> bool {
        match (self, value) {
            (Type::Text, Value::Text(_))
            | (Type::Int, Value::Int(_))
            | (Type::BigInt, Value::BigInt(_))
            | (Type::Decimal, Value::Decimal(_))
            | (Type::Double, Value::Double(_))
            | (Type::Boolean, Value::Boolean(_))
            | (Type::Uuid, Value::Uuid(_))
            | (Type::Timestamp, Value::Timestamp(_))
            | (Type::Date, Value::Date(_))
            | (Type::Blob, Value::Blob(_))
            | (Type::Counter, Value::Counter(_)) => true,
            (Type::Vector(dimensions), Value::Vector(floats)) => floats.len() == *dimensions,
            (Type::List(item), Value::List(items)) | (Type::Set(item), Value::Set(items)) => {
                items.iter().all(|v| item.admits(v))
            }
            (Type::Map(key, item), Value::Map(entries)) => entries.iter().all(|(k, v)| key.admits(k) && item.admits(v)),
            (Type::Struct(def), Value::Struct(fields)) => {
                fields.len() == def.fields.len()
                    && fields.iter().zip(&def.fields).all(|(v, (_, t))| *v == Value::Null || t.admits(v))
            }
            _ => false,
        }
    }
}

impl std::fmt::Display for Type {
    /// As CQL writes it, top level (collections are not frozen there).
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        fn inner(t: &Type) -> String {
            match t {
                Type::List(_) | Type::Set(_) | Type::Map(..) | Type::Struct(_) => format!("frozen<{t}>"),
                _ => t.to_string(),
            }
        }
        match self {
            Type::Text => f.write_str("text"),
            Type::Int => f.write_str("int"),
            Type::BigInt => f.write_str("bigint"),
            Type::Decimal => f.write_str("decimal"),
            Type::Double => f.write_str("double"),
            Type::Boolean => f.write_str("boolean"),
            Type::Uuid => f.write_str("uuid"),
            Type::Timestamp => f.write_str("timestamp"),
            Type::Date => f.write_str("date"),
            Type::Blob => f.write_str("blob"),
            Type::Counter => f.write_str("counter"),
            Type::Vector(dimensions) => write!(f, "vector<float, {dimensions}>"),
            Type::List(item) => write!(f, "list<{}>", inner(item)),
            Type::Set(item) => write!(f, "set<{}>", inner(item)),
            Type::Map(key, item) => write!(f, "map<{}, {}>", inner(key), inner(item)),
            Type::Struct(def) => f.write_str(&def.name),
        }
    }
}

impl Value {
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The order of two key values of one type: by value, text and blobs by bytes.
    pub fn key_order(&self, other: &Value) -> Ordering {
        match (self, other) {
            (Value::Text(a), Value::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::BigInt(a), Value::BigInt(b)) => a.cmp(b),
            (Value::Decimal(a), Value::Decimal(b)) => a.cmp(b),
            (Value::Boolean(a), Value::Boolean(b)) => a.cmp(b),
            // The order of its bytes, without a call.
            (Value::Uuid(a), Value::Uuid(b)) => a.as_u128().cmp(&b.as_u128()),
            (Value::Timestamp(a), Value::Timestamp(b)) => a.cmp(b),
            (Value::Date(a), Value::Date(b)) => a.cmp(b),
            (Value::Blob(a), Value::Blob(b)) => a.cmp(b),
            // Other types never reach a key; the order only has to be stable for sets and maps.
            _ => format!("{self:?}").cmp(&format!("{other:?}")),
        }
    }

    /// The order of two cells where a guard compares them, if they can be compared.
    pub fn compare(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
            (Value::Null, _) | (_, Value::Null) => None,
            (a, b) if std::mem::discriminant(a) == std::mem::discriminant(b) => Some(a.key_order(b)),
            _ => None,
        }
    }

    /// An approximation of the bytes that the value takes on an engine; what limits and the meter count.
    #[inline]
    pub fn bytes(&self) -> usize {
        match self {
            Value::Null | Value::Boolean(_) => 1,
            Value::Text(s) => s.len(),
            Value::Blob(b) => b.len(),
            Value::Int(_) | Value::Date(_) => 4,
            Value::BigInt(_) | Value::Double(_) | Value::Timestamp(_) | Value::Counter(_) => 8,
            Value::Decimal(_) | Value::Uuid(_) => 16,
            Value::Vector(floats) => floats.len() * 4,
            Value::List(items) | Value::Set(items) | Value::Struct(items) => bytes_of_items(items),
            Value::Map(entries) => bytes_of_entries(entries),
        }
    }
}

fn bytes_of_items(items: &[Value]) -> usize {
    items.iter().map(|v| v.bytes() + 2).sum()
}

fn bytes_of_entries(entries: &[(Value, Value)]) -> usize {
    entries.iter().map(|(k, v)| k.bytes() + v.bytes() + 4).sum()
}

/// A cell did not hold what its column's type says.
#[derive(Clone, Debug, thiserror::Error)]
#[error("expected {expected}, found {found}")]
pub struct Mismatch {
    pub expected: String,
    pub found: String,
}

impl Mismatch {
    #[cold]
    pub fn new(expected: impl ToString, found: &Value) -> Self {
        let mut found = format!("{found:?}");
        if let Some((cut, _)) = found.char_indices().nth(60) {
            found.truncate(cut);
        }
        Mismatch { expected: expected.to_string(), found }
    }

    #[cold]
    pub(crate) fn in_column(self, column: &str) -> Self {
        Mismatch { expected: format!("{} in column {column}", self.expected), found: self.found }
    }
}

/// A Rust type that a column can hold. Use `#[derive(Cell)]` for ids (newtypes), states (enums without data, kept as
/// text) and nested structs (user-defined types).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type that a column can hold",
    note = "use String, i32, i64, u32, f64, bool, Decimal, Uuid, Timestamp, Date, Vec<u8>, Vector<N>, Vec, BTreeSet, BTreeMap or Option of these, or #[derive(Cell)] on your own newtype, enum or struct"
)]
pub trait Cell: Sized {
    fn column_type() -> Type;
    fn to_value(&self) -> Value;
    fn from_value(value: Value) -> Result<Self, Mismatch>;
    /// Whether a row may leave the column out: `Option`s and collections.
    const OPTIONAL: bool = false;
}

/// A cell that can be part of a key: it orders the same way on every engine.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a key",
    note = "floats, collections, vectors, nested structs and optional columns have no order that all engines agree on; use an integer, a Decimal, text, a Uuid, a Timestamp, a Date, a bool or bytes"
)]
pub trait KeyCell: Cell {}

/// A cell that is one value, not a collection, and so may be wrapped in `Option`.
#[diagnostic::on_unimplemented(
    message = "`Option<{Self}>` cannot be a column",
    note = "an empty collection is the same as none: use the collection without Option"
)]
pub trait Single: Cell {}

/// A counter's cell. Only tables of counters have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Counter(pub i64);

/// A vector of `N` floats, such as an embedding.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector<const N: usize>(Vec<f32>);

impl<const N: usize> Vector<N> {
    /// The floats, if they are `N`.
    pub fn new(floats: Vec<f32>) -> Option<Self> {
        (floats.len() == N).then_some(Vector(floats))
    }

    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }
}

macro_rules! plain_cell {
    ($rust:ty, $variant:ident $(, $key:ident)?) => {
        impl Cell for $rust {
            fn column_type() -> Type {
                Type::$variant
            }
            fn to_value(&self) -> Value {
                Value::$variant(self.clone())
            }
            #[inline]
            fn from_value(value: Value) -> Result<Self, Mismatch> {
                match value {
                    Value::$variant(v) => Ok(v),
                    other => Err(Mismatch::new(stringify!($variant), &other)),
                }
            }
        }
        impl Single for $rust {}
        $(impl $key for $rust {})?
    };
}

plain_cell!(String, Text, KeyCell);
plain_cell!(i32, Int, KeyCell);
plain_cell!(i64, BigInt, KeyCell);
plain_cell!(Decimal, Decimal, KeyCell);
plain_cell!(f64, Double);
plain_cell!(bool, Boolean, KeyCell);
plain_cell!(Uuid, Uuid, KeyCell);
plain_cell!(Timestamp, Timestamp, KeyCell);
plain_cell!(Date, Date, KeyCell);
plain_cell!(Vec<u8>, Blob, KeyCell);

impl Cell for u32 {
    fn column_type() -> Type {
        Type::Int
    }
    /// Above `i32::MAX` the value is of a type that the column refuses, so that the write fails with a clear error.
    fn to_value(&self) -> Value {
        i32::try_from(*self).map_or(Value::BigInt((*self).into()), Value::Int)
    }
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::Int(v) if v >= 0 => Ok(v as u32),
            other => Err(Mismatch::new("an int of 0 or more", &other)),
        }
    }
}
impl Single for u32 {}
impl KeyCell for u32 {}

impl Cell for Counter {
    fn column_type() -> Type {
        Type::Counter
    }
    fn to_value(&self) -> Value {
        Value::Counter(self.0)
    }
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::Counter(v) => Ok(Counter(v)),
            Value::Null => Ok(Counter(0)),
            other => Err(Mismatch::new("Counter", &other)),
        }
    }
    const OPTIONAL: bool = true;
}

impl<const N: usize> Cell for Vector<N> {
    fn column_type() -> Type {
        Type::Vector(N)
    }
    fn to_value(&self) -> Value {
        Value::Vector(self.0.clone())
    }
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::Vector(v) if v.len() == N => Ok(Vector(v)),
            other => Err(Mismatch::new(Type::Vector(N), &other)),
        }
    }
}
impl<const N: usize> Single for Vector<N> {}

impl<T: Single> Cell for Option<T> {
    fn column_type() -> Type {
        T::column_type()
    }
    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::Null, Cell::to_value)
    }
    #[inline]
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::Null => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }
    const OPTIONAL: bool = true;
}

impl<T: Cell> Cell for Vec<T> {
    fn column_type() -> Type {
        Type::List(Box::new(T::column_type()))
    }
    fn to_value(&self) -> Value {
        if self.is_empty() { Value::Null } else { Value::List(self.iter().map(Cell::to_value).collect()) }
    }
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::Null => Ok(Vec::new()),
            Value::List(items) => items.into_iter().map(T::from_value).collect(),
            other => Err(Mismatch::new("List", &other)),
        }
    }
    const OPTIONAL: bool = true;
}

impl<T: KeyCell + Ord> Cell for BTreeSet<T> {
    fn column_type() -> Type {
        Type::Set(Box::new(T::column_type()))
    }
    fn to_value(&self) -> Value {
        if self.is_empty() {
            return Value::Null;
        }
        let mut items: Vec<Value> = self.iter().map(Cell::to_value).collect();
        items.sort_by(Value::key_order);
        Value::Set(items)
    }
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::Null => Ok(BTreeSet::new()),
            Value::Set(items) => items.into_iter().map(T::from_value).collect(),
            other => Err(Mismatch::new("Set", &other)),
        }
    }
    const OPTIONAL: bool = true;
}

impl<K: KeyCell + Ord, V: Cell> Cell for BTreeMap<K, V> {
    fn column_type() -> Type {
        Type::Map(Box::new(K::column_type()), Box::new(V::column_type()))
    }
    fn to_value(&self) -> Value {
        if self.is_empty() {
            return Value::Null;
        }
        let mut entries: Vec<_> = self.iter().map(|(k, v)| (k.to_value(), v.to_value())).collect();
        entries.sort_by(|(a, _), (b, _)| a.key_order(b));
        Value::Map(entries)
    }
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::Null => Ok(BTreeMap::new()),
            Value::Map(entries) => {
                entries.into_iter().map(|(k, v)| Ok((K::from_value(k)?, V::from_value(v)?))).collect()
            }
            other => Err(Mismatch::new("Map", &other)),
        }
    }
    const OPTIONAL: bool = true;
}
