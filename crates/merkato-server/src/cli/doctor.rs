//! `merkato doctor`: how the engine is.

use std::time::Instant;

use clap::Args;
use serde_json::json;
use widerow::{
    store::Histogram,
    time::{Clock as _, SystemClock},
};

use super::{Global, exit, open::Opened, output, progress::Progress};
use crate::model::{is_large, most_bytes, most_rows};

/// Reach the engine, compare its tables with the declarations, measure the partitions, and compare the clocks. Measuring walks over
/// every table; --quick leaves it out.
#[derive(Args)]
#[command(after_help = "Examples:
  merkato doctor
  merkato --engine cassandra doctor --quick --json

Exit codes: 0 all is well; 1 the engine cannot be reached; 3 something is not as it should be.")]
pub struct Doctor {
    /// Do not measure the partitions
    #[arg(long)]
    quick: bool,
}

/// Clocks that differ by more order the writes of two processes wrongly, where nothing guards them.
const SKEW_MS_MAX: i64 = 1_000;

impl Doctor {
    pub async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::as_it_is(global).await?;
        let database = &opened.database;
        let began = Instant::now();
        let problems: Vec<String> = database.compare().await?.problems.iter().map(ToString::to_string).collect();
        let reached_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let skew_ms = self.skew(&opened).await?;
        let mut tables = Vec::new();
        if !self.quick && problems.is_empty() {
            let all: Vec<_> = database.schema().tables().collect();
            let mut progress = Progress::new("tables", Some(all.len() as u64));
            for (done, table) in all.into_iter().enumerate() {
                progress.at(done as u64);
                tables.push((table.name.clone(), database.histogram(table, 4).await?));
            }
        }
        let large: Vec<&str> =
            tables.iter().filter(|(_, histogram)| is_large(histogram)).map(|(name, _)| name.as_str()).collect();
        let is_skewed = skew_ms.is_some_and(|skew| skew.abs() > SKEW_MS_MAX);
        let engine = database.engine().name();
        if global.json {
            let each = tables.iter().map(|(name, histogram)| {
                let largest = histogram.largest.as_ref();
                json!({
                    "table": name, "partitions": histogram.partitions, "rows": histogram.rows, "bytes": histogram.bytes,
                    "largest_rows": largest.map(|(.., rows)| rows), "largest_tenant": largest.map(|(tenant, ..)| tenant),
                    "by_rows": histogram.by_rows, "by_bytes": histogram.by_bytes, "too_large": is_large(histogram),
                })
            });
            output::json(&json!({
                "engine": engine, "reached_ms": reached_ms, "schema_problems": problems, "clock_skew_ms": skew_ms,
                "tables": each.collect::<Vec<_>>(),
            }))?;
        } else {
            output::line(format!("engine   {engine}, answers in {reached_ms} ms"))?;
            output::line(match problems.len() {
                0 => "schema   as declared".to_owned(),
                count => format!("schema   {count} differences: merkato migrate"),
            })?;
            problems.iter().try_for_each(|problem| output::line(format!("  {problem}")))?;
            output::line(match skew_ms {
                None => "clock    the engine has none of its own that could be asked".to_owned(),
                Some(skew) if is_skewed => {
                    format!("clock    differs by {skew} ms; more than {SKEW_MS_MAX} is too much")
                }
                Some(skew) => format!("clock    differs by {skew} ms"),
            })?;
            if !tables.is_empty() {
                let row = |(name, histogram): &(String, Histogram)| {
                    let figures = [histogram.partitions, histogram.rows, histogram.bytes, most_rows(histogram)];
                    let figures = figures.map(|figure| figure.to_string());
                    let most = most_bytes(histogram).to_string();
                    let verdict = if is_large(histogram) { "too large" } else { "ok" };
                    [vec![name.clone()], figures.into(), vec![most, verdict.to_owned()]].concat()
                };
                let heading = ["table", "partitions", "rows", "bytes", "most rows", "bytes under", ""];
                output::table(&heading, &tables.iter().map(row).collect::<Vec<_>>())?;
            }
        }
        if problems.is_empty() && large.is_empty() && !is_skewed { Ok(()) } else { Err(exit::differences()) }
    }

    /// How far the engine's clock is ahead of this machine's, half of the way there and back taken off.
    async fn skew(&self, opened: &Opened) -> anyhow::Result<Option<i64>> {
        let before = SystemClock.now().millis();
        let theirs = opened.database.engine().server_time().await?;
        let after = SystemClock.now().millis();
        Ok(theirs.map(|theirs| theirs.millis() - (before + after) / 2))
    }
}
