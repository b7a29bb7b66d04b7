//! Lists for the front page.

use std::collections::HashSet;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use widerow::Page;

use super::products::{list_products, note};
use crate::{
    catalog::{
        error::{Error, Result},
        tables::{FeatureMember, FeaturedProduct, Placement, Product},
    },
    check::Check,
    context::Context,
    id::ProductId,
    limits,
    pattern::PageRequest,
};

/// Products that are placed at once.
const PLACED_AT_ONCE: usize = 16;

/// A product in a list, with what stands on it: "Sale", "New", "Bestseller".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Featured {
    pub product_id: ProductId,
    pub badge: Option<String>,
}

/// Q4. The active products of a list, in its order.
pub async fn list_featured(ctx: &Context, feature_type: &str, page: PageRequest) -> Result<Page<FeaturedProduct>> {
    page.check()?;
    check_feature(&mut Check::new(), feature_type)?;
    let slice = ctx.store.slice::<FeaturedProduct>(feature_type.to_owned());
    Ok(slice.limit(page.limit).after(page.cursor).page().await?)
}

/// The products that have a place in a list, shown to shoppers or not, in its order: for editors.
pub async fn list_placed(ctx: &Context, feature_type: &str) -> Result<Vec<Product>> {
    check_feature(&mut Check::new(), feature_type)?;
    let members = ctx.store.slice::<FeatureMember>(feature_type.to_owned()).all(limits::FEATURED_MAX).await?;
    let ids: Vec<ProductId> = members.iter().map(|member| member.product_id).collect();
    let found = list_products(ctx, &ids).await?.into_iter().flatten();
    let position = |product: &Product| product.featured.get(feature_type).map(|placement| placement.position);
    let mut placed: Vec<_> = found.filter(|product| position(product).is_some()).collect();
    placed.sort_by_key(|product| (position(product), product.product_id));
    Ok(placed)
}

/// Makes the list what is given, in this order. Products are placed one by one: for a moment a reader can see some of the
/// old list among the new one. Where it is stopped half-way, the same call again finishes it.
pub async fn set_featured(ctx: &Context, feature_type: &str, list: &[Featured]) -> Result<()> {
    let mut check = Check::new();
    check.count("products", list.len(), limits::FEATURED_MAX);
    let mut ids = HashSet::new();
    for (i, featured) in list.iter().enumerate() {
        check.that(ids.insert(featured.product_id), format!("products/{i}"), "it is in the list twice");
        check.optional_line(&format!("products/{i}/badge"), featured.badge.as_deref(), limits::LINE_BYTES_MAX);
    }
    check_feature(&mut check, feature_type)?;
    let wanted: Vec<ProductId> = list.iter().map(|featured| featured.product_id).collect();
    let found = list_products(ctx, &wanted).await?;
    if let Some((product, _)) = wanted.iter().zip(&found).find(|(_, found)| found.is_none()) {
        return Err(Error::ProductNotFound { product: *product });
    }
    let before = ctx.store.slice::<FeatureMember>(feature_type.to_owned()).all(limits::FEATURED_MAX * 10).await?;
    let gone = before.iter().map(|member| member.product_id).filter(|id| !ids.contains(id));
    let changes = list.iter().enumerate().map(|(i, featured)| {
        let placement = Placement { position: i as i32 + 1, badge: featured.badge.clone() };
        (featured.product_id, Some(placement))
    });
    let place = changes.chain(gone.map(|id| (id, None))).map(|(id, placement)| async move {
        let placed = note(ctx, id, |product| match &placement {
            Some(placement) => _ = product.featured.insert(feature_type.to_owned(), placement.clone()),
            None => _ = product.featured.remove(feature_type),
        });
        placed.await
    });
    stream::iter(place.collect::<Vec<_>>()).buffered(PLACED_AT_ONCE).try_collect::<Vec<()>>().await?;
    Ok(())
}

fn check_feature(check: &mut Check, feature_type: &str) -> Result<()> {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let name = !feature_type.is_empty() && feature_type.len() <= 40 && feature_type.chars().all(good);
    check.that(name, "feature_type", "1 to 40 of the letters a to z, digits and _ are wanted, as in new_arrivals");
    Ok(std::mem::take(check).end()?)
}
