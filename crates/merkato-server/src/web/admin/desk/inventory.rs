//! What each warehouse is short of, and the way to the stock of a product.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use merkato::{
    PageRequest, catalog,
    inventory::{self, LowStock},
    limits,
};
use serde::Deserialize;

use super::{
    pager::{Pager, ROWS, Turn},
    products,
};
use crate::{
    http::{Problem, Query, Visit},
    web::{Frame, Html, pictures, see_other},
};

const PATH: &str = "/admin/inventory";

#[derive(Deserialize)]
pub struct Filter {
    #[serde(default)]
    q: String,
    #[serde(default)]
    warehouse: String,
}

pub struct Line {
    id: String,
    name: String,
    picture: Option<String>,
    quantity: i32,
    reserved: i32,
    available: i32,
    threshold: i32,
}

pub struct Found {
    id: String,
    name: String,
    picture: Option<String>,
    category: String,
    in_stock: bool,
}

#[derive(Template)]
#[template(path = "admin/inventory.html")]
pub struct Levels {
    frame: Frame,
    q: String,
    warehouses: Vec<String>,
    warehouse: String,
    trouble: String,
    /// Products with what was looked for in their names.
    found: Option<Vec<Found>>,
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
    if let Some(id) = products::find(&visit, q).await? {
        return Ok(see_other(&format!("{PATH}/{id}")));
    }
    let known = inventory::list_warehouses(ctx, PageRequest::first(limits::PAGE_ROWS_MAX)).await?;
    let warehouses: Vec<_> = known.rows.into_iter().map(|row| row.warehouse_id).collect();
    let mut page = Levels {
        warehouse: match filter.warehouse.trim() {
            "" => warehouses.first().cloned().unwrap_or_default(),
            named => named.to_owned(),
        },
        warehouses,
        q: q.to_owned(),
        trouble: String::new(),
        found: None,
        lines: Vec::new(),
        pager: turn.pager(&visit, PATH, &[], None),
        frame,
    };
    if !q.is_empty() {
        match catalog::search_text(ctx, q, turn.page(&visit)?).await {
            Ok(found) => {
                let ids: Vec<_> = found.rows.iter().map(|row| row.product_id).collect();
                let rows = catalog::list_products(ctx, &ids).await?.into_iter().flatten();
                page.found = Some(rows.map(Found::from).collect());
                page.pager = turn.pager(&visit, PATH, &[("q", q)], found.next);
            }
            Err(catalog::Error::Invalid(_)) => {
                page.trouble = "Two letters of a word are needed to search.".to_owned();
                page.found = Some(Vec::new());
            }
            Err(error) => return Err(error.into()),
        }
    } else if !page.warehouse.is_empty() {
        let low = inventory::list_low_stock(ctx, &page.warehouse, turn.page(&visit)?).await?;
        page.lines = lines(&visit, low.rows).await?;
        page.pager = turn.pager(&visit, PATH, &[("warehouse", filter.warehouse.trim())], low.next);
    }
    Ok(Html(page).into_response())
}

/// What is low, with the names of the products.
async fn lines(visit: &Visit, low: Vec<LowStock>) -> Result<Vec<Line>, Problem> {
    debug_assert!(low.len() <= ROWS);
    let ids: Vec<_> = low.iter().map(|row| row.product_id).collect();
    let products = catalog::list_products(&visit.ctx, &ids).await?;
    let line = |(row, product): (LowStock, Option<catalog::Product>)| Line {
        id: row.product_id.to_string(),
        picture: product.as_ref().and_then(|product| pictures::own(product.thumbnail_url.as_deref())),
        name: product.map_or_else(|| row.product_id.to_string(), |product| product.name),
        quantity: row.quantity,
        reserved: row.reserved,
        available: row.available,
        threshold: row.low_stock_threshold,
    };
    Ok(low.into_iter().zip(products).map(line).collect())
}

impl From<catalog::Product> for Found {
    fn from(product: catalog::Product) -> Self {
        Found {
            id: product.product_id.to_string(),
            picture: pictures::own(product.thumbnail_url.as_deref()),
            name: product.name,
            category: product.category_name,
            in_stock: product.in_stock,
        }
    }
}
