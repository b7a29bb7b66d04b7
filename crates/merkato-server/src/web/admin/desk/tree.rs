//! The tree of categories, as far as a page shows it.

use futures::{StreamExt as _, TryStreamExt as _, stream};
use merkato::{Context, PageRequest, catalog, catalog::Subcategory, id::CategoryId};

use crate::http::Problem;

/// Categories that one page shows.
const SHOWN_MAX: usize = 300;
/// Right below one category.
const BELOW_MAX: usize = 100;
/// Partitions that are read side by side.
const AT_ONCE: usize = 16;

/// A category in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    pub id: CategoryId,
    pub name: String,
    pub slug: String,
    /// From zero, at the top of what is shown.
    pub depth: usize,
    /// There are more below it than are shown.
    pub cut: bool,
}

impl Branch {
    /// The name, further to the right the deeper it is, for a list that has no other way to show it.
    pub fn indented(&self) -> String {
        format!("{}{}", "\u{2003}".repeat(self.depth), self.name)
    }
}

/// These categories and what is below them, each below its parent, by name.
pub async fn below(ctx: &Context, top: Vec<Subcategory>) -> Result<Vec<Branch>, Problem> {
    let branch =
        |row: Subcategory, depth| Branch { id: row.category_id, name: row.name, slug: row.slug, depth, cut: false };
    let mut shown: Vec<Branch> = top.into_iter().map(|row| branch(row, 0)).collect();
    let mut level: Vec<CategoryId> = shown.iter().map(|branch| branch.id).collect();
    let mut depth = 0;
    while !level.is_empty() && shown.len() < SHOWN_MAX {
        depth += 1;
        let reads = level.iter().map(|parent| async move {
            let page = PageRequest::first(BELOW_MAX);
            let found = catalog::list_subcategories(ctx, Some(*parent), page).await?;
            Ok::<_, Problem>((*parent, found))
        });
        let reads = stream::iter(reads.collect::<Vec<_>>()).buffered(AT_ONCE).try_collect::<Vec<_>>().await?;
        level.clear();
        for (parent, found) in reads {
            let Some(at) = shown.iter().position(|branch| branch.id == parent) else { continue };
            let room = SHOWN_MAX.saturating_sub(shown.len());
            shown[at].cut = found.next.is_some() || found.rows.len() > room;
            let rows: Vec<Branch> = found.rows.into_iter().take(room).map(|row| branch(row, depth)).collect();
            level.extend(rows.iter().map(|branch| branch.id));
            shown.splice(at + 1..at + 1, rows);
        }
    }
    // What is at the end of the room was not looked below.
    for branch in shown.iter_mut().filter(|branch| level.contains(&branch.id)) {
        branch.cut = true;
    }
    Ok(shown)
}

/// The whole tree, as far as a page shows it; whether that is all.
pub async fn whole(ctx: &Context) -> Result<(Vec<Branch>, bool), Problem> {
    let top = catalog::list_subcategories(ctx, None, PageRequest::first(BELOW_MAX)).await?;
    let more = top.next.is_some();
    let shown = below(ctx, top.rows).await?;
    let all = !more && !shown.iter().any(|branch| branch.cut);
    Ok((shown, all))
}

/// The same without a category and all below it, which are right behind it.
pub fn outside(mut shown: Vec<Branch>, id: CategoryId) -> Vec<Branch> {
    if let Some(at) = shown.iter().position(|branch| branch.id == id) {
        let depth = shown[at].depth;
        let below = shown[at + 1..].iter().take_while(|branch| branch.depth > depth).count();
        shown.drain(at..=at + below);
    }
    shown
}
