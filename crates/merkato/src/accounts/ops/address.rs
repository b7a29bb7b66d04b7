//! The addresses that a user keeps.

use super::{
    super::{
        error::Result,
        rules::{self, AddressInput},
        tables::{Address, User},
    },
    change_user, get_user,
};
use crate::{
    context::Context,
    id::{AddressId, UserId},
};

/// Q8, in the order in which they were added.
pub async fn list_addresses(ctx: &Context, user_id: UserId) -> Result<Vec<Address>> {
    Ok(get_user(ctx, user_id).await?.addresses)
}

/// One more address, up to the limit. The first is the default.
pub async fn add_address(
    ctx: &Context,
    user_id: UserId,
    address: AddressInput,
    make_default: bool,
) -> Result<(AddressId, User)> {
    address.check()?;
    let address_id = AddressId(ctx.new_id());
    let address = address.with_id(address_id);
    let user =
        change_user(ctx, user_id, |user| rules::add_address(user, address.clone(), make_default, ctx.now())).await?;
    Ok((address_id, user))
}

/// The address under the same id. Orders keep the one that they were placed with.
pub async fn change_address(
    ctx: &Context,
    user_id: UserId,
    address_id: AddressId,
    address: AddressInput,
) -> Result<User> {
    address.check()?;
    let address = address.with_id(address_id);
    change_user(ctx, user_id, |user| rules::change_address(user, address.clone(), ctx.now())).await
}

pub async fn remove_address(ctx: &Context, user_id: UserId, address_id: AddressId) -> Result<User> {
    change_user(ctx, user_id, |user| rules::remove_address(user, address_id, ctx.now())).await
}

pub async fn set_default_address(ctx: &Context, user_id: UserId, address_id: AddressId) -> Result<User> {
    change_user(ctx, user_id, |user| rules::set_default_address(user, address_id, ctx.now())).await
}
