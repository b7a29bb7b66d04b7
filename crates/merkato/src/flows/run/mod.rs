//! Flows that outlive their process: the state is a row, every step can be made again, and what was stopped goes on.
//!
//! 1. A flow has one id, made from what it is about, so that beginning it again finds it. Under one id there is one request:
//!    another one is refused.
//! 2. A step changes something outside the flow, and changes it once however often it is made: by an id, or by a guard. So
//!    the state is written only where the flow takes a turn that it must remember, not after each step.
//! 3. Who runs a flow has it until `due_at`. Whoever finds it later may go on with it; the guard on its row lets one of
//!    them write. Two at once do no harm: all of their steps are steps.
//! 4. A flow that is not finished is due at some time, and listed under it, in the same commit.

mod sweep;
mod tables;

pub(crate) use sweep::Marks;
pub use sweep::{Resumed, resume_due};
pub(crate) use tables::tables;
pub use tables::{DueFlow, FlowKind, FlowRow, SweptUntil};

use serde::{Serialize, de::DeserializeOwned};
use widerow::{Commit, Joined, Joint, Timestamp, Version};

use super::error::{Error, Result};
use crate::{
    context::Context,
    id::FlowId,
    limits,
    pattern::{AccessPattern, ReadCost},
};

pub const PATTERNS: &[AccessPattern] = &[
    AccessPattern {
        name: "flow",
        question: "How far a flow has come",
        table: "flows",
        key: "flow_id = ?",
        cost: ReadCost::ROW,
    },
    AccessPattern {
        name: "flows due",
        question: "Flows that somebody should go on with",
        table: "flows_due",
        key: "due_hour = ? AND shard = ?",
        cost: ReadCost::PAGE,
    },
];

/// What a flow is and does.
pub trait Flow: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {
    const KIND: FlowKind;

    /// Seconds for which a finished one is the answer to whoever asks again; None for good. It must not be forgotten before what
    /// its steps have left under its id: begun anew, it would find that done which it has not done.
    fn memory(&self) -> Option<u32> {
        Some(limits::FLOW_MEMORY_SECONDS)
    }

    /// Goes on as far as it can.
    fn advance(&mut self, run: &mut Run<'_>) -> impl Future<Output = Result<Progress>> + Send;
}

/// How far a flow has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Finished,
    /// There is nothing to do until then.
    Wait(Timestamp),
}

/// When somebody is to go on with a flow, or that nobody is.
#[derive(Clone, Copy)]
enum When {
    Due(Timestamp),
    /// It is remembered for so many seconds; None for good.
    Over {
        memory: Option<u32>,
    },
}

/// The instant before or after a step has its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Moment {
    Before,
    After,
}

/// Where a flow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Point {
    pub flow: FlowKind,
    pub step: &'static str,
    pub moment: Moment,
}

/// Sees every step, and may stop a flow there as the end of its process would: nothing more is written.
pub trait Watch: Send + Sync + 'static {
    fn stops(&self, point: Point) -> bool;
}

/// Somebody who goes on with a flow.
pub struct Run<'c> {
    pub ctx: &'c Context,
    row: FlowRow,
    version: Option<Version>,
    /// Others may have run it before: what a step is about may be there already.
    pub resumed: bool,
}

/// What was found under a flow's id.
pub enum Begun<'c, F> {
    /// It is new, and the caller's to run.
    New(Run<'c>),
    /// Somebody has begun it before.
    Known(Known<F>),
}

/// A flow as it is stored.
#[derive(Clone, Debug)]
pub struct Known<F> {
    pub state: F,
    pub finished: bool,
    row: FlowRow,
    version: Option<Version>,
}

impl<F> Known<F> {
    /// Whether nobody has it at this time.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.row.due_at.is_some_and(|due| due <= now)
    }
}

