//! Which page of a list it is, and the way to the next.

use merkato::{Cursor, PageRequest};
use serde::Deserialize;

use crate::http::{Problem, Visit, wire::Paging};

#[derive(Clone, Debug, Default, Deserialize)]
pub struct PageQuery {
    pub cursor: Option<String>,
    /// For people only: the cursor decides.
    pub page: Option<u32>,
}

impl PageQuery {
    pub fn request(&self, visit: &Visit) -> Result<PageRequest, Problem> {
        visit.page(&Paging { limit: None, cursor: self.cursor.clone() })
    }

    /// The links below a list at this address.
    pub fn links(&self, visit: &Visit, path: &str, next: Option<&Cursor>) -> Pager {
        let number = if self.cursor.is_some() { self.page.unwrap_or(2).max(2) } else { 1 };
        Pager {
            number,
            first: (number > 1).then(|| path.to_owned()),
            next: next.map(|next| format!("{path}?page={}&cursor={}", number.saturating_add(1), visit.seal(next))),
        }
    }
}

/// The links below a list.
#[derive(Clone, Debug)]
pub struct Pager {
    pub number: u32,
    pub first: Option<String>,
    pub next: Option<String>,
}
