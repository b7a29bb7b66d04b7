//! New nodes, one or thousands.

use std::collections::BTreeMap;

use widerow::Timestamp;

use super::{
    draft::{Draft, decide},
    relocate::check_name,
};
use crate::{
    check::Check,
    context::Context,
    hierarchy::{
        error::{Error, Result},
        kept, path,
        rules::{self, root_of},
        tables::Node,
    },
    id::{NodeId, TreeId},
    limits,
};

/// Nodes that one commit is tried with: each has a row, and its name another.
const NODES_A_COMMIT: usize = 47;
/// And with codes, which have rows of their own.
const CODED_A_COMMIT: usize = 31;

/// A node to be. Without an id it gets a new one, without a parent it stands at the top.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewNode {
    pub node_id: Option<NodeId>,
    pub parent_id: Option<NodeId>,
    pub name: String,
    pub node_type: Option<String>,
    pub metadata: BTreeMap<String, String>,
}

/// A node to be in a tree that a module keeps.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct KeptNode {
    pub node: NewNode,
    /// It gets the first of these that is free, at most two.
    pub codes: Vec<String>,
    /// Where it comes from elsewhere, as it was there.
    pub origin: Option<Origin>,
}

/// What a node was elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    pub revision: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Origin {
    pub(super) fn check(&self) -> Result<()> {
        let mut check = Check::new();
        check.revision("revision", self.revision);
        Ok(check.end()?)
    }
}

/// What became of a node that was to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    New(NodeId),
    /// It was there, with the same place, name and facts.
    Unchanged(NodeId),
}

/// Makes a node. The same node again, by its id, is found and changes nothing.
pub async fn insert_node(ctx: &Context, tree: TreeId, new: NewNode) -> Result<Node> {
    let id = match insert_nodes(ctx, tree, vec![new]).await?.pop() {
        Some(answer) => match answer? {
            Inserted::New(id) | Inserted::Unchanged(id) => id,
        },
        None => return Err(Error::TreeNotFound { tree }),
    };
    super::get_node(ctx, tree, id).await
}

/// Makes nodes, parents before those below them, as many in one commit as fit. Each has an answer of its own, in order; one
/// that is refused takes those below it along, and no others.
pub async fn insert_nodes(ctx: &Context, tree: TreeId, nodes: Vec<NewNode>) -> Result<Vec<Result<Inserted>>> {
    kept::open_to_all(tree)?;
    insert_kept(ctx, tree, nodes.into_iter().map(|node| KeptNode { node, ..KeptNode::default() }).collect()).await
}

/// As `insert_nodes`, with nodes as they were elsewhere. One that is there is left as it is.
pub async fn restore_nodes(
    ctx: &Context,
    tree: TreeId,
    nodes: Vec<(NewNode, Option<Origin>)>,
) -> Result<Vec<Result<Inserted>>> {
    kept::open_to_all(tree)?;
    let nodes = nodes.into_iter().map(|(node, origin)| KeptNode { node, codes: Vec::new(), origin });
    insert_kept(ctx, tree, nodes.collect()).await
}

