//! The work in the background of a server: what was stopped goes on, what has ended is cleared away, what was counted is written.
//!
//! 1. Each job has an interval of its own, made a little longer or shorter by chance, so that several processes do not all come
//!    at once. A run that takes longer than its limit is dropped; every job goes on where it was stopped.
//! 2. A run that fails is logged and tried again at the next turn.
//! 3. Stopping waits for the last flush of views, and for no more than a limit.

use std::{
    future::Future,
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use merkato::{
    Context, analytics, carts, catalog, events, flows,
    graph::{self, Betweenness},
    hierarchy,
    telemetry::{self, RollLimits},
};
use tokio::{sync::watch, task::JoinSet};
use widerow::{Database, store::Maintenance};

use crate::config::JobsConfig;

/// The longest that one run of a job for one tenant takes.
const RUN_TIME_MAX: Duration = Duration::from_secs(10 * 60);
/// The longest that stopping waits.
const STOP_TIME_MAX: Duration = Duration::from_secs(20);
/// From how many people betweenness is measured: of a graph with fewer it is exact, of a larger one an estimate that takes no
/// hours. `merkato graph analyze` measures from all.
const ANALYSIS_SOURCES: u32 = 2_000;
/// An interval is longer or shorter by at most this part of it.
const JITTER_PERCENT: u64 = 10;
/// Streams of which one run takes snapshots.
const SNAPSHOTS_A_RUN: usize = 10_000;

/// Jobs that run.
pub struct Jobs {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
    _maintenance: Maintenance,
}

impl Jobs {
    /// For the tenants of these contexts, which share one process's bounds and buffers (`Context::with_store`).
    pub fn start(database: &Database, contexts: Vec<Context>, config: &JobsConfig) -> Self {
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        if let Some(ctx) = contexts.first().cloned() {
            let every = Duration::from_secs(ctx.settings.analytics.views_flush_seconds.max(1));
            tasks.spawn(analytics::keep_flushing(ctx, every, until(stopped.clone())));
        }
        let contexts: Arc<[Context]> = contexts.into();
        let mut keep = |name, seconds, job: Job| {
            tasks.spawn(run(name, Duration::from_secs(seconds), contexts.clone(), job, stopped.clone()));
        };
        keep("flows", config.flows_seconds, |ctx| Box::pin(resume(ctx)));
        keep("stock", config.stock_seconds, |ctx| Box::pin(show_stock(ctx)));
        keep("carts", config.carts_seconds, |ctx| Box::pin(clear_carts(ctx)));
        keep("trees", config.trees_seconds, |ctx| Box::pin(finish_relocations(ctx)));
        keep("graph", config.graph_seconds, |ctx| Box::pin(count_connections(ctx)));
        keep("analysis", config.analysis_seconds, |ctx| Box::pin(analyze(ctx)));
        keep("ranking", config.ranking_seconds, |ctx| Box::pin(rank(ctx)));
        keep("sales", config.sales_seconds, |ctx| Box::pin(record_sales(ctx)));
        keep("rollup", config.rollup_seconds, |ctx| Box::pin(roll_up(ctx)));
        keep("sequence", config.sequence_seconds, |ctx| Box::pin(give_places(ctx)));
        keep("projections", config.projections_seconds, |ctx| Box::pin(project(ctx)));
        keep("snapshots", config.snapshots_seconds, |ctx| Box::pin(take_snapshots(ctx)));
        let maintenance = database.maintain(Duration::from_secs(config.maintain_seconds.max(1)));
        Jobs { stop, tasks, _maintenance: maintenance }
    }

    /// Ends them; what was seen and not yet written is written first.
    pub async fn stop(mut self) {
        let _ = self.stop.send(true);
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(STOP_TIME_MAX, ended).await.is_err() {
            tracing::warn!("some work in the background did not end in time and goes on at the next start");
        }
    }
}

async fn resume(ctx: &Context) -> anyhow::Result<()> {
    let swept = flows::run::resume_due(ctx).await?;
    if swept.resumed + swept.failed > 0 {
        tracing::info!(resumed = swept.resumed, failed = swept.failed, "checkouts that were stopped");
    }
    Ok(())
}

async fn show_stock(ctx: &Context) -> anyhow::Result<()> {
    let rows = flows::stock::sweep_stock(ctx).await?;
    tracing::debug!(rows, "stock of holds that have ended");
    Ok(())
}

async fn clear_carts(ctx: &Context) -> anyhow::Result<()> {
    let swept = carts::sweep(ctx).await?;
    tracing::debug!(deleted = swept.deleted, finished = swept.finished, "carts whose time is over");
    Ok(())
}

async fn finish_relocations(ctx: &Context) -> anyhow::Result<()> {
    let finished = hierarchy::finish_relocations(ctx).await?;
    if finished > 0 {
        tracing::info!(finished, "subtrees that were left half-way");
    }
    let followed = catalog::follow_categories(ctx, usize::MAX).await?;
    if followed.products > 0 {
        let (products, open) = (followed.products, followed.open);
        tracing::info!(products, open, "products looked at, of categories that were moved or renamed");
    }
    Ok(())
}

async fn count_connections(ctx: &Context) -> anyhow::Result<()> {
    let settled = graph::settle_counts(ctx).await?;
    if settled > 0 {
        tracing::info!(settled, "connections whose counting was left half-way");
    }
    Ok(())
}

/// Ends what a job has begun on another thread, when the job is dropped.
struct Ends(Arc<AtomicBool>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

async fn analyze(ctx: &Context) -> anyhow::Result<()> {
    let ends = Ends(Arc::default());
    let ended = ends.0.clone();
    let watch = move |_| if ended.load(Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let found = graph::analyze(ctx, Betweenness::Sampled(ANALYSIS_SOURCES), Arc::new(watch)).await?;
    tracing::info!(
        people = found.people,
        pairs = found.edges,
        communities = found.communities,
        "the graph is analysed"
    );
    Ok(())
}

async fn rank(ctx: &Context) -> anyhow::Result<()> {
    flows::sales::rank_products(ctx).await?;
    Ok(())
}

async fn record_sales(ctx: &Context) -> anyhow::Result<()> {
    let swept = flows::sale_records::follow_orders(ctx).await?;
    if swept.changed > 0 {
        let (orders, lines) = (swept.changed, swept.recorded);
        tracing::info!(orders, lines, removed = swept.removed, refused = swept.refused, "orders recorded as sales");
    }
    Ok(())
}

async fn roll_up(ctx: &Context) -> anyhow::Result<()> {
    let rolled = telemetry::roll_up(ctx, RollLimits::default(), |_| {}).await?;
    if rolled.hours > 0 {
        let (hours, measurements, failed) = (rolled.changed, rolled.measurements, rolled.failed);
        tracing::info!(hours, measurements, left_out = rolled.left_out, failed, "measurements rolled up");
    }
    Ok(())
}

async fn give_places(ctx: &Context) -> anyhow::Result<()> {
    loop {
        let given = events::sequence(ctx).await?;
        tracing::debug!(events = given.events, "events that have a place in the feed now");
        if !given.more {
            return Ok(());
        }
    }
}

async fn project(ctx: &Context) -> anyhow::Result<()> {
    loop {
        let done = events::project_all(ctx).await;
        // How far they are is told also where one of them stands still.
        events::look_at_projections(ctx).await?;
        let done = done?;
        if done.switched {
            tracing::info!(tenant = %ctx.store.tenant(), "a read model was made anew and serves now");
        }
        if !done.more {
            return Ok(());
        }
    }
}

async fn take_snapshots(ctx: &Context) -> anyhow::Result<()> {
    let taken = events::take_snapshots(ctx, SNAPSHOTS_A_RUN).await?;
    if taken.taken + taken.failed > 0 {
        tracing::info!(taken = taken.taken, failed = taken.failed, "snapshots of streams");
    }
    Ok(())
}

type Running<'c> = std::pin::Pin<Box<dyn Future<Output = anyhow::Result<()>> + Send + 'c>>;
type Job = for<'c> fn(&'c Context) -> Running<'c>;

async fn run(name: &'static str, every: Duration, contexts: Arc<[Context]>, job: Job, stopped: watch::Receiver<bool>) {
    let Some(first) = contexts.first() else { return };
    loop {
        tokio::select! {
            () = tokio::time::sleep(jittered(every, first)) => {}
            () = until(stopped.clone()) => return,
        }
        for ctx in contexts.iter() {
            let tenant = ctx.store.tenant();
            let ran = tokio::select! {
                ran = tokio::time::timeout(RUN_TIME_MAX, job(ctx)) => ran,
                // Every job can be dropped at any point: its next run finds what is left.
                () = until(stopped.clone()) => return,
            };
            match ran {
                Ok(Ok(())) => tracing::debug!(job = name, %tenant, "done"),
                Ok(Err(error)) => tracing::warn!(job = name, %tenant, %error, "failed, and will be tried again"),
                Err(_) => tracing::warn!(job = name, %tenant, "took too long, and will go on at its next turn"),
            }
        }
    }
}

async fn until(mut stopped: watch::Receiver<bool>) {
    // Whoever could say so is gone: that is a stop, too.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

fn jittered(every: Duration, ctx: &Context) -> Duration {
    let percent = 100 - JITTER_PERCENT + u64::from(ctx.random::<1>()[0]) * 2 * JITTER_PERCENT / 255;
    let millis = u64::try_from(every.as_millis()).unwrap_or(u64::MAX);
    Duration::from_millis((millis / 100).saturating_mul(percent).max(1))
}

#[cfg(test)]
mod tests {
    use merkato::{Settings, context::SystemChance, id::ProductId};
    use widerow::{embedded::Embedded, time::SystemClock};

    use super::*;

    #[tokio::test]
    async fn what_was_seen_is_written_before_the_stop() {
        let folder = tempfile::tempdir().expect("a folder");
        let schema = merkato::schema().expect("a schema");
        let database = Database::new(Embedded::open(folder.path(), &schema).expect("opened"), schema);
        database.migrate().await.expect("tables");
        let store = database.tenant("default").expect("a tenant");
        let ctx = Context::new(store, Settings::default(), Arc::new(SystemClock), Arc::new(SystemChance));
        let other = ctx.with_store(database.tenant("other").expect("a tenant"));
        let jobs = Jobs::start(&database, vec![ctx.clone(), other.clone()], &JobsConfig::default());
        let product = ProductId(ctx.new_id());
        let today = ctx.now().date();
        for shop in [&ctx, &other] {
            analytics::view_product(shop, product, b"ada").await.expect("counted");
        }
        jobs.stop().await;
        for shop in [&ctx, &other] {
            let seen = analytics::list_product_views(shop, product, today, ctx.now().date()).await.expect("read");
            assert_eq!(seen.iter().map(|day| day.view_count).sum::<i64>(), 1);
        }
    }

    #[test]
    fn an_interval_is_a_little_longer_or_shorter() {
        let folder = tempfile::tempdir().expect("a folder");
        let schema = merkato::schema().expect("a schema");
        let database = Database::new(Embedded::open(folder.path(), &schema).expect("opened"), schema);
        let store = database.tenant("default").expect("a tenant");
        let ctx = Context::new(store, Settings::default(), Arc::new(SystemClock), Arc::new(SystemChance));
        for _ in 0..1_000 {
            let every = jittered(Duration::from_secs(100), &ctx).as_secs_f64();
            assert!((90.0..=110.0).contains(&every), "{every}");
        }
    }
}
