//! Many rows of one table, each for itself: what bulk loads and tables that other tools share are written by.
//!
//! Invariants: every row has an answer of its own, and one that is refused takes no other along; of two writes of one row in
//! one call the later one counts, and both have its answer; no call has more than a bounded number of requests under way.
//!
//! RACE: a shared row is replaced together with what is derived from it. DynamoDB keeps its indexes itself, and the embedded
//! committer looks at the row that it replaces, so nothing has to be read first. Cassandra can do neither: there the rows of
//! a partition go through its version, as those of a guarded table do.

use std::collections::{BTreeMap, HashMap};

use futures::{StreamExt as _, stream};

use super::{
    Store, expand,
    plan::{self, Plan},
    write::Outcome,
};
use crate::{
    codec,
    commit::Commit,
    derived::Derivation,
    engine::{Each, Write},
    error::{Error, Result},
    key,
    row::{KeyParts, Row},
    schema::Table,
    time::Timestamp,
    value::Value,
};

/// Partitions that are written at the same time where each needs a commit.
const PARTITIONS_AT_ONCE: usize = 16;
/// Rows of one partition in one commit, and their bytes.
const PARTITION_ROWS: usize = 40;
const PARTITION_BYTES: usize = 512 * 1024;

impl Store {
    /// Writes the rows, each for itself: an answer for each, in their order. A row that is refused takes no other along. An
    /// answer that was lost is an error that says so (`may_have_happened`); to put the row again is then harmless, unless
    /// somebody else has written it meanwhile.
    pub async fn put_many<R: Row>(&self, rows: &[R]) -> Vec<Result<()>> {
        let now = self.inner.now();
        let put = |row: &R| self.put_one(R::table(), row.to_values(), now);
        self.write_many(R::table(), rows.iter().map(put).collect(), now).await
    }

    /// Deletes the rows with these keys, each for itself, as `put_many` writes them.
    pub async fn delete_many<R: Row>(&self, keys: impl IntoIterator<Item = R::Key>) -> Vec<Result<()>> {
        self.delete_many_values(R::table(), keys.into_iter().map(KeyParts::into_values).collect()).await
    }

    /// Puts each second row in place of the first, which is as it was read: only where it still stands so; whether it did.
    /// What other tools keep beside the declared columns of a shared table stays. Both have the same key.
    pub async fn replace_many<R: Row>(&self, rows: &[(R, R)]) -> Vec<Result<bool>> {
        let table = R::table();
        if let Err(error) = self.takes_many(table).and_then(|()| shared_only(table)) {
            return vec![Err(error); rows.len()];
        }
        let now = self.inner.now();
        let mut answers: Vec<Result<usize>> = Vec::with_capacity(rows.len());
        let (mut new, mut old) = (Vec::new(), Vec::new());
        for (before, after) in rows {
            let (mut before, after) = (before.to_values(), self.put_one(table, after.to_values(), now));
            key::normalize(&mut before[..table.key_columns()]);
            answers.push(after.and_then(|after| {
                if plan::row_key(&after) != Some(&before[..table.key_columns()]) {
                    return Err(Error::invalid(&table.name, "a row is replaced by one with the same key"));
                }
                new.push(after);
                old.push(before);
                Ok(new.len() - 1)
            }));
        }
        let done: Vec<Result<bool>> = if self.inner.engine.abilities().keeps_shared {
            let _writers = self.inner.shared.read().await;
            let derivations: Vec<Derivation> = self.inner.schema.derivations_of(table).copied().collect();
            let (id, timestamp, tenant) = (self.inner.new_id(), self.inner.timestamp(), &self.tenant);
            let each = Each { id, tenant, table, writes: new, derivations: &derivations, now, timestamp };
            self.inner.engine.replace_each(each, old).await
        } else {
            let rows = new.into_iter().zip(old).map(|(new, old)| self.replace_versioned(table, new, old));
            stream::iter(rows.collect::<Vec<_>>()).buffered(PARTITIONS_AT_ONCE).collect().await
        };
        answers.into_iter().map(|answer| answer.and_then(|place| done[place].clone())).collect()
    }

    /// Under the version of its partition.
    async fn replace_versioned(&self, table: &'static Table, new: Write, old: Vec<Value>) -> Result<bool> {
        let Write::Put { values, .. } = new else { return Ok(false) };
        let (partition, clustering) = old[..table.key_columns()].split_at(table.partition_columns);
        let _queue = self.inner.lock(&self.tenant, table, partition).await?;
        let mut tries = 0;
        loop {
            let known = self.read_keys(table, partition, vec![clustering.to_vec()], false).await?;
            let now = self.inner.now();
            if known.row(table, clustering, now).flatten().is_none_or(|row| row.values != old) {
                return Ok(false);
            }
            let commit = Commit { shared: true, ..Commit::new() }.put_values(table, values.clone(), None);
            let plan = Plan::new(&self.inner, commit, now)?;
            match self.in_time(plan.id, self.attempt(&plan, Some(known))).await? {
                Outcome::Done(..) => return Ok(true),
                Outcome::Moved => self.pause(table, &mut tries).await?,
            }
        }
    }

    pub(super) async fn delete_many_values(&self, table: &'static Table, keys: Vec<Vec<Value>>) -> Vec<Result<()>> {
        let delete = |mut key: Vec<Value>| {
            key::normalize(&mut key);
            let (partition, clustering) = key.split_at(table.partition_columns.min(key.len()));
            key::check_partition(table, partition)?;
            key::check_clustering(table, clustering, true)?;
            Ok(Write::Delete { table, key })
        };
        self.write_many(table, keys.into_iter().map(delete).collect(), self.inner.now()).await
    }

