//! Trees: the company's departments, the categories of a shop, a taxonomy. Nodes with names, in order, of any number.
//!
//! It is no file system and no graph: a node has one parent, and nothing points across.
//!
//! 1. A tree is one at any time: every change is decided on its one partition in `org_hierarchy`, so that two moves which
//!    together would make a circle never both happen (`ops::draft`).
//! 2. Side by side no two nodes have the same name, under any race: a name is held by a row of that partition.
//! 3. `org_paths` and `org_relationships` follow from the nodes, in the same commit.
//! 4. A subtree of any size is moved, renamed or deleted at one instant: readers see all of it before, or all of it after
//!    (`ops::judge`). Where one commit does not suffice, it goes step by step and outlives its process (`ops::drive`).
//! 5. The number of nodes right below one is exact, and changes in the commit that changes it.
//! 6. Of the nodes of a tree that a module keeps (`kept`), no two have the same code, under any race; and one that was moved or
//!    renamed is noted, in the commit that begins it, until what depends on it has followed (`ops::follow`).
//! 7. A page of any subtree is one read of one partition, except while a part of it is being moved.

mod error;
pub(crate) mod kept;
mod ops;
pub mod path;
mod rules;
mod tables;
#[cfg(test)]
mod tests;

pub use error::{Error, Result};
pub use kept::is_kept;
pub use ops::*;
pub(crate) use ops::{
    KeptNode, Relocating, delete_kept_leaf, follow, insert_kept, list_below, make_tree, relocate_kept, walk,
};
pub use rules::{root_of, tree_id};
pub(crate) use tables::tables;
pub use tables::{
    FollowEntry, Mark, MarkKind, Node, PathEntry, Phase, Place, Reached, Refusal, Refused, Relationship, Relocation,
    Stage, ToFollow, Tree,
};

use crate::pattern::{AccessPattern, Amount, ReadCost};

/// On DynamoDB the state of the tree is an item of its own, read side by side with the node.
const NODE: ReadCost = ReadCost { partitions: Amount::of(1), rows: Amount::of(1), requests: Amount::of(2) };

pub const PATTERNS: &[AccessPattern] = &[
    AccessPattern {
        name: "H1",
        question: "One node, with its path and the number of nodes right below it",
        table: "org_hierarchy",
        key: "org_id = ? AND node_id = ?",
        cost: NODE,
    },
    AccessPattern {
        name: "H2",
        question: "The nodes right below one, names in order",
        table: "org_relationships",
        key: "org_id = ? AND ancestor_id = ? AND relationship_depth = 1",
        cost: ReadCost::PAGE,
    },
    AccessPattern {
        name: "H3",
        question: "All that stands below a node, down to a depth, level by level",
        table: "org_relationships",
        key: "org_id = ? AND ancestor_id = ? AND relationship_depth <= ?",
        cost: ReadCost::PAGE,
    },
    AccessPattern {
        name: "H4",
        question: "The nodes so many steps below one, names in order",
        table: "org_relationships",
        key: "org_id = ? AND ancestor_id = ? AND relationship_depth = ?",
        cost: ReadCost::PAGE,
    },
    AccessPattern {
        name: "H5",
        question: "The nodes above one, from the top",
        table: "org_hierarchy",
        key: "org_id = ? AND node_id = ?",
        cost: NODE,
    },
    AccessPattern {
        name: "H6",
        question: "The node at a path",
        table: "org_paths",
        key: "org_id = ? AND path_prefix = ? AND node_level = ? AND name_lower = ?",
        cost: ReadCost::PAGE,
    },
    AccessPattern {
        name: "H7",
        question: "How many nodes stand below one, in all and on each level: all n of them are read",
        table: "org_hierarchy, org_relationships",
        key: "org_id = ? AND ancestor_id = ?, all of it, 5,000 a request",
        cost: ReadCost {
            partitions: Amount::of(4).and_per_row(1),
            rows: Amount::of(4).and_per_row(1),
            requests: Amount::of(7).and_per_row(1),
        },
    },
    AccessPattern {
        name: "H8",
        question: "The trees of a shop, by name",
        table: "trees",
        key: "shelf = 0",
        cost: ReadCost::PAGE,
    },
];
