//! Categories: a tree, and the products in it.

use futures::{StreamExt as _, TryStreamExt as _, stream};
use widerow::{Commit, Error as DataError, Page};

use super::products::{claim_slug, name_category};
use crate::{
    catalog::{
        error::{Error, Result},
        order::SortOrder,
        rules,
        tables::{Category, CategoryEntry, CategoryMember, Subcategory, TOP},
    },
    check::Check,
    claims,
    context::Context,
    id::CategoryId,
    limits,
    pattern::PageRequest,
};

/// Products that get a category's new name at once.
const RENAMES_AT_ONCE: usize = 16;

/// A category to be made. Without an id it gets a new one, without a slug one that is made of its name.
#[derive(Clone, Debug, PartialEq)]
pub struct NewCategory {
    pub category_id: Option<CategoryId>,
    pub name: String,
    pub slug: Option<String>,
    pub parent_id: Option<CategoryId>,
}

/// What an editor changes; what is None stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CategoryChange {
    pub name: Option<String>,
    pub slug: Option<String>,
}

pub async fn find_category(ctx: &Context, id: CategoryId) -> Result<Option<Category>> {
    Ok(ctx.store.get::<Category>(id).await?)
}

pub async fn get_category(ctx: &Context, id: CategoryId) -> Result<Category> {
    find_category(ctx, id).await?.ok_or(Error::CategoryNotFound { category: id })
}

/// The category with this slug, or the one that had it last.
pub async fn find_category_by_slug(ctx: &Context, slug: &str) -> Result<Option<Category>> {
    let mut check = Check::new();
    check.slug("slug", slug);
    check.end()?;
    match claims::find_owner::<Category>(ctx, slug).await? {
        Some(owner) => find_category(ctx, CategoryId(owner)).await,
        None => Ok(None),
    }
}

/// The categories right below one, or at the top, by name.
pub async fn list_subcategories(
    ctx: &Context,
    parent: Option<CategoryId>,
    page: PageRequest,
) -> Result<Page<Subcategory>> {
    page.check()?;
    let slice = ctx.store.slice::<Subcategory>(parent.unwrap_or(TOP));
    Ok(slice.limit(page.limit).after(page.cursor).page().await?)
}

/// The categories from the root to this one.
pub async fn breadcrumbs(ctx: &Context, category: &Category) -> Result<Vec<Category>> {
    let above = ctx.store.get_many::<Category>(category.path.iter().copied()).await?;
    Ok(above.into_iter().flatten().chain([category.clone()]).collect())
}

/// Q2. One partition, `page.limit` rows, one request, at any depth.
pub async fn list_category(
    ctx: &Context,
    category: CategoryId,
    order: SortOrder,
    page: PageRequest,
) -> Result<Page<CategoryEntry>> {
    page.check()?;
    let slice = ctx.store.slice::<CategoryEntry>(category).starts_with(&order.prefix());
    Ok(slice.limit(page.limit).after(page.cursor).page().await?)
}

/// The products whose own category this is, shown or not: for editors.
pub async fn list_products_of_category(
    ctx: &Context,
    category: CategoryId,
    page: PageRequest,
) -> Result<Page<CategoryMember>> {
    page.check()?;
    Ok(ctx.store.slice::<CategoryMember>(category).limit(page.limit).after(page.cursor).page().await?)
}

