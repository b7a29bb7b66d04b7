//! Read models follow the feed.
//!
//! 1. How far a projection is and what it wrote change in one commit, at the version of its row at which it read what it
//!    wrote before: each event has its effect once, whoever else runs the same projection.
//! 2. It is made anew beside the rows that serve, under another generation, as far as they are; then it serves, and the old
//!    rows go. Stopped anywhere, it goes on there.

use widerow::{Commit, Error as DataError, Partition, Timestamp, Version};

use super::feed::{FeedEvent, feed_from, feed_position};
use crate::{
    context::Context,
    events::{
        error::{Error, Result},
        registry::Projection,
        tables::{Checkpoint, Event, Rebuild},
    },
};

/// Events that are read at once, whatever a projection says.
const EVENTS_A_COMMIT_MAX: usize = 1_000;
/// Commits of one call, for one projection.
const COMMITS_MAX: usize = 1_000;

/// How far a projection is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectionStatus {
    pub name: String,
    pub generation: i64,
    pub position: i64,
    /// Events that it does not know yet.
    pub lag: i64,
    pub rebuild: Option<Rebuild>,
    pub updated_at: Option<Timestamp>,
}

/// What a run of a projection did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Projected {
    /// Events that had their effect now, on rows that serve or will serve.
    pub events: u64,
    /// Whether rows that were made anew serve now.
    pub switched: bool,
    /// Whether there is more to be done at once.
    pub more: bool,
}

/// The rows that serve; None before the projection was ever run.
pub async fn generation_of(ctx: &Context, name: &str) -> Result<Option<i64>> {
    Ok(ctx.store.get::<Checkpoint>(name.to_owned()).await?.map(|checkpoint| checkpoint.generation))
}

/// Every projection that this process knows, with how far behind the feed it is.
pub async fn list_projections(ctx: &Context) -> Result<Vec<ProjectionStatus>> {
    let head = feed_position(ctx).await?;
    let names: Vec<String> = ctx.events.registry.projections().iter().map(|p| p.name().to_owned()).collect();
    let rows = ctx.store.get_many::<Checkpoint>(names.clone()).await?;
    let status = |(name, row): (String, Option<Checkpoint>)| {
        let updated_at = row.as_ref().map(|row| row.updated_at);
        let row = row.unwrap_or_else(|| Checkpoint::new(&name));
        let (generation, position, rebuild) = (row.generation, row.position, row.rebuild);
        ProjectionStatus { name, generation, position, lag: (head - position).max(0), rebuild, updated_at }
    };
    Ok(names.into_iter().zip(rows).map(status).collect())
}

/// Has a projection made anew from the first event on. Where it is being made anew already, it goes on.
pub async fn rebuild_projection(ctx: &Context, name: &str) -> Result<()> {
    find(ctx, name)?;
    ctx.store
        .update::<Checkpoint, Error>(name.to_owned(), None, |old| {
            let mut row = old.unwrap_or_else(|| Checkpoint::new(name));
            if row.rebuild.is_none() {
                let generation = row.leftovers.iter().copied().chain([row.generation]).max().unwrap_or(0) + 1;
                row.rebuild = Some(Rebuild { generation, position: 0, begun_at: ctx.now() });
            }
            Ok(Some(row))
        })
        .await?;
    Ok(())
}

/// Lets every projection follow the feed. One that fails stops no other: its error is logged, and told at the end.
pub async fn project_all(ctx: &Context) -> Result<Projected> {
    let (mut all, mut failed) = (Projected::default(), None);
    for projection in ctx.events.registry.projections().to_vec() {
        match project(ctx, projection.name()).await {
            Ok(one) => {
                all.events += one.events;
                all.switched |= one.switched;
                all.more |= one.more;
            }
            Err(error) => {
                tracing::warn!(tenant = %ctx.store.tenant(), projection = projection.name(), %error, "a projection stands still");
                failed = Some(error);
            }
        }
    }
    failed.map_or(Ok(all), Err)
}

/// Lets a projection follow the feed to its end, and go on with being made anew. It may be stopped at any point, and run in
/// any number of processes.
pub async fn project(ctx: &Context, name: &str) -> Result<Projected> {
    let projection = find(ctx, name)?;
    let mut done = Projected::default();
    for _ in 0..COMMITS_MAX {
        match step(ctx, &*projection).await? {
            Step::Applied(events) => done.events += events,
            Step::Switched => done.switched = true,
            Step::Again => tokio::task::yield_now().await,
            Step::End => return Ok(done),
        }
    }
    done.more = true;
    Ok(done)
}

