//! A price for a new item, from what comparable ones were sold at.
//!
//! 1. It rests on the sales of the same category and brand; if there are too few of them, on all of the category. With too
//!    few of those there is no suggestion.
//! 2. A sale weighs the less the older it is (half after each half-life), if it is of another season, of another brand, or
//!    looks different (the cosine of its vector). Sales behind the day in question, and those without any weight, are left
//!    out and not counted.
//! 3. The price is the weighted median, low and high the weighted quartiles: the least price at which a quarter, a half,
//!    three quarters of all weight are reached, and the middle between it and the next where it is reached exactly. All
//!    three are rounded to minor units, halves away from zero.
//! 4. Weights are whole numbers, parts of two to the 32nd, so that sums do not depend on the order of the sales. The same
//!    sales give the same suggestion, on every machine.

mod confidence;
mod weight;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use widerow::Date;

pub use confidence::{Confidence, Reason};

use self::weight::Weights;
use super::{
    Point,
    error::{Error, Result},
    limits,
    units::{self, MinorUnits},
};
use crate::{check::Check, sales::season::Season};

/// How sales are weighed. What is a weight lies between nought and one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SuggestSettings {
    /// Days after which a sale weighs half.
    pub half_life_days: u32,
    /// With fewer sales nothing is suggested.
    pub sales_min: usize,
    pub other_season_weight: Decimal,
    /// Only where sales of the brand alone are too few.
    pub other_brand_weight: Decimal,
    /// Of a sale without a vector, where others have one.
    pub without_vector_weight: Decimal,
    /// How many of the sales are shown, those with the most weight.
    pub shown_max: usize,
    /// Evenly weighted sales, below which confidence suffers.
    pub few_sales: u32,
    /// The distance from low to high as a share of the price, above which confidence suffers.
    pub wide_spread: Decimal,
}

impl Default for SuggestSettings {
    fn default() -> Self {
        SuggestSettings {
            half_life_days: 90,
            sales_min: 5,
            other_season_weight: Decimal::new(5, 1),
            other_brand_weight: Decimal::new(5, 1),
            without_vector_weight: Decimal::new(5, 1),
            shown_max: 10,
            few_sales: 10,
            wide_spread: Decimal::new(5, 1),
        }
    }
}

/// The item that a price is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted<'a> {
    pub category: &'a str,
    pub brand: Option<&'a str>,
    /// In which it is to be sold; None: seasons do not matter.
    pub season: Option<Season>,
    /// The day on which it is asked.
    pub on: Date,
}

/// A sale that may be comparable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparable<'a> {
    pub point: Point<'a>,
    /// The cosine of its vector with the item's, where both have one. Zero and below is no likeness at all.
    pub similarity: Option<f32>,
}

/// A suggestion, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Advice<'a> {
    Price(Suggestion<'a>),
    /// Comparable sales that were found, and as many as it takes.
    TooFewSales {
        found: usize,
        needed: usize,
    },
}

/// A price, and what speaks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion<'a> {
    pub price: Decimal,
    /// A quarter of all weight is at or below it.
    pub low: Decimal,
    /// A quarter of all weight is at or above it.
    pub high: Decimal,
    pub basis: Basis,
    /// How many sales it rests on.
    pub sales_count: usize,
    /// As how many evenly weighted sales they are worth (Kish: the square of the sum by the sum of squares), to one decimal.
    pub effective_count: Decimal,
    pub confidence: Confidence,
    pub reasons: Vec<Reason>,
    /// Those with the most weight first; among equals the latest, then by ids.
    pub rests_on: Vec<RestsOn<'a>>,
}

/// Which sales were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    CategoryAndBrand,
    Category,
}

/// A sale that a suggestion rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RestsOn<'a> {
    pub sale: Comparable<'a>,
    /// Its share of all weight.
    pub weight: Decimal,
}

/// A sale with its price and its weight.
struct Weighed<'a> {
    sale: Comparable<'a>,
    price: i64,
    weight: u64,
}

