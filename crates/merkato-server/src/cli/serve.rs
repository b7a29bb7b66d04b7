//! `merkato serve`: the server, as configured.

use std::{future::Future, sync::Arc};

use anyhow::Context as _;
use clap::Args;
use merkato::context::SystemChance;
use tokio::net::TcpListener;
use widerow::{Database, time::SystemClock};

use super::{Global, logs, open::Opened};
use crate::{
    config::Config,
    http::{self, App, mail},
    jobs::Jobs,
};

/// Serve the shops of `http.tenants` on the configured engine, until a signal to stop (Ctrl-C, SIGTERM): then no more
/// connections are taken, what runs is finished, and what was counted is written.
#[derive(Args)]
#[command(after_help = "Examples:
  merkato serve
  merkato serve --listen 0.0.0.0:80 --migrate
  MERKATO_ENGINE=cassandra MERKATO_CASSANDRA__NODES=10.0.0.1:9042,10.0.0.2:9042 merkato serve")]
pub struct Serve {
    /// Where to listen, over what is configured
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// Create the tables that are missing first
    #[arg(long)]
    migrate: bool,
}

impl Serve {
    pub async fn run(self, global: &Global) -> anyhow::Result<()> {
        let listen = self.listen.map(|listen| ("http.listen".to_owned(), listen));
        let config = global.load_with(listen.into_iter().collect())?.config;
        logs::start(&config.http.log)?;
        let opened = Opened::with(config).await?;
        if self.migrate {
            opened.database.migrate().await?;
        }
        opened.check().await?;
        let listener = bind(&opened.config).await?;
        let stop = stop_signal()?;
        tracing::info!(address = %listener.local_addr()?, engine = opened.database.engine().name(), "listening");
        until_stopped(&opened.database, &opened.config, listener, stop).await
    }
}

pub(super) async fn bind(config: &Config) -> anyhow::Result<TcpListener> {
    let listen = config.http.listen;
    TcpListener::bind(listen).await.with_context(|| format!("http.listen: {listen}"))
}

/// Serves, with the work in the background, until it is time to stop.
///
/// ORDER: requests end before the jobs do, so that what they counted is in the last flush.
pub(super) async fn until_stopped(
    database: &Database,
    config: &Config,
    listener: TcpListener,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let (clock, chance) = (Arc::new(SystemClock), Arc::new(SystemChance));
    let mailer = Arc::new(mail::Folder::new(&config.http, clock.clone(), chance.clone()));
    let app = App::new(database.clone(), config.shop.clone(), config.http.clone(), clock, chance, mailer)?;
    let jobs = Jobs::start(database, app.contexts()?, &config.jobs);
    let served = http::serve(app, listener, stop).await;
    tracing::info!("stopping");
    jobs.stop().await;
    Ok(served?)
}

/// Ctrl-C, or what a supervisor sends.
///
/// ORDER: it is listened for from here on, before anybody is told that the server listens: whoever is told may stop it.
#[cfg(unix)]
pub(super) fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
pub(super) fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        // Where it cannot be listened for, nobody can send it either.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
