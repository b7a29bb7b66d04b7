//! What a commit comes to: ranges as the rows that are in them, and the rows of derived tables that follow.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    ops::Bound,
};

use super::{Store, plan, read::within, write::Known};
use crate::{
    codec,
    derived::{Base, Derivation},
    engine::{IndexRow, RawRow, Slice, Write},
    error::{Error, Result},
    limits,
    schema::{Consistency, Table},
    time::Timestamp,
    value::Value,
};

impl Store {
    /// Replaces deletions of ranges by deletions of the rows that are there, and adds what is derived.
    pub(super) fn expand_guarded(
        &self,
        writes: &[Write],
        known: Option<&Known>,
        table: &'static Table,
        now: Timestamp,
    ) -> Result<Vec<Write>> {
        let ranged = writes.iter().any(|w| matches!(w, Write::DeleteRange { .. }));
        let mut plain: Vec<Write> = if ranged { Vec::with_capacity(writes.len()) } else { writes.to_vec() };
        for write in writes.iter().filter(|_| ranged) {
            match write {
                Write::DeleteRange { table: t, partition, prefix, bounds } if t.guarded => {
                    let (lower, upper) = &**bounds;
                    let doomed = |clustering: &[Value]| within(clustering, prefix, lower.as_ref(), upper.as_ref());
                    let earlier = |w: &Write| {
                        let clustering = plan::row_key(w).map(|k| &k[t.partition_columns..]);
                        w.table().name == t.name && clustering.is_some_and(doomed)
                    };
                    plain.retain(|w| !earlier(w));
                    for row in known.iter().flat_map(|k| k.anchor.rows.iter().flatten()) {
                        let key = &row.values[..t.key_columns()];
                        if key[..t.partition_columns] == *partition && doomed(&key[t.partition_columns..]) {
                            plan::replace_row(&mut plain, Write::Delete { table: t, key: key.to_vec() });
                        }
                    }
                }
                other => plan::replace_row(&mut plain, other.clone()),
            }
        }
        let derivations: Vec<&Derivation> = self.inner.schema.derivations_of(table).collect();
        let founds = plain.iter().any(|w| matches!(w, Write::Found { .. }));
        if derivations.is_empty() && !founds {
            return Ok(plain);
        }
        let native_indexes = self.inner.engine.abilities().native_indexes;
        let mut derived = Differences::default();
        for write in &mut plain {
            if let Write::Found { writes, .. } = write {
                writes.iter_mut().try_for_each(|row| self.derive_founded(row, &mut derived))?;
                continue;
            }
            if write.table().name != table.name {
                continue;
            }
            let Some(key) = plan::row_key(write) else { continue };
            let old = known.and_then(|k| k.row(table, &key[table.partition_columns..], now));
            let (new, expires_at) = match write {
                Write::Put { values, expires_at, .. } => (Some(values.clone()), *expires_at),
                _ => (None, None),
            };
            let new = new.as_ref().map(|values| &values[..]);
            // Typed once, whatever follows from them.
            let typed = |values: &[Value]| match derivations.first() {
                Some(first) => first.decode(values).map(Some).map_err(|m| Error::mismatch(&table.name, m)),
                None => Ok(None),
            };
            let new_base = new.map(typed).transpose()?.flatten();
            let old_base = old.flatten().map(|row| typed(&row.values)).transpose()?.flatten();
            for derivation in &derivations {
                let own = new.zip(new_base.as_ref());
                let new_rows = own.map(|(values, base)| derive_new(derivation, base, values)).transpose()?;
                let new_rows = new_rows.unwrap_or_default();
                if native_indexes && derivation.derived.index.is_some() {
                    index(derivation, write, new_rows)?;
                    continue;
                }
                let old = old.ok_or_else(|| Error::Engine {
                    detail: format!("a row of {} that something is derived from was not read", table.name),
                })?;
                let old_rows = old_base.iter().flat_map(|base| derivation.rows(base)).map(|row| row.values).collect();
                diff(derivation.derived, old_rows, new_rows, expires_at, old, &mut derived);
            }
        }
        plain.extend(derived.into_writes());
        // ORDER: what is founded comes before what is derived from it, also where the writes are made one by one.
        if founds {
            plain.sort_by_key(|w| !matches!(w, Write::Found { .. }));
        }
        Ok(plain)
    }

