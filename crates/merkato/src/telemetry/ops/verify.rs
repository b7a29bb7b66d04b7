//! Are roll-ups what their measurements say? Hours and days that follow from `sensor_days` are compared by the data layer; here
//! `sensor_days` itself is, with the raw measurements that are there.

use std::collections::{BTreeMap, BTreeSet};

use widerow::Date;

use super::roll_up::{Mode, roll_day};
use crate::{
    context::Context,
    id::SensorId,
    telemetry::{
        bucket,
        error::Result,
        tables::{FIGURES, Mark, RawMeasurement, SensorDay},
    },
};

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifiedRolls {
    /// Hours of sensors that were looked at: those with raw measurements and without a mark.
    pub hours: u64,
    /// Days of sensors whose figures are not what the raw measurements say.
    pub differences: Vec<(SensorId, Date)>,
    pub mended: u64,
}

/// Compares every hour that has raw measurements, and that nobody is about to roll up, with its figures; with `repair`, makes
/// them anew. The shop may go on meanwhile: an hour with a mark is not looked at.
pub async fn verify_rolls(ctx: &Context, repair: bool) -> Result<VerifiedRolls> {
    let mut hours: BTreeMap<(SensorId, Date), BTreeSet<i64>> = BTreeMap::new();
    let settings = &ctx.settings.telemetry;
    let now = ctx.now();
    let closed = |hour: i64| bucket::is_closed(hour, now, settings);
    ctx.for_each_row::<RawMeasurement>(|row| {
        if closed(row.time_bucket) {
            hours.entry((row.sensor_id, bucket::day_of(row.time_bucket))).or_default().insert(row.time_bucket);
        }
    })
    .await?;
    // Figures without any measurement that is left are as good as they were; those that should have some are looked at.
    ctx.for_each_row::<SensorDay>(|row| {
        if row.part == FIGURES {
            let of_day = row.hours.iter().map(|hour| bucket::hour_of(bucket::hour_of_day(row.date, hour.hour)));
            let whole = of_day.filter(|hour| closed(*hour) && bucket::is_whole(*hour, now, settings));
            hours.entry((row.sensor_id, row.date)).or_default().extend(whole);
        }
    })
    .await?;
    let mut found = VerifiedRolls::default();
    for ((sensor, date), hours) in hours {
        let marked = marked(ctx, sensor, &hours).await?;
        let hours: BTreeMap<i64, Vec<Mark>> =
            hours.into_iter().filter(|hour| !marked.contains(hour)).map(|hour| (hour, Vec::new())).collect();
        if hours.is_empty() {
            continue;
        }
        found.hours += hours.len() as u64;
        if roll_hours(ctx, sensor, date, hours.clone(), Mode::Look).await? == 0 {
            continue;
        }
        // A measurement may have come after the marks were looked at.
        let asked: BTreeSet<i64> = hours.keys().copied().collect();
        if !self::marked(ctx, sensor, &asked).await?.is_empty() {
            continue;
        }
        found.differences.push((sensor, date));
        if repair {
            roll_hours(ctx, sensor, date, hours, Mode::Write).await?;
            found.mended += 1;
        }
    }
    Ok(found)
}

/// All of the hours, however many measurements they have; how many of them changed.
async fn roll_hours(
    ctx: &Context,
    sensor: SensorId,
    date: Date,
    mut hours: BTreeMap<i64, Vec<Mark>>,
    mode: Mode,
) -> Result<u64> {
    let mut changed = 0;
    while !hours.is_empty() {
        let rolled = roll_day(ctx, sensor, date, hours.clone(), mode).await?;
        changed += rolled.report.changed;
        hours.retain(|hour, _| !rolled.taken.contains(hour));
    }
    Ok(changed)
}

/// Which of the hours have a mark.
async fn marked(ctx: &Context, sensor: SensorId, hours: &BTreeSet<i64>) -> Result<BTreeSet<i64>> {
    let shard = super::ingest::mark_shard(sensor);
    let mut found = BTreeSet::new();
    for hour in hours {
        let slice = ctx.store.slice::<Mark>(shard).prefix((*hour, sensor)).limit(1);
        if !slice.page().await?.rows.is_empty() {
            found.insert(*hour);
        }
    }
    Ok(found)
}
