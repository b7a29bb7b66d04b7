//! Sales that are recorded, replaced, taken back, and refused.

use merkato::{
    Kind, Settings,
    sales::{self, Error, Hemisphere, NewSale, SaleRecord},
    settings::SalesSettings,
};
use rust_decimal::Decimal;
use widerow_testing::{Target, cases};

use super::{day, put_all, sale};
use crate::world::{World, raw_rows};
use widerow::Row as _;

cases![
    a_sale_is_recorded_found_and_taken_back,
    what_is_wrong_with_a_sale_is_named,
    a_bad_sale_takes_no_other_of_its_batch_along,
    a_sale_has_the_season_of_its_day,
    a_sale_ends_two_calendar_years_later,
    vectors_are_kept_beside_the_sales,
    what_is_taken_back_is_not_near,
];

async fn a_sale_is_recorded_found_and_taken_back(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let today = day(ctx, 0);
    let stored = sales::put_sale(ctx, sale(ctx, "prod_123", "sale_abc")).await.expect("stored");
    assert_eq!(sales::get_sale(ctx, "prod_123", today, "sale_abc").await.expect("found"), stored);
    assert_eq!((stored.category_shard, stored.embedding_shard), (Some(9), Some(0)));
    assert_eq!((stored.created_at, stored.updated_at), (Some(ctx.now()), Some(ctx.now())));
    // Again, at another price.
    let cheaper = NewSale { sale_price: Decimal::from(50), brand: None, ..sale(ctx, "prod_123", "sale_abc") };
    sales::put_sale(ctx, cheaper).await.expect("stored");
    let found = sales::get_sale(ctx, "prod_123", today, "sale_abc").await.expect("found");
    assert_eq!((found.sale_price, found.brand), (Decimal::from(50), None));
    sales::delete_sale(ctx, "prod_123", today, "sale_abc").await.expect("gone");
    sales::delete_sale(ctx, "prod_123", today, "sale_abc").await.expect("no mistake");
    let missing = sales::get_sale(ctx, "prod_123", today, "sale_abc").await.expect_err("gone");
    assert_eq!((missing.code(), missing.kind()), ("sale_not_found", Kind::NotFound));
    for table in [SaleRecord::table(), sales::CategorySale::table(), sales::BrandSale::table()] {
        assert!(raw_rows(&world, table).await.is_empty(), "{}", table.name);
    }
}

type Spoil = fn(&mut NewSale);

/// A field and how to spoil it.
const BAD: &[(&str, Spoil)] = &[
    ("sale_date", |sale| sale.sale_date = "2025-13-01".into()),
    ("sale_date", |sale| sale.sale_date = "2025-02-30".into()),
    ("sale_date", |sale| sale.sale_date = "2025-2-3".into()),
    ("sale_date", |sale| sale.sale_date = "20251229".into()),
    ("sale_date", |sale| sale.sale_date = "2025-12-29T10:00:00Z".into()),
    ("sale_date", |sale| sale.sale_date = String::new()),
    ("sale_price", |sale| sale.sale_price = Decimal::new(-1, 2)),
    ("sale_price", |sale| sale.sale_price = Decimal::new(1, 3)),
    ("sale_price", |sale| sale.sale_price = Decimal::new(100_000_000, 0)),
    ("original_price", |sale| sale.original_price = Some(Decimal::new(-5, 0))),
    ("product_id", |sale| sale.product_id = String::new()),
    ("product_id", |sale| sale.product_id = "a#b".into()),
    ("product_id", |sale| sale.product_id = "x".repeat(129)),
    ("sale_id", |sale| sale.sale_id = "a\0b".into()),
    ("sale_id", |sale| sale.sale_id = "x#y".into()),
    ("category", |sale| sale.category = "TENANT#other".into()),
    ("category", |sale| sale.category = " ".into()),
    ("brand", |sale| sale.brand = Some("x".repeat(201))),
    ("season", |sale| sale.season = Some("Autumn".into())),
    ("embedding_s3_key", |sale| sale.embedding_s3_key = Some("x".repeat(2_049))),
    ("embedding_s3_key", |sale| sale.embedding_s3_key = None),
    ("vector", |sale| sale.vector = Some(vec![f32::NAN])),
    ("vector", |sale| sale.vector = Some(vec![0.0; 3])),
    ("vector", |sale| sale.vector = Some(vec![1.0; 4_097])),
];

