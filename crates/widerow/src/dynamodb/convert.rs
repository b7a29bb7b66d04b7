//! Cells as attributes, and back.
//!
//! Invariants: what is written reads back equal; what others wrote in a neighbouring form (a list where a set is declared,
//! floats as numbers) is read; what cannot be the declared type is an error, never a panic.
//!
//! A vector is a binary of little-endian floats: four bytes each instead of about twelve as numbers, exact for every bit
//! pattern, and writes are paid by the kilobyte. Sets of text, numbers and bytes are the native sets.

use std::collections::HashMap;

use aws_sdk_dynamodb::{primitives::Blob, types::AttributeValue};
use rust_decimal::Decimal;

use crate::value::{Mismatch, Type, Value};

/// DynamoDB's numbers: 38 digits, from 1e-130 to below 1e126.
const NUMBER_MIN: f64 = 1e-130;
const NUMBER_END: f64 = 1e126;

/// The attribute of a cell; None for null and for empty collections, which are the same as none.
pub fn attribute(column_type: &Type, value: &Value) -> Option<AttributeValue> {
    Some(match (value, column_type) {
        (Value::Null, _) => return None,
        (Value::List(items) | Value::Set(items), _) if items.is_empty() => return None,
        (Value::Map(entries), _) if entries.is_empty() => return None,
        (Value::Set(items), Type::Set(item)) => set(item, items),
        (Value::List(items), Type::List(item)) => list(item, items),
        (Value::Map(entries), Type::Map(key, item)) => map(key, item, entries),
        (Value::Struct(fields), Type::Struct(def)) => AttributeValue::M(
            def.fields
                .iter()
                .zip(fields)
                .filter_map(|((name, field), value)| Some((name.clone(), attribute(field, value)?)))
                .collect(),
        ),
        (value, _) => scalar(value),
    })
}

fn scalar(value: &Value) -> AttributeValue {
    match value {
        Value::Text(t) => AttributeValue::S(t.clone()),
        Value::Int(n) => AttributeValue::N(n.to_string()),
        Value::BigInt(n) | Value::Counter(n) => AttributeValue::N(n.to_string()),
        Value::Decimal(d) => AttributeValue::N(d.normalize().to_string()),
        Value::Double(d) if is_number(*d) => AttributeValue::N(format!("{d:?}")),
        Value::Double(d) => AttributeValue::S(format!("{d:?}")),
        Value::Boolean(b) => AttributeValue::Bool(*b),
        Value::Uuid(u) => AttributeValue::S(u.hyphenated().to_string()),
        Value::Timestamp(t) => AttributeValue::S(t.to_string()),
        Value::Date(d) => AttributeValue::S(d.to_string()),
        Value::Blob(b) => AttributeValue::B(Blob::new(b.as_slice())),
        Value::Vector(floats) => {
            AttributeValue::B(Blob::new(floats.iter().flat_map(|f| f.to_le_bytes()).collect::<Vec<u8>>()))
        }
        // A nested value that is not of its declared type was refused before it came here.
        Value::Null | Value::List(_) | Value::Set(_) | Value::Map(_) | Value::Struct(_) => AttributeValue::Null(true),
    }
}

/// Whether a double is kept as a number, which others can compute with; otherwise it is kept as text.
pub fn is_number(d: f64) -> bool {
    d.is_finite() && (d == 0.0 && d.is_sign_positive() || (NUMBER_MIN..NUMBER_END).contains(&d.abs()))
}

fn nested(item: &Type, value: &Value) -> AttributeValue {
    attribute(item, value).unwrap_or(match value {
        // Inside a collection an empty one is still an entry.
        Value::List(_) | Value::Set(_) => AttributeValue::L(Vec::new()),
        Value::Map(_) => AttributeValue::M(HashMap::new()),
        _ => AttributeValue::Null(true),
    })
}

fn list(item: &Type, items: &[Value]) -> AttributeValue {
    AttributeValue::L(items.iter().map(|v| nested(item, v)).collect())
}

fn set(item: &Type, items: &[Value]) -> AttributeValue {
    let scalars: Vec<AttributeValue> = items.iter().map(|v| nested(item, v)).collect();
    let texts = |take: fn(&AttributeValue) -> Option<&String>| scalars.iter().map(take).map(|t| t.cloned()).collect();
    match item {
        Type::Text | Type::Uuid | Type::Timestamp | Type::Date => {
            let texts: Option<Vec<String>> = texts(|a| a.as_s().ok());
            texts.map_or_else(|| list(item, items), AttributeValue::Ss)
        }
        Type::Int | Type::BigInt | Type::Decimal => {
            let numbers: Option<Vec<String>> = texts(|a| a.as_n().ok());
            numbers.map_or_else(|| list(item, items), AttributeValue::Ns)
        }
        Type::Blob => {
            let blobs: Option<Vec<Blob>> = scalars.iter().map(|a| a.as_b().ok().cloned()).collect();
            blobs.map_or_else(|| list(item, items), AttributeValue::Bs)
        }
        _ => list(item, items),
    }
}

