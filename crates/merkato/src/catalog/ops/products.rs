//! Products: made, changed, found.

use rust_decimal::Decimal;
use uuid::Uuid;
use widerow::{Commit, Error as DataError, Timestamp};

use super::{categories::get_category, follow::with_category, search::check_name};
use crate::{
    catalog::{
        category::Category,
        error::{Error, Result},
        rules::{self, NewProduct, ProductChange},
        tables::{Product, ProductEntry, ProductStatus},
    },
    check::Check,
    claims::{self, Bearer, Claimed},
    context::Context,
    events,
    id::{CategoryId, ProductId},
    limits,
    pattern::PageRequest,
    shards::{self, Merged},
};

/// Q1, named-carts Q2.
pub async fn find_product(ctx: &Context, id: ProductId) -> Result<Option<Product>> {
    Ok(ctx.store.get::<Product>(id).await?)
}

pub async fn get_product(ctx: &Context, id: ProductId) -> Result<Product> {
    find_product(ctx, id).await?.ok_or(Error::ProductNotFound { product: id })
}

/// The products with these ids, in their order.
pub async fn list_products(ctx: &Context, ids: &[ProductId]) -> Result<Vec<Option<Product>>> {
    Ok(ctx.store.get_many::<Product>(ids.iter().copied()).await?)
}

/// The product with this slug, or the one that had it last: an old address still leads to it, until another takes it.
pub async fn find_product_by_slug(ctx: &Context, slug: &str) -> Result<Option<Product>> {
    let mut check = Check::new();
    check.slug("slug", slug);
    check.end()?;
    match claims::find_owner::<Product>(ctx, slug).await? {
        Some(owner) => find_product(ctx, ProductId(owner)).await,
        None => Ok(None),
    }
}

pub async fn get_product_by_slug(ctx: &Context, slug: &str) -> Result<Product> {
    find_product_by_slug(ctx, slug).await?.ok_or_else(|| Error::SlugNotFound { slug: slug.to_owned() })
}

/// The products, newest first, shown or not: for editors.
pub async fn list_products_by_age(ctx: &Context, page: PageRequest) -> Result<Merged<ProductEntry>> {
    page.check()?;
    Ok(shards::page::<ProductEntry>(&ctx.store, limits::PRODUCT_SHARDS, |shard| shard, &page).await?)
}

