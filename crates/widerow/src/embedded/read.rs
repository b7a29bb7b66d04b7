//! Reads, each from one snapshot.

use std::{cell::OnceCell, ops::Bound};

use fjall::{Database, Keyspace, Readable, Snapshot};

use super::{
    engine_error,
    head::{self, Head, RingPage},
    key::{self, HEAD, KeyReader, PACKED, ROWS},
    row::{self, Layout},
    series::{self, PackedRows, Stage, StagedRow},
};
use crate::{
    codec::{Malformed, Reader, put_bytes},
    engine::{Anchor, AnchorRows, RawPage, RawRow, ReadAnchor, Rows, Scan, ScanPage, Slice, Version},
    error::{Error, Result},
    key::Tenant,
    schema::Direction,
    value::Value,
};

/// Rows that room is made for beforehand: most slices are pages, and decisions read few rows under a high limit.
const ROWS_EXPECTED: usize = 32;

/// A consistent view of the folder, on one table.
pub(super) struct View<'v> {
    db: &'v Database,
    snapshot: OnceCell<Snapshot>,
    rows: &'v Keyspace,
    stage: &'v Stage,
    layout: &'v Layout,
}

impl<'v> View<'v> {
    pub(super) fn new(db: &'v Database, rows: &'v Keyspace, stage: &'v Stage, layout: &'v Layout) -> Self {
        View { db, snapshot: OnceCell::new(), rows, stage, layout }
    }

    /// Taken at the first read.
    fn snapshot(&self) -> &Snapshot {
        self.snapshot.get_or_init(|| self.db.snapshot())
    }

    fn corrupt(&self, e: Malformed) -> Error {
        Error::corrupt(&self.layout.table.name, e)
    }

    /// The row by its whole key, with statics where the table has them.
    pub(super) fn get(&self, tenant: &Tenant, key: &[Value]) -> Result<Option<RawRow>> {
        let Some(mut row) = self.get_bare(tenant, key.to_vec())? else { return Ok(None) };
        if self.layout.table.has_statics() {
            let partition = key::partition_key(self.layout.id, tenant, &key[..self.layout.table.partition_columns]);
            merge_statics(self.statics(&partition)?.as_deref(), &mut row.values);
        }
        Ok(Some(row))
    }

    /// As `get`, static columns null.
    fn get_bare(&self, tenant: &Tenant, key: Vec<Value>) -> Result<Option<RawRow>> {
        if self.layout.table.series {
            return self.get_of_series(tenant, key);
        }
        if self.layout.alone {
            let partition = key::partition_key(self.layout.id, tenant, &key);
            let head = self.head(&head::key_of(&partition))?;
            return head.map_or(Ok(None), |head| self.row_in(&head, key));
        }
        let bytes = key::row_key(self.layout.table, self.layout.id, tenant, &key);
        let Some(value) = self.snapshot().get(self.rows, bytes).map_err(engine_error)? else { return Ok(None) };
        row::decode(self.layout, key, &value).map(Some).map_err(|e| self.corrupt(e))
    }

    /// The row of a partition that has one, by its key.
    fn row_in(&self, head: &Head, key: Vec<Value>) -> Result<Option<RawRow>> {
        let Some(value) = &head.row else { return Ok(None) };
        row::decode(self.layout, key, value).map(Some).map_err(|e| self.corrupt(e))
    }

    fn statics(&self, partition: &[u8]) -> Result<Option<Vec<Value>>> {
        if !self.layout.table.has_statics() {
            return Ok(None);
        }
        let Some(head) = self.head(&head::key_of(partition))? else { return Ok(None) };
        head.statics(self.layout).map_err(|e| self.corrupt(e))
    }

    fn head(&self, key: &[u8]) -> Result<Option<Head>> {
        let bytes = self.snapshot().get(self.rows, key).map_err(engine_error)?;
        bytes.map(|bytes| Head::decode(&bytes)).transpose().map_err(|e| self.corrupt(e))
    }

