//! Rules and the sketch: given, when, then.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::{Date, Row as _, key::Tenant};

use super::{
    error::Error,
    rules::{
        self, CategorySum, Contribution, Counted, Day, Metric, Mode, PART_CATEGORIES, Progress, Ranking, Recorded,
    },
    sketch::{Sketch, VisitorHash},
    tables::{DailySales, TOTALS},
    views::{Full, Views},
};
use crate::{
    id::{CategoryId, OrderId, ProductId},
    limits,
    money::Currency,
    settings::AnalyticsSettings,
};

const DATE: Date = Date::from_days(20_000);

fn category(n: u32) -> CategoryId {
    CategoryId(Uuid::from_u128(n.into()))
}

fn order(n: u32, revision: i64, categories: impl IntoIterator<Item = u32>) -> Contribution {
    let sum = |c| CategorySum { item_count: i64::from(c) + 1, revenue: Decimal::new(100 * i64::from(c) + revision, 2) };
    Contribution {
        order_id: OrderId(Uuid::from_u128(n.into())),
        date: DATE,
        revision,
        currency: Currency::new("EUR"),
        categories: categories.into_iter().map(|c| (category(c), sum(c))).collect(),
    }
}

/// A day as a store keeps it: every commit is written before the next is decided.
#[derive(Default)]
struct Stored {
    rows: BTreeMap<Vec<String>, DailySales>,
    commits: usize,
}

impl Stored {
    fn record(&mut self, order: &Contribution, steps_max: usize) -> Option<Recorded> {
        let order = Counted::of(order).expect("good");
        let mut recorded = Recorded::Known;
        for _ in 0..steps_max {
            let mut day = Day::of(DATE, &self.rows.values().cloned().collect::<Vec<_>>());
            let progress = day.record(&order, Mode::Newer).expect("counted");
            self.write(&day);
            match progress {
                Progress::Whole(Recorded::Known) => return Some(recorded),
                Progress::Whole(Recorded::Counted) => return Some(Recorded::Counted),
                Progress::Part(step) => recorded = if step == Recorded::Counted { step } else { recorded },
            }
        }
        None
    }

    fn write(&mut self, day: &Day) {
        let (puts, deleted) = day.changes();
        assert!(puts.len() + deleted.len() <= widerow::limits::GUARDED_WRITES_MAX);
        self.commits += usize::from(puts.len() + deleted.len() > 0);
        for row in puts {
            self.rows.insert(key(&row), row);
        }
        for row in deleted {
            self.rows.remove(&key(&row));
        }
    }

    fn totals(&self) -> BTreeMap<CategoryId, (i64, i64, i64)> {
        let totals = self.rows.values().filter(|row| row.order_id == TOTALS);
        totals.map(|row| (row.category_id, (row.order_count, row.item_count, row.revenue_cents))).collect()
    }
}

fn key(row: &DailySales) -> Vec<String> {
    row.to_values()[..DailySales::table().key_columns()].iter().map(|value| format!("{value:?}")).collect()
}

fn sum_of<'o>(orders: impl IntoIterator<Item = &'o Contribution>) -> BTreeMap<CategoryId, (i64, i64, i64)> {
    let mut totals = BTreeMap::<_, (i64, i64, i64)>::new();
    for (category, sum) in orders.into_iter().flat_map(|order| &order.categories) {
        let total = totals.entry(*category).or_default();
        let cents = Currency::new("EUR").minor_units(sum.revenue).expect("cents");
        *total = (total.0 + 1, total.1 + sum.item_count, total.2 + cents);
    }
    totals
}

#[test]
fn an_order_is_counted_once_and_taken_back_when_it_is_cancelled() {
    let mut day = Stored::default();
    let placed = order(1, 1, [1, 2]);
    assert_eq!(day.record(&placed, 1), Some(Recorded::Counted));
    assert_eq!(day.record(&placed, 1), Some(Recorded::Known));
    assert_eq!(day.totals(), sum_of([&placed]));
    let cancelled = order(1, 3, []);
    assert_eq!(day.record(&cancelled, 1), Some(Recorded::Counted));
    assert_eq!(day.record(&order(1, 2, [1, 2, 3]), 1), Some(Recorded::Known), "it is older");
    assert_eq!(day.totals(), BTreeMap::new(), "rows of nothing are not kept");
}

