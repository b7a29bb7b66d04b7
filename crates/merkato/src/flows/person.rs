//! A person and the person's carts: logging in takes the guest's cart along, a new address is shown beside the carts, and who
//! is forgotten has no carts, knows nobody, and has no name on an order.

use super::error::Result;
use crate::{
    accounts::{self, Client, LoggedIn, User},
    carts::{self, GuestToken, MergePolicy, MergeReport},
    context::Context,
    graph,
    id::UserId,
    orders,
};

/// Logs in, and takes what the guest had in the cart into the user's active cart. The policy is the shop's, and what became of
/// each line is reported. Stopped after the login, the merge goes on with the next login that shows the same token.
pub async fn log_in(
    ctx: &Context,
    email: &str,
    password: &str,
    client: &Client,
    guest: Option<&GuestToken>,
    policy: MergePolicy,
) -> Result<(LoggedIn, MergeReport)> {
    let entered = accounts::log_in(ctx, email, password, client).await?;
    show_email(ctx, &entered.user).await?;
    let report = match guest {
        Some(guest) => carts::merge_guest_cart(ctx, entered.user.user_id, guest, policy).await?,
        None => MergeReport::default(),
    };
    Ok((entered, report))
}

/// The new address is the user's, also beside the carts. Stopped between the two, the next login finishes it.
pub async fn confirm_email_change(ctx: &Context, token: &str) -> Result<User> {
    let user = accounts::confirm_email_change(ctx, token).await?;
    show_email(ctx, &user).await?;
    Ok(user)
}

/// The address that `carts_by_user` shows; `users` decides what it is. To be called at every login, for one who was stopped
/// between a change of the address and this.
pub async fn show_email(ctx: &Context, user: &User) -> Result<()> {
    if let Some(email) = &user.email {
        carts::set_email(ctx, user.user_id, email).await?;
    }
    Ok(())
}

/// Forgets a person: what is personal is gone from every table, the id stays for the bookkeeping of orders. Asked again, it
/// finishes what was interrupted.
///
/// ORDER: the account first, which ends all sessions, so that no cart comes while the carts go; then the carts, so that no order
/// comes of them while the orders are blanked.
pub async fn erase(ctx: &Context, user: UserId) -> Result<()> {
    accounts::erase(ctx, user).await?;
    carts::erase_carts(ctx, user).await?;
    graph::forget_person(ctx, user).await?;
    Ok(orders::erase_person(ctx, user).await?)
}
