//! The tables of trees. Reading this file is reading their data model.
//!
//! `org_hierarchy` is the truth; all that changes a tree is a guarded commit on its one partition there. The others follow from
//! it. While a subtree is on its way to another place (`Relocation`), its nodes have both places, and the rows that follow have
//! marks that say which of them are of the old place and which of the new.

use std::collections::{BTreeMap, HashMap};

use uuid::Uuid;
use widerow::{Cell, Derive, Row, Schema, Timestamp};

use super::path;
use crate::id::{NodeId, TreeId};

/// What is under way in a tree, or was last: a subtree that goes to another place, gets another name, or goes for good.
#[derive(Cell, Clone, Debug, PartialEq)]
pub struct Relocation {
    pub id: Uuid,
    pub phase: Phase,
    /// The top of the subtree.
    pub node_id: NodeId,
    /// It has nothing below it.
    pub leaf: bool,
    pub from_parent: NodeId,
    pub from_name: String,
    /// None: the subtree goes for good.
    pub to_parent: Option<NodeId>,
    pub to_name: Option<String>,
    /// The last node that the phase is done with; none at its beginning.
    pub reached: Option<Reached>,
    pub begun_at: Timestamp,
    /// Why it is given up.
    pub refusal: Option<Refusal>,
    /// Earlier ones that were given up, the newest last, for those who began them.
    pub earlier: Vec<Refused>,
}

/// How far a relocation is.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Nodes get their new places beside the old, which hold.
    Preparing,
    /// All nodes have both.
    Prepared,
    /// It is decided: the new places hold, the old ones go.
    Settling,
    Done,
    /// It cannot be: the old places hold, the new ones go.
    Abandoning,
    Abandoned,
}

/// Why a relocation could not be, as it turned out on the way.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    TooDeep,
    PathTooLong,
}

#[derive(Cell, Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub relocation: Uuid,
    pub refusal: Refusal,
}

/// A place in the walk over a subtree, which goes as `org_relationships` has it.
#[derive(Cell, Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    pub relationship_depth: i32,
    pub name_lower: String,
    pub node_id: NodeId,
}

/// Where a node stands, and under which name.
#[derive(Cell, Clone, Debug, PartialEq)]
pub struct Place {
    pub parent_id: NodeId,
    pub node_name: String,
    pub node_path: String,
    /// From the root to the parent.
    pub ancestors: Vec<NodeId>,
}

/// Which rows of a node are marked.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Those of its present place, as leaving; those of `next`, if there is one, as arriving.
    Leaving,
    /// Those of its present place, as arriving: the old ones are gone.
    Arriving,
}

/// A change of a node's place or name that is to be followed by what depends on it: how far that is.
#[derive(Cell, Clone, Debug, PartialEq)]
pub struct ToFollow {
    pub change: Uuid,
    /// When it was decided.
    pub since: Timestamp,
    /// All was gone through once; whoever had read the old place before may have written it since.
    pub once: bool,
    /// What is gone through now was begun when nobody could write the old place any more.
    pub last: bool,
    /// The last node that is done with, or that is under way if `at` says how far; none at the beginning.
    pub reached: Option<Reached>,
    /// The last of what depends on the node that is done with.
    pub at: Option<Uuid>,
}

/// H1 and H5: one node, with the nodes above it. One partition a tree; expected 20,000 rows, at most 2,000,000.
///
/// A name that a node has, or is about to have, is held by a row of its own, so that no two side by side have the same:
/// `holder` says whose it is. Its `node_id` follows from the parent and the name, and it is no node. A code is held in the same
/// way, in the whole tree; the row of a code that a node had before has no `node_code`, and is anybody's to take.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "org_hierarchy", partition(org_id), clustering(node_id), guarded, read = Quorum, write = Quorum)]
pub struct Node {
    pub org_id: TreeId,
    pub node_id: NodeId,
    #[row(static)]
    pub relocation: Option<Relocation>,
    /// None at the root.
    pub parent_id: Option<NodeId>,
    /// Names from `root` down, joined by `/`.
    pub node_path: String,
    /// Steps from the root, which has none.
    pub node_level: i32,
    /// Department, team, category.
    pub node_type: Option<String>,
    pub node_name: String,
    /// What it is known by in the whole tree, as an address.
    pub node_code: Option<String>,
    pub node_metadata: BTreeMap<String, String>,
    pub children_count: i64,
    /// From the root to the parent.
    pub ancestors: Vec<NodeId>,
    /// How often it was edited, moves included.
    pub revision: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// The relocation that it is a part of, and how far that is.
    pub relocation_id: Option<Uuid>,
    pub stage: Option<Stage>,
    pub next: Option<Place>,
    pub holder: Option<NodeId>,
    pub to_follow: Option<ToFollow>,
}

