//! That a product was looked at.

use http::StatusCode;
use merkato::{
    analytics,
    catalog::{self, ProductStatus},
    id::ProductId,
    limits,
};

use crate::http::{Path, Problem, Visit, Who};

/// Count a view of a product
///
/// A visitor is a person, a guest, or whoever comes from the same address with the same browser.
#[utoipa::path(post, path = "/v1/products/{id}/views", tag = "catalog", params(("id" = uuid::Uuid, Path, description = "The product")),
    responses((status = 204, description = "It is counted")))]
pub async fn view_product(visit: Visit, Path(id): Path<ProductId>) -> Result<StatusCode, Problem> {
    // Views of what there is not would fill the tables.
    let product = catalog::get_product(&visit.ctx, id).await?;
    if product.status != ProductStatus::Active {
        return Err(catalog::Error::ProductNotFound { product: id }.into());
    }
    count(&visit, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Counts a view of a product that is on sale.
pub async fn count(visit: &Visit, id: ProductId) -> Result<(), Problem> {
    let visitor = match visit.who {
        Who::Nobody => {
            format!("{} {}", visit.client.address, visit.client.user_agent.as_deref().unwrap_or_default())
        }
        _ => visit.principal(),
    };
    let bytes = visitor.as_bytes();
    analytics::view_product(&visit.ctx, id, &bytes[..bytes.len().min(limits::VISITOR_BYTES_MAX)]).await?;
    Ok(())
}
