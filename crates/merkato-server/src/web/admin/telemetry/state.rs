//! How a sensor is, in a word and a reason: good, with gaps, silent, or failing.

use merkato::telemetry::{DailyData, HourlyData, Latest, figures};
use widerow::Timestamp;

use super::time;

/// A word with a sign of its own, and why.
pub struct State {
    /// Of `.state`: the sign differs in its shape, not in its colour alone.
    pub class: &'static str,
    pub word: &'static str,
    /// Empty where all is well.
    pub why: String,
}

/// Intervals without a measurement after which a sensor is silent.
const SILENT_INTERVALS: u64 = 5;
/// Hours of a day that were complete by less than this have gaps.
const COMPLETE: f64 = 0.9;
/// Of the last hours, so many.
const HOURS: usize = 24;

impl State {
    pub fn of(retired_at: Option<Timestamp>, latest: &Latest, day: Option<&DailyData>, now: Timestamp) -> Self {
        if let Some(at) = retired_at {
            return State { class: "off", word: "Retired", why: format!("since {}", time::moment(at)) };
        }
        let last_at = latest.last.as_ref().map(|last| last.measurement_time);
        let last_at = last_at.or_else(|| Some(latest.hours.last()?.hour_bucket.plus_seconds(3_600)));
        let Some(last_at) = last_at else {
            return State { class: "off", word: "No data", why: "Nothing was measured in the last two days".into() };
        };
        let reason = |day: &&DailyData| day.summary_metadata.get("maintenance_reason").cloned();
        let failing = day.filter(|day| day.maintenance_required);
        if let Some(day) = failing {
            let why = reason(&day).unwrap_or_else(|| "Somebody should look at it".into());
            return State { class: "bad", word: "Failing", why: first_letter(&why) };
        }
        if latest.missing.is_some_and(|missing| missing >= SILENT_INTERVALS) {
            let why = format!("Nothing for {}", time::duration(now.millis() - last_at.millis()));
            return State { class: "bad", word: "Silent", why };
        }
        match gaps(&latest.hours) {
            Some(why) => State { class: "waiting", word: "Gaps", why },
            None => State { class: "done", word: "Good", why: String::new() },
        }
    }
}

/// What was missing in the last hours, in words.
fn gaps(hours: &[HourlyData]) -> Option<String> {
    let part = |hour: &HourlyData| hour.quality_parts.get("completeness").copied();
    let torn = hours.iter().filter(|hour| part(hour).is_some_and(|complete| complete < COMPLETE)).count();
    let hours = torn + absent(hours);
    (hours > 0).then(|| match hours {
        1 => "Measurements of one hour are missing in the last day".to_owned(),
        hours => format!("Measurements of {hours} hours are missing in the last day"),
    })
}

/// Hours between the first and the last that are not there at all.
fn absent(hours: &[HourlyData]) -> usize {
    let (Some(first), Some(last)) = (hours.first(), hours.last()) else { return 0 };
    let span = (last.hour_bucket.millis() - first.hour_bucket.millis()) / 3_600_000 + 1;
    usize::try_from(span).unwrap_or(0).saturating_sub(hours.len()).min(HOURS)
}

/// The parts of a quality over some hours, each with what it says.
pub struct Part {
    pub name: &'static str,
    pub share: String,
    /// 0 to 100, for a meter.
    pub percent: u8,
    pub meaning: &'static str,
}

const PARTS: [(&str, &str, &str); 4] = [
    ("completeness", "Complete", "came of what was expected"),
    ("continuity", "Without gaps", "of the time is outside of gaps"),
    ("plausibility", "Plausible", "of the values are no outliers"),
    ("liveliness", "Alive", "of the values are not stuck"),
];

/// The means over the hours; none where no hour was judged.
pub fn parts(hours: &[HourlyData]) -> Vec<Part> {
    let part = |(key, name, meaning): (&str, &'static str, &'static str)| {
        let found: Vec<f64> = hours.iter().filter_map(|hour| hour.quality_parts.get(key).copied()).collect();
        // Of an hour in which nothing came nothing is complete; of its values nothing can be said.
        let absent = if matches!(key, "completeness" | "continuity") { absent(hours) } else { 0 };
        let mean = found.iter().sum::<f64>() / (found.len() + absent).max(1) as f64;
        let percent = (mean * 100.0).round().clamp(0.0, 100.0) as u8;
        (!found.is_empty()).then(|| Part { name, share: super::percent(Some(mean)), percent, meaning })
    };
    PARTS.into_iter().filter_map(part).collect()
}

/// The mean of the scores of some hours; one in which nothing came has none.
pub fn score(hours: &[HourlyData]) -> Option<f64> {
    let found: Vec<f64> = hours.iter().filter_map(|hour| hour.data_quality_score.map(figures::from_decimal)).collect();
    (!found.is_empty()).then(|| found.iter().sum::<f64>() / (found.len() + absent(hours)) as f64)
}

fn first_letter(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str()).unwrap_or_default()
}
