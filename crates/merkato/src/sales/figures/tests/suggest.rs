use std::collections::BTreeMap;

use proptest::prelude::*;
use rust_decimal::{Decimal, RoundingStrategy};
use widerow::Date;

use super::{cents, date, decimal, sale};
use crate::sales::{
    figures::{
        Advice, Basis, Comparable, Confidence, Error, MinorUnits, Point, Reason, SuggestSettings, Suggestion, Wanted,
        limits, suggest,
    },
    season::Season,
};

const TODAY: Date = Date::from_days(20_000);

const DRESS: Wanted<'static> = Wanted { category: "dress", brand: Some("Nike"), season: None, on: TODAY };

fn sold(days_ago: i32, price: i64) -> Comparable<'static> {
    Comparable { point: sale(Date::from_days(TODAY.days() - days_ago), price), similarity: None }
}

fn by(brand: Option<&'static str>, sale: Comparable<'static>) -> Comparable<'static> {
    Comparable { point: Point { brand, ..sale.point }, ..sale }
}

fn advice<'a>(wanted: &Wanted<'_>, sales: &[Comparable<'a>]) -> Advice<'a> {
    suggest(wanted, sales, &SuggestSettings::default(), MinorUnits::CENTS).expect("good")
}

fn price<'a>(wanted: &Wanted<'_>, sales: &[Comparable<'a>]) -> Suggestion<'a> {
    match advice(wanted, sales) {
        Advice::Price(suggestion) => suggestion,
        none => panic!("{none}"),
    }
}

#[test]
fn with_even_weights_it_is_the_median_between_the_quartiles() {
    let sales: Vec<_> = (1..=20).map(|n| sold(10, 8_000 + n * 100)).collect();
    let found = price(&DRESS, &sales);
    assert_eq!((found.low, found.price, found.high), (cents(8_550), cents(9_050), cents(9_550)));
    assert_eq!((found.basis, found.sales_count, found.effective_count), (Basis::CategoryAndBrand, 20, decimal("20")));
    assert_eq!(found.confidence, Confidence::High);
    assert_eq!(found.rests_on.len(), 10);
    assert!(found.rests_on.iter().all(|rests| rests.weight == decimal("0.05")));
    let words = advice(&DRESS, &sales).to_string();
    let expected = "90.50, between 85.50 and 95.50; confidence is high: it rests on 20 sales of the same brand; \
                    with their weights they are worth 20.0 equal sales; prices are close: the middle half spans 11 % of the price; \
                    the newest sale is 10 days old";
    assert_eq!(words, expected);
}

#[test]
fn under_a_minimum_of_sales_there_is_none_and_the_reason_is_told() {
    let mut sales: Vec<_> = (0..4).map(|n| sold(n, 1_000)).collect();
    // Neither of these is comparable: another category, sold after the day, without any likeness.
    sales.push(Comparable { point: Point { category: "shoe", ..sales[0].point }, similarity: None });
    sales.push(sold(-1, 1_000));
    sales.push(Comparable { similarity: Some(-0.5), ..sold(1, 1_000) });
    assert_eq!(advice(&DRESS, &sales), Advice::TooFewSales { found: 4, needed: 5 });
    assert_eq!(advice(&DRESS, &sales).to_string(), "no suggestion: 4 comparable sales, and it takes 5");
    assert_eq!(advice(&DRESS, &[]), Advice::TooFewSales { found: 0, needed: 5 });
    sales.push(sold(0, 1_000));
    assert_eq!(price(&DRESS, &sales).price, cents(1_000));
}

#[test]
fn a_sale_weighs_half_after_each_half_life() {
    let sales: Vec<_> = [0, 90, 180, 45, 2_700].into_iter().map(|days| sold(days, 1_000)).collect();
    let settings = SuggestSettings { sales_min: 1, ..SuggestSettings::default() };
    let found = suggest(&DRESS, &sales, &settings, MinorUnits::CENTS).expect("good");
    let Advice::Price(found) = found else { panic!("{found}") };
    let weights: Vec<_> = found.rests_on.iter().map(|rests| rests.weight).collect();
    let of_all = |weight: f64| {
        let share = weight / (1.75 + 0.5_f64.sqrt() + 0.5_f64.powi(30));
        Decimal::try_from(share).expect("small").round_dp(6)
    };
    assert_eq!(weights, [1.0, 0.5_f64.sqrt(), 0.5, 0.25, 0.5_f64.powi(30)].map(of_all));
    // What is older than 33 half-lives weighs nothing, and is not counted.
    let old = [sold(90 * 33, 1_000), sold(90 * 40, 1_000), sold(700_000, 1_000)];
    let found = suggest(&DRESS, &old, &settings, MinorUnits::CENTS).expect("good");
    assert_eq!(found, Advice::TooFewSales { found: 0, needed: 1 });
}

#[test]
fn newer_sales_draw_the_price_to_them() {
    let sales: Vec<_> = (0..6).map(|_| sold(360, 5_000)).chain((0..5).map(|_| sold(1, 8_000))).collect();
    let found = price(&DRESS, &sales);
    assert_eq!(found.price, cents(8_000), "though there are more of the old ones");
    assert!(found.effective_count < decimal("8"), "{}", found.effective_count);
}

#[test]
fn too_few_of_the_brand_are_helped_out_by_the_category_at_half_their_weight() {
    let mut sales: Vec<_> = (0..4).map(|_| sold(0, 9_000)).collect();
    sales.extend((0..7).map(|_| by(Some("Puma"), sold(0, 4_000))));
    let found = price(&DRESS, &sales);
    assert_eq!((found.basis, found.sales_count), (Basis::Category, 11));
    // Four weigh four, seven weigh three and a half.
    assert_eq!((found.low, found.price, found.high), (cents(4_000), cents(9_000), cents(9_000)));
    let few = Reason::FewOfTheBrand { of_brand: 4, sales: 11 };
    assert!(found.reasons.contains(&few));
    assert_eq!(few.to_string(), "only 4 sales of the brand, so it rests on 11 sales of the category");
    sales.push(sold(0, 9_000));
    let found = price(&DRESS, &sales);
    assert_eq!((found.basis, found.sales_count, found.low), (Basis::CategoryAndBrand, 5, cents(9_000)));
    let no_brand = Wanted { brand: None, ..DRESS };
    let found = price(&no_brand, &sales);
    assert_eq!((found.basis, found.price), (Basis::Category, cents(4_000)), "all of them weigh the same");
    assert!(found.reasons.contains(&Reason::NoBrandGiven { sales: 12 }));
}

#[test]
fn the_season_and_the_likeness_count() {
    let in_season = |season, price| {
        let sale = sold(0, price);
        Comparable { point: Point { season, ..sale.point }, ..sale }
    };
    let mut sales: Vec<_> = (0..5).map(|_| in_season(Season::Winter, 6_000)).collect();
    sales.extend((0..9).map(|_| in_season(Season::Summer, 3_000)));
    assert_eq!(price(&DRESS, &sales).price, cents(3_000), "seasons do not matter");
    let winter = Wanted { season: Some(Season::Winter), ..DRESS };
    let found = price(&winter, &sales);
    assert_eq!(found.price, cents(6_000), "five weigh more than nine halves");
    assert!(found.reasons.contains(&Reason::InSeason { share: decimal("0.526316") }));
    let alike = |similarity, price| Comparable { similarity, ..sold(0, price) };
    let mut sales: Vec<_> = (0..5).map(|_| alike(Some(0.9), 7_000)).collect();
    sales.extend((0..8).map(|_| alike(Some(0.25), 2_000)));
    sales.extend((0..4).map(|_| alike(None, 1_000)));
    let found = price(&DRESS, &sales);
    assert_eq!(found.price, cents(7_000), "4.5 against 2 and 2");
    assert!(found.reasons.contains(&Reason::ComparedByVector { sales: 13 }));
    assert_eq!(found.rests_on[0].sale.similarity, Some(0.9));
}

#[test]
fn confidence_falls_with_everything_that_speaks_against_it() {
    let many: Vec<_> = (0..20).map(|n| sold(10, 8_000 + n * 10)).collect();
    assert_eq!(price(&DRESS, &many).confidence, Confidence::High);
    let few = &many[..6];
    let found = price(&DRESS, few);
    assert_eq!(found.confidence, Confidence::Fair);
    assert!(found.reasons.contains(&Reason::FewSales { effective: decimal("6.0") }));
    let old: Vec<_> = (0..6).map(|n| sold(91, 8_000 + n * 10)).collect();
    let found = price(&DRESS, &old);
    assert_eq!(found.confidence, Confidence::Low);
    assert!(found.reasons.contains(&Reason::Old { newest_days: 91 }));
    let wide: Vec<_> = (0..20).map(|n| sold(10, 1_000 + n * 1_000)).collect();
    let found = price(&DRESS, &wide);
    assert_eq!(found.confidence, Confidence::Fair);
    assert!(found.reasons.iter().any(|reason| matches!(reason, Reason::FarApart { spread: Some(_) })));
    let free: Vec<_> = (0..20).map(|n| sold(10, if n < 15 { 0 } else { 100 })).collect();
    let found = price(&DRESS, &free);
    assert_eq!((found.price, found.high), (cents(0), cents(50)));
    assert!(found.reasons.contains(&Reason::FarApart { spread: None }));
    let summer = Wanted { season: Some(Season::Summer), ..DRESS };
    let found = price(&summer, &many);
    assert_eq!(found.confidence, Confidence::Fair);
    assert!(found.reasons.contains(&Reason::OutOfSeason { share: decimal("0") }), "they were sold in October");
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let with = |settings| suggest(&DRESS, &[sold(0, 1)], &settings, MinorUnits::CENTS).expect_err("bad").to_string();
    let good = SuggestSettings::default;
    assert_eq!(with(SuggestSettings { half_life_days: 0, ..good() }), "half_life_days: 0 is not 1 or more");
    let wrong = SuggestSettings { sales_min: 0, other_brand_weight: decimal("1.1"), ..good() };
    assert_eq!(with(wrong), "sales_min: 0 is not 1 or more; other_brand_weight: 1.1 is not 0 to 1");
    assert_eq!(
        with(SuggestSettings { other_season_weight: decimal("-0.1"), ..good() }),
        "other_season_weight: -0.1 is not 0 to 1"
    );
    let sale =
        |sale: Comparable<'static>| suggest(&DRESS, &[sale], &good(), MinorUnits::CENTS).expect_err("bad").code();
    assert_eq!(sale(Comparable { similarity: Some(f32::NAN), ..sold(0, 1) }), "invalid");
    assert_eq!(sale(sold(0, -1)), "invalid");
    assert_eq!(
        sale(Comparable { point: Point { date: Date::from_days(i32::MIN), ..sold(0, 1).point }, similarity: None }),
        "invalid"
    );
    let many = vec![sold(0, 1); limits::COMPARABLES_MAX + 1];
    let error = suggest(&DRESS, &many, &good(), MinorUnits::CENTS).expect_err("too many");
    assert_eq!(error, Error::TooManySales { limit: limits::COMPARABLES_MAX });
    assert!(matches!(advice(&DRESS, &many[1..]), Advice::Price(_)), "the limit itself has room");
}

#[test]
fn a_winters_day_is_asked_in_words() {
    let on = date("2026-01-10");
    let wanted = Wanted { season: Some(Season::Winter), on, ..DRESS };
    let sale = |day: &str, price| Comparable { point: sale(date(day), price), similarity: None };
    let sales = [
        sale("2025-12-29", 9_999),
        sale("2025-12-01", 8_999),
        sale("2025-07-01", 4_999),
        sale("2025-06-01", 4_499),
        sale("2026-01-09", 10_999),
    ];
    let found = price(&wanted, &sales);
    assert_eq!((found.low, found.price, found.high), (cents(8_999), cents(9_999), cents(10_999)));
    assert_eq!(found.rests_on[0].sale.point.price, cents(10_999));
    assert!(found.rests_on.windows(2).all(|pair| pair[0].weight >= pair[1].weight));
}

/// The same in a slower way: weights of each price summed up, and every price asked whether it has reached the part.
fn naive_quartile(sales: &[(i64, u32)], quarter: u64) -> Decimal {
    let mut by_price = BTreeMap::<i64, u64>::new();
    for (price, weight) in sales {
        *by_price.entry(*price).or_default() += u64::from(*weight);
    }
    let all: u64 = by_price.values().sum();
    let reached = |price: i64| by_price.range(..=price).map(|(_, weight)| weight).sum::<u64>();
    let at_least = by_price.keys().copied().find(|price| 4 * reached(*price) >= quarter * all).expect("one");
    let above = by_price.keys().copied().find(|price| 4 * reached(*price) > quarter * all).unwrap_or(at_least);
    let middle = Decimal::new(at_least + above, 2) / Decimal::TWO;
    middle.round_dp_with_strategy(2, RoundingStrategy::MidpointAwayFromZero)
}

proptest! {
    /// Weights of 1, 1/2, 1/4 and 1/8, which are exact, by the age of a sale.
    #[test]
    fn quartiles_are_those_of_a_naive_computation(
        sales in prop::collection::vec((0_i64..40, 0_u32..4), 5..60),
        turned in any::<prop::sample::Index>(),
    ) {
        let comparable: Vec<_> = sales.iter().map(|(price, halvings)| sold(90 * *halvings as i32, *price)).collect();
        let found = price(&DRESS, &comparable);
        let weighed: Vec<_> = sales.iter().map(|(price, halvings)| (*price, 8 >> halvings)).collect();
        prop_assert_eq!(found.low, naive_quartile(&weighed, 1));
        prop_assert_eq!(found.price, naive_quartile(&weighed, 2));
        prop_assert_eq!(found.high, naive_quartile(&weighed, 3));
        let mut other = comparable.clone();
        other.rotate_left(turned.index(comparable.len()));
        other.reverse();
        prop_assert_eq!(price(&DRESS, &other), found, "the order of sales makes no difference");
    }

    #[test]
    fn whatever_comes_is_answered(
        sales in prop::collection::vec((-100_i32..100_000, 0_i64..=limits::PRICE_MINOR_UNITS_MAX, prop::option::of(-1.0_f32..=1.0), prop::option::of("[ab]")), 0..40),
        half_life_days in 1_u32..=u32::MAX,
        season in prop::option::of(prop::sample::select(&Season::ALL[..])),
        brand in prop::option::of("[ab]"),
    ) {
        let points: Vec<_> = sales.iter().map(|(days, price, similarity, brand)| {
            let sale = sold(*days, *price);
            Comparable { point: Point { brand: brand.as_deref(), ..sale.point }, similarity: *similarity }
        }).collect();
        let wanted = Wanted { season, brand: brand.as_deref(), ..DRESS };
        let settings = SuggestSettings { half_life_days, ..SuggestSettings::default() };
        match suggest(&wanted, &points, &settings, MinorUnits::CENTS).expect("good") {
            Advice::Price(found) => {
                prop_assert!(found.low <= found.price && found.price <= found.high);
                prop_assert!(found.sales_count >= settings.sales_min && !found.reasons.is_empty());
                prop_assert!(found.effective_count >= Decimal::ONE && found.effective_count <= Decimal::from(found.sales_count));
            }
            Advice::TooFewSales { found, needed } => prop_assert!(found < needed),
        }
    }
}
