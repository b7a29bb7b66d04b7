//! One sensor: a metric over a time with its band, its gaps and what stands out; how far it can be trusted, and its days.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use merkato::{
    PageRequest,
    id::SensorId,
    telemetry::{self, ChartPoint, ChartRequest, DailyData, Latest, Resolution, Sensor, figures},
};
use widerow::{Date, Timestamp};

use super::{
    list, metrics, percent, quantity,
    span::{Choice, Span, SpanQuery},
    state::{self, Part, State},
    time, title, unit,
};
use crate::{
    http::{Path, Problem, Query, Visit},
    web::{
        Complaints, Fields, Frame, Html,
        admin::desk::pager::{Pager, Turn},
        charts::{self, Band, Chart, Line, Mark, Series},
        words,
    },
};

/// Slots that a chart is drawn of, points that they are made of, and marks and gaps that are listed.
const SLOTS: i64 = 170;
const POINTS: usize = 20_000;
const LISTED: usize = 12;
/// Unusual hours of a day that are told.
const ANOMALIES: usize = 3;
/// Days whose summaries are listed: as long as they are kept. With bounds of today the next page would be another list after midnight.
const DAYS: (Date, Date) = (Date::MIN, Date::MAX);
/// Days of one page, below the chart with its table.
const DAYS_A_PAGE: usize = 14;
const DAY_MILLIS: i64 = 86_400_000;
const HOUR_MILLIS: i64 = 3_600_000;

/// Something that stands out, or a time without measurements.
struct Event {
    when: String,
    value: String,
    what: String,
}

/// A day in the list.
struct DayRow {
    date: String,
    count: String,
    quality: String,
    outliers: String,
    anomaly_count: usize,
    /// The first of them: a page must stay light.
    anomalies: Vec<String>,
    maintenance: Option<String>,
}

impl DayRow {
    fn new(day: DailyData) -> Self {
        let reason = day.summary_metadata.get("maintenance_reason").cloned();
        DayRow {
            date: day.date_bucket.to_string(),
            count: words::thousands(&day.measurement_count.to_string()),
            quality: percent(day.data_quality_score.map(figures::from_decimal)),
            outliers: words::thousands(&day.outlier_count.to_string()),
            anomaly_count: day.anomalies.len(),
            anomalies: day
                .anomalies
                .iter()
                .take(ANOMALIES)
                .map(|a| format!("{:02}:00, {}: {}", a.hour, a.metric, a.reason))
                .collect(),
            maintenance: day.maintenance_required.then(|| reason.unwrap_or_else(|| "yes".into())),
        }
    }
}

/// What is drawn of a metric, and said of it.
struct Shown {
    chart: Chart,
    sentence: String,
    marks: Vec<Event>,
    more_marks: usize,
    gaps: Vec<Event>,
    more_gaps: usize,
}

#[derive(Template)]
#[template(path = "admin/telemetry_sensor.html")]
pub struct SensorPage {
    frame: Frame,
    path: String,
    name: String,
    about: String,
    state: State,
    metric: String,
    when: String,
    metrics: Vec<Choice>,
    spans: Vec<Choice>,
    resolutions: Vec<Choice>,
    fields: Fields,
    complaints: Complaints,
    shown: Option<Shown>,
    score: String,
    parts: Vec<Part>,
    days: Vec<DayRow>,
    pager: Pager,
}

