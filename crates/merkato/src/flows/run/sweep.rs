//! Goes on with flows that were stopped.

use std::{
    collections::HashSet,
    ops::Bound,
    sync::{Mutex, PoisonError},
};

use futures::future::try_join_all;
use widerow::Timestamp;

use super::{
    Flow, FlowKind,
    tables::{DueFlow, SHARDS, SweptUntil, hour_of},
};
use crate::{
    context::Context,
    flows::{
        checkout::Checkout,
        error::{Error, Result},
        reversal::Reversal,
        transfer::Transfer,
    },
    id::FlowId,
    limits,
};

/// What a sweep of flows did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resumed {
    /// Went on, to their end or to where they wait.
    pub resumed: usize,
    /// Were stopped again, and will be due again.
    pub failed: usize,
}

/// The name of the one row that says how far sweeps have come.
const MARK: &str = "flows";

/// The tenants of which this process knows that they have a mark.
#[derive(Default)]
pub(crate) struct Marks(Mutex<HashSet<String>>);

/// Sees to it that sweeps begin no later than now. Asked before a tenant's first flow in each process.
pub(super) async fn ensure_mark(ctx: &Context) -> Result<()> {
    let tenant = ctx.store.tenant().as_str();
    let known = || ctx.marks.0.lock().unwrap_or_else(PoisonError::into_inner);
    if known().contains(tenant) {
        return Ok(());
    }
    if ctx.store.get::<SweptUntil>(MARK.to_owned()).await?.is_none() {
        let first = SweptUntil { name: MARK.to_owned(), due_hour: hour_of(ctx.now()) - limits::FLOW_LATE_HOURS };
        ctx.store
            .update::<SweptUntil, Error>(MARK.to_owned(), None, |old| Ok(Some(old.unwrap_or(first.clone()))))
            .await?;
    }
    known().insert(tenant.to_owned());
    Ok(())
}

/// Goes on with every flow of the tenant that is due. Once a minute is enough.
///
/// An hour is left behind when it is past by more than clocks can differ and holds nothing: a flow that stays due is in its
/// hour until it is finished or due later.
pub async fn resume_due(ctx: &Context) -> Result<Resumed> {
    let now = ctx.now();
    let mut swept = Resumed::default();
    // Without a mark there never was a flow.
    let Some(mark) = ctx.store.get::<SweptUntil>(MARK.to_owned()).await? else { return Ok(swept) };
    let first = mark.due_hour;
    let settled = hour_of(now) - limits::FLOW_LATE_HOURS;
    let mut until = None;
    for hour in first..=hour_of(now) {
        let mut left = false;
        let shards = (0..SHARDS).map(|shard| resume_shard(ctx, hour, shard, now));
        for (of_shard, more) in try_join_all(shards).await? {
            swept.resumed += of_shard.resumed;
            swept.failed += of_shard.failed;
            left |= more;
        }
        if until.is_none() && (left || hour >= settled) {
            until = Some(hour);
        }
    }
    if let Some(until) = until.filter(|until| *until > first) {
        let name = MARK.to_owned();
        ctx.store
            .update::<SweptUntil, Error>(name.clone(), None, |old| {
                let known = old.map_or(until, |old| old.due_hour);
                Ok(Some(SweptUntil { name: name.clone(), due_hour: known.max(until) }))
            })
            .await?;
    }
    Ok(swept)
}

/// What was done, and whether flows of this hour are left.
async fn resume_shard(ctx: &Context, hour: i32, shard: i32, now: Timestamp) -> Result<(Resumed, bool)> {
    let mut swept = Resumed::default();
    let mut after = None;
    let mut left = false;
    loop {
        let slice = ctx.store.slice::<DueFlow>((hour, shard)).to(Bound::Included(now)).limit(limits::PAGE_ROWS_MAX);
        let page = slice.after(after).page().await?;
        for due in &page.rows {
            match resume(ctx, due.kind, due.flow_id).await {
                Ok(()) => swept.resumed += 1,
                // Another has it.
                Err(Error::FlowRunning { .. }) => left = true,
                Err(error) => {
                    tracing::warn!(flow = %due.flow_id, %error, "the flow did not go on");
                    swept.failed += 1;
                    left = true;
                }
            }
        }
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok((swept, left)),
        }
    }
}

async fn resume(ctx: &Context, kind: FlowKind, id: FlowId) -> Result<()> {
    match kind {
        FlowKind::Checkout => go_on::<Checkout>(ctx, id).await,
        FlowKind::Reversal => go_on::<Reversal>(ctx, id).await,
        FlowKind::Transfer => go_on::<Transfer>(ctx, id).await,
    }
}

async fn go_on<F: Flow>(ctx: &Context, id: FlowId) -> Result<()> {
    match super::find::<F>(ctx, id).await? {
        Some(known) if !known.finished => {
            let (state, run) = known.resume(ctx).await?;
            run.drive(state).await.map(drop)
        }
        // The list is a moment behind.
        _ => Ok(()),
    }
}
