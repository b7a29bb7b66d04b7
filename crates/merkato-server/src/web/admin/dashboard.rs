//! How the shop does today, against the same weekday a week ago.

use std::collections::BTreeMap;

use askama::Template;
use futures::{TryFutureExt as _, future::try_join_all};
use merkato::{
    Context, PageRequest,
    analytics::{self, DayViews, Metric, TopProduct},
    catalog,
    id::ProductId,
    inventory::{self, LowStock, Warehouse},
    keys::Scope::InventoryRead,
    orders::OrderStatus,
};
use rust_decimal::{Decimal, prelude::ToPrimitive as _};
use widerow::Date;

use super::{
    desk::may,
    takings::Takings,
    traffic::{self, DayOrders, STATUSES},
};
use crate::{
    http::{Problem, Visit},
    web::{
        Frame, Html,
        charts::{self, Chart, Line, Part, Series},
        words,
    },
};

/// Days of the chart, and of what it is compared with.
const DAYS: i32 = 30;
const WEEK: i32 = 7;
/// Rows of the short tables.
const ROWS: usize = 6;
/// Warehouses whose shortages are looked at.
const WAREHOUSES_MAX: usize = 24;

/// One of the four figures.
struct Figure {
    name: &'static str,
    value: String,
    change: Change,
    /// What it was a week ago.
    before: String,
    spark: String,
}

/// How a figure compares with an earlier one.
#[derive(Debug, PartialEq, Eq)]
struct Change {
    class: &'static str,
    sign: &'static str,
    text: String,
}

impl Change {
    /// `day` is what the earlier day is called, as `last Sunday`.
    fn of(now: Decimal, then: Decimal, day: &str) -> Self {
        if then.is_zero() {
            let text = if now.is_zero() { format!("none {day} either") } else { format!("none {day}") };
            return Change { class: "same", sign: "", text };
        }
        let percent = ((now - then) / then * Decimal::ONE_HUNDRED).round();
        let number = words::thousands(&percent.abs().to_string());
        match percent {
            percent if percent.is_zero() => Change { class: "same", sign: "", text: format!("as much as {day}") },
            percent if percent.is_sign_negative() => {
                Change { class: "less", sign: "▼", text: format!("{number}% less than {day}") }
            }
            _ => Change { class: "more", sign: "▲", text: format!("{number}% more than {day}") },
        }
    }
}

/// A product of one of the short tables.
struct Short {
    id: ProductId,
    name: String,
    /// The warehouse, or the rank.
    place: String,
    figure: String,
    is_out: bool,
}

/// What is scarce.
struct Low {
    rows: Vec<Short>,
    has_warehouses: bool,
}

#[derive(Template)]
#[template(path = "admin/dashboard.html")]
pub struct Dashboard {
    frame: Frame,
    today: String,
    time: String,
    last: String,
    figures: [Figure; 4],
    revenue: Chart,
    statuses: Option<Chart>,
    /// None to a key that is not for stock.
    low: Option<Low>,
    top: Vec<Short>,
    ranked_at: Option<String>,
    views_seconds: u64,
    elsewhere: Vec<String>,
}

pub async fn show(frame: Frame, visit: Visit) -> Result<Html<Dashboard>, Problem> {
    let ctx = &visit.ctx;
    let now = ctx.now();
    let today = now.date();
    let back = |days: i32| Date::from_days(today.days() - days);
    let (takings, orders, views, low, top) = futures::try_join!(
        Takings::load(ctx, back(DAYS - 1), today),
        traffic::load(ctx, back(WEEK), today),
        analytics::list_day_views(ctx, back(WEEK), today).map_err(Problem::from),
        low_stock(&visit),
        top_products(ctx),
    )?;
    let last = format!("last {}", words::weekday(today));
    let names = names(
        ctx,
        low.iter().flat_map(|(_, rows)| rows).map(|row| row.product_id).chain(top.iter().map(|row| row.product_id)),
    )
    .await?;
    let name = |id: ProductId| names.get(&id).cloned().unwrap_or_else(|| "A product that is no more".to_owned());
    let low_row = |row: &LowStock| Short {
        id: row.product_id,
        name: name(row.product_id),
        place: row.warehouse_id.clone(),
        figure: words::thousands(&row.available.max(0).to_string()),
        is_out: row.available <= 0,
    };
    let top_row = |row: &TopProduct| Short {
        id: row.product_id,
        name: name(row.product_id),
        place: row.rank.to_string(),
        figure: words::money(takings.currency.amount(row.value), &takings.currency),
        is_out: false,
    };
    Ok(Html(Dashboard {
        frame,
        today: format!("{} {}", words::weekday(today), words::day(now)),
        time: now.to_string().get(11..16).unwrap_or_default().to_owned(),
        figures: figures(&takings, &orders, &views, &last),
        revenue: revenue(&takings, &last),
        statuses: statuses(&orders),
        low: low.map(|(has_warehouses, rows)| Low { rows: rows.iter().map(low_row).collect(), has_warehouses }),
        top: top.iter().map(top_row).collect(),
        ranked_at: top.first().map(|row| words::moment(row.ranked_at)),
        views_seconds: ctx.settings.analytics.views_flush_seconds,
        elsewhere: takings.elsewhere.iter().map(|(currency, amount)| words::money(*amount, currency)).collect(),
        last,
    }))
}