/// Makes a category, below its parent or at the top. Its place is for good.
pub async fn create_category(ctx: &Context, new: NewCategory) -> Result<Category> {
    let id = new.category_id.unwrap_or_else(|| CategoryId(ctx.new_id()));
    let slug_is_given = new.slug.is_some();
    let mut slug = new.slug.unwrap_or_else(|| rules::slug_of(&new.name));
    check_category(&new.name, &slug)?;
    let path = match new.parent_id {
        Some(parent) => {
            let parent = get_category(ctx, parent).await?;
            [parent.path.as_slice(), &[parent.category_id]].concat()
        }
        None => Vec::new(),
    };
    if path.len() >= limits::CATEGORY_DEPTH_MAX {
        return Err(Error::TooDeep { limit: limits::CATEGORY_DEPTH_MAX });
    }
    loop {
        // ORDER: the version before the claim, as `claims` demands.
        let (found, version) = ctx.store.get_versioned::<Category>(id).await?;
        if found.is_some() {
            return Err(Error::CategoryExists { category: id });
        }
        slug = claim_slug::<Category>(ctx, slug, id.0, slug_is_given).await?;
        let now = ctx.now();
        let category = Category {
            category_id: id,
            name: new.name.clone(),
            slug: slug.clone(),
            parent_id: new.parent_id,
            path: path.clone(),
            revision: 1,
            created_at: now,
            updated_at: now,
        };
        match ctx.store.commit(Commit::new().unchanged::<Category>(id, version).put(&category)).await {
            Ok(_) => return Ok(category),
            Err(DataError::Conflict(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Changes a category's name or slug. The name that its products bear follows before this returns; where it is stopped
/// half-way, the same change again finishes it.
pub async fn change_category(
    ctx: &Context,
    id: CategoryId,
    expected: Option<i64>,
    change: CategoryChange,
) -> Result<Category> {
    let category = loop {
        // ORDER: the version before the claim, as `claims` demands.
        let (found, version) = ctx.store.get_versioned::<Category>(id).await?;
        let old = found.ok_or(Error::CategoryNotFound { category: id })?;
        if let Some(expected) = expected.filter(|expected| *expected != old.revision) {
            return Err(Error::CategoryEdited { category: id, expected, found: old.revision });
        }
        let mut category = old.clone();
        category.name = change.name.clone().unwrap_or(category.name);
        category.slug = change.slug.clone().unwrap_or(category.slug);
        if category == old {
            break category;
        }
        check_category(&category.name, &category.slug)?;
        category.revision += 1;
        category.updated_at = ctx.now();
        if category.slug != old.slug {
            claim_slug::<Category>(ctx, category.slug.clone(), id.0, true).await?;
        }
        match ctx.store.commit(Commit::new().unchanged::<Category>(id, version).put(&category)).await {
            Ok(_) => break category,
            Err(DataError::Conflict(_)) => {}
            Err(error) => return Err(error.into()),
        }
    };
    if change.name.is_some() {
        let mut written = category.clone();
        loop {
            rename_products(ctx, &written).await?;
            // RACE: as `with_category_name` has it: another may have renamed it since, and be done with its products.
            let (found, _) = ctx.store.get_versioned::<Category>(id).await?;
            match found.filter(|found| found.name != written.name) {
                Some(newer) => written = newer,
                None => break,
            }
        }
    }
    Ok(category)
}

async fn rename_products(ctx: &Context, category: &Category) -> Result<()> {
    let mut page = PageRequest::first(limits::PAGE_ROWS_MAX);
    loop {
        let members = list_products_of_category(ctx, category.category_id, page).await?;
        let renamed = members.rows.iter().map(|member| async move {
            match name_category(ctx, member.product_id, category).await {
                Err(Error::ProductNotFound { .. }) => Ok(()),
                other => other,
            }
        });
        stream::iter(renamed.collect::<Vec<_>>()).buffer_unordered(RENAMES_AT_ONCE).try_collect::<Vec<_>>().await?;
        match members.next {
            Some(cursor) => page = PageRequest { limit: limits::PAGE_ROWS_MAX, cursor: Some(cursor) },
            None => return Ok(()),
        }
    }
}

pub(super) fn check_category(name: &str, slug: &str) -> Result<()> {
    let mut check = Check::new();
    check.line("name", name, 1..=limits::NAME_BYTES_MAX);
    check.slug("slug", slug);
    Ok(check.end()?)
}
