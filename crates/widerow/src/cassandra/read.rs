//! Reads: rows by key, slices, guarded partitions, scans.
//!
//! Invariants: a slice is one statement wherever the directions of the columns allow it; a partition that has nothing but
//! static columns comes back as a row without a clustering key, which is no row; a guarded partition's version is never
//! newer than the rows that are returned with it.

use std::{collections::HashSet, ops::Bound, time::Duration};

use futures::{StreamExt, TryStreamExt, stream};
use scylla::{response::PagingState, value::CqlValue};

use super::{
    Cassandra,
    cql::{self, Builder, Cql, Shape},
    link::{Answer, Cells, gather},
};
use crate::{
    codec,
    engine::{Anchor, AnchorRows, Get, RawPage, RawRow, ReadAnchor, Rows, Scan, ScanPage, Slice, Version, sort_rows},
    error::{Error, Result},
    key::Tenant,
    limits,
    meter::{self, Cost},
    schema::{Consistency, Direction, Table},
    time::Timestamp,
    value::{Type, Value},
};

/// Reads that are under way at the same time for one call.
const READS_AT_ONCE: usize = 64;

impl Cassandra {
    pub(super) async fn read_rows(&self, get: Get<'_>) -> Result<Vec<Option<RawRow>>> {
        let read = async |key: &Vec<Value>| {
            let cql = self.select_row(get.tenant, get.table, key)?;
            self.link.read(&cql, get.consistency).await
        };
        let found: Vec<Answer> = match get.keys {
            // A stream moves the whole request, which is large, to the heap.
            [key] => vec![read(key).await?],
            // ORDER: `buffered` keeps the order of the keys.
            keys => stream::iter(keys.iter().map(read)).buffered(READS_AT_ONCE).try_collect().await?,
        };
        let row = |(key, answer): (&Vec<Value>, &Answer)| first_row(get.table, key, answer);
        let rows = get.keys.iter().zip(&found).map(row).collect::<Result<Vec<_>>>()?;
        let partitions = if get.keys.len() == 1 { 1 } else { distinct_partitions(get.table, get.keys) };
        charge_rows(partitions, rows.iter().flatten());
        Ok(rows)
    }

    pub(super) async fn read_slice(&self, slice: Slice<'_>) -> Result<RawPage> {
        let table = slice.table;
        let statements = self.select_slice(&slice)?;
        let found: Vec<Answer> = match statements.as_slice() {
            [one] => vec![self.link.read(one, slice.consistency).await?],
            all => {
                let reads = gather(all, |cql| self.link.read(cql, slice.consistency));
                stream::iter(reads).buffered(8).try_collect().await?
            }
        };
        let rows = Rows::with_capacity(table, found.iter().map(Answer::len).sum());
        let mut page = RawPage { rows, statics: None };
        for answer in &found {
            for row in answer.rows()? {
                let statics = decode_into(table, slice.partition, &mut row?, &mut page.rows)?;
                page.statics = page.statics.or(statics);
            }
        }
        charge(1, page.rows.len(), page.rows.bytes());
        page.rows.truncate(slice.limit);
        // A restriction on the clustering key that no row meets hides the static columns as well.
        let whole = slice.prefix.is_empty()
            && slice.after.is_none()
            && matches!((slice.lower, slice.upper), (Bound::Unbounded, Bound::Unbounded));
        if table.has_statics() && !whole && page.rows.is_empty() {
            let cql = self.select_statics(slice.tenant, table, slice.partition)?;
            let answer = self.link.read(&cql, slice.consistency).await?;
            if let Some(row) = answer.rows()?.next() {
                page.statics = decode_statics(table, &mut row?)?;
            }
        }
        Ok(page)
    }

    pub(super) async fn read_guarded(&self, read: ReadAnchor<'_>) -> Result<Anchor> {
        let anchor = match read.rows {
            AnchorRows::Prefixes { prefixes, limit } if prefixes.iter().any(|p| p.len() != prefixes[0].len()) => {
                Box::pin(self.read_in_parts(&read, prefixes, limit)).await?
            }
            AnchorRows::Prefixes { .. } => {
                let mut anchor = self.read_at_once(&read).await?;
                // ORDER: the server sorts UUIDs of several versions by version first, and rows are searched by their bytes.
                sort_rows(read.table, &mut anchor.rows);
                anchor
            }
            AnchorRows::Keys(_) => self.read_at_once(&read).await?,
        };
        charge_rows(1, anchor.rows.iter().flatten());
        Ok(anchor)
    }

