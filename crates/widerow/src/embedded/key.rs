//! Keys as bytes that sort as the values do.
//!
//! A key is: table (two bytes), tenant, partition columns, then a section byte and what it holds:
//! `0` the partition's head (nothing), or a page of ids of older commits (its number); `2` a row's clustering columns; `3` rows of a
//! series that are packed (a number).
//! Text and blobs end with `00 00`, and a zero byte inside is `00 FF`, so that no value is another's beginning. Descending
//! columns are the complement of the ascending bytes.

use rust_decimal::Decimal;
use uuid::Uuid;

use crate::{
    codec::Malformed,
    key::Tenant,
    schema::{Column, Direction, Kind, Table},
    time::{Date, Timestamp},
    value::{Type, Value},
};

pub(super) const HEAD: u8 = 0;
pub(super) const ROWS: u8 = 2;
/// Rows of a series, many in one entry.
pub(super) const PACKED: u8 = 3;

/// `table tenant partition`, to which a section is added.
pub(super) fn partition_key(table_id: u16, tenant: &Tenant, partition: &[Value]) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    put_partition(&mut out, table_id, tenant, partition);
    out
}

pub(super) fn put_partition(out: &mut Vec<u8>, table_id: u16, tenant: &Tenant, partition: &[Value]) {
    out.extend_from_slice(&table_id.to_be_bytes());
    put_terminated(out, tenant.as_str().as_bytes());
    partition.iter().for_each(|v| put_ascending(out, v));
}

/// The keys of a table, or of one tenant in it: from the first (included) to one behind the last.
pub(super) fn all_of(table_id: u16, tenant: Option<&Tenant>) -> (Vec<u8>, Vec<u8>) {
    match tenant {
        Some(tenant) => {
            let start = partition_key(table_id, tenant, &[]);
            let mut end = start.clone();
            // A name ends with two zeros, and no other name goes on with a zero and a one.
            if let Some(last) = end.last_mut() {
                *last = 1;
            }
            (start, end)
        }
        None => (table_id.to_be_bytes().to_vec(), (table_id + 1).to_be_bytes().to_vec()),
    }
}

pub(super) fn section(partition: &[u8], section: u8) -> Vec<u8> {
    let mut out = Vec::with_capacity(partition.len() + 24);
    out.extend_from_slice(partition);
    out.push(section);
    out
}

pub(super) fn row_key(table: &Table, table_id: u16, tenant: &Tenant, key: &[Value]) -> Vec<u8> {
    split_row_key(table, table_id, tenant, key).0
}

/// The key of a row, and how many of its bytes are the partition's.
pub(super) fn split_row_key(table: &Table, table_id: u16, tenant: &Tenant, key: &[Value]) -> (Vec<u8>, usize) {
    let mut out = partition_key(table_id, tenant, &key[..table.partition_columns]);
    let partition = out.len();
    out.push(ROWS);
    put_clustering(&mut out, table, &key[table.partition_columns..]);
    (out, partition)
}

/// The leading clustering columns, each in its direction.
pub(super) fn put_clustering(out: &mut Vec<u8>, table: &Table, values: &[Value]) {
    for (i, value) in values.iter().enumerate() {
        let start = out.len();
        put_ascending(out, value);
        if table.direction(i) == Direction::Descending {
            out[start..].iter_mut().for_each(|b| *b = !*b);
        }
    }
}

fn put_terminated(out: &mut Vec<u8>, bytes: &[u8]) {
    for (i, piece) in bytes.split(|b| *b == 0).enumerate() {
        if i > 0 {
            out.extend_from_slice(&[0, 0xff]);
        }
        out.extend_from_slice(piece);
    }
    out.extend_from_slice(&[0, 0]);
}

pub(super) fn put_ascending(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Text(s) => put_terminated(out, s.as_bytes()),
        Value::Blob(b) => put_terminated(out, b),
        Value::Int(n) => out.extend_from_slice(&(*n as u32 ^ 1 << 31).to_be_bytes()),
        Value::Date(d) => out.extend_from_slice(&(d.days() as u32 ^ 1 << 31).to_be_bytes()),
        Value::BigInt(n) => out.extend_from_slice(&(*n as u64 ^ 1 << 63).to_be_bytes()),
        Value::Timestamp(t) => out.extend_from_slice(&(t.millis() as u64 ^ 1 << 63).to_be_bytes()),
        Value::Boolean(b) => out.push(u8::from(*b)),
        Value::Uuid(u) => out.extend_from_slice(u.as_bytes()),
        Value::Decimal(d) => put_decimal(out, d),
        // The schema lets no other type into a key.
        _ => debug_assert!(false, "{value:?} in a key"),
    }
}

/// Sign, exponent, digits: 0.d₁d₂… × 10ᵉ with d₁ ≠ 0, the digits as 1 to 10, ended by 0; complemented where negative.
fn put_decimal(out: &mut Vec<u8>, d: &Decimal) {
    let d = d.normalize();
    if d.is_zero() {
        out.push(0x80);
        return;
    }
    let digits = d.mantissa().unsigned_abs().to_string();
    let exponent = digits.len() as i32 - d.scale() as i32;
    out.push(if d.is_sign_negative() { 0x7f } else { 0x81 });
    let start = out.len();
    out.push((exponent + 64) as u8);
    out.extend(digits.trim_end_matches('0').bytes().map(|b| b - b'0' + 1));
    out.push(0);
    if d.is_sign_negative() {
        out[start..].iter_mut().for_each(|b| *b = !*b);
    }
}

