//! `merkato chaos inventory`: the proof that nothing is sold twice, on the engine of one's choice.

use std::{
    io::{IsTerminal as _, Write as _},
    sync::Arc,
    time::Duration,
};

use anyhow::bail;
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

use super::engine::EngineChoice;

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
    /// lost or miscounted. Its rows stand in a tenant of their own, named chaos-….
    Inventory(Inventory),
}

#[derive(Args)]
pub struct Inventory {
    #[command(flatten)]
    engine: EngineChoice,
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

impl Default for Inventory {
    fn default() -> Self {
        Inventory {
            engine: EngineChoice::default(),
            shoppers: 1000,
            units: 100,
            faults: None,
            at_once: 64,
            processes: 2,
        }
    }
}

impl Chaos {
    pub async fn run(self) -> anyhow::Result<()> {
        match self.what {
            What::Inventory(inventory) => inventory.run().await,
        }
    }
}

/// How often the engine does not say whether it did what it was told.
const LOST_ANSWERS: f64 = 0.002;

impl Inventory {
    pub async fn run(self) -> anyhow::Result<()> {
        let schema = merkato::schema()?;
        let opened = self.engine.open(&schema).await?;
        let name = opened.engine.name();
        let engine: Arc<dyn Engine> = match self.faults {
            Some(seed) => {
                let faults =
                    Faults { seed, time_out_before: LOST_ANSWERS, time_out_after: LOST_ANSWERS, ..Faults::default() };
                Arc::new(Faulty::new(opened.engine.clone(), faults))
            }
            None => opened.engine.clone(),
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
        println!(
            "{} shoppers want {} units, on {name}, in {} processes, {} at once{}.",
            options.shoppers,
            options.units,
            self.processes,
            options.at_once,
            options.faults.map_or(String::new(), |seed| format!(", with faults by seed {seed}")),
        );
        let shown = |answered: usize| show(answered, options.shoppers);
        let report = chaos::inventory(&stores, Arc::new(SystemClock), Arc::new(SystemChance), &options, shown).await?;
        print(&report, &options);
        if !report.passed() {
            bail!("the books are wrong");
        }
        Ok(())
    }
}

/// On one line of a terminal, or a line for every fifth.
fn show(answered: usize, of: usize) {
    let end = answered == of;
    if std::io::stderr().is_terminal() {
        eprint!("\r{answered} of {of} have had their answer{}", if end { "\n" } else { "" });
        let _ = std::io::stderr().flush();
    } else if end || answered.is_multiple_of((of / 5).max(1)) {
        eprintln!("{answered} of {of} have had their answer");
    }
}

fn print(report: &Report, options: &Options) {
    let millis = |time: Duration| time.as_secs_f64() * 1_000.0;
    let seconds = report.took.as_secs_f64();
    println!("sold      {:>8} units", report.sold);
    println!("held      {:>8}", report.held);
    println!("left      {:>8}", report.left);
    println!("refused   {:>8} shoppers, as there was not enough", report.refused);
    println!("declined  {:>8} payments", report.declined);
    println!("stopped   {:>8} checkouts, at a random step", report.stopped);
    println!("retried   {:>8} times", report.retried);
    println!(
        "took      {seconds:>8.2} s: {:.0} shoppers/s, answered in {:.0} ms (p50), {:.0} ms (p99)",
        options.shoppers as f64 / seconds.max(f64::EPSILON),
        millis(report.answer_p50),
        millis(report.answer_p99),
    );
    for verdict in &report.verdicts {
        println!("{}  {}: {}", if verdict.holds { "  ok" } else { "FAIL" }, verdict.what, verdict.detail);
    }
}
