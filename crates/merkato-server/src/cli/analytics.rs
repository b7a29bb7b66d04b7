//! `merkato analytics`: figures that follow from orders, counted anew.

use clap::{Args, Subcommand};
use merkato::flows;
use serde_json::json;
use widerow::Date;

use super::{
    Global, exit,
    open::{Opened, TenantChoice},
    output,
    progress::Progress,
};

#[derive(Args)]
pub struct Analytics {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Compare the sales of days with their orders, and count them anew where they differ
    #[command(after_help = "Examples:
  merkato analytics rebuild --date 2026-11-15
  merkato analytics rebuild --from 2026-11-01 --to 2026-11-15 --dry-run

Exit codes: 0 all days are right, or were made so; 3 with --dry-run, a day differs.")]
    Rebuild(Rebuild),
    /// Rank the best products now, which the server does every hour
    Rank(TenantChoice),
}

#[derive(Args)]
struct Rebuild {
    /// One day (UTC), as 2026-11-15
    #[arg(long, conflicts_with_all = ["from", "to"], required_unless_present = "from")]
    date: Option<Date>,
    /// The first of several days
    #[arg(long, requires = "to")]
    from: Option<Date>,
    /// The last of several days
    #[arg(long, requires = "from")]
    to: Option<Date>,
    /// Only compare
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    tenant: TenantChoice,
}

/// Days of one call: ten years.
const DAYS_MAX: i32 = 3_660;

impl Analytics {
    pub async fn run(self, global: &Global) -> anyhow::Result<()> {
        match self.what {
            What::Rebuild(rebuild) => rebuild.run(global).await,
            What::Rank(tenant) => {
                let opened = Opened::ready(global).await?;
                let ranked = flows::sales::rank_products(&opened.context(&tenant)?).await?;
                if global.json {
                    return output::json(&json!({ "rows": ranked.rows, "lists": ranked.lists }));
                }
                output::line(format!("{} lists, of {} rows of products and days", ranked.lists, ranked.rows))
            }
        }
    }
}

impl Rebuild {
    async fn run(self, global: &Global) -> anyhow::Result<()> {
        let (Some(from), Some(to)) = (self.date.or(self.from), self.date.or(self.to)) else {
            return Err(exit::usage("say --date, or --from and --to"));
        };
        let days = to.days() - from.days() + 1;
        if !(1..=DAYS_MAX).contains(&days) {
            return Err(exit::usage(format!("from {from} to {to} is not 1 to {DAYS_MAX} days")));
        }
        let opened = Opened::ready(global).await?;
        let ctx = opened.context(&self.tenant)?;
        let mut progress = Progress::new("days", u64::try_from(days).ok());
        let mut reports = Vec::new();
        for (done, day) in (from.days()..=to.days()).enumerate() {
            progress.at(done as u64);
            reports.push(flows::sales::rebuild_sales(&ctx, Date::from_days(day), !self.dry_run).await?);
        }
        drop(progress);
        let wrong = reports.iter().filter(|report| !report.is_sound()).count();
        if global.json {
            let each = reports.iter().map(|report| {
                json!({
                    "date": report.date.to_string(), "orders": report.orders, "wrong_orders": report.wrong_orders,
                    "wrong_totals": report.differences.len(), "repaired": report.repaired,
                })
            });
            output::json(&json!({ "data": each.collect::<Vec<_>>() }))?;
        } else {
            let row = |report: &merkato::analytics::DayReport| {
                let figures = [report.orders, report.wrong_orders, report.differences.len() as u64];
                let mut row = vec![report.date.to_string()];
                row.extend(figures.map(|figure| figure.to_string()));
                row.push(if report.repaired { "mended".into() } else { String::new() });
                row
            };
            let rows: Vec<_> = reports.iter().map(row).collect();
            output::table(&["date", "orders", "wrong orders", "wrong totals", ""], &rows)?;
        }
        if self.dry_run && wrong > 0 { Err(exit::differences()) } else { Ok(()) }
    }
}
