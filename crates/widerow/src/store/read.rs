//! Reads: rows by key, and slices of one partition with their cursors.

use std::{marker::PhantomData, ops::Bound, time::Instant};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use super::Store;
use crate::{
    codec::{self, Reader},
    engine::{AnchorRows, Get, RawRow, ReadAnchor, Rows, Slice, Version},
    error::{Error, Result},
    key, limits,
    row::{ColumnOf, KeyParts, Row},
    schema::{Consistency, Table},
    stats::ReadKind,
    value::{Cell, Value},
};

/// A cursor holds one clustering key.
const CURSOR_CHARS_MAX: usize = 2 * limits::CLUSTERING_KEY_BYTES_MAX + 200;

/// Where a slice goes on. Opaque; good for the query that it came from and for no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(String);

impl Cursor {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for Cursor {
    fn from(text: String) -> Self {
        Cursor(text)
    }
}

/// Static columns of a partition.
#[derive(Clone, Debug)]
pub struct Statics<R> {
    values: Option<Vec<Value>>,
    of: PhantomData<fn() -> R>,
}

impl<R: Row> Statics<R> {
    pub(crate) fn new(values: Option<Vec<Value>>) -> Self {
        Statics { values, of: PhantomData }
    }

    /// The value of a static column, if the partition has one.
    pub fn get<T: Cell>(&self, column: ColumnOf<R, T>) -> Result<Option<T>> {
        let table = R::table();
        let cell = match (&self.values, table.position(column.name)) {
            (Some(values), Some(position)) => values[position].clone(),
            _ => Value::Null,
        };
        if cell.is_null() {
            return Ok(None);
        }
        T::from_value(cell).map(Some).map_err(|m| Error::mismatch(&table.name, m))
    }
}

/// Some rows of one partition, in order.
#[derive(Clone, Debug)]
pub struct Page<R> {
    pub rows: Vec<R>,
    pub statics: Statics<R>,
    /// None at the end.
    pub next: Option<Cursor>,
}

/// A slice being described. It costs one read of one partition, at any depth.
#[derive(Clone, Debug)]
#[must_use = "a slice is read by page()"]
pub struct SliceRequest<R> {
    store: Store,
    partition: Vec<Value>,
    prefix: Vec<Value>,
    lower: Bound<Value>,
    upper: Bound<Value>,
    reverse: bool,
    limit: usize,
    after: Option<Cursor>,
    after_key: Option<Vec<Value>>,
    consistency: Consistency,
    of: PhantomData<fn() -> R>,
}

impl Store {
    /// The row with this key.
    pub async fn get<R: Row>(&self, key: R::Key) -> Result<Option<R>> {
        Ok(self.get_many::<R>([key]).await?.pop().flatten())
    }

    /// The rows with these keys, in their order.
    pub async fn get_many<R: Row>(&self, keys: impl IntoIterator<Item = R::Key>) -> Result<Vec<Option<R>>> {
        let keys = keys.into_iter().map(KeyParts::into_values).collect();
        let rows = self.get_raw(R::table(), keys, R::table().read).await?;
        rows.into_iter().map(|row| row.map(typed).transpose()).collect()
    }

    /// Rows by whole keys, expired ones left out.
    pub(crate) async fn get_raw(
        &self,
        table: &'static Table,
        mut keys: Vec<Vec<Value>>,
        consistency: Consistency,
    ) -> Result<Vec<Option<RawRow>>> {
        self.inner.known(table)?;
        if keys.len() > limits::GET_KEYS_MAX {
            return Err(Error::TooLarge {
                what: "keys of one get".into(),
                size: keys.len(),
                limit: limits::GET_KEYS_MAX,
            });
        }
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        for key in &mut keys {
            key::normalize(key);
            let partition = table.partition_columns.min(key.len());
            key::check_partition(table, &key[..partition])?;
            key::check_clustering(table, &key[partition..], true)?;
        }
        let get = Get { tenant: &self.tenant, table, keys: &keys, consistency };
        let now = self.inner.now();
        let began = Instant::now();
        let rows = self.inner.engine.get(get).await;
        let read = |rows: &Vec<Option<RawRow>>| (rows.iter().flatten().count(), rows.len());
        self.inner.stats.count_read(table, ReadKind::Rows, began, &rows, read);
        let rows = rows?;
        Ok(rows.into_iter().map(|row| row.filter(|r| r.is_live(now))).collect())
    }

