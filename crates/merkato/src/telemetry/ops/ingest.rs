//! Measurements come in.
//!
//! 1. Each has an answer of its own; a bad one takes no other along.
//! 2. A measurement that is stored has a mark that was committed with it, or before it by the same process while its hour was
//!    open. So the roll-up of its hour is made, or made anew, after it.
//! 3. The same measurement again is the same row.

use std::collections::BTreeMap;

use futures::{StreamExt as _, stream};
use uuid::Uuid;
use widerow::{Commit, Timestamp, engine::Atomicity};

use super::{roll_up::find_seen, sensors::find_sensors};
use crate::{
    context::Context,
    id::{MeasurementId, SensorId},
    limits, shards,
    telemetry::{
        bucket,
        error::{Error, Result},
        measurement::{self, NewMeasurement},
        memory::SENSOR_MILLIS,
        roll::seen::print,
        tables::{MARK_SHARDS, Mark, RawMeasurement, Sensor},
    },
};

/// Commits of one call that are made side by side.
const AT_ONCE: usize = 4;
/// Bytes of one commit, with something to spare.
const COMMIT_BYTES: usize = widerow::limits::COMMIT_BYTES_MAX / 4 * 3;
/// What a mark takes.
const MARK_BYTES: usize = 64;

/// What became of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Its own, or the one that follows from what it says.
    pub measurement_id: MeasurementId,
}

/// Takes measurements, of one sensor or of many, in any order, new or late. An answer for each, in their order.
pub async fn ingest(ctx: &Context, measurements: Vec<NewMeasurement>) -> Result<Vec<Result<Accepted>>> {
    take(ctx, measurements, |sensor, _| measurement::check_in_service(sensor)).await
}

/// As `ingest`, of measurements that were taken elsewhere: a sensor that was retired since has measured until then.
pub async fn restore_measurements(ctx: &Context, measurements: Vec<NewMeasurement>) -> Result<Vec<Result<Accepted>>> {
    // What came in while it was not known everywhere yet, by a clock that may have been ahead.
    let late_seconds = i64::from(ctx.settings.telemetry.future_seconds) + SENSOR_MILLIS / 1_000;
    take(ctx, measurements, |sensor, new| match sensor.retired_at {
        Some(at) if new.measurement_time <= at.plus_seconds(late_seconds) => Ok(()),
        _ => measurement::check_in_service(sensor),
    })
    .await
}

async fn take(
    ctx: &Context,
    measurements: Vec<NewMeasurement>,
    check: impl Fn(&Sensor, &NewMeasurement) -> Result<()>,
) -> Result<Vec<Result<Accepted>>> {
    if measurements.len() > limits::MEASUREMENTS_TOGETHER_MAX {
        let (size, limit) = (measurements.len(), limits::MEASUREMENTS_TOGETHER_MAX);
        return Err(Error::TooLarge { what: "measurements of one call", size, limit });
    }
    let (mut answers, rows) = prepare_all(ctx, measurements, check).await?;
    store(ctx, rows, &mut answers).await;
    ctx.telemetry.tally.answered(&answers);
    Ok(answers)
}

/// The answers, with an error for each that was refused, and the rows of the others with their places among them.
async fn prepare_all(
    ctx: &Context,
    measurements: Vec<NewMeasurement>,
    check: impl Fn(&Sensor, &NewMeasurement) -> Result<()>,
) -> Result<(Vec<Result<Accepted>>, Vec<(usize, RawMeasurement)>)> {
    let wanted: Vec<SensorId> = measurements.iter().map(|new| new.sensor_id).collect();
    let sensors = find_sensors(ctx, &wanted).await?;
    let (now, settings) = (ctx.now(), &ctx.settings.telemetry);
    let mut answers = Vec::with_capacity(measurements.len());
    let mut rows = Vec::with_capacity(measurements.len());
    for (new, sensor) in measurements.into_iter().zip(sensors) {
        let row = match sensor {
            Some(sensor) => check(&sensor, &new).and_then(|()| measurement::prepare(new, &sensor, now, settings)),
            None => Err(Error::SensorNotFound { sensor: new.sensor_id }),
        };
        let place = answers.len();
        answers.push(row.map(|row| {
            let accepted = Accepted { measurement_id: row.measurement_id };
            rows.push((place, row));
            accepted
        }));
    }
    Ok((answers, rows))
}

