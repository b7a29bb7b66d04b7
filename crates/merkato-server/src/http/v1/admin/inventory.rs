//! What each warehouse has of a product, and what changes it besides sales.
//!
//! Whatever changes the stock is shown in the catalog before it is answered; a request that was stopped in between shows it
//! when it is made again.

use merkato::{
    catalog, flows,
    id::{MovementId, ProductId},
    inventory::{self, Availability, Level, LowStock, Moved, MovementKind, Note, StockLevels, StockMovement},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::actor;
use crate::http::{
    Json, Path, Problem, Query, Visit,
    conditional::{IfMatch, Tagged},
    operation::Operation,
    wire::{Listing, Paging, Time, mirror},
};

/// What one warehouse has of a product.
#[derive(Serialize, ToSchema)]
pub struct WarehouseView {
    #[schema(example = "vienna")]
    pub warehouse_id: String,
    /// Units that are there, reserved or not.
    pub quantity: i32,
    pub reserved: i32,
    pub available: i32,
    /// From how many available units down it is listed as low; 0: never.
    pub low_stock_threshold: i32,
    pub updated_at: Time,
}

/// The stock of a product.
#[derive(Serialize, ToSchema)]
pub struct StockView {
    pub product_id: Uuid,
    /// Whether units are counted at all.
    pub tracked: bool,
    /// Whether more may be sold than is there.
    pub backorder: bool,
    pub in_stock: bool,
    /// Over all warehouses, as are the next two.
    pub quantity: i64,
    pub reserved: i64,
    pub available: i64,
    pub warehouses: Vec<WarehouseView>,
}

fn tagged(stock: StockLevels) -> Tagged<Json<StockView>> {
    let view = StockView {
        product_id: stock.product_id.0,
        tracked: stock.tracked,
        backorder: stock.backorder,
        in_stock: stock.availability() == Availability::InStock,
        quantity: stock.quantity(),
        reserved: stock.reserved(),
        available: stock.available(),
        warehouses: stock
            .warehouses
            .iter()
            .map(|level| WarehouseView {
                warehouse_id: level.warehouse_id.clone(),
                quantity: level.quantity,
                reserved: level.reserved,
                available: level.available(),
                low_stock_threshold: level.low_stock_threshold,
                updated_at: level.updated_at.into(),
            })
            .collect(),
    };
    Tagged { revision: stock.mark(), view: Json(view) }
}

/// The stock after a change that the catalog shows, too.
async fn shown(visit: &Visit, moved: Moved) -> Result<Tagged<Json<StockView>>, Problem> {
    // Also where nothing has turned: an earlier try of the same change may have been stopped before it was shown.
    flows::stock::follow_stock(&visit.ctx, moved.stock.product_id).await?;
    Ok(tagged(moved.stock))
}

/// Refuses a product that the shop has not: its stock would be nobody's.
async fn known(visit: &Visit, product: ProductId) -> Result<(), Problem> {
    catalog::get_product(&visit.ctx, product).await?;
    Ok(())
}

fn note(visit: &Visit, reason: Option<String>) -> Result<Note, Problem> {
    Ok(Note { actor: Some(actor(visit)?), reason })
}

/// What each warehouse has of a product
#[utoipa::path(get, path = "/v1/admin/inventory/{product_id}", tag = "admin: inventory",
    params(("product_id" = Uuid, Path, description = "The product")),
    responses((status = 200, description = "Its stock", body = StockView), (status = 304, description = "As the client has it")))]
pub async fn get_stock(visit: Visit, Path(product): Path<ProductId>) -> Result<Tagged<Json<StockView>>, Problem> {
    known(&visit, product).await?;
    Ok(tagged(inventory::get_stock(&visit.ctx, product).await?))
}

/// How the stock of a product is counted.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StockPolicy {
    /// Whether units are counted at all.
    #[schema(example = true)]
    tracked: bool,
    /// Whether more may be sold than is there.
    #[schema(example = false)]
    backorder: bool,
}

/// Say how the stock of a product is counted
#[utoipa::path(put, path = "/v1/admin/inventory/{product_id}", tag = "admin: inventory", request_body = StockPolicy,
    params(("product_id" = Uuid, Path, description = "The product")),
    responses((status = 200, description = "Its stock as it is now", body = StockView)))]
pub async fn set_policy(
    visit: Visit,
    Path(product): Path<ProductId>,
    Json(body): Json<StockPolicy>,
) -> Result<Tagged<Json<StockView>>, Problem> {
    known(&visit, product).await?;
    shown(&visit, inventory::set_policy(&visit.ctx, product, body.tracked, body.backorder).await?).await
}

