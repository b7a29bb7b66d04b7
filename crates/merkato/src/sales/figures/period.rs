//! Days, weeks, months and seasons, numbered without gaps, so that a period without sales is seen as one.
//!
//! Weeks are those of ISO 8601: they begin on Monday, and belong to the year of their Thursday. Seasons are those of
//! meteorologists, and the one over the turn of the year belongs to the year of its January.

use widerow::Date;

use super::error::{Error, Result};
use crate::sales::season::{Hemisphere, Season, month_number, season_number};

/// By what sales are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum By {
    Day,
    Week,
    Month,
    /// By the day of the sale, not by the season that the record names: a coat of the winter's collection that is sold in
    /// June is a sale of June.
    Season(Hemisphere),
}

/// A day, a week, a month or a season.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Period {
    by: By,
    number: i32,
}

impl By {
    /// How many periods there are from one day to another, both included.
    pub fn count(self, from: Date, to: Date) -> u64 {
        let (from, to) = (Period::of(self, from).number, Period::of(self, to).number);
        u64::try_from(i64::from(to) - i64::from(from) + 1).unwrap_or(0)
    }

    /// Refuses a time that has too many periods, before anything of it is read.
    pub fn check(self, from: Date, to: Date, limit: u32) -> Result<()> {
        let periods = self.count(from, to);
        if periods > u64::from(limit) { Err(Error::TooManyPeriods { by: self, periods, limit }) } else { Ok(()) }
    }
}

impl Period {
    /// The period that a day lies in.
    pub fn of(by: By, date: Date) -> Self {
        let date = date.clamp(Date::MIN, Date::MAX);
        let number = match by {
            By::Day => date.days(),
            // The first of January 1970 was a Thursday.
            By::Week => (date.days() + 3).div_euclid(7),
            By::Month => month_number(date),
            By::Season(_) => season_number(date),
        };
        Period { by, number }
    }

    pub(super) fn numbered(by: By, number: i32) -> Self {
        Period { by, number }
    }

    pub(super) fn number(self) -> i32 {
        self.number
    }

    pub fn by(self) -> By {
        self.by
    }

    /// Its first day.
    pub fn from(self) -> Date {
        self.begin(self.number)
    }

    /// Its last day.
    pub fn to(self) -> Date {
        let next = self.begin(self.number.saturating_add(1));
        // What begins behind the last day of the calendar is cut to it.
        let last = self.begin(self.number) == next || Period::of(self.by, next).number == self.number;
        if last { next } else { Date::from_days(next.days() - 1) }
    }

    /// The first day of the period of a number, within the years 0000 to 9999.
    fn begin(self, number: i32) -> Date {
        let day = match self.by {
            By::Day => Some(Date::from_days(number)),
            By::Week => Some(Date::from_days(number.saturating_mul(7).saturating_sub(3))),
            By::Month => first_of_month(number),
            By::Season(_) => first_of_month(number.saturating_mul(3).saturating_sub(1)),
        };
        let beyond = if number < 0 { Date::MIN } else { Date::MAX };
        day.unwrap_or(beyond).clamp(Date::MIN, Date::MAX)
    }
}

fn first_of_month(number: i32) -> Option<Date> {
    if number < 0 {
        return Some(Date::MIN);
    }
    Date::new(i16::try_from(number / 12).ok()?, (number % 12 + 1) as i8, 1)
}

impl std::fmt::Display for By {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            By::Day => "day",
            By::Week => "week",
            By::Month => "month",
            By::Season(_) => "season",
        })
    }
}

impl std::fmt::Display for Period {
    /// `2025-12-29`, `2026-W01`, `2025-12`, `winter 2025/26`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.by {
            By::Day => write!(f, "{}", self.from()),
            By::Week => {
                let thursday = Date::from_days(self.number.saturating_mul(7)).civil();
                match thursday.map(|day| day.iso_week_date()) {
                    Some(week) => write!(f, "{:04}-W{:02}", week.year(), week.week()),
                    None => write!(f, "{}", self.from()),
                }
            }
            By::Month => write!(f, "{:04}-{:02}", self.number.div_euclid(12), self.number.rem_euclid(12) + 1),
            By::Season(hemisphere) => {
                let (season, year) = (Season::at(self.number, hemisphere).word(), self.number.div_euclid(4));
                // The season that two years share, whichever it is.
                match self.number.rem_euclid(4) {
                    0 => write!(f, "{season} {:04}/{:02}", year - 1, year.rem_euclid(100)),
                    _ => write!(f, "{season} {year:04}"),
                }
            }
        }
    }
}
