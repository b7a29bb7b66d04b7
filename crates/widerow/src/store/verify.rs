//! Verification: every derived table is recomputed from its base and compared, online, both ways; and mended if asked.
//!
//! RACE: a commit may be between its steps while it is looked at. A difference counts only if it is still there when the
//! base row is read again, at its newest, with nothing left in its outbox.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt, stream};

use super::{Database, ScanRows, Store, expand::earlier};
use crate::{
    derived::Derivation,
    engine::{Anchor, AnchorRows, Applied, IndexRow, RawRow, Step, Write},
    error::{Error, Result},
    key::Tenant,
    limits,
    schema::{Consistency, Kind},
    time::Timestamp,
    value::Value,
};

/// Looks at one base row before verification gives up on a partition that never stands still.
const LOOKS_MAX: u32 = 12;

/// How to verify.
#[derive(Clone, Copy, Debug)]
pub struct VerifyOptions {
    /// Mend what is wrong.
    pub repair: bool,
    /// Scans side by side.
    pub ranges: usize,
    /// Differences that are listed; all are counted.
    pub listed_max: usize,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        VerifyOptions { repair: false, ranges: 4, listed_max: 1000 }
    }
}

/// One thing that is not as the base row says.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub tenant: String,
    pub table: String,
    /// The whole key of the derived row.
    pub key: Vec<Value>,
    pub kind: DifferenceKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DifferenceKind {
    /// The derived row should be there.
    Missing,
    /// The derived row is there, with other values.
    Different,
    /// The derived row has no base row that it would be derived from.
    Orphan,
}

/// What a verification found.
#[derive(Clone, Debug, Default)]
pub struct VerifyReport {
    pub base_rows: u64,
    pub derived_rows: u64,
    pub differences: u64,
    pub repaired: u64,
    pub listed: Vec<Difference>,
}

impl Database {
    /// Recomputes every derived table and compares.
    pub async fn verify(&self, options: VerifyOptions) -> Result<VerifyReport> {
        self.verify_rows(None, options).await
    }

    async fn verify_rows(&self, only: Option<&Tenant>, options: VerifyOptions) -> Result<VerifyReport> {
        let mut report = VerifyReport::default();
        let derivations: Vec<Derivation> = self.inner.schema.derivations().to_vec();
        for derivation in &derivations {
            for (table, forward) in [(derivation.base, true), (derivation.derived, false)] {
                let scans = self.scan_of(table, only, options.ranges).await?.into_iter();
                let parts = scans.map(|scan| self.verify_range(derivation, scan, forward, options));
                let mut parts = stream::iter(parts).buffer_unordered(options.ranges.max(1));
                while let Some(part) = parts.next().await {
                    report.merge(part?, options.listed_max);
                }
            }
        }
        Ok(report)
    }

    async fn verify_range(
        &self,
        d: &Derivation,
        mut scan: ScanRows,
        forward: bool,
        options: VerifyOptions,
    ) -> Result<VerifyReport> {
        let mut report = VerifyReport::default();
        while let Some(rows) = scan.next().await? {
            let mut by_tenant: BTreeMap<Tenant, Vec<RawRow>> = BTreeMap::new();
            for (tenant, row) in rows {
                by_tenant.entry(tenant).or_default().push(row);
            }
            for (tenant, rows) in by_tenant {
                let store = Store { inner: self.inner.clone(), tenant };
                if forward {
                    report.base_rows += rows.len() as u64;
                    self.verify_forward(d, &store, rows, options, &mut report).await?;
                } else {
                    report.derived_rows += rows.len() as u64;
                    self.verify_backward(d, &store, rows, options, &mut report).await?;
                }
            }
        }
        Ok(report)
    }

    /// Every row that a base row implies is there.
    async fn verify_forward(
        &self,
        d: &Derivation,
        store: &Store,
        bases: Vec<RawRow>,
        options: VerifyOptions,
        report: &mut VerifyReport,
    ) -> Result<()> {
        let mut wanted = Vec::new();
        for (i, base) in bases.iter().enumerate() {
            wanted.extend(derive_live(d, base, self.inner.now())?.into_iter().map(|(row, _)| (i, row)));
        }
        let mut suspects = BTreeSet::new();
        for chunk in wanted.chunks(limits::GET_KEYS_MAX) {
            let rows: Vec<_> = chunk.iter().map(|(_, row)| row.clone()).collect();
            for ((i, row), found) in chunk.iter().zip(store.derived_rows(d, &rows).await?) {
                if found.is_none_or(|found| found.values != *row) {
                    suspects.insert(*i);
                }
            }
        }
        for i in suspects {
            let key = bases[i].values[..d.base.key_columns()].to_vec();
            self.judge(d, store, key, None, options, report).await?;
        }
        Ok(())
    }

