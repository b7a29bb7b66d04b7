//! Categories, as the catalog speaks of the nodes of its tree (`hierarchy`). There is no other record of them: what a node says
//! is what a category is.

use widerow::{Cursor, Timestamp};

use crate::{
    hierarchy::{Node, Relationship, kept},
    id::{CategoryId, NodeId, TreeId},
};

/// A category: its name, its address and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Category {
    pub category_id: CategoryId,
    pub name: String,
    pub slug: String,
    pub parent_id: Option<CategoryId>,
    /// The categories above it, from the root.
    pub path: Vec<CategoryId>,
    /// How often it was edited, moves included.
    pub revision: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A category below another, or at the top, as lists have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subcategory {
    pub category_id: CategoryId,
    pub name: String,
    pub slug: String,
}

/// A page of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subcategories {
    pub rows: Vec<Subcategory>,
    /// None at the end.
    pub next: Option<Cursor>,
}

/// The tree of all categories of a shop.
pub(super) fn tree() -> TreeId {
    kept::CATEGORIES.id()
}

pub(super) fn node_of(category: CategoryId) -> NodeId {
    NodeId(category.0)
}

/// One without a code is found by its id; `verify` gives it one.
fn slug(code: Option<String>, node: NodeId) -> String {
    code.unwrap_or_else(|| node.to_string())
}

impl Category {
    /// None of the root, which is no category.
    pub(super) fn of(node: Node) -> Option<Category> {
        if node.is_root() {
            return None;
        }
        // The root is above all of them, and not shown.
        let path: Vec<CategoryId> = node.ancestors.iter().skip(1).map(|node| CategoryId(node.0)).collect();
        Some(Category {
            category_id: CategoryId(node.node_id.0),
            name: node.node_name,
            slug: slug(node.node_code, node.node_id),
            parent_id: path.last().copied(),
            path,
            revision: node.revision,
            created_at: node.created_at,
            updated_at: node.updated_at,
        })
    }
}

impl From<Relationship> for Subcategory {
    fn from(row: Relationship) -> Self {
        Subcategory {
            category_id: CategoryId(row.descendant_id.0),
            name: row.node_name,
            slug: slug(row.node_code, row.descendant_id),
        }
    }
}
