//! Keys as text: `PK` and `SK`, byte for byte what people write by hand (`TENANT#a#PRODUCT#p1`, `SALE#2025-12-29#s1`).
//!
//! Invariants: different keys have different texts; a text decodes to its values; sort texts order as the table's
//! clustering order does, all columns travelling in the first one's direction (a column that goes the other way is stored
//! inverted); every row's sort text is at or above `FLOOR`, and so above the bookkeeping item.
//!
//! Why the order holds: in every column but the last, content bytes are above `#` (0x23), because all up to `$` (0x24)
//! are escaped with `$`. A value that is the beginning of another therefore ends in a smaller byte than the other goes on
//! with. The last column ends the text and is raw. Forms where a longer text must sort first end in `~`.
//!
//! A table that other tools share has its partition texts as they write them, nothing escaped: `#` inside a value, which
//! would make it another row's key, was refused before it came here.

use std::ops::Bound;

use rust_decimal::Decimal;
use uuid::Uuid;

use crate::{
    error::{Error, Result},
    key::Tenant,
    schema::{Column, Table},
    value::{Type, Value},
};

/// The sort text of a partition's bookkeeping and static columns.
pub const BOOKKEEPING: &str = "!";
/// No row's sort text is below it.
const FLOOR: &str = "#";
const SEPARATOR: char = '#';
const ESCAPE: char = '$';
/// Above every byte that an inverted text or a negative number holds.
const TERMINATOR: char = '~';

const I32_DIGITS: usize = 10;
const I64_DIGITS: usize = 19;

/// `TENANT#{tenant}`, then `#{LABEL}#{value}` for each partition column. Only injective: numbers are not padded.
pub fn partition_text(tenant: &Tenant, table: &Table, values: &[Value]) -> Result<String> {
    let mut text = format!("TENANT{SEPARATOR}{tenant}");
    for (column, value) in table.partition().iter().zip(values) {
        text.push(SEPARATOR);
        push_label(&mut text, column);
        match value {
            Value::Text(t) if table.shared => text.push_str(t),
            Value::Text(t) => escape(&mut text, t, |c| c == SEPARATOR || c == ESCAPE),
            Value::Int(n) => text.push_str(&n.to_string()),
            Value::BigInt(n) => text.push_str(&n.to_string()),
            Value::Decimal(d) => text.push_str(&d.normalize().to_string()),
            other => text.push_str(&fixed(other).ok_or_else(|| no_key(table, column))?),
        }
    }
    Ok(text)
}

/// The tenant and the partition values of a `PK`.
pub fn parse_partition(table: &Table, text: &str) -> Result<(Tenant, Vec<Value>)> {
    let parse = || {
        let rest = text.strip_prefix("TENANT")?.strip_prefix(SEPARATOR)?;
        let (tenant, mut rest) = rest.split_at(rest.find(SEPARATOR).unwrap_or(rest.len()));
        let mut values = Vec::with_capacity(table.partition_columns);
        for (i, column) in table.partition().iter().enumerate() {
            rest = strip_label(rest.strip_prefix(SEPARATOR)?, column)?;
            // What another tool wrote with a `#` in its last value is shown as it is, though nobody can ask for it here.
            let last = table.shared && i + 1 == table.partition_columns;
            let end = if last { rest.len() } else { rest.find(SEPARATOR).unwrap_or(rest.len()) };
            let (value, behind) = rest.split_at(end);
            rest = behind;
            values.push(match &column.column_type {
                Type::Text if table.shared => Value::Text(value.to_owned()),
                Type::Text => Value::Text(unescape(value)?),
                Type::Int => Value::Int(value.parse().ok()?),
                Type::BigInt => Value::BigInt(value.parse().ok()?),
                Type::Decimal => Value::Decimal(value.parse::<Decimal>().ok()?.normalize()),
                other => parse_fixed(other, value)?,
            });
        }
        rest.is_empty().then_some((Tenant::stored(tenant).ok()?, values))
    };
    parse().ok_or_else(|| Error::corrupt(&table.name, format!("{text:?} is not a key of this table")))
}

