//! How a commit is made: read what it rests on, decide, derive, apply; again if another was quicker.
//!
//! RACE: every decision rests on one version of the guarded partition, and the step is applied only at that version.

use std::cmp::Ordering;

use futures::FutureExt as _;

use super::{
    Statics, Store,
    plan::{self, Plan},
    read::typed,
    remember::{Memory, Remembered},
    settle::Ready,
};
use crate::{
    commit::{Commit, Committed, Conflict},
    engine::{
        Add, Anchor, AnchorRows, Applied, Atomicity, Condition, Expect, Guarded, RawGuard, RawRow, Step, Version, Write,
    },
    error::{Error, Result},
    key, limits,
    row::{ColumnOf, KeyParts, Row},
    schema::Table,
    time::Timestamp,
    value::{Counter, Value},
};

/// A guarded partition, read for a decision.
#[derive(Clone, Debug)]
pub struct Partition<R> {
    /// In clustering order.
    pub rows: Vec<R>,
    pub statics: Statics<R>,
    pub version: Option<Version>,
}

/// What is known of the guarded partition when a step is made.
pub(super) struct Known {
    pub anchor: Anchor,
    pub(super) scope: Scope,
    /// The commit that left it so, where that has no answer yet.
    pub after: Option<uuid::Uuid>,
}

/// Which rows of the partition were read.
pub(super) enum Scope {
    /// Those with these clustering keys, in clustering order, one entry of `anchor.rows` for each.
    Keys(Vec<Vec<Value>>),
    /// All that begin with one of these, which are disjoint.
    Prefixes(Vec<Vec<Value>>),
}

impl Known {
    /// The live row at the clustering key; None outside if it was not read.
    pub fn row(&self, table: &Table, clustering: &[Value], now: Timestamp) -> Option<Option<&RawRow>> {
        let (rows, order) = (&self.anchor.rows, |key: &[Value]| key::clustering_order(table, key, clustering));
        let found = match &self.scope {
            Scope::Keys(keys) => rows.get(keys.binary_search_by(|key| order(key)).ok()?)?.as_ref(),
            Scope::Prefixes(prefixes) if key::covered(table, prefixes, clustering) => {
                let found = rows.binary_search_by(|row| {
                    row.as_ref()
                        .map_or(Ordering::Less, |row| order(&row.values[table.partition_columns..table.key_columns()]))
                });
                found.ok().and_then(|position| rows[position].as_ref())
            }
            Scope::Prefixes(_) => return None,
        };
        Some(found.filter(|row| row.is_live(now)))
    }
}

