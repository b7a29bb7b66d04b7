//! What a sensor measured over a time: as points, as lines to be drawn, as sliding windows; and how far it can be trusted.

use std::collections::BTreeMap;

use merkato::{
    id::SensorId,
    telemetry::{
        self, Anomaly, ChartMark, ChartPoint, ChartRequest, DailyData, HourlyData, SeriesPoint, SeriesRequest,
        WindowsRequest, figures,
    },
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{GapView, ResolutionView, Turn, ValuesView, span};
use crate::http::{
    FieldProblem, Json, Path, Problem, Query, Visit,
    wire::{Day, Listing, Paging, Time},
};

/// Of which time, how fine, and which page.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct SeriesQuery {
    /// A day before `to` if it is not said.
    #[param(inline)]
    from: Option<Time>,
    /// Not part of it; now if it is not said. At most 3,660 days in all.
    #[param(inline)]
    to: Option<Time>,
    /// `auto` if it is not said.
    #[param(inline)]
    resolution: Option<ResolutionView>,
    /// One alone; all if it is not said.
    #[param(example = "temperature", max_length = 64)]
    metric: Option<String>,
    /// How many, 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// `next_cursor` of the page before, of the same list.
    cursor: Option<String>,
}

/// A measurement, an hour, or a day.
#[derive(Serialize, ToSchema)]
pub struct PointView {
    /// When it was measured; where the hour or the day begins.
    pub at: Time,
    /// Of a measurement alone.
    pub measurement_id: Option<Uuid>,
    pub measurement_count: i64,
    pub metrics: BTreeMap<String, ValuesView>,
    /// Of hours and days, 0 to 1.
    #[schema(example = 0.98)]
    pub quality: Option<f64>,
    /// Of hours and days.
    pub outlier_count: i64,
    /// Of days.
    pub anomalies_detected: i32,
}

impl From<SeriesPoint> for PointView {
    fn from(point: SeriesPoint) -> Self {
        PointView {
            at: point.at.into(),
            measurement_id: point.measurement_id.map(|id| id.0),
            measurement_count: point.measurement_count,
            metrics: point.metrics.iter().map(|(name, summary)| (name.clone(), summary.into())).collect(),
            quality: point.quality,
            outlier_count: point.outlier_count,
            anomalies_detected: point.anomalies_detected,
        }
    }
}

/// A page of a sensor's points.
#[derive(Serialize, ToSchema)]
pub struct SeriesView {
    /// The one that was chosen.
    pub resolution: ResolutionView,
    pub data: Vec<PointView>,
    /// From the last point of the page before, or from where the time begins, to the last one of this; on the last page, up to the
    /// end of the time. Of what is not rolled up yet, or not shown any more, nothing is said.
    pub gaps: Vec<GapView>,
    /// Where the next page begins; null at the end.
    pub next_cursor: Option<String>,
}

/// What a sensor measured, the oldest first
///
/// Where nothing was measured there is a gap and no point.
#[utoipa::path(get, path = "/v1/admin/telemetry/{sensor_id}", tag = "admin: telemetry",
    params(("sensor_id" = Uuid, Path, description = "The sensor"), SeriesQuery),
    responses((status = 200, description = "A page of points", body = SeriesView), (status = 304, description = "As the client has it")))]
pub async fn read_series(
    visit: Visit,
    Path(sensor): Path<SensorId>,
    Query(query): Query<SeriesQuery>,
) -> Result<Json<SeriesView>, Problem> {
    let ctx = &visit.ctx;
    let paging = Paging { limit: query.limit, cursor: query.cursor };
    let Turn { from, to, page } = Turn::of(&visit, (query.from, query.to), 1, &paging)?;
    let asked = SeriesRequest {
        from,
        to,
        resolution: query.resolution.unwrap_or(ResolutionView::Auto).into(),
        metric: query.metric,
        page,
    };
    let series = telemetry::read_series(ctx, sensor, asked).await.map_err(of_metric)?;
    Ok(Json(SeriesView {
        resolution: series.resolution.into(),
        data: series.points.into_iter().map(PointView::from).collect(),
        gaps: series.gaps.into_iter().map(GapView::from).collect(),
        next_cursor: series.next.map(|next| visit.seal(&Turn::next(from, to, &next))),
    }))
}

