//! Two further tenants with two years of sales each, for the pages about prices: sale by sale, with a rhythm of seasons and of
//! the week, brands that are dear and brands that are not, and lists that are sold out at the end of a season.
//!
//! What a day sold follows from the seed, the tenant and the day: made again on another day, it is the same.

use merkato::sales::{NewSale, Season};
use rust_decimal::Decimal;
use widerow::Date;

use super::furniture::Size;
use crate::dice::Dice;

/// A tenant whose sales are shown.
pub struct Trader {
    pub tenant: &'static str,
    /// What it is reached by: browsers take it for this machine.
    pub host: &'static str,
    pub line: &'static str,
    goods: &'static [Goods],
}

/// What is sold in one category.
struct Goods {
    category: &'static str,
    /// The list price of a brand in the middle, in euros.
    price: i64,
    /// How much is sold in spring, summer, fall and winter, in tenths.
    seasons: [i64; 4],
    /// Names, and what they ask for in percent of the middle.
    brands: &'static [(&'static str, i64)],
}

pub const TRADERS: [Trader; 2] = [
    Trader {
        tenant: "outfitter",
        host: "outfitter.localhost",
        line: "second-hand clothes",
        goods: &[
            Goods {
                category: "dress",
                price: 89,
                seasons: [13, 17, 7, 6],
                brands: &[("Hollis", 100), ("Marlo & Fey", 165), ("Ostra", 70), ("Tamsin Reed", 230)],
            },
            Goods {
                category: "coat",
                price: 180,
                seasons: [5, 2, 16, 18],
                brands: &[("Hollis", 95), ("Norrland", 150), ("Ostra", 60)],
            },
            Goods {
                category: "shirt",
                price: 45,
                seasons: [12, 12, 9, 8],
                brands: &[("Hollis", 100), ("Ostra", 65), ("Norrland", 130), ("Plain", 40)],
            },
            Goods {
                category: "knitwear",
                price: 75,
                seasons: [6, 2, 17, 15],
                brands: &[("Norrland", 160), ("Plain", 55), ("Marlo & Fey", 140)],
            },
        ],
    },
    Trader {
        tenant: "soles",
        host: "soles.localhost",
        line: "shoes, resold",
        goods: &[
            Goods {
                category: "sneakers",
                price: 150,
                seasons: [12, 13, 9, 7],
                brands: &[("Kite", 100), ("Vela", 175), ("Roam", 80), ("Anders", 120)],
            },
            Goods {
                category: "boots",
                price: 190,
                seasons: [5, 2, 17, 16],
                brands: &[("Roam", 100), ("Anders", 135), ("Fjord", 160)],
            },
            Goods {
                category: "sandals",
                price: 60,
                seasons: [12, 20, 4, 1],
                brands: &[("Vela", 140), ("Palma", 70), ("Roam", 95)],
            },
        ],
    },
];

/// Days that have sales: two years but for two days, so that none of them has ended.
const DAYS: i32 = 728;
/// Articles of a brand in a category, and numbers of a vector.
const ARTICLES: usize = 3;
const DIMENSIONS: usize = 8;

/// All sales of a trader up to a day, the oldest first.
pub fn sales(trader: &Trader, seed: u64, today: Date, size: Size) -> impl Iterator<Item = Vec<NewSale>> {
    let (from, to) = (today.days() - DAYS, today.days() - 1);
    (from..=to).map(move |day| of_day(trader, seed, Date::from_days(day), size))
}

fn of_day(trader: &Trader, seed: u64, date: Date, size: Size) -> Vec<NewSale> {
    let name = trader.tenant.bytes().fold(seed, |sum, byte| sum.wrapping_mul(131).wrapping_add(byte.into()));
    let mut dice = Dice::new(name ^ ((date.days() as u64) << 20));
    let season = Season::of(date, merkato::sales::Hemisphere::North);
    let at = Season::ALL.iter().position(|known| *known == season).unwrap_or(0);
    // Saturdays and Sundays; the first of January 1970 was a Thursday.
    let weekend = (date.days() + 3).rem_euclid(7) >= 5;
    let mut sales = Vec::new();
    for goods in trader.goods {
        let busy = goods.seasons[at] * if weekend { 14 } else { 10 };
        let most = match size {
            Size::Full => busy / 20,
            Size::Small => busy / 100,
        };
        for _ in 0..dice.below(most + 2) {
            sales.push(sale(goods, at, date, sales.len(), &mut dice));
        }
    }
    sales
}

