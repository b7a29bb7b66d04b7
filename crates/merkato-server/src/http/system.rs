//! The server itself: whether it is there, whether it can work, what it has done, what it can do.

use std::{
    sync::{LazyLock, OnceLock},
    time::{Duration, Instant},
};

use axum::{
    body::Bytes,
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::{HeaderValue, header};
use merkato::{events, inventory, sales, telemetry};
use serde::Serialize;
use tokio::sync::Mutex;
use utoipa::ToSchema;

use super::{app::App, docs, extract::Json, headers::CSP_PAGE, problem::Problem, store_metrics};

/// How long the engine may take to say that it is there.
const READY_WITHIN: Duration = Duration::from_secs(15);
/// How long its answer holds.
const READY_FOR: Duration = Duration::from_secs(1);

/// How the server is.
#[derive(Serialize, ToSchema)]
pub struct Health {
    #[schema(example = "ok")]
    status: &'static str,
}

/// Whether the process is there
#[utoipa::path(get, path = "/healthz", tag = "system", responses((status = 200, description = "It is there", body = Health)))]
pub async fn healthz() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// Whether it can work: the engine answers, and its tables are as declared
#[utoipa::path(get, path = "/readyz", tag = "system", responses((status = 200, description = "It can work", body = Health)))]
pub async fn readyz(State(app): State<App>) -> Result<Json<Health>, Problem> {
    // Anyone may ask, as often as they like: those who ask while the engine is asked, or soon after, share its answer.
    let mut known = app.readiness().lock().await;
    let answer = match known.as_ref().filter(|(at, _)| at.elapsed() < READY_FOR) {
        Some((_, answer)) => answer.clone(),
        None => {
            let answer = is_ready(&app).await;
            *known = Some((Instant::now(), answer.clone()));
            answer
        }
    };
    let unready = |cause| Problem { cause: Some(cause), ..Problem::new("unavailable", "").retry_after(1) };
    answer.map(|()| Json(Health { status: "ok" })).map_err(unready)
}

/// When the engine was asked last, and what is wrong with it.
pub type Readiness = Mutex<Option<(Instant, Result<(), String>)>>;

async fn is_ready(app: &App) -> Result<(), String> {
    let compared = tokio::time::timeout(READY_WITHIN, app.database().compare()).await;
    let report = compared.map_err(|_| "the engine does not answer".to_owned())?;
    let report = report.map_err(|error| error.to_string())?;
    report.problems.first().map_or(Ok(()), |problem| Err(problem.to_string()))
}

/// What it has done, for Prometheus
#[utoipa::path(get, path = "/metrics", tag = "system",
    responses((status = 200, description = "The text format of Prometheus", body = String, content_type = "text/plain")))]
pub async fn metrics(State(app): State<App>) -> Response {
    let text = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    let ctx = app.ctx();
    let (holds, sales, telemetry) = (inventory::stats(ctx), sales::stats(ctx), telemetry::stats(ctx));
    let store = store_metrics::render(&app.database().stats(), &holds, &sales, &telemetry, &events::stats(ctx));
    ([(header::CONTENT_TYPE, text)], app.metrics().render() + &store).into_response()
}

/// This document
#[utoipa::path(get, path = "/openapi.json", tag = "system",
    responses((status = 200, description = "An OpenAPI document", body = Object)))]
pub async fn openapi(State(app): State<App>) -> Result<Response, Problem> {
    let made = &app.documents().openapi;
    let json = match made.get() {
        Some(json) => json,
        None => {
            let json = serde_json::to_vec(app.openapi()).map_err(Problem::internal)?;
            made.get_or_init(|| json.into())
        }
    };
    let media_type = HeaderValue::from_static("application/json");
    Ok(([(header::CONTENT_TYPE, media_type)], json.clone()).into_response())
}

/// The document in the forms in which it is asked for. Each is made once: it is the same for everybody, and large.
#[derive(Default)]
pub struct Documents {
    openapi: OnceLock<Bytes>,
    routes: OnceLock<Bytes>,
}

/// This document, for people
#[utoipa::path(get, path = "/docs", tag = "system",
    responses((status = 200, description = "A page", body = String, content_type = "text/html")))]
pub async fn docs(State(app): State<App>) -> Response {
    page(app.documents().routes.get_or_init(|| docs::routes(app.openapi()).into()).clone())
}

/// Every code of an error, for people
#[utoipa::path(get, path = "/docs/errors", tag = "system",
    responses((status = 200, description = "A page", body = String, content_type = "text/html")))]
pub async fn docs_errors() -> Response {
    static ERRORS: LazyLock<Bytes> = LazyLock::new(|| docs::errors().into());
    page(ERRORS.clone())
}

/// Its style stands in it, and is named in its policy by its hash; it has no script.
fn page(html: Bytes) -> Response {
    let policy = CSP_PAGE.replace("style-src 'self'", &format!("style-src '{}'", docs::style_hash()));
    let mut response = html.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    if let Ok(policy) = HeaderValue::try_from(policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}