fn find(ctx: &Context, name: &str) -> Result<std::sync::Arc<dyn Projection>> {
    let known = ctx.events.registry.find_projection(name).cloned();
    known.ok_or_else(|| Error::ProjectionNotFound { name: name.to_owned() })
}

enum Step {
    Applied(u64),
    Switched,
    /// Another was quicker, or rows were removed.
    Again,
    End,
}

async fn step(ctx: &Context, projection: &dyn Projection) -> Result<Step> {
    let name = projection.name();
    // ORDER: the checkpoint first, by a read that finishes earlier commits on it; then the projection's own rows; then the
    // commit at the version of that read.
    let read = |found: &Partition<Checkpoint>| Ok((Commit::new(), (found.rows.first().cloned(), found.version)));
    let (row, version) = ctx.store.guarded::<Checkpoint, _, Error>(name.to_owned(), read).await?;
    let row = row.unwrap_or_else(|| Checkpoint::new(name));
    let limit = projection.events_a_commit().clamp(1, EVENTS_A_COMMIT_MAX);

    let events = feed_from(ctx, row.position, limit).await?;
    if !events.is_empty() {
        let next = |position| Checkpoint { position, ..row.clone() };
        return apply(ctx, projection, version, row.generation, &events, next).await;
    }
    if let Some(rebuild) = &row.rebuild {
        let events = if rebuild.position < row.position {
            let mut events = feed_from(ctx, rebuild.position, limit).await?;
            events.retain(|event| event.position <= row.position);
            events
        } else {
            Vec::new()
        };
        if events.is_empty() {
            return switch(ctx, &row, version).await;
        }
        let next = |position| Checkpoint { rebuild: Some(Rebuild { position, ..rebuild.clone() }), ..row.clone() };
        return apply(ctx, projection, version, rebuild.generation, &events, next).await;
    }
    if let Some(old) = row.leftovers.first().copied() {
        if projection.clear(ctx, old).await? {
            let leftovers = row.leftovers.iter().copied().filter(|generation| *generation != old).collect();
            commit(ctx, version, Commit::new(), Checkpoint { leftovers, ..row }).await?;
        }
        return Ok(Step::Again);
    }
    Ok(Step::End)
}

async fn apply(
    ctx: &Context,
    projection: &dyn Projection,
    version: Option<Version>,
    generation: i64,
    events: &[FeedEvent],
    next: impl FnOnce(i64) -> Checkpoint,
) -> Result<Step> {
    let Some(last) = events.last().map(|event| event.position) else { return Ok(Step::End) };
    let rows: Vec<Event> = events.iter().map(|event| event.event.clone()).collect();
    let writes = projection.apply(ctx, generation, &rows, Commit::new()).await?;
    let made = commit(ctx, version, writes, next(last)).await?;
    Ok(if made { Step::Applied(events.len() as u64) } else { Step::Again })
}

/// The rows that were made anew serve, as they know what the others know.
async fn switch(ctx: &Context, row: &Checkpoint, version: Option<Version>) -> Result<Step> {
    let Some(rebuild) = &row.rebuild else { return Ok(Step::Again) };
    let leftovers = row.leftovers.iter().copied().chain([row.generation]).collect();
    let (generation, position) = (rebuild.generation, rebuild.position);
    let next = Checkpoint { generation, position, rebuild: None, leftovers, ..row.clone() };
    Ok(if commit(ctx, version, Commit::new(), next).await? { Step::Switched } else { Step::Again })
}

/// Whether it was made: not where another was quicker.
async fn commit(ctx: &Context, version: Option<Version>, writes: Commit, row: Checkpoint) -> Result<bool> {
    let row = Checkpoint { updated_at: ctx.now(), ..row };
    let commit = writes.put(&row).unchanged::<Checkpoint>(row.name.clone(), version);
    match ctx.store.commit(commit).await {
        Ok(_) => Ok(true),
        Err(DataError::Conflict(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

impl Checkpoint {
    fn new(name: &str) -> Self {
        let (name, leftovers, updated_at) = (name.to_owned(), Vec::new(), Timestamp::MIN);
        Checkpoint { name, generation: 1, position: 0, rebuild: None, leftovers, updated_at }
    }
}
