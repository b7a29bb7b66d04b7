//! Snapshots are taken, behind the back of whoever appends.
//!
//! A stream that has passed a hundred events more is listed when these get their places; whoever comes folds it and leaves a
//! snapshot; of older ones a few stay. What is lost on the way, a row of the list or a snapshot, only costs time.

use futures::{StreamExt as _, stream};
use widerow::Commit;

use super::state::{Folding, find_snapshot};
use crate::{
    context::Context,
    events::{
        error::Result,
        tables::{DUE_SHARDS, Snapshot, SnapshotDue},
    },
    id::AggregateId,
    limits,
};

/// Streams that are folded side by side.
const AT_ONCE: usize = 4;
/// Streams of one part of the list that are read at once.
const PAGE: usize = 100;
/// Snapshots of a stream that are kept: more than one, as the newest may be broken, or left by another fold.
const KEPT: usize = 3;
/// Older ones that go with a new one. There is one, but where more were kept before.
const GONE_AT_ONCE: usize = 8;

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnapshotsTaken {
    pub taken: u64,
    /// Streams that could not be folded; the log says why.
    pub failed: u64,
    pub more: bool,
}

/// Takes the snapshots that are due, at most so many.
pub async fn take_snapshots(ctx: &Context, streams_max: usize) -> Result<SnapshotsTaken> {
    let mut report = SnapshotsTaken::default();
    let mut looked = 0;
    for shard in 0..DUE_SHARDS {
        loop {
            let page = ctx.store.slice::<SnapshotDue>(shard).limit(PAGE).page().await?;
            if page.rows.is_empty() {
                break;
            }
            if looked >= streams_max {
                return Ok(SnapshotsTaken { more: true, ..report });
            }
            looked += page.rows.len();
            let take = |due: SnapshotDue| async move {
                let taken = take_snapshot(ctx, due.aggregate_id).await;
                // Done or not, it is off the list: one that cannot be folded is tried again with its next hundred.
                let gone = ctx.store.commit(Commit::new().delete::<SnapshotDue>((shard, due.aggregate_id))).await;
                (due.aggregate_id, taken, gone)
            };
            let mut taken = stream::iter(page.rows).map(take).buffer_unordered(AT_ONCE);
            while let Some((aggregate, taken, gone)) = taken.next().await {
                match taken {
                    Ok(taken) => report.taken += u64::from(taken),
                    Err(error) => {
                        tracing::warn!(tenant = %ctx.store.tenant(), %aggregate, %error, "no snapshot was taken");
                        report.failed += 1;
                    }
                }
                gone?;
            }
            if page.next.is_none() {
                break;
            }
        }
    }
    Ok(report)
}

/// Leaves a snapshot of a stream at its last full hundred of events. Whether there is a new one.
pub async fn take_snapshot(ctx: &Context, aggregate: AggregateId) -> Result<bool> {
    let begin = find_snapshot(ctx, aggregate, i64::MAX).await?;
    let mut folding = begin.unwrap_or_else(|| Folding::new(aggregate));
    folding.go_on(ctx, i64::MAX).await?;
    Ok(keep(ctx, &folding).await)
}

/// Leaves a snapshot, if there is one to leave. That it could not be is told in the log and to nobody else.
pub(super) async fn keep(ctx: &Context, folding: &Folding) -> bool {
    let (Some((version, state)), Some(fold)) = (&folding.due, &folding.fold) else { return false };
    let row = Snapshot {
        aggregate_id: folding.replayed.aggregate_id,
        snapshot_version: *version,
        snapshot_timestamp: ctx.now(),
        aggregate_data: state.to_string(),
        events_count: *version,
        aggregate_kind: folding.replayed.kind.clone(),
        fold_version: fold.fold_version(),
    };
    let (aggregate, size) = (row.aggregate_id, row.aggregate_data.len());
    if size > limits::SNAPSHOT_BYTES_MAX {
        tracing::debug!(%aggregate, size, "the state is too large for a snapshot");
        return false;
    }
    match replace(ctx, &row).await {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!(%aggregate, %error, "a snapshot could not be kept");
            false
        }
    }
}

/// Writes a snapshot, and removes those that are too old to be of use.
async fn replace(ctx: &Context, new: &Snapshot) -> Result<()> {
    let aggregate = new.aggregate_id;
    let known = ctx.store.slice::<Snapshot>(aggregate).limit(KEPT + GONE_AT_ONCE).page().await?.rows;
    let others = known.iter().map(|row| row.snapshot_version).filter(|version| *version != new.snapshot_version);
    let gone = |commit: Commit, version| commit.delete::<Snapshot>((aggregate, version));
    ctx.store.commit(others.skip(KEPT - 1).fold(Commit::new().put(new), gone)).await?;
    Ok(())
}
