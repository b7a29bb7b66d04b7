//! Views of products: counted in memory, written some seconds later, exactly once.

use std::{ops::Bound, pin::pin, time::Duration};

use futures::{StreamExt as _, TryStreamExt as _, future::try_join_all, stream};
use widerow::{Date, Store};

use super::sales::check_days;
use crate::{
    analytics::{
        error::Result,
        rules,
        sketch::VisitorHash,
        tables::{ProductViews, SHARDS, ViewedProduct},
        views::{Full, Key},
    },
    check::{Check, Invalid},
    context::Context,
    id::ProductId,
    limits,
};

/// Products whose views are written at once.
const WRITTEN_AT_ONCE: usize = 16;
/// Days that are read at once.
const DAYS_AT_ONCE: usize = 4;
/// Tries to write what is left when the process stops, and the pause between them.
const LAST_TRIES: usize = 5;
const LAST_PAUSE: Duration = Duration::from_millis(500);

/// What a flush wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flushed {
    /// Products and days.
    pub rows: usize,
    pub views: i64,
}

/// Counts a view of a product, today, by a visitor who is known by some bytes (a cookie, a user's id). Whether there is such
/// a product is not asked.
///
/// It is counted in memory and written by the next flush: what a crash loses is what was seen since. Where the buffer is
/// full it is flushed at once; if that fails, the view is not counted, and the answer says why.
pub async fn view_product(ctx: &Context, product: ProductId, visitor: &[u8]) -> Result<()> {
    if !(1..=limits::VISITOR_BYTES_MAX).contains(&visitor.len()) {
        let problem = format!("it has {} bytes, 1 to {} are wanted", visitor.len(), limits::VISITOR_BYTES_MAX);
        return Err(Invalid::new("visitor", problem).into());
    }
    let key = (ctx.store.tenant().clone(), product, ctx.now().date());
    let visitor = VisitorHash::of(product.0.as_bytes(), visitor);
    let views = &ctx.analytics.views;
    while let Err(Full) = views.count(key.clone(), visitor, &ctx.settings.analytics) {
        flush_views(ctx).await?;
    }
    Ok(())
}

/// Writes what was seen since the last flush, of all tenants: for each product and day one guarded commit of one row, and the
/// row of `product_views_by_day` that follows from it. Of what could not be written, or may or may not have been, the first error is told; it stays in the buffer, and the next flush writes it
/// under the same id, once.
pub async fn flush_views(ctx: &Context) -> Result<Flushed> {
    let views = &ctx.analytics.views;
    let _turn = views.flushing.lock().await;
    let keys = views.keys();
    let written = keys.into_iter().map(|key| async move {
        let (mut flushed, mut failed) = (Flushed::default(), None);
        // What was on its way before, and what came since.
        for _ in 0..2 {
            match write(ctx, &key).await {
                Ok(Some(views)) => flushed = Flushed { rows: 1, views: flushed.views + views },
                Ok(None) => break,
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        (flushed, failed)
    });
    let mut written = pin!(stream::iter(written).buffer_unordered(WRITTEN_AT_ONCE));
    let (mut all, mut failed) = (Flushed::default(), None);
    while let Some((flushed, error)) = written.next().await {
        all = Flushed { rows: all.rows + flushed.rows, views: all.views + flushed.views };
        failed = failed.or(error);
    }
    failed.map_or(Ok(all), |error| Err(error.into()))
}

/// Writes one product's views of one day; how many there were, None if there were none.
async fn write(ctx: &Context, key: &Key) -> widerow::Result<Option<i64>> {
    let views = &ctx.analytics.views;
    let Some((flush, seen)) = views.leave(key, || ctx.new_id()) else { return Ok(None) };
    let (tenant, product, date) = key;
    let store: Store = ctx.store.database().tenant(tenant.as_str())?;
    store
        .guarded_prefix::<ProductViews, _, widerow::Error>(*product, *date, |view| {
            let row = rules::see(view.rows.first(), (*product, *date), &seen, views.process, flush)?;
            Ok((row.iter().fold(widerow::Commit::new(), widerow::Commit::put), ()))
        })
        .await?;
    // ORDER: forgotten only after it was written. A process that dies in between loses nothing that was not written.
    views.arrived(key);
    Ok(Some(seen.views))
}

/// Flushes again and again, until it is told to stop, and once more then. One in each process is enough.
pub async fn keep_flushing(ctx: Context, every: Duration, stop: impl Future<Output = ()>) {
    let mut stop = pin!(stop);
    while tokio::time::timeout(every, stop.as_mut()).await.is_err() {
        if let Err(error) = flush_views(&ctx).await {
            tracing::warn!(%error, "some views were not written and will be tried again");
        }
    }
    for _ in 0..LAST_TRIES {
        match flush_views(&ctx).await {
            Ok(_) => return,
            Err(error) => tracing::warn!(%error, "some views were not written before the stop"),
        }
        tokio::time::sleep(LAST_PAUSE).await;
    }
}

/// Q19. The views of a product on these days, the newest first; days without any are left out. One partition.
pub async fn list_product_views(ctx: &Context, product: ProductId, from: Date, to: Date) -> Result<Vec<ProductViews>> {
    let mut check = Check::new();
    check_days(&mut check, from, to, limits::VIEW_DAYS_MAX);
    check.end()?;
    let slice = ctx.store.slice::<ProductViews>(product).from(Bound::Included(from)).to(Bound::Included(to));
    Ok(slice.limit(limits::VIEW_DAYS_MAX as usize).page().await?.rows)
}

/// What was looked at on a day, over all products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayViews {
    pub date: Date,
    pub view_count: i64,
    /// Products that were looked at.
    pub product_count: u64,
    /// Whether all products of the day are in it: of a day with very many, some are left out.
    pub is_whole: bool,
}

/// What was looked at on these days, over all products, as far as it is written. Of each day at most some thousand products
/// are read, side by side.
pub async fn list_day_views(ctx: &Context, from: Date, to: Date) -> Result<Vec<DayViews>> {
    let mut check = Check::new();
    check_days(&mut check, from, to, limits::DAY_VIEWS_DAYS_MAX);
    check.end()?;
    let days = (from.days()..=to.days()).map(Date::from_days).map(|date| async move {
        let shards = (0..SHARDS).map(|shard| {
            let slice = ctx.store.slice::<ViewedProduct>((date, shard));
            async move { slice.limit(limits::DAY_VIEWS_A_SHARD_MAX).page().await }
        });
        let mut day = DayViews { date, view_count: 0, product_count: 0, is_whole: true };
        for page in try_join_all(shards).await? {
            day.view_count = page.rows.iter().fold(day.view_count, |sum, row| sum.saturating_add(row.view_count));
            day.product_count += page.rows.len() as u64;
            day.is_whole &= page.next.is_none();
        }
        Ok(day)
    });
    stream::iter(days).buffered(DAYS_AT_ONCE).try_collect().await
}
