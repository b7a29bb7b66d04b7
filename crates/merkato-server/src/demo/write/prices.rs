//! Writes the sales of the further tenants, many together, and who may look at them.

use merkato::{
    Context,
    accounts::{self, Role},
    limits, sales,
};

use super::{Done, people};
use crate::demo::{ADMIN, furniture::Size, prices};

/// Sales that are written together.
const TOGETHER: usize = 2_000;

/// Whether a trader's sales are there: who may look at them is written last.
pub async fn is_stocked(ctx: &Context) -> anyhow::Result<bool> {
    Ok(accounts::find_by_email(ctx, ADMIN.0).await?.is_some())
}

/// All sales of a trader, of two years up to today, and an admin who sees them.
pub async fn stock_trader(
    ctx: &Context,
    trader: &prices::Trader,
    seed: u64,
    size: Size,
    done: &Done,
) -> anyhow::Result<()> {
    let mut waiting = Vec::new();
    for day in prices::sales(trader, seed, ctx.now().date(), size) {
        waiting.extend(day);
        if waiting.len() >= TOGETHER {
            put(ctx, &mut waiting, done).await?;
        }
    }
    put(ctx, &mut waiting, done).await?;
    people::user(ctx, ADMIN, ("Robin", "Keller"), Role::Admin).await?;
    Ok(())
}

async fn put(ctx: &Context, waiting: &mut Vec<sales::NewSale>, done: &Done) -> anyhow::Result<()> {
    let together = std::mem::take(waiting);
    for some in together.chunks(limits::SALES_TOGETHER_MAX) {
        for answer in sales::put_sales(ctx, some.to_vec()).await? {
            answer?;
        }
        done.add(some.len());
    }
    Ok(())
}
