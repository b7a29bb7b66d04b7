//! Values as the driver knows them, and back.
//!
//! Invariants: an empty collection is written and read as none; sets and maps come back in the order of `key_order`, not
//! in the server's; what the server sends is checked against the column's type and never trusted.

use rust_decimal::Decimal;
use scylla::{
    cluster::metadata::{ColumnType, NativeType},
    deserialize::{FrameSlice, value::DeserializeValue},
    value::{Counter, CqlDate, CqlDecimal, CqlTimestamp, CqlValue},
};

use crate::{
    error::{Error, Result},
    time::{Date, Timestamp},
    value::{StructType, Type, Value},
};

/// Days from the server's day zero to 1970-01-01.
const DAY_ZERO: i64 = 1 << 31;

/// A cell to send; None is null.
pub(super) fn to_cql(keyspace: &str, column_type: &Type, value: &Value) -> Result<Option<CqlValue>> {
    match value {
        Value::Null => Ok(None),
        Value::List(items) | Value::Set(items) if items.is_empty() => Ok(None),
        Value::Map(entries) if entries.is_empty() => Ok(None),
        value => item_to_cql(keyspace, column_type, value).map(Some),
    }
}

/// A value that cannot be null: an element of a collection, or a whole cell that is there.
fn item_to_cql(keyspace: &str, column_type: &Type, value: &Value) -> Result<CqlValue> {
    let items = |item: &Type, items: &[Value]| -> Result<Vec<CqlValue>> {
        items.iter().map(|v| item_to_cql(keyspace, item, v)).collect()
    };
    Ok(match (column_type, value) {
        (Type::Text, Value::Text(text)) => CqlValue::Text(text.clone()),
        (Type::Int, Value::Int(n)) => CqlValue::Int(*n),
        (Type::BigInt, Value::BigInt(n)) => CqlValue::BigInt(*n),
        (Type::Decimal, Value::Decimal(d)) => CqlValue::Decimal(decimal_to_cql(d)),
        (Type::Double, Value::Double(d)) => CqlValue::Double(*d),
        (Type::Boolean, Value::Boolean(b)) => CqlValue::Boolean(*b),
        (Type::Uuid, Value::Uuid(u)) => CqlValue::Uuid(*u),
        (Type::Timestamp, Value::Timestamp(t)) => CqlValue::Timestamp(CqlTimestamp(t.millis())),
        (Type::Date, Value::Date(d)) => CqlValue::Date(CqlDate((i64::from(d.days()) + DAY_ZERO) as u32)),
        (Type::Blob, Value::Blob(bytes)) => CqlValue::Blob(bytes.clone()),
        (Type::Counter, Value::Counter(n)) => CqlValue::Counter(Counter(*n)),
        (Type::Vector(_), Value::Vector(floats)) => {
            CqlValue::Vector(floats.iter().map(|f| CqlValue::Float(*f)).collect())
        }
        (Type::List(item), Value::List(list)) => CqlValue::List(items(item, list)?),
        (Type::Set(item), Value::Set(set)) => CqlValue::Set(items(item, set)?),
        (Type::Map(key, item), Value::Map(entries)) => {
            let pair = |(k, v)| Ok((item_to_cql(keyspace, key, k)?, item_to_cql(keyspace, item, v)?));
            CqlValue::Map(entries.iter().map(|(k, v)| pair((k, v))).collect::<Result<_>>()?)
        }
        (Type::Struct(def), Value::Struct(fields)) => struct_to_cql(keyspace, def, fields)?,
        (expected, _) => return Err(Error::invalid("value", format!("it is not of type {expected}"))),
    })
}

fn struct_to_cql(keyspace: &str, def: &StructType, fields: &[Value]) -> Result<CqlValue> {
    let field = |((name, field_type), value): (&(String, Type), &Value)| {
        Ok((name.clone(), to_cql(keyspace, field_type, value)?))
    };
    Ok(CqlValue::UserDefinedType {
        keyspace: keyspace.to_owned(),
        name: def.name.clone(),
        fields: def.fields.iter().zip(fields).map(field).collect::<Result<_>>()?,
    })
}