/// Stores rows with their marks; puts the error of a commit into the answers of its rows.
async fn store(ctx: &Context, rows: Vec<(usize, RawMeasurement)>, answers: &mut [Result<Accepted>]) {
    // Rows of one partition go together, as engines like it; those of one hour need one mark. They are large: only where they
    // are is sorted, beside what they are sorted by.
    let key = |(at, (_, row)): (usize, &(usize, RawMeasurement))| (row.sensor_id, row.measurement_time, at);
    let mut keys: Vec<(SensorId, Timestamp, usize)> = rows.iter().enumerate().map(key).collect();
    keys.sort_unstable();
    let sorted: Vec<&(usize, RawMeasurement)> = keys.into_iter().map(|(.., at)| &rows[at]).collect();
    let bounds = Bounds::of(ctx);
    let mut writes = Vec::new();
    for chunk in bounds.split(&sorted) {
        writes.push(async move { (chunk, write(ctx, chunk, bounds.one_by_one).await) });
    }
    let mut written = stream::iter(writes).buffer_unordered(AT_ONCE);
    while let Some((chunk, result)) = written.next().await {
        if let Err(error) = result {
            tracing::warn!(tenant = %ctx.store.tenant(), rows = chunk.len(), %error, "measurements were not stored");
            chunk.iter().for_each(|(place, _)| answers[*place] = Err(error.clone().into()));
        }
    }
}

/// What goes into one step of the engine, so that a measurement is never seen long after its mark.
#[derive(Clone, Copy)]
struct Bounds {
    writes: usize,
    bytes: usize,
    /// Rows of one step may be seen one after the other.
    one_by_one: bool,
}

impl Bounds {
    fn of(ctx: &Context) -> Self {
        let (writes, bytes) = match ctx.store.database().engine().abilities().atomicity {
            Atomicity::Everything => (widerow::limits::COMMIT_WRITES_MAX, COMMIT_BYTES),
            Atomicity::Rows { rows, bytes } => (rows, bytes),
            Atomicity::Partition { unguarded_rows, unguarded_bytes } => (unguarded_rows, unguarded_bytes),
        };
        let one_by_one = !ctx.store.shows_commits_whole();
        let writes = writes.clamp(2, widerow::limits::COMMIT_WRITES_MAX);
        Bounds { writes, bytes: bytes.min(COMMIT_BYTES), one_by_one }
    }

