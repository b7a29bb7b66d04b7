//! Products, drafts included.

use std::collections::{BTreeMap, BTreeSet};

use axum::response::Response;
use http::StatusCode;
use merkato::{
    Currency,
    catalog::{self, NewProduct, PriceStep, Product, ProductChange, ProductEntry, ProductStatus},
    id::{CategoryId, ProductId},
};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{amount, amount_in, created};
use crate::http::{
    Json, Path, Problem, Query, Visit,
    conditional::{IfMatch, Tagged},
    cursor::{cursor_at, version_of},
    operation::Operation,
    v1::catalog::ProductView,
    wire::{Listing, Money, Paging, Time, mirror},
};

mirror! {
    /// Only active products are shown to shoppers.
    StaffProductStatus = ProductStatus { Draft, Active, Archived }
}

/// Where a product stands in a featured list.
#[derive(Serialize, ToSchema)]
pub struct PlacementView {
    pub position: i32,
    pub badge: Option<String>,
}

/// Everything about one product, also what shoppers do not see.
#[derive(Serialize, ToSchema)]
pub struct StaffProduct {
    #[serde(flatten)]
    pub product: ProductView,
    pub status: StaffProductStatus,
    /// Units sold: what the order `popular` goes by.
    pub popularity: i64,
    /// The featured lists it stands in.
    pub featured: BTreeMap<String, PlacementView>,
}

impl From<Product> for StaffProduct {
    fn from(mut product: Product) -> Self {
        let featured = std::mem::take(&mut product.featured).into_iter();
        StaffProduct {
            status: product.status.into(),
            popularity: product.popularity,
            featured: featured
                .map(|(list, place)| (list, PlacementView { position: place.position, badge: place.badge }))
                .collect(),
            product: product.into(),
        }
    }
}

fn tagged(product: Product) -> Tagged<Json<StaffProduct>> {
    Tagged { revision: product.revision, view: Json(product.into()) }
}

/// A product as the list for staff shows it.
#[derive(Serialize, ToSchema)]
pub struct StaffProductCard {
    pub id: Uuid,
    pub name: String,
    pub slug: String,
    pub sku: Option<String>,
    pub category_id: Uuid,
    pub category_name: String,
    pub thumbnail_url: Option<String>,
    pub price: Money,
    pub status: StaffProductStatus,
    pub in_stock: bool,
    pub created_at: Time,
}

impl From<ProductEntry> for StaffProductCard {
    fn from(entry: ProductEntry) -> Self {
        StaffProductCard {
            id: entry.product_id.0,
            price: Money::new(entry.price, &entry.currency),
            name: entry.name,
            slug: entry.slug,
            sku: entry.sku,
            category_id: entry.category_id.0,
            category_name: entry.category_name,
            thumbnail_url: entry.thumbnail_url,
            status: entry.status.into(),
            in_stock: entry.in_stock,
            created_at: entry.created_at.into(),
        }
    }
}

/// A product as it should be. Whether it is in stock, its ratings and how much of it was sold are not an editor's to say.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProductBody {
    #[schema(example = "Walnut desk lamp", min_length = 1, max_length = 600)]
    name: String,
    /// Made of the name where it is not given; when a product is changed, it stays as it was.
    #[schema(example = "walnut-desk-lamp", max_length = 120, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$")]
    slug: Option<String>,
    #[schema(max_length = 50000)]
    description: Option<String>,
    category_id: Uuid,
    #[schema(min_length = 1, max_length = 200)]
    brand: Option<String>,
    price: Money,
    /// In the currency of the price.
    compare_at_price: Option<Money>,
    #[schema(min_length = 1, max_length = 200)]
    sku: Option<String>,
    #[schema(minimum = 0, maximum = 100000000)]
    weight_grams: Option<i32>,
    /// Height, width, depth and the like, in millimetres.
    #[serde(default)]
    dimensions: BTreeMap<String, i32>,
    #[serde(default)]
    #[schema(max_items = 50)]
    image_urls: Vec<String>,
    #[schema(min_length = 1, max_length = 2000)]
    thumbnail_url: Option<String>,
    #[serde(default)]
    attributes: BTreeMap<String, String>,
    #[serde(default)]
    #[schema(max_items = 50)]
    tags: BTreeSet<String>,
    /// `draft` if it is not given; when a product is changed, it stays as it was.
    status: Option<StaffProductStatus>,
}

impl ProductBody {
    fn prices(&self) -> Result<(Decimal, Option<Decimal>, Currency), Problem> {
        let (price, currency) = amount("price", &self.price)?;
        let compare = self.compare_at_price.as_ref().map(|money| amount_in(&currency, "compare_at_price", money));
        Ok((price, compare.transpose()?, currency))
    }
}

/// Products, newest first, shown to shoppers or not
#[utoipa::path(get, path = "/v1/admin/products", tag = "admin: catalog", params(Paging),
    responses((status = 200, description = "A page of them", body = Listing<StaffProductCard>), (status = 304, description = "As the client has it")))]
pub async fn list_products(
    visit: Visit,
    Query(paging): Query<Paging>,
) -> Result<Json<Listing<StaffProductCard>>, Problem> {
    let found = catalog::list_products_by_age(&visit.ctx, visit.page(&paging)?).await?;
    Ok(Json(visit.listed(found.rows, found.next, StaffProductCard::from)))
}

