//! How a commit is made: read what it rests on, decide, derive, apply; again if another was quicker.
//!
//! RACE: every decision rests on one version of the guarded partition, and the step is applied only at that version.

use std::{ops::Bound, time::Duration};

use super::{
    Statics, Store,
    plan::{self, Plan},
    read::{typed, within},
};
use crate::{
    commit::{Commit, Committed, Conflict},
    derived::Derivation,
    engine::{
        Add, Anchor, AnchorRows, Applied, Atomicity, Condition, Expect, Guarded, IndexRow, RawRow, ReadAnchor, Slice,
        Step, Version, Write,
    },
    error::{Error, Result},
    key, limits,
    row::{ColumnOf, KeyParts, Row},
    schema::{Consistency, Table},
    time::Timestamp,
    value::{Counter, Value},
};

/// The longest that a commit may take once it is its turn.
const COMMIT_TIME_MAX: Duration = Duration::from_secs(60);

/// A guarded partition, read for a decision.
#[derive(Clone, Debug)]
pub struct Partition<R> {
    /// In clustering order.
    pub rows: Vec<R>,
    pub statics: Statics<R>,
    pub version: Option<Version>,
}

/// What is known of the guarded partition when a step is made.
struct Known {
    anchor: Anchor,
    /// Clustering keys of `anchor.rows`, or None where all rows under the prefix were read.
    keys: Option<Vec<Vec<Value>>>,
    prefix: Vec<Value>,
}

impl Known {
    /// The live row at the clustering key; None outside if it was not read.
    fn row(&self, table: &Table, clustering: &[Value], now: Timestamp) -> Option<Option<&RawRow>> {
        let found = match &self.keys {
            Some(keys) => self.anchor.rows.get(keys.iter().position(|k| k == clustering)?)?.as_ref(),
            None if clustering.starts_with(&self.prefix) => {
                let of = |row: &RawRow| row.values[table.partition_columns..table.key_columns()] == *clustering;
                self.anchor.rows.iter().flatten().find(|row| of(row))
            }
            None => return None,
        };
        Some(found.filter(|row| row.is_live(now)))
    }
}

enum Outcome {
    Done(Committed),
    Moved,
}

impl Store {
    /// Makes the commit: all of it or nothing, under its guards. A time-out is settled before this returns, if it can be.
    pub async fn commit(&self, commit: Commit) -> Result<Committed> {
        let plan = Plan::new(&self.inner, commit, self.inner.now())?;
        let Some((table, partition)) = plan.guarded.clone() else {
            return self.in_time(plan.id, self.commit_unguarded(plan)).await;
        };
        let _queue = self.inner.lock(&self.tenant, table, &partition).await?;
        self.in_time(plan.id, self.commit_guarded(&plan, table, &partition)).await
    }

    async fn commit_guarded(&self, plan: &Plan, table: &'static Table, partition: &[Value]) -> Result<Committed> {
        let mut tries = 0;
        loop {
            let known = if self.needs_read(plan) { Some(self.read_for(plan, table, partition).await?) } else { None };
            match self.attempt(plan, known).await? {
                Outcome::Done(committed) => return Ok(committed),
                Outcome::Moved => self.pause(table, &mut tries).await?,
            }
        }
    }

    /// Reads all rows of a partition, lets the function decide what to do, and commits that, if nothing has changed;
    /// otherwise decides again. The function may be called several times and must have no effects of its own.
    pub async fn guarded<R: Row, T, E: From<Error>>(
        &self,
        partition: R::Partition,
        decide: impl FnMut(&Partition<R>) -> Result<(Commit, T), E>,
    ) -> Result<T, E> {
        self.guarded_prefix::<R, T, E>(partition, (), decide).await
    }