    /// A page and the bytes that were read for it.
    pub(super) fn slice(&self, slice: &Slice<'_>) -> Result<(RawPage, usize)> {
        let partition = key::partition_key(self.layout.id, slice.tenant, slice.partition);
        let statics = self.statics(&partition)?;
        let (rows, bytes) = self.slice_rows(slice, &partition, statics.as_deref())?;
        Ok((RawPage { rows, statics }, bytes))
    }

    /// The rows of a slice and the bytes that were read for them.
    fn slice_rows(&self, slice: &Slice<'_>, partition: &[u8], statics: Option<&[Value]>) -> Result<(Rows, usize)> {
        let table = self.layout.table;
        if self.layout.alone {
            // Behind the one row there is none.
            let wanted = slice.after.is_none() && slice.limit > 0;
            let row = if wanted { self.get_bare(slice.tenant, slice.partition.to_vec())? } else { None };
            let rows: Vec<RawRow> = row.into_iter().collect();
            let bytes = rows.iter().map(RawRow::bytes).sum();
            return Ok((rows.into(), bytes));
        }
        let (mut from, mut to) = range(self.layout, partition, slice.prefix, slice.lower, slice.upper);
        if let Some(after) = slice.after {
            let mut position = key::section(partition, ROWS);
            key::put_clustering(&mut position, table, after);
            // A whole key ends where the next begins: one zero byte more is the first key behind it.
            if slice.reverse {
                to = to.min(position);
            } else {
                position.push(0);
                from = from.max(position);
            }
        }
        if table.series {
            return self.slice_series(slice, partition, from, to);
        }
        let mut rows = Rows::with_capacity(table, slice.limit.min(ROWS_EXPECTED));
        let mut bytes_read = 0;
        if from < to {
            // RACE: not a range of the keyspace itself, which shows a batch row by row as it is being applied.
            let entries = self.snapshot().range(self.rows, from..to);
            let mut add = |entry: fjall::Guard| -> Result<()> {
                let (bytes, value) = entry.into_inner().map_err(engine_error)?;
                bytes_read += bytes.len() + value.len();
                let first = rows.cells.len();
                rows.cells.extend_from_slice(slice.partition);
                let mut reader = KeyReader::new(&bytes);
                let end = reader
                    .skip(partition.len() + 1 - 2)
                    .and_then(|()| reader.columns(table.clustering(), &mut rows.cells))
                    .and_then(|()| row::decode_behind(self.layout, &mut rows.cells, first, &value))
                    .map_err(|e| self.corrupt(e))?;
                rows.ends.push(end);
                merge_statics(statics, &mut rows.cells[first..]);
                Ok(())
            };
            if slice.reverse {
                entries.rev().take(slice.limit).try_for_each(&mut add)?;
            } else {
                entries.take(slice.limit).try_for_each(&mut add)?;
            }
        }
        Ok((rows, bytes_read))
    }

    fn get_of_series(&self, tenant: &Tenant, key: Vec<Value>) -> Result<Option<RawRow>> {
        let (bytes, partition) = key::split_row_key(self.layout.table, self.layout.id, tenant, &key);
        let (partition, clustering) = (&bytes[..partition], &bytes[partition + 1..]);
        let decode = |value: &[u8]| row::decode(self.layout, key, value).map(Some).map_err(|e| self.corrupt(e));
        // ORDER: the stage, then the snapshot, for each row again. What is staged of one row may only be older than the snapshot.
        if let Some(staged) = self.stage.find(partition, clustering) {
            return staged.value().map_or(Ok(None), decode);
        }
        let snapshot = self.db.snapshot();
        for entry in snapshot.range(self.rows, series::packed_range(partition)).rev() {
            let packed = entry.value().map_err(engine_error)?;
            for cell in PackedRows::new(&packed).map_err(|e| self.corrupt(e))? {
                let (found, value) = cell.map_err(|e| self.corrupt(e))?;
                if found == clustering {
                    return decode(value);
                }
            }
        }
        let single = snapshot.get(self.rows, &bytes).map_err(engine_error)?;
        single.map_or(Ok(None), |value| decode(&value))
    }

