//! How evenly keys are spread over shards.
//!
//! Shares, the largest shard against the mean, and Pearson's chi-square against an even spread. Chi-square grows with the
//! number of keys, however small the skew; `unevenness` is chi-square divided by it, which is the squared coefficient of
//! variation of the shards: it does not grow, and 0.0625 means that shards differ from the mean by a quarter of it.

use rust_decimal::Decimal;

use super::{
    error::{Error, Result},
    limits,
    units::{self, SHARE_DECIMALS},
};

/// The spread of keys over shards. All quotients have six decimals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skew {
    pub total: u64,
    pub counts: Vec<u64>,
    /// Of the total, shard by shard; all zero without keys.
    pub shares: Vec<Decimal>,
    pub mean: Decimal,
    /// How many times the mean the fullest shard holds. None without keys, as are the two below.
    pub largest_to_mean: Option<Decimal>,
    pub chi_square: Option<Decimal>,
    pub unevenness: Option<Decimal>,
}

impl Skew {
    /// What chi-square is on average if chance alone decides.
    pub fn degrees_of_freedom(&self) -> usize {
        self.counts.len().saturating_sub(1)
    }

    /// The fullest shard; the first of equals.
    pub fn fullest(&self) -> Option<usize> {
        let most = self.counts.iter().max().filter(|most| **most > 0)?;
        self.counts.iter().position(|count| count == most)
    }
}

/// Counts keys by the shard that a function gives them.
pub fn count_shards<K>(keys: impl IntoIterator<Item = K>, shards: u32, shard: impl Fn(K) -> u32) -> Result<Vec<u64>> {
    check_shards(shards as usize)?;
    let mut counts = vec![0_u64; shards as usize];
    for key in keys {
        let found = shard(key);
        let count = counts.get_mut(found as usize).ok_or(Error::NoSuchShard { found, shards })?;
        *count = count.checked_add(1).ok_or(Error::TooMuch { field: "counts" })?;
    }
    Ok(counts)
}

/// How evenly keys are spread, from how many each shard holds.
pub fn skew(counts: &[u64]) -> Result<Skew> {
    check_shards(counts.len())?;
    let total = counts.iter().try_fold(0_u64, |sum, count| sum.checked_add(*count));
    let total = total.filter(|total| *total <= limits::KEYS_COUNTED_MAX).ok_or(Error::TooMuch { field: "counts" })?;
    let (shards, all) = (counts.len() as i128, i128::from(total));
    let largest = counts.iter().max().copied().map_or(0, i128::from);
    // The squares sum up to the square of the total at the most, and with the shards that has room in 128 bits.
    let squares: i128 = counts.iter().map(|count| i128::from(*count).pow(2)).sum();
    let beyond_even = shards * squares - all.pow(2);
    Ok(Skew {
        total,
        counts: counts.to_vec(),
        shares: counts.iter().map(|count| units::share((*count).into(), all).unwrap_or_default()).collect(),
        mean: units::quotient(all, shards, SHARE_DECIMALS).unwrap_or_default(),
        largest_to_mean: units::share(largest * shards, all),
        chi_square: units::share(beyond_even, all),
        unevenness: all.checked_pow(2).and_then(|squared| units::share(beyond_even, squared)),
    })
}

fn check_shards(shards: usize) -> Result<()> {
    if (1..=limits::SHARDS_MAX).contains(&shards) {
        return Ok(());
    }
    Err(Error::invalid("shards", format!("{shards} is not 1 to {}", limits::SHARDS_MAX)))
}

impl std::fmt::Display for Skew {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Some(fullest), Some(times)) = (self.fullest(), self.largest_to_mean) else {
            return f.write_str("no keys");
        };
        let share = self.shares.get(fullest).copied().unwrap_or_default() * Decimal::ONE_HUNDRED;
        write!(
            f,
            "the fullest of {} shards is {fullest}, with {} % of {} keys, {} times the mean",
            self.counts.len(),
            share.round_dp(2).normalize(),
            self.total,
            times.round_dp(2).normalize(),
        )
    }
}
