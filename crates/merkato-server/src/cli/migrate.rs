//! `merkato migrate`: the engine gets what it lacks.

use clap::Args;
use serde_json::json;

use super::{Global, exit, open::Opened, output};

/// Create the tables and columns that are missing on the configured engine. What would lose data is refused, saying which table
/// and column; nothing is changed then. Running it again changes nothing.
#[derive(Args)]
#[command(after_help = "Examples:
  merkato migrate
  merkato --engine cassandra migrate --dry-run

Exit codes: 0 done, or nothing to do; 1 refused; 3 with --dry-run, something is missing.")]
pub struct Migrate {
    /// Only say what is missing
    #[arg(long)]
    dry_run: bool,
}

impl Migrate {
    pub async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::as_it_is(global).await?;
        if self.dry_run {
            let problems: Vec<String> =
                opened.database.compare().await?.problems.iter().map(ToString::to_string).collect();
            if global.json {
                output::json(&json!({ "missing": problems }))?;
            } else {
                problems.iter().try_for_each(output::line)?;
            }
            return if problems.is_empty() { Ok(()) } else { Err(exit::differences()) };
        }
        let report = opened.database.migrate().await?;
        let columns: Vec<String> = report.added_columns.iter().map(|(table, name)| format!("{table}.{name}")).collect();
        if global.json {
            return output::json(&json!({ "created_tables": report.created_tables, "added_columns": columns }));
        }
        report.created_tables.iter().try_for_each(|table| output::line(format!("created {table}")))?;
        columns.iter().try_for_each(|column| output::line(format!("added   {column}")))?;
        eprintln!("{} tables created, {} columns added", report.created_tables.len(), columns.len());
        Ok(())
    }
}