/// What is to be drawn.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ChartQuery {
    #[param(example = "temperature", max_length = 64)]
    metric: String,
    /// A day before `to` if it is not said.
    #[param(inline)]
    from: Option<Time>,
    /// Not part of it; now if it is not said.
    #[param(inline)]
    to: Option<Time>,
    /// `auto` if it is not said.
    #[param(inline)]
    resolution: Option<ResolutionView>,
    /// At most so many points, as many as there are pixels; 500 if it is not said.
    #[param(minimum = 4, maximum = 5000)]
    points: Option<usize>,
}

/// A measurement, or the mean of an hour or a day with its least and its most.
#[derive(Serialize, ToSchema)]
pub struct ChartPointView {
    pub at: Time,
    #[schema(example = 3.9)]
    pub value: f64,
    #[schema(example = 3.6)]
    pub min: f64,
    #[schema(example = 4.3)]
    pub max: f64,
}

impl From<ChartPoint> for ChartPointView {
    fn from(point: ChartPoint) -> Self {
        ChartPointView { at: point.at.into(), value: point.value, min: point.min, max: point.max }
    }
}

/// Something to be marked.
#[derive(Serialize, ToSchema)]
pub struct ChartMarkView {
    pub at: Time,
    pub value: f64,
    #[schema(example = "above what is plausible")]
    pub reason: String,
}

impl From<ChartMark> for ChartMarkView {
    fn from(mark: ChartMark) -> Self {
        ChartMarkView { at: mark.at.into(), value: mark.value, reason: mark.reason }
    }
}

/// What is drawn.
#[derive(Serialize, ToSchema)]
pub struct ChartView {
    pub sensor_id: Uuid,
    pub metric: String,
    #[schema(example = "°C")]
    pub unit: Option<String>,
    /// The one that was chosen.
    pub resolution: ResolutionView,
    /// Points that are joined; between two lines there is a gap.
    pub lines: Vec<Vec<ChartPointView>>,
    pub gaps: Vec<GapView>,
    /// Of all that was measured, drawn or not.
    pub summary: ValuesView,
    pub marks: Vec<ChartMarkView>,
    /// Of the hours or days, 0 to 1; null of raw measurements.
    pub quality: Option<f64>,
}

/// Points of a chart that nobody says how wide it is, and of the widest.
const POINTS: usize = 500;
const POINTS_MAX: usize = 5_000;

/// A metric of a sensor as lines to be drawn
///
/// With fewer points than there are it keeps the shape: extremes stay.
#[utoipa::path(get, path = "/v1/admin/telemetry/{sensor_id}/chart", tag = "admin: telemetry",
    params(("sensor_id" = Uuid, Path, description = "The sensor"), ChartQuery),
    responses((status = 200, description = "Lines, gaps and what stands out", body = ChartView), (status = 304, description = "As the client has it")))]
pub async fn get_chart(
    visit: Visit,
    Path(sensor): Path<SensorId>,
    Query(query): Query<ChartQuery>,
) -> Result<Json<ChartView>, Problem> {
    let points_max = query.points.unwrap_or(POINTS);
    if !(*figures::limits::CHART_POINTS.start()..=POINTS_MAX).contains(&points_max) {
        return Err(Problem::field("invalid", "/points", format!("{points_max} is not 4 to {POINTS_MAX}")));
    }
    let (from, to) = span(&visit.ctx, query.from, query.to, 1);
    let resolution = query.resolution.unwrap_or(ResolutionView::Auto).into();
    let asked = ChartRequest { from, to, resolution, metric: query.metric, points_max };
    let chart = telemetry::chart(&visit.ctx, sensor, asked).await.map_err(of_metric)?;
    let unit = chart.sensor.metrics.get(&chart.metric).and_then(|metric| metric.unit.clone());
    Ok(Json(ChartView {
        sensor_id: sensor.0,
        unit,
        metric: chart.metric,
        resolution: chart.resolution.into(),
        lines: chart.lines.into_iter().map(|line| line.into_iter().map(Into::into).collect()).collect(),
        gaps: chart.gaps.into_iter().map(Into::into).collect(),
        summary: (&chart.summary).into(),
        marks: chart.marks.into_iter().map(Into::into).collect(),
        quality: chart.quality,
    }))
}

/// A refusal of a metric that was asked for names it.
fn of_metric(error: telemetry::Error) -> Problem {
    let detail = error.to_string();
    match error {
        telemetry::Error::UnknownMetric { .. } => {
            let errors = vec![FieldProblem { pointer: "/metric".into(), detail }];
            Problem { errors, ..error.into() }
        }
        _ => error.into(),
    }
}

