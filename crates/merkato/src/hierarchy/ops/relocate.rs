//! Move, rename, delete: a subtree to another place, under another name, or gone; of any size.

use futures::FutureExt as _;
use widerow::{Consistency, Version};

use super::{
    draft::{Draft, decide},
    drive,
    read::{find_node, find_row, get_node},
};
use crate::{
    check::Check,
    context::Context,
    hierarchy::{
        error::{Error, Result},
        kept, path,
        rules::{self, root_of},
        tables::{Node, Phase, Place, Relationship, Relocation, ToFollow},
    },
    id::{NodeId, TreeId},
    limits,
};

/// Nodes below the top of a subtree that are looked at for whether all of it fits one commit.
const AT_ONCE_MAX: usize = 90;
/// Times that a change is begun again because its node was moved or renamed meanwhile.
const TRIES_MAX: usize = 16;

/// What is to become of a subtree.
#[derive(Clone, Debug)]
enum Change {
    Relocated(Relocating),
    Gone,
    GoneIfLeaf,
}

/// What is to be another; what is None stays.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relocating {
    /// May be the root.
    pub parent: Option<NodeId>,
    pub name: Option<String>,
    /// The former one leads to the node still, until another takes it.
    pub code: Option<String>,
}

/// What was read of a subtree before a decision that rests on it.
struct Subtree {
    version: Option<Version>,
    /// Below its top, in order.
    nodes: Vec<(NodeId, NodeId)>,
}

enum Begun {
    /// It was so already, or it is.
    Done,
    Under(uuid::Uuid),
    /// The node is not where it was seen.
    Elsewhere,
}

/// Moves a node, with all below it, to stand below another (None: at the top). Readers see all of it in the old place, or all of
/// it in the new.
pub async fn move_node(
    ctx: &Context,
    tree: TreeId,
    node: NodeId,
    parent: Option<NodeId>,
    expected: Option<i64>,
) -> Result<Node> {
    relocate_node(ctx, tree, node, Some(parent.unwrap_or(root_of(tree))), None, expected).await
}

/// Gives a node another name; the paths of all below it follow, and are seen to change at once.
pub async fn rename_node(ctx: &Context, tree: TreeId, node: NodeId, name: &str, expected: Option<i64>) -> Result<Node> {
    relocate_node(ctx, tree, node, None, Some(name), expected).await
}

/// Moves a node and gives it another name, at once; what is None stays. `parent` may be the root (`root_of`).
pub async fn relocate_node(
    ctx: &Context,
    tree: TreeId,
    node: NodeId,
    parent: Option<NodeId>,
    name: Option<&str>,
    expected: Option<i64>,
) -> Result<Node> {
    kept::open_to_all(tree)?;
    let to = Relocating { parent, name: name.map(str::to_owned), code: None };
    relocate_kept(ctx, tree, node, to, expected).await
}

/// The same by those who keep the tree. A code that is changed along is the new one from the beginning.
pub(crate) async fn relocate_kept(
    ctx: &Context,
    tree: TreeId,
    node: NodeId,
    mut to: Relocating,
    expected: Option<i64>,
) -> Result<Node> {
    let normal = to.name.as_deref().map(path::normal);
    for name in to.name.iter().chain(&normal) {
        check_name(name)?;
    }
    to.name = normal;
    change(ctx, tree, node, Change::Relocated(to), expected).boxed().await?;
    get_node(ctx, tree, node).await
}

pub(super) fn check_name(name: &str) -> Result<()> {
    let mut check = Check::new();
    check.line("name", name, 1..=limits::NODE_NAME_BYTES_MAX);
    Ok(check.end()?)
}

/// Deletes a node that has nothing below it.
pub async fn delete_leaf(ctx: &Context, tree: TreeId, node: NodeId, expected: Option<i64>) -> Result<()> {
    kept::open_to_all(tree)?;
    change(ctx, tree, node, Change::GoneIfLeaf, expected).boxed().await
}

/// The same by those who keep the tree. The code that it had is free; those that it had before lead nowhere.
pub(crate) async fn delete_kept_leaf(ctx: &Context, tree: TreeId, node: NodeId, expected: Option<i64>) -> Result<()> {
    change(ctx, tree, node, Change::GoneIfLeaf, expected).boxed().await
}

/// Deletes a node with all below it, which are seen to go at once.
pub async fn delete_subtree(ctx: &Context, tree: TreeId, node: NodeId, expected: Option<i64>) -> Result<()> {
    kept::open_to_all(tree)?;
    change(ctx, tree, node, Change::Gone, expected).boxed().await
}

