//! `merkato chaos inventory`: the proof that nothing is sold twice, on the configured engine.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use clap::{Args, Subcommand};
use merkato::{
    chaos::{self, Options, Report},
    context::SystemChance,
};
use widerow::{
    Database, Engine, Store,
    faulty::{Faults, Faulty},
    time::{Clock as _, SystemClock},
};

use super::{Global, exit, logs, open, output, progress::Progress};
use crate::config::EngineKind;

#[derive(Args)]
pub struct Chaos {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Many shoppers check out few units at once; afterwards every unit, order and cent is counted
    ///
    /// With --faults, processes end at random steps of their checkouts, payments answer late or never, and the engine
    /// does not say whether a write happened; then everything that was stopped goes on. Fails if anything is sold twice,
    /// lost or miscounted (exit code 3). Its rows stand in a tenant of their own, named chaos-…; on the embedded engine in a
    /// folder that is removed afterwards, unless one is given with --folder.
    #[command(after_help = "Examples:
  merkato chaos inventory
  merkato chaos inventory --shoppers 5000 --units 500 --faults 1
  merkato --engine cassandra chaos inventory --processes 4")]
    Inventory(Inventory),
}

#[derive(Args)]
pub struct Inventory {
    /// Shoppers, each of whom wants one unit or two
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    shoppers: u32,
    /// Units there are
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i32).range(0..=1_000_000))]
    units: i32,
    /// Let things go wrong, by this seed
    #[arg(long, value_name = "SEED")]
    faults: Option<u64>,
    /// Shoppers at the same time
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    at_once: u16,
    /// Processes that share the engine and nothing else
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=16))]
    processes: u8,
}

impl Chaos {
    pub async fn run(self, global: &Global) -> anyhow::Result<()> {
        match self.what {
            What::Inventory(inventory) => inventory.run(global).await,
        }
    }
}

/// How often the engine does not say whether it did what it was told.
const LOST_ANSWERS: f64 = 0.002;

impl Inventory {
    async fn run(self, global: &Global) -> anyhow::Result<()> {
        let mut config = global.load()?.config;
        logs::start_quiet(&config.http.log)?;
        // A shop's own folder is no place for a trial that nobody asked to have there.
        let folder = match (config.engine, &global.folder) {
            (EngineKind::Embedded, None) => Some(tempfile::tempdir()?),
            _ => None,
        };
        if let Some(folder) = &folder {
            config.embedded.folder = folder.path().to_owned();
        }
        let schema = merkato::schema()?;
        let engine = open::engine(&config, &schema).await?;
        Database::new(engine.clone(), merkato::schema()?).migrate().await?;
        let name = engine.name();
        let engine: Arc<dyn Engine> = match self.faults {
            Some(seed) => {
                let faults =
                    Faults { seed, time_out_before: LOST_ANSWERS, time_out_after: LOST_ANSWERS, ..Faults::default() };
                Arc::new(Faulty::new(engine, faults))
            }
            None => engine,
        };
        let tenant = format!("chaos-{}", SystemClock.now().millis());
        let process =
            |_| -> anyhow::Result<Store> { Ok(Database::new(engine.clone(), merkato::schema()?).tenant(&tenant)?) };
        let stores = (0..self.processes).map(process).collect::<anyhow::Result<Vec<Store>>>()?;
        let options = Options {
            shoppers: self.shoppers as usize,
            units: self.units,
            faults: self.faults,
            at_once: self.at_once.into(),
        };
        eprintln!(
            "{} shoppers want {} units, on {name}, in {} processes, {} at once{}.",
            options.shoppers,
            options.units,
            self.processes,
            options.at_once,
            options.faults.map_or(String::new(), |seed| format!(", with faults by seed {seed}")),
        );
        let progress = Mutex::new(Progress::new("shoppers have had their answer", Some(self.shoppers.into())));
        let shown = |answered: usize| progress.lock().unwrap_or_else(PoisonError::into_inner).at(answered as u64);
        let report = chaos::inventory(&stores, Arc::new(SystemClock), Arc::new(SystemChance), &options, shown).await?;
        drop(progress);
        if global.json {
            output::json(&as_json(&report, &tenant))?
        } else {
            print(&report, &options)?
        }
        if !report.passed() {
            eprintln!("the books are wrong");
            return Err(exit::differences());
        }
        Ok(())
    }
}

fn as_json(report: &Report, tenant: &str) -> serde_json::Value {
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let verdicts = report
        .verdicts
        .iter()
        .map(|verdict| serde_json::json!({ "what": verdict.what, "holds": verdict.holds, "detail": verdict.detail }));
    serde_json::json!({
        "tenant": tenant,
        "passed": report.passed(),
        "sold": report.sold,
        "held": report.held,
        "left": report.left,
        "refused": report.refused,
        "declined": report.declined,
        "stopped": report.stopped,
        "retried": report.retried,
        "took_ms": millis(report.took),
        "answer_p50_ms": millis(report.answer_p50),
        "answer_p99_ms": millis(report.answer_p99),
        "verdicts": verdicts.collect::<Vec<_>>(),
    })
}

fn print(report: &Report, options: &Options) -> anyhow::Result<()> {
    let millis = |time: Duration| time.as_secs_f64() * 1_000.0;
    let seconds = report.took.as_secs_f64();
    output::line(format!("sold      {:>8} units", report.sold))?;
    output::line(format!("held      {:>8}", report.held))?;
    output::line(format!("left      {:>8}", report.left))?;
    output::line(format!("refused   {:>8} shoppers, as there was not enough", report.refused))?;
    output::line(format!("declined  {:>8} payments", report.declined))?;
    output::line(format!("stopped   {:>8} checkouts, at a random step", report.stopped))?;
    output::line(format!("retried   {:>8} times", report.retried))?;
    output::line(format!(
        "took      {seconds:>8.2} s: {:.0} shoppers/s, answered in {:.0} ms (p50), {:.0} ms (p99)",
        options.shoppers as f64 / seconds.max(f64::EPSILON),
        millis(report.answer_p50),
        millis(report.answer_p99),
    ))?;
    for verdict in &report.verdicts {
        output::line(format!("{}  {}: {}", if verdict.holds { "  ok" } else { "FAIL" }, verdict.what, verdict.detail))?;
    }
    Ok(())
}
