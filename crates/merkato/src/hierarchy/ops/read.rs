//! What is asked of a tree.

use std::ops::Bound;

use widerow::Page;

use super::{
    judge::{self, Judge, state},
    relocate::missing,
};
use crate::{
    check::Invalid,
    context::Context,
    hierarchy::{
        error::{Error, Result},
        path,
        rules::{self, Marked as _, Side, root_of},
        tables::{Node, PathEntry, Reached, Relationship, Relocation},
    },
    id::{NodeId, TreeId},
    limits,
    pattern::PageRequest,
};

/// Rows that are counted in one read.
const COUNTED_ROWS: usize = 5_000;
/// Counts that are begun again because a subtree was moved meanwhile.
const COUNTS_MAX: usize = 8;

/// A node above another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ancestor {
    pub node_id: NodeId,
    pub name: String,
    pub path: String,
}

/// How many nodes stand below one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub descendants: u64,
    /// Right below it, below these, and so on.
    pub by_depth: Vec<u64>,
}

/// A row of the tree's partition as it is stored, and the state of the tree.
pub(super) async fn find_row(ctx: &Context, tree: TreeId, node: NodeId) -> Result<(Option<Node>, Option<Relocation>)> {
    let mut page = ctx.store.slice::<Node>(tree).prefix(node).limit(1).page().await?;
    let relocation = page.statics.get(Node::RELOCATION)?.flatten();
    let row = page.rows.pop().filter(|row| row.holder.is_none());
    Ok((row.map(|row| Node { relocation: None, ..row }), relocation))
}

/// H1. One node, where it stands now.
pub async fn find_node(ctx: &Context, tree: TreeId, node: NodeId) -> Result<Option<Node>> {
    let (row, state) = find_row(ctx, tree, node).await?;
    let Some(row) = row else { return Ok(None) };
    match (row.relocation_id, state) {
        (None, _) => Ok(Some(row)),
        (Some(id), Some(state)) if state.id == id => Ok(row.on(&state, state.side())),
        // Where row and state are not read together, a relocation may have ended between them.
        _ => Ok(find_nodes(ctx, tree, &[node]).await?.pop().flatten()),
    }
}

pub async fn get_node(ctx: &Context, tree: TreeId, node: NodeId) -> Result<Node> {
    match find_node(ctx, tree, node).await? {
        Some(node) => Ok(node),
        None => Err(missing(ctx, tree, node).await?),
    }
}

/// Several nodes, in the order of their ids as they are given: a page's numbers of children, for one.
pub async fn find_nodes(ctx: &Context, tree: TreeId, nodes: &[NodeId]) -> Result<Vec<Option<Node>>> {
    let most = widerow::limits::GET_KEYS_MAX;
    if nodes.len() > most {
        return Err(Error::TooLarge { what: "nodes of one call", size: nodes.len(), limit: most });
    }
    let mut judge = Judge::default();
    loop {
        let rows = ctx.store.get_many::<Node>(nodes.iter().map(|node| (tree, *node))).await?;
        let state = if judge.knows_decided() { state(ctx, tree).await? } else { None };
        let seen = rows.into_iter().map(|row| {
            let row = row.filter(|row| row.holder.is_none()).map(|row| Node { relocation: None, ..row })?;
            let Some(id) = row.relocation_id else { return Some(row) };
            match (judge.side(id), state.as_ref().filter(|state| state.id == id)) {
                (Side::Old, _) => Some(row.resting()),
                (Side::New, Some(state)) => row.on(state, Side::New),
                // It has ended since: all is read again.
                (Side::New, None) => {
                    judge.overtaken(id);
                    None
                }
            }
        });
        let seen: Vec<Option<Node>> = seen.collect();
        if judge.agrees(ctx, tree).await? {
            return Ok(seen);
        }
    }
}