    /// The row of a guarded table and the version of its partition: what an edit is based upon.
    pub async fn get_versioned<R: Row>(&self, key: R::Key) -> Result<(Option<R>, Option<Version>)> {
        let table = R::table();
        if !table.guarded {
            return Err(Error::invalid(&table.name, "only guarded tables have versions"));
        }
        self.inner.known(table)?;
        let mut partition = key.into_values();
        key::normalize(&mut partition);
        let clustering = partition.split_off(table.partition_columns.min(partition.len()));
        key::check_partition(table, &partition)?;
        key::check_clustering(table, &clustering, true)?;
        let rows = AnchorRows::Keys(std::slice::from_ref(&clustering));
        let read = ReadAnchor { tenant: &self.tenant, table, partition: &partition, rows, ring: false };
        let began = Instant::now();
        let anchor = self.inner.engine.read_anchor(read).await;
        self.inner.stats.count_read(table, ReadKind::Rows, began, &anchor, |anchor| (anchor.rows.len(), 1));
        let mut anchor = anchor?;
        let now = self.inner.now();
        let row = anchor.rows.pop().flatten().filter(|row| row.is_live(now));
        Ok((row.map(typed).transpose()?, anchor.version))
    }

    /// Rows of one partition, in clustering order.
    pub fn slice<R: Row>(&self, partition: R::Partition) -> SliceRequest<R> {
        let mut partition = partition.into_values();
        key::normalize(&mut partition);
        SliceRequest {
            store: self.clone(),
            partition,
            prefix: Vec::new(),
            lower: Bound::Unbounded,
            upper: Bound::Unbounded,
            reverse: false,
            limit: 100,
            after: None,
            after_key: None,
            consistency: R::table().read,
            of: PhantomData,
        }
    }
}

pub(crate) fn typed<R: Row>(row: RawRow) -> Result<R> {
    R::from_values(row.values).map_err(|m| Error::mismatch(&R::table().name, m))
}

impl<R: Row> SliceRequest<R> {
    /// Only rows whose first clustering columns are these.
    pub fn prefix(mut self, values: impl KeyParts) -> Self {
        self.prefix = values.into_values();
        key::normalize(&mut self.prefix);
        self
    }

    /// Only rows whose next clustering column is at least (included or not) this, by value.
    pub fn from(mut self, bound: Bound<impl Cell>) -> Self {
        self.lower = normal(bound);
        self
    }

    /// Only rows whose next clustering column is at most (included or not) this, by value.
    pub fn to(mut self, bound: Bound<impl Cell>) -> Self {
        self.upper = normal(bound);
        self
    }

    /// Only rows whose next clustering column, a text, begins so.
    pub fn starts_with(mut self, text: &str) -> Self {
        self.lower = Bound::Included(Value::Text(text.to_owned()));
        self.upper = text_after(text).map_or(Bound::Unbounded, |end| Bound::Excluded(Value::Text(end)));
        self
    }

    /// Against the table's clustering order.
    pub fn reverse(mut self) -> Self {
        self.reverse = true;
        self
    }

    pub fn limit(mut self, rows: usize) -> Self {
        self.limit = rows;
        self
    }

    /// Goes on where an earlier page ended.
    pub fn after(mut self, cursor: Option<Cursor>) -> Self {
        self.after = cursor;
        self
    }

    /// Begins right behind this whole clustering key, in the direction of the slice, whether or not there is such a row: for
    /// pages that are merged from several partitions by one position. A cursor, being farther on, goes before it.
    pub fn after_key(mut self, clustering: impl KeyParts) -> Self {
        let mut values = clustering.into_values();
        key::normalize(&mut values);
        self.after_key = Some(values);
        self
    }

    /// The cursor that goes on behind this row, for whoever leaves out rows of a page.
    pub fn cursor_at(&self, row: &R) -> Cursor {
        let (table, mut values) = (R::table(), row.to_values());
        key::normalize(&mut values[..table.key_columns()]);
        encode(self.fingerprint(table), clustering_of(table, &values))
    }