pub async fn show(
    frame: Frame,
    visit: Visit,
    Path(id): Path<SensorId>,
    Query(query): Query<SpanQuery>,
    Query(turn): Query<Turn>,
) -> Result<Response, Problem> {
    let ctx = &visit.ctx;
    let now = ctx.now();
    let sensor = telemetry::get_sensor(ctx, id).await?;
    let known = metrics(&sensor);
    let path = format!("/admin/telemetry/{id}");
    let usual = Span::of(&SpanQuery::default(), &known, now)?;
    let (span, mut complaints) = match Span::of(&query, &known, now) {
        Ok(span) => (span, Complaints::default()),
        Err(problem) => (usual, Complaints::about(problem)?),
    };
    let shown = match complaints.is_empty() {
        false => None,
        true => match shown(&visit, &sensor, &span).await {
            Ok(shown) => shown,
            Err(problem) => {
                complaints = Complaints::about(problem)?;
                None
            }
        },
    };
    let latest = async { telemetry::latest(ctx, &[id]).await.map_err(Problem::from) };
    let page = PageRequest { limit: DAYS_A_PAGE, ..turn.page(&visit)? };
    let days = async { telemetry::list_days(ctx, id, DAYS, page).await.map_err(Problem::from) };
    let (latest, days, last_day) = futures::try_join!(latest, days, list::last_day(ctx, id))?;
    let latest = latest.into_iter().next().ok_or_else(|| Problem::internal("a sensor has no latest"))?;
    let filters = span.filters();
    let filters: Vec<(&str, &str)> = filters.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let status = if complaints.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let html = SensorPage {
        frame,
        state: State::of(sensor.retired_at, &latest, last_day.as_ref(), now),
        about: about(&sensor, latest.last.as_ref().map(|last| last.measurement_time), now),
        metric: title(&span.metric),
        when: span.words(),
        metrics: span.metrics(&path, &measured(&sensor, &latest, &span.metric)),
        spans: span.spans(&path),
        resolutions: span.resolutions(&path),
        fields: Fields::of([("from", query.from), ("to", query.to), ("metric", span.metric.clone())]),
        complaints,
        shown,
        score: percent(state::score(&latest.hours)),
        parts: state::parts(&latest.hours),
        pager: turn.pager(&visit, &path, &filters, days.next),
        days: days.rows.into_iter().map(DayRow::new).collect(),
        name: sensor.name,
        path,
    };
    Ok((status, Html(html)).into_response())
}

fn about(sensor: &Sensor, last_at: Option<Timestamp>, now: Timestamp) -> String {
    let kind = title(&sensor.kind);
    let place = sensor.location.as_ref().map(|place| format!(", {place}")).unwrap_or_default();
    let every = time::duration(i64::from(sensor.interval_seconds) * 1_000);
    let last = match last_at {
        Some(at) => format!("the last came {}", time::ago(now.millis() - at.millis())),
        None => "none came in the last two hours".to_owned(),
    };
    format!("{kind}{place}. A measurement every {every}; {last}.")
}

/// The metrics that have a link: what the sensor was registered with, what it measured of late, and what is shown.
fn measured(sensor: &Sensor, latest: &Latest, shown: &str) -> Vec<String> {
    let of_late = |name: &String| {
        let last = latest.last.as_ref().and_then(|last| last.value(name));
        last.is_some() || latest.hours.iter().any(|hour| hour.metrics.contains_key(name))
    };
    let wanted = |name: &String| sensor.metrics.contains_key(name) || of_late(name) || name == shown;
    metrics(sensor).into_iter().filter(wanted).collect()
}

/// Outliers of hours are kept by their codes.
fn reason(told: &str) -> &str {
    match told {
        "above_range" => "above what is plausible",
        "below_range" => "below what is plausible",
        "far_from_median" => "far from the median",
        other => other,
    }
}

