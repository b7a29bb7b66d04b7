//! What goes wrong, as `application/problem+json` (RFC 9457). The one place where a refusal of the domain gets a status.
//!
//! A `Problem` travels as an extension of an empty answer; [`render`] writes its body last, when the request id is known and
//! nobody changes it any more.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use merkato::{
    Invalid, Kind, accounts, analytics, carts, catalog, events, flows, graph, hierarchy, inventory, keys, orders,
    payments, replies, sales, secrets, telemetry, wallets,
};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{codes, wire::Money};

/// Why a request was not done.
#[derive(Clone, Debug)]
pub struct Problem {
    pub status: StatusCode,
    pub code: &'static str,
    /// For the client. Of a 5xx nothing is shown.
    pub detail: String,
    pub errors: Vec<FieldProblem>,
    pub details: Option<Box<Details>>,
    /// That a stream has, where another was expected. Elsewhere in memory: problems are handed on, and should be small.
    pub version: Option<Box<i64>>,
    pub retry_after_seconds: Option<u32>,
    /// For the log alone.
    pub cause: Option<String>,
}

/// One field that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldProblem {
    /// A JSON pointer into the body, or a parameter's name after a slash.
    #[schema(example = "/addresses/0/city")]
    pub pointer: String,
    #[schema(example = "it is empty")]
    pub detail: String,
}

/// Why a cart is not ordered as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = ProblemDetails)]
pub struct Details {
    /// The checkout that came to nothing.
    pub checkout_id: Option<Uuid>,
    /// What the cart comes to now.
    pub total: Option<Money>,
    /// Prices that are not those at which the lines were put into the cart.
    pub price_changes: Vec<PriceChange>,
    /// Products of which there is not enough.
    pub shortages: Vec<Shortage>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PriceChange {
    pub line_id: Uuid,
    pub product_id: Uuid,
    pub was: Money,
    pub is: Money,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Shortage {
    pub product_id: Uuid,
    #[schema(example = 3)]
    pub wanted: i64,
    #[schema(example = 1)]
    pub available: i64,
}

/// An error, as RFC 9457 has it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemBody<'p> {
    /// The place in the documentation that explains the code.
    #[serde(rename = "type")]
    #[schema(example = "/docs/errors#product_not_found")]
    kind: String,
    #[schema(example = "There is no such product.")]
    title: &'p str,
    #[schema(example = 404)]
    status: u16,
    #[serde(skip_serializing_if = "str::is_empty")]
    detail: &'p str,
    /// What a program decides by.
    #[schema(example = "product_not_found")]
    code: &'p str,
    #[schema(example = "0199a1b2-0000-7000-8000-000000000000")]
    request_id: &'p str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    errors: &'p [FieldProblem],
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'p Details>,
    /// The version that a stream has, where another was expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i64>,
}

impl Problem {
    /// A problem of the server's own; the code decides the status.
    pub fn new(code: &'static str, detail: impl Into<String>) -> Self {
        Problem::with_kind(code, Kind::Internal, detail)
    }

    fn with_kind(code: &'static str, kind: Kind, detail: impl Into<String>) -> Self {
        let status = codes::find(code).map_or_else(|| status_of(kind), |known| known.status);
        Problem {
            status,
            code,
            detail: detail.into(),
            errors: Vec::new(),
            details: None,
            version: None,
            retry_after_seconds: None,
            cause: None,
        }
    }

    /// Nothing that the caller can do; the cause is logged.
    pub fn internal(cause: impl ToString) -> Self {
        Problem { cause: Some(cause.to_string()), ..Problem::new("internal", "") }
    }

    pub fn retry_after(self, seconds: u64) -> Self {
        let seconds = u32::try_from(seconds).unwrap_or(u32::MAX);
        Problem { retry_after_seconds: Some(seconds), ..self }
    }

    /// One field is wrong.
    pub fn field(code: &'static str, pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        let error = FieldProblem { pointer: pointer.into(), detail: detail.into() };
        Problem { errors: vec![error.clone()], ..Problem::new(code, error.detail) }
    }

