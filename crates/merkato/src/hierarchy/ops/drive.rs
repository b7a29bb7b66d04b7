//! A relocation on its way, piece by piece, driven by whoever comes by.
//!
//! 1. From its beginning to its end nobody changes the tree otherwise (`draft::decide`), so that the subtree stays what it is
//!    and can be walked over in any number of commits.
//! 2. Each piece is one commit, made only if the relocation is where the piece found it: drivers may be many.
//! 3. All rows are marked before the decision: a commit on a partition is made when all that earlier ones wrote elsewhere is
//!    there.

use uuid::Uuid;
use widerow::Consistency;

use super::{
    draft::{Draft, decide_amid},
    judge::state,
};
use crate::{
    context::Context,
    hierarchy::{
        error::{Error, Result},
        rules::{self, Side},
        tables::{Node, Phase, Reached, Refusal, Refused, Relationship, Relocation, ToFollow},
    },
    id::{NodeId, TreeId},
    limits,
};

/// Nodes of one piece: each is a row of the tree's partition, and where it goes for good, its name's row is another.
const NODES_A_PIECE: usize = 92;
const GOING_A_PIECE: usize = 46;

/// Ends what is under way.
pub(super) async fn finish(ctx: &Context, tree: TreeId) -> Result<()> {
    while let Some(pending) = state(ctx, tree).await?.filter(Relocation::is_pending) {
        piece(ctx, tree, pending).await?;
    }
    Ok(())
}

/// Drives a relocation to its end, and says how it ended.
pub(super) async fn finish_own(ctx: &Context, tree: TreeId, id: Uuid) -> Result<()> {
    loop {
        let Some(state) = state(ctx, tree).await? else { return Err(Error::TreeNotFound { tree }) };
        if state.id != id {
            // Others have ended it, and begun their own.
            let refused = state.earlier.iter().find(|refused| refused.relocation == id);
            return refused.map_or(Ok(()), |refused| Err(refused.refusal.error(tree)));
        }
        match (state.phase, state.refusal) {
            (Phase::Done, _) => return Ok(()),
            (Phase::Abandoned, refusal) => return Err(refusal.unwrap_or(Refusal::TooDeep).error(tree)),
            _ => piece(ctx, tree, state).await?,
        }
    }
}

/// The record of a new relocation, which remembers those before it that were given up.
pub(super) fn record(
    id: Uuid,
    node: &Node,
    from_parent: NodeId,
    to: Option<(NodeId, String)>,
    last: Option<&Relocation>,
    now: widerow::Timestamp,
) -> Relocation {
    let mut earlier = last.map(|last| last.earlier.clone()).unwrap_or_default();
    if let Some((refusal, last)) = last.and_then(|last| Some((last.refusal?, last))) {
        earlier.push(Refused { relocation: last.id, refusal });
        let spare = earlier.len().saturating_sub(limits::REFUSALS_KEPT);
        earlier.drain(..spare);
    }
    let (to_parent, to_name) = to.unzip();
    Relocation {
        id,
        phase: Phase::Preparing,
        node_id: node.node_id,
        leaf: node.children_count == 0,
        from_parent,
        from_name: node.node_name.clone(),
        to_parent,
        to_name,
        reached: None,
        begun_at: now,
        refusal: None,
        earlier,
    }
}

/// The part of the subtree that comes next, and whether it is the last.
struct Walk {
    /// Nodes in the order of the walk, each with what holds its name where it goes with it.
    nodes: Vec<(Reached, Option<NodeId>)>,
    last: bool,
}

async fn walk(ctx: &Context, tree: TreeId, at: &Relocation) -> Result<Walk> {
    let going = at.deletes() && at.phase == Phase::Settling;
    let limit = if going { GOING_A_PIECE } else { NODES_A_PIECE };
    let mut nodes = Vec::new();
    let slice = ctx.store.slice::<Relationship>((tree, at.node_id)).consistency(Consistency::Quorum);
    let slice = match &at.reached {
        Some(reached) => {
            let Reached { relationship_depth, name_lower, node_id } = reached.clone();
            slice.after_key((relationship_depth, name_lower, node_id))
        }
        None => {
            nodes.push((top(at), None));
            slice
        }
    };
    if at.leaf {
        return Ok(Walk { nodes, last: true });
    }
    let page = slice.limit(limit).page().await?;
    nodes.extend(page.rows.into_iter().map(|row| {
        let holder = going.then(|| rules::holder_id(row.parent_id, &row.node_name));
        let Relationship { relationship_depth, name_lower, descendant_id: node_id, .. } = row;
        (Reached { relationship_depth, name_lower, node_id }, holder)
    }));
    Ok(Walk { nodes, last: page.next.is_none() })
}

/// The walk begins at the top, which is before all that is below it.
fn top(at: &Relocation) -> Reached {
    Reached { relationship_depth: 0, name_lower: String::new(), node_id: at.node_id }
}

