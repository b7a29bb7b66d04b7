//! Products and categories as they were elsewhere, every column of them: what an export says comes back as it was.

use widerow::{Commit, Error as DataError};

use super::{
    categories::{check_category, find_category, get_category},
    products::claim_slug,
    search::check_name,
};
use crate::{
    catalog::{
        error::{Error, Result},
        rules,
        tables::{Category, Product},
    },
    check::Invalid,
    context::Context,
    limits,
};

/// What became of a thing that was restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restored {
    Created,
    Changed,
    Unchanged,
}

/// Makes the product what is given, whether it is there or not. Its category must be there, at the place that it names; the
/// category's name is taken from there.
pub async fn restore_product(ctx: &Context, mut product: Product) -> Result<Restored> {
    rules::check(&product, ctx.now())?;
    let id = product.product_id;
    let category = get_category(ctx, product.category_id).await?;
    if category.path != product.category_path {
        return Err(Invalid::new("category_path", "the category is elsewhere in the tree").into());
    }
    rules::file_under(&mut product, &category);
    loop {
        // ORDER: the version before the claim, as `claims` demands.
        let (found, version) = ctx.store.get_versioned::<Product>(id).await?;
        if found.as_ref() == Some(&product) {
            return Ok(Restored::Unchanged);
        }
        if rules::takes_name(found.as_ref(), &product) {
            check_name(ctx, &product.name).await?;
        }
        claim_slug::<Product>(ctx, product.slug.clone(), id.0, true).await?;
        match ctx.store.commit(Commit::new().unchanged::<Product>(id, version).put(&product)).await {
            Ok(_) if found.is_some() => return Ok(Restored::Changed),
            Ok(_) => return Ok(Restored::Created),
            Err(DataError::Conflict(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Makes the category what is given, if it is not there yet; one that is there stays as the shop has it. Its parent must be
/// there, at the place that it names.
pub async fn restore_category(ctx: &Context, category: Category) -> Result<Restored> {
    check_category(&category.name, &category.slug)?;
    let path = match category.parent_id {
        Some(parent) => {
            let parent = find_category(ctx, parent).await?.ok_or(Error::CategoryNotFound { category: parent })?;
            [parent.path.as_slice(), &[parent.category_id]].concat()
        }
        None => Vec::new(),
    };
    if path != category.path {
        return Err(Invalid::new("path", "the parent is elsewhere in the tree").into());
    }
    if path.len() >= limits::CATEGORY_DEPTH_MAX {
        return Err(Error::TooDeep { limit: limits::CATEGORY_DEPTH_MAX });
    }
    let id = category.category_id;
    loop {
        // ORDER: the version before the claim, as `claims` demands.
        let (found, version) = ctx.store.get_versioned::<Category>(id).await?;
        if found.is_some() {
            return Ok(Restored::Unchanged);
        }
        claim_slug::<Category>(ctx, category.slug.clone(), id.0, true).await?;
        match ctx.store.commit(Commit::new().unchanged::<Category>(id, version).put(&category)).await {
            Ok(_) => return Ok(Restored::Created),
            Err(DataError::Conflict(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