/// Make a product
#[utoipa::path(post, path = "/v1/admin/products", tag = "admin: catalog", request_body = ProductBody,
    responses((status = 201, description = "The product", body = StaffProduct,
        headers(("Location" = String, description = "Where it is"), ("ETag" = String, description = "For If-Match")))))]
pub async fn create_product(
    visit: Visit,
    operation: Operation,
    Json(body): Json<ProductBody>,
) -> Result<Response, Problem> {
    let (price, compare_at_price, currency) = body.prices()?;
    let id = ProductId(operation.id);
    let new = NewProduct {
        product_id: Some(id),
        slug: body.slug,
        description: body.description,
        brand: body.brand,
        compare_at_price,
        sku: body.sku,
        weight_grams: body.weight_grams,
        dimensions: body.dimensions,
        image_urls: body.image_urls,
        thumbnail_url: body.thumbnail_url,
        attributes: body.attributes,
        tags: body.tags,
        status: body.status.map_or(ProductStatus::Draft, Into::into),
        ..NewProduct::named(body.name, CategoryId(body.category_id), price, currency)
    };
    let product = match catalog::create_product(&visit.ctx, new).await {
        // An earlier try of this very request has made it.
        Err(catalog::Error::ProductExists { .. }) if operation.may_be_known => {
            catalog::get_product(&visit.ctx, id).await?
        }
        made => made?,
    };
    Ok(created(&format!("/v1/admin/products/{id}"), tagged(product)))
}

/// A product, shown to shoppers or not
#[utoipa::path(get, path = "/v1/admin/products/{id}", tag = "admin: catalog", params(("id" = Uuid, Path, description = "The product")),
    responses((status = 200, description = "The product", body = StaffProduct), (status = 304, description = "As the client has it")))]
pub async fn get_product(visit: Visit, Path(id): Path<ProductId>) -> Result<Tagged<Json<StaffProduct>>, Problem> {
    Ok(tagged(catalog::get_product(&visit.ctx, id).await?))
}

/// Change a product
///
/// What is absent is taken away, but for the slug and the status, which stay. Every list follows at once.
#[utoipa::path(put, path = "/v1/admin/products/{id}", tag = "admin: catalog", request_body = ProductBody,
    params(("id" = Uuid, Path, description = "The product"),
        ("If-Match" = Option<String>, Header, description = "The ETag that the change rests upon")),
    responses((status = 200, description = "The product as it is now", body = StaffProduct,
        headers(("ETag" = String, description = "For If-Match")))))]
pub async fn change_product(
    visit: Visit,
    Path(id): Path<ProductId>,
    IfMatch(expected): IfMatch,
    Json(body): Json<ProductBody>,
) -> Result<Tagged<Json<StaffProduct>>, Problem> {
    let (price, compare_at_price, currency) = body.prices()?;
    let change = ProductChange {
        name: Some(body.name),
        slug: body.slug,
        description: Some(body.description),
        category_id: Some(CategoryId(body.category_id)),
        brand: Some(body.brand),
        price: Some(price),
        compare_at_price: Some(compare_at_price),
        currency: Some(currency),
        sku: Some(body.sku),
        weight_grams: Some(body.weight_grams),
        dimensions: Some(body.dimensions),
        image_urls: Some(body.image_urls),
        thumbnail_url: Some(body.thumbnail_url),
        attributes: Some(body.attributes),
        tags: Some(body.tags),
        status: body.status.map(Into::into),
    };
    Ok(tagged(catalog::change_product(&visit.ctx, id, expected, change).await?))
}

/// Take a product out of every list
///
/// It is archived: orders and carts go on naming it.
#[utoipa::path(delete, path = "/v1/admin/products/{id}", tag = "admin: catalog",
    params(("id" = Uuid, Path, description = "The product"),
        ("If-Match" = Option<String>, Header, description = "The ETag that the change rests upon")),
    responses((status = 204, description = "It is archived")))]
pub async fn archive_product(
    visit: Visit,
    Path(id): Path<ProductId>,
    IfMatch(expected): IfMatch,
) -> Result<StatusCode, Problem> {
    catalog::archive_product(&visit.ctx, id, expected).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A price that a product came to have.
#[derive(Serialize, ToSchema)]
pub struct PriceView {
    /// Counted from 1 without a gap.
    #[schema(example = 2)]
    pub version: i64,
    pub at: Time,
    pub was: Money,
    pub price: Money,
}

impl From<PriceStep> for PriceView {
    fn from(step: PriceStep) -> Self {
        let PriceStep { version, at, change } = step;
        PriceView {
            version,
            at: at.into(),
            was: Money::new(change.was, &change.was_currency),
            price: Money::new(change.price, &change.currency),
        }
    }
}

/// What a product has cost, the newest price first
///
/// As its events tell it. A product whose price never changed has none.
#[utoipa::path(get, path = "/v1/admin/products/{id}/prices", tag = "admin: catalog",
    params(("id" = Uuid, Path, description = "The product"), Paging),
    responses((status = 200, description = "A page of them", body = Listing<PriceView>), (status = 304, description = "As the client has it")))]
pub async fn list_prices(
    visit: Visit,
    Path(id): Path<ProductId>,
    Query(paging): Query<Paging>,
) -> Result<Json<Listing<PriceView>>, Problem> {
    let page = visit.page(&paging)?;
    let found = catalog::price_history(&visit.ctx, id, version_of(&page)?, page.limit).await?;
    Ok(Json(visit.listed(found.steps, found.before.map(cursor_at), PriceView::from)))
}
