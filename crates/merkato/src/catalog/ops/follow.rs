//! Products follow their category: its name and the categories above it are copied into each of them, so that they are listed in
//! all of these.
//!
//! 1. A category that was moved or renamed is noted in the commit that begins it (`hierarchy::ops::follow`). Its products, and
//!    those of all below it, are gone through in steps; how far that is, is a part of the note.
//! 2. RACE: whoever files a product commits it, and then looks at the category's place; whoever follows looks at the place,
//!    writes, and looks again. So a place that is over is never the last one written, unless its writer died between the two.
//! 3. Against that all is gone through once more, when nobody can be about to write the old place any more: whoever files begins
//!    to write within `FILING_SECONDS_MAX` of having read the place, or reads it again. What its commit had left to write when
//!    it died is written before: a product that no list has yet is not found by its category.

use futures::{StreamExt as _, TryStreamExt as _, stream};
use uuid::Uuid;

use super::{categories::find_category, delete::put_back, products::set_category};
use crate::{
    catalog::{
        category::{Category, node_of, tree},
        error::{Error, Result},
        tables::{CategoryMember, Product},
    },
    context::Context,
    hierarchy::{self, Reached, ToFollow},
    id::{CategoryId, ProductId},
    limits,
    pattern::PageRequest,
};

/// Products that are written side by side, and between two looks at their category.
const AT_ONCE: usize = 16;
const BETWEEN_LOOKS: usize = 100;
/// Categories and products between two notes of how far it is.
const BETWEEN_NOTES: usize = 1_000;
/// Categories that are read at once.
const CATEGORIES: usize = 100;

/// What came of following.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// Products that were looked at.
    pub products: u64,
    /// Changes that all has followed.
    pub done: u64,
    /// Changes that are to be followed further, now or a little later.
    pub open: u64,
}

/// Goes on with all that is to follow, of at most so many categories and products. For sweeps.
pub async fn follow_categories(ctx: &Context, most: usize) -> Result<Followed> {
    let (mut followed, mut left) = (Followed::default(), most);
    let mut page = PageRequest::first(limits::PAGE_ROWS_MAX);
    loop {
        let found = hierarchy::follow::list(ctx, tree(), page).await?;
        for entry in &found.rows {
            follow(ctx, CategoryId(entry.node_id.0), &mut left, &mut followed).await?;
        }
        match found.next.filter(|_| left > 0) {
            Some(next) => page = PageRequest { limit: limits::PAGE_ROWS_MAX, cursor: Some(next) },
            None => return Ok(followed),
        }
    }
}

/// The same of one category that was changed.
pub(super) async fn follow_category(ctx: &Context, top: CategoryId, most: usize) -> Result<Followed> {
    let (mut followed, mut left) = (Followed::default(), most);
    follow(ctx, top, &mut left, &mut followed).await?;
    Ok(followed)
}

async fn follow(ctx: &Context, top: CategoryId, left: &mut usize, followed: &mut Followed) -> Result<()> {
    while *left > 0 {
        let Some(was) = hierarchy::follow::find(ctx, tree(), node_of(top)).await? else {
            followed.done += 1;
            return Ok(());
        };
        let mut now = was.clone();
        if now.reached.is_none() {
            // ORDER: the time before the commits of the dead: none of them that is younger writes the old place.
            let nobody_writes_the_old = ctx.now() >= was.since.plus_seconds(limits::FOLLOW_AGAIN_SECONDS);
            now.last = nobody_writes_the_old && ctx.finish_commits().await;
            if was.once && !now.last {
                break;
            }
        }
        let step = (*left).min(BETWEEN_NOTES);
        let mut walk = Walk { ctx, top, left: step, products: 0 };
        let all = walk.on(&mut now).await?;
        *left -= step - walk.left;
        followed.products += walk.products;
        let next = match (all, now.last) {
            (true, true) => None,
            (true, false) => Some(ToFollow { once: true, last: false, reached: None, at: None, ..now }),
            (false, _) => Some(now),
        };
        // Where another change has come meanwhile, it begins anew.
        hierarchy::follow::note(ctx, tree(), node_of(top), &was, next).await?;
    }
    followed.open += 1;
    Ok(())
}

