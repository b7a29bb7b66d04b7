//! Which days, and by which periods: as the address says, and as the page says it again.

use merkato::{
    Context,
    sales::{Days, figures::By},
};
use serde::Deserialize;
use widerow::Date;

use super::Choice;
use crate::{http::Problem, web::words};

/// What the address says. Empty fields of the form are as if they were not there.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct SpanQuery {
    #[serde(default)]
    pub by: String,
    #[serde(default)]
    pub span: String,
    #[serde(default)]
    pub from: String,
    #[serde(default)]
    pub to: String,
}

/// Spans that have a link: as the address names them, as the page does, and how many days.
const SPANS: [(&str, &str, Option<i32>); 4] = [
    ("90", "90 days", Some(90)),
    ("365", "One year", Some(365)),
    ("730", "Two years", Some(730)),
    ("all", "All", None),
];
const PERIODS: [(&str, &str); 4] = [("day", "Days"), ("week", "Weeks"), ("month", "Months"), ("season", "Seasons")];

/// Periods that a page draws.
pub const PERIODS_MAX: usize = 92;

/// Which days, and by which periods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub days: Days,
    by: &'static str,
    /// Of `SPANS`; none where days are said.
    name: Option<&'static str>,
    /// Whether nobody said which days.
    pub is_default: bool,
}

impl Span {
    /// One year by months, if nothing is said.
    pub fn of(query: &SpanQuery, today: Date) -> Result<Self, Problem> {
        let wrong = |field: &str, detail: &str| Problem::field("invalid", format!("/{field}"), detail);
        let by = match query.by.trim() {
            "" => "month",
            said => match PERIODS.iter().find(|(name, _)| *name == said) {
                Some((name, _)) => name,
                None => return Err(wrong("by", "It must be day, week, month or season.")),
            },
        };
        let day = |field: &str, text: &str| -> Result<Option<Date>, Problem> {
            if text.trim().is_empty() {
                return Ok(None);
            }
            let date: Option<Date> = text.trim().parse().ok().filter(|date: &Date| date.in_range());
            date.map(Some).ok_or_else(|| wrong(field, "It must be a day as 2026-03-01."))
        };
        let (from, to) = (day("from", &query.from)?, day("to", &query.to)?);
        if from.is_some() || to.is_some() {
            if from.zip(to).is_some_and(|(from, to)| from > to) {
                return Err(wrong("to", "It is before the first day."));
            }
            return Ok(Span { days: Days { from, to }, by, name: None, is_default: false });
        }
        let said = query.span.trim();
        let (name, _, days) = match said {
            "" => SPANS[1],
            said => *SPANS
                .iter()
                .find(|(name, ..)| *name == said)
                .ok_or_else(|| wrong("span", "It must be 90, 365, 730 or all."))?,
        };
        Ok(Span { days: last(days, today), by, name: Some(name), is_default: said.is_empty() })
    }

    /// The same over all time.
    pub fn of_all(self) -> Self {
        Span { days: Days::default(), name: Some("all"), ..self }
    }

    pub fn by(&self, ctx: &Context) -> By {
        match self.by {
            "day" => By::Day,
            "week" => By::Week,
            "season" => By::Season(ctx.settings.sales.hemisphere),
            _ => By::Month,
        }
    }

    /// What the list is narrowed by, as it stands in an address.
    pub fn filters(&self) -> Vec<(&'static str, String)> {
        let date = |date: Option<Date>| date.map(|date| date.to_string()).unwrap_or_default();
        let days = match self.name {
            Some(name) => vec![("span", name.to_owned())],
            None => vec![("from", date(self.days.from)), ("to", date(self.days.to))],
        };
        [("by", self.by.to_owned())].into_iter().chain(days).filter(|(_, value)| !value.is_empty()).collect()
    }

    fn address(path: &str, filters: &[(&str, String)]) -> String {
        let said: Vec<String> = filters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{path}?{}", said.join("&"))
    }

    /// Whether all of its periods can be drawn. Of all time it is not known; months are few enough.
    fn fits(&self) -> bool {
        let (Some(from), Some(to)) = (self.days.from, self.days.to) else {
            return matches!(self.by, "month" | "season");
        };
        let days = i64::from(to.days()) - i64::from(from.days());
        let each = match self.by {
            "day" => 1,
            "week" => 7,
            "season" => 90,
            _ => 28,
        };
        days / each < PERIODS_MAX as i64
    }