    /// The rows of a series between two keys.
    fn slice_series(&self, slice: &Slice<'_>, partition: &[u8], from: Vec<u8>, to: Vec<u8>) -> Result<(Rows, usize)> {
        let table = self.layout.table;
        let mut rows = Rows::with_capacity(table, slice.limit.min(ROWS_EXPECTED));
        let mut bytes_read = 0;
        let range = series::clustering_range(partition, &from, &to);
        let wanted = |clustering: &[u8]| range.contains(clustering);
        let (staged, snapshot) = self.stage.rows_with(partition, wanted, || self.db.snapshot());
        let stored = Stored::read(&snapshot, self.rows, partition, from.clone()..to.clone())?;
        let cells = stored.merge(&staged, partition.len(), |clustering| range.contains(clustering));
        let cells = cells.map_err(|e| self.corrupt(e))?;
        let mut add = |(clustering, value): series::LiveCell<'_>| -> Result<()> {
            bytes_read += partition.len() + 1 + clustering.len() + value.len();
            let first = rows.cells.len();
            rows.cells.extend_from_slice(slice.partition);
            let end = KeyReader::within(clustering)
                .columns(table.clustering(), &mut rows.cells)
                .and_then(|()| row::decode_behind(self.layout, &mut rows.cells, first, value))
                .map_err(|e| self.corrupt(e))?;
            rows.ends.push(end);
            Ok(())
        };
        if slice.reverse {
            cells.into_iter().rev().take(slice.limit).try_for_each(&mut add)?;
        } else {
            cells.into_iter().take(slice.limit).try_for_each(&mut add)?;
        }
        Ok((rows, bytes_read))
    }

    /// As `scan`, of a series, whose rows were packed before. `next` is the last row's key as if it stood by itself.
    fn scan_series(&self, scan: &Scan<'_>) -> Result<ScanPage> {
        let table = self.layout.table;
        let (mut from, to) = self.scan_range(scan)?;
        let mut behind = None;
        if let Some(after) = scan.after {
            let length = self.partition_bytes(after)?.2;
            let (partition, clustering) = (&after[..length], after.get(length + 1..).unwrap_or_default());
            (from, behind) = (partition.to_vec(), Some(clustering.to_vec()));
        }
        let mut page = ScanPage::default();
        let snapshot = self.db.snapshot();
        while from < to {
            let Some(entry) = snapshot.range(self.rows, from..to.clone()).next() else { break };
            let first = entry.key().map_err(engine_error)?;
            let (tenant, key, length) = self.partition_bytes(&first)?;
            let partition = &first[..length];
            // RACE: what the last page ended in may be gone since; in any other partition nothing was read yet.
            behind = behind.filter(|_| scan.after.is_some_and(|after| after.starts_with(partition)));
            let whole = key::section(partition, ROWS)..key::section(partition, PACKED);
            let stored = Stored::read(&snapshot, self.rows, partition, whole)?;
            for (clustering, value) in stored.merge(&[], length, |_| true).map_err(|e| self.corrupt(e))? {
                if behind.as_deref().is_some_and(|last| clustering <= last) {
                    continue;
                }
                let mut values = key.clone();
                let read = KeyReader::within(clustering).columns(table.clustering(), &mut values);
                let row = read.and_then(|()| row::decode(self.layout, values, value)).map_err(|e| self.corrupt(e))?;
                page.rows.push((tenant.clone(), row));
                if page.rows.len() == scan.limit {
                    page.next = Some([&key::section(partition, ROWS)[..], clustering].concat());
                    return Ok(page);
                }
            }
            (from, behind) = (key::section(partition, PACKED + 1), None);
        }
        Ok(page)
    }

    /// Whose a key is, its partition, and how many bytes of it these are.
    fn partition_bytes(&self, key: &[u8]) -> Result<(Tenant, Vec<Value>, usize)> {
        let mut reader = KeyReader::new(key);
        let mut values = Vec::with_capacity(self.layout.table.columns.len());
        let tenant = reader.tenant().map_err(|e| self.corrupt(e))?;
        reader.columns(self.layout.table.partition(), &mut values).map_err(|e| self.corrupt(e))?;
        Ok((tenant, values, reader.position()))
    }

    pub(super) fn anchor(&self, read: &ReadAnchor<'_>) -> Result<Anchor> {
        let partition = key::partition_key(self.layout.id, read.tenant, read.partition);
        let key = head::key_of(&partition);
        let head = self.head(&key)?.unwrap_or_default();
        let mut anchor =
            Anchor { statics: head.statics(self.layout).map_err(|e| self.corrupt(e))?, ..Anchor::default() };
        let mut alone = if self.layout.alone { self.row_in(&head, read.partition.to_vec())? } else { None };
        if let Some(book) = head.book {
            anchor.version = Some(Version(book.version));
            anchor.sequence = book.sequence;
            if read.ring {
                let pages = self.snapshot().range(self.rows, head::pages_of(&key));
                let page = |entry: fjall::Guard| {
                    RingPage::decode(&entry.value().map_err(engine_error)?).map_err(|e| self.corrupt(e))
                };
                anchor.ring = book.ring(&pages.map(page).collect::<Result<Vec<_>>>()?);
            }
            anchor.outbox = book.outbox;
        }
        let mut get = |clustering: &[Value]| -> Result<Option<RawRow>> {
            // There is one key that can be asked for.
            if self.layout.alone {
                return Ok(alone.take());
            }
            let mut row = self.get_bare(read.tenant, [read.partition, clustering].concat())?;
            row.iter_mut().for_each(|row| merge_statics(anchor.statics.as_deref(), &mut row.values));
            Ok(row)
        };
        match read.rows {
            AnchorRows::Keys(keys) => {
                for clustering in keys {
                    anchor.rows.push(get(clustering)?);
                }
            }
            AnchorRows::Prefixes { prefixes, limit } => {
                for prefix in prefixes {
                    let left = limit - anchor.rows.len();
                    if left == 0 {
                        break;
                    }
                    if prefix.len() == self.layout.table.clustering_columns {
                        anchor.rows.extend(get(prefix)?.map(Some));
                        continue;
                    }
                    // Every read of a folder is serial.
                    let first = Slice::first(left, read.tenant, self.layout.table, read.partition);
                    let slice = Slice { prefix, ..first };
                    let (rows, _) = self.slice_rows(&slice, &partition, anchor.statics.as_deref())?;
                    anchor.rows.extend(Vec::from(rows).into_iter().map(Some));
                }
            }
        }
        Ok(anchor)
    }

    /// A page of one range of the table. `next` is the last key that was read.
    pub(super) fn scan(&self, scan: &Scan<'_>) -> Result<ScanPage> {
        let table = self.layout.table;
        if table.series {
            return self.scan_series(scan);
        }
        let (mut from, to) = self.scan_range(scan)?;
        if let Some(after) = scan.after {
            from = after.to_vec();
            from.push(0);
        }
        let mut page = ScanPage::default();
        if from >= to {
            return Ok(page);
        }
        // Statics of the partition at hand; they stand before its rows, or before the page.
        let mut statics: Option<(Vec<u8>, Option<Vec<Value>>)> = None;
        for entry in self.snapshot().range(self.rows, from..to) {
            let (bytes, value) = entry.into_inner().map_err(engine_error)?;
            let mut reader = KeyReader::new(&bytes);
            let mut values = Vec::with_capacity(table.columns.len());
            let tenant = reader.tenant().map_err(|e| self.corrupt(e))?;
            reader.columns(table.partition(), &mut values).map_err(|e| self.corrupt(e))?;
            let partition = &bytes[..reader.position()];
            let section = reader.section().map_err(|e| self.corrupt(e))?;
            if self.layout.alone {
                // Behind the head are its pages.
                if section == HEAD && reader.position() == bytes.len() {
                    let head = Head::decode(&value).map_err(|e| self.corrupt(e))?;
                    page.rows.extend(self.row_in(&head, values)?.map(|row| (tenant, row)));
                }
                if page.rows.len() == scan.limit {
                    page.next = Some(bytes.to_vec());
                    break;
                }
                continue;
            }
            if section == HEAD && reader.position() == bytes.len() && table.has_statics() {
                let head = Head::decode(&value).map_err(|e| self.corrupt(e))?;
                let cells = head.statics(self.layout).map_err(|e| self.corrupt(e))?;
                // Whether it has rows is seen behind it.
                page.bare.extend(cells.is_some().then_some((tenant, values)));
                statics = Some((partition.to_vec(), cells));
                if page.len() >= scan.limit {
                    page.next = Some(bytes.to_vec());
                    break;
                }
                continue;
            }
            if section != ROWS {
                continue;
            }
            page.bare.pop_if(|(of, key)| *of == tenant && *key == values);
            reader.columns(table.clustering(), &mut values).map_err(|e| self.corrupt(e))?;
            let mut row = row::decode(self.layout, values, &value).map_err(|e| self.corrupt(e))?;
            if table.has_statics() {
                if statics.as_ref().is_none_or(|(of, _)| of != partition) {
                    statics = Some((partition.to_vec(), self.statics(partition)?));
                }
                merge_statics(statics.as_ref().and_then(|(_, cells)| cells.as_deref()), &mut row.values);
            }
            page.rows.push((tenant, row));
            if page.len() >= scan.limit {
                page.next = Some(bytes.to_vec());
                break;
            }
        }
        Ok(page)
    }

    /// Where the ranges of a scan meet: what lies between the table's first and last key, split evenly by the eight bytes
    /// behind what they share. Partitions are never cut.
    pub(super) fn split(&self, tenant: Option<&Tenant>, ranges: usize) -> Result<Vec<u8>> {
        let (start, end) = key::all_of(self.layout.id, tenant);
        let edge = |entry: Option<fjall::Guard>| -> Result<Option<Vec<u8>>> {
            entry.map(|e| e.key().map(|k| k.to_vec()).map_err(engine_error)).transpose()
        };
        let whole = || self.snapshot().range(self.rows, start.clone()..end.clone());
        let mut out = Vec::new();
        let (Some(first), Some(last)) = (edge(whole().next())?, edge(whole().next_back())?) else {
            (1..ranges).for_each(|_| put_bytes(&mut out, &end));
            return Ok(out);
        };
        let shared = first.iter().zip(&last).take_while(|(a, b)| a == b).count();
        let eight = |key: &[u8]| {
            let mut bytes = [0; 8];
            key[shared..].iter().take(8).zip(&mut bytes).for_each(|(b, slot)| *slot = *b);
            u128::from(u64::from_be_bytes(bytes))
        };
        let (low, high) = (eight(&first), eight(&last));
        for i in 1..ranges {
            let mut key = first[..shared].to_vec();
            key.extend_from_slice(&((low + (high - low) * i as u128 / ranges as u128) as u64).to_be_bytes());
            put_bytes(&mut out, &self.partition_start(key, &end)?);
        }
        Ok(out)
    }

    fn scan_range(&self, scan: &Scan<'_>) -> Result<(Vec<u8>, Vec<u8>)> {
        let (start, end) = key::all_of(self.layout.id, scan.tenant);
        let mut bounds = vec![start];
        let mut reader = Reader::new(scan.split);
        while !reader.is_empty() {
            bounds.push(reader.bytes().map_err(|e| self.corrupt(e))?.to_vec());
        }
        bounds.push(end);
        if bounds.len() != scan.ranges + 1 || scan.range >= scan.ranges {
            return Err(Error::invalid("scan", "its ranges are not those of its split"));
        }
        Ok((bounds[scan.range].clone(), bounds[scan.range + 1].clone()))
    }

    /// The beginning of the partition that holds the first key at or behind the given one, or the end.
    fn partition_start(&self, at: Vec<u8>, end: &[u8]) -> Result<Vec<u8>> {
        if at.as_slice() >= end {
            return Ok(end.to_vec());
        }
        let Some(entry) = self.snapshot().range(self.rows, at..end.to_vec()).next() else { return Ok(end.to_vec()) };
        let key = entry.key().map_err(engine_error)?;
        let length = self.partition_bytes(&key)?.2;
        Ok(key[..length].to_vec())
    }
}

