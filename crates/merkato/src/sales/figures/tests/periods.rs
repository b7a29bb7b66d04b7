use proptest::prelude::*;
use rust_decimal::{Decimal, RoundingStrategy};
use widerow::Date;

use super::{cents, date, decimal, sale};
use crate::{
    error::Kind,
    sales::{
        figures::{By, Error, MinorUnits, Period, PeriodFigures, Point, Series, limits, series},
        season::Hemisphere,
    },
};

const SEASON: By = By::Season(Hemisphere::North);
const ALL: [By; 4] = [By::Day, By::Week, By::Month, SEASON];

fn figures(sales: &[(&str, i64)], by: By) -> Vec<PeriodFigures> {
    series(sales.iter().map(|(day, price)| sale(date(day), *price)), by, MinorUnits::CENTS).expect("few")
}

fn span(by: By, day: &str) -> (String, String, String) {
    let period = Period::of(by, date(day));
    (period.to_string(), period.from().to_string(), period.to().to_string())
}

fn told(name: &str, from: &str, to: &str) -> (String, String, String) {
    (name.into(), from.into(), to.into())
}

#[test]
fn a_day_lies_in_its_week_month_and_season() {
    assert_eq!(span(By::Day, "2025-12-29"), told("2025-12-29", "2025-12-29", "2025-12-29"));
    assert_eq!(span(By::Week, "2025-12-29"), told("2026-W01", "2025-12-29", "2026-01-04"));
    assert_eq!(span(By::Week, "2021-01-03"), told("2020-W53", "2020-12-28", "2021-01-03"));
    assert_eq!(span(By::Week, "1969-12-31"), told("1970-W01", "1969-12-29", "1970-01-04"));
    assert_eq!(span(By::Month, "2024-02-29"), told("2024-02", "2024-02-01", "2024-02-29"));
    assert_eq!(span(By::Month, "2025-12-31"), told("2025-12", "2025-12-01", "2025-12-31"));
    assert_eq!(span(SEASON, "2025-12-01"), told("winter 2025/26", "2025-12-01", "2026-02-28"));
    assert_eq!(span(SEASON, "2024-01-15"), told("winter 2023/24", "2023-12-01", "2024-02-29"));
    assert_eq!(span(SEASON, "2000-02-01"), told("winter 1999/00", "1999-12-01", "2000-02-29"));
    assert_eq!(span(SEASON, "2026-03-01"), told("spring 2026", "2026-03-01", "2026-05-31"));
    assert_eq!(span(SEASON, "2026-11-30"), told("fall 2026", "2026-09-01", "2026-11-30"));
    let south = By::Season(Hemisphere::South);
    assert_eq!(span(south, "2025-12-29"), told("summer 2025/26", "2025-12-01", "2026-02-28"));
    assert_eq!(span(south, "2026-07-01"), told("winter 2026", "2026-06-01", "2026-08-31"));
}

#[test]
fn periods_end_with_the_calendar() {
    assert_eq!(span(SEASON, "0000-01-01").1, "0000-01-01");
    assert_eq!(span(By::Week, "0000-01-01").1, "0000-01-01");
    for by in ALL {
        assert_eq!(span(by, "9999-12-31").2, "9999-12-31", "{by}");
    }
    assert_eq!(span(By::Day, "9999-12-30").2, "9999-12-30");
    assert_eq!(span(By::Month, "9999-11-30").2, "9999-11-30");
}

#[test]
fn a_month_is_told_in_a_few_numbers() {
    let figures = figures(
        &[("2025-01-05", 1_000), ("2025-01-09", 4_000), ("2025-01-31", 2_000), ("2025-01-02", 3_001)],
        By::Month,
    );
    let [january] = figures.as_slice() else { panic!("{figures:?}") };
    let summary = january.summary.as_ref().expect("four sales");
    assert_eq!((january.count(), january.change), (4, None));
    assert_eq!((summary.minimum, summary.maximum, summary.total), (cents(1_000), cents(4_000), cents(10_001)));
    assert_eq!(summary.lower_quartile, decimal("17.50"));
    assert_eq!(summary.median, decimal("25.005"));
    assert_eq!(summary.upper_quartile, decimal("32.5075"));
    assert_eq!(summary.mean, decimal("25.0025"));
    // 699.95 of 799.96 were left off.
    assert_eq!(summary.discount, Some(decimal("0.874981")));
}

