//! What the whole graph says about each: every pair is read once, the figures are made in memory on all cores, and stored for each
//! person. Two who have a connection of any type that is not hidden are neighbours; which way it leads and how strong it is does
//! not matter.
//!
//! Memory: sixteen bytes an edge and some fifty a person while it is read, and as much again for the figures; of more than
//! `figures::limits` let in, none are made.

use std::{collections::HashSet, ops::ControlFlow, sync::Arc};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use widerow::{Commit, Timestamp};

use crate::{
    context::Context,
    graph::{
        error::{Error, Result},
        figures::{self, Builder, Figures, Network, Shape, Sources},
        tables::{Community, Metrics, Pair, SHELF, Summary},
    },
    id::UserId,
    limits,
};

/// Rows of one commit, and commits side by side.
const ROWS: usize = 100;
const COMMITS_AT_ONCE: usize = 8;
/// Pairs after which it is told how many were read.
const TOLD_EVERY: u64 = 10_000;

/// How betweenness is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Betweenness {
    /// From everybody.
    #[default]
    Exact,
    /// From so many, at least two, whom chance chooses.
    Sampled(u32),
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Reading,
    Reckoning(figures::Figure),
    Storing,
}

/// How far an analysis is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Analysis {
    pub stage: Stage,
    pub done: u64,
    /// How many steps the stage has, where that is known.
    pub of: Option<u64>,
}

/// Is told how far an analysis is, from any thread, and ends it with `Break`.
pub type WatchAnalysis = Arc<dyn Fn(Analysis) -> ControlFlow<()> + Send + Sync>;

/// For whoever wants to wait for the end.
pub fn unwatched() -> WatchAnalysis {
    Arc::new(|_| ControlFlow::Continue(()))
}

impl Stage {
    pub fn name(self) -> &'static str {
        match self {
            Stage::Reading => "reading",
            Stage::Reckoning(figure) => figure.name(),
            Stage::Storing => "storing",
        }
    }
}

/// Makes the figures of everybody anew. Stopped while they are stored, some are of this analysis and some of the one before, which
/// `computed_at` tells.
pub async fn analyze(ctx: &Context, betweenness: Betweenness, watch: WatchAnalysis) -> Result<Summary> {
    let seed = u64::from_le_bytes(ctx.random());
    let network = read(ctx, &watch).await?;
    let sources = match betweenness {
        Betweenness::Exact => Sources::All,
        Betweenness::Sampled(count) => Sources::Sample { count, seed },
    };
    let settings = figures::Settings { sources, ..figures::Settings::default() };
    let seen = watch.clone();
    let reckoned = tokio::task::spawn_blocking(move || {
        let watch =
            |step: figures::Step| seen(Analysis { stage: Stage::Reckoning(step.figure), done: step.done, of: step.of });
        let figures = figures::figures(&network, &settings, &watch)?;
        Ok::<_, figures::Error>((network, figures))
    });
    let (network, figures) = reckoned.await.map_err(|_| Error::Stopped)??;
    let sampled = match betweenness {
        Betweenness::Sampled(count) if (count as usize) < network.len() => Some(i64::from(count)),
        _ => None,
    };
    let summary = Summary {
        people: network.len() as i64,
        edges: network.edges() as i64,
        components: figures.component.iter().max().map_or(0, |last| i64::from(*last) + 1),
        communities: figures.communities.sizes.len() as i64,
        modularity: figures.communities.modularity,
        sampled,
        computed_at: ctx.now(),
    };
    store(ctx, &network, &figures, summary.computed_at, &watch).await?;
    replace_communities(ctx, &network, &figures, &summary).await?;
    forget_older(ctx, &network, summary.computed_at).await?;
    Ok(summary)
}

fn tell(watch: &WatchAnalysis, stage: Stage, done: u64, of: Option<u64>) -> Result<()> {
    match watch(Analysis { stage, done, of }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Stopped),
    }
}

async fn read(ctx: &Context, watch: &WatchAnalysis) -> Result<Network<UserId>> {
    let mut builder = Builder::new(Shape::Undirected);
    let (mut pairs, mut refused): (u64, Result<()>) = (0, Ok(()));
    ctx.for_each_row::<Pair>(|pair| {
        if refused.is_ok() && !pair.ties.is_empty() && !pair.is_hidden() {
            pairs += 1;
            refused = builder.edge(pair.low_user_id, pair.high_user_id).map_err(Error::from);
            if refused.is_ok() && pairs.is_multiple_of(TOLD_EVERY) {
                refused = tell(watch, Stage::Reading, pairs, None);
            }
        }
    })
    .await?;
    refused?;
    tell(watch, Stage::Reading, pairs, Some(pairs))?;
    Ok(builder.build()?)
}

