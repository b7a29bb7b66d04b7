//! Stock that is kept for someone: all lines or none.

use std::collections::BTreeMap;

use http::StatusCode;
use merkato::{
    catalog, flows,
    id::{HoldId, ProductId},
    inventory::{self, Hold, HoldState, Line},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::inventory::OfProduct;
use crate::http::{
    Json, Path, Problem, Query, Visit,
    operation::Operation,
    wire::{Listing, Paging, Time, mirror},
};

mirror! {
    /// What became of a hold. One that is held and whose time is over has ended.
    HoldStateView = HoldState { Held, Released, Confirmed, Returned }
}

/// A hold on one product.
#[derive(Serialize, ToSchema)]
pub struct HoldLine {
    /// One for all products of the hold.
    pub hold_id: Uuid,
    pub product_id: Uuid,
    pub state: HoldStateView,
    /// Whether it keeps its units at this instant.
    pub in_force: bool,
    pub quantity: i32,
    /// The units from each warehouse; none of a product whose units are not counted.
    pub allocations: BTreeMap<String, i32>,
    /// The units that no warehouse had.
    pub backordered: i32,
    pub ends_at: Time,
    pub created_at: Time,
    pub updated_at: Time,
}

fn line(visit: &Visit, hold: Hold) -> HoldLine {
    HoldLine {
        hold_id: hold.hold_id.0,
        product_id: hold.product_id.0,
        state: hold.state.into(),
        in_force: hold.is_in_force(visit.ctx.now()),
        quantity: hold.quantity,
        allocations: hold.allocations,
        backordered: hold.backordered,
        ends_at: hold.ends_at.into(),
        created_at: hold.created_at.into(),
        updated_at: hold.updated_at.into(),
    }
}

/// A hold over one product or several.
#[derive(Serialize, ToSchema)]
pub struct HoldView {
    pub id: Uuid,
    pub lines: Vec<HoldLine>,
}

/// The hold after a change, shown in the catalog where a product has become available or unavailable by it.
async fn shown(visit: &Visit, id: HoldId, holds: Vec<Hold>) -> HoldView {
    let turned = holds.iter().filter(|hold| hold.became.is_some());
    follow(visit, turned.map(|hold| hold.product_id).collect()).await;
    HoldView { id: id.0, lines: holds.into_iter().map(|hold| line(visit, hold)).collect() }
}

/// The hold is as it is, whatever the catalog shows of it: a failure to show is logged, not answered.
async fn follow(visit: &Visit, products: Vec<ProductId>) {
    for product in products {
        match flows::stock::follow_stock(&visit.ctx, product).await {
            Ok(_) | Err(flows::Error::Catalog(catalog::Error::ProductNotFound { .. })) => {}
            Err(error) => tracing::warn!(%product, %error, "the catalog does not show what is in stock"),
        }
    }
}

/// So many of a product.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HoldLineBody {
    product_id: Uuid,
    #[schema(example = 2, minimum = 1, maximum = 1000000)]
    quantity: i64,
}

/// What is to be kept.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HoldBody {
    /// Chosen by the client, the same for every try; a new one where it is not given.
    hold_id: Option<Uuid>,
    #[schema(min_items = 1, max_items = 1000)]
    lines: Vec<HoldLineBody>,
    /// For how long; as the shop's settings say where it is not given.
    #[schema(example = 900, minimum = 1)]
    seconds: Option<i64>,
}

/// Keep units of several products, all or none
///
/// After a refusal the hold's id is used up.
#[utoipa::path(post, path = "/v1/admin/inventory/holds", tag = "admin: inventory", request_body = HoldBody,
    responses((status = 201, description = "The hold", body = HoldView)))]
