//! What a sale weighs, in parts of two to the 32nd.
//!
//! Nothing but what IEEE 754 rounds in one way everywhere is used (no `exp2`, which differs between systems), so that a weight
//! is the same on every machine.

use super::{Comparable, SuggestSettings, Wanted};
use crate::sales::figures::{
    error::{Error, Result},
    units,
};

const FULL: u64 = 1 << 32;

pub(super) struct Weights<'w> {
    wanted: &'w Wanted<'w>,
    half_life_days: u64,
    other_season: u64,
    other_brand: u64,
    without_vector: u64,
    /// Two to the power of -1/2, -1/4, -1/8 and so on.
    roots: [f64; 32],
}

impl<'w> Weights<'w> {
    /// `by_vector` says whether there is a sale with a vector: those without weigh less beside it.
    pub(super) fn of(settings: &SuggestSettings, wanted: &'w Wanted<'w>, by_vector: bool) -> Result<Self> {
        settings.check()?;
        let fixed = |weight| units::fixed(weight).ok_or_else(|| Error::invalid("weight", "it is not 0 to 1"));
        let mut root = 0.5_f64;
        let roots = std::array::from_fn(|_| {
            root = root.sqrt();
            root
        });
        Ok(Weights {
            wanted,
            half_life_days: settings.half_life_days.into(),
            other_season: fixed(settings.other_season_weight)?,
            other_brand: fixed(settings.other_brand_weight)?,
            without_vector: if by_vector { fixed(settings.without_vector_weight)? } else { FULL },
            roots,
        })
    }

    /// Nought if it is not comparable: sold later, or not alike.
    pub(super) fn of_sale(&self, sale: &Comparable<'_>) -> Result<u64> {
        let age_days = i64::from(self.wanted.on.days()) - i64::from(sale.point.date.days());
        let Ok(age_days) = u64::try_from(age_days) else { return Ok(0) };
        let season = match self.wanted.season {
            Some(season) if season != sale.point.season => self.other_season,
            _ => FULL,
        };
        let likeness = match sale.similarity {
            Some(cosine) if cosine.is_finite() => (f64::from(cosine.clamp(0.0, 1.0)) * FULL as f64).round() as u64,
            Some(_) => return Err(Error::invalid("similarity", "it is not a number")),
            None => self.without_vector,
        };
        Ok(times(times(self.of_age(age_days), season), likeness))
    }

    pub(super) fn of_other_brand(&self, weight: u64) -> u64 {
        times(weight, self.other_brand)
    }

    /// Two to the power of minus the age in half-lives.
    fn of_age(&self, age_days: u64) -> u64 {
        let (halvings, mut rest) = (age_days / self.half_life_days, age_days % self.half_life_days);
        let mut part = 1.0_f64;
        for root in &self.roots {
            rest *= 2;
            if rest >= self.half_life_days {
                rest -= self.half_life_days;
                part *= root;
            }
        }
        let halvings = u32::try_from(halvings).unwrap_or(u32::MAX);
        ((part * FULL as f64).round() as u64).checked_shr(halvings).unwrap_or(0)
    }
}

fn times(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b) + u128::from(FULL / 2)) / u128::from(FULL)) as u64
}
