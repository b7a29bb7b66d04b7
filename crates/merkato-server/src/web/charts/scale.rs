//! From values to pixels, and the round numbers between.

/// Values from nought, or from the least if that is below, to a round number above the most.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    /// Round numbers, the least first, at most a handful.
    pub(super) ticks: Vec<f64>,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// `from` is the pixel of the least value, `to` that of the greatest.
    pub(super) fn new(values: impl IntoIterator<Item = f64>, from: f64, to: f64, steps: usize) -> Self {
        let values = values.into_iter().filter(|value| value.is_finite());
        let (low, high) = values.fold((0.0_f64, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        let high = if high == low { low + 1.0 } else { high };
        Scale::between(low, high, round_step((high - low) / steps.max(1) as f64), from, to)
    }

    /// Around the values, wherever they are: for what has no nought of its own, as degrees.
    pub(super) fn around(values: impl IntoIterator<Item = f64>, from: f64, to: f64, steps: usize) -> Self {
        let values = values.into_iter().filter(|value| value.is_finite());
        let ends = values.fold(None, |ends: Option<(f64, f64)>, value| {
            Some(ends.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
        });
        let (low, high) = ends.unwrap_or((0.0, 1.0));
        // What hardly varies is no mountain; a number must be told from its neighbours, too.
        let least = (low.abs().max(high.abs()) * 1e-9).max(1e-6);
        let high = if high - low < least { low + least } else { high };
        Scale::between(low, high, round_step_of_any((high - low) / steps.max(1) as f64), from, to)
    }

    fn between(low: f64, high: f64, step: f64, from: f64, to: f64) -> Self {
        let (first, last) = ((low / step).floor(), (high / step).ceil());
        // At most a few more than were wished for: the step is at least the distance that was asked for, divided by two.
        let ticks = (0..=((last - first) as usize).min(20)).map(|i| (first + i as f64) * step).collect();
        Scale { ticks, low: first * step, high: last * step, from, to }
    }

    pub(super) fn at(&self, value: f64) -> f64 {
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }
}

/// The round number (1, 2, 2.5 or 5 of some power of ten) that is not less.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 2.5, 5.0].into_iter().find(|factor| factor * power >= least * 0.999_999);
    // Counts have no halves: 2.5 is for tens and more.
    match factor {
        Some(2.5) if power < 10.0 => 5.0 * power,
        Some(factor) => factor * power,
        None => 10.0 * power,
    }
}

/// As `round_step`, of what is measured and has parts of one.
fn round_step_of_any(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= least * 0.999_999).map_or(10.0, |factor| factor) * power
}

/// Which of so many things are named on an axis: the first, the last, and some between, evenly.
pub(super) fn named(count: usize, most: usize) -> Vec<usize> {
    if count <= 1 || most < 2 {
        return (0..count.min(1)).collect();
    }
    let gaps = (count - 1).min(most - 1);
    let all = (1..=gaps).rev().find(|gaps| (count - 1).is_multiple_of(*gaps)).filter(|found| found * 2 >= gaps);
    let gaps = all.unwrap_or(gaps);
    (0..=gaps).map(|i| i * (count - 1) / gaps).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_few_and_round() {
        let ticks = |most: f64| Scale::new([most], 0.0, 1.0, 4).ticks;
        assert_eq!(ticks(12_430.0), [0.0, 5_000.0, 10_000.0, 15_000.0]);
        assert_eq!(ticks(97.0), [0.0, 25.0, 50.0, 75.0, 100.0]);
        assert_eq!(ticks(4.0), [0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(ticks(9.0), [0.0, 5.0, 10.0]);
        assert_eq!(ticks(0.0).first(), Some(&0.0));
        for most in 1..2_000 {
            let found = ticks(f64::from(most));
            assert!((2..=6).contains(&found.len()), "{most}: {found:?}");
            assert!(*found.last().unwrap() >= f64::from(most), "{most}: {found:?}");
        }
    }

    #[test]
    fn values_below_nought_and_none_at_all_have_a_scale() {
        let scale = Scale::new([-30.0, 80.0], 200.0, 0.0, 4);
        assert!(scale.at(-30.0) > scale.at(0.0) && scale.at(0.0) > scale.at(80.0));
        assert_eq!(Scale::new([], 100.0, 0.0, 4).at(0.0), 100.0);
        assert_eq!(Scale::new([f64::NAN, f64::INFINITY], 100.0, 0.0, 4).at(0.0), 100.0);
    }

    #[test]
    fn what_has_no_nought_is_shown_where_it_is() {
        assert_eq!(Scale::around([-19.4, -17.6], 0.0, 1.0, 4).ticks, [-19.5, -19.0, -18.5, -18.0, -17.5]);
        assert_eq!(Scale::around([1_010.0, 1_018.0], 0.0, 1.0, 4).ticks, [1_010.0, 1_012.0, 1_014.0, 1_016.0, 1_018.0]);
        for value in [0.0, 4.0, -1e15, 1e15, f64::NAN] {
            let scale = Scale::around([value; 3], 100.0, 0.0, 4);
            assert!((2..=6).contains(&scale.ticks.len()), "{value}: {scale:?}");
            assert!(value.is_nan() || scale.at(value).is_finite(), "{value}: {scale:?}");
        }
    }

    #[test]
    fn some_things_are_named() {
        assert_eq!(named(0, 5), [] as [usize; 0]);
        assert_eq!(named(1, 5), [0]);
        assert_eq!(named(3, 5), [0, 1, 2]);
        assert_eq!(named(7, 7), [0, 1, 2, 3, 4, 5, 6]);
        for count in 2..100 {
            let found = named(count, 6);
            assert!(found.len() <= 6 && found[0] == 0 && *found.last().unwrap() == count - 1, "{count}: {found:?}");
            assert!(found.windows(2).all(|pair| pair[0] < pair[1]), "{count}: {found:?}");
        }
    }
}
