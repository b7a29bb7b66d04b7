//! Whole tables, in parallel ranges, page by page: for export, verification and histograms. Never a table in memory.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use futures::{StreamExt, stream};

use super::{Database, Store};
use crate::{
    codec::{self, Reader},
    engine::{RawRow, Scan},
    error::{Error, Result},
    key::Tenant,
    schema::Table,
    value::Value,
};

/// Rows that a page of a scan has.
const PAGE_ROWS: usize = 500;

/// A scan of one range.
#[derive(Debug)]
pub struct ScanRows {
    database: Database,
    table: &'static Table,
    /// None: the rows of all tenants.
    only: Option<Tenant>,
    range: usize,
    ranges: usize,
    split: Arc<Vec<u8>>,
    after: Option<Vec<u8>>,
    done: bool,
    /// What was met of partitions that have static columns and no row, of the last page.
    bare: Vec<Vec<Value>>,
    /// Rows that the engine has given, whoever's they are.
    walked: u64,
}

/// Where a scan goes on, in this process or another. Opaque; good for the table that it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanCursor(String);

impl ScanCursor {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for ScanCursor {
    fn from(text: String) -> Self {
        ScanCursor(text)
    }
}

impl ScanRows {
    /// Behind the rows that were given; None at the end of the range.
    pub fn cursor(&self) -> Option<ScanCursor> {
        if self.done {
            return None;
        }
        let mut bytes = Vec::new();
        codec::put_bytes(&mut bytes, self.table.name.as_bytes());
        codec::put_length(&mut bytes, self.range);
        codec::put_length(&mut bytes, self.ranges);
        codec::put_bytes(&mut bytes, &self.split);
        codec::put_bytes(&mut bytes, self.after.as_deref().unwrap_or_default());
        if let Some(only) = &self.only {
            codec::put_bytes(&mut bytes, only.as_str().as_bytes());
        }
        Some(ScanCursor(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// The next rows, or None at the end. Expired rows are left out.
    pub async fn next(&mut self) -> Result<Option<Vec<(Tenant, RawRow)>>> {
        let now = self.database.inner.now();
        let rows = self.next_with_ended().await?;
        Ok(rows.map(|rows| rows.into_iter().filter(|(_, row)| row.is_live(now)).collect()))
    }

    /// As `next`, with the rows that have ended and that the engine still has: for whoever keeps them elsewhere.
    pub async fn next_with_ended(&mut self) -> Result<Option<Vec<(Tenant, RawRow)>>> {
        if self.done {
            return Ok(None);
        }
        let inner = &self.database.inner;
        let (table, range, ranges) = (self.table, self.range, self.ranges);
        let (tenant, split, after) = (self.only.as_ref(), &self.split, self.after.as_deref());
        let scan = Scan { table, tenant, split, range, ranges, after, limit: PAGE_ROWS };
        let mut page = inner.engine.scan(scan).await?;
        self.done = page.next.is_none();
        self.after = page.next;
        self.walked += page.rows.len() as u64;
        if let Some(only) = &self.only {
            page.rows.retain(|(tenant, _)| tenant == only);
            page.bare.retain(|(tenant, _)| tenant == only);
        }
        self.bare = page.bare.into_iter().map(|(_, partition)| partition).collect();
        Ok(Some(page.rows))
    }
}

impl ScanRows {
    /// Partitions with static columns in which the last page met no row, though there may be some behind it.
    pub(super) fn take_bare(&mut self) -> Vec<Vec<Value>> {
        std::mem::take(&mut self.bare)
    }
}

/// How large the partitions of a table are. Bucket `i` counts those of less than 2ⁱ rows (bytes), but not less than half that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    pub partitions: u64,
    pub rows: u64,
    pub bytes: u64,
    pub by_rows: Vec<u64>,
    pub by_bytes: Vec<u64>,
    /// The largest partition by rows: tenant, key and rows.
    pub largest: Option<(String, String, u64)>,
    /// Whether it was stopped at a bound, before the end of the table.
    pub is_part: bool,
}

/// What is measured of a table, and how much of it.
#[derive(Clone, Copy, Debug)]
pub struct Extent<'t> {
    /// One tenant's partitions, or everybody's.
    pub tenant: Option<&'t Tenant>,
    /// Rows that are walked over, whoever's they are, before it stops.
    pub rows_max: u64,
}

impl Histogram {
    fn count(&mut self, partition: &(Tenant, Vec<Value>), rows: u64, bytes: u64) {
        let bump = |counts: &mut Vec<u64>, n: u64| {
            let bucket = (u64::BITS - n.leading_zeros()) as usize;
            counts.resize(counts.len().max(bucket + 1), 0);
            counts[bucket] += 1;
        };
        self.partitions += 1;
        self.rows += rows;
        self.bytes += bytes;
        bump(&mut self.by_rows, rows);
        bump(&mut self.by_bytes, bytes);
        if self.largest.as_ref().is_none_or(|(_, _, most)| rows > *most) {
            self.largest = Some((partition.0.to_string(), format!("{:?}", partition.1), rows));
        }
    }

