//! `merkato events`: the read models that follow the feed of events.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use clap::{Args, Subcommand};
use merkato::{
    Context,
    events::{self, ProjectionStatus},
};
use serde_json::json;

use super::{
    Global, exit,
    open::{Opened, TenantChoice},
    output,
    progress::Progress,
    serve,
};

/// Events: the read models that follow them, made anew.
#[derive(Args)]
pub struct EventsCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// The read models, and how far behind the feed they are
    #[command(after_help = "Example:\n  merkato events projections --json")]
    Projections {
        #[command(flatten)]
        tenant: TenantChoice,
    },
    /// Make a read model anew from the first event on, beside the rows that serve until it is done
    #[command(after_help = "Examples:
  merkato events rebuild-projection event_types
  merkato events rebuild-projection event_types --tenant outfitter --json

It can be stopped at any time and run beside servers: they, or the next run, go on where it was.

Exit codes: 0 the new rows serve; 1 failed; 2 there is no such projection.")]
    RebuildProjection {
        /// As `merkato events projections` names it
        name: String,
        #[command(flatten)]
        tenant: TenantChoice,
    },
}

impl EventsCommand {
    pub async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::ready(global).await?;
        match self.what {
            What::Projections { tenant } => {
                let ctx = opened.context(&tenant)?;
                tell(global, &events::list_projections(&ctx).await?)
            }
            What::RebuildProjection { name, tenant } => rebuild(global, &opened.context(&tenant)?, &name).await,
        }
    }
}

async fn rebuild(global: &Global, ctx: &Context, name: &str) -> anyhow::Result<()> {
    match events::rebuild_projection(ctx, name).await {
        Err(error @ events::Error::ProjectionNotFound { .. }) => return Err(exit::usage(error.to_string())),
        begun => begun?,
    }
    let stopped = Arc::new(AtomicBool::new(false));
    let signal = serve::stop_signal()?;
    let watching = tokio::spawn({
        let stopped = stopped.clone();
        async move {
            signal.await;
            stopped.store(true, Relaxed);
        }
    });
    let mut progress = Progress::new("events", None);
    let mut done = 0;
    events::sequence_all(ctx, |_| {}).await?;
    loop {
        let some = events::project(ctx, name).await?;
        done += some.events;
        progress.at(done);
        if !some.more || stopped.load(Relaxed) {
            break;
        }
    }
    drop(progress);
    watching.abort();
    let all = events::list_projections(ctx).await?;
    let status: Vec<ProjectionStatus> = all.into_iter().filter(|status| status.name == name).collect();
    tell(global, &status)?;
    if status.iter().any(|status| status.rebuild.is_some()) {
        eprintln!("stopped; a server or the next run goes on");
    }
    Ok(())
}

fn tell(global: &Global, all: &[ProjectionStatus]) -> anyhow::Result<()> {
    if global.json {
        let each = all.iter().map(|status| {
            let updated = status.updated_at.map(|at| at.to_string());
            let rebuild = status.rebuild.as_ref().map(|rebuild| json!({ "position": rebuild.position }));
            json!({
                "name": status.name, "position": status.position, "lag": status.lag,
                "generation": status.generation, "rebuild": rebuild, "updated_at": updated,
            })
        });
        return output::json(&json!({ "data": each.collect::<Vec<_>>() }));
    }
    let row = |status: &ProjectionStatus| {
        let anew = status.rebuild.as_ref().map_or(String::new(), |rebuild| format!("at {}", rebuild.position));
        let figures = [status.position, status.lag, status.generation].map(|figure| figure.to_string());
        [vec![status.name.clone()], figures.into(), vec![anew]].concat()
    };
    let rows: Vec<_> = all.iter().map(row).collect();
    output::table(&["projection", "position", "lag", "generation", "made anew"], &rows)
}
