//! Verification: every derived table is recomputed from its base and compared, online, both ways; and mended if asked.
//!
//! RACE: a commit may be between its steps while it is looked at. A difference counts only if it is still there when the
//! base row is read again, at its newest, with nothing left in its outbox.

use std::collections::BTreeMap;

use super::{Database, Store};
use crate::{
    derived::Derivation,
    engine::{Anchor, AnchorRows, IndexRow, RawRow, ReadAnchor, Write},
    error::{Error, Result},
    schema::{Consistency, Kind},
    value::Value,
};

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
        let mut report = VerifyReport::default();
        let derivations: Vec<Derivation> = self.inner.schema.derivations().to_vec();
        for derivation in &derivations {
            self.verify_forward(derivation, options, &mut report).await?;
            self.verify_backward(derivation, options, &mut report).await?;
        }
        Ok(report)
    }

    fn store(&self, tenant: &crate::key::Tenant) -> Store {
        Store { inner: self.inner.clone(), tenant: tenant.clone() }
    }

    /// Every row that a base row implies is there.
    async fn verify_forward(&self, d: &Derivation, options: VerifyOptions, report: &mut VerifyReport) -> Result<()> {
        for mut scan in self.scan(d.base, options.ranges) {
            while let Some(rows) = scan.next().await? {
                let mut by_tenant: BTreeMap<_, Vec<RawRow>> = BTreeMap::new();
                for (tenant, row) in rows {
                    by_tenant.entry(tenant).or_default().push(row);
                }
                for (tenant, bases) in by_tenant {
                    report.base_rows += bases.len() as u64;
                    let store = self.store(&tenant);
                    for base in bases {
                        let wanted = derive(d, &base.values)?;
                        let found = store.derived_rows(d, &wanted).await?;
                        let good = wanted.iter().zip(&found).all(|(w, f)| f.as_ref().is_some_and(|f| f.values == *w));
                        if !good {
                            let key = base.values[..d.base.key_columns()].to_vec();
                            self.judge(d, &store, key, None, options, report).await?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Every derived row has the base row that implies it.
    async fn verify_backward(&self, d: &Derivation, options: VerifyOptions, report: &mut VerifyReport) -> Result<()> {
        for mut scan in self.scan(d.derived, options.ranges) {
            while let Some(rows) = scan.next().await? {
                for (tenant, row) in rows {
                    report.derived_rows += 1;
                    let store = self.store(&tenant);
                    let source = d.source(&row.values).map_err(|m| Error::mismatch(&d.derived.name, m))?;
                    let base = store.get_raw(d.base, vec![source.clone()], Consistency::Quorum).await?.pop().flatten();
                    let keys = d.derived.key_columns();
                    let implied = match base {
                        Some(base) => derive(d, &base.values)?.iter().any(|w| w[..keys] == row.values[..keys]),
                        None => false,
                    };
                    if !implied {
                        self.judge(d, &store, source, Some(row.values[..keys].to_vec()), options, report).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Looks again, at the newest state of the base row, with its outbox settled, and reports what is still wrong.
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
        let _queue = self.inner.lock(&store.tenant, d.base, partition).await;
        let clustering = clustering.to_vec();
        let rows = AnchorRows::Keys(std::slice::from_ref(&clustering));
        let mut anchor = loop {
            let read = ReadAnchor { tenant: &store.tenant, table: d.base, partition, rows: rows.clone(), ring: false };
            let anchor = self.inner.engine.read_anchor(read).await?;
            if anchor.outbox.is_empty() {
                break anchor;
            }
            for (id, bucket) in &anchor.outbox {
                store.finish_other(d.base, partition, *id, *bucket).await?;
            }
        };
        let now = self.inner.now();
        let base = anchor.rows.pop().flatten().filter(|row| row.is_live(now));
        let wanted = base.as_ref().map(|b| derive(d, &b.values)).transpose()?.unwrap_or_default();
        let keys = d.derived.key_columns();
        let mut writes = Vec::new();
        let mut wrong = Vec::new();
        for (row, found) in wanted.iter().zip(store.derived_rows(d, &wanted).await?) {
            let kind = match found {
                None => DifferenceKind::Missing,
                Some(found) if found.values != *row => DifferenceKind::Different,
                Some(_) => continue,
            };
            wrong.push((row[..keys].to_vec(), kind));
            let expires_at = base.as_ref().and_then(|b| b.expires_at);
            writes.push(Write::Put { table: d.derived, values: row.clone(), expires_at, indexes: Vec::new() });
        }
        if let Some(key) = suspect
            && !wanted.iter().any(|w| w[..keys] == key[..])
            && store.derived_rows(d, std::slice::from_ref(&key)).await?.pop().flatten().is_some()
        {
            wrong.push((key.clone(), DifferenceKind::Orphan));
            writes.push(Write::Delete { table: d.derived, key });
        }
        if wrong.is_empty() {
            return Ok(());
        }
        report.differences += wrong.len() as u64;
        for (key, kind) in &wrong {
            if report.listed.len() < options.listed_max {
                let (tenant, table) = (store.tenant.to_string(), d.derived.name.clone());
                report.listed.push(Difference { tenant, table, key: key.clone(), kind: *kind });
            }
        }
        if options.repair {
            report.repaired += wrong.len() as u64;
            store.repair(d, partition, base, &anchor, writes).await?;
        }
        Ok(())
    }
}

impl Store {
    async fn derived_rows(&self, d: &Derivation, rows: &[Vec<Value>]) -> Result<Vec<Option<RawRow>>> {
        let keys = rows.iter().map(|row| row[..d.derived.key_columns()].to_vec()).collect();
        self.get_raw(d.derived, keys, Consistency::Quorum).await
    }

    /// Mends derived rows in a commit on the base row's partition, so that they are ordered with all others: an index by
    /// writing its base row again, a table by writing its rows. If the partition has moved, the commit that moved it has
    /// written what the row implies, and what was still wrong is found by the next verification.
    async fn repair(
        &self,
        d: &Derivation,
        partition: &[Value],
        base: Option<RawRow>,
        anchor: &Anchor,
        mut writes: Vec<Write>,
    ) -> Result<()> {
        if self.inner.engine.abilities().native_indexes && d.derived.index.is_some() {
            // The engine itself drops an index entry with its base.
            let Some(mut base) = base else { return Ok(()) };
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
            writes = vec![Write::Put { table: d.base, values, expires_at, indexes }];
        }
        self.apply_at(self.inner.new_id(), d.base, partition, anchor, writes).await.map(|_| ())
    }
}

fn derive(d: &Derivation, base: &[Value]) -> Result<Vec<Vec<Value>>> {
    d.derive(base).map_err(|m| Error::mismatch(&d.derived.name, m))
}