    /// Every derived row has the base row that implies it.
    async fn verify_backward(
        &self,
        d: &Derivation,
        store: &Store,
        rows: Vec<RawRow>,
        options: VerifyOptions,
        report: &mut VerifyReport,
    ) -> Result<()> {
        let keys = d.derived.key_columns();
        let source = |row: &RawRow| d.source(&row.values).map_err(|m| Error::mismatch(&d.derived.name, m));
        let sources: Vec<Vec<Value>> = rows.iter().map(source).collect::<Result<_>>()?;
        let bases = store.get_raw(d.base, sources.clone(), Consistency::Quorum).await?;
        for ((row, source), base) in rows.iter().zip(sources).zip(bases) {
            let implied = match base {
                Some(base) => {
                    let wanted = derive_live(d, &base, self.inner.now())?;
                    wanted.iter().any(|(w, _)| w[..keys] == row.values[..keys])
                }
                None => false,
            };
            if !implied {
                self.judge(d, store, source, Some(row.values[..keys].to_vec()), options, report).await?;
            }
        }
        Ok(())
    }

    /// Looks again, at the newest state of the base row, with its outbox settled, and reports what is still wrong. A
    /// partition that moves while it is looked at is looked at again.
    async fn judge(
        &self,
        d: &Derivation,
        store: &Store,
        source: Vec<Value>,
        suspect: Option<Vec<Value>>,
        options: VerifyOptions,
        report: &mut VerifyReport,
    ) -> Result<()> {
        let (partition, clustering) = source.split_at(d.base.partition_columns);
        let clustering = [clustering.to_vec()];
        let _queue = self.inner.lock(&store.tenant, d.base, partition).await?;
        for tries in 1..=LOOKS_MAX {
            let anchor = store.settled(d.base, partition, AnchorRows::Keys(&clustering), false).await?;
            let (wrong, writes, base) = store.wrong_rows(d, &anchor, suspect.clone()).await?;
            if wrong.is_empty() {
                return Ok(());
            }
            let again = store.settled(d.base, partition, AnchorRows::Keys(&[]), false).await?;
            // An index of the engine's own follows a moment later: it gets that moment.
            let lagging = store.is_native_index(d) && tries < LOOKS_MAX;
            if again.version != anchor.version || lagging {
                self.inner.back_off(tries).await;
                continue;
            }
            // What other tools left in an index that the engine keeps is theirs to mend: to put the item again would undo
            // what they write meanwhile.
            let theirs = d.base.shared && store.is_native_index(d);
            if options.repair && !theirs {
                let mended = if d.base.shared && self.inner.engine.abilities().keeps_shared {
                    store.repair_shared(d, partition, &clustering, &anchor, writes).await?
                } else {
                    store.repair(d, partition, base, &anchor, writes).await?
                };
                match mended {
                    Applied::Done(_) => report.repaired += wrong.len() as u64,
                    _ => continue,
                }
            }
            report.differences += wrong.len() as u64;
            let (tenant, table) = (store.tenant.to_string(), d.derived.name.clone());
            let listed = wrong.into_iter().map(|(key, kind)| Difference {
                tenant: tenant.clone(),
                table: table.clone(),
                key,
                kind,
            });
            report.listed.extend(listed.take(options.listed_max.saturating_sub(report.listed.len())));
            return Ok(());
        }
        Err(Error::Contended { table: d.base.name.clone(), tries: LOOKS_MAX })
    }
}

type Wrong = Vec<(Vec<Value>, DifferenceKind)>;

impl Store {
    /// Recomputes the tenant's rows of every derived table and compares. The tables are walked over as a whole.
    pub async fn verify(&self, options: VerifyOptions) -> Result<VerifyReport> {
        self.database().verify_rows(Some(&self.tenant), options).await
    }

    async fn derived_rows(&self, d: &Derivation, rows: &[Vec<Value>]) -> Result<Vec<Option<RawRow>>> {
        let keys = rows.iter().map(|row| row[..d.derived.key_columns()].to_vec()).collect();
        self.get_raw(d.derived, keys, Consistency::Quorum).await
    }