/// What is drawn; None where nothing was measured.
async fn shown(visit: &Visit, sensor: &Sensor, span: &Span) -> Result<Option<Shown>, Problem> {
    let asked = ChartRequest {
        from: span.from,
        to: span.to,
        resolution: span.resolution,
        metric: span.metric.clone(),
        points_max: POINTS,
    };
    let chart = telemetry::chart(&visit.ctx, sensor.sensor_id, asked).await?;
    let unit = unit(sensor, &span.metric);
    let (Some(mean), Some(min), Some(max)) = (chart.summary.mean(), chart.summary.min(), chart.summary.max()) else {
        return Ok(None);
    };
    let slots = Slots::of(span, chart.resolution, sensor.interval_seconds);
    let mut drawn = slots.fill(chart.lines.iter().flatten());
    let mut labels = slots.labels();
    if chart.resolution != Resolution::Raw && drawn.len() > 1 && drawn.last() == Some(&None) {
        drawn.pop();
        labels.pop();
    }
    let (one, many) = match chart.resolution {
        Resolution::Raw => ("measurement", "measurements"),
        Resolution::Hourly => ("hour", "hours"),
        Resolution::Daily | Resolution::Auto => ("day", "days"),
    };
    let gap_count = chart.gaps.len();
    let sentence = format!(
        "{} of {} was between {} and {} in {}, {} on average{}",
        title(&span.metric),
        sensor.name,
        quantity(min, unit),
        quantity(max, unit),
        span.words(),
        quantity(mean, unit),
        match gap_count {
            0 => String::new(),
            1 => ", with one gap".to_owned(),
            gaps => format!(", with {gaps} gaps"),
        }
    );
    let marks = chart.marks.iter().filter_map(|mark| {
        let why = format!("{}: {}, {}", time::moment(mark.at), quantity(mark.value, unit), reason(&mark.reason));
        Some(Mark { at: slots.at(mark.at)?, value: Some(mark.value), why })
    });
    let of =
        |part: fn(&Slot) -> f64| -> Vec<Option<f64>> { drawn.iter().map(|slot| slot.as_ref().map(part)).collect() };
    let axis = |value: f64| quantity(value, unit);
    let picture = charts::line(&Line {
        title: &sentence,
        labels,
        series: vec![Series::line("Mean", of(|slot| slot.mean))],
        bands: vec![Band {
            name: "From the least to the most".into(),
            low: of(|slot| slot.min),
            high: of(|slot| slot.max),
        }],
        marks: marks.collect(),
        is_around: true,
        axis: &axis,
        value: &axis,
    });
    let short = if slots.together > 1 { " Gaps that are shorter than that stand in the table alone." } else { "" };
    let note = format!(
        "Made of {many}. The line is the mean of {}, the band goes from the least to the most. Rings are values that stand \
         out; where nothing was measured nothing is drawn.{short}",
        slots.width_in_words(),
    );
    let event = |when: String, value: String, what: String| Event { when, value, what };
    let mut standing_out: Vec<_> = chart.marks.iter().collect();
    standing_out.sort_by_key(|mark| std::cmp::Reverse(mark.at));
    let mut gaps: Vec<_> = chart.gaps.iter().collect();
    gaps.sort_by_key(|gap| std::cmp::Reverse(gap.from));
    Ok(Some(Shown {
        chart: picture.with_note(note),
        sentence: format!(
            "{}: {} on average, {} to {}, with a standard deviation of {}.",
            words::count(chart.summary.count(), "measurement", "measurements"),
            quantity(mean, unit),
            quantity(min, unit),
            quantity(max, unit),
            quantity(chart.summary.stddev().unwrap_or_default(), unit),
        ),
        more_marks: standing_out.len().saturating_sub(LISTED),
        marks: standing_out
            .iter()
            .take(LISTED)
            .map(|mark| event(time::moment(mark.at), quantity(mark.value, unit), reason(&mark.reason).to_owned()))
            .collect(),
        more_gaps: gap_count.saturating_sub(LISTED),
        gaps: gaps
            .iter()
            .take(LISTED)
            .map(|gap| {
                let missing = words::count(gap.missing, one, many);
                event(
                    format!("{} to {}", time::moment(gap.from), time::moment(gap.to)),
                    time::duration(gap.millis()),
                    missing,
                )
            })
            .collect(),
    }))
}

/// What a slot of a chart shows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slot {
    mean: f64,
    min: f64,
    max: f64,
    count: u32,
}

/// The time in even slots, each long enough to have something in it where nothing is missing.
struct Slots {
    from: i64,
    width: i64,
    count: usize,
    is_daily: bool,
    /// Hours or days of one slot.
    together: i64,
}