/// The sort text of the first `count` clustering columns, or, with fewer values, how all texts begin that have these.
pub fn sort_text(table: &Table, count: usize, values: &[Value]) -> Result<String> {
    let mut text = String::new();
    for (i, (column, value)) in table.clustering().iter().zip(values).take(count).enumerate() {
        if i > 0 {
            text.push(SEPARATOR);
        }
        push_label(&mut text, column);
        let place = Place::of(table, count, i);
        text.push_str(&component(value, place).ok_or_else(|| no_key(table, column))?);
    }
    Ok(text)
}

/// The clustering values of a sort text of `count` columns.
pub fn parse_sort(table: &Table, count: usize, text: &str) -> Result<Vec<Value>> {
    let parse = || {
        let mut rest = text;
        let mut values = Vec::with_capacity(count);
        for (i, column) in table.clustering().iter().take(count).enumerate() {
            if i > 0 {
                rest = rest.strip_prefix(SEPARATOR)?;
            }
            rest = strip_label(rest, column)?;
            let place = Place::of(table, count, i);
            let end = if place.last { rest.len() } else { rest.find(SEPARATOR)? };
            let (value, behind) = rest.split_at(end);
            rest = behind;
            values.push(parse_component(&column.column_type, value, place)?);
        }
        Some(values)
    };
    parse().ok_or_else(|| Error::corrupt(&table.name, format!("{text:?} is not a sort key of this table")))
}

/// A stretch of sort texts, both ends included. Only the texts in `without` are in it and should not be: DynamoDB has one
/// condition on the sort key and no predecessor of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortRange {
    pub lower: String,
    pub upper: Option<String>,
    pub without: Vec<String>,
}

impl SortRange {
    /// The texts that begin with the prefix and whose next column lies within the bounds, by value.
    pub fn new(
        table: &Table,
        count: usize,
        prefix: &[Value],
        lower: Bound<&Value>,
        upper: Bound<&Value>,
    ) -> Result<SortRange> {
        let mut head = sort_text(table, count, prefix)?;
        let at = prefix.len();
        if at >= count {
            return Ok(SortRange { lower: head.clone(), upper: Some(head), without: Vec::new() });
        }
        if at > 0 {
            head.push(SEPARATOR);
        }
        let column = &table.clustering()[at];
        push_label(&mut head, column);
        let place = Place::of(table, count, at);
        let (low, high) = if place.inverted { (upper, lower) } else { (lower, upper) };
        let with = |value: &Value, end: &str| -> Result<String> {
            let text = component(value, place).ok_or_else(|| no_key(table, column))?;
            Ok(format!("{head}{text}{end}"))
        };
        // Behind a column that is not the last stands `#`; nothing stands at `$` alone, nor at the bare value.
        let lower = match low {
            Bound::Unbounded if head.is_empty() => FLOOR.to_owned(),
            Bound::Unbounded => head.clone(),
            Bound::Included(v) => with(v, if place.last { "" } else { "#" })?,
            Bound::Excluded(v) => with(v, if place.last { "\0" } else { "$" })?,
        };
        let mut without = Vec::new();
        let upper = match high {
            Bound::Unbounded => head.strip_suffix(SEPARATOR).map(|h| format!("{h}{ESCAPE}")),
            Bound::Included(v) => Some(with(v, if place.last { "" } else { "$" })?),
            Bound::Excluded(v) => {
                let end = with(v, "")?;
                if place.last {
                    without.push(end.clone());
                }
                Some(end)
            }
        };
        Ok(SortRange { lower, upper, without })
    }

    /// What is left of it strictly behind a text, upward or downward.
    pub fn behind(mut self, text: String, upward: bool) -> SortRange {
        if upward {
            self.lower = self.lower.max(text + "\0");
        } else if self.upper.as_ref().is_none_or(|upper| text <= *upper) {
            self.upper = Some(text.clone());
            self.without.push(text);
        }
        self
    }
}