    /// As `guarded`, on the rows that begin with the prefix alone.
    pub async fn guarded_prefix<R: Row, T, E: From<Error>>(
        &self,
        partition: R::Partition,
        prefix: impl KeyParts,
        mut decide: impl FnMut(&Partition<R>) -> Result<(Commit, T), E>,
    ) -> Result<T, E> {
        let table = R::table();
        let (mut partition, mut prefix) = (partition.into_values(), prefix.into_values());
        key::normalize(&mut partition);
        key::normalize(&mut prefix);
        self.inner.known(table)?;
        if !table.guarded {
            return Err(Error::invalid(&table.name, "the table is not declared guarded").into());
        }
        key::check_partition(table, &partition)?;
        key::check_clustering(table, &prefix, false)?;
        let _queue = self.inner.lock(&self.tenant, table, &partition).await?;
        let mut tries = 0;
        loop {
            let known = self.read_prefix(table, &partition, &prefix, false).await?;
            let now = self.inner.now();
            let live = known.anchor.rows.iter().flatten().filter(|row| row.is_live(now));
            let view = Partition {
                rows: live.cloned().map(typed).collect::<Result<_>>()?,
                statics: Statics::new(known.anchor.statics.clone()),
                version: known.anchor.version,
            };
            let (commit, answer) = decide(&view)?;
            if commit.writes.is_empty() && commit.guards.is_empty() {
                return Ok(answer);
            }
            let version = known.anchor.version;
            let plan = Plan::new(&self.inner, commit, now)?;
            match &plan.guarded {
                Some((t, p)) if t.name == table.name && *p == partition => {}
                _ => {
                    return Err(Error::invalid(
                        &table.name,
                        "the commit does not write the partition it was decided on",
                    )
                    .into());
                }
            }
            // Rows outside what was read need a second look, at the same version.
            // A commit with an id of the caller's may have been made before: that takes a look into the ring.
            let known = if !plan.again && self.covers(&plan, &known, table) {
                known
            } else {
                let wider = self.read_for(&plan, table, &partition).await?;
                if wider.anchor.version != version {
                    self.pause(table, &mut tries).await?;
                    continue;
                }
                wider
            };
            match self.in_time(plan.id, self.attempt(&plan, Some(known))).await? {
                Outcome::Done(_) => return Ok(answer),
                Outcome::Moved => self.pause(table, &mut tries).await?,
            }
        }
    }

    /// Changes one row of a guarded table: the function gets it as it is and says what it shall be (None: gone).
    /// With `expected`, only if the partition is still at that version.
    pub async fn update<R: Row, E: From<Error>>(
        &self,
        key: R::Key,
        expected: Option<Version>,
        mut change: impl FnMut(Option<R>) -> Result<Option<R>, E>,
    ) -> Result<Option<R>, E> {
        let table = R::table();
        let mut partition = key.into_values();
        key::normalize(&mut partition);
        let whole = partition.clone();
        let clustering = partition.split_off(table.partition_columns.min(partition.len()));
        self.inner.known(table)?;
        if !table.guarded {
            return Err(Error::invalid(&table.name, "the table is not declared guarded").into());
        }
        key::check_partition(table, &partition)?;
        key::check_clustering(table, &clustering, true)?;
        let _queue = self.inner.lock(&self.tenant, table, &partition).await?;
        let mut tries = 0;
        loop {
            let known = self.read_keys(table, &partition, vec![clustering.clone()], false).await?;
            let now = self.inner.now();
            let old = known.row(table, &clustering, now).flatten().cloned();
            if expected.is_some() && expected != known.anchor.version {
                return Err(conflict(table, vec![(whole, old)]).into());
            }
            let new = change(old.clone().map(typed).transpose()?)?;
            let commit = match &new {
                Some(row) => {
                    let values = row.to_values();
                    let mut moved = values[..table.key_columns()].to_vec();
                    key::normalize(&mut moved);
                    if moved != whole {
                        return Err(Error::invalid(&table.name, "an update cannot change the row's key").into());
                    }
                    Commit::new().put(row)
                }
                None if old.is_none() => return Ok(None),
                None => Commit::new().delete_values(table, whole.clone()),
            };
            let plan = Plan::new(&self.inner, commit, now)?;
            match self.in_time(plan.id, self.attempt(&plan, Some(known))).await? {
                Outcome::Done(_) => return Ok(new),
                Outcome::Moved => self.pause(table, &mut tries).await?,
            }
        }
    }

    /// No commit waits without a limit. What was begun when the time is over is settled by the next writer or the sweeper.
    async fn in_time<T>(&self, id: uuid::Uuid, commit: impl Future<Output = Result<T>>) -> Result<T> {
        match tokio::time::timeout(COMMIT_TIME_MAX, commit).await {
            Ok(result) => result,
            Err(_) => Err(Error::Indeterminate { id, detail: format!("not settled within {COMMIT_TIME_MAX:?}") }),
        }
    }

