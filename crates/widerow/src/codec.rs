//! One binary form of values, for everything that is kept as bytes: embedded rows, stored later writes, cursors.
//!
//! A value is a tag and its content; lengths are LEB128. Bytes that do not decode are an error, never a panic.

use rust_decimal::Decimal;
use uuid::Uuid;

use crate::{
    time::{Date, Timestamp},
    value::Value,
};

/// The bytes are not what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes end early or hold an unknown tag")]
pub struct Malformed;

/// Collections inside collections, at most.
const DEPTH_MAX: usize = 32;

pub fn put_length(out: &mut Vec<u8>, mut n: usize) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_length(out, bytes.len());
    out.extend_from_slice(bytes);
}

/// ZigZag LEB128: small numbers of either sign are short.
fn put_signed(out: &mut Vec<u8>, n: i64) {
    let mut z = ((n << 1) ^ (n >> 63)) as u64;
    while z >= 0x80 {
        out.push(z as u8 | 0x80);
        z >>= 7;
    }
    out.push(z as u8);
}

pub fn put_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.push(0),
        Value::Text(s) => {
            out.push(1);
            put_bytes(out, s.as_bytes());
        }
        Value::Int(n) => {
            out.push(2);
            put_signed(out, i64::from(*n));
        }
        Value::BigInt(n) => {
            out.push(3);
            put_signed(out, *n);
        }
        Value::Decimal(d) => put_decimal(out, d),
        Value::Double(d) => {
            out.push(5);
            out.extend_from_slice(&d.to_bits().to_le_bytes());
        }
        Value::Boolean(false) => out.push(6),
        Value::Boolean(true) => out.push(7),
        Value::Uuid(u) => {
            out.push(8);
            out.extend_from_slice(u.as_bytes());
        }
        Value::Timestamp(t) => {
            out.push(9);
            put_signed(out, t.millis());
        }
        Value::Date(d) => {
            out.push(10);
            put_signed(out, i64::from(d.days()));
        }
        Value::Blob(b) => {
            out.push(11);
            put_bytes(out, b);
        }
        Value::Vector(floats) => {
            out.push(12);
            put_length(out, floats.len());
            floats.iter().for_each(|f| out.extend_from_slice(&f.to_bits().to_le_bytes()));
        }
        Value::List(items) => put_items(out, 13, items),
        Value::Set(items) => put_items(out, 14, items),
        Value::Map(entries) => {
            out.push(15);
            put_length(out, entries.len());
            for (k, v) in entries {
                put_value(out, k);
                put_value(out, v);
            }
        }
        Value::Struct(fields) => put_items(out, 16, fields),
        Value::Counter(n) => {
            out.push(17);
            put_signed(out, *n);
        }
    }
}

/// Nearly every amount and measurement is a small whole number and where its point stands.
fn put_decimal(out: &mut Vec<u8>, d: &Decimal) {
    match i64::try_from(d.mantissa()) {
        // A nought can have a sign.
        Ok(mantissa) if mantissa != 0 || !d.is_sign_negative() => {
            out.push(18);
            out.push(d.scale() as u8);
            put_signed(out, mantissa);
        }
        _ => {
            out.push(4);
            out.extend_from_slice(&d.serialize());
        }
    }
}

fn put_items(out: &mut Vec<u8>, tag: u8, items: &[Value]) {
    out.push(tag);
    put_length(out, items.len());
    items.iter().for_each(|v| put_value(out, v));
}

pub fn put_values(out: &mut Vec<u8>, values: &[Value]) {
    put_length(out, values.len());
    values.iter().for_each(|v| put_value(out, v));
}

/// Reads what the `put_` functions wrote.
#[derive(Clone, Debug)]
pub struct Reader<'b> {
    bytes: &'b [u8],
}