async fn store(
    ctx: &Context,
    network: &Network<UserId>,
    figures: &Figures,
    computed_at: Timestamp,
    watch: &WatchAnalysis,
) -> Result<()> {
    let people = network.ids().len() as u64;
    let row = |(i, user_id): (usize, &UserId)| Metrics {
        user_id: *user_id,
        degree: figures.degree[i],
        clustering: figures.clustering[i],
        betweenness: figures.betweenness[i],
        pagerank: figures.pagerank[i],
        component: figures.component[i],
        community: figures.communities.of[i],
        computed_at,
    };
    // By places and not by slices: a future that is given a reference of any lifetime cannot be sent to another thread.
    let commits = (0..network.len()).step_by(ROWS).map(|from| {
        let to = network.len().min(from + ROWS);
        let numbered = (from..to).map(|i| row((i, &network.ids()[i])));
        let commit = numbered.fold(Commit::new(), |commit, row| commit.put(&row));
        async move {
            ctx.store.commit(commit).await?;
            Ok::<u64, Error>((to - from) as u64)
        }
    });
    let mut stored = 0;
    let mut commits = stream::iter(commits).buffer_unordered(COMMITS_AT_ONCE);
    while let Some(some) = commits.try_next().await? {
        stored += some;
        tell(watch, Stage::Storing, stored, Some(people))?;
    }
    Ok(())
}

async fn replace_communities(
    ctx: &Context,
    network: &Network<UserId>,
    figures: &Figures,
    summary: &Summary,
) -> Result<()> {
    let sizes = figures.communities.sizes.iter().take(limits::COMMUNITIES_LISTED_MAX);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); sizes.len()];
    for (i, community) in figures.communities.of.iter().enumerate() {
        if let Some(members) = members.get_mut(*community as usize) {
            members.push(i);
        }
    }
    let rows: Vec<Community> = sizes
        .zip(&mut members)
        .enumerate()
        .map(|(community, (people, members))| {
            members.sort_by(|a, b| figures.pagerank[*b].total_cmp(&figures.pagerank[*a]).then(a.cmp(b)));
            let leaders = members.iter().take(limits::COMMUNITY_LEADERS_MAX).map(|i| network.ids()[*i]);
            Community {
                shelf: SHELF,
                community: community as u32,
                summary: None,
                people: *people,
                leaders: leaders.collect(),
            }
        })
        .collect();
    ctx.store
        .guarded::<Community, (), Error>(SHELF, |found| {
            let gone = found.rows.iter().filter(|row| row.community as usize >= rows.len());
            let commit = gone.fold(Commit::new(), |commit, row| commit.delete::<Community>((SHELF, row.community)));
            let commit = rows.iter().fold(commit, |commit, row| commit.put(row));
            Ok((commit.set_static::<Community, _>(SHELF, Community::SUMMARY, &Some(summary.clone())), ()))
        })
        .await
}

/// What earlier analyses found of people who are in the graph no more.
///
/// RACE: another may be made at the same time, and know people who came since: what a later one found stays.
async fn forget_older(ctx: &Context, network: &Network<UserId>, computed_at: Timestamp) -> Result<()> {
    let mut gone: HashSet<UserId> = HashSet::new();
    ctx.for_each_row::<Metrics>(|row| {
        if row.computed_at < computed_at && network.index(row.user_id).is_none() {
            gone.insert(row.user_id);
        }
    })
    .await?;
    let gone: Vec<UserId> = gone.into_iter().collect();
    for some in gone.chunks(ROWS) {
        let commit = some.iter().fold(Commit::new(), |commit, user| commit.delete::<Metrics>(*user));
        ctx.store.commit(commit).await?;
    }
    Ok(())
}

/// G7. What the last analysis says of somebody; None where it did not know them.
pub async fn find_metrics(ctx: &Context, user: UserId) -> Result<Option<Metrics>> {
    Ok(ctx.store.get::<Metrics>(user).await?)
}

/// G8. The communities of the last analysis, the largest first, and what it says of the whole; None before the first.
pub async fn list_communities(ctx: &Context) -> Result<(Option<Summary>, Vec<Community>)> {
    let page = ctx.store.slice::<Community>(SHELF).limit(limits::COMMUNITIES_LISTED_MAX).page().await?;
    Ok((page.statics.get(Community::SUMMARY)?.flatten(), page.rows))
}