pub(super) enum Outcome {
    /// And whether all of it is made: no later writes are on their way.
    Done(Committed, bool),
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
                Outcome::Done(committed, _) => return Ok(committed),
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
        decide: impl FnMut(&Partition<R>) -> Result<(Commit, T), E>,
    ) -> Result<T, E> {
        self.guarded_prefixes::<R, T, E>(partition, [prefix], decide).await
    }

    /// As `guarded`, on the rows that begin with any of the prefixes alone: a few rows of a partition of any size. A prefix
    /// may be a whole clustering key. Those of different lengths are given as values.
    pub async fn guarded_prefixes<R: Row, T, E: From<Error>>(
        &self,
        partition: R::Partition,
        prefixes: impl IntoIterator<Item = impl KeyParts>,
        decide: impl FnMut(&Partition<R>) -> Result<(Commit, T), E>,
    ) -> Result<T, E> {
        self.guarded_from::<R, T, E>(&mut None::<Remembered>, partition, prefixes, decide).await
    }

    /// As `guarded_prefixes`, by a writer that decides on one partition again and again: what it left there last is
    /// remembered, and needs no read as long as nobody else has written the partition. What is remembered is the partition's
    /// alone; whoever has none begins with `None`.
    ///
    /// Whole keys that are not remembered are taken to be those of new rows, as long as the commit puts them; where that
    /// turns out wrong, everything is read and decided again. So a new row should be named by its whole key.
    ///
    /// Where the engine applies steps in order, what will be left is remembered as soon as the commit is sent: a writer that
    /// shares its memory need not wait for the answer to decide what comes next.
    pub async fn guarded_from<R: Row, T, E: From<Error>>(
        &self,
        memory: &mut impl Memory,
        partition: R::Partition,
        prefixes: impl IntoIterator<Item = impl KeyParts>,
        mut decide: impl FnMut(&Partition<R>) -> Result<(Commit, T), E>,
    ) -> Result<T, E> {
        let table = R::table();
        let (partition, prefixes) = self.decided_on::<R>(partition, prefixes)?;
        let mut queue = Some(self.inner.lock(&self.tenant, table, &partition).await?);
        if let Some(last) = memory.take().filter(|last| last.is_of(table, &partition))
            && let Some(answer) = self.decide_on_memory(last, memory, &prefixes, &mut decide, &mut queue).await?
        {
            return Ok(answer);
        }
        let _queue = match queue {
            Some(queue) => queue,
            None => self.inner.lock(&self.tenant, table, &partition).await?,
        };
        let mut tries = 0;
        loop {
            let known = self.read_prefixes(table, &partition, prefixes.clone(), false).await?;
            let now = self.inner.now();
            let (commit, answer) = decide(&view(&known.anchor, now)?)?;
            if commit.writes.is_empty() && commit.guards.is_empty() {
                return Ok(answer);
            }
            let version = known.anchor.version;
            let plan = Plan::new(&self.inner, commit, now)?;
            if !plan.is_of(table, &partition) {
                let problem = "the commit does not write the partition it was decided on";
                return Err(Error::invalid(&table.name, problem).into());
            }
            let mut next = Remembered::new(table, &partition, &known.anchor, &prefixes);
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
                Outcome::Done(committed, at_once) => {
                    if let Some(next) = next.take_if(|next| at_once && next.follow(&plan, committed)) {
                        memory.keep(next);
                    }
                    return Ok(answer);
                }
                Outcome::Moved => self.pause(table, &mut tries).await?,
            }
        }
    }

    /// The partition and the prefixes of a decision, if they make sense.
    pub(super) fn decided_on<R: Row>(
        &self,
        partition: R::Partition,
        prefixes: impl IntoIterator<Item = impl KeyParts>,
    ) -> Result<(Vec<Value>, Vec<Vec<Value>>)> {
        let table = R::table();
        let mut partition = partition.into_values();
        key::normalize(&mut partition);
        let mut prefixes: Vec<_> = prefixes.into_iter().map(KeyParts::into_values).collect();
        prefixes.iter_mut().for_each(|prefix| key::normalize(prefix));
        self.inner.known(table)?;
        if !table.guarded {
            return Err(Error::invalid(&table.name, "the table is not declared guarded"));
        }
        key::check_partition(table, &partition)?;
        prefixes.iter().try_for_each(|prefix| key::check_clustering(table, prefix, false))?;
        if prefixes.len() > limits::DECISION_PREFIXES_MAX {
            let (size, limit) = (prefixes.len(), limits::DECISION_PREFIXES_MAX);
            return Err(Error::TooLarge { what: "prefixes of one decision".into(), size, limit });
        }
        Ok((partition, key::disjoint(table, prefixes)))
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
                Outcome::Done(..) => return Ok(new),
                Outcome::Moved => self.pause(table, &mut tries).await?,
            }
        }
    }

    /// No commit waits without a limit. What was begun when the time is over is settled by the next writer or the sweeper.
    // Not an async function: that would keep the commit's future twice, as its argument and where it runs.
    pub(super) fn in_time<T>(
        &self,
        id: uuid::Uuid,
        commit: impl Future<Output = Result<T>>,
    ) -> impl Future<Output = Result<T>> {
        let most = limits::COMMIT_TIME_MAX;
        let late = move |_| Err(Error::Indeterminate { id, detail: format!("not settled within {most:?}") });
        tokio::time::timeout(most, commit).map(move |result| result.unwrap_or_else(late))
    }

    pub(super) async fn pause(&self, table: &Table, tries: &mut u32) -> Result<()> {
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
        let founds = |w: &Write| matches!(w, Write::Found { .. });
        let outside = abilities.atomicity != Atomicity::Everything
            && plan.writes.iter().any(|w| founds(w) || w.table().name != table.name);
        let ranges = plan.writes.iter().any(|w| matches!(w, Write::DeleteRange { .. }));
        plan.again
            || plan.expect.is_some()
            || !abilities.native_guards
            || (self.derives_rows(table) && plan.writes.iter().any(|w| w.table().versioned() && !founds(w)))
            || ranges
            // RACE: what an earlier commit left in the outbox must be made before what this one writes elsewhere.
            || outside
            || !self.fits(plan.guards.len() + 1, &plan.writes, plan.guarded.as_ref().map(|(t, p)| (*t, &p[..])))
    }

    /// Whether rows of other tables follow from the table's; indexes that the engine keeps follow by themselves.
    pub(super) fn derives_rows(&self, table: &Table) -> bool {
        let native_indexes = self.inner.engine.abilities().native_indexes;
        self.inner.schema.derivations_of(table).any(|d| !(native_indexes && d.derived.index.is_some()))
    }

    /// The clustering keys whose rows a step rests on, in clustering order; None where whole ranges are deleted.
    pub(super) fn keys_of(plan: &Plan) -> Option<Vec<Vec<Value>>> {
        let (table, _) = plan.guarded.as_ref()?;
        let mut keys: Vec<Vec<Value>> = Vec::with_capacity(plan.guards.len() + plan.writes.len());
        for guard in &plan.guards {
            if !matches!(guard.condition, Condition::CompareStatic { .. }) {
                keys.push(guard.clustering.clone());
            }
        }
        for write in plan.writes.iter().filter(|w| w.table().versioned()) {
            match write {
                Write::DeleteRange { .. } => return None,
                Write::SetStatics { .. } | Write::Found { .. } => {}
                Write::Put { .. } | Write::Delete { .. } => {
                    keys.extend(plan::row_key(write).map(|key| key[table.partition_columns..].to_vec()));
                }
            }
        }
        keys.sort_unstable_by(|one, other| key::clustering_order(table, one, other));
        keys.dedup();
        Some(keys)
    }

    pub(super) fn covers(&self, plan: &Plan, known: &Known, table: &Table) -> bool {
        match Self::keys_of(plan) {
            Some(keys) => keys.iter().all(|key| known.row(table, key, Timestamp::MIN).is_some()),
            None => matches!(&known.scope, Scope::Prefixes(prefixes) if prefixes.iter().any(Vec::is_empty)),
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
            None => self.read_prefixes(table, partition, vec![Vec::new()], plan.again).await,
        }
    }

    pub(super) async fn read_keys(
        &self,
        table: &'static Table,
        partition: &[Value],
        keys: Vec<Vec<Value>>,
        ring: bool,
    ) -> Result<Known> {
        let anchor = self.settled(table, partition, AnchorRows::Keys(&keys), ring).await?;
        Ok(Known { anchor, scope: Scope::Keys(keys), after: None })
    }

    pub(super) async fn read_prefixes(
        &self,
        table: &'static Table,
        partition: &[Value],
        prefixes: Vec<Vec<Value>>,
        ring: bool,
    ) -> Result<Known> {
        let rows = match &prefixes[..] {
            [] => AnchorRows::Keys(&[]),
            prefixes => AnchorRows::Prefixes { prefixes, limit: limits::DECISION_ROWS_MAX + 1 },
        };
        let anchor = self.settled(table, partition, rows, ring).await?;
        if anchor.rows.len() > limits::DECISION_ROWS_MAX {
            return Err(Error::TooLarge {
                what: format!("{} partition in rows, to be read for one decision", table.name),
                size: anchor.rows.len(),
                limit: limits::DECISION_ROWS_MAX,
            });
        }
        Ok(Known { anchor, scope: Scope::Prefixes(prefixes), after: None })
    }

    /// One try at the guarded partition.
    pub(super) async fn attempt(&self, plan: &Plan, known: Option<Known>) -> Result<Outcome> {
        if let Some(Known { anchor, .. }) =
            known.as_ref().filter(|known| plan.again && known.anchor.ring.contains(&plan.id))
        {
            return Ok(Outcome::Done(Committed { id: plan.id, version: anchor.version }, false));
        }
        self.send(plan, self.prepare(plan, known, &[]).await?).await
    }

    /// All that is done before anything is sent. That there are no rows at `assumed`, which the plan puts, is checked with it.
    pub(super) async fn prepare(&self, plan: &Plan, known: Option<Known>, assumed: &[Vec<Value>]) -> Result<Ready> {
        let Some((table, partition)) = plan.guarded.clone() else {
            return Err(Error::Engine { detail: "a guarded try without a guarded partition".into() });
        };
        let now = self.inner.now();
        let mut expect = None;
        if let Some(known) = &known {
            self.check_guards(plan, known, table, &partition, now)?;
            expect = Some(Expect { after: known.after, ..self.expect(&known.anchor) });
        }
        let writes = self.expand_guarded(&plan.writes, known.as_ref(), table, now)?;
        let writes = Box::pin(self.expand_ranges(writes)).await?;
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
        let absent =
            |clustering: &Vec<Value>| RawGuard { clustering: clustering.clone(), condition: Condition::Absent };
        let guards = match &known {
            Some(_) => assumed.iter().map(absent).collect(),
            None => plan.guards.clone(),
        };
        let is_new = |write: &Write| {
            let clustering = plan::row_key(write).map(|key| &key[table.partition_columns..]);
            let row = known.as_ref().zip(clustering).and_then(|(known, key)| known.row(table, key, Timestamp::MIN));
            row.is_some_and(|row| row.is_none())
        };
        let native = self.inner.engine.abilities().native_guards;
        let new_rows = if native { Vec::new() } else { inside.iter().map(is_new).collect() };
        let guarded = Guarded { table, partition, expect, guards, new_rows, outbox: None, beside: Vec::new() };
        Ok(self.ready(plan.id, guarded, plan.guards.len() + 1, inside, outside, now))
    }

    pub(super) async fn send(&self, plan: &Plan, ready: Ready) -> Result<Outcome> {
        let at_once = ready.at_once;
        match self.apply_split(ready).await? {
            Applied::Done(version) => Ok(Outcome::Done(Committed { id: plan.id, version: Some(version) }, at_once)),
            Applied::Moved => Ok(Outcome::Moved),
            Applied::Refused(refused) => {
                let Some((table, partition)) = &plan.guarded else { return Ok(Outcome::Moved) };
                let rows = refused.into_iter().map(|(position, row)| {
                    let clustering = plan.guards.get(position).map_or(&[][..], |g| &g.clustering);
                    ([&partition[..], clustering].concat(), row)
                });
                Err(conflict(table, rows.collect()))
            }
        }
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

    async fn commit_unguarded(&self, plan: Plan) -> Result<Committed> {
        // The rare ways are boxed, so that the common one has a small future.
        let ranged = plan.writes.iter().any(|w| matches!(w, Write::DeleteRange { .. }));
        let mut writes = if ranged { Box::pin(self.expand_ranges(plan.writes)).await? } else { plan.writes };
        plan::check_size(&writes)?;
        let committed = Committed { id: plan.id, version: None };
        if writes.is_empty() {
            return Ok(committed);
        }
        let mut step = Step {
            id: plan.id,
            tenant: &self.tenant,
            guarded: None,
            writes: Vec::new(),
            now: self.inner.now(),
            timestamp: self.inner.timestamp(),
        };
        if self.fits(0, &writes, None) {
            step.writes = writes;
            match self.apply_settled(&step).await {
                // The engine counts otherwise than its abilities say, and has sent nothing.
                Err(Error::TooLarge { .. }) if step.writes.len() > 1 => writes = std::mem::take(&mut step.writes),
                other => return other.map(|_| committed),
            }
        }
        Box::pin(self.apply_with_outbox(step, writes)).await?;
        Ok(committed)
    }
}

/// The live rows that were read, typed.
pub(super) fn view<R: Row>(anchor: &Anchor, now: Timestamp) -> Result<Partition<R>> {
    let live = anchor.rows.iter().flatten().filter(|row| row.is_live(now));
    Ok(Partition {
        rows: live.cloned().map(typed).collect::<Result<_>>()?,
        statics: Statics::new(anchor.statics.clone()),
        version: anchor.version,
    })
}

fn conflict(table: &Table, rows: Vec<(Vec<Value>, Option<RawRow>)>) -> Error {
    Error::Conflict(Box::new(Conflict { table: table.name.clone(), rows }))
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
