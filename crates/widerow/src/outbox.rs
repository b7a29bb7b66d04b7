//! The outbox: commits that write outside their guarded partition, on engines that cannot do both in one step.
//!
//! 1. The later writes are stored in the pending table, cut into pieces.
//! 2. One step on the guarded partition applies its own writes and remembers the commit in the partition's outbox.
//! 3. The later writes are made, the outbox entry is removed, the pending rows are removed.
//!
//! A partition that the commit founds is a later write, the first of them. It begins with the same entry in its own outbox,
//! so that who commits there finishes this commit before.
//!
//! Invariants: an outbox entry implies its pending rows; replaying step 3 is harmless at any time; a writer finishes what it
//! finds in the outbox before it commits, so that later writes follow the order of commits; pending rows are dropped only
//! after step 2 has become impossible.

use std::{ops::Bound, sync::atomic::Ordering};

use uuid::Uuid;

use crate::{
    codec::{self, Reader, put_bytes, put_length, put_value, put_values},
    engine::{Applied, Entry, Fence, IndexRow, Late, Slice, Step, Version, Write},
    error::{Error, Result},
    key::Tenant,
    limits,
    schema::{Column, Consistency, Direction, Kind, LazyTable, Schema, Table},
    store::{Database, Store},
    time::Timestamp,
    value::{Type, Value},
};

/// The table of stored later writes, cut into pieces, bucketed by time.
pub static PENDING: LazyTable = LazyTable::new(|| {
    let column = |name: &str, column_type: Type, kind: Kind, label: &str| Column {
        name: name.into(),
        column_type,
        kind,
        optional: false,
        label: label.into(),
        index_key: None,
    };
    let ascending = Kind::Clustering(Direction::Ascending);
    Table {
        name: "widerow_pending".into(),
        doc: "Later writes of commits that span partitions, until they are made.".into(),
        columns: vec![
            column("bucket", Type::BigInt, Kind::Partition, "BUCKET"),
            column("id", Type::Uuid, ascending, "ID"),
            column("piece", Type::Int, ascending, "PIECE"),
            column("writes", Type::Blob, Kind::Regular, ""),
        ],
        partition_columns: 1,
        clustering_columns: 2,
        guarded: false,
        counters: false,
        ttl_seconds: None,
        ends: None,
        // A row that comes back from the dead is replayed, which is harmless: tombstones need not live long.
        gc_grace_seconds: Some(3600),
        shared: false,
        series: false,
        read: Consistency::Quorum,
        write: Consistency::Quorum,
        index: None,
    }
});

/// A pending commit older than this, whose id is in no outbox, was never applied.
pub const GRACE_SECONDS: i64 = 60;
/// Pieces without their first, which is written last, are dropped after this long.
pub const TORN_SECONDS: i64 = 24 * 60 * 60;
/// Seconds of one bucket of the pending table: a partition that a busy cluster does not fill with tombstones.
const BUCKET_SECONDS: i64 = 60;
/// Buckets younger than this are looked at in every sweep, for clocks that are behind.
const RECENT_SECONDS: i64 = 600;
const SWEEP_PAGE_ROWS: usize = 256;
/// Tries of a writer to make its own later writes before it leaves them to others.
const FINISH_TRIES: u32 = 4;
const FORMAT: u8 = 1;

/// A commit's later writes, as they are stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pending {
    id: Uuid,
    bucket: i64,
    tenant: Tenant,
    /// The partition whose outbox says that the commit was applied; None where this row itself says so.
    guarded: Option<(&'static Table, Vec<Value>)>,
    created_at: Timestamp,
    timestamp: i64,
    pieces: i32,
    /// None while not all pieces are there: they are being stored, or being removed.
    writes: Option<Vec<Write>>,
}

/// What a sweep found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Commits whose later writes were made now.
    pub finished: usize,
    /// Tries that had never become a commit.
    pub dropped: usize,
    /// Commits too young to judge.
    pub waiting: usize,
    /// Rows that could not be dealt with; the log says why, and the next sweep tries again.
    pub failed: usize,
}

