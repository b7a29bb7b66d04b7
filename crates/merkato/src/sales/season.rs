//! The seasons of the trade, written as the document writes them, and the season of a day.

use widerow::Date;

/// A season.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Season {
    Spring,
    Summer,
    Fall,
    Winter,
}

/// Where on the globe the customers are: their seasons are half a year apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hemisphere {
    #[default]
    North,
    South,
}

/// The text names no season.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not one of SPRING, SUMMER, FALL, WINTER")]
pub struct NotASeason;

impl Season {
    pub const ALL: [Season; 4] = [Season::Spring, Season::Summer, Season::Fall, Season::Winter];

    /// The season of a day by the months of meteorologists: in the north, December to February are winter.
    pub fn of(date: Date, hemisphere: Hemisphere) -> Self {
        Season::at(season_number(date), hemisphere)
    }

    /// As it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Season::Spring => "SPRING",
            Season::Summer => "SUMMER",
            Season::Fall => "FALL",
            Season::Winter => "WINTER",
        }
    }

    /// As it stands in a sentence.
    pub const fn word(self) -> &'static str {
        match self {
            Season::Spring => "spring",
            Season::Summer => "summer",
            Season::Fall => "fall",
            Season::Winter => "winter",
        }
    }

    /// The season of that number, as `season_number` counts them.
    pub(crate) fn at(number: i32, hemisphere: Hemisphere) -> Self {
        let quarters = match hemisphere {
            Hemisphere::North => number,
            Hemisphere::South => number + 2,
        };
        match quarters.rem_euclid(4) {
            0 => Season::Winter,
            1 => Season::Spring,
            2 => Season::Summer,
            _ => Season::Fall,
        }
    }
}

/// Months since January of the year 0. A date outside of the years 0000 to 9999 is taken for the nearest one inside.
pub(crate) fn month_number(date: Date) -> i32 {
    let civil = date.clamp(Date::MIN, Date::MAX).civil();
    civil.map_or(0, |date| i32::from(date.year()) * 12 + i32::from(date.month()) - 1)
}

/// Seasons since the one that ends with February of the year 0. December belongs to the year of the January behind it.
pub(crate) fn season_number(date: Date) -> i32 {
    (month_number(date) + 1).div_euclid(3)
}

impl std::fmt::Display for Season {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for Season {
    type Err = NotASeason;
    fn from_str(text: &str) -> Result<Self, NotASeason> {
        Season::ALL.into_iter().find(|season| season.as_str() == text).ok_or(NotASeason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn season(date: &str, hemisphere: Hemisphere) -> Season {
        Season::of(date.parse().expect("a date"), hemisphere)
    }

    #[test]
    fn seasons_change_with_the_months_of_meteorologists() {
        use Season::*;
        let firsts = [
            ("2025-12-01", Winter, Summer),
            ("2026-02-28", Winter, Summer),
            ("2024-02-29", Winter, Summer),
            ("2026-03-01", Spring, Fall),
            ("2026-05-31", Spring, Fall),
            ("2026-06-01", Summer, Winter),
            ("2026-08-31", Summer, Winter),
            ("2026-09-01", Fall, Spring),
            ("2026-11-30", Fall, Spring),
            ("0000-01-01", Winter, Summer),
            ("9999-12-31", Winter, Summer),
        ];
        for (date, north, south) in firsts {
            assert_eq!(season(date, Hemisphere::North), north, "{date}");
            assert_eq!(season(date, Hemisphere::South), south, "{date}");
        }
    }

    #[test]
    fn a_season_is_read_as_it_is_written() {
        for season in Season::ALL {
            assert_eq!(season.to_string().parse(), Ok(season));
        }
        for wrong in ["", "spring", "AUTUMN", "SPRING ", "SPRING\0"] {
            assert_eq!(wrong.parse::<Season>(), Err(NotASeason), "{wrong:?}");
        }
    }

    #[test]
    fn days_beyond_the_calendar_have_a_season_too() {
        assert_eq!(Season::of(Date::from_days(i32::MIN), Hemisphere::North), Season::Winter);
        assert_eq!(Season::of(Date::from_days(i32::MAX), Hemisphere::North), Season::Winter);
    }
}
