//! Roll-ups: what marks name is made anew, and the marks go.
//!
//! 1. Marks are read before the raw measurements, and exactly those that were read are removed, in the commit that has the new
//!    figures. A measurement that comes later has a later mark.
//! 2. The figures of a day change at the version at which the raw measurements were read, or not at all: of two who roll up
//!    the same, one begins anew.
//! 3. An hour that fails is left with its marks, and the others go on.
//! 4. A day that was judged before it was over is judged once more when it is: until then its last hour has a mark, whether
//!    or not anything comes.
//!
//! RACE: where an engine shows the rows of one step one after the other, a mark may be seen before its measurements. There a
//! mark goes only with a measurement that carries it, or when it has been there for an hour.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use uuid::Uuid;
use widerow::{Commit, Date, Timestamp};

use super::{ingest::mark_shard, sensors::find_sensors};
use crate::{
    context::Context,
    id::SensorId,
    limits,
    telemetry::{
        bucket,
        error::Result,
        roll::{
            day::{self, Day},
            hour::Rolled,
            seen::{IDS_MAX, Seen},
        },
        tables::{FIGURES, HourlyData, MARK_SHARDS, Mark, RawMeasurement, SensorDay, ids_part},
    },
};

/// Sensors whose days are rolled up side by side.
const AT_ONCE: usize = 8;
/// Hours of one day whose raw measurements are read side by side.
const HOURS_AT_ONCE: usize = 4;
/// Marks that are read at once, and that one commit removes.
const MARKS_A_PAGE: usize = 1_000;
const MARKS_A_COMMIT: usize = 400;
/// Digests that one commit writes: they are most of its bytes.
const DIGESTS_A_COMMIT: usize = 4 * IDS_MAX;
/// Tries at a day that others write too, before it is left to the next round.
const TRIES_MAX: usize = 10;
/// Where rows are seen one after the other: how old a mark is before it is looked at, and before it goes without a proof.
const YOUNG_SECONDS: i64 = 30;
const PROVEN_SECONDS: i64 = 3_600;
/// Where no transaction takes many rows.
const PLAIN_DELETES: usize = 25;

/// How much is done in one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RollLimits {
    /// Hours of sensors.
    pub hours_max: u64,
}

impl Default for RollLimits {
    fn default() -> Self {
        RollLimits { hours_max: 100_000 }
    }
}

/// What was rolled up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RollReport {
    /// Marks that are gone.
    pub marks: u64,
    /// Hours of sensors that were looked at.
    pub hours: u64,
    /// Hours whose figures changed.
    pub changed: u64,
    /// Days of sensors with such hours.
    pub days: u64,
    /// Measurements that were counted for the first time.
    pub measurements: u64,
    /// Measurements that were not counted, as their hour has more than are told apart, or than are looked at.
    pub left_out: u64,
    /// Days of sensors that failed and are left to the next round; the log says why.
    pub failed: u64,
    /// Marks that are left for their age, where rows are seen one after the other: what they stand for may not be seen yet.
    pub waiting: u64,
    /// When the last of them is old enough, if no measurement shows before that it can go.
    pub waits_until: Option<Timestamp>,
    /// Whether it stopped at a limit and there is more to be done at once.
    pub more: bool,
}

impl RollReport {
    fn add(&mut self, other: RollReport) {
        self.marks += other.marks;
        self.hours += other.hours;
        self.changed += other.changed;
        self.days += other.days;
        self.measurements += other.measurements;
        self.left_out += other.left_out;
        self.failed += other.failed;
        self.waiting += other.waiting;
        self.waits_until = self.waits_until.max(other.waits_until);
        self.more |= other.more;
    }

    fn wait(&mut self, until: Timestamp) {
        self.waiting += 1;
        self.waits_until = self.waits_until.max(Some(until));
    }
}