    async fn read_at_once(&self, read: &ReadAnchor<'_>) -> Result<Anchor> {
        let always_answers = read.table.clustering_columns == 0
            || matches!(read.rows, AnchorRows::Prefixes { prefixes: [prefix], .. } if prefix.is_empty())
            || matches!(read.rows, AnchorRows::Keys([]));
        let mut anchor = self.look(read).await?;
        if anchor.version.is_none() && !always_answers {
            // RACE: no row met the condition, so the answer holds no bookkeeping either. It is read on its own; and if
            // there was a commit at all, the rows are read again behind it, so that the version is not newer than they.
            let alone = self.look(&ReadAnchor { rows: AnchorRows::Keys(&[]), ..read.clone() }).await?;
            if alone.version.is_some() {
                anchor = self.look(read).await?;
                if anchor.version.is_none() {
                    anchor = Anchor { rows: anchor.rows, ..alone };
                }
            }
        }
        Ok(anchor)
    }

    /// A statement for each length that prefixes have, until all of them have seen the same state of the partition. They
    /// are sent one behind the other: serial reads of one partition hinder each other.
    async fn read_in_parts(&self, read: &ReadAnchor<'_>, prefixes: &[Vec<Value>], limit: usize) -> Result<Anchor> {
        let mut by_length = prefixes.to_vec();
        by_length.sort_by_key(Vec::len);
        let part = |prefixes| ReadAnchor { rows: AnchorRows::Prefixes { prefixes, limit }, ..read.clone() };
        let parts: Vec<ReadAnchor<'_>> = by_length.chunk_by(|a, b| a.len() == b.len()).map(part).collect();
        for tries in 1..=limits::CONTENTION_TRIES_MAX {
            if let Some(mut anchor) = self.look_at_parts(read, &parts).await? {
                sort_rows(read.table, &mut anchor.rows);
                anchor.rows.truncate(limit);
                return Ok(anchor);
            }
            tokio::time::sleep(Duration::from_millis(1 << tries.min(6))).await;
        }
        Err(Error::Contended { table: read.table.name.clone(), tries: limits::CONTENTION_TRIES_MAX })
    }

