//! How a command ends: 0 done, 1 failed, 2 wrong usage or configuration, 3 differences were found.

use std::process::ExitCode;

/// What was asked for cannot be meant.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

/// It was looked, and something is not as it should be. All that is to be said was said.
#[derive(Debug, thiserror::Error)]
#[error("differences were found")]
struct Differences;

pub(super) fn usage(problem: impl Into<String>) -> anyhow::Error {
    Usage(problem.into()).into()
}

pub(super) fn differences() -> anyhow::Error {
    Differences.into()
}

pub(super) fn code(done: anyhow::Result<()>) -> ExitCode {
    let Err(error) = done else { return ExitCode::SUCCESS };
    if error.is::<Differences>() {
        return ExitCode::from(3);
    }
    // Whoever reads the answer has enough of it, as `head` has: no reason to complain.
    let is_closed = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    };
    if error.chain().any(is_closed) {
        return ExitCode::SUCCESS;
    }
    let texts: Vec<String> = error.chain().map(ToString::to_string).collect();
    let mut text = texts.first().cloned().unwrap_or_default();
    // A transparent error repeats what it wraps.
    texts
        .iter()
        .skip(1)
        .filter(|cause| !texts[0].contains(*cause))
        .for_each(|cause| text.push_str(&format!(": {cause}")));
    eprintln!("error: {text}");
    ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
}