impl Store {
    /// Steps 1 to 3 of a commit that the engine cannot apply at once. `step` has the guarded partition's own writes.
    pub(crate) async fn apply_with_outbox(&self, mut step: Step<'_>, later: Vec<Write>) -> Result<Applied> {
        let now = self.inner.now();
        let pending = Pending {
            // RACE: of the try, not of the commit. The same commit may be tried again, here or in another process, and no
            // try may finish, or drop, what another has stored.
            id: self.inner.new_id(),
            bucket: bucket_of(now),
            tenant: self.tenant.clone(),
            guarded: step.guarded.as_ref().map(|g| (g.table, g.partition.clone())),
            created_at: now,
            timestamp: step.timestamp,
            pieces: 0,
            writes: Some(later),
        };
        let mut rows = pending.encode();
        let pending = Pending { pieces: rows.len() as i32, ..pending };
        // ORDER: without a guarded partition the first piece is the proof of the commit, so it must be written last.
        if pending.guarded.is_none() {
            rows.reverse();
        }
        let system = self.system();
        let last = rows.len() - 1;
        for (i, row) in rows.into_iter().enumerate() {
            let put = Write::Put { table: &PENDING, values: row.into(), expires_at: None, indexes: Vec::new() };
            let proof = pending.guarded.is_none() && i == last;
            system.plain(vec![put], step.timestamp).await.map_err(|e| match e {
                e if !e.may_have_happened() => e,
                e if proof => Error::Indeterminate { id: step.id, detail: e.to_string() },
                // Whatever became of this row, the commit has not been made.
                e => Error::unavailable(e),
            })?;
        }
        let mut applied = Applied::Done(Version(0));
        if let Some(guarded) = &mut step.guarded {
            guarded.outbox = Some((pending.id, pending.bucket));
            // An outcome that stays unknown leaves the rows to the sweeper, which will find out.
            let settled = self.apply_settled(&step).await?;
            applied = settled.applied;
            // The ring knows the commit, not the try: another process may have made it, or finished this one.
            let ours = match settled.by_ring && matches!(applied, Applied::Done(_)) {
                true => self.is_open(&pending).await,
                false => Ok(true),
            };
            let Ok(ours) = ours else {
                // The commit is made; whose it is, and what is left to do, the sweeper will find out.
                return Ok(applied);
            };
            if !ours || !matches!(applied, Applied::Done(_)) {
                if let Err(e) = system.forget(&pending).await {
                    tracing::warn!(id = %pending.id, error = %e, "pending rows of no commit are left to the sweeper");
                }
                return Ok(applied);
            }
        }
        self.inner.stats.count_opened();
        // The commit is made: whatever fails from here on is finished by the next writer or by the sweeper.
        for tries in 1..=FINISH_TRIES {
            match self.finish(&pending).await {
                Ok(()) => break,
                Err(_) if tries < FINISH_TRIES => self.inner.back_off(tries).await,
                Err(e) => {
                    tracing::warn!(id = %pending.id, error = %e, "later writes of a commit are left to the sweeper")
                }
            }
        }
        Ok(applied)
    }

    /// Whether the try's entry stands in its partition's outbox.
    async fn is_open(&self, pending: &Pending) -> Result<bool> {
        let Some((table, partition)) = &pending.guarded else { return Ok(true) };
        Ok(self.bookkeeping(table, partition, false).await?.is_open(pending.id))
    }

    fn system(&self) -> Store {
        self.database().system()
    }

    /// A step without guards.
    async fn plain(&self, writes: Vec<Write>, timestamp: i64) -> Result<()> {
        let (id, now) = (self.inner.new_id(), self.inner.now());
        let step = Step { id, tenant: &self.tenant, guarded: None, writes, now, timestamp };
        self.apply_settled(&step).await.map(|_| ())
    }

    /// Step 3: idempotent, at any time, by anyone.
    async fn finish(&self, pending: &Pending) -> Result<()> {
        let engine = &self.inner.engine;
        let key = pending.key(0);
        let fence = match &pending.guarded {
            Some((table, partition)) => {
                let Pending { tenant, id, bucket, .. } = pending;
                Fence::Outbox { tenant, table, partition, id: *id, bucket: *bucket }
            }
            None => Fence::Pending { key: &key },
        };
        match (&pending.writes, &pending.guarded) {
            (Some(writes), _) => {
                let (tenant, now) = (&pending.tenant, self.inner.now());
                engine.apply_late(Late { tenant, fence, writes, now, timestamp: pending.timestamp }).await?;
            }
            // Its own proof, the first piece, is written last and removed last: the writes have been made.
            (None, None) => {}
            (None, Some(_)) => {
                return Err(Error::corrupt(&PENDING.name, format!("pieces of commit {} are gone", pending.id)));
            }
        }
        // ORDER: the outbox entry goes first. An entry without its pending rows would be a promise that nobody can keep.
        if let Some((table, partition)) = &pending.guarded {
            let version = Version(pending.timestamp);
            let (tenant, id) = (&pending.tenant, pending.id);
            engine.close_outbox(Entry { tenant, table, partition, id, version }).await?;
            self.close_founded(pending).await?;
        }
        self.inner.stats.count_finished();
        self.system().forget(pending).await
    }

