//! Which time, which metric and how fine: as the address says, and as the page says it again.

use merkato::telemetry::Resolution;
use serde::Deserialize;
use widerow::{Date, Timestamp};

use crate::{http::Problem, web::words};

/// What the address says. Empty fields of the form are as if they were not there.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct SpanQuery {
    #[serde(default)]
    pub metric: String,
    #[serde(default)]
    pub span: String,
    #[serde(default)]
    pub from: String,
    #[serde(default)]
    pub to: String,
    #[serde(default)]
    pub resolution: String,
}

/// One of a row of links.
pub struct Choice {
    pub name: String,
    pub address: String,
    pub is_current: bool,
}

/// Spans that have a link: as the address names them, as the page does, and how many hours.
const SPANS: [(&str, &str, i64); 4] =
    [("24h", "24 hours", 24), ("7d", "7 days", 7 * 24), ("30d", "30 days", 30 * 24), ("1y", "One year", 365 * 24)];
const RESOLUTIONS: [(Resolution, &str); 4] = [
    (Resolution::Auto, "As fine as fits"),
    (Resolution::Raw, "Every measurement"),
    (Resolution::Hourly, "Hours"),
    (Resolution::Daily, "Days"),
];
const HOUR_MILLIS: i64 = 3_600_000;
/// Days that a page draws.
const DAYS_MAX: i32 = 3_660;

/// Which time, which metric and how fine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub from: Timestamp,
    /// Not part of it.
    pub to: Timestamp,
    pub metric: String,
    pub resolution: Resolution,
    /// Of `SPANS`; none where days are said.
    name: Option<&'static str>,
    /// Days that are said.
    days: Option<(Date, Date)>,
}

impl Span {
    /// The last day of the first metric, if nothing is said.
    pub fn of(query: &SpanQuery, metrics: &[String], now: Timestamp) -> Result<Self, Problem> {
        let wrong = |field: &str, detail: String| Problem::field("invalid", format!("/{field}"), detail);
        let said = query.metric.trim();
        let metric = match metrics.iter().find(|known| said.is_empty() || *known == said) {
            Some(known) => known.clone(),
            None => return Err(wrong("metric", format!("It must be one of {}.", metrics.join(", ")))),
        };
        let resolution = match query.resolution.trim() {
            "" => Resolution::Auto,
            said => match RESOLUTIONS.iter().find(|(known, _)| known.as_str() == said) {
                Some((known, _)) => *known,
                None => return Err(wrong("resolution", "It must be auto, raw, hourly or daily.".into())),
            },
        };
        let day = |field: &str, text: &str| -> Result<Option<Date>, Problem> {
            if text.trim().is_empty() {
                return Ok(None);
            }
            let date: Option<Date> = text.trim().parse().ok().filter(|date: &Date| date.in_range());
            date.map(Some).ok_or_else(|| wrong(field, "It must be a day as 2026-03-01.".into()))
        };
        let (from, to) = (day("from", &query.from)?, day("to", &query.to)?);
        if from.is_some() || to.is_some() {
            let to = to.unwrap_or_else(|| now.date());
            let from = from.unwrap_or_else(|| Date::from_days(to.days().saturating_sub(29)));
            if from > to {
                return Err(wrong("to", "It is before the first day.".into()));
            }
            if to.days() - from.days() >= DAYS_MAX {
                return Err(wrong("to", format!("At most {DAYS_MAX} days are drawn.")));
            }
            let end = Date::from_days(to.days() + 1).start();
            return Ok(Span { from: from.start(), to: end, metric, resolution, name: None, days: Some((from, to)) });
        }
        let (name, _, hours) = match query.span.trim() {
            "" => SPANS[0],
            said => *SPANS
                .iter()
                .find(|(name, ..)| *name == said)
                .ok_or_else(|| wrong("span", "It must be 24h, 7d, 30d or 1y.".into()))?,
        };
        // What was measured at this very instant is part of it.
        let to = Timestamp::from_millis(now.millis() + 1);
        let from = Timestamp::from_millis(to.millis() - hours * HOUR_MILLIS);
        Ok(Span { from, to, metric, resolution, name: Some(name), days: None })
    }