pub async fn reserve(
    visit: Visit,
    operation: Operation,
    Json(body): Json<HoldBody>,
) -> Result<(StatusCode, Json<HoldView>), Problem> {
    if body.lines.is_empty() {
        return Err(Problem::field("invalid", "/lines", "it is empty"));
    }
    let id = HoldId(body.hold_id.unwrap_or(operation.id));
    let lines = body.lines.iter();
    let lines: Vec<Line> =
        lines.map(|line| Line { product_id: ProductId(line.product_id), quantity: line.quantity }).collect();
    match inventory::reserve_lines(&visit.ctx, id, &lines, body.seconds).await {
        Ok(held) => Ok((StatusCode::CREATED, Json(shown(&visit, id, held).await))),
        Err(error) => {
            if let inventory::Error::InsufficientStock { short } = &error {
                follow(&visit, short.iter().map(|short| short.product).collect()).await;
            }
            Err(error.into())
        }
    }
}

/// On which products: a hold is found by them.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HoldProducts {
    #[schema(min_items = 1, max_items = 1000)]
    products: Vec<Uuid>,
}

fn ids(products: &[Uuid]) -> Result<Vec<ProductId>, Problem> {
    if products.is_empty() {
        return Err(Problem::field("invalid", "/products", "it is empty"));
    }
    Ok(products.iter().copied().map(ProductId).collect())
}

/// Give the units of a hold back
///
/// What was released is never confirmed, whatever comes late.
#[utoipa::path(post, path = "/v1/admin/inventory/holds/{id}/release", tag = "admin: inventory", request_body = HoldProducts,
    params(("id" = Uuid, Path, description = "The hold")),
    responses((status = 200, description = "The hold as it is now", body = HoldView)))]
pub async fn release(
    visit: Visit,
    Path(id): Path<HoldId>,
    Json(body): Json<HoldProducts>,
) -> Result<Json<HoldView>, Problem> {
    let holds = inventory::release_lines(&visit.ctx, id, &ids(&body.products)?).await?;
    Ok(Json(shown(&visit, id, holds).await))
}

/// Take the units of a hold out of the stock: they are sold
///
/// On all products or on none. Of a hold that has ended, if there are still as many free.
#[utoipa::path(post, path = "/v1/admin/inventory/holds/{id}/confirm", tag = "admin: inventory", request_body = HoldProducts,
    params(("id" = Uuid, Path, description = "The hold")),
    responses((status = 200, description = "The hold as it is now", body = HoldView)))]
pub async fn confirm(
    visit: Visit,
    Path(id): Path<HoldId>,
    Json(body): Json<HoldProducts>,
) -> Result<Json<HoldView>, Problem> {
    let holds = inventory::confirm_lines(&visit.ctx, id, &ids(&body.products)?).await?;
    Ok(Json(shown(&visit, id, holds).await))
}

/// On which products, and until when.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HoldExtension {
    #[schema(min_items = 1, max_items = 1000)]
    products: Vec<Uuid>,
    until: Time,
}

/// Keep the units of a hold longer
///
/// Never shorter, and no longer than the shop's settings allow from the hold's beginning on.
#[utoipa::path(post, path = "/v1/admin/inventory/holds/{id}/extend", tag = "admin: inventory", request_body = HoldExtension,
    params(("id" = Uuid, Path, description = "The hold")),
    responses((status = 200, description = "The hold as it is now", body = HoldView)))]
pub async fn extend(
    visit: Visit,
    Path(id): Path<HoldId>,
    Json(body): Json<HoldExtension>,
) -> Result<Json<HoldView>, Problem> {
    let holds = inventory::extend_lines(&visit.ctx, id, &ids(&body.products)?, body.until.0).await?;
    Ok(Json(shown(&visit, id, holds).await))
}

/// The holds on a product that are remembered, in force or not, by their ids
#[utoipa::path(get, path = "/v1/admin/inventory/holds", tag = "admin: inventory", params(OfProduct),
    responses((status = 200, description = "A page of them", body = Listing<HoldLine>), (status = 304, description = "As the client has it")))]
pub async fn list_holds(visit: Visit, Query(query): Query<OfProduct>) -> Result<Json<Listing<HoldLine>>, Problem> {
    let page = visit.page(&Paging { limit: query.limit, cursor: query.cursor })?;
    let found = inventory::list_holds(&visit.ctx, ProductId(query.product_id), page).await?;
    Ok(Json(visit.listed(found.holds, found.next, |hold| line(&visit, hold))))
}
