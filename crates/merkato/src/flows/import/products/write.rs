//! A draft becomes a product, or changes the one that it was.

use super::draft::Draft;
use crate::{
    catalog::{self, Error, Product, ProductChange},
    context::Context,
    flows::import::{
        categories::Categories,
        error as import,
        report::Report,
        run::{About, Outcome, Writer, Written},
    },
    id::ProductId,
};

/// Times that a product is read and written anew because others changed it meanwhile.
const ATTEMPTS: usize = 5;

pub(super) struct Products;

impl Writer for Products {
    type Draft = Draft;
    const AT_ONCE: usize = 16;

    async fn prepare(
        &mut self,
        ctx: &Context,
        draft: &mut Draft,
        categories: &mut Categories,
        report: &mut Report,
    ) -> import::Result<()> {
        draft.product.category_id = categories.resolve(ctx, &draft.category, report).await?;
        Ok(())
    }

    fn about(draft: &Draft) -> About {
        About { place: draft.place, id: draft.source_id.clone(), records: draft.records, counted: None }
    }

    async fn write(ctx: Context, mut draft: Draft) -> Written {
        let outcome = create_or_change(&ctx, &mut draft).await.map_err(import::Error::from);
        Written { about: Products::about(&draft), notes: draft.notes, outcome }
    }
}

/// RACE: another import of the same source, or an editor, may be at the same product. Whoever comes second finds it made
/// or edited, and decides again on what is there.
async fn create_or_change(ctx: &Context, draft: &mut Draft) -> Result<Outcome, Error> {
    let id = draft.product.product_id.unwrap_or_else(|| ProductId(ctx.new_id()));
    let mut attempt = 1;
    loop {
        let done = match catalog::find_product(ctx, id).await? {
            None => create(ctx, draft).await.map(|()| Outcome::Created),
            Some(old) => match difference(&old, draft) {
                None => return Ok(Outcome::Unchanged),
                Some(change) => {
                    let changed = catalog::change_product(ctx, id, Some(old.revision), change).await;
                    changed.map(|_| Outcome::Changed)
                }
            },
        };
        match done {
            Err(Error::ProductExists { .. } | Error::Edited { .. }) if attempt < ATTEMPTS => {
                attempt += 1;
            }
            done => return done,
        }
    }
}

async fn create(ctx: &Context, draft: &mut Draft) -> Result<(), Error> {
    match catalog::create_product(ctx, draft.product.clone()).await {
        Err(Error::SlugTaken { slug }) => {
            draft.notes.push(format!("another product has the slug {slug}; one is made of the name"));
            draft.product.slug = None;
            catalog::create_product(ctx, draft.product.clone()).await?;
        }
        done => _ = done?,
    }
    Ok(())
}

/// What the source has otherwise than the shop. The slug, the stock and ratings are the shop's own by now.
fn difference(old: &Product, draft: &Draft) -> Option<ProductChange> {
    fn change<T: Clone + PartialEq>(old: &T, new: &T) -> Option<T> {
        (old != new).then(|| new.clone())
    }
    let new = &draft.product;
    let change = ProductChange {
        name: change(&old.name, &new.name),
        slug: None,
        description: change(&old.description, &new.description),
        category_id: change(&old.category_id, &new.category_id),
        brand: change(&old.brand, &new.brand),
        price: change(&old.price, &new.price),
        compare_at_price: change(&old.compare_at_price, &new.compare_at_price),
        currency: change(&old.currency, &new.currency),
        sku: change(&old.sku, &new.sku),
        weight_grams: change(&old.weight_grams, &new.weight_grams),
        dimensions: change(&old.dimensions, &new.dimensions),
        image_urls: change(&old.image_urls, &new.image_urls),
        thumbnail_url: change(&old.thumbnail_url, &new.thumbnail_url),
        attributes: change(&old.attributes, &new.attributes),
        tags: change(&old.tags, &new.tags),
        status: change(&old.status, &new.status).filter(|_| draft.decides_status),
    };
    (change != ProductChange::default()).then_some(change)
}
