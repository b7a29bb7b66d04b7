//! The one thread that writes: it takes all commits that are waiting, decides each on what the ones before it left, and writes them
//! as one group (`writing.rs`).
//!
//! Invariants: a guard is checked against the newest state, that of commits in the same group included.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque, btree_map::Entry},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use fjall::{Database, Keyspace, Slice};
use foldhash::fast::RandomState;
use quick_cache::{Weighter, unsync::Cache};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::{
    ahead,
    group::{Decided, Failure, Group},
    head::{self, Bookkeeping, Head},
    pages::{Stripe, Stripes},
    row::{self, Layout},
    series::{self, Journal, PackedRows, StagedRows},
};
use crate::{
    codec,
    derived::Derivation,
    engine::{Applied, Condition, Expect, RawGuard, RawRow, Version, not_new},
    error::{Error, Result},
    key::Tenant,
    schema::Table,
    time::Timestamp,
    value::Value,
};

/// Commits that are decided and synced together, at most.
const GROUP_COMMITS_MAX: usize = 512;
/// Bytes of a group, about.
const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Memory for heads of partitions as they were written last, about, and how many room is made for beforehand.
const HEADS_BYTES_MAX: u64 = 8 * 1024 * 1024;
const HEADS_EXPECTED: usize = 8 * 1024;
/// What one of them takes besides its bytes, about.
const HEAD_BYTES: u64 = 128;
/// Commits that are remembered by id in memory.
const RECENT_COMMITS_MAX: usize = 16 * 1024;
/// Commits that wait before callers have to.
pub(super) const QUEUE_COMMITS_MAX: usize = 4096;

/// A change of one key, encoded by the caller: callers are many, and there is one committer.
#[derive(Debug)]
pub(super) enum Change {
    Put {
        key: Slice,
        value: Slice,
        expires_at: Option<Timestamp>,
        stripe: Stripe,
    },
    Remove {
        key: Slice,
        stripe: Stripe,
    },
    /// Sets static columns, by their ids; those without a value become null.
    SetStatics {
        head: Slice,
        cells: Vec<(u16, Option<Vec<u8>>)>,
        stripe: Stripe,
    },
    /// Puts or removes the row of a partition that has one, in its head.
    SetRow {
        head: Slice,
        row: Option<Slice>,
        expires_at: Option<Timestamp>,
        stripe: Stripe,
    },
    /// A row of a shared table, put or removed, with all that is derived from it: what followed from the row that it
    /// replaces goes in the same batch. Only here is known which row that is.
    Replace(Box<Replace>),
    /// Removes every key from `from` (included) to `to` (excluded).
    RemoveRange {
        from: Slice,
        to: Slice,
        stripe: Stripe,
    },
    /// Rows of series, put or removed.
    Stage(StagedRows),
    /// Removes the rows of a series in a range of keys.
    StageRange {
        partition: Slice,
        from: Slice,
        to: Slice,
    },
}

impl Change {
    /// What is left to do of a replacement when the replaced row is gone.
    fn puts(self) -> Vec<Change> {
        match self {
            Change::Replace(replace) => replace.puts,
            other => vec![other],
        }
    }

    /// It, or what is left to do of a replacement when the replaced row is gone.
    fn with_puts(&self) -> &[Change] {
        match self {
            Change::Replace(replace) => &replace.puts,
            other => std::slice::from_ref(other),
        }
    }

    /// What it is about.
    fn fingerprint(&self) -> u64 {
        match self {
            Change::Put { key, .. } | Change::Remove { key, .. } => codec::fingerprint(key),
            Change::SetStatics { head, .. } | Change::SetRow { head, .. } => codec::fingerprint(head),
            Change::RemoveRange { from, .. } | Change::StageRange { from, .. } => codec::fingerprint(from),
            Change::Replace(replace) => codec::fingerprint(&replace.key),
            Change::Stage(rows) => rows.keys().next().map_or(0, |(partition, clustering)| {
                codec::fingerprint(partition).rotate_left(1) ^ codec::fingerprint(clustering)
            }),
        }
    }
}