/// Rolls up every hour that is over and has measurements that were not rolled up. It may be stopped at any point, and run in
/// any number of processes.
pub async fn roll_up(
    ctx: &Context,
    limits: RollLimits,
    mut on_progress: impl FnMut(&RollReport),
) -> Result<RollReport> {
    let mut report = RollReport::default();
    for shard in 0..MARK_SHARDS {
        let mut cursor = None;
        loop {
            let last = bucket::last_closed(ctx.now(), &ctx.settings.telemetry);
            let slice = ctx.store.slice::<Mark>(shard).to(Bound::Included(last));
            let page = slice.limit(MARKS_A_PAGE).after(cursor.take()).page().await?;
            let (sensors, left) = group(ctx, page.rows);
            report.add(left);
            let mut rolled =
                stream::iter(sensors).map(|(sensor, days)| roll_sensor(ctx, sensor, days)).buffer_unordered(AT_ONCE);
            while let Some(one) = rolled.next().await {
                ctx.telemetry.tally.rolled(&one);
                report.add(one);
                on_progress(&report);
            }
            drop(rolled);
            cursor = page.next;
            if cursor.is_some() && report.hours >= limits.hours_max {
                report.more = true;
                return Ok(report);
            }
            if cursor.is_none() {
                break;
            }
        }
        if report.hours >= limits.hours_max && shard + 1 < MARK_SHARDS {
            report.more = true;
            return Ok(report);
        }
    }
    Ok(report)
}

/// The days of one sensor, one after the other: each is compared with those before it.
async fn roll_sensor(ctx: &Context, sensor: SensorId, days: BTreeMap<Date, Hours>) -> RollReport {
    let mut report = RollReport::default();
    for (date, hours) in days {
        let asked = hours.len() as u64;
        match roll_day(ctx, sensor, date, hours, Mode::Write).await {
            Ok(one) => report.add(one.report),
            Err(error) => {
                tracing::warn!(tenant = %ctx.store.tenant(), %sensor, %date, %error, "a day was not rolled up");
                report.add(RollReport { hours: asked, failed: 1, ..RollReport::default() });
            }
        }
    }
    report
}

type Hours = BTreeMap<i64, Vec<Mark>>;

/// Marks by sensor and day, as many as one commit removes; and what is left. Those that are too young to be looked at are left to
/// a later round.
fn group(ctx: &Context, marks: Vec<Mark>) -> (BTreeMap<SensorId, BTreeMap<Date, Hours>>, RollReport) {
    let now = ctx.now();
    let one_by_one = !ctx.store.shows_commits_whole();
    let mut left = RollReport::default();
    let mut sensors: BTreeMap<SensorId, BTreeMap<Date, Hours>> = BTreeMap::new();
    for mark in marks {
        let old_enough = mark.marked_at.plus_seconds(YOUNG_SECONDS);
        if one_by_one && old_enough > now {
            left.wait(old_enough);
            continue;
        }
        let days = sensors.entry(mark.sensor_id).or_default();
        days.entry(bucket::day_of(mark.hour)).or_default().entry(mark.hour).or_default().push(mark);
    }
    for hours in sensors.values_mut().flat_map(BTreeMap::values_mut) {
        // Each hour has its share, so that one that is marked again and again keeps no other waiting.
        let share = MARKS_A_COMMIT / hours.len().max(1);
        for marks in hours.values_mut() {
            left.more |= marks.len() > share;
            marks.truncate(share);
        }
    }
    (sensors, left)
}

/// Whether what differs is written, or only found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Write,
    Look,
}

/// What was made of a day, and of which of the hours that were asked for: at least one, not all if they have too many
/// measurements for one commit.
pub(super) struct RolledDay {
    pub report: RollReport,
    pub taken: BTreeSet<i64>,
}