fn named(error: &Error) -> Vec<String> {
    match error {
        Error::Invalid(invalid) => invalid.fields.iter().map(|bad| bad.field.clone()).collect(),
        other => panic!("{other}"),
    }
}

async fn what_is_wrong_with_a_sale_is_named(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    for (field, spoil) in BAD {
        let mut bad = sale(ctx, "p", "s");
        spoil(&mut bad);
        let error = sales::put_sale(ctx, bad.clone()).await.expect_err(field);
        assert_eq!(named(&error), [*field], "{bad:?}");
        assert_eq!(error.kind(), Kind::Invalid);
    }
    // All of it at once, and a record that no engine would take.
    let worse = NewSale { sale_date: "x".into(), category: String::new(), ..sale(ctx, "p", "s#") };
    let error = sales::put_sale(ctx, worse).await.expect_err("refused");
    assert_eq!(named(&error), ["sale_id", "category", "sale_date"]);
    let huge = NewSale { embedding_s3_key: Some("x".repeat(500_000)), ..sale(ctx, "p", "s") };
    let error = sales::put_sale(ctx, huge).await.expect_err("refused");
    assert!(matches!(error, Error::TooLarge { what: "sale record in bytes", size: 500_000.., limit: 327_680 }));
    let many = vec![sale(ctx, "p", "s"); 10_001];
    let error = sales::put_sales(ctx, many).await.expect_err("refused");
    assert!(matches!(error, Error::TooLarge { what: "sales of one batch", size: 10_001, limit: 10_000 }));
    assert!(raw_rows(&world, SaleRecord::table()).await.is_empty());
}

async fn a_bad_sale_takes_no_other_of_its_batch_along(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let mut batch: Vec<NewSale> = (0..100).map(|n| sale(ctx, &format!("prod_{n}"), &format!("sale_{n}"))).collect();
    batch[5].sale_date = "2025-13-01".into();
    batch[25].sale_price = Decimal::NEGATIVE_ONE;
    batch[26].embedding_s3_key = Some("x".repeat(500_000));
    batch[99].category = "a#b".into();
    let answers = sales::put_sales(ctx, batch).await.expect("a batch");
    for (n, answer) in answers.iter().enumerate() {
        assert_eq!(answer.is_err(), [5, 25, 26, 99].contains(&n), "{n}: {answer:?}");
    }
    assert_eq!(raw_rows(&world, SaleRecord::table()).await.len(), 96);
    assert_eq!(raw_rows(&world, sales::CategorySale::table()).await.len(), 96);
}

async fn a_sale_has_the_season_of_its_day(target: &Target) {
    for (hemisphere, season) in [(Hemisphere::North, "WINTER"), (Hemisphere::South, "SUMMER")] {
        let sales_settings = SalesSettings { hemisphere, ..SalesSettings::default() };
        let world = World::with(target, Settings { sales: sales_settings, ..Settings::default() });
        let ctx = &world.ctx;
        let january = format!("{}-01-15", ctx.now().date().civil().expect("a year").year());
        let told = NewSale { season: Some("FALL".into()), sale_date: january.clone(), ..sale(ctx, "p", "told") };
        let by_day = NewSale { sale_date: january, ..sale(ctx, "p", "by day") };
        let stored = put_all(ctx, vec![told, by_day]).await;
        let seasons: Vec<_> = stored.iter().map(|sale| sale.season.as_deref()).collect();
        assert_eq!(seasons, [Some("FALL"), Some(season)]);
    }
}