/// The same by those who keep the tree.
pub(crate) async fn insert_kept(ctx: &Context, tree: TreeId, nodes: Vec<KeptNode>) -> Result<Vec<Result<Inserted>>> {
    if nodes.len() > limits::NODES_TOGETHER_MAX {
        let (size, limit) = (nodes.len(), limits::NODES_TOGETHER_MAX);
        return Err(Error::TooLarge { what: "nodes of one call", size, limit });
    }
    let mut answers = Vec::with_capacity(nodes.len());
    let mut wanted: Vec<Wanted> = Vec::with_capacity(nodes.len());
    for KeptNode { node: new, codes, origin } in nodes {
        let parent = new.parent_id.unwrap_or(root_of(tree));
        let id = new.node_id.unwrap_or_else(|| NodeId(ctx.new_id()));
        let name = path::normal(&new.name);
        let checked = rules::check_node(&new.name, new.node_type.as_deref(), &new.metadata);
        // Another form of a name may be longer.
        let checked = checked.and_then(|()| check_name(&name));
        let checked = checked.and_then(|()| origin.as_ref().map_or(Ok(()), Origin::check));
        let holder = rules::holder_id(parent, &name);
        wanted.push(Wanted { id, parent, holder, name, new, codes, origin, checked: checked.err() });
    }
    let now = ctx.now();
    while answers.len() < wanted.len() {
        let rest = &wanted[answers.len()..];
        let most = if rest.iter().any(|wanted| !wanted.codes.is_empty()) { CODED_A_COMMIT } else { NODES_A_COMMIT };
        let some = &rest[..rest.len().min(most)];
        let codes = some.iter().flat_map(|wanted| &wanted.codes).map(|code| rules::code_id(code));
        let keys = some.iter().flat_map(|wanted| [wanted.id, wanted.parent, wanted.holder]).chain(codes).collect();
        let answered = decide(ctx, tree, keys, |draft| {
            let mut answered = Vec::new();
            for wanted in some {
                match wanted.insert(draft, tree, now) {
                    Ok(Some(answer)) => answered.push(Ok(answer)),
                    // The commit is full.
                    Ok(None) => break,
                    Err(error) => answered.push(Err(error)),
                }
            }
            Ok(answered)
        })
        .await?;
        if answered.is_empty() {
            let detail = "a single node does not fit a commit".into();
            return Err(widerow::Error::Engine { detail }.into());
        }
        answers.extend(answered);
    }
    Ok(answers)
}

struct Wanted {
    id: NodeId,
    parent: NodeId,
    holder: NodeId,
    name: String,
    new: NewNode,
    codes: Vec<String>,
    origin: Option<Origin>,
    checked: Option<Error>,
}

impl Wanted {
    /// None where the commit has no room for it.
    fn insert(&self, draft: &mut Draft, tree: TreeId, now: Timestamp) -> Result<Option<Inserted>> {
        if let Some(error) = &self.checked {
            return Err(error.clone());
        }
        if let Some(there) = draft.node(self.id) {
            let same = there.parent_id == Some(self.parent)
                && there.node_name == self.name
                && there.node_type == self.new.node_type
                && there.node_metadata == self.new.metadata
                && self.codes.is_empty() == there.node_code.is_none();
            return if same {
                Ok(Some(Inserted::Unchanged(self.id)))
            } else {
                Err(Error::NodeExists { node: self.id })
            };
        }
        if draft.holds(self.id) {
            return Err(Error::NodeExists { node: self.id });
        }
        let parent = draft.node(self.parent).ok_or(Error::ParentNotFound { parent: self.parent })?;
        if let Some(holder) = draft.holder(self.parent, &self.name) {
            return Err(Error::NameTaken { name: self.name.clone(), holder });
        }
        if parent.children_count >= limits::CHILDREN_A_NODE_MAX {
            return Err(Error::TooManyChildren { limit: limits::CHILDREN_A_NODE_MAX });
        }
        let place = rules::place_below(parent, &self.name).map_err(|refusal| refusal.error(tree))?;
        let code = self.codes.iter().find(|code| draft.code_holder(code).is_none());
        if let (None, Some(code)) = (code, self.codes.last()) {
            let holder = draft.code_holder(code).unwrap_or(self.id);
            return Err(Error::CodeTaken { code: code.clone(), holder });
        }
        let was = self.origin.clone();
        let was = was.unwrap_or(Origin { revision: 1, created_at: now, updated_at: now });
        let node = Node {
            org_id: tree,
            node_id: self.id,
            relocation: None,
            parent_id: Some(place.parent_id),
            node_level: place.level(),
            node_path: place.node_path,
            node_type: self.new.node_type.clone(),
            node_name: place.node_name,
            node_code: code.cloned(),
            node_metadata: self.new.metadata.clone(),
            children_count: 0,
            ancestors: place.ancestors,
            revision: was.revision,
            created_at: was.created_at,
            updated_at: was.updated_at,
            relocation_id: None,
            stage: None,
            next: None,
            holder: None,
            to_follow: None,
        };
        let mut changes = vec![draft.holding(self.parent, &self.name, self.id, &node)];
        changes.extend(code.map(|code| draft.leading(code, true, &node)));
        changes.extend(draft.counted(self.parent, 1));
        changes.push((self.id, Some(node)));
        Ok(draft.try_write(changes).then_some(Inserted::New(self.id)))
    }
}
