//! Lists for the front page.

use http::StatusCode;
use merkato::{
    catalog::{self, Featured},
    id::ProductId,
};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::http::{Json, Path, Problem, Visit};

/// A product of a list.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FeaturedEntry {
    product_id: Uuid,
    /// What stands on it.
    #[schema(example = "Sale", min_length = 1, max_length = 200)]
    badge: Option<String>,
}

/// A list as it should be.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FeaturedBody {
    /// In their order.
    #[schema(max_items = 100)]
    products: Vec<FeaturedEntry>,
}

/// Make a list for the front page what is given
#[utoipa::path(put, path = "/v1/admin/featured/{feature_type}", tag = "admin: catalog", request_body = FeaturedBody,
    params(("feature_type" = String, Path, description = "As homepage, deals or new_arrivals")),
    responses((status = 204, description = "It is so")))]
pub async fn set_featured(
    visit: Visit,
    Path(feature_type): Path<String>,
    Json(body): Json<FeaturedBody>,
) -> Result<StatusCode, Problem> {
    let featured = |entry: FeaturedEntry| Featured { product_id: ProductId(entry.product_id), badge: entry.badge };
    let list: Vec<Featured> = body.products.into_iter().map(featured).collect();
    catalog::set_featured(&visit.ctx, &feature_type, &list).await?;
    Ok(StatusCode::NO_CONTENT)
}
