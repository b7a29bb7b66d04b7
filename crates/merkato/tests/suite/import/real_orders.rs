//! Real public orders, in the folder that `MERKATO_TEST_DATA` names; without them the run says that it skipped them. The sales
//! of every day are what a few lines here make of the same files by themselves.
//!
//! They are not of this project, and each has a licence of its own: `orders-online-retail-2011h1` (UCI Online Retail, Chen
//! 2015, CC BY 4.0), `orders-olist-sample` (Olist, CC BY-NC-SA 4.0, not for commerce).

use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    io::Read,
    path::Path,
};

use merkato::{
    Currency,
    analytics::{self, Sales},
    flows::{
        import::{Companion, DateOrder, OrderOptions, Report},
        sales,
    },
    limits,
};
use rust_decimal::{Decimal, prelude::ToPrimitive as _};
use widerow::Date;
use widerow_testing::Target;

use super::{
    orders_of,
    real::{is_quick, real},
};
use crate::world::World;

widerow_testing::cases![
    invoices_of_half_a_year_are_the_sales_of_their_days,
    orders_in_four_tables_are_the_sales_of_their_days,
];

type Row = HashMap<String, String>;

fn rows(file: &Path) -> Vec<Row> {
    let mut bytes = Vec::new();
    let mut opened = File::open(file).expect("a file");
    if file.extension().is_some_and(|extension| extension == "gz") {
        flate2::read::MultiGzDecoder::new(opened).read_to_end(&mut bytes).expect("unpacked");
    } else {
        opened.read_to_end(&mut bytes).expect("read");
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let mut reader = csv::Reader::from_reader(bytes);
    reader.deserialize().map(|row| row.expect("a row")).collect()
}

fn decimal(text: &str) -> Decimal {
    text.parse().expect("a number")
}

fn cents(amount: Decimal) -> i64 {
    (amount * Decimal::ONE_HUNDRED).to_i64().expect("a sum")
}

/// Sees that the sales are these on these days, over all categories, and none on the days between.
async fn assert_sold(world: &World, expected: &BTreeMap<Date, (i64, i64)>) {
    let first = expected.keys().next().expect("a day").days();
    let last = expected.keys().next_back().expect("a day").days();
    let mut found: BTreeMap<Date, (i64, i64)> = BTreeMap::new();
    for from in (first - 1..=last + 1).step_by(limits::SALES_DAYS_MAX as usize) {
        let to = (from + limits::SALES_DAYS_MAX - 1).min(last + 1);
        let (from, to) = (Date::from_days(from), Date::from_days(to));
        for row in analytics::list_daily_sales_between(&world.ctx, from, to).await.expect("sales") {
            let day = found.entry(row.date).or_default();
            day.0 += row.item_count;
            day.1 += row.revenue_cents;
        }
    }
    assert_eq!(&found, expected);
    // The orders as they are stored say the same, on some of the days.
    for date in expected.keys().step_by(expected.len() / 4 + 1) {
        let report = sales::rebuild_sales(&world.ctx, *date, false).await.expect("a report");
        assert!(report.is_sound() && report.orders > 0, "{report:?}");
    }
}

fn assert_same(again: &Report, first: &Report) {
    assert_eq!((again.created, again.changed, again.unchanged), (0, 0, first.created));
    assert_eq!((&again.sales, &again.rejected, &again.notes), (&first.sales, &first.rejected, &first.notes));
}

async fn invoices_of_half_a_year_are_the_sales_of_their_days(target: &Target) {
    let path = "orders-online-retail-2011h1/online_retail_2010-12_2011-06_raw.csv.gz";
    let Some(file) = real(path).filter(|_| is_quick(target)) else { return };
    let world = World::new(target);
    let options = OrderOptions {
        dates: DateOrder::MonthFirst,
        cancellation_prefix: Some("C".into()),
        ..OrderOptions::new("online-retail", Currency::new("GBP"))
    };
    let open = || File::open(&file).expect("a file");
    let report = orders_of(&world, open(), vec![], options.clone()).await;

    let (mut all, mut lines) = (Decimal::ZERO, (0, 0, 0));
    let mut expected: BTreeMap<Date, (i64, i64)> = BTreeMap::new();
    let mut orders: BTreeMap<Date, std::collections::BTreeSet<String>> = BTreeMap::new();
    for row in rows(&file) {
        let (quantity, price) = (decimal(&row["Quantity"]), decimal(&row["UnitPrice"]));
        let amount = quantity * price;
        all += amount;
        if row["InvoiceNo"].starts_with('C') {
            lines.1 += 1;
        } else if quantity <= Decimal::ZERO || price.normalize().scale() > 2 || row["Description"].is_empty() {
            lines.2 += 1;
        } else {
            lines.0 += 1;
            let (day, _) = row["InvoiceDate"].split_once(' ').expect("a time");
            let parts: Vec<i16> = day.split('/').map(|part| part.parse().expect("a number")).collect();
            let date = Date::new(2000 + parts[2], parts[0] as i8, parts[1] as i8).expect("a day");
            let sum = expected.entry(date).or_default();
            sum.0 += quantity.to_i64().expect("pieces");
            sum.1 += cents(amount);
            orders.entry(date).or_default().insert(row["InvoiceNo"].clone());
        }
    }
    let found = report.sales.clone().expect("sums");
    assert_eq!(report.read, 240_007);
    assert_eq!((found.standing.lines, found.cancelled.lines, found.rejected.lines), lines);
    assert_eq!(lines, (234_592, 4_350, 1_065));
    assert_eq!((found.standing.orders, found.cancelled.orders, report.created), (9_458, 1_946, 11_404));
    assert_eq!(found.standing.amount - found.cancelled.amount + found.rejected.amount, all);
    assert_eq!(found.standing.amount, decimal("4700382.11"));
    assert_eq!(cents(found.standing.amount), expected.values().map(|(_, cents)| cents).sum::<i64>());
    assert_sold(&world, &expected).await;
    for (date, orders) in orders {
        let rows = analytics::list_daily_sales_between(&world.ctx, date, date).await.expect("sales");
        let [row] = &rows[..] else { panic!("{rows:?}") };
        let sold = Sales { order_count: row.order_count, item_count: row.item_count, revenue_cents: row.revenue_cents };
        assert_eq!(sold.order_count, orders.len() as i64, "{date}");
    }
    assert_same(&orders_of(&world, open(), vec![], options).await, &report);
}

async fn orders_in_four_tables_are_the_sales_of_their_days(target: &Target) {
    let Some(items) = real("orders-olist-sample/olist_order_items_dataset.csv").filter(|_| is_quick(target)) else {
        return;
    };
    let file = |name: &str| items.with_file_name(format!("olist_{name}_dataset.csv"));
    let open = |name: &str| File::open(file(name)).expect("a file");
    let companions = || {
        vec![
            Companion::new("orders", open("orders"), "order_id"),
            Companion::new("products", open("products"), "product_id"),
            Companion::new("customers", open("customers"), "customer_id"),
        ]
    };
    let world = World::new(target);
    let options = OrderOptions::new("olist", Currency::new("BRL"));
    let report = orders_of(&world, open("order_items"), companions(), options.clone()).await;

    let orders: HashMap<String, Row> =
        rows(&file("orders")).into_iter().map(|row| (row["order_id"].clone(), row)).collect();
    let (mut stand, mut cancelled) = (Decimal::ZERO, Decimal::ZERO);
    let mut expected: BTreeMap<Date, (i64, i64)> = BTreeMap::new();
    for row in rows(&file("order_items")) {
        let (order, price) = (&orders[&row["order_id"]], decimal(&row["price"]));
        if ["canceled", "unavailable"].contains(&order["order_status"].as_str()) {
            cancelled += price;
        } else {
            stand += price;
            let date = order["order_purchase_timestamp"][..10].parse().expect("a day");
            let sum = expected.entry(date).or_default();
            sum.0 += 1;
            sum.1 += cents(price);
        }
    }
    let found = report.sales.clone().expect("sums");
    assert_eq!((report.read, report.rejected.len()), (8_365, 0), "{:?}", report.rejected);
    assert_eq!((found.standing.amount, found.cancelled.amount), (stand, cancelled));
    assert_eq!((report.created, found.orders_without_lines), (7_360, 775));
    assert_sold(&world, &expected).await;
    assert_same(&orders_of(&world, open("order_items"), companions(), options).await, &report);
}
