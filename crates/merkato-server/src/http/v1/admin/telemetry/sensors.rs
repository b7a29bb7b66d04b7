//! Sensors: registered, changed, listed, retired.

use std::collections::BTreeMap;

use axum::response::Response;
use merkato::{
    id::SensorId,
    telemetry::{self, Metric, NewSensor, Sensor, SensorByName, SensorChange},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::super::created;
use crate::http::{
    Json, Path, Problem, Query, Visit,
    conditional::{IfMatch, Tagged},
    operation::Operation,
    wire::{Listing, Paging, Time},
};

/// What is known of a metric.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(as = SensorMetric)]
#[serde(deny_unknown_fields)]
pub struct MetricView {
    #[schema(example = "°C", max_length = 200)]
    pub unit: Option<String>,
    /// The least that can be true: what is below is an outlier.
    #[schema(example = -30.0)]
    pub min: Option<f64>,
    /// The most that can be true.
    #[schema(example = 40.0)]
    pub max: Option<f64>,
}

impl From<Metric> for MetricView {
    fn from(metric: Metric) -> Self {
        MetricView { unit: metric.unit, min: metric.min, max: metric.max }
    }
}

impl From<MetricView> for Metric {
    fn from(view: MetricView) -> Self {
        Metric { unit: view.unit, min: view.min, max: view.max }
    }
}

/// A sensor.
#[derive(Serialize, ToSchema)]
pub struct SensorView {
    pub sensor_id: Uuid,
    #[schema(example = "Cold store 1")]
    pub name: String,
    /// A word of the shop's own.
    #[schema(example = "cold_store")]
    pub kind: String,
    #[schema(example = "Berlin")]
    pub location: Option<String>,
    /// What it measures, with what can be true. Temperature, humidity and pressure may always be measured.
    pub metrics: BTreeMap<String, MetricView>,
    /// Seconds between two measurements, where all is well.
    #[schema(example = 60)]
    pub interval_seconds: u32,
    pub created_at: Time,
    pub updated_at: Time,
    /// From then on its measurements are refused.
    pub retired_at: Option<Time>,
    /// Counts the changes.
    pub revision: i64,
}

impl From<Sensor> for SensorView {
    fn from(sensor: Sensor) -> Self {
        SensorView {
            sensor_id: sensor.sensor_id.0,
            name: sensor.name,
            kind: sensor.kind,
            location: sensor.location,
            metrics: sensor.metrics.into_iter().map(|(name, metric)| (name, metric.into())).collect(),
            interval_seconds: sensor.interval_seconds,
            created_at: sensor.created_at.into(),
            updated_at: sensor.updated_at.into(),
            retired_at: sensor.retired_at.map(Time),
            revision: sensor.revision,
        }
    }
}

fn tagged(sensor: Sensor) -> Tagged<Json<SensorView>> {
    Tagged { revision: sensor.revision, view: Json(sensor.into()) }
}

/// A sensor as the list shows it.
#[derive(Serialize, ToSchema)]
pub struct SensorCard {
    pub sensor_id: Uuid,
    #[schema(example = "Cold store 1")]
    pub name: String,
    #[schema(example = "cold_store")]
    pub kind: String,
    #[schema(example = "Berlin")]
    pub location: Option<String>,
    #[schema(example = 60)]
    pub interval_seconds: u32,
    pub retired_at: Option<Time>,
}

impl From<SensorByName> for SensorCard {
    fn from(row: SensorByName) -> Self {
        SensorCard {
            sensor_id: row.sensor_id.0,
            name: row.name,
            kind: row.kind,
            location: row.location,
            interval_seconds: row.interval_seconds,
            retired_at: row.retired_at.map(Time),
        }
    }
}

/// A sensor as it should be.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SensorBody {
    #[schema(example = "Cold store 1", min_length = 1, max_length = 200)]
    name: String,
    #[schema(example = "cold_store", min_length = 1, max_length = 200)]
    kind: String,
    #[schema(example = "Berlin", min_length = 1, max_length = 200)]
    location: Option<String>,
    /// By name: lower-case letters, digits and `_`, a letter first; at most 24. One that is not here cannot be sent, but for
    /// temperature, humidity and pressure.
    #[serde(default)]
    metrics: BTreeMap<String, MetricView>,
    /// Seconds between two measurements, where all is well.
    #[schema(example = 60, minimum = 1, maximum = 31622400)]
    interval_seconds: u32,
}

