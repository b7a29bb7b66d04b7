//! How many measurements were taken and rolled up by this process, of all tenants: for whoever watches it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{error::Error, ops::RollReport};
use crate::{context::Context, error::Kind};

/// What was counted since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TelemetryStats {
    pub stored: u64,
    /// Bad by themselves.
    pub refused: u64,
    /// Not stored, though good: the store could not be written to.
    pub failed: u64,
    /// Hours of sensors whose figures were made or made anew.
    pub hours: u64,
    /// Measurements in them that were counted for the first time.
    pub counted: u64,
    /// Measurements that were not, as their hour has more than are told apart.
    pub left_out: u64,
    /// Days of sensors that could not be rolled up at their turn.
    pub days_failed: u64,
}

/// The counters of a process.
#[derive(Debug, Default)]
pub(super) struct Tally {
    stored: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
    hours: AtomicU64,
    counted: AtomicU64,
    left_out: AtomicU64,
    days_failed: AtomicU64,
}

impl Tally {
    pub fn answered<T>(&self, answers: &[Result<T, Error>]) {
        let stored = answers.iter().filter(|answer| answer.is_ok()).count();
        let broken = |error: &Error| matches!(error.kind(), Kind::Unavailable | Kind::Conflict | Kind::Internal);
        let failed = answers.iter().filter(|answer| answer.as_ref().is_err_and(broken)).count();
        self.stored.fetch_add(stored as u64, Relaxed);
        self.failed.fetch_add(failed as u64, Relaxed);
        self.refused.fetch_add((answers.len() - stored - failed) as u64, Relaxed);
    }

    pub fn rolled(&self, report: &RollReport) {
        self.hours.fetch_add(report.changed, Relaxed);
        self.counted.fetch_add(report.measurements, Relaxed);
        self.left_out.fetch_add(report.left_out, Relaxed);
        self.days_failed.fetch_add(report.failed, Relaxed);
    }
}

pub fn stats(ctx: &Context) -> TelemetryStats {
    let tally = &ctx.telemetry.tally;
    let load = |cell: &AtomicU64| cell.load(Relaxed);
    TelemetryStats {
        stored: load(&tally.stored),
        refused: load(&tally.refused),
        failed: load(&tally.failed),
        hours: load(&tally.hours),
        counted: load(&tally.counted),
        left_out: load(&tally.left_out),
        days_failed: load(&tally.days_failed),
    }
}