/// Suggests a price. Sales of other categories may be among those given; they are left out.
pub fn suggest<'a>(
    wanted: &Wanted<'_>,
    sales: &[Comparable<'a>],
    settings: &SuggestSettings,
    units: MinorUnits,
) -> Result<Advice<'a>> {
    if sales.len() > limits::COMPARABLES_MAX {
        return Err(Error::TooManySales { limit: limits::COMPARABLES_MAX });
    }
    let of_category = || sales.iter().filter(|sale| sale.point.category == wanted.category);
    let by_vector = of_category().any(|sale| sale.similarity.is_some());
    let weights = Weights::of(settings, wanted, by_vector)?;
    let mut pool = Vec::new();
    for sale in of_category() {
        super::check_date(sale.point.date)?;
        let weight = weights.of_sale(sale)?;
        if weight > 0 {
            pool.push(Weighed { sale: *sale, price: units.whole("price", sale.point.price)?, weight });
        }
    }
    let of_brand = |sale: &Weighed<'_>| wanted.brand.is_some() && sale.sale.point.brand == wanted.brand;
    let brand_count = pool.iter().filter(|sale| of_brand(sale)).count();
    let basis = if brand_count >= settings.sales_min { Basis::CategoryAndBrand } else { Basis::Category };
    match basis {
        Basis::CategoryAndBrand => pool.retain(of_brand),
        Basis::Category if wanted.brand.is_some() => {
            let others = pool.iter_mut().filter(|sale| !of_brand(sale));
            others.for_each(|sale| sale.weight = weights.of_other_brand(sale.weight));
            pool.retain(|sale| sale.weight > 0);
        }
        Basis::Category => {}
    }
    if pool.len() < settings.sales_min {
        return Ok(Advice::TooFewSales { found: pool.len(), needed: settings.sales_min });
    }
    let sums = Sums::of(&mut pool);
    let quartile = |k| units::divide(sums.quartile_halves(&pool, k), 2).ok_or(Error::TooMuch { field: "price" });
    let [low, price, high] = [quartile(1)?, quartile(2)?, quartile(3)?];
    let [low, price, high] = [units.amount(low)?, units.amount(price)?, units.amount(high)?];
    let effective_count = sums.effective_count();
    let case = confidence::Case { wanted, settings, basis, brand_count, effective_count, low, price, high };
    let reasons = case.reasons(&pool, sums.weight);
    Ok(Advice::Price(Suggestion {
        price,
        low,
        high,
        basis,
        sales_count: pool.len(),
        effective_count,
        confidence: Confidence::of(&reasons),
        reasons,
        rests_on: sums.heaviest(pool, settings.shown_max),
    }))
}

/// All weight, of sales in the order of their prices.
struct Sums {
    weight: u128,
    squares: u128,
}

impl Sums {
    /// A hundred thousand weights of 33 bits have room, and so has the square of their sum.
    fn of(pool: &mut [Weighed<'_>]) -> Self {
        pool.sort_unstable_by_key(|sale| sale.price);
        let weights = || pool.iter().map(|sale| u128::from(sale.weight));
        Sums { weight: weights().sum(), squares: weights().map(|weight| weight.pow(2)).sum() }
    }

    /// The k-th weighted quartile in halves of a minor unit.
    fn quartile_halves(&self, pool: &[Weighed<'_>], k: u128) -> i128 {
        let mut reached = 0;
        let mut rest = pool.iter().peekable();
        while let Some(sale) = rest.next() {
            reached += u128::from(sale.weight);
            let price = i128::from(sale.price);
            match (4 * reached).cmp(&(k * self.weight)) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => return price + rest.peek().map_or(price, |next| next.price.into()),
                std::cmp::Ordering::Greater => return 2 * price,
            }
        }
        0
    }

    fn effective_count(&self) -> Decimal {
        let (square, squares) = (self.weight.pow(2), self.squares.max(1));
        units::quotient(square as i128, squares as i128, 1).unwrap_or_default()
    }

    fn heaviest<'a>(&self, mut pool: Vec<Weighed<'a>>, shown_max: usize) -> Vec<RestsOn<'a>> {
        pool.sort_unstable_by(|a, b| {
            let (p, q) = (&a.sale.point, &b.sale.point);
            let by_weight = b.weight.cmp(&a.weight).then(q.date.cmp(&p.date));
            // Two records of one id have their prices at least.
            by_weight.then_with(|| (p.product_id, p.sale_id, a.price).cmp(&(q.product_id, q.sale_id, b.price)))
        });
        pool.truncate(shown_max);
        let weight = |sale: &Weighed<'_>| units::share(sale.weight.into(), self.weight as i128).unwrap_or_default();
        pool.iter().map(|sale| RestsOn { sale: sale.sale, weight: weight(sale) }).collect()
    }
}

impl std::fmt::Display for Advice<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Advice::Price(suggestion) => {
                let Suggestion { price, low, high, confidence, reasons, .. } = suggestion;
                write!(f, "{price}, between {low} and {high}; confidence is {confidence}: ")?;
                let each: Vec<String> = reasons.iter().map(Reason::to_string).collect();
                f.write_str(&each.join("; "))
            }
            Advice::TooFewSales { found, needed } => {
                write!(f, "no suggestion: {found} comparable sales, and it takes {needed}")
            }
        }
    }
}

impl SuggestSettings {
    fn check(&self) -> Result<()> {
        let mut check = Check::new();
        check.that(self.half_life_days > 0, "half_life_days", "0 is not 1 or more");
        check.that(self.sales_min > 0, "sales_min", "0 is not 1 or more");
        let weights = [
            ("other_season_weight", self.other_season_weight),
            ("other_brand_weight", self.other_brand_weight),
            ("without_vector_weight", self.without_vector_weight),
        ];
        for (field, weight) in weights {
            let good = (Decimal::ZERO..=Decimal::ONE).contains(&weight);
            check.that(good, field, format!("{weight} is not 0 to 1"));
        }
        check.that(self.wide_spread >= Decimal::ZERO, "wide_spread", "it is negative");
        Ok(check.end()?)
    }
}
