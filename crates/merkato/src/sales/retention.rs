//! How long a sale is kept: calendar years from its day, in UTC.

use widerow::{Date, Timestamp};

/// The end of a sale of that day: midnight of the same day so many years later; of 28 February, where that year has no 29th.
/// None: it is kept for good.
pub fn end(date: Date, years: Option<u32>) -> Option<Timestamp> {
    let civil = date.civil()?;
    let year = i16::try_from(i64::from(civil.year()) + i64::from(years?)).ok().filter(|year| *year <= 9999);
    // Beyond the calendar it is as good as kept for good.
    let year = year?;
    let same = Date::new(year, civil.month(), civil.day());
    same.or_else(|| Date::new(year, civil.month(), 28)).map(Date::start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(date: &str, years: u32) -> Option<i64> {
        end(date.parse().expect("a date"), Some(years)).map(|end| end.millis() / 1000)
    }

    #[test]
    fn two_years_are_calendar_years() {
        assert_eq!(seconds("2025-12-29", 2), Some(1_830_038_400), "2027-12-29T00:00:00Z");
        assert_eq!(end(Date::new(2024, 2, 29).unwrap(), Some(2)), Date::new(2026, 2, 28).map(Date::start));
        assert_eq!(end(Date::new(2024, 2, 29).unwrap(), Some(4)), Date::new(2028, 2, 29).map(Date::start));
        assert_eq!(end(Date::new(2023, 3, 1).unwrap(), Some(1)), Date::new(2024, 3, 1).map(Date::start));
        // 2024 is a leap year: 731 days.
        let days = |from: &str| seconds(from, 2).unwrap() / 86_400 - i64::from(from.parse::<Date>().unwrap().days());
        assert_eq!((days("2023-06-01"), days("2025-06-01")), (731, 730));
    }

    #[test]
    fn without_a_retention_nothing_ends() {
        let day = Date::new(2025, 1, 1).unwrap();
        assert_eq!(end(day, None), None);
        assert_eq!(end(Date::new(9998, 1, 1).unwrap(), Some(2)), None);
        assert_eq!(end(day, Some(u32::MAX)), None);
        assert_eq!(end(day, Some(0)), Some(day.start()));
    }
}
