//! Categories: a tree, which the module of trees serves, and the products in it.

use widerow::Page;

use super::follow::follow_category;
use crate::{
    catalog::{
        category::{Category, Subcategories, Subcategory, node_of, tree},
        error::{Error, Result},
        order::SortOrder,
        rules,
        tables::{CategoryEntry, CategoryMember},
    },
    check::Check,
    context::Context,
    hierarchy::{self, KeptNode, NewNode, Origin, Relocating, kept, root_of},
    id::CategoryId,
    limits,
    pattern::PageRequest,
};

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
    Ok(find_categories(ctx, &[id]).await?.pop().flatten())
}

/// Several, in the order of their ids as they are given.
pub async fn find_categories(ctx: &Context, ids: &[CategoryId]) -> Result<Vec<Option<Category>>> {
    let nodes: Vec<_> = ids.iter().map(|id| node_of(*id)).collect();
    let found = hierarchy::find_nodes(ctx, tree(), &nodes).await?;
    Ok(found.into_iter().map(|node| node.and_then(Category::of)).collect())
}

pub async fn get_category(ctx: &Context, id: CategoryId) -> Result<Category> {
    find_category(ctx, id).await?.ok_or(Error::CategoryNotFound { category: id })
}

/// The category with this slug, or the one that had it last.
pub async fn find_category_by_slug(ctx: &Context, slug: &str) -> Result<Option<Category>> {
    let mut check = Check::new();
    check.slug("slug", slug);
    check.end()?;
    Ok(hierarchy::find_by_code(ctx, tree(), slug).await?.and_then(Category::of))
}

/// The categories right below one, or at the top, by name.
pub async fn list_subcategories(ctx: &Context, parent: Option<CategoryId>, page: PageRequest) -> Result<Subcategories> {
    let found = hierarchy::list_below(ctx, tree(), parent.map(node_of), page).await?;
    Ok(Subcategories { rows: found.rows.into_iter().map(Subcategory::from).collect(), next: found.next })
}

/// All categories below one, or all there are: level by level, names in order. One partition.
pub async fn list_descendants(ctx: &Context, parent: Option<CategoryId>, page: PageRequest) -> Result<Subcategories> {
    let found = match hierarchy::list_subtree(ctx, tree(), parent.map(node_of), None, page).await {
        // It is made with the first category.
        Err(hierarchy::Error::TreeNotFound { .. }) if parent.is_none() => return Ok(Subcategories::default()),
        found => found?,
    };
    Ok(Subcategories { rows: found.rows.into_iter().map(Subcategory::from).collect(), next: found.next })
}