    /// What is wrong with the derived rows of one base row, what would mend it, and the base row.
    async fn wrong_rows(
        &self,
        d: &Derivation,
        anchor: &Anchor,
        suspect: Option<Vec<Value>>,
    ) -> Result<(Wrong, Vec<Write>, Option<RawRow>)> {
        let now = self.inner.now();
        let base = anchor.rows.first().cloned().flatten().filter(|row| row.is_live(now));
        let wanted = base.as_ref().map(|b| derive_live(d, b, now)).transpose()?.unwrap_or_default();
        let (wanted, ends): (Vec<_>, Vec<_>) = wanted.into_iter().unzip();
        let keys = d.derived.key_columns();
        let (mut wrong, mut writes) = (Vec::new(), Vec::new());
        let found = self.derived_rows(d, &wanted).await?;
        let now = self.inner.now();
        for ((row, expires_at), found) in wanted.iter().zip(ends).zip(found) {
            let kind = match found {
                // RACE: a row that ended while it was looked for is rightly not there.
                None if expires_at.is_some_and(|end| end <= now) => continue,
                None => DifferenceKind::Missing,
                Some(found) if found.values != *row => DifferenceKind::Different,
                Some(_) => continue,
            };
            wrong.push((row[..keys].to_vec(), kind));
            writes.push(Write::Put { table: d.derived, values: row.clone().into(), expires_at, indexes: Vec::new() });
        }
        if let Some(key) = suspect
            && !wanted.iter().any(|w| w[..keys] == key[..])
            && self.derived_rows(d, std::slice::from_ref(&key)).await?.pop().flatten().is_some()
        {
            wrong.push((key.clone(), DifferenceKind::Orphan));
            writes.push(Write::Delete { table: d.derived, key });
        }
        Ok((wrong, writes, base))
    }

    fn is_native_index(&self, d: &Derivation) -> bool {
        self.inner.engine.abilities().native_indexes && d.derived.index.is_some()
    }

    /// Mends derived rows in a commit on the base row's partition, so that they are ordered with all others: an index by
    /// writing its base row again, a table by writing its rows.
    async fn repair(
        &self,
        d: &Derivation,
        partition: &[Value],
        base: Option<RawRow>,
        anchor: &Anchor,
        mut writes: Vec<Write>,
    ) -> Result<Applied> {
        if self.is_native_index(d) {
            // The engine itself drops an index entry with its base.
            let Some(mut base) = base else { return Ok(Applied::Moved) };
            let mut indexes = Vec::new();
            for other in self.inner.schema.derivations_of(d.base).filter(|o| o.derived.index.is_some()) {
                let rows = derive(other, &base.values)?;
                indexes.extend(rows.into_iter().map(|values| IndexRow { table: other.derived, values }));
            }
            for (column, value) in d.base.columns.iter().zip(&mut base.values) {
                if column.kind == Kind::Static {
                    *value = Value::Null;
                }
            }
            let (values, expires_at) = (base.values, base.expires_at);
            writes = vec![Write::Put { table: d.base, values: values.into(), expires_at, indexes }];
        }
        self.apply_at(self.inner.new_id(), d.base, partition, anchor, writes).await
    }

    /// What is derived from a shared row, while nobody writes one, if the row is still as it was looked at.
    async fn repair_shared(
        &self,
        d: &Derivation,
        partition: &[Value],
        clustering: &[Vec<Value>],
        anchor: &Anchor,
        writes: Vec<Write>,
    ) -> Result<Applied> {
        let _alone = self.inner.shared.write().await;
        let again = self.settled(d.base, partition, AnchorRows::Keys(clustering), false).await?;
        if again.rows != anchor.rows {
            return Ok(Applied::Moved);
        }
        let (id, tenant, now, timestamp) =
            (self.inner.new_id(), &self.tenant, self.inner.now(), self.inner.timestamp());
        self.inner.engine.apply(&Step { id, tenant, guarded: None, writes, now, timestamp }).await
    }
}

impl VerifyReport {
    fn merge(&mut self, part: VerifyReport, listed_max: usize) {
        self.base_rows += part.base_rows;
        self.derived_rows += part.derived_rows;
        self.differences += part.differences;
        self.repaired += part.repaired;
        self.listed.extend(part.listed);
        self.listed.truncate(listed_max);
    }
}

/// The derived rows that a base row implies now, each with its end. One that has ended is as good as none.
fn derive_live(d: &Derivation, base: &RawRow, now: Timestamp) -> Result<Vec<(Vec<Value>, Option<Timestamp>)>> {
    let rows = derive(d, &base.values)?.into_iter();
    let rows = rows.map(|row| {
        let end = earlier(base.expires_at, d.derived.end_of(&row));
        (row, end)
    });
    Ok(rows.filter(|(_, end)| end.is_none_or(|end| end > now)).collect())
}

fn derive(d: &Derivation, base: &[Value]) -> Result<Vec<Vec<Value>>> {
    d.derive(base).map_err(|m| Error::mismatch(&d.derived.name, m))
}
