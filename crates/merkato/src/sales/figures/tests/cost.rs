use proptest::prelude::*;
use rust_decimal::Decimal;

use super::decimal;
use crate::{
    error::Kind,
    sales::figures::{
        cost::{Design, Estimate, Line, Load, Mix, Part, Prices, Sample, Sizes, estimate, write_units},
        limits,
    },
};

fn of(load: &Load) -> Estimate {
    estimate(load, &Sizes::default(), &Design::default(), &Prices::default()).expect("good")
}

fn line<'e>(estimate: &'e Estimate, part: Part, what: &str) -> &'e Line {
    let found = estimate.lines.iter().find(|line| line.part == part && line.what == what);
    found.unwrap_or_else(|| panic!("no {part} {what} in {estimate}"))
}

#[test]
fn sizes_are_those_of_the_documents_own_sale() {
    // Its key has "PK" and "TENANT#carousel-labs#PRODUCT#prod_123", "SK" and "SALE#2025-12-29#sale_abc".
    let key = 2 + 37 + 2 + 24;
    // "GSI1PK", "TENANT#carousel-labs#CATEGORY#dress#SHARD#0", "GSI1SK", "DATE#2025-12-29#PRICE#0000009999".
    let category_key = 6 + 43 + 6 + 32;
    let sizes = Sizes::default();
    assert_eq!(sizes.category_entry_bytes, key + category_key);
    // "GSI3PK", "TENANT#carousel-labs#BRAND#Nike", "GSI3SK", "DATE#2025-12-29#PRICE#0000009999".
    let brand_key = 6 + 31 + 6 + 32;
    assert_eq!(sizes.brand_entry_bytes, key + brand_key);
    assert_eq!(sizes.item_bytes - sizes.unbranded_item_bytes, brand_key + 5 + 4);
    // "GSI2PK", "TENANT#carousel-labs#EMBTYPE#PRODUCT#SHARD#0", "GSI2SK", "DATE#2025-12-29"; embeddingS3Key, productId,
    // category, brand, and salePrice with four digits in two bytes and one more.
    let embedding_key = 6 + 44 + 6 + 15;
    let included = (14 + 63) + (9 + 8) + (8 + 5) + (5 + 4) + (9 + 3);
    assert_eq!(sizes.embedding_entry_bytes, key + embedding_key + included);
    // tenant, saleId, saleDate, originalPrice (five digits), season, embeddingId, ttl (ten digits), createdAt, updatedAt.
    let others = (6 + 13) + (6 + 8) + (8 + 10) + (13 + 4) + (6 + 6) + (11 + 7) + (3 + 6) + (9 + 24) + (9 + 24);
    assert_eq!(sizes.item_bytes, key + category_key + embedding_key + brand_key + included + others);
    let round = Sample { price: decimal("100.00"), ..Sample::DOCUMENT };
    assert_eq!(Sizes::of(&round).item_bytes, sizes.item_bytes - 1, "zeros at the end take nothing");
    let free = Sample { price: decimal("0"), ..Sample::DOCUMENT };
    assert_eq!(Sizes::of(&free).item_bytes, sizes.item_bytes - 2);
}

#[test]
fn a_hundred_items_take_a_hundred_units_and_their_indexes() {
    let sizes = Sizes::default();
    assert_eq!(write_units(&sizes, true), (1, 3));
    assert_eq!(write_units(&sizes, false), (1, 2), "the index of brands is not written");
    let large = Sizes { item_bytes: 1_025, embedding_entry_bytes: 2_049, ..sizes };
    assert_eq!(write_units(&large, true), (2, 5), "each KiB that is begun");
    assert_eq!(write_units(&Sizes { item_bytes: 1_024, ..sizes }, true), (1, 3));
    let notes = of(&Load::default()).notes.join(" ");
    assert!(notes.contains("100 new sales takes 100 write units for the table and 300 for its indexes"), "{notes}");
}

#[test]
fn the_documents_load_costs_more_than_it_says() {
    let estimate = of(&Load::default());
    assert_eq!(estimate.sales_per_year, Decimal::from(36_500_000));
    assert_eq!(estimate.records_kept, Decimal::from(73_000_000));
    // The document has 3.75 for the table and forgets its three indexes.
    assert_eq!(line(&estimate, Part::Write, "table").monthly, decimal("3.75"));
    assert_eq!(estimate.monthly_of(Part::Write), decimal("15"));
    // It has 7.50 for reads: half of it if they may be a little late.
    assert_eq!(estimate.monthly_of(Part::Read), decimal("3.75"));
    // It has 15 for a hundred million items of 0.5 KB without indexes.
    let bytes = Sizes::default();
    let kept = [bytes.item_bytes, bytes.category_entry_bytes, bytes.embedding_entry_bytes, bytes.brand_entry_bytes];
    let gigabytes =
        Decimal::from(kept.map(|bytes| (bytes + 100) * 73_000_000).iter().sum::<u64>()) / Decimal::from(1_000_000_000);
    assert_eq!(estimate.lines.iter().map(|line| line.gigabytes).sum::<Decimal>(), gigabytes);
    assert_eq!(estimate.monthly_of(Part::Storage), gigabytes * decimal("0.30"));
    assert_eq!(estimate.monthly, estimate.lines.iter().map(|line| line.monthly).sum());
}