/// H5. The nodes above one, from the root's child down to its parent: one read, as a node knows its path.
pub async fn ancestors(ctx: &Context, tree: TreeId, node: NodeId) -> Result<Vec<Ancestor>> {
    Ok(ancestors_of(&get_node(ctx, tree, node).await?))
}

/// The same of a node that is at hand. The root is not among them.
pub fn ancestors_of(node: &Node) -> Vec<Ancestor> {
    let mut path = path::ROOT.to_owned();
    let named = node.ancestors.iter().skip(1).zip(path::names(&node.node_path));
    let above = named.map(|(node_id, name)| {
        path = path::below(&path, &name);
        Ancestor { node_id: *node_id, name, path: path.clone() }
    });
    above.collect()
}

/// H2. The nodes right below one, names in order.
pub async fn list_children(
    ctx: &Context,
    tree: TreeId,
    node: Option<NodeId>,
    page: PageRequest,
) -> Result<Page<Relationship>> {
    list_level(ctx, tree, node, 1, page).await
}

/// H4. The nodes so many steps below one, names in order.
pub async fn list_level(
    ctx: &Context,
    tree: TreeId,
    node: Option<NodeId>,
    depth: u32,
    page: PageRequest,
) -> Result<Page<Relationship>> {
    page.check()?;
    let (node, depth) = (node.unwrap_or(root_of(tree)), check_depth(depth)?);
    let slice = ctx.store.slice::<Relationship>((tree, node)).prefix(depth).after(page.cursor.clone());
    let found = judge::page(ctx, tree, slice, page.limit).await?;
    known(ctx, tree, node, &page, found).await
}

/// As `list_children`; an empty page costs no more than a full one, and does not tell whether there is such a node.
pub(crate) async fn list_below(
    ctx: &Context,
    tree: TreeId,
    node: Option<NodeId>,
    page: PageRequest,
) -> Result<Page<Relationship>> {
    page.check()?;
    let slice = ctx.store.slice::<Relationship>((tree, node.unwrap_or(root_of(tree)))).prefix(1).after(page.cursor);
    judge::page(ctx, tree, slice, page.limit).await
}

/// So many of the nodes below one, in the order of `list_subtree`, from behind the last that is done with; some, if there are any.
pub(crate) async fn walk(
    ctx: &Context,
    tree: TreeId,
    node: NodeId,
    after: Option<Reached>,
    limit: usize,
) -> Result<Page<Relationship>> {
    let mut slice = ctx.store.slice::<Relationship>((tree, node));
    if let Some(Reached { relationship_depth, name_lower, node_id }) = after {
        slice = slice.after_key((relationship_depth, name_lower, node_id));
    }
    loop {
        let page = judge::page(ctx, tree, slice.clone(), limit).await?;
        if !page.rows.is_empty() || page.next.is_none() {
            return Ok(page);
        }
        // So many that leave or arrive were passed over.
        slice = slice.after(page.next);
    }
}

/// The node with this code, or the one that had it last.
pub async fn find_by_code(ctx: &Context, tree: TreeId, code: &str) -> Result<Option<Node>> {
    let row = ctx.store.get::<Node>((tree, rules::code_id(code))).await?;
    match row.and_then(|row| row.holder) {
        Some(node) => Ok(find_nodes(ctx, tree, &[node]).await?.pop().flatten()),
        None => Ok(None),
    }
}

/// H3. What stands below a node, down to so many steps (None: all), level by level, names in order. One partition, at any size.
pub async fn list_subtree(
    ctx: &Context,
    tree: TreeId,
    node: Option<NodeId>,
    depth_max: Option<u32>,
    page: PageRequest,
) -> Result<Page<Relationship>> {
    page.check()?;
    let node = node.unwrap_or(root_of(tree));
    let mut slice = ctx.store.slice::<Relationship>((tree, node)).after(page.cursor.clone());
    if let Some(depth) = depth_max {
        slice = slice.to(Bound::Included(check_depth(depth)?));
    }
    let found = judge::page(ctx, tree, slice, page.limit).await?;
    known(ctx, tree, node, &page, found).await
}

