//! All sales of a category, a brand or a product, piece by piece, for figures: each is read once, and few are held at a time.

use futures::future::try_join_all;
use rust_decimal::Decimal;
use widerow::Date;

use super::read::{Days, brand_hits, category_hits, category_partitions, complete};
use crate::{
    check::Check,
    context::Context,
    sales::{
        error::Result,
        figures::{self, Skew},
        record, retention,
        season::Season,
        tables::{CategorySale, SaleRecord, SaleVector, VECTOR_SHARDS},
    },
};

/// Rows of one shard that are read at once, and hits whose records are read at once.
const PIECE: usize = 500;
const TOGETHER: usize = 1_000;

/// Shows every sale of a category between two days, by day and price; how many there were.
pub async fn walk_category(
    ctx: &Context,
    category: &str,
    season: Option<Season>,
    days: Days,
    mut see: impl FnMut(SaleRecord),
) -> Result<u64> {
    let mut hits = category_hits(ctx, category, season, days, PIECE, None)?;
    let mut seen = 0;
    loop {
        let some = hits.take(TOGETHER).await?;
        if some.is_empty() {
            return Ok(seen);
        }
        for sale in complete(ctx, &some).await? {
            if season.is_none_or(|season| sale.season.as_deref() == Some(season.as_str())) {
                seen += 1;
                see(sale);
            }
        }
    }
}

/// Shows the day and price of every sale of a category, from the index alone and in no order: no record is read. On DynamoDB,
/// where the index does not tell the end of a sale, those are left out whose day is beyond the retention.
pub async fn walk_category_prices(
    ctx: &Context,
    category: &str,
    days: Days,
    mut see: impl FnMut(Date, Decimal),
) -> Result<u64> {
    let (now, years) = (ctx.now(), ctx.settings.sales.retention());
    let mut seen = 0;
    every_hit(ctx, category, days, |hit| {
        let ended = retention::end(hit.sale_date, years).is_some_and(|end| end <= now);
        if let Some(price) = hit.price.price().filter(|_| !ended) {
            seen += 1;
            see(hit.sale_date, price);
        }
    })
    .await?;
    Ok(seen)
}

/// Shows every hit of a category, a piece of each shard at a time, as they come: whoever counts needs no order.
async fn every_hit(ctx: &Context, category: &str, days: Days, mut see: impl FnMut(CategorySale)) -> Result<()> {
    let (from, to) = days.bounds();
    let mut shards: Vec<_> =
        category_partitions(ctx, category, days)?.into_iter().map(|partition| (partition, None)).collect();
    while !shards.is_empty() {
        let pages = shards.into_iter().map(|(partition, cursor)| async move {
            let slice = ctx.store.slice::<CategorySale>(partition.clone()).from(from).to(to);
            Ok::<_, widerow::Error>((partition, slice.limit(PIECE).after(cursor).page().await?))
        });
        let pages = try_join_all(pages).await?;
        shards = Vec::new();
        for (partition, page) in pages {
            page.rows.into_iter().for_each(&mut see);
            shards.extend(page.next.map(|next| (partition, Some(next))));
        }
    }
    Ok(())
}

/// Shows every sale of a brand between two days, by day and price.
pub async fn walk_brand(ctx: &Context, brand: &str, days: Days, mut see: impl FnMut(SaleRecord)) -> Result<u64> {
    let mut hits = brand_hits(ctx, brand, days, TOGETHER, None)?;
    let mut seen = 0;
    loop {
        let some = hits.take(TOGETHER).await?;
        if some.is_empty() {
            return Ok(seen);
        }
        for sale in complete(ctx, &some).await? {
            seen += 1;
            see(sale);
        }
    }
}

/// Shows every sale of a product between two days, oldest first.
pub async fn walk_product(ctx: &Context, product_id: &str, days: Days, mut see: impl FnMut(SaleRecord)) -> Result<u64> {
    let mut check = Check::new();
    record::id(&mut check, "product_id", product_id);
    days.check(&mut check);
    check.end()?;
    let (from, to) = days.bounds();
    let (mut seen, mut cursor) = (0, None);
    loop {
        let slice = ctx.store.slice::<SaleRecord>(product_id.to_owned()).from(from).to(to);
        let page = slice.limit(TOGETHER).after(cursor).page().await?;
        for sale in page.rows {
            seen += 1;
            see(sale);
        }
        cursor = page.next;
        if cursor.is_none() {
            return Ok(seen);
        }
    }
}

/// Shows every vector of the tenant, shard by shard, by product.
pub async fn walk_vectors(ctx: &Context, mut see: impl FnMut(SaleVector)) -> Result<u64> {
    let mut seen = 0;
    for shard in 0..VECTOR_SHARDS as i32 {
        let mut cursor = None;
        loop {
            let page = ctx.store.slice::<SaleVector>(shard).limit(TOGETHER).after(cursor).page().await?;
            for vector in page.rows {
                seen += 1;
                see(vector);
            }
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
    }
    Ok(seen)
}

/// How evenly the sales of a category are spread over its shards.
pub async fn count_shards(ctx: &Context, category: &str, days: Days) -> Result<Skew> {
    let mut counts = vec![0; ctx.settings.sales.category_shards.max(1) as usize];
    every_hit(ctx, category, days, |hit| {
        if let Some(count) = counts.get_mut(hit.category_shard as usize) {
            *count += 1;
        }
    })
    .await?;
    Ok(figures::skew(&counts)?)
}
