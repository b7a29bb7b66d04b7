//! What crawlers are told: where they need not go, and what there is.
//!
//! The map of the site is an index with one part for each category at the top; a part has what is below it and its newest
//! products. Everything else is reached by the links of the categories' pages.

use askama::Template;
use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, HeaderValue, Uri, header};
use merkato::{
    PageRequest,
    catalog::{self, SortOrder},
    limits,
};

use super::category::find;
use crate::http::{App, Path, Problem, Visit};

/// Products of one part.
const PRODUCTS_MAX: usize = 1_000;

#[derive(Template)]
#[template(path = "shop/sitemap.xml")]
struct Index {
    parts: Vec<String>,
}

#[derive(Template)]
#[template(path = "shop/sitemap-part.xml")]
struct Part {
    pages: Vec<String>,
}

fn document(text: Result<String, askama::Error>, kind: &'static str) -> Result<Response, Problem> {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600")),
    ];
    Ok((headers, text.map_err(Problem::internal)?).into_response())
}

pub async fn robots(State(app): State<App>, headers: HeaderMap, uri: Uri) -> Result<Response, Problem> {
    let site = app.site(&headers, &uri);
    let away = [
        "/account",
        "/admin",
        "/cart",
        "/checkout",
        "/login",
        "/orders",
        "/password-reset",
        "/register",
        "/search",
        "/v1",
    ];
    let away: String = away.iter().map(|path| format!("Disallow: {path}\n")).collect();
    document(Ok(format!("User-agent: *\n{away}\nSitemap: {site}/sitemap.xml\n")), "text/plain; charset=utf-8")
}

pub async fn sitemap(State(app): State<App>, visit: Visit, headers: HeaderMap, uri: Uri) -> Result<Response, Problem> {
    let site = app.site(&headers, &uri);
    let first = PageRequest::first(limits::PAGE_ROWS_MAX);
    let top = catalog::list_subcategories(&visit.ctx, None, first).await?.rows;
    let parts = top.iter().map(|category| format!("{site}/sitemaps/{}.xml", category.slug)).collect();
    document(Index { parts }.render(), "application/xml")
}

pub async fn category(
    State(app): State<App>,
    visit: Visit,
    Path(name): Path<String>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, Problem> {
    let site = app.site(&headers, &uri);
    let name = name.strip_suffix(".xml").ok_or_else(|| Problem::new("not_found", ""))?;
    let category = find(&visit, name).await?;
    let first = PageRequest::first(limits::PAGE_ROWS_MAX);
    let below = catalog::list_subcategories(&visit.ctx, Some(category.category_id), first).await?.rows;
    let slugs = [category.slug].into_iter().chain(below.into_iter().map(|category| category.slug));
    let mut pages: Vec<String> = slugs.map(|slug| format!("{site}/c/{slug}")).collect();
    let mut cursor = None;
    for _ in 0..PRODUCTS_MAX / limits::PAGE_ROWS_MAX {
        let page = PageRequest { limit: limits::PAGE_ROWS_MAX, cursor };
        let found = catalog::list_category(&visit.ctx, category.category_id, SortOrder::Newest, page).await?;
        pages.extend(found.rows.iter().map(|entry| format!("{site}/p/{}", entry.slug)));
        cursor = found.next;
        if cursor.is_none() {
            break;
        }
    }
    document(Part { pages }.render(), "application/xml")
}