    /// The row of links to other periods: of fewer days, where there would be too many of them.
    pub fn periods(&self, path: &str, today: Date) -> Vec<Choice> {
        let choice = |(by, title): (&'static str, &str)| {
            let mut other = Span { by, ..self.clone() };
            for (name, _, days) in SPANS.iter().rev() {
                if !other.fits() {
                    other = Span { days: last(*days, today), name: Some(name), ..other };
                }
            }
            Choice { name: title.to_owned(), address: Self::address(path, &other.filters()), is_current: self.by == by }
        };
        PERIODS.map(choice).into()
    }

    /// The row of links to other days: by longer periods, where there would be too many of them.
    pub fn spans(&self, path: &str, today: Date) -> Vec<Choice> {
        let choice = |(name, title, days): (&'static str, &str, Option<i32>)| {
            let mut other = Span { days: last(days, today), name: Some(name), ..self.clone() };
            for (by, _) in PERIODS {
                if !other.fits() {
                    other.by = by;
                }
            }
            let address = Self::address(path, &other.filters());
            Choice { name: title.to_owned(), address, is_current: self.name == Some(name) }
        };
        SPANS.map(choice).into()
    }

    /// `the last year`, `1 March 2026 to 15 March 2026`.
    pub fn words(&self) -> String {
        let day = |date: Date| words::day(date.start());
        match (self.name, self.days.from, self.days.to) {
            (Some("90"), ..) => "the last 90 days".into(),
            (Some("365"), ..) => "the last year".into(),
            (Some("730"), ..) => "the last two years".into(),
            (_, Some(from), Some(to)) => format!("{} to {}", day(from), day(to)),
            (_, Some(from), None) => format!("{} on", day(from)),
            (_, None, Some(to)) => format!("all the years up to {}", day(to)),
            (_, None, None) => "all the years".into(),
        }
    }

    /// One period, and several, in words.
    pub fn unit(&self) -> (&'static str, &'static str) {
        match self.by {
            "day" => ("day", "days"),
            "week" => ("week", "weeks"),
            "season" => ("season", "seasons"),
            _ => ("month", "months"),
        }
    }
}

fn last(days: Option<i32>, today: Date) -> Days {
    match days {
        Some(days) => Days { from: Some(Date::from_days(today.days() - days + 1)), to: Some(today) },
        None => Days::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(by: &str, span: &str, from: &str, to: &str) -> Result<Span, String> {
        let text = |text: &str| text.to_owned();
        let query = SpanQuery { by: text(by), span: text(span), from: text(from), to: text(to) };
        Span::of(&query, "2026-03-31".parse().unwrap()).map_err(|problem| problem.errors[0].pointer.clone())
    }

    #[test]
    fn a_span_is_some_days_up_to_today_or_from_one_day_to_another() {
        let usual = span("", "", "", "").unwrap();
        assert!(usual.is_default);
        assert_eq!(usual.words(), "the last year");
        assert_eq!(usual.days.from, "2025-04-01".parse().ok());
        assert_eq!(span("", "all", "", "").unwrap().days, Days::default());
        let days = span("week", "90", "2026-01-01", "").unwrap();
        assert_eq!(days.filters(), [("by", "week".to_owned()), ("from", "2026-01-01".to_owned())]);
        let today = "2026-03-31".parse().unwrap();
        assert!(days.spans("/x", today).iter().all(|choice| !choice.is_current));
        // What cannot be drawn has no link.
        let periods: Vec<_> = usual.periods("/x", today).into_iter().map(|choice| choice.address).collect();
        let all = ["/x?by=day&span=90", "/x?by=week&span=365", "/x?by=month&span=365", "/x?by=season&span=365"];
        assert_eq!(periods, all);
        let spans: Vec<_> =
            span("day", "90", "", "").unwrap().spans("/x", today).into_iter().map(|choice| choice.address).collect();
        assert_eq!(spans, ["/x?by=day&span=90", "/x?by=week&span=365", "/x?by=month&span=730", "/x?by=month&span=all"]);
    }

    #[test]
    fn what_is_no_span_is_refused_at_its_field() {
        assert_eq!(span("year", "", "", ""), Err("/by".into()));
        assert_eq!(span("", "7", "", ""), Err("/span".into()));
        assert_eq!(span("", "", "2026-02-30", ""), Err("/from".into()));
        assert_eq!(span("", "", "2026-02-03", "2026-02-01"), Err("/to".into()));
    }
}