    /// What follows from a row of a founded partition, where nothing was before.
    fn derive_founded(&self, write: &mut Write, derived: &mut Differences) -> Result<()> {
        let native_indexes = self.inner.engine.abilities().native_indexes;
        let Write::Put { table, values, expires_at, .. } = write else { return Ok(()) };
        let (base, values, expires_at) = (*table, values.clone(), *expires_at);
        let mut typed = None;
        for derivation in self.inner.schema.derivations_of(base) {
            if typed.is_none() {
                typed = Some(derivation.decode(&values).map_err(|m| Error::mismatch(&base.name, m))?);
            }
            let Some(typed) = &typed else { continue };
            let rows = derive_new(derivation, typed, &values)?;
            if native_indexes && derivation.derived.index.is_some() {
                index(derivation, write, rows)?;
            } else {
                diff(derivation.derived, Vec::new(), rows, expires_at, None, derived);
            }
        }
        Ok(())
    }

    /// Replaces deletions of ranges on tables without guard where the engine has none, or where order would matter.
    pub(super) async fn expand_ranges(&self, writes: Vec<Write>) -> Result<Vec<Write>> {
        if !writes.iter().any(|w| matches!(w, Write::DeleteRange { .. })) {
            return Ok(writes);
        }
        let native = self.inner.engine.abilities().native_range_delete;
        let mut plain: Vec<Write> = Vec::with_capacity(writes.len());
        let alone = |write: &Write, writes: &[Write]| {
            let same = |w: &&Write| w.table().name == write.table().name && w.partition() == write.partition();
            writes.iter().filter(same).count() == 1
        };
        for write in &writes {
            let Write::DeleteRange { table, partition, prefix, bounds } = write else {
                plan::replace_row(&mut plain, write.clone());
                continue;
            };
            let (lower, upper) = &**bounds;
            // The rows are counted also where one request could take them all: the limits are the same everywhere.
            let keys = self.keys_in(table, partition, prefix, lower.as_ref(), upper.as_ref()).await?;
            if keys.len() > limits::COMMIT_WRITES_MAX {
                let what = format!("rows of {} that one commit deletes", table.name);
                return Err(Error::TooLarge { what, size: keys.len(), limit: limits::COMMIT_WRITES_MAX });
            }
            if native && alone(write, &writes) {
                plain.push(write.clone());
                continue;
            }
            let clustering = |w: &Write| plan::row_key(w).map(|k| k[table.partition_columns..].to_vec());
            plain.retain(|w| {
                w.table().name != table.name
                    || w.partition() != partition
                    || !clustering(w).is_some_and(|c| within(&c, prefix, lower.as_ref(), upper.as_ref()))
            });
            for key in keys {
                plan::replace_row(&mut plain, Write::Delete { table, key });
            }
        }
        Ok(plain)
    }

    async fn keys_in(
        &self,
        table: &'static Table,
        partition: &[Value],
        prefix: &[Value],
        lower: Bound<&Value>,
        upper: Bound<&Value>,
    ) -> Result<Vec<Vec<Value>>> {
        let limit = limits::COMMIT_WRITES_MAX + 1;
        let (tenant, reverse, after, consistency) = (&self.tenant, false, None, Consistency::Quorum);
        let slice = Slice { tenant, table, partition, prefix, lower, upper, reverse, after, limit, consistency };
        let page = self.inner.engine.slice(slice).await?;
        Ok(page.rows.iter().map(|row| row[..table.key_columns()].to_vec()).collect())
    }
}

/// The derived rows of a base row that is written: typed, and as its values.
pub(super) fn derive_new(derivation: &Derivation, base: &Base, values: &[Value]) -> Result<Vec<Vec<Value>>> {
    let (table, derived) = (derivation.base, derivation.derived);
    let mut rows = Vec::new();
    for row in derivation.rows(base) {
        plan::check_derived(derived, &row.values)?;
        // Two base rows behind one derived row would be two clocks for it.
        if row.source != values[..table.key_columns()] {
            let problem = format!("a row derived from {} does not lead back to its base row", table.name);
            return Err(Error::invalid(&derived.name, problem));
        }
        rows.push(row.values);
    }
    Ok(rows)
}

