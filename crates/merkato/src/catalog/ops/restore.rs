//! Products and categories as they were elsewhere, every column of them: what an export says comes back as it was.

use widerow::{Commit, Error as DataError};

use super::{
    categories::{check_category, insert, node},
    follow::with_category,
    products::{Fresh, claim_slug},
    search::check_name,
};
use crate::{
    catalog::{
        category::Category,
        error::{Error, Result},
        rules,
        tables::Product,
    },
    context::Context,
    events,
    hierarchy::{Inserted, Origin},
};

/// What became of a thing that was restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restored {
    Created,
    Changed,
    Unchanged,
}

/// Makes the product what is given, whether it is there or not. Its category must be there; the category's name and place are
/// taken from there.
pub async fn restore_product(ctx: &Context, mut product: Product) -> Result<Restored> {
    rules::check(&product, ctx.now())?;
    let id = product.product_id;
    let mut category = Fresh::get(ctx, product.category_id).await?;
    loop {
        rules::file_under(&mut product, category.category(ctx).await?);
        // ORDER: the version before the claim, as `claims` demands.
        let (found, version) = ctx.store.get_versioned::<Product>(id).await?;
        // What was told of it elsewhere is not in this shop's log.
        product.told = found.as_ref().and_then(|found| found.told);
        if found.as_ref() == Some(&product) {
            return Ok(Restored::Unchanged);
        }
        if rules::takes_name(found.as_ref(), &product) {
            check_name(ctx, &product.name).await?;
        }
        claim_slug::<Product>(ctx, product.slug.clone(), id.0, true).await?;
        let told = found.as_ref().and_then(|old| rules::tell_price(old, &mut product, ctx.now()));
        let commit = Commit::new().unchanged::<Product>(id, version).put(&product);
        match ctx.store.commit(told.iter().fold(commit, |commit, fact| events::tell(ctx, commit, fact))).await {
            Ok(_) => {
                with_category(ctx, product, category.as_read()).await?;
                return Ok(if found.is_some() { Restored::Changed } else { Restored::Created });
            }
            Err(DataError::Conflict(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Makes the category what is given, if it is not there yet; one that is there stays as the shop has it, wherever it stands. Its
/// parent must be there; the categories above it are those above the parent.
pub async fn restore_category(ctx: &Context, category: Category) -> Result<Restored> {
    check_category(&category.name, &category.slug)?;
    let Category { category_id, name, slug, parent_id, revision, created_at, updated_at, .. } = category;
    let origin = Origin { revision, created_at, updated_at };
    let made = insert(ctx, vec![node(category_id, name, vec![slug], parent_id, Some(origin))]).await?.pop();
    match made {
        Some(Ok(Inserted::New(_))) => Ok(Restored::Created),
        Some(Ok(Inserted::Unchanged(_)) | Err(Error::CategoryExists { .. })) | None => Ok(Restored::Unchanged),
        Some(Err(error)) => Err(error),
    }
}