/// The flow with this id, if there is one.
pub async fn find<F: Flow>(ctx: &Context, id: FlowId) -> Result<Option<Known<F>>> {
    let (row, version) = ctx.store.get_versioned::<FlowRow>(id).await?;
    let Some(row) = row.filter(|row| row.kind == F::KIND) else { return Ok(None) };
    let state = serde_json::from_str(&row.state)
        .map_err(|error| widerow::Error::corrupt("flows", format!("the state of {id}: {error}")))?;
    Ok(Some(Known { state, finished: row.due_at.is_none(), row, version }))
}

/// Begins a flow, unless it was begun before. Another request under its id is refused.
pub async fn begin<'c, F: Flow>(ctx: &'c Context, id: FlowId, fingerprint: &str, state: &F) -> Result<Begun<'c, F>> {
    let row = first_row(ctx, id, fingerprint, state).await?;
    match ctx.store.commit(Commit::new().absent::<FlowRow>(id).put(&row)).await {
        Ok(committed) => Ok(Begun::New(Run { ctx, row, version: committed.version, resumed: false })),
        Err(widerow::Error::Conflict(_)) => {
            let known = find::<F>(ctx, id).await?.ok_or(Error::FlowTaken { flow: id })?;
            known.must_be(fingerprint)?;
            Ok(Begun::Known(known))
        }
        Err(error) => Err(error.into()),
    }
}

/// The row of a flow that begins now.
async fn first_row<F: Flow>(ctx: &Context, id: FlowId, fingerprint: &str, state: &F) -> Result<FlowRow> {
    // ORDER: before the flow, so that no sweep can begin behind it.
    sweep::ensure_mark(ctx).await?;
    let now = ctx.now();
    Ok(FlowRow {
        flow_id: id,
        kind: F::KIND,
        fingerprint: fingerprint.to_owned(),
        state: encode(state)?,
        due_at: Some(now.plus_seconds(ctx.settings.flows.lease_seconds)),
        tries: 0,
        created_at: now,
        updated_at: now,
    })
}

/// Adds the beginning of a flow to a commit with other partitions, in which its first steps are made; None where it was begun
/// before. It has begun when `Run::begin_jointly` says so.
pub async fn join_begin<'c, F: Flow>(
    ctx: &'c Context,
    id: FlowId,
    fingerprint: &str,
    state: &F,
    joint: &mut Joint,
) -> Result<Option<Run<'c>>> {
    let row = first_row(ctx, id, fingerprint, state).await?;
    let opened = ctx.store.open::<FlowRow>(id, [()]).await?;
    if !opened.view.rows.is_empty() {
        return Ok(None);
    }
    joint.add(opened, Commit::new().put(&row));
    Ok(Some(Run { ctx, row, version: None, resumed: false }))
}

impl<F: Flow> Known<F> {
    pub fn must_be(&self, fingerprint: &str) -> Result<()> {
        if self.row.fingerprint == fingerprint { Ok(()) } else { Err(Error::OtherRequest { flow: self.row.flow_id }) }
    }

    /// Takes it over, if it is due.
    ///
    /// RACE: of two who do so, one finds the row as it was; the other is told that it runs.
    pub async fn resume(self, ctx: &Context) -> Result<(F, Run<'_>)> {
        let now = ctx.now();
        if !self.is_due(now) {
            return Err(Error::FlowRunning { flow: self.row.flow_id });
        }
        let mut run = Run { ctx, row: self.row, version: self.version, resumed: true };
        run.row.tries = run.row.tries.saturating_add(1);
        run.write(When::Due(now.plus_seconds(ctx.settings.flows.lease_seconds))).await?;
        Ok((self.state, run))
    }
}

