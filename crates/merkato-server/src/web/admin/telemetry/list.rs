//! All sensors by name, each with the last day as a line and how it is.

use askama::Template;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use merkato::{
    Context, PageRequest,
    id::SensorId,
    telemetry::{self, DailyData, Latest, SensorByName},
};
use widerow::{Date, Timestamp};

use super::{quantity, state::State, time, title};
use crate::{
    http::{Problem, Query, Visit},
    web::{
        Frame, Html,
        admin::desk::pager::{Pager, Turn},
        charts,
    },
};

/// Sensors whose days are read at once.
const AT_ONCE: usize = 8;
/// Hours of the line.
const HOURS: i64 = 24;
/// What varies by less is drawn as flat as it is: a cold store is no mountain.
const LEAST: f64 = 2.0;

struct SensorRow {
    path: String,
    name: String,
    location: String,
    kind: String,
    /// The metric that the line is of, and its last value with its time.
    metric: String,
    value: String,
    when: String,
    spark: String,
    state: State,
}

#[derive(Template)]
#[template(path = "admin/telemetry.html")]
pub struct Sensors {
    frame: Frame,
    rows: Vec<SensorRow>,
    pager: Pager,
}

pub async fn show(frame: Frame, visit: Visit, Query(turn): Query<Turn>) -> Result<Html<Sensors>, Problem> {
    let ctx = &visit.ctx;
    let found = telemetry::list_sensors(ctx, turn.page(&visit)?).await?;
    let pager = turn.pager(&visit, "/admin/telemetry", &[], found.next);
    let ids: Vec<SensorId> = found.rows.iter().map(|row| row.sensor_id).collect();
    let days = stream::iter(ids.clone()).map(|sensor| last_day(ctx, sensor)).buffered(AT_ONCE).try_collect::<Vec<_>>();
    let latest = async { telemetry::latest(ctx, &ids).await.map_err(Problem::from) };
    let (latest, days) = futures::try_join!(latest, days)?;
    let rows = found.rows.into_iter().zip(latest.iter().zip(&days));
    let rows = rows.map(|(row, (latest, day))| sensor_row(row, latest, day.as_ref(), ctx.now())).collect();
    Ok(Html(Sensors { frame, rows, pager }))
}

/// The newest of the last two days that has any figures.
pub(super) async fn last_day(ctx: &Context, sensor: SensorId) -> Result<Option<DailyData>, Problem> {
    let today = ctx.now().date();
    let days = (Date::from_days(today.days() - 1), today);
    Ok(telemetry::list_days(ctx, sensor, days, PageRequest::first(1)).await?.rows.into_iter().next())
}

/// What the line is of: the first of the columns that has any, else the first of all.
fn shown(latest: &Latest) -> Option<String> {
    let of_hours = latest.hours.iter().flat_map(|hour| hour.metrics.keys());
    let of_last = latest.last.iter().flat_map(|last| last.values().map(|(name, _)| name.to_owned()));
    let all: Vec<String> = of_hours.cloned().chain(of_last).collect();
    let column = telemetry::COLUMNS.iter().find(|column| all.iter().any(|name| name == *column));
    column.map(|column| (*column).to_owned()).or_else(|| all.into_iter().next())
}

fn sensor_row(row: SensorByName, latest: &Latest, day: Option<&DailyData>, now: Timestamp) -> SensorRow {
    let metric = shown(latest).unwrap_or_default();
    // The list does not know the units that a sensor was registered with, but those that are usual.
    let unit = match metric.as_str() {
        "temperature" => "°C",
        "humidity" => "%",
        "pressure" => "hPa",
        _ => "",
    };
    let mean = |hour: &telemetry::HourlyData| hour.metrics.get(&metric)?.summary().mean();
    let last = latest.last.as_ref().and_then(|last| Some((last.value(&metric)?, last.measurement_time)));
    let last = last.or_else(|| {
        let hour = latest.hours.last()?;
        Some((mean(hour)?, hour.hour_bucket))
    });
    let hour_of = |at: Timestamp| at.millis().div_euclid(3_600_000);
    let newest = hour_of(now);
    let mut values: Vec<Option<f64>> = vec![None; HOURS as usize];
    for hour in &latest.hours {
        let ago = newest - hour_of(hour.hour_bucket);
        if (0..HOURS).contains(&ago) {
            values[(HOURS - 1 - ago) as usize] = mean(hour);
        }
    }
    // The hour that goes on has no figures yet, but a last value.
    if let Some((value, at)) = last.filter(|(_, at)| hour_of(*at) == newest) {
        let _ = at;
        values[(HOURS - 1) as usize] = Some(value);
    }
    let known: Vec<f64> = values.iter().flatten().copied().collect();
    let spark = match (known.iter().copied().reduce(f64::min), known.iter().copied().reduce(f64::max)) {
        (Some(low), Some(high)) => {
            let said = format!(
                "{} of {} in the last 24 hours: between {} and {}, in {} of 24 hours",
                title(&metric),
                row.name,
                quantity(low, unit),
                quantity(high, unit),
                known.len()
            );
            charts::sparkline_around(&said, &values, LEAST)
        }
        _ => String::new(),
    };
    SensorRow {
        path: format!("/admin/telemetry/{}", row.sensor_id),
        state: State::of(row.retired_at, latest, day, now),
        name: row.name,
        location: row.location.unwrap_or_default(),
        kind: title(&row.kind),
        value: last.map(|(value, _)| quantity(value, unit)).unwrap_or_default(),
        when: last.map(|(_, at)| time::ago(now.millis() - at.millis())).unwrap_or_default(),
        metric: if metric.is_empty() { String::new() } else { title(&metric) },
        spark,
    }
}
