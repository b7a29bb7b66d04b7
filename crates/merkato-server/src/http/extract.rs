//! What a handler takes: `Json`, `Path` and `Query` as axum has them, with refusals that are problems.

use axum::{
    extract::{FromRequest, FromRequestParts, OptionalFromRequest, Request, rejection::PathRejection},
    response::{IntoResponse, Response},
};
use http::{HeaderValue, header, request::Parts};
use serde::{Serialize, de::DeserializeOwned};

use super::{body::Gathered, problem::Problem};

/// A body of JSON, in and out. What comes in has no fields that nobody knows, if its type says `deny_unknown_fields`, as all
/// do.
#[derive(Clone, Debug)]
pub struct Json<T>(pub T);

/// The variables of the path.
#[derive(Clone, Debug)]
pub struct Path<T>(pub T);

/// The query.
#[derive(Clone, Debug)]
pub struct Query<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let media_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if !media_type.is_some_and(is_json) {
            return Err(Problem::new("unsupported_media_type", "the Content-Type must be application/json"));
        }
        // The body was gathered, within its limits, before the handler's turn.
        let Some(Gathered(bytes)) = request.extensions().get::<Gathered>() else {
            return Err(Problem::internal("the body was not gathered"));
        };
        parse(bytes).map(Json)
    }
}

/// A body that may be left out.
impl<S: Send + Sync, T: DeserializeOwned> OptionalFromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Option<Self>, Problem> {
        match request.extensions().get::<Gathered>() {
            Some(Gathered(bytes)) if bytes.is_empty() => Ok(None),
            _ => <Self as FromRequest<S>>::from_request(request, state).await.map(Some),
        }
    }
}

fn is_json(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json") || essence.eq_ignore_ascii_case("application/merge-patch+json")
}

/// A value, and where it ceases to be one. How deep it may be nested is serde_json's limit of 128.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut json).map_err(refusal)?;
    json.end().map_err(|error| Problem::new("bad_json", error.to_string()))?;
    Ok(value)
}

/// A part of a body that is judged by itself.
pub fn read_value<T: DeserializeOwned>(value: serde_json::Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(value).map_err(refusal)
}

fn refusal(error: serde_path_to_error::Error<serde_json::Error>) -> Problem {
    let pointer = pointer(error.path());
    let inner = error.into_inner();
    if inner.is_data() {
        // Where it stands in the text is of no use to whoever sent a value.
        let text = inner.to_string();
        let detail = text.rsplit_once(" at line ").map_or(text.as_str(), |(detail, _)| detail);
        return Problem::field("invalid", pointer, detail);
    }
    Problem::new("bad_json", inner.to_string())
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let segment = |segment: &Segment| match segment {
        Segment::Seq { index } => format!("/{index}"),
        Segment::Map { key } => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        Segment::Enum { variant } => format!("/{variant}"),
        Segment::Unknown => String::new(),
    };
    path.iter().map(segment).collect()
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(bytes) => {
                let json = HeaderValue::from_static("application/json");
                ([(header::CONTENT_TYPE, json)], bytes).into_response()
            }
            Err(error) => Problem::internal(error).into_response(),
        }
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match axum::extract::Path::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(value)) => Ok(Path(value)),
            Err(PathRejection::FailedToDeserializePathParams(error)) => {
                Err(Problem::new("bad_path", error.body_text()))
            }
            Err(error) => Err(Problem::internal(error)),
        }
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        // What is no text would otherwise be read as text with other characters in its place.
        let query = parts.uri.query().unwrap_or_default().as_bytes();
        if percent_encoding::percent_decode(query).decode_utf8().is_err() {
            return Err(Problem::new("bad_query", "it is not UTF-8"));
        }
        match axum::extract::Query::from_request_parts(parts, state).await {
            Ok(axum::extract::Query(value)) => Ok(Query(value)),
            Err(error) => Err(Problem::new("bad_query", error.body_text())),
        }
    }
}