    fn merge(&mut self, other: Histogram) {
        let add = |to: &mut Vec<u64>, from: Vec<u64>| {
            to.resize(to.len().max(from.len()), 0);
            from.into_iter().zip(to).for_each(|(n, slot)| *slot += n);
        };
        self.partitions += other.partitions;
        self.rows += other.rows;
        self.bytes += other.bytes;
        add(&mut self.by_rows, other.by_rows);
        add(&mut self.by_bytes, other.by_bytes);
        self.is_part |= other.is_part;
        if other.largest.as_ref().map(|l| l.2) > self.largest.as_ref().map(|l| l.2) {
            self.largest = other.largest;
        }
    }
}

impl Database {
    /// The table in `ranges` scans that can run side by side; together they give every row once.
    pub async fn scan(&self, table: &'static Table, ranges: usize) -> Result<Vec<ScanRows>> {
        self.scan_of(table, None, ranges).await
    }

    pub(super) async fn scan_of(
        &self,
        table: &'static Table,
        only: Option<&Tenant>,
        ranges: usize,
    ) -> Result<Vec<ScanRows>> {
        let ranges = ranges.max(1);
        let split = Arc::new(self.inner.engine.split(table, only, ranges).await?);
        let scan = |range| ScanRows {
            database: self.clone(),
            table,
            only: only.cloned(),
            range,
            ranges,
            split: split.clone(),
            after: None,
            done: false,
            bare: Vec::new(),
            walked: 0,
        };
        Ok((0..ranges).map(scan).collect())
    }

    /// Goes on with the scan of a range where its cursor says. One of another table, or made up, is refused here or by the
    /// first read.
    pub fn resume_scan(&self, table: &'static Table, cursor: &ScanCursor) -> Result<ScanRows> {
        let wrong = || Error::invalid("cursor", format!("it does not belong to a scan of {}", table.name));
        let bytes = URL_SAFE_NO_PAD.decode(&cursor.0).map_err(|_| wrong())?;
        let mut reader = Reader::new(&bytes);
        let mut read = || {
            let name = reader.text()?.to_owned();
            let (range, ranges) = (reader.number()?, reader.number()?);
            Ok::<_, codec::Malformed>((name, range, ranges, reader.bytes()?.to_vec(), reader.bytes()?.to_vec()))
        };
        let (name, range, ranges, split, after) = read().map_err(|_| wrong())?;
        let only = match reader.is_empty() {
            true => None,
            false => Some(Tenant::new(reader.text().map_err(|_| wrong())?).map_err(|_| wrong())?),
        };
        if name != table.name || range >= ranges || !reader.is_empty() {
            return Err(wrong());
        }
        let (split, after) = (Arc::new(split), Some(after).filter(|after| !after.is_empty()));
        let (database, done, walked) = (self.clone(), false, 0);
        Ok(ScanRows { database, table, only, range, ranges, split, after, done, bare: Vec::new(), walked })
    }

    /// Sizes of the table's partitions.
    pub async fn histogram(&self, table: &'static Table, ranges: usize) -> Result<Histogram> {
        self.histogram_within(table, ranges, Extent { tenant: None, rows_max: u64::MAX }).await
    }

    /// Sizes of some of the table's partitions. Where it stops before the end, the last partition of each range may be
    /// larger than it is told.
    pub async fn histogram_within(
        &self,
        table: &'static Table,
        ranges: usize,
        extent: Extent<'_>,
    ) -> Result<Histogram> {
        let rows_max = extent.rows_max / ranges.max(1) as u64;
        let ranges = self.scan_of(table, extent.tenant, ranges).await?.into_iter().map(|mut scan| async move {
            let mut histogram = Histogram::default();
            let mut current: Option<((Tenant, Vec<Value>), u64, u64)> = None;
            while let Some(rows) = scan.next().await? {
                for (tenant, row) in rows {
                    let partition = (tenant, row.values[..table.partition_columns].to_vec());
                    let bytes = row.bytes() as u64;
                    match &mut current {
                        Some((known, rows, sum)) if *known == partition => {
                            *rows += 1;
                            *sum += bytes;
                        }
                        _ => {
                            if let Some((known, rows, sum)) = current.replace((partition, 1, bytes)) {
                                histogram.count(&known, rows, sum);
                            }
                        }
                    }
                }
                if scan.walked >= rows_max && !scan.done {
                    histogram.is_part = true;
                    break;
                }
            }
            if let Some((known, rows, sum)) = current {
                histogram.count(&known, rows, sum);
            }
            Ok::<_, crate::error::Error>(histogram)
        });
        let mut parts = stream::iter(ranges).buffer_unordered(4);
        let mut whole = Histogram::default();
        while let Some(part) = parts.next().await {
            whole.merge(part?);
        }
        Ok(whole)
    }
}

impl Store {
    /// What the tenant has in a table, in `ranges` scans that can run side by side; together they give every row once. On engines
    /// that have the rows of all tenants in one heap it walks over all of them.
    pub async fn scan(&self, table: &'static Table, ranges: usize) -> Result<Vec<ScanRows>> {
        self.database().scan_of(table, Some(&self.tenant), ranges).await
    }
}