    async fn pause(&self, table: &Table, tries: &mut u32) -> Result<()> {
        *tries += 1;
        if *tries >= limits::CONTENTION_TRIES_MAX {
            return Err(Error::Contended { table: table.name.clone(), tries: *tries });
        }
        self.inner.back_off(*tries).await;
        Ok(())
    }

    /// Whether the step rests on rows that must be read first.
    fn needs_read(&self, plan: &Plan) -> bool {
        let Some((table, _)) = &plan.guarded else { return false };
        let abilities = self.inner.engine.abilities();
        let outside =
            abilities.atomicity != Atomicity::Everything && plan.writes.iter().any(|w| w.table().name != table.name);
        let ranges = plan.writes.iter().any(|w| matches!(w, Write::DeleteRange { .. }));
        plan.again
            || plan.expect.is_some()
            || !abilities.native_guards
            || (self.derives_rows(table) && plan.writes.iter().any(|w| w.table().guarded))
            || ranges
            // RACE: what an earlier commit left in the outbox must be made before what this one writes elsewhere.
            || outside
            || !self.fits(plan.guards.len() + 1, &plan.writes, plan.guarded.as_ref())
    }

    /// Whether rows of other tables follow from the table's; indexes that the engine keeps follow by themselves.
    fn derives_rows(&self, table: &Table) -> bool {
        let native_indexes = self.inner.engine.abilities().native_indexes;
        self.inner.schema.derivations_of(table).any(|d| !(native_indexes && d.derived.index.is_some()))
    }

