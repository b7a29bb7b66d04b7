//! Purchases are noted, and what goes with a product is read.

use futures::{StreamExt as _, TryStreamExt as _, stream};
use uuid::Uuid;
use widerow::{Commit, Error as DataError, Joint};

use super::tables::{BoughtTogether, RelatedProduct};
use crate::{check::Check, context::Context, graph::error::Result, id::ProductId, limits};

/// Partitions that one purchase is noted in at once.
const NOTED_AT_ONCE: usize = 8;

/// What is bought together with a product, most often first: one read of one partition.
pub async fn list_bought_together(
    ctx: &Context,
    product: ProductId,
    limit: usize,
) -> Result<Vec<RelatedProduct>, DataError> {
    Ok(ctx.store.slice::<RelatedProduct>(product).limit(limit).page().await?.rows)
}

/// Notes that these were bought in one purchase. The same purchase again changes nothing, as long as it is among the last of
/// its pair: it is asked again when a process stopped, not days later.
pub async fn record_purchase(ctx: &Context, purchase: Uuid, products: &[ProductId]) -> Result<()> {
    let distinct = distinct(products)?;
    let noted = distinct.iter().map(|id| note_others(ctx, purchase, *id, &distinct));
    stream::iter(noted.collect::<Vec<_>>()).buffer_unordered(NOTED_AT_ONCE).try_collect::<Vec<()>>().await?;
    Ok(())
}

/// As `record_purchase`, in a commit with other partitions.
pub(crate) async fn join_purchase(
    ctx: &Context,
    purchase: Uuid,
    products: &[ProductId],
    joint: &mut Joint,
) -> Result<()> {
    let distinct = distinct(products)?;
    for id in &distinct {
        let others = others(*id, &distinct);
        if !others.is_empty() {
            let opened = ctx.store.open::<BoughtTogether>(*id, others.iter().copied()).await?;
            let commit = noted(purchase, *id, &others, &opened.view.rows);
            joint.add(opened, commit);
        }
    }
    Ok(())
}

fn distinct(products: &[ProductId]) -> Result<Vec<ProductId>> {
    let mut check = Check::new();
    let mut distinct: Vec<ProductId> = products.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    check.count("products", distinct.len(), limits::BOUGHT_TOGETHER_MAX);
    check.end()?;
    Ok(distinct)
}

fn others(id: ProductId, products: &[ProductId]) -> Vec<ProductId> {
    products.iter().copied().filter(|other| *other != id).collect()
}

async fn note_others(ctx: &Context, purchase: Uuid, id: ProductId, products: &[ProductId]) -> Result<()> {
    let others = others(id, products);
    if others.is_empty() {
        return Ok(());
    }
    // RACE: two purchases of the product. Both count on one version of its rows, and only one commit finds it unchanged.
    ctx.store
        .guarded_prefixes::<BoughtTogether, _, DataError>(id, others.iter().copied(), |found| {
            Ok((noted(purchase, id, &others, &found.rows), ()))
        })
        .await?;
    Ok(())
}

/// One purchase more of the product with each of the others; nothing of those that know the purchase.
fn noted(purchase: Uuid, id: ProductId, others: &[ProductId], rows: &[BoughtTogether]) -> Commit {
    let mut commit = Commit::new();
    for other in others {
        let known = rows.iter().find(|row| row.other_id == *other);
        let (times, mut lately) = known.map_or((0, Vec::new()), |row| (row.times, row.lately.clone()));
        if lately.contains(&purchase) {
            continue;
        }
        lately.drain(..lately.len().saturating_sub(limits::PURCHASES_A_PAIR_KNOWN - 1));
        lately.push(purchase);
        commit = commit.put(&BoughtTogether { product_id: id, other_id: *other, times: times + 1, lately });
    }
    commit
}
