//! A category: what is in it, in five orders, page by page.

use askama::Template;
use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::Uri;
use merkato::{
    PageRequest,
    catalog::{self, Category, SortOrder, Subcategory},
    id::CategoryId,
    limits,
};
use serde::Deserialize;

use super::{
    card::Card,
    meta::{self, Crumb},
    pager::{self, Address, Pager},
    shelf::{self, Place, ROWS},
};
use crate::{
    http::{App, Path, Problem, Query, Visit},
    pictures::Picture,
    web::{Frame, Html, next, pictures::Pictures, words},
};

#[derive(Template)]
#[template(path = "shop/category.html")]
struct Page {
    frame: Frame,
    category: Category,
    crumbs: Vec<Crumb>,
    below: Vec<Subcategory>,
    orders: Vec<Order>,
    cards: Vec<Card>,
    pager: Pager,
    number: usize,
    /// How many products there are; empty where there are none.
    count: String,
    canonical: String,
    picture: String,
    data: String,
}

/// A link to the same list in another order.
struct Order {
    title: &'static str,
    path: String,
    is_here: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Asked {
    sort: Option<String>,
    page: Option<String>,
    cursor: Option<String>,
}

const ORDERS: [(SortOrder, &str); 5] = [
    (SortOrder::Popular, "Popular"),
    (SortOrder::Newest, "Newest"),
    (SortOrder::PriceAsc, "Price, low to high"),
    (SortOrder::PriceDesc, "Price, high to low"),
    (SortOrder::NameAsc, "Name"),
];

pub async fn show(
    State(app): State<App>,
    visit: Visit,
    frame: Frame,
    Path(name): Path<String>,
    Query(asked): Query<Asked>,
    uri: Uri,
) -> Result<Response, Problem> {
    let category = find(&visit, &name).await?;
    let path = format!("/c/{}", category.slug);
    if category.slug != name {
        let query = uri.query().map_or(String::new(), |query| format!("?{query}"));
        return Ok(next::moved(&format!("{path}{query}")));
    }
    let order = asked.sort.as_deref().and_then(SortOrder::parse).unwrap_or(SortOrder::Popular);
    let number = pager::number(asked.page.as_deref());
    let (ctx, id) = (&visit.ctx, category.category_id);
    let (above, below, shelf) = tokio::try_join!(
        async { Ok::<_, Problem>(catalog::breadcrumbs(ctx, &category).await?) },
        async { Ok(catalog::list_subcategories(ctx, Some(id), PageRequest::first(limits::PAGE_ROWS_MAX)).await?) },
        shelf::read(&visit, id, order, Place { number, cursor: asked.cursor }),
    )?;
    if shelf.rows.is_empty() && number > 1 {
        return Err(Problem::new("not_found", "The list has no such page."));
    }
    let seen = (number - 1) * ROWS + shelf.rows.len() + shelf.behind;
    let count = match (seen, shelf.is_more) {
        (0, _) => String::new(),
        (seen, false) => words::count(seen as u64, "product", "products"),
        (seen, true) => format!("More than {}", words::count(seen as u64, "product", "products")),
    };
    let address = |order: SortOrder| {
        let sort = (order != SortOrder::Popular).then_some(("sort", order.as_str()));
        Address { path: &path, query: sort.into_iter().collect() }
    };
    let order_link = |(other, title)| Order { title, path: address(other).page(1, None), is_here: other == order };
    let pictures = Pictures::of(&app);
    let crumbs: Vec<Crumb> = above.iter().map(Crumb::of).collect();
    let page = Page {
        orders: ORDERS.map(order_link).into(),
        pager: Pager::new(&address(order), number, shelf.next.as_deref(), shelf.behind.div_ceil(ROWS)),
        canonical: meta::absolute(&frame.site, &address(order).page(number, None)),
        picture: meta::absolute(&frame.site, &Picture::of_category(&category.name).path()),
        data: meta::breadcrumbs(&frame.site, &crumbs),
        cards: shelf.rows.into_iter().map(|entry| Card::of_entry(pictures, entry)).collect(),
        below: below.rows,
        crumbs,
        number,
        count,
        category,
        frame,
    };
    Ok(Html(page).into_response())
}

/// By what the address has: a slug, also an old one, or an id.
pub async fn find(visit: &Visit, name: &str) -> Result<Category, Problem> {
    if let Ok(id) = name.parse::<CategoryId>() {
        return Ok(catalog::get_category(&visit.ctx, id).await?);
    }
    let found = match catalog::find_category_by_slug(&visit.ctx, name).await {
        // What cannot be a slug is none.
        Err(catalog::Error::Invalid(_)) => None,
        found => found?,
    };
    found.ok_or_else(|| Problem::new("not_found", ""))
}