/// A sensor to be registered.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSensorBody {
    /// Chosen by whoever registers it, so that the same again is the same; a new one if it is not said.
    sensor_id: Option<Uuid>,
    #[schema(example = "Cold store 1", min_length = 1, max_length = 200)]
    name: String,
    #[schema(example = "cold_store", min_length = 1, max_length = 200)]
    kind: String,
    #[schema(example = "Berlin", min_length = 1, max_length = 200)]
    location: Option<String>,
    /// By name: lower-case letters, digits and `_`, a letter first; at most 24. One that is not here cannot be sent, but for
    /// temperature, humidity and pressure.
    #[serde(default)]
    metrics: BTreeMap<String, MetricView>,
    /// Seconds between two measurements, where all is well.
    #[schema(example = 60, minimum = 1, maximum = 31622400)]
    interval_seconds: u32,
}

fn metrics(views: BTreeMap<String, MetricView>) -> BTreeMap<String, Metric> {
    views.into_iter().map(|(name, view)| (name, view.into())).collect()
}

/// Register a sensor
///
/// The same again under its id is the same sensor; another one under that id is refused.
#[utoipa::path(post, path = "/v1/admin/telemetry", tag = "admin: telemetry", request_body = NewSensorBody,
    responses((status = 201, description = "The sensor", body = SensorView,
        headers(("Location" = String, description = "Where it is"), ("ETag" = String, description = "For If-Match")))))]
pub async fn register_sensor(
    visit: Visit,
    operation: Operation,
    Json(body): Json<NewSensorBody>,
) -> Result<Response, Problem> {
    let new = NewSensor {
        sensor_id: Some(SensorId(body.sensor_id.unwrap_or(operation.id))),
        name: body.name,
        kind: body.kind,
        location: body.location,
        metrics: metrics(body.metrics),
        interval_seconds: body.interval_seconds,
    };
    let sensor = telemetry::register_sensor(&visit.ctx, new).await?;
    Ok(created(&format!("/v1/admin/telemetry/{}/sensor", sensor.sensor_id), tagged(sensor)))
}

/// Sensors, by name
#[utoipa::path(get, path = "/v1/admin/telemetry", tag = "admin: telemetry", params(Paging),
    responses((status = 200, description = "A page of them", body = Listing<SensorCard>), (status = 304, description = "As the client has it")))]
pub async fn list_sensors(visit: Visit, Query(paging): Query<Paging>) -> Result<Json<Listing<SensorCard>>, Problem> {
    let found = telemetry::list_sensors(&visit.ctx, visit.page(&paging)?).await?;
    Ok(Json(visit.listing(found, SensorCard::from)))
}

/// A sensor
#[utoipa::path(get, path = "/v1/admin/telemetry/{sensor_id}/sensor", tag = "admin: telemetry",
    params(("sensor_id" = Uuid, Path, description = "The sensor")),
    responses((status = 200, description = "The sensor", body = SensorView), (status = 304, description = "As the client has it")))]
pub async fn get_sensor(visit: Visit, Path(sensor): Path<SensorId>) -> Result<Tagged<Json<SensorView>>, Problem> {
    Ok(tagged(telemetry::get_sensor(&visit.ctx, sensor).await?))
}

/// Change a sensor
///
/// What is absent is taken away. What it has measured stays as it is; what is plausible is asked of the next roll-up on.
#[utoipa::path(put, path = "/v1/admin/telemetry/{sensor_id}/sensor", tag = "admin: telemetry", request_body = SensorBody,
    params(("sensor_id" = Uuid, Path, description = "The sensor"),
        ("If-Match" = Option<String>, Header, description = "The ETag that the change rests upon")),
    responses((status = 200, description = "The sensor as it is now", body = SensorView,
        headers(("ETag" = String, description = "For If-Match")))))]
pub async fn change_sensor(
    visit: Visit,
    Path(sensor): Path<SensorId>,
    IfMatch(expected): IfMatch,
    Json(body): Json<SensorBody>,
) -> Result<Tagged<Json<SensorView>>, Problem> {
    // An empty one would be taken for none.
    if body.location.as_deref() == Some("") {
        return Err(Problem::field("invalid", "/location", "it is empty"));
    }
    let change = SensorChange {
        name: Some(body.name),
        kind: Some(body.kind),
        location: Some(body.location.unwrap_or_default()),
        metrics: Some(metrics(body.metrics)),
        interval_seconds: Some(body.interval_seconds),
    };
    Ok(tagged(telemetry::update_sensor(&visit.ctx, sensor, expected, change).await?))
}

/// Retire a sensor
///
/// Its measurements are refused from then on; what it has measured stays. One that is retired stays so.
#[utoipa::path(post, path = "/v1/admin/telemetry/{sensor_id}/retire", tag = "admin: telemetry",
    params(("sensor_id" = Uuid, Path, description = "The sensor")),
    responses((status = 200, description = "The sensor as it is now", body = SensorView)))]
pub async fn retire_sensor(visit: Visit, Path(sensor): Path<SensorId>) -> Result<Tagged<Json<SensorView>>, Problem> {
    Ok(tagged(telemetry::retire_sensor(&visit.ctx, sensor).await?))
}
