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

Exit codes: 0 all is rolled up; 1 failed; 3 some days could not be, and are left to the next run.")]
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
        if stopped.load(Relaxed) && all.more {
            eprintln!("stopped; the next run goes on");
        }
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
        more: b.more,
    }
}

fn tell(global: &Global, report: &RollReport) -> anyhow::Result<()> {
    if global.json {
        return output::json(&json!({
            "hours": report.hours, "changed": report.changed, "days": report.days,
            "measurements": report.measurements, "left_out": report.left_out, "failed": report.failed,
            "marks": report.marks, "more": report.more,
        }));
    }
    let figures = [
        ("hours looked at", report.hours),
        ("hours changed", report.changed),
        ("days changed", report.days),
        ("measurements counted", report.measurements),
        ("measurements left out", report.left_out),
        ("days failed", report.failed),
    ];
    let rows: Vec<_> = figures.map(|(name, figure)| vec![name.to_owned(), figure.to_string()]).into();
    output::table(&["rolled up", ""], &rows)
}