    /// What the page is narrowed by, as it stands in an address.
    pub fn filters(&self) -> Vec<(&'static str, String)> {
        let time = match (self.name, self.days) {
            (Some(name), _) => vec![("span", name.to_owned())],
            (None, Some((from, to))) => vec![("from", from.to_string()), ("to", to.to_string())],
            (None, None) => Vec::new(),
        };
        let fine = (self.resolution != Resolution::Auto).then(|| ("resolution", self.resolution.as_str().to_owned()));
        [("metric", self.metric.clone())].into_iter().chain(time).chain(fine).collect()
    }

    fn address(&self, path: &str) -> String {
        let said: Vec<String> = self.filters().iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{path}?{}", said.join("&"))
    }

    pub fn metrics(&self, path: &str, metrics: &[String]) -> Vec<Choice> {
        let choice = |metric: &String| Choice {
            name: super::title(metric),
            address: Span { metric: metric.clone(), ..self.clone() }.address(path),
            is_current: *metric == self.metric,
        };
        metrics.iter().map(choice).collect()
    }

    pub fn spans(&self, path: &str) -> Vec<Choice> {
        let choice = |(name, title, _): (&'static str, &str, i64)| Choice {
            name: title.to_owned(),
            address: Span { name: Some(name), days: None, ..self.clone() }.address(path),
            is_current: self.name == Some(name),
        };
        SPANS.map(choice).into()
    }

    pub fn resolutions(&self, path: &str) -> Vec<Choice> {
        let choice = |(resolution, title): (Resolution, &str)| Choice {
            name: title.to_owned(),
            address: Span { resolution, ..self.clone() }.address(path),
            is_current: self.resolution == resolution,
        };
        RESOLUTIONS.map(choice).into()
    }

    /// `the last 24 hours`, `1 March 2026 to 15 March 2026`.
    pub fn words(&self) -> String {
        let day = |date: Date| words::day(date.start());
        match (self.name, self.days) {
            (Some("1y"), _) => "the last year".into(),
            (Some(name), _) => {
                let title = SPANS.iter().find(|(known, ..)| *known == name).map_or("", |(_, title, _)| title);
                format!("the last {title}")
            }
            (None, Some((from, to))) if from == to => day(from),
            (None, Some((from, to))) => format!("{} to {}", day(from), day(to)),
            (None, None) => "this time".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(query: SpanQuery) -> Result<Span, String> {
        let metrics = ["temperature".to_owned(), "humidity".to_owned()];
        let now = "2026-03-31T12:30:00Z".parse().unwrap();
        Span::of(&query, &metrics, now).map_err(|problem| problem.errors[0].pointer.clone())
    }

    fn hours(span: &Span) -> i64 {
        (span.to.millis() - span.from.millis()) / HOUR_MILLIS
    }

    fn days(from: &str, to: &str) -> SpanQuery {
        SpanQuery { from: from.into(), to: to.into(), ..SpanQuery::default() }
    }

    #[test]
    fn a_span_is_some_hours_up_to_now_or_from_one_day_to_another() {
        let usual = span(SpanQuery::default()).unwrap();
        assert_eq!(
            (hours(&usual), usual.words().as_str(), usual.metric.as_str()),
            (24, "the last 24 hours", "temperature")
        );
        assert_eq!(usual.address("/x"), "/x?metric=temperature&span=24h");
        let all: Vec<_> = usual.resolutions("/x").into_iter().map(|choice| choice.address).collect();
        assert_eq!(all[2], "/x?metric=temperature&span=24h&resolution=hourly");
        let some = span(days("2026-03-01", "2026-03-02")).unwrap();
        assert_eq!((hours(&some), some.words().as_str()), (48, "1 March 2026 to 2 March 2026"));
        assert_eq!(some.address("/x"), "/x?metric=temperature&from=2026-03-01&to=2026-03-02");
        assert!(some.spans("/x").iter().all(|choice| !choice.is_current));
    }

    #[test]
    fn what_is_no_span_is_refused_at_its_field() {
        assert_eq!(span(days("2026-02-30", "")), Err("/from".into()));
        assert_eq!(span(days("2026-03-02", "2026-03-01")), Err("/to".into()));
        assert_eq!(span(days("1990-03-02", "2026-03-01")), Err("/to".into()));
        assert_eq!(span(SpanQuery { span: "2d".into(), ..SpanQuery::default() }), Err("/span".into()));
        assert_eq!(span(SpanQuery { metric: "volume".into(), ..SpanQuery::default() }), Err("/metric".into()));
        assert_eq!(span(SpanQuery { resolution: "fine".into(), ..SpanQuery::default() }), Err("/resolution".into()));
    }
}
