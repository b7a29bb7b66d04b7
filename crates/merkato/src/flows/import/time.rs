//! Times as sources write them. One without a zone is taken for UTC, which is the day of the shop's sales.

use widerow::{Date, Timestamp};

/// Which number of `3/4/2011` is the month.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DateOrder {
    /// Nobody said: such a date is refused, as it may be read in two ways.
    #[default]
    Unknown,
    /// As in the United States.
    MonthFirst,
    DayFirst,
}

/// A time, or the beginning of a day: `2017-07-09 21:57:05`, RFC 3339, or `12/1/10 8:26` where it is known what this means.
pub(super) fn read(text: &str, order: DateOrder) -> Result<Timestamp, String> {
    let not_one = || format!("{text} is no time");
    let text = text.trim();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    let (day, hour) = text.split_once([' ', 'T']).map_or((text, None), |(day, hour)| (day, Some(hour.trim())));
    let date = match day.parse::<Date>() {
        Ok(date) => date,
        Err(_) if order == DateOrder::Unknown && day.split(['/', '.']).count() == 3 => {
            return Err(format!("{text} may be read in two ways; say whether the day or the month is first"));
        }
        Err(_) => parted(day, order).ok_or_else(not_one)?,
    };
    let seconds = hour.map_or(Some(0), seconds).ok_or_else(not_one)?;
    Some(date.start().plus_seconds(seconds)).filter(|time| time.in_range()).ok_or_else(not_one)
}

/// `12/1/10`, `1.12.2010`.
fn parted(day: &str, order: DateOrder) -> Option<Date> {
    let separator = if day.contains('/') { '/' } else { '.' };
    let mut parts = day.split(separator).map(number);
    let (first, second, year) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() {
        return None;
    }
    // As POSIX has it: a year of two digits is of 1969 to 2068.
    let year = match (day.rsplit(separator).next()?.len(), year) {
        (2, 69..) => 1900 + year,
        (2, _) => 2000 + year,
        (4, _) => year,
        _ => return None,
    };
    let (month, day) = match order {
        DateOrder::MonthFirst => (first, second),
        DateOrder::DayFirst => (second, first),
        DateOrder::Unknown => return None,
    };
    Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?)
}

/// Of the day: `8:26`, `21:57:05`, `21:57:05.250`. What is less than a second is dropped.
fn seconds(hour: &str) -> Option<i64> {
    let (whole, fraction) = hour.split_once('.').unwrap_or((hour, "0"));
    let mut parts = whole.split(':').map(number);
    let (hours, minutes) = (parts.next()??, parts.next()??);
    let seconds = parts.next().unwrap_or(Some(0))?;
    let good = parts.next().is_none() && hours < 24 && minutes < 60 && seconds < 60 && number(fraction).is_some();
    good.then(|| i64::from(hours) * 3600 + i64::from(minutes) * 60 + i64::from(seconds))
}

/// Digits alone, not too many.
fn number(text: &str) -> Option<u32> {
    let good = (1..=9).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    good.then(|| text.parse().ok()).flatten()
}