    /// Removes the entries of a commit from the outboxes of the partitions that it founded. Harmless if they are gone.
    ///
    /// ORDER: after the fence, which is the entry in the commit's own partition: a writer that finds no entry in a founded
    /// partition must be sure that nobody can still make the commit's later writes over its own. Before the pending rows
    /// go, as for that entry.
    async fn close_founded(&self, pending: &Pending) -> Result<()> {
        let (tenant, id, version) = (&pending.tenant, pending.id, Version(pending.timestamp));
        for write in pending.writes.iter().flatten() {
            if let Write::Found { table, partition, .. } = write {
                self.inner.engine.close_outbox(Entry { tenant, table, partition, id, version }).await?;
            }
        }
        Ok(())
    }

    /// Removes the pending rows. The first piece goes last: it says how many there are.
    ///
    /// ORDER: under their own timestamp, at which a removal wins over a write, so that no clock can come between them.
    async fn forget(&self, pending: &Pending) -> Result<()> {
        let timestamp = pending.timestamp;
        for piece in (0..pending.pieces).rev() {
            self.plain(vec![Write::Delete { table: &PENDING, key: pending.key(piece) }], timestamp).await?;
        }
        Ok(())
    }

    /// Finishes what another commit on the same partition left.
    pub(crate) async fn finish_other(
        &self,
        table: &'static Table,
        partition: &[Value],
        id: Uuid,
        bucket: i64,
    ) -> Result<()> {
        match self.load(id, bucket).await? {
            Some(pending) if pending.writes.is_some() => self.finish(&pending).await,
            found => {
                // Someone has finished it since the partition was read, and may be removing its pieces at this moment; or they are
                // gone, which nothing here can mend.
                let anchor = self.bookkeeping(table, partition, false).await?;
                if let Some(pending) = found.filter(|_| anchor.is_open(id)) {
                    return self.finish(&pending).await;
                }
                if anchor.is_open(id) {
                    tracing::error!(%id, table = table.name, "the later writes of a commit are missing; verify the table");
                    let version = anchor.version.unwrap_or(Version(0));
                    let entry = Entry { tenant: &self.tenant, table, partition, id, version };
                    self.inner.engine.close_outbox(entry).await?;
                }
                Ok(())
            }
        }
    }

    async fn load(&self, id: Uuid, bucket: i64) -> Result<Option<Pending>> {
        let pieces = self.pending_rows(bucket, &[Value::Uuid(id)], None, limits::COMMIT_WRITES_MAX).await?;
        Pending::decode(&self.inner.schema, &pieces)
    }

    async fn pending_rows(
        &self,
        bucket: i64,
        prefix: &[Value],
        after: Option<&[Value]>,
        limit: usize,
    ) -> Result<Vec<Vec<Value>>> {
        let (tenant, partition) = (Tenant::system(), [Value::BigInt(bucket)]);
        let first = Slice::first(limit, &tenant, &PENDING, &partition);
        let page = self.inner.engine.slice(Slice { prefix, after, consistency: Consistency::Quorum, ..first }).await?;
        Ok(page.rows.iter().map(<[Value]>::to_vec).collect())
    }
}

impl Database {
    /// Finishes or drops what processes left behind when they died. Run it every half a minute; any number of processes
    /// may, at the same time. The first sweep of a process looks at the whole pending table, later ones at recent buckets.
    pub async fn sweep(&self) -> Result<Swept> {
        self.sweep_older_than(GRACE_SECONDS).await
    }

    pub async fn sweep_older_than(&self, grace_seconds: i64) -> Result<Swept> {
        let mut swept = Swept::default();
        let now = self.inner.now();
        let mut oldest = bucket_of(now.plus_seconds(-RECENT_SECONDS));
        match self.inner.swept_to.load(Ordering::SeqCst) {
            i64::MIN => self.sweep_all(grace_seconds, &mut swept, &mut oldest).await?,
            first => {
                // A little ahead as well, for clocks that are.
                for bucket in first..=bucket_of(now.plus_seconds(BUCKET_SECONDS)) {
                    self.sweep_bucket(bucket, grace_seconds, &mut swept, &mut oldest).await?;
                }
            }
        }
        let waits = swept.waiting + swept.failed > 0;
        self.inner.stats.set_lag(if waits { now.millis() / 1000 - oldest * BUCKET_SECONDS } else { 0 });
        self.inner.swept_to.store(oldest, Ordering::SeqCst);
        Ok(swept)
    }