/// What the form of a clustering column depends on besides its type.
#[derive(Clone, Copy)]
struct Place {
    last: bool,
    inverted: bool,
    /// The text is the value and nothing else: it must be neither empty nor below `FLOOR`.
    alone: bool,
}

impl Place {
    fn of(table: &Table, count: usize, i: usize) -> Place {
        let alone = count == 1 && table.clustering()[i].label.is_empty();
        Place { last: i + 1 == count, inverted: table.direction(i) != table.direction(0), alone }
    }
}

fn component(value: &Value, place: Place) -> Option<String> {
    Some(match value {
        Value::Text(t) if place.inverted => inverted_hex(t.as_bytes()),
        Value::Text(t) if place.alone => match t.as_bytes().first() {
            None => FLOOR.to_owned(),
            Some(first @ ..=0x24) => format!("{ESCAPE}{first:02x}{}", &t[1..]),
            Some(_) => t.clone(),
        },
        Value::Text(t) if place.last => t.clone(),
        Value::Text(t) => {
            let mut out = String::with_capacity(t.len());
            escape(&mut out, t, |c| c <= ESCAPE);
            out
        }
        Value::Int(n) => integer((*n).into(), I32_DIGITS, place.inverted),
        Value::BigInt(n) => integer((*n).into(), I64_DIGITS, place.inverted),
        Value::Decimal(d) => decimal(if place.inverted { -*d } else { *d }),
        Value::Blob(b) if place.inverted => inverted_hex(b),
        Value::Blob(b) if place.alone && b.is_empty() => FLOOR.to_owned(),
        Value::Boolean(b) => (*b != place.inverted).to_string(),
        Value::Uuid(_) if place.inverted => complement(&fixed(value)?, 16),
        other if place.inverted => complement(&fixed(other)?, 10),
        other => fixed(other)?,
    })
}

fn parse_component(column_type: &Type, text: &str, place: Place) -> Option<Value> {
    Some(match column_type {
        Type::Text if place.inverted => Value::Text(String::from_utf8(parse_inverted_hex(text)?).ok()?),
        Type::Text if place.alone && text == FLOOR => Value::Text(String::new()),
        Type::Text if place.alone && text.starts_with(ESCAPE) => {
            let first = unescape(text.get(..3)?)?;
            Value::Text(first + text.get(3..)?)
        }
        Type::Text if place.last => Value::Text(text.to_owned()),
        Type::Text => Value::Text(unescape(text)?),
        Type::Int => Value::Int(i32::try_from(parse_integer(text, I32_DIGITS, place.inverted)?).ok()?),
        Type::BigInt => Value::BigInt(i64::try_from(parse_integer(text, I64_DIGITS, place.inverted)?).ok()?),
        Type::Decimal => {
            let d = parse_decimal(text)?;
            Value::Decimal(if place.inverted { -d } else { d }.normalize())
        }
        Type::Blob if place.inverted => Value::Blob(parse_inverted_hex(text)?),
        Type::Blob if place.alone && text == FLOOR => Value::Blob(Vec::new()),
        Type::Boolean => Value::Boolean(text.parse::<bool>().ok()? != place.inverted),
        Type::Uuid if place.inverted => parse_fixed(column_type, &complement(text, 16))?,
        other if place.inverted => parse_fixed(other, &complement(text, 10))?,
        other => parse_fixed(other, text)?,
    })
}

/// Types with one text that is sortable as it is.
fn fixed(value: &Value) -> Option<String> {
    Some(match value {
        Value::Boolean(b) => b.to_string(),
        Value::Uuid(u) => u.hyphenated().to_string(),
        Value::Timestamp(t) => t.to_string(),
        Value::Date(d) => d.to_string(),
        Value::Blob(b) => hex(b),
        _ => return None,
    })
}

fn parse_fixed(column_type: &Type, text: &str) -> Option<Value> {
    Some(match column_type {
        Type::Boolean => Value::Boolean(text.parse().ok()?),
        Type::Uuid => Value::Uuid(Uuid::parse_str(text).ok()?),
        Type::Timestamp => Value::Timestamp(text.parse().ok()?),
        Type::Date => Value::Date(text.parse().ok()?),
        Type::Blob => Value::Blob(unhex(text)?),
        _ => return None,
    })
}