#[test]
fn an_index_is_written_only_if_it_has_what_is_changed() {
    let changes = Load { sales_per_day: 0, reads_per_day: 0, price_changes_per_day: 1_000, ..Load::default() };
    let units = |load: &Load| {
        let estimate = of(load);
        let writes = estimate.lines.iter().filter(|line| line.part == Part::Write);
        writes.map(|line| line.units_per_day).collect::<Vec<_>>()
    };
    let whole = |units: [i64; 4]| units.map(Decimal::from).to_vec();
    assert_eq!(units(&changes), whole([1_000, 2_000, 1_000, 2_000]), "keys twice, a projection once");
    let others = Load { price_changes_per_day: 0, other_changes_per_day: 1_000, ..changes.clone() };
    assert_eq!(units(&others), whole([1_000, 0, 0, 0]));
    let few_brands = Load { with_brand: decimal("0.25"), ..changes };
    assert_eq!(units(&few_brands), whole([1_000, 2_000, 1_000, 500]), "the index of brands is sparse");
}

#[test]
fn keys_alone_cost_the_reads_of_the_table_too() {
    let mix = Mix { get: Decimal::ZERO, category: Decimal::ONE, ..Mix::default() };
    let estimate = of(&Load { reads_per_day: 1, mix, ..Load::default() });
    // 75 entries of 152 bytes are three times 4 KiB, in each of ten shards; 750 items are half a unit each.
    assert_eq!(line(&estimate, Part::Read, "a category: its index").units_per_day, decimal("15"));
    assert_eq!(line(&estimate, Part::Read, "a category: the table").units_per_day, decimal("375"));
    let mix = Mix { get: Decimal::ZERO, brand: Decimal::ONE, brand_hits: 0, ..Mix::default() };
    let estimate = of(&Load { reads_per_day: 1, mix, ..Load::default() });
    assert_eq!(line(&estimate, Part::Read, "a brand: its index").units_per_day, decimal("0.5"), "nothing costs too");
    assert_eq!(line(&estimate, Part::Read, "a brand: the table").units_per_day, decimal("0"));
    let mix = Mix { get: decimal("0.5"), product: decimal("0.5"), ..Mix::default() };
    let estimate = of(&Load { reads_per_day: 10, mix, ..Load::default() });
    // Twenty items are read together, and rounded up once.
    let units = (20 * Sizes::default().item_bytes).div_ceil(4_096);
    assert_eq!(line(&estimate, Part::Read, "a product's sales").units_per_day, Decimal::new(25 * units as i64, 1));
    assert_eq!(line(&estimate, Part::Read, "a sale").units_per_day, decimal("2.5"));
}

#[test]
fn a_products_embeddings_cost_all_of_its_shard() {
    let mix = Mix { get: Decimal::ZERO, embeddings: Decimal::ONE, embedding_days: 30, ..Mix::default() };
    let load = Load { sales_per_day: 1_000, reads_per_day: 2, mix, ..Load::default() };
    let entries = 1_000 * 30 / 5;
    let halves = (entries * Sizes::default().embedding_entry_bytes).div_ceil(4_096);
    let estimate = of(&load);
    assert_eq!(line(&estimate, Part::Read, "a product's embeddings").units_per_day, Decimal::from(halves));
    assert!(estimate.notes.iter().any(|note| note.contains("6,000 entries")), "{:?}", estimate.notes);
    let first_day = of(&Load { years: 0, ..load });
    assert_eq!(line(&first_day, Part::Read, "a product's embeddings").units_per_day, Decimal::ONE, "nothing is there");
}

#[test]
fn what_is_kept_grows_up_to_the_time_to_live() {
    let after = |years, retention_years| {
        let design = Design { retention_years, ..Design::default() };
        let load = Load { years, ..Load::default() };
        estimate(&load, &Sizes::default(), &design, &Prices::default()).expect("good").records_kept
    };
    let millions = |millions| Decimal::new(millions, 1) * Decimal::from(1_000_000);
    assert_eq!([after(0, Some(2)), after(1, Some(2)), after(10, Some(2))], [0, 365, 730].map(millions));
    assert_eq!(after(10, None), millions(3_650));
}