    fn system(&self) -> Store {
        Store { inner: self.inner.clone(), tenant: Tenant::system() }
    }

    async fn sweep_all(&self, grace_seconds: i64, swept: &mut Swept, oldest: &mut i64) -> Result<()> {
        for mut scan in self.scan(&PENDING, 1).await? {
            while let Some(rows) = scan.next().await? {
                for (_, row) in rows {
                    self.sweep_row(&row.values, grace_seconds, swept, oldest).await;
                }
            }
        }
        Ok(())
    }

    async fn sweep_bucket(&self, bucket: i64, grace_seconds: i64, swept: &mut Swept, oldest: &mut i64) -> Result<()> {
        let system = self.system();
        let mut after: Option<Vec<Value>> = None;
        loop {
            let rows = system.pending_rows(bucket, &[], after.as_deref(), SWEEP_PAGE_ROWS).await?;
            for row in &rows {
                self.sweep_row(row, grace_seconds, swept, oldest).await;
            }
            match rows.last() {
                Some(last) if rows.len() == SWEEP_PAGE_ROWS => after = Some(last[1..3].to_vec()),
                _ => return Ok(()),
            }
        }
    }

    /// One row that cannot be dealt with does not keep the others waiting.
    async fn sweep_row(&self, row: &[Value], grace_seconds: i64, swept: &mut Swept, oldest: &mut i64) {
        let [Value::BigInt(bucket), Value::Uuid(id), Value::Int(piece), _] = row else {
            tracing::error!("a row of the pending table has another shape");
            swept.failed += 1;
            return;
        };
        let counted = match self.sweep_commit(*bucket, *id, *piece, grace_seconds).await {
            Ok(Some(Fate::Finished)) => &mut swept.finished,
            Ok(Some(Fate::Dropped)) => &mut swept.dropped,
            Ok(Some(Fate::Waiting)) => {
                *oldest = (*oldest).min(*bucket);
                &mut swept.waiting
            }
            Ok(None) => return,
            Err(e) => {
                tracing::error!(%id, error = %e, "a pending commit could not be dealt with");
                *oldest = (*oldest).min(*bucket);
                &mut swept.failed
            }
        };
        *counted += 1;
    }

    async fn sweep_commit(&self, bucket: i64, id: Uuid, piece: i32, grace_seconds: i64) -> Result<Option<Fate>> {
        let now = self.inner.now();
        let system = self.system();
        if piece != 0 {
            // Its first piece stands before it and was dealt with, unless the writer died before writing it.
            let age = now.millis() / 1000 - bucket * BUCKET_SECONDS;
            if system.load(id, bucket).await?.is_some() {
                return Ok(None);
            }
            if age <= TORN_SECONDS {
                return Ok(Some(Fate::Waiting));
            }
            let key = vec![Value::BigInt(bucket), Value::Uuid(id), Value::Int(piece)];
            system.plain(vec![Write::Delete { table: &PENDING, key }], self.inner.timestamp()).await?;
            return Ok(Some(Fate::Dropped));
        }
        let Some(pending) = system.load(id, bucket).await? else { return Ok(None) };
        if (now.millis() - pending.created_at.millis()) / 1000 < grace_seconds {
            return Ok(Some(Fate::Waiting));
        }
        let store = Store { inner: self.inner.clone(), tenant: pending.tenant.clone() };
        let Some((table, partition)) = pending.guarded.clone() else {
            store.finish(&pending).await?;
            return Ok(Some(Fate::Finished));
        };
        for _ in 0..limits::CONTENTION_TRIES_MAX {
            let anchor = store.bookkeeping(table, &partition, false).await?;
            if anchor.is_open(id) {
                store.finish(&pending).await?;
                return Ok(Some(Fate::Finished));
            }
            // RACE: its writer may be asleep between storing these rows and applying the step. Moving the version makes
            // that step impossible; only then are the rows useless.
            let moved = store.apply_at(self.inner.new_id(), table, &partition, &anchor, Vec::new()).await?;
            if let Applied::Done(_) = moved {
                // Whoever finished the commit may have died before the last of its entries were gone.
                store.close_founded(&pending).await?;
                system.forget(&pending).await?;
                return Ok(Some(Fate::Dropped));
            }
        }
        Ok(Some(Fate::Waiting))
    }
}

