//! `merkato graph`: what the whole graph says about everybody, which the server finds out once a day.

use std::{
    ops::ControlFlow,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use clap::{Args, Subcommand};
use merkato::graph::{self, Analysis, Betweenness, Stage, Summary, WatchAnalysis};
use serde_json::json;

use super::{
    Global, exit,
    open::{Opened, TenantChoice},
    output,
    progress::Progress,
    serve,
};

/// What can be done with the graph of people.
#[derive(Args)]
pub struct GraphCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Find out for everybody: degree, clustering, betweenness, PageRank, component, community
    #[command(after_help = "Examples:
  merkato graph analyze
  merkato graph analyze --sample 500 --json

Betweenness is exact unless a sample is taken: its time grows with people times connections, on all cores. What it finds stands at
/v1/admin/graph/{user}/metrics and in the office. It can be stopped at any time, and run beside servers.")]
    Analyze(Analyze),
}

#[derive(Args)]
struct Analyze {
    /// Estimate betweenness from so many people, at least two, instead of from all
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(2..))]
    sample: Option<u32>,
    #[command(flatten)]
    tenant: TenantChoice,
}

impl GraphCommand {
    pub async fn run(self, global: &Global) -> anyhow::Result<()> {
        match self.what {
            What::Analyze(analyze) => analyze.run(global).await,
        }
    }
}

impl Analyze {
    async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::ready(global).await?;
        let ctx = opened.context(&self.tenant)?;
        let stopped = Arc::new(AtomicBool::new(false));
        let signal = serve::stop_signal()?;
        let watching = tokio::spawn({
            let stopped = stopped.clone();
            async move {
                signal.await;
                stopped.store(true, Relaxed);
            }
        });
        let betweenness = self.sample.map_or(Betweenness::Exact, Betweenness::Sampled);
        let found = graph::analyze(&ctx, betweenness, told(stopped)).await;
        watching.abort();
        match found {
            Ok(summary) => tell(global, &summary),
            Err(graph::Error::Stopped) => {
                Err(anyhow::anyhow!("stopped; what was stored of this analysis stays until the next one"))
            }
            Err(graph::Error::Figures(error)) => Err(exit::usage(error.to_string())),
            Err(error) => Err(error.into()),
        }
    }
}

/// One bar for each stage.
fn told(stopped: Arc<AtomicBool>) -> WatchAnalysis {
    let shown: Mutex<Option<(Stage, Progress)>> = Mutex::new(None);
    Arc::new(move |at: Analysis| {
        let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.as_ref().is_none_or(|(stage, _)| *stage != at.stage) {
            // ORDER: the bar of the stage before is cleared before the next one is drawn.
            *shown = None;
            *shown = Some((at.stage, Progress::new(counted(at.stage), at.of)));
        }
        if let Some((_, progress)) = shown.as_mut() {
            progress.at(at.done);
        }
        if stopped.load(Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
}

/// What the steps of a stage are.
fn counted(stage: Stage) -> &'static str {
    use graph::figures::Figure;
    match stage {
        Stage::Reading => "pairs read",
        Stage::Reckoning(Figure::PageRank) => "rounds of PageRank",
        Stage::Reckoning(Figure::Clustering) => "people, clustering",
        Stage::Reckoning(Figure::Communities) => "rounds of communities",
        Stage::Reckoning(Figure::Betweenness) => "people, betweenness",
        Stage::Storing => "people stored",
    }
}

fn tell(global: &Global, summary: &Summary) -> anyhow::Result<()> {
    if global.json {
        return output::json(&json!({
            "people": summary.people, "pairs": summary.edges, "components": summary.components,
            "communities": summary.communities, "modularity": summary.modularity, "sampled": summary.sampled,
            "computed_at": summary.computed_at.to_string(),
        }));
    }
    let from = summary.sampled.map_or("everybody".to_owned(), |sources| format!("a sample of {sources}"));
    let figures = [
        ("people", summary.people.to_string()),
        ("pairs who know each other", summary.edges.to_string()),
        ("components", summary.components.to_string()),
        ("communities", summary.communities.to_string()),
        ("modularity", format!("{:.4}", summary.modularity)),
        ("betweenness from", from),
    ];
    let rows: Vec<_> = figures.map(|(name, figure)| vec![name.to_owned(), figure]).into();
    output::table(&["analysed", ""], &rows)
}
