//! Which warehouses there are.

use std::collections::BTreeSet;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use merkato::{Context, PageRequest, catalog, id::ProductId, inventory};

use crate::http::Problem;

/// Products whose stock is asked where it lies, and how many at once.
const ASKED: usize = 24;
const AT_ONCE: usize = 8;

/// The warehouses that have something of the newest products, by their ids.
pub async fn known(ctx: &Context) -> Result<Vec<String>, Problem> {
    let newest = catalog::list_products_by_age(ctx, PageRequest::first(ASKED)).await?;
    let ids: Vec<ProductId> = newest.rows.iter().map(|entry| entry.product_id).collect();
    let stocks = stream::iter(ids.into_iter().map(|id| inventory::get_stock(ctx, id))).buffered(AT_ONCE);
    let stocks: Vec<_> = stocks.try_collect().await?;
    let all = stocks.into_iter().flat_map(|stock| stock.warehouses).map(|level| level.warehouse_id);
    Ok(all.collect::<BTreeSet<_>>().into_iter().collect())
}