fn figures(takings: &Takings, orders: &[DayOrders], views: &[DayViews], last: &str) -> [Figure; 4] {
    let days: Vec<Date> = (0..=WEEK).map(|ago| Date::from_days(takings.to.days() - WEEK + ago)).collect();
    let revenue: Vec<Decimal> = days.iter().map(|date| takings.on(*date)).collect();
    let count = |count: u64, is_whole: bool| {
        let text = words::thousands(&count.to_string());
        if is_whole { text } else { format!("{text} or more") }
    };
    let average = |(amount, day): (&Decimal, &DayOrders)| {
        let orders = Decimal::from(day.sales_at_home);
        if day.is_whole { amount.checked_div(orders) } else { None }
    };
    let averages: Vec<Option<Decimal>> = revenue.iter().zip(orders).map(average).collect();
    let sales: Vec<Decimal> = orders.iter().map(|day| Decimal::from(day.sales)).collect();
    let looks: Vec<Decimal> = views.iter().map(|day| Decimal::from(day.view_count)).collect();
    let told = |amount: Option<Decimal>| amount.map_or("–".into(), |amount| words::money(amount, &takings.currency));
    let figure = |name: &'static str, of: Vec<Option<Decimal>>, written: &dyn Fn(usize) -> String| {
        let (first, newest) = (of.first().copied().flatten(), of.last().copied().flatten());
        let change = match (newest, first) {
            (Some(now), then) => Change::of(now, then.unwrap_or_default(), last),
            (None, _) => Change { class: "same", sign: "", text: "no sale yet today".into() },
        };
        let spark = of.iter().map(|value| value.and_then(|value| value.to_f64())).collect::<Vec<_>>();
        let said: Vec<String> = (0..of.len()).map(written).collect();
        Figure {
            name,
            value: said.last().cloned().unwrap_or_default(),
            change,
            before: said.first().cloned().unwrap_or_default(),
            spark: charts::sparkline(&format!("{name} of the last eight days: {}", said.join(", ")), &spark),
        }
    };
    let some = |values: &[Decimal]| values.iter().copied().map(Some).collect::<Vec<_>>();
    [
        figure("Revenue", some(&revenue), &|i| words::money(revenue[i], &takings.currency)),
        figure("Orders", some(&sales), &|i| {
            orders.get(i).map_or_else(String::new, |day| count(day.sales, day.is_whole))
        }),
        figure("Average order", averages.clone(), &|i| told(averages.get(i).copied().flatten())),
        figure("Product views", some(&looks), &|i| {
            views.get(i).map_or_else(String::new, |day| count(day.view_count.unsigned_abs(), day.is_whole))
        }),
    ]
}

fn revenue(takings: &Takings, last: &str) -> Chart {
    let (now, then) = (takings.on(takings.to), takings.on(Date::from_days(takings.to.days() - WEEK)));
    let change = Change::of(now, then, last).text;
    let title = match now.is_zero() {
        true => format!("Nothing is sold yet today; {last} it was {}", words::money_glanced(then, &takings.currency)),
        false => format!("Revenue was {} today, {change}", words::money_glanced(now, &takings.currency)),
    };
    let written = |value: f64| {
        let amount = Decimal::from_f64_retain(value).unwrap_or_default();
        words::money_glanced(amount, &takings.currency)
    };
    charts::line(&Line {
        title: &title,
        labels: takings.days().map(words::short_day).collect(),
        series: vec![Series::area("Revenue", takings.positions(takings.shares.values()))],
        bands: Vec::new(),
        marks: Vec::new(),
        is_around: false,
        axis: &written,
        value: &written,
    })
}