async fn change(ctx: &Context, tree: TreeId, node: NodeId, change: Change, expected: Option<i64>) -> Result<()> {
    if node == root_of(tree) {
        return Err(Error::Root);
    }
    for _ in 0..TRIES_MAX {
        let Some(seen) = find_node(ctx, tree, node).await? else { return Err(missing(ctx, tree, node).await?) };
        match begin(ctx, tree, &seen, &change, expected).await? {
            Begun::Done => return Ok(()),
            Begun::Under(id) => return drive::finish_own(ctx, tree, id).await,
            Begun::Elsewhere => {}
        }
    }
    Err(Error::Busy { tree })
}

/// Whether it is the node that is missing, or the whole tree.
pub(super) async fn missing(ctx: &Context, tree: TreeId, node: NodeId) -> Result<Error> {
    let (root, _) = find_row(ctx, tree, root_of(tree)).await?;
    Ok(if root.is_some() { Error::NodeNotFound { node } } else { Error::TreeNotFound { tree } })
}

/// All of it in one commit, where that is seen at once and fits; otherwise the beginning of a relocation.
async fn begin(ctx: &Context, tree: TreeId, seen: &Node, change: &Change, expected: Option<i64>) -> Result<Begun> {
    let Some(from) = seen.parent_id else { return Err(Error::Root) };
    let to = match change {
        Change::Relocated(to) => {
            Some((to.parent.unwrap_or(from), to.name.clone().unwrap_or_else(|| seen.node_name.clone())))
        }
        Change::Gone | Change::GoneIfLeaf => None,
    };
    let subtree = if matches!(change, Change::GoneIfLeaf) { None } else { subtree(ctx, tree, seen).await? };
    let mut keys = vec![seen.node_id, from, rules::holder_id(from, &seen.node_name)];
    if let Some((parent, name)) = &to {
        keys.extend([*parent, rules::holder_id(*parent, name)]);
    }
    for (node, holder) in subtree.iter().flat_map(|subtree| &subtree.nodes) {
        keys.push(*node);
        keys.extend(to.is_none().then_some(*holder));
    }
    let code = match change {
        Change::Relocated(to) => to.code.as_ref().filter(|code| Some(*code) != seen.node_code.as_ref()),
        Change::Gone | Change::GoneIfLeaf => None,
    };
    keys.extend(code.into_iter().chain(&seen.node_code).map(|code| rules::code_id(code)));
    let id = ctx.new_id();
    decide(ctx, tree, keys, |draft| {
        // ORDER: the time of this try: others may have been waited for.
        let now = ctx.now();
        let Some(mut node) = draft.node(seen.node_id).cloned() else {
            return Err(Error::NodeNotFound { node: seen.node_id });
        };
        let place = (node.parent_id, &node.node_name, &node.node_code);
        if place != (Some(from), &seen.node_name, &seen.node_code) {
            return Ok(Begun::Elsewhere);
        }
        if let Some(expected) = expected.filter(|expected| *expected != node.revision) {
            return Err(Error::Edited { node: node.node_id, expected, found: node.revision });
        }
        let place = match &to {
            Some((parent, name)) => check(draft, &node, from, *parent, name)?,
            None => None,
        };
        if let Some(code) = code {
            recode(draft, &mut node, code)?;
        }
        if to.is_some() && place.is_none() {
            // It stays where it is.
            if code.is_some() {
                let recoded = Node { revision: node.revision + 1, updated_at: now, ..node };
                draft.write(vec![(recoded.node_id, Some(recoded))])?;
            }
            return Ok(Begun::Done);
        }
        if to.is_some() && kept::is_kept(tree) {
            // ORDER: noted before it is decided. Whoever follows ends the relocation first.
            let change = ToFollow { change: id, since: now, once: false, last: false, reached: None, at: None };
            node.to_follow = Some(change);
        }
        if matches!(change, Change::GoneIfLeaf) {
            if node.children_count > 0 {
                return Err(Error::NotALeaf { node: node.node_id, children: node.children_count });
            }
            // A node that goes alone is in no two places, and needs no more than one that comes.
            let mut writes = vec![(node.node_id, None), (rules::holder_id(from, &node.node_name), None)];
            writes.extend(node.node_code.iter().map(|code| (rules::code_id(code), None)));
            writes.extend(draft.counted(from, -1));
            draft.write(writes)?;
            return Ok(Begun::Done);
        }
        let last = draft.relocation.clone();
        let record = drive::record(id, &node, from, to.clone(), last.as_ref(), now);
        let whole = subtree.as_ref().filter(|subtree| subtree.version == draft.version);
        if let Some(whole) = whole
            && draft.try_write(all_at_once(draft, &record, &node, place.as_ref(), whole)?)
        {
            // Whoever reads page by page sees by its id that a subtree went by.
            draft.relocation = Some(Relocation { phase: Phase::Done, ..record });
            return Ok(Begun::Done);
        }
        let mut record = record;
        if let Some((parent, name)) = &to {
            let holding = draft.holding(*parent, name, node.node_id, &node);
            draft.write(vec![holding, (node.node_id, Some(node))])?;
        }
        drive::go_on_from_top(draft, &mut record)?;
        draft.relocation = Some(record);
        Ok(Begun::Under(id))
    })
    .await
}

