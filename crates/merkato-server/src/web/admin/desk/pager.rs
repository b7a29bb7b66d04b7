//! From one page of a list to the next and back. A page knows only where the next one begins, so that the links carry where
//! the earlier ones began; how many of these is bounded, and beyond that there is the way to the first page.

use merkato::{Cursor, PageRequest};
use serde::Deserialize;

use crate::{
    http::{Problem, Visit, wire::Paging},
    web::next,
};

/// Rows of a page.
pub const ROWS: usize = 25;
/// Characters of the earlier cursors that a link carries.
const TRAIL_CHARS_MAX: usize = 6_000;
/// Sets one cursor apart from the next; no cursor has it.
const APART: char = '~';

/// Which page is asked for.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Turn {
    cursor: Option<String>,
    page: Option<u32>,
    /// The cursors of the pages between the first and this one, as far as they are remembered.
    trail: Option<String>,
}

/// The links below a list.
#[derive(Clone, Debug)]
pub struct Pager {
    pub number: u32,
    pub first: Option<String>,
    pub previous: Option<String>,
    pub next: Option<String>,
}

impl Turn {
    pub fn page(&self, visit: &Visit) -> Result<PageRequest, Problem> {
        visit.page(&Paging { limit: Some(ROWS), cursor: self.cursor.clone() })
    }

    fn number(&self) -> u32 {
        if self.cursor.is_some() { self.page.unwrap_or(2).max(2) } else { 1 }
    }

    /// This very page, with other things said beside what says which page it is.
    pub fn here(&self, path: &str, said: &[(&str, &str)]) -> String {
        let number = self.number().to_string();
        let Some(cursor) = &self.cursor else { return address(path, said.iter().copied()) };
        let own =
            [("cursor", cursor.as_str()), ("page", &number), ("trail", self.trail.as_deref().unwrap_or_default())];
        address(path, said.iter().chain(&own).copied())
    }

    /// The links from this page. `filters` are what the list is narrowed by, those that are said.
    pub fn pager(&self, visit: &Visit, path: &str, filters: &[(&str, &str)], next: Option<Cursor>) -> Pager {
        let first = address(path, filters.iter().copied());
        self.links(path, filters, next.map(|next| visit.seal_at(&first, &next)))
    }

    fn links(&self, path: &str, filters: &[(&str, &str)], next: Option<String>) -> Pager {
        let link = |more: &[(&str, &str)]| address(path, filters.iter().chain(more).copied());
        let number = self.number();
        let turn = |cursor: &str, number: u32, trail: &str| {
            link(&[("cursor", cursor), ("page", &number.to_string()), ("trail", trail)])
        };
        let trail = self.trail.as_deref().filter(|_| self.cursor.is_some()).unwrap_or_default();
        let previous = match (number, trail.rsplit_once(APART)) {
            (1, _) => None,
            (2, _) => Some(link(&[])),
            (_, Some((earlier, last))) => Some(turn(last, number - 1, earlier)),
            (_, None) if !trail.is_empty() => Some(turn(trail, number - 1, "")),
            (_, None) => None,
        };
        let next = next.map(|next| {
            let here = self.cursor.as_deref().unwrap_or_default();
            turn(&next, number.saturating_add(1), &lengthen(trail, here))
        });
        Pager { number, first: (number > 2).then(|| link(&[])), previous, next }
    }
}

impl Pager {
    /// Whether there is anything to turn to.
    pub fn is_needed(&self) -> bool {
        self.number > 1 || self.next.is_some()
    }
}

/// The path with what is said.
fn address<'f>(path: &str, said: impl Iterator<Item = (&'f str, &'f str)>) -> String {
    let said = said.filter(|(_, value)| !value.is_empty());
    let query: Vec<_> = said.map(|(name, value)| format!("{name}={}", next::encode(value))).collect();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{}", query.join("&")) }
}

/// The trail with one cursor more; the oldest are forgotten first.
fn lengthen(trail: &str, here: &str) -> String {
    let all = [trail, here].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("~");
    let mut kept = all.as_str();
    while kept.len() > TRAIL_CHARS_MAX {
        kept = kept.split_once(APART).map_or("", |(_, rest)| rest);
    }
    kept.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a link asks for.
    fn follow(link: &str) -> Turn {
        serde_urlencoded::from_str(link.split_once('?').map_or("", |(_, query)| query)).unwrap()
    }

    #[test]
    fn one_comes_back_the_way_one_went() {
        let mut turn = Turn::default();
        let mut links = turn.links("/list", &[("q", "a b"), ("status", "")], Some("c2".into()));
        assert_eq!((links.number, links.previous.clone(), links.first.clone()), (1, None, None));
        assert!(links.next.as_deref().unwrap().starts_with("/list?q=a%20b&cursor=c2"));
        for cursor in ["c3", "c4", "c5"] {
            turn = follow(links.next.as_deref().unwrap());
            links = turn.links("/list", &[("q", "a b")], Some(cursor.into()));
        }
        assert_eq!((links.number, links.first.as_deref()), (4, Some("/list?q=a%20b")));
        let mut seen = Vec::new();
        while let Some(previous) = &links.previous {
            turn = follow(previous);
            links = turn.links("/list", &[("q", "a b")], Some("x".into()));
            seen.push((links.number, turn.cursor.clone()));
        }
        assert_eq!(seen, [(3, Some("c3".into())), (2, Some("c2".into())), (1, None)]);
    }

    #[test]
    fn a_long_way_back_ends_at_the_first_page() {
        let long = "x".repeat(TRAIL_CHARS_MAX / 2);
        let turn = Turn { cursor: Some(long.clone()), page: Some(9), trail: Some(format!("{long}~{long}")) };
        let links = turn.links("/list", &[], Some("next".into()));
        assert!(links.next.unwrap().len() < 2 * TRAIL_CHARS_MAX);
        let turn = Turn { cursor: Some("c".into()), page: Some(9), trail: None };
        let links = turn.links("/list", &[], None);
        assert_eq!((links.previous, links.first.as_deref(), links.next), (None, Some("/list"), None));
    }

    #[test]
    fn a_page_that_somebody_made_up_is_only_a_number() {
        let turn = Turn { cursor: None, page: Some(7), trail: Some("a~b".into()) };
        let links = turn.links("/list", &[], None);
        assert_eq!((links.number, links.is_needed()), (1, false));
    }
}
