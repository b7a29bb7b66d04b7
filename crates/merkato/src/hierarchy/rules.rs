//! What a node becomes on its way to another place, what of a marked row is seen, and what a change weighs. Pure.

use std::collections::{BTreeMap, HashMap};

use uuid::Uuid;
use widerow::{Derive, Row, value::Value};

use super::{
    error::{Error, Result},
    kept, path,
    tables::{FollowEntry, Mark, MarkKind, Node, PathEntry, Phase, Place, Refusal, Relationship, Relocation, Stage},
};
use crate::{
    check::Check,
    id::{NodeId, TreeId},
    limits,
};

/// Names of what holds a name.
const HOLDERS: Uuid = Uuid::from_u128(0x6d65_726b_6174_4f68_8000_0000_0000_0001);
/// And what holds a code.
const CODES: Uuid = Uuid::from_u128(0x6d65_726b_6174_4f63_8000_0000_0000_0002);
const TREES: Uuid = Uuid::from_u128(0x6d65_726b_6174_4f74_8000_0000_0000_0001);

/// The tree with this name.
pub fn tree_id(name: &str) -> TreeId {
    TreeId(Uuid::new_v5(&TREES, path::normal(name).as_bytes()))
}

/// The root of a tree is a node like others, with the tree's own id.
pub fn root_of(tree: TreeId) -> NodeId {
    NodeId(tree.0)
}

/// The row that holds a name below a node.
pub(super) fn holder_id(parent: NodeId, name: &str) -> NodeId {
    NodeId(Uuid::new_v5(&HOLDERS, &[parent.0.as_bytes(), name.as_bytes()].concat()))
}

/// The row that holds a code in its tree.
pub(super) fn code_id(code: &str) -> NodeId {
    NodeId(Uuid::new_v5(&CODES, code.as_bytes()))
}

/// Which of the two places of a relocation holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Old,
    New,
}

impl Relocation {
    pub(super) fn is_pending(&self) -> bool {
        !matches!(self.phase, Phase::Done | Phase::Abandoned)
    }

    pub(super) fn side(&self) -> Side {
        match self.phase {
            Phase::Preparing | Phase::Prepared | Phase::Abandoning | Phase::Abandoned => Side::Old,
            Phase::Settling | Phase::Done => Side::New,
        }
    }

    pub(super) fn deletes(&self) -> bool {
        self.to_parent.is_none()
    }
}

impl Refusal {
    pub(super) fn error(self, tree: TreeId) -> Error {
        match self {
            Refusal::TooDeep => Error::TooDeep { limit: kept::depth_max(tree) },
            Refusal::PathTooLong => Error::PathTooLong { limit: limits::NODE_PATH_BYTES_MAX },
        }
    }
}

/// A row that may be marked.
pub(super) trait Marked: Row {
    fn mark(&self) -> Option<&Mark>;
    /// The row as it is on one side; None where it is of the other.
    fn on(self, side: Side) -> Option<Self>;
}

fn shown(mark: Option<&Mark>, side: Side) -> bool {
    match (mark.map(|mark| mark.kind), side) {
        (None | Some(MarkKind::Changing), _) => true,
        (Some(MarkKind::Leaving), side) => side == Side::Old,
        (Some(MarkKind::Arriving), side) => side == Side::New,
    }
}

impl Marked for Relationship {
    fn mark(&self) -> Option<&Mark> {
        self.mark.as_ref()
    }

    fn on(mut self, side: Side) -> Option<Self> {
        if !shown(self.mark.as_ref(), side) {
            return None;
        }
        if let Some(mark) = self.mark.take().filter(|_| side == Side::New) {
            self.parent_id = mark.parent_id.unwrap_or(self.parent_id);
            self.node_name = mark.node_name.unwrap_or(self.node_name);
        }
        Some(self)
    }
}

impl Marked for PathEntry {
    fn mark(&self) -> Option<&Mark> {
        self.mark.as_ref()
    }