/// What someone found in a warehouse.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LevelBody {
    /// The units that are there, reserved or not.
    #[schema(example = 40, minimum = 0, maximum = 1000000000)]
    quantity: i64,
    /// From how many available units down it is listed as low, 0: never. As it was where it is not given.
    #[schema(example = 5, minimum = 0, maximum = 1000000000)]
    low_stock_threshold: Option<i64>,
    #[schema(example = "Counted", min_length = 1, max_length = 200)]
    reason: Option<String>,
}

/// Make what a warehouse has what was counted there
///
/// Never less than is reserved. Units may be sold between the count and this request: with `If-Match` one is told.
#[utoipa::path(put, path = "/v1/admin/inventory/{product_id}/{warehouse_id}", tag = "admin: inventory", request_body = LevelBody,
    params(("product_id" = Uuid, Path, description = "The product"),
        ("warehouse_id" = String, Path, description = "The warehouse, new or not: a to z, digits, - and _"),
        ("If-Match" = Option<String>, Header, description = "The ETag of the product's stock that the count rests upon")),
    responses((status = 200, description = "The stock as it is now", body = StockView,
        headers(("ETag" = String, description = "For If-Match")))))]
pub async fn set_level(
    visit: Visit,
    Path((product, warehouse)): Path<(ProductId, String)>,
    IfMatch(expected): IfMatch,
    operation: Operation,
    Json(body): Json<LevelBody>,
) -> Result<Tagged<Json<StockView>>, Problem> {
    known(&visit, product).await?;
    let LevelBody { quantity, low_stock_threshold, reason } = body;
    let (level, note) = (Level { quantity, low_stock_threshold }, note(&visit, reason)?);
    let movement = MovementId(operation.id);
    shown(&visit, inventory::set_level(&visit.ctx, movement, product, &warehouse, level, expected, note).await?).await
}

/// Units that are added or taken away.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AdjustBody {
    #[schema(example = -2, minimum = -1000000, maximum = 1000000)]
    delta: i64,
    #[schema(example = "Broken", min_length = 1, max_length = 200)]
    reason: String,
}

/// Add units to a warehouse, or take free ones away
#[utoipa::path(post, path = "/v1/admin/inventory/{product_id}/{warehouse_id}/adjust", tag = "admin: inventory", request_body = AdjustBody,
    params(("product_id" = Uuid, Path, description = "The product"), ("warehouse_id" = String, Path, description = "The warehouse")),
    responses((status = 200, description = "The stock as it is now", body = StockView)))]
pub async fn adjust(
    visit: Visit,
    Path((product, warehouse)): Path<(ProductId, String)>,
    operation: Operation,
    Json(body): Json<AdjustBody>,
) -> Result<Tagged<Json<StockView>>, Problem> {
    known(&visit, product).await?;
    let (movement, note) = (MovementId(operation.id), note(&visit, Some(body.reason))?);
    shown(&visit, inventory::adjust(&visit.ctx, movement, product, &warehouse, body.delta, note).await?).await
}

/// Units that came in.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RestockBody {
    #[schema(example = 100, minimum = 1, maximum = 1000000)]
    units: i64,
    #[schema(example = "Delivery 4711", min_length = 1, max_length = 200)]
    reason: Option<String>,
}

/// Take units in
///
/// A warehouse that had none of the product has it from now on.
#[utoipa::path(post, path = "/v1/admin/inventory/{product_id}/{warehouse_id}/restock", tag = "admin: inventory", request_body = RestockBody,
    params(("product_id" = Uuid, Path, description = "The product"), ("warehouse_id" = String, Path, description = "The warehouse")),
    responses((status = 200, description = "The stock as it is now", body = StockView)))]
pub async fn restock(
    visit: Visit,
    Path((product, warehouse)): Path<(ProductId, String)>,
    operation: Operation,
    Json(body): Json<RestockBody>,
) -> Result<Tagged<Json<StockView>>, Problem> {
    known(&visit, product).await?;
    let (movement, note) = (MovementId(operation.id), note(&visit, body.reason)?);
    shown(&visit, inventory::restock(&visit.ctx, movement, product, &warehouse, body.units, note).await?).await
}

/// Units that go from one warehouse to another.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TransferBody {
    product_id: Uuid,
    #[schema(example = "vienna", pattern = "^[a-z0-9_-]{1,64}$")]
    from: String,
    #[schema(example = "graz", pattern = "^[a-z0-9_-]{1,64}$")]
    to: String,
    #[schema(example = 10, minimum = 1, maximum = 1000000)]
    units: i64,
    #[schema(min_length = 1, max_length = 200)]
    reason: Option<String>,
}