/// What is stored of a partition of a series.
struct Stored {
    /// Rows that stand by themselves.
    single: Vec<(fjall::Slice, fjall::Slice)>,
    /// From old to new.
    packs: Vec<fjall::Slice>,
}

impl Stored {
    fn read(snapshot: &Snapshot, rows: &Keyspace, partition: &[u8], keys: std::ops::Range<Vec<u8>>) -> Result<Self> {
        let single = match keys.start < keys.end {
            true => snapshot.range(rows, keys).map(|entry| entry.into_inner().map_err(engine_error)).collect(),
            false => Ok(Vec::new()),
        };
        let packs = snapshot.range(rows, series::packed_range(partition));
        let packs = packs.map(|entry| entry.value().map_err(engine_error)).collect::<Result<_>>()?;
        Ok(Stored { single: single?, packs })
    }

    /// With what is staged: the rows that are there, in order, of those that are wanted.
    fn merge<'s>(
        &'s self,
        staged: &'s [StagedRow],
        partition: usize,
        wanted: impl Fn(&[u8]) -> bool,
    ) -> Result<Vec<series::LiveCell<'s>>, Malformed> {
        let single = self.single.iter().map(|(key, value)| (&key[partition + 1..], Some(&value[..])));
        let mut cells: Vec<series::Cell<'s>> = single.collect();
        for packed in &self.packs {
            for cell in PackedRows::new(packed)? {
                let (clustering, value) = cell?;
                if wanted(clustering) {
                    cells.push((clustering, Some(value)));
                }
            }
        }
        cells.extend(staged.iter().map(StagedRow::cell));
        series::newest(&mut cells);
        Ok(cells.into_iter().filter_map(|(clustering, value)| Some((clustering, value?))).collect())
    }
}