/// Which windows.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct WindowsQuery {
    #[param(example = "temperature", max_length = 64)]
    metric: String,
    /// Seconds of a window; an hour if it is not said.
    #[param(minimum = 1, maximum = 31622400, example = 3600)]
    size: Option<i64>,
    /// Seconds from one window to the next; as long as a window if it is not said.
    #[param(minimum = 1, maximum = 31622400, example = 3600)]
    step: Option<i64>,
    /// How many; 24 if it is not said.
    #[param(minimum = 1, maximum = 1000, example = 24)]
    last: Option<u32>,
}

/// A window.
#[derive(Serialize, ToSchema)]
pub struct WindowView {
    pub from: Time,
    /// Not part of it.
    pub to: Time,
    /// Its count is nought where nothing was measured.
    pub summary: ValuesView,
}

const WINDOWS: u32 = 24;
const WINDOWS_MAX: u32 = 1_000;
const HOUR_SECONDS: i64 = 3_600;

/// The last windows of a metric, the oldest first
///
/// Where they reach back behind the raw measurements they are made of hours, and must be whole hours; where they reach back behind
/// the hours, which are kept for thirty days, of days, and must be whole days.
#[utoipa::path(get, path = "/v1/admin/telemetry/{sensor_id}/windows", tag = "admin: telemetry",
    params(("sensor_id" = Uuid, Path, description = "The sensor"), WindowsQuery),
    responses((status = 200, description = "All of them", body = Listing<WindowView>), (status = 304, description = "As the client has it")))]
pub async fn list_windows(
    visit: Visit,
    Path(sensor): Path<SensorId>,
    Query(query): Query<WindowsQuery>,
) -> Result<Json<Listing<WindowView>>, Problem> {
    let size_seconds = query.size.unwrap_or(HOUR_SECONDS);
    let step_seconds = query.step.unwrap_or(size_seconds);
    let last = query.last.unwrap_or(WINDOWS);
    let seconds_max = figures::limits::INTERVAL_MS_MAX / 1_000;
    for (field, seconds) in [("/size", size_seconds), ("/step", step_seconds)] {
        if !(1..=seconds_max).contains(&seconds) {
            return Err(Problem::field("invalid", field, format!("{seconds} is not 1 to {seconds_max} seconds")));
        }
    }
    if !(1..=WINDOWS_MAX).contains(&last) {
        return Err(Problem::field("invalid", "/last", format!("{last} is not 1 to {WINDOWS_MAX}")));
    }
    let asked = WindowsRequest { size_seconds, step_seconds, metric: query.metric, last };
    let found = telemetry::windows(&visit.ctx, sensor, asked).await.map_err(|error| {
        let mut problem = of_metric(error);
        // The query's own names.
        for error in &mut problem.errors {
            error.pointer = error.pointer.replace("_seconds", "");
        }
        problem
    })?;
    let view = |window: figures::Window| WindowView {
        from: window.from.into(),
        to: window.to.into(),
        summary: (&window.summary).into(),
    };
    Ok(Json(Listing { data: found.into_iter().map(view).collect(), next_cursor: None }))
}

/// Which days, and which page.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct QualityQuery {
    /// The first day; thirty days up to the last if it is not said.
    #[param(inline)]
    from: Option<Day>,
    /// The last day, today if it is not said.
    #[param(inline)]
    to: Option<Day>,
    /// How many, 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// `next_cursor` of the page before, of the same list.
    cursor: Option<String>,
}

/// What is unusual about an hour of a day.
#[derive(Serialize, ToSchema)]
pub struct AnomalyView {
    /// Of the day, 0 to 23.
    pub hour: i32,
    #[schema(example = "temperature")]
    pub metric: String,
    #[schema(example = "high")]
    pub kind: String,
    pub value: f64,
    pub score: f64,
    pub reason: String,
}

impl From<Anomaly> for AnomalyView {
    fn from(anomaly: Anomaly) -> Self {
        AnomalyView {
            hour: anomaly.hour,
            metric: anomaly.metric,
            kind: anomaly.kind,
            value: anomaly.value,
            score: anomaly.score,
            reason: anomaly.reason,
        }
    }
}

/// How far a sensor's day can be trusted.
#[derive(Serialize, ToSchema)]
pub struct DayQualityView {
    pub date: Day,
    pub measurement_count: i64,
    /// 0 to 1.
    #[schema(example = 0.98)]
    pub quality: Option<f64>,
    pub outlier_count: i64,
    pub anomalies_detected: i32,
    pub anomalies: Vec<AnomalyView>,
    /// Somebody should go and look.
    pub maintenance_required: bool,
    pub maintenance_reason: Option<String>,
}

