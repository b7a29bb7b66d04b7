//! A sensor's measurements, or what was made of them, over a time.
//!
//! 1. Points come in the order of time, each once, on whatever page; behind one cursor, however many partitions there are.
//! 2. Where nothing was measured there is a gap, and no point.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use widerow::{
    Cursor, Date, Timestamp,
    codec::{self, Reader},
    value::{Cell as _, Value},
};

use super::{chart::check_metric, sensors::get_sensor};
use crate::{
    check::Check,
    context::Context,
    id::{MeasurementId, SensorId},
    limits,
    pattern::PageRequest,
    telemetry::{
        bucket::{self, HOUR_SECONDS},
        error::{Error, Result},
        figures::{self, Expected, Gap, Reading, Span, Summary},
        tables::{DailyData, HOURLY_SECONDS, HourlyData, MetricSummary, RawMeasurement},
    },
    text,
};

const DAY_SECONDS: i64 = 24 * HOUR_SECONDS;
/// The document's: what is shown of how long a time.
const RAW_SPAN_SECONDS: i64 = DAY_SECONDS;
const HOURLY_SPAN_SECONDS: i64 = 30 * DAY_SECONDS;
/// How much later than an hour is closed its figures may come: whoever rolls up does so every minute.
const ROLLED_SECONDS: i64 = 300;
/// How much later than it was meant somebody's question for the last day may come.
const LATER_SECONDS: i64 = 60;
/// Hours whose measurements are read side by side.
const HOURS_AT_ONCE: usize = 8;

/// How fine an answer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// As the document chooses: up to a day raw, up to thirty days hourly, else daily; and coarser where some of what is so fine
    /// has ended.
    #[default]
    Auto,
    Raw,
    Hourly,
    Daily,
}

impl Resolution {
    pub fn as_str(self) -> &'static str {
        match self {
            Resolution::Auto => "auto",
            Resolution::Raw => "raw",
            Resolution::Hourly => "hourly",
            Resolution::Daily => "daily",
        }
    }
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesRequest {
    pub from: Timestamp,
    /// Not part of it.
    pub to: Timestamp,
    pub resolution: Resolution,
    /// One of the sensor's, or all.
    pub metric: Option<String>,
    pub page: PageRequest,
}

/// One point: a measurement, an hour, or a day.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesPoint {
    /// Of a measurement; otherwise where the hour or the day begins.
    pub at: Timestamp,
    pub measurement_id: Option<MeasurementId>,
    pub measurement_count: i64,
    pub metrics: BTreeMap<String, Summary>,
    /// Of hours and days, 0 to 1.
    pub quality: Option<f64>,
    /// Of hours: outliers; of days: outliers of all its hours.
    pub outlier_count: i64,
    /// Of days.
    pub anomalies_detected: i32,
}

/// A page of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The one that was chosen: never `Auto`.
    pub resolution: Resolution,
    pub points: Vec<SeriesPoint>,
    /// Where nothing came, from the last point before the page, or from where the time begins, to the last one of the page; on the
    /// last page, up to the end of the time. Of what is not rolled up yet, or not shown any more, nothing is said.
    pub gaps: Vec<Gap>,
    pub next: Option<Cursor>,
}

/// T3, T4, T5: a page of points, the oldest first.
pub async fn read_series(ctx: &Context, sensor: SensorId, asked: SeriesRequest) -> Result<Series> {
    asked.page.check()?;
    let span = check_span(asked.from, asked.to)?;
    let known = get_sensor(ctx, sensor).await?;
    if let Some(metric) = &asked.metric {
        check_metric(&known, metric)?;
    }
    let position = match &asked.page.cursor {
        Some(cursor) => Some(Position::decode(cursor, print(ctx, sensor, &asked))?),
        None => None,
    };
    let resolution = match (&position, asked.resolution) {
        (Some(position), _) => position.resolution,
        (None, Resolution::Auto) => choose(ctx, sensor, span).await?,
        (None, resolution) => resolution,
    };
    let (limit, metric) = (asked.page.limit, asked.metric.as_deref());
    let before = position.as_ref().and_then(|position| position.point_at);
    let (points, last) = match resolution {
        Resolution::Raw => raw_points(ctx, sensor, span, metric, limit, position).await?,
        Resolution::Hourly => hourly_points(ctx, sensor, span, metric, limit, position).await?,
        Resolution::Daily | Resolution::Auto => daily_points(ctx, sensor, span, metric, limit, position).await?,
    };
    let interval_ms = match resolution {
        Resolution::Raw => i64::from(known.interval_seconds) * 1_000,
        Resolution::Hourly => HOUR_SECONDS * 1_000,
        Resolution::Daily | Resolution::Auto => DAY_SECONDS * 1_000,
    };
    let times: Vec<Timestamp> = before.into_iter().chain(points.iter().map(|point| point.at)).collect();
    let known_span = known_span(ctx, span, resolution)?;
    let from = before.unwrap_or(known_span.from);
    let gaps = gaps_between(&times, from, last.is_none().then_some(known_span.to), interval_ms)?;
    let point_at = times.last().copied();
    let next = last.map(|last| Position { point_at, ..last }.encode(print(ctx, sensor, &asked)));
    Ok(Series { resolution, points, gaps, next })
}

