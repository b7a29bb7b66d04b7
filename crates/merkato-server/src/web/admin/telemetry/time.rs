//! Times and durations as they are said on these pages, in UTC.

use widerow::Timestamp;

use crate::web::words;

/// `15 Nov, 21:05`.
pub fn moment(at: Timestamp) -> String {
    format!("{}, {}", words::short_day(at.date()), clock(at))
}

/// `21:05`.
pub fn clock(at: Timestamp) -> String {
    at.to_string().get(11..16).unwrap_or_default().to_owned()
}

/// `3 hours`, in the largest unit of which there are two or more.
pub fn duration(millis: i64) -> String {
    let units = [(86_400_000, "days"), (3_600_000, "hours"), (60_000, "minutes")];
    match units.iter().find(|(unit, _)| millis >= 2 * unit) {
        Some((unit, name)) => format!("{} {name}", millis / unit),
        None if millis >= 60_000 => "a minute".to_owned(),
        None => format!("{} seconds", (millis / 1_000).max(0)),
    }
}

/// `3 hours ago`.
pub fn ago(millis: i64) -> String {
    if millis < 60_000 { "just now".to_owned() } else { format!("{} ago", duration(millis)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_as_people_say_them() {
        assert_eq!([duration(30_000), duration(7_300_000), duration(400_000_000)], ["30 seconds", "2 hours", "4 days"]);
        assert_eq!([ago(5), ago(61_000), ago(7_200_000)], ["just now", "a minute ago", "2 hours ago"]);
        assert_eq!(moment(Timestamp::from_millis(0)), "1 Jan, 00:00");
    }
}
