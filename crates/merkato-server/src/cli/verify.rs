//! `merkato verify`: is everything that follows from something else as it should be?

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use futures::TryStreamExt as _;
use merkato::{Context, analytics::DailySales, carts, flows, inventory, orders::DayOrder};
use serde_json::json;
use widerow::{
    Date,
    store::{DifferenceKind, VerifyOptions},
};

use super::{
    Global, exit,
    export::rows,
    open::{Opened, TenantChoice},
    output,
    progress::Progress,
};

/// Recompute every derived table, the subtotals of carts, what is reserved of stock, and the daily sales, and compare. The shop
/// may go on meanwhile. With --repair, what differs is mended.
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
    /// Only this tenant's carts, stock and sales; derived tables are compared for all tenants
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,
    /// Differences that are listed for each check
    #[arg(long, default_value_t = 20, value_name = "COUNT")]
    listed: usize,
}

/// Differences of derived tables that are looked at to tell them apart.
const LISTED_MAX: usize = 1_000;

/// What one check found.
struct Found {
    check: &'static str,
    tenant: String,
    looked_at: u64,
    differences: u64,
    mended: u64,
    listed: Vec<String>,
}

impl Verify {
    pub async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::ready(global).await?;
        let mut progress = Progress::new("checks", None);
        let mut all = self.derived(&opened).await?;
        let tenants = match &self.tenant {
            Some(tenant) => vec![tenant.clone()],
            None => opened.database.list_tenants().await?.iter().map(|tenant| tenant.as_str().to_owned()).collect(),
        };
        for tenant in tenants {
            let ctx = opened.context(&TenantChoice { tenant })?;
            all.push(self.carts(&ctx).await?);
            progress.at(all.len() as u64);
            all.push(self.stock(&ctx).await?);
            progress.at(all.len() as u64);
            all.push(self.sales(&ctx, &mut progress).await?);
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

    async fn derived(&self, opened: &Opened) -> anyhow::Result<Vec<Found>> {
        let options = VerifyOptions { repair: self.repair, listed_max: LISTED_MAX, ..VerifyOptions::default() };
        let report = opened.database.verify(options).await?;
        // A row with other values is found from its base and from itself: it is one difference all the same.
        let mut found = Vec::new();
        for difference in &report.listed {
            if !found.contains(&difference) {
                found.push(difference);
            }
        }
        let twice = (report.listed.len() - found.len()) as u64;
        let listed = found.iter().take(self.listed).map(|difference| {
            let kind = match difference.kind {
                DifferenceKind::Missing => "is missing",
                DifferenceKind::Different => "is not as its base says",
                DifferenceKind::Orphan => "has no base",
            };
            let key: Vec<String> = difference.key.iter().map(text).collect();
            format!("{} of {}: the row {} {kind}", difference.table, difference.tenant, key.join(", "))
        });
        Ok(vec![Found {
            check: "derived tables",
            tenant: "(all)".into(),
            looked_at: report.base_rows + report.derived_rows,
            differences: report.differences - twice,
            mended: report.repaired,
            listed: listed.collect(),
        }])
    }

    async fn carts(&self, ctx: &Context) -> anyhow::Result<Found> {
        let report = carts::verify_carts(ctx, self.repair).await?;
        let totals = report.totals.iter().map(|wrong| {
            format!("cart {}: {} is stored, its lines come to {}", wrong.cart, wrong.stored, wrong.subtotal)
        });
        let active = report
            .active
            .iter()
            .map(|(user, active)| format!("user {user}: {active} of the carts are active, not one"));
        let differences = (report.totals.len() + report.active.len()) as u64;
        Ok(Found {
            check: "carts",
            tenant: ctx.store.tenant().to_string(),
            looked_at: report.carts,
            differences,
            mended: if self.repair { differences } else { 0 },
            listed: totals.chain(active).take(self.listed).collect(),
        })
    }

    async fn stock(&self, ctx: &Context) -> anyhow::Result<Found> {
        let found = inventory::verify_stock(ctx, None).await?;
        let unsettled = found.unsettled.iter().map(|product| format!("product {product}: it never stood still"));
        let listed = found.differences.iter().map(|difference| {
            format!(
                "product {}, warehouse {}: {} are reserved, the holds in force have {}",
                difference.product, difference.warehouse, difference.in_force, difference.held
            )
        });
        let listed = listed.chain(unsettled).take(self.listed).collect();
        let differences = (found.differences.len() + found.unsettled.len()) as u64;
        let mended = match self.repair && differences > 0 {
            true => {
                let repaired = inventory::repair_stock(ctx, None).await?;
                differences.saturating_sub((repaired.left.len() + repaired.unsettled.len()) as u64)
            }
            false => 0,
        };
        let tenant = ctx.store.tenant().to_string();
        Ok(Found { check: "reserved stock", tenant, looked_at: found.products, differences, mended, listed })
    }

    /// Every day on which something was ordered or counted.
    async fn sales(&self, ctx: &Context, progress: &mut Progress) -> anyhow::Result<Found> {
        let ordered: BTreeMap<Date, ()> =
            rows::<DayOrder>(ctx).map_ok(|row| (row.order_date, ())).try_collect().await?;
        let counted: BTreeMap<Date, ()> = rows::<DailySales>(ctx).map_ok(|row| (row.date, ())).try_collect().await?;
        let days: BTreeSet<Date> = ordered.into_keys().chain(counted.into_keys()).collect();
        let mut found = Found {
            check: "daily sales",
            tenant: ctx.store.tenant().to_string(),
            looked_at: 0,
            differences: 0,
            mended: 0,
            listed: Vec::new(),
        };
        for day in days {
            let report = flows::sales::rebuild_sales(ctx, day, self.repair).await?;
            found.looked_at += 1;
            progress.at(found.looked_at);
            if !report.is_sound() {
                found.differences += 1;
                found.mended += u64::from(report.repaired);
                let (orders, totals) = (report.wrong_orders, report.differences.len());
                found.listed.push(format!("{day}: {orders} orders and {totals} totals are counted wrongly"));
            }
        }
        found.listed.truncate(self.listed);
        Ok(found)
    }
}

fn text(value: &widerow::value::Value) -> String {
    use widerow::value::Value;
    match value {
        Value::Text(text) => text.clone(),
        Value::Uuid(id) => id.to_string(),
        Value::Int(number) => number.to_string(),
        Value::BigInt(number) => number.to_string(),
        Value::Date(date) => date.to_string(),
        Value::Timestamp(time) => time.to_string(),
        other => format!("{other:?}"),
    }
}
