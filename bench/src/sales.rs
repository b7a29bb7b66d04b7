//! Sales: how fast they are recorded in batches, and what a trend costs beside reading exactly the rows that it is made of.

use std::{ops::Bound, sync::Arc, time::Instant};

use merkato::{
    Context, Settings,
    context::SystemChance,
    sales::{self, CategorySale, Days, NewSale, SaleRecord},
};
use rust_decimal::Decimal;
use widerow::{
    Database, Date,
    embedded::Embedded,
    time::{Clock as _, SystemClock},
};

use crate::measure::{Verdict, Verdicts, duel};

const NAME: &str = "sales";
/// Sales a second that a batch has to reach.
const RATE_MIN: f64 = 10_000.0;
/// A trend takes at most three times as long as its rows.
const TREND_FLOOR: f64 = 1.0 / 3.0;
const BATCH: usize = 5_000;
const CATEGORIES: usize = 20;
const PRODUCTS: usize = 20_000;
/// All of them are kept: the retention is two years.
const DAYS: usize = 700;
const TREND_DAYS: i32 = 90;
const CATEGORY: &str = "category-7";

/// One of so many: every product is of one category and one brand, prices spread as prices do.
fn sale(i: usize, today: Date) -> NewSale {
    // Odd, and so every number comes once before one comes again.
    let mixed = i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
    let product = mixed % PRODUCTS;
    let list = Decimal::new(1_000 + (product * 37 % 40_000) as i64, 2);
    NewSale {
        product_id: format!("prod_{product:05}"),
        sale_id: format!("sale_{i:016x}"),
        sale_date: Date::from_days(today.days() - (mixed / PRODUCTS % DAYS) as i32).to_string(),
        sale_price: (list * Decimal::new(60 + (i % 41) as i64, 2)).round_dp(2),
        original_price: Some(list),
        category: format!("category-{}", product % CATEGORIES),
        brand: (!product.is_multiple_of(5)).then(|| format!("brand-{}", product % 97)),
        ..NewSale::default()
    }
}

pub async fn run(quick: bool, verdicts: &mut Verdicts) {
    if !verdicts.wants(NAME) && !verdicts.only.as_deref().is_some_and(|only| only.starts_with(NAME)) {
        return;
    }
    let count = if quick { 100_000 } else { 1_000_000 };
    let folder = tempfile::tempdir().expect("a folder");
    let schema = || merkato::schema().expect("a schema");
    let database = Database::new(Embedded::open(folder.path(), &schema()).expect("the folder opens"), schema());
    database.migrate().await.expect("tables");
    let store = database.tenant("bench").expect("a good name");
    let ctx = Context::new(store, Settings::default(), Arc::new(SystemClock), Arc::new(SystemChance));
    let today = SystemClock.now().date();
    record(&ctx, count, today, verdicts).await;

    let first = Date::from_days(today.days() - TREND_DAYS + 1);
    let days = Days::between(first, today);
    let mut rows = Vec::new();
    let seen = sales::walk_category(&ctx, CATEGORY, None, days, |sale| rows.push(sale)).await.expect("a trend");
    assert!(seen > 0 && seen as usize == rows.len());
    println!("\na trend of {TREND_DAYS} days in one of {CATEGORIES} categories of {count} sales: {seen} sales");
    let rounds = if quick { 12 } else { 40 };
    let keys: Vec<_> = rows.iter().map(SaleRecord::key).collect();
    let records = || async {
        let mut total = Decimal::ZERO;
        sales::walk_category(&ctx, CATEGORY, None, days, |sale| total += sale.sale_price).await.expect("a trend")
            as usize
    };
    let exactly = || async {
        let (mut found, mut total) = (0, Decimal::ZERO);
        for some in keys.chunks(widerow::limits::GET_KEYS_MAX) {
            let records = ctx.store.get_many::<SaleRecord>(some.iter().cloned()).await.expect("records");
            found += records.len();
            total += records.iter().flatten().map(|sale| sale.sale_price).sum::<Decimal>();
        }
        assert!(total > Decimal::ZERO);
        found
    };
    duel("sales: a trend with its records", TREND_FLOOR, rounds, records, exactly, verdicts).await;
    let prices = || async {
        let mut total = Decimal::ZERO;
        sales::walk_category_prices(&ctx, CATEGORY, days, |_, price| total += price).await.expect("a trend") as usize
    };
    let shards = ctx.settings.sales.category_shards as i32;
    let slices = || async {
        let mut found = 0;
        for shard in 0..shards {
            let slice = ctx.store.slice::<CategorySale>((CATEGORY.to_owned(), shard));
            let slice = slice.from(Bound::Included(first)).to(Bound::Included(today));
            found += slice.limit(seen as usize).page().await.expect("a slice").rows.len();
        }
        found
    };
    assert_eq!(slices().await as u64, seen, "the same rows");
    duel("sales: a trend of days and prices", TREND_FLOOR, rounds, prices, slices, verdicts).await;
}

/// Batch after batch, one at a time; how many a second, made durable and put into three indexes.
async fn record(ctx: &Context, count: usize, today: Date, verdicts: &mut Verdicts) {
    let mut seconds = 0.0;
    for first in (0..count).step_by(BATCH) {
        let batch: Vec<_> = (first..first + BATCH).map(|i| sale(i, today)).collect();
        let start = Instant::now();
        let answers = sales::put_sales(ctx, batch).await.expect("answers");
        seconds += start.elapsed().as_secs_f64();
        assert!(answers.iter().all(Result::is_ok), "{:?}", answers.iter().find(|answer| answer.is_err()));
        if (first + BATCH).is_multiple_of(count / 10) {
            eprint!("\rrecording sales {}%", (first + BATCH) * 100 / count);
        }
    }
    eprintln!();
    let rate = count as f64 / seconds;
    println!("\n{count} sales recorded, {BATCH} a batch: {rate:.0} a second");
    verdicts.all.push(Verdict { name: "sales: 10,000 a second in batches".into(), ratio: rate / RATE_MIN, floor: 1.0 });
}
