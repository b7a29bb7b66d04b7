//! `merkato rollup`: what the server does by itself with hours that are over.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use clap::Args;
use merkato::telemetry::{self, RollLimits, RollReport};
use serde_json::json;

use super::{
    Global, exit,
    open::{Opened, TenantChoice},
    output,
    progress::Progress,
    serve,
};

/// Hours of sensors between two looks at whether it should stop.
const HOURS_AT_A_TIME: u64 = 2_000;

/// Roll up measurements of hours that are over, which the server does every minute. It can be stopped at any time and run beside
/// servers: what is left is found by the next run.
#[derive(Args)]
#[command(after_help = "Examples:
  merkato rollup
  merkato rollup --tenant outfitter --json

On Cassandra and DynamoDB the rows of one write are seen one after the other. There, what came in less than half a minute ago is left
to a later run, and so is, for up to an hour, what was announced and is not seen: how much waits, and until when, is told.

Exit codes: 0 all is rolled up, or waits as it is told; 1 failed; 3 some days could not be, and are left to the next run.")]
pub struct Rollup {
    #[command(flatten)]
    tenant: TenantChoice,
}

impl Rollup {
    pub async fn run(self, global: &Global) -> anyhow::Result<()> {
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
        let mut progress = Progress::new("hours of sensors", None);
        let mut all = RollReport::default();
        loop {
            let before = all;
            let limits = RollLimits { hours_max: HOURS_AT_A_TIME };
            let report = telemetry::roll_up(&ctx, limits, |report| progress.at(before.hours + report.hours)).await?;
            all = sum(before, report);
            // Days that fail keep their marks: who goes on for ever finds them for ever.
            if !report.more || report.marks == 0 || stopped.load(Relaxed) {
                break;
            }
        }
        drop(progress);
        watching.abort();
        tell(global, &all)?;
        rest(&all, stopped.load(Relaxed)).into_iter().for_each(|line| eprintln!("{line}"));
        if all.failed > 0 { Err(exit::differences()) } else { Ok(()) }
    }
}

fn sum(a: RollReport, b: RollReport) -> RollReport {
    RollReport {
        marks: a.marks + b.marks,
        hours: a.hours + b.hours,
        changed: a.changed + b.changed,
        days: a.days + b.days,
        measurements: a.measurements + b.measurements,
        left_out: a.left_out + b.left_out,
        failed: a.failed + b.failed,
        // The last round has seen all that waits, and those before it the same.
        waiting: b.waiting,
        waits_until: b.waits_until,
        more: b.more,
    }
}

/// What is not done, in words: nobody is to think that all is well.
fn rest(report: &RollReport, stopped: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if report.more {
        lines.push(format!("{}; the next run goes on", if stopped { "stopped" } else { "there is more" }));
    }
    if let Some(until) = report.waits_until {
        let waiting = report.waiting;
        lines.push(format!("{waiting} marks of new measurements wait, until {until} at the latest: run it again then"));
    }
    lines
}

fn tell(global: &Global, report: &RollReport) -> anyhow::Result<()> {
    if global.json {
        return output::json(&json!({
            "hours": report.hours, "changed": report.changed, "days": report.days,
            "measurements": report.measurements, "left_out": report.left_out, "failed": report.failed,
            "marks": report.marks, "waiting": report.waiting,
            "waits_until": report.waits_until.map(|until| until.to_string()), "more": report.more,
        }));
    }
    let figures = [
        ("hours looked at", report.hours),
        ("hours changed", report.changed),
        ("days changed", report.days),
        ("measurements counted", report.measurements),
        ("measurements left out", report.left_out),
        ("days failed", report.failed),
        ("marks that wait", report.waiting),
    ];
    let rows: Vec<_> = figures.map(|(name, figure)| vec![name.to_owned(), figure.to_string()]).into();
    output::table(&["rolled up", ""], &rows)
}

#[cfg(test)]
mod tests {
    use widerow::Timestamp;

    use super::*;

    #[test]
    fn what_waits_is_told_with_its_time() {
        let done = RollReport { marks: 3, measurements: 12, ..RollReport::default() };
        assert!(rest(&done, false).is_empty() && rest(&done, true).is_empty());
        let until = Timestamp::from_millis(1_800_000_030_000);
        let young = RollReport { waiting: 2, waits_until: Some(until), ..done };
        let told = rest(&young, false);
        assert_eq!(
            told,
            ["2 marks of new measurements wait, until 2027-01-15T08:00:30.000Z at the latest: run it again then"]
        );
        // A later round has looked at the same marks again: they are not counted twice, and those that have gone not at all.
        assert_eq!(sum(young, young).waiting, 2);
        assert_eq!((sum(young, done).waiting, sum(young, done).waits_until), (0, None));
        let stopped = rest(&RollReport { more: true, ..young }, true);
        assert_eq!((stopped.len(), stopped[0].as_str()), (2, "stopped; the next run goes on"));
    }
}
