//! Records and keys, without an engine.

use proptest::prelude::*;
use rust_decimal::Decimal;
use widerow::{Derive, Row as _, Timestamp};

use super::*;
use crate::settings::SalesSettings;

fn told(price: Decimal) -> NewSale {
    NewSale {
        product_id: "prod_123".into(),
        sale_id: "sale_abc".into(),
        sale_date: "2025-12-29".into(),
        sale_price: price,
        category: "dress".into(),
        ..NewSale::default()
    }
}

fn now() -> Timestamp {
    Timestamp::from_millis(1_767_000_000_000)
}

#[test]
fn a_sale_without_brand_and_embedding_is_in_the_trends_alone() {
    let record = prepare(told(Decimal::ONE), &SalesSettings::default(), now()).expect("a record").record;
    assert_eq!(Derive::<CategorySale>::derive(&record).len(), 1);
    assert!(Derive::<BrandSale>::derive(&record).is_empty());
    assert!(Derive::<EmbeddingSale>::derive(&record).is_empty());
    assert_eq!((record.list_price(), record.season.as_deref()), (Decimal::ONE, Some("WINTER")));
}

#[test]
fn the_number_of_shards_is_a_setting() {
    let settings = SalesSettings { category_shards: 3, ..SalesSettings::default() };
    let record = prepare(told(Decimal::ONE), &settings, now()).expect("a record").record;
    assert_eq!(record.category_shard, Some(i32::from(b'c') % 3));
}

#[test]
fn the_documents_columns_have_the_documents_names() {
    let names: Vec<_> = SaleRecord::table().columns.iter().map(|column| column.name.as_str()).collect();
    let printed = [
        "productId",
        "saleDate",
        "saleId",
        "salePrice",
        "originalPrice",
        "category",
        "brand",
        "season",
        "embeddingId",
        "embeddingS3Key",
        "ttl",
        "createdAt",
        "updatedAt",
    ];
    assert_eq!(names[..13], printed);
    // These two have no attribute of their own on DynamoDB.
    assert_eq!(names[13..], ["categoryShard", "embeddingShard"]);
    assert!(SaleRecord::table().columns[13..].iter().all(|column| column.index_key.is_some()));
}

proptest! {
    #[test]
    fn padded_prices_sort_as_prices_do(a in 0_i64..10_000_000_000, b in 0_i64..10_000_000_000) {
        let pad = |cents| PaddedPrice::of(Decimal::new(cents, 2)).expect("a price");
        prop_assert_eq!(pad(a).cmp(&pad(b)), a.cmp(&b));
        prop_assert_eq!(pad(a).minor_units(), u64::try_from(a).ok());
        prop_assert_eq!(pad(a).price(), Some(Decimal::new(a, 2)));
    }

    #[test]
    fn a_price_is_recorded_or_refused_by_name(cents in -1_000_i64..20_000_000_000, scale in 0_u32..5) {
        let price = Decimal::new(cents, scale);
        match prepare(told(price), &SalesSettings::default(), now()) {
            Ok(prepared) => {
                prop_assert_eq!(prepared.record.sale_price, price);
                prop_assert!(PaddedPrice::of(price).is_some());
            }
            Err(Error::Invalid(invalid)) => {
                prop_assert_eq!(invalid.fields[0].field.as_str(), "sale_price");
                prop_assert!(PaddedPrice::of(price).is_none());
            }
            Err(other) => prop_assert!(false, "{}", other),
        }
    }

    #[test]
    fn any_text_is_a_day_or_none(text in ".{0,12}", year in -5_i32..10_010, month in 0_u32..15, day in 0_u32..35) {
        for text in [text, format!("{year:04}-{month:02}-{day:02}")] {
            if let Some(date) = parse_date(&text) {
                prop_assert_eq!(date.to_string(), text);
                prop_assert!(date.in_range());
            }
        }
    }

    #[test]
    fn every_id_has_a_shard(id in ".{0,20}", shards in 0_u32..200) {
        let bound = shards.max(1) as i32;
        prop_assert!((0..bound).contains(&shards::category_shard(&id, shards)));
        prop_assert!((0..bound).contains(&shards::embedding_shard(&id, shards)));
    }
}
