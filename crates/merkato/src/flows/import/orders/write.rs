//! A draft becomes an order, and is counted.

use super::draft::Draft;
use crate::{
    context::Context,
    flows::{
        import::{
            categories::Categories,
            error::Result,
            report::Report,
            run::{About, Outcome, Writer, Written},
        },
        sales,
    },
    orders,
};

pub(super) struct Orders;

impl Writer for Orders {
    type Draft = Draft;
    /// Orders of one day that are written at once are counted in one commit.
    const AT_ONCE: usize = 64;

    async fn prepare(
        &mut self,
        ctx: &Context,
        draft: &mut Draft,
        categories: &mut Categories,
        _report: &mut Report,
    ) -> Result<()> {
        for (line, category) in draft.order.lines.iter_mut().zip(&draft.categories) {
            line.category_id = Some(categories.locate(ctx, category).await?);
        }
        Ok(())
    }

    fn about(draft: &Draft) -> About {
        About {
            place: draft.place,
            id: draft.source_id.clone(),
            records: draft.order.lines.len(),
            counted: Some(draft.counted),
        }
    }

    async fn write(ctx: Context, mut draft: Draft) -> Written {
        let about = Orders::about(&draft);
        let outcome = insert_and_count(&ctx, &mut draft).await;
        Written { about, notes: draft.notes, outcome }
    }
}

/// ORDER: an order that was written and not counted, because the process ended between the two, is found by the same import
/// and counted then. Counting it again changes nothing.
///
/// RACE: of two imports at once both may say that they made it; it is written and counted once.
async fn insert_and_count(ctx: &Context, draft: &mut Draft) -> Result<Outcome> {
    let new = draft.order.clone().import(draft.past.clone(), ctx.now())?;
    let known = orders::find_order(ctx, new.order().order_id).await?.is_some();
    let order = orders::insert(ctx, &new).await?;
    sales::count(ctx, &order).await?;
    if order.total != new.order().total || order.item_count != new.order().item_count {
        let (there, here) = (new.order().total, order.total);
        draft.notes.push(format!("it comes to {there} by now; it was imported before, comes to {here}, and stays so"));
    }
    Ok(if known { Outcome::Unchanged } else { Outcome::Created })
}