    /// The rows of all parts at one version; None if there was a commit between them.
    ///
    /// RACE: an answer without rows tells no version. It belongs to the version that was seen both before and behind it:
    /// a part that was empty before any version was seen is read again, and behind an empty last part stands one look more.
    async fn look_at_parts(&self, read: &ReadAnchor<'_>, parts: &[ReadAnchor<'_>]) -> Result<Option<Anchor>> {
        let book = ReadAnchor { rows: AnchorRows::Keys(&[]), ..read.clone() };
        let mut whole = Anchor::default();
        let mut early = Vec::new();
        let mut closed = true;
        for part in parts {
            let seen = self.look(part).await?;
            match (whole.version, seen.version) {
                (None, None) => early.push(part),
                (None, Some(_)) => whole = seen,
                _ => match add_part(&mut whole, seen) {
                    Some(told) => closed = told,
                    None => return Ok(None),
                },
            }
        }
        if whole.version.is_none() {
            whole = self.look(&book).await?;
            if whole.version.is_none() {
                // There has been no commit, and so no row in what was read before.
                return Ok(Some(whole));
            }
        }
        for part in early {
            match add_part(&mut whole, self.look(part).await?) {
                Some(told) => closed = told,
                None => return Ok(None),
            }
        }
        if !closed && self.look(&book).await?.version != whole.version {
            return Ok(None);
        }
        Ok(Some(whole))
    }

    /// One statement.
    async fn look(&self, read: &ReadAnchor<'_>) -> Result<Anchor> {
        let cql = self.select_anchor(read)?;
        decode_anchor(read, &self.link.read(&cql, Consistency::Serial).await?)
    }

    pub(super) async fn read_range(&self, scan: Scan<'_>) -> Result<ScanPage> {
        let table = scan.table;
        let cql = self.select_range(&scan)?;
        let mut page = ScanPage::default();
        let mut from = scan.after.map_or_else(PagingState::start, PagingState::new_from_raw_bytes);
        let mut partitions = HashSet::new();
        loop {
            let wanted = scan.limit.saturating_sub(page.len());
            let (rows, next) = self.link.read_page(&cql, table.read, wanted, from).await?;
            for row in rows.rows()? {
                let mut cells = row?;
                let tenant = match cells.next()? {
                    Some(CqlValue::Text(tenant)) => Tenant::stored(&tenant).ok(),
                    _ => None,
                };
                let tenant = tenant.ok_or_else(|| Error::corrupt(table.name.clone(), "a tenant's name is none"))?;
                let mut values = Vec::with_capacity(table.columns.len());
                let (there, expires_at) = decode_behind(table, 0, &mut cells, &mut values)?;
                if there {
                    let mut key = tenant.as_str().as_bytes().to_vec();
                    codec::put_values(&mut key, &values[..table.partition_columns]);
                    partitions.insert(codec::fingerprint(&key));
                    page.rows.push((tenant, RawRow { values, expires_at }));
                } else if only_statics(table, &values).is_some() {
                    values.truncate(table.partition_columns);
                    page.bare.push((tenant, values));
                }
            }
            page.next = next.as_ref().and_then(PagingState::as_bytes_slice).map(|bytes| bytes.to_vec());
            match next {
                Some(next) if page.len() < scan.limit => from = next,
                _ => break,
            }
        }
        charge_rows(partitions.len(), page.rows.iter().map(|(_, row)| row));
        Ok(page)
    }

    fn select(&self, table: &'static Table) -> Builder<'_> {
        let mut cql = Builder::new(&self.link.keyspace, table);
        cql.text("SELECT ");
        cql
    }

    fn select_shaped(&self, table: &'static Table, shape: Shape) -> Builder<'_> {
        let mut cql = Builder::shaped(&self.link.keyspace, table, &self.link.texts, shape);
        cql.text("SELECT ");
        cql
    }

    fn select_row<'v>(&'v self, tenant: &'v Tenant, table: &'static Table, key: &'v [Value]) -> Result<Cql<'v>> {
        let (partition, clustering) = key.split_at(table.partition_columns.min(key.len()));
        let mut cql = self.select_shaped(table, Shape::Row);
        columns(&mut cql, key.len()).text(" FROM ").table().of_partition(tenant, partition)?.of_prefix(clustering)?;
        Ok(cql.finish())
    }

    fn select_statics<'v>(
        &'v self,
        tenant: &'v Tenant,
        table: &'static Table,
        partition: &'v [Value],
    ) -> Result<Cql<'v>> {
        let mut cql = self.select(table);
        cql.text("DISTINCT ").partition_names();
        for column in cql::statics(table) {
            cql.text(", ").name(&table.columns[column].name);
        }
        cql.text(" FROM ").table().of_partition(tenant, partition)?;
        Ok(cql.finish())
    }

    /// The statements that together are the slice, in the order of their rows.
    ///
    /// What lies behind a position is, for columns that all go one way, one comparison of tuples. Where the direction
    /// changes between columns, each run of columns of one direction is a statement: the runs before it are equal to the
    /// position, the run itself is beyond it; the last run comes first.
    pub(super) fn select_slice<'v>(&'v self, slice: &Slice<'v>) -> Result<Vec<Cql<'v>>> {
        let table = slice.table;
        let first = slice.prefix.len();
        let begin = |mut cql: Builder<'v>| -> Result<Builder<'v>> {
            columns(&mut cql, table.partition_columns).text(" FROM ").table();
            cql.of_partition(slice.tenant, slice.partition)?.of_prefix(slice.prefix)?;
            Ok(cql)
        };
        let end = |mut cql: Builder<'v>| {
            if slice.reverse {
                cql.reversed();
            }
            cql.limit(slice.limit);
            cql.finish()
        };
        let Some(after) = slice.after else {
            let (lower, upper) = (slice.lower.map(|_| ()), slice.upper.map(|_| ()));
            let shape = Shape::Slice(first, lower, upper, slice.reverse);
            let mut cql = begin(self.select_shaped(table, shape))?;
            if first < table.clustering_columns {
                cql.within(first, slice.lower, slice.upper)?;
            }
            return Ok(vec![end(cql)]);
        };
        let mut statements = Vec::new();
        for run in runs(table, first).into_iter().rev() {
            let mut cql = begin(self.select(table))?;
            for (column, value) in (0..).zip(after).take(run.start).skip(first) {
                cql.text(" AND ").equal(table.partition_columns + column, value)?;
            }
            let upward = (table.direction(run.start) == Direction::Ascending) != slice.reverse;
            cql.beyond(run.start, if upward { ">" } else { "<" }, &after[run.clone()])?;
            if run.start == first {
                // The position lies within the bounds: the one behind it is passed, the other is still ahead.
                let (ahead, closed, open) = if upward { (slice.upper, "<=", "<") } else { (slice.lower, ">=", ">") };
                match ahead {
                    Bound::Included(value) => cql.beyond(first, closed, std::slice::from_ref(value))?,
                    Bound::Excluded(value) => cql.beyond(first, open, std::slice::from_ref(value))?,
                    Bound::Unbounded => &mut cql,
                };
            }
            statements.push(end(cql));
        }
        Ok(statements)
    }

    fn select_anchor<'v>(&'v self, read: &ReadAnchor<'v>) -> Result<Cql<'v>> {
        let table = read.table;
        let mut cql = self.select(table);
        let only_book = table.clustering_columns > 0 && matches!(read.rows, AnchorRows::Keys([]));
        if only_book {
            cql.text("DISTINCT ").partition_names();
            for column in cql::statics(table) {
                cql.text(", ").name(&table.columns[column].name);
            }
        } else {
            columns(&mut cql, table.partition_columns);
        }
        for name in [cql::VERSION, cql::SEQUENCE, cql::OUTBOX] {
            cql.text(", ").name(name);
        }
        if read.ring {
            cql.text(", ").name(cql::RING);
        }
        cql.text(" FROM ").table().of_partition(read.tenant, read.partition)?;
        match &read.rows {
            AnchorRows::Keys(keys) if table.clustering_columns > 0 && !keys.is_empty() => {
                cql.among(keys)?;
            }
            AnchorRows::Keys(_) => {}
            AnchorRows::Prefixes { prefixes, limit } => {
                match prefixes {
                    [prefix] => cql.of_prefix(prefix)?,
                    prefixes => cql.among(prefixes)?,
                };
                cql.limit(*limit);
            }
        }
        Ok(cql.finish())
    }

    fn select_range(&self, scan: &Scan<'_>) -> Result<Cql<'_>> {
        let mut cql = self.select(scan.table);
        cql.name(cql::TENANT).text(", ");
        columns(&mut cql, 0).text(" FROM ").table().text(" WHERE token(").partition_names();
        let (above, to) = token_range(scan.range, scan.ranges);
        cql.text(") > ? AND token(").partition_names().text(") <= ?");
        cql.bind(CqlValue::BigInt(above)).bind(CqlValue::BigInt(to));
        Ok(cql.finish())
    }
}

