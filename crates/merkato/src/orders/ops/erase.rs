//! What is left of a person's orders when the person is forgotten.

use widerow::{Commit, Consistency};

use crate::{
    context::Context,
    id::UserId,
    limits,
    orders::{
        error::{Error, Result},
        rules,
        tables::{HistoryRow, Order, UserOrder},
    },
};

/// Blanks names, e-mail addresses, postal addresses and notes in all orders of a user; the money, the goods and the user's
/// id stay, for the bookkeeping. Asked again, it finishes what was interrupted.
///
/// RACE: an order that is being placed at this moment is not in the list yet. The account is erased before, so that no
/// checkout begins; one that was under way is found when this is asked again.
pub async fn erase_person(ctx: &Context, user: UserId) -> Result<()> {
    let mut cursor = None;
    loop {
        let slice = ctx.store.slice::<UserOrder>(user).limit(limits::PAGE_ROWS_MAX).consistency(Consistency::Quorum);
        let page = slice.after(cursor).page().await?;
        for row in &page.rows {
            erase_order(ctx, row).await?;
        }
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok(()),
        }
    }
}

async fn erase_order(ctx: &Context, listed: &UserOrder) -> Result<()> {
    let order_id = listed.order_id;
    loop {
        // ORDER: the order's version before its history: a row that comes after it moves the version on.
        let (_, version) = ctx.store.get_versioned::<Order>(order_id).await?;
        let slice = ctx.store.slice::<HistoryRow>(order_id).consistency(Consistency::Quorum);
        let history = slice.all(limits::PAGE_ROWS_MAX).await?;
        let done = ctx
            .store
            .guarded::<Order, _, Error>(order_id, |found| {
                let Some(order) = found.rows.first() else { return Ok((Commit::new(), true)) };
                if found.version != version {
                    return Ok((Commit::new(), false));
                }
                let left = rules::erase(order, ctx.now());
                let noted = history.iter().filter(|row| row.notes.is_some());
                let blank: Vec<_> = noted.map(|row| HistoryRow { notes: None, ..row.clone() }).collect();
                if left == *order && blank.is_empty() {
                    return Ok((Commit::new(), true));
                }
                Ok((blank.iter().fold(Commit::new().put(&left), Commit::put), true))
            })
            .await?;
        if done {
            return Ok(());
        }
    }
}