fn check_depth(depth: u32) -> Result<i32> {
    let most = limits::NODE_DEPTH_MAX;
    if (1..=most as u32).contains(&depth) {
        return Ok(depth as i32);
    }
    Err(Invalid::new("depth", format!("{depth} is not 1 to {most}")).into())
}

/// An empty list says nothing about whether there is a node.
async fn known(
    ctx: &Context,
    tree: TreeId,
    node: NodeId,
    asked: &PageRequest,
    page: Page<Relationship>,
) -> Result<Page<Relationship>> {
    if page.rows.is_empty() && asked.cursor.is_none() {
        get_node(ctx, tree, node).await?;
    }
    Ok(page)
}

/// H6. The node at a path: one read of one partition.
pub async fn find_by_path(ctx: &Context, tree: TreeId, path: &str) -> Result<Option<PathEntry>> {
    let path = path::normal(path);
    let Some((above, name)) = path::parse(&path)? else {
        let root = find_node(ctx, tree, root_of(tree)).await?;
        return Ok(root.map(|root| PathEntry {
            org_id: tree,
            path_prefix: path::ROOT.into(),
            node_level: 0,
            name_lower: path::ROOT.into(),
            node_id: root.node_id,
            full_path: path::ROOT.into(),
            node_name: root.node_name,
            node_type: root.node_type,
            mark: None,
        }));
    };
    let level = path.matches('/').count() as i32;
    if level > limits::NODE_DEPTH_MAX as i32 {
        return Ok(None);
    }
    let slice = ctx.store.slice::<PathEntry>((tree, path::key(above))).prefix((level, path::order(&name)));
    let mut cursor = None;
    loop {
        // Names that differ in case or accents only are side by side.
        let page = judge::page(ctx, tree, slice.clone().after(cursor), limits::PAGE_ROWS_MAX).await?;
        if let Some(found) = page.rows.into_iter().find(|entry| entry.full_path == path) {
            return Ok(Some(found));
        }
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok(None),
        }
    }
}

/// H7. How many nodes stand below one, counted: every row below it is read. A subtree that is moved meanwhile is counted on one
/// side of its move.
pub async fn count_descendants(ctx: &Context, tree: TreeId, node: Option<NodeId>) -> Result<Counts> {
    let id = node.unwrap_or(root_of(tree));
    get_node(ctx, tree, id).await?;
    for _ in 0..COUNTS_MAX {
        let before = state(ctx, tree).await?.map(|state| (state.id, state.side()));
        let mut counts = Counts::default();
        let mut slice = ctx.store.slice::<Relationship>((tree, id)).limit(COUNTED_ROWS);
        let mut strange = false;
        loop {
            let page = slice.clone().page().await?;
            for row in page.rows {
                let mark = row.mark().map(|mark| mark.relocation);
                let side = before.filter(|(id, _)| mark == Some(*id)).map(|(_, side)| side);
                strange |= mark.is_some() && side.is_none();
                if let Some(row) = row.on(side.unwrap_or(Side::Old)) {
                    counts.add(row.relationship_depth);
                }
            }
            match page.next {
                Some(next) => slice = slice.after(Some(next)),
                None => break,
            }
        }
        // RACE: without a decision between, all that was read is of one side.
        let after = state(ctx, tree).await?.map(|state| (state.id, state.side()));
        if before == after && !strange {
            return Ok(counts);
        }
    }
    Err(Error::Busy { tree })
}

impl Counts {
    fn add(&mut self, depth: i32) {
        let depth = usize::try_from(depth - 1).unwrap_or(0);
        if self.by_depth.len() <= depth {
            self.by_depth.resize(depth + 1, 0);
        }
        self.by_depth[depth] += 1;
        self.descendants += 1;
    }
}