/// What a marked row is to the relocation.
#[derive(Cell, Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    Leaving,
    Arriving,
    /// It is of both places, with other contents: those of the new one stand in the mark.
    Changing,
}

/// A row that is not the same in the old place and in the new.
#[derive(Cell, Clone, Debug, PartialEq)]
pub struct Mark {
    pub relocation: Uuid,
    pub kind: MarkKind,
    pub parent_id: Option<NodeId>,
    pub node_name: Option<String>,
    pub full_path: Option<String>,
}

/// H6: a node by its path. One partition a parent, found by its path; expected 20 rows, at most 100,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "org_paths", partition(org_id, path_prefix), clustering(node_level, name_lower, node_id), read = Quorum, write = Quorum)]
pub struct PathEntry {
    pub org_id: TreeId,
    /// The parent's path. A long one is its beginning and its digest.
    pub path_prefix: String,
    pub node_level: i32,
    /// The name as it is sorted.
    pub name_lower: String,
    pub node_id: NodeId,
    pub full_path: String,
    pub node_name: String,
    pub node_type: Option<String>,
    pub mark: Option<Mark>,
}

/// H2, H3 and H4: what stands below a node, level by level, names in order. One partition a node; expected 200 rows, at most
/// as many as the tree has nodes.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(
    table = "org_relationships",
    partition(org_id, ancestor_id),
    clustering(relationship_depth, name_lower, descendant_id),
    read = Quorum,
    write = Quorum
)]
pub struct Relationship {
    pub org_id: TreeId,
    pub ancestor_id: NodeId,
    /// 1 for the nodes right below.
    pub relationship_depth: i32,
    /// The name as it is sorted.
    pub name_lower: String,
    pub descendant_id: NodeId,
    pub parent_id: NodeId,
    pub node_name: String,
    pub node_code: Option<String>,
    pub node_type: Option<String>,
    pub mark: Option<Mark>,
}

/// The nodes of a tree whose change is to be followed. Expected none, at most as many as the tree has nodes.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "org_to_follow", partition(org_id), clustering(node_id), read = Quorum, write = Quorum)]
pub struct FollowEntry {
    pub org_id: TreeId,
    pub node_id: NodeId,
    pub since: Timestamp,
}

/// The trees of a shop, by name. Expected 5 rows, at most 10,000.
#[derive(Row, Clone, Debug, PartialEq)]
#[row(table = "trees", partition(shelf), clustering(tree_name), read = Quorum, write = Quorum)]
pub struct Tree {
    /// All on one.
    pub shelf: i32,
    pub tree_name: String,
    pub org_id: TreeId,
    pub created_at: Timestamp,
}

/// The partition that all trees are listed in.
pub const SHELF: i32 = 0;

/// A place as it is borrowed from a node or its next place.
#[derive(Clone, Copy)]
struct Standing<'a> {
    parent_id: NodeId,
    name: &'a str,
    path: &'a str,
    ancestors: &'a [NodeId],
}

impl Place {
    pub(super) fn level(&self) -> i32 {
        self.ancestors.len() as i32
    }

    fn standing(&self) -> Standing<'_> {
        Standing { parent_id: self.parent_id, name: &self.node_name, path: &self.node_path, ancestors: &self.ancestors }
    }
}

impl Node {
    /// None at the root, and for what is no node.
    fn standing(&self) -> Option<Standing<'_>> {
        let parent_id = self.parent_id.filter(|_| self.holder.is_none())?;
        let (name, path, ancestors) = (self.node_name.as_str(), self.node_path.as_str(), self.ancestors.as_slice());
        Some(Standing { parent_id, name, path, ancestors })
    }

    pub fn is_root(&self) -> bool {
        self.node_id.0 == self.org_id.0 && self.holder.is_none()
    }

    /// The mark of the rows of its present place.
    fn mark(&self) -> Option<Mark> {
        let kind = match self.stage? {
            Stage::Leaving => MarkKind::Leaving,
            Stage::Arriving => MarkKind::Arriving,
        };
        Some(Mark::new(self.relocation_id?, kind))
    }

    /// The next place, and the mark of its rows.
    fn next_standing(&self) -> Option<(Standing<'_>, Uuid)> {
        Some((self.next.as_ref()?.standing(), self.relocation_id?))
    }

    fn relationships(&self, place: Standing<'_>, mark: Option<&Mark>) -> Vec<Relationship> {
        let (name_lower, depth) = (path::order(place.name), place.ancestors.len());
        let row = |(above, ancestor_id): (usize, &NodeId)| Relationship {
            org_id: self.org_id,
            ancestor_id: *ancestor_id,
            relationship_depth: (depth - above) as i32,
            name_lower: name_lower.clone(),
            descendant_id: self.node_id,
            parent_id: place.parent_id,
            node_name: place.name.to_owned(),
            node_code: self.node_code.clone(),
            node_type: self.node_type.clone(),
            mark: mark.cloned(),
        };
        place.ancestors.iter().enumerate().map(row).collect()
    }

    fn path_entry(&self, place: Standing<'_>, mark: Option<Mark>) -> PathEntry {
        let above = place.path.rsplit_once('/').map_or(path::ROOT, |(above, _)| above);
        PathEntry {
            org_id: self.org_id,
            path_prefix: path::key(above),
            node_level: place.ancestors.len() as i32,
            name_lower: path::order(place.name),
            node_id: self.node_id,
            full_path: place.path.to_owned(),
            node_name: place.name.to_owned(),
            node_type: self.node_type.clone(),
            mark,
        }
    }
}

