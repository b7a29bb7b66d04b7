//! Sensors: registered, changed, found, retired.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use widerow::{Commit, Page};

use crate::{
    check::Check,
    context::Context,
    id::SensorId,
    limits,
    pattern::PageRequest,
    telemetry::{
        error::{Error, Result},
        figures,
        tables::{Metric, Sensor, SensorByName},
    },
};

/// A sensor as it is registered.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSensor {
    /// Chosen by whoever registers it, so that the same again is the same; or a new one.
    pub sensor_id: Option<SensorId>,
    pub name: String,
    pub kind: String,
    pub location: Option<String>,
    pub metrics: BTreeMap<String, Metric>,
    pub interval_seconds: u32,
}

/// What is to be another; None: as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SensorChange {
    pub name: Option<String>,
    pub kind: Option<String>,
    /// An empty text takes it away.
    pub location: Option<String>,
    pub metrics: Option<BTreeMap<String, Metric>>,
    pub interval_seconds: Option<u32>,
}

/// Registers a sensor. The same one again, under its id, changes nothing; another one under the same id is refused.
pub async fn register_sensor(ctx: &Context, new: NewSensor) -> Result<Sensor> {
    let now = ctx.now();
    let sensor = Sensor {
        sensor_id: new.sensor_id.unwrap_or_else(|| SensorId(ctx.new_id())),
        name: new.name,
        kind: new.kind,
        location: new.location,
        metrics: new.metrics,
        interval_seconds: new.interval_seconds,
        created_at: now,
        updated_at: now,
        retired_at: None,
        revision: 1,
    };
    check(&sensor)?;
    let commit = Commit::new().absent::<Sensor>(sensor.sensor_id).put(&sensor);
    match ctx.store.commit(commit).await {
        Ok(_) => Ok(sensor),
        Err(widerow::Error::Conflict(conflict)) => match conflict.rows_of::<Sensor>().pop() {
            Some(known) if is_same(&known, &sensor) => Ok(known),
            _ => Err(Error::SensorExists { sensor: sensor.sensor_id }),
        },
        Err(error) => Err(error.into()),
    }
}

