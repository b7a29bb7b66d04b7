//! Forms: what a browser sends, the token that shows that it comes from a page of ours, and what is wrong with it.

use std::collections::BTreeMap;

use axum::{
    extract::{FromRequest, Request},
    middleware::Next,
    response::Response,
};
use http::{HeaderMap, header};
use merkato::text::hex;

use crate::http::{Problem, Visit, body::Gathered, cookies};

/// The name of the field with the token.
pub const TOKEN: &str = "csrf";
/// What the tokens of a browser without a session are made of. It says nothing of who it is.
const COOKIE: &str = "merkato_form";
const SECRET_BYTES: usize = 16;
const FIELDS_MAX: usize = 1_000;

/// The secret of a browser, as an extension of the request.
#[derive(Clone, Debug)]
struct Secret(String);

/// Sees to it that a browser has a secret from its first page on.
pub async fn remember(mut request: Request, next: Next) -> Response {
    let plain = |text: &&str| text.len() == 2 * SECRET_BYTES && text.bytes().all(|b| b.is_ascii_hexdigit());
    let known = cookies::find(request.headers(), COOKIE).filter(plain).map(str::to_owned);
    let visit = request.extensions().get::<Visit>();
    let (is_new, secret, secure) = match (known, visit) {
        (Some(secret), _) => (false, secret, false),
        (None, Some(visit)) => (true, hex(&visit.ctx.random::<SECRET_BYTES>()), visit.secure),
        (None, None) => return next.run(request).await,
    };
    request.extensions_mut().insert(Secret(secret.clone()));
    let mut response = next.run(request).await;
    let is_page =
        response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    if is_new
        && is_page
        && let Some(cookie) = cookies::set_for_now(COOKIE, &secret, secure)
    {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

/// What the forms of this visitor's pages send back.
pub(super) fn token(visit: &Visit, extensions: &http::Extensions) -> String {
    extensions.get::<Secret>().map_or_else(String::new, |Secret(secret)| visit.form_token(secret))
}

/// What a form said, as it was typed.
#[derive(Clone, Debug, Default)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Values to begin with.
    pub fn of(pairs: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>) -> Self {
        Fields(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// What stands in a field; nothing where it is not there.
    pub fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(found, _)| found == name).map_or("", |(_, value)| value.as_str())
    }

    /// As `text`, without what stands around it; None where nothing is left.
    pub fn optional(&self, name: &str) -> Option<String> {
        Some(self.text(name).trim()).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// Whether a box is ticked.
    pub fn is_on(&self, name: &str) -> bool {
        !self.text(name).is_empty()
    }

    pub fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        self.0.iter().filter(move |(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The fields whose names begin so, without the beginning: `option.Size` of `option.`.
    pub fn with_prefix<'f>(&'f self, prefix: &'f str) -> impl Iterator<Item = (&'f str, &'f str)> {
        self.0.iter().filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, value.as_str())))
    }

    /// A number, a date, an id: whatever is read from a text. `expected` is told to whoever typed something else.
    pub fn parse<T: std::str::FromStr>(&self, name: &str, expected: &str) -> Result<T, Problem> {
        let refused = |_| Problem::field("invalid", format!("/{name}"), format!("it must be {expected}"));
        self.text(name).trim().parse().map_err(refused)
    }
}

impl Fields {
    /// The same with another value in a field.
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.0.retain(|(found, _)| found != name);
        self.0.push((name.to_owned(), value.into()));
        self
    }

    /// The same with a value in a field that has none.
    pub fn or(self, name: &str, value: impl Into<String>) -> Self {
        if self.text(name).is_empty() { self.with(name, value) } else { self }
    }
}

/// A form with this visitor's token in it.
#[derive(Clone, Debug)]
pub struct Form(pub Fields);