    fn on(mut self, side: Side) -> Option<Self> {
        if !shown(self.mark.as_ref(), side) {
            return None;
        }
        if let Some(mark) = self.mark.take().filter(|_| side == Side::New) {
            self.node_name = mark.node_name.unwrap_or(self.node_name);
            self.full_path = mark.full_path.unwrap_or(self.full_path);
        }
        Some(self)
    }
}

/// The place of a node with this name below another.
pub(super) fn place_below(parent: &Node, name: &str) -> Result<Place, Refusal> {
    let ancestors = [parent.ancestors.as_slice(), &[parent.node_id]].concat();
    checked(
        parent.org_id,
        Place {
            parent_id: parent.node_id,
            node_name: name.to_owned(),
            node_path: path::below(&parent.node_path, name),
            ancestors,
        },
    )
}

/// The next place of a node in the subtree of `top`, whose own next place is known.
pub(super) fn place_with(top: &Node, next: &Place, node: &Node) -> Result<Place, Refusal> {
    let inside = node.ancestors.get(top.ancestors.len()..).unwrap_or_default();
    let rest = node.node_path.get(top.node_path.len()..).unwrap_or_default();
    checked(
        top.org_id,
        Place {
            parent_id: node.parent_id.unwrap_or(top.node_id),
            node_name: node.node_name.clone(),
            node_path: [&next.node_path, rest].concat(),
            ancestors: [next.ancestors.as_slice(), inside].concat(),
        },
    )
}

fn checked(tree: TreeId, place: Place) -> Result<Place, Refusal> {
    if place.ancestors.len() > kept::depth_max(tree) {
        Err(Refusal::TooDeep)
    } else if place.node_path.len() > limits::NODE_PATH_BYTES_MAX {
        Err(Refusal::PathTooLong)
    } else {
        Ok(place)
    }
}

impl Node {
    /// The node at a place, on no way to another.
    pub(super) fn at(&self, place: &Place) -> Node {
        Node {
            parent_id: Some(place.parent_id),
            node_name: place.node_name.clone(),
            node_path: place.node_path.clone(),
            node_level: place.level(),
            ancestors: place.ancestors.clone(),
            ..self.resting()
        }
    }

    /// Where it stands, on no way to another place.
    pub(super) fn resting(&self) -> Node {
        Node { relocation_id: None, stage: None, next: None, ..self.clone() }
    }

    /// On its way: the present place holds, and is marked; the next one, if it is not to be written yet, is to come.
    pub(super) fn leaving(&self, relocation: Uuid, next: Option<Place>) -> Node {
        Node { relocation_id: Some(relocation), stage: Some(Stage::Leaving), next, ..self.resting() }
    }

    /// At its new place, which is marked still.
    pub(super) fn arriving(&self, place: &Place, relocation: Uuid) -> Node {
        Node { relocation_id: Some(relocation), stage: Some(Stage::Arriving), ..self.at(place) }
    }

    /// As it is when the relocation is done; None where it is gone.
    pub(super) fn settled(&self, relocation: &Relocation) -> Option<Node> {
        if relocation.deletes() {
            return None;
        }
        let mut node = match (&self.next, self.stage) {
            (Some(next), _) => self.at(next),
            (None, _) => self.resting(),
        };
        if node.node_id == relocation.node_id {
            node.revision += 1;
            node.updated_at = relocation.begun_at;
        }
        Some(node)
    }

    /// As it is on one side of the relocation that it is a part of.
    pub(super) fn on(&self, relocation: &Relocation, side: Side) -> Option<Node> {
        match (side, self.stage) {
            (_, None) => Some(self.resting()),
            (Side::New, Some(_)) => self.settled(relocation),
            (Side::Old, Some(_)) => Some(self.resting()),
        }
    }
}

/// How much of a commit something takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Weight {
    /// Rows of the tree's own partition.
    pub own: usize,
    pub own_bytes: usize,
    /// Rows of all tables.
    pub all: usize,
    pub all_bytes: usize,
}