/// The orders of the last seven days; None where there were none.
fn statuses(orders: &[DayOrders]) -> Option<Chart> {
    let days = orders.iter().skip(1);
    let count = |status: OrderStatus| days.clone().filter_map(|day| day.by_status.get(&status)).sum::<u64>();
    let parts = STATUSES.map(|(status, name)| {
        let value = count(status);
        Part { name: name.to_owned(), value, shown: words::thousands(&value.to_string()) }
    });
    let whole: u64 = parts.iter().map(|part| part.value).sum();
    let waiting = count(OrderStatus::Paid) + count(OrderStatus::Processing);
    let all = words::count(whole, "order", "orders");
    let title = match waiting {
        0 => format!("None of the {all} of the last seven days waits to be shipped"),
        waiting => {
            let verb = if waiting == 1 { "waits" } else { "wait" };
            format!(
                "{} of the {all} of the last seven days {verb} to be shipped",
                words::thousands(&waiting.to_string())
            )
        }
    };
    let is_whole = days.clone().all(|day| day.is_whole);
    let note = if is_whole { "" } else { "Of days with very many orders, the first thousand are counted." };
    (whole > 0).then(|| charts::stack(&title, &parts).with_note(note))
}

/// Whether there is a warehouse, and what is scarcest, if the visitor may see stock.
async fn low_stock(visit: &Visit) -> Result<Option<(bool, Vec<LowStock>)>, Problem> {
    if !may(visit, InventoryRead) {
        return Ok(None);
    }
    let ctx = &visit.ctx;
    let known = inventory::list_warehouses(ctx, PageRequest::first(WAREHOUSES_MAX)).await?.rows;
    let first = |known: &Warehouse| {
        let warehouse = known.warehouse_id.clone();
        async move { inventory::list_low_stock(ctx, &warehouse, PageRequest::first(ROWS)).await }
    };
    let pages = known.iter().map(first);
    let mut rows: Vec<_> = try_join_all(pages).await?.into_iter().flat_map(|page| page.rows).collect();
    rows.sort_by_key(|row| (row.available, row.product_id, row.warehouse_id.clone()));
    rows.truncate(ROWS);
    Ok(Some((!known.is_empty(), rows)))
}

async fn top_products(ctx: &Context) -> Result<Vec<TopProduct>, Problem> {
    let metric = Metric::Revenue(ctx.settings.orders.currency.clone());
    Ok(analytics::list_top_products(ctx, &metric, WEEK, PageRequest::first(ROWS)).await?.rows)
}

/// What products are called.
pub(super) async fn names(
    ctx: &Context,
    ids: impl IntoIterator<Item = ProductId>,
) -> Result<BTreeMap<ProductId, String>, Problem> {
    let ids: Vec<ProductId> = ids.into_iter().collect();
    let found = catalog::list_products(ctx, &ids).await?;
    Ok(found.into_iter().flatten().map(|product| (product.product_id, product.name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_in_words() {
        let change = |now: i64, then: i64| Change::of(now.into(), then.into(), "last Sunday");
        assert_eq!(change(108, 100).text, "8% more than last Sunday");
        assert_eq!((change(50, 100).text.as_str(), change(50, 100).sign), ("50% less than last Sunday", "▼"));
        assert_eq!(change(1_000, 999).text, "as much as last Sunday");
        assert_eq!(change(5, 0).text, "none last Sunday");
        assert_eq!(change(0, 0).text, "none last Sunday either");
        assert_eq!(change(0, 10).text, "100% less than last Sunday");
    }

    #[test]
    fn orders_that_wait_are_the_sentence() {
        let day = |paid| DayOrders {
            by_status: BTreeMap::from([(OrderStatus::Paid, paid), (OrderStatus::Delivered, 10)]),
            is_whole: true,
            ..DayOrders::default()
        };
        // The first is the day a week ago, which is not among the seven.
        let chart = statuses(&[day(100), day(1), day(1)]).expect("orders");
        assert_eq!(chart.title, "2 of the 22 orders of the last seven days wait to be shipped");
        assert!(statuses(&[day(100)]).is_none());
    }
}
