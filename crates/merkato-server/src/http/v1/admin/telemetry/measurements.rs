//! Measurements come in: one, or many with an answer for each.

use std::collections::BTreeMap;

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use merkato::{
    id::{MeasurementId, SensorId},
    limits,
    telemetry::{self, NewMeasurement},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::http::{FieldProblem, Json, Path, Problem, Visit, read_value, wire::Time};

/// What a sensor says.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MeasurementBody {
    /// Not before 1970, and not more than some minutes ahead of the server's clock.
    #[schema(value_type = Time)]
    measurement_time: Time,
    /// By which it is known when it comes again; without one it follows from the sensor, the time and the values.
    measurement_id: Option<Uuid>,
    #[schema(example = 3.9)]
    temperature: Option<f64>,
    #[schema(example = 81.5)]
    humidity: Option<f64>,
    #[schema(example = 1013.2)]
    pressure: Option<f64>,
    /// Any further metric that the sensor was registered with.
    #[serde(default)]
    metrics: BTreeMap<String, f64>,
    /// At most ten entries.
    #[serde(default)]
    metadata: BTreeMap<String, String>,
}

impl MeasurementBody {
    fn measurement(self, sensor_id: SensorId) -> NewMeasurement {
        NewMeasurement {
            sensor_id,
            measurement_time: self.measurement_time.0,
            measurement_id: self.measurement_id.map(MeasurementId),
            temperature: self.temperature,
            humidity: self.humidity,
            pressure: self.pressure,
            metrics: self.metrics,
            metadata: self.metadata,
        }
    }
}

/// Many measurements.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MeasurementBatch {
    /// At most 10,000, and as many as fit the largest body.
    // As they are: one that is no measurement at all is refused by itself.
    #[schema(value_type = Vec<MeasurementBody>, max_items = 10000)]
    measurements: Vec<Value>,
}

/// One measurement, or many. It is there for the document: a body is told apart by its fields.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum Measurements {
    One(MeasurementBody),
    Many(MeasurementBatch),
}

/// What became of one measurement.
#[derive(Serialize, ToSchema)]
pub struct MeasurementResult {
    /// Its place among those that were sent, from nought.
    pub index: usize,
    /// 201, or the status that it would have been refused with by itself.
    #[schema(example = 201)]
    pub status: u16,
    /// Its own, or the one that follows from what it says; null where it was refused.
    pub measurement_id: Option<Uuid>,
    /// Why it was refused, as the code of a problem. Who finds a 5xx's code here sends the measurement again.
    #[schema(example = "in_future")]
    pub code: Option<String>,
    pub detail: Option<String>,
    /// Each field that is wrong.
    pub errors: Vec<FieldProblem>,
}

/// What became of measurements.
#[derive(Serialize, ToSchema)]
pub struct MeasurementResults {
    /// How many are stored now.
    pub accepted: usize,
    pub refused: usize,
    /// One for each measurement, in their order.
    pub results: Vec<MeasurementResult>,
}

/// Send measurements of a sensor, one or many
///
/// In any order, new or late. Of many, one that is refused takes no other along, and the answer is 200; one that is sent alone
/// is refused as a problem. The same again is the same measurement.
#[utoipa::path(post, path = "/v1/admin/telemetry/{sensor_id}/measurements", tag = "admin: telemetry",
    params(("sensor_id" = Uuid, Path, description = "The sensor")), request_body = Measurements,
    responses((status = 200, description = "What became of each of many", body = MeasurementResults),
        (status = 201, description = "The one is stored", body = MeasurementResults)))]
pub async fn take_measurements(
    visit: Visit,
    Path(sensor): Path<SensorId>,
    Json(body): Json<Value>,
) -> Result<Response, Problem> {
    if body.get("measurements").is_none() {
        return one(&visit, sensor, body).await;
    }
    let batch: MeasurementBatch = read_value(body)?;
    let (size, limit) = (batch.measurements.len(), limits::MEASUREMENTS_TOGETHER_MAX);
    if size > limit {
        return Err(telemetry::Error::TooLarge { what: "measurements of one call", size, limit }.into());
    }
    // A wrong address is one mistake, not ten thousand.
    telemetry::get_sensor(&visit.ctx, sensor).await?;
    let (mut places, mut good) = (Vec::with_capacity(size), Vec::with_capacity(size));
    let mut results: Vec<Option<MeasurementResult>> = Vec::with_capacity(size);
    for (index, value) in batch.measurements.into_iter().enumerate() {
        match read_value::<MeasurementBody>(value) {
            Ok(body) => {
                places.push(index);
                good.push(body.measurement(sensor));
                results.push(None);
            }
            Err(problem) => results.push(Some(refused(index, problem))),
        }
    }
    for (index, answer) in places.into_iter().zip(telemetry::ingest(&visit.ctx, good).await?) {
        results[index] = Some(match answer {
            Ok(accepted) => stored(index, accepted),
            Err(error) => refused(index, problem_of(error)),
        });
    }
    let results: Vec<MeasurementResult> = results.into_iter().flatten().collect();
    let accepted = results.iter().filter(|result| result.measurement_id.is_some()).count();
    Ok(Json(MeasurementResults { accepted, refused: results.len() - accepted, results }).into_response())
}

async fn one(visit: &Visit, sensor: SensorId, body: Value) -> Result<Response, Problem> {
    let body: MeasurementBody = read_value(body)?;
    let mut answers = telemetry::ingest(&visit.ctx, vec![body.measurement(sensor)]).await?;
    let answer = answers.pop().ok_or_else(|| Problem::internal("a measurement had no answer"))?;
    let results = vec![stored(0, answer.map_err(problem_of)?)];
    Ok((StatusCode::CREATED, Json(MeasurementResults { accepted: 1, refused: 0, results })).into_response())
}

/// A refusal with the place of what is wrong.
fn problem_of(error: telemetry::Error) -> Problem {
    let pointer = match &error {
        telemetry::Error::BeforeTime { .. } | telemetry::Error::InFuture { .. } => "/measurement_time".to_owned(),
        telemetry::Error::UnknownMetric { metric, .. } => {
            format!("/metrics/{}", metric.replace('~', "~0").replace('/', "~1"))
        }
        _ => return error.into(),
    };
    let detail = error.to_string();
    Problem { errors: vec![FieldProblem { pointer, detail }], ..error.into() }
}

fn stored(index: usize, accepted: telemetry::Accepted) -> MeasurementResult {
    MeasurementResult {
        index,
        status: StatusCode::CREATED.as_u16(),
        measurement_id: Some(accepted.measurement_id.0),
        code: None,
        detail: None,
        errors: Vec::new(),
    }
}

fn refused(index: usize, problem: Problem) -> MeasurementResult {
    if let Some(cause) = &problem.cause {
        tracing::warn!(index, code = problem.code, cause, "a measurement was not stored");
    }
    let mut errors = problem.errors;
    for error in &mut errors {
        error.pointer = format!("/measurements/{index}{}", error.pointer);
    }
    MeasurementResult {
        index,
        status: problem.status.as_u16(),
        measurement_id: None,
        code: Some(problem.code.to_owned()),
        detail: Some(problem.detail).filter(|detail| !detail.is_empty()),
        errors,
    }
}