/// The new place, if it may be one; None where it is the present one.
fn check(draft: &Draft, node: &Node, from: NodeId, to: NodeId, name: &str) -> Result<Option<Place>> {
    let parent = draft.node(to).ok_or(Error::ParentNotFound { parent: to })?;
    if to == node.node_id || parent.ancestors.contains(&node.node_id) {
        return Err(Error::Cycle { node: node.node_id, parent: to });
    }
    if to == from && name == node.node_name {
        return Ok(None);
    }
    if let Some(holder) = draft.holder(to, name) {
        return Err(Error::NameTaken { name: name.to_owned(), holder });
    }
    if to != from && parent.children_count >= limits::CHILDREN_A_NODE_MAX {
        return Err(Error::TooManyChildren { limit: limits::CHILDREN_A_NODE_MAX });
    }
    rules::place_below(parent, name).map(Some).map_err(|refusal| refusal.error(parent.org_id))
}

/// Gives a node another code; the former one leads to it still.
fn recode(draft: &mut Draft, node: &mut Node, code: &str) -> Result<()> {
    if let Some(holder) = draft.code_holder(code) {
        return Err(Error::CodeTaken { code: code.to_owned(), holder });
    }
    let former = node.node_code.replace(code.to_owned());
    let mut rows = vec![draft.leading(code, true, node)];
    rows.extend(former.map(|former| draft.leading(&former, false, node)));
    draft.write(rows)
}

/// The nodes below, if they are few, and the engine shows a commit all at once.
async fn subtree(ctx: &Context, tree: TreeId, top: &Node) -> Result<Option<Subtree>> {
    if !ctx.store.shows_commits_whole() {
        return Ok(None);
    }
    // ORDER: the version before the rows; as long as it stands, they are all that there is.
    let (_, version) = ctx.store.get_versioned::<Node>((tree, root_of(tree))).await?;
    let slice = ctx.store.slice::<Relationship>((tree, top.node_id)).consistency(Consistency::Quorum);
    let page = slice.limit(AT_ONCE_MAX).page().await?;
    if page.next.is_some() || page.rows.iter().any(|row| row.mark.is_some()) {
        return Ok(None);
    }
    let named = |row: Relationship| (row.descendant_id, rules::holder_id(row.parent_id, &row.node_name));
    Ok(Some(Subtree { version, nodes: page.rows.into_iter().map(named).collect() }))
}

/// What all rows become if nobody sees anything between.
fn all_at_once(
    draft: &Draft,
    record: &Relocation,
    top: &Node,
    place: Option<&Place>,
    subtree: &Subtree,
) -> Result<Vec<(NodeId, Option<Node>)>> {
    let mut writes = vec![(rules::holder_id(record.from_parent, &record.from_name), None)];
    if record.to_parent != Some(record.from_parent) {
        writes.extend(draft.counted(record.from_parent, -1));
        writes.extend(record.to_parent.and_then(|parent| draft.counted(parent, 1)));
    }
    let Some(place) = place else {
        writes.push((top.node_id, None));
        writes.extend(subtree.nodes.iter().flat_map(|(node, holder)| [(*node, None), (*holder, None)]));
        return Ok(writes);
    };
    writes.push(draft.holding(place.parent_id, &place.node_name, top.node_id, top));
    let prepared = top.leaving(record.id, Some(place.clone()));
    writes.push((top.node_id, prepared.settled(record)));
    for (id, _) in &subtree.nodes {
        let Some(node) = draft.node(*id) else { continue };
        let next = rules::place_with(top, place, node).map_err(|refusal| refusal.error(top.org_id))?;
        writes.push((*id, Some(node.at(&next))));
    }
    Ok(writes)
}
