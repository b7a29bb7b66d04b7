//! How sensors are now, and how their hours and days were.

use std::{ops::Bound, sync::Arc};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use widerow::{Date, Page, Timestamp};

use super::{sensors::find_sensors, series::check_span};
use crate::{
    check::{Check, Invalid},
    context::Context,
    id::SensorId,
    limits,
    pattern::PageRequest,
    telemetry::{
        bucket::{self, HOUR_SECONDS},
        error::{Error, Result},
        tables::{DailyData, HourlyData, RawMeasurement, Sensor},
    },
};

/// Sensors that are asked side by side.
const AT_ONCE: usize = 8;
/// Hours of a sparkline.
const HOURS: usize = 24;

/// How a sensor is.
#[derive(Clone, Debug, PartialEq)]
pub struct Latest {
    pub sensor_id: SensorId,
    /// The newest of this hour and the one before; older ones are seen in the hours.
    pub last: Option<RawMeasurement>,
    /// The last hours that are over and have any, the oldest first; at most 24, none older than two days.
    pub hours: Vec<HourlyData>,
    /// How many measurements are missing since the last one that is known; none where it is not known.
    pub missing: Option<u64>,
}

/// T7: the newest measurement and the last hours of each of the sensors, in their order; of a retired one too. Four
/// partitions a sensor.
pub async fn latest(ctx: &Context, sensors: &[SensorId]) -> Result<Vec<Latest>> {
    if sensors.len() > limits::LATEST_SENSORS_MAX {
        let (size, limit) = (sensors.len(), limits::LATEST_SENSORS_MAX);
        return Err(Error::TooLarge { what: "sensors of one answer", size, limit });
    }
    let known = find_sensors(ctx, sensors).await?;
    let one = |(sensor, known): (&SensorId, Option<Arc<Sensor>>)| {
        let sensor = *sensor;
        async move {
            let known = known.ok_or(Error::SensorNotFound { sensor })?;
            latest_of(ctx, sensor, known.interval_seconds).await
        }
    };
    stream::iter(sensors.iter().zip(known)).map(one).buffered(AT_ONCE).try_collect().await
}

async fn latest_of(ctx: &Context, sensor: SensorId, interval_seconds: u32) -> Result<Latest> {
    let now = ctx.now();
    let newest = |hour: i64| ctx.store.slice::<RawMeasurement>((sensor, hour)).limit(1).page();
    let hour = bucket::hour_of(now);
    // A clock that is a little ahead may have begun the next hour already; its measurements are soon in this one.
    let (here, before) = futures::try_join!(newest(hour), newest(hour - HOUR_SECONDS))?;
    let last = here.rows.into_iter().chain(before.rows).next();
    let since = Bound::Included(now.plus_seconds(-2 * 24 * HOUR_SECONDS));
    let slice = ctx.store.slice::<HourlyData>(sensor).from(since).reverse();
    let mut hours = slice.limit(HOURS).page().await?.rows;
    hours.reverse();
    let last_at = match (&last, hours.last()) {
        (Some(last), _) => Some(last.measurement_time),
        // Somewhere in the hour: at its end, in favour of the sensor.
        (None, Some(hour)) => Some(hour.hour_bucket.plus_seconds(HOUR_SECONDS)),
        (None, None) => None,
    };
    let missing = last_at.map(|at| {
        let silent = (now.millis() - at.millis()).max(0) / (i64::from(interval_seconds.max(1)) * 1_000);
        u64::try_from(silent).unwrap_or(0)
    });
    Ok(Latest { sensor_id: sensor, last, hours, missing })
}

/// T5: the days of a sensor with their quality and anomalies, the newest first.
pub async fn list_days(
    ctx: &Context,
    sensor: SensorId,
    (first, last): (Date, Date),
    page: PageRequest,
) -> Result<Page<DailyData>> {
    page.check()?;
    let mut check = Check::new();
    check.that(first.in_range() && last.in_range(), "from", "days lie in the years 0000 to 9999");
    check.that(first <= last, "to", "it is before `from`");
    check.end()?;
    let slice = ctx.store.slice::<DailyData>(sensor).from(Bound::Included(first)).to(Bound::Included(last));
    Ok(slice.reverse().limit(page.limit).after(page.cursor).page().await?)
}

/// One day of a sensor, if anything was measured on it.
pub async fn find_day(ctx: &Context, sensor: SensorId, date: Date) -> Result<Option<DailyData>> {
    if !date.in_range() {
        return Err(Invalid::new("date", "days lie in the years 0000 to 9999").into());
    }
    Ok(ctx.store.get::<DailyData>((sensor, date)).await?)
}

/// T4: the hours of a sensor with their quality and outliers, the newest first.
pub async fn list_hours(
    ctx: &Context,
    sensor: SensorId,
    (from, to): (Timestamp, Timestamp),
    page: PageRequest,
) -> Result<Page<HourlyData>> {
    page.check()?;
    check_span(from, to)?;
    let slice = ctx.store.slice::<HourlyData>(sensor).from(Bound::Included(from)).to(Bound::Excluded(to));
    Ok(slice.reverse().limit(page.limit).after(page.cursor).page().await?)
}
