//! Which days a page of figures is about: the last 7, 30 or 90, or from one day to another.

use serde::Deserialize;
use widerow::Date;

use crate::http::Problem;

/// The ranges that have a link.
pub const LINKS: [i32; 3] = [7, 30, 90];
const DEFAULT: i32 = 30;

/// What the address says. Empty fields of the form are as if they were not there.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct RangeQuery {
    pub days: Option<String>,
    pub from: Option<String>,
    pub to: Option<String>,
}

/// From one day to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub from: Date,
    pub to: Date,
    /// Where it is the last days up to today.
    pub days: Option<i32>,
}

impl Range {
    pub fn last(days: i32, today: Date) -> Self {
        Range { from: Date::from_days(today.days() - days + 1), to: today, days: Some(days) }
    }

    /// At most `most` days, the last 30 if nothing is said.
    pub fn of(query: &RangeQuery, today: Date, most: i32) -> Result<Self, Problem> {
        let said =
            |text: &Option<String>| text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        let wrong = |field: &str, detail: String| Problem::field("invalid", format!("/{field}"), detail);
        let day = |field: &str, text: String| -> Result<Date, Problem> {
            let date: Option<Date> = text.parse().ok();
            date.filter(|date| date.in_range()).ok_or_else(|| wrong(field, "It must be a day as 2026-03-01.".into()))
        };
        match (said(&query.from), said(&query.to)) {
            (None, None) => {
                let days = said(&query.days).map_or(Some(DEFAULT), |text| text.parse().ok());
                match days.filter(|days| (1..=most).contains(days)) {
                    Some(days) => Ok(Range::last(days, today)),
                    None => Err(wrong("days", format!("It must be 1 to {most} days."))),
                }
            }
            (from, to) => {
                let to = to.map_or(Ok(today), |text| day("to", text))?;
                let from = from.map_or(Ok(Date::from_days(to.days() - DEFAULT + 1)), |text| day("from", text))?;
                if from > to {
                    return Err(wrong("to", "It is before the first day.".into()));
                }
                if to.days() - from.days() >= most {
                    return Err(wrong("to", format!("At most {most} days are shown at once.")));
                }
                Ok(Range { from, to, days: None })
            }
        }
    }

    /// `the last 30 days`, `1 Mar to 15 Mar`.
    pub fn words(&self) -> String {
        use crate::web::words::short_day;
        match self.days {
            Some(1) => "today".into(),
            Some(days) => format!("the last {days} days"),
            None if self.from == self.to => short_day(self.from),
            None => format!("{} to {}", short_day(self.from), short_day(self.to)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(days: &str, from: &str, to: &str) -> Result<Range, String> {
        let some = |text: &str| Some(text.to_owned());
        let query = RangeQuery { days: some(days), from: some(from), to: some(to) };
        let today = "2026-03-31".parse().unwrap();
        Range::of(&query, today, 92).map_err(|problem| problem.errors[0].pointer.clone())
    }

    #[test]
    fn a_range_is_some_days_up_to_today_or_from_one_day_to_another() {
        let count = |range: Range| range.to.days() - range.from.days() + 1;
        assert_eq!(count(range("", "", "").unwrap()), 30);
        assert_eq!(range("7", "", "").unwrap().words(), "the last 7 days");
        assert_eq!(range("7", "2026-03-01", "2026-03-15").unwrap().words(), "1 Mar to 15 Mar");
        assert_eq!(count(range("", "2026-03-30", "").unwrap()), 2);
    }

    #[test]
    fn what_is_no_range_is_refused_at_its_field() {
        assert_eq!(range("0", "", ""), Err("/days".into()));
        assert_eq!(range("many", "", ""), Err("/days".into()));
        assert_eq!(range("", "2026-02-30", ""), Err("/from".into()));
        assert_eq!(range("", "2026-03-15", "2026-03-01"), Err("/to".into()));
        assert_eq!(range("", "2020-03-15", "2026-03-01"), Err("/to".into()));
        assert_eq!(range("", "", "-9999999-01-01"), Err("/to".into()));
    }
}
