//! Fewer points with the same shape, for a chart.
//!
//! The time is cut into equal slices, and of each the first, the last, the least and the most reading are kept (Jugel and others,
//! 2014: a line through them covers the same pixels as one through all, if there is a slice for each pixel).
//! 1. Every point is a reading. The first, the last, the least and the most of all are among them.
//! 2. A line never joins two readings with a gap between them, kept or not: it ends, and another begins.
//! 3. There are at most as many points as were asked for.

use super::{
    error::{Error, Result},
    limits,
    reading::{Reading, check_order},
};

/// Readings that a line joins.
pub type Line = Vec<Reading>;

/// What a slice keeps of each of its readings: so many, if all are different.
const KEPT_OF_SLICE: usize = 4;

/// The lines of a chart with at most `points_max` points. Readings more than `gap_ms` apart are not joined.
pub fn chart(readings: &[Reading], points_max: usize, gap_ms: i64) -> Result<Vec<Line>> {
    check_order(readings)?;
    if !limits::CHART_POINTS.contains(&points_max) {
        let (least, most) = (limits::CHART_POINTS.start(), limits::CHART_POINTS.end());
        return Err(Error::invalid("points_max", format!("it must be from {least} to {most}")));
    }
    if gap_ms < 1 {
        return Err(Error::invalid("gap_ms", "a millisecond at least"));
    }
    let kept = if readings.len() <= points_max { (0..readings.len()).collect() } else { kept(readings, points_max) };
    // How many gaps there are up to a reading: two on the same side of each have the same number.
    let mut gaps_before = 0;
    let mut lines: Vec<(usize, Line)> = Vec::new();
    let mut last = 0;
    for place in kept {
        let apart = |pair: &&[Reading]| pair[1].at().millis() - pair[0].at().millis() > gap_ms;
        gaps_before += readings[last..=place].windows(2).filter(apart).count();
        last = place;
        match lines.last_mut() {
            Some((gaps, line)) if *gaps == gaps_before => line.push(readings[place]),
            _ => lines.push((gaps_before, vec![readings[place]])),
        }
    }
    Ok(lines.into_iter().map(|(_, line)| line).collect())
}

/// The places of those that are kept, in order and each once.
fn kept(readings: &[Reading], points_max: usize) -> Vec<usize> {
    let (Some(first), Some(last)) = (readings.first(), readings.last()) else { return Vec::new() };
    let slices = (points_max / KEPT_OF_SLICE) as i128;
    let span_ms = i128::from(last.at().millis()) - i128::from(first.at().millis()) + 1;
    let slice =
        |reading: &Reading| (i128::from(reading.at().millis()) - i128::from(first.at().millis())) * slices / span_ms;
    let mut kept = Vec::with_capacity(points_max);
    let mut begin = 0;
    for chunk in readings.chunk_by(|one, next| slice(one) == slice(next)) {
        let mut of_slice = [0, least_by(chunk, |value| value), least_by(chunk, |value| -value), chunk.len() - 1];
        of_slice.sort_unstable();
        for place in of_slice.map(|place| begin + place) {
            if kept.last() != Some(&place) {
                kept.push(place);
            }
        }
        begin += chunk.len();
    }
    kept
}

/// The place of the first reading that has the least of something.
fn least_by(readings: &[Reading], of: impl Fn(f64) -> f64) -> usize {
    let places = 0..readings.len();
    places.min_by(|&one, &other| of(readings[one].value()).total_cmp(&of(readings[other].value()))).unwrap_or(0)
}