/// Makes the next piece, unless another did so meanwhile.
async fn piece(ctx: &Context, tree: TreeId, at: Relocation) -> Result<()> {
    let walk = if at.phase == Phase::Prepared {
        Walk { nodes: vec![(top(&at), None)], last: at.leaf }
    } else {
        walk(ctx, tree, &at).await?
    };
    let mut keys = vec![at.node_id, at.from_parent, rules::holder_id(at.from_parent, &at.from_name)];
    if let Some((parent, name)) = at.to_parent.zip(at.to_name.as_deref()) {
        keys.extend([parent, rules::holder_id(parent, name)]);
    }
    keys.extend(walk.nodes.iter().flat_map(|(node, holder)| [Some(node.node_id), *holder]).flatten());
    decide_amid(ctx, tree, keys, |draft| {
        if draft.relocation.as_ref() != Some(&at) {
            return Ok(());
        }
        let mut next = at.clone();
        if at.phase == Phase::Prepared {
            decide(draft, &mut next, ctx.now())?;
        }
        go_on(draft, &mut next, &walk)?;
        draft.relocation = Some(next);
        Ok(())
    })
    .await
}

/// The instant from which the new place holds: names, numbers of children and the state change in one commit.
fn decide(draft: &mut Draft, at: &mut Relocation, now: widerow::Timestamp) -> Result<()> {
    at.phase = Phase::Settling;
    at.reached = None;
    let mut changes = vec![(rules::holder_id(at.from_parent, &at.from_name), None)];
    if at.to_parent != Some(at.from_parent) {
        changes.extend(draft.counted(at.from_parent, -1));
        changes.extend(at.to_parent.and_then(|parent| draft.counted(parent, 1)));
    }
    // Until now the old place was read, however long ago the relocation began.
    if let Some(node) = draft.node(at.node_id)
        && let Some(follow) = node.to_follow.clone().filter(|follow| follow.change == at.id)
    {
        let noted = Node { to_follow: Some(ToFollow { since: now, ..follow }), ..node.clone() };
        changes.push((node.node_id, Some(noted)));
    }
    draft.write(changes)
}

/// Does what the phase does to as many of the walk's nodes as fit, and ends it behind the last.
pub(super) fn go_on_from_top(draft: &mut Draft, at: &mut Relocation) -> Result<()> {
    let walk = Walk { nodes: vec![(top(at), None)], last: at.leaf };
    go_on(draft, at, &walk)
}

fn go_on(draft: &mut Draft, at: &mut Relocation, walk: &Walk) -> Result<()> {
    for (reached, holder) in &walk.nodes {
        let Some(node) = draft.node(reached.node_id).cloned() else {
            // Whoever wrote the tables by hand took it away.
            at.reached = Some(reached.clone());
            continue;
        };
        let step = match step(draft, at, &node) {
            Ok(step) => step,
            Err(refusal) => {
                // Those that have marks lose them, the others have none.
                (at.phase, at.reached, at.refusal) = (Phase::Abandoning, None, Some(refusal));
                return Ok(());
            }
        };
        let holder = holder.map(|holder| (holder, None));
        if draft.try_write([(node.node_id, step.whole)].into_iter().chain(holder).collect()) {
            at.reached = Some(reached.clone());
            continue;
        }
        // A node that is too deep for both its places in one commit goes half-way first.
        if draft.is_empty() {
            draft.write(vec![(node.node_id, Some(step.half))])?;
        }
        return Ok(());
    }
    if walk.last {
        end_phase(draft, at)?;
    }
    Ok(())
}

/// What a node is to become, and what it can be on the way.
struct Step {
    whole: Option<Node>,
    half: Node,
}

fn step(draft: &Draft, at: &Relocation, node: &Node) -> Result<Step, Refusal> {
    let half = node.leaving(at.id, None);
    let whole = match at.phase {
        Phase::Preparing | Phase::Prepared => Some(node.leaving(at.id, next_place(draft, at, node)?)),
        Phase::Settling | Phase::Done => {
            let settled = node.settled(at);
            let arriving = node.next.as_ref().map(|next| node.arriving(next, at.id));
            return Ok(Step { whole: settled, half: arriving.unwrap_or(half) });
        }
        Phase::Abandoning | Phase::Abandoned => Some(node.resting()),
    };
    Ok(Step { whole, half })
}

/// None where it goes for good.
fn next_place(draft: &Draft, at: &Relocation, node: &Node) -> Result<Option<crate::hierarchy::tables::Place>, Refusal> {
    let Some((parent, name)) = at.to_parent.zip(at.to_name.as_deref()) else { return Ok(None) };
    let Some(parent) = draft.node(parent) else { return Ok(None) };
    if node.node_id == at.node_id {
        return rules::place_below(parent, name).map(Some);
    }
    let Some(top) = draft.node(at.node_id) else { return Ok(None) };
    let next = rules::place_below(parent, name)?;
    rules::place_with(top, &next, node).map(Some)
}

fn end_phase(draft: &mut Draft, at: &mut Relocation) -> Result<()> {
    match at.phase {
        Phase::Preparing => (at.phase, at.reached) = (Phase::Prepared, None),
        Phase::Settling => (at.phase, at.reached) = (Phase::Done, None),
        Phase::Abandoning => {
            if let Some((parent, name)) = at.to_parent.zip(at.to_name.as_deref()) {
                let name = rules::holder_id(parent, name);
                if !draft.try_write(vec![(name, None)]) {
                    return Ok(());
                }
            }
            (at.phase, at.reached) = (Phase::Abandoned, None);
        }
        Phase::Prepared | Phase::Done | Phase::Abandoned => {}
    }
    debug_assert!(at.phase != Phase::Done || at.side() == Side::New);
    Ok(())
}