/// What a commit of ours takes at most: a little less than the data layer does, for static columns and guards.
const MOST: Weight = Weight {
    own: widerow::limits::GUARDED_WRITES_MAX - 3,
    own_bytes: widerow::limits::GUARDED_BYTES_MAX - 64 * 1024,
    all: widerow::limits::COMMIT_WRITES_MAX - 20,
    all_bytes: widerow::limits::COMMIT_BYTES_MAX - 256 * 1024,
};

impl Weight {
    pub(super) fn add(&mut self, other: Weight) {
        self.own += other.own;
        self.own_bytes += other.own_bytes;
        self.all += other.all;
        self.all_bytes += other.all_bytes;
    }

    pub(super) fn fits(&self) -> bool {
        self.own <= MOST.own
            && self.own_bytes <= MOST.own_bytes
            && self.all <= MOST.all
            && self.all_bytes <= MOST.all_bytes
    }

    /// Of one row becoming another, with all that follows from it.
    pub(super) fn of(old: Option<&Node>, new: Option<&Node>) -> Weight {
        let own_bytes = new.map_or(64, bytes);
        let mut weight = Weight { own: 1, own_bytes, all: 1, all_bytes: own_bytes };
        let (before, after) = (derived::<Relationship>(old), derived::<Relationship>(new));
        let key = |row: &Relationship| (row.ancestor_id, row.relationship_depth, row.name_lower.clone());
        weight.count(before, after, key);
        let (before, after) = (derived::<PathEntry>(old), derived::<PathEntry>(new));
        let key = |row: &PathEntry| (row.path_prefix.clone(), row.node_level, row.name_lower.clone());
        weight.count(before, after, key);
        let (before, after) = (derived::<FollowEntry>(old), derived::<FollowEntry>(new));
        weight.count(before, after, |row: &FollowEntry| row.node_id);
        weight
    }

    fn count<R: Row + PartialEq, K: std::hash::Hash + Eq>(
        &mut self,
        before: Vec<R>,
        after: Vec<R>,
        key: impl Fn(&R) -> K,
    ) {
        let mut gone: HashMap<K, R> = before.into_iter().map(|row| (key(&row), row)).collect();
        for row in after {
            if gone.remove(&key(&row)).as_ref() != Some(&row) {
                self.all += 1;
                self.all_bytes += bytes(&row);
            }
        }
        self.all += gone.len();
        self.all_bytes += gone.values().map(bytes).sum::<usize>();
    }
}

fn derived<D: Row>(node: Option<&Node>) -> Vec<D>
where
    Node: Derive<D>,
{
    node.map(Derive::derive).unwrap_or_default()
}

fn bytes<R: Row>(row: &R) -> usize {
    row.to_values().iter().map(Value::bytes).sum()
}

/// A node that is to be.
pub(super) fn check_node(name: &str, node_type: Option<&str>, metadata: &BTreeMap<String, String>) -> Result<()> {
    let mut check = Check::new();
    check.line("name", name, 1..=limits::NODE_NAME_BYTES_MAX);
    check_facts(&mut check, node_type, metadata);
    Ok(check.end()?)
}

pub(super) fn check_facts(check: &mut Check, node_type: Option<&str>, metadata: &BTreeMap<String, String>) {
    check.optional_line("node_type", node_type, limits::NODE_TYPE_BYTES_MAX);
    check.count("metadata", metadata.len(), limits::COLLECTION_ITEMS_MAX);
    let size: usize = metadata.iter().map(|(key, value)| key.len() + value.len()).sum();
    let most = limits::NODE_METADATA_BYTES_MAX;
    check.that(size <= most, "metadata", format!("it has {size} bytes, the limit is {most}"));
    for (key, value) in metadata {
        check.line("metadata", key, 1..=limits::LINE_BYTES_MAX);
        check.lines(format_args!("metadata/{key}"), value, most);
    }
}