enum Fate {
    Finished,
    Dropped,
    Waiting,
}

fn bucket_of(at: Timestamp) -> i64 {
    at.millis().div_euclid(1000 * BUCKET_SECONDS)
}

impl Pending {
    fn key(&self, piece: i32) -> Vec<Value> {
        vec![Value::BigInt(self.bucket), Value::Uuid(self.id), Value::Int(piece)]
    }

    /// Rows of the pending table. The first piece begins with what is needed to judge the commit.
    fn encode(&self) -> Vec<Vec<Value>> {
        let mut body = Vec::new();
        for write in self.writes.iter().flatten() {
            put_write(&mut body, write);
        }
        let pieces = body.len().div_ceil(limits::PENDING_PIECE_BYTES_MAX).max(1);
        let mut head = vec![FORMAT];
        put_bytes(&mut head, self.tenant.as_str().as_bytes());
        match &self.guarded {
            None => head.push(0),
            Some((table, partition)) => {
                head.push(1);
                put_bytes(&mut head, table.name.as_bytes());
                put_values(&mut head, partition);
            }
        }
        let numbers = [self.created_at.millis(), self.timestamp, pieces as i64, codec::fingerprint(&body) as i64];
        put_values(&mut head, &numbers.map(Value::BigInt));
        let mut chunks = body.chunks(limits::PENDING_PIECE_BYTES_MAX);
        (0..pieces)
            .map(|piece| {
                let mut bytes = if piece == 0 { std::mem::take(&mut head) } else { Vec::new() };
                bytes.extend_from_slice(chunks.next().unwrap_or_default());
                let mut row = self.key(piece as i32);
                row.push(Value::Blob(bytes));
                row
            })
            .collect()
    }

    /// None where the first piece is not there.
    fn decode(schema: &Schema, rows: &[Vec<Value>]) -> Result<Option<Pending>> {
        let corrupt = |e: &dyn std::fmt::Display| Error::corrupt(&PENDING.name, e);
        let Some([Value::BigInt(bucket), Value::Uuid(id), Value::Int(0), Value::Blob(first)]) =
            rows.first().map(|r| &r[..])
        else {
            return Ok(None);
        };
        let text = |e: codec::Malformed| corrupt(&e);
        let mut head = Reader::new(first);
        if head.byte().map_err(text)? != FORMAT {
            return Err(corrupt(&"an unknown format"));
        }
        let tenant = Tenant::stored(head.text().map_err(text)?)?;
        let guarded = match head.byte().map_err(text)? {
            0 => None,
            _ => Some((find(schema, head.text().map_err(text)?)?, head.values().map_err(text)?)),
        };
        let numbers = head.values().map_err(text)?;
        let [Value::BigInt(created), Value::BigInt(timestamp), Value::BigInt(pieces), Value::BigInt(sum)] = numbers[..]
        else {
            return Err(corrupt(&"a head of another shape"));
        };
        let mut body = head.rest().to_vec();
        for (i, row) in rows.iter().enumerate().skip(1) {
            match &row[..] {
                [_, _, Value::Int(piece), Value::Blob(more)] if *piece as usize == i => body.extend_from_slice(more),
                _ => break,
            }
        }
        let mut writes = None;
        if codec::fingerprint(&body) as i64 == sum {
            let (mut reader, mut found) = (Reader::new(&body), Vec::new());
            while !reader.is_empty() {
                found.push(take_write(schema, &mut reader)?);
            }
            writes = Some(found);
        }
        Ok(Some(Pending {
            id: *id,
            bucket: *bucket,
            tenant,
            guarded,
            created_at: Timestamp::from_millis(created),
            timestamp,
            pieces: pieces as i32,
            writes,
        }))
    }
}

fn find(schema: &Schema, name: &str) -> Result<&'static Table> {
    schema.find(name).ok_or_else(|| Error::corrupt(&PENDING.name, format!("table {name} is not in the schema")))
}

