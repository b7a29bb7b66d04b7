//! A user's carts: listed, created, renamed, activated. Each change is one guarded write of the user's partition.
//!
//! Invariant: where there are carts, exactly one is active.

use std::collections::BTreeMap;

use widerow::Commit;

use crate::{
    carts::{
        error::{Error, Result},
        rules,
        tables::CartEntry,
    },
    check::Check,
    context::Context,
    events::{self, Told},
    id::{CartId, UserId},
    limits,
};

/// named-carts Q4: all carts of a user, by name. One partition, at most a hundred rows.
pub async fn list_carts(ctx: &Context, user: UserId) -> Result<Vec<CartEntry>> {
    Ok(untold(ctx.store.slice::<CartEntry>(user).limit(limits::CARTS_A_USER_MAX).page().await?.rows))
}

/// How far the stream is is the partition's own, and no matter of a cart.
fn untold(rows: Vec<CartEntry>) -> Vec<CartEntry> {
    rows.into_iter().map(|entry| CartEntry { told: None, ..entry }).collect()
}

/// named-carts Q1: the user's active cart, if there is any cart. As the document has it, the list is looked through.
pub async fn find_active_cart(ctx: &Context, user: UserId) -> Result<Option<CartEntry>> {
    Ok(list_carts(ctx, user).await?.into_iter().find(|entry| entry.cart_is_active))
}

/// A new cart without lines. A user's first is active.
pub async fn create_cart(ctx: &Context, user: UserId, name: &str) -> Result<CartEntry> {
    check_name(name)?;
    let new = new_entry(ctx, user, CartId(ctx.new_id()), name);
    list_new(ctx, new).await
}

pub(super) async fn list_new(ctx: &Context, new: CartEntry) -> Result<CartEntry> {
    change(ctx, new.user_id, |entries| rules::list_new(entries, new.clone())).await
}

/// Gives a cart another name. Two carts may have one name.
pub async fn rename_cart(ctx: &Context, user: UserId, cart: CartId, name: &str) -> Result<CartEntry> {
    check_name(name)?;
    change(ctx, user, |entries| rules::rename(entries, cart, name)).await
}

/// U2: makes the cart the active one and saves the one that was.
///
/// RACE: two at once. Both rows are in one partition, and only one commit finds it unchanged; the other decides again.
pub async fn activate_cart(ctx: &Context, user: UserId, cart: CartId) -> Result<CartEntry> {
    change(ctx, user, |entries| rules::activate(entries, cart)).await
}

/// Saves the active cart under a name, for later. The user goes on with the cart of the default name, which is made where
/// there is none; the cart that was saved.
pub async fn save_active_cart(ctx: &Context, user: UserId, name: &str) -> Result<CartEntry> {
    check_name(name)?;
    let new = default_entry(ctx, user);
    change(ctx, user, |entries| rules::put_aside(entries, name, new.clone())).await
}

/// Keeps the user's e-mail address beside the carts, as the document has it. Where it is there already, nothing is written.
pub async fn set_email(ctx: &Context, user: UserId, email: &str) -> Result<()> {
    let mut check = Check::new();
    check.line("email", email, 1..=limits::LINE_BYTES_MAX);
    check.end()?;
    ctx.store
        .guarded::<CartEntry, _, Error>(user, |view| {
            let known = view.statics.get(CartEntry::USER_EMAIL)?.flatten();
            let set = || Commit::new().set_static(user, CartEntry::USER_EMAIL, &Some(email.to_owned()));
            Ok((if known.as_deref() == Some(email) { Commit::new() } else { set() }, ()))
        })
        .await
}

/// The user's active cart; a user without any gets one.
pub(super) async fn ensure_active(ctx: &Context, user: UserId) -> Result<CartEntry> {
    if let Some(active) = find_active_cart(ctx, user).await? {
        return Ok(active);
    }
    let new = default_entry(ctx, user);
    change(ctx, user, |entries| Ok(rules::ensure_active(entries, new.clone()))).await
}

/// Takes a cart that was closed from the list; the active cart. Where it is not listed, nothing is written.
pub(super) async fn unlist(ctx: &Context, user: UserId, cart: CartId) -> Result<CartEntry> {
    let new = default_entry(ctx, user);
    change(ctx, user, |entries| Ok(rules::unlist(entries, cart, new.clone()))).await
}

pub(super) async fn is_listed(ctx: &Context, user: UserId, cart: CartId) -> Result<bool> {
    Ok(list_carts(ctx, user).await?.iter().any(|entry| entry.cart_id == cart))
}

/// The cart must be in the list of its owner. A guest has none.
pub(super) async fn require(ctx: &Context, owner: Option<UserId>, cart: CartId) -> Result<()> {
    match owner {
        Some(user) if is_listed(ctx, user, cart).await? => Ok(()),
        _ => Err(Error::CartNotFound { cart }),
    }
}

pub(super) fn check_name(name: &str) -> Result<()> {
    let mut check = Check::new();
    check.line("name", name, 1..=limits::CART_NAME_BYTES_MAX);
    Ok(check.end()?)
}

pub(super) fn new_entry(ctx: &Context, user_id: UserId, cart_id: CartId, name: &str) -> CartEntry {
    CartEntry {
        user_id,
        cart_name: name.to_owned(),
        cart_id,
        user_email: None,
        told: None,
        cart_is_active: false,
        created_at: ctx.now(),
    }
}

fn default_entry(ctx: &Context, user: UserId) -> CartEntry {
    new_entry(ctx, user, CartId(ctx.new_id()), &ctx.settings.carts.default_cart_name)
}

/// Decides on the whole list, and writes the rows that changed; that another cart is active is told in the same commit.
async fn change<T>(ctx: &Context, user: UserId, mut decide: impl FnMut(&mut Vec<CartEntry>) -> Result<T>) -> Result<T> {
    ctx.store
        .guarded::<CartEntry, _, Error>(user, |view| {
            let before = untold(view.rows.clone());
            let mut entries = before.clone();
            let answer = decide(&mut entries)?;
            let key = |entry: &CartEntry| (user, entry.cart_name.clone(), entry.cart_id);
            let mut old: BTreeMap<_, &CartEntry> = before.iter().map(|entry| (key(entry), entry)).collect();
            let mut commit = Commit::new();
            for entry in &entries {
                if old.remove(&key(entry)) != Some(entry) {
                    commit = commit.put(entry);
                }
            }
            commit = old.into_keys().fold(commit, |commit, key| commit.delete::<CartEntry>(key));
            if let Some(cart) = rules::activated(&before, &entries) {
                let told = Told::after(view.statics.get(CartEntry::TOLD)?.flatten(), ctx.now());
                commit = commit.set_static(user, CartEntry::TOLD, &Some(told));
                commit = events::tell(ctx, commit, &rules::fact(user, cart, told));
            }
            Ok((commit, answer))
        })
        .await
}