/// What follows from a commit: each derived row once, found by its key.
#[derive(Default)]
struct Differences {
    writes: Vec<Option<Write>>,
    positions: HashMap<Vec<u8>, usize>,
}

impl Differences {
    /// Two base rows of one commit may trade a derived key: what one puts, the other's deletion must not take.
    fn delete(&mut self, table: &'static Table, key: &[Value]) {
        if let Entry::Vacant(place) = self.positions.entry(encoded(table, key)) {
            place.insert(self.writes.len());
            self.writes.push(Some(Write::Delete { table, key: key.to_vec() }));
        }
    }

    fn put(&mut self, table: &'static Table, values: Vec<Value>, expires_at: Option<Timestamp>) {
        let earlier = self.positions.insert(encoded(table, &values[..table.key_columns()]), self.writes.len());
        if let Some(earlier) = earlier {
            self.writes[earlier] = None;
        }
        self.writes.push(Some(Write::Put { table, values: values.into(), expires_at, indexes: Vec::new() }));
    }

    fn into_writes(self) -> impl Iterator<Item = Write> {
        self.writes.into_iter().flatten()
    }
}

fn encoded(table: &'static Table, key: &[Value]) -> Vec<u8> {
    let mut bytes = Vec::new();
    codec::put_bytes(&mut bytes, table.name.as_bytes());
    codec::put_values(&mut bytes, key);
    bytes
}

/// Rows of one base row up to which each is compared with all.
const FEW_ROWS: usize = 16;

/// What turns the old derived rows into the new.
fn diff(
    table: &'static Table,
    old: Vec<Vec<Value>>,
    new: Vec<Vec<Value>>,
    expires_at: Option<Timestamp>,
    base: Option<&RawRow>,
    writes: &mut Differences,
) {
    let keys = table.key_columns();
    let known = (old.len().max(new.len()) > FEW_ROWS).then(|| {
        let key = |row: &Vec<Value>| encoded(table, &row[..keys]);
        let old: HashMap<Vec<u8>, usize> = old.iter().enumerate().map(|(i, row)| (key(row), i)).collect();
        (old, new.iter().map(key).collect::<HashSet<Vec<u8>>>())
    });
    for row in &old {
        let stays = match &known {
            Some((_, new)) => new.contains(&encoded(table, &row[..keys])),
            None => new.iter().any(|other| other[..keys] == row[..keys]),
        };
        if !stays {
            writes.delete(table, &row[..keys]);
        }
    }
    for values in new {
        let end = earlier(expires_at, table.end_of(&values));
        // A row that stays as it is need not be written, unless its end moves.
        let same_end = base.is_some_and(|base| earlier(base.expires_at, table.end_of(&values)) == end);
        let same = || match &known {
            Some((known, _)) => known.get(&encoded(table, &values[..keys])).is_some_and(|i| old[*i] == values),
            None => old.contains(&values),
        };
        if !(same_end && same()) {
            // One that has ended is written as well: the row that it replaces may not have.
            writes.put(table, values, end);
        }
    }
}

/// The end of a derived row: that of its base row, or its own if that comes first.
pub(super) fn earlier(base: Option<Timestamp>, own: Option<Timestamp>) -> Option<Timestamp> {
    base.into_iter().chain(own).min()
}

/// The engine keeps this derivation as an index of the base row.
pub(super) fn index(derivation: &Derivation, write: &mut Write, mut rows: Vec<Vec<Value>>) -> Result<()> {
    if rows.len() > 1 {
        let problem = "a table that is kept as an index has at most one row for each base row";
        return Err(Error::invalid(&derivation.derived.name, problem));
    }
    if let (Write::Put { indexes, .. }, Some(values)) = (write, rows.pop()) {
        indexes.push(IndexRow { table: derivation.derived, values });
    }
    Ok(())
}