    /// The same under another code, as `edited_meanwhile` becomes `precondition_failed`.
    pub fn recoded(self, code: &'static str) -> Self {
        Problem { status: Problem::new(code, "").status, code, ..self }
    }
}

fn status_of(kind: Kind) -> StatusCode {
    match kind {
        Kind::Invalid => StatusCode::BAD_REQUEST,
        Kind::NotFound => StatusCode::NOT_FOUND,
        Kind::Exists | Kind::Conflict | Kind::Refused => StatusCode::CONFLICT,
        Kind::Unauthenticated => StatusCode::UNAUTHORIZED,
        Kind::Forbidden => StatusCode::FORBIDDEN,
        Kind::Limit => StatusCode::UNPROCESSABLE_ENTITY,
        Kind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Kind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The code of what the data layer says, which has none of its own.
fn code_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Invalid => "invalid",
        Kind::NotFound => "not_found",
        Kind::Exists | Kind::Conflict | Kind::Refused | Kind::Limit => "conflict",
        Kind::Unauthenticated => "not_logged_in",
        Kind::Forbidden => "forbidden",
        Kind::Unavailable => "unavailable",
        Kind::Internal => "internal",
    }
}

/// What a client that was told to come later waits, unless the refusal says otherwise.
const RETRY_SECONDS: u32 = 1;

/// A refusal of the domain, as far as the outside sees it.
trait Refusal: std::error::Error {
    fn code(&self) -> &'static str;
    fn kind(&self) -> Kind;
    fn invalid(&self) -> Option<&Invalid>;
    fn wait_seconds(&self) -> Option<i64> {
        None
    }
}

fn problem_of(refusal: &dyn Refusal) -> Problem {
    let kind = refusal.kind();
    let code = match refusal.code() {
        "data" => code_of(kind),
        code => code,
    };
    let mut problem = Problem::with_kind(code, kind, refusal.to_string());
    if let Some(invalid) = refusal.invalid() {
        let error =
            |bad: &merkato::BadField| FieldProblem { pointer: format!("/{}", bad.field), detail: bad.problem.clone() };
        problem.errors = invalid.fields.iter().map(error).collect();
    }
    if problem.status.is_server_error() {
        problem.cause = Some(std::mem::take(&mut problem.detail));
    }
    let wait_seconds = refusal.wait_seconds();
    let later = matches!(problem.status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS);
    if later || wait_seconds.is_some() {
        let seconds = wait_seconds.and_then(|seconds| u32::try_from(seconds).ok());
        problem.retry_after_seconds = Some(seconds.unwrap_or(RETRY_SECONDS).max(1));
    }
    problem
}

macro_rules! refusals {
    ($($module:ident),* $(,)?) => {$(
        impl Refusal for $module::Error {
            fn code(&self) -> &'static str {
                $module::Error::code(self)
            }
            fn kind(&self) -> Kind {
                $module::Error::kind(self)
            }
            fn invalid(&self) -> Option<&Invalid> {
                match self {
                    $module::Error::Invalid(invalid) => Some(invalid),
                    _ => None,
                }
            }
        }

        impl From<$module::Error> for Problem {
            fn from(error: $module::Error) -> Self {
                problem_of(&error)
            }
        }
    )*};
}

refusals!(analytics, carts, catalog, graph, inventory, keys, orders, replies, sales, secrets, telemetry, wallets);

impl Refusal for accounts::Error {
    fn code(&self) -> &'static str {
        accounts::Error::code(self)
    }
    fn kind(&self) -> Kind {
        accounts::Error::kind(self)
    }
    fn invalid(&self) -> Option<&Invalid> {
        match self {
            accounts::Error::Invalid(invalid) => Some(invalid),
            _ => None,
        }
    }
    fn wait_seconds(&self) -> Option<i64> {
        match self {
            accounts::Error::TooManyAttempts { wait_seconds } => Some(*wait_seconds),
            _ => None,
        }
    }
}

impl Refusal for hierarchy::Error {
    fn code(&self) -> &'static str {
        hierarchy::Error::code(self)
    }
    fn kind(&self) -> Kind {
        hierarchy::Error::kind(self)
    }
    fn invalid(&self) -> Option<&Invalid> {
        match self {
            hierarchy::Error::Invalid(invalid) => Some(invalid),
            _ => None,
        }
    }
}

/// Where a node cannot stand is told of the field that says where it is to stand.
impl From<hierarchy::Error> for Problem {
    fn from(error: hierarchy::Error) -> Self {
        use hierarchy::Error;
        let mut problem = problem_of(&error);
        let pointer = match error {
            Error::NameTaken { .. } => "/name",
            Error::ParentNotFound { .. }
            | Error::Cycle { .. }
            | Error::TooDeep { .. }
            | Error::PathTooLong { .. }
            | Error::TooManyChildren { .. } => "/parent_id",
            Error::NodeExists { .. } => "/id",
            _ => return problem,
        };
        problem.errors = vec![FieldProblem { pointer: pointer.into(), detail: problem.detail.clone() }];
        problem
    }
}