/// All declared columns but the first ones, whose values are known from the question; then what is hidden in the row.
fn columns<'b, 'v>(cql: &'b mut Builder<'v>, known: usize) -> &'b mut Builder<'v> {
    let table = cql.of();
    let declared = table.columns.iter().skip(known).map(|column| column.name.as_str());
    let expires_at = (!table.counters).then_some(cql::EXPIRES_AT);
    let live = cql::has_live_mark(table).then_some(cql::LIVE);
    for (i, name) in declared.chain(expires_at).chain(live).enumerate() {
        cql.text(if i > 0 { ", " } else { "" }).name(name);
    }
    cql
}

/// Runs of clustering columns, from `first` on, that go in one direction.
fn runs(table: &Table, first: usize) -> Vec<std::ops::Range<usize>> {
    let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
    for column in first..table.clustering_columns {
        match runs.last_mut() {
            Some(run) if table.direction(run.start) == table.direction(column) => run.end = column + 1,
            _ => runs.push(column..column + 1),
        }
    }
    runs
}

/// Tokens above the first and up to the second. No partition has the smallest token.
pub(super) fn token_range(range: usize, ranges: usize) -> (i64, i64) {
    let ranges = ranges.max(1) as i128;
    let edge = |i: i128| i64::try_from(i128::from(i64::MIN) + (i << 64) / ranges).unwrap_or(i64::MAX);
    (edge(range as i128), edge(range as i128 + 1))
}

