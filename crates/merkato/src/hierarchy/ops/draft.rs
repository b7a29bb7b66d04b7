//! One guarded commit on a tree, while it is thought out: the rows that were read, and what they are to be.

use std::collections::BTreeMap;

use widerow::{Commit, Partition, Version};

use super::drive;
use crate::{
    context::Context,
    hierarchy::{
        error::{Error, Result},
        rules::{self, Weight},
        tables::{Node, Relocation},
    },
    id::{NodeId, TreeId},
};

/// Relocations of others that one change waits for, and helps to their end.
const WAITS_MAX: usize = 64;

pub(super) struct Draft {
    tree: TreeId,
    pub version: Option<Version>,
    pub relocation: Option<Relocation>,
    told: Option<Relocation>,
    rows: BTreeMap<NodeId, Node>,
    writes: BTreeMap<NodeId, Option<Node>>,
    weight: Weight,
}

impl Draft {
    fn new(tree: TreeId, partition: &Partition<Node>) -> Result<Self> {
        let relocation = partition.statics.get(Node::RELOCATION)?.flatten();
        let rows = partition.rows.iter().map(|row| {
            // What is put again must not set static columns as they were.
            (row.node_id, Node { relocation: None, ..row.clone() })
        });
        Ok(Draft {
            tree,
            version: partition.version,
            told: relocation.clone(),
            relocation,
            rows: rows.collect(),
            writes: BTreeMap::new(),
            weight: Weight::default(),
        })
    }

    fn row(&self, id: NodeId) -> Option<&Node> {
        match self.writes.get(&id) {
            Some(written) => written.as_ref(),
            None => self.rows.get(&id),
        }
    }

    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.row(id).filter(|row| row.holder.is_none())
    }

    /// Whose a name is. A node whose own id is that of the name's row has it, too, for it leaves no room.
    pub fn holder(&self, parent: NodeId, name: &str) -> Option<NodeId> {
        self.row(rules::holder_id(parent, name)).map(|row| row.holder.unwrap_or(row.node_id))
    }

    /// Whether the row with this id is no node but holds a name.
    pub fn holds(&self, id: NodeId) -> bool {
        self.row(id).is_some_and(|row| row.holder.is_some())
    }

    /// Whose a code is: a row that has been left behind is nobody's.
    pub fn code_holder(&self, code: &str) -> Option<NodeId> {
        self.row(rules::code_id(code))
            .filter(|row| row.node_code.is_some() || row.holder.is_none())
            .map(|row| row.holder.unwrap_or(row.node_id))
    }

    /// Changes rows, if that still fits the commit; says whether it did.
    pub fn try_write(&mut self, changes: Vec<(NodeId, Option<Node>)>) -> bool {
        let mut weight = self.weight;
        for (id, row) in &changes {
            let mut own = Weight::of(self.row(*id), row.as_ref());
            if self.writes.contains_key(id) {
                // It is a row of this commit already, and was weighed whole.
                own.own = 0;
                own.all -= 1;
            }
            weight.add(own);
        }
        if !weight.fits() {
            return false;
        }
        self.weight = weight;
        self.writes.extend(changes);
        true
    }

    /// As `try_write`, for the few rows that a commit begins with.
    pub fn write(&mut self, changes: Vec<(NodeId, Option<Node>)>) -> Result<()> {
        if self.try_write(changes) {
            return Ok(());
        }
        Err(widerow::Error::Engine { detail: "a change of a tree does not fit a commit".into() }.into())
    }

    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// A row that holds the name for a node.
    pub fn holding(&self, parent: NodeId, name: &str, holder: NodeId, like: &Node) -> (NodeId, Option<Node>) {
        let row = Node {
            node_id: rules::holder_id(parent, name),
            relocation: None,
            parent_id: Some(parent),
            node_path: String::new(),
            node_level: 0,
            node_type: None,
            node_name: name.to_owned(),
            node_code: None,
            node_metadata: BTreeMap::new(),
            children_count: 0,
            ancestors: Vec::new(),
            revision: 0,
            relocation_id: None,
            stage: None,
            next: None,
            holder: Some(holder),
            to_follow: None,
            ..like.clone()
        };
        (row.node_id, Some(row))
    }

    /// A row that leads from a code to a node, which has the code or had it.
    pub fn leading(&self, code: &str, has_it: bool, node: &Node) -> (NodeId, Option<Node>) {
        let (_, row) = self.holding(node.node_id, code, node.node_id, node);
        let node_id = rules::code_id(code);
        let row = row.map(|row| Node { node_id, parent_id: None, node_code: has_it.then(|| code.to_owned()), ..row });
        (node_id, row)
    }

    /// A node with so many more right below it.
    pub fn counted(&self, node: NodeId, more: i64) -> Option<(NodeId, Option<Node>)> {
        let node = self.node(node)?;
        Some((node.node_id, Some(Node { children_count: node.children_count + more, ..node.clone() })))
    }

    fn commit(self) -> Commit {
        let mut commit = Commit::new();
        if self.relocation != self.told {
            commit = commit.set_static(self.tree, Node::RELOCATION, &self.relocation);
        }
        self.writes.into_iter().fold(commit, |commit, (id, row)| match row {
            Some(row) => commit.put(&row),
            None => commit.delete::<Node>((self.tree, id)),
        })
    }
}

/// Decides on these rows of a tree in which nothing is under way, and commits what is decided. What is under way is helped to
/// its end first.
pub(super) async fn decide<T>(
    ctx: &Context,
    tree: TreeId,
    keys: Vec<NodeId>,
    mut decision: impl FnMut(&mut Draft) -> Result<T>,
) -> Result<T> {
    for _ in 0..WAITS_MAX {
        let answer = decide_amid(ctx, tree, keys.clone(), |draft| {
            if draft.relocation.as_ref().is_some_and(Relocation::is_pending) {
                return Ok(None);
            }
            decision(draft).map(Some)
        });
        match answer.await? {
            Some(answer) => return Ok(answer),
            None => drive::finish(ctx, tree).await?,
        }
    }
    Err(Error::Busy { tree })
}

/// As `decide`, whatever is under way.
pub(super) async fn decide_amid<T>(
    ctx: &Context,
    tree: TreeId,
    mut keys: Vec<NodeId>,
    mut decision: impl FnMut(&mut Draft) -> Result<T>,
) -> Result<T> {
    let root = rules::root_of(tree);
    keys.push(root);
    keys.sort_unstable();
    keys.dedup();
    ctx.store
        .guarded_prefixes::<Node, T, Error>(tree, keys, |partition| {
            let mut draft = Draft::new(tree, partition)?;
            if draft.node(root).is_none() {
                return Err(Error::TreeNotFound { tree });
            }
            let answer = decision(&mut draft)?;
            Ok((draft.commit(), answer))
        })
        .await
}