    /// In order; each with room for a mark of every hour in it.
    fn split<'r>(self, rows: &'r [&'r (usize, RawMeasurement)]) -> Vec<&'r [&'r (usize, RawMeasurement)]> {
        let mut chunks = Vec::new();
        let (mut start, mut writes, mut bytes, mut last) = (0, 0, 0, None);
        for (at, (_, row)) in rows.iter().enumerate() {
            let hour = Some((row.sensor_id, row.time_bucket));
            let size = row.bytes();
            let marks = usize::from(last != hour);
            last = hour;
            (writes, bytes) = (writes + 1 + marks, bytes + size + marks * MARK_BYTES);
            if at > start && (writes > self.writes || bytes > self.bytes) {
                chunks.push(&rows[start..at]);
                (start, writes, bytes) = (at, 2, size + MARK_BYTES);
            }
        }
        if start < rows.len() {
            chunks.push(&rows[start..]);
        }
        chunks
    }
}

/// One commit: the rows, those of one hour together, and a mark for each hour that this process has not marked while it is open.
///
/// RACE: an hour may close while its rows are on their way without a mark of their own. Then its roll-up may be over before
/// they are there, and they are marked behind it.
async fn write(ctx: &Context, rows: &[&(usize, RawMeasurement)], one_by_one: bool) -> widerow::Result<()> {
    let (now, tenant) = (ctx.now(), ctx.store.tenant());
    let kept_seconds = u32::try_from(ctx.settings.telemetry.raw_kept_seconds()).unwrap_or(u32::MAX);
    let mut hours: Vec<(SensorId, i64)> = rows.iter().map(|(_, row)| (row.sensor_id, row.time_bucket)).collect();
    hours.dedup();
    let known = ctx.telemetry.marks(tenant, hours.iter().copied(), now);
    // The hours of the rows, in their order, each with its mark and whether that is a new one.
    let token = |known: Option<Uuid>| known.map_or_else(|| (ctx.new_id(), true), |token| (token, false));
    let hours: Vec<_> = hours.into_iter().zip(known.into_iter().map(token)).collect();
    let mut commit = Commit::with_room(rows.len() + hours.len());
    if one_by_one {
        let mut of_rows = hours.iter().peekable();
        for (_, row) in rows {
            let hour = (row.sensor_id, row.time_bucket);
            while of_rows.next_if(|(next, _)| *next != hour).is_some() {}
            let mark = of_rows.peek().map(|(_, (token, _))| *token);
            commit = commit.put_for(&RawMeasurement { mark, ..row.clone() }, kept_seconds);
        }
    } else {
        commit = commit.put_each_for(rows.iter().map(|(_, row)| row), kept_seconds);
    }
    let placed = || hours.iter().filter(|(_, (_, is_new))| *is_new);
    for ((sensor, hour), (token, _)) in placed() {
        commit = commit.put(&mark(*sensor, *hour, *token, now));
    }
    ctx.store.commit(commit).await?;
    let then = ctx.now();
    ctx.telemetry.keep_marks(tenant, placed().map(|((sensor, hour), (token, _))| (*sensor, *hour, *token)), then);
    let closed = hours.iter().filter(|((_, hour), (_, is_new))| !is_new && then >= bucket::end_of(*hour));
    let marks: Vec<Mark> = closed.map(|((sensor, hour), _)| mark(*sensor, *hour, ctx.new_id(), then)).collect();
    if !marks.is_empty() {
        ctx.store.commit(marks.iter().fold(Commit::new(), Commit::put)).await?;
    }
    Ok(())
}

fn mark(sensor_id: SensorId, hour: i64, token: Uuid, marked_at: Timestamp) -> Mark {
    Mark { shard: mark_shard(sensor_id), hour, sensor_id, token, marked_at }
}

pub(super) fn mark_shard(sensor: SensorId) -> u32 {
    shards::of(sensor.0.as_bytes(), MARK_SHARDS)
}

/// Which of the measurements are known already: as rows that say the same, or in the figures of their hours where the rows are
/// gone. One that would be refused is not known, unless it is because its sensor was retired since.
pub async fn find_known(ctx: &Context, measurements: Vec<NewMeasurement>) -> Result<Vec<bool>> {
    let mut known = vec![false; measurements.len()];
    let (_, rows) = prepare_all(ctx, measurements, |_, _| Ok(())).await?;
    let mut gone: BTreeMap<(SensorId, i64), Vec<&(usize, RawMeasurement)>> = BTreeMap::new();
    for some in rows.chunks(widerow::limits::GET_KEYS_MAX) {
        let keys =
            some.iter().map(|(_, row)| (row.sensor_id, row.time_bucket, row.measurement_time, row.measurement_id));
        let found = ctx.store.get_many::<RawMeasurement>(keys).await?;
        for (entry, found) in some.iter().zip(found) {
            let (place, row) = entry;
            match found {
                Some(found) => known[*place] = RawMeasurement { mark: None, ..found } == *row,
                None => gone.entry((row.sensor_id, row.time_bucket)).or_default().push(entry),
            }
        }
    }
    let hours: Vec<(SensorId, i64)> = gone.keys().copied().collect();
    // A part has up to 115 KiB of digests.
    for some in hours.chunks(100) {
        for (hour, seen) in some.iter().zip(find_seen(ctx, some).await?) {
            for (place, row) in gone.get(hour).into_iter().flatten().copied() {
                known[*place] = seen.knows(print(row.measurement_time, row.measurement_id));
            }
        }
    }
    Ok(known)
}