/// The hours of one day of a sensor, and the day.
pub(super) async fn roll_day(
    ctx: &Context,
    sensor_id: SensorId,
    date: Date,
    hours: Hours,
    mode: Mode,
) -> Result<RolledDay> {
    let sensor = find_sensors(ctx, &[sensor_id]).await?.pop().flatten();
    let settings = &ctx.settings.telemetry;
    for _ in 0..TRIES_MAX {
        // ORDER: the version, then the raw measurements, then the commit at this version. The marks were read before.
        let (_, version) = ctx.store.get_versioned::<SensorDay>((sensor_id, date, FIGURES)).await?;
        let raw = read_hours(ctx, sensor_id, hours.keys().copied()).await?;
        let history = history(ctx, sensor_id, date).await?;
        let day_end = day_end(sensor_id, date, ctx.now());
        let gone: BTreeMap<i64, Vec<&Mark>> = removable(ctx, &hours, &raw, day_end.token);
        let parts = std::iter::once(FIGURES).chain(hours.keys().map(|hour| ids_part(bucket::within_day(*hour))));
        let now = ctx.now();
        let rolled = ctx.store.guarded_prefixes::<SensorDay, _, crate::telemetry::Error>(
            (sensor_id, date),
            parts,
            |partition| {
                if partition.version != version {
                    return Ok((Commit::new(), None));
                }
                let mut day = Day::new(sensor_id, date, &partition.rows, now);
                let mut report = RollReport { more: raw.len() < hours.len(), ..RollReport::default() };
                let (mut digests, mut taken) = (0, BTreeSet::new());
                for (hour, RawHour { rows: raw, beyond }) in &raw {
                    digests += raw.len().min(IDS_MAX) + day.seen(*hour).late.len();
                    if digests > DIGESTS_A_COMMIT && !taken.is_empty() {
                        report.more = true;
                        break;
                    }
                    taken.insert(*hour);
                    report.hours += 1;
                    report.left_out += beyond;
                    let whole = bucket::is_whole(*hour, now, settings);
                    let asked = day::Asked { hour: *hour, raw, sensor: sensor.as_deref(), whole, settings };
                    if let Some(Rolled { added, left_out, .. }) = day.roll(&asked)? {
                        report.changed += u64::from(day.has_changed(*hour));
                        report.measurements += added;
                        report.left_out += left_out;
                    }
                }
                day.judge(sensor.as_deref(), &history, bucket::last_closed(now, settings))?;
                let rows = day.changed_rows();
                report.days = u64::from(!rows.is_empty());
                let marks: Vec<&Mark> =
                    gone.iter().filter(|(hour, _)| taken.contains(hour)).flat_map(|(_, marks)| marks.clone()).collect();
                report.marks = marks.len() as u64;
                let looked_at = hours.iter().filter(|(hour, _)| taken.contains(hour)).flat_map(|(_, marks)| marks);
                for kept in looked_at.filter(|mark| !marks.contains(mark)) {
                    report.wait(kept.marked_at.plus_seconds(PROVEN_SECONDS));
                }
                let mut commit = Commit::new();
                if mode == Mode::Write && !rows.is_empty() {
                    commit = rows.iter().fold(commit, Commit::put);
                    commit = marks.iter().fold(commit, |commit, mark| commit.delete::<Mark>(mark.key()));
                    if !bucket::is_closed(day_end.hour, now, settings) {
                        commit = commit.put(&day_end);
                    }
                    return Ok((commit, Some((RolledDay { report, taken }, Vec::new()))));
                }
                let left: Vec<Mark> = marks.into_iter().cloned().collect();
                Ok((commit, Some((RolledDay { report, taken }, left))))
            },
        );
        if let Some((rolled, left)) = rolled.await? {
            if mode == Mode::Write {
                remove(ctx, &left).await?;
            }
            return Ok(rolled);
        }
    }
    let table = "sensor_days".to_owned();
    Err(widerow::Error::Contended { table, tries: TRIES_MAX as u32 }.into())
}

/// The mark that brings a day back once it is over. It has one token, so that however often it is placed there is one.
fn day_end(sensor_id: SensorId, date: Date, marked_at: Timestamp) -> Mark {
    let token = Uuid::new_v5(&sensor_id.0, date.to_string().as_bytes());
    let hour = bucket::hour_of(bucket::hour_of_day(date, 23));
    Mark { shard: mark_shard(sensor_id), hour, sensor_id, token, marked_at }
}

/// Marks whose measurements were seen and have changed nothing.
async fn remove(ctx: &Context, marks: &[Mark]) -> Result<()> {
    for some in marks.chunks(PLAIN_DELETES) {
        let commit = some.iter().fold(Commit::new(), |commit, mark| commit.delete::<Mark>(mark.key()));
        ctx.store.commit(commit).await?;
    }
    Ok(())
}

