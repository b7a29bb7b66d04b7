//! What is noted of a node, its place and name aside.

use std::collections::BTreeMap;

use super::draft::decide;
use crate::{
    check::Check,
    context::Context,
    hierarchy::{
        error::{Error, Result},
        kept,
        rules::check_facts,
        tables::Node,
    },
    id::{NodeId, TreeId},
};

/// What an editor changes; what is None stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeFacts {
    /// `Some(None)`: it is nothing in particular.
    pub node_type: Option<Option<String>>,
    pub metadata: Option<BTreeMap<String, String>>,
}

/// Changes what is noted of a node.
pub async fn describe_node(
    ctx: &Context,
    tree: TreeId,
    node: NodeId,
    facts: NodeFacts,
    expected: Option<i64>,
) -> Result<Node> {
    kept::open_to_all(tree)?;
    let mut check = Check::new();
    let none = BTreeMap::new();
    let node_type = facts.node_type.as_ref().and_then(Option::as_deref);
    check_facts(&mut check, node_type, facts.metadata.as_ref().unwrap_or(&none));
    check.end()?;
    let now = ctx.now();
    decide(ctx, tree, vec![node], |draft| {
        let old = draft.node(node).cloned().ok_or(Error::NodeNotFound { node })?;
        if let Some(expected) = expected.filter(|expected| *expected != old.revision) {
            return Err(Error::Edited { node, expected, found: old.revision });
        }
        let mut new = old.clone();
        new.node_type = facts.node_type.clone().unwrap_or(new.node_type);
        new.node_metadata = facts.metadata.clone().unwrap_or(new.node_metadata);
        if new != old {
            new.revision += 1;
            new.updated_at = now;
            draft.write(vec![(node, Some(new.clone()))])?;
        }
        Ok(new)
    })
    .await
}