    /// A row as it is written, checked with all that follows from it.
    fn put_one(&self, table: &'static Table, mut values: Vec<Value>, now: Timestamp) -> Result<Write> {
        let keys = table.key_columns().min(values.len());
        key::normalize(&mut values[..keys]);
        key::check_partition(table, &values[..table.partition_columns])?;
        plan::check_row(table, &values)?;
        let expires_at = plan::expiry(table, &values, None, now)?;
        let mut write = Write::Put { table, values: values.into(), expires_at, indexes: Vec::new() };
        if table.shared {
            for derivation in self.inner.schema.derivations_of(table) {
                let Write::Put { values, .. } = &write else { continue };
                let base = derivation.decode(values).map_err(|m| Error::mismatch(&table.name, m))?;
                let rows = expand::derive_new(derivation, &base, values)?;
                expand::index(derivation, &mut write, rows)?;
            }
        }
        Ok(write)
    }

    async fn write_many(&self, table: &'static Table, writes: Vec<Result<Write>>, now: Timestamp) -> Vec<Result<()>> {
        if let Err(error) = self.takes_many(table) {
            return vec![Err(error); writes.len()];
        }
        // Of each row the last write alone is sent; the earlier ones have its answer.
        let mut answers: Vec<Result<usize>> = Vec::with_capacity(writes.len());
        let mut sent: Vec<Write> = Vec::with_capacity(writes.len());
        let mut places: HashMap<Vec<u8>, usize> = HashMap::with_capacity(writes.len());
        for write in writes {
            answers.push(write.map(|write| {
                let mut print = Vec::new();
                codec::put_values(&mut print, plan::row_key(&write).unwrap_or_default());
                let place = *places.entry(print).or_insert(sent.len());
                if place == sent.len() {
                    sent.push(write);
                } else {
                    sent[place] = write;
                }
                place
            }));
        }
        let keeps = self.inner.engine.abilities().keeps_shared;
        let done = if table.guarded || (table.shared && !keeps) {
            self.write_by_partition(table, sent).await
        } else {
            let _writers = self.inner.shared.read().await;
            let derivations: Vec<Derivation> = self.inner.schema.derivations_of(table).copied().collect();
            let (id, timestamp, tenant) = (self.inner.new_id(), self.inner.timestamp(), &self.tenant);
            let each = Each { id, tenant, table, writes: sent, derivations: &derivations, now, timestamp };
            self.inner.engine.write_each(each).await
        };
        answers.into_iter().map(|answer| answer.and_then(|place| done[place].clone())).collect()
    }

    fn takes_many(&self, table: &'static Table) -> Result<()> {
        self.inner.known(table)?;
        let problem = if table.counters {
            "counters are added to, not put"
        } else if table.has_statics() {
            "it has static columns, which belong to no row: commit its rows"
        } else if self.inner.schema.derivation_into(table).is_some() {
            "the table is derived: write its base"
        } else {
            return Ok(());
        };
        Err(Error::invalid(&table.name, problem))
    }

    /// Rows of guarded partitions: a commit for some of each partition, several partitions at once.
    async fn write_by_partition(&self, table: &'static Table, writes: Vec<Write>) -> Vec<Result<()>> {
        let mut done: Vec<Result<()>> = vec![Ok(()); writes.len()];
        let mut partitions: BTreeMap<Vec<u8>, Vec<(usize, Write)>> = BTreeMap::new();
        for (place, write) in writes.into_iter().enumerate() {
            let mut partition = Vec::new();
            codec::put_values(&mut partition, write.partition());
            partitions.entry(partition).or_default().push((place, write));
        }
        let partition = |writes: Vec<(usize, Write)>| async move {
            let mut done = Vec::with_capacity(writes.len());
            // One after the other: commits of one partition would only wait for each other.
            for some in pieces(writes) {
                let (places, writes): (Vec<usize>, Vec<Write>) = some.into_iter().unzip();
                let commit = Commit { shared: table.shared, ..Commit::new() };
                let commit = writes.into_iter().fold(commit, |commit, write| match write {
                    Write::Put { values, .. } => commit.put_values(table, values, None),
                    Write::Delete { key, .. } => commit.delete_values(table, key),
                    _ => commit,
                });
                let answer = self.commit(commit).await.map(drop);
                done.extend(places.into_iter().map(|place| (place, answer.clone())));
            }
            done
        };
        let partitions: Vec<_> = partitions.into_values().map(partition).collect();
        let mut partitions = stream::iter(partitions).buffer_unordered(PARTITIONS_AT_ONCE);
        while let Some(answers) = partitions.next().await {
            for (place, answer) in answers {
                done[place] = answer;
            }
        }
        done
    }
}

fn shared_only(table: &Table) -> Result<()> {
    if table.shared {
        return Ok(());
    }
    Err(Error::invalid(&table.name, "rows of other tables than shared ones are replaced by a guarded commit"))
}

/// Cuts the writes of a partition into what one commit takes.
fn pieces(writes: Vec<(usize, Write)>) -> Vec<Vec<(usize, Write)>> {
    let mut pieces: Vec<Vec<(usize, Write)>> = Vec::new();
    let mut bytes = 0;
    for (place, write) in writes {
        let size = write.bytes();
        match pieces.last_mut() {
            Some(piece) if piece.len() < PARTITION_ROWS && bytes + size <= PARTITION_BYTES => {
                bytes += size;
                piece.push((place, write));
            }
            _ => {
                bytes = size;
                pieces.push(vec![(place, write)]);
            }
        }
    }
    pieces
}
