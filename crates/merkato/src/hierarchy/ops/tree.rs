//! Trees themselves, and what is under way in them.

use std::collections::BTreeMap;

use widerow::{Commit, Page};

use super::{drive, judge::state};
use crate::{
    check::Check,
    context::Context,
    hierarchy::{
        error::{Error, Result},
        kept, path,
        rules::{root_of, tree_id},
        tables::{Node, Relocation, SHELF, Tree},
    },
    id::TreeId,
    limits,
    pattern::PageRequest,
};

/// Makes a tree, or finds it: its id follows from its name.
pub async fn create_tree(ctx: &Context, name: &str) -> Result<Tree> {
    kept::open_to_all(tree_id(name))?;
    make_tree(ctx, name).await
}

/// The same by those who keep it.
pub(crate) async fn make_tree(ctx: &Context, name: &str) -> Result<Tree> {
    let name = path::normal(name);
    let mut check = Check::new();
    check.line("name", &name, 1..=limits::TREE_NAME_BYTES_MAX);
    check.end()?;
    let tree = tree_id(&name);
    let root = root_of(tree);
    let now = ctx.now();
    ctx.store
        .guarded_prefixes::<Node, Tree, Error>(tree, [root], |partition| {
            let mut commit = Commit::new();
            let created_at = partition.rows.first().map(|root| root.created_at);
            if created_at.is_none() {
                commit = commit.put(&Node {
                    org_id: tree,
                    node_id: root,
                    relocation: None,
                    parent_id: None,
                    node_path: path::ROOT.into(),
                    node_level: 0,
                    node_type: None,
                    node_name: name.clone(),
                    node_code: None,
                    node_metadata: BTreeMap::new(),
                    children_count: 0,
                    ancestors: Vec::new(),
                    revision: 1,
                    created_at: now,
                    updated_at: now,
                    relocation_id: None,
                    stage: None,
                    next: None,
                    holder: None,
                    to_follow: None,
                });
            }
            let created_at = created_at.unwrap_or(now);
            Ok((commit, Tree { shelf: SHELF, tree_name: name.clone(), org_id: tree, created_at }))
        })
        .await
}

/// The tree with this name.
pub async fn get_tree(ctx: &Context, name: &str) -> Result<Tree> {
    let name = path::normal(name);
    let tree = tree_id(&name);
    let mut check = Check::new();
    check.line("name", &name, 1..=limits::TREE_NAME_BYTES_MAX);
    check.end()?;
    ctx.store.get::<Tree>((SHELF, name)).await?.ok_or(Error::TreeNotFound { tree })
}

/// H8. The trees of a shop, by name.
pub async fn list_trees(ctx: &Context, page: PageRequest) -> Result<Page<Tree>> {
    page.check()?;
    Ok(ctx.store.slice::<Tree>(SHELF).limit(page.limit).after(page.cursor).page().await?)
}

/// What is under way in a tree, and how far it is.
pub async fn pending_relocation(ctx: &Context, tree: TreeId) -> Result<Option<Relocation>> {
    Ok(state(ctx, tree).await?.filter(Relocation::is_pending))
}

/// Ends what processes that died left half-way, in all trees; how many. Whoever changes a tree does so by themselves.
pub async fn finish_relocations(ctx: &Context) -> Result<u64> {
    let mut finished = 0;
    let mut cursor = None;
    loop {
        let page = ctx.store.slice::<Tree>(SHELF).limit(limits::PAGE_ROWS_MAX).after(cursor).page().await?;
        for tree in &page.rows {
            if pending_relocation(ctx, tree.org_id).await?.is_some() {
                drive::finish(ctx, tree.org_id).await?;
                finished += 1;
            }
        }
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok(finished),
        }
    }
}