/// Reads keys back.
pub(super) struct KeyReader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> KeyReader<'b> {
    /// Behind the table's two bytes.
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        KeyReader { bytes, at: 2 }
    }

    /// In the middle of a key.
    pub(super) fn within(bytes: &'b [u8]) -> Self {
        KeyReader { bytes, at: 0 }
    }

    pub(super) fn tenant(&mut self) -> Result<Tenant, Malformed> {
        let name = String::from_utf8(self.terminated(0)?).map_err(|_| Malformed)?;
        Tenant::stored(&name).map_err(|_| Malformed)
    }

    /// Where the reader stands, from the key's beginning.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn skip(&mut self, n: usize) -> Result<(), Malformed> {
        self.at += n;
        if self.at > self.bytes.len() { Err(Malformed) } else { Ok(()) }
    }

    fn byte(&mut self, mask: u8) -> Result<u8, Malformed> {
        let b = *self.bytes.get(self.at).ok_or(Malformed)?;
        self.at += 1;
        Ok(b ^ mask)
    }

    pub(super) fn section(&mut self) -> Result<u8, Malformed> {
        self.byte(0)
    }

    fn array<const N: usize>(&mut self, mask: u8) -> Result<[u8; N], Malformed> {
        let slice = self.bytes.get(self.at..self.at + N).ok_or(Malformed)?;
        self.at += N;
        let mut array: [u8; N] = slice.try_into().map_err(|_| Malformed)?;
        array.iter_mut().for_each(|b| *b ^= mask);
        Ok(array)
    }

    fn terminated(&mut self, mask: u8) -> Result<Vec<u8>, Malformed> {
        let mut out = Vec::new();
        loop {
            // Hardly any text has a zero byte inside: what stands before the first is mostly all, in one piece.
            let rest = self.bytes.get(self.at..).ok_or(Malformed)?;
            let zero = rest.iter().position(|b| *b == mask).ok_or(Malformed)?;
            out.reserve_exact(zero);
            out.extend(rest[..zero].iter().map(|b| b ^ mask));
            self.at += zero + 1;
            match self.byte(mask)? {
                0 => return Ok(out),
                0xff => out.push(0),
                _ => return Err(Malformed),
            }
        }
    }

    pub(super) fn columns(&mut self, columns: &[Column], out: &mut Vec<Value>) -> Result<(), Malformed> {
        for column in columns {
            let mask = if column.kind == Kind::Clustering(Direction::Descending) { 0xff } else { 0 };
            out.push(self.value(&column.column_type, mask)?);
        }
        Ok(())
    }

    fn value(&mut self, column_type: &Type, mask: u8) -> Result<Value, Malformed> {
        Ok(match column_type {
            Type::Text => Value::Text(String::from_utf8(self.terminated(mask)?).map_err(|_| Malformed)?),
            Type::Blob => Value::Blob(self.terminated(mask)?),
            Type::Int => Value::Int((u32::from_be_bytes(self.array(mask)?) ^ 1 << 31) as i32),
            Type::Date => Value::Date(Date::from_days((u32::from_be_bytes(self.array(mask)?) ^ 1 << 31) as i32)),
            Type::BigInt => Value::BigInt((u64::from_be_bytes(self.array(mask)?) ^ 1 << 63) as i64),
            Type::Timestamp => {
                Value::Timestamp(Timestamp::from_millis((u64::from_be_bytes(self.array(mask)?) ^ 1 << 63) as i64))
            }
            Type::Boolean => Value::Boolean(self.byte(mask)? != 0),
            Type::Uuid => Value::Uuid(Uuid::from_bytes(self.array(mask)?)),
            Type::Decimal => Value::Decimal(self.decimal(mask)?),
            _ => return Err(Malformed),
        })
    }

    fn decimal(&mut self, mask: u8) -> Result<Decimal, Malformed> {
        let (negative, mask) = match self.byte(mask)? {
            0x80 => return Ok(Decimal::ZERO),
            0x81 => (false, mask),
            0x7f => (true, !mask),
            _ => return Err(Malformed),
        };
        let exponent = i32::from(self.byte(mask)?) - 64;
        let (mut mantissa, mut digits) = (0i128, 0i32);
        loop {
            match self.byte(mask)? {
                0 => break,
                d @ 1..=10 => mantissa = mantissa.checked_mul(10).ok_or(Malformed)? + i128::from(d - 1),
                _ => return Err(Malformed),
            }
            digits += 1;
        }
        let mut scale = digits - exponent;
        while scale < 0 {
            mantissa = mantissa.checked_mul(10).ok_or(Malformed)?;
            scale += 1;
        }
        let sign = if negative { -1 } else { 1 };
        Decimal::try_from_i128_with_scale(sign * mantissa, scale as u32).map_err(|_| Malformed)
    }
}

/// The first key behind all keys that begin with the prefix; None where there is none.
pub(super) fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < 0xff {
            end.push(last + 1);
            return Some(end);
        }
    }
    None
}