fn sale(goods: &Goods, season: usize, date: Date, number: usize, dice: &mut Dice) -> NewSale {
    let (brand, percent) = goods.brands[dice.index(goods.brands.len())];
    let article = dice.index(ARTICLES);
    // Prices rise by some percent a year, an article is a little dearer than the one before it.
    let years = i64::from(date.days()) - 20_000;
    let list = goods.price * percent * (90 + 10 * article as i64) * (100_000 + 12 * years) / 10_000_000;
    // Out of season it goes for less; and people haggle.
    let wanted = goods.seasons[season].clamp(2, 16);
    let paid = list * (70 + wanted + dice.below(17)) / 100;
    let name = |text: &str| text.to_lowercase().replace([' ', '&'], "").replace("--", "-");
    let product_id = format!("{}-{}-{}", name(brand), goods.category, article + 1);
    // One embedding of an article is enough, and its vector is the same on every day.
    let embedded = date.days() % 30 == 0;
    NewSale {
        // Its last character says its shard.
        sale_id: format!("sale-{date}-{number}-{}", dice.below(10)),
        sale_date: date.to_string(),
        sale_price: euros_and_ninety(paid),
        original_price: Some(euros_and_ninety(list)),
        category: goods.category.into(),
        brand: Some(brand.into()),
        embedding_id: embedded.then(|| format!("emb-{product_id}")),
        vector: embedded.then(|| vector(goods, brand, article)),
        product_id,
        ..NewSale::default()
    }
}

/// Whole euros and ninety cents, as such prices are.
fn euros_and_ninety(cents: i64) -> Decimal {
    Decimal::new(cents / 100 * 100 + 90, 2)
}

/// Articles of one category look alike, those of one brand a little.
fn vector(goods: &Goods, brand: &str, article: usize) -> Vec<f32> {
    let seed = |text: &str| text.bytes().fold(7, |sum: u64, byte| sum.wrapping_mul(131).wrapping_add(byte.into()));
    let mut floats = vec![0.0; DIMENSIONS];
    for (seed, weight) in [(seed(goods.category), 1.0), (seed(brand), 0.4), (seed(brand) ^ article as u64, 0.2)] {
        let mut dice = Dice::new(seed);
        for float in &mut floats {
            *float += weight * (dice.below(2_001) - 1_000) as f32 / 1_000.0;
        }
    }
    floats
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_years_are_the_same_every_time_and_have_seasons() {
        let today: Date = "2026-11-15".parse().expect("a day");
        for trader in &TRADERS {
            let all = |today| -> Vec<NewSale> { sales(trader, 1, today, Size::Full).flatten().collect() };
            let sold = all(today);
            assert!((4_000..15_000).contains(&sold.len()), "{}: {}", trader.tenant, sold.len());
            let tomorrow = all(Date::from_days(today.days() + 1));
            let same = |sale: &&NewSale| sale.sale_date != sold[0].sale_date;
            let common: Vec<_> = sold.iter().filter(same).collect();
            assert_eq!(common, tomorrow.iter().take(common.len()).collect::<Vec<_>>());
            let settings = merkato::settings::SalesSettings::default();
            for sale in &sold {
                let prepared = merkato::sales::prepare(sale.clone(), &settings, today.start()).expect("a good sale");
                assert!(prepared.record.ttl.is_some_and(|end| end > today.start()), "{sale:?} has ended");
            }
            let prices = sold.iter().map(|sale| sale.sale_price);
            assert!(prices.clone().min() > Some(Decimal::TEN) && prices.max() < Some(Decimal::from(600)));
            let brands: std::collections::BTreeSet<_> = sold.iter().filter_map(|sale| sale.brand.clone()).collect();
            assert!(brands.len() >= 5, "{brands:?}");
        }
        let coats = |months: [&str; 3]| {
            let sold = sales(&TRADERS[0], 1, today, Size::Full).flatten();
            sold.filter(|sale| sale.category == "coat" && months.contains(&&sale.sale_date[5..7])).count()
        };
        assert!(coats(["12", "01", "02"]) > 3 * coats(["06", "07", "08"]), "coats are for the winter");
    }
}