impl From<DailyData> for DayQualityView {
    fn from(mut day: DailyData) -> Self {
        DayQualityView {
            date: day.date_bucket.into(),
            measurement_count: day.measurement_count,
            quality: day.data_quality_score.map(figures::from_decimal),
            outlier_count: day.outlier_count,
            anomalies_detected: day.anomalies_detected,
            anomalies: day.anomalies.into_iter().map(Into::into).collect(),
            maintenance_required: day.maintenance_required,
            maintenance_reason: day.summary_metadata.remove("maintenance_reason"),
        }
    }
}

/// How far a sensor can be trusted, day by day, the newest first
#[utoipa::path(get, path = "/v1/admin/telemetry/{sensor_id}/quality", tag = "admin: telemetry",
    params(("sensor_id" = Uuid, Path, description = "The sensor"), QualityQuery),
    responses((status = 200, description = "The days on which anything was measured", body = Listing<DayQualityView>), (status = 304, description = "As the client has it")))]
pub async fn list_days(
    visit: Visit,
    Path(sensor): Path<SensorId>,
    Query(query): Query<QualityQuery>,
) -> Result<Json<Listing<DayQualityView>>, Problem> {
    let ctx = &visit.ctx;
    let paging = Paging { limit: query.limit, cursor: query.cursor };
    let start = |day: Option<Day>| day.map(|Day(date)| Time(date.start()));
    let Turn { from, to, page } = Turn::of(&visit, (start(query.from), start(query.to)), 29, &paging)?;
    telemetry::get_sensor(ctx, sensor).await?;
    let mut found = telemetry::list_days(ctx, sensor, (from.date(), to.date()), page).await?;
    found.next = found.next.map(|next| Turn::next(from, to, &next));
    Ok(Json(visit.listing(found, DayQualityView::from)))
}

/// Of which time, and which page.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct HoursQuery {
    /// Thirty days before `to` if it is not said.
    #[param(inline)]
    from: Option<Time>,
    /// Not part of it; now if it is not said.
    #[param(inline)]
    to: Option<Time>,
    /// How many, 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// `next_cursor` of the page before, of the same list.
    cursor: Option<String>,
}

/// How far a sensor's hour can be trusted, and why.
#[derive(Serialize, ToSchema)]
pub struct HourQualityView {
    /// Where it begins.
    pub hour: Time,
    pub measurement_count: i64,
    /// 0 to 1.
    #[schema(example = 0.98)]
    pub quality: Option<f64>,
    /// What it is made of, each 0 to 1: completeness, continuity, plausibility, liveliness.
    pub quality_parts: BTreeMap<String, f64>,
    pub outlier_count: i64,
    /// The largest of them: `at`, `metric`, `value`, `reason`.
    pub outliers: Vec<BTreeMap<String, String>>,
    /// How many of the measurements came after the raw ones had begun to go.
    pub late_count: i64,
    pub metrics: BTreeMap<String, ValuesView>,
}

impl From<HourlyData> for HourQualityView {
    fn from(hour: HourlyData) -> Self {
        HourQualityView {
            hour: hour.hour_bucket.into(),
            measurement_count: hour.measurement_count,
            quality: hour.data_quality_score.map(figures::from_decimal),
            quality_parts: hour.quality_parts,
            outlier_count: hour.outlier_count,
            outliers: hour.outliers,
            late_count: hour.late_count,
            metrics: hour.metrics.iter().map(|(name, values)| (name.clone(), (&values.summary()).into())).collect(),
        }
    }
}

/// How far a sensor can be trusted, hour by hour, the newest first
#[utoipa::path(get, path = "/v1/admin/telemetry/{sensor_id}/quality/hours", tag = "admin: telemetry",
    params(("sensor_id" = Uuid, Path, description = "The sensor"), HoursQuery),
    responses((status = 200, description = "The hours in which anything was measured", body = Listing<HourQualityView>), (status = 304, description = "As the client has it")))]
pub async fn list_hours(
    visit: Visit,
    Path(sensor): Path<SensorId>,
    Query(query): Query<HoursQuery>,
) -> Result<Json<Listing<HourQualityView>>, Problem> {
    let ctx = &visit.ctx;
    let paging = Paging { limit: query.limit, cursor: query.cursor };
    let Turn { from, to, page } = Turn::of(&visit, (query.from, query.to), 30, &paging)?;
    telemetry::get_sensor(ctx, sensor).await?;
    let mut found = telemetry::list_hours(ctx, sensor, (from, to), page).await?;
    found.next = found.next.map(|next| Turn::next(from, to, &next));
    Ok(Json(visit.listing(found, HourQualityView::from)))
}
