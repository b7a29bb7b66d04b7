//! What columns are to nodes.

use crate::flows::import::mapping::{Fields, Named};

/// What a column is to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TreeField {
    /// The source's own.
    Id,
    /// The id of the node above; nothing at the top.
    Parent,
    Name,
    /// Department, team, category.
    Type,
    /// It is noted of the node under its column's name.
    Metadata,
    /// It is not wanted.
    LeftOut,
}

impl Fields for TreeField {
    const NAMED: &'static [Named<Self>] = &[
        (TreeField::Id, "id", &["nodeid", "id", "code", "key"]),
        (TreeField::Parent, "parent", &["parentid", "parent", "parentcode", "managerid", "reportsto"]),
        (TreeField::Name, "name", &["nodename", "name", "title", "label"]),
        (TreeField::Type, "type", &["nodetype", "type", "kind"]),
    ];
    const ID: Self = TreeField::Id;
    const NEEDED: &'static [Self] = &[TreeField::Id, TreeField::Name];
    const HOMELESS: Self = TreeField::Metadata;
    const LEFT_OUT: Self = TreeField::LeftOut;
}
