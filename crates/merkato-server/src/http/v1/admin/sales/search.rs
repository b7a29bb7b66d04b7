//! The ways in which sales are found, page by page.

use merkato::sales::{self, Embedding, NameKind, SaleName};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{SalesBetween, SeasonView, currency, days, records::SaleView};
use crate::http::{
    Json, Path, Problem, Query, Visit,
    wire::{Day, Listing, Money, Paging},
};

/// The sales of a product, oldest first
#[utoipa::path(get, path = "/v1/admin/sales/products/{product_id}", tag = "admin: sales",
    params(("product_id" = String, Path, description = "The product"), SalesBetween),
    responses((status = 200, description = "A page of them", body = Listing<SaleView>), (status = 304, description = "As the client has it")))]
pub async fn list_product_sales(
    visit: Visit,
    Path(product): Path<String>,
    Query(query): Query<SalesBetween>,
) -> Result<Json<Listing<SaleView>>, Problem> {
    let (days, paging) = (days(query.from, query.to), Paging { limit: query.limit, cursor: query.cursor });
    let found = sales::list_product_sales(&visit.ctx, &product, days, visit.page(&paging)?).await?;
    let currency = currency(&visit);
    Ok(Json(visit.listing(found, |sale| SaleView::new(sale, currency))))
}

/// An embedding of a product, as its index has it.
#[derive(Serialize, ToSchema)]
pub struct EmbeddingView {
    #[schema(example = "prod_123")]
    pub product_id: String,
    pub sale_date: Day,
    #[schema(example = "sale_abc")]
    pub sale_id: String,
    #[schema(example = "s3://bucket/products/prod_123/sales/sale_abc.json")]
    pub embedding_s3_key: String,
    pub category: String,
    pub sale_price: Money,
    pub brand: Option<String>,
}

/// The embeddings of a product, oldest first
///
/// A page may be short, even empty, and not the last: a product's embeddings stand among those of others.
#[utoipa::path(get, path = "/v1/admin/sales/products/{product_id}/embeddings", tag = "admin: sales",
    params(("product_id" = String, Path, description = "The product"), SalesBetween),
    responses((status = 200, description = "A page of them", body = Listing<EmbeddingView>), (status = 304, description = "As the client has it")))]
pub async fn list_embeddings(
    visit: Visit,
    Path(product): Path<String>,
    Query(query): Query<SalesBetween>,
) -> Result<Json<Listing<EmbeddingView>>, Problem> {
    let (days, paging) = (days(query.from, query.to), Paging { limit: query.limit, cursor: query.cursor });
    let found = sales::list_embeddings(&visit.ctx, &product, days, visit.page(&paging)?).await?;
    let currency = currency(&visit);
    Ok(Json(visit.listed(found.rows, found.next, |row: Embedding| EmbeddingView {
        sale_price: Money::new(row.sale_price, currency),
        product_id: row.product_id,
        sale_date: row.sale_date.into(),
        sale_id: row.sale_id,
        embedding_s3_key: row.embedding_s3_key,
        category: row.category,
        brand: row.brand,
    })))
}

/// Which season and days, and which page.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct TrendsQuery {
    /// Of one season alone, as the records name it.
    #[param(inline)]
    season: Option<SeasonView>,
    /// The first day; from the first sale on if it is not said.
    #[param(inline)]
    from: Option<Day>,
    /// The last day; to the last sale if it is not said.
    #[param(inline)]
    to: Option<Day>,
    /// How many, 24 if it is not said.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// `next_cursor` of the page before, of the same list.
    cursor: Option<String>,
}

/// The sales of a category by day and price, of one season if it is named
///
/// A page may be short, even empty, and not the last, where most sales are of another season.
#[utoipa::path(get, path = "/v1/admin/sales/categories/{category}/trends", tag = "admin: sales",
    params(("category" = String, Path, description = "The category"), TrendsQuery),
    responses((status = 200, description = "A page of them", body = Listing<SaleView>), (status = 304, description = "As the client has it")))]
pub async fn list_trends(
    visit: Visit,
    Path(category): Path<String>,
    Query(query): Query<TrendsQuery>,
) -> Result<Json<Listing<SaleView>>, Problem> {
    let (days, paging) = (days(query.from, query.to), Paging { limit: query.limit, cursor: query.cursor });
    let season = query.season.map(Into::into);
    let found = sales::list_category_sales(&visit.ctx, &category, season, days, visit.page(&paging)?).await?;
    let currency = currency(&visit);
    Ok(Json(visit.listed(found.rows, found.next, |sale| SaleView::new(sale, currency))))
}

/// The sales of a brand by day and price
#[utoipa::path(get, path = "/v1/admin/sales/brands/{brand}", tag = "admin: sales",
    params(("brand" = String, Path, description = "The brand"), SalesBetween),
    responses((status = 200, description = "A page of them", body = Listing<SaleView>), (status = 304, description = "As the client has it")))]
pub async fn list_brand_sales(
    visit: Visit,
    Path(brand): Path<String>,
    Query(query): Query<SalesBetween>,
) -> Result<Json<Listing<SaleView>>, Problem> {
    let (days, paging) = (days(query.from, query.to), Paging { limit: query.limit, cursor: query.cursor });
    let found = sales::list_brand_sales(&visit.ctx, &brand, days, visit.page(&paging)?).await?;
    let currency = currency(&visit);
    Ok(Json(visit.listed(found.rows, found.next, |sale| SaleView::new(sale, currency))))
}

/// A category or a brand that sales have named.
#[derive(Serialize, ToSchema)]
pub struct NameView {
    #[schema(example = "dress")]
    pub name: String,
}

impl From<SaleName> for NameView {
    fn from(name: SaleName) -> Self {
        NameView { name: name.name }
    }
}

/// The categories that sales have named, by name
#[utoipa::path(get, path = "/v1/admin/sales/categories", tag = "admin: sales", params(Paging),
    responses((status = 200, description = "A page of them", body = Listing<NameView>), (status = 304, description = "As the client has it")))]
pub async fn list_categories(visit: Visit, Query(paging): Query<Paging>) -> Result<Json<Listing<NameView>>, Problem> {
    let found = sales::list_names(&visit.ctx, NameKind::Category, visit.page(&paging)?).await?;
    Ok(Json(visit.listing(found, NameView::from)))
}

/// The brands that sales have named, by name
#[utoipa::path(get, path = "/v1/admin/sales/brands", tag = "admin: sales", params(Paging),
    responses((status = 200, description = "A page of them", body = Listing<NameView>), (status = 304, description = "As the client has it")))]
pub async fn list_brands(visit: Visit, Query(paging): Query<Paging>) -> Result<Json<Listing<NameView>>, Problem> {
    let found = sales::list_names(&visit.ctx, NameKind::Brand, visit.page(&paging)?).await?;
    Ok(Json(visit.listing(found, NameView::from)))
}