    /// Another consistency than the table's own.
    pub fn consistency(mut self, consistency: Consistency) -> Self {
        self.consistency = consistency;
        self
    }

    /// Reads the page. It is full, unless it is the last.
    pub async fn page(self) -> Result<Page<R>> {
        let table = R::table();
        self.check(table)?;
        let mut after = match &self.after {
            Some(cursor) => Some(self.decode(cursor, self.fingerprint(table))?),
            None => self.after_key.clone(),
        };
        let engine = &self.store.inner.engine;
        let now = self.store.inner.now();
        let (mut rows, mut statics) = (Rows::default(), None);
        for pass in 0.. {
            // One row more than the page tells whether there is another page. Where ended rows are many, more are read.
            let wanted = (self.limit + 1 - rows.len()).max(if pass == 0 { 1 } else { (64 << pass.min(4)) - 1 });
            let began = Instant::now();
            let page = engine
                .slice(Slice {
                    tenant: &self.store.tenant,
                    table,
                    partition: &self.partition,
                    prefix: &self.prefix,
                    lower: self.lower.as_ref(),
                    upper: self.upper.as_ref(),
                    reverse: self.reverse,
                    after: after.as_deref(),
                    limit: wanted,
                    consistency: self.consistency,
                })
                .await;
            self.store.inner.stats.count_read(table, ReadKind::Page, began, &page, |page| (page.rows.len(), 1));
            let page = page?;
            let at_end = page.rows.len() < wanted;
            let enough = at_end || rows.len() + page.rows.live(now) > self.limit;
            if !enough {
                after = page.rows.iter().next_back().map(|row| clustering_of(table, row).to_vec());
            }
            statics = statics.or(page.statics);
            rows.extend_live(page.rows, now);
            if enough {
                break;
            }
        }
        let mut next = None;
        if rows.len() > self.limit {
            rows.truncate(self.limit);
            next = rows.iter().next_back().map(|row| encode(self.fingerprint(table), clustering_of(table, row)));
        }
        let mut typed = Vec::with_capacity(rows.len());
        let mut cells = rows.cells.into_iter();
        for _ in rows.ends {
            typed.push(R::from_cells(&mut cells).map_err(|m| Error::mismatch(&table.name, m))?);
        }
        Ok(Page { rows: typed, statics: Statics::new(statics), next })
    }

    /// Every row of the slice, page by page, up to a bound that the caller vouches for.
    pub async fn all(mut self, rows_max: usize) -> Result<Vec<R>> {
        let mut rows = Vec::new();
        loop {
            let page = self.clone().page().await?;
            rows.extend(page.rows);
            if rows.len() > rows_max {
                return Err(Error::TooLarge {
                    what: format!("{} slice in rows", R::table().name),
                    size: rows.len(),
                    limit: rows_max,
                });
            }
            match page.next {
                Some(cursor) => self.after = Some(cursor),
                None => return Ok(rows),
            }
        }
    }

    fn check(&self, table: &'static Table) -> Result<()> {
        self.store.inner.known(table)?;
        key::check_partition(table, &self.partition)?;
        key::check_clustering(table, &self.prefix, false)?;
        if !(1..=limits::PAGE_ROWS_MAX).contains(&self.limit) {
            return Err(Error::invalid("limit", format!("{} is not 1 to {}", self.limit, limits::PAGE_ROWS_MAX)));
        }
        check_bounds(table, &self.prefix, &self.lower, &self.upper)?;
        let Some(position) = &self.after_key else { return Ok(()) };
        key::check_clustering(table, position, true)?;
        if !within(position, &self.prefix, self.lower.as_ref(), self.upper.as_ref()) {
            return Err(Error::invalid("after_key", "it lies outside the slice"));
        }
        Ok(())
    }

