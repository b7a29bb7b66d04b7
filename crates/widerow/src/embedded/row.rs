//! A row's value as bytes: when it ends, then the cells that are not null, by column id.
//!
//! Columns are known by an id from the catalog, so that a column added in the middle of a declaration moves nothing.

use crate::{
    codec::{Malformed, Reader, put_length, put_value},
    engine::RawRow,
    schema::{Kind, Table},
    time::Timestamp,
    value::Value,
};

/// What the catalog says of a table: its number, and the ids of its columns in canonical order.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub table: &'static Table,
    pub id: u16,
    pub column_ids: Vec<u16>,
    /// The position of a column by its id; None for a column that is no longer declared.
    pub positions: Vec<Option<usize>>,
    /// Partitions have one row, which stands in their head.
    pub alone: bool,
}

impl Layout {
    pub(super) fn new(table: &'static Table, id: u16, column_ids: Vec<u16>, alone: bool) -> Self {
        let mut positions = vec![None; column_ids.iter().max().map_or(0, |m| *m as usize + 1)];
        for (position, id) in column_ids.iter().enumerate() {
            positions[*id as usize] = Some(position);
        }
        Layout { table, id, column_ids, positions, alone }
    }

    /// A row without values.
    pub(super) fn nulls(&self) -> Vec<Value> {
        vec![Value::Null; self.table.columns.len()]
    }

    pub(super) fn position(&self, id: usize) -> Option<usize> {
        self.positions.get(id).copied().flatten()
    }
}

pub(super) fn put_expiry(out: &mut Vec<u8>, expires_at: Option<Timestamp>) {
    match expires_at {
        None => out.push(0),
        Some(t) => {
            out.push(1);
            out.extend_from_slice(&t.millis().to_le_bytes());
        }
    }
}

pub(super) fn expiry(reader: &mut Reader<'_>) -> Result<Option<Timestamp>, Malformed> {
    match reader.byte()? {
        0 => Ok(None),
        1 => {
            let bytes = reader.take(8)?.try_into().map_err(|_| Malformed)?;
            Ok(Some(Timestamp::from_millis(i64::from_le_bytes(bytes))))
        }
        _ => Err(Malformed),
    }
}

/// The regular cells of a row. Keys are in the key, statics beside the rows.
pub(super) fn encode(layout: &Layout, values: &[Value], expires_at: Option<Timestamp>) -> Vec<u8> {
    let mut out = Vec::with_capacity(values.iter().map(|v| v.bytes() + 3).sum::<usize>() + 9);
    put_row(&mut out, layout, values, expires_at);
    out
}

pub(super) fn put_row(out: &mut Vec<u8>, layout: &Layout, values: &[Value], expires_at: Option<Timestamp>) {
    put_expiry(out, expires_at);
    let keys = layout.table.key_columns();
    for (position, value) in values.iter().enumerate().skip(keys) {
        if layout.table.columns[position].kind == Kind::Regular && !value.is_null() {
            put_length(out, layout.column_ids[position] as usize);
            put_value(out, value);
        }
    }
}

/// The row whose key columns are given; statics are null.
pub(super) fn decode(layout: &Layout, mut key: Vec<Value>, bytes: &[u8]) -> Result<RawRow, Malformed> {
    key.reserve_exact(layout.table.columns.len() - key.len());
    let expires_at = decode_behind(layout, &mut key, 0, bytes)?;
    Ok(RawRow { values: key, expires_at })
}

/// Completes the row that begins at `first` and of which the key columns are there; says when it ends.
#[inline]
pub(super) fn decode_behind(
    layout: &Layout,
    cells: &mut Vec<Value>,
    first: usize,
    bytes: &[u8],
) -> Result<Option<Timestamp>, Malformed> {
    let mut reader = Reader::new(bytes);
    let expires_at = expiry(&mut reader)?;
    while !reader.is_empty() {
        let id = reader.number()?;
        let value = reader.value()?;
        // Cells mostly stand in the order of the columns, so that the next one is simply the next.
        let next = cells.len() - first;
        if layout.column_ids.get(next).is_some_and(|expected| *expected as usize == id) {
            cells.push(value);
        } else if let Some(position) = layout.position(id) {
            if position >= next {
                cells.resize(first + position + 1, Value::Null);
            }
            cells[first + position] = value;
        }
    }
    while cells.len() < first + layout.table.columns.len() {
        cells.push(Value::Null);
    }
    Ok(expires_at)
}

pub(super) fn expires_at(bytes: &[u8]) -> Result<Option<Timestamp>, Malformed> {
    expiry(&mut Reader::new(bytes))
}

/// A static cell.
pub(super) fn encode_cell(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    put_value(&mut out, value);
    out
}