impl<'b> Reader<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Reader { bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// What has not been read yet.
    pub fn rest(&self) -> &'b [u8] {
        self.bytes
    }

    #[inline]
    pub fn byte(&mut self) -> Result<u8, Malformed> {
        let (first, rest) = self.bytes.split_first().ok_or(Malformed)?;
        self.bytes = rest;
        Ok(*first)
    }

    #[inline]
    pub fn take(&mut self, n: usize) -> Result<&'b [u8], Malformed> {
        let (taken, rest) = self.bytes.split_at_checked(n).ok_or(Malformed)?;
        self.bytes = rest;
        Ok(taken)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.take(N)?.try_into().map_err(|_| Malformed)
    }

    #[inline]
    fn unsigned(&mut self) -> Result<u64, Malformed> {
        // Most numbers fit one byte.
        if let [first @ 0..0x80, rest @ ..] = self.bytes {
            self.bytes = rest;
            return Ok(u64::from(*first));
        }
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            n |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(n);
            }
        }
        Err(Malformed)
    }

    /// What `put_length` wrote, whatever it counts.
    #[inline]
    pub fn number(&mut self) -> Result<usize, Malformed> {
        usize::try_from(self.unsigned()?).map_err(|_| Malformed)
    }

    /// A number of things that follow, each of at least one byte: never more than there are bytes.
    #[inline]
    pub fn length(&mut self) -> Result<usize, Malformed> {
        let n = self.number()?;
        if n > self.bytes.len() { Err(Malformed) } else { Ok(n) }
    }

    #[inline]
    pub fn signed(&mut self) -> Result<i64, Malformed> {
        let z = self.unsigned()?;
        Ok((z >> 1) as i64 ^ -((z & 1) as i64))
    }

    #[inline]
    pub fn bytes(&mut self) -> Result<&'b [u8], Malformed> {
        let n = self.length()?;
        self.take(n)
    }

    #[inline]
    pub fn text(&mut self) -> Result<&'b str, Malformed> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Malformed)
    }

    pub fn uuid(&mut self) -> Result<Uuid, Malformed> {
        Ok(Uuid::from_bytes(self.array()?))
    }

    #[inline]
    pub fn value(&mut self) -> Result<Value, Malformed> {
        // Texts are most of what is stored.
        if let [1, rest @ ..] = self.bytes {
            self.bytes = rest;
            return Ok(Value::Text(self.text()?.to_owned()));
        }
        self.nested(0)
    }

    /// Bytes may come from a stranger: nesting is bounded, as the stack is.
    fn nested(&mut self, depth: usize) -> Result<Value, Malformed> {
        if depth > DEPTH_MAX {
            return Err(Malformed);
        }
        Ok(match self.byte()? {
            0 => Value::Null,
            1 => Value::Text(self.text()?.to_owned()),
            2 => Value::Int(i32::try_from(self.signed()?).map_err(|_| Malformed)?),
            3 => Value::BigInt(self.signed()?),
            4 => Value::Decimal(Decimal::deserialize(self.array()?)),
            5 => Value::Double(f64::from_bits(u64::from_le_bytes(self.array()?))),
            6 => Value::Boolean(false),
            7 => Value::Boolean(true),
            8 => Value::Uuid(self.uuid()?),
            9 => Value::Timestamp(Timestamp::from_millis(self.signed()?)),
            10 => Value::Date(Date::from_days(i32::try_from(self.signed()?).map_err(|_| Malformed)?)),
            11 => Value::Blob(self.bytes()?.to_vec()),
            12 => {
                let n = self.length()?;
                let floats = (0..n).map(|_| Ok(f32::from_bits(u32::from_le_bytes(self.array()?))));
                Value::Vector(floats.collect::<Result<_, Malformed>>()?)
            }
            13 => Value::List(self.items(depth)?),
            14 => Value::Set(self.items(depth)?),
            15 => {
                let n = self.length()?;
                Value::Map((0..n).map(|_| Ok((self.nested(depth + 1)?, self.nested(depth + 1)?))).collect::<Result<
                    _,
                    Malformed,
                >>(
                )?)
            }
            16 => Value::Struct(self.items(depth)?),
            17 => Value::Counter(self.signed()?),
            18 => {
                let (scale, mantissa) = (self.byte()?, self.signed()?);
                Value::Decimal(Decimal::try_new(mantissa, scale.into()).map_err(|_| Malformed)?)
            }
            _ => return Err(Malformed),
        })
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Value>, Malformed> {
        let n = self.length()?;
        (0..n).map(|_| self.nested(depth + 1)).collect()
    }

    pub fn values(&mut self) -> Result<Vec<Value>, Malformed> {
        let n = self.length()?;
        (0..n).map(|_| self.value()).collect()
    }
}

/// FNV-1a: small, stable for ever, not for secrets.
pub fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, b| (hash ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3))
}
