//! What is known about a user, read and edited.

use std::collections::BTreeMap;

use super::{
    super::{
        error::Result,
        rules::{self, Profile, ProfileChange},
        tables::{User, UserByEmail},
    },
    change_user,
};
use crate::{check::Check, context::Context, id::UserId};

/// Q6. The row, also of one who was erased.
pub async fn find_user(ctx: &Context, user_id: UserId) -> Result<Option<User>> {
    Ok(ctx.store.get::<User>(user_id).await?)
}

/// Q6. Those of the rows that are there, in the order of the ids.
pub async fn find_users(ctx: &Context, user_ids: &[UserId]) -> Result<Vec<Option<User>>> {
    Ok(ctx.store.get_many::<User>(user_ids.iter().copied()).await?)
}

/// Q6. The user, unless erased.
pub async fn get_user(ctx: &Context, user_id: UserId) -> Result<User> {
    rules::living(find_user(ctx, user_id).await?, user_id)
}

/// Q7. Whose an address is.
pub async fn find_by_email(ctx: &Context, email: &str) -> Result<Option<UserByEmail>> {
    let email = super::email::checked(email)?;
    Ok(ctx.store.get::<UserByEmail>(email).await?)
}

/// Replaces what the user says about itself. With an expected revision, only if nobody has edited it since.
pub async fn update_profile(ctx: &Context, user_id: UserId, profile: Profile, expected: Option<i64>) -> Result<User> {
    let mut check = Check::new();
    profile.check(&mut check);
    check.end()?;
    change_user(ctx, user_id, |user| rules::set_profile(user, profile.clone(), expected, ctx.now())).await
}

/// Replaces the preferences.
pub async fn set_preferences(
    ctx: &Context,
    user_id: UserId,
    preferences: BTreeMap<String, String>,
    expected: Option<i64>,
) -> Result<User> {
    rules::check_preferences(&preferences)?;
    change_user(ctx, user_id, |user| {
        rules::edit(user, expected, ctx.now(), |user| user.preferences.clone_from(&preferences))
    })
    .await
}

/// Changes some of what the user says about itself, in one commit. With an expected revision, only if nobody has edited it
/// since.
pub async fn change_profile(
    ctx: &Context,
    user_id: UserId,
    expected: Option<i64>,
    change: ProfileChange,
) -> Result<User> {
    let mut check = Check::new();
    let ProfileChange { first_name, last_name, phone, avatar_url, .. } = change.clone();
    Profile {
        first_name: first_name.flatten(),
        last_name: last_name.flatten(),
        phone: phone.flatten(),
        avatar_url: avatar_url.flatten(),
    }
    .check(&mut check);
    check.end()?;
    if let Some(preferences) = &change.preferences {
        rules::check_preferences(preferences)?;
    }
    change_user(ctx, user_id, |user| rules::change_profile(user, change.clone(), expected, ctx.now())).await
}