struct Walk<'c> {
    ctx: &'c Context,
    top: CategoryId,
    /// Categories and products that it may still look at.
    left: usize,
    products: u64,
}

impl Walk<'_> {
    /// Goes on from where it is, the changed category first and then all below it; whether that is all.
    async fn on(&mut self, at: &mut ToFollow) -> Result<bool> {
        if at.reached.is_none() {
            let top = Reached { relationship_depth: 0, name_lower: String::new(), node_id: node_of(self.top) };
            (at.reached, at.at) = (Some(top), Some(Uuid::nil()));
        }
        if !self.products(at).await? {
            return Ok(false);
        }
        loop {
            let page = hierarchy::walk(self.ctx, tree(), node_of(self.top), at.reached.clone(), CATEGORIES).await?;
            for row in page.rows {
                if self.left == 0 {
                    return Ok(false);
                }
                self.left -= 1;
                let (relationship_depth, name_lower) = (row.relationship_depth, row.name_lower);
                at.reached = Some(Reached { relationship_depth, name_lower, node_id: row.descendant_id });
                at.at = Some(Uuid::nil());
                if !self.products(at).await? {
                    return Ok(false);
                }
            }
            if page.next.is_none() {
                return Ok(true);
            }
        }
    }

    /// The products of the category that is under way; whether that is all of them.
    async fn products(&mut self, at: &mut ToFollow) -> Result<bool> {
        let (Some(reached), Some(mut last)) = (&at.reached, at.at) else { return Ok(true) };
        let category = CategoryId(reached.node_id.0);
        loop {
            if self.left == 0 {
                return Ok(false);
            }
            let slice = self.ctx.store.slice::<CategoryMember>(category).after_key(ProductId(last));
            let page = slice.limit(self.left.min(BETWEEN_LOOKS)).page().await?;
            let ids: Vec<ProductId> = page.rows.iter().map(|member| member.product_id).collect();
            place(self.ctx, category, &ids).await?;
            self.left -= ids.len();
            self.products += ids.len() as u64;
            last = ids.last().map_or(last, |id| id.0);
            at.at = Some(last);
            if page.next.is_none() {
                at.at = None;
                return Ok(true);
            }
        }
    }
}

/// Writes the category's name and place into products of it.
pub(super) async fn place(ctx: &Context, category: CategoryId, products: &[ProductId]) -> Result<()> {
    if products.is_empty() {
        return Ok(());
    }
    let Some(mut here) = find_category(ctx, category).await? else { return Ok(()) };
    loop {
        let there = &here;
        let placed = products.iter().map(|id| async move {
            match set_category(ctx, *id, there).await {
                Err(Error::ProductNotFound { .. }) => Ok(()),
                other => other,
            }
        });
        stream::iter(placed.collect::<Vec<_>>()).buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await?;
        // RACE: as said above: another may have moved it since, and be done with its products.
        match find_category(ctx, category).await? {
            Some(now) if !is_filed_under(&now, &here.name, &here.path) => here = now,
            _ => return Ok(()),
        }
    }
}

pub(super) fn is_filed_under(category: &Category, name: &str, path: &[CategoryId]) -> bool {
    category.name == name && category.path == path
}

/// A product that was just filed under a category that was there a moment ago, with the name and the place that it has now.
pub(super) async fn with_category(ctx: &Context, mut product: Product, filed: &Category) -> Result<Product> {
    loop {
        let Some(category) = find_category(ctx, product.category_id).await? else {
            // RACE: it was deleted at the same moment (`delete`); or later, when another had taken the product away.
            let (now, _) = ctx.store.get_versioned::<Product>(product.product_id).await?;
            if now.is_none_or(|now| now.category_id != product.category_id) {
                return Ok(product);
            }
            put_back(ctx, filed).await?;
            continue;
        };
        if is_filed_under(&category, &product.category_name, &product.category_path) {
            return Ok(product);
        }
        set_category(ctx, product.product_id, &category).await?;
        product.category_name = category.name;
        product.category_path = category.path;
    }
}
