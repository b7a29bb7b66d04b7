//! `merkato sales`: upkeep of the records of sales, and what they cost.

use std::{
    io::{BufWriter, Write as _},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use clap::{Args, Subcommand};
use merkato::sales::{
    self, Days,
    figures::{self, cost},
};
use rust_decimal::Decimal;
use serde_json::json;
use widerow::{Date, store::ScanCursor};

use super::{
    Global, exit,
    open::{Opened, TenantChoice},
    output,
    progress::Progress,
    records, serve,
};

/// Records of sales: their ends, what they cost, how they are spread.
#[derive(Args)]
pub struct SalesCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Give an end to every record that was written before there was a retention
    #[command(after_help = "Examples:
  merkato sales backfill-ttl --dry-run
  merkato sales backfill-ttl
  merkato sales backfill-ttl --resume CURSOR    where a run that was stopped says so

A record that somebody else changes meanwhile is left as it is and counted as failed; another run finds it.

Exit codes: 0 done; 1 failed; 3 some records could not be written, or with --dry-run some have no end.")]
    BackfillTtl(Backfill),
    /// Write records whose time is over, or soon will be, as NDJSON, before the engine clears them away
    #[command(after_help = "Examples:
  merkato sales export-ended > ended.ndjson
  merkato sales export-ended --before 2027-01-01 --output soon.ndjson

`merkato import sales ended.ndjson --retention-years 0` reads them back, for good.")]
    ExportEnded(ExportEnded),
    /// What the table of sales costs on DynamoDB, as it bills; nothing is connected to
    #[command(after_help = "Examples:
  merkato sales cost --sales-per-day 100000 --reads-per-day 1000000
  merkato sales cost --sales-per-day 5000 --reads-per-day 20000 --category-share 0.2 --json

Prices are the settings of [shop.sales.prices].")]
    Cost(Cost),
    /// How evenly the sales of a category are spread over its shards
    #[command(after_help = "Example:\n  merkato sales skew dress")]
    Skew(Skew),
}

#[derive(Args)]
struct Backfill {
    /// Only count
    #[arg(long)]
    dry_run: bool,
    /// Go on where an earlier run was stopped
    #[arg(long, value_name = "CURSOR")]
    resume: Option<String>,
    #[command(flatten)]
    tenant: TenantChoice,
}

#[derive(Args)]
struct ExportEnded {
    /// Those that end before this day (UTC) [default: those that have ended]
    #[arg(long, value_name = "DATE")]
    before: Option<Date>,
    /// A file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    tenant: TenantChoice,
}

#[derive(Args)]
struct Cost {
    /// New records of a day
    #[arg(long, value_name = "N")]
    sales_per_day: u64,
    /// Requests that read, of a day
    #[arg(long, value_name = "N")]
    reads_per_day: u64,
    /// Records of a day whose price is corrected
    #[arg(long, value_name = "N", default_value_t = 0)]
    price_changes_per_day: u64,
    /// The share of reads that ask for a category's trends; what no share is of are reads of one sale
    #[arg(long, value_name = "SHARE", default_value = "0")]
    category_share: Decimal,
    /// The share of reads that ask for a brand's sales
    #[arg(long, value_name = "SHARE", default_value = "0")]
    brand_share: Decimal,
    /// The share of reads that ask for a product's sales
    #[arg(long, value_name = "SHARE", default_value = "0")]
    product_share: Decimal,
    /// The share of reads that ask for a product's embeddings
    #[arg(long, value_name = "SHARE", default_value = "0")]
    embeddings_share: Decimal,
    /// The share of sales that have a brand
    #[arg(long, value_name = "SHARE", default_value = "1")]
    with_brand: Decimal,
    /// After how many years
    #[arg(long, value_name = "N", default_value_t = 2)]
    years: u32,
}

#[derive(Args)]
struct Skew {
    category: String,
    #[command(flatten)]
    tenant: TenantChoice,
}

impl SalesCommand {
    pub async fn run(self, global: &Global) -> anyhow::Result<()> {
        match self.what {
            What::BackfillTtl(command) => command.run(global).await,
            What::ExportEnded(command) => command.run(global).await,
            What::Cost(command) => command.run(global),
            What::Skew(command) => command.run(global).await,
        }
    }
}