fn put_write(out: &mut Vec<u8>, write: &Write) {
    out.push(match write {
        Write::Put { .. } => 0,
        Write::Delete { .. } => 1,
        Write::DeleteRange { .. } => 2,
        Write::SetStatics { .. } => 3,
        Write::Found { .. } => 4,
    });
    put_bytes(out, write.table().name.as_bytes());
    match write {
        Write::Put { table, values, expires_at, .. } => {
            put_named(out, table, values.iter().enumerate());
            put_value(out, &expires_at.map_or(Value::Null, Value::Timestamp));
        }
        Write::Delete { key, .. } => put_values(out, key),
        Write::DeleteRange { partition, prefix, bounds, .. } => {
            put_values(out, partition);
            put_values(out, prefix);
            for bound in [&bounds.0, &bounds.1] {
                let (tag, value) = match bound {
                    Bound::Unbounded => (0, &Value::Null),
                    Bound::Included(v) => (1, v),
                    Bound::Excluded(v) => (2, v),
                };
                out.push(tag);
                put_value(out, value);
            }
        }
        Write::SetStatics { partition, cells, .. } => {
            put_values(out, partition);
            put_named(out, write.table(), cells.iter().map(|(position, value)| (*position, value)));
        }
        Write::Found { partition, writes, .. } => {
            put_values(out, partition);
            put_length(out, writes.len());
            for write in writes {
                put_write(out, write);
                // Only rows of a base table have indexes, and no other write of an outbox is one.
                let indexes = if let Write::Put { indexes, .. } = write { &indexes[..] } else { &[] };
                put_length(out, indexes.len());
                for index in indexes {
                    put_bytes(out, index.table.name.as_bytes());
                    put_named(out, index.table, index.values.iter().enumerate());
                }
            }
        }
    }
}

fn take_write(schema: &Schema, reader: &mut Reader<'_>) -> Result<Write> {
    let text = |e: codec::Malformed| Error::corrupt(&PENDING.name, e);
    let kind = reader.byte().map_err(text)?;
    let table = find(schema, reader.text().map_err(text)?)?;
    Ok(match kind {
        0 => {
            let values = take_row(reader, table)?;
            let expires_at = match reader.value().map_err(text)? {
                Value::Timestamp(t) => Some(t),
                _ => None,
            };
            Write::Put { table, values: values.into(), expires_at, indexes: Vec::new() }
        }
        1 => Write::Delete { table, key: reader.values().map_err(text)? },
        2 => {
            let (partition, prefix) = (reader.values().map_err(text)?, reader.values().map_err(text)?);
            let mut bound = || -> Result<Bound<Value>> {
                let tag = reader.byte().map_err(text)?;
                let value = reader.value().map_err(text)?;
                Ok(match tag {
                    0 => Bound::Unbounded,
                    1 => Bound::Included(value),
                    _ => Bound::Excluded(value),
                })
            };
            let bounds = Box::new((bound()?, bound()?));
            Write::DeleteRange { table, partition, prefix, bounds }
        }
        3 => {
            let partition = reader.values().map_err(text)?;
            Write::SetStatics { table, partition, cells: take_named(reader, table)? }
        }
        4 => {
            let partition = reader.values().map_err(text)?;
            let mut writes = Vec::new();
            for _ in 0..reader.length().map_err(text)? {
                let mut write = take_write(schema, reader)?;
                for _ in 0..reader.length().map_err(text)? {
                    let table = find(schema, reader.text().map_err(text)?)?;
                    let values = take_row(reader, table)?;
                    if let Write::Put { indexes, .. } = &mut write {
                        indexes.push(IndexRow { table, values });
                    }
                }
                writes.push(write);
            }
            Write::Found { table, partition, writes }
        }
        _ => return Err(Error::corrupt(&PENDING.name, "an unknown kind of write")),
    })
}

/// Cells by the names of their columns: a declaration may gain columns while a commit is pending.
fn put_named<'v>(out: &mut Vec<u8>, table: &Table, cells: impl Iterator<Item = (usize, &'v Value)>) {
    let cells: Vec<_> = cells.collect();
    put_length(out, cells.len());
    for (position, value) in cells {
        put_bytes(out, table.columns[position].name.as_bytes());
        put_value(out, value);
    }
}

fn take_row(reader: &mut Reader<'_>, table: &Table) -> Result<Vec<Value>> {
    let mut values = vec![Value::Null; table.columns.len()];
    for (position, value) in take_named(reader, table)? {
        values[position] = value;
    }
    Ok(values)
}

fn take_named(reader: &mut Reader<'_>, table: &Table) -> Result<Vec<(usize, Value)>> {
    let text = |e: codec::Malformed| Error::corrupt(&PENDING.name, e);
    let mut cells = Vec::new();
    for _ in 0..reader.length().map_err(text)? {
        let position = table.position(reader.text().map_err(text)?);
        let value = reader.value().map_err(text)?;
        // A column that is no longer declared is no longer written.
        cells.extend(position.map(|position| (position, value)));
    }
    Ok(cells)
}
