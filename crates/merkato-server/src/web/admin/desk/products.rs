//! The products of the shop, on sale or not.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use merkato::{
    Cursor, PageRequest,
    catalog::{self, Product, ProductEntry},
    id::{CategoryId, ProductId},
};
use serde::Deserialize;

use super::{
    pager::{Pager, Turn},
    said::{self, State},
};
use crate::{
    http::{Problem, Query, Visit},
    web::{Frame, Html, pictures, see_other, words},
};

const PATH: &str = "/admin/products";

#[derive(Deserialize)]
pub struct Filter {
    #[serde(default)]
    q: String,
    #[serde(default)]
    category: String,
}

pub struct Line {
    id: String,
    name: String,
    picture: Option<String>,
    sku: String,
    category: String,
    price: String,
    state: State,
    in_stock: bool,
}

#[derive(Template)]
#[template(path = "admin/products.html")]
pub struct Products {
    frame: Frame,
    q: String,
    /// Of whose own products this is the list.
    category: Option<(String, String)>,
    trouble: String,
    lines: Vec<Line>,
    pager: Pager,
}

pub async fn list(
    visit: Visit,
    frame: Frame,
    Query(filter): Query<Filter>,
    Query(turn): Query<Turn>,
) -> Result<Response, Problem> {
    let ctx = &visit.ctx;
    let q = filter.q.trim();
    let page = turn.page(&visit)?;
    let mut trouble = String::new();
    let mut category = None;
    let (lines, next) = if !q.is_empty() {
        if let Some(id) = find(&visit, q).await? {
            return Ok(see_other(&format!("{PATH}/{id}")));
        }
        match catalog::search_text(ctx, q, page).await {
            Ok(found) => {
                let ids: Vec<_> = found.rows.iter().map(|row| row.product_id).collect();
                (with_ids(&visit, &ids).await?, found.next)
            }
            Err(catalog::Error::Invalid(_)) => {
                trouble = "Two letters of a word are needed to search.".to_owned();
                (Vec::new(), None)
            }
            Err(error) => return Err(error.into()),
        }
    } else if let Ok(id) = filter.category.parse::<CategoryId>() {
        let found = catalog::get_category(ctx, id).await?;
        category = Some((id.to_string(), found.name));
        of_category(&visit, id, page).await?
    } else {
        let found = catalog::list_products_by_age(ctx, page).await?;
        (found.rows.into_iter().map(Line::from).collect(), found.next)
    };
    let of = category.as_ref().map_or("", |(id, _)| id.as_str());
    let pager = turn.pager(&visit, PATH, &[("q", q), ("category", of)], next);
    Ok(Html(Products { q: q.to_owned(), category, trouble, lines, pager, frame }).into_response())
}

/// The product that somebody named exactly: by its id, or by its address in the shop. Drafts are found so, too.
pub async fn find(visit: &Visit, text: &str) -> Result<Option<ProductId>, Problem> {
    if let Ok(id) = text.parse::<ProductId>() {
        return Ok(catalog::find_product(&visit.ctx, id).await?.map(|product| product.product_id));
    }
    // A word may be a slug and the beginning of many names.
    if !text.contains('-') {
        return Ok(None);
    }
    match catalog::find_product_by_slug(&visit.ctx, text).await {
        Ok(found) => Ok(found.map(|product| product.product_id)),
        Err(catalog::Error::Invalid(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

async fn of_category(visit: &Visit, id: CategoryId, page: PageRequest) -> Result<(Vec<Line>, Option<Cursor>), Problem> {
    let found = catalog::list_products_of_category(&visit.ctx, id, page).await?;
    let ids: Vec<_> = found.rows.iter().map(|row| row.product_id).collect();
    Ok((with_ids(visit, &ids).await?, found.next))
}

async fn with_ids(visit: &Visit, ids: &[ProductId]) -> Result<Vec<Line>, Problem> {
    let found = catalog::list_products(&visit.ctx, ids).await?;
    Ok(found.into_iter().flatten().map(Line::from).collect())
}

impl From<ProductEntry> for Line {
    fn from(entry: ProductEntry) -> Self {
        Line {
            id: entry.product_id.to_string(),
            picture: pictures::own(entry.thumbnail_url.as_deref()),
            sku: entry.sku.unwrap_or_default(),
            category: entry.category_name,
            price: words::money(entry.price, &entry.currency),
            state: said::product(entry.status),
            in_stock: entry.in_stock,
            name: entry.name,
        }
    }
}

impl From<Product> for Line {
    fn from(product: Product) -> Self {
        Line {
            id: product.product_id.to_string(),
            picture: pictures::own(product.thumbnail_url.as_deref()),
            sku: product.sku.unwrap_or_default(),
            category: product.category_name,
            price: words::money(product.price, &product.currency),
            state: said::product(product.status),
            in_stock: product.in_stock,
            name: product.name,
        }
    }
}
