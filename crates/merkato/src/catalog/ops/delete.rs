//! A category that nothing is in goes; and comes back where a product came into it at the same moment.
//!
//! RACE: nothing guards a category and its products together, for then whoever files a product would wait for all others in the one
//! partition of the tree. Instead both look twice. Whoever deletes takes the category away, and then looks for products; whoever
//! files commits the product, and then looks for the category (`follow::with_category`). Whichever of the two was last sees what
//! the other has done, and puts the category back: so the product is in it, and whoever deleted it may have been told that it is
//! gone, which it was. Whoever deletes goes on although the caller has gone away, and puts the category back where it cannot be
//! seen whether something is in it. Where the process dies between the two looks, or cannot do either, a product may be in a
//! category that is not there: `verify_categories` finds it, and puts that back too.

use widerow::{Consistency, meter};

use super::categories::{find_category, get_category, insert, node};
use crate::{
    catalog::{
        category::{Category, node_of, tree},
        error::{Error, Result},
        rules,
        tables::CategoryMember,
    },
    context::Context,
    hierarchy::{self, Origin},
    id::CategoryId,
    limits, text,
};

/// Times that it is begun again because the category was renamed or moved meanwhile.
const TRIES_MAX: usize = 16;

/// Deletes a category without products and without categories below it; with `expected`, only if nobody has changed it since that
/// revision. Its name and its address are free from then on.
pub async fn delete_category(ctx: &Context, id: CategoryId, expected: Option<i64>) -> Result<()> {
    let own = ctx.clone();
    let deleted = tokio::spawn(meter::inherit(async move { delete_and_look(&own, id, expected).await }));
    deleted.await.unwrap_or_else(|_| Err(widerow::Error::unavailable("whoever deleted it was stopped").into()))
}

async fn delete_and_look(ctx: &Context, id: CategoryId, expected: Option<i64>) -> Result<()> {
    let mut tries = 0;
    let gone = loop {
        let category = get_category(ctx, id).await?;
        must_be_empty(ctx, id).await?;
        // As it was read, so that it can be put back as it was.
        let at = Some(expected.unwrap_or(category.revision));
        match hierarchy::delete_kept_leaf(ctx, tree(), node_of(id), at).await {
            Ok(()) => break category,
            Err(hierarchy::Error::Edited { .. }) if expected.is_none() && tries < TRIES_MAX => tries += 1,
            Err(hierarchy::Error::Root) => return Err(Error::CategoryNotFound { category: id }),
            Err(hierarchy::Error::Data(error)) if error.may_have_happened() => {
                if find_category(ctx, id).await?.is_some() {
                    return Err(Error::Data(error));
                }
                break category;
            }
            Err(error) => return Err(error.into()),
        }
    };
    // ORDER: after it is gone.
    let empty = must_be_empty(ctx, id).await;
    if empty.is_err() {
        put_back(ctx, &gone).await?;
    }
    empty
}

async fn must_be_empty(ctx: &Context, category: CategoryId) -> Result<()> {
    let slice = ctx.store.slice::<CategoryMember>(category).consistency(Consistency::Quorum);
    match slice.limit(1).page().await?.rows.pop() {
        Some(CategoryMember { product_id: product, name, status, .. }) => {
            Err(Error::CategoryHasProducts { category, product, name, status })
        }
        None => Ok(()),
    }
}

/// Puts a category back that is gone while a product is in it: as it was; or, where its place or its name is not free any more, at
/// the top under a name of its own. One that is there stays as it is.
pub(super) async fn put_back(ctx: &Context, gone: &Category) -> Result<()> {
    let id = gone.category_id;
    let codes = vec![gone.slug.clone(), rules::slug_with_id(&gone.slug, id.0)];
    let (revision, created_at, updated_at) = (gone.revision, gone.created_at, gone.updated_at);
    let origin = Origin { revision, created_at, updated_at };
    let end = id.to_string();
    let own_name = format!("{} {end}", text::cut(&gone.name, limits::NODE_NAME_BYTES_MAX - end.len() - 1).trim_end());
    let mut refused = Error::CategoryNotFound { category: id };
    for (name, parent) in [(gone.name.clone(), gone.parent_id), (own_name, None)] {
        let wanted = node(id, name, codes.clone(), parent, Some(origin.clone()));
        match insert(ctx, vec![wanted]).await?.pop() {
            Some(Ok(_) | Err(Error::CategoryExists { .. })) => return Ok(()),
            Some(Err(error @ Error::Data(_))) => return Err(error),
            Some(Err(error)) => refused = error,
            None => {}
        }
    }
    Err(refused)
}