/// A shared table and what is derived from it.
#[derive(Debug)]
pub(super) struct SharedBase {
    pub layout: Arc<Layout>,
    pub derived: Vec<(Derivation, Arc<Layout>)>,
}

/// One row of a shared table, encoded by the caller.
#[derive(Debug)]
pub(super) struct Replace {
    pub base: Arc<SharedBase>,
    pub tenant: Tenant,
    pub key_values: Vec<Value>,
    pub key: Slice,
    pub stripe: Stripe,
    /// The row that must still stand there.
    pub expect: Option<Vec<Value>>,
    /// The row and what is derived from it; nothing where the row is removed.
    pub puts: Vec<Change>,
}

/// The guarded partition of a commit, encoded by the caller.
#[derive(Debug)]
pub(super) struct GuardedPart {
    pub layout: Arc<Layout>,
    pub partition: Vec<u8>,
    pub key_values: Vec<Value>,
    pub expect: Option<Expect>,
    /// Each with the key of its row.
    pub guards: Vec<(RawGuard, Vec<u8>)>,
    pub outbox: Option<(Uuid, i64)>,
    pub founded: Vec<NewPartition>,
}

/// A partition that begins with a commit, encoded by the caller.
#[derive(Debug)]
pub(super) struct NewPartition {
    pub table: &'static Table,
    pub head: Slice,
    pub changes: Vec<Change>,
}

/// A row of counters, and what to add to which columns.
pub(super) struct CounterAdd {
    pub layout: Arc<Layout>,
    pub key: Vec<u8>,
    pub amounts: Vec<(usize, i64)>,
    pub stripe: Stripe,
}

/// An entry of the expiry index whose time is over, and its rows.
pub(super) struct Ended {
    pub entry: Slice,
    pub rows: Vec<EndedRow>,
}

/// A row, or many of a series in one entry.
pub(super) struct EndedRow {
    pub key: Slice,
    /// Of its partition, if its table is declared.
    pub stripe: Option<Stripe>,
    /// Of rows that are packed: how many bytes of the key are the partition's.
    pub packed: Option<usize>,
    /// The key is that of the head in which it stands.
    pub in_head: bool,
}

/// One commit, or another thing that only the writer may do.
pub(super) enum Request {
    Commit {
        id: Uuid,
        /// Empty where it is not guarded.
        parts: Vec<GuardedPart>,
        changes: Vec<Change>,
        now: Timestamp,
        now_micros: i64,
        reply: oneshot::Sender<Result<Applied>>,
    },
    /// Writes, if the key is there (of a head: if the entry is in its outbox).
    Late {
        fence: Vec<u8>,
        entry: Option<(Uuid, i64)>,
        changes: Vec<Change>,
        founded: Vec<NewPartition>,
        version: i64,
        reply: oneshot::Sender<Result<Applied>>,
    },
    CloseOutbox {
        head: Slice,
        id: Uuid,
        reply: oneshot::Sender<Result<Applied>>,
    },
    Add {
        adds: Vec<CounterAdd>,
        reply: oneshot::Sender<Result<Applied>>,
    },
    Reclaim {
        entries: Vec<Ended>,
        now: Timestamp,
        reply: oneshot::Sender<Result<Applied>>,
    },
    /// Packs all rows of series that are staged.
    Pack {
        reply: oneshot::Sender<Result<Applied>>,
    },
}

/// What the committer has written so far.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub groups: AtomicU64,
    pub commits: AtomicU64,
    pub largest_group: AtomicU64,
    pub entries: AtomicU64,
    pub bytes: AtomicU64,
}

impl Written {
    fn count(&self, commits: usize) {
        self.groups.fetch_add(1, Ordering::Relaxed);
        self.commits.fetch_add(commits as u64, Ordering::Relaxed);
        self.largest_group.fetch_max(commits as u64, Ordering::Relaxed);
    }