impl Backfill {
    async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::ready(global).await?;
        let ctx = opened.context(&self.tenant)?;
        if ctx.settings.sales.retention().is_none() {
            return Err(exit::usage("shop.sales.retention_years is 0: records are kept for good, and have no end"));
        }
        let stopped = Arc::new(AtomicBool::new(false));
        let signal = serve::stop_signal()?;
        let watching = tokio::spawn({
            let stopped = stopped.clone();
            async move {
                signal.await;
                stopped.store(true, Relaxed);
            }
        });
        let mut progress = Progress::new("records", None);
        let resume = self.resume.map(ScanCursor::from);
        let done = sales::backfill_ttl(&ctx, self.dry_run, resume, |done| {
            progress.at(done.scanned);
            !stopped.load(Relaxed)
        })
        .await?;
        drop(progress);
        watching.abort();
        let next = done.next.as_ref().map(ScanCursor::as_str);
        if global.json {
            output::json(&json!({
                "scanned": done.scanned, "without": done.without, "updated": done.updated, "failed": done.failed,
                "dry_run": self.dry_run, "next": next,
            }))?;
        } else {
            let figures = [
                ("looked at", done.scanned),
                ("without an end", done.without),
                ("given one", done.updated),
                ("failed", done.failed),
            ];
            let rows: Vec<_> = figures.map(|(name, figure)| vec![name.to_owned(), figure.to_string()]).into();
            output::table(&["records", ""], &rows)?;
        }
        if let Some(next) = next {
            eprintln!("stopped; go on with --resume {next}");
        }
        let left = if self.dry_run { done.without } else { done.failed };
        if left > 0 { Err(exit::differences()) } else { Ok(()) }
    }
}

impl ExportEnded {
    async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::ready(global).await?;
        let ctx = opened.context(&self.tenant)?;
        let before = self.before.map_or_else(|| ctx.now(), Date::start);
        let out: Box<dyn std::io::Write> = match &self.output {
            Some(path) => Box::new(std::fs::File::create(path)?),
            None => Box::new(std::io::stdout()),
        };
        let (mut out, mut progress) = (BufWriter::new(out), Progress::new("written", None));
        let (mut written, mut failed) = (0, None);
        sales::export_ending(&ctx, before, |ending| {
            if failed.is_none() {
                let line = serde_json::Value::Object(records::record(&ending.record));
                failed = writeln!(out, "{line}").err();
                written += 1;
                progress.at(written);
            }
        })
        .await?;
        drop(progress);
        if let Some(error) = failed {
            return Err(error.into());
        }
        out.flush()?;
        eprintln!("{written} written");
        Ok(())
    }
}

impl Cost {
    fn run(self, global: &Global) -> anyhow::Result<()> {
        let config = global.load()?.config;
        let settings = &config.shop.sales;
        let asked = self.category_share + self.brand_share + self.product_share + self.embeddings_share;
        let load = cost::Load {
            sales_per_day: self.sales_per_day,
            reads_per_day: self.reads_per_day,
            price_changes_per_day: self.price_changes_per_day,
            mix: cost::Mix {
                get: Decimal::ONE - asked,
                category: self.category_share,
                brand: self.brand_share,
                product: self.product_share,
                embeddings: self.embeddings_share,
                ..cost::Mix::default()
            },
            with_brand: self.with_brand,
            years: self.years,
            ..cost::Load::default()
        };
        let design = cost::Design {
            category_shards: settings.category_shards,
            embedding_shards: settings.embedding_shards,
            retention_years: settings.retention(),
        };
        let refused = |error: figures::Error| exit::usage(error.to_string());
        let estimate = cost::estimate(&load, &cost::Sizes::default(), &design, &settings.prices).map_err(refused)?;
        if !global.json {
            return output::line(estimate.to_string().trim_end());
        }
        let line = |line: &cost::Line| {
            json!({
                "part": line.part.to_string(), "what": line.what, "count": line.count.normalize().to_string(),
                "units_per_day": line.units_per_day.normalize().to_string(),
                "gigabytes": line.gigabytes.normalize().to_string(), "monthly": line.monthly.normalize().to_string(),
            })
        };
        output::json(&json!({
            "currency": estimate.currency, "monthly": estimate.monthly.normalize().to_string(),
            "sales_per_year": estimate.sales_per_year.normalize().to_string(),
            "records_kept": estimate.records_kept.normalize().to_string(),
            "lines": estimate.lines.iter().map(line).collect::<Vec<_>>(), "notes": estimate.notes,
        }))
    }
}

impl Skew {
    async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::ready(global).await?;
        let ctx = opened.context(&self.tenant)?;
        let skew = sales::count_shards(&ctx, &self.category, Days::default()).await?;
        if global.json {
            return output::json(&json!({
                "category": self.category, "total": skew.total, "counts": skew.counts,
                "shares": skew.shares.iter().map(|share| share.normalize().to_string()).collect::<Vec<_>>(),
                "largest_to_mean": skew.largest_to_mean.map(|times| times.normalize().to_string()),
                "chi_square": skew.chi_square.map(|figure| figure.normalize().to_string()),
            }));
        }
        let percent = |share: &Decimal| format!("{}%", (share * Decimal::ONE_HUNDRED).round_dp(2));
        let shards = skew.counts.iter().zip(&skew.shares).enumerate();
        let rows: Vec<_> =
            shards.map(|(shard, (count, share))| vec![shard.to_string(), count.to_string(), percent(share)]).collect();
        output::table(&["shard", "sales", "share"], &rows)?;
        output::line(&skew)
    }
}