/// Makes a product. A slug that is not given is made of the name, and made longer where another has it.
pub async fn create_product(ctx: &Context, new: NewProduct) -> Result<Product> {
    let id = new.product_id.unwrap_or_else(|| ProductId(ctx.new_id()));
    let slug_is_given = new.slug.is_some();
    let mut product = rules::draft(new, id, ctx.now());
    rules::check(&product, ctx.now())?;
    let mut category = Fresh::get(ctx, product.category_id).await?;
    if rules::takes_name(None, &product) {
        check_name(ctx, &product.name).await?;
    }
    loop {
        // ORDER: the version before the claim, as `claims` demands.
        let (found, version) = ctx.store.get_versioned::<Product>(id).await?;
        if found.is_some() {
            return Err(Error::ProductExists { product: id });
        }
        product.slug = claim_slug::<Product>(ctx, product.slug, id.0, slug_is_given).await?;
        rules::file_under(&mut product, category.category(ctx).await?);
        match ctx.store.commit(Commit::new().unchanged::<Product>(id, version).put(&product)).await {
            Ok(_) => return with_category(ctx, product, category.as_read()).await,
            Err(DataError::Conflict(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Changes a product; with `expected`, only if no editor has changed it since that revision. Every list follows in the same
/// commit, and the event that tells of another price. A change that changes nothing writes nothing.
pub async fn change_product(
    ctx: &Context,
    id: ProductId,
    expected: Option<i64>,
    change: ProductChange,
) -> Result<Product> {
    let mut category = match change.category_id {
        Some(category) => Some(Fresh::get(ctx, category).await?),
        None => None,
    };
    let name_may_count = change.name.is_some() || change.status.is_some();
    loop {
        // ORDER: the version before the claim, as `claims` demands.
        let (found, version) = ctx.store.get_versioned::<Product>(id).await?;
        let old = found.ok_or(Error::ProductNotFound { product: id })?;
        let filed = match &mut category {
            Some(category) => Some(category.category(ctx).await?),
            None => None,
        };
        let mut product = rules::change(&old, &change, filed, expected, ctx.now())?;
        if product == old {
            return Ok(product);
        }
        if name_may_count && rules::takes_name(Some(&old), &product) {
            check_name(ctx, &product.name).await?;
        }
        if product.slug != old.slug {
            claim_slug::<Product>(ctx, product.slug.clone(), id.0, true).await?;
        }
        let told = rules::tell_price(&old, &mut product, ctx.now());
        let commit = Commit::new().unchanged::<Product>(id, version).put(&product);
        match ctx.store.commit(told.iter().fold(commit, |commit, fact| events::tell(ctx, commit, fact))).await {
            Ok(_) => match &category {
                Some(category) => return with_category(ctx, product, category.as_read()).await,
                None => return Ok(product),
            },
            Err(DataError::Conflict(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Writes the category's name and place into a product of it.
pub(super) async fn set_category(ctx: &Context, id: ProductId, category: &Category) -> Result<()> {
    note(ctx, id, |product| {
        if product.category_id == category.category_id {
            rules::file_under(product, category);
        }
    })
    .await
}

/// A category that was read a moment ago, or is read again: what is filed rests on a place that is not old.
pub(super) struct Fresh {
    category: Category,
    read_at: Timestamp,
}

impl Fresh {
    pub async fn get(ctx: &Context, id: CategoryId) -> Result<Self> {
        // ORDER: the time before the read.
        let read_at = ctx.now();
        Ok(Fresh { category: get_category(ctx, id).await?, read_at })
    }

    /// As it was when it was read.
    pub fn as_read(&self) -> &Category {
        &self.category
    }

    pub async fn category(&mut self, ctx: &Context) -> Result<&Category> {
        if ctx.now() > self.read_at.plus_seconds(limits::FILING_SECONDS_MAX) {
            *self = Fresh::get(ctx, self.category.category_id).await?;
        }
        Ok(&self.category)
    }
}

/// Takes a product out of every list. It stays to be read by its id: orders and carts name it.
pub async fn archive_product(ctx: &Context, id: ProductId, expected: Option<i64>) -> Result<Product> {
    let change = ProductChange { status: Some(ProductStatus::Archived), ..ProductChange::default() };
    change_product(ctx, id, expected, change).await
}

/// What shoppers think of a product, as the reviews have it.
pub async fn set_rating(ctx: &Context, id: ProductId, average: Option<Decimal>, count: i32) -> Result<()> {
    let mut check = Check::new();
    rules::check_rating(&mut check, average, count);
    check.end()?;
    note(ctx, id, |product| (product.rating_average, product.rating_count) = (average, count)).await
}

/// Whether a product can be had, as the inventory has it.
pub async fn set_in_stock(ctx: &Context, id: ProductId, in_stock: bool) -> Result<()> {
    note(ctx, id, |product| product.in_stock = in_stock).await
}

/// How many units were sold, as the orders have it: what the order `popular` goes by.
pub async fn set_popularity(ctx: &Context, id: ProductId, units: i64) -> Result<()> {
    let mut check = Check::new();
    check.that(units >= 0, "popularity", format!("{units} is negative"));
    check.end()?;
    note(ctx, id, |product| product.popularity = units).await
}

/// Claims a slug; where another has it and it was only made of a name, a longer one that no other makes. The one claimed.
pub(super) async fn claim_slug<B: Bearer>(ctx: &Context, slug: String, owner: Uuid, is_given: bool) -> Result<String> {
    if claims::claim::<B>(ctx, &slug, owner).await? == Claimed::Yours {
        return Ok(slug);
    }
    let longer = rules::slug_with_id(&slug, owner);
    if is_given || claims::claim::<B>(ctx, &longer, owner).await? == Claimed::Taken {
        return Err(Error::SlugTaken { slug: if is_given { slug } else { longer } });
    }
    Ok(longer)
}

/// Notes a fact that no editor decides: the revision stays, the lists follow.
pub(super) async fn note(ctx: &Context, id: ProductId, set: impl Fn(&mut Product)) -> Result<()> {
    ctx.store
        .guarded::<Product, (), Error>(id, |found| {
            let old = found.rows.first().ok_or(Error::ProductNotFound { product: id })?;
            let mut product = old.clone();
            set(&mut product);
            let commit = if product == *old { Commit::new() } else { Commit::new().put(&product) };
            Ok((commit, ()))
        })
        .await
}
