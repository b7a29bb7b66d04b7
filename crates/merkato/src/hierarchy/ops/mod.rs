//! What is done with trees.

mod describe;
mod draft;
mod drive;
pub(crate) mod follow;
mod insert;
mod judge;
mod read;
mod relocate;
mod search;
mod tree;
mod verify;

pub use describe::{NodeFacts, describe_node};
pub use insert::{Inserted, NewNode, Origin, insert_node, insert_nodes, restore_nodes};
pub(crate) use insert::{KeptNode, insert_kept};
pub use read::{
    Ancestor, Counts, ancestors, ancestors_of, count_descendants, find_by_code, find_by_path, find_node, find_nodes,
    get_node, list_children, list_level, list_subtree,
};
pub(crate) use read::{list_below, walk};
pub(crate) use relocate::{Relocating, delete_kept_leaf, relocate_kept};
pub use relocate::{delete_leaf, delete_subtree, move_node, relocate_node, rename_node};
pub use search::search_subtree;
pub(crate) use tree::make_tree;
pub use tree::{create_tree, finish_relocations, get_tree, list_trees, pending_relocation, restore_tree};
pub use verify::{TreeReport, WrongNode, verify_tree};