/// Move free units from one warehouse to another
#[utoipa::path(post, path = "/v1/admin/inventory/transfers", tag = "admin: inventory", request_body = TransferBody,
    responses((status = 200, description = "The stock as it is now", body = StockView)))]
pub async fn transfer(
    visit: Visit,
    operation: Operation,
    Json(body): Json<TransferBody>,
) -> Result<Tagged<Json<StockView>>, Problem> {
    let product = ProductId(body.product_id);
    known(&visit, product).await?;
    let (movement, note) = (MovementId(operation.id), note(&visit, body.reason)?);
    let ways = (body.from.as_str(), body.to.as_str());
    shown(&visit, inventory::transfer(&visit.ctx, movement, product, ways, body.units, note).await?).await
}

mirror! {
    MovementKindView = MovementKind { Restock, Adjust, Transfer }
}

/// What changed the stock of a product besides a sale.
#[derive(Serialize, ToSchema)]
pub struct MovementView {
    pub id: Uuid,
    pub kind: MovementKindView,
    /// Of a transfer: where the units came from.
    pub warehouse_id: String,
    /// Of a transfer: where they went.
    pub to_warehouse_id: Option<String>,
    /// What was added to the warehouse.
    pub delta: i32,
    pub reason: Option<String>,
    /// As `staff:` or `admin:` and a user's id, or `key:` and a key's.
    pub actor: Option<String>,
    pub moved_at: Time,
}

impl From<StockMovement> for MovementView {
    fn from(movement: StockMovement) -> Self {
        MovementView {
            id: movement.movement_id.0,
            kind: movement.kind.into(),
            warehouse_id: movement.warehouse_id,
            to_warehouse_id: movement.to_warehouse_id,
            delta: movement.delta,
            reason: movement.reason,
            actor: movement.actor,
            moved_at: movement.moved_at.into(),
        }
    }
}

/// Of which product.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct OfProduct {
    pub product_id: Uuid,
    /// How many, 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    pub limit: Option<usize>,
    /// `next_cursor` of the page before, of the same list.
    pub cursor: Option<String>,
}

/// What changed the stock of a product besides sales, newest first
#[utoipa::path(get, path = "/v1/admin/inventory/movements", tag = "admin: inventory", params(OfProduct),
    responses((status = 200, description = "A page of them", body = Listing<MovementView>), (status = 304, description = "As the client has it")))]
pub async fn list_movements(
    visit: Visit,
    Query(query): Query<OfProduct>,
) -> Result<Json<Listing<MovementView>>, Problem> {
    let page = visit.page(&Paging { limit: query.limit, cursor: query.cursor })?;
    let found = inventory::list_movements(&visit.ctx, ProductId(query.product_id), page).await?;
    Ok(Json(visit.listing(found, MovementView::from)))
}

/// What a warehouse is short of.
#[derive(Serialize, ToSchema)]
pub struct LowStockView {
    pub product_id: Uuid,
    pub quantity: i32,
    pub reserved: i32,
    pub available: i32,
    pub low_stock_threshold: i32,
}

impl From<LowStock> for LowStockView {
    fn from(low: LowStock) -> Self {
        LowStockView {
            product_id: low.product_id.0,
            quantity: low.quantity,
            reserved: low.reserved,
            available: low.available,
            low_stock_threshold: low.low_stock_threshold,
        }
    }
}

/// Of which warehouse.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct OfWarehouse {
    #[param(example = "vienna", pattern = "^[a-z0-9_-]{1,64}$")]
    warehouse_id: String,
    /// How many, 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// `next_cursor` of the page before, of the same list.
    cursor: Option<String>,
}

/// What a warehouse is short of, the scarcest first
#[utoipa::path(get, path = "/v1/admin/inventory/low-stock", tag = "admin: inventory", params(OfWarehouse),
    responses((status = 200, description = "A page of it", body = Listing<LowStockView>), (status = 304, description = "As the client has it")))]
pub async fn list_low_stock(
    visit: Visit,
    Query(query): Query<OfWarehouse>,
) -> Result<Json<Listing<LowStockView>>, Problem> {
    let page = visit.page(&Paging { limit: query.limit, cursor: query.cursor })?;
    let found = inventory::list_low_stock(&visit.ctx, &query.warehouse_id, page).await?;
    Ok(Json(visit.listing(found, LowStockView::from)))
}