/// From there to the last of the times, or to the end where it is known that nothing follows.
fn gaps_between(times: &[Timestamp], from: Timestamp, end: Option<Timestamp>, interval_ms: i64) -> Result<Vec<Gap>> {
    let behind = Timestamp::from_millis(times.last().unwrap_or(&from).millis() + 1);
    let readings: Vec<Reading> = times.iter().filter_map(|at| Reading::new(*at, 0.0).ok()).collect();
    let span = Span::new(from, end.map_or(behind, |end| end.max(behind)))?;
    Ok(figures::gaps(&readings, span, &Expected::every(interval_ms)?)?)
}

/// The part of a time of which it is known whether anything came: not what is shown no more, and no hour or day that goes on or
/// is about to be rolled up.
pub(super) fn known_span(ctx: &Context, span: Span, resolution: Resolution) -> Result<Span> {
    let rolled_at = ctx.now().plus_seconds(-ROLLED_SECONDS);
    let rolled = bucket::end_of(bucket::last_closed(rolled_at, &ctx.settings.telemetry));
    let (from, until) = match resolution {
        Resolution::Raw => (span.from.max(raw_from(ctx)), ctx.now()),
        Resolution::Hourly => (bucket::start_of(bucket::hour_of(span.from)), rolled),
        Resolution::Daily | Resolution::Auto => (span.from.date().start(), rolled.date().start()),
    };
    let to = span.to.min(until).max(Timestamp::from_millis(from.millis() + 1));
    Ok(Span::new(from, to)?)
}

pub(super) fn check_span(from: Timestamp, to: Timestamp) -> Result<Span> {
    let mut check = Check::new();
    check.that(from.in_range() && to.in_range(), "from", "times lie in the years 0000 to 9999");
    check.that(from < to, "to", "it is not after `from`");
    let days = to.millis().saturating_sub(from.millis()) / (DAY_SECONDS * 1_000);
    let problem = format!("{days} days, the limit is {}", limits::TELEMETRY_DAYS_MAX);
    check.that(days <= limits::TELEMETRY_DAYS_MAX, "to", problem);
    check.end()?;
    Ok(Span::new(from, to)?)
}

/// From when on raw measurements are shown.
pub(super) fn raw_from(ctx: &Context) -> Timestamp {
    ctx.now().plus_seconds(-i64::from(ctx.settings.telemetry.raw_hours) * HOUR_SECONDS)
}

/// From when on no hour has ended.
pub(super) fn hours_from(ctx: &Context) -> Timestamp {
    ctx.now().plus_seconds(-HOURLY_SECONDS - HOUR_SECONDS)
}

/// The finest resolution that the time allows and of which nothing is gone.
pub(super) async fn choose(ctx: &Context, sensor: SensorId, span: Span) -> Result<Resolution> {
    let seconds = span.millis() / 1_000;
    if seconds <= RAW_SPAN_SECONDS && span.from >= raw_from(ctx).plus_seconds(-LATER_SECONDS) {
        return Ok(Resolution::Raw);
    }
    if seconds <= HOURLY_SPAN_SECONDS && has_all_hours(ctx, sensor, span).await? {
        return Ok(Resolution::Hourly);
    }
    Ok(Resolution::Daily)
}