#[test]
fn a_cancellation_that_comes_first_is_remembered() {
    let mut day = Stored::default();
    assert_eq!(day.record(&order(1, 2, []), 1), Some(Recorded::Counted));
    assert_eq!(day.record(&order(1, 1, [1]), 1), Some(Recorded::Known));
    assert_eq!(day.totals(), BTreeMap::new());
}

#[test]
fn many_categories_are_counted_in_parts_each_of_which_fits_a_commit() {
    let mut day = Stored::default();
    let large = order(1, 1, 0..500);
    assert_eq!(day.record(&large, 100), Some(Recorded::Counted));
    assert!(day.commits > 500 / (2 * PART_CATEGORIES), "{}", day.commits);
    assert_eq!(day.totals(), sum_of([&large]));
    // Other categories in the place of all of them, fewer and more.
    for (revision, categories) in [(2, 1_000..1_300), (3, 0..1_000), (4, 0..0)] {
        let changed = order(1, revision, categories);
        assert_eq!(day.record(&changed, 100), Some(Recorded::Counted));
        assert_eq!(day.record(&changed, 1), Some(Recorded::Known));
        assert_eq!(day.totals(), sum_of([&changed]));
    }
}

#[test]
fn parts_of_a_revision_that_was_overtaken_are_not_counted() {
    let mut day = Stored::default();
    assert_eq!(day.record(&order(1, 1, 0..300), 2), None, "stopped half-way");
    assert!(!day.totals().is_empty());
    assert_eq!(day.record(&order(1, 2, []), 100), Some(Recorded::Counted));
    assert_eq!(day.totals(), BTreeMap::new());
    assert_eq!(day.record(&order(1, 1, 0..300), 100), Some(Recorded::Known), "it goes on too late");
    assert_eq!(day.totals(), BTreeMap::new());
}

#[test]
fn an_order_has_one_currency() {
    let mut day = Stored::default();
    day.record(&order(1, 1, [1]), 1);
    let yen = Contribution { currency: Currency::new("JPY"), categories: BTreeMap::new(), ..order(1, 2, []) };
    let mut day = Day::of(DATE, &day.rows.into_values().collect::<Vec<_>>());
    let refused = day.record(&Counted::of(&yen).expect("good"), Mode::Newer);
    assert!(matches!(refused, Err(Error::OtherCurrency { .. })), "{refused:?}");
}

#[test]
fn what_cannot_be_counted_is_refused_by_name_all_at_once() {
    let mut bad = order(0, 1, [1, 2, 3]);
    let sums: Vec<&mut CategorySum> = bad.categories.values_mut().collect();
    for (sum, (items, cents, scale)) in sums.into_iter().zip([(0, 100, 2), (1, 1, 3), (1, -1, 2)]) {
        *sum = CategorySum { item_count: items, revenue: Decimal::new(cents, scale) };
    }
    let refused = Counted::of(&bad).expect_err("bad");
    let fields: Vec<_> = refused.fields.iter().map(|bad| bad.field.clone()).collect();
    let field = |n, name| format!("categories/{}/{name}", category(n));
    assert_eq!(fields, ["order_id".into(), field(1, "item_count"), field(2, "revenue"), field(3, "revenue")]);
    let nowhere = Contribution { currency: Currency::new("XXY"), ..order(1, 1, [1]) };
    assert_eq!(Counted::of(&nowhere).expect_err("bad").fields[0].field, "currency");
    let many = order(1, 1, 0..limits::CATEGORIES_AN_ORDER_MAX as u32 + 1);
    assert_eq!(Counted::of(&many).expect_err("bad").fields[0].field, "categories");
}

#[test]
fn sums_that_overflow_are_refused_and_change_nothing() {
    let mut total = rules::Sales { order_count: 1, item_count: 1, revenue_cents: i64::MAX }
        .row(DATE, (category(1), Currency::new("EUR")));
    total.item_count = 1;
    let mut day = Day::of(DATE, &[total]);
    let refused = day.record(&Counted::of(&order(1, 1, [0, 1])).expect("good"), Mode::Newer);
    assert!(matches!(refused, Err(Error::TooMuch { category: c }) if c == category(1)), "{refused:?}");
    assert_eq!(day.changes(), (vec![], vec![]));
}

