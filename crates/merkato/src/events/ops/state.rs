//! What an aggregate is: the nearest snapshot, and the events behind it, folded.
//!
//! Snapshots only save time: one that is missing, broken, or left by another fold is passed over, and what comes out is what
//! comes out of all events.

use std::{ops::Bound, sync::Arc};

use serde_json::Value;

use super::{
    snapshots,
    stream::{last_version, read_forward},
};
use crate::{
    context::Context,
    events::{
        error::{Error, Result},
        registry::Aggregate,
        tables::{Event, Snapshot},
    },
    id::AggregateId,
    limits,
};

/// Events that are read at once. Each may have 64 KiB.
const PAGE: usize = 250;
/// Snapshots that are looked at before all events are folded instead.
const SNAPSHOTS_TRIED: usize = 4;
/// Events behind a snapshot after which whoever folds them leaves a newer one.
const TAIL_MAX: i64 = 3 * limits::EVENTS_A_SNAPSHOT;

/// An aggregate after some of its events.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    pub aggregate_id: AggregateId,
    pub kind: String,
    pub version: i64,
    pub state: Value,
    /// The version of the snapshot that it was made from; 0 without one.
    pub from_snapshot: i64,
}

/// The aggregate after all of its events.
pub async fn state_now(ctx: &Context, aggregate: AggregateId) -> Result<Replayed> {
    replay(ctx, aggregate, None, true).await
}

/// The aggregate after so many events.
pub async fn state_at(ctx: &Context, aggregate: AggregateId, version: i64) -> Result<Replayed> {
    replay(ctx, aggregate, Some(version), true).await
}

/// The same, from the first event on: what a snapshot must not change.
pub async fn state_from_scratch(ctx: &Context, aggregate: AggregateId, version: Option<i64>) -> Result<Replayed> {
    replay(ctx, aggregate, version, false).await
}

async fn replay(ctx: &Context, aggregate: AggregateId, to: Option<i64>, by_snapshot: bool) -> Result<Replayed> {
    let begin = if by_snapshot { find_snapshot(ctx, aggregate, to.unwrap_or(i64::MAX)).await? } else { None };
    let mut folding = begin.unwrap_or_else(|| Folding::new(aggregate));
    folding.go_on(ctx, to.unwrap_or(i64::MAX)).await?;
    let (version, from_snapshot) = (folding.replayed.version, folding.replayed.from_snapshot);
    if let Some(wanted) = to.filter(|wanted| *wanted != version || *wanted < 1) {
        let found = last_version(ctx, aggregate).await?;
        return Err(Error::VersionNotFound { aggregate, wanted, found });
    }
    if version == 0 {
        return Err(Error::StreamNotFound { aggregate });
    }
    if by_snapshot && to.is_none() && version - from_snapshot > TAIL_MAX {
        snapshots::keep(ctx, &folding).await;
    }
    Ok(folding.replayed)
}

/// An aggregate on its way through its events.
pub(super) struct Folding {
    pub replayed: Replayed,
    /// The last version whose number is one for a snapshot, with the state there.
    pub fold: Option<Arc<dyn Aggregate>>,
    pub due: Option<(i64, Value)>,
}

impl Folding {
    pub fn new(aggregate_id: AggregateId) -> Self {
        let (kind, state) = (String::new(), Value::Null);
        let replayed = Replayed { aggregate_id, kind, version: 0, state, from_snapshot: 0 };
        Folding { replayed, fold: None, due: None }
    }

    /// Folds events up to a version, or to the end.
    pub async fn go_on(&mut self, ctx: &Context, to: i64) -> Result<()> {
        loop {
            let from = self.replayed.version + 1;
            // A tail is short.
            let limit = if self.replayed.from_snapshot > 0 { 2 * limits::EVENTS_A_SNAPSHOT as usize } else { PAGE };
            let events = read_forward(ctx, self.replayed.aggregate_id, from, to, limit).await?;
            let count = events.len();
            for event in events {
                self.fold_one(ctx, event)?;
            }
            if count < limit {
                return Ok(());
            }
        }
    }

    fn fold_one(&mut self, ctx: &Context, event: Event) -> Result<()> {
        let (aggregate, version) = (event.aggregate_id, event.event_version);
        let unreadable = |problem| Error::Unreadable { aggregate, version, problem };
        if self.replayed.kind.is_empty() {
            self.replayed.kind = event.aggregate_kind.clone();
        }
        let fold = self.fold.get_or_insert_with(|| ctx.events.registry.aggregate_of(&self.replayed.kind).clone());
        let event = fold.upcast(event).map_err(unreadable)?;
        let state = std::mem::take(&mut self.replayed.state);
        self.replayed.state = fold.fold(state, &event).map_err(unreadable)?;
        self.replayed.version = version;
        if version % limits::EVENTS_A_SNAPSHOT == 0 {
            self.due = Some((version, self.replayed.state.clone()));
        }
        Ok(())
    }
}

/// The newest snapshot up to a version that can be used.
pub(super) async fn find_snapshot(ctx: &Context, aggregate: AggregateId, to: i64) -> Result<Option<Folding>> {
    let mut cursor = None;
    // Mostly the first is good: it alone is read, and then some more.
    for limit in [1, SNAPSHOTS_TRIED] {
        let slice = ctx.store.slice::<Snapshot>(aggregate).to(Bound::Included(to)).limit(limit);
        let page = slice.after(cursor.take()).page().await?;
        for row in page.rows {
            let fold = ctx.events.registry.aggregate_of(&row.aggregate_kind).clone();
            let state = serde_json::from_str(&row.aggregate_data);
            match state {
                Ok(state) if fold.fold_version() == row.fold_version && row.snapshot_version >= 1 => {
                    let (version, kind) = (row.snapshot_version, row.aggregate_kind);
                    let replayed = Replayed { aggregate_id: aggregate, kind, version, state, from_snapshot: version };
                    return Ok(Some(Folding { replayed, fold: Some(fold), due: None }));
                }
                Ok(_) => {}
                Err(error) => {
                    let version = row.snapshot_version;
                    tracing::warn!(%aggregate, version, %error, "a snapshot is broken and passed over");
                }
            }
        }
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    Ok(None)
}