/// Whether there are hours in a time, and every one that its day tells of.
async fn has_all_hours(ctx: &Context, sensor: SensorId, span: Span) -> Result<bool> {
    let first = bucket::start_of(bucket::hour_of(span.from));
    if first >= hours_from(ctx) {
        let (some, _) = hourly_points(ctx, sensor, span, None, 1, None).await?;
        return Ok(!some.is_empty());
    }
    // What came late may have left hours among others that have ended.
    let hours: BTreeSet<Timestamp> =
        all_hours(ctx, sensor, span).await?.into_iter().map(|row| row.hour_bucket).collect();
    let last_day = Timestamp::from_millis(span.to.millis() - 1).date();
    let days = all_days(ctx, sensor, span.from.date(), last_day).await?;
    let mut measured = days.iter().flat_map(DailyData::hours).filter(|hour| (first..span.to).contains(hour));
    Ok(!hours.is_empty() && measured.all(|hour| hours.contains(&hour)))
}

type Points = (Vec<SeriesPoint>, Option<Position>);

async fn raw_points(
    ctx: &Context,
    sensor: SensorId,
    span: Span,
    metric: Option<&str>,
    limit: usize,
    after: Option<Position>,
) -> Result<Points> {
    let mut rows = Vec::new();
    let from = after.as_ref().map_or(span.from, |after| after.at.max(span.from));
    let mut hours = raw_hours(ctx, Span { from, ..span }).into_iter().peekable();
    // One more than the page tells whether there is another.
    while rows.len() <= limit && hours.peek().is_some() {
        let some: Vec<i64> = hours.by_ref().take(HOURS_AT_ONCE).collect();
        let wanted = limit + 1 - rows.len();
        let pages: Vec<Vec<RawMeasurement>> = stream::iter(some)
            .map(|hour| raw_hour(ctx, sensor, hour, span, wanted, after.as_ref()))
            .buffered(HOURS_AT_ONCE)
            .try_collect()
            .await?;
        rows.extend(pages.into_iter().flatten());
    }
    let more = rows.len() > limit;
    rows.truncate(limit);
    let position = |row: &RawMeasurement| Position {
        resolution: Resolution::Raw,
        at: row.measurement_time,
        id: Some(row.measurement_id),
        point_at: None,
    };
    let last = rows.last().filter(|_| more).map(position);
    let points = rows.into_iter().filter_map(|row| {
        let values = row.values().filter(|(name, _)| metric.is_none_or(|metric| metric == *name));
        let metrics = values.filter_map(|(name, value)| Some((name.to_owned(), Summary::of_one(value).ok()?)));
        let metrics: BTreeMap<String, Summary> = metrics.collect();
        (!metrics.is_empty()).then_some(SeriesPoint {
            at: row.measurement_time,
            measurement_id: Some(row.measurement_id),
            measurement_count: 1,
            metrics,
            quality: None,
            outlier_count: 0,
            anomalies_detected: 0,
        })
    });
    Ok((points.collect(), last))
}

/// The hours of a time of which raw measurements are shown.
pub(super) fn raw_hours(ctx: &Context, span: Span) -> Vec<i64> {
    let from = span.from.max(raw_from(ctx));
    let to = span.to.min(ctx.now().plus_seconds(i64::from(ctx.settings.telemetry.future_seconds) + 1));
    let (first, last) = (bucket::hour_of(from), bucket::hour_of(Timestamp::from_millis(to.millis() - 1)));
    if from >= to {
        return Vec::new();
    }
    (first..=last).step_by(HOUR_SECONDS as usize).collect()
}

/// The measurements of an hour that lie within the time, in its order.
async fn raw_hour(
    ctx: &Context,
    sensor: SensorId,
    hour: i64,
    span: Span,
    limit: usize,
    after: Option<&Position>,
) -> Result<Vec<RawMeasurement>> {
    let from = span.from.max(raw_from(ctx));
    let slice = ctx.store.slice::<RawMeasurement>((sensor, hour)).reverse();
    let slice = slice.from(Bound::Included(from)).to(Bound::Excluded(span.to)).limit(limit);
    let behind = after.filter(|after| bucket::hour_of(after.at) == hour && after.at >= from);
    let slice = match behind.and_then(|after| Some((after.at, after.id?))) {
        Some((at, id)) => slice.after_key((at, id)),
        None => slice,
    };
    Ok(slice.page().await?.rows)
}