proptest! {
    /// Whatever comes, however often, in whichever order, stopped wherever: what stands in the end is the latest of each.
    #[test]
    fn the_latest_revisions_stand(
        orders in prop::collection::vec((1u32..5, 0i64..4, prop::collection::btree_set(0u32..150, 0..120)), 1..8),
        tries in prop::collection::vec((any::<prop::sample::Index>(), 1usize..4), 0..30),
    ) {
        let orders: BTreeMap<_, _> = orders.into_iter().map(|(n, r, categories)| ((n, r), order(n, r, categories))).collect();
        let all: Vec<&Contribution> = orders.values().collect();
        let mut day = Stored::default();
        for (which, steps) in &tries {
            day.record(all[which.index(all.len())], *steps);
        }
        for order in all.iter().rev() {
            prop_assert!(day.record(order, 100).is_some());
        }
        let latest: BTreeMap<u32, &Contribution> = orders.iter().map(|((n, _), order)| (*n, order)).collect();
        prop_assert_eq!(day.totals(), sum_of(latest.into_values()));
    }

    #[test]
    fn a_sketch_does_not_depend_on_the_order_nor_on_what_was_merged(
        numbers in prop::collection::vec(any::<u64>(), 0..400),
        cuts in prop::collection::vec(0usize..400, 0..4),
    ) {
        let mut whole = Sketch::default();
        numbers.iter().rev().for_each(|n| whole.add(VisitorHash::new(*n)));
        let mut merged = Sketch::default();
        let ends: BTreeSet<usize> = cuts.iter().map(|cut| cut % (numbers.len() + 1)).chain([numbers.len()]).collect();
        let mut from = 0;
        for to in ends {
            let mut part = Sketch::default();
            numbers[from..to].iter().for_each(|n| part.add(VisitorHash::new(*n)));
            part.merge(&part.clone());
            merged.merge(&part);
            from = to;
        }
        prop_assert_eq!(&merged, &whole);
        let bytes = whole.to_bytes();
        prop_assert!(bytes.len() <= 641);
        prop_assert_eq!(Sketch::from_bytes(&bytes), Ok(whole));
    }

    #[test]
    fn bytes_that_are_no_sketch_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..700)) {
        if let Ok(sketch) = Sketch::from_bytes(&bytes) {
            prop_assert_eq!(sketch.to_bytes(), bytes);
        }
    }
}

/// Numbers without a pattern.
fn scattered(seed: u64) -> impl Iterator<Item = VisitorHash> {
    let mix = |mut x: u64| {
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    };
    (0u64..).map(move |n| VisitorHash::new(mix(mix(seed).wrapping_add(n.wrapping_mul(0x9E37_79B9_7F4A_7C15)))))
}

#[test]
fn visitors_are_counted_within_the_error_bound() {
    for few in [0, 1, 50, 128] {
        let mut sketch = Sketch::default();
        scattered(7).take(few).for_each(|hash| sketch.add(hash));
        assert_eq!(sketch.count(), few as i64, "exact");
    }
    for visitors in [129usize, 300, 1_000, 3_000, 10_000, 100_000] {
        let tries = 40;
        let errors: Vec<f64> = (0..tries)
            .map(|seed| {
                let mut sketch = Sketch::default();
                scattered(seed).take(visitors).for_each(|hash| sketch.add(hash));
                (sketch.count() as f64 - visitors as f64) / visitors as f64
            })
            .collect();
        let mean = errors.iter().sum::<f64>() / tries as f64;
        let deviation = (errors.iter().map(|error| error * error).sum::<f64>() / tries as f64).sqrt();
        assert!(mean.abs() < 0.016, "{visitors}: biased by {mean}");
        assert!(deviation < 0.042, "{visitors}: {deviation}");
        assert!(errors.iter().all(|error| error.abs() < 0.13), "{visitors}: four times the standard error");
    }
}

#[test]
fn damaged_sketches_are_refused() {
    let mut sketch = Sketch::default();
    scattered(1).take(100).for_each(|hash| sketch.add(hash));
    let bytes = sketch.to_bytes();
    let mut swapped = bytes.clone();
    swapped[1..11].rotate_left(5);
    for bad in [&[][..], &[0], &[3, 1], &bytes[..bytes.len() - 1], &swapped, &[2; 640]] {
        assert!(Sketch::from_bytes(bad).is_err());
    }
}

#[test]
fn one_visitor_has_another_hash_with_another_product() {
    let hash = |product: u8, visitor: &[u8]| VisitorHash::of(&[product; 16], visitor);
    assert_eq!(hash(1, b"ann"), hash(1, b"ann"));
    assert_ne!(hash(1, b"ann"), hash(2, b"ann"));
    assert_ne!(hash(1, b"ann"), hash(1, b"bob"));
}

