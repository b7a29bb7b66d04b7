//! Trees themselves, and what is under way in them.

use widerow::{Commit, Page};

use super::{
    drive,
    insert::{Inserted, NewNode, Origin},
    judge::state,
};
use crate::{
    check::Check,
    context::Context,
    hierarchy::{
        error::{Error, Result},
        kept, path,
        rules::{check_facts, root_of, tree_id},
        tables::{Node, Relocation, SHELF, Tree},
    },
    id::TreeId,
    limits,
    pattern::PageRequest,
};

/// Makes a tree, or finds it: its id follows from its name.
pub async fn create_tree(ctx: &Context, name: &str) -> Result<Tree> {
    let tree = tree_id(name);
    kept::open_to_all(tree)?;
    find_room(ctx, tree).await?;
    make_tree(ctx, name).await
}

/// The same by those who keep it. There is always room for these few.
pub(crate) async fn make_tree(ctx: &Context, name: &str) -> Result<Tree> {
    let (root, _) = make_root(ctx, NewNode { name: name.to_owned(), ..NewNode::default() }, None).await?;
    let (tree_name, org_id, created_at) = (root.node_name, root.org_id, root.created_at);
    Ok(Tree { shelf: SHELF, tree_name, org_id, created_at })
}

/// Makes a tree as it was elsewhere, with what was noted of it. One that is there is left as it is, and another is refused.
pub async fn restore_tree(ctx: &Context, root: NewNode, origin: Option<Origin>) -> Result<Inserted> {
    let tree = tree_id(&root.name);
    kept::open_to_all(tree)?;
    let (node_type, metadata) = (root.node_type.clone(), root.metadata.clone());
    let mut check = Check::new();
    check_facts(&mut check, node_type.as_deref(), &metadata);
    check.end()?;
    origin.as_ref().map_or(Ok(()), Origin::check)?;
    find_room(ctx, tree).await?;
    match make_root(ctx, root, origin).await? {
        (root, true) => Ok(Inserted::New(root.node_id)),
        (root, false) if (&root.node_type, &root.node_metadata) == (&node_type, &metadata) => {
            Ok(Inserted::Unchanged(root.node_id))
        }
        (root, false) => Err(Error::NodeExists { node: root.node_id }),
    }
}

/// Refuses a tree that is not there yet where the shop has as many as it may. The list is read for that, which a new tree is
/// seldom enough for.
///
/// RACE: those who make trees at the same moment may all find the last room. Then there are as many more than the limit as they
/// are, and no further ones: it bounds a list, and nothing rests upon it.
async fn find_room(ctx: &Context, tree: TreeId) -> Result<()> {
    if ctx.store.get::<Node>((tree, root_of(tree))).await?.is_some() {
        return Ok(());
    }
    let (mut trees, mut cursor) = (0, None);
    loop {
        let slice = ctx.store.slice::<Tree>(SHELF).limit(widerow::limits::PAGE_ROWS_MAX).after(cursor);
        let page = slice.page().await?;
        trees += page.rows.len();
        if trees >= limits::TREES_MAX {
            return Err(Error::TooManyTrees { limit: limits::TREES_MAX });
        }
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok(()),
        }
    }
}

/// The root of a tree, and whether it is new.
async fn make_root(ctx: &Context, new: NewNode, origin: Option<Origin>) -> Result<(Node, bool)> {
    let name = path::normal(&new.name);
    let mut check = Check::new();
    check.line("name", &name, 1..=limits::TREE_NAME_BYTES_MAX);
    check.end()?;
    let tree = tree_id(&name);
    let now = ctx.now();
    let Origin { revision, created_at, updated_at } =
        origin.unwrap_or(Origin { revision: 1, created_at: now, updated_at: now });
    let root = Node {
        org_id: tree,
        node_id: root_of(tree),
        relocation: None,
        parent_id: None,
        node_path: path::ROOT.into(),
        node_level: 0,
        node_type: new.node_type,
        node_name: name,
        node_code: None,
        node_metadata: new.metadata,
        children_count: 0,
        ancestors: Vec::new(),
        revision,
        created_at,
        updated_at,
        relocation_id: None,
        stage: None,
        next: None,
        holder: None,
        to_follow: None,
    };
    ctx.store
        .guarded_prefixes::<Node, _, Error>(tree, [root.node_id], |partition| {
            Ok(match partition.rows.first() {
                Some(there) => (Commit::new(), (there.clone(), false)),
                None => (Commit::new().put(&root), (root.clone(), true)),
            })
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