fn charge(partitions: usize, rows: usize, bytes: usize) {
    let (partitions_read, rows_read, bytes_read) = (partitions as u64, rows as u64, bytes as u64);
    meter::charge(Cost { partitions_read, rows_read, bytes_read, ..Cost::default() });
}

fn charge_rows<'r>(partitions: usize, rows: impl Iterator<Item = &'r RawRow>) {
    let (count, bytes) = rows.fold((0, 0), |(count, bytes), row| (count + 1, bytes + row.bytes()));
    charge(partitions, count, bytes);
}

fn distinct_partitions(table: &Table, keys: &[Vec<Value>]) -> usize {
    let fingerprint = |key: &Vec<Value>| {
        let mut bytes = Vec::new();
        codec::put_values(&mut bytes, &key[..table.partition_columns.min(key.len())]);
        codec::fingerprint(&bytes)
    };
    keys.iter().map(fingerprint).collect::<HashSet<_>>().len()
}

fn first_row(table: &Table, key: &[Value], answer: &Answer) -> Result<Option<RawRow>> {
    match answer.rows()?.next() {
        Some(row) => Ok(decode(table, key, &mut row?)?.0),
        None => Ok(None),
    }
}

/// The row, if there is one, and the partition's static columns, if any is set.
fn decode(table: &Table, known: &[Value], cells: &mut Cells<'_, '_>) -> Result<(Option<RawRow>, Option<Vec<Value>>)> {
    let mut rows = Rows::with_capacity(table, 1);
    let statics = decode_into(table, known, cells, &mut rows)?;
    let row = rows.ends.pop().map(|expires_at| RawRow { values: rows.cells, expires_at });
    Ok((row, statics))
}

/// Adds the row, if there is one; the partition's static columns, if any is set. The first columns were not asked for,
/// as they are known.
fn decode_into(
    table: &Table,
    known: &[Value],
    cells: &mut Cells<'_, '_>,
    rows: &mut Rows,
) -> Result<Option<Vec<Value>>> {
    let first = rows.cells.len();
    rows.cells.extend_from_slice(known);
    let (there, expires_at) = decode_behind(table, first, cells, &mut rows.cells)?;
    let statics = only_statics(table, &rows.cells[first..]);
    if there {
        rows.ends.push(expires_at);
    } else {
        rows.cells.truncate(first);
    }
    Ok(statics)
}

/// The columns behind those that are there from `first` on; whether they are those of a row, or of a partition without one.
fn decode_behind(
    table: &Table,
    first: usize,
    cells: &mut Cells<'_, '_>,
    values: &mut Vec<Value>,
) -> Result<(bool, Option<Timestamp>)> {
    for column in values.len() - first..table.columns.len() {
        values.push(decode_cell(table, column, cells)?);
    }
    let expires_at = if table.counters { None } else { expiry(table, cells)? };
    let mut there = table.clustering_columns == 0 || !values[first + table.partition_columns].is_null();
    if cql::has_live_mark(table) {
        there = matches!(cells.next()?, Some(CqlValue::Boolean(true)));
    }
    Ok((there, expires_at))
}

fn expiry(table: &Table, cells: &mut Cells<'_, '_>) -> Result<Option<Timestamp>> {
    match cells.value(&Type::Timestamp) {
        Ok(Value::Timestamp(end)) if end < super::write::NEVER => Ok(Some(end)),
        Ok(_) => Ok(None),
        Err(e) => Err(Error::corrupt(table.name.clone(), format!("column {}: {e}", cql::EXPIRES_AT))),
    }
}

