//! `merkato verify`: is everything that follows from something else as it should be?

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use futures::TryStreamExt as _;
use merkato::{Context, analytics::DailySales, orders::DayOrder};
use serde_json::json;
use widerow::Date;

use super::{
    Global, exit,
    export::rows,
    open::{Opened, TenantChoice},
    output,
    progress::Progress,
};
use crate::checks::{Checking, Found};

/// Recompute every derived table, the subtotals of carts, what is reserved of stock, the roll-ups of sensors, trees, the feed of
/// events, wallets and the daily sales, and compare. The shop may go on meanwhile. With --repair, what differs is mended.
#[derive(Args)]
#[command(after_help = "Examples:
  merkato verify
  merkato verify --repair
  merkato verify --tenant default --json

Exit codes: 0 nothing differs, or all of it was mended; 1 failed; 3 something differs.")]
pub struct Verify {
    /// Mend what differs
    #[arg(long)]
    repair: bool,
    /// Only this tenant's carts, stock, roll-ups, trees, events, wallets and sales; derived tables are compared for all tenants
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,
    /// Differences that are listed for each check
    #[arg(long, default_value_t = 20, value_name = "COUNT")]
    listed: usize,
}

impl Verify {
    pub async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::ready(global).await?;
        let mut progress = Progress::new("checks", None);
        let checking = Checking { repair: self.repair, listed_max: self.listed };
        let report = opened.database.verify(checking.options()).await?;
        let mut all = vec![checking.derived("(all)".into(), &report)];
        let tenants = match &self.tenant {
            Some(tenant) => vec![tenant.clone()],
            None => opened.database.list_tenants().await?.iter().map(|tenant| tenant.as_str().to_owned()).collect(),
        };
        for tenant in tenants {
            let ctx = opened.context(&TenantChoice { tenant })?;
            all.push(checking.carts(&ctx).await?);
            progress.at(all.len() as u64);
            all.push(checking.stock(&ctx).await?);
            progress.at(all.len() as u64);
            all.push(checking.roll_ups(&ctx).await?);
            all.push(checking.trees(&ctx).await?);
            all.push(checking.categories(&ctx).await?);
            all.push(checking.events(&ctx).await?);
            all.push(checking.connections(&ctx).await?);
            all.push(checking.wallets(&ctx).await?);
            progress.at(all.len() as u64);
            let days = self.days(&ctx).await?;
            all.push(checking.sales(&ctx, days, |done| progress.at(done)).await?);
        }
        drop(progress);
        self.tell(global, &all)?;
        let left: u64 = all.iter().map(|found| found.differences.saturating_sub(found.mended)).sum();
        if left > 0 { Err(exit::differences()) } else { Ok(()) }
    }

    fn tell(&self, global: &Global, all: &[Found]) -> anyhow::Result<()> {
        if global.json {
            let each = all.iter().map(|found| {
                json!({
                    "check": found.check, "tenant": found.tenant, "looked_at": found.looked_at,
                    "differences": found.differences, "mended": found.mended, "listed": found.listed,
                })
            });
            return output::json(&json!({ "data": each.collect::<Vec<_>>() }));
        }
        let row = |found: &Found| {
            let figures = [found.looked_at, found.differences, found.mended].map(|figure| figure.to_string());
            [vec![found.check.to_owned(), found.tenant.clone()], figures.into()].concat()
        };
        output::table(
            &["check", "tenant", "looked at", "differences", "mended"],
            &all.iter().map(row).collect::<Vec<_>>(),
        )?;
        all.iter().flat_map(|found| &found.listed).try_for_each(|line| output::line(format!("  {line}")))
    }

    /// Every day on which something was ordered or counted.
    async fn days(&self, ctx: &Context) -> anyhow::Result<BTreeSet<Date>> {
        let ordered: BTreeMap<Date, ()> =
            rows::<DayOrder>(ctx).map_ok(|row| (row.order_date, ())).try_collect().await?;
        let counted: BTreeMap<Date, ()> = rows::<DailySales>(ctx).map_ok(|row| (row.date, ())).try_collect().await?;
        Ok(ordered.into_keys().chain(counted.into_keys()).collect())
    }
}
