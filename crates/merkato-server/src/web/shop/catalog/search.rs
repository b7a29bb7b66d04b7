//! Products by the words of their names.

use askama::Template;
use axum::extract::State;
use merkato::catalog::{self, PrefixEntry};
use serde::Deserialize;

use super::{
    card::Card,
    pager::{self, Address, Pager},
    shelf::ROWS,
};
use crate::{
    http::{App, Problem, Query, Visit, wire::Paging},
    web::{Frame, Html, pictures::Pictures, words},
};

#[derive(Template)]
#[template(path = "shop/search.html")]
pub struct Page {
    frame: Frame,
    q: String,
    /// What is wrong with what was typed; empty where nothing is.
    complaint: String,
    cards: Vec<Card>,
    pager: Pager,
    number: usize,
    /// How many were found, if all are on the page.
    count: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Asked {
    q: String,
    page: Option<String>,
    cursor: Option<String>,
}

/// Reads of the list for one page: where many names have each of the words and few have all, a read may find none.
const READS_MAX: usize = 4;

pub async fn show(
    State(app): State<App>,
    visit: Visit,
    frame: Frame,
    Query(asked): Query<Asked>,
) -> Result<Html<Page>, Problem> {
    let q = asked.q.trim().to_owned();
    let mut number = pager::number(asked.page.as_deref());
    let mut page = visit.page(&Paging { limit: Some(ROWS), cursor: asked.cursor });
    if page.as_ref().is_ok_and(|page| page.cursor.is_none()) || page.is_err() {
        // A page of a search is found by its cursor alone.
        number = 1;
        page = visit.page(&Paging { limit: Some(ROWS), cursor: None });
    }
    let mut page = page?;
    let (mut found, mut next, mut complaint): (Vec<PrefixEntry>, _, _) = (Vec::new(), None, String::new());
    for _ in 0..if q.is_empty() { 0 } else { READS_MAX } {
        match catalog::search_text(&visit.ctx, &q, page.clone()).await {
            Ok(read) => {
                found.extend(read.rows);
                next = read.next;
            }
            Err(catalog::Error::Invalid(_)) => {
                complaint = "Type a word of at least two letters, and not too many of them.".into();
                break;
            }
            Err(error) => return Err(error.into()),
        }
        if !found.is_empty() || next.is_none() {
            break;
        }
        page.cursor.clone_from(&next);
    }
    let next = next.map(|next| visit.seal(&next));
    let address = Address { path: "/search", query: vec![("q", &q)] };
    let after = next.as_deref().map(|cursor| address.page(number + 1, Some(cursor)));
    let first = (number > 1).then(|| address.page(1, None));
    let pictures = Pictures::of(&app);
    let all_shown = !found.is_empty() && number == 1 && after.is_none();
    Ok(Html(Page {
        count: all_shown.then(|| words::count(found.len() as u64, "product", "products")),
        pager: Pager { leaves: Vec::new(), before: first, after },
        cards: found.into_iter().map(|entry| Card::of_found(pictures, entry)).collect(),
        frame,
        q,
        complaint,
        number,
    }))
}