    /// The position in a cursor. One that was made for another query, or made up, is refused.
    fn decode(&self, cursor: &Cursor, fingerprint: u64) -> Result<Vec<Value>> {
        let wrong = || Error::invalid("cursor", "it does not belong to this query");
        if cursor.0.len() > CURSOR_CHARS_MAX {
            return Err(wrong());
        }
        let bytes = URL_SAFE_NO_PAD.decode(&cursor.0).map_err(|_| wrong())?;
        let (head, rest) = bytes.split_at_checked(8).ok_or_else(wrong)?;
        if head != fingerprint.to_be_bytes() {
            return Err(wrong());
        }
        let position = Reader::new(rest).values().map_err(|_| wrong())?;
        key::check_clustering(R::table(), &position, true).map_err(|_| wrong())?;
        if within(&position, &self.prefix, self.lower.as_ref(), self.upper.as_ref()) {
            Ok(position)
        } else {
            Err(wrong())
        }
    }

    fn fingerprint(&self, table: &Table) -> u64 {
        let mut bytes = Vec::new();
        codec::put_bytes(&mut bytes, self.store.tenant.as_str().as_bytes());
        codec::put_bytes(&mut bytes, table.name.as_bytes());
        codec::put_values(&mut bytes, &self.partition);
        codec::put_values(&mut bytes, &self.prefix);
        for bound in [&self.lower, &self.upper] {
            match bound {
                Bound::Unbounded => bytes.push(0),
                Bound::Included(v) => {
                    bytes.push(1);
                    codec::put_value(&mut bytes, v);
                }
                Bound::Excluded(v) => {
                    bytes.push(2);
                    codec::put_value(&mut bytes, v);
                }
            }
        }
        bytes.push(self.reverse.into());
        codec::fingerprint(&bytes)
    }
}

/// Bounds must be on a column that is there, of its type, and not reversed.
pub(crate) fn check_bounds(table: &Table, prefix: &[Value], lower: &Bound<Value>, upper: &Bound<Value>) -> Result<()> {
    let value = |bound: &Bound<Value>| match bound {
        Bound::Included(v) | Bound::Excluded(v) => Some(v.clone()),
        Bound::Unbounded => None,
    };
    let (low, high) = (value(lower), value(upper));
    for bound in [&low, &high].into_iter().flatten() {
        let mut key = prefix.to_vec();
        key.push(bound.clone());
        key::check_clustering(table, &key, false)?;
    }
    if let (Some(low), Some(high)) = (low, high)
        && low.key_order(&high).is_gt()
    {
        return Err(Error::invalid(format!("{} range", table.name), "it begins behind its end"));
    }
    Ok(())
}

/// Whether a clustering key lies in a range.
pub(crate) fn within(clustering: &[Value], prefix: &[Value], lower: Bound<&Value>, upper: Bound<&Value>) -> bool {
    let Some(next) = clustering.get(prefix.len()) else { return clustering == prefix };
    clustering[..prefix.len()] == *prefix
        && match lower {
            Bound::Unbounded => true,
            Bound::Included(low) => next.key_order(low).is_ge(),
            Bound::Excluded(low) => next.key_order(low).is_gt(),
        }
        && match upper {
            Bound::Unbounded => true,
            Bound::Included(high) => next.key_order(high).is_le(),
            Bound::Excluded(high) => next.key_order(high).is_lt(),
        }
}

fn normal(bound: Bound<impl Cell>) -> Bound<Value> {
    bound.map(|cell| {
        let mut values = [cell.to_value()];
        key::normalize(&mut values);
        let [value] = values;
        value
    })
}

/// The first text, by bytes, that is behind all texts with this beginning.
fn text_after(text: &str) -> Option<String> {
    let mut chars: Vec<char> = text.chars().collect();
    while let Some(last) = chars.pop() {
        // Behind the last character before the surrogates comes the first after them.
        let next = if last == '\u{d7ff}' { Some('\u{e000}') } else { char::from_u32(last as u32 + 1) };
        if let Some(next) = next {
            chars.push(next);
            return Some(chars.into_iter().collect());
        }
    }
    None
}

fn clustering_of<'r>(table: &Table, row: &'r [Value]) -> &'r [Value] {
    &row[table.partition_columns..table.key_columns()]
}

fn encode(fingerprint: u64, clustering: &[Value]) -> Cursor {
    let mut bytes = fingerprint.to_be_bytes().to_vec();
    codec::put_values(&mut bytes, clustering);
    Cursor(URL_SAFE_NO_PAD.encode(bytes))
}
