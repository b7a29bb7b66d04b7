//! Middle and spread of values, of which a few may be wild: the median and the median distance from it.

use super::limits;

/// What makes the median distance from the median of a normal distribution its standard deviation.
pub const MAD_SCALE: f64 = 1.4826;
/// The same for the mean distance from it.
const MEAN_DISTANCE_SCALE: f64 = 1.2533;

/// The middle of values, and how far they usually lie from it, as a standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Middle {
    pub median: f64,
    /// Nought if all are equal.
    pub spread: f64,
}

impl Middle {
    /// None of nothing. The values' order is lost.
    ///
    /// Where more than half are equal their median distance is nought, and anything else would be infinitely far away. Then it
    /// is the mean distance that counts (Iglewicz and Hoaglin, 1993).
    pub fn of(values: &mut [f64]) -> Option<Middle> {
        let median = median(values)?;
        values.iter_mut().for_each(|value| *value = (*value - median).abs());
        let spread = match median_of_some(values) {
            0.0 => MEAN_DISTANCE_SCALE * values.iter().sum::<f64>() / values.len() as f64,
            distance => MAD_SCALE * distance,
        };
        Some(Middle { median, spread })
    }

    /// How many spreads a value lies from the median, at most `limits::SCORE_MAX`. A spread below `spread_min` counts as that.
    pub fn score(&self, value: f64, spread_min: f64) -> f64 {
        let (distance, spread) = ((value - self.median).abs(), self.spread.max(spread_min));
        if distance == 0.0 { 0.0 } else { (distance / spread).min(limits::SCORE_MAX) }
    }
}

/// The middle one, or the mean of the two in the middle. The values' order is lost.
pub fn median(values: &mut [f64]) -> Option<f64> {
    (!values.is_empty()).then(|| median_of_some(values))
}

fn median_of_some(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    let (below, &mut upper, above) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if below.len() == above.len() {
        return upper;
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    lower + (upper - lower) / 2.0
}
