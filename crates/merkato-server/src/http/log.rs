//! Where the log goes: to standard error, as text for people or as JSON for programs.

use tracing_subscriber::{EnvFilter, util::TryInitError};

use super::settings::{LogFormat, LogSettings};

/// Why there is no log.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("log.filter: {0}")]
    Filter(#[from] tracing_subscriber::filter::ParseError),
    #[error(transparent)]
    Started(#[from] TryInitError),
}

/// Begins the log of this process.
pub fn start(settings: &LogSettings) -> Result<(), Error> {
    use tracing_subscriber::util::SubscriberInitExt as _;
    let filter = if settings.filter.is_empty() { "info" } else { &settings.filter };
    let log = tracing_subscriber::fmt().with_env_filter(EnvFilter::try_new(filter)?).with_writer(std::io::stderr);
    match settings.format {
        LogFormat::Text => log.with_target(false).finish().try_init()?,
        LogFormat::Json => log.json().flatten_event(true).finish().try_init()?,
    }
    Ok(())
}
