//! Real public sales, in the folder that `MERKATO_TEST_DATA` names; without them the run says that it skipped them. What the
//! figures say is what a few lines here make of the same file by themselves.
//!
//! They are not of this project: `sales-stockx-to-2018-10` (StockX data contest of 2019).

use std::{collections::BTreeMap, fs::File, io::Read as _, path::Path};

use merkato::{
    Currency, PageRequest, Settings,
    flows::import::{SaleOptions, import_sales},
    sales::{self, Days, NameKind, Subject, figures::By},
};
use rust_decimal::Decimal;
use widerow::Date;
use widerow_testing::Target;

use super::{
    known,
    real::{is_quick, real},
};
use crate::world::World;

widerow_testing::cases![resales_of_a_year_are_found_by_brand_and_month];

fn rows(file: &Path) -> Vec<BTreeMap<String, String>> {
    let mut bytes = Vec::new();
    flate2::read::MultiGzDecoder::new(File::open(file).expect("a file")).read_to_end(&mut bytes).expect("unpacked");
    let rows = csv::Reader::from_reader(&bytes[..]).into_deserialize().map(|row| row.expect("a row"));
    rows.filter(|row: &BTreeMap<String, String>| price(row).normalize().scale() <= 2).collect()
}

fn price(row: &BTreeMap<String, String>) -> Decimal {
    row["Sale Price"].parse().expect("a price")
}

/// By the definition that spreadsheets have.
fn median(mut prices: Vec<Decimal>) -> Decimal {
    prices.sort();
    let middle = prices.len() / 2;
    if prices.len() % 2 == 1 { prices[middle] } else { (prices[middle - 1] + prices[middle]) / Decimal::TWO }
}

async fn resales_of_a_year_are_found_by_brand_and_month(target: &Target) {
    let path = "sales-stockx-to-2018-10/stockx_2017-09_2018-10.csv.gz";
    let Some(file) = real(path).filter(|_| is_quick(target)) else { return };
    let mut settings = Settings::default();
    settings.sales.retention_years = 0;
    let world = World::with(target, settings);
    let ctx = &world.ctx;
    let options = || SaleOptions { category: "sneakers".into(), ..SaleOptions::new("stockx", Currency::new("USD")) };
    let open = || File::open(&file).expect("a file");
    let report = import_sales(ctx, open(), options(), |_| {}).await.expect("an import");
    // Two prices are finer than a cent.
    assert_eq!((report.read, report.created), (57_968, 57_966), "{:?}", report.rejected.first());
    assert!(report.rejected.iter().all(|rejected| rejected.reason.contains("two decimals")), "{:?}", report.rejected);
    assert_eq!(report.read, known(&report));

    let mut by_month: BTreeMap<String, Vec<Decimal>> = BTreeMap::new();
    let mut by_brand: BTreeMap<String, u64> = BTreeMap::new();
    for row in rows(&file) {
        by_month.entry(row["Order Date"][..7].to_owned()).or_default().push(price(&row));
        *by_brand.entry(row["Brand"].trim().to_owned()).or_default() += 1;
    }
    let subject = Subject::Category { name: "sneakers".into(), season: None };
    let trend = sales::get_trend(ctx, &subject, By::Month, Days::default()).await.expect("a trend");
    assert_eq!((trend.periods.len(), trend.left_out), (14, 0));
    for period in &trend.periods {
        let prices = by_month.remove(&period.period.to_string()).expect("a month");
        let summary = period.summary.as_ref().expect("sales");
        assert_eq!(summary.count, prices.len() as u64, "{}", period.period);
        assert_eq!(summary.median.normalize(), median(prices).normalize(), "{}", period.period);
    }
    assert!(by_month.is_empty(), "{by_month:?}");
    let names = sales::list_names(ctx, NameKind::Brand, PageRequest::default()).await.expect("names");
    assert_eq!(names.rows.iter().map(|row| &row.name).collect::<Vec<_>>(), by_brand.keys().collect::<Vec<_>>());
    let brands = sales::compare_brands(ctx, "sneakers", None, Days::default()).await.expect("brands");
    for brand in brands.brands {
        let name = brand.name.expect("all have a brand");
        assert_eq!(brand.summary.count, by_brand[&name], "{name}");
    }
    // A page goes on where the one before it ended, over all ten shards.
    let days = Days::between(Date::new(2018, 1, 1).expect("a day"), Date::new(2018, 1, 3).expect("a day"));
    let (mut listed, mut cursor) = (0, None);
    loop {
        let page = PageRequest { limit: 50, cursor };
        let page = sales::list_category_sales(ctx, "sneakers", None, days, page).await.expect("a page");
        listed += page.rows.len();
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    let expected =
        rows(&file).iter().filter(|row| ("2018-01-01"..="2018-01-03").contains(&&*row["Order Date"])).count();
    assert_eq!(listed, expected);
    let again = import_sales(ctx, open(), options(), |_| {}).await.expect("an import");
    assert_eq!((again.created, again.changed, again.unchanged), (0, 0, 57_966));
}
