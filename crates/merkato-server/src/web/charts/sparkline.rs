//! A line the size of a word.

use super::svg::{Px, Svg};

const WIDTH: f64 = 220.0;
const HEIGHT: f64 = 40.0;

/// The values, the oldest first; the newest has a dot. `title` says them to whoever cannot see it.
pub fn sparkline(title: &str, values: &[Option<f64>]) -> String {
    drawn(title, values, (0.0, 0.0))
}

/// The same where the values are, not from nought: for what has no nought of its own. What varies by less than `least` is drawn
/// as flat as it is.
pub fn sparkline_around(title: &str, values: &[Option<f64>], least: f64) -> String {
    let known = || values.iter().flatten().copied().filter(|value| value.is_finite());
    let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    let middle = (low + high) / 2.0;
    let ends = if high - low < least { (middle - least / 2.0, middle + least / 2.0) } else { (low, high) };
    drawn(title, values, if low.is_finite() { ends } else { (0.0, 0.0) })
}

fn drawn(title: &str, values: &[Option<f64>], ends: (f64, f64)) -> String {
    let known = values.iter().flatten().copied().filter(|value| value.is_finite());
    let (low, high) = known.fold(ends, |(low, high), value| (low.min(value), high.max(value)));
    let range = if high > low { high - low } else { 1.0 };
    let x = |i: usize| 4.0 + i as f64 * (WIDTH - 8.0) / values.len().saturating_sub(1).max(1) as f64;
    let y = |value: f64| HEIGHT - 4.0 - (value - low) / range * (HEIGHT - 8.0);
    let mut svg = Svg::new("spark", WIDTH, HEIGHT, title);
    let mut path = String::new();
    let mut is_new = true;
    for (i, value) in values.iter().enumerate() {
        match value.filter(|value| value.is_finite()) {
            Some(value) => {
                path.push_str(&format!("{}{} {}", if is_new { 'M' } else { 'L' }, Px(x(i)), Px(y(value))));
                is_new = false;
            }
            None => is_new = true,
        }
    }
    svg.add(format_args!("<path class=\"line c1\" d=\"{path}\"/>"));
    if let Some((i, value)) = values.iter().enumerate().rev().find_map(|(i, value)| Some((i, (*value)?))) {
        svg.add(format_args!("<circle class=\"dot c1\" cx=\"{}\" cy=\"{}\" r=\"3\"/>", Px(x(i)), Px(y(value))));
    }
    svg.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn around_the_values_it_is_as_flat_as_they_are() {
        let heights = |svg: &str| -> Vec<f64> {
            let path = svg.split("d=\"M").nth(1).unwrap().split('"').next().unwrap().to_owned();
            path.split('L').map(|point| point.split(' ').nth(1).unwrap().parse().unwrap()).collect()
        };
        let values = [Some(-20.0), Some(-19.9), Some(-20.0)];
        let flat = heights(&sparkline_around("Cold", &values, 2.0));
        assert!(flat.iter().all(|y| (16.0..24.0).contains(y)), "{flat:?}");
        assert_eq!(heights(&sparkline_around("Cold", &values, 0.0)), [36.0, 4.0, 36.0]);
        assert!(!sparkline_around("None", &[None, None], 1.0).contains("NaN"));
    }

    #[test]
    fn it_has_gaps_and_a_dot_at_its_end() {
        let svg = sparkline("Orders", &[Some(1.0), Some(2.0), None, Some(3.0), Some(0.0)]);
        assert_eq!(svg.matches('M').count(), 2);
        assert_eq!(svg.matches("<circle").count(), 1);
        assert!(sparkline("None", &[]).contains("<title>None</title>"));
        assert!(!sparkline("Flat", &[Some(0.0); 4]).contains("NaN"));
    }
}
