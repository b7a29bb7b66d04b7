//! The forms of one page: what stands in each, and which of them was refused.

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use rust_decimal::Decimal;
use uuid::Uuid;

use crate::{
    http::{Problem, Visit},
    web::{Complaints, Fields, Html},
};

/// The hidden field with the id of what a form does: a form that is sent twice does it once.
pub const OPERATION: &str = "operation";

#[derive(Clone, Debug, Default)]
pub struct Forms {
    filled: Vec<(&'static str, Fields)>,
    refused: Option<(&'static str, Complaints)>,
    /// For the forms of this page that do something once.
    pub operation: String,
}

impl Forms {
    pub fn new(visit: &Visit) -> Self {
        Forms { operation: visit.ctx.new_id().to_string(), ..Forms::default() }
    }

    /// What stands in a form, unless somebody has typed something else.
    pub fn with(mut self, form: &'static str, fields: Fields) -> Self {
        if !self.is_refused(form) {
            self.filled.push((form, fields));
        }
        self
    }

    /// What was typed stays, beside what is wrong with it. A problem that is not the clerk's to mend is given back.
    ///
    /// RACE: an answer that was lost may be of something that was done: what is sent again keeps its id.
    pub fn refused(mut self, form: &'static str, fields: Fields, problem: Problem) -> Result<Self, Problem> {
        if !fields.text(OPERATION).is_empty() {
            self.operation = fields.text(OPERATION).to_owned();
        }
        self.refused = Some((form, Complaints::about(problem)?));
        self.filled.push((form, fields));
        Ok(self)
    }

    /// As `refused`, with words of the page's own about the whole.
    pub fn saying(mut self, summary: impl Into<String>) -> Self {
        if let Some((_, complaints)) = &mut self.refused {
            complaints.summary = summary.into();
        }
        self
    }

    fn fields(&self, form: &str) -> Option<&Fields> {
        self.filled.iter().find(|(name, _)| *name == form).map(|(_, fields)| fields)
    }

    pub fn text(&self, form: &str, name: &str) -> &str {
        self.fields(form).map_or("", |fields| fields.text(name))
    }

    pub fn is_on(&self, form: &str, name: &str) -> bool {
        self.fields(form).is_some_and(|fields| fields.is_on(name))
    }

    /// Rows of two fields that stand side by side, as often as they are there.
    pub fn pairs(&self, form: &str, left: &str, right: &str) -> Vec<(String, String)> {
        let Some(fields) = self.fields(form) else { return Vec::new() };
        let pairs = fields.all(left).zip(fields.all(right));
        pairs.map(|(left, right)| (left.to_owned(), right.to_owned())).collect()
    }

    pub fn is_refused(&self, form: &str) -> bool {
        self.refused.as_ref().is_some_and(|(name, _)| *name == form)
    }

    pub fn complaint(&self, form: &str, name: &str) -> &str {
        self.refused.as_ref().filter(|(found, _)| *found == form).map_or("", |(_, complaints)| complaints.of(name))
    }

    /// What is wrong with one of a field's many parts: with `image_urls/2` of `image_urls`.
    pub fn complaint_within(&self, form: &str, name: &str) -> String {
        let Some((_, complaints)) = self.refused.as_ref().filter(|(found, _)| *found == form) else {
            return String::new();
        };
        let part = |(part, detail): (&str, &str)| match part.parse::<usize>() {
            Ok(index) => format!("Line {}: {detail}", index + 1),
            Err(_) => format!("{part}: {detail}"),
        };
        complaints.within(name).map(part).collect::<Vec<_>>().join("; ")
    }

    /// The form that was refused, and why.
    pub fn trouble(&self) -> Option<(&str, &str)> {
        self.refused.as_ref().map(|(form, complaints)| (*form, complaints.summary.as_str()))
    }

    /// What the title of the page begins with.
    pub fn mark(&self) -> &'static str {
        if self.refused.is_some() { "Error: " } else { "" }
    }
}

/// The page of a form that was refused.
pub fn refused<T: askama::Template>(page: T) -> Response {
    (StatusCode::UNPROCESSABLE_ENTITY, Html(page)).into_response()
}

/// The id of what the form does.
pub fn operation(fields: &Fields) -> Result<Uuid, Problem> {
    fields.parse(OPERATION, "the id that the page gave it")
}

/// A number of units.
pub fn units(fields: &Fields, name: &str) -> Result<i64, Problem> {
    fields.parse(name, "a whole number")
}

/// A decimal number, as `12.50`: one way to write it.
pub fn decimal(fields: &Fields, name: &str) -> Result<Decimal, Problem> {
    let text = fields.text(name).trim();
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let refused = || Problem::field("invalid", format!("/{name}"), "write it as 12.50");
    Decimal::from_str_exact(text).ok().filter(|_| plain).ok_or_else(refused)
}

/// As `decimal`, where something stands there.
pub fn optional_decimal(fields: &Fields, name: &str) -> Result<Option<Decimal>, Problem> {
    if fields.text(name).trim().is_empty() { Ok(None) } else { decimal(fields, name).map(Some) }
}

/// A text of several lines, with the line ends that the domain has.
pub fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").trim_end().to_owned()
}

/// All that is wrong with a form, rather than the first of it.
#[derive(Default)]
pub struct Wrong(Option<Problem>);

impl Wrong {
    pub fn note<T>(&mut self, read: Result<T, Problem>) -> Option<T> {
        match (read, &mut self.0) {
            (Ok(value), _) => Some(value),
            (Err(problem), Some(first)) => {
                first.errors.extend(problem.errors);
                None
            }
            (Err(problem), first) => {
                *first = Some(problem);
                None
            }
        }
    }

    pub fn end(self) -> Result<(), Problem> {
        self.0.map_or(Ok(()), Err)
    }
}