/// The marks whose measurements are surely among the raw ones. That of the day's end stands for none.
fn removable<'m>(
    ctx: &Context,
    hours: &'m Hours,
    raw: &BTreeMap<i64, RawHour>,
    day_end: Uuid,
) -> BTreeMap<i64, Vec<&'m Mark>> {
    let old = ctx.now().plus_seconds(-PROVEN_SECONDS);
    let one_by_one = !ctx.store.shows_commits_whole();
    let of_hour = |(hour, marks): (&i64, &'m Vec<Mark>)| {
        let seen: BTreeSet<Uuid> =
            raw.get(hour).into_iter().flat_map(|raw| &raw.rows).filter_map(|row| row.mark).collect();
        let sure =
            |mark: &&Mark| !one_by_one || mark.token == day_end || seen.contains(&mark.token) || mark.marked_at <= old;
        (*hour, marks.iter().filter(sure).collect())
    };
    hours.iter().map(of_hour).collect()
}

/// The raw measurements of the first of these hours: as many as one commit has digests for, and the hour that is too much.
async fn read_hours(
    ctx: &Context,
    sensor: SensorId,
    hours: impl Iterator<Item = i64>,
) -> widerow::Result<BTreeMap<i64, RawHour>> {
    let read = |hour| async move { Ok::<_, widerow::Error>((hour, read_hour(ctx, sensor, hour).await?)) };
    let mut reads = stream::iter(hours).map(read).buffered(HOURS_AT_ONCE);
    let (mut found, mut digests) = (BTreeMap::new(), 0);
    while digests <= DIGESTS_A_COMMIT
        && let Some((hour, raw)) = reads.try_next().await?
    {
        digests += raw.rows.len().min(IDS_MAX);
        found.insert(hour, raw);
    }
    Ok(found)
}

/// The raw measurements of an hour.
#[derive(Default)]
struct RawHour {
    /// In the order of time.
    rows: Vec<RawMeasurement>,
    /// How many there are behind them, beyond what is looked at.
    beyond: u64,
}

async fn read_hour(ctx: &Context, sensor: SensorId, hour: i64) -> widerow::Result<RawHour> {
    let mut found = RawHour::default();
    let mut cursor = None;
    loop {
        let slice = ctx.store.slice::<RawMeasurement>((sensor, hour)).reverse();
        let page = slice.limit(widerow::limits::PAGE_ROWS_MAX).after(cursor).page().await?;
        let room = limits::RAW_ROWS_MAX - found.rows.len();
        found.beyond += page.rows.len().saturating_sub(room) as u64;
        found.rows.extend(page.rows.into_iter().take(room));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    if found.beyond > 0 {
        let (tenant, limit) = (ctx.store.tenant(), limits::RAW_ROWS_MAX);
        tracing::warn!(%tenant, %sensor, hour, beyond = found.beyond, limit, "measurements are left out of a roll-up");
    }
    Ok(found)
}

/// The hours of the days before: what a day is compared with.
async fn history(ctx: &Context, sensor: SensorId, date: Date) -> Result<Vec<HourlyData>> {
    let first = Date::from_days(date.days().saturating_sub(day::HISTORY_DAYS)).start();
    let slice = ctx.store.slice::<HourlyData>(sensor).from(Bound::Included(first)).to(Bound::Excluded(date.start()));
    Ok(slice.limit(day::HISTORY_DAYS as usize * 24).page().await?.rows)
}

/// Which measurements were counted in these hours.
pub(super) async fn find_seen(ctx: &Context, hours: &[(SensorId, i64)]) -> Result<Vec<Seen>> {
    let keys = hours.iter().map(|(sensor, hour)| (*sensor, bucket::day_of(*hour), ids_part(bucket::within_day(*hour))));
    let rows = ctx.store.get_many::<SensorDay>(keys).await?;
    Ok(rows.into_iter().map(|row| row.map(|row| day::seen_of(&row)).unwrap_or_default()).collect())
}