/// Padded with zeros; below zero `-` and the nines' complement, so that more below sorts lower. Inverted is negated, in a
/// width that holds the negative of the least number too.
fn integer(n: i128, digits: usize, inverted: bool) -> String {
    let n = if inverted { -n } else { n };
    let padded = format!("{:0digits$}", n.unsigned_abs());
    if n < 0 { format!("-{}", complement(&padded, 10)) } else { padded }
}

fn parse_integer(text: &str, digits: usize, inverted: bool) -> Option<i128> {
    let (negative, number) = match text.strip_prefix('-') {
        Some(number) => (true, complement(number, 10)),
        None => (false, text.to_owned()),
    };
    if number.len() != digits || !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let n: i128 = number.parse().ok()?;
    Some(if negative != inverted { -n } else { n })
}

/// The number of digits before the point, `:`, the number: `05:12345.67`, `00:0.05`, `00:0`. Numbers with more digits
/// before the point are greater; with equally many, digits compare one by one, and an end is below a point.
/// Below zero all digits are complemented and `~` ends them, as a longer number is then the lesser.
fn decimal(d: Decimal) -> String {
    let d = d.normalize();
    let number = d.abs().to_string();
    let whole = number.split('.').next().unwrap_or("0");
    let count = if whole == "0" { 0 } else { whole.len() };
    let text = format!("{count:02}:{number}");
    if d.is_sign_negative() && !d.is_zero() { format!("-{}{TERMINATOR}", complement(&text, 10)) } else { text }
}

fn parse_decimal(text: &str) -> Option<Decimal> {
    let negative = text.strip_prefix('-').and_then(|t| t.strip_suffix(TERMINATOR)).map(|t| complement(t, 10));
    let (_, number) = negative.as_deref().unwrap_or(text).split_once(':')?;
    let d: Decimal = number.parse().ok()?;
    Some(if negative.is_some() { -d } else { d })
}

/// Nines' complement of decimal digits, fifteen's of hexadecimal ones; all else stays.
fn complement(text: &str, base: u32) -> String {
    let flip = |c: char| c.to_digit(base).and_then(|d| char::from_digit(base - 1 - d, base)).unwrap_or(c);
    text.chars().map(flip).collect()
}

fn escape(out: &mut String, text: &str, special: impl Fn(char) -> bool) {
    for c in text.chars() {
        if special(c) {
            out.push_str(&format!("{ESCAPE}{:02x}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
}

fn unescape(text: &str) -> Option<String> {
    let mut parts = text.split(ESCAPE);
    let mut out = parts.next()?.to_owned();
    for part in parts {
        let code = u8::from_str_radix(part.get(..2)?, 16).ok().filter(u8::is_ascii)?;
        out.push(char::from(code));
        out.push_str(&part[2..]);
    }
    Some(out)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(text.get(i..i + 2)?, 16).ok()).collect()
}

fn inverted_hex(bytes: &[u8]) -> String {
    let flipped: Vec<u8> = bytes.iter().map(|b| !b).collect();
    hex(&flipped) + &TERMINATOR.to_string()
}

fn parse_inverted_hex(text: &str) -> Option<Vec<u8>> {
    Some(unhex(text.strip_suffix(TERMINATOR)?)?.iter().map(|b| !b).collect())
}

/// Labels may hold `#` themselves (`EMBTYPE#PRODUCT#SHARD`): they are the same for all rows and are taken off whole.
fn push_label(text: &mut String, column: &Column) {
    if !column.label.is_empty() {
        text.push_str(&column.label);
        text.push(SEPARATOR);
    }
}

fn strip_label<'t>(text: &'t str, column: &Column) -> Option<&'t str> {
    if column.label.is_empty() { Some(text) } else { text.strip_prefix(&column.label)?.strip_prefix(SEPARATOR) }
}

fn no_key(table: &Table, column: &Column) -> Error {
    Error::invalid(crate::key::field(table, column), "the value cannot be part of a key")
}
