//! What happens, told to standard error.

use tracing_subscriber::EnvFilter;

use super::exit;
use crate::config::{LogFormat, LogSettings};

/// Of a server: as configured. A second call changes nothing.
pub(super) fn start(settings: &LogSettings) -> anyhow::Result<()> {
    begin(settings, "info")
}

/// Of a command that ends: only what went wrong, unless more is configured.
pub(super) fn start_quiet(settings: &LogSettings) -> anyhow::Result<()> {
    begin(settings, "warn")
}

fn begin(settings: &LogSettings, default: &str) -> anyhow::Result<()> {
    let filter = if settings.filter.is_empty() { default } else { &settings.filter };
    let filter: EnvFilter =
        filter.parse().map_err(|error| exit::usage(format!("http.log.filter: {filter}: {error}")))?;
    let logs = tracing_subscriber::fmt().with_writer(std::io::stderr).with_env_filter(filter);
    let _ = match settings.format {
        LogFormat::Text => logs.with_target(false).try_init(),
        LogFormat::Json => logs.json().flatten_event(true).try_init(),
    };
    Ok(())
}