fn only_statics(table: &Table, values: &[Value]) -> Option<Vec<Value>> {
    if !table.has_statics() {
        return None;
    }
    let mut statics = vec![Value::Null; table.columns.len()];
    let mut any = false;
    for column in cql::statics(table) {
        any |= !values[column].is_null();
        statics[column] = values[column].clone();
    }
    any.then_some(statics)
}

/// The static columns of a row that holds the partition's key and them; what stands behind them is left in `cells`.
fn decode_statics(table: &Table, cells: &mut Cells<'_, '_>) -> Result<Option<Vec<Value>>> {
    let mut values = vec![Value::Null; table.columns.len()];
    for _ in 0..1 + table.partition_columns {
        cells.next()?;
    }
    for column in cql::statics(table) {
        values[column] = decode_cell(table, column, cells)?;
    }
    Ok(only_statics(table, &values))
}

fn decode_cell(table: &Table, column: usize, cells: &mut Cells<'_, '_>) -> Result<Value> {
    let column = &table.columns[column];
    cells
        .value(&column.column_type)
        .map_err(|e| Error::corrupt(table.name.clone(), format!("column {}: {e}", column.name)))
}

/// Adds the rows of another part; whether it told the version, or None if that is another one.
fn add_part(whole: &mut Anchor, part: Anchor) -> Option<bool> {
    whole.rows.extend(part.rows);
    match part.version {
        None => Some(false),
        version => (version == whole.version).then_some(true),
    }
}

fn decode_anchor(read: &ReadAnchor<'_>, answer: &Answer) -> Result<Anchor> {
    let table = read.table;
    let only_book = table.clustering_columns > 0 && matches!(read.rows, AnchorRows::Keys([]));
    let mut anchor = Anchor::default();
    let mut found = Vec::new();
    for row in answer.rows()? {
        let mut cells = row?;
        let statics = if only_book {
            decode_statics(table, &mut cells)?
        } else {
            let (row, statics) = decode(table, read.partition, &mut cells)?;
            found.extend(row);
            statics
        };
        anchor.statics = statics;
        read_bookkeeping(table, &mut cells, &mut anchor)?;
    }
    anchor.rows = match read.rows {
        AnchorRows::Prefixes { limit, .. } => found.into_iter().take(limit).map(Some).collect(),
        AnchorRows::Keys(keys) => {
            let clustering = table.partition_columns..table.key_columns();
            let of_key = |key: &Vec<Value>| found.iter().find(|row| row.values[clustering.clone()] == key[..]).cloned();
            keys.iter().map(of_key).collect()
        }
    };
    Ok(anchor)
}

fn read_bookkeeping(table: &Table, cells: &mut Cells<'_, '_>, anchor: &mut Anchor) -> Result<()> {
    let corrupt = |name: &str| Error::corrupt(table.name.clone(), format!("column {name} is not as it was written"));
    let mut number = |name: &str| match cells.next()? {
        None => Ok(None),
        Some(CqlValue::BigInt(n)) => Ok(Some(n)),
        Some(_) => Err(corrupt(name)),
    };
    anchor.version = number(cql::VERSION)?.map(Version);
    anchor.sequence = number(cql::SEQUENCE)?.unwrap_or(0);
    anchor.outbox = entries(cells.next()?, |entry| match entry {
        (CqlValue::Uuid(id), CqlValue::BigInt(bucket)) => Some((id, bucket)),
        _ => None,
    })
    .ok_or_else(|| corrupt(cql::OUTBOX))?;
    anchor.ring = entries(cells.next()?, |entry| match entry {
        (CqlValue::Int(_), CqlValue::Uuid(id)) => Some(id),
        _ => None,
    })
    .ok_or_else(|| corrupt(cql::RING))?;
    Ok(())
}

fn entries<T>(cell: Option<CqlValue>, entry: impl FnMut((CqlValue, CqlValue)) -> Option<T>) -> Option<Vec<T>> {
    match cell {
        None => Some(Vec::new()),
        Some(CqlValue::Map(entries)) => entries.into_iter().map(entry).collect(),
        Some(_) => None,
    }
}