/// All raw measurements of a time, in its order, up to a limit.
pub(super) async fn all_raw(ctx: &Context, sensor: SensorId, span: Span) -> Result<Vec<RawMeasurement>> {
    let hours = stream::iter(raw_hours(ctx, span)).map(|hour| async move {
        let mut rows: Vec<RawMeasurement> = Vec::new();
        let mut after: Option<Position> = None;
        loop {
            let some = raw_hour(ctx, sensor, hour, span, widerow::limits::PAGE_ROWS_MAX, after.as_ref()).await?;
            let is_last = some.len() < widerow::limits::PAGE_ROWS_MAX;
            rows.extend(some);
            if rows.len() > limits::RAW_ROWS_MAX {
                return Err(too_many(rows.len()));
            }
            let Some(last) = rows.last().filter(|_| !is_last) else { return Ok(rows) };
            let id = Some(last.measurement_id);
            after = Some(Position { resolution: Resolution::Raw, at: last.measurement_time, id, point_at: None });
        }
    });
    let mut all = Vec::new();
    let mut hours = hours.buffered(HOURS_AT_ONCE);
    while let Some(rows) = hours.try_next().await? {
        all.extend(rows);
        if all.len() > limits::RAW_ROWS_MAX {
            return Err(too_many(all.len()));
        }
    }
    Ok(all)
}

fn too_many(size: usize) -> Error {
    Error::TooLarge { what: "raw measurements of one answer", size, limit: limits::RAW_ROWS_MAX }
}

async fn hourly_points(
    ctx: &Context,
    sensor: SensorId,
    span: Span,
    metric: Option<&str>,
    limit: usize,
    after: Option<Position>,
) -> Result<Points> {
    let from = after.map_or(Bound::Included(bucket::start_of(bucket::hour_of(span.from))), |a| Bound::Excluded(a.at));
    let slice = ctx.store.slice::<HourlyData>(sensor).from(from).to(Bound::Excluded(span.to));
    let page = slice.limit(limit).page().await?;
    let last = page.rows.last().filter(|_| page.next.is_some());
    let last = last.map(|row| Position::rolled(Resolution::Hourly, row.hour_bucket));
    Ok((page.rows.into_iter().filter_map(|row| of_hour(row, metric)).collect(), last))
}

async fn daily_points(
    ctx: &Context,
    sensor: SensorId,
    span: Span,
    metric: Option<&str>,
    limit: usize,
    after: Option<Position>,
) -> Result<Points> {
    let from = after.map_or(Bound::Included(span.from.date()), |after| Bound::Excluded(after.at.date()));
    let last_day = Timestamp::from_millis(span.to.millis() - 1).date();
    if matches!(from, Bound::Excluded(day) if day >= last_day) {
        return Ok((Vec::new(), None));
    }
    let slice = ctx.store.slice::<DailyData>(sensor).from(from).to(Bound::Included(last_day));
    let page = slice.limit(limit).page().await?;
    let last = page.rows.last().filter(|_| page.next.is_some());
    let last = last.map(|row| Position::rolled(Resolution::Daily, row.date_bucket.start()));
    Ok((page.rows.into_iter().filter_map(|row| of_day(row, metric)).collect(), last))
}

fn summaries(metrics: BTreeMap<String, MetricSummary>, metric: Option<&str>) -> BTreeMap<String, Summary> {
    let wanted = metrics.into_iter().filter(|(name, _)| metric.is_none_or(|metric| metric == name));
    wanted.map(|(name, figures)| (name, figures.summary())).collect()
}

fn of_hour(row: HourlyData, metric: Option<&str>) -> Option<SeriesPoint> {
    let metrics = summaries(row.metrics, metric);
    (!metrics.is_empty()).then(|| SeriesPoint {
        at: row.hour_bucket,
        measurement_id: None,
        measurement_count: row.measurement_count,
        metrics,
        quality: row.data_quality_score.map(figures::from_decimal),
        outlier_count: row.outlier_count,
        anomalies_detected: 0,
    })
}