async fn a_sale_ends_two_calendar_years_later(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let stored = sales::put_sale(ctx, NewSale { sale_date: "2025-12-29".into(), ..sale(ctx, "p", "s") }).await;
    let found = sales::find_sale(ctx, "p", "2025-12-29".parse().expect("a day"), "s").await.expect("read");
    let end = stored.expect("stored").ttl.expect("an end");
    assert_eq!(end.to_string(), "2027-12-29T00:00:00.000Z");
    assert_eq!(found.and_then(|sale| sale.ttl), Some(end).filter(|end| *end > ctx.now()));
    let kept = SalesSettings { retention_years: 0, ..SalesSettings::default() };
    let world = World::with(target, Settings { sales: kept, ..Settings::default() });
    let old = NewSale { sale_date: "1999-02-28".into(), ..sale(&world.ctx, "p", "s") };
    sales::put_sale(&world.ctx, old).await.expect("stored");
    let found = sales::get_sale(&world.ctx, "p", "1999-02-28".parse().expect("a day"), "s").await.expect("kept");
    assert_eq!(found.ttl, None);
}

async fn vectors_are_kept_beside_the_sales(target: &Target) {
    let world = World::new(target);
    let ctx = &world.ctx;
    let with = |n: u8| NewSale {
        vector: Some(vec![f32::from(n), 0.5, -1.0]),
        ..sale(ctx, &format!("prod_{n}"), &format!("sale_{n}"))
    };
    put_all(ctx, (1..=20).map(with).collect()).await;
    let mut seen = Vec::new();
    let count = sales::walk_vectors(ctx, |vector| seen.push((vector.product_id.clone(), vector.vector()))).await;
    assert_eq!(count.expect("walked"), 20);
    assert!(seen.contains(&("prod_7".into(), vec![7.0, 0.5, -1.0])));
}

async fn what_is_taken_back_is_not_near(target: &Target) {
    let world = World::new(target);
    let (ctx, floats) = (&world.ctx, [1.0, 0.5]);
    let with =
        |n: u8| NewSale { vector: Some(floats.to_vec()), ..sale(ctx, &format!("prod_{n}"), &format!("sale_{n}")) };
    let without = |n: u8| NewSale { vector: None, ..with(n) };
    put_all(ctx, (1..=5).map(with).collect()).await;
    let near = async || {
        let near = sales::find_nearest(ctx, &floats, 10, None).await.expect("found");
        let mut near: Vec<_> = near.into_iter().map(|near| (near.product_id, near.sale_price)).collect();
        near.sort();
        near
    };
    let at = |n: u8, cents| (format!("prod_{n}"), Decimal::new(cents, 2));
    assert_eq!(near().await, [at(1, 99_99), at(2, 99_99), at(3, 99_99), at(4, 99_99), at(5, 99_99)]);
    sales::delete_sale(ctx, "prod_1", day(ctx, 0), "sale_1").await.expect("gone");
    // Again, at another price; with another embedding; and as it was.
    let cheaper = NewSale { sale_price: Decimal::from(50), ..without(2) };
    let other = NewSale { embedding_id: Some("another".into()), ..without(3) };
    put_all(ctx, vec![cheaper, other, without(4)]).await;
    assert_eq!(near().await, [at(2, 50_00), at(4, 99_99), at(5, 99_99)]);
    let dearer = NewSale { sale_price: Decimal::from(70), ..with(2) };
    put_all(ctx, vec![dearer]).await;
    assert_eq!(near().await, [at(2, 70_00), at(4, 99_99), at(5, 99_99)]);
    // A sale that brought no vector takes none along: it may be another's.
    let second = NewSale { sale_id: "second".into(), sale_price: Decimal::from(10), ..without(5) };
    put_all(ctx, vec![second]).await;
    sales::delete_sale(ctx, "prod_5", day(ctx, 0), "second").await.expect("gone");
    assert_eq!(near().await, [at(2, 70_00), at(4, 99_99), at(5, 99_99)]);
}