#[test]
fn it_prints_as_a_table() {
    let text = of(&Load { with_brand: decimal("0.8"), ..Load::default() }).to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "                          a day, or kept  units a day    GB  EUR a month");
    assert_eq!(lines[1], "write table                      100,000      100,000               3.75");
    assert_eq!(lines[4], "write brands (GSI-3)              80,000       80,000               3.00");
    assert_eq!(lines[6], "keep table                    73,000,000               49.8        14.94");
    assert_eq!(lines[10], "all                                                                50.64");
    assert!(
        text.contains("100,000 sales a day are 36,500,000 a year; after 2 years there are 73,000,000 records."),
        "{text}"
    );
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let refused = |load: Load, sizes: Sizes, design: Design, prices: Prices| {
        let error = estimate(&load, &sizes, &design, &prices).expect_err("bad");
        assert_eq!((error.code(), error.kind()), ("invalid", Kind::Invalid));
        error.to_string()
    };
    let (sizes, design, prices) = (Sizes::default(), Design::default(), Prices::default());
    let mix = Mix { get: decimal("0.5"), ..Mix::default() };
    let load = Load { mix, with_brand: decimal("1.5"), years: 101, ..Load::default() };
    let problems = "with_brand: 1.5 is not 0 to 1, with six decimals at the most; mix: the shares sum up to 0.5, not to 1; \
                    years: 101, the limit is 100";
    assert_eq!(refused(load, sizes, design, prices.clone()), problems);
    let load = Load { sales_per_day: u64::MAX, ..Load::default() };
    assert!(refused(load, sizes, design, prices.clone()).starts_with("sales_per_day: 18446744073709551615, the limit"));
    let none = Design { embedding_shards: 0, ..design };
    assert_eq!(refused(Load::default(), sizes, none, prices.clone()), "embedding_shards: 0 is not 1 to 10000");
    let large = Sizes { item_bytes: 500 * 1024, ..sizes };
    assert_eq!(refused(Load::default(), large, design, prices.clone()), "item_bytes: 512000 is not 1 to 409600");
    let odd = Prices { read_million: decimal("-1"), ..prices };
    assert!(refused(Load::default(), sizes, design, odd).starts_with("read_million: -1 is not"));
}

proptest! {
    /// A thousand million requests a day have room, whatever the rest is; what has none is refused, and never panics.
    #[test]
    fn whatever_is_within_the_limits_is_answered(
        requests in prop::array::uniform4(0_u64..=1_000_000_000),
        beyond in prop::option::of(1..=limits::REQUESTS_A_DAY_MAX),
        hits in prop::array::uniform3(0..=limits::HITS_MAX),
        bytes in prop::array::uniform5(1..=limits::ITEM_BYTES_MAX),
        years in 0..=limits::YEARS_MAX,
        cuts in prop::array::uniform4(0_i64..=1_000_000),
        with_brand in 0_i64..=1_000_000,
        embedding_days in any::<u32>(),
    ) {
        let mut cuts = cuts;
        cuts.sort();
        let share = |from: i64, to: i64| Decimal::new(to - from, 6);
        let [sales_per_day, price_changes_per_day, other_changes_per_day, reads_per_day] = requests.map(|requests| beyond.unwrap_or(requests));
        let [product_hits, category_hits, brand_hits] = hits;
        let mix = Mix {
            get: share(0, cuts[0]),
            product: share(cuts[0], cuts[1]),
            product_hits,
            category: share(cuts[1], cuts[2]),
            category_hits,
            embeddings: share(cuts[2], cuts[3]),
            embedding_days,
            brand: share(cuts[3], 1_000_000),
            brand_hits,
        };
        let with_brand = Decimal::new(with_brand, 6);
        let load = Load { sales_per_day, price_changes_per_day, other_changes_per_day, reads_per_day, mix, with_brand, years };
        let [item_bytes, unbranded_item_bytes, category_entry_bytes, embedding_entry_bytes, brand_entry_bytes] = bytes;
        let sizes = Sizes { item_bytes, unbranded_item_bytes, category_entry_bytes, embedding_entry_bytes, brand_entry_bytes };
        let design = Design { retention_years: None, ..Design::default() };
        match estimate(&load, &sizes, &design, &Prices::default()) {
            Ok(estimate) => {
                prop_assert!(estimate.lines.iter().all(|line| line.monthly >= Decimal::ZERO));
                prop_assert!(estimate.to_string().lines().count() > estimate.lines.len());
            }
            Err(error) => prop_assert!(beyond.is_some() && error.code() == "too_much", "{}", error),
        }
    }
}