fn of_day(row: DailyData, metric: Option<&str>) -> Option<SeriesPoint> {
    let metrics = summaries(row.metrics, metric);
    (!metrics.is_empty()).then(|| SeriesPoint {
        at: row.date_bucket.start(),
        measurement_id: None,
        measurement_count: row.measurement_count,
        metrics,
        quality: row.data_quality_score.map(figures::from_decimal),
        outlier_count: row.outlier_count,
        anomalies_detected: row.anomalies_detected,
    })
}

/// All hours of a time.
pub(super) async fn all_hours(ctx: &Context, sensor: SensorId, span: Span) -> Result<Vec<HourlyData>> {
    let first = bucket::start_of(bucket::hour_of(span.from));
    let slice = ctx.store.slice::<HourlyData>(sensor).from(Bound::Included(first)).to(Bound::Excluded(span.to));
    Ok(slice.limit(widerow::limits::PAGE_ROWS_MAX).all(limits::RAW_ROWS_MAX).await?)
}

/// All days of a time.
pub(super) async fn all_days(ctx: &Context, sensor: SensorId, first: Date, last: Date) -> Result<Vec<DailyData>> {
    let slice = ctx.store.slice::<DailyData>(sensor).from(Bound::Included(first)).to(Bound::Included(last));
    Ok(slice.limit(widerow::limits::PAGE_ROWS_MAX).all(limits::RAW_ROWS_MAX).await?)
}

/// Behind which point a page begins.
#[derive(Clone, Debug, PartialEq)]
struct Position {
    resolution: Resolution,
    at: Timestamp,
    id: Option<MeasurementId>,
    /// The last point that was told before it: not each row has the metric that is asked for. None where none was.
    point_at: Option<Timestamp>,
}

/// Of everything that is asked but the page: a cursor is good for the same question, and for no other.
fn print(ctx: &Context, sensor: SensorId, asked: &SeriesRequest) -> u64 {
    let mut bytes = Vec::new();
    codec::put_bytes(&mut bytes, ctx.store.tenant().as_str().as_bytes());
    codec::put_bytes(&mut bytes, sensor.0.as_bytes());
    codec::put_bytes(&mut bytes, asked.resolution.as_str().as_bytes());
    codec::put_bytes(&mut bytes, asked.metric.as_deref().unwrap_or_default().as_bytes());
    codec::put_values(&mut bytes, &[asked.from.to_value(), asked.to.to_value()]);
    codec::fingerprint(&bytes)
}

impl Position {
    fn rolled(resolution: Resolution, at: Timestamp) -> Self {
        Position { resolution, at, id: None, point_at: None }
    }

    fn encode(&self, print: u64) -> Cursor {
        let mut bytes = print.to_be_bytes().to_vec();
        let resolution = Value::Text(self.resolution.as_str().to_owned());
        codec::put_values(&mut bytes, &[resolution, self.at.to_value(), self.id.to_value(), self.point_at.to_value()]);
        text::hex(&bytes).into()
    }

    fn decode(cursor: &Cursor, print: u64) -> Result<Self> {
        let wrong = || widerow::Error::invalid("cursor", "it does not belong to this query");
        Self::read(cursor.as_str(), print).ok_or_else(|| wrong().into())
    }

    fn read(cursor: &str, print: u64) -> Option<Self> {
        if cursor.len() > 400 || !text::is_hex(cursor, cursor.len() / 2) {
            return None;
        }
        let pairs = cursor.as_bytes().chunks_exact(2);
        let bytes: Vec<u8> =
            pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()).collect::<Option<_>>()?;
        let (head, rest) = bytes.split_at_checked(8)?;
        let mut reader = Reader::new(rest);
        let values = reader.values().ok()?;
        if head != print.to_be_bytes() || !reader.is_empty() {
            return None;
        }
        let [Value::Text(resolution), Value::Timestamp(at), id, point_at] = <[Value; 4]>::try_from(values).ok()? else {
            return None;
        };
        let resolution =
            [Resolution::Raw, Resolution::Hourly, Resolution::Daily].into_iter().find(|r| r.as_str() == resolution)?;
        let id = Option::<MeasurementId>::from_value(id).ok()?;
        let point_at = Option::<Timestamp>::from_value(point_at).ok()?;
        let in_range = at.in_range() && point_at.is_none_or(Timestamp::in_range);
        in_range.then_some(Position { resolution, at, id, point_at })
    }
}
