//! Trees that a module keeps as its own: nobody else makes or changes them, and who keeps one follows what changes in it.

use std::sync::LazyLock;

use super::{
    error::{Error, Result},
    rules::tree_id,
};
use crate::{id::TreeId, limits};

/// A tree of a module. Beside what every tree has, its nodes have codes, and one that was moved or renamed is noted until what
/// depends on its place has followed (`ops::follow`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub name: &'static str,
    pub depth_max: usize,
}

/// The categories of the catalog.
pub(crate) const CATEGORIES: Kept = Kept { name: "categories", depth_max: limits::CATEGORY_DEPTH_MAX };

impl Kept {
    pub fn id(self) -> TreeId {
        IDS.iter().find(|(_, kept)| *kept == self).map_or_else(|| tree_id(self.name), |(id, _)| *id)
    }
}

const ALL: [Kept; 1] = [CATEGORIES];

static IDS: LazyLock<[(TreeId, Kept); ALL.len()]> = LazyLock::new(|| ALL.map(|kept| (tree_id(kept.name), kept)));

fn find(tree: TreeId) -> Option<Kept> {
    IDS.iter().find(|(id, _)| *id == tree).map(|(_, kept)| *kept)
}

/// Whether a tree is a module's own. Everybody may read it.
pub fn is_kept(tree: TreeId) -> bool {
    find(tree).is_some()
}

/// Refuses what is a module's own.
pub(super) fn open_to_all(tree: TreeId) -> Result<()> {
    find(tree).map_or(Ok(()), |kept| Err(Error::Kept { tree: kept.name }))
}

/// How deep nodes of the tree go.
pub(super) fn depth_max(tree: TreeId) -> usize {
    find(tree).map_or(limits::NODE_DEPTH_MAX, |kept| kept.depth_max)
}