/// A cell of an answer; what is wrong with it otherwise. The types that are most of a table take the short way.
pub(super) fn from_frame(
    column_type: &Type,
    sent: &ColumnType<'_>,
    bytes: Option<FrameSlice<'_>>,
) -> Result<Value, String> {
    use NativeType as Native;
    fn of<'f, T: DeserializeValue<'f, 'f>>(sent: &'f ColumnType<'f>, bytes: FrameSlice<'f>) -> Result<T, String> {
        T::deserialize(sent, Some(bytes)).map_err(|e| e.to_string())
    }
    let Some(bytes) = bytes else { return Ok(Value::Null) };
    Ok(match (column_type, sent) {
        (Type::Text, ColumnType::Native(Native::Text | Native::Ascii)) => Value::Text(of(sent, bytes)?),
        (Type::Int, ColumnType::Native(Native::Int)) => Value::Int(of(sent, bytes)?),
        (Type::BigInt, ColumnType::Native(Native::BigInt)) => Value::BigInt(of(sent, bytes)?),
        (Type::Boolean, ColumnType::Native(Native::Boolean)) => Value::Boolean(of(sent, bytes)?),
        (Type::Uuid, ColumnType::Native(Native::Uuid)) => Value::Uuid(of(sent, bytes)?),
        (Type::Timestamp, ColumnType::Native(Native::Timestamp)) => {
            let CqlTimestamp(millis) = of(sent, bytes)?;
            Value::Timestamp(Timestamp::from_millis(millis))
        }
        _ => return from_cql(column_type, Some(of(sent, bytes)?)),
    })
}

/// A cell as the driver gives it; what is wrong with it otherwise.
pub(super) fn from_cql(column_type: &Type, cell: Option<CqlValue>) -> Result<Value, String> {
    match cell {
        None => Ok(Value::Null),
        Some(CqlValue::List(items) | CqlValue::Set(items)) if items.is_empty() => Ok(Value::Null),
        Some(CqlValue::Map(entries)) if entries.is_empty() => Ok(Value::Null),
        Some(value) => item_from_cql(column_type, value),
    }
}

fn item_from_cql(column_type: &Type, value: CqlValue) -> Result<Value, String> {
    let items = |item: &Type, items: Vec<CqlValue>| -> Result<Vec<Value>, String> {
        items.into_iter().map(|v| item_from_cql(item, v)).collect()
    };
    Ok(match (column_type, value) {
        (Type::Text, CqlValue::Text(text) | CqlValue::Ascii(text)) => Value::Text(text),
        (Type::Int, CqlValue::Int(n)) => Value::Int(n),
        (Type::BigInt, CqlValue::BigInt(n)) => Value::BigInt(n),
        (Type::Decimal, CqlValue::Decimal(d)) => Value::Decimal(decimal_from_cql(&d)?),
        (Type::Double, CqlValue::Double(d)) => Value::Double(d),
        (Type::Boolean, CqlValue::Boolean(b)) => Value::Boolean(b),
        (Type::Uuid, CqlValue::Uuid(u)) => Value::Uuid(u),
        (Type::Timestamp, CqlValue::Timestamp(t)) => Value::Timestamp(Timestamp::from_millis(t.0)),
        (Type::Date, CqlValue::Date(d)) => {
            let days = i32::try_from(i64::from(d.0) - DAY_ZERO).map_err(|_| "a date out of range".to_owned())?;
            Value::Date(Date::from_days(days))
        }
        (Type::Blob, CqlValue::Blob(bytes)) => Value::Blob(bytes),
        (Type::Counter, CqlValue::Counter(n)) => Value::Counter(n.0),
        (Type::Vector(n), CqlValue::Vector(floats)) if floats.len() == *n => {
            let float = |v| match v {
                CqlValue::Float(f) => Ok(f),
                other => Err(unexpected(&Type::Vector(*n), &other)),
            };
            Value::Vector(floats.into_iter().map(float).collect::<Result<_, _>>()?)
        }
        (Type::List(item), CqlValue::List(list)) => Value::List(items(item, list)?),
        (Type::Set(item), CqlValue::Set(set)) => {
            let mut set = items(item, set)?;
            set.sort_by(Value::key_order);
            Value::Set(set)
        }
        (Type::Map(key, item), CqlValue::Map(entries)) => {
            let pair = |(k, v)| Ok((item_from_cql(key, k)?, item_from_cql(item, v)?));
            let mut entries = entries.into_iter().map(pair).collect::<Result<Vec<_>, String>>()?;
            entries.sort_by(|(a, _), (b, _)| a.key_order(b));
            Value::Map(entries)
        }
        (Type::Struct(def), CqlValue::UserDefinedType { fields, .. }) => struct_from_cql(def, fields)?,
        (expected, found) => return Err(unexpected(expected, &found)),
    })
}