#[test]
fn a_gap_is_shown_as_a_gap_and_no_change_is_told_over_it() {
    let figures =
        figures(&[("2025-03-01", 1_000), ("2025-01-31", 800), ("2025-04-01", 1_250), ("2025-06-01", 900)], By::Month);
    let told: Vec<_> = figures.iter().map(|f| (f.period.to_string(), f.count(), f.change)).collect();
    let month = |name: &str, count, change| (format!("2025-{name}"), count, change);
    let quarter = Some(decimal("0.25"));
    let expected = [month("01", 1, None), month("02", 0, None), month("03", 1, None), month("04", 1, quarter)];
    assert_eq!(told, [&expected[..], &[month("05", 0, None), month("06", 1, None)]].concat());
}

#[test]
fn no_change_is_told_from_a_median_of_zero() {
    let figures = figures(&[("2025-01-01", 0), ("2025-01-02", 100), ("2025-01-03", 0)], By::Day);
    assert_eq!(figures.iter().map(|f| f.change).collect::<Vec<_>>(), [None, None, Some(decimal("-1"))]);
}

#[test]
fn originals_of_zero_are_left_out_of_the_discount() {
    let day = date("2025-01-01");
    let priced = |price, original| Point { original: cents(original), ..sale(day, price) };
    let discount = |sales: &[Point<'static>]| {
        let figures = series(sales.iter().copied(), By::Day, MinorUnits::CENTS).expect("few");
        figures[0].summary.as_ref().expect("sales").discount
    };
    assert_eq!(discount(&[priced(50, 0)]), None);
    assert_eq!(discount(&[priced(50, 0), priced(75, 100)]), Some(decimal("0.25")));
    assert_eq!(discount(&[priced(300, 100), priced(100, 100)]), Some(decimal("-1")), "sold above the list");
}

#[test]
fn too_many_periods_are_refused_gaps_included() {
    let mut days = Series::new(By::Day, MinorUnits::CENTS).periods_max(3);
    days.add(&sale(date("2025-01-10"), 1)).expect("the first");
    days.add(&sale(date("2025-01-08"), 1)).expect("three days");
    for far in ["2025-01-11", "2025-01-07", "9999-12-31", "0000-01-01"] {
        let error = days.add(&sale(date(far), 1)).expect_err(far);
        assert!(matches!(error, Error::TooManyPeriods { by: By::Day, limit: 3, .. }), "{error:?}");
        assert_eq!((error.code(), error.kind()), ("too_many_periods", Kind::Limit));
    }
    let counts: Vec<_> = days.end().expect("three").iter().map(PeriodFigures::count).collect();
    assert_eq!(counts, [1, 0, 1], "what was refused is not counted");
    let (from, to) = (date("2025-01-01"), date("2025-12-31"));
    assert_eq!(ALL.map(|by| by.count(from, to)), [365, 53, 12, 5]);
    assert_eq!(By::Day.count(to, from), 0);
    assert!(By::Day.check(from, to, 365).is_ok());
    let error = By::Day.check(from, to, 364).expect_err("a day too many");
    assert_eq!(error, Error::TooManyPeriods { by: By::Day, periods: 365, limit: 364 });
}

#[test]
fn what_makes_no_sense_is_refused_and_the_rest_is_kept() {
    let mut days = Series::new(By::Month, MinorUnits::CENTS);
    let good = sale(date("2025-01-10"), 1_000);
    for bad in [
        Point { price: decimal("-1"), ..good },
        Point { original: decimal("1.001"), ..good },
        Point { date: Date::from_days(i32::MAX), ..good },
    ] {
        assert_eq!(days.add(&bad).expect_err("bad").code(), "invalid");
    }
    days.add(&good).expect("good");
    let figures = days.end().expect("one");
    assert_eq!(figures.iter().map(PeriodFigures::count).collect::<Vec<_>>(), [1]);
    assert_eq!(Series::new(By::Day, MinorUnits::CENTS).end(), Ok(vec![]), "nothing of nothing");
}

/// Type 7 as R documents it, in decimals: x[j] + g·(x[j+1] - x[j]) with j = ⌊(n - 1)·p⌋ and g what is left.
fn naive_quartile(sorted: &[Decimal], p: Decimal) -> Decimal {
    let place = Decimal::from(sorted.len() - 1) * p;
    let below: usize = place.floor().to_string().parse().expect("a place");
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (place - place.floor()) * (sorted[above] - sorted[below])
}

fn rounded(number: Decimal, decimals: u32) -> Decimal {
    number.round_dp_with_strategy(decimals, RoundingStrategy::MidpointAwayFromZero)
}