    pub(super) fn count_entries(&self, entries: usize, bytes: usize) {
        self.entries.fetch_add(entries as u64, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// Where the committer writes.
pub(super) struct Target {
    pub db: Database,
    pub rows: Keyspace,
    pub expiry: Keyspace,
    /// What is held in memory of each before it is sorted to disk.
    pub memtable_bytes: u64,
}

pub(super) struct Committer {
    pub(super) db: Database,
    pub(super) rows: Keyspace,
    pub(super) expiry: Keyspace,
    pub(super) memtable_bytes: u64,
    pub(super) stripes: Arc<Stripes>,
    pub(super) written: Arc<Written>,
    pub(super) recent: Recent,
    /// Heads as they were written last: most commits are on a partition that was just written. Nobody else writes them.
    pub(super) heads: Cache<Slice, Option<Slice>, ByBytes>,
    pub(super) journal: Journal,
    pub(super) ahead: ahead::Handle,
    /// The engine's worker did not come to its end for a long time.
    pub(super) is_stuck: bool,
}

/// What is remembered of heads is bounded by its bytes.
#[derive(Clone)]
pub(super) struct ByBytes;

impl Weighter<Slice, Option<Slice>> for ByBytes {
    fn weight(&self, key: &Slice, head: &Option<Slice>) -> u64 {
        HEAD_BYTES + (key.len() + head.as_ref().map_or(0, |head| head.len())) as u64
    }
}

/// Commits of this process that were applied, so that a step sent again changes nothing. Across processes, callers that
/// send again look into the partition's ring first.
#[derive(Default)]
pub(super) struct Recent {
    versions: HashMap<StepId, Version, RandomState>,
    order: VecDeque<StepId>,
}

/// A commit's id and what it writes to: one id may be used on several partitions.
type StepId = (Uuid, u64);

impl Recent {
    fn remember(&mut self, id: StepId, version: Version) {
        if self.versions.insert(id, version).is_none() {
            self.order.push_back(id);
        }
        if self.order.len() > RECENT_COMMITS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.versions.remove(&oldest);
        }
    }

    /// Tells what became of a group, which was written, or failed.
    pub(super) fn answer(&mut self, answers: Vec<Decided>, failure: Option<Failure>) {
        for (reply, id, scope, answer) in answers {
            if let (None, Ok(Applied::Done(version)), Some(scope)) = (&failure, &answer, scope) {
                self.remember((id, scope), *version);
            }
            let answer = match (&failure, answer) {
                (None, answer) => answer,
                // A refusal wrote nothing, whatever became of the others.
                (Some(_), answer @ (Ok(Applied::Moved | Applied::Refused(_)) | Err(_))) => answer,
                (Some(Failure::NotWritten(e)), Ok(_)) => Err(e.clone()),
                (Some(Failure::Unknown(e)), Ok(_)) => {
                    Err(Error::Indeterminate { id, detail: format!("the folder failed: {e}") })
                }
            };
            let _ = reply.send(answer);
        }
    }
}

/// Heads by their keys, as a commit leaves them.
type Heads = BTreeMap<Slice, Head>;

impl Committer {
    pub(super) fn new(
        into: Target,
        stripes: Arc<Stripes>,
        written: Arc<Written>,
        journal: Journal,
        ahead: ahead::Handle,
    ) -> Self {
        let Target { db, rows, expiry, memtable_bytes } = into;
        Committer {
            db,
            rows,
            expiry,
            memtable_bytes,
            stripes,
            written,
            recent: Recent::default(),
            heads: Cache::with_weighter(HEADS_EXPECTED, HEADS_BYTES_MAX, ByBytes),
            journal,
            ahead,
            is_stuck: false,
        }
    }

    /// Runs until all senders are gone.
    pub(super) fn run(mut self, mut requests: mpsc::Receiver<Request>) {
        while let Some(first) = requests.blocking_recv() {
            let mut group = Group::default();
            let mut answers = Vec::new();
            let mut durable = false;
            let mut next = Some(first);
            while let Some(request) = next {
                durable |= !matches!(request, Request::Add { .. } | Request::Reclaim { .. });
                answers.extend(self.decide(&mut group, request));
                next = (answers.len() < GROUP_COMMITS_MAX && group.bytes < GROUP_BYTES_MAX)
                    .then(|| requests.try_recv().ok())
                    .flatten();
            }
            self.written.count(answers.len());
            self.write(group, durable, answers);
        }
    }

    /// None where the answer comes with the group's packing.
    fn decide(&self, group: &mut Group, request: Request) -> Option<Decided> {
        Some(match request {
            Request::Commit { id, parts, changes, now, now_micros, reply } => {
                let scope = match parts.first() {
                    Some(part) => codec::fingerprint(&part.partition),
                    None => changes.first().map_or(0, Change::fingerprint),
                };
                let answer = match self.recent.versions.get(&(id, scope)) {
                    Some(version) => Ok(Applied::Done(*version)),
                    None => self.commit(group, id, parts, changes, now, now_micros),
                };
                (reply, id, Some(scope), answer)
            }
            Request::Late { fence, entry, changes, founded, version, reply } => {
                let answer = self.late(group, &fence, entry, changes, founded, version);
                (reply, Uuid::nil(), None, answer)
            }
            Request::CloseOutbox { head, id, reply } => (reply, Uuid::nil(), None, self.close_outbox(group, head, id)),
            Request::Add { adds, reply } => (reply, Uuid::nil(), None, self.add(group, adds)),
            Request::Reclaim { entries, now, reply } => (reply, Uuid::nil(), None, self.reclaim(group, entries, now)),
            Request::Pack { reply } => {
                group.pack.push(reply);
                return None;
            }
        })
    }

    fn get(&self, group: &Group, key: &[u8]) -> Result<Option<Slice>> {
        match group.rows.get(key) {
            Some(value) => Ok(value.clone()),
            None => self.rows.get(key).map_err(super::engine_error),
        }
    }

    fn head(&self, group: &Group, key: &[u8]) -> Result<Option<Head>> {
        let bytes = match (group.rows.get(key), self.heads.get(key)) {
            (Some(known), _) | (None, Some(known)) => known.clone(),
            (None, None) => self.get(group, key)?,
        };
        bytes.map(|b| Head::decode(&b)).transpose().map_err(|e| Error::corrupt("the folder", e))
    }

    /// ORDER: every partition is looked at before the first change, so that all of it is in the group or nothing.
    fn commit(
        &self,
        group: &mut Group,
        id: Uuid,
        parts: Vec<GuardedPart>,
        mut changes: Vec<Change>,
        now: Timestamp,
        now_micros: i64,
    ) -> Result<Applied> {
        if parts.is_empty() {
            for change in &changes {
                if !self.is_expected(group, change)? {
                    return Ok(Applied::Moved);
                }
            }
            self.apply(group, changes, Heads::new())?;
            return Ok(Applied::Done(Version(0)));
        }
        let mut found = Vec::with_capacity(parts.len());
        for part in &parts {
            match self.check(group, part, now)? {
                Ok(head) => found.push(head),
                Err(refused) => return Ok(refused),
            }
        }
        let mut version = None;
        let (mut heads, mut pages) = (Heads::new(), Vec::new());
        for (part, (key, mut head)) in parts.into_iter().zip(found) {
            let book = head.book.get_or_insert_default();
            book.version = part.expect.map_or(now_micros.max(book.version + 1), |e| e.next.0);
            version.get_or_insert(Version(book.version));
            book.outbox.extend(part.outbox);
            pages.extend(book.count(id).map(|page| (page.key(&key), page.encode())));
            for new in part.founded {
                changes.extend(new.changes);
                heads.insert(new.head, Head::new(Bookkeeping::founded(book.version, Vec::new())));
            }
            heads.insert(key, head);
        }
        self.apply(group, changes, heads)?;
        group.rows.extend(pages.into_iter().map(|(key, page)| (key.into(), Some(page.into()))));
        Ok(Applied::Done(version.unwrap_or(Version(0))))
    }

    /// The key of a partition's head and what it is now, if it is as the commit wants it.
    fn check(&self, group: &Group, part: &GuardedPart, now: Timestamp) -> Result<Result<(Slice, Head), Applied>> {
        let key = head::key_of(&part.partition);
        let head = self.head(group, &key)?.unwrap_or_default();
        let version = head.book.as_ref().map(|b| Version(b.version));
        if part.expect.is_some_and(|e| e.version != version) {
            return Ok(Err(Applied::Moved));
        }
        if let Some(after) = part.expect.and_then(|e| e.after)
            && head.book.as_ref().and_then(Bookkeeping::last) != Some(after)
        {
            return Ok(Err(Applied::Moved));
        }
        let corrupt = |e| Error::corrupt(&part.layout.table.name, e);
        let of_statics = |guard: &RawGuard| matches!(guard.condition, Condition::CompareStatic { .. });
        let statics = match part.guards.iter().any(|(guard, _)| of_statics(guard)) {
            true => Some(head.statics(&part.layout).map_err(corrupt)?.unwrap_or_else(|| part.layout.nulls())),
            false => None,
        };
        let mut refused = Vec::new();
        for (position, (guard, row_key)) in part.guards.iter().enumerate() {
            let row = self.guard_row(group, part, &head, guard, row_key, now)?;
            if !guard.condition.holds(row.as_ref(), statics.as_deref()) {
                refused.push((position, row));
            }
        }
        if !refused.is_empty() {
            return Ok(Err(Applied::Refused(refused)));
        }
        for new in &part.founded {
            if self.get(group, &new.head)?.is_some() {
                return Err(not_new(new.table));
            }
        }
        Ok(Ok((key.into(), head)))
    }

    fn guard_row(
        &self,
        group: &Group,
        part: &GuardedPart,
        head: &Head,
        guard: &RawGuard,
        row_key: &[u8],
        now: Timestamp,
    ) -> Result<Option<RawRow>> {
        let found = if part.layout.alone { head.row.clone() } else { self.get(group, row_key)? };
        let Some(bytes) = found else { return Ok(None) };
        let mut key = part.key_values.clone();
        key.extend(guard.clustering.iter().cloned());
        let row = row::decode(&part.layout, key, &bytes).map_err(|e| Error::corrupt(&part.layout.table.name, e))?;
        Ok(Some(row).filter(|row| row.is_live(now)))
    }

    /// Whether the row stands as the one who replaces it has seen it.
    fn is_expected(&self, group: &Group, change: &Change) -> Result<bool> {
        let Change::Replace(replace) = change else { return Ok(true) };
        let Some(expected) = &replace.expect else { return Ok(true) };
        let Some(bytes) = self.get(group, &replace.key)? else { return Ok(false) };
        let layout = &replace.base.layout;
        let found = row::decode(layout, replace.key_values.clone(), &bytes);
        Ok(found.map_err(|e| Error::corrupt(&layout.table.name, e))?.values == *expected)
    }

    /// What goes when a shared row is replaced: the row itself and what was derived from it.
    fn replaced(&self, group: &Group, replace: &Replace, doomed: &mut Vec<(Slice, Stripe)>) -> Result<()> {
        let Some(bytes) = self.get(group, &replace.key)? else { return Ok(()) };
        let SharedBase { layout, derived } = &*replace.base;
        let old = row::decode(layout, replace.key_values.clone(), &bytes);
        let old = old.map_err(|e| Error::corrupt(&layout.table.name, e))?;
        doomed.push((replace.key.clone(), replace.stripe));
        for (derivation, layout) in derived {
            let rows = derivation.derive(&old.values).map_err(|m| Error::mismatch(&layout.table.name, m))?;
            for values in rows {
                let (key, stripe) = super::row_key(layout, &replace.tenant, &values[..layout.table.key_columns()]);
                doomed.push((key.into(), stripe));
            }
        }
        Ok(())
    }

    /// ORDER: everything that can fail comes before the first change of the group, so that no commit is in it in part.
    /// The heads are of the partitions that the commit is guarded on or founds, as they are to be but for their static columns.
    fn apply(&self, group: &mut Group, mut changes: Vec<Change>, mut heads: Heads) -> Result<()> {
        let mut doomed = Vec::new();
        let mut replaced = Vec::new();
        let mut unstaged: BTreeMap<&[u8], BTreeSet<Vec<u8>>> = BTreeMap::new();
        for change in &changes {
            if let Change::Replace(replace) = change {
                self.replaced(group, replace, &mut replaced)?;
            }
            if let Change::RemoveRange { from, to, .. } = change {
                for entry in self.rows.range::<&[u8], _>(&**from..&**to) {
                    doomed.push(entry.key().map_err(super::engine_error)?);
                }
            }
            if let Change::StageRange { partition, from, to } = change {
                let live = series::live_in(&self.rows, &self.journal.stage(), partition, from, to)?;
                // Several ranges may have the same rows.
                unstaged.entry(partition).or_default().extend(live);
            }
        }
        for change in changes.iter().flat_map(Change::with_puts) {
            let (Change::SetStatics { head: key, .. } | Change::SetRow { head: key, .. }) = change else { continue };
            let head = match heads.entry(key.clone()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => unknown.insert(self.head(group, key)?.unwrap_or_default()),
            };
            match change {
                Change::SetStatics { cells, .. } => {
                    cells.iter().for_each(|(column, cell)| head.set(*column, cell.as_deref()));
                }
                Change::SetRow { row, .. } => head.row.clone_from(row),
                _ => {}
            }
        }
        let mut deletions = StagedRows::default();
        for (partition, clusterings) in unstaged {
            clusterings.iter().for_each(|clustering| deletions.push_deletion(partition, clustering));
        }
        group.stage(deletions);
        for (key, stripe) in replaced {
            group.bytes += key.len();
            group.stripes.push(stripe);
            group.rows.insert(key, None);
        }
        if changes.iter().any(|change| matches!(change, Change::Replace(_))) {
            changes = changes.into_iter().flat_map(Change::puts).collect();
        }
        for key in doomed {
            group.bytes += key.len();
            group.rows.insert(key, None);
        }
        for change in changes {
            match change {
                Change::Put { key, value, expires_at, stripe } => {
                    group.stripes.push(stripe);
                    group.bytes += key.len() + value.len();
                    if let Some(end) = expires_at {
                        group.ending.push((end, key.clone()));
                    }
                    group.rows.insert(key, Some(value));
                }
                Change::Remove { key, stripe } => {
                    group.stripes.push(stripe);
                    group.bytes += key.len();
                    group.rows.insert(key, None);
                }
                // They stand in its head.
                Change::SetStatics { stripe, .. } => group.stripes.push(stripe),
                Change::SetRow { head, expires_at, stripe, .. } => {
                    group.stripes.push(stripe);
                    group.ending.extend(expires_at.map(|end| (end, head)));
                }
                // Its puts stand in its place.
                Change::Replace(_) => {}
                Change::RemoveRange { from, to, stripe } => {
                    group.stripes.push(stripe);
                    group.rows.range_mut(from..to).for_each(|(_, value)| *value = None);
                }
                Change::Stage(rows) => group.stage(rows),
                Change::StageRange { partition, from, to } => {
                    let range = series::clustering_range(&partition, &from, &to);
                    let mut gone = StagedRows::default();
                    for clustering in series::live(&group.staged, &partition, |clustering| range.contains(clustering)) {
                        gone.push_deletion(&partition, clustering);
                    }
                    group.stage(gone);
                }
            }
        }
        for (key, head) in heads {
            group.put_head(key, (!head.is_empty()).then(|| head.encode().into()));
        }
        Ok(())
    }

    fn late(
        &self,
        group: &mut Group,
        fence: &[u8],
        entry: Option<(Uuid, i64)>,
        mut changes: Vec<Change>,
        founded: Vec<NewPartition>,
        version: i64,
    ) -> Result<Applied> {
        let stands = match entry {
            Some((id, _)) => {
                let book = self.head(group, fence)?.and_then(|head| head.book);
                book.is_some_and(|book| book.outbox.iter().any(|(e, _)| *e == id))
            }
            None => self.get(group, fence)?.is_some(),
        };
        if stands {
            let mut heads = Heads::new();
            for new in founded {
                if self.get(group, &new.head)?.is_none() {
                    changes.extend(new.changes);
                    heads.insert(new.head, Head::new(Bookkeeping::founded(version, entry.into_iter().collect())));
                }
            }
            self.apply(group, changes, heads)?;
        }
        Ok(Applied::Done(Version(0)))
    }

    fn close_outbox(&self, group: &mut Group, key: Slice, id: Uuid) -> Result<Applied> {
        if let Some(mut head) = self.head(group, &key)? {
            head.book.iter_mut().for_each(|book| book.outbox.retain(|(entry, _)| *entry != id));
            group.put_head(key, Some(head.encode().into()));
        }
        Ok(Applied::Done(Version(0)))
    }

    fn add(&self, group: &mut Group, adds: Vec<CounterAdd>) -> Result<Applied> {
        let mut sums = Vec::with_capacity(adds.len());
        for CounterAdd { layout, key, amounts, .. } in &adds {
            let corrupt = |e| Error::corrupt(&layout.table.name, e);
            let unknown = vec![Value::Null; layout.table.key_columns()];
            let mut values = match self.get(group, key)? {
                Some(bytes) => row::decode(layout, unknown, &bytes).map_err(corrupt)?.values,
                None => vec![Value::Null; layout.table.columns.len()],
            };
            for (position, amount) in amounts {
                let old = if let Value::Counter(n) = values[*position] { n } else { 0 };
                values[*position] = Value::Counter(old.saturating_add(*amount));
            }
            sums.push(row::encode(layout, &values, None));
        }
        for (add, sum) in adds.into_iter().zip(sums) {
            group.stripes.push(add.stripe);
            group.rows.insert(add.key.into(), Some(sum.into()));
        }
        Ok(Applied::Done(Version(0)))
    }

    /// Removes the row of a partition that has one, if its time is over; how many that were. A head that says nothing any more
    /// goes with it, or later.
    fn reclaim_in_head(&self, group: &mut Group, key: Slice, stripe: Option<Stripe>, now: Timestamp) -> Result<i64> {
        let Some(mut head) = self.head(group, &key)? else { return Ok(0) };
        let reclaimed = match head.row_end().map_err(|e| Error::corrupt("the folder", e))? {
            Some(Some(end)) if end <= now => 1,
            // One that was written again has another end, or none.
            Some(_) => return Ok(0),
            None => 0,
        };
        head.row = None;
        group.stripes.extend(stripe);
        let forgotten_at = head.forgotten_at();
        if forgotten_at.is_some_and(|time| time <= now) {
            for page in self.rows.range(head::pages_of(&key)) {
                group.rows.insert(page.key().map_err(super::engine_error)?, None);
            }
            group.put_head(key, None);
        } else {
            group.ending.extend(forgotten_at.map(|time| (time, key.clone())));
            group.put_head(key, (!head.is_empty()).then(|| head.encode().into()));
        }
        Ok(reclaimed)
    }

    /// Removes rows whose time is over.
    fn reclaim(&self, group: &mut Group, entries: Vec<Ended>, now: Timestamp) -> Result<Applied> {
        let mut reclaimed = 0;
        for Ended { entry, rows } in entries {
            for EndedRow { key, stripe, packed, in_head } in rows {
                if in_head {
                    reclaimed += self.reclaim_in_head(group, key, stripe, now)?;
                    continue;
                }
                let Some(bytes) = self.get(group, &key)? else { continue };
                let end = row::expires_at(&bytes).map_err(|e| Error::corrupt("the folder", e))?;
                // A row that was written again has a later end, and is in another entry.
                if end.is_none_or(|end| end > now) {
                    continue;
                }
                reclaimed += match packed {
                    Some(partition) => {
                        // What is older and ends later would be there again.
                        if let Some(end) = series::later_end(&self.rows, &key[..partition], &key, now)? {
                            group.ending.push((end, key));
                            continue;
                        }
                        PackedRows::new(&bytes).map_err(|e| Error::corrupt("the packed rows", e))?.count() as i64
                    }
                    None => 1,
                };
                group.stripes.extend(stripe);
                group.rows.insert(key, None);
            }
            group.ended.push(entry);
        }
        Ok(Applied::Done(Version(reclaimed)))
    }
}