impl Run<'_> {
    pub fn id(&self) -> FlowId {
        self.row.flow_id
    }

    /// When the flow was begun.
    pub fn created_at(&self) -> Timestamp {
        self.row.created_at
    }

    /// Makes the commit that `join_begin` was the first to be added to, as a step: what it left in the partitions that were added
    /// behind; None where nothing was written.
    pub async fn begin_jointly(
        &mut self,
        step: &'static str,
        joint: Joint,
    ) -> Result<Option<impl Iterator<Item = Joined> + use<>>> {
        let left = self.step(step, async { Ok(self.ctx.store.commit_jointly(joint).await?) }).await?;
        let Some(mut left) = left.map(Vec::into_iter) else { return Ok(None) };
        self.version = left.next().map(|own| own.version);
        Ok(Some(left))
    }

    /// Makes a step. Its effect is one that can be made again.
    // Not an async function, and boxed: a flow with all its steps in it would be moved as a whole again and again, each of
    // its steps twice in it, as an argument and where it runs.
    pub fn step<'s, T: Send + 's>(
        &'s self,
        step: &'static str,
        effect: impl Future<Output = Result<T>> + Send + 's,
    ) -> impl Future<Output = Result<T>> + Send + 's {
        let effect = Box::pin(effect);
        async move {
            self.pass(step, Moment::Before)?;
            let done = effect.await?;
            self.pass(step, Moment::After)?;
            Ok(done)
        }
    }

    fn pass(&self, step: &'static str, moment: Moment) -> Result<()> {
        let point = Point { flow: self.row.kind, step, moment };
        match self.ctx.watch() {
            Some(watch) if watch.stops(point) => Err(Error::Stopped { step }),
            _ => Ok(()),
        }
    }

    /// Remembers a turn. Where another has gone on with the flow, nothing is written.
    pub async fn save<F: Flow>(&mut self, state: &F) -> Result<()> {
        self.row.state = encode(state)?;
        let lease = self.ctx.now().plus_seconds(self.ctx.settings.flows.lease_seconds);
        self.save_until(When::Due(lease), "save").await
    }

    async fn save_until(&mut self, when: When, step: &'static str) -> Result<()> {
        self.pass(step, Moment::Before)?;
        self.write(when).await?;
        self.pass(step, Moment::After)
    }

    async fn write(&mut self, when: When) -> Result<()> {
        self.row.due_at = match when {
            When::Due(at) => Some(at),
            When::Over { .. } => None,
        };
        self.row.updated_at = self.ctx.now();
        let id = self.row.flow_id;
        let commit = Commit::new().unchanged::<FlowRow>(id, self.version);
        let commit = match when {
            When::Over { memory: Some(seconds) } => commit.put_for(&self.row, seconds),
            When::Due(_) | When::Over { memory: None } => commit.put(&self.row),
        };
        match self.ctx.store.commit(commit).await {
            Ok(committed) => {
                self.version = committed.version;
                Ok(())
            }
            Err(widerow::Error::Conflict(_)) => Err(Error::FlowRunning { flow: id }),
            Err(error) => Err(error.into()),
        }
    }

    /// Runs the flow as far as it goes, and writes down how far that was.
    pub async fn drive<F: Flow>(mut self, mut state: F) -> Result<F> {
        match state.advance(&mut self).await {
            Ok(progress) => {
                self.row.state = encode(&state)?;
                match progress {
                    Progress::Finished => self.save_until(When::Over { memory: state.memory() }, "finish").await?,
                    Progress::Wait(until) => self.save_until(When::Due(until), "wait").await?,
                }
                Ok(state)
            }
            // As when the process ends: nothing more is written.
            Err(error @ (Error::Stopped { .. } | Error::FlowRunning { .. })) => Err(error),
            Err(error) => {
                // Somebody else may go on sooner than at the end of the lease. What the state remembers is what was saved.
                let pause = 1_i64 << self.row.tries.min(9);
                if let Err(second) = self.write(When::Due(self.ctx.now().plus_seconds(pause))).await {
                    tracing::debug!(flow = %self.row.flow_id, %second, "the flow keeps its lease");
                }
                Err(error)
            }
        }
    }
}

fn encode<F: Flow>(state: &F) -> Result<String> {
    serde_json::to_string(state)
        .map_err(|error| widerow::Error::invalid("state", format!("it cannot be written down: {error}")).into())
}