    /// Whether the engine can apply the writes in one step.
    fn fits(&self, beside: usize, writes: &[Write], guarded: Option<&(&'static Table, Vec<Value>)>) -> bool {
        let outside = |w: &Write| guarded.is_none_or(|(t, p)| w.table().name != t.name || w.partition() != p);
        if self.inner.always_outbox {
            return if guarded.is_some() { !writes.iter().any(outside) } else { writes.len() <= 1 };
        }
        let bytes = || writes.iter().map(Write::bytes).sum::<usize>();
        match self.inner.engine.abilities().atomicity {
            Atomicity::Everything => true,
            Atomicity::Rows { rows, bytes: most } => writes.len() + beside <= rows && bytes() <= most,
            Atomicity::Partition { unguarded_rows, unguarded_bytes } => match guarded {
                Some(_) => !writes.iter().any(outside),
                None => writes.len() <= 1 || (writes.len() <= unguarded_rows && bytes() <= unguarded_bytes),
            },
        }
    }

    /// The clustering keys whose rows a step rests on; None where whole ranges are deleted.
    fn keys_of(plan: &Plan) -> Option<Vec<Vec<Value>>> {
        let mut keys: Vec<Vec<Value>> = Vec::new();
        for guard in &plan.guards {
            if !matches!(guard.condition, Condition::CompareStatic { .. }) && !keys.contains(&guard.clustering) {
                keys.push(guard.clustering.clone());
            }
        }
        for write in plan.writes.iter().filter(|w| w.table().guarded) {
            match write {
                Write::DeleteRange { .. } => return None,
                Write::SetStatics { .. } => {}
                Write::Put { .. } | Write::Delete { .. } => {
                    if let Some(key) = plan::row_key(write) {
                        let clustering = key[write.table().partition_columns..].to_vec();
                        if !keys.contains(&clustering) {
                            keys.push(clustering);
                        }
                    }
                }
            }
        }
        Some(keys)
    }

    fn covers(&self, plan: &Plan, known: &Known, table: &Table) -> bool {
        match Self::keys_of(plan) {
            Some(keys) => keys.iter().all(|key| known.row(table, key, Timestamp::MIN).is_some()),
            None => known.keys.is_none() && known.prefix.is_empty(),
        }
    }

    async fn read_for(&self, plan: &Plan, table: &'static Table, partition: &[Value]) -> Result<Known> {
        match Self::keys_of(plan) {
            Some(mut keys) => {
                // Rows that nothing is derived from are replaced unseen.
                if !self.derives_rows(table) {
                    keys.retain(|key| plan.guards.iter().any(|g| g.clustering == *key));
                }
                self.read_keys(table, partition, keys, plan.again).await
            }
            None => self.read_prefix(table, partition, &[], plan.again).await,
        }
    }

    async fn read_keys(
        &self,
        table: &'static Table,
        partition: &[Value],
        keys: Vec<Vec<Value>>,
        ring: bool,
    ) -> Result<Known> {
        let anchor = self.settled(table, partition, AnchorRows::Keys(&keys), ring).await?;
        Ok(Known { anchor, keys: Some(keys), prefix: Vec::new() })
    }

    async fn read_prefix(
        &self,
        table: &'static Table,
        partition: &[Value],
        prefix: &[Value],
        ring: bool,
    ) -> Result<Known> {
        let rows = AnchorRows::Prefix { prefix, limit: limits::DECISION_ROWS_MAX + 1 };
        let anchor = self.settled(table, partition, rows, ring).await?;
        if anchor.rows.len() > limits::DECISION_ROWS_MAX {
            return Err(Error::TooLarge {
                what: format!("{} partition in rows, to be read whole", table.name),
                size: anchor.rows.len(),
                limit: limits::DECISION_ROWS_MAX,
            });
        }
        Ok(Known { anchor, keys: None, prefix: prefix.to_vec() })
    }

    /// Reads the partition, having finished what earlier commits left undone.
    pub(crate) async fn settled(
        &self,
        table: &'static Table,
        partition: &[Value],
        rows: AnchorRows<'_>,
        ring: bool,
    ) -> Result<Anchor> {
        let mut tries = 0;
        loop {
            let read = ReadAnchor { tenant: &self.tenant, table, partition, rows: rows.clone(), ring };
            let anchor = self.inner.engine.read_anchor(read).await.map_err(|e| match e {
                // Nothing has been sent that could have happened.
                Error::TimedOut { .. } => Error::unavailable(e),
                e => e,
            })?;
            if anchor.outbox.is_empty() {
                return Ok(anchor);
            }
            for (id, bucket) in &anchor.outbox {
                self.finish_other(table, partition, *id, *bucket).await?;
            }
            self.pause(table, &mut tries).await?;
        }
    }

    /// One try at the guarded partition.
    async fn attempt(&self, plan: &Plan, known: Option<Known>) -> Result<Outcome> {
        let Some((table, partition)) = plan.guarded.clone() else {
            return Err(Error::Engine { detail: "a guarded try without a guarded partition".into() });
        };
        let now = self.inner.now();
        let mut writes = plan.writes.clone();
        let mut expect = None;
        if let Some(known) = &known {
            let anchor = &known.anchor;
            if plan.again && anchor.ring.contains(&plan.id) {
                return Ok(Outcome::Done(Committed { id: plan.id, version: anchor.version }));
            }
            self.check_guards(plan, known, table, &partition, now)?;
            expect = Some(self.expect(anchor));
        }
        writes = self.expand_guarded(writes, known.as_ref(), table, now)?;
        writes = self.expand_unguarded(writes).await?;
        plan::check_size(&writes)?;
        let (inside, outside): (Vec<Write>, Vec<Write>) =
            writes.into_iter().partition(|w| w.table().name == table.name && w.partition() == partition);
        let inside_bytes: usize = inside.iter().map(Write::bytes).sum();
        for (what, size, limit) in [
            (
                "rows that are written or guarded in the guarded partition",
                inside.len() + plan.guards.len(),
                limits::GUARDED_WRITES_MAX,
            ),
            ("bytes written to the guarded partition", inside_bytes, limits::GUARDED_BYTES_MAX),
        ] {
            if size > limit {
                return Err(Error::TooLarge { what: what.into(), size, limit });
            }
        }
        let guards = if known.is_some() { Vec::new() } else { plan.guards.clone() };
        let guarded = Guarded { table, partition: partition.clone(), expect, guards, outbox: None };
        let applied = self.apply_split(plan.id, guarded, plan.guards.len() + 1, inside, outside, now).await?;
        match applied {
            Applied::Done(version) => Ok(Outcome::Done(Committed { id: plan.id, version: Some(version) })),
            Applied::Moved => Ok(Outcome::Moved),
            Applied::Refused(refused) => {
                let rows = refused.into_iter().map(|(position, row)| {
                    let clustering = plan.guards.get(position).map_or(&[][..], |g| &g.clustering);
                    ([&partition[..], clustering].concat(), row)
                });
                Err(conflict(table, rows.collect()))
            }
        }
    }

    /// One step, or as many as the engine needs.
    async fn apply_split(
        &self,
        id: uuid::Uuid,
        guarded: Guarded,
        beside: usize,
        inside: Vec<Write>,
        outside: Vec<Write>,
        now: Timestamp,
    ) -> Result<Applied> {
        let timestamp = guarded.expect.map_or_else(|| self.inner.timestamp(), |e| e.next.0);
        let partition = (guarded.table, guarded.partition.clone());
        let mut step = Step { id, tenant: &self.tenant, guarded: Some(guarded), writes: inside, now, timestamp };
        let inside = step.writes.len();
        step.writes.extend(outside);
        if self.fits(beside, &step.writes, Some(&partition)) {
            self.apply_settled(&step).await.map(|settled| settled.applied)
        } else {
            let outside = step.writes.split_off(inside);
            self.apply_with_outbox(step, outside).await
        }
    }

    /// Writes that rest on a partition as it was read, and on nothing else.
    pub(crate) async fn apply_at(
        &self,
        id: uuid::Uuid,
        table: &'static Table,
        partition: &[Value],
        anchor: &Anchor,
        writes: Vec<Write>,
    ) -> Result<Applied> {
        let (inside, outside) =
            writes.into_iter().partition(|w| w.table().name == table.name && w.partition() == partition);
        let expect = Some(self.expect(anchor));
        let guarded = Guarded { table, partition: partition.to_vec(), expect, guards: Vec::new(), outbox: None };
        self.apply_split(id, guarded, 1, inside, outside, self.inner.now()).await
    }

    fn expect(&self, anchor: &Anchor) -> Expect {
        let next = Version(self.inner.timestamp().max(anchor.version.map_or(i64::MIN, |v| v.0 + 1)));
        // What this process writes from now on, anywhere, is later than this commit.
        self.inner.not_before(next.0);
        Expect { version: anchor.version, sequence: anchor.sequence, next }
    }

    fn check_guards(
        &self,
        plan: &Plan,
        known: &Known,
        table: &'static Table,
        partition: &[Value],
        now: Timestamp,
    ) -> Result<()> {
        let anchor = &known.anchor;
        if plan.expect.is_some_and(|version| version != anchor.version) {
            let rows = anchor.rows.iter().flatten().filter(|row| row.is_live(now));
            let rows = rows.map(|row| (row.values[..table.key_columns()].to_vec(), Some(row.clone())));
            return Err(conflict(table, rows.collect()));
        }
        let mut refused = Vec::new();
        for guard in &plan.guards {
            let row = known.row(table, &guard.clustering, now).flatten();
            if !guard.condition.holds(row, anchor.statics.as_deref()) {
                refused.push(([partition, &guard.clustering[..]].concat(), row.cloned()));
            }
        }
        if refused.is_empty() { Ok(()) } else { Err(conflict(table, refused)) }
    }

    /// Replaces deletions of ranges by deletions of the rows that are there, and adds what is derived.
    fn expand_guarded(
        &self,
        writes: Vec<Write>,
        known: Option<&Known>,
        table: &'static Table,
        now: Timestamp,
    ) -> Result<Vec<Write>> {
        let ranged = writes.iter().any(|w| matches!(w, Write::DeleteRange { .. }));
        let mut plain: Vec<Write> = if ranged { Vec::with_capacity(writes.len()) } else { writes.clone() };
        for write in writes.into_iter().filter(|_| ranged) {
            match write {
                Write::DeleteRange { table: t, partition, prefix, lower, upper } if t.guarded => {
                    let doomed = |clustering: &[Value]| within(clustering, &prefix, lower.as_ref(), upper.as_ref());
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
                other => plan::replace_row(&mut plain, other),
            }
        }
        let derivations: Vec<&Derivation> = self.inner.schema.derivations_of(table).collect();
        if derivations.is_empty() {
            return Ok(plain);
        }
        let native_indexes = self.inner.engine.abilities().native_indexes;
        let mut derived = Vec::new();
        for write in &mut plain {
            if write.table().name != table.name {
                continue;
            }
            let Some(key) = plan::row_key(write).map(<[Value]>::to_vec) else { continue };
            let clustering = &key[table.partition_columns..];
            let old = known.and_then(|k| k.row(table, clustering, now));
            let (new, expires_at) = match write {
                Write::Put { values, expires_at, .. } => (Some(values.clone()), *expires_at),
                _ => (None, None),
            };
            for derivation in &derivations {
                let derive = |values: &[Value]| {
                    derivation.derive(values).map_err(|m| Error::mismatch(&derivation.derived.name, m))
                };
                let new_rows = new.as_deref().map(derive).transpose()?.unwrap_or_default();
                for row in &new_rows {
                    plan::check_derived(derivation.derived, row)?;
                    // Two base rows behind one derived row would be two clocks for it.
                    let source = derivation.source(row).map_err(|m| Error::mismatch(&derivation.derived.name, m))?;
                    if source != key {
                        let problem = format!("a row derived from {} does not lead back to its base row", table.name);
                        return Err(Error::invalid(&derivation.derived.name, problem));
                    }
                }
                if native_indexes && derivation.derived.index.is_some() {
                    index(derivation, write, new_rows)?;
                    continue;
                }
                let old = old.ok_or_else(|| Error::Engine {
                    detail: format!("a row of {} that something is derived from was not read", table.name),
                })?;
                let old_rows = old.map(|row| derive(&row.values)).transpose()?.unwrap_or_default();
                diff(derivation.derived, old_rows, new_rows, expires_at, old, &mut derived);
            }
        }
        // Two base rows of one commit may trade a derived key: what one puts, the other's deletion must not take.
        let puts: Vec<(&str, Vec<Value>)> = derived
            .iter()
            .filter(|w| matches!(w, Write::Put { .. }))
            .filter_map(|w| Some((w.table().name.as_str(), plan::row_key(w)?.to_vec())))
            .collect();
        derived.retain(|w| match w {
            Write::Delete { table, key } => !puts.iter().any(|(t, k)| *t == table.name && k == key),
            _ => true,
        });
        plain.extend(derived);
        Ok(plain)
    }

    /// Replaces deletions of ranges on tables without guard where the engine has none, or where order would matter.
    async fn expand_unguarded(&self, writes: Vec<Write>) -> Result<Vec<Write>> {
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
            let Write::DeleteRange { table, partition, prefix, lower, upper } = write else {
                plan::replace_row(&mut plain, write.clone());
                continue;
            };
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

    async fn commit_unguarded(&self, plan: Plan) -> Result<Committed> {
        let writes = self.expand_unguarded(plan.writes).await?;
        plan::check_size(&writes)?;
        if !writes.is_empty() {
            let step = Step {
                id: plan.id,
                tenant: &self.tenant,
                guarded: None,
                writes: Vec::new(),
                now: self.inner.now(),
                timestamp: self.inner.timestamp(),
            };
            let mut step = step;
            let mut writes = writes;
            if self.fits(0, &writes, None) {
                step.writes = writes;
                match self.apply_settled(&step).await {
                    // The engine counts otherwise than its abilities say, and has sent nothing.
                    Err(Error::TooLarge { .. }) if step.writes.len() > 1 => writes = std::mem::take(&mut step.writes),
                    other => return other.map(|_| Committed { id: plan.id, version: None }),
                }
            }
            self.apply_with_outbox(step, writes).await?;
        }
        Ok(Committed { id: plan.id, version: None })
    }

    /// Applies a step; where the engine cannot say whether it did, finds out.
    ///
    /// RACE: once an answer was lost, no later answer may be taken at its word. `Moved` may tell of this very step, and a
    /// refusal says nothing about the first try. With an expected version the ring decides; without, the step is sent again
    /// under its id, which changes nothing the second time.
    pub(crate) async fn apply_settled(&self, step: &Step<'_>) -> Result<Settled> {
        const TRIES: u32 = 10;
        let mut lost: Option<String> = None;
        for tries in 1..=TRIES {
            match self.inner.engine.apply(step).await {
                Err(Error::Indeterminate { detail, .. }) => lost = Some(detail),
                Ok(applied @ Applied::Done(_)) => return Ok(Settled { applied, by_ring: false }),
                other if lost.is_none() => return other.map(|applied| Settled { applied, by_ring: false }),
                Ok(applied) if !step.expects() => return Ok(Settled { applied, by_ring: false }),
                Ok(_) | Err(_) => {}
            }
            self.inner.back_off(tries).await;
            if step.expects()
                && let Some(applied) = self.find_in_ring(step, TRIES - tries).await?
            {
                return Ok(Settled { applied, by_ring: true });
            }
        }
        let detail = lost.unwrap_or_else(|| "the engine does not answer".into());
        Err(Error::Indeterminate { id: step.id, detail })
    }

    /// Whether a step with an expected version was applied; None where it was not yet, and may be sent again: if the lost
    /// one is applied after all, the second finds another version, and the ring is asked again.
    async fn find_in_ring(&self, step: &Step<'_>, tries: u32) -> Result<Option<Applied>> {
        let Some(Guarded { table, partition, expect: Some(expect), .. }) = &step.guarded else { return Ok(None) };
        let unknown = |detail: String| Err(Error::Indeterminate { id: step.id, detail });
        for attempt in 0.. {
            let rows = AnchorRows::Keys(&[]);
            let read = ReadAnchor { tenant: step.tenant, table, partition, rows, ring: true };
            match self.inner.engine.read_anchor(read).await {
                Ok(anchor) if anchor.ring.contains(&step.id) => return Ok(Some(Applied::Done(expect.next))),
                Ok(anchor) if anchor.version == expect.version => return Ok(None),
                // So many commits have followed that the ring may have forgotten this one.
                Ok(anchor) if !(0..limits::RING_SLOTS).contains(&(anchor.sequence - expect.sequence)) => {
                    return unknown("no answer, and too many commits since".into());
                }
                Ok(_) => return Ok(Some(Applied::Moved)),
                Err(e) if attempt >= tries => return unknown(format!("no answer, and then {e}")),
                Err(_) => self.inner.back_off(attempt).await,
            }
        }
        Ok(None)
    }
}

/// What became of a step, and whether the answer comes from the engine or, that one being lost, from the ring.
pub(crate) struct Settled {
    pub applied: Applied,
    pub by_ring: bool,
}

fn conflict(table: &Table, rows: Vec<(Vec<Value>, Option<RawRow>)>) -> Error {
    Error::Conflict(Box::new(Conflict { table: table.name.clone(), rows }))
}

/// What turns the old derived rows into the new.
fn diff(
    table: &'static Table,
    old: Vec<Vec<Value>>,
    new: Vec<Vec<Value>>,
    expires_at: Option<Timestamp>,
    base: Option<&RawRow>,
    writes: &mut Vec<Write>,
) {
    let keys = table.key_columns();
    for row in &old {
        if !new.iter().any(|other| other[..keys] == row[..keys]) {
            let gone = Write::Delete { table, key: row[..keys].to_vec() };
            if !writes.contains(&gone) {
                writes.push(gone);
            }
        }
    }
    let same_end = base.is_some_and(|base| base.expires_at.is_none()) && expires_at.is_none();
    for values in new {
        // A row that stays as it is need not be written, unless its end moves.
        if !(same_end && old.contains(&values)) {
            plan::replace_row(writes, Write::Put { table, values, expires_at, indexes: Vec::new() });
        }
    }
}

/// The engine keeps this derivation as an index of the base row.
fn index(derivation: &Derivation, write: &mut Write, mut rows: Vec<Vec<Value>>) -> Result<()> {
    if rows.len() > 1 {
        let problem = "a table that is kept as an index has at most one row for each base row";
        return Err(Error::invalid(&derivation.derived.name, problem));
    }
    if let (Write::Put { indexes, .. }, Some(values)) = (write, rows.pop()) {
        indexes.push(IndexRow { table: derivation.derived, values });
    }
    Ok(())
}

impl Store {
    /// Adds to a counter. On Cassandra and DynamoDB an add without an answer may or may not have been counted: it is never
    /// repeated, and the error says so (`may_have_happened`).
    pub async fn add<R: Row>(&self, key: R::Key, column: ColumnOf<R, Counter>, amount: i64) -> Result<()> {
        let table = R::table();
        self.inner.known(table)?;
        let mut key = key.into_values();
        key::normalize(&mut key);
        let (partition, clustering) = key.split_at(table.partition_columns.min(key.len()));
        key::check_partition(table, partition)?;
        key::check_clustering(table, clustering, true)?;
        let position = table.position(column.name);
        let position = position.filter(|_| table.counters);
        let position = position.ok_or_else(|| Error::invalid(&table.name, "the table has no such counter"))?;
        self.inner.engine.add(&self.tenant, &[Add { table, key, amounts: vec![(position, amount)] }]).await
    }
}
