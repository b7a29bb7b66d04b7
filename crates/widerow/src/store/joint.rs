//! Decisions on several guarded partitions, committed as one: all of them or none.
//!
//! Not every engine can (`Store::commits_jointly`), and none does it better than one partition after the other where many want
//! the same: it is a shorter way, beside the one that goes step by step everywhere.
//!
//! RACE: each partition is committed at the version at which it was opened, and all are looked at in one step. Nobody waits for
//! anybody, so that two who want the same partitions in another order do not wait in a circle: one of them is told to decide
//! again.

use std::collections::HashSet;

use super::{
    Store,
    plan::{self, Plan},
    remember::{Remembered, rests_on},
    settle::Ready,
    write::{Known, Partition, Scope, view},
};
use crate::{
    codec,
    commit::{Commit, Committed},
    engine::{Applied, Atomicity, Step, Version, Write},
    error::{Error, Result},
    row::{KeyParts, Row},
    schema::Table,
    value::Value,
};

/// A guarded partition as it is, to be decided on together with others.
pub struct Opened<R> {
    pub view: Partition<R>,
    part: Part,
}

struct Part {
    table: &'static Table,
    partition: Vec<Value>,
    prefixes: Vec<Vec<Value>>,
    known: Known,
    /// Whole keys that are taken to be new, as they are not remembered.
    assumed: Vec<Vec<Value>>,
    last: Option<Remembered>,
}

/// What was decided, partition by partition.
#[derive(Default)]
pub struct Joint {
    decided: Vec<(Part, Commit)>,
}

/// What a joint commit left in a partition.
#[derive(Debug)]
pub struct Joined {
    pub version: Version,
    /// For who opens the partition again (`Store::open_from`).
    pub last: Option<Remembered>,
}

impl Joint {
    pub fn new() -> Self {
        Joint::default()
    }

    /// Adds what is to be written to a partition, which must be the one that the commit's guarded rows are of. A commit without
    /// writes holds the others to the partition's not having changed, and gives it a new version as every commit does.
    pub fn add<R>(&mut self, opened: Opened<R>, commit: Commit) {
        self.decided.push((opened.part, commit));
    }
}

impl Store {
    /// Whether several guarded partitions can be committed as one.
    pub fn commits_jointly(&self) -> bool {
        self.inner.engine.abilities().atomicity == Atomicity::Everything && !self.inner.always_outbox
    }

    /// Reads the rows of a guarded partition that begin with any of the prefixes, for a joint decision.
    pub async fn open<R: Row>(
        &self,
        partition: R::Partition,
        prefixes: impl IntoIterator<Item = impl KeyParts>,
    ) -> Result<Opened<R>> {
        self.open_from(None, partition, prefixes).await
    }

    /// As `open`, by who has left the partition so: what is remembered is not read. As with `guarded_from`, whole keys that are not
    /// remembered are taken to be those of new rows, which the decision must then put; where that is wrong, or somebody else has
    /// written the partition since, nothing is committed.
    pub async fn open_from<R: Row>(
        &self,
        last: Option<Remembered>,
        partition: R::Partition,
        prefixes: impl IntoIterator<Item = impl KeyParts>,
    ) -> Result<Opened<R>> {
        let table = R::table();
        let (partition, prefixes) = self.decided_on::<R>(partition, prefixes)?;
        let last = last.filter(|last| last.is_of(table, &partition));
        let remembered = last.and_then(|last| last.anchor(&prefixes).map(|found| (last, found)));
        let (known, assumed, last) = match remembered {
            Some((last, (anchor, assumed))) => {
                let known = Known { anchor, scope: Scope::Prefixes(prefixes.clone()), after: last.after() };
                (known, assumed, Some(last))
            }
            None => {
                let known = self.read_prefixes(table, &partition, prefixes.clone(), false).await?;
                let last = Remembered::new(table, &partition, &known.anchor, &prefixes);
                (known, Vec::new(), last)
            }
        };
        let view = view(&known.anchor, self.inner.now())?;
        Ok(Opened { view, part: Part { table, partition, prefixes, known, assumed, last } })
    }

