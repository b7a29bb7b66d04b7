use proptest::prelude::*;
use rust_decimal::Decimal;

use super::{cents, date, decimal, sale};
use crate::{
    error::Kind,
    sales::figures::{By, Comparison, Error, MinorUnits, Point, brands, limits, series},
};

fn of_brand(brand: Option<&str>, price: i64) -> Point<'_> {
    Point { brand, ..sale(date("2025-01-01"), price) }
}

#[test]
fn brands_stand_side_by_side_the_largest_first() {
    let sales = [
        of_brand(Some("Nike"), 100),
        of_brand(None, 500),
        of_brand(Some("Adidas"), 300),
        of_brand(Some("Nike"), 200),
        of_brand(Some("nike"), 0),
        of_brand(Some(""), 900),
    ];
    let figures = brands(sales, MinorUnits::CENTS).expect("few");
    let names: Vec<_> = figures.iter().map(|group| group.name.as_deref()).collect();
    assert_eq!(names, [Some("Nike"), Some(""), Some("Adidas"), Some("nike"), None]);
    let nike = &figures[0];
    assert_eq!((nike.summary.count, nike.summary.median), (2, decimal("1.50")));
    assert_eq!((nike.share_of_count, nike.share_of_total), (decimal("0.333333"), Some(decimal("0.15"))));
    assert_eq!(figures[4].share_of_total, Some(decimal("0.25")));
    assert_eq!(brands([], MinorUnits::CENTS), Ok(vec![]));
    let free = brands([of_brand(Some("Nike"), 0)], MinorUnits::CENTS).expect("one");
    assert_eq!((free[0].share_of_count, free[0].share_of_total), (Decimal::ONE, None), "no share of nothing");
}

#[test]
fn sales_can_be_told_apart_by_anything_and_by_too_much() {
    let mut groups = Comparison::new(MinorUnits::CENTS);
    for n in 0..limits::GROUPS_MAX {
        groups.add_to(Some(&n.to_string()), &of_brand(None, 1)).expect("room");
    }
    let error = groups.add_to(Some("one more"), &of_brand(None, 1)).expect_err("full");
    assert_eq!(error, Error::TooManyGroups { limit: limits::GROUPS_MAX });
    assert_eq!(error.kind(), Kind::Limit);
    groups.add_to(Some("7"), &of_brand(None, 1)).expect("known");
    groups.add(&of_brand(None, 1)).expect("without a name");
    assert_eq!(groups.add(&of_brand(None, -1)).expect_err("negative").code(), "invalid");
    let figures = groups.end().expect("many");
    assert_eq!(figures.len(), limits::GROUPS_MAX + 1);
    assert_eq!((figures[0].name.as_deref(), figures[0].summary.count), (Some("7"), 2));
}

proptest! {
    /// A group is told as it is when it stands alone, and all together are the whole.
    #[test]
    fn a_group_is_what_it_is_alone(
        sales in prop::collection::vec((prop::option::of("[ab]"), 0_i64..10_000), 1..60),
    ) {
        let points: Vec<_> = sales.iter().map(|(brand, price)| of_brand(brand.as_deref(), *price)).collect();
        let figures = brands(points.iter().copied(), MinorUnits::CENTS).expect("few");
        prop_assert_eq!(figures.iter().map(|group| group.summary.count).sum::<u64>(), sales.len() as u64);
        let total: Decimal = sales.iter().map(|(_, price)| cents(*price)).sum();
        prop_assert_eq!(figures.iter().map(|group| group.summary.total).sum::<Decimal>(), total);
        let off_by = |sum: Decimal| (sum - Decimal::ONE).abs() <= decimal("0.000003");
        prop_assert!(off_by(figures.iter().map(|group| group.share_of_count).sum()));
        for group in &figures {
            let alone = points.iter().filter(|point| point.brand == group.name.as_deref()).copied();
            let alone = series(alone, By::Day, MinorUnits::CENTS).expect("few").remove(0);
            prop_assert_eq!(Some(&group.summary), alone.summary.as_ref());
        }
    }
}