#[test]
fn a_flush_is_counted_once_and_those_of_other_processes_too() {
    let key = (ProductId(Uuid::from_u128(1)), DATE);
    let mut seen = rules::Seen { views: 5, ..Default::default() };
    scattered(1).take(3).for_each(|hash| seen.visitors.add(hash));
    let id = Uuid::from_u128;
    let first = rules::see(None, key, &seen, id(1), id(100)).expect("sound").expect("counted");
    assert_eq!((first.view_count, first.unique_visitor_count), (5, 3));
    assert_eq!(rules::see(Some(&first), key, &seen, id(1), id(100)).expect("sound"), None, "the same flush");
    let mut row = first;
    for process in 2..200 {
        row = rules::see(Some(&row), key, &seen, id(process), id(100 + process)).expect("sound").expect("counted");
    }
    assert_eq!((row.view_count, row.unique_visitor_count), (5 * 199, 3));
    assert_eq!(row.flushed.len(), limits::FLUSHES_KEPT);
    assert!(row.flushed.contains_key(&id(199)), "the newest are kept");
    let damaged = super::ProductViews { visitors: vec![9], ..row };
    assert!(matches!(rules::see(Some(&damaged), key, &seen, id(1), id(999)), Err(widerow::Error::Corrupt { .. })));
}

#[test]
fn the_buffer_holds_no_more_than_it_may_and_forgets_what_arrived() {
    let settings = AnalyticsSettings { views_products_max: 3, ..AnalyticsSettings::default() };
    let views = Views::new(Uuid::nil());
    let tenant = Tenant::new("a").expect("a name");
    let key = |n| (tenant.clone(), ProductId(Uuid::from_u128(n)), DATE);
    let visitor = VisitorHash::of(b"", b"ann");
    for n in 0..3 {
        assert_eq!(views.count(key(n), visitor, &settings), Ok(()));
    }
    assert_eq!(views.count(key(3), visitor, &settings), Err(Full));
    assert_eq!(views.count(key(0), visitor, &settings), Ok(()), "it is there already");
    let (flush, seen) = views.leave(&key(0), || Uuid::from_u128(1)).expect("there");
    assert_eq!(seen.views, 2);
    // What comes meanwhile is counted apart, and does not change what is on its way.
    assert_eq!(views.count(key(0), visitor, &settings), Err(Full), "it would be one entry more");
    assert_eq!(views.leave(&key(0), || Uuid::from_u128(2)), Some((flush, seen)));
    for n in 0..3 {
        views.leave(&key(n), || Uuid::from_u128(3));
        views.arrived(&key(n));
    }
    assert_eq!((views.keys().len(), views.bytes()), (0, 0));
    let settings = AnalyticsSettings { views_bytes_max: 1_000, ..settings };
    for (n, hash) in scattered(1).take(200).enumerate() {
        if views.count(key(0), hash, &settings).is_err() {
            assert!((50..150).contains(&n), "{n}");
            return;
        }
    }
    panic!("its bytes are not bounded");
}

#[test]
fn rankings_are_the_best_of_the_days_that_were_added() {
    let product = |n: usize| ProductId(Uuid::from_u128(n as u128));
    let mut ranking = Ranking::default();
    let revenue = Metric::Revenue(Currency::new("EUR"));
    for n in 0..200 {
        ranking.add(&Metric::Views, product(n), n as i64 / 2);
    }
    ranking.keep(1);
    ranking.add(&Metric::Views, product(3), 1_000);
    ranking.add(&revenue, product(1), 10);
    ranking.keep(7);
    ranking.keep(30);
    let lists = ranking.lists();
    assert_eq!(lists.len(), 9);
    let day = &lists[&(Metric::Views, 1)];
    assert_eq!(day.len(), limits::RANKED_MAX);
    assert_eq!(day[..3], [(product(198), 99), (product(199), 99), (product(196), 98)]);
    assert_eq!(lists[&(Metric::Views, 7)][0], (product(3), 1_001));
    assert_eq!(lists[&(revenue.clone(), 1)], [], "known in the end, empty on the first day");
    assert_eq!(lists[&(revenue, 30)], [(product(1), 10)]);
    assert_eq!(lists[&(Metric::Units, 30)], []);
}