impl Slots {
    fn of(span: &Span, resolution: Resolution, interval_seconds: u32) -> Self {
        let unit = match resolution {
            Resolution::Raw => 2_000 * i64::from(interval_seconds.max(1)),
            Resolution::Hourly => HOUR_MILLIS,
            Resolution::Daily | Resolution::Auto => DAY_MILLIS,
        };
        let (from, to) = (span.from.millis(), span.to.millis());
        // Hours and days begin where they begin, not where somebody looks.
        let from = if resolution == Resolution::Raw { from } else { from.div_euclid(unit) * unit };
        let units = (to - from).div_euclid(unit) + i64::from((to - from) % unit > 0);
        let together = (units + SLOTS - 1).div_euclid(SLOTS).max(1);
        let width = unit * together;
        let count = (units + together - 1).div_euclid(together).max(1);
        Slots { from, width, count: usize::try_from(count).unwrap_or(1), is_daily: width >= DAY_MILLIS, together }
    }

    fn at(&self, at: Timestamp) -> Option<usize> {
        let place = usize::try_from((at.millis() - self.from).div_euclid(self.width)).ok()?;
        (place < self.count).then_some(place)
    }

    fn fill<'p>(&self, points: impl Iterator<Item = &'p ChartPoint>) -> Vec<Option<Slot>> {
        let mut slots: Vec<Option<Slot>> = vec![None; self.count];
        for point in points {
            let Some(place) = self.at(point.at) else { continue };
            let slot = slots[place].get_or_insert(Slot { mean: 0.0, min: point.min, max: point.max, count: 0 });
            slot.count += 1;
            slot.mean += (point.value - slot.mean) / f64::from(slot.count);
            (slot.min, slot.max) = (slot.min.min(point.min), slot.max.max(point.max));
        }
        slots
    }

    fn labels(&self) -> Vec<String> {
        let start = |place: usize| Timestamp::from_millis(self.from + self.width * place as i64);
        let several_days = self.width * self.count as i64 > DAY_MILLIS + HOUR_MILLIS;
        let label = |place: usize| match (self.is_daily, several_days) {
            (true, _) => words::short_day(start(place).date()),
            (false, true) => time::moment(start(place)),
            (false, false) => time::clock(start(place)),
        };
        (0..self.count).map(label).collect()
    }

    fn width_in_words(&self) -> String {
        match self.width {
            DAY_MILLIS => "a day".to_owned(),
            HOUR_MILLIS => "an hour".to_owned(),
            width => time::duration(width),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(query: &str) -> Span {
        let query: SpanQuery = serde_urlencoded::from_str(query).unwrap();
        Span::of(&query, &["temperature".to_owned()], "2026-03-31T12:30:00Z".parse().unwrap()).unwrap()
    }

    #[test]
    fn slots_are_few_and_whole() {
        let width = |query: &str, resolution, interval| {
            let slots = Slots::of(&span(query), resolution, interval);
            assert!(slots.count <= SLOTS as usize && slots.labels().len() == slots.count, "{query}");
            assert_eq!(slots.at(Timestamp::from_millis(slots.from - 1)), None);
            (slots.width_in_words(), slots.count)
        };
        assert_eq!(width("", Resolution::Raw, 600), ("20 minutes".into(), 72));
        assert_eq!(width("", Resolution::Raw, 1).1, 170);
        assert_eq!(width("span=7d", Resolution::Hourly, 600), ("an hour".into(), 169));
        assert_eq!(width("span=30d", Resolution::Hourly, 600).0, "5 hours");
        assert_eq!(width("span=30d", Resolution::Daily, 600), ("a day".into(), 31));
        assert_eq!(width("span=1y", Resolution::Daily, 600).0, "3 days");
    }

    #[test]
    fn a_slot_has_the_least_the_mean_and_the_most_and_an_empty_one_nothing() {
        let slots = Slots::of(&span("from=2026-03-01&to=2026-03-03"), Resolution::Daily, 60);
        let start = slots.from;
        let point = |day: i64, value: f64| ChartPoint {
            at: Timestamp::from_millis(start + day * DAY_MILLIS),
            value,
            min: value - 1.0,
            max: value + 2.0,
        };
        let filled = slots.fill([point(0, 4.0), point(0, 6.0), point(2, 5.0), point(9, 1.0)].iter());
        let first = filled[0].unwrap();
        assert_eq!((first.mean, first.min, first.max), (5.0, 3.0, 8.0));
        assert_eq!((filled.len(), filled[1]), (3, None));
    }
}