impl Mark {
    fn new(relocation: Uuid, kind: MarkKind) -> Self {
        Mark { relocation, kind, parent_id: None, node_name: None, full_path: None }
    }
}

/// A row with each node above it, of both places. What is the same in both has no mark, so that a subtree's own rows stay as
/// they are while the whole of it is moved.
impl Derive<Relationship> for Node {
    fn derive(&self) -> Vec<Relationship> {
        let Some(place) = self.standing() else { return Vec::new() };
        let mut rows = self.relationships(place, self.mark().as_ref());
        let Some((next, relocation)) = self.next_standing() else { return rows };
        let arriving = self.relationships(next, Some(&Mark::new(relocation, MarkKind::Arriving)));
        let key = |row: &Relationship| (row.ancestor_id, row.relationship_depth, row.name_lower.clone());
        let known: HashMap<_, usize> = rows.iter().enumerate().map(|(i, row)| (key(row), i)).collect();
        for row in arriving {
            let Some(old) = known.get(&key(&row)).map(|i| &mut rows[*i]) else {
                rows.push(row);
                continue;
            };
            let same = (old.parent_id, &old.node_name) == (row.parent_id, &row.node_name);
            old.mark = (!same).then(|| Mark {
                parent_id: Some(row.parent_id),
                node_name: Some(row.node_name),
                ..Mark::new(relocation, MarkKind::Changing)
            });
        }
        rows
    }

    fn source(row: &Relationship) -> (TreeId, NodeId) {
        (row.org_id, row.descendant_id)
    }
}

impl Derive<PathEntry> for Node {
    fn derive(&self) -> Vec<PathEntry> {
        let Some(place) = self.standing() else { return Vec::new() };
        let mut entry = self.path_entry(place, self.mark());
        let Some((next, relocation)) = self.next_standing() else { return vec![entry] };
        let arriving = self.path_entry(next, Some(Mark::new(relocation, MarkKind::Arriving)));
        let key = |e: &PathEntry| (e.path_prefix.clone(), e.node_level, e.name_lower.clone());
        if key(&entry) != key(&arriving) {
            return vec![entry, arriving];
        }
        entry.mark = (entry.full_path != arriving.full_path).then(|| Mark {
            node_name: Some(arriving.node_name),
            full_path: Some(arriving.full_path),
            ..Mark::new(relocation, MarkKind::Changing)
        });
        vec![entry]
    }

    fn source(entry: &PathEntry) -> (TreeId, NodeId) {
        (entry.org_id, entry.node_id)
    }
}

impl Derive<FollowEntry> for Node {
    fn derive(&self) -> Vec<FollowEntry> {
        let entry = |follow: &ToFollow| FollowEntry { org_id: self.org_id, node_id: self.node_id, since: follow.since };
        self.to_follow.iter().map(entry).collect()
    }

    fn source(entry: &FollowEntry) -> (TreeId, NodeId) {
        (entry.org_id, entry.node_id)
    }
}

/// The root stands for its tree.
impl Derive<Tree> for Node {
    fn derive(&self) -> Vec<Tree> {
        let (tree_name, org_id, created_at) = (self.node_name.clone(), self.org_id, self.created_at);
        if self.is_root() { vec![Tree { shelf: SHELF, tree_name, org_id, created_at }] } else { Vec::new() }
    }

    fn source(tree: &Tree) -> (TreeId, NodeId) {
        (tree.org_id, NodeId(tree.org_id.0))
    }
}

pub(crate) fn tables(schema: Schema) -> Schema {
    let schema = schema.derived::<Node, Relationship>();
    schema.derived::<Node, PathEntry>().derived::<Node, Tree>().derived::<Node, FollowEntry>()
}
