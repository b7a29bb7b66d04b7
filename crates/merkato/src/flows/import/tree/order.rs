//! Nodes in an order in which each comes after the one above it.

use std::collections::{HashMap, HashSet};

use crate::{flows::import::record::Place, hierarchy::NewNode, id::NodeId};

/// A node of a source.
pub(super) struct Drafted {
    pub place: Place,
    /// The source's own id.
    pub id: String,
    pub node: NewNode,
    /// Otherwise it stands in the paths of others only.
    pub is_record: bool,
}

/// The nodes in order, and those that have no place, each with the reason.
pub(super) fn ordered(drafts: Vec<Drafted>) -> (Vec<Drafted>, Vec<(Drafted, &'static str)>) {
    let mut refused = Vec::new();
    let mut ids: HashSet<NodeId> = HashSet::with_capacity(drafts.len());
    let mut below: HashMap<Option<NodeId>, Vec<Drafted>> = HashMap::new();
    for draft in drafts {
        if !draft.node.node_id.is_some_and(|id| ids.insert(id)) {
            refused.push((draft, "its id comes twice"));
            continue;
        }
        below.entry(draft.node.parent_id).or_default().push(draft);
    }
    let mut order = Vec::with_capacity(ids.len());
    let mut level = below.remove(&None).unwrap_or_default();
    while !level.is_empty() {
        let mut next = Vec::new();
        for draft in level {
            next.extend(below.remove(&draft.node.node_id).into_iter().flatten());
            order.push(draft);
        }
        level = next;
    }
    // What is left hangs on nothing, or on itself.
    for (parent, drafts) in below {
        let lost = parent.is_none_or(|parent| !ids.contains(&parent));
        let reason =
            if lost { "the node above it is not in the source" } else { "it does not hang on any node at the top" };
        refused.extend(drafts.into_iter().map(|draft| (draft, reason)));
    }
    (order, refused)
}
