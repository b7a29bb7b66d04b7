//! How sure a suggestion is, in words, with what speaks for it and against it.

use rust_decimal::Decimal;

use super::{Basis, SuggestSettings, Wanted, Weighed};
use crate::sales::figures::{series::change, units};

/// High if nothing speaks against a suggestion, fair if one thing does, low if more do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    Low,
    Fair,
    High,
}

/// What speaks for a suggestion, or against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    SameBrand { sales: usize },
    NoBrandGiven { sales: usize },
    FewOfTheBrand { of_brand: usize, sales: usize },
    ManySales { effective: Decimal },
    FewSales { effective: Decimal },
    CloseTogether { spread: Decimal },
    FarApart { spread: Option<Decimal> },
    Recent { newest_days: i64 },
    Old { newest_days: i64 },
    InSeason { share: Decimal },
    OutOfSeason { share: Decimal },
    ComparedByVector { sales: usize },
}

impl Confidence {
    pub(super) fn of(reasons: &[Reason]) -> Self {
        match reasons.iter().filter(|reason| reason.speaks_against()).count() {
            0 => Confidence::High,
            1 => Confidence::Fair,
            _ => Confidence::Low,
        }
    }
}

impl Reason {
    pub fn speaks_against(&self) -> bool {
        use Reason::*;
        match self {
            FewOfTheBrand { .. } | FewSales { .. } | FarApart { .. } | Old { .. } | OutOfSeason { .. } => true,
            SameBrand { .. } | NoBrandGiven { .. } | ManySales { .. } | CloseTogether { .. } => false,
            Recent { .. } | InSeason { .. } | ComparedByVector { .. } => false,
        }
    }
}

/// A suggestion that is to be judged.
pub(super) struct Case<'c> {
    pub wanted: &'c Wanted<'c>,
    pub settings: &'c SuggestSettings,
    pub basis: Basis,
    pub brand_count: usize,
    pub effective_count: Decimal,
    pub low: Decimal,
    pub price: Decimal,
    pub high: Decimal,
}

impl Case<'_> {
    /// `weight` is that of all sales in the pool.
    pub(super) fn reasons(&self, pool: &[Weighed<'_>], weight: u128) -> Vec<Reason> {
        let mut reasons = vec![self.brand(pool.len()), self.number(), self.spread(), self.age(pool)];
        reasons.extend(self.season(pool, weight));
        let sales = pool.iter().filter(|sale| sale.sale.similarity.is_some()).count();
        reasons.extend((sales > 0).then_some(Reason::ComparedByVector { sales }));
        reasons
    }

    fn brand(&self, sales: usize) -> Reason {
        match (self.basis, self.wanted.brand) {
            (Basis::CategoryAndBrand, _) => Reason::SameBrand { sales },
            (Basis::Category, None) => Reason::NoBrandGiven { sales },
            (Basis::Category, Some(_)) => Reason::FewOfTheBrand { of_brand: self.brand_count, sales },
        }
    }

    fn number(&self) -> Reason {
        let effective = self.effective_count;
        let few = effective < Decimal::from(self.settings.few_sales);
        if few { Reason::FewSales { effective } } else { Reason::ManySales { effective } }
    }

    fn spread(&self) -> Reason {
        // From low to high, as a share of the price: there is none of a price of zero.
        let spread = change(self.price, self.price + (self.high - self.low));
        match spread {
            Some(spread) if spread <= self.settings.wide_spread => Reason::CloseTogether { spread },
            None if self.high == self.low => Reason::CloseTogether { spread: Decimal::ZERO },
            spread => Reason::FarApart { spread },
        }
    }

    fn age(&self, pool: &[Weighed<'_>]) -> Reason {
        let days = |sale: &Weighed<'_>| i64::from(self.wanted.on.days()) - i64::from(sale.sale.point.date.days());
        let newest_days = pool.iter().map(days).min().unwrap_or_default();
        let old = newest_days > i64::from(self.settings.half_life_days);
        if old { Reason::Old { newest_days } } else { Reason::Recent { newest_days } }
    }

    fn season(&self, pool: &[Weighed<'_>], weight: u128) -> Option<Reason> {
        let season = self.wanted.season?;
        let matching = pool.iter().filter(|sale| sale.sale.point.season == season);
        let matching: u128 = matching.map(|sale| u128::from(sale.weight)).sum();
        let share = units::share(matching as i128, weight as i128)?;
        Some(if 2 * matching < weight { Reason::OutOfSeason { share } } else { Reason::InSeason { share } })
    }
}

impl std::fmt::Display for Confidence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Confidence::Low => "low",
            Confidence::Fair => "fair",
            Confidence::High => "high",
        })
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = |share: &Decimal| (share * Decimal::ONE_HUNDRED).round_dp(0).normalize();
        match self {
            Reason::SameBrand { sales } => write!(f, "it rests on {} of the same brand", count(*sales)),
            Reason::NoBrandGiven { sales } => {
                write!(f, "it rests on {} of the category, as no brand was given", count(*sales))
            }
            Reason::FewOfTheBrand { of_brand, sales } => {
                let few = if *of_brand == 0 { "no sale".into() } else { format!("only {}", count(*of_brand)) };
                write!(f, "{few} of the brand, so it rests on {} of the category", count(*sales))
            }
            Reason::ManySales { effective } => write!(f, "with their weights they are worth {effective} equal sales"),
            Reason::FewSales { effective } => {
                write!(f, "with their weights they are worth only {effective} equal sales")
            }
            Reason::CloseTogether { spread } => {
                write!(f, "prices are close: the middle half spans {} % of the price", percent(spread))
            }
            Reason::FarApart { spread: Some(spread) } => {
                write!(f, "prices are far apart: the middle half spans {} % of the price", percent(spread))
            }
            Reason::FarApart { spread: None } => write!(f, "prices are far apart, around zero"),
            Reason::Recent { newest_days } => write!(f, "the newest sale is {} old", days(*newest_days)),
            Reason::Old { newest_days } => write!(f, "the newest sale is already {} old", days(*newest_days)),
            Reason::InSeason { share } => write!(f, "{} % of the weight is of the season", percent(share)),
            Reason::OutOfSeason { share } => write!(f, "only {} % of the weight is of the season", percent(share)),
            Reason::ComparedByVector { sales } => write!(f, "{} compared by likeness", count(*sales)),
        }
    }
}

fn count(sales: usize) -> String {
    format!("{sales} {}", if sales == 1 { "sale" } else { "sales" })
}

fn days(days: i64) -> String {
    format!("{days} {}", if days == 1 { "day" } else { "days" })
}
