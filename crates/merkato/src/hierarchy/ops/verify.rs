//! Whether a tree is one: every node stands below its parent, and is counted there, and has its name alone. What follows from
//! nodes (`org_paths`, `org_relationships`) is verified by the data layer.

use std::collections::HashMap;

use widerow::{Consistency, Cursor};

use super::judge::state;
use crate::{
    context::Context,
    hierarchy::{
        error::{Error, Result},
        path, rules,
        tables::{Node, Relocation},
    },
    id::{NodeId, TreeId},
};

/// Rows that are looked at together: each may ask for its parent, its name and what holds it.
const ROWS: usize = 300;
/// Looks at a tree until one finds it at rest.
const LOOKS_MAX: usize = 10;
/// Wrong nodes that a report lists.
const LISTED_MAX: usize = 100;

/// What a look at a tree found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeReport {
    pub nodes: u64,
    pub wrong_nodes: u64,
    /// The first of them.
    pub wrong: Vec<WrongNode>,
    /// Something is under way: nodes have two places, which is no error.
    pub relocating: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongNode {
    pub node_id: NodeId,
    pub problem: &'static str,
}

impl TreeReport {
    fn refuse(&mut self, node_id: NodeId, problem: &'static str) {
        self.wrong_nodes += 1;
        if self.wrong.len() < LISTED_MAX {
            self.wrong.push(WrongNode { node_id, problem });
        }
    }
}

/// Looks at every node of a tree, as it is at one moment. It keeps a number for each inner node.
pub async fn verify_tree(ctx: &Context, tree: TreeId) -> Result<TreeReport> {
    let root = rules::root_of(tree);
    for _ in 0..LOOKS_MAX {
        let (found, before) = ctx.store.get_versioned::<Node>((tree, root)).await?;
        if found.is_none() {
            return Err(Error::TreeNotFound { tree });
        }
        let report = look(ctx, tree).await?;
        let (_, after) = ctx.store.get_versioned::<Node>((tree, root)).await?;
        if before == after {
            return Ok(report);
        }
    }
    Err(Error::Busy { tree })
}

async fn look(ctx: &Context, tree: TreeId) -> Result<TreeReport> {
    let state = state(ctx, tree).await?;
    let pending = state.filter(Relocation::is_pending);
    let mut report = TreeReport { relocating: pending.is_some(), ..TreeReport::default() };
    // Children that are there, less those that were counted.
    let mut counts: HashMap<NodeId, i64> = HashMap::new();
    let mut cursor: Option<Cursor> = None;
    loop {
        let slice = ctx.store.slice::<Node>(tree).consistency(Consistency::Quorum);
        let page = slice.limit(ROWS).after(cursor).page().await?;
        let mut asked: Vec<NodeId> = Vec::new();
        for row in &page.rows {
            match (row.holder, row.parent_id) {
                (Some(holder), _) => asked.push(holder),
                (None, Some(parent)) => asked.extend([parent, rules::holder_id(parent, &row.node_name)]),
                (None, None) => {}
            }
            asked.extend(row.node_code.as_ref().map(|code| rules::code_id(code)));
        }
        asked.sort_unstable();
        asked.dedup();
        let mut known: HashMap<NodeId, Node> = HashMap::new();
        for some in asked.chunks(widerow::limits::GET_KEYS_MAX) {
            let rows = ctx.store.get_many::<Node>(some.iter().map(|id| (tree, *id))).await?;
            known.extend(rows.into_iter().flatten().map(|row| (row.node_id, row)));
        }
        for row in &page.rows {
            if row.holder.is_none() {
                report.nodes += 1;
                let parent = counted_below(row, pending.as_ref()).map(|parent| (parent, 1));
                for (node, more) in parent.into_iter().chain([(row.node_id, -row.children_count)]) {
                    let count = counts.entry(node).or_default();
                    *count += more;
                    // Most are nought soon, and are not held for all of a large tree.
                    if *count == 0 {
                        counts.remove(&node);
                    }
                }
            }
            if let Some(problem) = problem(row, &known, pending.as_ref()) {
                report.refuse(row.node_id, problem);
            }
        }
        match page.next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    for (node, _) in counts {
        report.refuse(node, "its number of children is not that of the nodes below it");
    }
    Ok(report)
}

/// Where a node counts: at its new parent, once that is decided.
fn counted_below(row: &Node, pending: Option<&Relocation>) -> Option<NodeId> {
    match pending.filter(|pending| row.relocation_id == Some(pending.id)) {
        // What goes for good goes node by node, with those above it gone or going: only its top is counted out.
        Some(pending) => match row.on(pending, pending.side()) {
            Some(node) => node.parent_id,
            None => row.parent_id.filter(|_| row.node_id != pending.node_id),
        },
        None => row.parent_id,
    }
}

fn problem(row: &Node, known: &HashMap<NodeId, Node>, pending: Option<&Relocation>) -> Option<&'static str> {
    if let Some(holder) = row.holder {
        let named = |place: Option<NodeId>, name: &str| place == row.parent_id && name == row.node_name;
        let about_to = |pending: &Relocation| {
            pending.node_id == holder && named(pending.to_parent, pending.to_name.as_deref().unwrap_or_default())
        };
        if row.parent_id.is_none() {
            // A code that was left behind leads to whoever had it, and is anybody's to take.
            let has_it = known.get(&holder).is_some_and(|node| node.node_code.as_ref() == Some(&row.node_name));
            let good = has_it == row.node_code.is_some();
            return (!good).then_some("a code is held for a node that has it not");
        }
        let good = known.get(&holder).is_some_and(|node| named(node.parent_id, &node.node_name));
        return (!good && !pending.is_some_and(about_to)).then_some("a name is held for a node that has it not");
    }
    if let Some(code) = &row.node_code {
        let held = known.get(&rules::code_id(code)).filter(|held| held.node_code.is_some());
        if held.and_then(|held| held.holder) != Some(row.node_id) {
            return Some("its code is not held for it");
        }
    }
    let Some(parent) = row.parent_id else {
        return (!row.is_root()).then_some("it has no parent and is not the root");
    };
    if pending.is_some() {
        // The places are those of two sides; they are looked at when the tree is at rest.
        return None;
    }
    if row.relocation_id.is_some() || row.stage.is_some() || row.next.is_some() {
        return Some("it is on its way, and nothing is under way");
    }
    let Some(parent) = known.get(&parent).filter(|parent| parent.holder.is_none()) else {
        return Some("its parent is not there");
    };
    let holder = known.get(&rules::holder_id(parent.node_id, &row.node_name)).and_then(|row| row.holder);
    if holder != Some(row.node_id) {
        return Some("its name is not held for it");
    }
    if row.node_path != path::below(&parent.node_path, &row.node_name) {
        return Some("its path is not that of its parent and its name");
    }
    if row.ancestors != [parent.ancestors.as_slice(), &[parent.node_id]].concat() {
        return Some("the nodes above it are not those above its parent");
    }
    (row.node_level != row.ancestors.len() as i32).then_some("its level is not the number of nodes above it")
}