impl Refusal for events::Error {
    fn code(&self) -> &'static str {
        events::Error::code(self)
    }
    fn kind(&self) -> Kind {
        events::Error::kind(self)
    }
    fn invalid(&self) -> Option<&Invalid> {
        match self {
            events::Error::Invalid(invalid) => Some(invalid),
            _ => None,
        }
    }
}

/// Who expected another version is told the one that there is.
impl From<events::Error> for Problem {
    fn from(error: events::Error) -> Self {
        use events::Error;
        let mut problem = problem_of(&error);
        let pointer = match error {
            Error::VersionConflict { found, .. } => {
                problem.version = Some(Box::new(found));
                "/expected_version"
            }
            Error::VersionNotFound { found, .. } => {
                problem.version = Some(Box::new(found));
                "/version"
            }
            Error::OtherKind { .. } | Error::Reserved { .. } => "/kind",
            _ => return problem,
        };
        problem.errors = vec![FieldProblem { pointer: pointer.into(), detail: problem.detail.clone() }];
        problem
    }
}

impl Refusal for payments::Error {
    fn code(&self) -> &'static str {
        payments::Error::code(self)
    }
    fn kind(&self) -> Kind {
        payments::Error::kind(self)
    }
    fn invalid(&self) -> Option<&Invalid> {
        None
    }
}

impl Refusal for flows::Error {
    fn code(&self) -> &'static str {
        flows::Error::code(self)
    }
    fn kind(&self) -> Kind {
        flows::Error::kind(self)
    }
    fn invalid(&self) -> Option<&Invalid> {
        match self {
            flows::Error::Invalid(invalid) => Some(invalid),
            flows::Error::Catalog(error) => error.invalid(),
            flows::Error::Accounts(error) => error.invalid(),
            flows::Error::Carts(error) => error.invalid(),
            flows::Error::Inventory(error) => error.invalid(),
            flows::Error::Orders(error) => error.invalid(),
            flows::Error::Analytics(error) => error.invalid(),
            flows::Error::Wallets(wallets::Error::Invalid(invalid)) => Some(invalid),
            _ => None,
        }
    }
    fn wait_seconds(&self) -> Option<i64> {
        match self {
            flows::Error::Accounts(error) => error.wait_seconds(),
            flows::Error::FlowRunning { .. } => Some(RETRY_SECONDS.into()),
            _ => None,
        }
    }
}

impl From<accounts::Error> for Problem {
    fn from(error: accounts::Error) -> Self {
        problem_of(&error)
    }
}

impl From<payments::Error> for Problem {
    fn from(error: payments::Error) -> Self {
        problem_of(&error)
    }
}

impl From<flows::Error> for Problem {
    fn from(error: flows::Error) -> Self {
        problem_of(&error)
    }
}

impl From<Invalid> for Problem {
    fn from(invalid: Invalid) -> Self {
        catalog::Error::Invalid(invalid).into()
    }
}

impl From<widerow::Error> for Problem {
    fn from(error: widerow::Error) -> Self {
        catalog::Error::Data(error).into()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Writes the body of an answer that is a problem.
pub fn render(mut response: Response, request_id: &str) -> Response {
    let Some(problem) = response.extensions_mut().remove::<Problem>() else { return response };
    let shown = !problem.status.is_server_error();
    let body = ProblemBody {
        kind: format!("/docs/errors#{}", problem.code),
        title: codes::find(problem.code).map_or("", |known| known.title),
        status: problem.status.as_u16(),
        detail: if shown { &problem.detail } else { "" },
        code: problem.code,
        request_id,
        errors: if shown { &problem.errors } else { &[] },
        details: problem.details.as_deref().filter(|_| shown),
        version: problem.version.as_deref().copied().filter(|_| shown),
    };
    *response.status_mut() = problem.status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.remove(header::CONTENT_LENGTH);
    if let Some(seconds) = problem.retry_after_seconds {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if problem.status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    // A struct of texts and numbers always has a JSON.
    *response.body_mut() = Body::from(serde_json::to_vec(&body).unwrap_or_default());
    response
}