impl<S: Send + Sync> FromRequest<S> for Form {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        check_media_type(request.headers())?;
        let extensions = request.extensions();
        let Some(Gathered(bytes)) = extensions.get::<Gathered>() else {
            return Err(Problem::internal("the body was not gathered"));
        };
        let Some(visit) = extensions.get::<Visit>() else {
            return Err(Problem::internal("a route of no shop has no forms"));
        };
        let pairs: Vec<(String, String)> =
            serde_urlencoded::from_bytes(bytes).map_err(|error| Problem::new("bad_form", error.to_string()))?;
        if pairs.len() > FIELDS_MAX {
            return Err(Problem::new("bad_form", format!("it has more than {FIELDS_MAX} fields")));
        }
        let fields = Fields(pairs);
        let good = extensions.get::<Secret>().is_some_and(|Secret(secret)| {
            use subtle::ConstantTimeEq as _;
            visit.form_token(secret).as_bytes().ct_eq(fields.text(TOKEN).as_bytes()).into()
        });
        if !good {
            return Err(Problem::new("csrf", "this page was out of date: go back, load it again, and try once more"));
        }
        Ok(Form(fields))
    }
}

fn check_media_type(headers: &HeaderMap) -> Result<(), Problem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Ok(());
    }
    Err(Problem::new("unsupported_media_type", "the Content-Type must be application/x-www-form-urlencoded"))
}

/// What is wrong with a text, as people say it.
fn said(detail: &str) -> String {
    match detail {
        "it is empty" => "Fill this in".into(),
        "it has HTML; plain text is wanted" => "Write it without the sign < before a letter".into(),
        "it begins or ends with a space" => "Write it without a space at its beginning or end".into(),
        long if long.starts_with("it has ") && long.contains(" bytes, the limit is ") => "It is too long".into(),
        bad if bad.starts_with("it has the control character") => "It has a character that nobody can see".into(),
        other => other.to_owned(),
    }
}

/// What is wrong with a form, beside its fields.
#[derive(Clone, Debug, Default)]
pub struct Complaints {
    /// What is wrong as a whole; empty where nothing is.
    pub summary: String,
    fields: BTreeMap<String, String>,
}

impl Complaints {
    /// A refusal that the person can do something about; any other is an error of its own.
    pub fn about(problem: Problem) -> Result<Self, Problem> {
        let theirs =
            problem.status.is_client_error() && !matches!(problem.status.as_u16(), 401 | 403 | 404 | 413 | 429);
        if !theirs && problem.errors.is_empty() {
            return Err(problem);
        }
        let fields =
            problem.errors.iter().map(|error| (error.pointer.trim_start_matches('/').to_owned(), said(&error.detail)));
        let fields: BTreeMap<_, _> = fields.collect();
        let title = crate::http::codes::find(problem.code).map_or("", |known| known.title);
        let summary = match (fields.is_empty(), problem.detail.is_empty()) {
            (false, _) => "Please look at what is marked below.".to_owned(),
            (true, false) => problem.detail,
            (true, true) => title.to_owned(),
        };
        Ok(Complaints { summary, fields })
    }

    pub fn one(summary: impl Into<String>) -> Self {
        Complaints { summary: summary.into(), fields: BTreeMap::new() }
    }

    /// As `one`, about a field.
    pub fn field(name: impl Into<String>, detail: impl Into<String>) -> Self {
        let mut complaints = Complaints::one("Please look at what is marked below.");
        complaints.fields.insert(name.into(), detail.into());
        complaints
    }

    /// Any refusal, in the words that all have for it; the detail is for programs.
    pub fn in_words(problem: &Problem) -> Self {
        Complaints::one(crate::http::codes::find(problem.code).map_or("This could not be done.", |known| known.title))
    }

    /// Without this beginning of the fields' names, as forms have plainer ones than the API.
    pub fn without_prefix(mut self, prefix: &str) -> Self {
        let plain = |(name, detail): (String, String)| match name.strip_prefix(prefix) {
            Some(rest) => (rest.to_owned(), detail),
            None => (name, detail),
        };
        self.fields = std::mem::take(&mut self.fields).into_iter().map(plain).collect();
        self
    }

    pub fn is_empty(&self) -> bool {
        self.summary.is_empty()
    }

    /// What is wrong with the parts of a field: `2` and why of `image_urls/2`.
    pub fn within<'c>(&'c self, name: &'c str) -> impl Iterator<Item = (&'c str, &'c str)> {
        self.fields
            .iter()
            .filter_map(move |(field, detail)| Some((field.strip_prefix(name)?.strip_prefix('/')?, detail.as_str())))
    }

    /// What is wrong with a field; nothing where nothing is.
    pub fn of(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }
}