/// The categories from the root to this one, as they are now.
pub async fn breadcrumbs(ctx: &Context, category: &Category) -> Result<Vec<Category>> {
    let above = find_categories(ctx, &category.path).await?;
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

/// Makes a category, below its parent or at the top: one commit, so that it is there with its address and its place, or not
/// at all.
pub async fn create_category(ctx: &Context, new: NewCategory) -> Result<Category> {
    let id = CategoryId(ctx.new_id());
    let made = create_categories(ctx, vec![NewCategory { category_id: Some(new.category_id.unwrap_or(id)), ..new }]);
    made.await?.pop().unwrap_or(Err(Error::CategoryNotFound { category: id }))
}

/// Makes categories, parents before those below them, as many in one commit as fit. Each has an answer of its own, in order.
pub async fn create_categories(ctx: &Context, all: Vec<NewCategory>) -> Result<Vec<Result<Category>>> {
    let mut answers: Vec<Result<Category>> = Vec::with_capacity(all.len());
    let (mut nodes, mut ids) = (Vec::new(), Vec::new());
    for new in all {
        let id = new.category_id.unwrap_or_else(|| CategoryId(ctx.new_id()));
        let made_of_name = rules::slug_of(&new.name);
        let codes = match new.slug {
            Some(slug) => vec![slug],
            None => vec![made_of_name.clone(), rules::slug_with_id(&made_of_name, id.0)],
        };
        let checked = check_category(&new.name, &codes[0]);
        if checked.is_ok() {
            ids.push((answers.len(), id));
            nodes.push(node(id, new.name, codes, new.parent_id, None));
        }
        // Until it is made there is none.
        answers.push(checked.and(Err(Error::CategoryNotFound { category: id })));
    }
    let made = insert(ctx, nodes).await?;
    let wanted: Vec<CategoryId> = ids.iter().map(|(_, id)| *id).collect();
    let mut found = Vec::with_capacity(wanted.len());
    for some in wanted.chunks(widerow::limits::GET_KEYS_MAX) {
        found.extend(find_categories(ctx, some).await?);
    }
    for (((at, id), made), found) in ids.into_iter().zip(made).zip(found) {
        answers[at] = match made {
            Ok(hierarchy::Inserted::New(_)) => found.ok_or(Error::CategoryNotFound { category: id }),
            Ok(hierarchy::Inserted::Unchanged(_)) => Err(Error::CategoryExists { category: id }),
            Err(error) => Err(error),
        };
    }
    Ok(answers)
}

pub(super) fn node(
    id: CategoryId,
    name: String,
    codes: Vec<String>,
    parent: Option<CategoryId>,
    origin: Option<Origin>,
) -> KeptNode {
    let node = NewNode { node_id: Some(node_of(id)), parent_id: parent.map(node_of), name, ..NewNode::default() };
    KeptNode { node, codes, origin }
}

/// Into the tree, which is made with its first category.
pub(super) async fn insert(ctx: &Context, nodes: Vec<KeptNode>) -> Result<Vec<Result<hierarchy::Inserted>>> {
    let made = match hierarchy::insert_kept(ctx, tree(), nodes.clone()).await {
        Err(hierarchy::Error::TreeNotFound { .. }) => {
            hierarchy::make_tree(ctx, kept::CATEGORIES.name).await?;
            hierarchy::insert_kept(ctx, tree(), nodes).await?
        }
        made => made?,
    };
    Ok(made.into_iter().map(|made| made.map_err(Error::from)).collect())
}

/// Changes a category's name or slug. The name that its products bear follows: of so many before this returns, of the others
/// soon after.
pub async fn change_category(
    ctx: &Context,
    id: CategoryId,
    expected: Option<i64>,
    change: CategoryChange,
) -> Result<Category> {
    let mut check = Check::new();
    if let Some(name) = &change.name {
        check.line("name", name, 1..=limits::NODE_NAME_BYTES_MAX);
    }
    if let Some(slug) = &change.slug {
        check.slug("slug", slug);
    }
    check.end()?;
    relocate(ctx, id, Relocating { parent: None, name: change.name, code: change.slug }, expected).await
}

/// Moves a category, with all below it, to stand below another, or at the top. Readers see the tree before, or after. Its
/// products leave the lists of the categories that were above it and come into the new ones one by one: so many before this
/// returns, the others soon after.
pub async fn move_category(
    ctx: &Context,
    id: CategoryId,
    parent: Option<CategoryId>,
    expected: Option<i64>,
) -> Result<Category> {
    let parent = parent.map_or(root_of(tree()), node_of);
    relocate(ctx, id, Relocating { parent: Some(parent), ..Relocating::default() }, expected).await
}

async fn relocate(ctx: &Context, id: CategoryId, to: Relocating, expected: Option<i64>) -> Result<Category> {
    let missing = || Error::CategoryNotFound { category: id };
    let node = match hierarchy::relocate_kept(ctx, tree(), node_of(id), to, expected).await {
        // Without categories there is no tree of them.
        Err(hierarchy::Error::TreeNotFound { .. } | hierarchy::Error::Root) => return Err(missing()),
        node => node?,
    };
    if node.to_follow.is_some() {
        // What is left of it is noted, and done by whoever comes by: the change itself is made.
        let _ = follow_category(ctx, id, limits::FOLLOWED_AT_ONCE_MAX).await;
    }
    Category::of(node).ok_or_else(missing)
}

pub(super) fn check_category(name: &str, slug: &str) -> Result<()> {
    let mut check = Check::new();
    check.line("name", name, 1..=limits::NODE_NAME_BYTES_MAX);
    check.slug("slug", slug);
    Ok(check.end()?)
}