fn merge_statics(statics: Option<&[Value]>, values: &mut [Value]) {
    for (cell, value) in statics.into_iter().flatten().zip(values) {
        if !cell.is_null() {
            *value = cell.clone();
        }
    }
}

/// The keys of a slice: from the first (included) to the one behind the last.
pub(super) fn range(
    layout: &Layout,
    partition: &[u8],
    prefix: &[Value],
    lower: Bound<&Value>,
    upper: Bound<&Value>,
) -> (Vec<u8>, Vec<u8>) {
    let table = layout.table;
    let mut base = key::section(partition, ROWS);
    key::put_clustering(&mut base, table, prefix);
    let bound = |value: &Value| {
        let mut key = base.clone();
        let mut whole = prefix.to_vec();
        whole.push(value.clone());
        key.truncate(partition.len() + 1);
        key::put_clustering(&mut key, table, &whole);
        key
    };
    let descending = prefix.len() < table.clustering_columns && table.direction(prefix.len()) == Direction::Descending;
    let (first, last) = if descending { (upper, lower) } else { (lower, upper) };
    let behind = |key: &[u8]| key::after_prefix(key).unwrap_or_else(|| vec![0xff; key.len() + 1]);
    let from = match first {
        Bound::Included(v) => bound(v),
        Bound::Excluded(v) => behind(&bound(v)),
        Bound::Unbounded => base.clone(),
    };
    let to = match last {
        Bound::Included(v) => behind(&bound(v)),
        Bound::Excluded(v) => bound(v),
        Bound::Unbounded => behind(&base),
    };
    (from, to)
}