proptest! {
    /// Sales of a few years, in any order, against a computation that looks at all of them again for each period.
    #[test]
    fn figures_are_those_of_a_naive_computation(
        sales in prop::collection::vec((19_000_i32..19_900, 0_i64..50_000, 0_i64..50_000), 1..200),
        by in prop::sample::select(&ALL[..]),
    ) {
        let points: Vec<Point<'_>> = sales
            .iter()
            .map(|(day, price, original)| Point { original: cents(*original), ..sale(Date::from_days(*day), *price) })
            .collect();
        let figures = series(points.iter().copied(), by, MinorUnits::CENTS).expect("few");
        let backwards = series(points.iter().rev().copied(), by, MinorUnits::CENTS).expect("few");
        prop_assert_eq!(&figures, &backwards);
        prop_assert_eq!(figures.iter().map(PeriodFigures::count).sum::<u64>(), sales.len() as u64);
        prop_assert!(figures.first().is_some_and(|f| f.count() > 0) && figures.last().is_some_and(|f| f.count() > 0));
        let mut median_before: Option<Decimal> = None;
        for (i, found) in figures.iter().enumerate() {
            let (from, to) = (found.period.from(), found.period.to());
            prop_assert!(i == 0 || figures[i - 1].period.to().days() + 1 == from.days(), "side by side");
            let inside: Vec<_> = points.iter().filter(|point| (from..=to).contains(&point.date)).collect();
            let mut prices: Vec<Decimal> = inside.iter().map(|point| point.price).collect();
            prices.sort();
            prop_assert_eq!(found.count(), prices.len() as u64);
            let median = found.summary.as_ref().map(|summary| summary.median);
            let change = median_before.zip(median).filter(|(before, _)| !before.is_zero());
            prop_assert_eq!(found.change, change.map(|(before, now)| rounded((now - before) / before, 6)));
            median_before = median;
            let Some(summary) = &found.summary else { continue };
            let total: Decimal = prices.iter().sum();
            prop_assert_eq!(summary.minimum, prices[0]);
            prop_assert_eq!(summary.lower_quartile, naive_quartile(&prices, decimal("0.25")));
            prop_assert_eq!(summary.median, naive_quartile(&prices, decimal("0.5")));
            prop_assert_eq!(summary.upper_quartile, naive_quartile(&prices, decimal("0.75")));
            prop_assert_eq!(Some(&summary.maximum), prices.last());
            prop_assert_eq!(summary.total, total);
            prop_assert_eq!(summary.mean, rounded(total / Decimal::from(prices.len()), 4));
            let known = inside.iter().filter(|point| !point.original.is_zero());
            let (paid, original) = known.fold((Decimal::ZERO, Decimal::ZERO), |(paid, original), point| {
                (paid + point.price, original + point.original)
            });
            let discount = (!original.is_zero()).then(|| rounded((original - paid) / original, 6));
            prop_assert_eq!(summary.discount, discount);
        }
    }

    #[test]
    fn every_day_lies_in_one_period_and_periods_stand_side_by_side(
        day in Date::MIN.days()..=Date::MAX.days(),
        by in prop::sample::select(&ALL[..]),
    ) {
        let day = Date::from_days(day);
        let period = Period::of(by, day);
        prop_assert!(period.from() <= day && day <= period.to());
        prop_assert_eq!(Period::of(by, period.from()), period);
        prop_assert_eq!(Period::of(by, period.to()), period);
        if period.to() < Date::MAX {
            let next = Period::of(by, Date::from_days(period.to().days() + 1));
            prop_assert_eq!(next.from().days(), period.to().days() + 1);
            prop_assert_eq!(by.count(day, next.from()), 2);
        }
    }

    /// No number of days is out of reach.
    #[test]
    fn no_date_is_too_far(day in any::<i32>(), by in prop::sample::select(&ALL[..])) {
        let period = Period::of(by, Date::from_days(day));
        prop_assert!(period.from() <= period.to() && !period.to_string().is_empty());
    }
}

#[test]
fn the_limits_have_room_for_all_sales_at_the_largest_price() {
    let day = date("2025-01-01");
    let dear = Point { price: decimal("10000000000"), original: decimal("10000000000"), ..sale(day, 0) };
    let mut days = Series::new(By::Day, MinorUnits::CENTS);
    for _ in 0..10_000 {
        days.add(&dear).expect("dear");
    }
    let summary = days.end().expect("one").remove(0).summary.expect("sales");
    assert_eq!((summary.median, summary.mean, summary.discount), (dear.price, dear.price, Some(Decimal::ZERO)));
    assert_eq!(summary.total, dear.price * Decimal::from(10_000));
    let most = i128::from(limits::PRICE_MINOR_UNITS_MAX) * limits::SALES_MAX as i128;
    assert!(MinorUnits::new(4).expect("four").quarters(4 * most).is_ok());
}