/// Makes a sensor as it was elsewhere: since when, how often changed, and retired or not. One that is there is left as it is.
/// Whether it was made.
pub async fn restore_sensor(ctx: &Context, sensor: Sensor) -> Result<bool> {
    check(&sensor)?;
    let mut counted = Check::new();
    counted.revision("revision", sensor.revision);
    counted.end()?;
    let made = ctx.store.commit(Commit::new().absent::<Sensor>(sensor.sensor_id).put(&sensor)).await;
    match made {
        Ok(_) => Ok(true),
        Err(widerow::Error::Conflict(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn is_same(a: &Sensor, b: &Sensor) -> bool {
    (&a.name, &a.kind, &a.location, &a.metrics, a.interval_seconds)
        == (&b.name, &b.kind, &b.location, &b.metrics, b.interval_seconds)
}

/// Changes a sensor; with `revision`, only if it is still at that one.
pub async fn update_sensor(
    ctx: &Context,
    sensor: SensorId,
    revision: Option<i64>,
    change: SensorChange,
) -> Result<Sensor> {
    write(ctx, sensor, revision, |known| {
        let location = match change.location.clone() {
            Some(location) => Some(location).filter(|location| !location.is_empty()),
            None => known.location.clone(),
        };
        Sensor {
            name: change.name.clone().unwrap_or_else(|| known.name.clone()),
            kind: change.kind.clone().unwrap_or_else(|| known.kind.clone()),
            location,
            metrics: change.metrics.clone().unwrap_or_else(|| known.metrics.clone()),
            interval_seconds: change.interval_seconds.unwrap_or(known.interval_seconds),
            ..known
        }
    })
    .await
}

/// From now on its measurements are refused; what it has measured stays. Another process may take some for ten seconds more.
pub async fn retire_sensor(ctx: &Context, sensor: SensorId) -> Result<Sensor> {
    let now = ctx.now();
    write(ctx, sensor, None, |known| Sensor { retired_at: known.retired_at.or(Some(now)), ..known }).await
}

async fn write(
    ctx: &Context,
    sensor: SensorId,
    revision: Option<i64>,
    mut change: impl FnMut(Sensor) -> Sensor,
) -> Result<Sensor> {
    let now = ctx.now();
    let changed = ctx.store.update::<Sensor, Error>(sensor, None, |known| {
        let known = known.ok_or(Error::SensorNotFound { sensor })?;
        if revision.is_some_and(|revision| revision != known.revision) {
            return Err(Error::SensorChanged { sensor });
        }
        let revision = known.revision + 1;
        let new = Sensor { updated_at: now, revision, ..change(known) };
        check(&new)?;
        Ok(Some(new))
    });
    let changed = changed.await;
    ctx.telemetry.forget_sensor(ctx.store.tenant(), sensor);
    changed?.ok_or(Error::SensorNotFound { sensor })
}

/// T1.
pub async fn get_sensor(ctx: &Context, sensor: SensorId) -> Result<Sensor> {
    ctx.store.get::<Sensor>(sensor).await?.ok_or(Error::SensorNotFound { sensor })
}

/// T2: by name, retired ones too.
pub async fn list_sensors(ctx: &Context, page: PageRequest) -> Result<Page<SensorByName>> {
    page.check()?;
    let slice = ctx.store.slice::<SensorByName>(SensorByName::ALL).limit(page.limit).after(page.cursor);
    Ok(slice.page().await?)
}

/// One for each, if it is there, remembered or read.
pub(in crate::telemetry) async fn find_sensors(ctx: &Context, wanted: &[SensorId]) -> Result<Vec<Option<Arc<Sensor>>>> {
    let (now, tenant) = (ctx.now(), ctx.store.tenant());
    let mut found = ctx.telemetry.sensors(tenant, wanted.iter().copied(), now);
    let unknown = wanted.iter().zip(&found).filter(|(_, found)| found.is_none());
    let unknown: BTreeSet<SensorId> = unknown.map(|(sensor, _)| *sensor).collect();
    if unknown.is_empty() {
        return Ok(found);
    }
    let unknown: Vec<SensorId> = unknown.into_iter().collect();
    let mut read = HashMap::new();
    for some in unknown.chunks(widerow::limits::GET_KEYS_MAX) {
        for sensor in ctx.store.get_many::<Sensor>(some.iter().copied()).await?.into_iter().flatten() {
            let sensor = Arc::new(sensor);
            ctx.telemetry.keep_sensor(tenant, sensor.clone(), now);
            read.insert(sensor.sensor_id, sensor);
        }
    }
    for (sensor, found) in wanted.iter().zip(&mut found) {
        *found = found.take().or_else(|| read.get(sensor).cloned());
    }
    Ok(found)
}

fn check(sensor: &Sensor) -> Result<()> {
    let mut check = Check::new();
    check.line("name", &sensor.name, 1..=limits::LINE_BYTES_MAX);
    check.line("kind", &sensor.kind, 1..=limits::LINE_BYTES_MAX);
    check.optional_line("location", sensor.location.as_deref(), limits::LINE_BYTES_MAX);
    check.count("metrics", sensor.metrics.len(), limits::METRICS_A_SENSOR_MAX);
    let most = figures::limits::INTERVAL_MS_MAX / 1_000;
    let problem = format!("{} is not 1 to {most} seconds", sensor.interval_seconds);
    check.that((1..=most).contains(&i64::from(sensor.interval_seconds)), "interval_seconds", problem);
    for (name, metric) in &sensor.metrics {
        let field = format!("metrics/{}", crate::text::cut(name, limits::METRIC_NAME_BYTES_MAX));
        check_metric_name(&mut check, &field, name);
        check.optional_line(&format!("{field}/unit"), metric.unit.as_deref(), limits::LINE_BYTES_MAX);
        for (bound, value) in [("min", metric.min), ("max", metric.max)] {
            let good = value.is_none_or(|value| value.is_finite() && value.abs() <= figures::limits::VALUE_MAX);
            let problem = format!("it is no number of at most {:e}", figures::limits::VALUE_MAX);
            check.that(good, format!("{field}/{bound}"), problem);
        }
        if let (Some(min), Some(max)) = (metric.min, metric.max) {
            check.that(min <= max, format!("{field}/max"), "it is less than the least");
        }
    }
    Ok(check.end()?)
}

/// Letters, digits and `_`, a letter first: such a name stands in the keys of maps and in addresses.
fn check_metric_name(check: &mut Check, field: &str, name: &str) {
    if name.len() > limits::METRIC_NAME_BYTES_MAX {
        let problem = format!("its name has {} bytes, the limit is {}", name.len(), limits::METRIC_NAME_BYTES_MAX);
        return check.refuse(field, problem);
    }
    let good = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    check.that(good, field, "a metric's name is lower-case letters, digits and '_', a letter first");
}