/// With text keys a map; otherwise a list of pairs. A map has no empty key there, so such a one is a list of pairs too.
fn map(key: &Type, item: &Type, entries: &[(Value, Value)]) -> AttributeValue {
    let texts: Option<HashMap<String, AttributeValue>> = entries
        .iter()
        .map(|(k, v)| match k {
            Value::Text(t) if !t.is_empty() => Some((t.clone(), nested(item, v))),
            _ => None,
        })
        .collect();
    texts.map(AttributeValue::M).unwrap_or_else(|| {
        let pair = |(k, v): &(Value, Value)| AttributeValue::L(vec![nested(key, k), nested(item, v)]);
        AttributeValue::L(entries.iter().map(pair).collect())
    })
}

/// The cell of an attribute.
pub fn value(column_type: &Type, attribute: Option<&AttributeValue>) -> Result<Value, Mismatch> {
    let Some(attribute) = attribute else { return Ok(Value::Null) };
    read(column_type, attribute, true)
        .ok_or_else(|| Mismatch { expected: column_type.to_string(), found: shortened(attribute) })
}

fn shortened(attribute: &AttributeValue) -> String {
    let found = format!("{attribute:?}");
    found.chars().take(60).collect()
}

fn read(column_type: &Type, attribute: &AttributeValue, top: bool) -> Option<Value> {
    use AttributeValue as A;
    Some(match (column_type, attribute) {
        (_, A::Null(_)) => Value::Null,
        (Type::Text, A::S(t)) => Value::Text(t.clone()),
        (Type::Int, A::N(n)) => Value::Int(i32::try_from(whole(n)?).ok()?),
        (Type::BigInt, A::N(n)) => Value::BigInt(whole(n)?),
        (Type::Counter, A::N(n)) => Value::Counter(whole(n)?),
        (Type::Decimal, A::N(n) | A::S(n)) => Value::Decimal(number(n)?),
        (Type::Double, A::N(n) | A::S(n)) => Value::Double(n.parse().ok()?),
        (Type::Boolean, A::Bool(b)) => Value::Boolean(*b),
        (Type::Uuid, A::S(t)) => Value::Uuid(t.parse().ok()?),
        (Type::Timestamp, A::S(t)) => Value::Timestamp(t.parse().ok()?),
        (Type::Date, A::S(t)) => Value::Date(t.parse().ok()?),
        (Type::Blob, A::B(b)) => Value::Blob(b.as_ref().to_vec()),
        (Type::Vector(n), A::B(b)) if b.as_ref().len() == n * 4 => {
            let floats = b.as_ref().chunks_exact(4).map(|c| c.try_into().map(f32::from_le_bytes));
            Value::Vector(floats.collect::<Result<_, _>>().ok()?)
        }
        (Type::Vector(n), A::L(items)) if items.len() == *n => {
            Value::Vector(items.iter().map(|i| i.as_n().ok()?.parse().ok()).collect::<Option<_>>()?)
        }
        (Type::List(_) | Type::Set(_), A::L(items)) if items.is_empty() && top => Value::Null,
        (Type::Map(..), A::M(entries)) if entries.is_empty() && top => Value::Null,
        (Type::List(item), A::L(items)) => {
            Value::List(items.iter().map(|a| read(item, a, false)).collect::<Option<_>>()?)
        }
        (Type::Set(item), A::L(items)) => sorted_set(items.iter().map(|a| read(item, a, false)))?,
        (Type::Set(item), A::Ss(texts)) => sorted_set(texts.iter().map(|t| read(item, &A::S(t.clone()), false)))?,
        (Type::Set(item), A::Ns(ns)) => sorted_set(ns.iter().map(|n| read(item, &A::N(n.clone()), false)))?,
        (Type::Set(item), A::Bs(blobs)) => sorted_set(blobs.iter().map(|b| read(item, &A::B(b.clone()), false)))?,
        (Type::Map(_, item), A::M(entries)) => {
            sorted_map(entries.iter().map(|(k, v)| Some((Value::Text(k.clone()), read(item, v, false)?))))?
        }
        (Type::Map(key, item), A::L(pairs)) => {
            sorted_map(pairs.iter().map(|pair| match pair.as_l().ok()?.as_slice() {
                [k, v] => Some((read(key, k, false)?, read(item, v, false)?)),
                _ => None,
            }))?
        }
        (Type::Struct(def), A::M(fields)) => {
            let field = |(name, t): &(String, Type)| fields.get(name).map_or(Some(Value::Null), |a| read(t, a, true));
            Value::Struct(def.fields.iter().map(field).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

fn sorted_set(items: impl Iterator<Item = Option<Value>>) -> Option<Value> {
    let mut items: Vec<Value> = items.collect::<Option<_>>()?;
    items.sort_by(Value::key_order);
    items.dedup();
    Some(Value::Set(items))
}

fn sorted_map(entries: impl Iterator<Item = Option<(Value, Value)>>) -> Option<Value> {
    let mut entries: Vec<(Value, Value)> = entries.collect::<Option<_>>()?;
    entries.sort_by(|(a, _), (b, _)| a.key_order(b));
    Some(Value::Map(entries))
}

/// A number without a fraction, in whichever form it was written.
pub fn whole(n: &str) -> Option<i64> {
    n.parse().ok().or_else(|| {
        let d = number(n)?;
        d.is_integer().then(|| i64::try_from(d.normalize()).ok()).flatten()
    })
}

fn number(n: &str) -> Option<Decimal> {
    n.parse().or_else(|_| Decimal::from_scientific(n)).ok()
}
