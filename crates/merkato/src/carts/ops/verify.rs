//! Whether what is stored of carts is what follows from their lines and lists, and made so again.

use std::collections::BTreeSet;

use rust_decimal::Decimal;
use widerow::Commit;

use super::cart::{self, Contents};
use crate::{
    carts::{
        error::{Error, Result},
        rules,
        tables::{CartEntry, CartLine},
    },
    context::Context,
    id::{CartId, UserId},
};

/// What a look at all carts of a tenant found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    pub carts: u64,
    pub users: u64,
    pub totals: Vec<WrongTotals>,
    /// Users with carts of whom not exactly one is active, and how many are.
    pub active: Vec<(UserId, usize)>,
}

/// A cart whose totals are not those of its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongTotals {
    pub cart: CartId,
    pub stored: Decimal,
    pub subtotal: Decimal,
}

/// Recomputes the totals of every cart and counts every user's active carts; mends what differs, if that is asked for.
/// Carts may be edited meanwhile. What is found is looked at again in the guarded partition before it is reported.
pub async fn verify_carts(ctx: &Context, repair: bool) -> Result<Verified> {
    let mut report = Verified::default();
    let mut users = BTreeSet::new();
    ctx.for_each_row::<CartEntry>(|row| {
        users.insert(row.user_id);
    })
    .await?;
    let mut carts = BTreeSet::new();
    ctx.for_each_row::<CartLine>(|row| {
        carts.insert(row.cart_id);
    })
    .await?;
    for user in users {
        report.users += 1;
        let (listed, active) = look_at_list(ctx, user, repair).await?;
        carts.extend(listed);
        report.active.extend((active != 1).then_some((user, active)));
    }
    for cart in carts {
        report.carts += 1;
        report.totals.extend(look_at_totals(ctx, cart, repair).await?);
    }
    Ok(report)
}

async fn look_at_list(ctx: &Context, user: UserId, repair: bool) -> Result<(Vec<CartId>, usize)> {
    ctx.store
        .guarded::<CartEntry, _, Error>(user, |view| {
            let listed: Vec<CartId> = view.rows.iter().map(|entry| entry.cart_id).collect();
            let active = view.rows.iter().filter(|entry| entry.cart_is_active).count();
            let mut commit = Commit::new();
            if repair && active != 1 {
                // The first by name of those that are active, or of all.
                let mut rows = view.rows.clone();
                rows.sort_by_key(|entry| !entry.cart_is_active);
                for (i, mut entry) in rows.into_iter().enumerate() {
                    entry.cart_is_active = i == 0;
                    commit = commit.put(&entry);
                }
            }
            Ok((commit, (listed, if view.rows.is_empty() { 1 } else { active })))
        })
        .await
}

async fn look_at_totals(ctx: &Context, id: CartId, repair: bool) -> Result<Option<WrongTotals>> {
    ctx.store
        .guarded::<CartLine, _, Error>(id, |view| {
            let found = Contents::of(view)?;
            if found.agrees(ctx.now()) {
                return Ok((Commit::new(), None));
            }
            let (stored, subtotal) = (found.head.subtotal, rules::subtotal(&found.lines));
            let commit = match repair {
                true => cart::rewrite(ctx, id, &found, &found.draft(), found.head.clone()),
                false => Commit::new(),
            };
            Ok((commit, Some(WrongTotals { cart: id, stored, subtotal })))
        })
        .await
}