/// Fields go by name: the server's type may have more of them, in another order.
fn struct_from_cql(def: &StructType, mut fields: Vec<(String, Option<CqlValue>)>) -> Result<Value, String> {
    let mut take = |name: &str| fields.iter_mut().find(|(n, _)| n == name).and_then(|(_, value)| value.take());
    let values = def.fields.iter().map(|(name, t)| from_cql(t, take(name)).map_err(|e| format!("field {name}: {e}")));
    Ok(Value::Struct(values.collect::<Result<_, _>>()?))
}

/// The content stays out of the text: it may be anyone's.
fn unexpected(expected: &Type, found: &CqlValue) -> String {
    let found = format!("{found:?}");
    let kind: String = found.chars().take_while(char::is_ascii_alphanumeric).collect();
    format!("expected {expected}, found {kind}")
}

fn decimal_to_cql(d: &Decimal) -> CqlDecimal {
    let bytes = d.mantissa().to_be_bytes();
    // The shortest two's complement: a leading byte goes if the next one carries the same sign.
    let redundant = |pair: &[u8]| (pair[0] == 0 && pair[1] < 0x80) || (pair[0] == 0xff && pair[1] >= 0x80);
    let skip = bytes.windows(2).take_while(|pair| redundant(pair)).count();
    CqlDecimal::from_signed_be_bytes_slice_and_exponent(&bytes[skip..], d.scale() as i32)
}

/// Other writers may use a negative scale, or more digits than are needed.
fn decimal_from_cql(d: &CqlDecimal) -> Result<Decimal, String> {
    let too_large = || "a decimal of more than 28 digits".to_owned();
    let (bytes, mut scale) = d.as_signed_be_bytes_slice_and_exponent();
    let negative = bytes.first().is_some_and(|b| *b >= 0x80);
    let sign = if negative { 0xff } else { 0 };
    let significant = &bytes[bytes.iter().take_while(|b| **b == sign).count()..];
    let mut wide = [sign; 16];
    let start = 16usize.checked_sub(significant.len()).ok_or_else(too_large)?;
    wide[start..].copy_from_slice(significant);
    let mut mantissa = i128::from_be_bytes(wide);
    // Sixteen significant bytes may carry the wrong sign in their first bit.
    if (mantissa < 0) != negative {
        return Err(too_large());
    }
    if mantissa == 0 {
        return Ok(Decimal::ZERO);
    }
    while scale > 0 && mantissa % 10 == 0 && (scale > 28 || mantissa.unsigned_abs() >> 96 != 0) {
        mantissa /= 10;
        scale -= 1;
    }
    while scale < 0 {
        mantissa = mantissa.checked_mul(10).ok_or_else(too_large)?;
        scale += 1;
    }
    Decimal::try_from_i128_with_scale(mantissa, scale as u32).map_err(|_| too_large())
}
