//! Figures as a person would say them.

/// In the largest unit of which there are two or more.
pub(super) fn duration(millis: i64) -> String {
    let units = [(86_400_000, "days"), (3_600_000, "hours"), (60_000, "minutes"), (1_000, "seconds")];
    match units.iter().find(|(unit, _)| millis >= 2 * unit) {
        Some((unit, name)) => format!("{} {name}", millis / unit),
        None => format!("{millis} milliseconds"),
    }
}

/// Four digits, and no more noughts than it needs.
pub(super) fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.abs().to_string();
    }
    let decimals = (3 - value.abs().log10().floor() as i32).clamp(0, 17) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
