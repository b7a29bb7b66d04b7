//! The best products.

use std::collections::BTreeMap;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use uuid::Uuid;
use widerow::{Commit, Consistency, Date, Error as DataError, Operator, Page, Timestamp};

use crate::{
    analytics::{
        error::Result,
        rules::{self, DaySales, Metric, RANKED_DAYS, Ranking},
        tables::{SHARDS, SoldProduct, TopProduct, ViewedProduct},
    },
    check::Check,
    context::Context,
    id::ProductId,
    limits,
    pattern::PageRequest,
};

/// Rows that are read in one request.
const ROWS: usize = 1_000;
/// Rows that are written in one commit, beside its guard.
const WRITTEN: usize = 98;
/// Lists that are written at once.
const LISTS_AT_ONCE: usize = 8;

/// What became of the sales of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DaySet {
    Replaced,
    /// Someone has computed them from a later reading, of some of the products at least.
    Superseded,
}

/// What a ranking rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ranked {
    /// Rows of products and days.
    pub rows: u64,
    pub lists: usize,
}

/// Makes the sales of a day, by product, what is given: what is not given was not sold. Only rows that differ are written.
/// Stopped half-way, the same call again finishes it; for a moment a reader sees some of the old among the new.
///
/// RACE: two computations of one day. Each shard remembers how late its orders were read, and takes nothing from an earlier
/// reading: of two at once, the later one stands in the end, whichever was quicker.
pub async fn set_day_sales(ctx: &Context, sales: &DaySales) -> Result<DaySet> {
    let shards = (0..).zip(sales.rows()?).map(|(shard, rows)| set_shard(ctx, (sales.date, shard), sales.as_of, rows));
    let sets: Vec<DaySet> = stream::iter(shards).buffer_unordered(SHARDS as usize).try_collect().await?;
    let superseded = sets.contains(&DaySet::Superseded);
    Ok(if superseded { DaySet::Superseded } else { DaySet::Replaced })
}

async fn set_shard(
    ctx: &Context,
    partition: (Date, i32),
    as_of: Timestamp,
    rows: Vec<SoldProduct>,
) -> widerow::Result<DaySet> {
    // ORDER: the shard is taken first. From here on only a later reading, or this very one, writes its rows.
    if !take_shard(ctx, partition, as_of).await? {
        return Ok(DaySet::Superseded);
    }
    let slice = ctx.store.slice::<SoldProduct>(partition).consistency(Consistency::Quorum).limit(ROWS);
    let key = |row: &SoldProduct| (row.product_id, row.currency.clone());
    let found = slice.all(limits::PRODUCTS_A_DAY_MAX).await?;
    let mut found: BTreeMap<_, _> = found.into_iter().map(|row| (key(&row), (row.units, row.revenue_cents))).collect();
    let mut writes: Vec<Box<dyn Fn(Commit) -> Commit + Send + Sync>> = Vec::new();
    for row in rows {
        if found.remove(&key(&row)) != Some((row.units, row.revenue_cents)) {
            writes.push(Box::new(move |commit| commit.put(&row)));
        }
    }
    for (product_id, currency) in found.into_keys() {
        let key = (partition.0, partition.1, product_id, currency);
        writes.push(Box::new(move |commit| commit.delete::<SoldProduct>(key.clone())));
    }
    for some in writes.chunks(WRITTEN) {
        let guard = Commit::new().when_static(partition, SoldProduct::AS_OF, Operator::Equal, &Some(as_of));
        match ctx.store.commit(some.iter().fold(guard, |commit, write| write(commit))).await {
            Ok(_) => {}
            Err(DataError::Conflict(_)) => return Ok(DaySet::Superseded),
            Err(error) => return Err(error),
        }
    }
    Ok(DaySet::Replaced)
}

/// Whether nobody has a later reading.
async fn take_shard(ctx: &Context, partition: (Date, i32), as_of: Timestamp) -> widerow::Result<bool> {
    // No product has the nil id: only the static column is read.
    let nobody = ProductId(Uuid::nil());
    ctx.store
        .guarded_prefix::<SoldProduct, _, DataError>(partition, nobody, |view| {
            Ok(match view.statics.get(SoldProduct::AS_OF)?.flatten() {
                Some(taken) if taken > as_of => (Commit::new(), false),
                Some(taken) if taken == as_of => (Commit::new(), true),
                _ => (Commit::new().set_static(partition, SoldProduct::AS_OF, &Some(as_of)), true),
            })
        })
        .await
}

/// Ranks the products anew: by views, by units, and by revenue in each currency, over 1, 7 and 30 days, today among them. To
/// be called every so many minutes.
///
/// It reads what was viewed and sold in thirty days, 480 partitions, each product once for each of its days, and takes memory
/// for every product that it finds, not for its days. Each list is one commit of at most fifty rows.
pub async fn rank_products(ctx: &Context) -> Result<Ranked> {
    let ranked_at = ctx.now();
    let mut ranking = Ranking::default();
    let mut ranked = Ranked::default();
    for day in 0..RANKED_DAYS[RANKED_DAYS.len() - 1] {
        let date = Date::from_days(ranked_at.date().days() - day);
        ranked.rows += add_day(ctx, date, &mut ranking).await?;
        if RANKED_DAYS.contains(&(day + 1)) {
            ranking.keep(day + 1);
        }
    }
    let lists = ranking.lists();
    ranked.lists = lists.len();
    let written = lists.into_iter().map(|(name, list)| async move {
        ctx.store
            .guarded::<TopProduct, _, DataError>((name.0.name(), name.1), |view| {
                Ok((rules::replace_list(&view.rows, &name, &list, ranked_at), ()))
            })
            .await
    });
    stream::iter(written).buffer_unordered(LISTS_AT_ONCE).try_collect::<Vec<()>>().await?;
    Ok(ranked)
}

/// Adds what was viewed and sold on a day, all shards side by side; how many rows there were.
async fn add_day(ctx: &Context, date: Date, ranking: &mut Ranking) -> Result<u64> {
    let most = limits::PRODUCTS_A_DAY_MAX;
    let viewed = (0..SHARDS).map(|shard| ctx.store.slice::<ViewedProduct>((date, shard)).limit(ROWS).all(most));
    let sold = (0..SHARDS).map(|shard| ctx.store.slice::<SoldProduct>((date, shard)).limit(ROWS).all(most));
    let (viewed, sold) =
        futures::try_join!(futures::future::try_join_all(viewed), futures::future::try_join_all(sold))?;
    let mut rows = 0;
    for row in viewed.into_iter().flatten() {
        rows += 1;
        ranking.add(&Metric::Views, row.product_id, row.view_count);
    }
    for row in sold.into_iter().flatten() {
        rows += 1;
        ranking.add(&Metric::Units, row.product_id, row.units);
        ranking.add(&Metric::Revenue(row.currency), row.product_id, row.revenue_cents);
    }
    Ok(rows)
}

/// Q19. The best products by a metric over 1, 7 or 30 days, as they were ranked last, the best first. One partition.
pub async fn list_top_products(
    ctx: &Context,
    metric: &Metric,
    days: i32,
    page: PageRequest,
) -> Result<Page<TopProduct>> {
    page.check()?;
    let mut check = Check::new();
    check.that(RANKED_DAYS.contains(&days), "days", "1, 7 or 30 are wanted");
    if let Metric::Revenue(currency) = metric {
        check.currency("currency", currency);
    }
    check.end()?;
    let slice = ctx.store.slice::<TopProduct>((metric.name(), days));
    Ok(slice.limit(page.limit).after(page.cursor).page().await?)
}
