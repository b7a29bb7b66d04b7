//! Registers the sensors and has them measure: a month at first, later what has come since, so that a demo that was left for some
//! days goes on as if it had run.

use std::collections::BTreeSet;

use merkato::{
    Context, PageRequest, limits,
    telemetry::{self, RollLimits, Sensor},
};
use widerow::{Date, Timestamp};

use crate::demo::{
    DAY_SECONDS,
    furniture::Size,
    sensors::{self, PLACES},
};

/// Measures up to now.
pub async fn measure(ctx: &Context, seed: u64, size: Size) -> anyhow::Result<()> {
    let now = ctx.now();
    let days = sensors::days(size);
    let mut due = Vec::new();
    for place in &PLACES {
        // Its beginning is kept by the first start. Somebody may have changed it since.
        let sensor = match telemetry::register_sensor(ctx, place.sensor(seed)).await {
            Err(telemetry::Error::SensorExists { sensor }) => telemetry::get_sensor(ctx, sensor).await?,
            registered => registered?,
        };
        if sensor.retired_at.is_some() {
            continue;
        }
        let first = sensor.created_at.plus_seconds(-days * DAY_SECONDS);
        let from = known_until(ctx, &sensor, now).await?.unwrap_or(first);
        // What nobody would see any more is left out.
        let from = from.max(now.plus_seconds(-days * DAY_SECONDS)).max(first);
        due.extend(place.measurements(seed, (from, Timestamp::from_millis(now.millis() + 1)), sensor.created_at));
    }
    // ORDER: day by day, as each is compared with those before it.
    let dates: BTreeSet<Date> = due.iter().map(|one| one.measurement_time.date()).collect();
    due.sort_by_key(|one| one.measurement_time);
    for date in dates {
        let of_day = due.iter().filter(|one| one.measurement_time.date() == date).cloned().collect::<Vec<_>>();
        for some in of_day.chunks(limits::MEASUREMENTS_TOGETHER_MAX) {
            for answer in telemetry::ingest(ctx, some.to_vec()).await? {
                match answer {
                    // Somebody took the metric away, or retired it a moment ago.
                    Err(telemetry::Error::UnknownMetric { .. } | telemetry::Error::SensorRetired { .. }) => {}
                    answer => _ = answer?,
                }
            }
        }
        telemetry::roll_up(ctx, RollLimits::default(), |_| {}).await?;
    }
    Ok(())
}

/// Up to when a sensor has measured; a little less where that is not known, as the same again is the same.
async fn known_until(ctx: &Context, sensor: &Sensor, now: Timestamp) -> anyhow::Result<Option<Timestamp>> {
    let latest = telemetry::latest(ctx, &[sensor.sensor_id]).await?;
    if let Some(last) = latest.into_iter().next().and_then(|latest| latest.last) {
        return Ok(Some(Timestamp::from_millis(last.measurement_time.millis() + 1)));
    }
    let today = now.date();
    let year = (Date::from_days(today.days() - 365), today);
    let days = telemetry::list_days(ctx, sensor.sensor_id, year, PageRequest::first(1)).await?;
    Ok(days.rows.first().map(|day| day.date_bucket.start()))
}
