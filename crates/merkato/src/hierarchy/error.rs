//! What trees refuse.

use crate::{
    check::Invalid,
    error::Kind,
    id::{NodeId, TreeId},
};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error("there is no tree {tree}")]
    TreeNotFound { tree: TreeId },
    #[error("there is no node {node}")]
    NodeNotFound { node: NodeId },
    /// The node that another is to stand below.
    #[error("there is no node {parent} to stand below")]
    ParentNotFound { parent: NodeId },
    #[error("there is a node {node} already, and it is another one")]
    NodeExists { node: NodeId },
    #[error("another node there has the name {name}")]
    NameTaken { name: String, holder: NodeId },
    #[error("another node has the code {code}")]
    CodeTaken { code: String, holder: NodeId },
    /// It is a module's own (`kept`).
    #[error("the tree {tree} is changed by those who keep it")]
    Kept { tree: &'static str },
    #[error("{node} cannot stand below {parent}, which is itself or stands below it")]
    Cycle { node: NodeId, parent: NodeId },
    #[error("nodes are at most {limit} levels deep")]
    TooDeep { limit: usize },
    #[error("a path has at most {limit} bytes")]
    PathTooLong { limit: usize },
    #[error("a node has at most {limit} right below it")]
    TooManyChildren { limit: i64 },
    #[error("a shop has at most {limit} trees")]
    TooManyTrees { limit: usize },
    #[error("{node} has {children} nodes below it")]
    NotALeaf { node: NodeId, children: i64 },
    /// It is the tree itself.
    #[error("the root of a tree is neither moved nor renamed nor deleted")]
    Root,
    #[error("{node} was edited meanwhile: it is at revision {found}, not {expected}")]
    Edited { node: NodeId, expected: i64, found: i64 },
    #[error("{what} is {size}, the limit is {limit}")]
    TooLarge { what: &'static str, size: usize, limit: usize },
    /// Others move nodes of this tree again and again. Nothing was written; try later.
    #[error("the tree {tree} is too busy")]
    Busy { tree: TreeId },
    #[error(transparent)]
    Data(#[from] widerow::Error),
}

impl Error {
    pub fn code(&self) -> &'static str {
        match self {
            Error::Invalid(_) => "invalid",
            Error::TreeNotFound { .. } => "tree_not_found",
            Error::NodeNotFound { .. } => "node_not_found",
            Error::ParentNotFound { .. } => "parent_not_found",
            Error::NodeExists { .. } => "node_exists",
            Error::NameTaken { .. } => "node_name_taken",
            Error::CodeTaken { .. } => "node_code_taken",
            Error::Kept { .. } => "tree_is_kept",
            Error::Cycle { .. } => "node_cycle",
            Error::TooDeep { .. } => "node_too_deep",
            Error::PathTooLong { .. } => "node_path_too_long",
            Error::TooManyChildren { .. } => "too_many_children",
            Error::TooManyTrees { .. } => "too_many_trees",
            Error::NotALeaf { .. } => "not_a_leaf",
            Error::Root => "root_is_fixed",
            Error::Edited { .. } => "edited_meanwhile",
            Error::TooLarge { .. } => "too_large",
            Error::Busy { .. } => "tree_busy",
            Error::Data(_) => "data",
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Error::Invalid(_) => Kind::Invalid,
            Error::TreeNotFound { .. } | Error::NodeNotFound { .. } | Error::ParentNotFound { .. } => Kind::NotFound,
            Error::NodeExists { .. } | Error::NameTaken { .. } | Error::CodeTaken { .. } => Kind::Exists,
            Error::Edited { .. } => Kind::Conflict,
            Error::Cycle { .. } | Error::NotALeaf { .. } | Error::Root | Error::Kept { .. } => Kind::Refused,
            Error::TooDeep { .. }
            | Error::PathTooLong { .. }
            | Error::TooManyChildren { .. }
            | Error::TooManyTrees { .. }
            | Error::TooLarge { .. } => Kind::Limit,
            Error::Busy { .. } => Kind::Unavailable,
            Error::Data(error) => Kind::of(error),
        }
    }
}
