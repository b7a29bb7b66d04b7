//! Whether every category has an address, and products say of their category what that says. What seems wrong is looked at again
//! by itself: the shop goes on meanwhile.

use std::collections::HashMap;

use widerow::Timestamp;

use super::{
    categories::find_category,
    delete::put_back,
    follow::{follow_categories, is_filed_under, place},
};
use crate::{
    catalog::{
        category::{Category, tree},
        error::Result,
        rules,
        tables::Product,
    },
    context::Context,
    hierarchy::{self, Reached, Relocating, root_of},
    id::{CategoryId, ProductId},
};

/// Categories that are read at once.
const CATEGORIES: usize = 1_000;

/// What a look at categories and their products found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CategoriesReport {
    pub categories: u64,
    pub products: u64,
    pub differences: u64,
    pub mended: u64,
    /// Some of the differences.
    pub wrong: Vec<Misfiled>,
}

/// Something of a category that is not so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfiled {
    /// It has no address.
    NoSlug { category: CategoryId },
    /// The product does not say of its category what that says.
    Product { product: ProductId, category: CategoryId },
    /// There is no such category.
    NoCategory { product: ProductId, category: CategoryId },
}

impl CategoriesReport {
    fn note(&mut self, wrong: Misfiled, listed_max: usize) {
        self.differences += 1;
        if self.wrong.len() < listed_max {
            self.wrong.push(wrong);
        }
    }
}

/// Names and parents of all categories.
type Places = HashMap<CategoryId, (String, Option<CategoryId>)>;

/// Looks at every category and every product. With `repair`, what is to follow goes on first, and what is wrong is made right.
/// Whether the tree is one, is verified as that of every tree (`hierarchy::verify_tree`).
pub async fn verify_categories(ctx: &Context, repair: bool, listed_max: usize) -> Result<CategoriesReport> {
    if repair {
        follow_categories(ctx, usize::MAX).await?;
    }
    let mut report = CategoriesReport::default();
    let places = categories(ctx, repair, listed_max, &mut report).await?;
    let mut odd: Vec<ProductId> = Vec::new();
    ctx.for_each_row::<Product>(|product| {
        report.products += 1;
        if !agrees(&places, &product) {
            odd.push(product.product_id);
        }
    })
    .await?;
    for id in odd {
        let (Some(product), _) = ctx.store.get_versioned::<Product>(id).await? else { continue };
        let of = product.category_id;
        let wrong = match find_category(ctx, of).await? {
            Some(now) if is_filed_under(&now, &product.category_name, &product.category_path) => continue,
            Some(_) => Misfiled::Product { product: id, category: of },
            None => Misfiled::NoCategory { product: id, category: of },
        };
        if repair {
            if matches!(wrong, Misfiled::NoCategory { .. }) {
                put_back(ctx, &said_by(&product, ctx.now())).await?;
            }
            place(ctx, of, &[id]).await?;
            report.mended += 1;
        }
        report.note(wrong, listed_max);
    }
    Ok(report)
}

async fn categories(ctx: &Context, repair: bool, listed_max: usize, report: &mut CategoriesReport) -> Result<Places> {
    let (root, mut places, mut after) = (root_of(tree()), Places::new(), None);
    loop {
        let page = hierarchy::walk(ctx, tree(), root, after.take(), CATEGORIES).await?;
        for row in page.rows {
            let id = CategoryId(row.descendant_id.0);
            report.categories += 1;
            if row.node_code.is_none() {
                report.note(Misfiled::NoSlug { category: id }, listed_max);
                if repair {
                    let code = Some(rules::slug_with_id(&rules::slug_of(&row.node_name), id.0));
                    let to = Relocating { code, ..Relocating::default() };
                    hierarchy::relocate_kept(ctx, tree(), row.descendant_id, to, None).await?;
                    report.mended += 1;
                }
            }
            let parent = (row.parent_id != root).then_some(CategoryId(row.parent_id.0));
            places.insert(id, (row.node_name, parent));
            let (relationship_depth, name_lower) = (row.relationship_depth, row.name_lower);
            after = Some(Reached { relationship_depth, name_lower, node_id: row.descendant_id });
        }
        if page.next.is_none() || after.is_none() {
            return Ok(places);
        }
    }
}

/// The category of a product, as far as the product says what it was.
fn said_by(product: &Product, now: Timestamp) -> Category {
    Category {
        category_id: product.category_id,
        name: product.category_name.clone(),
        slug: rules::slug_of(&product.category_name),
        parent_id: product.category_path.last().copied(),
        path: product.category_path.clone(),
        revision: 1,
        created_at: now,
        updated_at: now,
    }
}

/// Whether a product says what its category is, from the bottom up.
fn agrees(places: &Places, product: &Product) -> bool {
    let Some((name, above)) = places.get(&product.category_id) else { return false };
    let mut above = *above;
    for id in product.category_path.iter().rev() {
        if above != Some(*id) {
            return false;
        }
        above = places.get(id).and_then(|(_, above)| *above);
    }
    *name == product.category_name && above.is_none()
}