    /// Commits all of it, or nothing: what it left in the partitions, in the order in which they were added; None where one of them
    /// is not as it was opened, or where all of it is more than one commit may be, though none of the parts is. Whoever has a way
    /// of one after the other goes it then.
    pub async fn commit_jointly(&self, joint: Joint) -> Result<Option<Vec<Joined>>> {
        if !self.commits_jointly() {
            let problem = format!("{} commits one guarded partition at a time", self.inner.engine.name());
            return Err(Error::invalid("joint commit", problem));
        }
        let mut all: Option<Ready> = None;
        let mut left = Vec::with_capacity(joint.decided.len());
        let mut partitions = HashSet::with_capacity(joint.decided.len());
        for (part, commit) in joint.decided {
            let (plan, ready, last) = self.ready_at(part, commit).await?;
            check_alone(&plan, &mut partitions)?;
            let version = ready.guarded.expect.map_or(Version(0), |expect| expect.next);
            left.push((plan, version, last));
            match &mut all {
                None => all = Some(ready),
                Some(all) => {
                    all.guarded.beside.push(ready.guarded);
                    all.writes.extend(ready.writes);
                }
            }
        }
        let Some(Ready { id, guarded, writes, now, .. }) = all else { return Ok(Some(Vec::new())) };
        // Each part was checked by itself.
        if plan::check_size(&writes).is_err() {
            return Ok(None);
        }
        let timestamp = guarded.expect.map_or_else(|| self.inner.timestamp(), |expect| expect.next.0);
        let step = Step { id, tenant: &self.tenant, guarded: Some(guarded), writes, now, timestamp };
        match self.in_time(id, self.apply_settled(&step)).await?.applied {
            Applied::Done(_) => {}
            Applied::Moved | Applied::Refused(_) => return Ok(None),
        }
        let joined = left.into_iter().map(|(plan, version, last)| {
            let follows = |last: &mut Remembered| last.follow(&plan, Committed { id, version: Some(version) });
            let last = last.and_then(|mut last| follows(&mut last).then_some(last));
            Joined { version, last }
        });
        Ok(Some(joined.collect()))
    }

    async fn ready_at(&self, part: Part, commit: Commit) -> Result<(Plan, Ready, Option<Remembered>)> {
        let Part { table, partition, prefixes, known, assumed, last } = part;
        let more = commit.expect.is_some() || commit.id.is_some() || !commit.guards.is_empty();
        let mut plan = Plan::new(&self.inner, commit, self.inner.now())?;
        // One that only looks is guarded all the same.
        let own = plan.guarded.get_or_insert_with(|| (table, partition.clone()));
        if own.0.name != table.name || own.1 != partition || more {
            let problem = "a joint decision is guarded on the partition that was opened for it, and by nothing else";
            return Err(Error::invalid(&table.name, problem));
        }
        let unread = self.derives_rows(table) && !self.covers(&plan, &known, table);
        if unread || (!assumed.is_empty() && !rests_on(&plan, table, &prefixes, &assumed)) {
            return Err(Error::invalid(&table.name, "a joint decision writes a row that was not opened for it"));
        }
        let ready = self.prepare(&plan, Some(known), &assumed).await?;
        Ok((plan, ready, last))
    }
}

/// That no other part is guarded on the partition of this one, or founds it: each is checked against what was there before all of
/// them, and the later of two would undo the earlier.
fn check_alone(plan: &Plan, partitions: &mut HashSet<Vec<u8>>) -> Result<()> {
    let founded = plan.writes.iter().filter_map(|write| match write {
        Write::Found { table, partition, .. } => Some((*table, partition)),
        _ => None,
    });
    for (table, partition) in plan.guarded.iter().map(|(table, partition)| (*table, partition)).chain(founded) {
        let mut key = Vec::new();
        codec::put_bytes(&mut key, table.name.as_bytes());
        codec::put_values(&mut key, partition);
        if !partitions.insert(key) {
            return Err(Error::invalid(&table.name, "a joint commit decides on each partition once"));
        }
    }
    Ok(())
}
